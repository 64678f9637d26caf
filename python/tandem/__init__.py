"""Lets training scripts and functions be tuned, placed and protected by Tandem; plain Python, no dependencies.

A function, from a script or a notebook:

    import tandem

    def objective(t):
        model = build(t.hyper.learning_rate)
        for epoch in t.remaining():
            t.report(accuracy=train_one_epoch(model))

    result = tandem.tune(objective, {"learning_rate": tandem.log(1e-4, 1e-1)}, trials=50, epochs=9)
    print(result.best.hyper, result.best.metrics)

A script that is tuned by `tandem tune`, and runs unchanged outside Tandem: hyperparameters come from `defaults`,
`report` prints a line, and nothing stops it.

    with tandem.trial(defaults={"learning_rate": 0.05}, epochs=10) as t:
        model = build(t.hyper["learning_rate"])
        for epoch in t.remaining():
            t.report(accuracy=train_one_epoch(model))

docs/python.md has the rest; the lines behind it are described in docs/protocol.md.
"""

import importlib
from typing import Any

from . import _cpus
from ._space import choice, int, log, range  # noqa: A004
from ._trial import Gone, ProtocolError, Stop, System, Trial, folder, report, trial

# What only the one who starts trials needs is loaded when it is asked for: trials themselves begin sooner.
_LATER = {"tune": "_tune", "resume": "_tune", "load": "_tune", "runs": "_tune", "Result": "_tune", "Interrupted": "_tune",
          "Error": "_binary", "CannotTravel": "_travel", "Study": "_study", "Asked": "_study", "Over": "_study",
          "connect": "_server", "Server": "_server", "Refused": "_server"}

# Without range and int: `from tandem import *` shall not hide Python's.
__all__ = ["Gone", "ProtocolError", "Stop", "System", "Trial", "folder", "report", "trial", "choice", "log", *_LATER]
__version__ = "0.1.0"

_cpus.see_all()


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'tandem' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
