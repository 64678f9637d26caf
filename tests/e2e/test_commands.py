"""Every command, as a person uses it."""

import json
import os
import pathlib
import pty
import select
import subprocess
import time

from e2e.harness import TANDEM, Case


class Training(Case):
    def test_a_run_from_spec_to_table(self):
        done = self.tandem("train", self.speaker_spec("--say", "hello there"))
        self.assertIn("speaker finished: 3 of 3 epochs", done.stdout)
        self.assertIn("energy", done.stdout)
        for epoch in ("epoch 1/3", "epoch 2/3", "epoch 3/3"):
            self.assertIn(epoch, done.stderr)
        run = self.runs()[0]
        self.assertEqual((run["name"], run["kind"], run["state"]), ("speaker", "train", "finished"))
        self.assertIn("hello there", self.tandem("logs", "last").stdout)
        self.assertIn("attempt", self.tandem("show", "speaker").stdout)

    def test_json_alone_on_stdout_and_its_shape(self):
        result = self.json("train", self.speaker_spec())
        for key in ("run", "metrics", "train_seconds", "joules", "energy_source", "epochs", "hyper", "system", "state"):
            self.assertIn(key, result)
        self.assertTrue(result["energy_source"] is None or result["joules"] > 0)

    def test_json_to_a_file_beside_the_table(self):
        target = self.folder / "result.json"
        done = self.tandem("train", self.speaker_spec(), "--json", target)
        self.assertIn("finished", done.stdout)
        self.assertEqual(json.loads(target.read_text())["state"], "finished")

    def test_the_seed_on_the_command_line_wins(self):
        spec = self.speaker_spec(extra="seed: 5\n")
        own, given, same = (self.json("train", spec, *more) for more in ([], ["--seed", "6"], ["--seed", "5"]))
        self.assertEqual(own["metrics"], same["metrics"])
        self.assertNotEqual(own["metrics"], given["metrics"])

    def test_energy_without_a_source_is_null_not_zero(self):
        result = self.json("train", self.speaker_spec(extra="energy: {source: none}\n"))
        self.assertIsNone(result["joules"])
        self.assertIsNone(result["energy_source"])

    def test_energy_by_the_model_carries_its_parameters(self):
        result = self.json("train", self.speaker_spec(extra="energy: {source: model, idle: 10W, busy: 40W}\n"))
        self.assertIn("model", result["energy_source"])
        self.assertIn("10 W", result["energy_source"])
        self.assertIn("40 W", result["energy_source"])

    def test_the_replay_of_a_real_run_decides_the_same(self):
        run = self.json("train", self.speaker_spec("--kill-at", 99))["run"]
        self.assertIn("every decision the same", self.tandem("show", run, "--verify").stdout)
        journal = [json.loads(line) for line in self.tandem("show", run, "--journal").stdout.splitlines()]
        self.assertEqual([entry["number"] for entry in journal], list(range(1, len(journal) + 1)))
        self.assertEqual(sum(entry["event"]["is"] == "EpochEnded" for entry in journal), 3)

    def test_the_time_limit_stops_and_more_time_is_not_given_by_resuming(self):
        spec = self.speaker_spec("--sleep-ms", 50, epochs=1000, extra="limits: {time: 500ms}\n")
        result = self.json("train", spec, code=1)
        self.assertEqual(result["state"], "stopped")
        self.assertIn("limits.time", result["reason"])
        self.assertGreater(len(result["epochs"]), 0)
        again = self.json("resume", result["run"], code=1)
        self.assertIn("limits.time", again["reason"])
        self.assertLess(len(again["epochs"]), 100)


class Resuming(Case):
    def test_a_finished_run_repeats_its_result(self):
        first = self.json("train", self.speaker_spec())
        again = self.json("resume", first["run"])
        self.assertEqual(first["epochs"], again["epochs"])

    def test_a_running_run_cannot_be_resumed_or_removed_but_stopped(self):
        process = self.start("train", self.speaker_spec("--sleep-ms", 20, epochs=100000))
        while not self.store.exists() or not any(run["state"] == "running" for run in self.runs()):
            time.sleep(0.02)
        run = self.runs()[0]["id"]
        self.assertIn("another process", self.tandem("resume", run, code=2).stderr)
        self.assertIn("stop", self.tandem("rm", run, "--yes", code=2).stderr)
        self.assertEqual(self.json("stop", run), {"run": run, "stopped": True})
        process.communicate()
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.runs()[0]["state"], "stopped")
        self.assertIn("not at work", self.tandem("stop", run).stdout)

    def test_a_second_run_queues_behind_the_first(self):
        first = self.start("train", self.speaker_spec("--sleep-ms", 20, epochs=50))
        while not self.store.exists() or not self.runs():
            time.sleep(0.02)
        second = self.tandem("train", self.speaker_spec())
        self.assertIn("waiting", second.stderr)
        first.communicate()
        self.assertEqual(first.returncode, 0)
        self.assertEqual([run["state"] for run in self.runs()], ["finished", "finished"])

    def test_following_the_log_ends_with_the_run(self):
        process = self.start("train", self.speaker_spec("--say", "first words", "--sleep-ms", 20, epochs=30))
        while not self.store.exists() or not self.runs():
            time.sleep(0.02)
        self.assertIn("first words", self.tandem("logs", "-f", "last").stdout)
        process.communicate()
        self.assertEqual(process.returncode, 0)


class HouseKeeping(Case):
    def test_removing_asks_first_and_takes_the_files(self):
        result = self.json("train", self.speaker_spec())
        self.assertIn("--yes", self.tandem("rm", "last", code=2).stderr)
        self.assertTrue(pathlib.Path(result["folder"]).exists())
        self.assertTrue(self.json("rm", "last", "--yes")["removed"])
        self.assertFalse(pathlib.Path(result["folder"]).exists())
        self.assertEqual(self.runs(), [])

    def test_runs_are_labelled_found_again_and_put_side_by_side(self):
        short, long = (self.json("train", self.speaker_spec(epochs=n))["run"] for n in (2, 4))
        self.tandem("label", short, "--add", "paper", "--note", "the short one")
        self.assertEqual([run["id"] for run in self.json("runs", "--tag", "paper")["runs"]], [short])
        listed = self.tandem("runs").stdout
        self.assertIn("the short one", listed)
        self.assertIn("SCORE", listed)
        self.assertIn("older run: --all", self.tandem("runs", "--last", 1).stdout)
        rows = self.json("compare", short, long)["runs"]
        self.assertEqual([row["progress"]["done"] for row in rows], [2, 4])
        self.assertIn(long, self.tandem("compare", short, long).stdout)
        self.assertIn("tag", self.tandem("label", short, "--add", "two words", code=2).stderr)
        self.assertIn("say which", self.tandem("rm", "--yes", code=2).stderr)
        self.tandem("rm", "--tag", "paper", "--yes")
        self.assertEqual([run["id"] for run in self.runs()], [long])
        self.assertEqual(self.tandem("rm", "--state", "failed", "--yes").stdout, "", "nothing is nothing to remove")

    def test_a_run_that_is_not_there(self):
        for command in ("show", "logs", "stop", "resume", "rm"):
            self.assertIn("no run", self.tandem(command, "nothing", code=2).stderr)

    def test_help_has_examples_everywhere(self):
        commands = [line.split()[0] for line in self.tandem("--help").stdout.split("Subcommands:")[1].split("Start with")[0].strip().splitlines() if line.strip()]
        self.assertIn("train", commands)
        for command in commands:
            self.assertIn("Examples:", self.tandem(command, "--help").stdout, command)
        self.assertRegex(self.tandem("--version").stdout, r"tandem \d+\.\d+")

    def test_an_option_that_is_none_is_named_with_the_nearest(self):
        for words, said in ((["train", "--sedd", "5", "x.yaml"], "tandem train has no option --sedd: did you mean --seed?"),
                            (["data", "get", "--jsno=-", "mnist"], "tandem data get has no option --jsno: did you mean --json?"),
                            (["--versio"], "did you mean --version?"), (["runs", "--xyzzyxyzzy"], "`tandem runs --help` lists them"),
                            (["completion", "bsh"], "`tandem completion --help` says more")):
            done = self.tandem(*words, code=2)
            self.assertIn(said, done.stderr)
            self.assertTrue(done.stderr.startswith("tandem: "), done.stderr)

    def test_mistakes_on_the_command_line_exit_with_2(self):
        for words, meant in ((["tran"], "did you mean train?"), (["data", "lst"], "did you mean list?"), (["xyzzy"], "no command 'xyzzy'")):
            self.assertIn(meant, self.tandem(*words, code=2).stderr)
        self.assertIn("--seed is an option", self.tandem("train", "job.yaml", "--store", "--seed", code=2).stderr)
        self.tandem("train", code=2)
        self.tandem("train", "--frobnicate", code=2)

    def test_doctor(self):
        whats = {probe["what"] for probe in self.json("doctor")["probes"]}
        for what in ("cores", "memory", "speed", "Slurm", "trainer", "energy", "counters"):
            self.assertIn(what, whats)
        self.assertIn("cores", self.tandem("doctor").stdout)

    def test_schema_and_completion(self):
        schema = json.loads(self.tandem("schema").stdout)
        self.assertIn("lenet5", json.dumps(schema))
        script = self.tandem("completion", "bash").stdout
        probe = script + "\nCOMP_WORDS=(tandem tr); COMP_CWORD=1; _tandem; echo ${COMPREPLY[@]}\n"
        self.assertEqual(subprocess.run(["bash", "-c", probe], capture_output=True, text=True).stdout.strip(), "train")
        for shell in ("zsh", "fish"):
            self.assertIn("tandem", self.tandem("completion", shell).stdout)

    def test_data(self):
        rows = {row["name"]: row for row in self.json("data", "list")["datasets"]}
        self.assertTrue(rows["digits"]["available"])
        self.assertEqual(self.json("data", "check", "digits")["datasets"][0]["classes"], 10)
        self.assertIn("digits", self.tandem("data", "check", "digit", code=2).stderr)
        self.assertEqual(self.tandem("data", "get", "digits").stdout, "digits: nothing to get: drawn on the spot\n")
        self.assertIn("mnist", self.tandem("data", "get", "mnist", "--data", self.folder / "empty", code=2).stderr)


class Telling(Case):
    def test_a_shell_script_is_run_and_stopped_after_its_epochs(self):
        script = self.folder / "job.sh"
        script.write_text('n=0\nwhile true; do\n  n=$((n+1))\n  tandem tell accuracy=0.$n || break\ndone\necho "epochs: $n, rate $TANDEM_HYPER_RATE"\n')
        spec = self.spec(f"kind: train\nprogram: {{command: [sh, {script}]}}\nhyper: {{epochs: 4, rate: 0.5}}\n")
        result = self.json("train", spec)
        self.assertEqual([e["metrics"]["accuracy"] for e in result["epochs"]], [0.1, 0.2, 0.3, 0.4])
        self.assertIn("epochs: 4, rate 0.5", self.tandem("logs", "last").stdout)

    def test_outside_tandem_it_says_go_on(self):
        self.assertIn("accuracy=0.5", self.tandem("tell", "accuracy=0.5").stderr)

    def test_nonsense_is_refused(self):
        for word in ("accuracy", "accuracy=", "=1", "accuracy=high"):
            self.tandem("tell", word, code=2)


class BuiltInTrainer(Case):
    def test_train_predict_and_infer(self):
        spec = self.spec("kind: train\nname: m\nprogram: {model: mlp, dataset: digits}\nhyper: {epochs: 2}\nsystem: {cores: 1}\n")
        result = self.json("train", spec)
        self.assertGreater(result["metrics"]["accuracy"], 0.3)
        self.assertTrue(pathlib.Path(result["model"]).exists())
        image = self.folder / "blank.pgm"
        image.write_bytes(b"P5 28 28 255\n" + bytes(784))
        self.assertTrue(self.tandem("predict", "m", image).stdout.strip())
        self.assertTrue(self.json("predict", "m", image))
        self.tandem("predict", "m", image, "--json", self.folder / "answer.json")
        self.assertTrue(json.loads((self.folder / "answer.json").read_text()))
        served = self.json("infer", "m", "--requests", "20")
        self.assertGreater(len(served["metrics"]), 2)
        self.assertEqual(served["run"], result["run"])
        if served["energy_source"]:  # starting up takes seconds, twenty requests some milliseconds
            self.assertLess(served["joules"], served["startup_joules"])
        self.assertIsNone(served["beside"])
        said = self.tandem("infer", "m", "--requests", "20").stdout
        self.assertRegex(said, r"latency_p50 +\S+ ms\n")
        self.assertRegex(said, r"energy of serving +\S+ J, estimated|energy of serving +not known|energy of serving +\S+ J, measured")
        self.assertIn("energy of start-up", said)

    def test_what_is_measured_beside_a_run_does_not_wait_and_says_so(self):
        self.json("train", self.spec("kind: train\nname: m\nprogram: {model: mlp, dataset: digits}\nhyper: {epochs: 1}\nsystem: {cores: 1}\n"))
        busy = subprocess.Popen([TANDEM, "train", str(self.speaker_spec("--sleep-ms", 500, epochs=400))], env=self.environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(busy.wait)
        self.addCleanup(busy.terminate)
        while not any(run["state"] == "running" for run in self.runs()):
            self.assertIsNone(busy.poll())
            time.sleep(0.05)
        self.assertIn("run ", self.json("infer", "m", "--requests", "20")["beside"])
        image = self.folder / "blank.pgm"
        image.write_bytes(b"P5 28 28 255\n" + bytes(784))
        self.assertTrue(self.tandem("predict", "m", image).stdout.strip())
        self.assertIsNone(busy.poll(), "nobody waited for it")

    def test_predict_without_a_model_says_what_to_do(self):
        self.tandem("train", self.speaker_spec())
        said = self.tandem("predict", "last", "x", code=2).stderr
        self.assertIn("no model", said)
        self.assertIn("program of yours", said)
        self.assertNotIn("resume", said, "that would make no model either")


class Terminal(Case):
    def test_a_live_display_on_a_terminal(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([TANDEM, "train", str(self.speaker_spec("--sleep-ms", 60, epochs=5))], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
        os.close(slave)
        shown = b""
        while process.poll() is None or select.select([master], [], [], 0)[0]:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    shown += os.read(master, 65536)
                except OSError:
                    break
        self.assertEqual(process.wait(), 0)
        self.assertIn("\r\x1b[2K".encode(), shown)
        self.assertIn("epoch 5/5", shown.decode(errors="replace"))
        self.assertIn("━", shown.decode(errors="replace"))
        before_the_table = shown.split(b"speaker finished")[0]
        self.assertTrue(before_the_table.endswith(b"\r\x1b[J"), "the live line is gone before the table comes")
