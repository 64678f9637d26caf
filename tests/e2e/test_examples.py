"""Every file in examples/ runs as it is."""

import os
import subprocess
import unittest

from e2e.harness import ROOT, Case


class Examples(Case):
    def check_tuning(self, result):
        self.assertEqual(result["state"], "finished", result["reason"])
        self.assertEqual([t for t in result["trials"] if t["state"] == "failed"], [])
        metric = result["goals"][0]["metric"]
        for trial in result["trials"]:
            better = max if result["goals"][0]["maximise"] else min
            if trial["history"] and metric in result["best"]["metrics"]:
                best = better(epoch["metrics"][metric] for epoch in trial["history"])
                self.assertEqual(better(best, result["best"]["metrics"][metric]), result["best"]["metrics"][metric])
        self.assertGreaterEqual(result["best"]["system"]["cores"], 1)

    def check_experiment(self, result):
        self.assertEqual(result["state"], "finished", result["reason"])
        self.assertEqual([run for run in result["runs"] if run["state"] != "finished"], [])
        self.assertGreater(len(result["runs"]), 1)
        self.assertTrue(result["anova"], "nothing was analysed")

    def check_cluster(self, spec):
        trace = self.spec("1 0 -1 100 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n", "one.swf")
        result = self.json("sim", "--trace", trace, "--cluster", spec)
        self.assertEqual(result["policies"][0]["makespan"], 100)
        self.assertGreater(result["policies"][0]["joules"], 0)

    def check_simulation(self, spec):
        rows = self.json("sim", spec)["rows"]
        self.assertEqual([row for row in rows if row.get("error")], [])
        for row in rows:
            self.assertAlmostEqual(row["t_exec"] / (row["t_comp"] + row["t_comm"] + row["t_io"]), 1)
            self.assertGreater(row["samples"], 0)
        table = self.tandem("sim", spec).stdout
        for word in ("T_exec", *(row["workload"] for row in rows)):
            self.assertIn(word, table)


def check(name):
    def run(self):
        spec = ROOT / "examples" / name
        dataset = next((word for word in ("mnist",) if f"dataset: {word}" in spec.read_text()), None)
        if dataset and not next(row for row in self.json("data", "list")["datasets"] if row["name"] == dataset)["available"]:
            self.skipTest(f"{dataset} is not here; set TANDEM_DATA")
        if "kind: cluster" in spec.read_text():
            return self.check_cluster(spec)
        if "kind: sim" in spec.read_text():
            return self.check_simulation(spec)
        self.environment["PYTHONPATH"] = str(ROOT / "python")
        if "torch_models.py" in spec.read_text() and subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode != 0:
            self.skipTest("PyTorch is not here; tools/setup compare installs it")
        if "gpus: 1" in spec.read_text() and not self.json("doctor")["gpus"]:
            self.tandem("tune", spec, code=2)  # it says so, and does not try
            return
        if os.environ.get("TANDEM_ONE_CORE"):  # under ThreadSanitizer
            spec = self.spec(spec.read_text().replace("cores: 2", "cores: 1"))
        if "kind: characterize" in spec.read_text():
            return self.check_experiment(self.json("characterize", spec))
        if "kind: tune" in spec.read_text():
            return self.check_tuning(self.json("tune", spec))
        result = self.json("train", spec)
        self.assertEqual(result["state"], "finished")
        self.assertEqual(len(result["epochs"]), result["epochs_wanted"])
        first, last = (result["epochs"][i]["metrics"] for i in (0, -1))
        for metric, better in (("accuracy", 1), ("error", -1), ("loss", -1)):
            if metric in first and not name.startswith("type3-"):  # those learn timings of this machine, noisy where others work
                self.assertGreaterEqual(better * last[metric], better * first[metric], f"{name} learned nothing")
                break

    return run


for path in sorted((ROOT / "examples").glob("*.yaml")):
    setattr(Examples, "test_" + path.stem.replace("-", "_"), check(path.name))

if __name__ == "__main__":
    unittest.main()
