"""What programs, names and commands say: nothing of it acts on a terminal, or turns a line around."""

import json
import os
import pty
import re
import subprocess
import sys
import unittest

from e2e.harness import ROOT, TANDEM, Case
from e2e.serving import ServerCase

HOSTILE = "\x1b]0;owned\x07\x9b31m\u202egnp\u2066\u200f\u061c\x7f"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
METRIC = "loss\u202e\u009b"  # a program cannot give a metric C0: that breaks the protocol

PROGRAM = """\
import json, os, socket, sys
sys.stdout.buffer.write({hostile!r}.encode() + b"\\xff\\n"); sys.stdout.flush()
wire = socket.socket(fileno=int(os.environ["TANDEM_SOCKET"])).makefile("rw")
for _ in range(2):
    wire.write(json.dumps({{"type": "epoch", "metrics": {{{metric!r}: 1.5, "accuracy": 0.5}}}}) + "\\n"); wire.flush(); wire.readline()
sys.exit({code})
"""


class Printed(ServerCase):
    def clean(self, text, what):
        self.assertIsNone(OBEYED.search(text.replace("\r\n", "\n")), f"{what}: {text!r}")
        return text

    def hostile_spec(self, code=0):
        script = self.spec(PROGRAM.format(hostile=HOSTILE, metric=METRIC, code=code), "program.py")
        command = json.dumps([sys.executable, str(script), HOSTILE])
        return f"kind: train\nname: job\nprogram: {{command: {command}}}\nhyper: {{epochs: 2, note: {json.dumps(HOSTILE)}}}\nlimits: {{retries: 0}}\n"

    def test_of_a_run(self):
        done = self.tandem("train", self.spec(self.hostile_spec()))
        self.clean(done.stdout, "train")
        self.clean(done.stderr, "train's display")
        run = self.runs()[0]["id"]
        for arguments in (["runs"], ["show", run], ["show", run, "--journal"], ["show", run, "--json", "-"], ["rm", "nobody " + HOSTILE]):
            done = self.tandem(*arguments, code=None)
            self.clean(done.stdout + done.stderr, arguments)
        told = self.json("show", run)
        self.assertEqual((told["hyper"]["note"], told["metrics"][METRIC]), (HOSTILE, 1.5), "as JSON it is told whole")
        page = self.folder / "page.html"
        self.tandem("report", run, "-o", page)
        self.clean(page.read_text(), "report")

    def test_of_a_failure(self):
        done = self.tandem("train", self.spec(self.hostile_spec(code=7)), code=1)
        self.clean(done.stdout + done.stderr, "train")

    def test_of_a_name(self):
        done = self.tandem("train", self.spec(f"kind: train\nname: {json.dumps(HOSTILE)}\nprogram: {{command: [x]}}\n"), code=2)
        self.assertIn("owned", self.clean(done.stderr, "train"))

    def test_output_is_bytes_in_a_pipe_and_text_on_a_terminal(self):
        self.tandem("train", self.spec(self.hostile_spec()))
        raw = subprocess.run([TANDEM, "logs", "last"], env=self.environment, cwd=ROOT, capture_output=True, check=True).stdout
        self.assertIn(HOSTILE.encode() + b"\xff", raw)
        ours, theirs = pty.openpty()
        subprocess.run([TANDEM, "logs", "last"], env=self.environment, cwd=ROOT, stdout=theirs, check=True)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:
            pass
        os.close(ours)
        self.assertIn("owned", self.clean(shown.decode(), "logs on a terminal"))

    def test_of_a_server(self):
        self.serve("--no-port")
        job = self.submit(self.hostile_spec())
        self.until_over(job)
        for arguments in (["queue", "--all"], ["explain", str(job)], ["nodes"], ["show", f"main/{job}"], ["cancel", "1 " + HOSTILE]):
            done = self.tandem(*arguments, code=None)
            self.clean(done.stdout + done.stderr, arguments)
        self.clean((self.folder / "server.log").read_text(), "the server's log")


if __name__ == "__main__":
    unittest.main()
