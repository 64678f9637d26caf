"""A convolutional network and a small transformer in PyTorch, on a GPU where Tandem gives one and on CPUs else.

    tandem tune examples/torch-cnn.yaml          two cores of this machine
    tandem tune examples/torch-cnn-gpu.yaml      one GPU: batch size, precision and power limit
    python3 examples/torch_models.py cnn         on its own

`cnn` tells kinds of images apart (a pattern each, under noise); `transformer` learns to go on with sentences in which
each word follows from the two before. Both make their data themselves, so that nothing has to be downloaded, and both can be made as large as a
GPU likes (hyper.width). An epoch is always the same number of samples, whatever the batch size.
"""

import argparse
import contextlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))  # not needed once the SDK is installed
import tandem  # noqa: E402

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError:
    sys.exit("this example needs PyTorch: apt install python3-torch, or pip install torch")


class Images:
    """Soft patterns of 32 x 32 in three colours, each a kind of its own, buried in noise."""

    JUDGED = 2048  # images that its accuracy is told from

    def __init__(self, hyper, device):
        width, self.kinds, self.noise, self.device = int(hyper["width"]), int(hyper["kinds"]), hyper["noise"], device
        coarse = torch.randn(self.kinds, 3, 8, 8, generator=torch.Generator().manual_seed(5))
        self.patterns = F.interpolate(coarse, 32, mode="bilinear").to(device)
        widths = [(3, width, 1), (width, width, 1), (width, 2 * width, 2), (2 * width, 2 * width, 1), (2 * width, 4 * width, 2), (4 * width, 4 * width, 1)]
        layers = [layer for wide in widths for layer in self.layer(*wide)]
        self.model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64 * width, self.kinds)).to(device)
        if device.type == "cuda":
            self.model = self.model.to(memory_format=torch.channels_last)

    @staticmethod
    def layer(of, to, stride):
        return nn.Conv2d(of, to, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(to), nn.ReLU(inplace=True)

    def batch(self, size, generator):
        labels = torch.randint(self.kinds, (size,), generator=generator, device=self.device)
        noise = torch.randn(size, 3, 32, 32, generator=generator, device=self.device)
        return self.patterns[labels] + self.noise * noise, labels

    def loss(self, images, labels):
        scores = self.model(images)
        return F.cross_entropy(scores.float(), labels), (scores.argmax(1) == labels).float().mean()


class Sentences:
    """Each word follows from the two before it, nine times of ten: there are words x words rules to find out."""

    LENGTH, TEXT, JUDGED = 128, 8192, 256  # words, sentences, and those that its accuracy is told from

    def __init__(self, hyper, device):
        width, self.words, self.device = int(hyper["width"]), int(hyper["words"]), device
        self.embed, self.place = nn.Embedding(self.words, width), nn.Embedding(self.LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, max(width // 64, 1), 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.model = nn.ModuleList([self.embed, self.place, layers, nn.Linear(width, self.words)]).to(device)
        self.mask = torch.triu(torch.full((self.LENGTH - 1, self.LENGTH - 1), float("-inf"), device=device), 1)
        self.text = self.write(torch.Generator().manual_seed(5)).to(device)

    def write(self, generator):
        rules = torch.randint(self.words, (self.words, self.words), generator=generator)
        text = torch.randint(self.words, (self.TEXT, self.LENGTH), generator=generator)
        ruled = torch.rand(self.TEXT, self.LENGTH, generator=generator) < 0.9
        for at in range(2, self.LENGTH):
            text[:, at] = torch.where(ruled[:, at], rules[text[:, at - 2], text[:, at - 1]], text[:, at])
        return text

    def batch(self, size, generator):
        whole = self.text[torch.randint(self.TEXT, (size,), generator=generator, device=self.device)]
        return whole[:, :-1], whole[:, 1:]

    def loss(self, words, following):
        embed, place, layers, out = self.model
        positions = torch.arange(words.shape[1], device=self.device)
        scores = out(layers(embed(words) + place(positions), mask=self.mask))[:, 1:]  # the second word cannot be known
        right = (scores.argmax(2) == following[:, 1:]).float().mean()
        return F.cross_entropy(scores.float().flatten(0, 1), following[:, 1:].flatten()), right


def numbers(precision, device):
    """How to compute in a precision that Tandem names."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision in ("tf32", "own")
    kinds = {"bf16": torch.bfloat16, "fp16": torch.float16}
    if precision not in kinds or (device.type == "cpu" and precision == "fp16"):
        return contextlib.nullcontext()
    return torch.autocast(device.type, dtype=kinds[precision])


def save(path, state):
    beside = path.with_suffix(".new")
    with open(beside, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


JUDGE = 1 << 40  # a seed that no epoch of any trial has: what is judged by must not be trained on


class Training:
    """A task in training, a step at a time, and how good it is."""

    def __init__(self, task, size, learning_rate):
        self.task, self.size, self.precision = task, size, "own"
        self.optimizer = torch.optim.Adam(task.model.parameters(), lr=learning_rate)

    def step(self, generator):
        # Around each step: autocast keeps its copies of the weights until it is left, and would go on with old ones.
        with numbers(self.precision, self.task.device):
            loss, _ = self.task.loss(*self.task.batch(self.size, generator))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def accuracy(self):
        judge = torch.Generator(device=self.task.device).manual_seed(JUDGE)
        self.task.model.eval()
        with torch.no_grad(), numbers(self.precision, self.task.device):
            right = torch.stack([self.task.loss(*self.task.batch(256, judge))[1] for _ in range(self.task.JUDGED // 256)]).mean()
        self.task.model.train()
        return float(right)

    def state(self):
        return {"model": self.task.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def go_on(self, saved):
        self.task.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])


def train(t, model, ready=lambda training: None, more=dict, keep=True):
    """`t`: a trial of Tandem. bench/gpu: `ready` is called before the first epoch, `more` gives further metrics of an epoch;
    without `keep` there are no checkpoints."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(t.system.cores)
    torch.manual_seed(t.seed)
    training = Training(TASKS[model](t.hyper, device), int(t.hyper["batch_size"]), t.hyper["learning_rate"])
    checkpoint = Path(t.folder) / f"{model}.pt"
    if keep and checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        training.go_on(saved)
        t.resumable(saved["epoch"], **saved["metrics"])
    elif keep:
        t.resumable(0)
    print(f"{model} on {device}, {t.system}", flush=True)
    training.precision = t.system.precision
    ready(training)
    t.ready()

    steps = max(int(t.hyper["samples"]) // training.size, 1)
    for epoch in t.remaining():
        generator = torch.Generator(device=device).manual_seed(1000 * t.seed + epoch)
        losses, training.precision = 0.0, t.system.precision
        for step in range(steps):
            losses += training.step(generator)
            if step % 8 == 7:
                if device.type == "cuda":
                    torch.cuda.synchronize()  # what is only queued is not done
                t.progress(step + 1, steps)
        metrics = {"accuracy": training.accuracy(), "loss": float(losses) / steps, **more()}
        if keep:
            save(checkpoint, {**training.state(), "epoch": epoch, "metrics": metrics})
        t.report(**metrics)


TASKS = {"cnn": Images, "transformer": Sentences}
DEFAULTS = {
    "cnn": {"batch_size": 64, "learning_rate": 0.001, "width": 8, "samples": 4096, "kinds": 10, "noise": 6.0},
    "transformer": {"batch_size": 16, "learning_rate": 0.001, "width": 64, "samples": 1024, "words": 16},
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=TASKS)
    model = parser.parse_args().model
    with tandem.trial(defaults=DEFAULTS[model], epochs=5, can=["threads", "precision"], on_change=lambda s: torch.set_num_threads(s.cores)) as t:
        train(t, model)


if __name__ == "__main__":
    main()
