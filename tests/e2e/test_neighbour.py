"""Two users of one machine who mean each other no good: neither reads, deletes, stops or delays what is the other's.

Real users: two numbers nobody has, so the tests need root and are skipped without.
"""

import json
import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import time
import unittest

from e2e.harness import TANDEM
from e2e.serving import OverUnixSocket, ServerCase

ANA, BEN = 61001, 61002

# Threads, children, files, pipes, sockets and worker processes: what a program of a job does.
ORDINARY = """
import multiprocessing, socket, subprocess, tempfile, threading
seen = []
workers = [threading.Thread(target=seen.append, args=(i,)) for i in range(3)]
[w.start() for w in workers], [w.join() for w in workers]
code = subprocess.run(['sh', '-c', 'exit 0']).returncode
a, b = socket.socketpair()
a.send(b'x')
with tempfile.NamedTemporaryFile() as file, multiprocessing.get_context('fork').Pool(2) as pool:
    print('an ordinary program:', len(seen), code, b.recv(1).decode(), pool.map(abs, [0, -1, 4]))
"""


def become(user):
    """What a child does before it is another user's program."""
    def change():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        os.umask(0o022)
    return change


@unittest.skipUnless(os.geteuid() == 0, "only root can be two users")
class Neighbours(ServerCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        self.homes = {}
        for user in (ANA, BEN):
            runtime = pathlib.Path("/tmp") / f"tandem-{user}"  # nobody else has these numbers
            shutil.rmtree(runtime, ignore_errors=True)
            self.addCleanup(shutil.rmtree, runtime, ignore_errors=True)
            home = self.folder / f"home-{user}"
            home.mkdir(mode=0o700)
            os.chown(home, user, user)
            self.homes[user] = home
        if subprocess.run([TANDEM, "--version"], preexec_fn=become(ANA), capture_output=True).returncode != 0:
            self.skipTest(f"other users may not run {TANDEM}")

    def environment_of(self, user):
        return {"HOME": str(self.homes[user]), "PATH": "/usr/bin:/bin", "TANDEM_STORE": str(self.homes[user] / "store"), "TANDEM_DATA": self.environment["TANDEM_DATA"]}

    def run_as(self, user, *command, code=0, cwd=None):
        done = subprocess.run([str(word) for word in command], preexec_fn=become(user), env=self.environment_of(user), cwd=cwd or self.homes[user],
                              text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{command}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def start_as(self, user, *command):
        process = subprocess.Popen([str(word) for word in command], preexec_fn=become(user), env=self.environment_of(user), cwd=self.homes[user],
                                   text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(self._stop, process)
        return process

    def spec_of(self, user, name, *command, extra=""):
        file = self.homes[user] / f"{name}.yaml"
        words = json.dumps([str(word) for word in command])
        file.write_text(f"kind: train\nname: {name}\nprogram: {{command: {words}, plain: true}}\nsystem: {{cores: 1, memory: 64MiB}}\n{extra}")
        os.chown(file, user, user)
        return file


class OneServerOfRoot(Neighbours):
    """Both submit to a server that root runs."""

    def setUp(self):
        super().setUp()
        self.door = self.folder / "door" / "tandem.sock"
        self.environment.update(ROOTS_SECRET="hunter2", ROOTS_SETTING="harmless")
        self.serving = self.serve("--nodes", self.nodes, "--listen", "127.0.0.1:0", "--open-socket", self.door)

    def tandem_as(self, user, command, *arguments, code=0):
        return self.run_as(user, TANDEM, command, *arguments, "--server", f"unix:{self.door}", code=code)

    def submit_as(self, user, name, *command):
        done = self.tandem_as(user, "submit", self.spec_of(user, name, *command), "--json", "-")
        return json.loads(done.stdout)["jobs"][0]["job"]

    def task_folder(self, job):
        tasks = self.job(job)["tasks"]
        return next((self.store / "runs").iterdir()) / f"task-{tasks[0]['task']}"

    def test_a_job_runs_as_who_submitted_it(self):
        script = "id -u; id -g; id -G; pwd; env; echo made > $TANDEM_FOLDER/made; echo here > made-here; cat /proc/self/status | grep Groups"
        jobs = {user: self.submit_as(user, "who", "sh", "-c", script) for user in (ANA, BEN)}
        for user, job in jobs.items():
            self.assertEqual(self.until_over(job)["state"], "finished", (self.folder / "server.log").read_text()[-2000:])
            printed = self.tandem_as(user, "output", str(job)).stdout
            self.assertEqual(printed.splitlines()[:4], [str(user), str(user), str(user), str(self.homes[user])])
            self.assertIn(f"USER={user}", printed)
            self.assertNotIn("ROOTS_", printed)
            self.assertNotIn("TANDEM_STORE", printed)
            folder = self.task_folder(job)
            self.assertEqual((folder.stat().st_uid, stat.S_IMODE(folder.stat().st_mode)), (user, 0o700))
            self.assertEqual((folder / "made").stat().st_uid, user)
            self.assertEqual((folder / "output.log").stat().st_uid, user)
            self.assertEqual((self.homes[user] / "made-here").stat().st_uid, user)
            self.assertEqual(self.job(job)["owner"], {"user": user, "name": str(user)})

    def test_neither_sees_nor_ends_the_others_jobs(self):
        job = self.submit_as(ANA, "private-name", "sh", "-c", "echo private-output; sleep 600")
        self.until(lambda: b"private-output" in self.ask("GET", f"/v1/jobs/{job}/output")[1])
        for what in ("", "/explain", "/output", "/result", "/trials", "/trials/0/log"):
            self.assertEqual(self.ask_as(BEN, "GET", f"/v1/jobs/{job}{what}")[0], 403, what)
            self.assertEqual(self.ask_as(BEN, "GET", f"/v1/jobs/private-name{what}")[0], 404, what)
            self.assertEqual(self.ask_as(ANA, "GET", f"/v1/jobs/{job}{what}")[0], 200, what)
        self.assertNotIn("private", self.tandem_as(BEN, "queue", "--all").stdout)
        self.assertIn("private", self.tandem_as(ANA, "queue", "--all").stdout)
        self.assertEqual(self.tandem_as(BEN, "cancel", job, code=2).stdout, "")
        self.tandem_as(BEN, "cancel", "private-name", code=2)
        pid = self.pid_of(job)
        self.assertNotEqual(self.run_as(BEN, "sh", "-c", f"kill -9 {pid}", code=None).returncode, 0)
        folder = self.task_folder(job)
        for command in (f"cat {folder}/output.log", f"ls {folder}", f"rm -rf {folder}", f"touch {folder}/x", f"mv {folder} {folder}.x",
                        f"ls {self.store}", f"cat {self.store}/serve-token", f"ls {self.store}/tokens", f"cat {self.store}/tandem.db",
                        f"cat {self.store}/serve-audit.log", f"ls {folder.parent}", f"touch {self.store}/x {folder.parent}/x", f"rm {self.store}/tandem.db",
                        f"rm {self.door}", f"mv {self.door} {self.door}.x"):
            self.assertNotEqual(self.run_as(BEN, "sh", "-c", command, code=None).returncode, 0, command)
        self.assertEqual(self.job(job)["state"], "running")
        audit = [json.loads(line) for line in (self.store / "serve-audit.log").read_text().splitlines()]
        self.assertTrue(any(l.get("user") == BEN and l["outcome"] == "refused" and l["what"] == f"DELETE /v1/jobs/{job}" for l in audit))
        self.tandem_as(ANA, "cancel", job)
        self.assertEqual(self.until_over(job)["state"], "stopped")

    def test_a_task_folder_full_of_links_reaches_nothing_of_roots(self):
        victim = self.folder / "victim"
        victim.write_text("root's\n")
        victim.chmod(0o600)
        script = (f"cd $TANDEM_FOLDER; rm output.log; ln -s {victim} output.log; exit 1")
        job = self.submit_as(ANA, "links", "sh", "-c", script)
        self.until_over(job)
        self.assertEqual(victim.read_text(), "root's\n")
        self.assertNotIn("root's", json.dumps(self.job(job)))
        self.assertNotIn("root's", str(self.ask_as(ANA, "GET", f"/v1/jobs/{job}/output")[1]))

    def test_a_folder_one_may_not_enter_is_refused(self):
        status, answer = self.ask_as(BEN, "POST", "/v1/jobs", {"spec": self.plain("true"), "folder": str(self.homes[ANA])})
        self.assertEqual(status, 400, answer)
        self.assertIn("may not enter", answer["error"])

    def test_a_store_that_users_cannot_reach_is_told(self):
        self.serving.terminate()
        self.serving.wait(60)
        private = self.folder / "private"
        private.mkdir(mode=0o700)
        self.serve("--store", private / "store", "--nodes", self.nodes, "--no-port", "--open-socket", self.door)
        status, answer = self.ask_as(ANA, "POST", "/v1/jobs", {"spec": self.plain("true"), "folder": str(self.homes[ANA])})
        self.assertEqual(status, 400, answer)
        self.assertIn("--store in a folder that users can pass", answer["error"])

    def test_a_token_is_for_its_user(self):
        token = self.tandem("token", "create", "--role", "submit", "--name", "ana", "--user", ANA).stdout
        file = self.homes[ANA] / "token"
        file.write_text(token)
        file.chmod(0o600)
        os.chown(file, ANA, ANA)
        server = ["--server", f"127.0.0.1:{self.port}", "--token", file]
        done = self.run_as(ANA, TANDEM, "submit", self.spec_of(ANA, "by-token", "id", "-u"), "--wait", "--json", "-", *server)
        job = json.loads(done.stdout)["jobs"][0]["job"]
        self.assertEqual(self.run_as(ANA, TANDEM, "output", str(job), *server).stdout, f"{ANA}\n")
        self.assertNotEqual(self.run_as(BEN, TANDEM, "queue", *server, code=None).returncode, 0)
        self.tandem("token", "revoke", "ana")
        self.run_as(ANA, TANDEM, "queue", *server, code=2)

    def test_others_who_crowd_the_door_do_not_delay_one(self):
        held = [self.start_as(BEN, "python3", "-c", f"import socket,time\ns=[socket.socket(socket.AF_UNIX) for _ in range(200)]\n"
                              f"[x.connect('{self.door}') for x in s]\nprint('ready', flush=True)\ntime.sleep(600)") for _ in range(2)]
        for one in held:
            self.assertEqual(one.stdout.readline(), "ready\n")
        job = self.submit_as(ANA, "calm", "true")
        self.assertEqual(self.until_over(job, 60)["state"], "finished")

    def test_a_job_stays_its_owners_when_it_is_archived_and_the_server_starts_again(self):
        self.serving.terminate()
        self.serving.wait(60)
        begin = lambda: self.serve("--nodes", self.nodes, "--no-port", "--open-socket", self.door, "--archive-after", "0s")
        server = begin()
        job = self.submit_as(ANA, "private-name", "echo", "private-output")
        self.until(lambda: self.job(job).get("archived"))
        for again in (False, True):
            if again:
                server.kill()
                server.wait(60)
                begin()
            self.assertEqual(self.job(job)["owner"]["user"], ANA)
            for what in ("", "/explain", "/output", "/result"):
                self.assertEqual(self.ask_as(BEN, "GET", f"/v1/jobs/{job}{what}")[0], 403, what)
                self.assertEqual(self.ask_as(BEN, "GET", f"/v1/jobs/private-name{what}")[0], 404, what)
                self.assertEqual(self.ask_as(ANA, "GET", f"/v1/jobs/private-name{what}")[0], 200, what)
            self.assertNotIn("private", json.dumps(self.ask_as(BEN, "GET", "/v1/jobs")[1]))
            self.assertIn("private", json.dumps(self.ask_as(ANA, "GET", "/v1/jobs")[1]))

    def test_anothers_archived_job_of_the_same_name_hides_nothing(self):
        self.serving.terminate()
        self.serving.wait(60)
        self.serve("--nodes", self.nodes, "--no-port", "--open-socket", self.door, "--archive-after", "0s")
        jobs = {user: self.submit_as(user, "same", "true") for user in (ANA, BEN)}
        for job in jobs.values():
            self.until(lambda: self.job(job).get("archived"))
        for user, job in jobs.items():
            status, answer = self.ask_as(user, "GET", "/v1/jobs/same")
            self.assertEqual((status, answer.get("job")), (200, job), answer)

    def pid_of(self, job):
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and entry.stat().st_uid == ANA and b"sleep 600" in (entry / "cmdline").read_bytes().replace(b"\0", b" "):
                    return int(entry.name)
            except OSError:
                continue
        self.fail("the job has no process")

    def ask_as(self, user, method, target, body=None):
        """Over the open socket, as that user: a child asks, for the kernel says who connects."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                become(user)()
                connection = OverUnixSocket(self.door)
                connection.request(method, target, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"} if body is not None else {})
                answer = connection.getresponse()
                os.write(write, json.dumps([answer.status, answer.read().decode(errors="replace")]).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as said:
            text = said.read()
        os.waitpid(pid, 0)
        status, answer = json.loads(text)
        return status, json.loads(answer) if answer.startswith("{") else answer


class EachForThemselves(Neighbours):
    """Both run Tandem of their own, on one machine."""

    def test_neither_reads_deletes_nor_stops_the_others(self):
        spec = self.spec_of(ANA, "long", "sh", "-c", "echo secret-output; exec sleep 600")
        run = self.start_as(ANA, TANDEM, "serve", "--world", "sim", "--nodes", "heats", "--no-port")
        self.assertIn("Serving", run.stdout.readline())
        train = self.start_as(ANA, TANDEM, "train", spec)
        store = self.homes[ANA] / "store"
        self.until(lambda: any(p.read_text().startswith("secret") for p in store.glob("runs/*/output.log")))
        for path in [pathlib.Path("/tmp") / f"tandem-{ANA}", store, store / "serve-main.sock", store / "serve-token", store / "tandem.db"]:
            if not path.exists():
                continue
            for command in (f"cat {path}", f"ls {path}/", f"rm -rf {path}", f"mv {path} {path}.x", f"touch {path}/x", f"chmod 777 {path}"):
                self.assertNotEqual(self.run_as(BEN, "sh", "-c", command, code=None).returncode, 0, command)
        for command in ("runs", "queue"):
            self.assertNotIn("long", self.run_as(BEN, TANDEM, command, "--store", store, code=None).stdout)
        for process in (run, train):
            self.assertNotEqual(self.run_as(BEN, "sh", "-c", f"kill -9 {process.pid}", code=None).returncode, 0)
            self.assertIsNone(process.poll())

    def test_a_runtime_folder_made_by_the_other_is_not_used(self):
        # Ben was there first: Ana's commands work in her home, and neither use nor remove what is in it.
        runtime = pathlib.Path("/tmp") / f"tandem-{ANA}"
        self.run_as(BEN, "sh", "-c", f"mkdir -m 777 {runtime} && mkdir -m 777 {runtime}/queue && echo ben > {runtime}/queue/0 && chmod 666 {runtime}/queue/0")
        done = self.run_as(ANA, TANDEM, "train", self.spec_of(ANA, "short", "true"))
        self.assertNotIn(str(runtime), done.stderr)
        self.assertEqual((runtime / "queue/0").read_text(), "ben\n")

    def test_one_at_work_does_not_hold_the_others_lock(self):
        train = self.start_as(BEN, TANDEM, "train", self.spec_of(BEN, "long", "sleep", "600"))
        store = self.homes[BEN] / "store"
        self.until(lambda: list(store.glob("runs/*/output.log")))
        began = time.monotonic()
        self.run_as(ANA, TANDEM, "train", self.spec_of(ANA, "short", "true"))
        self.assertLess(time.monotonic() - began, 120)
        self.assertIsNone(train.poll())


class Sandboxed(Neighbours):
    def test_a_sandboxed_job_of_ones_own_reaches_neither_token_nor_server(self):
        process = self.start_as(ANA, TANDEM, "serve", "--no-port", "--sandbox")
        self.assertIn("Serving", process.stdout.readline())
        self.check_sandbox(ANA, process, self.homes[ANA] / "store", [])

    def test_a_sandboxed_job_of_a_user_of_roots_server(self):
        door = self.folder / "door" / "tandem.sock"
        server = self.serve("--no-port", "--sandbox", "--open-socket", door)
        self.check_sandbox(ANA, server, self.store, ["--server", f"unix:{door}"])

    def check_sandbox(self, user, server, store, where):
        (self.homes[user] / "private").write_text("of the working folder\n")
        script = (f"cat private; cat {store}/serve-token; ls {store}; touch {store}/x; cat /proc/{server.pid}/root{store}/serve-token; "
                  f"cat /proc/{server.pid}/environ; kill -9 {server.pid}; echo kept > $TANDEM_FOLDER/kept; touch /tmp/{user}-was-here; ls /tmp; unshare -r true && echo unshared; "
                  f"/usr/bin/python3 -c {shlex.quote(ORDINARY)}; echo over")
        done = self.run_as(user, TANDEM, "submit", self.spec_of(user, "in-a-box", "sh", "-c", script), "--wait", "--json", "-", *where)
        job = json.loads(done.stdout)["jobs"][0]
        self.assertEqual(job["state"], "finished", job)
        printed = self.run_as(user, TANDEM, "output", str(job["job"]), *where).stdout
        self.assertIn("of the working folder", printed)
        self.assertIn("an ordinary program: 3 0 x [0, 1, 4]", printed)
        self.assertNotIn("unshared", printed)
        self.assertTrue(printed.endswith("over\n"), printed)
        self.assertNotIn((store / "serve-token").read_text().strip(), printed)
        self.assertNotIn("tandem.db", printed)
        self.assertNotIn("TANDEM_STORE=", printed)
        self.assertFalse((store / "x").exists())
        self.assertFalse(pathlib.Path(f"/tmp/{user}-was-here").exists())
        self.assertEqual(list(store.glob("runs/*/task-0/kept"))[0].read_text(), "kept\n")
        self.assertIsNone(server.poll())
