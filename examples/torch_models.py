"""A convolutional network and a small transformer in PyTorch, on a GPU where Tandem gives one and on CPUs else.

    tandem tune examples/torch-cnn.yaml          two cores of this machine
    tandem tune examples/torch-cnn-gpu.yaml      one GPU: batch size, precision and power limit
    python3 examples/torch_models.py cnn         on its own

`cnn` tells apart ten kinds of images (a pattern each, under noise); `transformer` learns to go on with a sequence that
repeats itself. Both make their data themselves, so that nothing has to be downloaded, and both can be made as large as a
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
    """Ten patterns of 32 x 32 in three colours, moved about and buried in noise."""

    def __init__(self, width, device, noise):
        self.noise = noise
        self.patterns = torch.randn(10, 3, 32, 32, generator=torch.Generator().manual_seed(5)).to(device)
        self.device = device
        self.model = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(2 * width, 4 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64 * width, 10),
        ).to(device)
        if device.type == "cuda":
            self.model = self.model.to(memory_format=torch.channels_last)

    def batch(self, size, generator):
        labels = torch.randint(10, (size,), generator=generator, device=self.device)
        noise = torch.randn(size, 3, 32, 32, generator=generator, device=self.device)
        return self.patterns[labels] + self.noise * noise, labels

    def loss(self, images, labels):
        scores = self.model(images)
        return F.cross_entropy(scores.float(), labels), (scores.argmax(1) == labels).float().mean()


class Sequences:
    """The second half of each sequence repeats the first: to go on, look back."""

    LENGTH, WORDS = 128, 64

    def __init__(self, width, device, _):
        self.device = device
        self.embed, self.place = nn.Embedding(self.WORDS, width), nn.Embedding(self.LENGTH, width)
        layer = nn.TransformerEncoderLayer(width, max(width // 64, 1), 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.model = nn.ModuleList([self.embed, self.place, nn.TransformerEncoder(layer, 4), nn.Linear(width, self.WORDS)]).to(device)
        self.mask = torch.triu(torch.full((self.LENGTH - 1, self.LENGTH - 1), float("-inf"), device=device), 1)

    def batch(self, size, generator):
        half = torch.randint(self.WORDS, (size, self.LENGTH // 2), generator=generator, device=self.device)
        whole = torch.cat([half, half], 1)
        return whole[:, :-1], whole[:, 1:]

    def loss(self, words, following):
        embed, place, layers, out = self.model
        positions = torch.arange(words.shape[1], device=self.device)
        scores = out(layers(embed(words) + place(positions), mask=self.mask))[:, self.LENGTH // 2 :]
        following = following[:, self.LENGTH // 2 :]
        right = (scores.argmax(2) == following).float().mean()
        return F.cross_entropy(scores.float().flatten(0, 1), following.flatten()), right


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


def main(began=lambda: None, more=dict):
    """`began` is called when everything is ready to train, `more` gives further metrics of an epoch (bench/gpu)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=["cnn", "transformer"])
    model = parser.parse_args().model
    defaults = {"batch_size": 64, "learning_rate": 0.001, "width": 16 if model == "cnn" else 64, "samples": 4096, "noise": 3.0}
    with tandem.trial(defaults=defaults, epochs=5, can=["threads", "precision"], on_change=lambda s: torch.set_num_threads(s.cores)) as t:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.set_num_threads(t.system.cores)
        torch.manual_seed(t.seed)
        task = (Images if model == "cnn" else Sequences)(int(t.hyper["width"]), device, t.hyper["noise"])
        optimizer = torch.optim.Adam(task.model.parameters(), lr=t.hyper["learning_rate"])
        checkpoint = Path(t.folder) / f"{model}.pt"
        if checkpoint.exists():
            saved = torch.load(checkpoint, map_location=device)
            task.model.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            t.resumable(saved["epoch"], **saved["metrics"])
        else:
            t.resumable(0)
        print(f"{model} on {device}, {t.system}", flush=True)
        began()

        size = int(t.hyper["batch_size"])
        steps = max(int(t.hyper["samples"]) // size, 1)
        for epoch in t.remaining():
            generator = torch.Generator(device=device).manual_seed(1000 * t.seed + epoch)
            losses = 0.0
            with numbers(t.system.precision, device):
                for step in range(steps):
                    loss, _ = task.loss(*task.batch(size, generator))
                    optimizer.zero_grad(set_to_none=True)
                    loss.backward()
                    optimizer.step()
                    losses += loss.detach()
                    if step % 8 == 7:
                        if device.type == "cuda":
                            torch.cuda.synchronize()  # what is only queued is not done
                        t.progress(step + 1, steps)
                with torch.no_grad():
                    judge = torch.Generator(device=device).manual_seed(7)
                    accuracy = torch.stack([task.loss(*task.batch(256, judge))[1] for _ in range(4)]).mean()
            metrics = {"accuracy": float(accuracy), "loss": float(losses) / steps, **more()}
            save(checkpoint, {"model": task.model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "metrics": metrics})
            t.report(**metrics)


if __name__ == "__main__":
    main()
