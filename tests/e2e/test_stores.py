"""Stores that earlier Tandems wrote (tests/stores): listed, shown, verified, reported and resumed by this one."""

import json
import sys

from e2e.harness import ROOT
from e2e.serving import ServerCase

sys.path.insert(0, str(ROOT / "tests/stores"))
import program  # noqa: E402
import stores  # noqa: E402


class StoresCase(ServerCase):
    def load(self, name):
        self.store = self.folder / name
        stores.load(stores.HERE / name, self.store)
        self.environment["TANDEM_STORE"] = str(self.store)
        told = (stores.HERE / name / "shown.json").read_text().replace("STORE", str(self.store))
        return json.loads(told)

    def run_named(self, name):
        return next(run for run in self.runs() if run["name"] == name)

    def check_no_less(self, new, old, where=""):
        """All that was told then is told now, with the same values; more may stand beside it."""
        if isinstance(old, dict):
            self.assertIsInstance(new, dict, where)
            for key in old:
                self.assertIn(key, new, where)
                self.check_no_less(new[key], old[key], f"{where}.{key}")
        elif isinstance(old, list):
            self.assertIsInstance(new, list, where)
            self.assertEqual(len(new), len(old), where)
            for index, pair in enumerate(zip(new, old)):
                self.check_no_less(*pair, f"{where}[{index}]")
        elif isinstance(old, float):
            self.assertIsInstance(new, (float, int), where)
            self.assertAlmostEqual(new, old, delta=1e-9 * max(1.0, abs(old)), msg=where)
        elif (new, old) == ("pruned", "stopped") and ".trials[" in where:
            pass  # trials that the search ended early are told apart since
        else:
            self.assertEqual(new, old, where)

    def check_verified(self, run):
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def check_accuracies(self, hyper, epochs):
        """Of a program whose results are known: each epoch once, in order, with its value."""
        self.assertEqual([epoch["epoch"] for epoch in epochs], list(range(1, len(epochs) + 1)))
        for epoch in epochs:
            self.assertAlmostEqual(epoch["metrics"]["accuracy"], program.accuracy(hyper, epoch["epoch"]), places=12)


class EveryStore(StoresCase):
    def test_no_kind_is_missing(self):
        self.assertEqual(set(stores.names()), {"train", "tune", "knowledge", "characterize", "recurring", "serve"})

    def test_is_listed_shown_and_verified_as_it_was(self):
        for name in stores.names():
            old = self.load(name)
            with self.subTest(store=name):
                self.check_no_less(self.runs(), old["runs"])
                self.check_no_less(self.json("knowledge"), old["knowledge"])
                self.check_no_less(self.json("advise", "--history"), old["predictions"])
                listed = self.tandem("runs").stdout
                for run in old["runs"]:
                    self.assertIn(run["id"], listed)
                    self.check_no_less(self.json("show", run["id"]), old["show"][run["id"]], run["id"])
                    self.assertIn(run["name"], self.tandem("show", run["id"]).stdout)
                    self.check_verified(run["id"])

    def test_is_reported(self):
        for name in stores.names():
            old = self.load(name)
            for run in old["runs"]:
                if run["kind"] == "serve":
                    continue
                with self.subTest(store=name, run=run["name"]):
                    page = self.folder / f"{run['id']}.html"
                    self.tandem("report", run["id"], "-o", page)
                    self.assertIn("<svg", page.read_text())

    def test_a_finished_run_is_told_again(self):
        for name in stores.names():
            old = self.load(name)
            for run in old["runs"]:
                if run["state"] != "finished" or run["kind"] == "serve":
                    continue
                with self.subTest(store=name, run=run["name"]):
                    before = len(self.tandem("show", run["id"], "--journal").stdout.splitlines())
                    again = self.json("resume", run["id"])
                    self.check_no_less(again, old["show"][run["id"]], run["id"])
                    self.assertEqual(len(self.tandem("show", run["id"], "--journal").stdout.splitlines()), before)


class Interrupted(StoresCase):
    def test_training_goes_on(self):
        old = self.load("train")
        run = self.run_named("cut")
        self.assertEqual(run["state"], "interrupted")
        result = self.json("resume", run["id"])
        self.assertEqual(result["state"], "finished", result["reason"])
        epochs = self.json("show", run["id"])["epochs"]
        self.assertEqual(len(epochs), 5)
        self.check_accuracies({"rate": 0.2}, epochs)
        counted = old["show"][run["id"]]["epochs"]
        self.check_no_less(epochs[:len(counted)], counted)
        self.check_verified(run["id"])

    def test_tuning_goes_on(self):
        old = self.load("tune")
        run = self.run_named("cut")
        self.assertEqual(run["state"], "interrupted")
        result = self.json("resume", run["id"], "--quiet")
        self.assertEqual(result["state"], "finished", result["reason"])
        self.assertEqual(len(result["trials"]), 5)
        for trial in result["trials"]:
            self.assertEqual(len(trial["history"]), 4)
            self.check_accuracies(trial["hyper"], trial["history"])
        for trial, counted in zip(result["trials"], old["show"][run["id"]]["trials"]):
            self.assertEqual(trial["hyper"], counted["hyper"])
            self.check_no_less(trial["history"][:len(counted["history"])], counted["history"])
        best = max(epoch["metrics"]["accuracy"] for trial in result["trials"] for epoch in trial["history"])
        self.assertEqual(result["best"]["metrics"]["accuracy"], best)
        self.check_verified(run["id"])

    def test_an_experiment_goes_on(self):
        self.load("characterize")
        run = self.run_named("cut")
        self.assertEqual(run["state"], "interrupted")
        result = self.json("resume", run["id"])
        self.assertEqual(result["state"], "finished", result["reason"])
        self.assertEqual(sorted((r["at"]["rate"], r["replication"]) for r in result["runs"]),
                         [(rate, again) for rate in (0.1, 0.3, 0.6) for again in range(2)])
        self.assertEqual({(r["state"], r["epochs"]) for r in result["runs"]}, {("finished", 2)})
        self.check_verified(run["id"])


class WhatWasLearned(StoresCase):
    def test_knowledge_is_shown_exported_and_forgotten(self):
        old = self.load("knowledge")
        known = self.folder / "known.json"
        self.tandem("knowledge", "--export", known)
        works = json.loads(known.read_text())["works"]
        self.assertEqual(len(works), len(old["knowledge"]["works"]))
        self.assertGreater(len(works), 0)
        self.assertIn("seconds an epoch", self.tandem("knowledge").stdout)
        self.assertIn("forgotten", self.tandem("knowledge", "--forget").stdout)
        self.assertEqual(self.json("knowledge")["works"], [])

    def test_advice_learns_from_past_runs(self):
        self.load("characterize")
        answer = self.json("advise", self.spec(stores.ADVISED), "--slo", "60s", "--running", "none")
        self.assertEqual(answer["choice"]["hyper"]["rate"], 0.3)
        self.assertLess(abs(answer["predicted"]["accuracy"] - program.accuracy({"rate": 0.3}, 2)), 0.1)

    def test_a_recurring_job_recurs(self):
        """On another type of machine it learns anew; it recurs all the same."""
        self.load("recurring")
        before = len(self.runs())
        spec = self.spec(stores.NIGHTLY)
        result = self.json("tune", spec, "--recurring", "--quiet")
        self.assertGreaterEqual(result["best"]["metrics"]["accuracy"], 0.79)
        self.assertGreater(len(self.runs()), before)


class Servers(StoresCase):
    def test_a_job_that_moved_did(self):
        self.load("serve")
        run = self.run_named("main")["id"]
        starts = {}
        for line in self.tandem("show", run, "--journal").stdout.splitlines():
            for decision in json.loads(line)["decisions"]:
                if decision["is"] == "Start":
                    starts.setdefault(decision["task"], []).append(decision["node"])
        self.assertTrue(any(len(set(nodes)) > 1 for nodes in starts.values()), starts)
        self.assertEqual([job["state"] for job in self.json("show", run)["jobs"]], ["finished", "finished", "failed"])

    def test_jobs_are_told_as_runs(self):
        self.load("serve")
        for server in ("main", "preempting"):
            for job in self.json("show", server)["jobs"]:
                with self.subTest(server=server, job=job["job"]):
                    of_server = f"{server}/{job['job']}"
                    told = self.json("show", of_server)
                    self.assertEqual((told["name"], told["state"]), (job["name"], job["state"]))
                    self.assertIn(job["name"], self.tandem("show", of_server).stdout)
                    page = self.folder / "job.html"
                    self.tandem("report", of_server, "-o", page)
                    self.assertIn(job["name"], page.read_text())

    def test_a_killed_server_goes_on_with_its_jobs(self):
        """To the end of each, once."""
        old = self.load("serve")
        run = self.run_named("preempting")["id"]
        before = old["show"][run]["jobs"]
        self.assertEqual([job["job"] for job in before if job["ended"] is None], [3, 4, 5])
        self.assertTrue(any(job["attempts"] > 1 for job in before if job["ended"] is not None), "one was preempted")
        self.serve(*stores.PREEMPTING, "--pace", "1e5", "--no-port")
        self.until(lambda: not self.ask("GET", "/v1/jobs?state=open", name="preempting")[1]["jobs"])
        jobs = self.ask("GET", "/v1/jobs?last=100", name="preempting")[1]["jobs"]
        self.assertEqual([(job["job"], job["state"]) for job in sorted(jobs, key=lambda job: job["job"])],
                         [(job, "finished") for job in range(6)])
        ends = [decision["job"] for entry in self.journal(run) for decision in entry["decisions"]
                if decision["is"] == "FinishJob"]
        self.assertEqual(sorted(ends), list(range(6)))
        self.check_verified(run)
