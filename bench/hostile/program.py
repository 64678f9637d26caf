"""One hostile job: program.py KIND TOKEN SECONDS. It does its worst for so long, or until it is ended, and uses its core all the
while, as the well-behaved ones do; the token is how its processes are found."""

import os
import shutil
import subprocess
import sys
import time


def stay():
    while time.monotonic() < END:
        pass


def flood():
    """Legal lines, more than anybody can want."""
    lines = b'{"type":"ready"}\n' * 4000
    while True:
        os.write(int(os.environ["TANDEM_SOCKET"]), lines)


def fifo():
    """Its own output file becomes a pipe that nobody writes to: whoever opens it waits."""
    for folder, _, files in os.walk(os.environ["TANDEM_FOLDER"]):
        for name in files:
            os.unlink(os.path.join(folder, name))
    os.mkfifo(os.path.join(os.environ["TANDEM_FOLDER"], "output.log"))
    stay()


def fork_bomb():
    while True:
        try:
            os.fork()
        except OSError:
            pass


def output():
    """10 GB, as fast as they are taken."""
    block = b"x" * (1 << 20)
    for _ in range(10 * 1024):
        os.write(1, block)


def memory():
    """Child after child eats until it is killed."""
    while time.monotonic() < END:
        child = os.fork()
        if child == 0:
            eaten = []
            while True:
                eaten.append(b"x" * (1 << 20))
        os.waitpid(child, 0)


def clock():
    """Its clock is an hour ahead, and then runs a hundred times as fast."""
    os.execvp("faketime", ["faketime", "-f", "+1h x100", sys.executable, "-c", "while True: pass", sys.argv[2]])


def orphans():
    """Children in sessions of their own and without any mark in their environment stay behind, and compute."""
    for _ in range(8):
        subprocess.Popen([sys.executable, "-c", "while True: pass", sys.argv[2]], env={}, start_new_session=True)
    stay()


KINDS = {"flood": flood, "fifo": fifo, "fork_bomb": fork_bomb, "output": output, "memory": memory, "clock": clock, "orphans": orphans}


def possible():
    return [kind for kind in KINDS if kind != "clock" or shutil.which("faketime")]


if __name__ == "__main__":
    END = time.monotonic() + float(sys.argv[3])
    KINDS[sys.argv[1]]()
