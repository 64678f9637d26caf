"""The spec of a tuning job from Python's arguments. It is written as JSON, which is YAML too."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

Names = Union[str, Sequence[str], None]


def names(given: Names) -> List[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def main_goal(maximize: Names, minimize: Names) -> str:
    """Of the spec's objective: the first to maximize, else the first to minimize."""
    return [*names(maximize), *names(minimize), "accuracy"][0]


def tuning(
    space: Mapping[str, Any],
    *,
    name: str,
    program: Mapping[str, Any],
    maximize: Names,
    minimize: Names,
    target: Optional[float],
    trials: Optional[int],
    epochs: int,
    algorithm: Optional[str],
    seed: int,
    constraints: Sequence[str] = (),
    system: Optional[Mapping[str, Any]] = None,
    cores: Any = None,
    budget: Any = None,
    limits: Optional[Mapping[str, Any]] = None,
    search: Optional[Mapping[str, Any]] = None,
) -> Dict[str, Any]:
    out: Dict[str, Any] = {"kind": "tune", "name": name, "program": dict(program), "hyper": dict(space)}
    out["search"] = {"algorithm": algorithm or ("hyperband" if epochs > 1 else "tpe"), "max_epochs": epochs, "seed": seed,
                     **({} if trials is None else {"trials": trials}), **(search or {})}
    objective: Dict[str, Any] = {}
    if maximize is not None:
        objective["maximise"] = names(maximize)
    if minimize is not None:
        objective["minimise"] = names(minimize)
    if not objective:
        objective["maximise"] = ["accuracy"]
    if target is not None:
        objective["target"] = target
    out["objective"] = objective
    given = dict(system or {})
    if cores is not None:
        given["cores"] = {"choice": list(cores)} if isinstance(cores, (list, tuple, range)) else cores
    for key, value in (("system", given), ("constraints", list(constraints)), ("limits", dict(limits or {})),
                       ("budget", _budget(budget))):
        if value:
            out[key] = value
    return out


def _budget(given: Any) -> Dict[str, Any]:
    """Seconds, a time as specs write it ("5min"), or what specs have under `budget`."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    return {"time": given if isinstance(given, str) else f"{float(given):g}s"}


def text(spec: Mapping[str, Any]) -> str:
    """One key a line, so that what Tandem says of a line is easily found."""
    lines = []
    for key, value in spec.items():
        if isinstance(value, Mapping) and value and key in ("hyper", "system"):
            inner = ",\n".join(f"    {_json(str(k))}: {_json(v)}" for k, v in value.items())
            lines.append(f"  {_json(key)}: {{\n{inner}\n  }}")
        else:
            lines.append(f"  {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Scalars and arrays of NumPy and PyTorch, paths, tuples' likes."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be part of a space: numbers, words and flags can")


def objective_program() -> Dict[str, Any]:
    if not sys.executable:
        raise RuntimeError("this Python does not know its own program (sys.executable), which trials are started with")
    return {"command": [sys.executable, str(Path(__file__).resolve().parent / "_objective.py")]}
