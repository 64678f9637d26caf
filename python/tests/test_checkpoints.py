"""Trial.save and load, against a played Tandem: whatever is interrupted, no epoch is lost or counted twice."""

import json
import unittest

from .test_examples import TemporaryFolder
from .test_trial import Played, answer

PROGRAM = """
import os, tandem
with tandem.trial() as t:
    state = t.load({"trained": []})
    for epoch in t.remaining():
        state["trained"].append(epoch)
        t.save(state)
        if os.environ.get("DIES_IN") == str(epoch):
            os._exit(9)
        t.report({"accuracy": epoch / 10, "epoch": 5})
    print(state["trained"], flush=True)
"""


class Checkpoints(TemporaryFolder):
    def attempt(self, reported, answers, program=PROGRAM, epochs=4, dies_in=""):
        played = Played(str(self.folder), reported=reported, epochs=epochs)
        self.addCleanup(played.ours.close)
        self.addCleanup(played.theirs.close)
        played.environment["DIES_IN"] = str(dies_in)
        played.says(played.begin, *answers)
        return played.run(program)

    def test_a_trial_goes_on_after_the_epoch_that_was_saved_and_reported(self):
        _, heard = self.attempt(0, [answer(), answer()], dies_in=3)
        self.assertEqual(heard[0]["durable_epoch"], 0)
        self.assertEqual([line["epoch"] for line in heard[1:]], [1, 2])
        result, heard = self.attempt(2, [answer(), answer()])
        self.assertEqual(heard[0]["durable_epoch"], 2, "the third was saved and not reported: it is trained again")
        self.assertEqual([line["epoch"] for line in heard[1:]], [3, 4])
        self.assertEqual(result.stdout, "[1, 2, 3, 4]\n", result.stderr)

    def test_an_epoch_that_was_reported_but_not_counted_is_reported_again(self):
        self.attempt(0, [answer(), answer(stop=True)])
        result, heard = self.attempt(1, [answer()] * 3)
        self.assertEqual(heard[0]["durable_epoch"], 2)
        self.assertEqual([(line["epoch"], line["metrics"]) for line in heard[1:]],
                         [(n, {"accuracy": n / 10, "epoch": 5.0}) for n in (2, 3, 4)])
        self.assertEqual(result.stdout, "[1, 2, 3, 4]\n", "and not trained again")

    def test_what_is_written_half_is_not_what_is_read(self):
        self.attempt(0, [answer(), answer(stop=True)])
        named = json.loads((self.folder / "tandem-checkpoint.json").read_text())
        self.attempt(2, [answer()], dies_in=3)
        self.assertEqual(json.loads((self.folder / "tandem-checkpoint.json").read_text()), named)
        other = "tandem-checkpoint-1.state" if named["file"].endswith("-0.state") else "tandem-checkpoint-0.state"
        (self.folder / other).write_bytes(b"torn")
        result, heard = self.attempt(2, [answer(), answer()])
        self.assertEqual(result.stdout, "[1, 2, 3, 4]\n", result.stderr)

    def test_a_checkpoint_that_is_wanted_is_told_when_it_is_there(self):
        _, heard = self.attempt(0, [answer(checkpoint=True), answer(), answer()], epochs=3, program="""
            import tandem
            with tandem.trial() as t:
                t.load()
                for epoch in t.remaining():
                    if epoch == 2:
                        t.save("second")
                    t.report(accuracy=epoch)
            """)
        self.assertEqual([(line["type"], line["epoch"]) for line in heard[1:]],
                         [("epoch", 1), ("epoch", 2), ("checkpointed", 2), ("epoch", 3)])

    def test_saving_without_loading_is_a_mistake_that_is_told(self):
        result, _ = self.attempt(0, [answer()], program="""
            import tandem
            with tandem.trial() as t:
                t.save(3)
            """)
        self.assertIn("RuntimeError: save() is for trials that begin with load()", result.stderr)

    def test_by_torch_where_it_is_loaded(self):
        (self.folder / "torch.py").write_text(
            "import pickle\n"
            "def save(state, file): file.write(b'torch' + pickle.dumps(state))\n"
            "def load(file, map_location=None, weights_only=True):\n"
            "    assert (map_location, weights_only, file.read(5)) == ('cpu', False, b'torch')\n"
            "    return pickle.load(file)\n")
        program = """
            import sys; sys.path.insert(0, {!r})
            import tandem{}
            with tandem.trial() as t:
                state = t.load(map_location="cpu")
                print(state)
                for epoch in t.remaining():
                    t.save(epoch)
                    t.report(accuracy=epoch)
            """
        self.attempt(0, [answer(stop=True)], program.format(str(self.folder), ", torch"))
        result, _ = self.attempt(1, [answer()] * 3, program.format(str(self.folder), ""))
        self.assertEqual(result.stdout, "1\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
