"""Preloaded processes: trials that are forked by a template are the same as trials that were started."""

import json
import os
import pathlib
import random
import signal
import sys
import time

from e2e.harness import ROOT, Case, processes_below

ROUNDS = int(os.environ.get("TANDEM_PRELOAD_KILLS", "30"))

HEAVY = """\
import os
with open(os.environ["HEAVY_LOG"], "a") as log:
    log.write(f"{os.getpid()}\\n")
"""
BEGIN = """\
import sys
import tandem
import heavy
import os, pathlib, time

def wait_for_template(t):  # so that the next trial finds it ready
    end = time.monotonic() + 60
    while list(pathlib.Path(t.folder).parent.glob("template-*.json")) and time.monotonic() < end:
        time.sleep(0.002)
"""
PLAIN = BEGIN + """
with tandem.trial() as t:
    for epoch in t.remaining():
        t.report(accuracy=t.hyper["x"] * epoch)
        wait_for_template(t)
"""
FACTS = BEGIN + """
import json, random, resource, signal, threading
volatile = {"TANDEM_MARK", "TANDEM_SOCKET", "TANDEM_FOLDER", "HEAVY_LOG"}
main = sys.modules["__main__"]
def text(value):
    return "function" if callable(value) and not isinstance(value, type) else repr(value).split(" at 0x")[0]
def status(*names):
    lines = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
    return {name: lines.get(name, "").split() for name in names}
facts = {
    "argv": sys.argv, "orig_argv": sys.orig_argv, "path": sys.path, "flags": repr(sys.flags), "executable": sys.executable,
    "cwd": os.getcwd(), "umask": os.umask(0o22), "stdin": sys.stdin.read(), "nice": os.nice(0),
    "streams": [text([s.encoding, s.errors, s.line_buffering, s.isatty(), s.fileno(), s.name, s.mode]) for s in (sys.stdin, sys.stdout, sys.stderr)],
    "descriptors": sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{n}")),
    "environment": {k: v for k, v in os.environ.items() if k not in volatile},
    "main": {k: text(v) for k, v in vars(main).items() if k.startswith("__")}, "main_name": main.__name__,
    "frames": main.__file__, "excepthook": sys.excepthook is sys.__excepthook__,
    "signals": [text(signal.getsignal(n)) for n in sorted(signal.valid_signals())],
    "status": status("SigBlk", "SigIgn", "SigCgt", "Threads", "CapEff", "NoNewPrivs", "Cpus_allowed"),
    "limits": [resource.getrlimit(n) for n in range(16) if n != 10],  # RLIMIT_LOCKS: the tag of each start
    "group": os.getpgid(0) == os.getpid(), "leader": os.getsid(0) == os.getppid(),
    "thread": [t.name for t in threading.enumerate()], "switch": sys.getswitchinterval(),
    "parent": open(f"/proc/{os.getppid()}/comm").read(), "name": open("/proc/self/comm").read(),
    "recursion": sys.getrecursionlimit(), "warnings": len(sys.warnoptions),
}
with tandem.trial() as t:
    (pathlib.Path(t.folder) / "facts.json").write_text(json.dumps(facts))
    (pathlib.Path(t.folder) / "random").write_text(str(random.random()))
    t.report(accuracy=t.hyper["x"])
    wait_for_template(t)
"""
ENDINGS = BEGIN + """
import atexit
t = tandem.Trial()
t.report(accuracy=1)
wait_for_template(t)
how = t.hyper["how"]
atexit.register(print, "at exit of", how)
print("this ends by", how)
def inner():
    raise ValueError("bad " + how)
def chained():
    try:
        inner()
    except ValueError:
        raise RuntimeError("worse")
if how == "raises": inner()
if how == "chains": chained()
if how == "exits": sys.exit(7)
if how == "says": sys.exit("some words")
if how == "interrupted": raise KeyboardInterrupt
if how == "compiles": exec(compile("a b", "other.py", "exec"))
if how == "hooked": sys.excepthook = lambda kind, error, trace: print("my hook", kind.__name__, len(__import__("traceback").extract_tb(trace))); inner()
if how == "killed": os.kill(os.getpid(), 11)
if how == "thread": __import__("threading").Thread(target=lambda: (time.sleep(0.05), print("a thread's last words"))).start()
"""


class Preload(Case):
    def setUp(self):
        super().setUp()
        self.site = self.folder / "site-packages"
        self.work = self.folder / "work"
        (self.site / "heavy").mkdir(parents=True)
        self.work.mkdir()
        self.heavy(HEAVY)
        self.log = self.folder / "heavy.log"
        self.environment.update(HEAVY_LOG=str(self.log), PYTHONPATH=f"{self.site}:{ROOT / 'python'}")
        self.environment.pop("PYTHONUNBUFFERED", None)  # what is buffered must come in the same order too

    def heavy(self, text):
        (self.site / "heavy/__init__.py").write_text(text)

    def script(self, text, hyper="x: {range: [0, 1]}", preload="auto", epochs=1, trials=4, extra="", search=None):
        (self.work / "train.py").write_text(text)
        # All cores, so that one trial runs at a time.
        return self.spec(f"kind: tune\nname: preload\nprogram: {{command: [{sys.executable}, -B, train.py, --flag, 'a b'], folder: {self.work}, "
                         f"preload: {preload}}}\nsearch: {search or f'{{algorithm: random, trials: {trials}, max_epochs: {epochs}, seed: 3}}'}\n"
                         f"hyper:\n  {hyper}\nsystem: {{cores: {os.cpu_count()}}}\nlimits: {{retries: 0}}\n{extra}")

    def tune(self, spec, **options):
        return self.json("tune", spec, "--mode", "hyper", "--quiet", **options)

    def imports(self):
        return len(self.log.read_text().split()) if self.log.exists() else 0

    def run_folder(self, result):
        return next(self.store.glob(f"**/{result['run']}"))

    def nothing_left(self):
        mine = str(self.folder).encode()
        left = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and int(entry.name) != os.getpid() and mine in (entry / "environ").read_bytes():
                    left.append((entry / "cmdline").read_bytes())
            except OSError:
                pass
        self.assertEqual(left, [])

    def test_later_trials_import_nothing(self):
        result = self.tune(self.script(PLAIN, trials=6))
        self.assertEqual(result["state"], "finished")
        self.assertEqual([trial["preloaded"] for trial in result["trials"]], [0, 1, 1, 1, 1, 1])
        self.assertEqual(self.imports(), 2, "the first trial's and the template's")
        off = self.tune(self.script(PLAIN, trials=6, preload="off"))
        self.assertEqual([trial["preloaded"] for trial in off["trials"]], [0] * 6)
        self.assertEqual(self.imports(), 8)
        both = [[(trial["hyper"], [epoch["metrics"] for epoch in trial["history"]]) for trial in one["trials"]] for one in (result, off)]
        self.assertEqual(*both)
        self.nothing_left()

    def test_a_preloaded_trial_finds_what_a_cold_one_does(self):
        facts, drawn = [], set()
        for preload in ("off", "auto", "[heavy]"):
            result = self.tune(self.script(FACTS, preload=preload, hyper="x: 0.5\n  y: {choice: [1, 2, 3]}", search="{algorithm: grid, max_epochs: 1}"))
            self.assertEqual(result["state"], "finished")
            self.assertEqual([trial["preloaded"] for trial in result["trials"]], [0, 0, 0] if preload == "off" else [0, 1, 1])
            folder = self.run_folder(result)
            per_trial = [json.loads((folder / f"task-{i}/facts.json").read_text()) for i in range(3)]
            for each in per_trial:
                each["environment"].pop("TANDEM_PRELOAD", None)  # the first is asked what it imports
            facts.append(per_trial)
            drawn |= {(folder / f"task-{i}/random").read_text() for i in range(3)}
        self.maxDiff = None
        for preloaded in facts[1:]:
            for cold, warm in zip(facts[0], preloaded):
                for name in cold:
                    self.assertEqual(cold[name], warm[name], name)
        self.assertEqual(len(drawn), 9, "each has random numbers of its own")

    def test_they_end_as_cold_ones_do(self):
        hows = ["well", "raises", "chains", "exits", "says", "interrupted", "compiles", "hooked", "killed", "thread"]
        outputs = []
        for preload in ("off", "auto"):
            result = self.tune(self.script(ENDINGS, preload=preload, hyper=f"how: {{choice: {json.dumps(hows)}}}",
                                           search="{algorithm: grid, max_epochs: 2}"), code=None)
            self.assertEqual([trial["preloaded"] for trial in result["trials"]], [0] * 10 if preload == "off" else [0] + [1] * 9)
            log = "".join(path.read_text() for path in sorted(self.run_folder(result).glob("**/output.log")))
            outputs.append((log.replace(result["run"], "RUN"), [(trial["hyper"], trial["state"], trial.get("reason")) for trial in result["trials"]]))
        self.maxDiff = None
        self.assertEqual(outputs[0][0], outputs[1][0])
        self.assertEqual(outputs[0][1], outputs[1][1])
        self.assertIn("ValueError: bad raises", outputs[1][0])

    def test_what_cannot_be_forked_starts_cold(self):
        for why, line in {"starts 1 thread": "import threading\nthreading.Thread(target=lambda: __import__('time').sleep(1000), daemon=True).start()",
                          "open file": "left = open(__file__)", "prints": "print('hello')", "handles signals": "import signal\nsignal.signal(signal.SIGTERM, print)",
                          "does something at exit": "import atexit\natexit.register(print, end='')", "random numbers": "import random\nrandom.seed(1)",
                          "starts a process": "import subprocess\nleft = subprocess.Popen(['sleep', '1000'])",
                          "sets up logging": "import logging\nlogging.basicConfig()"}.items():
            with self.subTest(why):
                self.heavy(HEAVY + line + "\n")
                result = self.tune(self.script(PLAIN, trials=3))
                self.assertEqual(([trial["preloaded"] for trial in result["trials"]], result["state"]), ([0, 0, 0], "finished"))
                self.assertRegex(self.tandem("logs", result["run"]).stdout, f"not preloaded: .*{why}")
                self.nothing_left()

    def test_a_script_that_sets_what_an_import_may_read_starts_cold(self):
        script = PLAIN.replace("import heavy\n", "import os\nos.environ['HEAVY_MODE'] = 'other'\nimport heavy\n")
        result = self.tune(self.script(script, trials=3))
        self.assertEqual([trial["preloaded"] for trial in result["trials"]], [0, 0, 0])
        self.assertRegex(self.tandem("logs", result["run"]).stdout, "not preloaded: .*sets HEAVY_MODE")

    def test_a_changed_file_ends_its_template(self):
        change = PLAIN + "\n    if t.hyper['x'] == 2: os.utime(heavy.__file__, ns=(1, 1))\n"
        result = self.tune(self.script(change, hyper="x: {choice: [1, 2, 3, 4]}", search="{algorithm: grid, max_epochs: 1}"))
        order = [(trial["hyper"]["x"], trial["preloaded"]) for trial in result["trials"]]
        at = [x for x, _ in order].index(2)
        if at == 0:  # it changed it before there was one
            at = -1
        else:
            self.assertEqual(order[at][1], 1)
            self.assertEqual([one for _, one in order[at + 1:at + 2]], [0] * len(order[at + 1:at + 2]))
        self.assertEqual(result["state"], "finished")

    def test_kills(self):
        """kill -9 of template, trial and Tandem: each trial has each of its epochs once, and nothing is left."""
        chance = random.Random(7)
        slow = BEGIN + """
with tandem.trial() as t:
    for epoch in t.remaining():
        time.sleep(0.01)
        t.report(accuracy=t.hyper["x"] * epoch)
"""
        spec = self.script(slow, trials=3 * ROUNDS, epochs=2).read_text().replace("retries: 0", "retries: 1000, lost: 1000").replace(f"cores: {os.cpu_count()}", "cores: 1")
        spec = self.spec(spec)
        process = self.start("tune", spec, "--mode", "hyper", "--quiet")
        hit = {"template": 0, "trial": 0, "tandem": 0}
        for _ in range(ROUNDS):
            time.sleep(chance.uniform(0.01, 0.3))
            if process.poll() is not None:
                break
            below = processes_below(process.pid)
            templates = [pid for pid in below if b"_preload.py" in self.command(pid) and os.path.exists(f"/proc/{pid}") and self.parent(pid) == process.pid]
            wanted = chance.choice(["template", "trial", "tandem"])
            found = {"template": templates, "trial": [pid for pid in below if pid not in templates and b".py" in self.command(pid)], "tandem": [process.pid]}[wanted]
            if not found:
                continue
            try:
                os.kill(chance.choice(found), signal.SIGKILL)
            except ProcessLookupError:
                continue
            hit[wanted] += 1
            if wanted == "tandem":
                process.communicate()
                run = self.runs()[0]["id"]
                process = self.start("resume", run, "--quiet")
        process.communicate(timeout=300)
        run = self.runs()[0]["id"]
        self.tandem("resume", run, "--quiet", code=None)
        result = self.json("show", run)
        self.assertEqual(result["state"], "finished", hit)
        self.assertEqual(len(result["trials"]), 3 * ROUNDS)
        for trial in result["trials"]:
            self.assertEqual([epoch["epoch"] for epoch in trial["history"]], [1, 2], trial)
        self.assertGreater(sum(trial["preloaded"] for trial in result["trials"]), 0)
        self.nothing_left()

    @staticmethod
    def command(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return b""

    @staticmethod
    def parent(pid):
        try:
            return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return -1
