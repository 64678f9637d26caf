"""Stores as text: a store's database as SQL, with its blobs in hexadecimal, and the small files of its runs."""

import pathlib
import shutil
import sqlite3

HERE = pathlib.Path(__file__).resolve().parent
# A lock is of its process, models and checkpoints of the trainer are large.
LEFT_OUT = {"lock", "guardian.log"}
LARGEST = 4096


def job(kind, name, seconds, rest, energy="{source: none}"):
    return (f"kind: {kind}\nname: {name}\nprogram: {{command: [python3, tests/stores/program.py, '{seconds}']}}\n"
            f"energy: {energy}\n{rest}\n")


# Of the recurring job: whoever goes on with it writes the same.
NIGHTLY = job("tune", "nightly", 0.05, "hyper: {batch_size: {choice: [128, 64, 32]}}\nsearch: {max_epochs: 12}\nsystem: {cores: 1}\n"
              "objective: {maximise: accuracy, target: 0.79, cost: {energy: 0, time: 1}}",
              energy="{source: model, idle: 10W, busy: 40W}")

# Learns from the experiment `whole`, which ran the same program.
ADVISED = job("train", "advised", 0.01, "hyper: {rate: {choice: [0.1, 0.3, 0.6]}, epochs: 2}")

# Servers go on when they are started with the same settings; the file is relative to the repository.
NODES = "tests/stores/nodes.yaml"
PREEMPTING = ("--name", "preempting", "--world", "sim", "--policy", "preempt-resume", "--nodes", NODES)


def names():
    return sorted(folder.name for folder in HERE.iterdir() if (folder / "store.sql").exists())


def dump(store, target):
    """Writes the store's database and the small text files of its runs below `target`, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    database = sqlite3.connect(store / "tandem.db")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    (target / "store.sql").write_text("\n".join([f"PRAGMA user_version={version};", *database.iterdump()]) + "\n")
    database.close()
    for file in sorted((store / "runs").rglob("*")):
        if not file.is_file() or file.is_symlink() or file.name in LEFT_OUT or file.stat().st_size > LARGEST:
            continue
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        if text:
            copy = target / file.relative_to(store)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text)


def load(source, store):
    """Makes the store that `source` keeps again in the folder `store`, which must not exist."""
    store.mkdir(mode=0o700)
    if (source / "runs").exists():
        shutil.copytree(source / "runs", store / "runs")
    database = sqlite3.connect(store / "tandem.db")
    database.executescript((source / "store.sql").read_text())
    for (run,) in database.execute("SELECT id FROM run").fetchall():
        (store / "runs" / run).mkdir(parents=True, exist_ok=True)
    database.close()
