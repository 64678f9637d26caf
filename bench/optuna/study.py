#!/usr/bin/python3
"""Tunes LeNet-5 with Optuna and PyTorch the way a person would write it, from their documentation's examples: TPE,
the Hyperband pruner, trials of up to so many epochs. Beside it, one line a finished epoch goes to --log.

Started twice with the same --storage, the two share the study.
"""
import argparse
import json
import pathlib
import time

import numpy
import optuna
import torch
from optuna.study import MaxTrialsCallback
from torch import nn
from torch.nn import functional


class LeNet5(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.out = nn.Linear(84, 10)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = self.dropout(functional.relu(self.fc1(x.flatten(1))))
        x = self.dropout(functional.relu(self.fc2(x)))
        return self.out(x)


def load(folder, part):
    images = numpy.fromfile(folder / f"{part}-images-idx3-ubyte", numpy.uint8)[16:].reshape(-1, 1, 28, 28)
    labels = numpy.fromfile(folder / f"{part}-labels-idx1-ubyte", numpy.uint8)[8:]
    return torch.from_numpy(images.astype(numpy.float32) / 255), torch.from_numpy(labels.astype(numpy.int64))


def train_epoch(model, optimizer, images, labels, batch):
    model.train()
    for chosen in torch.randperm(len(images)).split(batch):
        optimizer.zero_grad()
        functional.cross_entropy(model(images[chosen]), labels[chosen]).backward()
        optimizer.step()


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("--storage")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--trials", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    train_images, train_labels = load(options.data, "train")
    test_images, test_labels = load(options.data, "t10k")
    log = open(options.log, "a", buffering=1)

    def objective(trial):
        batch = trial.suggest_categorical("batch_size", [32, 64, 256, 1024])
        rate = trial.suggest_float("learning_rate", 0.001, 0.1, log=True)
        model = LeNet5(trial.suggest_float("dropout", 0.0, 0.5))
        optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
        best = 0.0
        for epoch in range(1, options.epochs + 1):
            train_epoch(model, optimizer, train_images, train_labels, batch)
            found = accuracy(model, test_images, test_labels)
            log.write(json.dumps({"at": time.time(), "trial": trial.number, "epoch": epoch, "score": found}) + "\n")
            best = max(best, found)
            trial.report(found, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return best

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        study_name="lenet5", storage=options.storage, load_if_exists=True, direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=options.seed),
        pruner=optuna.pruners.HyperbandPruner(min_resource=1, max_resource=options.epochs, reduction_factor=3))
    study.optimize(objective, callbacks=[MaxTrialsCallback(options.trials, states=None)])


main()
