"""Stands for any training script that knows nothing of Tandem: argparse in, printed lines out."""

import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--optimizer", choices=["plain", "heavy"], default="plain")
parser.add_argument("--momentum", type=float, default=0.0)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--out", default=".")
args = parser.parse_args()

error = 1.0
for epoch in range(1, args.epochs + 1):
    error *= 1 - 0.5 * args.lr * (1 + args.momentum) / (1 + abs(args.width - 128) / 128)
    print(f"Epoch {epoch}/{args.epochs}")
    print(f"  loss {error:.4f}, acc={1 - error:.4f}")

with open(args.out + "/result.txt", "w") as file:
    print(error, file=file)
