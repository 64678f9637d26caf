"""tandem.tune and its like against a played program `tandem`; tests/e2e/test_python.py has the real one."""

import json
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

from .test_trial import clean_environment

# Notes what it was given, and answers with what the test wrote down.
PLAYED = """#!{python}
import json, os, shutil, signal, sys, time
here = os.path.dirname(os.path.abspath(__file__))
words = sys.argv[1:]
told = {{"words": words}}
if words[0] == "tune":
    told["spec"] = open(words[1]).read()
    shutil.copy(words[words.index("--keep") + 1], os.path.join(here, "kept"))
json.dump(told, open(os.path.join(here, "told"), "w"))
plan = json.load(open(os.path.join(here, "plan")))
if plan.get("waits"):
    signals = []
    signal.signal(signal.SIGINT, lambda *_: signals.append(1))
    open(os.path.join(here, "ready"), "w").close()
    while not signals:
        time.sleep(0.01)
    time.sleep(0.2)
    plan["answer"]["signals"] = len(signals)
sys.stderr.write(plan.get("says", ""))
print(json.dumps(plan["answer"]) if "answer" in plan else "")
sys.exit(plan.get("code", 0))
"""
ANSWER = {"run": "r1", "state": "finished", "reason": "", "best": {"hyper": {"x": 1}, "metrics": {"loss": 2}},
          "trials": [{"trial": 0, "state": "ended", "epochs": 3, "hyper": {"x": 1}, "metrics": {"loss": 2}, "joules": None}]}


class WithPlayedProgram(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "tandem").write_text(PLAYED.format(python=sys.executable))
        (self.folder / "tandem").chmod(0o755)

    def start(self, program, **plan):
        (self.folder / "plan").write_text(json.dumps(plan))
        script = self.folder / "script.py"
        script.write_text("import tandem\ndef objective(t):\n    return t.hyper.x\n" + textwrap.dedent(program))
        return subprocess.Popen([sys.executable, str(script)], env=clean_environment() | {"TANDEM_BIN": str(self.folder)},
                                cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_script(self, program, **plan):
        process = self.start(program, **plan)
        out, self.errors = process.communicate(timeout=120)
        self.code = process.returncode
        return out

    def told(self):
        return json.loads((self.folder / "told").read_text())

    def test_a_spec_is_written_and_its_result_read(self):
        out = self.run_script("""
            r = tandem.tune(objective, {"x": tandem.int(1, 8), "opt": tandem.choice("a", "b"), "fixed": 2,
                                        "m": tandem.log(1e-4, 1, when={"opt": "a"})},
                            minimize="loss", trials=7, epochs=3, seed=5, cores=[1, 2], budget=90, constraints=["x > 1"],
                            mode="hyper", store="runs", name="mine")
            print(r.best.hyper.x, r["best"].metrics, r.rows(), r)
            """, answer=ANSWER, says="trial 1\n")
        self.assertEqual(out, "1 {'loss': 2} [{'trial': 0, 'state': 'ended', 'epochs': 3, 'joules': None, 'hyper.x': 1, "
                              "'metrics.loss': 2}] <tandem run r1, finished: best {'loss': 2} with {'x': 1}>\n", self.errors)
        self.assertEqual(self.errors, "trial 1\n")
        spec = json.loads(self.told()["spec"])
        command = spec.pop("program")["command"]
        self.assertEqual((command[0], Path(command[1]).name), (sys.executable, "_objective.py"))
        self.assertEqual(spec, {
            "kind": "tune", "name": "mine",
            "hyper": {"x": {"int": [1, 8]}, "opt": {"choice": ["a", "b"]}, "fixed": 2,
                      "m": {"log": [1e-4, 1], "when": {"opt": "a"}}},
            "search": {"algorithm": "hyperband", "max_epochs": 3, "seed": 5, "trials": 7},
            "objective": {"minimise": ["loss"]}, "system": {"cores": {"choice": [1, 2]}}, "constraints": ["x > 1"],
            "budget": {"time": "90s"}})
        words = self.told()["words"]
        self.assertEqual(words[2:4] + words[6:], ["--mode", "hyper", "--store", "runs", "--json", "-"])
        self.assertEqual(json.loads((self.folder / "kept").read_text())["metric"], "loss")

    def test_its_progress_can_be_left_out(self):
        self.run_script("tandem.tune(objective, {'x': 1}, quiet=True)", answer=ANSWER, says="trial 1\n")
        self.assertEqual(self.errors, "")
        self.assertIn("--quiet", self.told()["words"])

    def test_what_is_refused_is_an_error_with_its_words(self):
        out = self.run_script("""
            try:
                tandem.tune(objective, {"x": 1}, quiet=True)
            except tandem.Error as error:
                print(error.code, error)
            """, code=2, says="tandem: waiting\ntrial 1\ntandem: spec.json:3: no\n  and no\n")
        self.assertEqual(out, "2 spec.json:3: no\n  and no\n")

    def test_a_run_that_failed_shows_the_last_lines_of_a_trial(self):
        failed = dict(ANSWER, state="failed", reason="every trial failed", best=None,
                      trials=[{"trial": 4, "failure": {"last_output": "ValueError: no\n"}}])
        out = self.run_script("""
            try:
                tandem.tune(objective, {"x": 1})
            except tandem.Error as error:
                print(error.run, error)
            """, code=1, answer=failed)
        self.assertEqual(out, "r1 run r1 failed: every trial failed\nThe last lines of trial 4:\nValueError: no\n")

    def test_one_ctrl_c_is_one_signal(self):
        process = self.start("""
            try:
                tandem.tune(objective, {"x": 1}, quiet=True)
            except KeyboardInterrupt as stopped:
                print(stopped.run, stopped.result.signals, stopped)
            """, code=130, answer=ANSWER, waits=True)
        while not (self.folder / "ready").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
        self.assertEqual(out, "r1 1 tuning was interrupted; tandem.resume('r1'), or `tandem resume r1`, goes on\n", errors)

    def test_runs_are_listed_loaded_and_resumed(self):
        out = self.run_script("print(tandem.load('r1', store='there').best.hyper.x, tandem.resume('r1', time='10min').state)",
                              answer=ANSWER)
        self.assertEqual(out, "1 finished\n", self.errors)
        self.assertEqual(self.told()["words"], ["resume", "r1", "--time", "10min", "--json", "-"])
        out = self.run_script("print(tandem.runs()[0].id)", answer={"runs": [{"id": "r2"}]})
        self.assertEqual(out, "r2\n")

    def test_only_an_unfinished_run_of_that_name_is_resumed(self):
        runs = {"runs": [{"id": "r3", "name": "other", "kind": "tune", "state": "stopped"},
                         {"id": "r2", "name": "objective", "kind": "tune", "state": "stopped"},
                         {"id": "r1", "name": "objective", "kind": "tune", "state": "finished"}]}
        self.run_script("tandem.tune(objective, {'x': 1}, resume=True)", answer={**ANSWER, **runs})
        self.assertEqual(self.told()["words"][:2], ["resume", "r2"])
        runs["runs"][1]["state"] = "finished"
        self.run_script("tandem.tune(objective, {'x': 1}, resume=True)", answer={**ANSWER, **runs})
        self.assertEqual(self.told()["words"][0], "tune")

    def test_mistakes_are_told_before_anything_starts(self):
        out = self.run_script("""
            import threading
            lock = threading.Lock()
            def locked(t):
                with lock:
                    return 1
            for space, more in (({"x": float("nan")}, {}), ({"x": object()}, {}), ({"x": 1}, {"processes": "two"})):
                try:
                    tandem.tune(objective, space, **more)
                except (TypeError, ValueError) as error:
                    print(error)
            try:
                tandem.tune(locked, {"x": 1})
            except tandem.CannotTravel as error:
                print("lock" in str(error))
            try:
                tandem.Result({"trials": []}).frame()
                print("pandas")
            except ImportError as error:
                print("pandas" in str(error) and "pandas")
            """, answer=ANSWER)
        lines = out.splitlines()
        self.assertIn("Out of range float", lines[0])
        self.assertIn("cannot be part of a space", lines[1])
        self.assertEqual(lines[2:], ["processes is 'own' or 'inline', not 'two'", "True", "pandas"], self.errors)
        self.assertFalse((self.folder / "told").exists())

    def test_a_notebook_shows_the_last_lines(self):
        (self.folder / "IPython").mkdir()
        (self.folder / "IPython/__init__.py").write_text(
            "class Shell:\n    kernel = None\ndef get_ipython():\n    return Shell()\n")
        (self.folder / "IPython/display.py").write_text(
            "HTML = str\nclass Handle:\n    def update(self, text): print(text)\n"
            "def display(text, display_id): return Handle()\n")
        out = self.run_script("import IPython\ntandem.tune(objective, {'x': 1})", answer=ANSWER,
                              says="".join(f"line {n} <\n" for n in range(20)))
        self.assertTrue(out.endswith("<pre>" + "".join(f"line {n} &lt;\n" for n in range(8, 20)) + "</pre>\n"), out)
        self.assertEqual(self.errors, "")

    def test_the_program_is_looked_for(self):
        environment = {k: v for k, v in clean_environment().items() if k != "TANDEM_BIN"}
        ask = [sys.executable, "-c", "import tandem._binary as b\ntry: print(b.find())\nexcept b.Error as e: print(e.code, e)"]
        for more, found in (({"TANDEM_BIN": str(self.folder)}, f"{self.folder}/tandem\n"),
                            ({"TANDEM_BIN": f"{self.folder}/tandem"}, f"{self.folder}/tandem\n"),
                            ({"PATH": str(self.folder)}, f"{self.folder}/tandem\n"),
                            ({"TANDEM_BIN": "/nowhere"}, "2 TANDEM_BIN is /nowhere, but /nowhere is no program\n")):
            done = subprocess.run(ask, env={**environment, **more}, text=True, capture_output=True)
            self.assertEqual(done.stdout, found, done.stderr)


if __name__ == "__main__":
    unittest.main()
