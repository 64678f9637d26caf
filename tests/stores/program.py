"""A training program whose results depend on its hyperparameters and the epoch alone; it resumes from its checkpoint.

program.py SECONDS: each epoch takes that long. Batch sizes near 64 and rates near 0.3 learn best."""

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
import tandem  # noqa: E402


def accuracy(hyper, epoch):
    speed = 1 / (1 + 4 * abs(hyper.get("rate", 0.3) - 0.3) + abs(hyper.get("batch_size", 64) - 64) / 64)
    return 1 - 1 / (1 + speed * epoch)


def main():
    with tandem.trial(defaults={"rate": 0.3}, epochs=3) as t:
        checkpoint = Path(t.folder) / "state.json"
        done = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"epoch": 0, "accuracy": 0}
        t.resumable(done["epoch"], accuracy=done["accuracy"])
        t.ready()
        for epoch in t.remaining():
            time.sleep(float(sys.argv[1]))
            done = {"epoch": epoch, "accuracy": accuracy(t.hyper, epoch)}
            beside = checkpoint.with_suffix(".new")
            beside.write_text(json.dumps(done))
            os.replace(beside, checkpoint)
            print(f"epoch {epoch}: {done['accuracy']:.4f}", flush=True)
            t.report(accuracy=done["accuracy"])


if __name__ == "__main__":
    main()
