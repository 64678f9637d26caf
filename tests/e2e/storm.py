"""Storms of kills, for tests (test_kill, test_serve_kill) and for bench/run storm: Tandem, its workers or both are killed -9 at
seeded random moments, several times a run and during resumes, and what came of it is held against what the programs
themselves wrote down (`speaker --record`, tests/programs/recorder.py): every epoch whose report was acknowledged.

- No acknowledged epoch is missing from the journal, none is there twice, and none is asked for again of a program with
  checkpoints. Every result has each epoch once, with the metrics (and weights) of a run nobody killed.
- Side effects of epochs are counted. A kill between one and its checkpoint makes the next attempt do it again: such doubles are
  no fault, but a number that is told.

A Tally says what was seen; its faults are the verdict."""

import collections
import dataclasses
import functools
import http.client
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

from e2e.harness import BIN, ROOT, SPEAKER, TANDEM, Case, processes_below
from e2e.serving import ServerCase

VICTIMS = ("tandem", "worker", "both")
MOST_A_RUN = 6


@functools.cache
def patient():
    """A storm kills more often than anything a job should survive by default; `lost` as far as this Tandem has it."""
    schema = subprocess.run([TANDEM, "schema"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return "limits: {retries: 1000" + (", lost: 0" if '"lost"' in schema else "") + "}\n"


@dataclasses.dataclass
class Tally:
    what: str
    hits: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    runs: int = 0
    resumed: int = 0  # attempts to go on that were made after a kill
    in_resumes: int = 0  # kills of these
    acknowledged: int = 0
    effects: int = 0
    doubles: int = 0
    faults: list = dataclasses.field(default_factory=list)

    @property
    def kills(self):
        return sum(self.hits.values())

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")

    def line(self):
        hits = ", ".join(f"{victim} {self.hits[victim]}" for victim in self.hits)
        return (f"{self.what}, {self.kills} kills -9 ({hits}; {self.in_resumes} during resumes), {self.runs} runs, {self.resumed} resumes: "
                f"{self.acknowledged} epochs acknowledged, {self.effects} side effects, {self.doubles} of them done again, {len(self.faults)} faults")


def descendants(pid):
    below = processes_below(pid)
    return below + [further for child in below for further in descendants(child)]


def kill(pids):
    """Those that were there."""
    found = []
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            found.append(pid)
        except ProcessLookupError:
            pass
    return found


def records(folder):
    """What the programs of a run wrote down: (task, attempt, epoch) of each line, by the line's word."""
    found = collections.defaultdict(list)
    for file in pathlib.Path(folder).glob("task-*/record"):
        task = int(file.parent.name.removeprefix("task-"))
        for line in file.read_text().splitlines():
            word, epoch, attempt = line.split()
            found[word].append((task, int(attempt), int(epoch)))
    return found


def reported(journal):
    """How often each (task, attempt, epoch) is in the entries of a journal."""
    events = (entry["event"] for entry in journal)
    return collections.Counter((e["task"], e["attempt"], e["epoch"]) for e in events if e["is"] == "EpochEnded")


def check_acknowledged(tally, where, folder, journal, checkpoints=True):
    """Holds the programs' records against the journal."""
    wrote, there = records(folder), reported(journal)
    tally.acknowledged += len(wrote["acknowledged"])
    tally.effects += len(wrote["did"])
    effects = collections.Counter((task, epoch) for task, _, epoch in wrote["did"])
    tally.doubles += sum(effects.values()) - len(effects)
    for task, attempt, epoch in wrote["acknowledged"]:
        if not there[task, attempt, epoch]:
            tally.fault(where, f"epoch {epoch} of task {task} was acknowledged in attempt {attempt}, and is not in the journal")
    for (task, attempt, epoch), count in there.items():
        if count > 1:
            tally.fault(where, f"epoch {epoch} of task {task}, attempt {attempt}, is {count} times in the journal")
    if not checkpoints:
        return
    first = {}
    for task, attempt, epoch in wrote["acknowledged"]:
        if first.setdefault((task, epoch), attempt) != attempt:
            tally.fault(where, f"epoch {epoch} of task {task} was acknowledged in attempts {first[task, epoch]} and {attempt}")
    for task, attempt, epoch in wrote["did"]:
        if first.get((task, epoch), attempt) < attempt:
            tally.fault(where, f"epoch {epoch} of task {task} was acknowledged in attempt {first[task, epoch]}, and done again in {attempt}")


def lose_last(case, run):
    """A mutant of the store: it forgets the last epoch that was acknowledged, and what came after."""
    entries = case.tandem("show", run, "--journal").stdout.splitlines()
    last = [i for i, line in enumerate(entries) if json.loads(line)["event"]["is"] == "EpochEnded"]
    if not last:
        return
    with sqlite3.connect(next(case.store.glob("*.db"))) as store:
        number = store.execute("SELECT number FROM run WHERE id = ?", (run,)).fetchone()[0]
        rows = [row for row, in store.execute("SELECT number FROM journal WHERE run = ? ORDER BY number", (number,))]
        store.execute("DELETE FROM journal WHERE run = ? AND number >= ?", (number, rows[last[-1]]))
        store.execute("UPDATE run SET state = 'running' WHERE number = ?", (number,))
    store.close()


MUTANTS = {"lose-last": lose_last}


class Work:
    """What a run does, and how its result is held against that of a run nobody killed."""
    command, checkpoints = "train", True

    def result(self, result):
        """What must be the same."""
        return [(e["epoch"], e["metrics"]) for e in result["epochs"]]


class Small(Work):
    """A small program that speaks the protocol."""
    what = "train"

    def spec(self, case):
        return case.speaker_spec("--record", "--sleep-ms", 10, epochs=8, extra=patient())

    def result(self, result):
        return super().result(result), pathlib.Path(result["folder"], "task-0/result").read_text()


class WithoutCheckpoints(Work):
    """The same, which starts over in every attempt."""
    what, checkpoints = "train without checkpoints", False

    def spec(self, case):
        return case.speaker_spec("--record", "--sleep-ms", 20, "--no-checkpoints", epochs=4, extra=patient())


class Trainer(Work):
    """The built-in trainer, with its weights."""
    what = "trainer"

    def spec(self, case):
        command = [sys.executable, ROOT / "tests/programs/recorder.py", BIN / "tandem-trainer", "train", "--model", "mlp", "--dataset", "digits"]
        return case.spec(f"kind: train\nname: mlp\nprogram: {{command: {json.dumps([str(word) for word in command])}}}\n"
                         f"hyper: {{epochs: 4, batch_size: 128, dropout: 0.2}}\nsystem: {{cores: 1}}\n{patient()}")

    def result(self, result):
        timing = ("seconds", "per_second")
        metrics = [(e["epoch"], {k: v for k, v in e["metrics"].items() if not any(word in k for word in timing)}) for e in result["epochs"]]
        return metrics, json.loads(pathlib.Path(result["folder"], "task-0/model.json").read_text())["weights_digest"]


class Tuning(Work):
    """Many trials, some at once."""
    what, command = "tune", "tune"

    def spec(self, case):
        command = json.dumps([SPEAKER, "--record", "--sleep-ms", "8"])
        return case.spec(f"kind: tune\nname: speaker\nprogram: {{command: {command}}}\nsearch: {{algorithm: hyperband, max_epochs: 9}}\n"
                         f"hyper:\n  x: {{range: [0, 1]}}\n{patient()}")

    def result(self, result):
        return [(trial["hyper"], [(e["epoch"], e["metrics"]) for e in trial["history"]]) for trial in result["trials"]]


class RunStorm(Case):
    """Kills of `tandem train`, `tandem tune` and what resumes them."""

    def storm_runs(self, work, kills, seed, mutant=None):
        """Kills runs of the work until so many kills have hit something; returns the Tally."""
        # Under AddressSanitizer the leak check at exit is a child process too; killed, it would never end.
        self.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        self.mutant = MUTANTS[mutant] if mutant else None
        tally = Tally(work.what)
        spec = work.spec(self)
        began = time.monotonic()
        whole = self.json(work.command, spec, "--quiet")
        length = time.monotonic() - began
        self.known = {run["id"] for run in self.runs()}
        self.check_epochs(tally, "the run nobody killed", work.result(whole))
        for i in range(100 + 4 * kills):  # a kill that comes when all is over is none
            if tally.kills >= kills:
                break
            chance = random.Random(f"{seed} {work.what} {i}")
            run = self.kill_often(work, spec, tally, chance, min(chance.randint(1, MOST_A_RUN), kills - tally.kills), length)
            if run is not None:  # else killed before it had said that there is a run: nothing was promised
                self.judge_run(work, run, tally, f"{work.what}, seed {seed}, run {i}", work.result(whole))
        else:
            tally.fault(work.what, "most kills hit nothing: the storm is too lame")
        if not tally.acknowledged:
            tally.fault(work.what, "no program wrote down anything that the journal could be held against")
        return tally

    def check_epochs(self, tally, where, result):
        for epochs in _lists_of_epochs(result):
            if epochs != list(range(1, len(epochs) + 1)):
                tally.fault(where, f"epochs {epochs}, and not each once")

    def kill_often(self, work, spec, tally, chance, wanted, length):
        """One run, killed up to `wanted` times; its id, or None."""
        run = process = None
        resumes = False
        for _ in range(wanted):
            if process is None:
                resumes = run is not None
                process = self.start("resume", run, "--quiet") if resumes else self.start(work.command, spec, "--quiet")
                tally.resumed += resumes
            time.sleep(chance.uniform(0, length))
            victim = chance.choice(VICTIMS)
            pids = (descendants(process.pid) if victim != "tandem" else []) + ([process.pid] if victim != "worker" else [])
            over = process.poll() is not None
            hit = [] if over else kill(pids)
            if hit:
                tally.hits[victim] += 1
                tally.in_resumes += resumes
            if over or (hit and victim != "worker"):
                process.communicate()
                process = None
                run = run or self.fresh_run()
                if run and self.mutant:
                    self.mutant(self, run)
            if over:
                break
        if process is not None:
            process.communicate(timeout=300)
        return run or self.fresh_run()

    def fresh_run(self):
        fresh = [run["id"] for run in self.runs() if run["id"] not in self.known]
        self.assertLessEqual(len(fresh), 1)
        return fresh[0] if fresh else None

    def judge_run(self, work, run, tally, where, expected):
        result = self.json("resume", run, "--quiet", code=None)
        tally.runs += 1
        if result["state"] != "finished":
            tally.fault(where, f"it is {result['state']}: {result.get('reason')}")
        else:
            got = work.result(result)
            self.check_epochs(tally, where, got)
            if got != expected:
                tally.fault(where, f"its result is not that of a run nobody killed: {got}, not {expected}")
        journal = [json.loads(line) for line in self.tandem("show", run, "--journal").stdout.splitlines()]
        check_acknowledged(tally, where, self.store / "runs" / run, journal, work.checkpoints)
        if "every decision the same" not in (said := self.tandem("show", run, "--verify", code=None)).stdout:
            tally.fault(where, f"replayed it decides otherwise: {said.stdout}{said.stderr}")
        self.tandem("rm", run, "--yes")


def _lists_of_epochs(result):
    """The lists of epoch numbers in what Work.result gave: one a task."""
    if isinstance(result, (list, tuple)):
        if result and all(isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], int) for each in result):
            yield [each[0] for each in result]
        else:
            for each in result:
                yield from _lists_of_epochs(each)


# One attempt at a time: who finds the lock taken says so. The lock goes with the process that holds it.
SCRIPT = ("exec 9> lock-{0}; flock -n 9 || {{ echo {0} >> overlaps; exit 1; }}; "
          "echo {0} >> starts; sleep 0.{1}; echo {0} >> ends")


class ServerStorm(ServerCase):
    """Kills of `tandem serve` and its workers while jobs come and run: every second job is plain, the others speak."""
    world = ()
    # Who is killed, as often as it is there; on Slurm the workers are not the server's children.
    victims = ("tandem", "tandem", "tandem", "worker", "both")
    speaking = True

    def submit_named(self, name, text):
        """Submits until the server is known to have it: a kill may come before the answer, but after the journal."""
        while True:
            try:
                status, answer = self.ask("POST", "/v1/jobs", {"spec": text.replace("name: plain", f"name: {name}"), "folder": str(self.folder)})
                self.assertEqual(status, 201, answer)
                return
            except (OSError, http.client.HTTPException):
                self.restart()
                status, answer = self.ask("GET", f"/v1/jobs/{name}")
                if status == 200:
                    return

    def restart(self):
        if self.server.poll() is None:
            return
        self.server.wait()
        self.tally.resumed += 1
        self.server = self.serve(*self.world, "--no-port")

    def kill_one(self, chance):
        """The server, its workers or both; some of its restarts too, before they answer."""
        victim = chance.choice(self.victims)
        pids = (descendants(self.server.pid) if victim != "tandem" else []) + ([self.server.pid] if victim != "worker" else [])
        self.tally.hits[victim] += bool(kill(pids))
        if victim == "worker":
            return
        self.server.wait()
        if chance.random() < 0.25:
            process = subprocess.Popen([TANDEM, "serve", *map(str, self.world), "--no-port"], env=self.environment, cwd=ROOT,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.15))
            self.tally.hits["tandem"] += bool(kill([process.pid]))
            self.tally.in_resumes += 1
            process.wait()

    def text_of(self, number, chance):
        if self.speaking and number % 2:
            command = json.dumps([SPEAKER, "--record", "--sleep-ms", str(chance.randint(10, 60))])
            return (f"kind: train\nname: plain\nprogram: {{command: {command}}}\nhyper: {{epochs: 6}}\n"
                    f"system: {{cores: 1, memory: 64MiB}}\n{patient()}")
        return self.plain("sh", "-c", SCRIPT.format(number, chance.randint(1, 9)), extra=patient())

    def storm(self, kills, jobs, seconds_a_job, seed=20261115):
        """At least so many kills while so many jobs come; returns the Tally."""
        self.tally = Tally("serve")
        length = jobs * seconds_a_job
        chance = random.Random(seed)
        names = [f"job-{i}" for i in range(jobs)]
        self.server = self.serve(*self.world, "--no-port")
        moments = sorted(chance.uniform(0, length) for _ in range(kills))
        began, submitted = time.monotonic(), 0
        while True:
            now = time.monotonic() - began
            if moments and now >= moments[0] and self.tally.kills < kills:
                moments.pop(0)
                self.kill_one(chance)
            self.restart()
            while submitted < len(names) and submitted <= now / length * len(names):
                self.submit_named(names[submitted], self.text_of(submitted, chance))
                submitted += 1
            done = not moments or self.tally.kills >= kills
            if submitted == len(names) and done and self.open_jobs() == 0:
                break
            if now > 60 + 20 * length:
                self.tally.fault("serve", "jobs do not come to their end")
                break
            time.sleep(0.02)
        self.judge(names)
        return self.tally

    def open_jobs(self):
        status, answer = self.ask("GET", "/v1/jobs?state=open")
        self.assertEqual(status, 200)
        return len(answer["jobs"])

    def judge(self, names):
        tally = self.tally
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        tally.runs += 1
        finishes, submitted, self.attempts = collections.Counter(), [], collections.Counter()
        journal = self.journal(run)
        for entry in journal:
            if entry["event"]["is"] == "JobSubmitted":
                submitted.append(entry["event"]["spec"]["name"])
            for decision in entry["decisions"]:
                if decision["is"] == "FinishJob":
                    finishes[decision["job"]] += 1
                    if decision["state"] != "finished":
                        tally.fault("serve", f"{decision}")
                if decision["is"] == "Start":
                    self.attempts[decision["task"]] += 1
        if sorted(submitted) != sorted(names):
            tally.fault("serve", f"a job was lost, or is there twice: {sorted(submitted)}")
        if finishes != {job: 1 for job in range(len(names))}:
            tally.fault("serve", f"not every job ended once: {finishes}")
        if (self.folder / "overlaps").exists():
            tally.fault("serve", "two attempts of a job ran together")
        plain = [str(i) for i in range(len(names)) if not self.speaking or i % 2 == 0]
        ended = collections.Counter((self.folder / "ends").read_text().split())
        if set(ended) != set(plain):
            tally.fault("serve", f"the ends written are {sorted(ended)}")
        tally.effects += sum(ended.values())
        tally.doubles += sum(ended.values()) - len(ended)
        check_acknowledged(tally, "serve", self.store / "runs" / run, journal)
        if self.speaking and not tally.acknowledged:
            tally.fault("serve", "no program wrote down anything that the journal could be held against")
        self.check_results(names)
        if "every decision the same" not in self.tandem("show", run, "--verify").stdout:
            tally.fault("serve", "replayed it decides otherwise")

    def check_results(self, names):
        """Each job that speaks has each of its epochs once."""
        for i in range(1, len(names), 2) if self.speaking else ():
            status, result = self.ask("GET", f"/v1/jobs/{names[i]}/result")
            epochs = [epoch["epoch"] for epoch in result["epochs"]] if status == 200 else result
            if epochs != list(range(1, 7)):
                self.tally.fault("serve", f"{names[i]} has the epochs {epochs}")
