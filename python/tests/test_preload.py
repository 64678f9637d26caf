"""Templates against a played Tandem: what they fork, and what they refuse to."""

import array
import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent

PR_SET_CHILD_SUBREAPER = 36


class Preload(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(os.path.realpath(held.name))
        self.site = self.folder / "site-packages"
        (self.site / "heavy").mkdir(parents=True)
        self.work = self.folder / "work"
        self.work.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(self.site)}

    def template(self, heavy="", script="", modules=("heavy",), environment=None, options=(), without_file=False):
        """Starts one; what it says once it has imported."""
        (self.site / "heavy/__init__.py").write_text(heavy)
        (self.work / "script.py").write_text(script)
        files = {"heavy": str(self.site / "heavy/__init__.py")}
        wanted = Path(tempfile.mkdtemp(dir=self.folder)) / "wanted.json"  # its own: it removes it when it is ready
        wanted.write_text(json.dumps({"script": "script.py", "modules": [[name, None if without_file else files.get(name)] for name in modules],
                                      "environment": environment}))
        self.ours, theirs = socket.socketpair()
        self.addCleanup(self.ours.close)
        self.process = subprocess.Popen([sys.executable, *options, str(PACKAGE / "tandem/_preload.py")], cwd=self.work, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                                        env=self.environment | {"TANDEM_TEMPLATE": str(theirs.fileno())})
        theirs.close()
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.ours.sendall(json.dumps({"wanted": str(wanted)}).encode() + b"\n")
        return self.heard()

    def heard(self):
        line = b""
        while not line.endswith(b"\n"):
            piece = self.ours.recv(1)
            if not piece:
                return None
            line += piece
        return json.loads(line)

    def refused(self, *arguments, **options):
        said = self.template(*arguments, **options)
        self.assertIn("refused", said or {})
        self.process.kill()
        self.process.wait()
        return said["refused"]

    def fork(self, arguments=(), environment=None):
        """One trial, through its gate to its end: its output, its wait status."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        keeper = self.folder / "keeper"
        keeper.write_text("#!/bin/sh\nexec sleep 1000\n")
        keeper.chmod(0o755)
        output, gate, status = os.pipe(), os.pipe(), os.pipe()
        request = {"script": "script.py", "arguments": list(arguments), "interpreter": ["python3"], "keeper": str(keeper), "cpus": sorted(os.sched_getaffinity(0)),
                   "environment": self.environment | (environment or {})}
        given = array.array("i", [output[1], output[1], gate[0], status[1]])
        self.ours.sendmsg([json.dumps(request).encode() + b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, given)])
        for number in given.tolist():
            if number != output[1]:
                os.close(number)
        os.close(output[1])
        with os.fdopen(status[0], "rb") as told:
            numbers = told.read(8)
            if len(numbers) < 8:
                os.close(gate[1]), os.close(output[0])
                return None
            keeper_pid, trial = struct.unpack("=ii", numbers)
            self.assertEqual(self.parent(trial), keeper_pid)
            self.assertEqual(self.parent(keeper_pid), os.getpid())
            os.write(gate[1], b"x")
            os.close(gate[1])
            self.assertEqual(told.read(), b"", "nothing went wrong before it began")
        with os.fdopen(output[0]) as printed:
            text = printed.read()
        os.kill(keeper_pid, signal.SIGKILL)
        os.waitpid(keeper_pid, 0)
        return text, os.waitpid(trial, 0)[1]

    @staticmethod
    def parent(pid):
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])

    def test_a_fork_runs_the_script(self):
        script = "import sys, os\nprint('heavy' in sys.modules, __name__, sys.argv, os.environ.get('WORD'), 'TANDEM_TEMPLATE' in os.environ)\nsys.exit(3)\n"
        self.assertEqual(self.template(script=script), {"ready": True})
        for word in ("one", "two"):
            text, status = self.fork([word], {"WORD": word})
            self.assertEqual((text, os.waitstatus_to_exitcode(status)), (f"True __main__ ['script.py', '{word}'] {word} False\n", 3))

    def test_random_numbers_differ(self):
        self.assertEqual(self.template(script="import random\nprint(random.random())\n"), {"ready": True})
        self.assertEqual(len({self.fork()[0] for _ in range(3)}), 3)

    def test_a_traceback_shows_the_script_alone(self):
        self.assertEqual(self.template(script="def f():\n    1 / 0\nf()\n"), {"ready": True})
        text, status = self.fork()
        cold = subprocess.run([sys.executable, "script.py"], cwd=self.work, capture_output=True, text=True)
        self.assertEqual((text, os.waitstatus_to_exitcode(status)), (cold.stderr, 1))

    def test_a_script_that_is_gone(self):
        self.assertEqual(self.template(), {"ready": True})
        os.unlink(self.work / "script.py")
        text, status = self.fork()
        cold = subprocess.run(["python3", "script.py"], executable=sys.executable, cwd=self.work, capture_output=True, text=True)
        self.assertEqual((text, os.waitstatus_to_exitcode(status)), (cold.stderr, 2))

    def test_what_it_refuses(self):
        for why, heavy in {"starts 1 thread": "import threading, time\nthreading.Thread(target=time.sleep, args=[1000], daemon=True).start()",
                           "open file": "kept = open(__file__)", "socket": "import socket\nkept = socket.socket()", "prints": "import sys\nprint('x', file=sys.stderr)",
                           "starts a process": "import subprocess\nkept = subprocess.Popen(['sleep', '0'])",
                           "shares memory": "import mmap\nkept = mmap.mmap(-1, 4096)", "handles signals": "import signal\nsignal.signal(signal.SIGUSR2, signal.SIG_IGN)",
                           "changes the folder": "import os\nos.chdir('/')", "sets up logging": "import logging\nlogging.basicConfig()",
                           "draws random": "import random\nrandom.random()", "generator of its own": "import random\nkept = random.Random(1)",
                           "at exit": "import atexit\natexit.register(id, 1)", "removed at exit": "import sys, weakref\nkept = weakref.finalize(sys.modules[__name__], print)",
                           "cannot be imported": "1 / 0", "another file": "__file__ = 'x'"}.items():
            with self.subTest(why):
                self.assertIn(why, self.refused(heavy))

    def test_a_name_in_the_scripts_folder(self):
        (self.work / "json.py").write_text("")
        self.assertIn("json in the script's folder", self.refused())

    def test_environment(self):
        sets = "import os\nos.environ['SET'] = 'here'\n"
        self.assertEqual(self.template(sets, environment={"SET": "here"}), {"ready": True})
        self.assertIn("sets OTHER", self.refused(sets, environment={"SET": "here", "OTHER": "x"}))
        self.assertIn("sets SET", self.refused(sets, environment={"SET": "before"}))
        self.assertEqual(self.template(sets, script="import os\nprint(os.environ['SET'])\n", without_file=True), {"ready": True})
        self.assertEqual(self.fork()[0], "here\n")

    def test_a_changed_file_is_the_end(self):
        self.assertEqual(self.template(), {"ready": True})
        os.utime(self.site / "heavy/__init__.py", ns=(1, 1))
        self.assertIsNone(self.fork())
        self.assertIn("has changed", self.heard()["refused"])
        self.assertEqual(self.process.wait(), 0)

    def test_it_ends_with_tandem(self):
        self.assertEqual(self.template(), {"ready": True})
        self.ours.close()
        self.assertEqual(self.process.wait(), 0)

    def test_what_a_program_says_it_loaded(self):
        (self.site / "heavy/__init__.py").write_text("")
        (self.work / "mine.py").write_text("")
        program = "import sys, json, heavy, mine, os\nos.environ['NEW'] = '1'\ndel os.environ['GONE']\nfrom tandem import _loaded\nprint(json.dumps(_loaded.loaded()))\n"
        (self.work / "script.py").write_text(program)
        done = subprocess.run([sys.executable, "script.py"], cwd=self.work, capture_output=True, text=True, check=True,
                              env=self.environment | {"PYTHONPATH": f"{self.site}:{PACKAGE}", "GONE": "x"})
        said = json.loads(done.stdout)
        names = [name for name, _ in said["modules"]]
        self.assertEqual(said["folder"], str(PACKAGE / "tandem"))
        self.assertIn(["heavy", str(self.site / "heavy/__init__.py")], said["modules"])
        self.assertIn("json", names)
        self.assertFalse({"mine", "tandem", "tandem._loaded", "__main__"} & set(names))
        self.assertEqual((said["environment"].get("NEW"), said["environment"].get("GONE", 0)), ("1", None))

    def test_a_program_without_packages_has_nothing_to_preload(self):
        program = "from tandem import _loaded\nprint(_loaded.loaded()['modules'])\n"
        done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(PACKAGE)})
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
