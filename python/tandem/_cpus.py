"""The CPUs this program sees while libraries load, and after.

libgomp, under PyTorch and NumPy, counts the CPUs it may use once, when it is loaded. Its threads stop spinning for each
other when there are more of them: a program that starts on one core and is given a second would train at half speed.
So between `import tandem` and `trial()` all CPUs of the machine are in sight. Import tandem before torch.
"""

import os
from typing import Optional, Set

_given: Optional[Set[int]] = None


def see_all() -> None:
    global _given
    listed = os.environ.get("TANDEM_CPUS", "")
    if "TANDEM_SOCKET" not in os.environ or not listed or not hasattr(os, "sched_setaffinity"):
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {int(cpu) for cpu in listed.split(",")})
        _given = before
    except (OSError, ValueError):
        pass  # it trains all the same


def keep_to_given() -> None:
    """For this thread and all others: libraries may have started some."""
    global _given
    if _given is None:
        return
    try:
        threads = [int(thread) for thread in os.listdir("/proc/self/task")]
    except OSError:
        threads = [0]
    for thread in threads:
        try:
            os.sched_setaffinity(thread, _given)
        except OSError:
            pass  # it has ended
    _given = None
