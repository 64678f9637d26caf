"""The GPUs of libfake_nvml.so (tests/fake_nvml) as a test sees them: a recording that processes share by a file.

    gpus = FakeGpus(folder / "gpus", count=2)
    environment.update(gpus.environment)      # processes with it see these GPUs
    gpus.limit(0), gpus.locked(0)             # watts, MHz (0: not locked)
    gpus.work(0, 100)                         # 100 products on GPU 0: takes as long as its settings make it
"""

import contextlib
import ctypes
import os
import time

from e2e.harness import BIN

LIBRARY = BIN / "libfake_nvml.so"


class FakeGpus:
    def __init__(self, state, count=1):
        self.environment = {"TANDEM_NVML": str(LIBRARY), "FAKE_NVML_STATE": str(state), "FAKE_NVML_GPUS": str(count)}
        os.environ.update(self.environment)
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.fake_nvml_speed.restype = ctypes.c_double
        self.library.fake_nvml_sets.restype = ctypes.c_ulonglong
        if self.library.nvmlInit_v2() != 0:
            raise RuntimeError(f"cannot make the fake GPUs' file {state}")

    def close(self):
        self.library.nvmlShutdown()
        for name in self.environment:
            os.environ.pop(name, None)

    def _device(self, gpu):
        device = ctypes.c_void_p()
        if self.library.nvmlDeviceGetHandleByIndex_v2(gpu, ctypes.byref(device)) != 0:
            raise IndexError(f"no GPU {gpu}")
        return device

    def limit(self, gpu):
        """Watts; raises OSError when the GPU is lost."""
        milliwatts = ctypes.c_uint()
        if self.library.nvmlDeviceGetPowerManagementLimit(self._device(gpu), ctypes.byref(milliwatts)) != 0:
            raise OSError(f"GPU {gpu} does not answer")
        return milliwatts.value / 1000

    def set_limit(self, gpu, watts):
        """As an operator would, with nvidia-smi."""
        if self.library.nvmlDeviceSetPowerManagementLimit(self._device(gpu), int(watts * 1000)) != 0:
            raise OSError(f"GPU {gpu} does not take {watts} W")

    def locked(self, gpu):
        return self.library.fake_nvml_locked(gpu)

    def sets(self, gpu):
        """How often something was set, by anybody."""
        return self.library.fake_nvml_sets(gpu)

    def lose(self, gpu, lost=True):
        self.library.fake_nvml_lose(gpu, int(lost))

    def joules(self, gpu):
        millijoules = ctypes.c_ulonglong()
        if self.library.nvmlDeviceGetTotalEnergyConsumption(self._device(gpu), ctypes.byref(millijoules)) != 0:
            raise OSError(f"GPU {gpu} does not answer")
        return millijoules.value / 1000

    def watts(self, gpu):
        milliwatts = ctypes.c_uint()
        if self.library.nvmlDeviceGetPowerUsage(self._device(gpu), ctypes.byref(milliwatts)) != 0:
            raise OSError(f"GPU {gpu} does not answer")
        return milliwatts.value / 1000

    def speed(self, gpu):
        """Products a second at the settings of this moment."""
        return self.library.fake_nvml_speed(gpu)

    @contextlib.contextmanager
    def at_work(self, gpu):
        """This process keeps the GPU busy."""
        self.library.fake_nvml_work(gpu, 1)
        try:
            yield
        finally:
            self.library.fake_nvml_work(gpu, 0)

    def work(self, gpu, products):
        """Computes, as far as the recording goes: waits as long as it takes at the settings of each moment."""
        with self.at_work(gpu):
            while products > 0:
                speed = self.speed(gpu)
                if speed <= 0:
                    raise OSError(f"GPU {gpu} is lost")
                began = time.monotonic()
                time.sleep(min(0.01, products / speed))
                products -= (time.monotonic() - began) * speed
