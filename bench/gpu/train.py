"""examples/torch_models.py with the GPU's joules and the seconds since training began among its metrics, read from NVML's own
counter here, so that every approach is measured alike and start-up is not counted.

    train.py cnn                        a trial of Tandem
    train.py --serve                    trainings without Tandem, one a line of JSON on standard input (run's baselines):
        {"model": "cnn", "hyper": {...}, "seed": 1, "precision": "bf16", "power": 700, "clock": 0, "target": 0.9, "epochs": 30}
"""

import contextlib
import copy
import json
import pathlib
import sys
import tempfile
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
import torch_models  # noqa: E402
from card import Card  # noqa: E402
from torch_models import tandem, torch  # noqa: E402


class Meter:
    def __init__(self, card):
        self.card, self.start = card, {}

    def ready(self, training):
        """The first steps choose and load kernels: they are rehearsed, and the model is then as it was."""
        before = copy.deepcopy(training.state())
        generator = torch.Generator(device=training.task.device).manual_seed(1)
        for _ in range(3):
            training.step(generator)
        training.accuracy()
        training.go_on(before)
        self.start.update(joules=self.read(at_a_step=True), at=time.monotonic())

    def read(self, at_a_step=False):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return self.card.joules(at_a_step)

    def used(self):
        joules = self.read()
        return {"gpu_joules": joules - self.start["joules"], "train_seconds": time.monotonic() - self.start["at"]}


class Alone:
    """What torch_models needs of a trial, without Tandem: every epoch until the target."""

    def __init__(self, order, folder):
        self.hyper, self.seed, self.folder = order["hyper"], order["seed"], folder
        self.system = types.SimpleNamespace(cores=4, precision=order["precision"])
        self.order, self.reports = order, []

    def ready(self):
        pass

    def progress(self, *_):
        pass

    def remaining(self):
        for epoch in range(1, self.order["epochs"] + 1):
            if self.reports and self.reports[-1]["accuracy"] >= self.order["target"]:
                return
            yield epoch

    def report(self, **metrics):
        self.reports.append(metrics)


def serve(card):
    for line in sys.stdin:
        order = json.loads(line)
        meter = Meter(card)
        card.set(order["power"], order["clock"])
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
            trial = Alone(order, folder)
            torch_models.train(trial, order["model"], meter.ready, meter.used, keep=False)
        card.set(order["power"], 0)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        print(json.dumps(trial.reports), flush=True)


def main():
    card = Card()
    if sys.argv[1] == "--serve":
        return serve(card)
    model, meter = sys.argv[1], Meter(card)
    with tandem.trial(defaults=torch_models.DEFAULTS[model], epochs=5, can=["threads", "precision"]) as t:
        torch_models.train(t, model, meter.ready, meter.used, keep=False)


main()
