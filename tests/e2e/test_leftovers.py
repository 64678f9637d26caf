"""kill -9 of Tandem: whatever its programs did to get away, nothing of them is left, nor of their cgroups."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

from e2e.harness import ROOT, TANDEM, Case
from e2e.serving import ServerCase

# Children that leave the group and the session, lose their parent, and have an empty environment.
PROGRAM = """\
cd {folder}
(env -i setsid sh -c 'echo $$ > away; exec sleep 1000' &)
(env -i setsid setsid sh -c '(sh -c "echo \\$\\$ > forked; exec sleep 1000" &)' &)
(sh -c 'trap "" TERM HUP; echo $$ > deaf; exec sleep 1000' &)
echo $$ > first
sleep 1000
"""
NAMES = ("away", "forked", "deaf", "first")


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def cgroups_of(run):
    return [str(p) for tree in pathlib.Path("/sys/fs/cgroup").glob("*") for p in tree.glob(f"**/tandem-{run}-*")] + \
        [str(p) for p in pathlib.Path("/sys/fs/cgroup").glob(f"tandem-{run}-*")]


class Killed(Case):
    hidden = False  # cgroups

    def setUp(self):
        super().setUp()
        script = self.spec(PROGRAM.format(folder=self.folder), "job.sh")
        self.job = self.spec(f"kind: train\nname: leaver\nprogram: {{command: [sh, {script}], plain: true}}\nlimits: {{retries: 0}}\n")

    def command(self, *arguments):
        words = [TANDEM, *map(str, arguments)]
        if not self.hidden:
            return words
        return ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh", *words]

    def begin(self):
        """A run that is killed while its program and all its children are at work: its id."""
        process = subprocess.Popen(self.command("train", self.job), env=self.environment, cwd=ROOT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not all((self.folder / name).exists() and (self.folder / name).read_text() for name in NAMES):
            self.assertLess(time.monotonic(), end, "the program did not begin")
            time.sleep(0.01)
        self.pids = [int((self.folder / name).read_text()) for name in NAMES]
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in self.pids if alive(pid)])
        self.assertTrue(all(map(alive, self.pids)))
        process.kill()
        process.wait()
        return self.runs()[0]["id"]

    def run_here(self, *arguments, code=0):
        done = subprocess.run(self.command(*arguments), env=self.environment, cwd=ROOT, stdin=subprocess.DEVNULL, text=True, capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def nothing_left(self, run):
        self.assertEqual([name for name, pid in zip(NAMES, self.pids) if alive(pid)], [])
        self.assertEqual(cgroups_of(run), [])

    def test_rm_leaves_nothing(self):
        run = self.begin()
        self.run_here("rm", run, "--yes")
        self.nothing_left(run)
        self.assertEqual(self.runs(), [])

    def test_doctor_leaves_nothing_and_says_so(self):
        run = self.begin()
        said = self.run_here("doctor").stdout
        self.nothing_left(run)
        self.assertTrue(run in said or "no run here has left" in said, said)
        self.assertIn("no run here has left", self.run_here("doctor").stdout)

    def test_resume_leaves_nothing_of_before(self):
        run = self.begin()
        before = self.pids
        self.spec("exit 0\n", "job.sh")
        self.run_here("resume", run)
        self.assertFalse(any(map(alive, before)))
        self.nothing_left(run)

    def test_the_start_of_another_run_ends_it_too(self):
        run = self.begin()
        self.run_here("train", self.spec("kind: train\nprogram: {command: [\"true\"], plain: true}\n", "other.yaml"))
        self.nothing_left(run)


class KilledKeepers(Killed):
    """The keepers are killed at the same moment: what is left is found by what is on disk."""

    def begin(self):
        spared = subprocess.Popen
        run = None

        class Both(spared):
            def kill(self):
                keepers = [entry.parent.name for entry in pathlib.Path("/proc").glob("[0-9]*/comm")
                           if entry.read_text().strip() == "tandem-keeper" and parent_of(entry.parent.name) == self.pid]
                os.kill(self.pid, signal.SIGSTOP)
                for keeper in keepers:
                    os.kill(int(keeper), signal.SIGKILL)
                os.kill(self.pid, signal.SIGKILL)

        subprocess.Popen = Both
        try:
            run = super().begin()
        finally:
            subprocess.Popen = spared
        return run

    def setUp(self):
        if not pathlib.Path("/sys/fs/cgroup").is_dir() or os.geteuid() != 0:
            self.skipTest("no cgroups to write to")
        super().setUp()

    def test_doctor_says_what_it_ended(self):
        run = self.begin()
        self.assertTrue(any(map(alive, self.pids)), "somebody has got away")
        said = self.json("doctor")
        [row] = [probe for probe in said["probes"] if probe["what"] == "leftovers"]
        self.assertIn(run, row["why"])
        self.assertRegex(row["why"], r"\d+ process(es)? and \d+ cgroups?")
        self.nothing_left(run)


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


class KilledWithoutCgroups(Killed):
    hidden = True

    def setUp(self):
        if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("cgroups cannot be hidden")
        super().setUp()


class KilledKeepersWithoutCgroups(KilledKeepers):
    hidden = True

    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
            self.skipTest("cgroups cannot be hidden")

    def test_doctor_says_what_it_ended(self):
        run = self.begin()
        self.assertTrue(any(map(alive, self.pids)), "somebody has got away")
        self.assertIn(run, self.run_here("doctor").stdout)
        self.nothing_left(run)


class KilledServer(ServerCase):
    def test_its_next_start_leaves_nothing_of_before(self):
        server = self.serve("--no-port")
        script = self.spec(PROGRAM.format(folder=self.folder), "job.sh")
        job = self.submit(self.plain("sh", script))
        self.until(lambda: all((self.folder / name).exists() and (self.folder / name).read_text() for name in NAMES))
        pids = [int((self.folder / name).read_text()) for name in NAMES]
        server.kill()
        server.wait()
        self.spec("exit 0\n", "job.sh")
        self.serve("--no-port")
        self.until_over(job)
        self.assertFalse(any(map(alive, pids)))


if __name__ == "__main__":
    unittest.main()
