"""GPUs of a server's jobs, over the real binary and a recording of H200s (libfake_nvml.so): who has which, who waits and why, what is
set and put back when jobs end, are cancelled or killed, and when the server is."""

import json
import os
import signal
import sys
import unittest

from e2e.fake_gpu import FakeGpus
from e2e.harness import ROOT
from e2e.serving import ServerCase
from e2e.test_serve_kill import ServerKill

PROGRAM = str(ROOT / "tests/programs/fake_gpu_training.py")
# Who finds its GPU taken says so: the lock goes with the process that holds it. Then it waits to be let go.
SCRIPT = ('echo "sees [$CUDA_VISIBLE_DEVICES] of $TANDEM_GPUS"; exec 9> "lock-$CUDA_VISIBLE_DEVICES"; '
          'flock -n 9 || { echo $0 >> overlaps; exit 1; }; echo $0 >> starts; until [ -e go-$0 ]; do sleep 0.02; done')

# One node has a GPU, one has none.
SPLIT = """\
kind: cluster
name: split
devices:
  core: {kind: cpu, cores: 2, clock: 2GHz, memory: 128MiB}
  card: {kind: gpu, cores: 100, clock: 1GHz, memory: 1GiB, flops_a_cycle: 2}
node_types: {with: {devices: {core: 1, card: 1}}, without: {devices: {core: 1}}}
nodes: {without: 1, with: 1}
network: {kind: star, bandwidth: 1Gb/s, latency: 50us}
"""


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two jobs at once need two cores")
class ServeGpus(ServerCase):
    FORMER = [650, 500]

    def setUp(self):
        super().setUp()
        self.gpus = FakeGpus(self.folder / "gpus", count=2)
        self.addCleanup(self.gpus.close)
        self.environment.update(self.gpus.environment)
        for gpu, watts in enumerate(self.FORMER):
            self.gpus.set_limit(gpu, watts)

    def waiting_job(self, name, system="gpus: 1", extra=""):
        """It runs until it is let go."""
        words = json.dumps(["sh", "-c", SCRIPT, name])
        return self.submit(f"kind: train\nname: {name}\nprogram: {{command: {words}, plain: true}}\n"
                           f"system: {{cores: 1, memory: 16MiB, {system}}}\n{extra}\n")

    def let_go(self, *names):
        for name in names:
            (self.folder / f"go-{name}").touch()

    def limits(self):
        return [self.gpus.limit(0), self.gpus.limit(1)]

    def state(self, job):
        return self.job(job)["state"]

    def until_running(self, *jobs):
        """Not only started: the program itself has said so."""
        self.until(lambda: all(self.state(job) == "running" and "sees" in self.tandem("output", job).stdout for job in jobs))

    def two_running(self, jobs):
        """Whichever: those that were lost stand behind one that waited."""
        now = [self.job(job) for job in jobs]
        running = [job for job in now if job["state"] == "running" and "sees" in self.tandem("output", job["job"]).stdout]
        self.assertLessEqual(len(running), 2, "there are two GPUs")
        return running if len(running) == 2 else None

    def training(self, system, more, products=20, kind="train"):
        command = json.dumps([sys.executable, PROGRAM, "--products", str(products)])
        return (f"kind: {kind}\nname: training\nprogram: {{command: {command}}}\nsystem: {system}\nenergy: {{source: auto}}\n{more}\n")

    def no_overlap(self):
        self.assertFalse((self.folder / "overlaps").exists(), "two programs had the same GPU")

    def test_each_job_has_a_gpu_of_its_own_and_the_third_waits_for_one(self):
        self.serve("--no-port")
        first, second, third = (self.waiting_job(name) for name in ("a", "b", "c"))
        self.until_running(first, second)
        self.assertEqual(sorted(self.job(job)["gpus"][0] for job in (first, second)), [0, 1])
        self.assertEqual(self.state(third), "queued")
        self.assertIn("1 GPU asked for, 0 of 2 free", self.tandem("explain", third).stdout)
        self.assertIn(", GPU 1", self.tandem("queue").stdout)
        self.assertIn("0 of 2", self.tandem("nodes").stdout)
        self.let_go("a")
        self.assertEqual(self.until_over(first)["state"], "finished")
        self.until_running(third)
        self.assertEqual(self.job(third)["gpus"], self.job(first)["tasks"][0]["gpus"], "what was free again")
        self.assertEqual(self.job(first)["gpus"], [], "it has none any more")
        self.let_go("b", "c")
        for job in (second, third):
            self.assertEqual(self.until_over(job)["state"], "finished")
        for job in (first, second, third):
            self.assertIn("sees [GPU-", self.tandem("output", job).stdout)
        self.no_overlap()

    def test_who_asks_for_none_sees_none_and_is_told(self):
        self.serve("--no-port")
        words = json.dumps(["sh", "-c", 'echo "sees [$CUDA_VISIBLE_DEVICES]"'])
        spec = self.spec(f"kind: train\nprogram: {{command: {words}, plain: true}}\nsystem: {{cores: 1, memory: 16MiB}}\n")
        done = self.tandem("submit", spec, "--wait")
        self.assertIn("sees none of the 2 GPUs here", done.stderr)
        self.assertIn("sees []", self.tandem("output", 0).stdout)

    def test_limits_are_set_and_put_back_when_jobs_end_are_cancelled_or_killed(self):
        self.serve("--no-port")
        trains = self.submit(self.training("{cores: 1, gpus: 1, gpu_power: 300W}", "hyper: {epochs: 2}"))
        done = self.until_over(trains)
        self.assertEqual([epoch["metrics"]["limit"] for epoch in done["tasks"][0]["epochs"]], [300, 300], done)
        self.assertIn("nvml recording", json.dumps(done["energy"]))
        self.assertEqual(self.limits(), self.FORMER)

        cancelled = self.waiting_job("cancelled", "gpus: 2, gpu_power: 250W, gpu_clock: 990MHz")
        self.until_running(cancelled)
        self.assertEqual(self.limits(), [250, 250])
        self.assertEqual([self.gpus.locked(0), self.gpus.locked(1)], [990, 990])
        self.tandem("cancel", cancelled)
        self.until_over(cancelled)
        self.assertEqual(self.limits(), self.FORMER)
        self.assertEqual([self.gpus.locked(0), self.gpus.locked(1)], [0, 0])

        killed = self.waiting_job("killed", "gpus: 2, gpu_power: 250W")
        self.until_running(killed)
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        pid = [entry["event"]["pid"] for entry in self.journal(run) if entry["event"]["is"] == "TaskStarted"][-1]
        following = self.waiting_job("following", "gpus: 2")
        os.kill(pid, signal.SIGKILL)
        self.until_running(following)
        self.assertEqual(self.limits(), self.FORMER, "what the killed one had set is not the next one's")
        self.let_go("killed", "following")
        for job in (killed, following):
            self.assertEqual(self.until_over(job)["state"], "finished", "killed, it is tried once more")
        self.assertEqual(self.limits(), self.FORMER)
        self.no_overlap()

    def test_the_server_is_killed_while_jobs_hold_gpus(self):
        server = self.serve("--no-port")
        jobs = [self.waiting_job(name, "gpus: 1, gpu_power: 300W") for name in ("a", "b", "c")]
        self.until_running(*jobs[:2])
        self.assertEqual(self.limits(), [300, 300])
        for kill in (1, 2):
            server.kill()
            server.wait()
            self.until(lambda: self.limits() == self.FORMER)  # by the guardian, before anybody starts anything
            server = self.serve("--no-port")
            running = self.until(lambda: self.two_running(jobs))
            self.assertEqual(sorted(job["gpus"] for job in running), [[0], [1]])
            self.assertEqual(self.limits(), [300, 300])
            self.assertEqual(sum(self.job(job)["attempts"] for job in jobs), 2 * kill + 2, "who was lost runs again")
        self.let_go("a", "b", "c")
        for job in jobs:
            self.assertEqual(self.until_over(job)["state"], "finished")
        self.assertEqual(self.limits(), self.FORMER)
        self.no_overlap()
        server.terminate()
        server.wait()
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def test_what_cannot_be_had_is_refused_before_it_is_queued(self):
        self.serve("--no-port")
        for system, words in (("{gpus: 1, gpu_power: 100W}", "200 W to 700 W"), ("{gpus: 1, gpu_clock: 5GHz}", "1.98 GHz"),
                              ("{gpus: 1, gpu_memory: 10GB}", "hands out whole GPUs"), ("{gpus: 1, nodes: 2}", "several nodes get no GPUs"),
                              ("{gpus: 3}", "more than any node has")):
            with self.subTest(system):
                status, answer = self.ask("POST", "/v1/jobs", {"spec": self.training(system, "hyper: {epochs: 1}"), "folder": str(self.folder)})
                self.assertEqual(status, 400, answer)
                self.assertIn(words, json.dumps(answer))

    def test_what_may_not_be_set_is_said_at_submission(self):
        self.environment["FAKE_NVML_DENY"] = "1"
        self.serve("--no-port")
        done = self.tandem("submit", self.spec(self.training("{cores: 1, gpus: 1, gpu_power: 300W}", "hyper: {epochs: 1}")), "--wait")
        self.assertIn("stays as it is", done.stderr)
        self.assertEqual(self.job(0)["tasks"][0]["epochs"][0]["metrics"]["limit"], self.FORMER[0])

    def test_where_nothing_is_set_that_is_said_too(self):
        self.serve("--no-port", "--world", "sim", "--nodes", self.spec(SPLIT, "split.yaml"))
        status, job = self.ask("POST", "/v1/jobs", {"spec": self.training("{gpus: 1, gpu_power: 300W}", "hyper: {epochs: 1}")})
        self.assertEqual(status, 201, job)
        self.assertIn("not set in the world sim", " ".join(job["notes"]))

    def test_a_search_whose_held_trials_keep_all_gpus_goes_on(self):
        self.serve("--no-port", "--policy", "fifo")
        holds = self.waiting_job("a", "gpus: 2")
        self.until_running(holds)
        more = "hyper: {rate: {choice: [1, 2, 3, 4]}}\nsearch: {algorithm: hyperband, max_epochs: 4}\nobjective: {maximise: accuracy}"
        search = self.submit(self.training("{cores: 1, gpus: 2}", more, products=2, kind="tune"))
        self.assertEqual(self.state(search), "queued")
        self.let_go("a")
        done = self.until_over(search)
        self.assertEqual(done["state"], "finished", done["reason"])

    def test_a_trial_that_makes_room_goes_on_when_it_can(self):
        self.serve("--no-port", "--policy", "preempt-resume")
        more = "hyper: {rate: {choice: [1, 2]}}\nsearch: {algorithm: random, trials: 1, max_epochs: 4}\nobjective: {maximise: accuracy}"
        search = self.submit(self.training("{cores: 1, gpus: 2}", more, products=150, kind="tune"))
        self.until(lambda: self.job(search)["reported"] >= 1)
        urgent = self.waiting_job("a", "gpus: 1", "place: {priority: 5}")
        self.until_running(urgent)
        self.assertEqual(self.state(search), "queued")
        self.let_go("a")
        done = self.until_over(search)
        self.assertEqual((done["state"], done["attempts"]), ("finished", 2), done["reason"])
        self.assertEqual(done["tasks"][0]["epochs"][-1]["epoch"], 4)

    def test_a_search_tries_limits_within_its_trials(self):
        # The recording: 1 500 products take 1 700 J at 700 W, 1 644 J at 300 W, 2 037 J at 200 W.
        self.gpus.set_limit(0, 700)
        self.serve("--no-port")
        more = ("search: {algorithm: random, trials: 1, max_epochs: 6}\nobjective: {maximise: accuracy, minimise: energy}")
        search = self.submit(self.training("{cores: 1, gpus: 1, gpu_power: {choice: [200W, 300W, 700W]}}", more, products=120, kind="tune"))
        done = self.until_over(search)
        limits = [epoch["metrics"]["limit"] for epoch in done["tasks"][0]["epochs"]]
        self.assertEqual(limits[0], 700)
        self.assertEqual(sorted(set(limits)), [200, 300, 700])
        self.until(lambda: self.gpus.limit(0) == 700)  # a search is over before its last program has ended

    def test_nodes_of_a_split_machine_have_their_own(self):
        nodes = self.spec(SPLIT, "split.yaml")
        self.serve("--no-port", "--nodes", nodes)
        first, second = self.waiting_job("a"), self.waiting_job("b")
        self.until_running(first)
        self.assertEqual((self.job(first)["node"], self.job(first)["gpus"]), ("with", [0]))
        self.assertEqual(self.state(second), "queued", "the machine's other GPU belongs to no node")
        self.assertIn("1 GPU asked for, 0 of 1 free", self.tandem("explain", second).stdout)
        self.let_go("a", "b")
        self.assertEqual(self.until_over(second)["state"], "finished")
        self.no_overlap()


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two jobs at once need two cores")
class KilledWithGpus(ServerKill):
    """The server is killed at seeded moments, also while it sets limits and starts programs."""

    def setUp(self):
        super().setUp()
        self.gpus = FakeGpus(self.folder / "gpus", count=2)
        self.addCleanup(self.gpus.close)
        self.environment.update(self.gpus.environment)

    def plain(self, *command, **options):
        own_gpu = 'exec 8> "lock-$CUDA_VISIBLE_DEVICES"; flock -n 8 || echo $CUDA_VISIBLE_DEVICES >> overlaps; '
        text = super().plain(*command[:2], own_gpu + command[2], **options)
        return text.replace("memory: 64MiB", "memory: 16MiB, gpus: 1, gpu_power: 300W")

    def test_every_job_ends_once_no_gpu_has_two_and_limits_are_back(self):
        self.world = ("--world", "local")
        self.storm(8, 16, seconds_a_job=0.3)
        self.assertEqual(set(path.name for path in self.folder.glob("lock-GPU*")), {"lock-GPU-00000000-recorded-0", "lock-GPU-00000000-recorded-1"})
        self.until(lambda: [self.gpus.limit(0), self.gpus.limit(1)] == [700, 700])


if __name__ == "__main__":
    unittest.main()
