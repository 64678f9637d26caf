"""The checkpoints of `Trial.save` and `load`: a file with the state, and a small one that names the newest.

The state is durable first, then the file that names it with its epoch and metrics, and only then is the epoch reported:
whenever the program dies, what is named is whole.
"""

import inspect
import json
import os
import pickle
import sys
from pathlib import Path
from typing import Any, Dict, Mapping, NamedTuple, Optional

_NEWEST = "tandem-checkpoint.json"


class State(NamedTuple):
    file: str  # in the folder
    by: str  # torch or pickle


def write(folder: str, state: Any) -> State:
    torch = sys.modules.get("torch")
    by = "torch" if torch is not None and hasattr(torch, "save") else "pickle"
    last = newest(folder)
    # Never over the one that is named: it is the only one until this one is named.
    turn = 1 if last is None or last["file"].endswith("-0.state") else 0
    name = f"tandem-checkpoint-{turn}.state"
    with open(Path(folder) / name, "wb") as file:
        if by == "torch":
            torch.save(state, file)  # type: ignore[union-attr]
        else:
            pickle.dump(state, file, protocol=pickle.HIGHEST_PROTOCOL)
        _to_disk(file)
    return State(name, by)


def keep(folder: str, state: State, epoch: int, metrics: Mapping[str, float]) -> None:
    named = Path(folder) / _NEWEST
    beside = named.with_suffix(".new")
    with open(beside, "w", encoding="utf-8") as file:
        json.dump({"format": 1, "epoch": epoch, "metrics": dict(metrics), **state._asdict()}, file)
        _to_disk(file)
    os.replace(beside, named)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def newest(folder: str) -> Optional[Dict[str, Any]]:
    try:
        return json.loads((Path(folder) / _NEWEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def read(folder: str, found: Mapping[str, Any], torch_options: Mapping[str, Any]) -> Any:
    with open(Path(folder) / found["file"], "rb") as file:
        if found["by"] == "pickle":
            return pickle.load(file)
        import torch  # type: ignore[import-not-found]
        options = dict(torch_options)
        if "weights_only" in inspect.signature(torch.load).parameters:
            options.setdefault("weights_only", False)  # it is our own, and may hold anything
        return torch.load(file, **options)


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
