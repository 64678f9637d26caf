#!/usr/bin/env python3
"""A real Slurm cluster on the loopback of this machine, for tests: munged, slurmctld and several slurmd.

    tests/slurm/cluster.py run [--nodes N] [--cpus C] -- COMMAND...   runs a command with SLURM_CONF set
    tests/slurm/cluster.py hold [--nodes N] [--cpus C]                until its standard input ends, or a signal
    tests/slurm/cluster.py check                                      exit 0, or 77 and why there can be none

Everything lives in one temporary folder: configuration, keys, sockets, state, logs. /etc is not touched, nothing
listens beyond the loopback, and root is not needed: the daemons run as whoever calls this, and so do the jobs. All
daemons end with this program, however it ends (PR_SET_PDEATHSIG); what jobs left behind is found by SLURM_CONF in its
environment and ended too (not after a kill -9 of this program: then jobs' processes stay). `hold` prints one line of JSON when
the cluster is up, {"conf", "folder", "nodes"}, then obeys lines (stop NAME, kill NAME, kill_node NAME, start NAME) and says "done" after each.

As a module: `with Cluster(nodes=3) as cluster: cluster.slurm("sinfo")`; `cluster.kill_node(name)` loses a node.
"""

import argparse
import contextlib
import ctypes
import getpass
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
NEEDED = ["munged", "slurmctld", "slurmd", "sinfo", "squeue", "sbatch", "scancel", "scontrol", "srun"]
PATHS = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

CONFIGURATION = """\
ClusterName=tandem-test
SlurmctldHost=localhost
SlurmctldPort={controller_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldParameters=enable_configless
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0,sched_min_interval=100000
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout={node_timeout}
KillWait=2
MinJobAge={job_age}
InactiveLimit=0
MailProg=/bin/true
GresTypes=gpu
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=60 DefaultTime=10 State=UP
PartitionName=short Nodes={names} MaxTime=1 DefaultTime=1 OverTimeLimit=0 State=UP
"""
NODE = "NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory={memory} Gres=gpu:2 State=UNKNOWN"


def why_not():
    """Why no cluster can be started here; empty when it can."""
    missing = [program for program in NEEDED if not shutil.which(program, path=PATHS)]
    return f"not installed: {', '.join(missing)} (tools/setup slurm)" if missing else ""


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Cluster:
    def __init__(self, nodes=3, cpus=4, memory=4000, node_timeout=10, job_age=20):
        reason = why_not()
        if reason:
            raise RuntimeError(f"no Slurm cluster can be started: {reason}")
        self.names = [f"n{i}" for i in range(nodes)]
        self.cpus, self.memory = cpus, memory
        self.node_timeout, self.job_age = node_timeout, job_age
        self.daemons = {}

    def __enter__(self):
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
        # Short: a Unix socket's path has at most 107 bytes.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-slurm-", dir="/tmp"))
        self.folder.chmod(0o711)  # munged wants its socket to be reachable for all
        self.conf = self.folder / "slurm.conf"
        self.environment = dict(os.environ, PATH=PATHS, SLURM_CONF=str(self.conf))
        try:
            self._configure()
            self._start_munge()
            self.start_controller()
            for name in self.names:
                self.start_node(name)
            self.await_nodes(self.names)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Ends the daemons, then whatever of theirs is left, and removes the folder."""
        for name in reversed(list(self.daemons)):
            self.kill(name)
        deadline = time.monotonic() + 20
        while (left := self._left_behind()) and time.monotonic() < deadline:
            end(left)
            time.sleep(0.05)
            reap()
        reap()
        shutil.rmtree(self.folder, ignore_errors=True)

    def slurm(self, *command, check=True):
        """Runs a Slurm command on this cluster; what it printed."""
        done = subprocess.run([str(part) for part in command], env=self.environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        if check and done.returncode != 0:
            raise RuntimeError(f"{command}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def start_controller(self):
        self._start("slurmctld", "slurmctld", "-D", "-f", self.conf)

    def start_node(self, name):
        self._start(name, "slurmd", "-D", "-N", name, "-f", self.conf)

    def kill(self, name):
        """Ends a daemon ("slurmctld", or a node's name) at once; its jobs' processes stay."""
        daemon = self.daemons.pop(name)
        daemon.kill()
        daemon.wait()

    def stop(self, name):
        """Asks a daemon to end. A controller saves its state then; one that is killed forgets its last seconds, gives
        the same job ids out again and drains the nodes where they are still known."""
        daemon = self.daemons.pop(name)
        daemon.terminate()
        daemon.wait()

    def kill_node(self, name):
        """A node as it looks after its power failed: slurmd, its step managers and all their processes are gone."""
        self.kill(name)
        end(self._left_behind(name))

    def _start(self, name, *command):
        log = open(self.folder / f"{name}.out", "ab")
        self.daemons[name] = subprocess.Popen([str(part) for part in command], env=self.environment, stdout=log,
                                              stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_parent)
        log.close()

    def _configure(self):
        ports = free_ports(1 + len(self.names))
        (self.folder / "state").mkdir()
        for name in self.names:
            (self.folder / f"spool-{name}").mkdir()
        nodes = [NODE.format(name=name, port=port, cpus=self.cpus, memory=self.memory)
                 for name, port in zip(self.names, ports[1:])]
        self.conf.write_text(CONFIGURATION.format(
            controller_port=ports[0], folder=self.folder, user=getpass.getuser(), nodes="\n".join(nodes),
            names=",".join(self.names), node_timeout=self.node_timeout, job_age=self.job_age))
        for number in range(2):  # GPUs that can be counted and given out, no more
            (self.folder / f"gpu{number}").touch()
        (self.folder / "gres.conf").write_text(f"Name=gpu File={self.folder}/gpu[0-1]\n")
        # No constraints by cgroup: a container has none to give away.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=autodetect\n")

    def _start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        files = [f"--{what}-file={self.folder}/munge.{what}" for what in ("key", "pid", "log", "seed")]
        self._start("munged", "munged", "--foreground", "--num-threads=2", f"--socket={self.folder}/munge.socket",
                    *files)
        self._await(lambda: (self.folder / "munge.socket").exists(), "munged", 10)

    def await_nodes(self, names):
        """Until the controller answers and has heard of these nodes."""
        def ready():
            listed = self.slurm("sinfo", "-h", "-N", "-o", "%N %T", check=False).split("\n")
            up = {line.split()[0] for line in listed if line.split()[1:] in [["idle"], ["mixed"], ["allocated"]]}
            return up >= set(names)
        self._await(ready, "the nodes", 60)

    def _await(self, true_at_last, what, seconds):
        deadline = time.monotonic() + seconds
        while not true_at_last():
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise RuntimeError(f"{name} ended with {daemon.returncode}: {self._log_of(name)}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"waited {seconds} s for {what}: {self._log_of('slurmctld')}")
            time.sleep(0.05)

    def _log_of(self, name):
        texts = [file.read_text(errors="replace")[-1500:] for file in self.folder.glob(f"*{name}*")
                 if file.suffix in (".out", ".log")]
        return "\n".join(texts)

    @staticmethod
    def _is_step_manager(process):
        """One of ours whose node is gone: orphans come to us, we are their subreaper."""
        parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        return parent == os.getpid() and (process / "comm").read_text().strip() == "slurmstepd"

    def _left_behind(self, node=None):
        """Step managers first, then their processes: those of this cluster, or of one node's jobs.

        A job's processes have SLURM_CONF (and their node) in their environment; a step manager writes over its own,
        and is known as their parent.
        """
        managers, processes = [], []
        mine = {os.getpid(), os.getppid(), *(daemon.pid for daemon in self.daemons.values())}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in mine:
                continue
            try:
                if node is None and self._is_step_manager(entry):
                    managers.append(int(entry.name))
                variables = (entry / "environ").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                manager = pathlib.Path(f"/proc/{parent}/comm").read_text().strip() == "slurmstepd"
            except OSError:
                continue
            of_a_job = any(variable.startswith(b"SLURM_JOB_ID=") for variable in variables)
            if not of_a_job or f"SLURM_CONF={self.conf}".encode() not in variables:
                continue
            if node is None or f"SLURMD_NODENAME={node}".encode() in variables:
                processes.append(int(entry.name))
                if manager:
                    managers.append(parent)
        return list(dict.fromkeys(managers)) + processes


def end(processes):
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def reap():
    """What the daemons left to us (we are their subreaper) must not stay as zombies."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main():
    parser = argparse.ArgumentParser(description="A Slurm cluster on loopback, for tests.")
    parser.add_argument("action", choices=["run", "hold", "check"])
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--node-timeout", type=int, default=10)
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    if why_not():
        print(f"skipped: {why_not()}")
        return SKIPPED
    if options.action == "check":
        return 0
    # A signal unwinds like an exception, so that the cluster goes with us.
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda *_: sys.exit(1))
    with Cluster(options.nodes, options.cpus, node_timeout=options.node_timeout) as cluster:
        if options.action == "run":
            return subprocess.run(options.command, env=cluster.environment).returncode
        print(json.dumps({"conf": str(cluster.conf), "folder": str(cluster.folder), "nodes": cluster.names}), flush=True)
        for line in sys.stdin:
            obey(cluster, *line.split())
            print("done", flush=True)
    return 0


def obey(cluster, order, name):
    if order == "stop":
        cluster.stop(name)
    elif order == "kill":
        cluster.kill(name)
    elif order == "kill_node":
        cluster.kill_node(name)
    elif order == "start" and name == "slurmctld":
        cluster.start_controller()
        cluster.await_nodes([name for name in cluster.names if name in cluster.daemons])
    elif order == "start":
        cluster.start_node(name)
        cluster.await_nodes([name])
    else:
        sys.exit(f"cluster.py: there is no order '{order}'")


if __name__ == "__main__":
    sys.exit(main())
