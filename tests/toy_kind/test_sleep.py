"""A kind of job that is not built in (sleep.cpp): in all three worlds, killed and resumed, at a server, in tables and pages."""

import os
import signal
import time

os.environ["TANDEM_PROGRAM"] = "tandem-toy"  # before the harness looks for its program

from e2e.serving import ServerCase, SlurmCluster  # noqa: E402


def sleep(naps, each, name="siesta"):
    return f"kind: sleep\nname: {name}\nnaps: {naps}\neach: {each}\n"


class Sleep(ServerCase):
    def has_slept(self, result, naps, seconds, most=None):
        self.assertEqual(result["kind"], "sleep", result)
        self.assertEqual(result["state"], "finished", result)
        self.assertEqual((result["naps"], result["naps_wanted"]), (naps, naps), result)
        self.assertGreaterEqual(result["slept_seconds"], 0.99 * naps * seconds, result)
        if most:
            self.assertLess(result["slept_seconds"], most, result)

    def tasks(self, run):
        """Of each task, how often it was started."""
        starts = {}
        for entry in self.journal(run):
            for decision in entry["decisions"]:
                if decision["is"] == "Start":
                    starts[decision["task"]] = starts.get(decision["task"], 0) + 1
        return starts

    def test_a_run_on_this_machine_and_all_that_is_said_of_it(self):
        spec = self.spec(sleep(3, "0.1s"))
        done = self.tandem("sleep", spec)
        self.assertIn("3 of 3 naps", done.stdout)
        self.assertIn("1 of 3 naps", done.stderr, "progress in what the kind counts")
        self.assertIn("Every nap:", done.stdout)
        self.has_slept(self.json("show", "last"), 3, 0.1)
        self.assertIn("slept_seconds", self.tandem("show", "last").stdout)
        self.assertIn("every decision the same", self.tandem("show", "last", "--verify").stdout)
        self.assertEqual([run["kind"] for run in self.runs()], ["sleep"])
        page = self.folder / "page.html"
        self.tandem("report", "last", "-o", page)
        self.assertIn("sleep run", page.read_text())
        self.assertIn("slept_seconds", page.read_text())
        self.has_slept(self.json("resume", "last"), 3, 0.1)

    def test_mistakes_are_told_by_its_own_reader(self):
        self.assertIn("did you mean", self.tandem("sleep", self.spec("kind: sleep\nnap: 3\n"), code=2).stderr)
        self.assertIn("here it must be sleep", self.tandem("sleep", self.spec("kind: tune\n"), code=2).stderr)
        self.serve("--nodes", self.nodes, "--no-port")
        status, answer = self.ask("POST", "/v1/jobs", {"spec": "kind: sleep\nnaps: 0\n"})
        self.assertEqual(status, 400, answer)
        self.assertIn("naps", str(answer))

    def test_killed_and_resumed_no_nap_is_taken_twice(self):
        spec = self.spec(sleep(4, "1s"))
        process = self.start("sleep", spec)
        self.until(lambda: (self.runs() or [{}])[0].get("id") and len(self.tasks("last")) == 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(self.runs()[0]["state"], "interrupted")
        self.has_slept(self.json("resume", "last"), 4, 1)
        starts = self.tasks("last")
        self.assertEqual(sorted(starts), [0, 1, 2, 3])
        self.assertEqual([starts[task] for task in (0, 2, 3)], [1, 1, 1], "only the one that was cut off is begun again")
        self.assertIn("every decision the same", self.tandem("show", "last", "--verify").stdout)

    def test_stopped_and_resumed(self):
        process = self.start("sleep", self.spec(sleep(3, "1s")))
        self.until(lambda: (self.runs() or [{}])[0].get("id") and len(self.tasks("last")) == 2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        self.assertEqual(self.json("show", "last")["naps"], 1)
        self.has_slept(self.json("resume", "last"), 3, 1)

    def check_served(self, job, naps, seconds, most=None):
        over = self.until_over(job)
        self.assertEqual((over["kind"], over["state"]), ("sleep", "finished"), over)
        self.assertEqual(over["progress"], {"done": naps, "of": naps, "unit": "naps"})
        self.has_slept(self.ask("GET", f"/v1/jobs/{job}/result")[1], naps, seconds, most)
        self.has_slept(self.json("show", f"main/{job}"), naps, seconds, most)
        page = self.folder / "page.html"
        self.tandem("report", f"main/{job}", "-o", page)
        self.assertIn("slept_seconds", page.read_text())
        self.assertIn(f"{naps}/{naps}", self.tandem("queue", "--all").stdout)

    def test_at_a_server_that_is_killed_beside_other_kinds(self):
        arguments = ["--nodes", self.nodes, "--no-port"]
        server = self.serve(*arguments)
        job = self.submit(sleep(3, "1s"))
        other = self.submit(self.plain("true"))
        self.until(lambda: len(self.job(job)["tasks"]) == 2)
        server.kill()
        server.wait()
        self.serve(*arguments)
        self.check_served(job, 3, 1)
        self.assertEqual(self.until_over(other)["state"], "finished")
        self.assertEqual([task["attempt"] for task in self.job(job)["tasks"]][::2], [1, 1])

    def test_in_a_simulated_world(self):
        self.serve("--world", "sim", "--nodes", self.nodes, "--pace", "1000", "--no-port")
        began = time.monotonic()
        job = self.submit(sleep(3, "1000s"))
        # The quick machine is twice as fast as the thrifty one, also at sleeping.
        over = self.until_over(job)
        self.assertEqual(over["state"], "finished", over)
        self.assertLess(time.monotonic() - began, 60)
        result = self.ask("GET", f"/v1/jobs/{job}/result")[1]
        self.assertEqual(result["naps"], 3)
        self.assertGreater(result["slept_seconds"], 1000)

    def test_on_a_slurm_cluster_as_a_run_and_at_a_server(self):
        SlurmCluster(self)
        self.has_slept(self.json("sleep", self.spec(sleep(2, "0.5s")), "--world", "slurm"), 2, 0.5)
        self.serve("--world", "slurm", "--no-port")
        self.check_served(self.submit(sleep(2, "0.5s")), 2, 0.5)
