"""The scheduler as a server: submit, queue, nodes, explain, cancel; who may ask what; nothing lost when it is killed."""

import http.client
import json
import os
import random
import re
import signal
import socket
import stat
import threading
import time

from e2e.harness import SPEAKER
from e2e.serving import NODES, ServerCase

BODY = b'{"job": 7, "name": "a", "state": "queued"}'
MADE = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)


class Serve(ServerCase):
    def test_a_job_from_submission_to_its_end(self):
        self.serve("--nodes", self.nodes, "--no-port")
        spec = self.spec(self.plain("sh", "-c", "echo hello from $PWD", extra="place: {takes: 1s, energy_weight: 1}"))
        result = self.json("submit", spec, "--wait")
        self.assertEqual([job["state"] for job in result["jobs"]], ["finished"])
        self.assertTrue(result["jobs"][0]["node"].startswith("thrifty"), result)
        self.assertIn("hello from", self.tandem("output", 0).stdout)
        self.assertIn("finished", self.tandem("queue", "--all").stdout)
        self.assertIn("Nothing waits or runs", self.tandem("queue").stdout)
        why = self.tandem("explain", 0).stdout
        self.assertIn("why attempt 1 was put on thrifty-1", why)
        self.assertIn("quick", why)
        table = self.tandem("nodes").stdout
        for node in ("quick", "thrifty-1", "thrifty-2"):
            self.assertIn(node, table)

    def test_a_submission_whose_answer_was_lost_is_repeated_and_runs_once(self):
        server = self.serve("--nodes", self.nodes, "--no-port")
        ran = self.folder / "ran"
        body = {"spec": self.plain("sh", "-c", f"echo x >> {ran}"), "folder": str(self.folder)}
        keys = [f"key-{number}" for number in range(5)]
        for key in keys:  # killed some time after it was sent: before, in or after its commit
            asking = threading.Thread(target=self.ask_in_vain, args=(body, key))
            asking.start()
            time.sleep(random.Random(key).uniform(0, 0.05))
            server.kill()
            server.wait()
            asking.join()
            server = self.serve("--nodes", self.nodes, "--no-port")
            first, again = (self.ask("POST", "/v1/jobs", body, headers={"Idempotency-Key": key}) for _ in range(2))
            self.assertIn(first[0], (200, 201), first)
            self.assertEqual((again[0], again[1]["repeated"], again[1]["job"]), (200, True, first[1]["job"]))
        jobs = self.json("queue", "--all")["jobs"]
        self.assertEqual(len(jobs), len(keys))
        for job in jobs:
            self.assertEqual(self.until_over(job["job"])["state"], "finished")
        other = dict(body, spec=self.plain("true"))
        self.assertEqual(self.ask("POST", "/v1/jobs", other, headers={"Idempotency-Key": keys[0]})[0], 409)
        server.kill()
        server.wait()
        self.serve("--nodes", self.nodes, "--no-port")
        self.assertEqual(self.ask("POST", "/v1/jobs", body, headers={"Idempotency-Key": keys[0]})[0], 200, "ended since")

    def ask_in_vain(self, body, key):
        try:
            self.ask("POST", "/v1/jobs", body, headers={"Idempotency-Key": key})
        except (OSError, http.client.HTTPException):
            pass

    def answering(self, *answers):
        """A server of ours that gives these answers, hangs up after each and ends: how to reach it, and what it was asked."""
        asked, listener = [], socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            for answer in answers:
                connection, _ = listener.accept()
                text = b""
                while b"\r\n\r\n" not in text or (text.startswith(b"POST") and b'"spec"' not in text):
                    text += connection.recv(65536)
                asked.append(text)
                connection.sendall(answer)
                connection.close()

        serving = threading.Thread(target=serve)
        serving.start()
        self.addCleanup(serving.join, 60)
        token = self.folder / "token"
        token.write_text("0" * 64)
        token.chmod(0o600)
        return ("--server", f"127.0.0.1:{listener.getsockname()[1]}", "--token", token), asked

    def test_submit_repeats_what_broke_off_with_the_same_key(self):
        at, asked = self.answering(b"", b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", MADE)
        self.assertIn("Job 7 (a) is queued", self.tandem("submit", *at, self.spec(self.plain("true"))).stdout)
        keys = [re.search(rb"Idempotency-Key: (\S+)", text).group(1) for text in asked]
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1, keys)

    def test_who_is_told_to_wait_waits_and_asks_again(self):
        nodes = b'{"nodes": []}'
        at, asked = self.answering(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
                                   b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(nodes), nodes))
        self.tandem("nodes", *at)
        self.assertEqual(len(asked), 2)

    def test_training_with_epochs_and_a_tuning_job_run_side_by_side(self):
        self.serve("--nodes", self.nodes, "--no-port")
        train = self.submit(self.speaker_spec("--sleep-ms", 10, epochs=4).read_text())
        command = json.dumps([SPEAKER, "--sleep-ms", "5"])
        tune = self.submit(f"kind: tune\nprogram: {{command: {command}}}\nhyper: {{x: {{choice: [1, 2, 3]}}}}\n"
                           "search: {algorithm: random, trials: 3, max_epochs: 2}\nobjective: {maximise: value}\nsystem: {cores: 1}\n")
        self.assertEqual(self.until_over(train)["state"], "finished")
        done = self.until_over(tune)
        self.assertEqual(done["state"], "finished", done)
        self.assertEqual(len(self.job(train)["tasks"][0]["epochs"]), 4)
        self.what_came_of_a_tuning_job_is_told_as_of_a_run(tune)

    def what_came_of_a_tuning_job_is_told_as_of_a_run(self, tune):
        _, result = self.ask("GET", f"/v1/jobs/{tune}/result")
        self.assertEqual(result["state"], "finished")
        self.assertIn(result["best"]["hyper"]["x"], [1, 2, 3])
        self.assertEqual([trial["trial"] for trial in result["trials"]], [0, 1, 2])
        self.assertEqual(self.ask("GET", f"/v1/jobs/{tune}/trials")[1]["trials"], result["trials"])
        self.assertEqual(self.json("show", f"main/{tune}")["best"], result["best"])
        self.assertIn("best", self.tandem("show", f"main/{tune}").stdout)
        page = self.folder / "page.html"
        self.tandem("report", f"main/{tune}", "-o", page)
        self.assertIn("tuning run", page.read_text())
        self.assertIn("has no trial 3", self.tandem("logs", f"main/{tune}", "--trial", 3, code=2).stderr)
        self.assertIn("there is no job 77", self.tandem("show", "main/77", code=2).stderr)

    def test_jobs_queued_beside_a_tuning_job_wait_for_its_cores_and_run(self):
        self.serve("--no-port")  # this machine: the trials take all of it
        command = json.dumps([SPEAKER, "--sleep-ms", "100"])
        tune = self.submit(f"kind: tune\nprogram: {{command: {command}}}\nhyper: {{x: {{range: [0, 1]}}}}\n"
                           f"search: {{algorithm: random, trials: {os.cpu_count() + 2}, max_epochs: 4}}\n"
                           "objective: {maximise: value}\nsystem: {cores: 1}\n")
        self.until(lambda: self.job(tune)["state"] == "running")
        queued = [self.submit(self.plain("true")) for _ in range(3)]
        for job in [*queued, tune]:
            over = self.until_over(job)
            self.assertEqual(over["state"], "finished", over)
            self.assertTrue(all(task["attempt"] == 1 for task in over["tasks"]), over)
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        refused = [entry for entry in self.journal(run) if entry["event"]["is"] == "DecisionRefused"]
        self.assertEqual(refused, [])

    def test_trials_on_two_nodes_get_more_cores_as_others_end_and_go_on_after_a_kill(self):
        nodes = self.spec(NODES.replace("quick: 1, thrifty: 2", "quick: 1, thrifty: 1"), "two.yaml")
        arguments = ("--nodes", nodes, "--no-port", "--policy", "fifo:malleable")
        server = self.serve(*arguments)
        command = json.dumps([SPEAKER, "--sleep-ms", "60"])
        tune = self.submit(f"kind: tune\nprogram: {{command: {command}}}\nhyper: {{x: {{range: [0, 1]}}}}\n"
                           "search: {algorithm: random, trials: 5, max_epochs: 8}\nobjective: {maximise: value}\n"
                           "system: {cores: {choice: [1, 2]}, memory: 64MiB}\n")
        self.until(lambda: any(task["epochs"] for task in self.job(tune)["tasks"]))
        server.kill()
        server.wait()
        self.serve(*arguments)
        over = self.until_over(tune)
        self.assertEqual(over["state"], "finished", over)
        result = self.ask("GET", f"/v1/jobs/{tune}/result")[1]
        self.assertEqual([trial["epochs"] for trial in result["trials"]], [8] * 5)
        run = next(run["id"] for run in self.runs() if run["kind"] == "serve")
        had, grown = {}, set()  # cores and node of each task's newest start
        for entry in self.journal(run):
            for decision in entry["decisions"]:
                if decision["is"] == "Start":
                    had[decision["task"]] = decision["granted"]["cores"], decision["node"]
                if decision["is"] == "Resize" and decision["granted"]["cores"] > had[decision["task"]][0]:
                    grown.add(had[decision["task"]][1])
        self.assertEqual({node for _, node in had.values()}, {0, 1})
        self.assertTrue(grown, "nobody got more cores than it was started with")
        self.assertIn("same", self.tandem("show", run, "--verify").stdout)

    def test_waiting_is_explained_and_cancelling_works(self):
        self.serve("--nodes", self.nodes, "--no-port", "--policy", "first-fit")
        running = [self.submit(self.plain("sleep", "1000", cores=2)) for _ in range(3)]
        waits = self.submit(self.plain("sleep", "1000", cores=2, extra="place: {takes: 5s}"))
        never = self.submit(self.plain("sleep", "1", extra="place: {labels: moon}"))
        self.until(lambda: all(self.job(job)["state"] == "running" for job in running))
        self.assertEqual(self.job(waits)["state"], "queued")
        self.assertIn("no room now", self.tandem("explain", waits).stdout)
        self.assertIn("ever run it", self.tandem("explain", never).stdout)
        self.tandem("cancel", waits, running[0])
        self.assertEqual(self.job(waits)["state"], "stopped")
        self.assertEqual(self.until_over(running[0])["state"], "stopped")
        again = self.tandem("cancel", waits, code=2)
        self.assertIn("is over", again.stderr)
        self.assertIn("there is no job 99", self.tandem("cancel", 99, code=2).stderr)

    def test_the_clock_of_the_queue_goes_on_without_events(self):
        self.serve("--nodes", self.nodes, "--no-port")
        job = self.submit(self.plain("sleep", "1000"))
        self.until(lambda: self.job(job)["state"] == "running")
        events = self.ask("GET", "/v1/status")[1]["events"]
        before = self.json("queue")["now"]
        time.sleep(0.3)
        self.assertGreaterEqual(self.json("queue")["now"], before + 0.3)
        self.assertEqual(self.ask("GET", "/v1/status")[1]["events"], events, "nothing happened meanwhile")
        row = self.json("queue")["jobs"][0]
        self.assertEqual((row["cores_held"], row["resources"]["cores"]), (1, 1))
        self.assertNotIn("0.0 J", self.tandem("explain", job).stdout)

    def test_a_running_search_is_explained_by_a_trial_that_runs(self):
        self.serve("--nodes", self.nodes, "--no-port")
        job = self.submit(f"kind: tune\nprogram: {{command: [{SPEAKER}, --sleep-ms, 200]}}\nsearch: {{algorithm: random, trials: 20, max_epochs: 2}}\n"
                          "hyper: {x: {range: [0, 1]}}\n")
        self.until(lambda: self.ask("GET", f"/v1/jobs/{job}")[1]["progress"]["done"] > 0)
        said = self.tandem("explain", job).stdout
        self.assertIn("was put on", said)
        self.assertNotIn("why it waits", said)

    def test_a_job_too_large_for_every_node_is_refused(self):
        self.serve("--nodes", self.nodes, "--no-port")
        done = self.tandem("submit", self.spec(self.plain("sleep", "1", cores=64)), code=2)
        self.assertIn("more than any node has", done.stderr)
        self.assertEqual(self.ask("GET", "/v1/jobs")[1]["jobs"], [])

    def test_a_failing_program_is_told_with_its_last_words(self):
        self.serve("--nodes", self.nodes, "--no-port")
        job = self.submit(self.plain("sh", "-c", "echo it broke; exit 7"))
        done = self.until_over(job)
        self.assertEqual(done["state"], "failed")
        self.assertIn("exit status 7", done["reason"])
        self.assertIn("it broke", done["tasks"][0]["last_failure"]["last_output"])

    def test_preemption_stops_the_lower_and_brings_it_back(self):
        self.serve("--nodes", self.nodes, "--no-port", "--policy", "preempt-resume")
        low = [self.submit(self.plain("sleep", "1000", cores=2)) for _ in range(3)]
        self.until(lambda: all(self.job(job)["state"] == "running" for job in low))
        high = self.submit(self.plain("sh", "-c", "exit 0", cores=2, extra="place: {priority: 5}"))
        self.assertEqual(self.until_over(high)["state"], "finished")
        self.until(lambda: all(self.job(job)["state"] == "running" for job in low))
        self.assertEqual(sorted(self.job(job)["attempts"] for job in low), [1, 1, 2])

    def test_dias_drops_work_of_lower_jobs_that_tolerate_a_loss(self):
        self.serve("--nodes", self.nodes, "--no-port", "--policy", "dias")
        high = self.submit(self.plain("sleep", "1000", extra="place: {priority: 5}"))
        low = self.submit(self.plain("sh", "-c", "echo drop $TANDEM_DROP", extra="place: {loss: 15%}"))
        self.assertAlmostEqual(self.until_over(low)["drop"], 0.2)
        self.assertEqual(self.tandem("output", low).stdout, "drop 0.2\n")
        self.assertEqual(self.job(high)["drop"], 0)

    def test_killed_and_started_again_nothing_is_lost(self):
        server = self.serve("--nodes", self.nodes, "--no-port")
        flag = self.folder / "go"
        # It ends only after the kill, and says how often it was started.
        script = f"echo start >> starts; while [ ! -e {flag} ]; do sleep 0.05; done"
        running = self.submit(self.plain("sh", "-c", script))
        self.until(lambda: (self.folder / "starts").exists())
        waiting = self.submit(self.plain("sh", "-c", "exit 0", extra="place: {labels: nowhere}"))
        server.kill()
        server.wait()
        flag.touch()
        self.serve("--nodes", self.nodes, "--no-port")
        done = self.until_over(running)
        self.assertEqual((done["state"], done["attempts"]), ("finished", 2))
        self.assertEqual(self.job(waiting)["state"], "queued")
        run = self.runs()[0]["id"]
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)

    def test_jobs_that_ended_are_archived_and_stay_visible(self):
        arguments = ("--nodes", self.nodes, "--no-port", "--archive-after", "0s")
        server = self.serve(*arguments)
        command = json.dumps([SPEAKER, "--sleep-ms", "5"])
        tune = self.submit(f"kind: tune\nname: search\nprogram: {{command: {command}}}\nhyper: {{x: {{choice: [1, 2]}}}}\n"
                           "search: {algorithm: random, trials: 2, max_epochs: 2}\nobjective: {maximise: value}\nsystem: {cores: 1}\n")
        plain = self.submit(self.plain("echo", "some words"))
        waits = self.submit(self.plain("true", extra="place: {labels: nowhere}"))
        self.until(lambda: self.ask("GET", "/v1/status")[1]["archived"] == 2)
        self.archived_jobs_are_seen(tune, plain, waits)
        server.kill()
        server.wait()
        server = self.serve(*arguments)
        self.archived_jobs_are_seen(tune, plain, waits)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(60), 0)
        self.assertIn("search", self.tandem("show", "last").stdout)
        self.assertEqual(self.json("show", f"main/{tune}")["state"], "finished")
        self.serve(*arguments)  # from a snapshot now
        self.archived_jobs_are_seen(tune, plain, waits)
        self.assertEqual(self.submit(self.plain("true")), waits + 1)
        self.assertIn("every decision the same", self.tandem("show", self.runs()[0]["id"], "--verify").stdout)

    def archived_jobs_are_seen(self, tune, plain, waits):
        _, page = self.ask("GET", "/v1/jobs")
        self.assertEqual([(job["job"], job["state"], job.get("archived", False)) for job in page["jobs"][:3]],
                         [(tune, "finished", True), (plain, "finished", True), (waits, "queued", False)])
        self.assertEqual([job["job"] for job in self.ask("GET", "/v1/jobs?limit=1&before=2")[1]["jobs"]], [plain])
        after = self.ask("GET", "/v1/jobs?limit=1&after=0")[1]
        self.assertEqual(([job["job"] for job in after["jobs"]], after["more"]), ([plain], True))
        self.assertEqual([job["job"] for job in self.ask("GET", "/v1/jobs?state=finished&last=1")[1]["jobs"]], [plain])
        self.assertEqual(self.job("search")["job"], tune)
        self.assertEqual(len(self.job(tune)["tasks"]), 2)
        self.assertEqual(self.ask("GET", f"/v1/jobs/{tune}/result")[1]["state"], "finished")
        self.assertEqual(len(self.ask("GET", f"/v1/jobs/{tune}/trials")[1]["trials"]), 2)
        self.assertIn("why attempt 1 was put on", self.tandem("explain", plain).stdout)
        self.assertIn("some words", self.tandem("output", plain).stdout)
        self.assertIn("some words", self.tandem("logs", f"main/{plain}").stdout)
        self.assertIn("finished", self.tandem("queue", "--all").stdout)
        self.assertIn("is over", self.tandem("cancel", plain, code=2).stderr)

    def test_a_gentle_stop_keeps_jobs_and_removes_the_socket(self):
        server = self.serve("--nodes", self.nodes, "--no-port")
        job = self.submit(self.plain("sleep", "1000"))
        self.until(lambda: self.job(job)["state"] == "running")
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(60), 0)
        self.assertFalse((self.store / "serve-main.sock").exists())
        self.assertIn("Server 'main' is stopped", self.tandem("show", "last").stdout)
        for command in ("resume", "report", "logs"):
            self.assertIn("is the server 'main', not a job", self.tandem(command, "last", code=2).stderr, command)
        self.assertIn("no server called 'main'", self.tandem("queue", code=2).stderr)
        self.serve("--nodes", self.nodes, "--no-port")
        self.until(lambda: self.job(job)["state"] == "running" and self.job(job)["attempts"] == 2)

    def test_two_servers_of_one_name_and_other_settings_are_refused(self):
        self.serve("--nodes", self.nodes, "--no-port", "--world", "sim")
        self.assertIn("running already", self.tandem("serve", "--no-port", "--nodes", self.nodes, "--world", "sim", code=2).stderr)
        self.assertIn("--name", self.tandem("serve", "--no-port", "--nodes", self.nodes, "--world", "sim", "--policy", "fifo", code=2).stderr)
        for wrong in (["--policy", "heat"], ["--world", "mars"], ["--name", "../x"], ["--log", "loud"]):
            self.assertNotEqual(self.tandem("serve", "--name", "other", *wrong, code=2).stderr, "", wrong)

    def test_infrastructure_aware_placement_goes_by_what_is_observed(self):
        self.assertIn("nobody watches", self.tandem("serve", "--no-port", "--world", "slurm", "--policy", "infra", code=2).stderr)
        self.serve("--nodes", self.nodes, "--no-port", "--world", "sim", "--pace", "1000", "--policy", "infra")
        self.until(lambda: all(node["load"] for node in self.ask("GET", "/v1/nodes")[1]["nodes"]))
        self.assertIn("CPU 0 %", self.tandem("nodes").stdout)
        job = self.submit(self.plain("work", extra="place: {takes: 10s, bandwidth: 1Mb/s}\n"))
        self.assertEqual(self.until_over(job)["state"], "finished")
        never = self.submit(self.plain("work", extra="place: {bandwidth: 10Gb/s}\n"))
        why = self.tandem("explain", never).stdout
        self.assertIn("lacking hardware: 1.25 GB/s are demanded, its network has 125 MB/s", why)

    def test_the_simulated_world_runs_at_its_own_pace(self):
        self.serve("--nodes", "heats", "--no-port", "--world", "sim", "--pace", "1000")
        job = self.submit(self.plain("never-run", extra="place: {takes: 600s}"))
        done = self.until_over(job)
        self.assertEqual(done["state"], "finished")
        self.assertGreaterEqual(done["ended"] - done["started"], 600 - 1e-6)
        self.assertIn("simulated", done["energy"]["source"])


class Hostile(ServerCase):
    def setUp(self):
        super().setUp()
        self.serve("--nodes", self.nodes, "--listen", "127.0.0.1:0")
        self.token = (self.store / "serve-token").read_text().strip()

    def http(self, method, target, body=None, token="", headers=()):
        """With the server's token unless told; None: with none."""
        token = self.token if token == "" else token
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        all_headers = dict(headers, **({"Authorization": f"Bearer {token}"} if token else {}))
        if body is not None:
            all_headers.setdefault("Content-Type", "application/json")
        connection.request(method, target, body, all_headers)
        answer = connection.getresponse()
        status, text = answer.status, answer.read()
        connection.close()
        return status, text

    def test_who_may_do_what(self):
        body = json.dumps({"spec": self.plain("true"), "folder": str(self.folder)})
        for target in ("/v1/jobs", "/v1/nodes", "/v1/status", "/metrics"):
            self.assertEqual(self.http("GET", target, token=None)[0], 401, target)
            self.assertEqual(self.http("GET", target)[0], 200, target)
        self.assertEqual(self.http("POST", "/v1/jobs", body, token=None)[0], 401)
        self.assertIn(self.http("POST", "/v1/jobs", body, token="0" * 64)[0], (401, 403))
        self.assertEqual(self.http("POST", "/v1/jobs", body, token=self.token)[0], 201)
        self.assertEqual(stat.S_IMODE(os.stat(self.store / "serve-token").st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(self.store / "serve-main.sock").st_mode), 0o600)
        self.assertNotIn(self.token, (self.folder / "server.log").read_text())
        self.assertEqual(self.json("queue", "--server", f"127.0.0.1:{self.port}", "--all")["all"], 1)

    def test_tokens_have_roles_and_can_be_revoked(self):
        body = json.dumps({"spec": self.plain("true"), "folder": str(self.folder)})
        make = lambda *words: self.tandem("token", "create", *words).stdout.strip()
        view, submit = make("--role", "view", "--name", "prometheus"), make("--role", "submit", "--name", "ana", "--user", "61001")
        job = json.loads(self.http("POST", "/v1/jobs", body)[1])["job"]
        # view: that there is a job, and what is measured, but not what it is
        self.assertEqual(self.http("GET", "/metrics", token=view)[0], 200)
        row, = json.loads(self.http("GET", "/v1/jobs", token=view)[1])["jobs"]
        self.assertEqual((row["job"], row["name"], row["owner"]), (job, "", None))
        for what in ("", "/explain", "/output", "/result", "/trials", "/trials/0/log"):
            for token in (view, submit):
                self.assertEqual(self.http("GET", f"/v1/jobs/{job}{what}", token=token)[0], 403, what)
                self.assertEqual(self.http("GET", f"/v1/jobs/plain{what}", token=token)[0], 404, what)
        self.assertEqual(self.http("POST", "/v1/jobs", body, token=view)[0], 403)
        self.assertEqual(self.http("DELETE", f"/v1/jobs/{job}", token=view)[0], 403)
        self.assertEqual(self.http("DELETE", f"/v1/jobs/{job}", token=submit)[0], 403)
        # from the command line
        file = self.spec(view + "\n", "view-token")
        file.chmod(0o600)
        rows = self.json("queue", "--server", f"127.0.0.1:{self.port}", "--token", file, "--all")["jobs"]
        self.assertEqual(rows[0]["name"], "")
        self.assertNotIn("plain", self.tandem("queue", "--server", f"127.0.0.1:{self.port}", "--token", file, "--all").stdout)
        self.assertIn("prometheus", self.tandem("token", "list").stdout)
        self.assertEqual([t["name"] for t in self.json("token", "list")["tokens"]], ["ana", "prometheus"])
        self.tandem("token", "revoke", "prometheus")
        self.assertEqual(self.http("GET", "/metrics", token=view)[0], 401)
        self.tandem("token", "revoke", "prometheus", code=2)
        # all of it is in the audit log, without a token
        log = (self.store / "serve-audit.log").read_text()
        lines = [json.loads(line) for line in log.splitlines()]
        self.assertEqual(stat.S_IMODE(os.stat(self.store / "serve-audit.log").st_mode), 0o600)
        self.assertTrue(any(l["what"] == "POST /v1/jobs" and l.get("made") == f"/v1/jobs/{job}" and l["outcome"] == "done" for l in lines), log)
        self.assertTrue(any(l["what"] == f"DELETE /v1/jobs/{job}" and l["who"] == "token ana" and l["outcome"] == "refused" for l in lines), log)
        self.assertTrue(any(l["what"] == "revoke token prometheus" for l in lines), log)
        for token in (self.token, view, submit):
            self.assertNotIn(token, log + (self.folder / "server.log").read_text())

    def test_beyond_loopback_is_refused(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:8470"):
            self.assertIn("ssh -L", self.tandem("serve", "--name", "b", "--world", "sim", "--nodes", "heats", "--listen", address, code=2).stderr)

    def test_a_sandbox_is_for_programs_on_this_machine(self):
        self.assertIn("--world local", self.tandem("serve", "--name", "b", "--world", "sim", "--nodes", "heats", "--no-port", "--sandbox", code=2).stderr)

    def test_nonsense_is_refused_and_the_server_stays(self):
        post = lambda body: self.http("POST", "/v1/jobs", body, token=self.token)[0]
        for body in ("", "{", "[]", "null", '{"spec": 7}', '{"spec": "kind: train"}', '{"spec": "a: &a [*a]"}', '{"spec": "x", "extra": 1}',
                     json.dumps({"spec": self.plain("true"), "folder": "../x"}), "[" * 100000, '{"spec": "' + "x" * 2_000_000 + '"}'):
            self.assertIn(post(body), (400, 413), body[:50])
        shell = self.plain("true").replace("name: plain", 'name: "$(touch /tmp/pwned);"')
        self.assertEqual(post(json.dumps({"spec": shell})), 400)
        for target in ("/v1/jobs/../../etc/passwd", "/v1/jobs/%2e%2e%2fetc", "/v1/jobs/0%3Brm", "/v1/jobs/99/output", "/v1/nothing", "/v1/jobs?x=1"):
            self.assertIn(self.http("GET", target)[0], (400, 404), target)
        self.assertEqual(self.http("DELETE", "/v1/nodes", token=self.token)[0], 405)
        self.assertEqual(self.http("GET", "/v1/status")[0], 200)

    def test_garbage_and_held_connections_do_not_keep_others_out(self):
        held = []
        try:
            for _ in range(200):
                one = socket.create_connection(("127.0.0.1", self.port), timeout=10)
                one.sendall(b"GET /v1/jo")
                held.append(one)
            for i in range(300):
                with socket.create_connection(("127.0.0.1", self.port), timeout=10) as one:
                    one.sendall(os.urandom(64) + b"\r\n\r\n")
            self.assertEqual(self.http("GET", "/v1/status")[0], 200)
        finally:
            for one in held:
                one.close()

    def test_metrics_are_prometheus(self):
        job = json.loads(self.http("POST", "/v1/jobs", json.dumps({"spec": self.plain("true")}), token=self.token)[1])["job"]
        self.until_over(job)
        status, text = self.http("GET", "/metrics")
        self.assertEqual(status, 200)
        self.assertIn('tandem_jobs{state="finished"} 1', text.decode())
        self.assertIn("# TYPE tandem_cores gauge", text.decode())


class Secrets(ServerCase):
    def test_jobs_get_the_environment_without_secrets(self):
        self.environment.update(MY_API_TOKEN="s3cret", AWS_SECRET_ACCESS_KEY="s3cret", HF_TOKEN="passed-on", HARMLESS="yes")
        self.serve("--nodes", self.nodes, "--no-port", "--pass", "HF_TOKEN")
        job = self.submit(self.plain("env"))
        self.until_over(job)
        printed = self.ask("GET", f"/v1/jobs/{job}/output")[1].decode()
        self.assertIn("HARMLESS=yes", printed)
        self.assertIn("HF_TOKEN=passed-on", printed)
        self.assertNotIn("s3cret", printed)
