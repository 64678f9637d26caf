"""How an objective travels to the processes of its trials.

By reference where they can import it. What lives in `__main__` (a script, a notebook) or in another function goes by
cloudpickle where that is installed, else by source: its own, that of the functions and classes it uses, and the values of
the globals it uses, pickled. What cannot travel is named.
"""

import ast
import base64
import builtins
import dis
import importlib
import inspect
import io
import json
import linecache
import os
import pickle
import sys
import textwrap
import types
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

FILE = "objective.json"
_READS_A_NAME = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


class CannotTravel(TypeError):
    """Something the objective needs cannot be sent to another process."""


def pack(objective: Callable[..., Any], metric: str, by: Optional[str] = None) -> str:
    """The text of the file that trials read. `by`: reference, cloudpickle or source; None: the first that does."""
    if not callable(objective):
        raise TypeError(f"the objective must be a function of a trial, not {objective!r}")
    out: Dict[str, Any] = {"format": 1, "python": sys.version.split()[0], "metric": metric,
                           "sys_path": [os.path.abspath(place) for place in sys.path]}
    if by is None:
        by = "reference" if _importable(objective) else "cloudpickle" if _has_cloudpickle() else "source"
    if by == "reference":
        out["pickle"] = _text(pickle.dumps(objective))
    elif by == "cloudpickle":
        import cloudpickle  # type: ignore[import-not-found]
        try:
            out["pickle"] = _text(cloudpickle.dumps(objective))
        except Exception as error:  # whatever a __reduce__ may raise
            raise CannotTravel(f"the objective cannot be sent to the trials: {error}; what it uses must be picklable: make "
                               "such things inside the function, or tune with processes=\"inline\"") from error
    else:
        out.update(_Sources().pack(objective))
    return json.dumps({"by": by, **out})


def unpack(text: str) -> Callable[..., Any]:
    """The objective, in a process that does nothing else: it becomes that process's `__main__`."""
    packed = json.loads(text)
    known = {place for place in sys.path}
    sys.path += [place for place in packed["sys_path"] if place not in known]
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    try:
        for name, module in packed.get("modules", {}).items():
            main.__dict__[name] = importlib.import_module(module)
        for definition in packed.get("definitions", []):
            _define(definition, main)
        return pickle.loads(base64.b64decode(packed["pickle"]))
    except Exception as error:
        here = sys.version.split()[0]
        if packed["python"] != here:
            raise RuntimeError(f"the objective was sent by Python {packed['python']} and cannot be read by {here}: {error}; "
                               "start the run anew") from error
        raise


def _importable(thing: Any) -> bool:
    """A function or class that another process finds under its name in a module."""
    module = sys.modules.get(getattr(thing, "__module__", None) or "")
    if module is None or module.__name__ == "__main__" or not (
            getattr(module, "__file__", None) or getattr(module, "__spec__", None)):
        return False
    found: Any = module
    for part in getattr(thing, "__qualname__", "<none>").split("."):
        found = getattr(found, part, None)
    return found is thing


def _has_cloudpickle() -> bool:
    try:
        import cloudpickle  # type: ignore[import-not-found]  # noqa: F401
    except ImportError:
        return False
    return True


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _define(definition: Dict[str, Any], main: types.ModuleType) -> None:
    """One function, class or value of `__main__`. Source keeps its file and line numbers, for tracebacks."""
    name = definition["name"]
    if "pickle" in definition:
        main.__dict__[name] = pickle.loads(base64.b64decode(definition["pickle"]))
        return
    source, file = definition["source"], definition["file"]
    if not os.path.exists(file):  # a cell of a notebook
        lines = ["\n"] * (definition["line"] - 1) + source.splitlines(keepends=True)
        linecache.cache[file] = (len(source), None, lines, file)
    exec(compile("\n" * (definition["line"] - 1) + source, file, "exec"), main.__dict__)
    if name in main.__dict__:
        return
    raise RuntimeError(f"the source of {name} does not define it")


def _named(name: str) -> Any:
    """What a pickle made here refers to."""
    return sys.modules["__main__"].__dict__[name]


class _Sources:
    """Gathers what an objective needs. Definitions come after those they use, as far as these do not use each other."""

    def __init__(self) -> None:
        self._modules: Dict[str, str] = {}
        self._definitions: List[Dict[str, Any]] = []
        self._seen: Dict[str, Any] = {}

    def pack(self, objective: Any) -> Dict[str, Any]:
        packed = self._pickled(objective, "the objective")
        return {"modules": self._modules, "definitions": self._definitions, "pickle": packed}

    def _pickled(self, value: Any, what: str) -> str:
        sources = self

        class Pickler(pickle.Pickler):
            def reducer_override(self, thing: Any) -> Any:
                if isinstance(thing, (type, types.FunctionType)) and _of_main(thing):
                    sources._add_source(thing)
                    return _named, (thing.__name__,)
                return NotImplemented

        target = io.BytesIO()
        try:
            Pickler(target).dump(value)
        except CannotTravel:
            raise
        except Exception as error:
            raise CannotTravel(f"{what} cannot be sent to the trials: {type(value).__name__} cannot be pickled ({error}); "
                               "make it inside the function, or tune with processes=\"inline\"") from error
        return _text(target.getvalue())

    def _add_source(self, thing: Any) -> None:
        name = thing.__name__
        if name in self._seen:
            if self._seen[name] is not thing:
                raise CannotTravel(f"two different things are called {name}: give one of them another name, or install "
                                   "cloudpickle")
            return
        self._seen[name] = thing
        if name == "<lambda>":
            raise CannotTravel("a lambda has no source of its own: write it with def, or install cloudpickle")
        try:
            lines, line, file = _source(thing)
        except (OSError, TypeError) as error:
            raise CannotTravel(f"the source of {name} cannot be found ({error}): install cloudpickle, or put it into a "
                               "module of its own") from error
        source = textwrap.dedent("".join(lines))
        try:
            code = compile(source, file, "exec")
        except SyntaxError as error:
            raise CannotTravel(f"the source of {name} does not stand alone ({error.msg}): install cloudpickle, or move it "
                               "to the top of a module") from error
        for used in sorted(_names_read(code) - {name}):
            self._add_global(used, thing)
        self._definitions.append({"name": name, "source": source, "file": file, "line": max(line, 1)})

    def _add_global(self, name: str, user: Any) -> None:
        seen_from = _surroundings(user)
        if name not in seen_from:
            return  # a builtin, or a mistake that its trial will tell
        value = seen_from[name]
        if isinstance(value, types.ModuleType):
            self._modules[name] = value.__name__
            return
        if isinstance(value, (type, types.FunctionType)) and _of_main(value) and value.__name__ == name:
            self._add_source(value)
            return
        if name in self._seen:
            if self._seen[name] is not value:
                raise CannotTravel(f"two different things are called {name}: give one of them another name, or install "
                                   "cloudpickle")
            return
        self._seen[name] = value
        packed = self._pickled(value, f"'{name}', which {user.__name__} uses,")
        self._definitions.append({"name": name, "pickle": packed})


def _of_main(thing: Any) -> bool:
    return not _importable(thing) and thing.__module__ != "builtins"


def _source(thing: Any) -> Tuple[List[str], int, str]:
    """Lines, the number of the first, and the file. OSError or TypeError where there is none."""
    try:
        return (*inspect.getsourcelines(thing), inspect.getsourcefile(thing) or "<unknown>")
    except (OSError, TypeError):
        if not isinstance(thing, type):
            raise
        # A class of a notebook: inspect looks for the file of its module, which has none. Its methods know theirs.
        for member in _methods(thing):
            file = member.__code__.co_filename
            lines = linecache.getlines(file)
            for node in ast.walk(ast.parse("".join(lines))):
                if (isinstance(node, ast.ClassDef) and node.name == thing.__name__
                        and node.lineno <= member.__code__.co_firstlineno <= (node.end_lineno or 0)):
                    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                    return lines[first - 1:node.end_lineno], first, file
        raise


def _methods(thing: type) -> Iterator[types.FunctionType]:
    for member in vars(thing).values():
        found = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if isinstance(found, types.FunctionType):
            found = inspect.unwrap(found)
            if found.__qualname__.startswith(thing.__qualname__ + "."):
                yield found


def _surroundings(thing: Any) -> Dict[str, Any]:
    """The globals a function or class sees, and of a function what it closes over."""
    thing = inspect.unwrap(thing)
    if isinstance(thing, types.FunctionType):
        out = dict(thing.__globals__)
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or ()):
            try:
                out[name] = cell.cell_contents
            except ValueError:
                pass  # not bound yet
        return out
    module = sys.modules.get(thing.__module__)
    out = dict(vars(module)) if module else {}
    for method in _methods(thing):
        out.update({k: v for k, v in _surroundings(method).items() if k != "__class__"})
    return out


def _names_read(code: types.CodeType) -> Set[str]:
    """Names that are looked up outside, by this code and all in it."""
    return {str(step.argval) for inner in _codes(code) for step in dis.get_instructions(inner)
            if step.opname in _READS_A_NAME}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def kept_file(folder: str) -> Path:
    """Of a run, from the folder of one of its trials."""
    return Path(folder).parent / "kept" / FILE
