"""The SDK against a played Tandem: each program runs in a process of its own, as in real life."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def clean_environment():
    return {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")} | {"PYTHONPATH": str(PACKAGE)}


class Played:
    """Tandem's end of the socket. Answers are written before the program asks: a socket keeps them in order."""

    def __init__(self, folder, reported=0, epochs=3, hyper=None):
        self.ours, self.theirs = socket.socketpair()
        self.hyper = hyper or {"learning_rate": 0.5, "batch_size": 8}
        self.system = {"cores": 2, "memory": 1024, "speed": 0.5}
        self.begin = {"type": "begin", "version": 1, "task": "task 0", "attempt": 2, "epochs": epochs,
                      "reported": reported, "seed": 7, "folder": folder, "keep_checkpoints": 2, "hyper": self.hyper,
                      "system": self.system}
        self.environment = clean_environment() | {
            "TANDEM_SOCKET": str(self.theirs.fileno()), "TANDEM_FOLDER": folder,
            "TANDEM_HYPER": json.dumps(self.hyper), "TANDEM_CORES": "2", "TANDEM_MEMORY": "1024",
            "TANDEM_SPEED": "0.5", "TANDEM_EPOCHS": str(epochs), "TANDEM_REPORTED": str(reported),
            "TANDEM_SEED": "7", "TANDEM_ATTEMPT": "2"}

    def says(self, *messages):
        for message in messages:
            self.ours.sendall(json.dumps(message).encode() + b"\n")

    def run(self, program):
        return self.run_command([sys.executable, "-c", textwrap.dedent(program)])

    def run_command(self, command):
        """Runs the command to its end; its result, and what it said to Tandem."""
        result = subprocess.run(command, env=self.environment, text=True, pass_fds=[self.theirs.fileno()],
                                capture_output=True, timeout=120)
        self.theirs.close()
        heard = b""
        try:
            while piece := self.ours.recv(65536):
                heard += piece
        except ConnectionResetError:
            pass  # the program ended with answers unread
        self.ours.close()
        lines = [json.loads(line) for line in heard.splitlines()]
        self.ready = lines[:1] == [{"type": "ready"}]
        self.since_ready = [line.pop("since_ready", None) for line in lines if line["type"] == "epoch"]
        return result, lines[1:] if self.ready else lines


def answer(stop=False, checkpoint=False, **more):
    return {"type": "answer", "stop": stop, "checkpoint": checkpoint, **more}


class Inside(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def played(self, *messages, **options):
        played = Played(self.folder, **options)
        self.addCleanup(played.ours.close)
        self.addCleanup(played.theirs.close)
        played.says(played.begin, *messages)
        self.last = played
        return played

    def test_gives_what_tandem_gave(self):
        result, _ = self.played().run("""
            import tandem
            with tandem.trial(defaults={"learning_rate": 9, "dropout": 0.1}) as t:
                print(t.hyper, tuple(t.system)[:3], t.epochs, t.reported, t.seed, t.attempt, t.inside)
                print(t.folder == tandem.folder(), list(t.remaining()))
            """)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, "{'learning_rate': 0.5, 'dropout': 0.1, 'batch_size': 8} "
                                        "(2, 1024, 0.5) 3 0 7 2 True\nTrue [1, 2, 3]\n")

    @unittest.skipUnless(hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1, "one CPU only")
    def test_libraries_see_all_cpus_while_they_load(self):
        here = sorted(os.sched_getaffinity(0))
        played = self.played(answer())
        played.environment["TANDEM_CPUS"] = ",".join(map(str, here))
        result, _ = played.run(f"""
            import os
            os.sched_setaffinity(0, {{{here[0]}}})
            import tandem
            print(len(os.sched_getaffinity(0)))
            with tandem.trial() as t:
                print(len(os.sched_getaffinity(0)))
                t.report(accuracy=1)
            """)
        self.assertEqual(result.stdout.split()[:2], [str(len(here)), "1"], result.stderr)

    def test_says_which_hyperparameters_it_looked_at(self):
        hyper = {"learning_rate": 0.5, "batch_size": 8, "momentm": 0.9, "when": 1}
        result, heard = self.played(answer(), answer(), answer(), hyper=hyper).run("""
            import tandem
            with tandem.trial(defaults={"momentum": 0.1}) as t:
                print(t.hyper)
                rate, momentum = t.hyper["learning_rate"], t.hyper.get("momentum", 0)
                t.report(accuracy=1)
                t.hyper["rate"] = t.hyper.pop("batch_size")
                t.report(accuracy=1)
                rate = t.hyper["learning_rate"]
                t.report(accuracy=1)
            """)
        self.assertEqual(result.stderr, "")
        self.assertEqual([line.get("hyper_read") for line in heard if line["type"] == "epoch"],
                         [["learning_rate", "momentum"], ["batch_size", "learning_rate", "momentum"], None])

    def test_who_takes_all_hyperparameters_has_looked_at_all(self):
        for use in ("dict(t.hyper)", "f(**t.hyper)", "json.dumps(t.hyper)", "list(t.hyper)", "{**t.hyper}", "copy.copy(t.hyper)"):
            with self.subTest(use):
                _, heard = self.played(answer()).run(f"""
                    import copy, json, tandem
                    def f(**all):
                        pass
                    with tandem.trial(epochs=1) as t:
                        {use}
                        t.report(accuracy=1)
                    """)
                self.assertEqual(heard[-1]["hyper_read"], ["batch_size", "learning_rate"])

    def test_who_never_asks_for_them_says_nothing(self):
        _, heard = self.played(answer()).run("""
            import tandem
            tandem.report(accuracy=1)
            """)
        self.assertNotIn("hyper_read", heard[-1])

    def test_reports_epochs_in_order(self):
        result, heard = self.played(answer(), answer(), answer()).run("""
            import tandem
            with tandem.trial() as t:
                for epoch in t.remaining():
                    t.report(accuracy=epoch / 10, loss=1)
                print("after the loop", t.epoch, t.reported)
            """)
        self.assertEqual(result.stdout, "after the loop 3 3\n")
        self.assertEqual(heard[0], {"type": "hello", "version": 1, "can": []})
        self.assertTrue(self.last.ready, "it says when its start-up is over")
        first, *others = self.last.since_ready
        self.assertGreater(first, 0, "Tandem may have read that late")
        self.assertEqual(others, [None, None])
        self.assertEqual(heard[1:], [{"type": "epoch", "epoch": n, "metrics": {"accuracy": n / 10, "loss": 1.0}}
                                     for n in (1, 2, 3)])

    def test_hyperparameters_are_attributes_too(self):
        result, _ = self.played(hyper={"lr": 0.5, "items": 3}).run("""
            import tandem
            with tandem.trial(defaults={"dropout": 0.1}) as t:
                t.hyper.lr *= 2
                print(t.hyper.lr, t.hyper["lr"], t.hyper.dropout, t.hyper["items"], sorted(t.hyper.items()))
                t.hyper.momentum
            """)
        self.assertEqual(result.stdout, "1.0 1.0 0.1 3 [('dropout', 0.1), ('items', 3), ('lr', 1.0)]\n")
        self.assertIn("AttributeError: there is no 'momentum' here; there are: dropout, lr, items", result.stderr)

    def test_metrics_may_come_as_a_mapping(self):
        result, heard = self.played(answer(), answer(), answer()).run("""
            import tandem
            with tandem.trial() as t:
                t.report({"acc": 0.5, "epoch": 7})
                t.report({"val/acc": 0.6}, epoch=2, loss=1)
                t.report(3, acc=0.7)
                for wrong in (lambda: t.report(0.5), lambda: t.report({"acc": 1}, acc=1), lambda: t.report(4, epoch=4, acc=1)):
                    try:
                        wrong()
                    except (TypeError, ValueError) as error:
                        print(error)
            """)
        self.assertEqual([(line["epoch"], line["metrics"]) for line in heard[1:]],
                         [(1, {"acc": 0.5, "epoch": 7.0}), (2, {"val/acc": 0.6, "loss": 1.0}), (3, {"acc": 0.7})], result.stderr)
        self.assertEqual(result.stdout.splitlines(),
                         ["report() takes metrics by name, report(accuracy=0.9), or as one mapping, not 0.5",
                          "metric 'acc' is reported twice: in the mapping, and as a keyword",
                          "report() was given the epoch twice"])

    def test_start_up_ends_when_the_program_says_so(self):
        _, heard = self.played(answer()).run("""
            import tandem
            with tandem.trial() as t:
                t.ready()
                t.report(accuracy=1)
            """)
        self.assertEqual([line["type"] for line in heard], ["ready", "hello", "epoch"])

    def test_the_first_epoch_is_timed_from_the_last_ready(self):
        self.played(answer()).run("""
            import tandem, time
            with tandem.trial() as t:
                time.sleep(0.3)
                t.ready()
                time.sleep(0.1)
                t.report(accuracy=1)
            """)
        self.assertGreaterEqual(self.last.since_ready[0], 0.1)
        self.assertLess(self.last.since_ready[0], 0.3)

    def test_numbers_that_are_none_are_told_as_they_are(self):
        _, heard = self.played(answer()).run("""
            import tandem
            with tandem.trial() as t:
                t.report(accuracy=1, loss=float("nan"), norm=float("inf"))
            """)
        self.assertEqual(str(heard[-1]["metrics"]), "{'accuracy': 1.0, 'loss': nan, 'norm': inf}")

    def test_stop_ends_the_trial_and_the_program_goes_on_after_it(self):
        result, heard = self.played(answer(), answer(stop=True)).run("""
            import tandem
            with tandem.trial() as t:
                for epoch in t.remaining():
                    try:
                        t.report(accuracy=0)
                    except Exception:
                        print("a careless handler must not catch Stop")
            print("after the trial")
            """)
        self.assertEqual((result.returncode, result.stdout), (0, "after the trial\n"))
        self.assertEqual(len(heard), 3)

    def test_after_the_last_epoch_what_follows_runs_though_no_more_are_wanted(self):
        result, heard = self.played(answer(), answer(), answer(stop=True, epoch=3)).run("""
            import tandem
            with tandem.trial() as t:
                for epoch in t.remaining():
                    t.report(accuracy=0)
                    print("after", epoch)
                print("saved")
                t.report(accuracy=0)
                print("never")
            """)
        self.assertEqual((result.returncode, result.stdout), (0, "after 1\nafter 2\nafter 3\nsaved\n"))
        self.assertEqual(len(heard), 4)

    def test_stop_is_repeated_without_asking_again(self):
        result, heard = self.played(answer(stop=True)).run("""
            import tandem
            with tandem.trial() as t:
                for _ in range(2):
                    try:
                        t.report(accuracy=0)
                    except tandem.Stop:
                        print("stopped")
            """)
        self.assertEqual(result.stdout, "stopped\nstopped\n")
        self.assertEqual(len(heard), 2)

    def test_the_implicit_trial_reports_and_ends_with_0_when_stopped(self):
        result, heard = self.played(answer(), answer(stop=True)).run("""
            import tandem
            while True:
                tandem.report(accuracy=0.5)
            """)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([m.get("epoch") for m in heard], [None, 1, 2])

    def test_report_of_the_module_speaks_for_the_open_trial(self):
        result, heard = self.played(answer()).run("""
            import tandem
            with tandem.trial() as t:
                tandem.report(accuracy=0.5)
                print(t.epoch)
            """)
        self.assertEqual(result.stdout, "1\n")

    def test_a_lost_socket_ends_the_program_with_1_and_a_message(self):
        played = self.played(answer())
        played.ours.shutdown(socket.SHUT_WR)
        result, heard = played.run("""
            import tandem
            with tandem.trial() as t:
                t.report(accuracy=0)
                try:
                    t.report(accuracy=0)
                except tandem.Gone:
                    print("gone")
                    raise
            """)
        self.assertEqual((result.returncode, result.stdout), (1, "gone\n"))
        self.assertIn("Tandem is gone", result.stderr)
        self.assertNotIn("Traceback", result.stderr)

    def test_resumes_after_its_checkpoint(self):
        result, heard = self.played(answer(), reported=2).run("""
            import tandem
            with tandem.trial() as t:
                t.resumable(2, accuracy=0.2)
                for epoch in t.remaining():
                    t.report(accuracy=epoch)
            """)
        self.assertEqual(result.stderr, "")
        self.assertEqual(heard[0]["durable_epoch"], 2)
        self.assertEqual([m["epoch"] for m in heard[1:]], [3])

    def test_reports_a_durable_epoch_that_was_never_counted(self):
        result, heard = self.played(answer(), answer(), reported=1).run("""
            import tandem
            with tandem.trial() as t:
                t.resumable(2, accuracy=0.2)
                for epoch in t.remaining():
                    t.report(accuracy=epoch)
            """)
        self.assertEqual(result.stderr, "")
        self.assertEqual(heard[1:], [{"type": "epoch", "epoch": 2, "metrics": {"accuracy": 0.2}},
                                     {"type": "epoch", "epoch": 3, "metrics": {"accuracy": 3.0}}])

    def test_a_never_counted_epoch_needs_its_metrics(self):
        result, heard = self.played(reported=1).run("""
            import tandem
            with tandem.trial() as t:
                t.resumable(2)
            """)
        self.assertEqual(result.returncode, 1)
        self.assertIn("epoch 2 was never counted", result.stderr)

    def test_a_checkpoint_from_another_run_is_refused(self):
        result, _ = self.played(reported=1).run("""
            import tandem
            tandem.trial(durable_epoch=3)
            """)
        self.assertEqual(result.returncode, 1)
        self.assertIn("another run's checkpoint", result.stderr)

    def test_durable_epoch_can_be_given_at_the_start(self):
        result, heard = self.played(answer(), reported=1).run("""
            import tandem
            with tandem.trial(durable_epoch=2) as t:
                if t.reported < 2:
                    t.report(accuracy=0.2)
                print(list(t.remaining()))
            """)
        self.assertEqual(result.stdout, "[3]\n")
        self.assertEqual(heard[1]["epoch"], 2)

    def test_counted_epochs_trained_again_are_not_reported_again(self):
        result, heard = self.played(answer(), reported=2).run("""
            import tandem
            with tandem.trial(durable_epoch=1) as t:
                for epoch in t.remaining():
                    t.report(accuracy=epoch)
            """)
        self.assertEqual([m["epoch"] for m in heard[1:]], [3])
        self.assertEqual(result.stdout, "epoch 2: accuracy 2 (counted before, not reported again)\n")

    def test_a_program_without_checkpoints_starts_over(self):
        played = self.played(answer(), reported=0)
        played.environment["TANDEM_REPORTED"] = "2"
        result, heard = played.run("""
            import tandem
            with tandem.trial() as t:
                print(t.reported, list(t.remaining()))
                t.report(accuracy=1)
                print(t.reported)
            """)
        self.assertEqual(heard[1]["epoch"], 1)
        self.assertEqual(result.stdout, "2 [1, 2, 3]\n1\n")

    def test_hears_of_new_resources(self):
        result, heard = self.played(answer(system={"cores": 1, "memory": 0, "speed": 1.0})).run("""
            import tandem
            with tandem.trial(on_change=lambda s: print("change to", s.cores)) as t:
                t.report(accuracy=0)
                print(t.system.cores, t.system.memory, t.system.speed)
            """)
        self.assertEqual(result.stdout, "change to 1\n1 0 1.0\n")
        self.assertEqual(heard[0]["can"], ["threads"])

    def test_hears_of_gpus_and_precision(self):
        played = self.played(answer(system={"cores": 1, "memory": 0, "speed": 1, "gpus": 1, "gpu_power": 300.0,
                                            "gpu_clock": 1.2e9, "gpu_memory": 5, "precision": "fp16"}))
        played.environment |= {"TANDEM_GPUS": "1", "TANDEM_PRECISION": "bf16"}
        result, heard = played.run("""
            import tandem
            with tandem.trial(can=["precision"]) as t:
                print(t.system.gpus, t.system.precision)
                t.report(loss=1)
                print(t.system)
            """)
        self.assertEqual(result.stdout, "1 bf16\nSystem(cores=1, memory=0, speed=1.0, gpus=1, gpu_memory=5, "
                                        "gpu_power=300.0, gpu_clock=1200000000.0, precision='fp16')\n", result.stderr)
        self.assertEqual(heard[0]["can"], ["precision"])

    def test_tells_progress_without_waiting_and_not_too_often(self):
        result, heard = self.played(answer()).run("""
            import tandem
            with tandem.trial() as t:
                for step in range(1, 1001):
                    t.progress(step, 1000)
                t.report(loss=1)
            """)
        self.assertEqual(result.returncode, 0, result.stderr)
        shares = [line["share"] for line in heard if line["type"] == "progress"]
        self.assertEqual(shares[0], 0.001)
        self.assertLess(len(shares), 1000)
        self.assertEqual(shares, sorted(shares))
        self.assertEqual([line["type"] for line in heard if line["type"] != "progress"], ["hello", "epoch"])

    def test_progress_is_a_share_of_the_epoch(self):
        result, _ = self.played().run("import tandem\nwith tandem.trial() as t: t.progress(0, 10)")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("above 0 and at most the whole", result.stderr)

    def test_takes_a_checkpoint_when_asked(self):
        result, heard = self.played(answer(checkpoint=True), answer()).run("""
            import tandem
            with tandem.trial(durable_epoch=0, on_checkpoint=lambda epoch: print("saving", epoch)) as t:
                t.report(accuracy=0)
                t.report(accuracy=0)
            """)
        self.assertEqual(result.stdout, "saving 1\n")
        self.assertEqual(heard[2], {"type": "checkpointed", "epoch": 1})

    def test_a_program_without_checkpoints_never_claims_one(self):
        _, heard = self.played(answer(checkpoint=True)).run("""
            import tandem
            tandem.report(accuracy=0)
            """)
        self.assertEqual([m["type"] for m in heard], ["hello", "epoch"])

    def test_nan_goes_to_tandem_which_names_it(self):
        played = self.played(answer())
        result = subprocess.run([sys.executable, "-c", "import tandem; tandem.report(loss=float('nan'))"],
                                env=played.environment, pass_fds=[played.theirs.fileno()], capture_output=True)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b'"loss":NaN', played.ours.recv(65536))

    def test_one_trial_a_program(self):
        result, _ = self.played(answer()).run("""
            import tandem
            with tandem.trial() as t:
                t.report(accuracy=0)
            tandem.trial()
            """)
        self.assertIn("had its trial already", result.stderr)

    def test_what_tandem_refuses_is_said(self):
        played = Played(self.folder)
        self.addCleanup(played.ours.close)
        played.says({"type": "error", "reason": "it said hello again"})
        result, _ = played.run("import tandem\ntandem.trial().report(accuracy=1)")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ProtocolError: Tandem refused what this program said: it said hello again", result.stderr)

    def test_children_do_not_get_the_socket_unless_asked(self):
        child = """
            import os, subprocess, sys, tandem
            number = int(os.environ["TANDEM_SOCKET"])
            with tandem.trial(inheritable={}) as t:
                os.environ["NUMBER"] = str(number)
                subprocess.run([sys.executable, "-c", "import os; os.fstat(int(os.environ['NUMBER']));"
                                "print('TANDEM_SOCKET' in os.environ)"], close_fds=False, stderr=subprocess.DEVNULL)
                print("done")
            """
        result, _ = self.played().run(child.format(False))
        self.assertEqual(result.stdout, "done\n")
        result, _ = self.played().run(child.format(True))
        self.assertEqual(result.stdout, "True\ndone\n")

    def test_a_forked_child_may_not_report(self):
        result, heard = self.played().run("""
            import os, tandem
            with tandem.trial(durable_epoch=0) as t:
                if os.fork() == 0:
                    try:
                        t.report(accuracy=0)
                    except RuntimeError as error:
                        print(error, flush=True)
                    os._exit(0)
                os.wait()
            """)
        self.assertIn("only the process that started the trial", result.stdout)
        self.assertEqual(len(heard), 1)

    def test_garbage_and_other_versions_are_errors(self):
        for line, complaint in [(b"garbage\n", "not JSON"), (b'{"type":"answer"}\n', "expected 'begin'"),
                                (b'{"type":"begin","version":2}\n', "version 2")]:
            played = Played(self.folder)
            played.ours.sendall(line)
            result, _ = played.run("import tandem; tandem.report(accuracy=0)")
            self.assertEqual(result.returncode, 1)
            self.assertIn(complaint, result.stderr)

    def test_a_wrong_socket_is_explained(self):
        for number in ("99", "x"):
            result = subprocess.run([sys.executable, "-c", "import tandem; tandem.report(accuracy=0)"], text=True,
                                    env=clean_environment() | {"TANDEM_SOCKET": number}, capture_output=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("TANDEM_SOCKET is", result.stderr)
            self.assertNotIn("Traceback", result.stderr)


class Outside(unittest.TestCase):
    def run_program(self, program):
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=clean_environment(), text=True,
                                  capture_output=True, cwd=folder, timeout=60)

    def test_runs_unchanged(self):
        result = self.run_program("""
            import os, tandem
            with tandem.trial(defaults={"rate": 0.1}, epochs=2) as t:
                print(t.hyper, t.epochs, t.inside, t.system.cores >= 1, t.folder == os.getcwd())
                for epoch in t.remaining():
                    t.report(accuracy=0.5, loss=2)
            print("end")
            """)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.stdout, "{'rate': 0.1} 2 False True True\nepoch 1: accuracy 0.5, loss 2\n"
                                        "epoch 2: accuracy 0.5, loss 2\nend\n")

    def test_resumes_from_its_own_checkpoint(self):
        result = self.run_program("""
            import tandem
            with tandem.trial(epochs=3) as t:
                t.resumable(2, accuracy=1)
                for epoch in t.remaining():
                    t.report(accuracy=0)
            """)
        self.assertEqual(result.stdout, "epoch 3: accuracy 0\n")

    def test_takes_anything_that_is_one_number(self):
        result = self.run_program("""
            import decimal, tandem
            class Scalar:
                def __float__(self): return 0.25
            tandem.report(a=1, b=True, c=decimal.Decimal("0.5"), d=Scalar())
            for wrong in ("0.5", None, [1]):
                try:
                    tandem.report(loss=wrong)
                except TypeError as error:
                    print(error)
            try:
                tandem.report(epoch=0, loss=1)
            except ValueError as error:
                print(error)
            """)
        self.assertEqual(result.stderr, "")
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "epoch 1: a 1, b 1, c 0.5, d 0.25")
        self.assertEqual(len(lines), 5)
        self.assertTrue(all("metric 'loss' must be" in line for line in lines[1:4]))
        self.assertIn("epochs count from 1", lines[4])

    def test_takes_numpy_scalars(self):
        result = self.run_program("""
            import sys, tandem
            try:
                import numpy
            except ImportError:
                sys.exit(77)
            tandem.report(loss=numpy.float32(0.5))
            """)
        if result.returncode == 77:
            self.skipTest("numpy is not installed")
        self.assertEqual(result.stdout, "epoch 1: loss 0.5\n")


if __name__ == "__main__":
    unittest.main()
