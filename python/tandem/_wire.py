"""The socket to Tandem: one JSON object a line (docs/protocol.md). Used by _trial.py only."""

import json
import os
import socket
from typing import Any, Dict

VERSION = 1
LONGEST_LINE = 1 << 20


class Gone(SystemExit):
    """Tandem is gone. Not caught, it ends the program with a message and exit status 1, which is what Tandem expects:
    whoever resumes the run starts this program again."""


class ProtocolError(RuntimeError):
    """Tandem refused what this program said, or said something this version of the SDK does not understand."""


class Wire:
    """Blocking, one user. Belongs to the process that made it: forked children may not speak on it."""

    def __init__(self, descriptor: int, inheritable: bool) -> None:
        try:
            self._socket = socket.socket(fileno=descriptor)
        except OSError as error:
            raise SystemExit(
                f"tandem: TANDEM_SOCKET is {descriptor}, but that is no open socket ({error.strerror}): what started "
                "this program closed it (give subprocess pass_fds), or the variable is a leftover; unset it to run "
                "outside Tandem") from None
        os.set_inheritable(descriptor, inheritable)
        self._owner = os.getpid()
        self._pending = b""

    def send(self, message: Dict[str, Any]) -> None:
        if os.getpid() != self._owner:
            raise RuntimeError("only the process that started the trial may report, not a child it forked")
        try:
            # NaN goes out as the word NaN: Tandem keeps it as null, and refuses it where it is an objective.
            self._socket.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            raise _gone() from None

    def receive(self, expected: str) -> Dict[str, Any]:
        while b"\n" not in self._pending:
            if len(self._pending) > LONGEST_LINE:
                raise ProtocolError(f"a line from Tandem is longer than {LONGEST_LINE} bytes")
            try:
                piece = self._socket.recv(65536)
            except ConnectionResetError:
                piece = b""
            if not piece:
                raise _gone()
            self._pending += piece
        line, self._pending = self._pending.split(b"\n", 1)
        try:
            message = json.loads(line)
        except ValueError as error:
            raise ProtocolError(f"a line from Tandem is not JSON: {error}") from None
        if isinstance(message, dict) and message.get("type") == "error":
            raise ProtocolError(f"Tandem refused what this program said: {message.get('reason')}")
        if not isinstance(message, dict) or message.get("type") != expected:
            raise ProtocolError(f"expected '{expected}' from Tandem, got: {line[:200]!r}")
        return message

    def leave_open(self) -> None:
        """The descriptor closes with the program: its end is what Tandem waits for, not the end of the `with`."""
        self._socket.detach()


def _gone() -> Gone:
    return Gone("tandem: Tandem is gone (the socket closed), so this program ends too; `tandem resume` continues the run")
