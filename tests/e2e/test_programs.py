"""Programs that know nothing of Tandem: parameters in their command or a file, metrics out of what they print or write."""

import json
import unittest

from e2e.harness import Case

ARGPARSE = """
import argparse, json, os, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, required=True)
parser.add_argument("--momentum", type=float)
parser.add_argument("--out")
args = parser.parse_args()
assert "TANDEM_SOCKET" not in os.environ
with open(args.out + "/arguments.json", "w") as file:
    json.dump(sys.argv[1:], file)
for epoch in range(1, 4):
    print(f"epoch {epoch}: acc={epoch * args.lr:.3f}")
"""

PARAMETERS = """
import json, sys
text = open(sys.argv[1]).read()
if sys.argv[1].endswith(".json"):
    hyper = json.loads(text)
else:
    try:
        import yaml
        hyper = yaml.safe_load(text)
    except ImportError:  # each line is a name and a value that JSON knows too
        hyper = json.loads("{" + ", ".join(text.splitlines()) + "}")
assert hyper["optimizer"]["name"] in ("sgd", "adam"), hyper
assert hyper["layers"] is None or hyper["layers"] == [64, 64], hyper
with open(sys.argv[2], "a") as log:
    for epoch in range(2):
        print(json.dumps({"val": {"acc": epoch + hyper["rate"]}}), file=log, flush=True)
"""


class Programs(Case):
    def script(self, text, name="train.py"):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_what_a_program_prints_is_its_report(self):
        script = self.script(ARGPARSE.replace('parser.add_argument("--out")', 'parser.add_argument("--out"); parser.add_argument("--kind")'))
        spec = self.spec(f"""kind: tune
program:
  command: [/usr/bin/python3, {script}, --lr, "{{lr}}", --momentum, "{{momentum}}", "--kind={{kind}}", --out, "{{folder}}"]
  metrics: {{accuracy: 'acc[=: ]+([0-9.]+)'}}
  epoch: 'epoch (\\d+)'
search: {{algorithm: random, trials: 4, max_epochs: 3}}
system: {{cores: 1}}
hyper:
  lr: {{log: [0.001, 0.1]}}
  kind: {{choice: [plain, heavy]}}
  momentum: {{range: [0, 0.9], step: 0.1, when: {{kind: heavy}}}}
start: [{{lr: 0.0625, kind: plain}}, {{lr: 0.03125, kind: heavy, momentum: 0.3}}]
""")
        result = self.json("tune", spec)
        self.assertEqual(result["state"], "finished", result["reason"])
        trials = result["trials"]
        self.assertEqual([t["state"] for t in trials], ["finished"] * 4)
        self.assertEqual([len(t["history"]) for t in trials], [3] * 4)
        self.assertEqual(trials[0]["hyper"], {"lr": 0.0625, "kind": "plain"})
        self.assertEqual(trials[1]["hyper"], {"lr": 0.03125, "kind": "heavy", "momentum": 0.3})
        for trial in trials:
            self.assertAlmostEqual(trial["history"][2]["metrics"]["accuracy"], 3 * trial["hyper"]["lr"], delta=0.001)
        given = [json.loads(path.read_text()) for path in sorted(self.store.glob("runs/*/task-*/arguments.json"))]
        self.assertEqual(given[0][:3], ["--lr", "0.0625", "--kind=plain"], "what does not exist takes its option with it")
        self.assertEqual(given[1][:5], ["--lr", "0.03125", "--momentum", "0.3", "--kind=heavy"])

    def test_a_parameter_file_groups_and_a_metrics_file(self):
        script = self.script(PARAMETERS)
        for suffix in ("json", "yaml"):
            spec = self.spec(f"""kind: tune
program:
  command: [/usr/bin/python3, {script}, "{{file}}", "{{folder}}/log.jsonl"]
  parameter_file: {suffix}
  metrics: {{accuracy: val.acc}}
  metrics_file: {{path: "{{folder}}/log.jsonl"}}
search: {{algorithm: grid, max_epochs: 2}}
system: {{cores: 1}}
hyper:
  rate: {{choice: [1e-5, 0.5]}}
  layers: {{choice: [null, [64, 64]]}}
  optimizer: {{name: {{choice: [sgd, adam]}}, momentum: 0.9}}
""")
            result = self.json("tune", spec)
            self.assertEqual(result["state"], "finished", result["reason"])
            self.assertEqual([len(t["history"]) for t in result["trials"]], [2] * 8, suffix)
            self.assertEqual({json.dumps(t["hyper"]["layers"]) for t in result["trials"]}, {"null", "[64, 64]"})
            self.assertEqual(result["best"]["metrics"]["accuracy"], 1.5)
            self.assertIn("optimizer.name", result["best"]["hyper"])

    def test_one_that_is_pruned_is_ended_and_held_ones_do_not_run(self):
        script = self.script("""
import sys, time
rate, beats = float(sys.argv[1]), open(sys.argv[2], "w")
for epoch in range(9):
    print("acc", epoch + rate)
    time.sleep(0.2)
    print(epoch, file=beats, flush=True)
""")
        spec = self.spec(f"""kind: tune
program:
  command: [/usr/bin/python3, {script}, "{{rate}}", "{{folder}}/beats"]
  metrics: {{accuracy: 'acc (\\S+)'}}
search: {{algorithm: successive-halving, trials: 9, max_epochs: 9}}
system: {{cores: 1}}
hyper: {{rate: {{range: [0, 0.5]}}}}
""")
        result = self.json("tune", spec)
        self.assertEqual(result["state"], "finished", result["reason"])
        lengths = sorted(len(t["history"]) for t in result["trials"])
        self.assertEqual(lengths, [1] * 6 + [3] * 2 + [9])
        for trial in result["trials"]:
            beats = self.store.glob(f"runs/*/task-{trial['task']}/beats") if "task" in trial else []
            for path in beats:
                self.assertLessEqual(len(path.read_text().splitlines()), len(trial["history"]) + 1, "it went on without an answer")

    def test_training_alone_and_what_goes_wrong(self):
        spec = self.spec("""kind: train
program: {command: [sh, -c, 'for i in 1 2 3; do echo "loss: 0.$i"; done; exit 3'], metrics: {loss: 'loss: (.*)'}}
hyper: {epochs: 4}
limits: {retries: 0}
""")
        result = self.json("train", spec, code=1)
        self.assertIn("exit status 3", json.dumps(result))
        self.assertEqual(len(result["epochs"]), 3)
        spec = self.spec("""kind: train
program: {command: [sh, -c, 'echo nothing here'], metrics: {loss: 'loss: (.*)'}}
hyper: {epochs: 1}
""")
        result = self.tandem("train", spec, code=1)
        self.assertIn("no epoch was found", result.stdout + result.stderr)
        spec = self.spec("kind: train\nprogram: {command: [./no-such-program, '{seed}'], metrics: {loss: '(.)'}}\n")
        result = self.tandem("train", spec, code=1)
        self.assertIn("cannot start './no-such-program'", result.stdout + result.stderr)

    def test_mistakes_are_said_before_anything_runs(self):
        spec = self.spec("kind: tune\nprogram: {command: [touch, '{lrr}']}\nhyper: {lr: {log: [0.1, 1]}}\n")
        answer = self.tandem("tune", spec, code=2)
        self.assertIn("job.yaml:2:28: program.command[1]: {lrr} is neither", answer.stderr)
        self.assertIn("did you mean 'lr'?", answer.stderr)
        self.assertEqual(self.runs(), [])


if __name__ == "__main__":
    unittest.main()
