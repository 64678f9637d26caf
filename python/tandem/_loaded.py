"""What this process has imported and what it set in its environment, for Tandem to preload (docs/preload.md)."""

import os
import sys
import sysconfig
from typing import Any, Dict, List, Optional

ASKED = "TANDEM_PRELOAD"  # "learn": Tandem wants to know
# What is set for one start alone, or by us.
OUR_OWN = {ASKED, "TANDEM_SOCKET", "TANDEM_TEMPLATE"}
MOST_BYTES = 700_000  # of a line, which may have a MiB


def loaded() -> Dict[str, Any]:
    """Modules of the standard library and of installed packages in the order they were imported in, with their files.
    What lies elsewhere is the user's, changes and may do anything: it is imported by each trial itself."""
    installed = 0
    size = 0
    modules: List[List[str]] = []
    library = tuple(os.path.join(os.path.realpath(sysconfig.get_path(name)), "") for name in ("stdlib", "platstdlib"))
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] in ("__main__", "tandem") or spec is None or not isinstance(file, str):
            continue
        if getattr(spec, "name", None) != name or not os.path.isabs(file):
            continue
        package = any(part in ("site-packages", "dist-packages") for part in file.split(os.sep))
        if package or os.path.realpath(file).startswith(library):
            modules.append([name, file])
            installed += package
            size += len(name) + len(file) + 8
    too_many = size > MOST_BYTES
    return {
        "folder": os.path.dirname(os.path.abspath(__file__)),
        "modules": modules if installed and not too_many else [],
        "environment": changed_environment(),
    }


def changed_environment() -> Dict[str, Optional[str]]:
    """Variables that differ from what this process was started with; None: it is not there any more."""
    try:
        with open("/proc/self/environ", "rb") as file:
            raw = file.read()
    except OSError:
        return {}
    before = {}
    for entry in raw.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals:
            before.setdefault(os.fsdecode(name), os.fsdecode(value))
    now = dict(os.environ)
    changed: Dict[str, Optional[str]] = {name: value for name, value in now.items() if before.get(name) != value}
    changed.update((name, None) for name in before if name not in now)
    return {name: value for name, value in changed.items() if name not in OUR_OWN}
