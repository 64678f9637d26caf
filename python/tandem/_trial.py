"""One trial: what Tandem gave this program, and the reports it makes."""

import json
import os
import time
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional, Sequence, Set, Tuple, Union

from . import _checkpoint, _cpus, _loaded
from ._values import Values, values_of
from ._wire import VERSION, Gone, ProtocolError, Wire

__all__ = ["Gone", "ProtocolError", "Stop", "System", "Trial", "folder", "report", "trial"]


class Stop(SystemExit):
    """Tandem wants no more epochs. `with trial()` swallows it; elsewhere it ends the program with exit status 0."""

    def __init__(self) -> None:
        super().__init__(0)


class System(NamedTuple):
    """What the machine gives this program."""

    cores: int
    memory: int  # bytes; 0: no limit of its own
    speed: float  # share of full CPU speed, (0, 1]
    gpus: int = 0  # it sees these and no others (CUDA_VISIBLE_DEVICES)
    gpu_memory: int = 0  # bytes it may use of each of them; 0: all
    gpu_power: float = 0.0  # watts each may draw; 0: as it was found
    gpu_clock: float = 0.0  # hertz each is locked to; 0: as it was found
    precision: str = "own"  # fp32, tf32, bf16 or fp16 for programs that say can=["precision"]; own: as you like


class _Hyper(Values):
    """Hyperparameters, and which of them the program has looked at. Whoever goes through all has looked at all."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        object.__setattr__(self, "_read", set())  # an attribute, no entry

    def _all(self) -> None:
        self._read.update(super().keys())

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._read.add(name)
        return super().get(name, default)

    def pop(self, name: str, *default: Any) -> Any:
        self._read.add(name)
        return super().pop(name, *default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        self._read.add(name)
        return super().setdefault(name, default)

    def __iter__(self) -> Iterator[str]:
        self._all()
        return super().__iter__()

    def __eq__(self, other: object) -> bool:
        self._all()
        return super().__eq__(other)

    def keys(self) -> Any:
        self._all()
        return super().keys()

    def values(self) -> Any:
        self._all()
        return super().values()

    def items(self) -> Any:
        self._all()
        return super().items()

    def copy(self) -> Values:
        return Values(self.items())

    def popitem(self) -> Any:
        self._all()
        return super().popitem()

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()


class Trial:
    """What `with tandem.trial() as t:` gives. Not thread-safe: one thread reports.

    hyper     hyperparameters by name, `t.hyper["lr"]` or `t.hyper.lr` (yours to read or change)
    system    cores, memory, speed, GPUs and precision; changes when an answer says so
    epochs    the most epochs to run
    epoch     the last epoch that is done: trained and reported, or in the checkpoint
    reported  epochs Tandem has counted; back to 0 when a program without a checkpoint starts over
    folder    where checkpoints and models go
    seed      for your generators
    attempt   1 for the first start of this trial, more when it was restarted
    inside    False when the program runs outside Tandem
    """

    def __init__(
        self,
        defaults: Optional[Mapping[str, Any]] = None,
        epochs: int = 10,
        *,
        seed: int = 1,
        folder: Optional[str] = None,
        durable_epoch: Optional[int] = None,
        can: Optional[Sequence[str]] = None,
        on_change: Optional[Callable[[System], None]] = None,
        on_checkpoint: Optional[Callable[[int], None]] = None,
        inheritable: bool = False,
        ready: bool = True,
    ) -> None:
        self.hyper: Values = Values(defaults or {})
        self._can = list(can) if can is not None else (["threads"] if on_change else [])
        self._on_change = on_change
        self._on_checkpoint = on_checkpoint
        self._begin_anew()
        self._wire = _claim_socket(inheritable)
        self._tells_loaded = os.environ.pop(_loaded.ASKED, "") == "learn" and self._wire is not None
        self.inside = self._wire is not None
        if self._wire is not None:
            self._read_environment()
            _cpus.keep_to_given()
            if ready:  # imports are done: from here on it is training
                self._say_ready()
        else:
            self.system = System(_cores_here(), 0, 1.0)
            self.epochs, self.reported, self.seed, self.attempt = epochs, 0, seed, 1
            self.folder = folder or os.getcwd()
        self.drop = float(os.environ.get("TANDEM_DROP", "0")) if self.inside else 0.0  # share of an epoch's work to leave out
        if durable_epoch is not None:
            self._greet(durable_epoch)

    def _begin_anew(self) -> None:
        self._given = _Hyper({})  # what Tandem gave
        self._told_read: Set[str] = set()
        self._tells_loaded = False
        self._durable: Optional[int] = None
        self._greeted = False
        self._stopped = False
        self._next = 1  # number of the next report
        self._next_progress = 0.0
        self._ready_at: Optional[float] = None  # until the next report
        self._counted_before = 0  # by earlier attempts, and still standing
        self._loads = False  # keeps its state by save() and load()
        self._saved: Optional[_checkpoint.State] = None  # of the epoch that is reported next
        self._owes_checkpoint = False
        self.cloned = False  # True: the folder holds another trial's checkpoint, to go on from
        self.epoch = 0
        self.reported_here = False  # this attempt has reported something

    def _read_environment(self) -> None:
        self.hyper = self._given = _Hyper({**self.hyper, **values_of(json.loads(_given("TANDEM_HYPER")))})
        self.system = System(int(_given("TANDEM_CORES")), int(_given("TANDEM_MEMORY")), float(_given("TANDEM_SPEED")),
                             gpus=int(os.environ.get("TANDEM_GPUS", "0")),
                             gpu_memory=int(os.environ.get("TANDEM_GPU_MEMORY", "0")),
                             precision=os.environ.get("TANDEM_PRECISION", "own"))
        self.epochs = int(_given("TANDEM_EPOCHS"))
        self.reported = int(_given("TANDEM_REPORTED"))
        self.seed = int(_given("TANDEM_SEED"))
        self.attempt = int(_given("TANDEM_ATTEMPT"))
        self.folder = _given("TANDEM_FOLDER")

    def resumable(self, epoch: int, **metrics: Any) -> None:
        """Says, before the first report, that this program could resume from its checkpoint of `epoch` (0: it keeps
        checkpoints, and has none yet). `metrics` are those of that epoch, kept in the checkpoint: when Tandem had not
        counted the epoch before the program died, it is reported again from them."""
        self._resumes(epoch, metrics, "resumable()")

    def _resumes(self, epoch: int, metrics: Mapping[str, Any], who: str) -> None:
        if self._greeted:
            raise RuntimeError(f"{who} comes before the first report, once")
        self._greet(epoch)
        if self.inside and self.reported < epoch:
            if not metrics:
                raise ValueError(f"epoch {epoch} was never counted: give {who} its metrics, from the checkpoint")
            self.report(metrics)

    def load(self, otherwise: Any = None, **torch_options: Any) -> Any:
        """The state that the last `save` kept, and the trial goes on after its epoch; `otherwise` where there is none
        yet. Comes before the first report, once. Options are torch.load's (`map_location="cpu"`)."""
        found = _checkpoint.newest(self.folder)
        state = otherwise if found is None else _checkpoint.read(self.folder, found, torch_options)
        self._resumes(0 if found is None else found["epoch"], {} if found is None else found["metrics"], "load()")
        self._loads = True
        return state

    def save(self, state: Any) -> None:
        """Keeps the state after the epoch that is reported next: on disk before this returns, and what `load` gives once
        the epoch is reported. By torch.save where torch is loaded, else by pickle."""
        if not self._loads:
            raise RuntimeError("save() is for trials that begin with load(), which says whether there is something to go on "
                               "from: state = t.load()")
        self._saved = _checkpoint.write(self.folder, state)

    def ready(self) -> None:
        """Says, before the first epoch, that all is loaded and built: what came before counts neither as training time
        nor as its energy. Without it, start-up ends when the trial is made."""
        if self._wire is not None and not self._stopped:
            self._say_ready()

    def _say_ready(self) -> None:
        assert self._wire is not None
        self._ready_at = time.monotonic()
        self._wire.send({"type": "ready"})

    def remaining(self) -> range:
        """The numbers of the epochs still to run."""
        return range(self.epoch + 1, self.epochs + 1)

    def report(self, given: Union[Mapping[str, Any], int, None] = None, /, *, epoch: Optional[int] = None,
               **metrics: Any) -> None:
        """Reports the metrics of an epoch, `report(accuracy=0.9)` or `report({"accuracy": 0.9})`, and waits until
        Tandem has them for good. Raises Stop when no more epochs are wanted before all were reported; after the last
        one it returns, and what follows runs. `epoch` counts from 1 and may be left out: the next one. A program that
        keeps checkpoints has the epoch's on disk before it calls this."""
        epoch, metrics = _told(given, epoch, metrics)
        numbers = {name: _number(name, value) for name, value in metrics.items()}
        if epoch is not None and epoch < 1:
            raise ValueError(f"epoch {epoch}: epochs count from 1")
        if self._stopped:
            raise Stop()
        if not self._greeted:
            self._greet(None)
        self.epoch = self._next if epoch is None else epoch
        self._next = self.epoch + 1
        self.reported_here = True
        if self._saved is not None:
            _checkpoint.keep(self.folder, self._saved, self.epoch, numbers)
            self._durable, self._saved = self.epoch, None
        if self._wire is None or self.epoch <= self._counted_before:
            self.reported = max(self.reported, self.epoch)
            note = " (counted before, not reported again)" if self._wire else ""
            print(f"epoch {self.epoch}: " + ", ".join(f"{k} {v:.6g}" for k, v in numbers.items()) + note, flush=True)
            return
        message: Dict[str, Any] = {"type": "epoch", "epoch": self.epoch, "metrics": numbers}
        if self._ready_at is not None:  # Tandem may have read `ready` late
            message["since_ready"] = max(0.0, time.monotonic() - self._ready_at)
            self._ready_at = None
        if self._given._read - self._told_read:
            self._told_read = set(self._given._read)
            message["hyper_read"] = [name for name in sorted(map(str, self._told_read)) if name.isprintable() and 0 < len(name.encode()) <= 128][:500]
        if self._tells_loaded:  # now that its first epoch has loaded what comes late
            self._tells_loaded = False
            message["loaded"] = _loaded.loaded()
        self._wire.send(message)
        self._obey(self._wire, self._wire.receive("answer"))

    def progress(self, done: float, of: float = 1.0) -> None:
        """Says how much of the epoch is done, as often as you like: Tandem then tries GPU settings on parts of an epoch
        instead of whole ones. Never waits; says nothing more than twenty times a second."""
        if not 0 < done <= of:
            raise ValueError(f"progress({done}, {of}): what is done is above 0 and at most the whole")
        now = time.monotonic()
        if self._wire is None or self._stopped or now < self._next_progress:
            return
        if not self._greeted:
            self._greet(None)
        self._next_progress = now + 0.05
        self._wire.send({"type": "progress", "share": done / of})

    def _greet(self, durable_epoch: Optional[int]) -> None:
        if durable_epoch is not None and durable_epoch < 0:
            raise ValueError("durable_epoch is the last epoch with a checkpoint, or 0")
        self._greeted = True
        self._durable = durable_epoch
        self.epoch = durable_epoch or 0
        if self._wire is None:
            self.reported = self.epoch
        else:
            self._say_hello(self._wire, durable_epoch)
            if self.epoch > self.reported + 1:
                raise ValueError(f"the checkpoint is of epoch {self.epoch}, but Tandem has counted {self.reported}: "
                                 "epochs between them were never reported; is it another run's checkpoint?")
        # An epoch that is on disk but was never counted comes first; one that was counted is not sent again.
        self._next = min(self.epoch, self.reported) + 1

    def _say_hello(self, wire: Wire, durable_epoch: Optional[int]) -> None:
        hello: Dict[str, Any] = {"type": "hello", "version": VERSION, "can": self._can}
        if durable_epoch is not None:
            hello["durable_epoch"] = durable_epoch
        wire.send(hello)
        begin = wire.receive("begin")
        if begin.get("version") != VERSION:
            raise ProtocolError(f"Tandem speaks version {begin.get('version')} of the protocol, this SDK {VERSION}")
        self.reported, self.epochs = begin["reported"], begin["epochs"]
        self.cloned = bool(begin.get("cloned", False))
        self.drop = float(begin.get("drop", 0.0))
        self._counted_before = self.reported
        self.system = _system(begin["system"])

    def _obey(self, wire: Wire, answer: Mapping[str, Any]) -> None:
        self.reported = max(self.reported, self.epoch)
        if answer.get("system") is not None:
            self.system = _system(answer["system"])
            if self._on_change:
                self._on_change(self.system)
        if answer["checkpoint"] or self._owes_checkpoint:
            if self._on_checkpoint:
                self._on_checkpoint(self.epoch)
            # Without a callback a resumable program has saved the epoch before it reported it; one with save() may not
            # have, and then answers when it has.
            self._owes_checkpoint = self._loads and self._durable != self.epoch
            if (self._on_checkpoint or self._durable is not None) and not self._owes_checkpoint:
                wire.send({"type": "checkpointed", "epoch": self.epoch})
        if answer["stop"]:
            self._stopped = True
            if self.epoch < self.epochs:  # after the last epoch the program goes on to its end, whoever asked
                raise Stop()

    def __enter__(self) -> "Trial":
        global _current
        _current = self
        return self

    def __exit__(self, kind: Optional[type], error: Optional[BaseException], trace: Any) -> bool:
        global _current
        _current = None
        if self._wire is not None:
            self._wire.leave_open()
        return isinstance(error, Stop)


_current: Optional[Trial] = None
_claimed = False


def trial(defaults: Optional[Mapping[str, Any]] = None, epochs: int = 10, **options: Any) -> Trial:
    """Starts this program's trial: `with tandem.trial() as t:`. One a program.

    defaults       hyperparameters for those the job does not name, and for runs outside Tandem
    epochs, seed, folder   used outside Tandem only
    durable_epoch  see Trial.resumable, which can also be called later
    can            what this program changes by itself when told: "threads", "batch", "precision"
    on_change      called with the new System between epochs
    on_checkpoint  called with the epoch's number when Tandem wants a checkpoint now; returns when it is on disk
    inheritable    keep the socket open in programs this one starts (default: they run as if outside Tandem)
    """
    return Trial(defaults, epochs, **options)


def report(given: Union[Mapping[str, Any], int, None] = None, /, *, epoch: Optional[int] = None, **metrics: Any) -> None:
    """Trial.report for programs that need nothing else; the trial starts with the first report."""
    global _current
    if _current is None:
        _current = Trial(ready=False)  # an epoch is over already
    _current.report(given, epoch=epoch, **metrics)


def folder() -> str:
    """Where checkpoints and models go, known before the trial starts; outside Tandem the current folder."""
    return os.environ.get("TANDEM_FOLDER") or os.getcwd()


def _claim_socket(inheritable: bool) -> Optional[Wire]:
    global _claimed
    if _claimed:
        raise RuntimeError("this program had its trial already; a program is one trial")
    written = os.environ.get("TANDEM_SOCKET")
    if not written:
        return None
    if not written.isdigit():
        raise SystemExit(f"tandem: TANDEM_SOCKET is {written!r}, not the number of a descriptor")
    wire = Wire(int(written), inheritable)
    _claimed = True
    # Programs started from here must not believe that the socket is theirs.
    if not inheritable:
        del os.environ["TANDEM_SOCKET"]
    return wire


def _given(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise SystemExit(f"tandem: TANDEM_SOCKET is set but {name} is not; was the environment cleared on the way here?")
    return value


def _system(fields: Mapping[str, Any]) -> System:
    return System(int(fields["cores"]), int(fields["memory"]), float(fields["speed"]), int(fields.get("gpus", 0)),
                  int(fields.get("gpu_memory", 0)), float(fields.get("gpu_power", 0)), float(fields.get("gpu_clock", 0)),
                  str(fields.get("precision", "own")))


def _told(given: Union[Mapping[str, Any], int, None], epoch: Optional[int],
          metrics: Dict[str, Any]) -> Tuple[Optional[int], Dict[str, Any]]:
    """The epoch, and all metrics: some may come as one mapping, and the epoch as the first argument."""
    if isinstance(given, Mapping):
        twice = sorted(set(given) & set(metrics))
        if twice:
            raise ValueError(f"metric '{twice[0]}' is reported twice: in the mapping, and as a keyword")
        return epoch, {**given, **metrics}
    if given is not None and (isinstance(given, bool) or not hasattr(given, "__index__")):
        raise TypeError(f"report() takes metrics by name, report(accuracy=0.9), or as one mapping, not {given!r}")
    if given is not None and epoch is not None:
        raise TypeError("report() was given the epoch twice")
    return (epoch if given is None else int(given)), metrics


def _number(name: str, value: Any) -> float:
    """Anything that is one number: int, float, numpy and torch scalars. Words are not read as numbers."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"metric '{name}' must be a number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(f"metric '{name}' must be one number, not {type(value).__name__}: {error}") from None


def _cores_here() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
