"""GPU settings come back however Tandem ends. On a recording of GPUs (libfake_nvml.so), with the real guardian.

TANDEM_GPU_KILLS=N sets how many random moments Tandem is killed at (default 30)."""

import os
import pathlib
import random
import re
import signal
import subprocess
import time

from e2e.fake_gpu import FakeGpus
from e2e.harness import BIN, TANDEM, Case

OWNER = str(BIN / "gpu_owner")
GUARDIAN = str(BIN / "tandem-guardian")
KILLS = int(os.environ.get("TANDEM_GPU_KILLS", "30"))
DEADLINE = 60  # seconds: generous, a busy machine must not fail a test; what it took is printed


class Owner:
    """A process that holds GPU settings (tests/programs/gpu_owner.cpp), told what to do line by line."""

    def __init__(self, case, guardian=GUARDIAN, **environment):
        self.process = subprocess.Popen([OWNER, guardian, str(case.folder / "locks"), str(case.log)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=dict(case.environment, **environment))
        self.case = case
        case.addCleanup(self.kill)
        self.said = []
        for line in self.process.stdout:
            if line == "ready\n":
                break
            self.said.append(line.strip())

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def guardian(self):
        pid = int(self.ask("guardian"))
        self.case.addCleanup(end_guardian, pid)
        return pid

    def leave(self):
        """Ends as a program should."""
        self.process.stdin.close()
        return self.process.wait(DEADLINE)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


def ended(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def end_guardian(pid):
    """What a failed test may have left stopped."""
    try:
        if pathlib.Path(f"/proc/{pid}/comm").read_text().startswith("tandem-guardia"):
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # it has ended, as it should


class Guardian(Case):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "guardian.log"
        (self.folder / "locks").mkdir()
        self.gpus = FakeGpus(self.folder / "gpus", count=2)
        self.addCleanup(self.gpus.close)
        self.environment.update(self.gpus.environment)
        self.gpus.set_limit(0, 650)  # not the card's default: that would be a guess
        self.gpus.set_limit(1, 500)

    def settings(self):
        return [(self.gpus.limit(gpu), self.gpus.locked(gpu)) for gpu in (0, 1)]

    FORMER = [(650, 0), (500, 0)]

    def leftovers(self):
        return sorted(path.name for path in (self.folder / "locks").iterdir() if not path.name.endswith(".lock"))

    def until(self, what):
        """Seconds until it is so."""
        began = time.monotonic()
        while not what():
            self.assertLess(time.monotonic() - began, DEADLINE, f"settings: {self.settings()}, files: {self.leftovers()}")
            time.sleep(0.002)
        return time.monotonic() - began

    def back(self):
        return self.settings() == self.FORMER and not self.leftovers()

    def test_the_recording_is_what_was_measured(self):
        idle = self.gpus.watts(0)
        with self.gpus.at_work(0):
            for limit, seconds, joules in ((700, 2.62, 1700), (300, 5.59, 1644), (200, 9.93, 2037)):
                self.gpus.set_limit(0, limit)
                self.assertAlmostEqual(1500 / self.gpus.speed(0), seconds, places=6)
                self.assertAlmostEqual(self.gpus.watts(0) * seconds, joules, delta=0.01)
            before = self.gpus.joules(0)
            self.gpus.work(0, 1)
            self.assertGreater(self.gpus.joules(0), before)
        self.assertEqual(self.gpus.watts(0), idle)

    def test_killed_at_random_moments_all_is_back(self):
        worst = 0
        for i in range(KILLS):
            chance = random.Random(i)
            owner = Owner(self)
            self.assertEqual(owner.said, [], "nothing is left of the one before")
            owner.ask("apply 0 300 -")
            guardian = owner.guardian()
            self.assertEqual(owner.ask(f"storm {i}"), "ok")
            time.sleep(chance.uniform(0, 0.15))
            os.kill(owner.process.pid, signal.SIGKILL)
            killed = time.monotonic()
            self.until(self.back)
            worst = max(worst, time.monotonic() - killed)
            owner.process.wait()
            self.assertEqual(owner.process.stdout.read(), "", "no change was refused")
            self.until(lambda: ended(guardian))
        changed = len(set(re.findall(r"pid (\d+)", self.log.read_text())))
        print(f"\n{KILLS} kills -9, {changed} while something was changed: all back after at most {1000 * worst:.0f} ms")
        if KILLS >= 20:
            self.assertGreater(changed, KILLS // 5, "most kills hit nothing: the test is too lame")

    def test_killed_before_anything_was_changed_leaves_no_file(self):
        owner = Owner(self)
        owner.ask("apply 0 300 -")
        (former,) = (self.folder / "locks").glob("*.former")
        owner.leave()
        former.with_name(former.name + ".new").write_text("GPU-00")  # its writer was killed at it
        following = Owner(self)
        self.assertEqual(following.said, [], "there was nothing to put back")
        self.assertTrue(self.back(), f"{self.settings()} {self.leftovers()}")
        following.leave()

    def test_both_killed_at_random_moments_the_next_start_repairs(self):
        repaired = 0
        for i in range(max(KILLS // 3, 1)):
            owner = Owner(self)
            owner.ask("apply 0 300 -")
            pids = [owner.process.pid, owner.guardian()]
            self.assertEqual(owner.ask(f"storm {i}"), "ok")
            time.sleep(random.Random(i).uniform(0, 0.1))
            for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first: neither sees the other end
                for pid in pids:
                    os.kill(pid, number)
            owner.process.wait()
            self.until(lambda: ended(pids[1]))
            following = Owner(self)
            repaired += bool(following.said)
            self.assertTrue(self.back(), f"{self.settings()} {self.leftovers()} {following.said}")
            following.leave()
        print(f"\n{max(KILLS // 3, 1)} times both were killed, {repaired} needed repair")

    def test_put_back_at_the_end_and_by_hand(self):
        owner = Owner(self)
        self.assertEqual(owner.ask("apply 0 300 1200"), "ok")
        self.assertEqual(owner.ask("apply 1 - 1005"), "ok")
        self.assertEqual(self.settings(), [(300, 1200), (500, 1005)])
        self.assertEqual(owner.ask("apply 0 400 -"), "ok", "what is not asked for is as it was found")
        self.assertEqual(self.settings(), [(400, 0), (500, 1005)])
        self.assertEqual(owner.ask("restore 0"), "ok")
        self.assertEqual(self.settings(), [(650, 0), (500, 1005)])
        guardian = owner.guardian()
        self.assertEqual(owner.leave(), 0)
        self.assertTrue(self.back(), "when it has ended, not some time later")
        self.assertTrue(ended(guardian))
        self.assertEqual(self.log.read_text(), "", "there was nothing for the guardian to do")

    def test_signals_to_the_guardian_do_not_end_it(self):
        owner = Owner(self)
        owner.ask("apply 0 300 1200")
        guardian = owner.guardian()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            os.kill(guardian, number)
        self.assertNotEqual(os.getsid(guardian), os.getsid(owner.process.pid), "a terminal's signals do not reach it")
        os.kill(owner.process.pid, signal.SIGKILL)
        self.until(self.back)
        self.until(lambda: ended(guardian))
        self.assertIn("the power limit of 650 W and the free clock", self.log.read_text())

    def test_a_guardian_that_was_killed_is_replaced(self):
        for line in ("apply 1 300 -", "check"):
            with self.subTest(noticed_by=line):
                owner = Owner(self)
                owner.ask("apply 0 300 1200")
                first = owner.guardian()
                os.kill(first, signal.SIGKILL)
                self.until(lambda: ended(first))
                self.assertEqual(owner.ask(line), "ok")
                second = owner.guardian()
                self.assertNotEqual(first, second)
                self.assertEqual(self.settings()[0], (300, 1200), "what was set stays set")
                os.kill(owner.process.pid, signal.SIGKILL)
                self.until(self.back)

    def test_both_killed_at_once_the_next_start_repairs(self):
        for first in ("guardian", "owner"):
            with self.subTest(first=first):
                owner = Owner(self)
                owner.ask("apply 0 300 1200")
                owner.ask("apply 1 - 1005")
                pids = [owner.guardian(), owner.process.pid]
                os.kill(pids[0], signal.SIGSTOP)  # so that the order does not decide
                for pid in pids if first == "guardian" else reversed(pids):
                    os.kill(pid, signal.SIGKILL)
                owner.process.wait()
                self.until(lambda: ended(pids[0]))
                self.assertEqual(self.settings(), [(300, 1200), (500, 1005)], "nobody was left to put it back")
                following = Owner(self)
                self.assertEqual(len(following.said), 2, following.said)
                self.assertIn("GPU 0 (NVIDIA H200 (recorded, not a real GPU)) has the power limit of 650 W and the free clock again", following.said[0])
                self.assertIn(f"pid {pids[1]}", following.said[0])
                self.assertTrue(self.back())

    def test_a_new_run_does_not_take_a_dying_ones_limit_for_the_former(self):
        owner = Owner(self)
        owner.ask("apply 0 300 1200")
        guardian = owner.guardian()
        os.kill(guardian, signal.SIGSTOP)  # slow, at the worst moment
        os.kill(owner.process.pid, signal.SIGKILL)
        owner.process.wait()
        following = Owner(self)
        self.assertEqual(following.said, [], "the lock is held: it is not for the new one to repair")
        following.process.stdin.write("apply 0 400 -\n")
        following.process.stdin.flush()
        time.sleep(0.1)
        self.assertEqual(self.settings()[0], (300, 1200), "it waits")
        os.kill(guardian, signal.SIGCONT)
        self.assertEqual(following.process.stdout.readline(), "ok\n")
        self.assertEqual(self.settings()[0], (400, 0))
        self.assertEqual(following.leave(), 0)
        self.assertTrue(self.back(), self.settings())

    def test_one_owner_at_a_time(self):
        first, second = Owner(self), Owner(self)
        self.assertEqual(first.ask("apply 0 300 -"), "ok")
        self.assertIn(f"another Tandem (pid {first.process.pid}) holds its settings", second.ask("apply 0 400 -"))
        self.assertIn(f"pid {first.process.pid}", second.ask("try 0"))
        self.assertEqual(second.ask("apply 1 400 -"), "ok", "the other GPU is free")
        self.assertEqual(self.settings(), [(300, 0), (400, 0)])
        self.assertEqual(first.ask("restore 0"), "ok")
        self.assertEqual(second.ask("apply 0 450 -"), "ok")
        second.leave()
        self.assertTrue(self.back())

    def test_what_is_refused_leaves_nothing_changed(self):
        owner = Owner(self, FAKE_NVML_DENY="1")
        sets = [self.gpus.sets(gpu) for gpu in (0, 1)]
        said = owner.ask("apply 0 300 1200")
        self.assertIn("not permitted: needs root or CAP_SYS_ADMIN", said)
        self.assertIn("leave system.gpu_power out", said)
        self.assertIn("leave system.gpu_clock out", owner.ask("apply 0 - 1200"))
        self.assertIn("not permitted", owner.ask("try 0"))
        self.assertTrue(self.back())
        self.assertEqual([self.gpus.sets(gpu) for gpu in (0, 1)], sets)
        owner.leave()
        owner = Owner(self)
        self.assertIn("is out of its range, 200 to 700 W", owner.ask("apply 0 150 1200"))
        self.assertIn("is out of its range, 345 MHz to 1.98 GHz", owner.ask("apply 0 300 9000"))
        self.assertTrue(self.back(), "the limit that was in range is not left either")
        owner.ask("apply 0 300 1200")
        self.assertIn("out of its range", owner.ask("apply 0 400 nan"))
        self.assertEqual(self.settings()[0], (300, 1200), "as it was before")

    def test_without_a_guardian_nothing_is_changed(self):
        owner = Owner(self, guardian=str(self.folder / "missing"))
        said = owner.ask("apply 0 300 -")
        self.assertIn("left as they were found", said)
        self.assertIn("No such file", said)
        self.assertTrue(self.back())
        owner.leave()
        ends_at_once = Owner(self, guardian="/bin/true")
        self.assertIn("guardian", ends_at_once.ask("apply 0 300 -"))
        self.assertTrue(self.back())

    def test_a_gpu_that_falls_off_the_bus_is_put_back_when_it_returns(self):
        owner = Owner(self)
        owner.ask("apply 0 300 -")
        self.gpus.lose(0)
        self.assertIn("fallen off the bus", owner.ask("apply 0 400 -"))
        guardian = owner.guardian()
        os.kill(owner.process.pid, signal.SIGKILL)
        time.sleep(0.2)
        self.assertFalse(ended(guardian), "it keeps trying")
        self.gpus.lose(0, False)
        self.until(self.back)

    def test_a_file_that_cannot_be_trusted_is_not_used(self):
        former = self.folder / "locks/tandem-gpu-GPU-00000000-recorded-0.former"
        for make in (lambda: former.write_text("nonsense\n"), lambda: former.symlink_to("/etc/passwd"),
                     lambda: former.write_text("GPU-00000000-recorded-0 200 - 1\nanother boot\n")):
            make()
            owner = Owner(self)
            owner.leave()
            if former.is_symlink() or former.exists():
                self.assertIn(str(former), owner.said[0])
                former.unlink()
            else:
                self.assertEqual(owner.said, [], "limits do not outlive a restart of the machine: that file is old")
            self.assertEqual(self.settings(), self.FORMER)

    def test_doctor_shows_gpus_tries_the_limit_and_repairs(self):
        self.environment["TANDEM_RUNTIME_DIR"] = str(self.folder / "locks")
        owner = Owner(self)
        owner.ask("apply 0 300 1200")
        guardian = owner.guardian()
        said = self.json("doctor")
        self.assertEqual(len(said["gpus"]), 2)
        first = said["gpus"][0]
        self.assertIn("(recorded, not a real GPU)", first["name"])
        self.assertEqual((first["power_limit_watts"], first["power_limits_watts"], first["recorded"]), (300, [200, 700], True))
        self.assertEqual([gpu["power_limit_can_be_set"] for gpu in said["gpus"]], [False, True], "the first is held by another")
        for pid in (guardian, owner.process.pid):
            os.kill(pid, signal.SIGSTOP)
        for pid in (guardian, owner.process.pid):
            os.kill(pid, signal.SIGKILL)
        owner.process.wait()
        self.until(lambda: ended(guardian))
        shown = self.tandem("doctor").stdout
        self.assertIn("has the power limit of 650 W and the free clock again", shown)
        self.assertIn("75 W of 650 W", shown)
        self.assertIn("nvml recording; in use", shown)
        self.assertTrue(self.back())
        self.environment["FAKE_NVML_DENY"] = "1"
        self.assertIn("not permitted: needs root", self.tandem("doctor").stdout)

    def test_the_live_display_has_a_line_for_each_gpu(self):
        spec = self.speaker_spec("--sleep-ms", 300, epochs=3)
        screen, terminal = os.openpty()
        process = self.start_on(terminal, "train", spec)
        os.close(terminal)
        shown = b""
        try:
            while chunk := os.read(screen, 65536):
                shown += chunk
        except OSError:
            pass  # how a terminal whose last user is gone reads
        os.close(screen)
        self.assertEqual(process.wait(DEADLINE), 0, shown)
        self.assertIn("GPU 1: 0 % in use", shown.decode())

    def start_on(self, terminal, *arguments):
        process = subprocess.Popen([TANDEM, *map(str, arguments)], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=terminal)
        self.addCleanup(lambda: (process.poll() is None and process.kill(), process.wait()))
        return process
