"""The Python SDK over the real binary: tandem.tune, Study, runs, and a server's client; each script in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import unittest

from e2e.harness import BIN, ROOT, Case
from e2e.serving import ServerCase

OBJECTIVE = """
import os, sys
import tandem

OFFSET = 0.3

def quality(lr):
    return 1 - (lr - OFFSET) ** 2

def objective(t):
    for epoch in t.remaining():
        t.report({"accuracy": quality(t.hyper.lr) * epoch / t.epochs})

SPACE = {"lr": tandem.range(0, 1), "fixed": 3}
"""


def environment_of(case):
    return dict(case.environment, PYTHONPATH=str(ROOT / "python"), TANDEM_BIN=str(BIN))


class Scripts:
    def start_script(self, text, name="script.py", **options):
        file = self.folder / name
        file.write_text(textwrap.dedent(text))
        process = subprocess.Popen([sys.executable, str(file)], env=environment_of(self), cwd=self.folder, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(self._end, process)
        return process

    def script(self, text, code=0, **options):
        process = self.start_script(text, **options)
        out, errors = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, f"stdout: {out}\nstderr: {errors}")
        self.errors = errors
        return out


class Tune(Scripts, Case):
    def test_a_function_of_a_script_is_tuned(self):
        out = self.script(OBJECTIVE + """
result = tandem.tune(objective, SPACE, trials=8, epochs=3, algorithm="random", seed=3, cores=1)
print(round(result.best.hyper.lr, 6), result.best.hyper.fixed, len(result.trials), result.state)
print(result.best["metrics"] == result.best.metrics, len(result.rows()), sorted(result.rows()[0])[:2])
again = tandem.load()
print(again.run == result.run == tandem.runs()[0].id, again.best.hyper == result.best.hyper, tandem.runs()[0].name)
print(tandem.resume(result.run).best.hyper == result.best.hyper)
""")
        lines = out.splitlines()
        self.assertEqual(lines[0].split()[1:], ["3", "8", "finished"])
        self.assertEqual(lines[1:], ["True 8 ['epochs', 'hyper.lr']", "True True objective", "True"])
        self.assertIn("trial", self.errors, "progress is told")
        shown = self.json("show", "last")
        # The same seed tries the same, whatever carries it.
        self.assertEqual(len({json.dumps(trial["hyper"]) for trial in shown["trials"]}), 8)

    def test_numbers_and_dicts_may_be_returned(self):
        out = self.script("""
            import tandem
            def squared(t):
                return (t.hyper.x - 0.25) ** 2
            def several(t):
                return {"loss": t.hyper.x, "size": 3}
            space = {"x": tandem.choice(0.0, 0.25, 1.0)}
            print(tandem.tune(squared, space, minimize="error", algorithm="grid", quiet=True).best.metrics)
            best = tandem.tune(several, space, minimize="loss", algorithm="grid", quiet=True).best
            print(best.hyper, best.metrics)
            """)
        self.assertEqual(out, "{'error': 0.0}\n{'x': 0.0} {'loss': 0.0, 'size': 3.0}\n")
        self.assertEqual(self.errors, "")

    def test_what_a_trial_raises_is_told(self):
        self.script("""
            import tandem
            def objective(t):
                raise ValueError("the data is not there")
            try:
                tandem.tune(objective, {"x": tandem.range(0, 1)}, trials=2, algorithm="random", quiet=True)
            except tandem.Error as error:
                assert error.run == tandem.runs()[0].id
                assert "every trial failed" in str(error), error
                assert "ValueError: the data is not there" in str(error), error
                assert 'script.py", line 4, in objective' in str(error), error
                raise SystemExit(7)
            """, code=7)

    def test_mistakes_in_a_space_are_errors_that_say_where(self):
        self.script("""
            import tandem
            try:
                tandem.tune(print, {"x": {"rang": [0, 1]}}, quiet=True)
            except tandem.Error as error:
                assert error.code == 2 and "rang" in str(error), error
                assert tandem.runs() == []
                raise SystemExit(7)
            """, code=7)

    def test_what_is_kept_is_read_before_there_is_a_run(self):
        spec = ROOT / "examples/tune-shell-script.yaml"
        refused = self.tandem("tune", spec, "--keep", self.folder / "nothing", code=2)
        self.assertIn("nothing' cannot be read", refused.stderr)
        self.assertEqual(self.runs(), [])

    def test_interrupted_it_can_be_resumed(self):
        text = OBJECTIVE + """
import time
def objective(t):
    state = t.load({"seen": []})
    for epoch in t.remaining():
        if epoch == 2 and not os.path.exists("go"):
            open("reached", "w").close()
            while not os.path.exists("go"):
                time.sleep(0.02)
        state["seen"].append((epoch, t.attempt))
        t.save(state)
        t.report(accuracy=quality(t.hyper.lr) * epoch)
    with open(os.path.join(t.folder, "seen"), "w") as file:
        file.write(repr(state["seen"]))
def main():
    result = tandem.tune(objective, SPACE, trials=1, epochs=3, algorithm="random", name="mine", resume=True, cores=1)
    print(result.run, result.trials[0].epochs, result.state, os.path.join(result.folder, "task-0", "seen"))
try:
    main()
except tandem.Interrupted as stopped:
    print(stopped.run, stopped.result.state)
    raise SystemExit(130)
"""
        process = self.start_script(text)
        self.wait_for(self.folder / "reached")
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, errors)
        run, state = out.split()
        self.assertEqual((run, state), (self.runs()[0]["id"], "stopped"))
        (self.folder / "go").touch()
        again = self.script(text).split()
        self.assertEqual(again[:3], [run, "3", "finished"])
        with open(again[3]) as file:
            self.assertEqual(file.read(), "[(1, 1), (2, 2), (3, 2)]")

    def test_the_run_ends_with_whoever_waits_for_it(self):
        process = self.start_script(OBJECTIVE + """
import time
def objective(t):
    open("reached", "w").close()
    while True:
        time.sleep(0.05)
tandem.tune(objective, SPACE, trials=1, algorithm="random")
""")
        self.wait_for(self.folder / "reached")
        process.kill()
        process.communicate()
        for _ in range(600):
            if self.runs()[0]["state"] != "running":
                break
            time.sleep(0.05)
        self.assertIn(self.runs()[0]["state"], ("stopped", "interrupted"))

    def wait_for(self, path):
        for _ in range(2400):
            if path.exists():
                return
            time.sleep(0.05)
        self.fail(f"{path} never came")

    def test_inline_runs_here(self):
        out = self.script(OBJECTIVE + """
seen = []
def objective(t):
    seen.append(os.getpid())
    for epoch in t.remaining():
        t.report(accuracy=quality(t.hyper.lr) * epoch)
result = tandem.tune(objective, SPACE, trials=5, epochs=2, algorithm="tpe", processes="inline", quiet=True)
print(seen == [os.getpid()] * 5, result.state, len(result.trials), result.epochs_total)
def broken(t):
    raise KeyError("mine")
try:
    tandem.tune(broken, SPACE, trials=2, processes="inline")
except KeyError as error:
    print("raised here", error)
""")
        self.assertEqual(out, "True finished 5 10\nraised here 'mine'\n")


class Studies(Scripts, Case):
    def test_asks_and_tells(self):
        out = self.script("""
            import tandem
            with tandem.Study({"x": tandem.range(-1, 1)}, minimize="loss", trials=25, seed=2) as study:
                for t in study:
                    study.tell(t, (t.hyper.x - 0.3) ** 2)
                print(study.best.metrics.loss < 0.05, len(study.result().trials), study.result().state)
            try:
                study.ask()
            except tandem.Error as error:
                print(error)
            """)
        self.assertEqual(out, "True 25 finished\nthe study was closed; tandem.Study(resume=study.run) goes on\n")
        run = self.runs()[0]
        self.assertEqual((run["kind"], run["name"], run["state"]), ("tune", "study", "finished"))
        self.tandem("show", run["id"])
        self.tandem("show", run["id"], "--verify")
        self.tandem("report", run["id"], "-o", self.folder / "page.html")

    def test_threads_share_a_study_and_epochs_end_early(self):
        out = self.script("""
            import threading, tandem
            study = tandem.Study({"x": tandem.range(0, 1)}, trials=40, epochs=4, algorithm="tpe", search={"pruning": "median"})
            seen = []
            def work():
                for t in study:
                    epochs = 1
                    while study.report(t, t.hyper.x * epochs):
                        epochs += 1
                    seen.append((t.number, epochs))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            result = study.result()
            study.close()
            print(sorted(n for n, _ in seen) == list(range(40)), result.state, result.best.metrics.accuracy > 2)
            print(sum(e for _, e in seen) == result.epochs_total < 160)
            """)
        self.assertEqual(out, "True finished True\nTrue\n", self.errors)

    def test_goes_on_after_a_kill(self):
        text = """
            import os, sys, tandem
            study = tandem.Study(SPACE_OR_RUN)
            print(study.run, flush=True)
            for n in range(4):
                t = study.ask()
                print(t.number, t.attempt, t.hyper.x, flush=True)
                if n == 3:
                    os.kill(os.getpid(), 9)
                study.tell(t, {"accuracy": t.hyper.x})
            """
        first = self.script(text.replace("SPACE_OR_RUN", '{"x": tandem.log(1e-4, 1)}'), code=-9).split()
        second = self.script(text.replace("SPACE_OR_RUN", f"resume={first[0]!r}"), code=-9).split()
        self.assertEqual(second[0], first[0])
        self.assertEqual((second[1], second[3]), (first[-3], first[-1]), "it is given again")
        self.assertEqual(second[2], "2")
        refused = self.tandem("resume", first[0], code=2)
        self.assertIn("tandem.Study(resume=", refused.stderr)

    def test_what_is_wrong_is_an_error(self):
        self.script("""
            import tandem
            for make in (lambda: tandem.Study({"x": {"rang": [0, 1]}}), lambda: tandem.Study(resume="nothing"),
                         lambda: tandem.Study({"x": tandem.range(0, 1)}, minimize="energy")):
                try:
                    make()
                except tandem.Error as error:
                    assert error.code == 2, error
                else:
                    raise SystemExit(1)
            with tandem.Study({"x": tandem.range(0, 1)}) as study:
                t = study.ask()
                try:
                    study.tell(t, {"loss": 1})
                except tandem.Error as error:
                    assert "'accuracy' is a goal" in str(error), error
                study.tell(t, float("nan"))
                assert study.result().trials[0].state == "failed"
            """)


class Client(Scripts, ServerCase):
    def test_submits_and_waits(self):
        self.serve()
        (self.folder / "train.py").write_text(f"import sys\nsys.path.insert(0, {str(ROOT / 'python')!r})\nimport tandem\n"
                                              "for epoch in (1, 2):\n    tandem.report(accuracy=epoch / 2)\n")
        out = self.script(f"""
            import tandem
            server = tandem.connect()
            job = server.submit({{"kind": "train", "name": "said", "hyper": {{"epochs": 2}}, "system": {{"cores": 1}},
                                 "program": {{"command": [{sys.executable!r}, "train.py"]}}}})
            print(server.wait(job, timeout=120).state, server.result(job).metrics.accuracy, server.job("said").job == job.job)
            print([j.name for j in server.jobs()], len(server.nodes()) > 0)
            for wrong in (lambda: server.job(99), lambda: server.submit("kind: nothing\\n")):
                try:
                    wrong()
                except tandem.Refused as error:
                    print(error.status)
            try:
                tandem.connect(name="nobody").jobs()
            except tandem.Error as error:
                print(error)
            """)
        lines = out.splitlines()
        self.assertEqual(lines[:2], ["finished 1.0 True", "['said'] True"])
        self.assertEqual(lines[2:4], ["404", "400"])
        self.assertIn("start one with `tandem serve`", lines[4])


if __name__ == "__main__":
    unittest.main()
