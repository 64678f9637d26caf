"""Limits count the time that programs ran, whatever happens to the machine's clock."""

import os
import shutil
import subprocess
import time
import unittest

from e2e.harness import ROOT, TANDEM, Case


class WallClock(Case):
    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler or "asan" in TANDEM:
            self.skipTest("no compiler for the clock, or nothing may be preloaded")
        library = self.folder / "clock.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, ROOT / "tests/programs/clock_jump.c"], check=True)
        self.ahead = self.folder / "ahead"
        self.environment.update(LD_PRELOAD=str(library), CLOCK_AHEAD=str(self.ahead))

    def jump(self, seconds):
        beside = self.folder / "ahead.new"
        beside.write_text(str(seconds))
        os.replace(beside, self.ahead)

    def test_a_jump_of_an_hour_uses_up_no_limit(self):
        for ahead in (3600, -3600):
            with self.subTest(ahead=ahead):
                self.jump(0)
                spec = self.speaker_spec("--sleep-ms", 100, epochs=15, extra="limits: {time: 30s}\n")
                process = self.start("train", spec)
                while "epoch  2/15" not in process.stderr.readline():
                    self.assertIsNone(process.poll())
                self.jump(ahead)
                self.assertEqual(process.wait(60), 0, process.stdout.read())

    def test_a_limit_ends_a_job_although_the_clock_was_set_back(self):
        self.jump(0)
        process = self.start("train", self.speaker_spec("--sleep-ms", 100, epochs=10000, extra="limits: {time: 2s}\n"))
        process.stderr.readline()
        self.jump(-7200)
        began = time.monotonic()
        process.wait(60)
        self.assertLess(time.monotonic() - began, 50)
        self.assertIn("limits.time", process.stdout.read())

    def test_time_without_tandem_does_not_count(self):
        self.jump(0)
        process = self.start("train", self.speaker_spec("--sleep-ms", 100, epochs=15, extra="limits: {time: 30s}\n"))
        while "epoch  2/15" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.kill()
        process.wait()
        self.jump(7200)
        result = self.json("resume", "last")
        self.assertEqual(result["state"], "finished")
        self.assertLess(result["wall_seconds"], 30)


if __name__ == "__main__":
    unittest.main()
