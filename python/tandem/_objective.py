"""The program of `tandem.tune`'s trials: reads the objective that is kept with the run, and calls it with its trial.

Run as a file, so that it needs nothing of the environment of whoever resumes the run.
"""

import os
import sys

if __name__ == "__main__" and not __package__:
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from collections.abc import Mapping

import tandem
from tandem import _travel


def run(objective, trial, metric):
    """Calls it; what it returns is reported where it reported nothing itself."""
    found = objective(trial)
    if trial.reported_here or found is None:
        return
    trial.report(found if isinstance(found, Mapping) else {metric: found})


def main():
    import json

    file = _travel.kept_file(tandem.folder())
    try:
        text = file.read_text()
    except OSError as error:
        sys.exit(f"tandem: the objective of this run cannot be read ({error}): this program runs inside tandem.tune only")
    objective = _travel.unpack(text)
    with tandem.trial() as trial:
        run(objective, trial, json.loads(text)["metric"])


if __name__ == "__main__":
    main()
