"""Kill anywhere: tandem, its worker, or both are killed -9 at seeded random moments; every run resumes to its end, no
epoch is lost or counted twice, and metrics and weights are those of a run nobody killed.

TANDEM_KILLS=N,M sets how many moments (default 180 with a small program, 20 with the trainer)."""

import json
import os
import random
import signal
import time

from e2e.harness import Case, processes_below

SMALL, TRAINER = map(int, os.environ.get("TANDEM_KILLS", "180,20").split(","))


class KillAnywhere(Case):
    def kill_at(self, process, moment, victim):
        """Sleeps until the moment, then kills the victim; returns what was killed."""
        time.sleep(moment)
        victims = []
        if victim != "tandem":
            victims += processes_below(process.pid)
        if victim != "worker":
            victims.append(process.pid)
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return victims

    def finish(self, run):
        """Resumes until the run is finished, and says how many attempts it took."""
        result = self.json("resume", run)
        self.assertEqual(result["state"], "finished", result)
        replay = self.tandem("show", run, "--verify")
        self.assertIn("every decision the same", replay.stdout)
        return result

    def storm(self, spec, count, same, seed):
        """Kills `count` runs of the spec at random moments and checks each against an unkilled one."""
        # Under AddressSanitizer the leak check at exit is a child process too; killed, it would never end.
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        began = time.monotonic()
        baseline = self.json("train", spec)
        length = time.monotonic() - began
        hits = {"tandem": 0, "worker": 0, "both": 0}
        resumed = before_start = 0
        for i in range(count):
            chance = random.Random(seed * 1000 + i)
            victim = chance.choice(list(hits))
            known = {run["id"] for run in self.runs()}
            process = self.start("train", spec, "--quiet")
            killed = self.kill_at(process, chance.uniform(0, length), victim)
            hits[victim] += bool(killed)
            process.communicate()
            fresh = [run for run in self.runs() if run["id"] not in known]
            if not fresh:  # killed before it had said that there is a run: nothing was promised
                before_start += 1
                continue
            self.assertEqual(len(fresh), 1)
            resumed += fresh[0]["state"] != "finished"
            result = self.finish(fresh[0]["id"])
            with self.subTest(moment=i, victim=victim, run=fresh[0]["id"]):
                same(baseline, result)
            self.tandem("rm", fresh[0]["id"], "--yes")
        print(f"\n{count} kills over {length:.2f} s runs: {hits}; {resumed} needed resume, {before_start} before the run was made")
        if count >= 20:  # of fewer kills all may come too early or too late, on a machine with other work
            self.assertGreater(resumed, count // 10, "most kills hit nothing: the test is too lame")

    def test_small_program(self):
        spec = self.speaker_spec("--sleep-ms", 10, epochs=8)

        def same(baseline, result):
            self.assertEqual([(e["epoch"], e["metrics"]) for e in baseline["epochs"]],
                             [(e["epoch"], e["metrics"]) for e in result["epochs"]])
            self.assertEqual(self.state_of(baseline), self.state_of(result))

        self.storm(spec, SMALL, same, seed=1)

    def test_program_without_checkpoints_starts_over(self):
        spec = self.speaker_spec("--sleep-ms", 20, "--no-checkpoints", epochs=4)

        def same(baseline, result):
            self.assertEqual([(e["epoch"], e["metrics"]) for e in baseline["epochs"]],
                             [(e["epoch"], e["metrics"]) for e in result["epochs"]])

        self.storm(spec, max(SMALL // 18, 5), same, seed=2)

    def test_trainer(self):
        spec = self.spec("kind: train\nname: mlp\nprogram: {model: mlp, dataset: digits}\n"
                         "hyper: {epochs: 4, batch_size: 128, dropout: 0.2}\nsystem: {cores: 1}\n")

        def learned(result):
            timing = ("seconds", "per_second")
            metrics = [{k: v for k, v in e["metrics"].items() if not any(word in k for word in timing)} for e in result["epochs"]]
            return [e["epoch"] for e in result["epochs"]], metrics

        def same(baseline, result):
            self.assertEqual(learned(baseline), learned(result))
            self.assertEqual(self.weights_of(baseline), self.weights_of(result))

        self.storm(spec, TRAINER, same, seed=3)

    def state_of(self, result):
        with open(result["folder"] + "/task-0/result", encoding="utf-8") as file:
            return file.read()

    def weights_of(self, result):
        with open(result["folder"] + "/task-0/model.json", encoding="utf-8") as file:
            return json.load(file)["weights_digest"]
