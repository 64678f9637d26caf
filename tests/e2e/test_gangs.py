"""Tasks of several nodes through the server: the trainer averages gradients, and a program written for torchrun finds its
peers. On a real Slurm cluster on loopback, and on local nodes."""

import sys
import unittest

from e2e.serving import ServerCase, SlurmCluster

TRAINING = """\
kind: train
name: gang
program: {{model: lenet5, dataset: digits}}
hyper: {{batch_size: 128, epochs: 2, optimizer: sgd, learning_rate: 0.05, dropout: 0}}
system: {{cores: 1, memory: 1GiB, nodes: {nodes}}}
seed: 3
"""

# What torch.distributed's env:// does without torch: meet rank 0, send it a number, hear the sum of all.
MEET = """\
import os, socket, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
def line(connection):
    return connection.makefile().readline()
if rank == 0:
    with socket.create_server(at) as server:
        peers = [server.accept()[0] for _ in range(size - 1)]
        total = sum(int(line(peer)) for peer in peers)
        for peer in peers:
            peer.sendall(f"{total}\\n".encode())
    print("the others add up to", total, flush=True)
else:
    while True:
        try:
            connection = socket.create_connection(at)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    connection.sendall(f"{10 ** rank}\\n".encode())
    assert int(line(connection)) == sum(10 ** other for other in range(1, size))
"""


class Gangs(ServerCase):
    def losses(self, nodes):
        job = self.submit(TRAINING.format(nodes=nodes))
        over = self.until_over(job, 300)
        self.assertEqual(over["state"], "finished", over)
        task = over["tasks"][0]
        self.assertEqual(len(task.get("nodes", [task["node"]])), nodes)
        return [epoch["metrics"]["train_loss"] for epoch in task["epochs"]]

    def train_and_meet(self, *world):
        self.serve("--no-port", "--policy", "first-fit", *world)
        alone, together = self.losses(1), self.losses(2)
        self.assertEqual(len(together), 2)
        for one, two in zip(alone, together):
            # The same batches and weights; sums are taken in another order.
            self.assertAlmostEqual(one, two, delta=0.02 * one, msg=f"{alone} {together}")
        script = self.folder / "meet.py"
        script.write_text(MEET)
        job = self.submit(self.plain(sys.executable, script).replace("cores: 1", "cores: 1, nodes: 3"))
        self.assertEqual(self.until_over(job)["state"], "finished")
        self.assertIn("the others add up to 110", self.tandem("output", job).stdout)
        self.assertIn("on each of 3 nodes", self.tandem("queue", "--all").stdout)

    def test_on_slurm(self):
        SlurmCluster(self)
        self.train_and_meet("--world", "slurm")

    def test_on_local_nodes(self):
        nodes = self.spec("""\
kind: cluster
name: three
devices: {part: {kind: cpu, cores: 1, clock: 2GHz, memory: 1GiB}}
node_types: {part: {devices: {part: 1}}}
nodes: {part: 3}
network: {kind: star, bandwidth: 1Gb/s, latency: 50us}
""", "three.yaml")
        self.train_and_meet("--nodes", nodes)


if __name__ == "__main__":
    unittest.main()
