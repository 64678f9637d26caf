"""What may vary: dicts as specs write them (docs/specs.md), and short ways to write these."""

import builtins
from typing import Any, Dict


def _domain(kind: str, value: Any, when: Any) -> Dict[str, Any]:
    return {kind: value} if when is None else {kind: value, "when": when}


def choice(*options: Any, when: Any = None) -> Dict[str, Any]:
    """One of these, `choice("sgd", "adam")` or `choice([16, 32, 64])`; no order implied."""
    if len(options) == 1 and isinstance(options[0], (list, tuple, builtins.range)):
        options = tuple(options[0])
    return _domain("choice", list(options), when)


def range(low: float, high: float, *, when: Any = None) -> Dict[str, Any]:
    """A real number, all equally likely."""
    return _domain("range", [low, high], when)


def log(low: float, high: float, *, when: Any = None) -> Dict[str, Any]:
    """A real number, small ones as likely as large."""
    return _domain("log", [low, high], when)


def int(low: builtins.int, high: builtins.int, *, when: Any = None) -> Dict[str, Any]:
    """A whole number, all equally likely, both ends included."""
    return _domain("int", [low, high], when)
