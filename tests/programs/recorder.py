#!/usr/bin/python3
"""Stands between Tandem and a program that knows nothing of tests, and writes down what passes, as `speaker --record` does:

    recorder.py PROGRAM ARGUMENT...

In the task's folder, in the file `record`: "did EPOCH ATTEMPT" when the program reports an epoch, "acknowledged EPOCH ATTEMPT"
when Tandem's answer came, before the program sees it."""

import json
import os
import socket
import subprocess
import sys
import threading


def note(what, epoch):
    """In one call: who is killed has written the whole line or none of it."""
    out = os.open(os.path.join(os.environ["TANDEM_FOLDER"], "record"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(out, f"{what} {epoch} {os.environ['TANDEM_ATTEMPT']}\n".encode())
    os.close(out)


def main():
    above = socket.socket(fileno=int(os.environ["TANDEM_SOCKET"]))
    above.setblocking(True)
    below, theirs = socket.socketpair()
    os.set_inheritable(theirs.fileno(), True)
    program = subprocess.Popen(sys.argv[1:], env=dict(os.environ, TANDEM_SOCKET=str(theirs.fileno())), pass_fds=[theirs.fileno()])
    theirs.close()
    waiting = []  # for the answer to this epoch

    def pass_down():
        for line in above.makefile("rb"):
            if waiting:
                note("acknowledged", waiting.pop())
            below.sendall(line)
        below.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=pass_down, daemon=True).start()
    for line in below.makefile("rb"):
        said = json.loads(line)
        if said["type"] == "epoch":
            note("did", said["epoch"])
            waiting.append(said["epoch"])
        above.sendall(line)
    status = program.wait()
    if status < 0:
        os.kill(os.getpid(), -status)  # it ends as the program did
    return status


if __name__ == "__main__":
    sys.exit(main())
