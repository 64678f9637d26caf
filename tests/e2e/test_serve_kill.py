"""Kill the server anywhere: killed -9 at seeded moments while many jobs run, it is started again each time; every job ends
exactly once, no two attempts of one job are ever alive together, and nothing acknowledged is missing (e2e/storm.py).

TANDEM_SERVER_KILLS=KILLS,JOBS sets how many (default 8,40 on local nodes and 3,12 on Slurm; the full measure is 50,200:
bench/run server_kill)."""

import os

from e2e.serving import SlurmCluster
from e2e.storm import ServerStorm

ASKED = os.environ.get("TANDEM_SERVER_KILLS")


class ServerKill(ServerStorm):
    def every_job_ends_once(self, kills, jobs, seconds_a_job):
        if ASKED:
            kills, jobs = map(int, ASKED.split(","))
        tally = self.storm(kills, jobs, seconds_a_job)
        again = sum(count > 1 for count in self.attempts.values())
        print(f"\n{tally.line()}; {jobs} jobs, {again} needed another attempt")
        self.assertEqual(tally.faults, [])
        if tally.kills >= 8:
            self.assertGreater(again, 0, "no kill hit a running job: the test is too lame")


class LocalNodes(ServerKill):
    def test_every_job_ends_exactly_once(self):
        self.world = ("--nodes", self.nodes)
        self.every_job_ends_once(8, 40, seconds_a_job=0.12)


class OnSlurm(ServerKill):
    victims, speaking = ("tandem",), False  # workers are not the server's children there

    def test_every_job_ends_exactly_once(self):
        SlurmCluster(self)
        self.world = ("--world", "slurm")
        self.every_job_ends_once(3, 12, seconds_a_job=2)
        said = self.submit(self.plain("echo", "hello from Slurm"))
        self.until_over(said)
        self.assertIn("hello from Slurm", self.tandem("output", said).stdout)
