"""LeNet5 on MNIST in PyTorch, as a user would write it, with the SDK: for machines that have PyTorch but no libtorch of ours."""

import gzip
import os
import struct

import tandem  # before torch: see tandem/_cpus.py

import torch
import torch.nn as nn
import torch.nn.functional as F


def idx(path, count):
    with gzip.open(path) as file:
        data = file.read()
    dimensions = data[3]
    shape = struct.unpack(">" + "I" * dimensions, data[4:4 + 4 * dimensions])
    values = torch.frombuffer(bytearray(data[4 + 4 * dimensions:]), dtype=torch.uint8).reshape(shape)
    return values[:count]


def load(folder):
    def part(prefix, count):
        images = idx(f"{folder}/{prefix}-images-idx3-ubyte.gz", count).float().div(255).sub(0.1307).div(0.3081).unsqueeze(1)
        return images, idx(f"{folder}/{prefix}-labels-idx1-ubyte.gz", count).long()
    return part("train", 12000), part("t10k", 2000)


class LeNet5(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.f1, self.f2, self.f3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)
        self.dropout = dropout

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2).flatten(1)
        x = F.dropout(F.relu(self.f1(x)), self.dropout, self.training)
        return self.f3(F.relu(self.f2(x)))


(train_x, train_y), (test_x, test_y) = load(os.environ["MNIST"])
with tandem.trial(defaults={"batch_size": 64, "learning_rate": 0.05, "dropout": 0.25}, epochs=9) as t:
    torch.manual_seed(1)
    net = LeNet5(t.hyper["dropout"])
    optimizer = torch.optim.SGD(net.parameters(), lr=t.hyper["learning_rate"], momentum=0.9)
    batch = int(t.hyper["batch_size"])
    for epoch in range(t.epochs):
        torch.set_num_threads(t.system.cores)
        net.train()
        order = torch.randperm(len(train_x))
        for begin in range(0, len(order), batch):
            rows = order[begin:begin + batch]
            optimizer.zero_grad()
            F.cross_entropy(net(train_x[rows]), train_y[rows]).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
        t.report(accuracy=accuracy)
