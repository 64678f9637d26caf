"""Two worlds: the same HEATS run, with the same arrivals, gives the same placements on local nodes as in the simulator.

Durations are pinned (a program sleeps as long as the simulator says it takes there), nothing is learnt (no family), and no
two events are closer than GAP, so that no order is a race. One job moves (HEATS' rescheduling). The worlds' clocks begin
at the same place of a rescheduling period. Slurm: bench/two_worlds."""

import json
import time

from e2e.serving import ServerCase

PERIOD = 12  # s between reschedulings
# Submitted at (s), cores, seconds at pace 1, energy weight. Thrifty nodes take twice as long. The fourth finds them full,
# starts on the quick one and moves at the first rescheduling.
JOBS = [(1, 2, 5.25, 1), (2, 2, 3.75, 1), (3, 2, 2.2, 0), (4, 2, 9.0, 1), (6, 1, 2.5, 1), (13, 2, 3.3, 0), (15, 1, 1.2, 0.5),
        (18, 2, 2.4, 0.2)]
GAP = 0.5


class TwoWorlds(ServerCase):
    policy = f"heats:H=0.5:x={PERIOD}:cost=0.5"

    def run_in(self, world, *arguments):
        server = self.serve("--name", world, "--world", world, "--no-port", "--policy", self.policy, "--nodes", self.nodes, *arguments)
        time.sleep((-time.time()) % PERIOD)  # the next beginning of a period
        began = time.time()
        for at, cores, seconds, weight in JOBS:
            time.sleep(max(0.0, began + at - time.time()))
            script = f"case $TANDEM_NODE in quick*) sleep {seconds};; *) sleep {2 * seconds};; esac"
            status, answer = self.ask("POST", "/v1/jobs", {"spec": self.plain("sh", "-c", script, cores=cores,
                                      extra=f"place: {{takes: {seconds}s, energy_weight: {weight}}}")}, name=world)
            self.assertEqual(status, 201, answer)
        self.until(lambda: not self.ask("GET", "/v1/jobs?state=open", name=world)[1]["jobs"])
        server.terminate()
        server.wait(60)
        run = next(run["id"] for run in self.runs() if run["name"] == world)
        starts, times = [], []
        for entry in self.journal(run):
            if entry["event"]["is"] not in ("NodeJoined", "TaskStarted", "Woke"):
                times.append(entry["event"]["at"] - began)
            starts += [(d["task"], d["attempt"], d["node"]) for d in entry["decisions"] if d["is"] == "Start"]
        return starts, times

    def test_the_same_placements(self):
        simulated, times = self.run_in("sim")
        gaps = [b - a for a, b in zip(sorted(times), sorted(times)[1:])]
        self.assertGreater(min(gaps), 0.8 * GAP, f"the test itself is a race: events at {times}")
        local, _ = self.run_in("local")
        self.assertEqual(local, simulated)
        self.assertGreater(len(simulated), len(JOBS), "nothing moved: the test is too lame")
        print("\nplacements (job, attempt, node), the same in both worlds:", json.dumps(simulated))
