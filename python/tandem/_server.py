"""A client of `tandem serve` (docs/serve.md), over its Unix socket or over HTTP on this machine."""

import http.client
import json
import os
import socket
import time
import urllib.parse
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from ._binary import Error
from ._spec import text as spec_text
from ._tune import Result
from ._values import Values, values_of

_TRIES = 30  # where it says that it is asked too much


class Refused(Error):
    """What the server did not do, in its words; `status` is HTTP's."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message, 2 if status < 500 else 1)
        self.status = status


class _OverUnixSocket(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Server:
    """Jobs of a server. Made by `connect`; any number of threads may use it."""

    def __init__(self, where: Union[Path, str], token: Optional[str], timeout: float) -> None:
        self._where, self._token, self._timeout = where, token, timeout

    def submit(self, spec: Union[Mapping, str, "os.PathLike[str]"], *, folder: Optional[str] = None) -> Values:
        """Queues a job and returns it; its number is `.job`. The spec is a dict, a YAML file, or YAML. `folder` is where its
        program starts (default: here). Sent again when the answer is lost, it is the same job."""
        file = "spec"
        if isinstance(spec, Mapping):
            text = spec_text(spec)
        elif isinstance(spec, os.PathLike) or "\n" not in spec:
            file = os.fspath(spec)
            text = Path(file).read_text(encoding="utf-8")
        else:
            text = spec
        return self._ask("POST", "/v1/jobs", {"spec": text, "folder": folder or os.getcwd(), "file": file},
                         {"Idempotency-Key": uuid.uuid4().hex})

    def wait(self, job: Any, timeout: Optional[float] = None) -> Values:
        """The job, once it is over; TimeoutError after `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            now = self.job(job)
            if now["ended"] is not None:
                return now
            if until is not None and time.monotonic() > until:
                raise TimeoutError(f"job {now['job']} is {now['state']} after {timeout:g} s")
            time.sleep(0.2)

    def job(self, job: Any) -> Values:
        """One job, by its number or name, as it is now."""
        return self._ask("GET", _job(job))

    def result(self, job: Any) -> Result:
        """What it came to so far, as `tandem.load` of a run."""
        return Result(self._ask("GET", _job(job) + "/result"))

    def output(self, job: Any) -> str:
        """The last 64 KiB it printed."""
        return self._answer("GET", _job(job) + "/output").decode(errors="replace")

    def jobs(self, state: Optional[str] = None, limit: int = 100) -> List[Values]:
        """The newest jobs, oldest first."""
        asked = {"limit": limit, **({} if state is None else {"state": state})}
        return self._ask("GET", "/v1/jobs?" + urllib.parse.urlencode(asked))["jobs"]

    def cancel(self, job: Any) -> Values:
        return self._ask("DELETE", _job(job))

    def nodes(self) -> List[Values]:
        return self._ask("GET", "/v1/nodes")["nodes"]

    def _ask(self, method: str, target: str, body: Optional[Mapping] = None,
             headers: Optional[Dict[str, str]] = None) -> Any:
        return values_of(json.loads(self._answer(method, target, body, headers)))

    def _answer(self, method: str, target: str, body: Optional[Mapping] = None,
                headers: Optional[Dict[str, str]] = None) -> bytes:
        said = dict(headers or {})
        if self._token is not None:
            said["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            said["Content-Type"] = "application/json"
        lost = 0
        for left in reversed(range(_TRIES)):
            connection = self._connection()
            try:
                connection.request(method, target, None if body is None else json.dumps(body), said)
                answer = connection.getresponse()
                text = answer.read()
            except (ConnectionRefusedError, FileNotFoundError):
                raise Error(f"no server listens at {self._where}; start one with `tandem serve`", 2) from None
            except (ConnectionError, http.client.HTTPException):
                lost += 1
                if lost > 2:
                    raise
                continue
            finally:
                connection.close()
            if answer.status == 429 and left:
                time.sleep(min(5.0, float(answer.headers.get("Retry-After", 1))))
                continue
            if answer.status >= 300:
                raise Refused(_why(text) or f"{answer.status} {answer.reason}", answer.status)
            return text
        raise Error(f"the server at {self._where} does not answer")

    def _connection(self) -> http.client.HTTPConnection:
        if isinstance(self._where, Path):
            return _OverUnixSocket(self._where, self._timeout)
        return http.client.HTTPConnection(self._where, timeout=self._timeout)


def connect(address: Union[str, "os.PathLike[str]", None] = None, *, name: str = "main", store: Any = None,
            token: Optional[str] = None, token_file: Any = None, timeout: float = 60) -> Server:
    """A server: the one called `name` of this user's store over its Unix socket, or the one at `address`: a socket's file,
    or "http://127.0.0.1:8470" with a token (`tandem token create`), given as it is or in a file."""
    if token_file is not None:
        if os.stat(token_file).st_mode & 0o077:
            raise Error(f"others may read {token_file}: chmod 600 it, and make a new token if they should not have it", 2)
        token = Path(token_file).read_text(encoding="utf-8").strip()
    if address is None:
        return Server(_store(store) / f"serve-{name}.sock", token, timeout)
    written = os.fspath(address)
    if not written.startswith("http://"):
        if written.startswith("https://"):
            raise Error("tandem serve speaks HTTP on this machine; for another one open a tunnel (ssh -L)", 2)
        return Server(Path(written), token, timeout)
    if token is None:
        raise Error(f"{written} wants a token: connect(..., token_file=FILE), which `tandem token create` writes", 2)
    if urllib.parse.urlsplit(written).hostname not in ("127.0.0.1", "localhost", "::1"):
        raise Error(f"{written} is another machine, and the token would go there in the clear: open a tunnel (ssh -L)", 2)
    return Server(urllib.parse.urlsplit(written).netloc, token, timeout)


def _store(given: Any) -> Path:
    """The folder with the runs, as `tandem` finds it."""
    if given is not None:
        return Path(given)
    if os.environ.get("TANDEM_STORE"):
        return Path(os.environ["TANDEM_STORE"])
    if os.environ.get("XDG_DATA_HOME"):
        return Path(os.environ["XDG_DATA_HOME"]) / "tandem"
    return Path.home() / ".local/share/tandem"


def _job(job: Any) -> str:
    if isinstance(job, Mapping):
        job = job["job"]
    return "/v1/jobs/" + urllib.parse.quote(str(job), safe="")


def _why(text: bytes) -> str:
    try:
        said = json.loads(text)
    except ValueError:
        return text.decode(errors="replace").strip()
    return str(said.get("error", "")) if isinstance(said, dict) else ""
