"""Tuning over the real binary: what it prints, what it survives, and what it remembers."""

import json
import os
import pathlib
import pty
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time

from e2e.harness import ROOT, SPEAKER, TANDEM, Case, processes_below

KILLS = int(os.environ.get("TANDEM_TUNE_KILLS", "24"))


class Tune(Case):
    def tune_spec(self, *arguments, search="{algorithm: hyperband, max_epochs: 4, reduction: 2}", hyper="x: {range: [0, 1]}", extra="",
                  name="job.yaml"):
        command = json.dumps([SPEAKER, *map(str, arguments)])
        return self.spec(f"kind: tune\nname: speaker\nprogram: {{command: {command}}}\nsearch: {search}\nhyper:\n  {hyper}\n{extra}\n", name)

    def check_shape(self, result):
        for key in ("run", "mode", "best", "tuning_seconds", "tuning_joules", "energy_source", "trials", "epochs_total", "reused_profiles",
                    "probed_epochs"):
            self.assertIn(key, result)
        for key in ("hyper", "system", "metrics"):
            self.assertIn(key, result["best"])
        self.assertEqual(result["epochs_total"], sum(len(trial["history"]) for trial in result["trials"]))

    def check_whole(self, result):
        """Every trial has each of its epochs once, and the best is the best of all."""
        for trial in result["trials"]:
            numbers = [epoch["epoch"] for epoch in trial["history"]]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), trial)
        best = max(epoch["metrics"]["accuracy"] for trial in result["trials"] for epoch in trial["history"])
        self.assertEqual(result["best"]["metrics"]["accuracy"], best)

    def test_modes_and_shape(self):
        spec = self.tune_spec(extra="system: {cores: {choice: [1, 2]}}")
        points = {}
        for mode in ("hyper", "joint", "pipelined"):
            result = self.json("tune", spec, "--mode", mode, "--quiet")
            self.assertEqual((result["state"], result["mode"]), ("finished", mode))
            self.check_shape(result)
            self.check_whole(result) if mode != "joint" else None
            points[mode] = [trial["hyper"]["x"] for trial in result["trials"]]
        self.assertEqual(points["hyper"], points["pipelined"], "the same seed tries the same points")
        one = self.json("tune", spec, "--mode", "hyper", "--cores", 1, "--quiet")
        self.assertEqual({epoch["cores"] for trial in one["trials"] for epoch in trial["history"]}, {1})

    def script_spec(self, body, hyper="x: {range: [0, 1]}", search="{algorithm: random, trials: 3, max_epochs: 2}", kind="tune"):
        script = os.path.join(self.folder, "script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"import sys\nsys.path.insert(0, {str(ROOT / 'python')!r})\nimport tandem\n{body}\n")
        rest = f"search: {search}" if kind == "tune" else ""
        return self.spec(f"kind: {kind}\nname: script\nprogram: {{command: {json.dumps([sys.executable, script])}}}\n{rest}\n"
                         f"hyper: {{{hyper}}}\n")

    def test_what_goes_wrong_after_the_last_epoch_is_told(self):
        spec = self.script_spec("with tandem.trial() as t:\n    for epoch in t.remaining(): t.report(accuracy=t.hyper['x'])\n"
                                "print('saving')\nif t.hyper['x'] > 0.5: raise RuntimeError('no place for the model')",
                                hyper="x: {choice: [0.4, 0.6, 0.8]}", search="{algorithm: grid, max_epochs: 2}")
        result = self.json("tune", spec, "--quiet")
        self.assertEqual((result["state"], result["failed_trials"], result["failed_afterwards"]), ("finished", 0, 2))
        for trial in result["trials"]:
            self.assertEqual((trial["state"], trial["epochs"]), ("finished", 2))
            self.assertEqual("warning" in trial, trial["hyper"]["x"] > 0.5)
            if "warning" in trial:
                self.assertEqual(trial["warning"]["detail"], "exit status 1")
                self.assertIn("RuntimeError: no place for the model", trial["warning"]["last_output"])
        self.assertEqual(result["best"]["hyper"]["x"], 0.8, "its epochs count")
        shown = self.tandem("show", result["run"]).stdout
        self.assertIn("2 of 3 trials went wrong after the last epoch; the epochs count", shown)
        self.assertIn("no place for the model", shown)

    def test_a_misspelt_hyperparameter_is_told(self):
        body = ("with tandem.trial(defaults={'momentum': 0.9}) as t:\n    for epoch in t.remaining(): "
                "t.report(accuracy=t.hyper['x'] * t.hyper['momentum'])")
        done = self.tandem("tune", self.script_spec(body, hyper="x: {range: [0, 1]}, momentm: {range: [0, 1]}"))
        told = "the program has never read hyperparameter 'momentm' (did you mean 'momentum'?)"
        self.assertIn(told.split(" (")[0], done.stderr)
        self.assertIn(told.split(" (")[0], done.stdout)
        result = json.loads(self.tandem("show", "last", "--json", "-").stdout)
        self.assertEqual(result["unread"], ["momentm"])
        result = self.json("tune", self.script_spec(body, hyper="x: {range: [0, 1]}, momentum: {range: [0, 1]}"), "--quiet")
        self.assertEqual(result["unread"], [])

    def test_options_have_the_ranges_of_their_keys(self):
        spec = self.tune_spec()
        for options, said in ((("--trials", 0), "--trials: must be at least 1 and at most 100000, not '0'"),
                              (("--trials", 10**9), "--trials: must be at least 1 and at most 100000, not '1000000000'"),
                              (("--seed", -1), "--seed: must be at least 0, not '-1'"),
                              (("--mode", "hyper", "--cores", 0), "--cores: must be at least 1 and at most 65536, not '0'")):
            self.assertIn(said, self.tandem("tune", spec, *options, code=2).stderr)
        self.assertEqual(self.json("runs")["runs"], [])

    def test_a_failed_run_tries_all_its_trials_again(self):
        mended = os.path.join(self.folder, "mended")
        spec = self.script_spec(f"import os\nwith tandem.trial() as t:\n    for epoch in t.remaining():\n"
                                f"        assert os.path.exists({mended!r}), 'not yet'\n        t.report(accuracy=t.hyper['x'])")
        failed = self.json("tune", spec, "--quiet", code=1)
        self.assertEqual((failed["state"], failed["failed_trials"]), ("failed", 3))
        self.assertIn("every trial failed", failed["reason"])
        open(mended, "w").close()
        result = self.json("resume", failed["run"], "--quiet")
        self.assertEqual((result["state"], len(result["trials"]), result["failed_trials"]), ("finished", 6, 3))
        self.assertEqual([trial["hyper"] for trial in result["trials"][3:]], [trial["hyper"] for trial in result["trials"][:3]])

    def test_what_no_point_can_meet_is_refused_before_there_is_a_run(self):
        never = ", ".join(f"\"x * {i} > {i + 1}\"" for i in range(100))
        for search in ("{algorithm: random, trials: 5}", "{algorithm: tpe, trials: 5}", "{algorithm: hyperband, max_epochs: 9}", "{algorithm: pbt}"):
            spec = self.tune_spec(search=search, extra=f"constraints: [{never}]")
            self.assertIn("no point of the search space meets", self.tandem("tune", spec, code=2).stderr)
        self.assertIn("would start", self.tandem("tune", self.tune_spec(search="{max_epochs: 1000000}"), code=2).stderr)
        self.assertEqual(self.json("runs")["runs"], [])

    def test_start_up_is_told_from_training(self):
        script = os.path.join(self.folder, "slow_start.py")
        for begin, least, most in (("with tandem.trial() as t: t.report(accuracy=1)", 0.3, 1e9), ("tandem.report(accuracy=1)", 0, 0)):
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"import sys, time\nsys.path.insert(0, {str(ROOT / 'python')!r})\nimport tandem\ntime.sleep(0.3)\n{begin}\n")
            spec = self.spec(f"kind: tune\nname: slow-start\nprogram: {{command: {json.dumps([sys.executable, script])}}}\n"
                             "search: {algorithm: random, max_epochs: 1, trials: 1}\nhyper:\n  x: {range: [0, 1]}\n", "slow.yaml")
            startup = self.json("tune", spec, "--quiet")["trials"][0]["history"][0]["startup"]
            self.assertGreaterEqual(startup, least)
            self.assertLessEqual(startup, most)

    def test_every_algorithm(self):
        for algorithm in ("grid", "random", "quasirandom", "tpe", "tpe-multivariate", "successive-halving", "hyperband", "asha", "bohb", "pbt", "nsga2"):
            with self.subTest(algorithm):
                hyper = "x: {choice: [0.1, 0.2, 0.3, 0.5]}" if algorithm == "grid" else "x: {range: [0, 1]}"
                spec = self.tune_spec(search=f"{{algorithm: {algorithm}, max_epochs: 4, reduction: 2, trials: 4}}", hyper=hyper)
                result = self.json("tune", spec, "--quiet")
                self.assertEqual(result["state"], "finished")
                self.assertEqual([t for t in result["trials"] if t["state"] == "failed"], [])
                self.assertIn("every decision the same", self.tandem("show", result["run"], "--verify").stdout)

    def test_trials_that_misbehave_are_recorded_and_never_stop_the_job(self):
        spec = self.tune_spec(search="{algorithm: grid, max_epochs: 3}",
                              hyper="x: 0.3\n  fault: {choice: [none, crash, kill, hang, nan]}", extra="limits: {stall: 1s, retries: 1}")
        result = self.json("tune", spec, "--quiet")
        self.assertEqual(result["state"], "finished")
        by_fault = {trial["hyper"]["fault"]: trial for trial in result["trials"]}
        self.assertEqual(by_fault["none"]["state"], "finished")
        for fault, word in (("crash", "crashed"), ("kill", "killed"), ("hang", "stalled"), ("nan", "bad report")):
            self.assertEqual(by_fault[fault]["state"], "failed", fault)
            self.assertEqual(by_fault[fault]["failure"]["failure"], word)
        self.assertIn("something broke", by_fault["crash"]["failure"]["last_output"])
        self.assertEqual(by_fault["kill"]["attempts"], 2, "retried once")
        self.assertEqual(by_fault["nan"]["attempts"], 1)
        table = self.tandem("show", result["run"]).stdout
        self.assertIn("4 of 5 trials failed", table)

    def test_a_job_whose_trials_all_fail_says_why(self):
        spec = self.tune_spec("--crash-at", 1, search="{algorithm: random, trials: 2, max_epochs: 2}")
        done = self.tandem("tune", spec, code=1)
        self.assertIn("something broke", done.stdout)
        spec = self.tune_spec(search="{algorithm: random, trials: 2, max_epochs: 2}", extra="objective: {maximise: acuracy}")
        self.assertIn("accuracy", self.tandem("tune", spec, code=1).stdout)

    def test_trials_that_report_and_then_all_crash_are_no_success(self):
        done = self.json("tune", self.tune_spec("--crash-at", 3, search="{algorithm: random, trials: 2, max_epochs: 4}",
                                                extra="limits: {retries: 0}"), "--quiet", code=1)
        self.assertEqual((done["state"], done["best"], done["failed_trials"]), ("failed", None, 2))
        self.assertIn("every trial failed", done["reason"])
        table = self.tandem("show", done["run"]).stdout
        self.assertIn("2 of 2 trials failed", table)
        self.assertNotRegex(table, r"\n  best ")

    def test_what_can_never_run_leaves_no_run_behind(self):
        huge = "system: {cores: 4096}"
        for words, spec, arguments in (("--cores 4096", self.tune_spec(extra="budget: {time: 2s}"), ("--mode", "hyper", "--cores", 4096)),
                                       ("system.cores", self.tune_spec(extra=huge, name="huge.yaml"), ())):
            with self.subTest(words):
                self.assertIn(words, self.tandem("tune", spec, *arguments, code=2).stderr)
        self.assertIn("4096 cores", self.tandem("train", self.speaker_spec(extra=huge + "\n"), code=2).stderr)
        self.assertEqual(self.runs(), [])

    def test_joint_mode_names_what_is_ranked_and_what_was_reached(self):
        spec = self.tune_spec("--sleep-ms", 20, search="{algorithm: random, trials: 2, max_epochs: 4}", extra="system: {cores: 1}")
        found = self.json("tune", spec, "--mode", "joint", "--quiet")
        most = max(epoch["metrics"]["accuracy"] for trial in found["trials"] for epoch in trial["history"])
        self.assertEqual(found["best"]["ranked_by"], "accuracy / train_time")
        self.assertEqual(found["best"]["reached"], {"accuracy": most})
        self.assertLess(found["best"]["metrics"]["accuracy"], most)
        self.assertEqual(set(found["best"]["point"]), {"x"}, "nobody searched cores, memory or speed")
        table = self.tandem("show", found["run"]).stdout
        self.assertIn("by accuracy / train_time", table)
        self.assertRegex(table, rf"reached +accuracy {most:.4g} ")
        self.assertNotIn("memory", table)
        plain = self.json("tune", spec, "--mode", "hyper", "--quiet")["best"]
        self.assertEqual((plain["ranked_by"], plain["reached"]["accuracy"]), ("accuracy", plain["metrics"]["accuracy"]))

    def test_population_based_training_without_checkpoints_ends_at_the_first_clone(self):
        for way in ("--no-checkpoints", "--no-hello"):
            with self.subTest(way):
                done = self.json("tune", self.tune_spec("--no-checkpoints", way, search="{algorithm: pbt, trials: 4, max_epochs: 9}",
                                                        extra="objective: {maximise: value}"), "--quiet", code=1)
                self.assertEqual(done["state"], "failed")
                self.assertIn("keeps checkpoints", done["reason"])
                self.assertEqual(len(done["trials"]), 5)

    def test_code_after_the_last_report_runs_and_after_an_early_stop_does_not(self):
        script = self.folder / "saves.py"
        script.write_text(f"import sys, time\nsys.path.insert(0, {str(ROOT / 'python')!r})\nimport tandem\n"
                          "with tandem.trial() as t:\n    for epoch in t.remaining():\n        t.report(accuracy=t.hyper['x'])\n"
                          "    time.sleep(float(sys.argv[1]))\n    open(t.folder + '/saved', 'w').close()\n")

        def saved(search, seconds=0):
            command = json.dumps([sys.executable, str(script), str(seconds)])
            found = self.json("tune", self.spec(f"kind: tune\nprogram: {{command: {command}}}\nsearch: {search}\nhyper: {{x: {{range: [0, 1]}}}}\n"),
                              "--quiet")
            self.assertEqual(found["failed_trials"], 0)
            return {trial["epochs"]: (pathlib.Path(found["folder"]) / f"task-{trial['trial']}" / "saved").exists() for trial in found["trials"]}

        self.assertEqual(saved("{algorithm: random, trials: 1, max_epochs: 2}", 6), {2: True}, "however long it takes")
        self.assertEqual(saved("{algorithm: successive-halving, max_epochs: 4, reduction: 2, trials: 4}"), {1: False, 2: False, 4: True})

    def test_one_trial_is_one_trial(self):
        spec = self.tune_spec(search="{algorithm: random, trials: 1, max_epochs: 1}")
        self.assertIn("finished: 1 trial, 1 epoch, random", self.tandem("tune", spec, "--quiet").stdout)

    def test_budget_and_raised_limits(self):
        spec = self.tune_spec("--sleep-ms", 50, search="{algorithm: random, trials: 40, max_epochs: 4}", extra="budget: {time: 1s}")
        first = self.json("tune", spec, "--quiet")
        self.assertEqual(first["state"], "finished")
        self.assertIn("budget.time", first["reason"])
        again = self.json("resume", first["run"])
        self.assertEqual(again["epochs_total"], first["epochs_total"], "a finished run repeats its result")
        more = self.json("resume", first["run"], "--time", "3s", "--quiet")
        self.assertGreater(more["epochs_total"], first["epochs_total"])
        self.check_whole(more)

    def test_interrupted_and_resumed(self):
        spec = self.tune_spec("--sleep-ms", 40, search="{algorithm: hyperband, max_epochs: 9}")
        process = self.start("tune", spec, "--quiet")
        while not self.runs() or len(processes_below(process.pid)) < 1:
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)
        result = self.json("resume", "last", "--quiet")
        self.assertEqual(result["state"], "finished")
        self.check_whole(result)

    def test_after_a_resume_the_live_display_counts_what_was_before(self):
        spec = self.tune_spec("--sleep-ms", 40, search="{algorithm: random, trials: 6, max_epochs: 4}")
        process = self.start("tune", spec)
        while "trial   2" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.kill()
        process.communicate()
        before = self.json("show", "last")
        self.assertGreater(before["epochs_total"], 3)
        ours, theirs = pty.openpty()
        resumed = subprocess.Popen([TANDEM, "resume", "last"], env=self.environment, cwd=ROOT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # as terminals end
            pass
        os.close(ours)
        self.assertEqual(resumed.wait(), 0)
        counts = [int(count) for count in re.findall(rb"(\d+) of at most", shown)]
        self.assertGreaterEqual(counts[0], before["epochs_total"])
        self.assertEqual(counts, sorted(counts))
        self.assertLessEqual(counts[-1], self.json("show", "last")["epochs_total"])

    def test_kill_anywhere(self):
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        spec = self.tune_spec("--sleep-ms", 8, search="{algorithm: hyperband, max_epochs: 9}")
        began = time.monotonic()
        whole = self.json("tune", spec, "--quiet")
        length = time.monotonic() - began
        resumed = 0
        for i in range(KILLS):
            chance = random.Random(i)
            known = {run["id"] for run in self.runs()}
            process = self.start("tune", spec, "--quiet")
            time.sleep(chance.uniform(0, length))
            for pid in processes_below(process.pid) * chance.randint(0, 1) + [process.pid]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.communicate()
            fresh = [run for run in self.runs() if run["id"] not in known]
            if not fresh:
                continue
            resumed += fresh[0]["state"] != "finished"
            result = self.json("resume", fresh[0]["id"], "--quiet")
            with self.subTest(kill=i, run=fresh[0]["id"]):
                self.assertEqual(result["state"], "finished")
                self.check_whole(result)
                self.assertEqual([t["hyper"] for t in result["trials"]], [t["hyper"] for t in whole["trials"]])
                self.assertEqual([[e["metrics"] for e in t["history"]] for t in result["trials"]],
                                 [[e["metrics"] for e in t["history"]] for t in whole["trials"]])
                self.assertIn("every decision the same", self.tandem("show", fresh[0]["id"], "--verify").stdout)
        print(f"\n{KILLS} kills over {length:.2f} s tuning runs; {resumed} needed resume")
        self.assertGreater(resumed, KILLS // 4)

    def test_two_jobs_on_one_store_queue_and_both_end(self):
        spec = self.tune_spec("--sleep-ms", 5)
        processes = [self.start("tune", spec, "--quiet") for _ in range(2)]
        for process in processes:
            self.assertEqual(process.wait(), 0)
        self.assertEqual([run["state"] for run in self.runs()], ["finished"] * 2)
        with sqlite3.connect(self.store / "tandem.db") as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")

    def test_two_goals_give_a_front(self):
        spec = self.tune_spec("--sleep-ms", 1, extra="objective: {maximise: accuracy, minimise: train_time}")
        result = self.json("tune", spec, "--quiet")
        goals = {trial["trial"]: trial["goals"] for trial in result["trials"]}
        front = [goals[i] for i in result["front"]]
        for a in front:
            for b in front:
                self.assertFalse(a[0] >= b[0] and a[1] <= b[1] and a != b and (a[0] > b[0] or a[1] < b[1]))
        self.assertIn("Pareto front", self.tandem("show", result["run"]).stdout)

    def test_cost_weighs_energy_and_time_as_asked(self):
        weights = "objective: {maximise: accuracy, cost: {energy: 1, time: 3}}\nsystem: {cores: {choice: [1, 2]}}\n"
        spec = self.tune_spec("--sleep-ms", 5, extra=weights + "energy: {source: model, idle: 20W, busy: 100W}")
        result = self.json("tune", spec, "--quiet")
        self.assertEqual(result["cost"], {"energy": 0.25, "time": 0.75, "watts": 100.0, "watts_are": "known"})
        for trial in result["trials"]:
            until = [epoch for epoch in trial["history"] if epoch["epoch"] <= trial["best_epoch"]]
            by_hand = sum(0.25 * epoch["joules"] + 75 * (epoch["seconds"] - epoch["startup"]) for epoch in until)
            self.assertAlmostEqual(trial["goals"][1], by_hand, places=6)
        part, = result["energy_parts"]
        self.assertEqual((part["of"], part["source"]), ("CPU", "model (idle 20 W, busy 100 W)"))
        self.assertAlmostEqual(part["joules"], result["tuning_joules"])
        self.assertTrue(0 < part["idle_joules"] <= part["joules"])
        shown = self.tandem("show", result["run"]).stdout
        for words in ("0.25 energy + 0.75 time at 100 W (the machine's greatest draw)", "Pareto front", "of it", "idle"):
            self.assertIn(words, shown)
        page = self.folder / "report.html"
        self.tandem("report", result["run"], "-o", page)
        self.assertIn("energy of an epoch (J)", page.read_text())
        spec = self.tune_spec("--sleep-ms", 5, extra=weights + "energy: {source: none}")
        failed = self.json("tune", spec, "--quiet", code=1)
        self.assertIn("names cost, but nothing here can tell energy", failed["reason"])

    def test_knowledge_travels(self):
        spec = self.tune_spec("--sleep-ms", 5, hyper="x: {range: [0, 1]}\n  batch_size: {choice: [1, 2]}",
                              extra="system: {cores: {choice: [1, 2]}}")
        warm = self.json("tune", "--warm", spec, "--quiet")
        self.assertEqual(len(warm["trials"]), 2)
        configurations = {(t["hyper"]["batch_size"], e["cores"]) for t in warm["trials"] for e in t["history"]}
        self.assertEqual(configurations, {(1, 1), (1, 2), (2, 1), (2, 2)})
        known = self.folder / "known.json"
        self.tandem("knowledge", "--export", known)
        text = known.read_text()
        self.assertNotIn("speaker", text, "no names of programs")
        other = self.folder / "other"
        for _ in range(2):
            self.tandem("knowledge", "--import", known, "--store", other)
        self.assertEqual(len(self.json("knowledge", "--store", other)["works"]), len(json.loads(text)["works"]))
        known.write_text("{}")
        self.tandem("knowledge", "--import", known, code=2)
        self.assertIn("forgotten", self.tandem("knowledge", "--forget").stdout)

    def test_report_is_one_page_without_a_network(self):
        result = self.json("tune", self.tune_spec(), "--quiet")
        page = self.folder / "report.html"
        self.tandem("report", result["run"], "-o", page)
        text = page.read_text()
        self.assertIn("<svg", text)
        self.assertEqual(re.findall(r'(?:src|href)="(?!#)[^"]*"', text), [])

    def test_mistakes_are_explained(self):
        train = self.spec("kind: train\nprogram: {model: lenet5, dataset: digits}\n", "train.yaml")
        self.assertIn("tandem train", self.tandem("tune", train, code=2).stderr)
        self.assertIn("tandem tune", self.tandem("train", self.tune_spec(), code=2).stderr)
        spec = self.tune_spec(search="{algorithm: hyperbnd}")
        self.assertIn("hyperband", self.tandem("tune", spec, code=2).stderr)
        self.assertIn("--mode hyper", self.tandem("tune", self.tune_spec(), "--cores", 1, code=2).stderr)


class TuneTheTrainer(Case):
    def test_population_based_training_goes_on_from_the_best_weights(self):
        spec = self.spec("""kind: tune
program: {model: mlp, dataset: digits}
search: {algorithm: pbt, trials: 4, max_epochs: 4}
hyper:
  learning_rate: {log: [0.0001, 0.2]}
system: {cores: 1}
""")
        result = self.json("tune", spec, "--quiet")
        self.assertEqual([t["reason"] for t in result["trials"] if t["state"] == "failed"], [])
        clones = [t for t in result["trials"] if t["history"] and t["history"][0]["epoch"] > 1]
        self.assertTrue(clones, "none began from another's weights")
        self.tandem("predict", result["run"], "--help")
        self.assertTrue(result["model"], "the best trial's model is there")
