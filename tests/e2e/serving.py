"""What tests of the server share: one that is started, waited for, killed and started again."""

import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time

from e2e.harness import ROOT, TANDEM, Case

NODES = """\
kind: cluster
name: test
devices:
  quick: {kind: cpu, cores: 2, clock: 2GHz, memory: 512MiB, power: [50W, 250W]}
  thrifty: {kind: cpu, cores: 2, clock: 1GHz, memory: 512MiB, power: [5W, 15W]}
node_types: {quick: {devices: {quick: 1}}, thrifty: {devices: {thrifty: 1}}}
nodes: {quick: 1, thrifty: 2}
network: {kind: star, bandwidth: 1Gb/s, latency: 50us}
"""


CLUSTER = ROOT / "tests/slurm/cluster.py"


class SlurmCluster:
    """A real Slurm cluster on loopback, in a process of its own that ends with this one."""

    def __init__(self, case, nodes=3, cpus=2):
        self.process = subprocess.Popen([sys.executable, str(CLUSTER), "hold", "--nodes", str(nodes), "--cpus", str(cpus)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        case.addCleanup(self.end)
        line = self.process.stdout.readline()
        if line.startswith("skipped"):
            case.skipTest(line.strip())
        case.environment["SLURM_CONF"] = json.loads(line)["conf"]
        case.environment["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class OverUnixSocket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class ServerCase(Case):
    def setUp(self):
        super().setUp()
        self.nodes = self.spec(NODES, "nodes.yaml")

    def serve(self, *arguments):
        """Starts a server and waits until it answers."""
        log = open(self.folder / "server.log", "a")
        self.addCleanup(log.close)
        process = subprocess.Popen([TANDEM, "serve", *map(str, arguments)], env=self.environment, text=True, cwd=ROOT,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self.addCleanup(self._stop, process)
        line = process.stdout.readline()
        self.assertIn("Serving", line, pathlib.Path(log.name).read_text())
        found = re.search(r"127\.0\.0\.1:(\d+)", line)
        self.port = int(found.group(1)) if found else None
        return process

    @staticmethod
    def _stop(process):
        """Gently, so that it takes its cgroups and programs with it; by force when it does not listen."""
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        process.communicate()

    def ask(self, method, target, body=None, name="main", headers=None):
        """Over the Unix socket, as its owner: status and JSON."""
        connection = OverUnixSocket(self.store / f"serve-{name}.sock")
        headers = dict(headers or {}, **({"Content-Type": "application/json"} if body is not None else {}))
        connection.request(method, target, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if answer.getheader("Content-Type") == "application/json" else text

    def plain(self, *command, cores=1, extra=""):
        words = json.dumps([str(word) for word in command])
        return (f"kind: train\nname: plain\nprogram: {{command: {words}, plain: true}}\n"
                f"system: {{cores: {cores}, memory: 64MiB}}\n{extra}")

    def submit(self, text):
        status, job = self.ask("POST", "/v1/jobs", {"spec": text, "folder": str(self.folder)})
        self.assertEqual(status, 201, job)
        return job["job"]

    def job(self, job):
        status, answer = self.ask("GET", f"/v1/jobs/{job}")
        self.assertEqual(status, 200, answer)
        return answer

    def until(self, what, timeout=120):
        """Polls until `what` returns something true; that."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.05)
        self.fail("waited in vain; the server's log:\n" + (self.folder / "server.log").read_text()[-4000:])

    def until_over(self, job, timeout=120):
        return self.until(lambda: (lambda j: j if j["ended"] is not None else None)(self.job(job)), timeout)

    def journal(self, run):
        lines = self.tandem("show", run, "--journal").stdout.splitlines()
        return [json.loads(line) for line in lines]
