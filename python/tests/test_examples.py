"""The example scripts against a played Tandem; tests/e2e runs them under the real one."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from .test_trial import PACKAGE, Played, answer, clean_environment

EXAMPLES = PACKAGE.parent / "examples"


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)


class PytorchScript(TemporaryFolder):
    HYPER = {"batch_size": 32, "learning_rate": 0.1}

    def attempt(self, reported, answers):
        """Runs the script under a played Tandem; its (epoch, metrics), and what it printed."""
        played = Played(str(self.folder), reported=reported, epochs=4, hyper=self.HYPER)
        self.addCleanup(played.ours.close)
        played.says(played.begin, *answers)
        result, heard = played.run_command([sys.executable, str(EXAMPLES / "pytorch_script.py")])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(heard[0]["type"], "hello")
        return [(m["epoch"], m["metrics"]) for m in heard[1:]], result.stdout

    def whole_run(self):
        reports, _ = self.attempt(0, [answer()] * 4)
        for file in self.folder.iterdir():
            file.unlink()
        return reports

    def test_resumed_equals_uninterrupted(self):
        whole = self.whole_run()
        first, printed = self.attempt(0, [answer(), answer(stop=True)])
        self.assertIn("training", printed)
        second, printed = self.attempt(2, [answer(), answer()])
        self.assertIn("after epoch 2", printed)
        self.assertEqual([number for number, _ in whole], [1, 2, 3, 4])
        self.assertEqual(first + second, whole)

    def test_an_epoch_saved_but_not_counted_is_reported_not_trained_again(self):
        whole = self.whole_run()
        self.attempt(0, [answer(), answer(stop=True)])
        again, _ = self.attempt(1, [answer()] * 3)
        self.assertEqual(again, whole[1:])


class ShellScript(TemporaryFolder):
    def run_with(self, tell):
        """Runs the script with a `tandem` that notes its words and then does `tell`."""
        fake = self.folder / "tandem"
        fake.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/told\n{tell}\n')
        fake.chmod(0o755)
        environment = clean_environment() | {"PATH": f"{self.folder}:{os.environ['PATH']}", "TANDEM_EPOCHS": "3",
                                             "TANDEM_HYPER_RATE": "0.5"}
        result = subprocess.run(["bash", str(EXAMPLES / "shell_script.sh")], env=environment, capture_output=True,
                                text=True, timeout=60)
        told = (self.folder / "told").read_text().splitlines()
        (self.folder / "told").unlink()
        return result.returncode, told

    def test_tells_every_epoch(self):
        status, told = self.run_with("exit 0")
        self.assertEqual(status, 0)
        self.assertEqual(told, ["tell accuracy=0.5 error=0.5", "tell accuracy=0.75 error=0.25",
                                "tell accuracy=0.875 error=0.125"])

    def test_stops_when_told_and_fails_when_telling_fails(self):
        status, told = self.run_with("exit 3")
        self.assertEqual((status, len(told)), (0, 1))
        status, told = self.run_with("exit 1")
        self.assertEqual((status, len(told)), (1, 1))


if __name__ == "__main__":
    unittest.main()
