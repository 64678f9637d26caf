"""Kill anywhere: tandem, its worker, or both are killed -9 at seeded random moments, several times a run and while it is resumed;
every run comes to its end, nothing a program was told is on disk is missing or counted twice, and metrics and weights are
those of a run nobody killed (e2e/storm.py; bench/run storm kills 1 000 times, tune and serve too).

TANDEM_KILLS=N,M sets how many kills have to hit: N of runs of a small program, M of the trainer (default 34,6)."""

import os
import time

from e2e.storm import MUTANTS, RunStorm, Small, Tally, Trainer, WithoutCheckpoints, check_acknowledged, kill

SMALL, TRAINER = map(int, os.environ.get("TANDEM_KILLS", "34,6").split(","))


class KillAnywhere(RunStorm):
    def storm(self, work, kills, seed):
        tally = self.storm_runs(work, kills, seed)
        print(f"\n{tally.line()}")
        self.assertEqual(tally.faults, [])
        if kills >= 20:  # of fewer all may come too early or too late, on a machine with other work
            self.assertGreater(tally.resumed, kills // 5, "most kills hit nothing: the test is too lame")
            self.assertGreater(tally.in_resumes, 0, "no resume was killed")

    def test_small_program(self):
        self.storm(Small(), SMALL - max(SMALL // 6, 4), seed=1)

    def test_program_without_checkpoints_starts_over(self):
        self.storm(WithoutCheckpoints(), max(SMALL // 6, 4), seed=2)

    def test_trainer(self):
        self.storm(Trainer(), TRAINER, seed=3)


class TheChecks(RunStorm):
    """They would see a Tandem that forgets."""

    def test_a_store_that_loses_the_last_acknowledged_epoch_is_found_out(self):
        tally, work = Tally("train"), Small()
        spec = work.spec(self)
        whole = work.result(self.json("train", spec))
        self.known = {run["id"] for run in self.runs()}
        process = self.start("train", spec, "--quiet")
        while not any("acknowledged 3" in record.read_text() for record in self.store.glob("runs/*/task-0/record")
                      if record.parts[-3] not in self.known):
            time.sleep(0.005)
        kill([process.pid])
        process.communicate()
        run = self.fresh_run()
        MUTANTS["lose-last"](self, run)
        self.judge_run(work, run, tally, "the mutant", whole)
        self.assertTrue(any("is not in the journal" in fault for fault in tally.faults), tally.line())
        self.assertTrue(any("was acknowledged in attempts" in fault for fault in tally.faults), tally.line())

    def judged(self, record, journal, checkpoints=True):
        (self.folder / "task-0").mkdir(exist_ok=True)
        (self.folder / "task-0/record").write_text(record)
        tally = Tally("test")
        events = [{"event": {"is": "EpochEnded", "task": 0, "attempt": a, "epoch": e}} for a, e in journal]
        check_acknowledged(tally, "here", self.folder, events, checkpoints)
        return tally

    def test_what_is_a_fault(self):
        good = self.judged("did 1 1\nacknowledged 1 1\ndid 2 1\ndid 2 2\nacknowledged 2 2\n", [(1, 1), (2, 2)])
        self.assertEqual((good.faults, good.acknowledged, good.effects, good.doubles), ([], 2, 3, 1))
        self.assertIn("not in the journal", self.judged("acknowledged 1 1\n", []).faults[0])
        self.assertIn("2 times in the journal", self.judged("acknowledged 1 1\n", [(1, 1), (1, 1)]).faults[0])
        again = self.judged("did 1 1\nacknowledged 1 1\ndid 1 2\nacknowledged 1 2\n", [(1, 1), (2, 1)])
        self.assertEqual(len(again.faults), 2, again.faults)
        starts_over = self.judged("did 1 1\nacknowledged 1 1\ndid 1 2\nacknowledged 1 2\n", [(1, 1), (2, 1)], checkpoints=False)
        self.assertEqual((starts_over.faults, starts_over.doubles), ([], 1))
