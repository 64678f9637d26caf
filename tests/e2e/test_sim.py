"""tandem sim, as a person uses it."""

import json
import re

from e2e.harness import ROOT, Case

SMALL = """kind: sim
name: small
cluster:
  name: pair
  devices:
    cpu: {kind: cpu, cores: 8, clock: 2GHz, power: [20W, 80W]}
    gpu: {kind: gpu, cores: 1000, clock: 1GHz, memory: 4GB, memory_bandwidth: 200GB/s, power: [50W, 250W]}
  node_types:
    box: {devices: {cpu: 1, gpu: 2}, storage: 1GB/s}
  nodes: {box: 2}
  network: {bandwidth: 1GB/s, latency: 10us}
workloads:
  - {name: ring, model: lenet5, batch: 64, iterations: 100, strategy: all-reduce, workers: 4, sample_bytes: 1kB,
     straggler: 5%}
"""


class Simulating(Case):
    def test_a_spec_gives_a_table_with_devices_and_links(self):
        done = self.tandem("sim", self.spec(SMALL))
        for word in ("T_exec", "T_comp", "T_comm", "T_mem", "T_io", "NET", "speed-up", "usage", "energy", "ring", "4 x gpu", "network"):
            self.assertIn(word, done.stdout)
        self.assertEqual(done.stderr, "", "nothing on fast runs")

    def test_json_has_the_shape_that_scripts_rely_on(self):
        row = self.json("sim", self.spec(SMALL))["rows"][0]
        for key in ("t_exec", "t_comp", "t_comm", "t_mem", "t_io", "speedup", "usage", "joules"):
            self.assertGreaterEqual(row[key], 0)
        self.assertAlmostEqual(row["t_exec"], row["t_comp"] + row["t_comm"] + row["t_io"])
        self.assertAlmostEqual(row["joules"], sum(device["joules"] for device in row["devices"]))
        self.assertEqual(row["samples"], 6400)
        self.assertEqual(set(row["net"]), {"network", "pcie", "nvlink", "storage", "feed"})
        self.assertEqual(row["net"]["storage"]["sent"], 6400 * 1000)

    def test_json_to_a_file_beside_the_table(self):
        target = self.folder / "result.json"
        self.assertIn("T_exec", self.tandem("sim", self.spec(SMALL), "--json", target).stdout)
        self.assertEqual(json.loads(target.read_text())["rows"][0]["workload"], "ring")

    def test_the_seed_on_the_command_line_wins(self):
        spec = self.spec(SMALL + "seed: 5\n")
        own, given, same = (self.json("sim", spec, *more)["rows"][0]["t_exec"] for more in ([], ["--seed", "6"], ["--seed", "5"]))
        self.assertEqual(own, same)
        self.assertNotEqual(own, given)

    def test_a_model_and_a_cluster_of_ones_own_in_files(self):
        cluster, workloads = SMALL.split("workloads:")
        cluster = "kind: cluster\n" + re.sub("^  ", "", cluster.split("cluster:\n")[1], flags=re.M)
        self.spec(cluster, "mine.yaml")
        (self.folder / "model.json").write_text(json.dumps({"name": "mine", "operations": [
            {"name": "pixels", "kind": "input", "forward_flops": 0, "outputs": 784},
            {"name": "layer", "kind": "dense", "inputs": ["pixels"], "forward_flops": 15680, "parameters": 7850, "outputs": 10}]}))
        spec = self.spec("kind: sim\ncluster: mine.yaml\nworkloads: [{model_file: model.json, batch: 8, iterations: 3}]\n")
        self.assertGreater(self.json("sim", spec)["rows"][0]["t_exec"], 0)


class Sweeping(Case):
    def test_a_grid_in_order_and_the_same_on_any_number_of_threads(self):
        sweep = ["--sweep", "workers=1,2,4", "batch=16,64"]
        one = self.json("sim", self.spec(SMALL), *sweep, "--threads", 1)
        two = self.json("sim", self.spec(SMALL), *sweep, "--threads", 2)
        self.assertEqual(one, two)
        self.assertEqual([(row["workers"], row["batch"]) for row in one["rows"]], [(1, 16), (1, 64), (2, 16), (2, 64), (4, 16), (4, 64)])

    def test_a_row_that_cannot_run_says_why_and_the_others_run(self):
        rows = self.json("sim", self.spec(SMALL), "--sweep", "workers=1,99")["rows"]
        self.assertIsNone(rows[1]["t_exec"])
        self.assertIn("99", rows[1]["error"])
        self.assertGreater(rows[0]["t_exec"], 0)
        self.assertIn("cannot run", self.tandem("sim", self.spec(SMALL), "--sweep", "workers=1,99").stdout)

    def test_when_no_row_can_run_the_answer_is_no(self):
        done = self.tandem("sim", self.spec(SMALL), "--sweep", "workers=98,99", code=3)
        self.assertIn("more than there are devices", done.stdout)

    def test_the_spec_may_come_last(self):
        self.assertEqual(len(self.json("sim", "--sweep", "workers=1,2", self.spec(SMALL))["rows"]), 2)

    def test_a_slow_grid_says_how_far_it_is_unless_told_not_to(self):
        grid = ["--threads", 1, "--sweep", "batch=" + ",".join(map(str, range(1, 601)))]  # several seconds
        self.assertRegex(self.tandem("sim", "examples/sim-k80-cloud.yaml", *grid).stderr, r"tandem: \d+ of 2400: ")
        self.assertEqual(self.tandem("sim", "examples/sim-k80-cloud.yaml", "-q", *grid).stderr, "")


class Pictures(Case):
    def test_the_timeline_is_a_trace_of_events_inside_the_time(self):
        target = self.folder / "steps.json"
        result = self.json("sim", self.spec(SMALL), "--timeline", target, "--steps", 3)
        trace = json.loads(target.read_text())["traceEvents"]
        events = [event for event in trace if event["ph"] == "X"]
        self.assertGreater(len(events), 10)
        for event in events:
            self.assertGreaterEqual(event["ts"], 0)
            self.assertLessEqual(event["ts"] + event["dur"], result["rows"][0]["t_exec"] * 1e6 + 1)
        names = {event["args"]["name"] for event in trace if event["ph"] == "M" and event["name"] == "process_name"}
        self.assertEqual(names, {"ring: box-0", "ring: box-1"})
        self.assertEqual({event["cat"] for event in events} & {"forward", "backward", "reduce", "read"}, {"forward", "backward", "reduce", "read"})

    def test_the_report_is_one_page_that_fetches_nothing(self):
        target = self.folder / "page.html"
        done = self.tandem("sim", self.spec(SMALL), "--report", target, "--sweep", "workers=1,2,4")
        self.assertIn("page.html", done.stdout)
        page = target.read_text()
        for word in ("<svg", "Speed-up over workers", "power over time", "Energy by device"):
            self.assertIn(word, page)
        self.assertNotRegex(page, r"https?://|src=|@import")

    def test_where_nothing_can_be_written_is_said_first(self):
        for option in ("--timeline", "--report"):
            done = self.tandem("sim", self.spec(SMALL), option, self.folder / "no/such/file", code=2)
            self.assertIn("no folder", done.stderr)
            self.assertEqual(done.stdout, "")


class Replaying(Case):
    def test_a_run_is_predicted_with_its_error(self):
        run = self.json("train", ROOT / "examples/shell-script.yaml")["run"]
        done = self.tandem("sim", "--replay", run)
        self.assertRegex(done.stdout, r"replayed: .*, measured .*, error [0-9.]+ %")
        self.assertRegex(done.stdout, r"median error [0-9.]+ %")
        result = self.json("sim", "--replay", "last")
        self.assertEqual(result["run"], run)
        self.assertEqual(len(result["epochs"]), 5)
        self.assertEqual(result["replay"]["epochs"], 5)
        self.assertTrue(result["replay"]["finished"])
        self.assertGreater(result["replay"]["seconds"], 0)
        self.assertIsNotNone(result["median_error"])

    def test_a_tuning_run_is_played_again_by_the_same_policies(self):
        tuned = self.json("tune", ROOT / "examples/tune-shell-script.yaml")
        result = self.json("sim", "--replay", tuned["run"])
        self.assertEqual(result["kind"], "tune")
        self.assertEqual(len(result["epochs"]), tuned["epochs_total"])
        self.assertEqual(result["replay"]["measured"], tuned["tuning_seconds"])
        self.assertTrue(result["replay"]["finished"])

    def test_what_cannot_be_replayed(self):
        self.assertIn("no runs", self.tandem("sim", "--replay", "nosuch", code=2).stderr)
        self.json("train", self.speaker_spec("--crash-at", 1), code=1)
        self.assertIn("epoch", self.tandem("sim", "--replay", "last", code=2).stderr)


class Mistakes(Case):
    def test_each_is_told_with_what_to_do(self):
        def changed(old, new):
            self.assertIn(old, SMALL)
            return SMALL.replace(old, new)

        table = {
            "train": ("kind: train\nprogram: {command: [x]}\nhyper: {epochs: 1}\n", "tandem train"),
            "cluster": ("kind: cluster\n", "cluster: FILE"),
            "no yaml": ("{{{", "yaml"),
            "empty": ("", "kind"),
            "unknown cluster": ("kind: sim\ncluster: k80-clouds\nworkloads: [{model: lenet5, batch: 1, iterations: 1}]\n", "did you mean 'k80-cloud'"),
            "missing cluster file": ("kind: sim\ncluster: no.yaml\nworkloads: [{model: lenet5, batch: 1, iterations: 1}]\n", "no.yaml"),
            "unknown model": (changed("lenet5", "lenet6"), "lenet5"),
            "unknown strategy": (changed("all-reduce", "all-reduces"), "did you mean 'all-reduce'"),
            "unknown key": (changed("workers: 4", "worker: 4"), "did you mean 'workers'"),
            "too many workers": (changed("workers: 4", "workers: 40"), "more than there are devices"),
            "no network": (changed("  network: {bandwidth: 1GB/s, latency: 10us}\n", ""), "bandwidth"),
            "no such device": (changed("{cpu: 1, gpu: 2}", "{cpu: 1, gpus: 2}"), "gpu"),
            "no nodes": (changed("{box: 2}", "{}"), "nodes"),
            "wrong torus": (changed("{bandwidth: 1GB/s", "{kind: torus, sizes: [3], bandwidth: 1GB/s"), "2 nodes of the cluster"),
            "nothing to do": (changed("iterations: 100, ", ""), "iterations"),
            "no such model file": ("kind: sim\ncluster: kth\nworkloads: [{model_file: no.json, batch: 1, iterations: 1}]\n", "no.json"),
        }
        for name, (text, word) in table.items():
            with self.subTest(name):
                done = self.tandem("sim", self.spec(text), code=2, timeout=30)
                self.assertIn(word.lower(), done.stderr.lower())
                self.assertEqual(done.stdout, "")

    def test_wrong_options(self):
        spec = self.spec(SMALL)
        for arguments, word in [((), "SPEC"), (("nosuch.yaml",), "nosuch.yaml"), ((self.folder,), "folder"),
                                ((spec, "--sweep", "worker=1,2"), "did you mean 'workers'"), ((spec, "--sweep", "workers"), "workers=1,2,4"),
                                ((spec, "--sweep", "workers=one"), "one"), ((spec, "--sweep", "workers=1,"), "missing"),
                                ((spec, "--threads", "0"), "threads"), ((spec, "--seed", "-1"), "seed"),
                                ((spec, "--replay", "last"), "one thing at a time"), (("--sweep", "workers=1"), "SPEC"),
                                (("--replay", "last", "--sweep", "workers=1"), "--replay"), ((spec, "--policy", "fifo"), "--trace")]:
            with self.subTest(arguments):
                self.assertIn(word, self.tandem("sim", *arguments, code=2, timeout=30).stderr)

    def test_other_commands_say_that_it_is_for_sim(self):
        for command in ("train", "tune"):
            self.assertIn("tandem sim", self.tandem(command, self.spec(SMALL), code=2).stderr)

    def test_help_completion_and_schema_know_it(self):
        text = self.tandem("sim", "--help").stdout
        for word in ("Examples:", "--sweep", "all-reduce", "alexnet", "k80-cloud", "docs/simulate.md"):
            self.assertIn(word, text)
        self.assertIn("sim) words=\"", self.tandem("completion", "bash").stdout)
        schema = json.loads(self.tandem("schema").stdout)
        workload = schema["$defs"]["sim"]["properties"]["workloads"]["items"]["properties"]
        self.assertIn("all-reduce", workload["strategy"]["enum"])
        self.assertIn("alexnet", workload["model"]["enum"])
        self.assertIn("cluster", schema["$defs"])
