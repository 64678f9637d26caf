"""Jobs that flood, print without end, put something else in the place of their files, fill the disk or bring the server
down: they end, with a reason, and the server goes on."""

import json
import os
import subprocess
import time

from e2e.serving import ServerCase

FILL = "dd if=/dev/zero of=$TANDEM_FOLDER/filler bs=64k 2>/dev/null; sleep 1000"
FLOOD = """\
import os
socket = int(os.environ["TANDEM_SOCKET"])
while True:
    os.write(socket, b'{"type":"ready"}\\n' * 4000)
"""


class BadJobs(ServerCase):
    @staticmethod
    def filler(command, extra=""):
        """Without a memory limit: files in a tmpfs count as memory."""
        return f"kind: train\nprogram: {{command: {json.dumps(['sh', '-c', command])}, plain: true}}\nsystem: {{cores: 1}}\n{extra}"

    def run_folder(self):
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        return self.store / "runs" / run

    def answers_within(self, seconds):
        began = time.monotonic()
        self.assertEqual(self.ask("GET", "/v1/status")[0], 200)
        self.assertLess(time.monotonic() - began, seconds)

    def test_a_program_that_floods_fails_and_nobody_waits_for_it(self):
        server = self.serve("--nodes", self.nodes, "--no-port")
        flood = f"kind: train\nprogram: {{command: {json.dumps(['python3', '-c', FLOOD])}}}\nsystem: {{cores: 1}}\n"
        floods = [self.submit(flood) for _ in range(3)]
        honest = self.submit(self.plain("true"))
        self.answers_within(10)
        self.assertEqual(self.until_over(honest)["state"], "finished")
        for job in floods:
            over = self.until_over(job)
            self.assertEqual(over["state"], "failed")
            self.assertIn("more than 10000 lines within", over["reason"])
        server.terminate()
        self.assertEqual(server.wait(30), 0)

    def test_a_log_that_is_a_pipe_keeps_nobody_waiting(self):
        arguments = ("--nodes", self.nodes, "--no-port")
        server = self.serve(*arguments)
        job = self.submit(self.plain("sh", "-c", "cd $TANDEM_FOLDER; rm output.log; mkfifo output.log; echo made; touch done; sleep 1000"))
        self.until(lambda: (self.run_folder() / "task-0/done").exists())
        status, answer = self.ask("GET", f"/v1/jobs/{job}/output")
        self.assertEqual(status, 409, answer)
        self.assertIn("is not a plain file", str(answer))
        self.assertIn("is not a plain file", self.tandem("logs", "main/0", code=1).stderr)
        server.kill()
        server.wait()
        self.serve(*arguments)
        self.until(lambda: self.job(job)["tasks"][0]["attempt"] == 2 and self.job(job)["state"] == "running")
        self.tandem("cancel", job)
        self.assertEqual(self.until_over(job)["state"], "stopped")

    def test_endless_output_is_kept_up_to_its_limit(self):
        self.serve("--nodes", self.nodes, "--no-port")
        job = self.submit(self.plain("sh", "-c", "yes | head -c 300M; echo the end", extra="limits: {output: 4MiB}"))
        self.assertEqual(self.until_over(job)["state"], "finished")
        folder = self.run_folder() / "task-0"
        kept = sum(file.stat().st_size for file in folder.glob("output.log*"))
        self.assertLess(kept, 4.1 * 2**20)
        self.assertGreater(kept, 2 * 2**20)
        self.assertTrue(self.ask("GET", f"/v1/jobs/{job}/output")[1].decode().endswith("the end\n"))
        logs = self.tandem("logs", f"main/{job}").stdout
        self.assertIn("were not kept (limits.output is 4 MiB)", logs)
        self.assertTrue(logs.endswith("the end\n"))
        self.assertEqual(len(logs), kept)

    def small_disk(self, size):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], capture_output=True).returncode:
            self.skipTest("needs root and mount for a small disk of its own")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], capture_output=True)
        self.store = disk / "store"
        self.environment["TANDEM_STORE"] = str(self.store)

    def test_a_full_disk_stops_jobs_and_not_the_server(self):
        self.small_disk("100m")
        server = self.serve("--nodes", self.nodes, "--no-port")
        self.submit(self.plain("true"))
        self.until(lambda: (self.store / "reserve").exists())
        bad = self.submit(self.filler(FILL, "limits: {retries: 0}"))
        beside = self.submit(self.plain("sleep", "1000"))
        over = self.until_over(bad)
        self.assertEqual(over["state"], "failed")
        self.assertIn("no space: less than", over["reason"])
        self.until(lambda: self.job(beside)["state"] == "queued")
        later = self.submit(self.plain("true"))
        self.answers_within(10)
        self.assertEqual(self.job(later)["state"], "queued", "nothing starts while the disk is full")
        self.assertIsNone(server.poll())
        for filler in self.store.glob("runs/*/task-*/filler"):
            filler.unlink()
        self.assertEqual(self.until_over(later)["state"], "finished")
        self.until(lambda: self.job(beside)["state"] == "running")
        self.until(lambda: self.submit(self.plain("true")) and (self.store / "reserve").exists())
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def test_a_run_of_its_own_fails_on_a_full_disk_and_goes_on_when_there_is_space(self):
        self.small_disk("100m")
        spec = self.spec(self.filler(f"test -e {self.folder}/again && exit 0; {FILL}"))
        failed = self.tandem("train", spec, code=1, timeout=60)
        self.assertIn("no space: less than", failed.stdout + failed.stderr)
        for filler in self.store.glob("runs/*/task-*/filler"):
            filler.unlink()
        (self.folder / "again").touch()
        self.tandem("resume", "last", timeout=60)

    def kill_while_it_runs(self, server, job, attempt):
        self.until(lambda: self.job(job)["state"] == "running" and self.job(job)["tasks"][0]["attempt"] == attempt)
        server.kill()
        server.wait()

    def test_a_job_that_takes_the_server_with_it_is_held(self):
        arguments = ("--nodes", self.nodes, "--no-port")
        server = self.serve(*arguments)
        # Between it and the server is its keeper.
        job = self.submit(self.plain("sh", "-c", "sleep 0.5; kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat); sleep 1000"))
        server.wait(60)
        for _ in range(2):
            self.serve(*arguments).wait(60)
        self.serve(*arguments)
        over = self.until_over(job)
        self.assertEqual(over["state"], "failed")
        self.assertIn("held: Tandem ended 3 times in a row", over["reason"])
        self.assertEqual(over["tasks"][0]["attempt"], 3)
        self.answers_within(10)
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def test_jobs_of_a_server_that_does_not_run_are_cancelled_offline(self):
        arguments = ("--nodes", self.nodes, "--no-port")
        server = self.serve(*arguments)
        running, kept = self.submit(self.plain("sleep", "1000")), self.submit(self.plain("sleep", "1000"))
        queued = self.submit(self.plain("sleep", "1000", extra="place: {labels: moon}"))
        self.assertIn("cancel without --offline", self.tandem("cancel", "--offline", running, code=2).stderr)
        self.until(lambda: self.job(kept)["state"] == "running")
        self.kill_while_it_runs(server, running, 1)
        self.assertIn("there is no job 99", self.tandem("cancel", "--offline", 99, code=2).stderr)
        self.assertIn("no server called 'other'", self.tandem("cancel", "--offline", "--name", "other", 0, code=2).stderr)
        jobs = self.json("cancel", "--offline", running, queued)["jobs"]
        self.assertEqual([job["state"] for job in jobs], ["stopping", "stopped"])
        self.assertIn("is over", self.tandem("cancel", "--offline", queued, code=2).stderr)
        self.serve(*arguments)
        self.assertEqual(self.until_over(running)["state"], "stopped")
        self.assertEqual(self.job(running)["tasks"][0]["attempt"], 1)
        self.assertEqual(self.job(queued)["state"], "stopped")
        self.until(lambda: self.job(kept)["state"] == "running")
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def test_programs_inherit_no_descriptor_of_who_started_tandem(self):
        extra = os.open(self.folder / "secret", os.O_RDWR | os.O_CREAT)
        self.addCleanup(os.close, extra)
        spec = self.spec(self.plain("sh", "-c", f"ls -l /proc/$$/fd > {self.folder}/fds"))
        process = self.start("train", spec, pass_fds=(extra,))
        self.assertEqual(process.wait(60), 0)
        listed = (self.folder / "fds").read_text()
        self.assertNotIn("secret", listed)
        self.assertNotIn("socket:", listed)
        self.assertNotIn("tandem.db", listed)
