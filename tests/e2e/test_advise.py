"""tandem advise and tandem train --slo: what will it take, from what the store knows."""

import json
import unittest

from e2e.harness import Case

CHOICES = """kind: train
name: choices
program: {model: lenet5, dataset: digits}
hyper: {batch_size: {choice: [64, 256]}, epochs: {int: [1, 2]}}
system: {cores: 1}
energy: {source: none}
"""


class Advise(Case):
    def advise(self, *arguments, code=0):
        return self.json("advise", *arguments, "--running", "none", code=code)

    def refused(self, *arguments):
        return self.tandem("advise", *arguments, code=2).stderr

    def a_past(self, batch_sizes=(64, 256)):
        for batch in batch_sizes:
            for epochs in (1, 2):
                spec = self.spec(f"kind: train\nprogram: {{model: lenet5, dataset: digits}}\n"
                                 f"hyper: {{batch_size: {batch}, epochs: {epochs}}}\nsystem: {{cores: 1}}\n"
                                 f"energy: {{source: none}}\n", f"past-{batch}-{epochs}.yaml")
                self.tandem("train", spec, "-q")

    def test_from_past_runs_to_a_run_that_was_predicted(self):
        self.a_past()
        spec = self.spec(CHOICES)
        answer = self.advise(spec, "--slo", "1h")
        self.assertTrue(answer["met"])
        self.assertFalse(answer["probed"])
        self.assertEqual(answer["candidates"], 4)
        self.assertIn(answer["choice"]["hyper"]["batch_size"], (64, 256))
        self.assertEqual(answer["choice"]["epochs"], 2, "an hour is enough for the better accuracy")
        self.assertGreater(answer["predicted"]["seconds"], 0)
        self.assertGreater(answer["predicted"]["accuracy"], 0)
        self.assertIsNone(answer["predicted"]["joules"])
        low, high = answer["interval"]["seconds"]
        self.assertLess(low, answer["predicted"]["seconds"])
        self.assertGreaterEqual(answer["p_meet"], 0.95)
        self.assertTrue(answer["runner_ups"])

        # For people its reasons are broken into lines that fit.
        said = self.tandem("advise", spec, "--slo", "1h", "--running", "none").stdout
        reasons = said[said.index("  because"):]
        self.assertLessEqual(max(map(len, reasons.splitlines())), 100, said)
        self.assertRegex(reasons, r"(?m)^             \S", "further lines stand below the first")
        self.assertIn(" ".join(answer["reasons"][0].split()[-3:]), " ".join(reasons.split()), "nothing is cut off")

        # Nothing takes a millisecond; the nearest miss is shown.
        missed = self.advise(spec, "--slo", "1ms", code=3)
        self.assertFalse(missed["met"])
        self.assertLess(missed["p_meet"], 0.95)
        self.assertIn("choice", missed)
        self.assertEqual(self.tandem("train", spec, "--slo", "1ms", "--running", "none", code=3).stderr.count("Traceback"), 0)

        # train asks by itself, and what it promised is kept with the run.
        done = self.tandem("train", spec, "--slo", "1h", "--running", "none", "-q", "--json", "-")
        self.assertIn("predicted", done.stderr)
        run = json.loads(done.stdout)
        self.assertEqual(run["epochs_wanted"], 2)
        history = self.json("advise", "--history")
        self.assertEqual([one["run"] for one in history["predictions"]], [run["run"]])
        outcome = history["predictions"][0]["outcome"]
        self.assertTrue(outcome["met"])
        self.assertGreater(outcome["seconds"], 0)
        self.assertAlmostEqual(outcome["metric_value"], run["metrics"]["accuracy"])
        self.assertIn("met", self.tandem("advise", "--history").stdout)

        # What was learnt goes with its runs.
        for run in self.runs():
            self.tandem("rm", run["id"], "--yes")
        self.assertEqual(self.json("advise", "--history")["predictions"], [])
        self.assertTrue(self.advise(spec, "--slo", "1h")["probed"])

    def test_a_cold_start_is_probed_and_says_so(self):
        answer = self.advise(self.spec(CHOICES), "--slo", "1h")
        self.assertTrue(answer["probed"])
        self.assertNotIn("accuracy", answer["predicted"])
        self.assertTrue(any("probe" in note for note in answer["notes"]), answer["notes"])
        self.assertEqual(self.runs(), [], "a probe is no run")

    def test_more_jobs_take_no_less_time(self):
        self.a_past((64,))
        spec = self.spec(CHOICES.replace("[64, 256]", "[64]"))
        alone = self.json("advise", spec, "--slo", "1h", "--running", "none")
        crowded = self.json("advise", spec, "--slo", "1h", "--running", "3")
        self.assertGreaterEqual(crowded["predicted"]["seconds"], 0.999 * alone["predicted"]["seconds"])
        self.assertEqual(crowded["running"], 3)

    def test_questions_that_make_no_sense(self):
        spec = self.spec(CHOICES)
        self.assertIn("--slo", self.refused(spec))
        self.assertIn("0", self.refused(spec, "--slo", "0s"))
        self.assertIn("--slo must be a time", self.refused(spec, "--slo", "soon"))
        self.assertIn("--max must be an energy", self.refused(spec, "--slo", "1s", "--max", "much"))
        self.assertIn("--probability", self.refused(spec, "--slo", "1s", "--probability", "110%"))
        self.assertIn("--running", self.refused(spec, "--slo", "1s", "--running", "some"))
        self.assertIn("nonsense", self.refused(spec, "--slo", "1s", "--model", "nonsense"))
        self.assertIn("SPEC", self.refused("--slo", "1s"))
        self.assertIn("no-such-file", self.refused("no-such-file.yaml", "--slo", "1s"))

    def test_a_program_nobody_knows(self):
        message = self.refused(self.spec(CHOICES.replace("lenet5", "lenet6")), "--slo", "1s")
        self.assertIn("lenet5", message)
        command = self.spec("kind: train\nprogram: {command: [/bin/true]}\nhyper: {batch_size: 8, epochs: 1}\n", "c.yaml")
        self.assertIn("cannot be probed", self.refused(command, "--slo", "1s"))

    def test_more_cores_than_there_are(self):
        message = self.refused(self.spec(CHOICES.replace("cores: 1", "cores: {choice: [4000, 8000]}")), "--slo", "1s")
        self.assertIn("4000 cores", message)

    def test_an_empty_history(self):
        self.assertEqual(self.json("advise", "--history")["predictions"], [])
        self.assertIn("--slo", self.tandem("advise", "--history").stdout)


if __name__ == "__main__":
    unittest.main()
