"""tandem advise and tandem train --slo: what will it take, from what the store knows."""

import json
import sqlite3
import unittest

from e2e.harness import SPEAKER, Case
from e2e.serving import ServerCase

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

    def test_a_model_whose_predictions_drift_is_fitted_anew_and_says_why(self):
        self.a_past((64,))
        spec = self.spec(CHOICES.replace("[64, 256]", "[64]"))
        self.tandem("train", spec, "--slo", "1h", "--running", "none", "-q")
        anew = [note for note in self.advise(spec, "--slo", "1h")["notes"] if "fitted anew" in note]
        self.assertEqual(len(anew), 1, "there is a new run")
        self.assertEqual([note for note in self.advise(spec, "--slo", "1h")["notes"] if "fitted anew" in note], [],
                         "nothing has changed since")
        # Three more outcomes as `train --slo` writes them, of runs that took five times what was predicted. As
        # other jobs of the same run: real runs would be new past runs, too, and a reason of their own.
        database = sqlite3.connect(self.store / "tandem.db")
        self.addCleanup(database.close)
        (run, body), = database.execute("SELECT run, body FROM prediction").fetchall()
        prediction = json.loads(body)
        prediction["outcome"]["seconds"] = 5 * prediction["seconds"]
        for job in (1, 2, 3):
            database.execute("INSERT INTO prediction(run, job, body) VALUES (?, ?, ?)", (run, job, json.dumps(prediction)))
        database.commit()
        anew = [note for note in self.advise(spec, "--slo", "1h")["notes"] if "fitted anew" in note]
        self.assertTrue(anew and "longer" in anew[0], anew)
        self.assertEqual([note for note in self.advise(spec, "--slo", "1h")["notes"] if "fitted anew" in note], [],
                         "once is enough")


class Submit(ServerCase):
    def speaks(self, hyper, more=""):
        command = json.dumps([SPEAKER, "--sleep-ms", "20"])
        return f"kind: train\nname: speaks\nprogram: {{command: {command}}}\nhyper: {hyper}\nsystem: {{cores: 1}}\n{more}"

    def a_past(self):
        for epochs in (1, 2, 3):
            self.tandem("train", self.spec(self.speaks(f"{{batch_size: 8, epochs: {epochs}}}")), "-q")

    def test_a_deadline_is_predicted_recorded_and_compared(self):
        self.a_past()
        self.serve("--nodes", self.nodes, "--no-port")
        spec = self.spec(self.speaks("{batch_size: 8, epochs: 2}", "place: {deadline: 1h}"))
        done = self.tandem("submit", spec, "--json", "-")
        self.assertIn("predicted", done.stderr)
        job = json.loads(done.stdout)["jobs"][0]
        self.assertGreater(job["predicted"]["seconds"], 0)
        self.until_over(job["job"])
        kept = self.json("advise", "--history")["predictions"]
        self.assertEqual([(one["job"], one["slo"]) for one in kept], [(job["job"], 3600)])
        self.assertTrue(kept[0]["outcome"]["met"])

    def test_what_is_open_is_chosen_for_the_deadline(self):
        self.a_past()
        self.serve("--nodes", self.nodes, "--no-port")
        choices = "{batch_size: {choice: [8, 16]}, epochs: {int: [2, 3]}}"
        done = self.tandem("submit", self.spec(self.speaks(choices, "place: {deadline: 1h}")), "--json", "-")
        self.assertIn("chosen for", done.stderr)
        job = self.until_over(json.loads(done.stdout)["jobs"][0]["job"])
        self.assertEqual(job["state"], "finished", job)
        self.assertIn(job["epochs"], (2, 3))
        kept = self.json("advise", "--history")["predictions"]
        self.assertEqual([one["setting"]["epochs"] for one in kept], [job["epochs"]])
        self.assertIn(kept[0]["setting"]["hyper"]["batch_size"], (8, 16))

        # Whoever asks: the server chooses, not its client.
        status, answer = self.ask("POST", "/v1/jobs", {"spec": self.speaks(choices, "place: {deadline: 1h}")})
        self.assertEqual(status, 201, answer)
        self.assertTrue(any("chosen for" in note for note in answer["notes"]), answer["notes"])
        self.assertGreater(answer["predicted"]["seconds"], 0)
        self.until_over(answer["job"])
        status, answer = self.ask("POST", "/v1/jobs", {"spec": self.speaks(choices, "place: {deadline: 1ms}")})
        self.assertEqual(status, 422, answer)
        self.assertIn("nothing is likely enough", answer["error"])

        late = self.tandem("submit", self.spec(self.speaks(choices, "place: {deadline: 1ms}")), code=3)
        self.assertIn("was not queued", late.stderr)
        endless = self.tandem("submit", self.spec(self.speaks(choices)), code=2)
        self.assertIn("place: {deadline", endless.stderr)
        self.assertEqual(len(self.json("queue", "--all")["jobs"]), 2, "none of the others was queued")


if __name__ == "__main__":
    unittest.main()
