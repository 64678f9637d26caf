"""The program `tandem`: where it is, and how it is run from here."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, List, NamedTuple, NoReturn, Optional, Sequence

from ._values import values_of

INTERRUPTED = 130
_INSIDE = Path(__file__).resolve().parent / "bin" / "tandem"  # where a wheel has it
# A run ends politely with whoever waits for it, also when that is killed. Its Ctrl-C comes from here, once.
_WITH_PARENT = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 15)
if os.getppid() != int(sys.argv[1]): sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""


class Error(RuntimeError):
    """`tandem` could not do what it was asked; `code` is its exit code (2: what it was given must be changed), and
    `run` the run it is about, where there is one."""

    def __init__(self, message: str, code: int = 1, run: Optional[str] = None) -> None:
        super().__init__(message)
        self.code, self.run = code, run


class Done(NamedTuple):
    code: int
    answer: Any  # what it wrote as JSON; None: nothing
    errors: str  # what it said on standard error, as far as that was read here


def find() -> str:
    """The program: $TANDEM_BIN (it, or its folder), else the one of this package, else the one on the PATH."""
    told = os.environ.get("TANDEM_BIN")
    if told:
        at = Path(told) / "tandem" if os.path.isdir(told) else Path(told)
        if not os.access(at, os.X_OK):
            raise Error(f"TANDEM_BIN is {told}, but {at} is no program", 2)
        return str(at)
    if _INSIDE.is_file():
        if not os.access(_INSIDE, os.X_OK):  # unpacked by something that forgets modes
            _INSIDE.chmod(0o755)
        return str(_INSIDE)
    found = shutil.which("tandem")
    if not found:
        raise Error("the program tandem is not here: set TANDEM_BIN to where it was built (build/release/bin), put it on "
                    "the PATH, or install the wheel that has it inside (make wheel)", 2)
    return found


def main() -> NoReturn:
    """The command `tandem` of an installed wheel."""
    if not _INSIDE.is_file():
        sys.exit("tandem: this installation of the SDK has no program inside (make wheel makes one that has)")
    program = find() if "TANDEM_BIN" not in os.environ else str(_INSIDE)
    os.execv(program, [program, *sys.argv[1:]])


def with_parent(arguments: Sequence[str]) -> List[str]:
    return [sys.executable, "-I", "-S", "-c", _WITH_PARENT, str(os.getpid()), find(), *map(str, arguments)]


def store_option(store: Any) -> List[str]:
    return [] if store is None else ["--store", os.fspath(store)]


def ask(*arguments: str) -> Any:
    """What a quick command answers with --json."""
    done = subprocess.run([find(), *arguments, "--json", "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(plain(done.stderr) or f"tandem {arguments[0]} ended with exit code {done.returncode}", done.returncode)
    return values_of(json.loads(done.stdout))


def work(arguments: Sequence[str], show: Optional[Callable[[str], None]] = None) -> Done:
    """Runs a command that takes a while. Its progress goes to this program's terminal as it is, or line by line to
    `show`. Ctrl-C reaches it as one SIGINT, the next as another; it ends by itself."""
    reads = show is not None
    process = subprocess.Popen(with_parent([*arguments, "--json", "-"]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE if reads else None, start_new_session=True)
    said: List[str] = []
    written: List[bytes] = []

    def read_errors() -> None:
        for line in process.stderr:  # type: ignore[union-attr]
            said.append(line.decode(errors="replace"))
            show(said[-1])  # type: ignore[misc]

    readers = [threading.Thread(target=lambda: written.append(process.stdout.read()), daemon=True)]  # type: ignore
    if reads:
        readers.append(threading.Thread(target=read_errors, daemon=True))
    for reader in readers:
        reader.start()
    while True:
        try:
            process.wait()
            for reader in readers:
                reader.join()
            break
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
        except BaseException:
            process.terminate()
            raise
    text = b"".join(written).decode(errors="replace")
    return Done(process.returncode, values_of(json.loads(text)) if text.strip() else None, "".join(said))


def plain(said: str) -> str:
    """What went wrong, of what `tandem` said: the last that begins with its name, to the end."""
    at = ("\n" + said).rfind("\ntandem: ")
    return (said if at < 0 else said[at + len("tandem: "):]).strip()
