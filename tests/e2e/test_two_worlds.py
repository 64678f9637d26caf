"""Two worlds: the same HEATS run, with the same arrivals, gives the same placements on local nodes as in the simulator.

Durations are pinned (a program sleeps as long as the simulator says it takes there), nothing is learnt (no family), and no
two events are closer than GAP, so that no order is a race. One job moves (HEATS' rescheduling). The worlds' clocks begin
at the same place of a rescheduling period.

It lives on real time, so it is no part of `make test`, which may run beside anything: bench/run two_worlds
(TANDEM_TWO_WORLDS=1). On Slurm, where a job can take 3 s to start, all of it is ten times slower. What can be held
against the simulator without a clock is in tests/contract/two_worlds_test.cpp."""

import json
import os
import time

from e2e.serving import ServerCase, SlurmCluster

PERIOD = 12  # s between reschedulings
# Named as the nodes of the Slurm cluster are.
NODES = """\
kind: cluster
name: two-worlds
devices:
  quick: {kind: cpu, cores: 2, clock: 2GHz, memory: 512MiB, power: [50W, 250W]}
  thrifty: {kind: cpu, cores: 2, clock: 1GHz, memory: 512MiB, power: [5W, 15W]}
node_types: {n0: {devices: {quick: 1}}, n1: {devices: {thrifty: 1}}, n2: {devices: {thrifty: 1}}}
nodes: {n0: 1, n1: 1, n2: 1}
network: {kind: star, bandwidth: 1Gb/s, latency: 50us}
"""
# Submitted at (s), cores, seconds at pace 1, energy weight. Thrifty nodes take twice as long. The fourth finds them full,
# starts on the quick one and moves at the first rescheduling.
JOBS = [(1, 2, 5.25, 1), (2, 2, 3.75, 1), (3, 2, 2.2, 0), (4, 2, 9.0, 1), (6, 1, 2.5, 1), (13, 2, 3.3, 0), (15, 1, 1.2, 0.5),
        (18, 2, 2.4, 0.2)]
GAP = 0.5


class TwoWorlds(ServerCase):
    def run_in(self, world, slower=1):
        """The placements in order, and when everything happened; `slower` than written above."""
        nodes = self.spec(NODES, "two-worlds.yaml")
        period = PERIOD * slower
        policy = f"heats:H=0.5:x={period}:cost={0.5 * slower}"
        server = self.serve("--name", world, "--world", world, "--no-port", "--policy", policy, "--nodes", nodes)
        time.sleep((-time.time()) % period)  # the next beginning of a period
        began = time.time()
        for at, cores, seconds, weight in JOBS:
            seconds = round(seconds * slower, 3)
            time.sleep(max(0.0, began + at * slower - time.time()))
            script = f"case $TANDEM_NODE in n0) sleep {seconds};; *) sleep {2 * seconds};; esac"
            status, answer = self.ask("POST", "/v1/jobs", {"spec": self.plain("sh", "-c", script, cores=cores,
                                      extra=f"place: {{takes: {seconds}s, energy_weight: {weight}}}")}, name=world)
            self.assertEqual(status, 201, answer)
        self.until(lambda: not self.ask("GET", "/v1/jobs?state=open", name=world)[1]["jobs"], timeout=120 * slower)
        server.terminate()
        server.wait(60)
        run = next(run["id"] for run in self.runs() if run["name"] == world)
        starts, times = [], []
        for entry in self.journal(run):
            if entry["event"]["is"] not in ("NodeJoined", "TaskStarted", "Woke"):
                times.append(entry["event"]["at"] - began)
            starts += [(d["task"], d["attempt"], d["node"]) for d in entry["decisions"] if d["is"] == "Start"]
        return starts, times

    def compare(self, world, slower):
        simulated, times = self.run_in("sim", slower)
        gaps = [b - a for a, b in zip(sorted(times), sorted(times)[1:])]
        self.assertGreater(min(gaps), 0.8 * GAP * slower, f"the test itself is a race: events at {times}")
        self.assertGreater(len(simulated), len(JOBS), "nothing moved: the test is too lame")
        real, _ = self.run_in(world, slower)
        self.assertEqual(real, simulated)
        print(f"\nplacements (job, attempt, node), the same in the simulator and in world {world}:", json.dumps(simulated))

    def setUp(self):
        if "TANDEM_TWO_WORLDS" not in os.environ:
            self.skipTest("takes a quarter of an hour: bench/run two_worlds")
        super().setUp()

    def test_local_nodes(self):
        self.compare("local", 1)

    def test_slurm(self):
        SlurmCluster(self)
        self.compare("slurm", 10)
