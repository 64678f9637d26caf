"""Tuning a Python function, and looking at runs."""

import os
import tempfile
from pathlib import Path
from typing import Any, Callable, List, Mapping, Optional, Sequence, Union

from . import _binary, _spec, _travel
from ._notebook import display_here
from ._trial import Trial
from ._values import Values


class Result(Values):
    """What a run came to: what `tandem show RUN --json -` says, as attributes.

    run, state, reason   its id, and how it ended
    best                 hyper, system, metrics, epoch and trial of the best one; None: there is none
    trials               each with hyper, state, epochs, metrics, history
    """

    def frame(self) -> Any:
        """The trials as a pandas DataFrame: a row each, `hyper.NAME` and `metrics.NAME` among the columns."""
        try:
            import pandas
        except ImportError:
            raise ImportError("frame() needs pandas, which is not installed (pip install pandas); `trials` is a plain list"
                              ) from None
        return pandas.DataFrame(self.rows())

    def rows(self) -> List[dict]:
        """The trials as flat dicts, for a table of any kind."""
        out = []
        for trial in self["trials"]:
            row = {name: trial[name] for name in ("trial", "state", "epochs", "train_seconds", "joules") if name in trial}
            for part in ("hyper", "metrics"):
                row.update({f"{part}.{name}": value for name, value in (trial.get(part) or {}).items()})
            out.append(row)
        return out

    def __repr__(self) -> str:
        best = self.get("best")
        found = "nothing was found" if not best else f"best {dict(best['metrics'])} with {dict(best['hyper'])}"
        return f"<tandem run {self.get('run')}, {self.get('state')}: {found}>"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. The run can go on: `run` is its id, `result` what it has come to."""

    def __init__(self, result: Optional[Result]) -> None:
        self.result = result
        self.run = result.get("run") if result else None
        how = f"; tandem.resume({self.run!r}), or `tandem resume {self.run}`, goes on" if self.run else ""
        super().__init__(f"tuning was interrupted{how}")


def tune(
    objective: Callable[[Trial], Any],
    space: Mapping[str, Any],
    *,
    trials: Optional[int] = None,
    epochs: int = 1,
    maximize: _spec.Names = None,
    minimize: _spec.Names = None,
    target: Optional[float] = None,
    algorithm: Optional[str] = None,
    seed: int = 1,
    mode: str = "pipelined",
    cores: Any = None,
    system: Optional[Mapping[str, Any]] = None,
    constraints: Sequence[str] = (),
    budget: Any = None,
    limits: Optional[Mapping[str, Any]] = None,
    search: Optional[Mapping[str, Any]] = None,
    name: Optional[str] = None,
    store: Union[str, "os.PathLike[str]", None] = None,
    resume: Union[bool, str] = False,
    processes: str = "own",
    quiet: bool = False,
) -> Result:
    """Finds good values for `space`: calls `objective(trial)` with many of them, in processes of their own.

    The objective reports with `trial.report(accuracy=…)` once an epoch, or returns one number, or a dict of metrics.
    Values of the space are fixed values, `tandem.log(1e-4, 1e-1)` and its like, or domains as specs write them.

    trials       how many to start (default: the algorithm's own number)
    epochs       the most a trial reports; with more than 1 poor trials end early
    maximize, minimize   the metric, or a list (default: maximize "accuracy"); `target`: good enough
    algorithm    `tandem tune --help` lists them (default: hyperband, with one epoch tpe)
    mode         pipelined, hyper or joint: what is done about cores, memory and speed (docs/tuning.md)
    cores        of a trial: a number, or a list to choose from; `system`: all a spec has under that name
    budget       seconds, "5min", or {"time": …, "energy": …}
    search, limits, constraints   as in specs, for what has no argument here
    name, store  of the run
    resume       True: goes on with the newest run of this name unless that has finished; a run's id: with that one.
                 It goes on with the objective and space it was begun with
    processes    "own", or "inline": one trial after another in this process, for debugging
    quiet        no progress

    Ctrl-C raises Interrupted; what cannot be done raises Error, what cannot be sent to a process CannotTravel.
    """
    asked = dict(maximize=maximize, minimize=minimize, target=target, trials=trials, epochs=epochs, algorithm=algorithm,
                 seed=seed, constraints=constraints, budget=budget, limits=limits, search=search)
    name = name or getattr(objective, "__name__", "objective").strip("<>")
    if processes == "inline":
        from ._study import tune_inline
        return tune_inline(objective, space, name=name, store=store, resume=resume, quiet=quiet, **asked)
    if processes != "own":
        raise ValueError(f"processes is 'own' or 'inline', not {processes!r}")
    if resume:
        found = _unfinished(name, store) if resume is True else str(resume)
        if found:
            return _worked(["resume", found, *_binary.store_option(store)], quiet)
    spec = _spec.tuning(space, name=name, program=_spec.objective_program(), system=system, cores=cores, **asked)
    packed = _travel.pack(objective, _spec.main_goal(maximize, minimize))
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        file, kept = Path(folder) / "spec.json", Path(folder) / _travel.FILE
        file.write_text(_spec.text(spec), encoding="utf-8")
        kept.write_text(packed, encoding="utf-8")
        return _worked(["tune", str(file), "--mode", mode, "--keep", str(kept), *_binary.store_option(store)], quiet)


def resume(run: str = "last", *, time: Optional[str] = None, energy: Optional[str] = None, store: Any = None,
           quiet: bool = False) -> Result:
    """Goes on with a run that was interrupted, stopped or failed; a finished one gives its result again. `time` and
    `energy` raise its budget."""
    raises = [word for option, value in (("--time", time), ("--energy", energy)) if value is not None
              for word in (option, str(value))]
    return _worked(["resume", run, *raises, *_binary.store_option(store)], quiet)


def runs(store: Any = None) -> List[Values]:
    """The runs there are, newest first: id, kind, name, state, …"""
    return _binary.ask("runs", *_binary.store_option(store))["runs"]


def load(run: str = "last", store: Any = None) -> Result:
    """What a run came to, or has come to so far: by its id, the beginning of it, its name, or "last"."""
    return Result(_binary.ask("show", run, *_binary.store_option(store)))


def _unfinished(name: str, store: Any) -> Optional[str]:
    newest = next((run for run in runs(store) if run["name"] == name and run["kind"] == "tune"), None)
    return newest["id"] if newest and newest["state"] != "finished" else None


def _worked(arguments: List[str], quiet: bool) -> Result:
    done = _binary.work([*arguments, *(["--quiet"] if quiet else [])], display_here(quiet))
    result = Result(done.answer) if done.answer is not None else None
    if done.code == _binary.INTERRUPTED:
        raise Interrupted(result)
    if done.code == 0 and result is not None:
        return result
    raise _binary.Error(_why(arguments[0], done, result), done.code, result.get("run") if result else None)


def _why(command: str, done: _binary.Done, result: Optional[Result]) -> str:
    if result is None:
        return _binary.plain(done.errors) or f"tandem {command} ended with exit code {done.code}; it has said why, above"
    why = f"run {result['run']} {result['state']}: {result.get('reason', '')}"
    for trial in result.get("trials", []):
        last = (trial.get("failure") or {}).get("last_output")
        if last:
            return f"{why}\nThe last lines of trial {trial['trial']}:\n{last.rstrip()}"
    return why
