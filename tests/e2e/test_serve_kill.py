"""Kill the server anywhere: killed -9 at seeded moments while many jobs run, it is started again each time; every job ends
exactly once, and no two attempts of one job are ever alive together.

TANDEM_SERVER_KILLS=KILLS,JOBS sets how many (default 8,40 on local nodes and 3,12 on Slurm; the full measure is 50,200:
bench/run server_kill)."""

import collections
import http.client
import os
import random
import time

from e2e.serving import ServerCase, SlurmCluster

ASKED = os.environ.get("TANDEM_SERVER_KILLS")

# One attempt at a time: who finds the lock taken says so. The lock goes with the process that holds it.
SCRIPT = ("exec 9> lock-{0}; flock -n 9 || {{ echo {0} >> overlaps; exit 1; }}; "
          "echo {0} >> starts; sleep 0.{1}; echo {0} >> ends")


class ServerKill(ServerCase):
    world = ()

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
        self.server = self.serve(*self.world, "--no-port")

    def storm(self, kills, jobs, seconds_a_job):
        if ASKED:
            kills, jobs = map(int, ASKED.split(","))
        length = jobs * seconds_a_job
        chance = random.Random(20261115)
        names = [f"job-{i}" for i in range(jobs)]
        self.server = self.serve(*self.world, "--no-port")
        moments = sorted(chance.uniform(0, length) for _ in range(kills))
        began, killed, submitted = time.monotonic(), 0, 0
        while True:
            now = time.monotonic() - began
            if moments and now >= moments[0]:
                moments.pop(0)
                self.server.kill()
                self.server.wait()
                killed += 1
            self.restart()
            while submitted < len(names) and submitted <= now / length * len(names):
                self.submit_named(names[submitted], self.plain("sh", "-c", SCRIPT.format(submitted, chance.randint(1, 9)), extra="limits: {lost: 0}"))
                submitted += 1
            if submitted == len(names) and not moments and self.open_jobs() == 0:
                break
            self.assertLess(now, 60 + 20 * length, "jobs do not come to their end")
            time.sleep(0.02)
        self.judge(names, killed)

    def open_jobs(self):
        status, answer = self.ask("GET", "/v1/jobs?state=open")
        self.assertEqual(status, 200)
        return len(answer["jobs"])

    def judge(self, names, killed):
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        finishes, submitted, attempts = collections.Counter(), [], collections.Counter()
        for entry in self.journal(run):
            if entry["event"]["is"] == "JobSubmitted":
                submitted.append(entry["event"]["spec"]["name"])
            for decision in entry["decisions"]:
                if decision["is"] == "FinishJob":
                    finishes[decision["job"]] += 1
                    self.assertEqual(decision["state"], "finished", decision)
                if decision["is"] == "Start":
                    attempts[decision["task"]] += 1
        self.assertEqual(sorted(submitted), sorted(names), "a job was lost, or is there twice")
        self.assertEqual(finishes, {job: 1 for job in range(len(names))})
        self.assertFalse((self.folder / "overlaps").exists(), "two attempts of a job ran together")
        ended = set((self.folder / "ends").read_text().split())
        self.assertEqual(ended, {str(i) for i in range(len(names))})
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)
        again = sum(count > 1 for count in attempts.values())
        print(f"\n{killed} kills of the server, {len(names)} jobs: each ended once; {again} needed another attempt")
        if killed >= 8:
            self.assertGreater(again, 0, "no kill hit a running job: the test is too lame")


class LocalNodes(ServerKill):
    def test_every_job_ends_exactly_once(self):
        self.world = ("--nodes", self.nodes)
        self.storm(8, 40, seconds_a_job=0.12)


class OnSlurm(ServerKill):
    def test_every_job_ends_exactly_once(self):
        SlurmCluster(self)
        self.world = ("--world", "slurm")
        self.storm(3, 12, seconds_a_job=2)
        said = self.submit(self.plain("echo", "hello from Slurm"))
        self.until_over(said)
        self.assertIn("hello from Slurm", self.tandem("output", said).stdout)
