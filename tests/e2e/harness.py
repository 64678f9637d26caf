"""What end-to-end tests share: the real binary, a private store, and nothing left behind."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TANDEM_BIN", ROOT / "build/release/bin"))
TANDEM = str(BIN / os.environ.get("TANDEM_PROGRAM", "tandem"))
SPEAKER = str(BIN / "speaker")
DATA = pathlib.Path(os.environ.get("TANDEM_DATA", ROOT / "../shared/data")).resolve()


def processes_below(pid):
    """The programs a process has started and that are alive: its children, and those of its keepers."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, fields = (entry / "stat").read_text().rsplit(")", 1)
            fields = fields.split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found += processes_below(int(entry.name)) if name.endswith("(tandem-keeper") else [int(entry.name)]
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = self.folder / "store"
        # Tests run beside each other: threads that wait must sleep, not spin.
        self.environment = dict(os.environ, OMP_WAIT_POLICY="passive", TANDEM_DATA=str(DATA), TANDEM_STORE=str(self.store), TANDEM_RUNTIME_DIR=str(self.folder / "lock"),
                                TANDEM_CACHE=os.environ.get("TANDEM_CACHE", str(pathlib.Path(tempfile.gettempdir()) / "tandem-test-cache")))

    def start(self, *arguments, **options):
        """Starts tandem; it is killed at the end of the test if it is still there."""
        process = subprocess.Popen([TANDEM, *map(str, arguments)], env=self.environment, text=True, stdin=subprocess.DEVNULL, cwd=ROOT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()

    def tandem(self, *arguments, code=0, timeout=600):
        """Runs tandem to its end and checks its exit code (None: any)."""
        done = subprocess.run([TANDEM, *map(str, arguments)], env=self.environment, text=True, stdin=subprocess.DEVNULL, cwd=ROOT,
                              capture_output=True, timeout=timeout)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{arguments}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def json(self, *arguments, code=0):
        return json.loads(self.tandem(*arguments, "--json", "-", code=code).stdout)

    def spec(self, text, name="job.yaml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def speaker_spec(self, *arguments, epochs=3, extra=""):
        """A spec that runs the protocol-speaking test program."""
        command = json.dumps([SPEAKER, *map(str, arguments)])
        return self.spec(f"kind: train\nname: speaker\nprogram: {{command: {command}}}\nhyper: {{epochs: {epochs}}}\n{extra}")

    def runs(self):
        return self.json("runs")["runs"]

    def values(self, run):
        """epoch -> reported value, and that no epoch is there twice."""
        epochs = self.json("show", run)["epochs"]
        numbers = [record["epoch"] for record in epochs]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        return {record["epoch"]: record["metrics"].get("value") for record in epochs}
