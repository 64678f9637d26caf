"""tandem sim --trace and --calibrate, as a person uses them."""

import csv
import json

from e2e.harness import DATA, Case

CLUSTER = """kind: cluster
name: two
devices:
  cpu: {kind: cpu, cores: 4, clock: 2GHz, memory: 16GB, power: [50W, 150W]}
node_types:
  box: {devices: {cpu: 1}}
nodes: {box: 2}
network: {bandwidth: 1GB/s}
"""
# number, submitted, waited, ran, processors, ...: job 2 needs all eight cores and blocks the small job 3 behind it.
SWF = """; a small trace
1 0 -1 100 4 -1 -1 4 -1 -1 1 1 1 1 1 1 -1 -1
2 10 -1 50 8 -1 -1 8 -1 -1 1 1 1 1 1 1 -1 -1
3 20 -1 10 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1
4 30 -1 10 9 -1 -1 9 -1 -1 1 1 1 1 1 1 -1 -1
5 40 -1 -1 1 -1 -1 1 -1 -1 0 1 1 1 1 1 -1 -1
"""


class Traces(Case):
    def setUp(self):
        super().setUp()
        self.cluster = self.spec(CLUSTER, "two.yaml")
        self.trace = self.spec(SWF, "log.swf")

    def sim(self, *more, **options):
        return self.tandem("sim", "--trace", self.trace, "--cluster", self.cluster, *more, **options)

    def test_policies_side_by_side(self):
        done = self.sim("--policy", "fifo,first-fit")
        for word in ("makespan", "mean wait", "fifo", "first-fit", "can never be placed", "9 x (1 core)", "duration"):
            self.assertIn(word, done.stdout)

    def test_every_policy_of_the_help_serves_every_job(self):
        names = ["fifo", "first-fit", "random", "backfill", "spread", "binpack", "priority", "preempt-restart",
                 "preempt-resume", "heats:H=1:x=30", "heats:H=0:idle=share", "kit:filter=threshold@1:weigh=energy"]
        listed = self.tandem("sim", "--help").stdout
        result = self.json("sim", "--trace", self.trace, "--cluster", self.cluster, "--policy", ",".join(names))
        for name, row in zip(names, result["policies"], strict=True):
            self.assertRegex(listed, rf"(?m)^ +{name.split(':')[0]}: ")
            self.assertEqual((row["policy"], row["jobs_done"]), (name, 3))
            self.assertEqual((row["evictions"], row["moves"]), (0, 0))
            self.assertGreater(row["joules"], 0)

    def test_json_is_what_one_finds_by_hand(self):
        result = self.json("sim", "--trace", self.trace, "--cluster", self.cluster, "--policy", "fifo,first-fit")
        self.assertEqual(result["never_placeable"], ["4"])
        self.assertEqual(result["trace"]["skipped"], 1)
        fifo, fit = result["policies"]
        self.assertEqual((fifo["policy"], fit["policy"]), ("fifo", "first-fit"))
        # fifo: job 1 from 0 to 100, job 2 from 100 to 150, job 3 from 150 to 160
        self.assertEqual(fifo["makespan"], 160)
        self.assertAlmostEqual(fifo["mean_wait"], (0 + 90 + 130) / 3)
        self.assertEqual(fifo["core_seconds"], 400 + 400 + 20)
        # two nodes idle at 50 W, and 100 W more for four busy cores
        self.assertAlmostEqual(fifo["joules"], 2 * 50 * 160 + 820 / 4 * 100)
        # first-fit: job 3 runs beside job 1
        self.assertAlmostEqual(fit["mean_wait"], (0 + 90 + 0) / 3)
        self.assertEqual(fit["makespan"], 150)

    def test_every_job_in_a_file_and_a_page(self):
        jobs, page = self.folder / "jobs.csv", self.folder / "page.html"
        self.sim("--jobs", jobs, "--report", page)
        rows = list(csv.DictReader(jobs.read_text().splitlines()))
        self.assertEqual([(row["job"], row["started"], row["ended"]) for row in rows],
                         [("1", "0", "100"), ("2", "100", "150"), ("3", "150", "160"), ("4", "", "")])
        text = page.read_text()
        for word in ("<svg", "fifo", "jobs that wait", "cores at work"):
            self.assertIn(word, text)
        self.assertNotRegex(text, r"https?://|src=|@import")

    def test_nodes_that_fail_cost_work_unless_there_are_checkpoints(self):
        self.spec(CLUSTER + "failures: {between: 60s, repair: 10s}\n", "two.yaml")
        lost = [self.json("sim", "--trace", self.trace, "--cluster", self.cluster, *more)["policies"][0]
                for more in ([], ["--checkpoint", "5s"])]
        self.assertGreater(lost[0]["failures"], 0)
        self.assertGreater(lost[0]["lost_seconds"], lost[1]["lost_seconds"])
        self.assertEqual(lost[0]["jobs_done"], 3)

    def test_a_faster_rate_makes_them_wait_longer(self):
        slow, fast = (self.json("sim", "--trace", self.trace, "--cluster", self.cluster, "--rate", rate)["policies"][0] for rate in (0.1, 10))
        self.assertEqual(slow["mean_wait"], 0)
        self.assertGreater(fast["mean_wait"], 50)

    def test_mistakes_are_told(self):
        for arguments, word in [
                (["--trace", self.trace], "--cluster"),
                (["--trace", self.trace, "--cluster", "kht"], "kth"),
                (["--trace", self.trace, "--cluster", self.cluster, "--policy", "fifoo"], "did you mean 'fifo'"),
                (["--trace", self.trace, "--cluster", self.cluster, "--policy", "fifo,fifo"], "twice"),
                (["--trace", self.trace, "--cluster", self.cluster, "--checkpoint", "soon"], "10min"),
                (["--trace", self.trace, "--cluster", self.cluster, "--policy", "fifo:malleable"], "has one size"),
                (["--trace", self.trace, "--cluster", self.cluster, "--policy", "backfill:malleable"], "cannot be malleable"),
                (["--trace", "nosuch.swf", "--cluster", self.cluster], "nosuch.swf"),
                (["--trace", self.trace, "--nodes", self.trace], "no nodes"),
                (["--trace", self.cluster, "--cluster", self.cluster], "format"),
                (["--policy", "fifo"], "--trace"),
                (["--trace", "--jobs", "300"], "--jobs is an option"),
                (["--trace", self.trace, "--cluster", self.cluster, "--jobs", "300"], "looks like how many"),
                ([self.cluster, "--trace", self.trace, "--cluster", self.cluster], "one thing")]:
            with self.subTest(arguments):
                self.assertIn(word, self.tandem("sim", *arguments, code=2, timeout=30).stderr)

    def test_a_format_that_cannot_be_replayed_says_so_where_it_is_listed(self):
        listed = " ".join(self.tandem("sim", "--help").stdout.split())
        self.assertIn("batch sizes (it has neither durations nor steps, so it can be read but not replayed)", listed)
        trace = self.folder / "workload-1.csv"
        trace.write_text("name,time,application,num_replicas,batch_size\na,0,cifar10,1,128\n")
        self.assertIn("neither durations nor steps", self.tandem("sim", "--trace", trace, "--cluster", self.cluster, code=2).stderr)

    def test_real_traces_run_to_their_end(self):
        traces = DATA / "traces"
        if not (traces / "gavel-throughputs.json").exists():
            self.skipTest(f"no {traces}")
        gavel = self.json("sim", "--trace", traces / "gavel-msr-103959.trace", "--throughputs", traces / "gavel-throughputs.json",
                          "--cluster", "examples/cluster-gavel.yaml", "--policy", "fifo,least-work")
        for policy in gavel["policies"]:
            self.assertEqual(policy["jobs_done"] + len(gavel["not_measured"]), gavel["trace"]["jobs"])
        alibaba = self.json("sim", "--trace", traces / "alibaba-gpu-2023-pods.csv", "--nodes", traces / "alibaba-gpu-2023-nodes.csv")
        self.assertGreater(alibaba["policies"][0]["jobs_done"], 7000)
        self.assertGreater(alibaba["policies"][0]["joules"], 0)
        self.assertTrue(any("energy is assumed" in note for note in alibaba["notes"]), alibaba["notes"])


class Calibrating(Case):
    def test_a_profiling_run_becomes_a_node_that_can_be_swept(self):
        profile = self.spec("kind: tune\nname: profile\nprogram: {model: lenet5, dataset: digits}\nsearch: {algorithm: grid, max_epochs: 1}\n"
                            "hyper: {batch_size: {choice: [64, 1024]}, learning_rate: 0.01}\nsystem: {cores: {choice: [1]}}\n"
                            "objective: {maximise: accuracy}\n")
        self.tandem("tune", "--warm", "--repetitions", 1, profile)
        here = self.folder / "here.yaml"
        found = json.loads(self.tandem("sim", "--calibrate", "last", "-o", here, "--json", "-").stdout)
        self.assertGreater(found["flops_a_second_of_a_core"], 1e7)
        self.assertEqual(len(found["notes"]), 1, "further cores were not measured")
        rows = self.json("sim", here, "--sweep", "batch=64,1024")["rows"]
        self.assertGreater(rows[0]["t_exec"], 0)
        self.assertGreaterEqual(rows[0]["t_exec"], rows[1]["t_exec"] * (1 - 1e-9))  # they may be the same

    def test_what_cannot_be_calibrated_on(self):
        self.json("train", self.speaker_spec())
        self.assertIn("lenet5", self.tandem("sim", "--calibrate", "last", code=2).stderr)
