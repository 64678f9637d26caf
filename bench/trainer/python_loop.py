"""The loop a person would write with python3-torch: DataLoader over a TensorDataset, its default settings.

Same questions and answers as questions.h."""
import gzip
import os
import pathlib
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

IMAGES = 4096


def read(name, offset):
    folder = pathlib.Path(os.environ["TANDEM_DATA"]) / "mnist"
    plain = folder / name
    opened = open(plain, "rb") if plain.exists() else gzip.open(folder / (name + ".gz"))
    with opened as file:
        return numpy.frombuffer(file.read()[offset:], dtype=numpy.uint8)


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.out = nn.Linear(84, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.fc1(x.flatten(1)))
        x = functional.relu(self.fc2(x))
        return self.out(x)


def main():
    images = torch.tensor(read("train-images-idx3-ubyte", 16)[: IMAGES * 784].reshape(-1, 1, 28, 28)).float() / 255
    labels = torch.tensor(read("train-labels-idx1-ubyte", 8)[:IMAGES]).long()
    dataset = TensorDataset(images, labels)
    trainings = {}
    print("ready", flush=True)
    for line in sys.stdin:
        batch, threads = map(int, line.split())
        begin = time.perf_counter()
        if batch not in trainings:
            model = LeNet5()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
            trainings[batch] = (model, optimizer, DataLoader(dataset, batch_size=batch, shuffle=True))
        model, optimizer, loader = trainings[batch]
        torch.set_num_threads(threads)
        for inputs, targets in loader:
            optimizer.zero_grad()
            functional.cross_entropy(model(inputs), targets).backward()
            optimizer.step()
        print(f"{time.perf_counter() - begin:.9f}", flush=True)


main()
