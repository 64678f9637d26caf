"""Bad input and faults: each gets a clear message and loses nothing."""

import gzip
import os
import pathlib
import signal
import sqlite3
import subprocess
import time
import unittest

from e2e.harness import ROOT, TANDEM, Case, processes_below


class BadSpecs(Case):
    def refused(self, text, *words):
        done = self.tandem("train", self.spec(text), code=2)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.runs(), [], "a bad spec makes no run")
        return done.stderr

    def test_all_issues_in_one_go_with_places_and_suggestions(self):
        message = self.refused("kind: train\nprogam: {model: lenet5, dataset: digits}\nsystem: {cores: 0, memory: 2}\n",
                               "job.yaml:2", "job.yaml:3", "program", "GiB")
        self.assertGreaterEqual(message.count("job.yaml:"), 3)

    def test_unknown_model_and_dataset(self):
        self.refused("kind: train\nprogram: {model: lenet6, dataset: digit}\n", "lenet5", "digits")

    def test_domains_are_for_tune(self):
        self.refused("kind: train\nprogram: {model: lenet5, dataset: digits}\nhyper: {batch_size: {choice: [32, 64]}}\n", "tune")

    def test_not_yaml(self):
        self.refused("kind: [train\n", "job.yaml:")

    def test_more_cores_than_there_are(self):
        spec = self.spec("kind: train\nprogram: {model: mlp, dataset: digits}\nsystem: {cores: 4000}\n")
        self.assertIn("4000 cores", self.tandem("train", spec, code=2).stderr)
        self.assertEqual(self.runs(), [], "it leaves no run behind")

    def test_a_refused_machine_lock_leaves_no_run_behind(self):
        lock = self.folder / "lock"
        lock.mkdir()
        lock.chmod(0o777)  # anybody could take the lock away
        spec = self.spec("kind: train\nprogram: {command: [\"true\"], plain: true}\n")
        refused = self.tandem("train", spec, code=None)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(str(lock), refused.stderr)
        self.assertEqual(self.runs(), [])
        lock.chmod(0o700)
        self.tandem("train", spec)
        self.assertEqual(len(self.runs()), 1)

    def test_no_such_file(self):
        self.assertIn("nowhere.yaml", self.tandem("train", self.folder / "nowhere.yaml", code=2).stderr)


class BadData(Case):
    def train_on_broken_mnist(self, content):
        folder = self.folder / "data/mnist"
        folder.mkdir(parents=True)
        for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"):
            (folder / name).write_bytes(content)
        spec = self.spec("kind: train\nprogram: {model: mlp, dataset: mnist}\nhyper: {epochs: 1}\n")
        done = self.tandem("train", spec, "--data", self.folder / "data", code=1)
        self.assertIn("ubyte", done.stdout, "the broken file is named")
        self.tandem("data", "check", "mnist", "--data", self.folder / "data", code=2)

    def test_garbage(self):
        self.train_on_broken_mnist(b"this is no gzip")

    def test_truncated(self):
        self.train_on_broken_mnist(gzip.compress(b"\0\0\x08\x03" + b"\0\0\xea\x60\0\0\0\x1c\0\0\0\x1c" + b"x" * 500))

    def test_absurd_size(self):
        self.train_on_broken_mnist(gzip.compress(b"\0\0\x08\x03" + b"\xff" * 12))

    def test_absent(self):
        spec = self.spec("kind: train\nprogram: {model: mlp, dataset: mnist}\nhyper: {epochs: 1}\n")
        done = self.tandem("train", spec, "--data", self.folder / "empty", code=2)
        self.assertIn("train-images-idx3-ubyte", done.stderr)
        self.assertEqual(self.runs(), [])


class BadPrograms(Case):
    def fails(self, *arguments, extra="limits: {retries: 0}\n"):
        result = self.json("train", self.speaker_spec(*arguments, extra=extra), code=1)
        self.assertEqual(result["state"], "failed")
        return result

    def test_crash_shows_its_last_words(self):
        result = self.fails("--crash-at", 2)
        self.assertEqual(result["last_failure"]["failure"], "crashed")
        self.assertIn("something broke", result["last_failure"]["last_output"])
        self.assertEqual(len(result["epochs"]), 1)
        table = self.tandem("show", result["run"]).stdout
        self.assertIn("something broke", table)

    def test_hang(self):
        result = self.fails("--hang-at", 2, extra="limits: {retries: 0, stall: 300ms}\n")
        self.assertEqual(result["last_failure"]["failure"], "stalled")

    def test_a_number_that_is_none_is_null_and_said_once(self):
        spec = self.speaker_spec("--nan-at", 2)
        done = self.tandem("train", spec)
        self.assertEqual(done.stderr.count("kept as null"), 1, done.stderr)
        result = self.json("show", "last")
        self.assertEqual(result["state"], "finished")
        self.assertEqual([record["metrics"]["loss"] for record in result["epochs"]], [1, None, 1])
        self.assertIn("loss null", self.tandem("show", "last").stdout)
        self.assertEqual(self.tandem("logs", "last").stdout.count("kept as null"), 1)
        self.assertIn("every decision the same", self.tandem("show", "last", "--verify").stdout)

    def test_epochs_of_a_program_that_starts_over_are_told_as_such(self):
        spec = self.speaker_spec("--no-checkpoints", "--sleep-ms", 50, epochs=8)
        process = self.start("train", spec)
        while "epoch 3/8" not in (line := process.stderr.readline()):
            self.assertNotIn("again", line)
        process.kill()
        process.wait()
        counted = len(self.json("show", "last")["epochs"])
        lines = [line for line in self.tandem("resume", "last").stderr.splitlines() if line.startswith("epoch")]
        self.assertEqual(len(lines), 8)
        self.assertEqual(["again" in line for line in lines], [epoch <= counted for epoch in range(1, 9)], lines)
        self.assertEqual(len(self.json("show", "last")["epochs"]), 8)

    def test_garbage(self):
        self.assertEqual(self.fails("--garbage-at", 1)["last_failure"]["failure"], "bad report")

    def test_a_second_hello_keeps_what_was_acknowledged(self):
        (self.folder / "twice.py").write_text(
            "import sys\nsys.path.insert(0, sys.argv[1])\nimport tandem\n"
            "with tandem.trial() as t:\n    for epoch in range(3):\n        t.report(accuracy=0.1)\n")
        one = f"python3 {self.folder}/twice.py {ROOT}/python"
        spec = self.spec(f"kind: train\nprogram: {{command: [sh, -c, '{one}; {one}']}}\nhyper: {{epochs: 6}}\n")
        result = self.json("train", spec, code=1)
        self.assertEqual(result["last_failure"]["failure"], "bad report")
        self.assertIn("hello again", result["reason"])
        self.assertEqual([epoch["epoch"] for epoch in result["epochs"]], [1, 2, 3])
        self.assertIn("ProtocolError: Tandem refused", self.tandem("logs", result["run"]).stdout)

    def test_a_loop_that_ends_with_tell_is_complete(self):
        loop = f"set -e; for i in 1 2 3; do {TANDEM} tell accuracy=0.$i; done"
        result = self.json("train", self.spec(f"kind: train\nprogram: {{command: [sh, -c, '{loop}']}}\nhyper: {{epochs: 3}}\n"))
        self.assertEqual((result["state"], result["attempts"]), ("finished", 1))

    def test_silence(self):
        self.assertEqual(self.fails("--silent")["last_failure"]["failure"], "silent")

    def test_no_such_program(self):
        spec = self.spec("kind: train\nprogram: {command: [no-such-program-here]}\nhyper: {epochs: 1}\n")
        self.assertIn("no-such-program-here", self.tandem("train", spec, code=1).stdout)

    def test_children_are_ended(self):
        result = self.json("train", self.speaker_spec("--escape"))
        child = int(pathlib.Path(result["folder"], "task-0/child").read_text())
        for _ in range(500):
            if not os.path.exists(f"/proc/{child}"):
                return
            time.sleep(0.01)
        self.fail("a child outlived its run")

    def test_a_killed_worker_is_started_again_by_itself(self):
        process = self.start("train", self.speaker_spec("--sleep-ms", 30, epochs=20), "--json", "-")
        children = []
        while not children:
            children = processes_below(process.pid)
        time.sleep(0.2)
        os.kill(children[0], signal.SIGKILL)
        output, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertIn('"attempts": 2', output)


class Signals(Case):
    def interrupted(self, signal_number):
        process = self.start("train", self.speaker_spec("--sleep-ms", 50, epochs=40))
        while not (self.store.exists() and self.runs() and processes_below(process.pid)):
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal_number)
        output, errors = process.communicate()
        self.assertEqual(process.returncode, 130, output + errors)
        run = self.runs()[0]
        self.assertEqual(run["state"], "stopped")
        self.assertIn("tandem resume " + run["id"], output)
        before = len(self.values(run["id"]))
        result = self.json("resume", run["id"])
        self.assertEqual(len(result["epochs"]), 40)
        self.assertGreaterEqual(40, before)

    def test_sigint(self):
        self.interrupted(signal.SIGINT)

    def test_sigterm(self):
        self.interrupted(signal.SIGTERM)


class BadStores(Case):
    def test_a_corrupt_store_is_named_and_left_alone(self):
        self.store.mkdir()
        (self.store / "tandem.db").write_bytes(b"garbage" * 1000)
        done = self.tandem("runs", code=1)
        self.assertIn("tandem.db", done.stderr)
        self.assertIn("--store", done.stderr)
        self.assertEqual((self.store / "tandem.db").read_bytes(), b"garbage" * 1000)

    def test_a_locked_store_says_so(self):
        self.tandem("runs")
        holder = sqlite3.connect(self.store / "tandem.db", isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("BEGIN EXCLUSIVE")
        done = self.tandem("train", self.speaker_spec(), code=1)
        self.assertIn("locked", done.stderr)
        holder.execute("ROLLBACK")
        self.tandem("train", self.speaker_spec())

    def test_a_folder_that_cannot_be_written(self):
        self.assertIn("--store", self.tandem("runs", "--store", "/proc/nowhere", code=1).stderr)

    def test_a_full_disk_loses_nothing(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True).returncode:
            self.skipTest("needs root and mount for a small disk of its own")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], capture_output=True)
        process = self.start("train", self.speaker_spec("--sleep-ms", 5, epochs=2000), "--store", disk / "store")
        while not (disk / "store/runs").exists() or not list((disk / "store/runs").glob("*/task-0/state")):
            time.sleep(0.01)
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        output, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, output + errors)
        self.assertRegex(output + errors, "(disk is full|No space left)")
        filler.unlink()
        run = self.json("runs", "--store", disk / "store")["runs"][0]
        before = self.json("show", run["id"], "--store", disk / "store")["epochs"]
        resumed = self.start("resume", run["id"], "--store", disk / "store")
        time.sleep(0.5)
        resumed.send_signal(signal.SIGINT)
        resumed.communicate()
        after = self.json("show", run["id"], "--store", disk / "store")["epochs"]
        self.assertEqual([e["metrics"] for e in before], [e["metrics"] for e in after[:len(before)]])


if __name__ == "__main__":
    unittest.main()
