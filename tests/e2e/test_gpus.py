"""Jobs on GPUs, over the real binary and a recording of an H200 (libfake_nvml.so): what they see, what is set and put
back, what they used."""

import json
import pathlib
import signal
import sys
import time
import unittest

from e2e.fake_gpu import FakeGpus
from e2e.harness import ROOT, Case

PROGRAM = str(ROOT / "tests/programs/fake_gpu_training.py")
DEADLINE = 60  # seconds: generous, a busy machine must not fail a test


class Gpus(Case):
    def setUp(self):
        super().setUp()
        self.gpus = FakeGpus(self.folder / "gpus", count=2)
        self.addCleanup(self.gpus.close)
        self.environment.update(self.gpus.environment)

    def gpu_spec(self, system, kind="tune", more="", products=20, arguments=()):
        command = json.dumps([sys.executable, PROGRAM, "--products", str(products), *arguments])
        return self.spec(f"kind: {kind}\nname: gpus\nprogram: {{command: {command}}}\nsystem: {system}\n{more}")

    def wait_for(self, what, why):
        until = time.monotonic() + DEADLINE
        while not what():
            self.assertLess(time.monotonic(), until, why)
            time.sleep(0.01)

    def test_a_program_sees_its_own_gpu_and_its_energy_has_parts(self):
        spec = self.gpu_spec("{gpus: 1, gpu_power: 300W}", "train", "hyper: {epochs: 3}\nenergy: {source: auto, idle: 10W, busy: 50W}")
        shown = self.json("train", spec)
        run = self.runs()[0]["id"]
        self.assertIn("sees GPU-", self.tandem("logs", run).stdout)
        for epoch in shown["epochs"]:
            self.assertEqual(epoch["metrics"]["limit"], 300)
            parts = {part["of"]: part for part in epoch["energy_parts"]}
            self.assertEqual(parts["GPU"]["source"], "nvml recording")
            self.assertIn("model", parts["CPU"]["source"])
            self.assertAlmostEqual(sum(part["joules"] for part in parts.values()), epoch["joules"], places=6)
        self.assertEqual([self.gpus.limit(0), self.gpus.limit(1)], [700, 700], "put back")
        self.assertIn("nvml recording", self.tandem("show", run).stdout)

    def test_the_profile_of_an_epoch_says_what_the_gpu_did(self):
        # 900 products take more than a second at 700 W: the GPU is looked at while it works.
        spec = self.gpu_spec("{gpus: 1}", "train", "hyper: {epochs: 1}\nenergy: {source: none}", products=900)
        self.tandem("train", spec, "--quiet")
        journal = self.tandem("show", self.runs()[0]["id"], "--journal").stdout.splitlines()
        events = [json.loads(line)["event"] for line in journal]
        profile = next(event["profile"] for event in events if event["is"] == "EpochEnded")
        self.assertGreater(profile["gpu-busy"], 0.3)
        self.assertAlmostEqual(profile["gpu-memory-busy"], profile["gpu-busy"] / 2, msg="as the recording has it")
        self.assertGreater(profile["gpu-memory-bytes"], 1e9)
        self.assertGreater(profile["gpu-power-share"], 0.3)
        self.assertLessEqual(profile["gpu-power-share"], 1.01)

    def test_without_gpus_asked_for_none_is_seen(self):
        spec = self.spec("kind: train\nprogram: {command: [/bin/sh, -c, 'echo \"sees [$CUDA_VISIBLE_DEVICES]\"'], plain: true}\n")
        done = self.tandem("train", spec)
        self.assertIn("ask for some with system.gpus", done.stderr)
        self.assertIn("sees []", self.tandem("logs", self.runs()[0]["id"]).stdout)

    def test_a_search_finds_the_limit_with_the_least_energy(self):
        # The recording: 1 500 products take 1 700 J at 700 W, 1 644 J at 300 W, 2 037 J at 200 W.
        spec = self.gpu_spec("{cores: 1, gpus: 1, gpu_power: {choice: [200W, 300W, 700W]}}",
                             more="search: {algorithm: random, trials: 1, max_epochs: 6}\nobjective: {maximise: accuracy, minimise: energy}\n"
                                  "energy: {source: nvml}", products=120)
        result = self.json("tune", spec, "--quiet")
        history = result["trials"][0]["history"]
        limits = [epoch["metrics"]["limit"] for epoch in history]
        self.assertEqual(limits[0], 700)
        self.assertEqual(sorted(set(limits)), [200, 300, 700])
        self.assertEqual(limits[-1], 300)
        self.assertEqual(result["best"]["system"]["gpu_power"], 300)
        self.assertEqual(self.gpus.limit(0), 700)

    def test_long_epochs_are_probed_in_slices(self):
        spec = self.gpu_spec("{cores: 1, gpus: 1, gpu_power: {choice: [200W, 300W, 500W, 700W]}}",
                             more="search: {algorithm: random, trials: 1, max_epochs: 3}\nobjective: {maximise: accuracy, minimise: energy}\n"
                                  "energy: {source: nvml}", products=2000, arguments=["--progress"])
        result = self.json("tune", spec, "--quiet")
        limits = [epoch["metrics"]["limit"] for epoch in result["trials"][0]["history"]]
        self.assertEqual(limits[0], 700)
        self.assertIn(limits[-1], (300, 500), "200 W is the dearest")
        kinds = [json.loads(line) for line in self.tandem("show", self.runs()[0]["id"], "--journal").stdout.splitlines()]
        slices = [entry for entry in kinds if "SliceEnded" in json.dumps(entry)]
        self.assertGreaterEqual(len(slices), 3, "several were tried within an epoch")
        self.assertEqual(self.gpus.limit(0), 700)

    def test_killed_tandem_leaves_gpus_as_it_found_them_and_goes_on(self):
        self.gpus.set_limit(0, 650)
        spec = self.gpu_spec("{gpus: 1, gpu_power: 300W, gpu_clock: 990MHz}", "train", "hyper: {epochs: 5}\nenergy: {source: nvml}", products=60)
        tandem = self.start("train", spec, "--quiet")
        self.wait_for(lambda: self.gpus.limit(0) == 300 and self.gpus.locked(0) == 990, "it was never set")
        tandem.send_signal(signal.SIGKILL)
        tandem.wait()
        self.wait_for(lambda: self.gpus.limit(0) == 650 and self.gpus.locked(0) == 0, "it was not put back")
        run = self.runs()[0]["id"]
        self.assertEqual(len(self.json("resume", run)["epochs"]), 5)
        self.assertEqual((self.gpus.limit(0), self.gpus.locked(0)), (650, 0))

    def test_what_may_not_be_set_is_said_and_left(self):
        self.environment["FAKE_NVML_DENY"] = "1"
        spec = self.gpu_spec("{gpus: 1, gpu_power: 300W}", "train", "hyper: {epochs: 1}\nenergy: {source: nvml}")
        done = self.tandem("train", spec, "--json", "-")
        self.assertIn("stays as it is", done.stderr)
        shown = json.loads(done.stdout)
        self.assertEqual(shown["epochs"][0]["metrics"]["limit"], 700)

    def test_what_a_card_cannot_do_is_refused_before_anything_runs(self):
        for system, words in (("{gpus: 1, gpu_power: 100W}", "200 W to 700 W"), ("{gpus: 1, gpu_clock: 5GHz}", "1.98 GHz"), ("{gpus: 3}", "3 GPUs")):
            with self.subTest(system):
                done = self.tandem("train", self.gpu_spec(system, "train", "hyper: {epochs: 1}"), code=None)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stdout + done.stderr)

    def test_a_recurring_job_learns_from_its_earlier_runs(self):
        spec = self.gpu_spec("{cores: 1, gpus: 1, gpu_power: {choice: [300W, 700W]}}",
                             more="hyper: {batch_size: {choice: [64, 128]}}\nsearch: {max_epochs: 8}\n"
                                  "objective: {maximise: accuracy, target: 0.7, cost: {energy: 0.5, time: 0.5}}\nenergy: {source: nvml}", products=40)
        said = []
        for _ in range(3):
            done = self.tandem("tune", spec, "--recurring", "--quiet", "--json", "-")
            said.append(next(line for line in done.stderr.splitlines() if "batch size" in line))
            result = json.loads(done.stdout)
            self.assertGreaterEqual(result["best"]["metrics"]["accuracy"], 0.7)
            self.assertEqual(len(result["trials"]), 1)
        self.assertIn("batch size 64", said[0], "the first that was written")
        self.assertNotEqual(said[0], said[1], "the second knows of the first")
        self.assertEqual(len(self.runs()), 3)
        self.tandem("tune", self.gpu_spec("{gpus: 1}", more="hyper: {batch_size: {choice: [64, 128]}}\nobjective: {maximise: accuracy}"), "--recurring", code=2)

    def test_trials_that_say_how_much_they_need_share_a_gpu(self):
        self.environment["FAKE_NVML_GPUS"] = "1"
        spec = self.gpu_spec("{cores: 1, gpus: 1, gpu_memory: 40GB}", more="hyper: {rate: {choice: [1, 2, 3, 4]}}\nsearch: {algorithm: random, trials: 4, max_epochs: 1}\n"
                             "objective: {maximise: accuracy}\nenergy: {source: nvml}")
        result = self.json("tune", spec, "--quiet")
        self.assertEqual(len(result["trials"]), 4)


if __name__ == "__main__":
    unittest.main()
