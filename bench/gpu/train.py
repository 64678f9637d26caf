"""examples/torch_models.py with the GPU's joules and the seconds since training began among its metrics, read from NVML's own
counter here, so that every approach is measured alike and start-up is not counted."""

import ctypes
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import torch_models  # noqa: E402

nvml = ctypes.CDLL(os.environ.get("TANDEM_NVML", "libnvidia-ml.so.1"))
nvml.nvmlInit_v2()
device = ctypes.c_void_p()
own = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
if own.startswith("GPU-"):
    nvml.nvmlDeviceGetHandleByUUID(own.encode(), ctypes.byref(device))
else:
    nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
start = {}


def counter():
    torch_models.torch.cuda.synchronize()
    millijoules = ctypes.c_ulonglong()
    if nvml.nvmlDeviceGetTotalEnergyConsumption(device, ctypes.byref(millijoules)) != 0:
        raise OSError("the GPU does not say what it used")
    return millijoules.value / 1000


def began():
    # The first kernels are compiled and chosen before the clock starts: a fixed amount of work that no setting changes.
    x = torch_models.torch.randn(4096, 4096, device="cuda")
    (x @ x).sum().item()
    start.update(joules=counter(), at=time.monotonic())


def used():
    return {"gpu_joules": counter() - start["joules"], "train_seconds": time.monotonic() - start["at"]}


torch_models.main(began, used)
