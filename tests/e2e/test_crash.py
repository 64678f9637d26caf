"""Power cuts while the trainer keeps checkpoints: a preloaded layer (tests/crash/layer.cpp) takes down what it writes, syncs and
renames, and this makes of it what a disk may hold after a crash at any moment: what was synced, and of the rest any sector in
any of its versions and the names of any moment. Of every reported epoch there is a whole checkpoint.

(The journal's is src/store/crash_test.cpp.)"""

import json
import os
import pathlib
import random
import re
import sys
import unittest

from e2e.harness import Case

CRASHES = 100
SECTOR = 512
BIN = pathlib.Path(os.environ["TANDEM_BIN"])

SPEC = """\
kind: train
name: crash
program: {model: mlp, dataset: digits}
hyper: {epochs: 5}
system: {cores: 1, memory: 1GiB}
energy: {source: none}
"""


class Disk:
    """What may be found after a crash, given the calls before it."""

    def __init__(self, calls, chance):
        self.calls, self.chance = calls, chance

    def files(self):
        """Names and contents. A rename keeps its file: contents belong to the name that was written first."""
        synced = max((i for i, call in enumerate(self.calls) if call["call"] == "sync" and "checkpoint-" not in call["file"]),
                     default=-1)
        until = self.chance.randint(synced + 1, len(self.calls))
        names, now = {}, {}
        for number, call in enumerate(self.calls):
            for seen in (now, names) if number < until else (now,):
                if call["call"] == "write":
                    seen.setdefault(call["file"], call["file"])
                elif call["call"] == "rename":
                    seen[call["to"]] = seen.pop(call["file"], call["file"])
                elif call["call"] == "remove":
                    seen.pop(call["file"], None)
        return {name: self.contents(file) for name, file in names.items()}

    def contents(self, file):
        calls = [call for call in self.calls if call["file"] == file and call["call"] in ("write", "sync")]
        synced = max((i for i, call in enumerate(calls) if call["call"] == "sync"), default=-1)
        image = bytearray()
        for number, call in enumerate(calls):
            if call["call"] != "write":
                continue
            at, data = call["at"], bytes.fromhex(call["bytes"])
            if number > synced:
                data = data[:self.chance.randint(0, len(data))]
            for start in range(0, len(data), SECTOR):
                if number < synced or self.chance.random() < 0.7:
                    part = data[start:start + SECTOR]
                    image.extend(bytes(max(0, at + start + len(part) - len(image))))
                    image[at + start:at + start + len(part)] = part
        return bytes(image)


class Crash(Case):
    def recorded(self):
        log = self.folder / "calls"
        self.environment.update(LD_PRELOAD=str(BIN / "libcrash_layer.so"), TANDEM_CRASH_LOG=str(log))
        self.json("train", self.spec(SPEC, "crash.yaml"))
        return [json.loads(line) for line in log.read_text().splitlines()]

    def whole(self, calls):
        """By epoch, the checkpoint as it was meant to be."""
        written = {}
        for call in calls:
            if call["call"] == "write":
                written[call["file"]] = written.get(call["file"], b"") + bytes.fromhex(call["bytes"])
        renamed = [(call["to"], call["file"]) for call in calls if call["call"] == "rename"]
        return {int(re.search(r"checkpoint-(\d+)", to).group(1)): written[file] for to, file in renamed}

    def test_of_every_reported_epoch_there_is_a_whole_checkpoint(self):
        calls = self.recorded()
        whole = self.whole(calls)
        reports = [call["epoch"] for call in calls if call["call"] == "report"]
        self.assertEqual(sorted(set(reports)), [1, 2, 3, 4, 5])
        for seed in range(CRASHES):
            chance = random.Random(seed)
            until = chance.randint(0, len(calls))
            before = [call for call in calls[:until] if call["call"] != "report"]
            reported = max((call["epoch"] for call in calls[:until] if call["call"] == "report"), default=0)
            found = {int(name[-12:-4]): content for name, content in Disk(before, chance).files().items() if name.endswith(".tck")}
            good = [epoch for epoch, content in found.items() if content == whole[epoch]]
            with self.subTest(seed=seed, calls=until):
                self.assertGreaterEqual(max(good, default=0), reported)


if __name__ == "__main__":
    sys.exit(unittest.main())
