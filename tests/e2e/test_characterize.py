"""Designed experiments over the real binary: which points, what is recorded, kill and resume, and the tables."""

import csv
import json
import math
import os
import signal
import sys
import time

from e2e.harness import ROOT, SPEAKER, Case
from e2e.serving import SlurmCluster

# A training loop with the Python SDK: what it learns depends on its rate alone.
LOOP = """\
import sys
sys.path.insert(0, {sdk!r})
import tandem
with tandem.trial() as trial:
    for epoch in range(trial.epochs):
        trial.report(accuracy=1 - trial.hyper["rate"] / (epoch + 1))
"""

# It says how long it takes for a thousand records, and what it sends.
KNOWN = """\
import sys
sys.path.insert(0, {sdk!r})
import tandem
with tandem.trial() as trial:
    for _ in range(trial.epochs):
        more = dict(bytes_out=float(sys.argv[2])) if len(sys.argv) > 2 else dict()
        trial.report(accuracy=0.9, seconds_per_thousand=float(sys.argv[1]) * trial.hyper["slower"], **more)
"""


class ExperimentCase(Case):
    def experiment(self, *arguments, hyper="x: {choice: [1, 2]}, epochs: 2", system="", experiment="design: full"):
        command = json.dumps([SPEAKER, *map(str, arguments)])
        return self.spec(f"kind: characterize\nname: study\nprogram: {{command: {command}}}\nhyper: {{{hyper}}}\n"
                         f"system: {{{system}}}\nexperiment: {{{experiment}}}\nenergy: {{source: none}}\n")


class Characterize(ExperimentCase):
    def test_every_point_is_run_and_recorded(self):
        spec = self.experiment(hyper="x: {choice: [1, 2, 3]}, y: {choice: [a, b]}, epochs: 2",
                               experiment="design: full, replications: 2, jobs: [1, 2]")
        plan = self.json("characterize", spec, "--plan")
        self.assertEqual(len(plan["runs"]), 3 * 2 * 2 * 2)
        result = self.json("characterize", spec)
        self.assertEqual(result["state"], "finished", result["reason"])
        self.assertEqual(len(result["runs"]), 12 + 2 * 12, "a run with two jobs is two tasks")
        at = {(r["at"]["x"], r["at"]["y"], r["at"]["jobs"], r["replication"], r["job"]) for r in result["runs"]}
        self.assertEqual(len(at), 36)
        for row in result["runs"]:
            self.assertEqual(row["state"], "finished")
            self.assertEqual(row["epochs"], 2)
            self.assertGreater(row["measured"]["train_seconds"], 0)
        self.assertEqual([run["at"] for run in plan["runs"]],
                         [r["at"] for r in result["runs"] if r["job"] == 0], "in the order that was planned")
        run = result["run"]
        self.assertEqual(self.runs()[0]["kind"], "characterize")
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)
        self.assertIn("study finished", self.tandem("show", run).stdout)
        self.assertEqual(self.json("resume", run)["runs"], result["runs"], "a finished one is only told again")

    def test_options_win_over_the_spec(self):
        spec = self.experiment(hyper="x: {range: [0, 1]}, z: {log: [0.01, 1]}, epochs: 1", experiment="design: full")
        plan = self.json("characterize", spec, "--plan", "--design", "space-filling", "--points", 5, "--jobs", "1,3",
                         "--replications", 2, "--seed", 3)
        self.assertEqual(len(plan["runs"]), 10)
        self.assertEqual({run["jobs"] for run in plan["runs"]}, {1, 3})
        again = self.json("characterize", spec, "--plan", "--design", "space-filling", "--points", 5, "--jobs", "1,3",
                          "--replications", 2, "--seed", 3)
        self.assertEqual(plan, again)
        message = self.tandem("characterize", spec, "--plan", "--design", "space-filling", code=2).stderr
        self.assertIn("--points", message)

    def test_failures_are_recorded_and_the_rest_goes_on(self):
        spec = self.experiment(hyper="fault: {choice: [none, crash]}, x: {choice: [1, 2]}, epochs: 2")
        result = self.json("characterize", spec)
        self.assertEqual(result["state"], "finished")
        self.assertIn("failed", result["reason"])
        states = {(r["at"]["fault"], r["at"]["x"]): r["state"] for r in result["runs"]}
        self.assertEqual(states, {("none", 1): "finished", ("none", 2): "finished", ("crash", 1): "failed",
                                  ("crash", 2): "failed"})

    def test_mistakes_exit_2_and_say_where(self):
        spec = self.experiment(experiment="desgin: full")
        self.assertIn("job.yaml:6:14", self.tandem("characterize", spec, code=2).stderr)
        spec = self.experiment(system="cores: {choice: [1, 4096]}")
        self.assertIn("4096", self.tandem("characterize", spec, code=2).stderr)
        self.assertIn("SPEC", self.tandem("characterize", code=2).stderr)
        train = self.speaker_spec()
        self.assertIn("nothing varies", self.tandem("characterize", train, code=2).stderr)
        run = self.json("train", train)["run"]
        self.assertIn("of kind train", self.tandem("characterize", "--from", run, code=2).stderr)
        self.assertEqual([r["kind"] for r in self.runs()], ["train"], "mistakes leave no run behind")

    def test_killed_and_resumed_it_ends_as_if_nobody_had(self):
        spec = self.experiment("--sleep-ms", 60, hyper="x: {choice: [1, 2, 3]}, epochs: 3",
                               experiment="design: full, jobs: [2]")
        whole = self.json("characterize", spec)
        process = self.start("characterize", spec, "--quiet", "-q")
        run = None
        for _ in range(200):  # until it is in the middle of its second run
            time.sleep(0.05)
            newest = self.runs()[0]
            if newest["id"] == whole["run"]:
                continue
            run = newest["id"]
            if len(self.json("show", run).get("runs", [])) >= 3:
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertIsNotNone(run)
        result = self.json("resume", run)
        self.assertEqual(result["state"], "finished", result["reason"])
        told = lambda study: [(r["run"], r["job"], r["at"], r["epochs"], r["measured"]["value"]) for r in study["runs"]]
        self.assertEqual(told(result), told(whole))
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def test_stopped_it_can_go_on(self):
        spec = self.experiment("--sleep-ms", 100, hyper="x: {choice: [1, 2, 3]}, epochs: 3")
        process = self.start("characterize", spec)
        while not self.runs():
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 130))
        run = self.runs()[0]
        if process.returncode == 130:
            self.assertEqual(run["state"], "stopped")
        self.assertEqual(self.json("resume", run["id"])["state"], "finished")

    def test_tables_page_and_traces(self):
        spec = self.experiment(hyper="x: {choice: [0.1, 0.9]}, word: {choice: [one, 'two, \"three\"']}, epochs: 2",
                               experiment="design: full, replications: 3")
        traces, page = self.folder / "traces", self.folder / "page.html"
        done = self.tandem("characterize", spec, "--export", traces, "--report", page)
        for word in ("ANOVA", "train_seconds", "Impact", "high", "95 %", "Cost"):
            self.assertIn(word, done.stdout)
        self.assertIn("run 12 of 12", done.stderr)
        self.assertIn("left)", done.stderr)
        html = page.read_text()
        for word in ("<svg", "ANOVA", "two, &quot;three&quot;"):
            self.assertIn(word, html)
        schema = json.loads((traces / "schema.json").read_text())
        for name, rows in (("runs", 12), ("epochs", 24)):
            with (traces / f"{name}.csv").open(newline="") as file:
                table = list(csv.DictReader(file))
            columns = schema["tables"][name]["columns"]
            self.assertEqual(len(table), rows)
            self.assertEqual(list(table[0]), [column["name"] for column in columns])
            kinds = {column["name"]: column["type"] for column in columns}
            self.assertEqual(kinds["factor_x"], "double")
            self.assertEqual(kinds["factor_word"], "string")
            for row in table:
                for column, cell in row.items():
                    if cell and kinds[column] == "double":
                        float(cell)
                    if cell and kinds[column] == "int64":
                        int(cell)
            self.assertEqual({row["factor_word"] for row in table}, {"one", 'two, "three"'})
        again = self.folder / "again"
        self.tandem("characterize", "--from", "last", "--export", again)
        for name in ("runs.csv", "epochs.csv"):
            self.assertEqual((again / name).read_bytes(), (traces / name).read_bytes())

    def test_jobs_share_the_cores_of_this_machine(self):
        cores = os.cpu_count()
        spec = self.experiment("--sleep-ms", 30, hyper="x: {choice: [1, 2]}, epochs: 2", system=f"cores: {cores}",
                               experiment="design: full, jobs: [2]")
        result = self.json("characterize", spec)
        self.assertEqual([r["state"] for r in result["runs"]], ["finished"] * 4)
        journal = [json.loads(line) for line in
                   self.tandem("show", result["run"], "--journal").stdout.splitlines()]
        running, most = set(), 0
        for entry in journal:
            event = entry["event"]
            if event["is"] == "TaskStarted":
                running.add(event["task"])
                most = max(most, len(running))
                self.assertEqual(len(event["cpus"]), cores)
            elif event["is"] in ("TaskEnded", "TaskFailed"):
                running.discard(event["task"])
        self.assertEqual(most, 2, "both had all the cores, at once")

    def workload(self, seconds):
        """An experiment on a program that takes so long for a thousand records, whatever the machine; its run."""
        script = self.folder / "known.py"
        script.write_text(KNOWN.format(sdk=str(ROOT / "python")))
        command = json.dumps([sys.executable, str(script), str(seconds)])
        spec = self.spec(f"kind: characterize\nname: study\nprogram: {{command: {command}}}\n"
                         "hyper: {slower: {choice: [1, 2]}, epochs: 1}\nexperiment: {design: full}\nenergy: {source: none}\n")
        return self.json("characterize", spec)["run"]

    def test_several_workloads_are_joined(self):
        runs = {(method, data): self.workload(a * b) for method, a in (("svm", 1), ("tree", 2))
                for data, b in (("small", 0.1), ("large", 10))}
        named = ",".join(f"{run}={method}/{data}" for (method, data), run in runs.items())
        page = self.folder / "joined.html"
        joined = self.json("characterize", "--join", named, "--response", "seconds_per_thousand", "--report", page)
        self.assertEqual({(w["method"], w["dataset"]): w["run"] for w in joined["workloads"]}, runs)
        (spread,) = joined["variability"]
        # Two values that are d orders of magnitude apart deviate by d over the root of two.
        self.assertAlmostEqual(spread["method"]["within"], 2 / math.sqrt(2))
        self.assertAlmostEqual(spread["dataset"]["within"], math.log10(2) / math.sqrt(2))
        self.assertAlmostEqual(spread["method"]["groups"]["svm"]["highest"], 10 * 1.5, msg="the median of 1 and 2 times")
        table = self.tandem("characterize", "--join", named).stdout
        for word in ("4 experiments joined", "varies more with the data", "svm/small", "Impact on seconds_per_thousand"):
            self.assertIn(word, table)
        self.assertIn("<svg", page.read_text())
        self.assertEqual(len(self.runs()), 4, "looking makes no run")

    def test_what_cannot_be_joined_is_explained(self):
        run = self.workload(1)
        for written, word in ((run, f"{run}=METHOD/DATASET"), (f"{run}=svm", "RUN=METHOD/DATASET"),
                              (f"{run}=svm/small", "two workloads"), (f"{run}=a/b,{run}=a/c", "twice"),
                              ("nosuch=a/b", "nosuch")):
            self.assertIn(word, self.tandem("characterize", "--join", written, code=2).stderr)
        train = self.json("train", self.speaker_spec())["run"]
        self.assertIn("of kind train", self.tandem("characterize", "--join", f"{train}=a/b,{run}=a/c", code=2).stderr)
        self.assertIn("--from", self.tandem("characterize", "--join", f"{run}=a/b", "--from", run, code=2).stderr)
        self.assertIn("--export", self.tandem("characterize", "--join", f"{run}=a/b", "--export", self.folder, code=2).stderr)

    def test_bytes_out_are_charged_where_a_program_reports_them(self):
        script = self.folder / "known.py"
        script.write_text(KNOWN.format(sdk=str(ROOT / "python")))
        command = json.dumps([sys.executable, str(script), "1", "2e9"])
        spec = self.spec(f"kind: characterize\nname: study\nprogram: {{command: {command}}}\n"
                         "hyper: {slower: {choice: [1, 2]}, epochs: 2}\nexperiment: {design: full}\nenergy: {source: none}\n")
        result = self.json("characterize", spec, "--dollars-per-hour", 0, "--dollars-per-gb", 0.05)
        self.assertEqual([row["measured"]["bytes_out"] for row in result["runs"]], [4e9] * 2)
        cost = {box["response"]: box for box in result["boxes"]}["dollars"]
        self.assertAlmostEqual(cost["median"], 0.2)
        self.assertIn("as the program reports them", self.tandem("show", result["run"]).stdout)


class OnSlurm(ExperimentCase):
    """On a real Slurm cluster on loopback of two nodes with two cores each."""

    def setUp(self):
        super().setUp()
        SlurmCluster(self, nodes=2, cpus=2)

    def on_slurm(self, spec, *options):
        return self.json("characterize", spec, "--world", "slurm", *options)

    def starts(self, run):
        """What was started together, entry by entry of the journal."""
        journal = [json.loads(line) for line in self.tandem("show", run, "--journal").stdout.splitlines()]
        return [[one for one in entry["decisions"] if one["is"] == "Start"] for entry in journal]

    def test_a_training_loop_side_by_side_with_itself(self):
        script = self.folder / "loop.py"
        script.write_text(LOOP.format(sdk=str(ROOT / "python")))
        command = json.dumps([sys.executable, str(script)])
        spec = self.spec(f"kind: characterize\nname: study\nprogram: {{command: {command}}}\n"
                         "hyper: {rate: {choice: [0.2, 0.4]}, epochs: 2}\n"
                         "system: {cores: {choice: [1, 2]}, memory: 64MiB}\n"
                         "experiment: {design: full, replications: 2, jobs: [1, 2]}\n")
        page, traces = self.folder / "page.html", self.folder / "traces"
        result = self.on_slurm(spec, "--partition", "main", "--time", "5min", "--report", page, "--export", traces)
        self.assertEqual(result["state"], "finished", result["reason"])
        self.assertEqual(len(result["runs"]), 8 + 2 * 8)
        for row in result["runs"]:
            self.assertEqual((row["state"], row["epochs"]), ("finished", 2), row)
            self.assertAlmostEqual(row["measured"]["accuracy"], 1 - row["at"]["rate"] / 2)
        impacts = {(i["factor"], i["response"]): i for i in result["impacts"]}
        self.assertAlmostEqual(impacts["rate", "accuracy"]["variation"], 1 / 9)
        self.assertEqual(impacts["cores", "accuracy"]["variation"], 0)
        together = [{start["node"] for start in starts} for starts in self.starts(result["run"])
                    if [start["granted"]["cores"] for start in starts] == [2, 2]]
        self.assertEqual(together, [{0, 1}] * 4, "two jobs of two cores each: both nodes at once")
        self.assertIn("<svg", page.read_text())
        self.assertEqual(len((traces / "runs.csv").read_text().splitlines()), 1 + 24)
        self.assertIn("every decision the same", self.tandem("show", result["run"], "--verify").stdout)

    def test_killed_and_resumed_it_ends_as_if_nobody_had(self):
        spec = self.experiment("--sleep-ms", 100, hyper="x: {choice: [1, 2]}, epochs: 3",
                               experiment="design: full, nodes: [1, 2]", system="cores: 1, memory: 64MiB")
        whole = self.on_slurm(spec)
        self.assertEqual([r["state"] for r in whole["runs"]], ["finished"] * 4, whole["reason"])
        process = self.start("characterize", spec, "--world", "slurm", "--quiet")
        while self.runs()[0]["id"] == whole["run"] or len(self.json("show", self.runs()[0]["id"]).get("runs", [])) < 2:
            self.assertIsNone(process.poll(), "over before it could be killed")
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        run = self.runs()[0]["id"]
        self.assertEqual(self.runs()[0]["state"], "interrupted")
        result = self.json("resume", run)
        self.assertEqual(result["state"], "finished", result["reason"])
        told = lambda study: [(r["run"], r["job"], r["at"], r["epochs"], r["measured"]["value"]) for r in study["runs"]]
        self.assertEqual(told(result), told(whole))

    def test_a_point_that_does_not_fit_is_refused_and_said(self):
        spec = self.experiment(system="cores: {choice: [1, 2]}, memory: 64MiB", experiment="design: full, jobs: [1, 3]")
        done = self.tandem("characterize", spec, "--world", "slurm", code=1)
        self.assertIn("3 jobs at once, each with 2 cores", done.stdout)
        self.assertIn("fewer experiment.jobs", done.stdout)
        spec = self.experiment(system="cores: 1, memory: 64MiB")
        self.assertIn("nowhere", self.tandem("characterize", spec, "--world", "slurm", "--partition", "nowhere", code=2).stderr)
