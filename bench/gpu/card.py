"""A GPU through NVML: what it has used, and how it is set."""

import ctypes
import os
import time


class Card:
    """The one we were given (CUDA_VISIBLE_DEVICES), else the first."""

    def __init__(self):
        self.nvml = ctypes.CDLL(os.environ.get("TANDEM_NVML", "libnvidia-ml.so.1"))
        self.call("nvmlInit_v2")
        own = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0]
        count = ctypes.c_uint()
        self.call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        for index in range(count.value):
            self.device, uuid = ctypes.c_void_p(), ctypes.create_string_buffer(96)
            self.call("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(self.device))
            self.call("nvmlDeviceGetUUID", self.device, uuid, 96)
            if not own.startswith("GPU-") or uuid.value.decode() == own:
                return
        raise OSError(f"NVML knows no GPU {own or 'at all'}")

    def call(self, name, *arguments):
        code = getattr(self.nvml, name)(*arguments)
        if code != 0:
            raise OSError(f"{name}: NVML says {code}")

    def about(self):
        name, driver = ctypes.create_string_buffer(96), ctypes.create_string_buffer(96)
        self.call("nvmlDeviceGetName", self.device, name, 96)
        self.call("nvmlSystemGetDriverVersion", driver, 96)
        return f"{name.value.decode()}, driver {driver.value.decode()}"

    def count(self):
        value = ctypes.c_ulonglong()
        self.call("nvmlDeviceGetTotalEnergyConsumption", self.device, ctypes.byref(value))
        return value.value

    def joules(self, at_a_step=False):
        """The counter goes on in steps (0.1 s on an H200); `at_a_step` waits for the next one, so that it is exact."""
        value = first = self.count()
        until = time.monotonic() + 0.5
        while at_a_step and value == first and time.monotonic() < until:
            time.sleep(0.001)
            value = self.count()
        return value / 1000

    def settings(self):
        """The power limit in watts, and the clock as it is now in MHz: which one is locked cannot be asked."""
        limit, clock = ctypes.c_uint(), ctypes.c_uint()
        self.call("nvmlDeviceGetPowerManagementLimit", self.device, ctypes.byref(limit))
        self.call("nvmlDeviceGetClockInfo", self.device, 1, ctypes.byref(clock))
        return limit.value // 1000, clock.value

    def set(self, watts, megahertz):
        self.call("nvmlDeviceSetPowerManagementLimit", self.device, ctypes.c_uint(int(watts * 1000)))
        if megahertz:
            self.call("nvmlDeviceSetGpuLockedClocks", self.device, ctypes.c_uint(int(megahertz)), ctypes.c_uint(int(megahertz)))
        else:
            self.call("nvmlDeviceResetGpuLockedClocks", self.device)
