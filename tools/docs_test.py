"""What documents promise: docs/benchmarks.md is made of records (bench/record.py, bench/run), README.md is short, its links
lead somewhere and its example runs."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import record  # noqa: E402


def parsed(text, status=0):
    return [(f["what"], f["asked"], f["seen"], f["held"]) for f in record.parse(text, status)]


class Parsing(unittest.TestCase):
    """One benchmark's way to print after the other."""

    def test_a_line_that_ends_with_its_verdict(self):
        self.assertEqual(parsed("R² of time: 0.995 (at least 0.985): held\n"),
                         [("R² of time", "at least 0.985", "0.995", True)])
        self.assertEqual(parsed("  heats:H=1, 10000 nodes: asked at least 20000 a second, measured 594000: ok\n"),
                         [("heats:H=1, 10000 nodes", "at least 20000 a second", "594000", True)])
        self.assertEqual(parsed("  4.0 times as fast (floor 5): MISSED\n", 1), [("4.0 times as fast", "5", "", False)])
        self.assertEqual(parsed("tpe   n =  10000: 0.140 [0.1, 0.2]   required < 1 ms: PASS\n"),
                         [("tpe n = 10000", "< 1 ms", "0.140 [0.1, 0.2]", True)])

    def test_a_line_that_begins_with_its_verdict(self):
        self.assertEqual(parsed("requirements\n  PASS   tuning time: 0.610 (at most 0.850)\n"
                                "  MISSED a second job: 1.080 (at most 1.050), noise\n", 1),
                         [("tuning time", "at most 0.850", "0.610", True),
                          ("a second job", "at most 1.050", "1.080, noise", False)])
        self.assertEqual(parsed("met    tandem/python, geometric mean: 1.670 (goal 1.2)\n"),
                         [("tandem/python, geometric mean", "1.2", "1.670", True)])

    def test_a_verdict_before_its_limit(self):
        self.assertEqual(parsed("pipelined / one core: 0.740 (0.660 to 0.900)  PASS (at most 0.9)\n"),
                         [("pipelined / one core", "at most 0.9", "0.740 (0.660 to 0.900)", True)])

    def test_a_floor_without_a_verdict_is_judged_by_the_exit_status(self):
        text = "median 0.50 % outside the program, ceiling 1 %\n"
        self.assertEqual(parsed(text), [("median 0.50 % outside the program", "1 %", "", True)])
        self.assertEqual(parsed(text, 1)[0][3], None)

    def test_a_section_counts_by_its_summary(self):
        text = "== Sia ==\n  name   error  verdict\n  bert   3 %    held\n  cifar  30 %   MISSED\n\nSia: 1 of 2: MISSED\n\n"
        self.assertEqual(parsed(text, 1), [("Sia", "", "1 of 2", False)])

    def test_a_summary_said_again_counts_once_and_several_floors_stay_in_their_line(self):
        line = "TF: median 1.72 % (asked: at most 2.97 %), worst 12 % (asked: at most 20 %): held\n"
        self.assertEqual(parsed(f"== TF ==\n{line}\n{line}"),
                         [("TF", "", "median 1.72 % (asked: at most 2.97 %), worst 12 % (asked: at most 20 %)", True)])

    def test_a_table_of_what_was_asked_counts_row_by_row(self):
        text = ("== What was asked ==\n               asked         measured\n  energy at H=1  at most -7 %  -17 %  ok\n"
                "  time at H=0    not slower    +3 %   MISSED\n\nWhat was asked: 1 of 2 lines: MISSED\n")
        self.assertEqual(parsed(text, 1)[:2], [("energy at H=1", "at most -7 %", "-17 %", True),
                                               ("time at H=0", "not slower", "+3 %", False)])

    def test_what_judges_nothing_is_one_figure(self):
        self.assertEqual(parsed("test_x ... ok?\nRan 1 test\n"), [("all it checks", "", "passed", True)])
        self.assertEqual(parsed("", 1), [("all it checks", "", "failed", False)])


class Page(unittest.TestCase):
    RECORD = {"benchmark": "b", "title": "A title", "command": "bench/run b", "date": "2026-11-16", "machine": "2 cores",
              "commit": "abc1234", "figures": [{"what": "x|y", "asked": "at most 1", "seen": "2", "held": False},
                                               {"what": "z", "asked": "", "seen": "3", "held": True},
                                               {"what": "w", "asked": "", "seen": "4", "held": None,
                                                "date": "2026-11-15", "commit": "def5678"}]}

    def test_date_machine_commit_and_verdicts_are_shown(self):
        page = record.page([self.RECORD])
        self.assertIn("`bench/run b` · 2026-11-16 · 2 cores · commit abc1234\n", page)
        self.assertIn("| x\\|y | at most 1 | **2** | **missed** |\n", page)
        self.assertIn("| z |  | 3 | held |\n", page)
        self.assertIn("| w |  | 4 (2026-11-15, def5678) | not judged |\n", page)
        self.assertIn("1 figures held, **1 missed** (A title).", page)
        self.assertNotIn("by hand", page)

    def test_what_was_entered_by_hand_says_so(self):
        self.assertIn("entered by hand: from X", record.page([{**self.RECORD, "entered": "from X"}]))


class Driver(unittest.TestCase):
    def run_it(self, *words, **more):
        return subprocess.run([ROOT / "bench" / "run", *words], capture_output=True, text=True,
                              env={**os.environ, **{key: str(value) for key, value in more.items()}})

    def with_bench(self, folder, code):
        bench = Path(folder) / "tasks_bench"
        bench.write_text(f"#!/bin/sh\n{code}\n")
        bench.chmod(0o755)
        return {"TANDEM_BIN": folder, "TANDEM_BENCH_RESULTS": Path(folder) / "results"}

    def test_record_keeps_what_was_printed_and_how_it_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_it("--record", "tasks", **self.with_bench(folder, "echo 'a: 1 (at least 2): MISSED'; exit 1"))
            kept = json.loads((Path(folder) / "results" / "tasks.json").read_text())
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("a: 1 (at least 2): MISSED", done.stdout)
        self.assertIn("MISSED: tasks", done.stdout)
        self.assertEqual(kept["figures"], [{"what": "a", "asked": "at least 2", "seen": "1", "held": False}])
        self.assertRegex(kept["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertRegex(kept["commit"], r"^[0-9a-f]{7}")
        self.assertIn("core", kept["machine"])
        self.assertNotIn("entered", kept)

    def test_nothing_is_recorded_unless_asked_or_where_it_could_not_run(self):
        for words, code in [(["tasks"], "exit 0"), (["--record", "tasks"], "exit 77"), (["--record", "tasks"], "exit 2")]:
            with tempfile.TemporaryDirectory() as folder:
                done = self.run_it(*words, **self.with_bench(folder, code))
                self.assertFalse((Path(folder) / "results").exists(), (words, code))
                self.assertEqual(done.returncode, 0 if code == "exit 0" else 1, done.stdout)


class Kept(unittest.TestCase):
    """What is in the tree."""

    def test_the_page_is_what_the_records_give(self):
        made = record.page(record.read_records(ROOT / "bench" / "results"))
        self.assertEqual((ROOT / "docs" / "benchmarks.md").read_text(), made, "run bench/run --write")

    def test_every_record_is_complete(self):
        for path in sorted((ROOT / "bench" / "results").glob("*.json")):
            each = json.loads(path.read_text())
            with self.subTest(path.name):
                self.assertEqual(each["benchmark"], path.stem)
                self.assertTrue(all(each[key] for key in ("title", "command", "date", "machine", "commit", "figures")))
                for figure in each["figures"]:
                    self.assertIn(figure["held"], (True, False, None))
                    self.assertTrue(figure["what"])


class Readme(unittest.TestCase):
    TEXT = (ROOT / "README.md").read_text()

    def test_it_is_short_and_its_links_lead_somewhere(self):
        self.assertLess(len(self.TEXT.splitlines()), 120)
        for link in re.findall(r"\]\(([^)#]+)", self.TEXT) + re.findall(r'src="([^"]+)"', self.TEXT):
            if "://" not in link:
                self.assertTrue((ROOT / link).exists(), link)

    def test_its_pictures_are_small(self):
        for picture in (ROOT / "docs" / "img").glob("*.*g"):
            self.assertLess(picture.stat().st_size, 150_000, picture.name)

    def test_its_python_example_runs_by_itself(self):
        example = re.search(r"```python\n(.*?)```", self.TEXT, re.S).group(1)
        self.assertLessEqual(len(example.splitlines()), 10)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", "-c", example], capture_output=True, text=True, cwd=folder,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("accuracy"), 10, done.stdout)


if __name__ == "__main__":
    unittest.main()
