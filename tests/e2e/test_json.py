"""Every command has an example in its help, and `--json -` prints JSON alone."""

import json
import re
import subprocess

from e2e.harness import ROOT, TANDEM, Case
from e2e.serving import ServerCase


def subcommands(text):
    """Names below "Subcommands:" in a help."""
    _, _, rest = text.partition("Subcommands:\n")
    return re.findall(r"^  ([a-z][a-z-]*) ", rest.split("\n\n")[0], re.M)


class Answers(ServerCase):
    def leaves(self):
        """Every command that answers: ("data", "list"), ("train",), ..."""
        for name in subcommands(self.tandem("--help").stdout):
            verbs = subcommands(self.tandem(name, "--help").stdout)
            yield from [(name, verb) for verb in verbs] or [(name,)]

    def test_help_shows_an_example_and_json(self):
        commands = list(self.leaves())
        self.assertGreater(len(commands), 30, "the list of commands is read from the help")
        for command in commands:
            said = self.tandem(*command, "--help").stdout
            with self.subTest(" ".join(command)):
                self.assertIn("--json FILE|-", said)
                self.assertRegex(said, rf"Examples:\n[^$]*tandem {command[0]}")

    def answer(self, *arguments, code=0):
        """What is on standard output must be JSON from its first byte to its last."""
        done = self.tandem(*arguments, "--json", "-", code=code)
        try:
            return json.loads(done.stdout)
        except ValueError as error:
            self.fail(f"{' '.join(map(str, arguments))}: {error}: {done.stdout[:300]}")

    def test_json_alone_on_standard_output(self):
        self.tandem("data", "get", "digits")
        model = self.spec("kind: train\nname: model\nprogram: {model: mlp, dataset: digits}\nhyper: {epochs: 1, batch_size: 256}\n")
        choices = self.spec("kind: train\nname: choices\nprogram: {model: mlp, dataset: digits}\n"
                            "hyper: {epochs: 1, batch_size: {choice: [128, 256]}}\n", "choices.yaml")
        search = self.spec("kind: tune\nname: search\nprogram: {model: mlp, dataset: digits}\nhyper: {batch_size: {choice: [128, 256]}}\n"
                           "search: {algorithm: random, trials: 1, max_epochs: 1}\nsystem: {cores: 1}\nobjective: {maximise: accuracy}\n", "search.yaml")
        image = self.folder / "image.pgm"
        image.write_bytes(b"P5 28 28 255\n" + bytes(28 * 28))
        known = self.folder / "known.json"
        rows = [  # in an order that works: each after what it needs
            ("train", model), ("tune", search), ("characterize", choices, "--plan"), ("advise", choices, "--slo", "1h", "--running", "none"),
            ("knowledge",), ("knowledge", "--export", known), ("knowledge", "--import", known), ("knowledge", "--forget"),
            ("sim", ROOT / "examples/sim-minsky-fathom.yaml"),
            ("runs",), ("show", "model"), ("show", "model", "--verify"), ("report", "model", "-o", self.folder / "page.html"),
            ("logs", "model"), ("stop", "model"), ("resume", "model"), ("predict", "model", image), ("infer", "model", "--requests", "5"),
            ("data", "list"), ("data", "get", "digits"), ("data", "check", "digits"), ("doctor",), ("tell", "accuracy=1"), ("schema",),
            ("completion", "bash"), ("token", "create", "--role", "view", "--name", "t"), ("token", "list"), ("token", "revoke", "t"),
            ("rm", "search", "--yes"),
        ]
        for row in rows:
            with self.subTest(" ".join(map(str, row))):
                self.answer(*row)
        asked = {row[:2] if row[0] in ("data", "token") else row[:1] for row in rows}
        asked |= self.a_server_answers()
        self.assertEqual(asked, set(self.leaves()), "each command has its row here")

    def a_server_answers(self):
        process = subprocess.Popen([TANDEM, "serve", "--world", "sim", "--nodes", str(self.nodes), "--no-port", "--time-factor", "1000", "--json", "-"],
                                   env=self.environment, text=True, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(self._end, process)
        text = ""
        while not text.endswith("\n}\n"):
            line = process.stdout.readline()
            self.assertTrue(line, f"it ended: {text}")
            text += line
        self.assertTrue(json.loads(text)["addresses"])
        job = self.spec("kind: train\nname: job\nprogram: {command: [work], plain: true}\nplace: {takes: 1000000s}\n", "submitted.yaml")
        rows = [("submit", job), ("queue",), ("nodes",), ("explain", "job"), ("cancel", "job")]
        for row in rows:
            with self.subTest(" ".join(map(str, row))):
                self.answer(*row)
        # A simulated world prints nothing and has no kernels to probe with: what they are asked is refused in words.
        for row in (("output", "job"), ("probe",)):
            done = self.tandem(*row, "--json", "-", code=None)
            self.assertTrue(done.returncode != 0 and not done.stdout or json.loads(done.stdout))
        return {row[:1] for row in rows} | {("serve",), ("output",), ("probe",)}


class Letters(Case):
    def test_a_run_is_named_by_its_id(self):
        run = self.json("train", self.speaker_spec("--say", "hello"))["run"]
        said = self.json("logs", "last")
        self.assertEqual(said["run"], run)
        self.assertIn("hello", said["output"])
        self.assertTrue(self.json("show", "last", "--verify")["same"])
        self.assertIn("excludes", self.tandem("show", "last", "--journal", "--json", "-", code=2).stderr)
