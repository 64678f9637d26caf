"""Lets a training script be tuned, placed and protected by Tandem; plain Python, no dependencies.

    import tandem

    with tandem.trial(defaults={"learning_rate": 0.05}, epochs=10) as t:
        model = build(t.hyper["learning_rate"])
        for epoch in t.remaining():
            accuracy = train_one_epoch(model)
            t.report(accuracy=accuracy)

The same script runs unchanged outside Tandem: hyperparameters come from `defaults`, `report` prints a line, and
nothing stops it. The lines behind it are described in docs/protocol.md.
"""

from . import _cpus
from ._trial import Gone, ProtocolError, Stop, System, Trial, folder, report, trial

__all__ = ["Gone", "ProtocolError", "Stop", "System", "Trial", "folder", "report", "trial"]
__version__ = "0.1.0"

_cpus.see_all()
