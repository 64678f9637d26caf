"""Ask and tell: Tandem says what to try, this program tries it and tells what came of it."""

import json
import math
import os
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Union

from . import _binary, _spec
from ._trial import Stop, System, Trial
from ._tune import Interrupted, Result, _unfinished, load
from ._values import Values, values_of


_AS_LONG_AS_ASKED = 100_000  # the most a search may have


class Over(Exception):
    """The study has no more trials: `str(over)` says why."""


class Asked:
    """One trial to be tried: `hyper`, its `number`, the most `epochs` it may report, a `seed` and a `folder` of its own."""

    def __init__(self, answer: Mapping) -> None:
        self.number: int = answer["trial"]
        self.hyper: Values = answer["hyper"]
        self.epochs: int = answer["epochs"]
        self.seed: int = answer["seed"]
        self.attempt: int = answer["attempt"]
        self.folder: str = answer["folder"]

    def __repr__(self) -> str:
        return f"<trial {self.number}: {dict(self.hyper)}>"


class Study:
    """A search whose trials are tried by this program, in whatever way; journalled as a run like any other.

        with tandem.Study({"x": tandem.range(-1, 1)}, minimize="loss", trials=30) as study:
            for t in study:
                study.tell(t, (t.hyper.x - 0.3) ** 2)
            print(study.best)

    Any number of trials may be asked for before the first is told. Arguments are those of `tandem.tune`; without
    `trials` it goes on as long as it is asked (algorithm tpe, say; grid and hyperband have numbers of their own).
    `resume` is a run's id: what was told stays told, and trials that were asked for and never told are given again.
    Threads may share it.
    """

    def __init__(
        self,
        space: Optional[Mapping] = None,
        *,
        maximize: _spec.Names = None,
        minimize: _spec.Names = None,
        target: Optional[float] = None,
        trials: Optional[int] = None,
        epochs: int = 1,
        algorithm: Optional[str] = None,
        seed: int = 1,
        constraints: Sequence[str] = (),
        budget: Any = None,
        limits: Optional[Mapping] = None,
        search: Optional[Mapping] = None,
        name: str = "study",
        store: Union[str, "os.PathLike[str]", None] = None,
        resume: Optional[str] = None,
    ) -> None:
        self._lock = threading.Lock()
        self._ended = False
        if trials is None and algorithm is None:
            trials = _AS_LONG_AS_ASKED
        arguments = ["ask"]
        with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
            if resume is not None:
                arguments += ["--resume", resume]
            elif space is None:
                raise TypeError("a study needs a space, or a run to resume")
            else:
                spec = _spec.tuning(space, name=name, program={"command": ["(asked)"]}, maximize=maximize, minimize=minimize,
                                    target=target, trials=trials, epochs=epochs,
                                    algorithm=algorithm or "tpe", seed=seed, constraints=constraints, budget=budget,
                                    limits=limits, search=search)
                file = Path(folder) / "spec.json"
                file.write_text(_spec.text(spec), encoding="utf-8")
                arguments.append(str(file))
            self._process = subprocess.Popen([_binary.find(), *arguments, *_binary.store_option(store)],
                                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             start_new_session=True)
            begun = self._heard()
        self.run: str = begun["run"]
        self.goal: str = begun["goal"]

    def ask(self) -> Asked:
        """The next trial. Raises Over when there is none any more, Error when some must be told first."""
        answer = self._say({"ask": True})
        if "over" in answer:
            raise Over(answer["over"])
        return Asked(answer)

    def report(self, trial: Asked, metrics: Union[float, Mapping]) -> bool:
        """One epoch of a trial with several; False: it should end here, and is told."""
        return not self._say({"report": trial.number, "attempt": trial.attempt, "metrics": self._metrics(metrics)})["stop"]

    def tell(self, trial: Asked, metrics: Union[float, Mapping, None] = None, *, failed: Optional[str] = None) -> None:
        """What came of a trial: one number (of the first goal), all metrics, or why it failed. Without any of them it
        ends with what it reported."""
        line: Dict[str, Any] = {"tell": trial.number, "attempt": trial.attempt}
        if failed is not None:
            line["failed"] = str(failed)
        elif metrics is not None:
            line["metrics"] = self._metrics(metrics)
        self._say(line)

    def __iter__(self) -> Iterator[Asked]:
        while True:
            try:
                yield self.ask()
            except Over:
                return

    @property
    def best(self) -> Optional[Values]:
        """hyper and metrics of the best trial so far; None: nothing was told yet."""
        return self.result().best

    def result(self) -> Result:
        return Result(self._say({"result": True}))

    def close(self) -> None:
        """Ends the study, if it is not over; `Study(resume=study.run)` goes on."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self._process.communicate()

    def __enter__(self) -> "Study":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None and not self._ended:
            self.close()

    def _metrics(self, given: Union[float, Mapping]) -> Dict[str, Optional[float]]:
        told = {str(k): float(v) for k, v in given.items()} if isinstance(given, Mapping) else {self.goal: float(given)}
        return {name: value if math.isfinite(value) else None for name, value in told.items()}

    def _say(self, line: Mapping) -> Values:
        with self._lock:
            if self._ended:
                raise _binary.Error("the study was closed; tandem.Study(resume=study.run) goes on", 2, self.run)
            try:
                self._process.stdin.write(json.dumps(line).encode() + b"\n")  # type: ignore[union-attr]
                self._process.stdin.flush()  # type: ignore[union-attr]
            except BrokenPipeError:
                pass  # what it said is read below
            return self._heard()

    def _heard(self) -> Values:
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            self._ended = True
            said = self._process.communicate()[1].decode(errors="replace")
            raise _binary.Error(_binary.plain(said) or "tandem ask has ended", self._process.returncode)
        answer = values_of(json.loads(line))
        if "error" in answer:
            raise _binary.Error(answer["error"], 2, getattr(self, "run", None))
        return answer


class InlineTrial(Trial):
    """A trial in this process: what it would say to Tandem goes to its study."""

    def __init__(self, study: Study, asked: Asked) -> None:
        self._begin_anew()
        self._can, self._on_change, self._on_checkpoint = [], None, None
        self._study, self._asked = study, asked
        self.hyper, self.epochs, self.seed, self.attempt = asked.hyper, asked.epochs, asked.seed, asked.attempt
        self.folder, self.reported, self.drop, self.inside = asked.folder, 0, 0.0, True
        self.system = System(len(os.sched_getaffinity(0)), 0, 1.0)
        os.makedirs(self.folder, exist_ok=True)
        self._wire = self  # type: ignore[assignment]
        self.last_metrics: Dict[str, Any] = {}
        self._begun = {"version": 1, "reported": 0, "epochs": self.epochs, "system": self.system._asdict()}

    def send(self, message: Dict[str, Any]) -> None:
        if message["type"] == "epoch":
            self.last_metrics = message["metrics"]
            go_on = self._study.report(self._asked, message["metrics"])
            self._answer = {"stop": not go_on, "checkpoint": False}

    def receive(self, expected: str) -> Dict[str, Any]:
        return self._begun if expected == "begin" else self._answer

    def leave_open(self) -> None:
        pass


def tune_inline(objective: Callable[[Trial], Any], space: Mapping, *, name: str, store: Any, resume: Union[bool, str],
                quiet: bool, **asked: Any) -> Result:
    """Trials one by one, here. What the objective raises comes out as it is, after its trial was told to have failed."""
    from ._objective import run
    going_on = (_unfinished(name, store) if resume is True else str(resume)) if resume else None
    algorithm = asked.pop("algorithm") or "tpe"
    with Study(space, name=name, store=store, resume=going_on, algorithm=algorithm, **asked) as study:
        try:
            for trial in study:
                here = InlineTrial(study, trial)
                try:
                    with here:
                        run(objective, here, study.goal)
                except Exception as error:
                    study.tell(trial, failed=f"{type(error).__name__}: {error}")
                    raise
                study.tell(trial)
                if not quiet:
                    print(f"trial {trial.number}: {here.last_metrics} with {dict(trial.hyper)}", flush=True)
        except KeyboardInterrupt:
            study.close()
            raise Interrupted(load(study.run, store)) from None
        return study.result()
