"""Trains nothing on a recorded GPU: an epoch is so many products, its accuracy rises with epochs and batch size.

    fake_gpu_training.py --products N [--progress] [--epoch-file FILE]

Run by the tests of GPUs, inside Tandem; the GPU is the one of libfake_nvml.so (e2e/fake_gpu.py)."""

import argparse
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[2] / "python")]
import tandem  # noqa: E402
from e2e.fake_gpu import FakeGpus  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--products", type=float, required=True)
parser.add_argument("--progress", action="store_true")
options = parser.parse_args()

print("sees", os.environ.get("CUDA_VISIBLE_DEVICES"), flush=True)
gpus = FakeGpus(os.environ["FAKE_NVML_STATE"])
with tandem.trial() as t:
    t.resumable(0)
    for epoch in t.remaining():
        parts = 20 if options.progress else 1
        for part in range(parts):
            gpus.work(0, options.products / parts)
            if options.progress:
                t.progress(part + 1, parts)
        t.report(accuracy=1 - 1 / (epoch + 1), limit=gpus.limit(0))
