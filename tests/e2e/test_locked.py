"""A store that another process keeps locked, or that may not be written."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from e2e.harness import ROOT, TANDEM
from e2e.serving import ServerCase

JOB = "kind: train\nname: {name}\nprogram: {{command: [sleep, '{seconds}'], plain: true}}\nenergy: {{source: none}}\n"


class Locked(ServerCase):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "store"
        self.environment["TANDEM_STORE"] = str(self.store)

    def lock(self):
        held = sqlite3.connect(self.store / "tandem.db", isolation_level=None, check_same_thread=False)
        self.addCleanup(held.close)
        held.execute("BEGIN EXCLUSIVE")
        return held

    def log(self):
        return (self.folder / "server.log").read_text()

    def test_is_waited_out_by_a_server_and_its_jobs(self):
        server = self.serve("--no-port")
        self.tandem("submit", self.spec(JOB.format(name="before", seconds=2), "before.yaml"))
        held = self.lock()
        submission = self.submitting("during")
        until = time.monotonic() + 24  # about 15 s ended it once
        while time.monotonic() < until:
            began = time.monotonic()
            self.tandem("queue")
            self.assertLess(time.monotonic() - began, 10, "reading does not wait")
            time.sleep(1)
        self.assertIsNone(server.poll(), self.log())
        held.execute("ROLLBACK")
        queued = submission.wait(60) == 0  # else it was told that the server was too busy
        self.tandem("submit", "--wait", self.spec(JOB.format(name="after", seconds=0), "after.yaml"))
        jobs = {job["name"]: job["state"] for job in self.json("queue", "--all")["jobs"]}
        self.assertEqual(jobs, {name: "finished" for name in ["before", *["during"] * queued, "after"]})
        self.assertEqual(self.log().count("the store is locked"), 1, self.log())
        self.lock()
        self.submitting("never")
        self.until(lambda: self.log().count("the store is locked") == 2)
        server.send_signal(signal.SIGTERM)
        server.wait(20)

    def submitting(self, name):
        """In a process beside: it is answered when the store can be written."""
        file = self.spec(JOB.format(name=name, seconds=0), f"{name}.yaml")
        process = subprocess.Popen([TANDEM, "submit", file], env=self.environment, cwd=ROOT, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        return process


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "only root can mount")
class ReadOnly(ServerCase):
    def on_read_only_mount(self, *arguments):
        mounted = f"mount --bind {self.store} {self.store} && mount -o remount,ro,bind {self.store} && exec \"$@\""
        return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", mounted, "sh", TANDEM, *map(str, arguments)],
                              env=self.environment, cwd=ROOT, text=True, capture_output=True, timeout=60)

    def test_is_listed_shown_and_reported(self):
        self.store = self.folder / "store"
        self.environment["TANDEM_STORE"] = str(self.store)
        self.tandem("train", self.spec(JOB.format(name="tiny", seconds=0), "tiny.yaml"))
        if "cannot" in subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True).stderr:
            self.skipTest("namespaces cannot be made here")
        page = self.folder / "page.html"
        for command in (["runs"], ["show", "last"], ["show", "last", "--verify"], ["report", "last", "-o", page]):
            with self.subTest(command=command):
                answer = self.on_read_only_mount(*command)
                self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("tiny", self.on_read_only_mount("runs").stdout)
        self.assertIn("tiny", page.read_text())
        refused = self.on_read_only_mount("train", self.folder / "tiny.yaml")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("Read-only", refused.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
