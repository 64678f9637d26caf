"""tandem-adapter by itself: the test plays Tandem at the other end of its socket."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from e2e.harness import BIN


class Adapter(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-adapter-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, program, hyper=None, **environment):
        """The adapter, and a file to read its reports from and to answer them."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        ours.settimeout(60)
        variables = dict(os.environ, TANDEM_HYPER=json.dumps(hyper or {}), TANDEM_FOLDER=str(self.folder), TANDEM_EPOCHS="9",
                         TANDEM_SOCKET=str(theirs.fileno()), **environment)
        process = subprocess.Popen([BIN / "tandem-adapter", json.dumps(program)], env=variables, pass_fds=[theirs.fileno()], text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        theirs.close()
        self.addCleanup(self.end, process)
        return process, ours.makefile("rw")

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def answer(self, talk, stop=False):
        talk.write(json.dumps({"type": "answer", "stop": stop, "checkpoint": False}) + "\n")
        talk.flush()

    def script(self, text):
        path = self.folder / "program.py"
        path.write_text(text)
        return ["/usr/bin/python3", str(path)]

    def test_reports_what_is_printed_and_passes_output_and_status_on(self):
        process, talk = self.start({"command": ["sh", "-c", "echo start; echo acc=0.5; echo acc=0.75 >&2; exit 7"], "metrics": {"accuracy": "acc=(.*)"}})
        for accuracy in (0.5, 0.75):
            self.assertEqual(json.loads(talk.readline()), {"type": "epoch", "metrics": {"accuracy": accuracy}})
            self.answer(talk)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out, "start\nacc=0.5\nacc=0.75\n")
        self.assertEqual(process.returncode, 7)

    def test_the_program_is_held_until_its_report_is_answered(self):
        beats = self.folder / "beats"
        process, talk = self.start({"command": [*self.script("import sys, time\nprint('acc 1')\nfor i in range(1000):\n    print(i, file=open(sys.argv[1], 'a'))\n    time.sleep(0.01)\n"),
                                                str(beats)], "metrics": {"accuracy": "acc (.*)"}})
        self.assertTrue(talk.readline())
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        for _ in range(600):
            if pathlib.Path(f"/proc/{children[0]}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T":
                break
            time.sleep(0.05)
        else:
            self.fail("it was not held")
        before = beats.read_text() if beats.exists() else ""
        time.sleep(0.3)
        self.assertEqual(beats.read_text() if beats.exists() else "", before, "it went on without an answer")
        self.answer(talk)
        self.assertEqual(talk.readline(), "", "no further report, then the end")
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(len(beats.read_text().split()), 1000)

    def test_told_to_stop_it_ends_the_program_even_one_that_will_not(self):
        for stubborn in (False, True):
            with self.subTest(stubborn=stubborn):
                ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" if stubborn else ""
                process, talk = self.start({"command": self.script(f"import signal, time\n{ignore}\nprint('acc 1')\ntime.sleep(600)\n"), "metrics": {"a": "acc (.*)"}})
                self.assertTrue(talk.readline())
                child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
                self.answer(talk, stop=True)
                self.assertEqual(process.wait(timeout=60), 0)
                self.assertFalse(pathlib.Path(f"/proc/{child}").exists())

    def test_a_killed_adapter_takes_its_program_along(self):
        process, talk = self.start({"command": self.script("import time\nprint('acc 1')\ntime.sleep(600)\n"), "metrics": {"a": "acc (.*)"}})
        self.assertTrue(talk.readline())
        child = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        for _ in range(600):
            if not pathlib.Path(f"/proc/{child}").exists() or pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return
            time.sleep(0.05)
        self.fail("the program outlived it")

    def test_placeholders_and_the_parameter_file_need_no_metrics(self):
        program = {"command": ["sh", "-c", 'echo "$@"; cat "$1"; echo $TANDEM_SOCKET >&2', "x", "{file}", "{optimizer.name}", "--lr", "{lr}", "--m", "{m}"],
                   "placeholders": True, "parameter_file": "yaml"}
        process, _ = self.start(program, {"lr": 1e-5, "optimizer": {"name": "a b; c"}, "layers": None})
        out, errors = process.communicate(timeout=60)
        file = self.folder / "parameters.yaml"
        self.assertEqual(out, f'{file} a b; c --lr 1e-05\n"layers": null\n"lr": 1.0e-05\n"optimizer": {{"name": "a b; c"}}\n')
        self.assertTrue(errors.strip().isdigit(), "it has the socket: it reports by itself")

    def test_a_metrics_file_is_followed(self):
        log = self.folder / "log.csv"
        log.write_text("acc\n0.1\n")  # of an earlier attempt
        program = {"command": self.script(f"import time\nfor i in range(2, 5):\n    open('{log}', 'a').write(f'0.{{i}}\\n')\n    time.sleep(0.3)\n"),
                   "metrics": {"accuracy": "acc"}, "metrics_file": "{folder}/log.csv"}
        process, talk = self.start(program)
        for accuracy in (0.2, 0.3, 0.4):
            self.assertEqual(json.loads(talk.readline())["metrics"], {"accuracy": accuracy})
            self.answer(talk)
        self.assertEqual(process.wait(timeout=60), 0)

    def test_what_goes_wrong_is_said(self):
        process, _ = self.start({"command": ["/no/such/program"], "metrics": {"a": "(.)"}})
        out, errors = process.communicate(timeout=60)
        self.assertIn("cannot start '/no/such/program'", out)
        self.assertIn("no epoch was found in what the program printed", errors)
        self.assertEqual(process.returncode, 127)
        process, _ = self.start({"command": ["sh", "-c", "kill -SEGV $$"], "metrics": {"a": "(.)"}})
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGSEGV)

    def test_hostile_output_harms_nobody_else(self):
        program = {"command": self.script("import sys\nsys.stdout.buffer.write(b'a' * (8 << 20) + b'\\n\\0\\xff\\nacc=0.5\\n')\n"), "metrics": {"a": "acc=(.*)"}}
        process, talk = self.start(program)
        with open(process.stdout.fileno(), "rb", closefd=False) as out:
            taken = 0
            while taken < 8 << 20:
                taken += len(out.read1(1 << 16))
            self.assertEqual(json.loads(talk.readline())["metrics"], {"a": 0.5})
            self.answer(talk)
            self.assertEqual(process.wait(timeout=60), 0)
        process.stdout.close()
        process.stderr.close()
        process.communicate = lambda: None


if __name__ == "__main__":
    unittest.main()
