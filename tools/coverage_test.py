"""What tools/coverage judges, of summaries made for it."""

import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
_loader = importlib.machinery.SourceFileLoader("coverage_tool", str(Path(__file__).resolve().parent / "coverage"))
coverage = importlib.util.module_from_spec(importlib.util.spec_from_loader("coverage_tool", _loader))
_loader.exec_module(coverage)


def summary(**lines):
    return {"files": [{"filename": name.replace("__", "/") + ".cpp", "line_covered": covered, "line_total": total}
                      for name, (covered, total) in lines.items()]}


class Coverage(unittest.TestCase):
    def test_a_folder_is_its_files_together(self):
        found = coverage.by_folder(summary(src__app__a=(10, 10), src__app__b=(0, 10), src__stats__queues__q=(3, 4), src__runtime__local__w=(1, 2)))
        self.assertEqual(found, {"app": (10, 20), "stats": (3, 4), "runtime/local": (1, 2)})

    def test_trainer_cli_tests_and_what_is_not_ours_do_not_count(self):
        self.assertEqual(coverage.by_folder(summary(src__cli__a=(0, 9), src__trainer__b=(0, 9), src__app__c_test=(0, 9), tests__x=(0, 9))), {})

    def test_one_folder_below_fails_all(self):
        self.assertTrue(coverage.judge({"app": (85, 100), "base": (100, 100)}, {"app", "base"}, 85)[1])
        lines, well = coverage.judge({"app": (84, 100), "base": (100, 100)}, {"app", "base"}, 85)
        self.assertFalse(well)
        self.assertIn("below 85", next(line for line in lines if line.startswith("app")))
        self.assertNotIn("below", next(line for line in lines if line.startswith("base")))

    def test_a_folder_that_nobody_counted_has_nothing_covered(self):
        lines, well = coverage.judge({"app": (1, 1)}, {"app", "forgotten"}, 85)
        self.assertFalse(well)
        self.assertTrue(lines[1].startswith("forgotten"))

    def test_all_folders_are_looked_for(self):
        folders = coverage.expected()
        self.assertTrue({"base", "app", "server", "runtime/local", "stats"} <= folders, folders)
        self.assertFalse({"cli", "trainer"} & folders)


if __name__ == "__main__":
    unittest.main()
