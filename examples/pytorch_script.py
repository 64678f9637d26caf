"""A training script of your own, tuned and protected by Tandem: `tandem train examples/pytorch-script.yaml`.

Learns to tell two noisy spirals apart. With PyTorch it trains a small network, without it a logistic regression in
plain Python; it prints which. It checkpoints every epoch and resumes where it was. It also runs on its own:
`python3 examples/pytorch_script.py` (its checkpoint is then ./spirals.pt or
./spirals.json; delete it to start again).
"""

import json
import math
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))  # not needed once the SDK is installed
import tandem  # noqa: E402

try:
    import torch
except ImportError:
    torch = None


def spirals(count, seed):
    """Points (features made of their coordinates) and which of the two spirals they lie on."""
    generator = random.Random(seed)
    points, labels = [], []
    for index in range(count):
        label, turn = index % 2, generator.random()
        angle = 4.0 * turn + math.pi * label
        x = turn * math.cos(angle) + generator.gauss(0, 0.03)
        y = turn * math.sin(angle) + generator.gauss(0, 0.03)
        points.append([x, y, x * x, y * y, x * y])
        labels.append(label)
    return points, labels


def batches(count, size, seed):
    """Shuffled by (seed, epoch) alone, so that a resumed epoch sees the same batches."""
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return [order[start : start + size] for start in range(0, count, size)]


class TorchLearner:
    kind = "a PyTorch network"
    suffix = "pt"

    def __init__(self, rate, seed):
        torch.manual_seed(seed)
        self.model = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)

    def step(self, points, labels):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.model(torch.tensor(points)), torch.tensor(labels))
        loss.backward()
        self.optimizer.step()
        return float(loss)

    def guess(self, points):
        with torch.no_grad():
            return self.model(torch.tensor(points)).argmax(1).tolist()

    def save(self, file, progress):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), **progress}, file)

    def load(self, file):
        saved = torch.load(file)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        return saved

    def use_threads(self, cores):
        torch.set_num_threads(cores)


class PlainLearner:
    kind = "a logistic regression in plain Python (PyTorch is not installed)"
    suffix = "json"

    def __init__(self, rate, seed):
        self.rate, self.weights = rate, [0.0] * 6

    def probability(self, point):
        score = self.weights[5] + sum(w * x for w, x in zip(self.weights, point))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))

    def step(self, points, labels):
        loss, gradient = 0.0, [0.0] * 6
        for point, label in zip(points, labels):
            p = self.probability(point)
            loss -= math.log(p if label else 1 - p)
            for i, x in enumerate(point + [1.0]):
                gradient[i] += (p - label) * x
        self.weights = [w - self.rate * g / len(points) for w, g in zip(self.weights, gradient)]
        return loss / len(points)

    def guess(self, points):
        return [int(self.probability(point) > 0.5) for point in points]

    def save(self, file, progress):
        file.write(json.dumps({"weights": self.weights, **progress}).encode())

    def load(self, file):
        saved = json.load(file)
        self.weights = saved["weights"]
        return saved

    def use_threads(self, cores):
        pass


def save_atomically(path, write):
    """After this returns the checkpoint survives a power cut; before, the old one does."""
    beside = path.with_suffix(".new")
    with open(beside, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def main():
    learner = None
    with tandem.trial(
        defaults={"batch_size": 32, "learning_rate": 0.1}, epochs=8, on_change=lambda s: learner.use_threads(s.cores)
    ) as t:
        learner = (TorchLearner if torch else PlainLearner)(t.hyper["learning_rate"], t.seed)
        learner.use_threads(t.system.cores)
        checkpoint = Path(t.folder) / f"spirals.{learner.suffix}"
        if checkpoint.exists():
            with open(checkpoint, "rb") as file:
                saved = learner.load(file)
            print(f"resuming {learner.kind} after epoch {saved['epoch']}", flush=True)
            t.resumable(saved["epoch"], **saved["metrics"])
        else:
            print(f"training {learner.kind}", flush=True)
            t.resumable(0)

        points, labels = spirals(1200, seed=1)
        test_points, test_labels = spirals(400, seed=2)
        for epoch in t.remaining():
            loss = 0.0
            for batch in batches(len(points), int(t.hyper["batch_size"]), seed=t.seed * 1000 + epoch):
                loss += learner.step([points[i] for i in batch], [labels[i] for i in batch]) * len(batch)
            right = sum(g == label for g, label in zip(learner.guess(test_points), test_labels))
            metrics = {"accuracy": right / len(test_labels), "loss": loss / len(points)}
            progress = {"epoch": epoch, "metrics": metrics}
            save_atomically(checkpoint, lambda file: learner.save(file, progress))
            t.report(**metrics)


if __name__ == "__main__":
    main()
