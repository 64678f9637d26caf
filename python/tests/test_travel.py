"""Objectives that travel to another process: what arrives there does what was sent."""

import json
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

from .test_trial import clean_environment

# Reads what the script wrote, as a trial does, and calls it.
ARRIVES = """
import sys
sys.path.append({package!r})
from tandem import _travel
objective = _travel.unpack(open({file!r}).read())
print(objective(7))
"""


class Travelling(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def run_python(self, *arguments):
        return subprocess.run([sys.executable, *map(str, arguments)], env=clean_environment(), cwd=self.folder, text=True,
                              capture_output=True, timeout=60)

    def sent(self, script, by):
        (self.folder / "script.py").write_text(
            "import sys\nfrom tandem import _travel\n" + textwrap.dedent(script) +
            f"\nif __name__ == '__main__':\n    print(_travel.pack(objective, 'm', by={by!r}))\n")
        done = self.run_python("script.py")
        (self.folder / "packed.json").write_text(done.stdout)
        return done

    def arrives(self, script, by="source"):
        """What the objective of the script answers to 7 in another process."""
        done = self.sent(script, by)
        self.assertEqual(done.stderr, "")
        package = clean_environment()["PYTHONPATH"]
        there = self.run_python("-c", ARRIVES.format(package=package, file=str(self.folder / "packed.json")))
        self.last = there
        return there.stdout.strip() or there.stderr

    def refused(self, script):
        done = self.sent(script, "source")
        self.assertNotEqual(done.returncode, 0)
        return done.stderr.strip().splitlines()[-1]

    def test_a_function_with_all_it_uses(self):
        self.assertEqual(self.arrives("""
            import math as maths
            from collections import OrderedDict
            FACTOR = 3
            TABLE = {"a": [1, 2]}

            class Base:
                offset = FACTOR

            class Model(Base):
                def __init__(self, x):
                    super().__init__()
                    self.x = x

                def value(self):
                    return helper(self.x) + self.offset + len(OrderedDict(TABLE))

            def helper(x):
                return maths.floor(x * 1.5)

            def objective(t):
                return Model(t).value()
            """), "14")

    def test_a_decorated_function(self):
        self.assertEqual(self.arrives("""
            import functools

            def doubled(function):
                @functools.wraps(function)
                def inner(t):
                    return 2 * function(t)
                return inner

            @doubled
            def plain(t):
                return t

            def objective(t):
                return plain(t)
            """), "14")

    def test_a_function_that_closes_over_an_instance(self):
        self.assertEqual(self.arrives("""
            class Scale:
                def __init__(self, by):
                    self.by = by

            def make(by):
                scale = Scale(by)
                def objective(t, extra=1):
                    return t * scale.by + extra
                return objective

            objective = make(10)
            """), "71")

    def test_a_partial_and_an_instance(self):
        self.assertEqual(self.arrives("""
            import functools
            class Adds:
                def __init__(self, n):
                    self.n = n
                def __call__(self, t):
                    return t + self.n
            objective = functools.partial(Adds(5))
            """), "12")

    def test_tracebacks_show_the_lines_of_the_script(self):
        self.arrives("""
            def objective(t):
                return helper(t)

            def helper(t):
                raise ValueError("oh")  # here
            """)
        self.assertIn('script.py", line 8, in helper', self.last.stderr)
        self.assertIn("# here", self.last.stderr)

    def test_a_function_of_a_module_goes_by_reference(self):
        (self.folder / "mine.py").write_text("import threading\nLOCK = threading.Lock()\n"
                                             "def objective(t):\n    with LOCK:\n        return t + 1\n")
        self.assertEqual(self.arrives("from mine import objective", by=None), "8")
        packed = json.loads((self.folder / "packed.json").read_text())
        self.assertEqual(packed["by"], "reference")

    def test_cells_of_a_notebook_travel_with_their_classes(self):
        # As IPython has them: __main__ has no file, cells are known to linecache alone.
        done = self.run_python("-c", textwrap.dedent("""
            import linecache
            from tandem import _travel
            def cell(number, text):
                name = f"/tmp/ipykernel_0/{number}.py"
                linecache.cache[name] = (len(text), None, text.splitlines(True), name)
                exec(compile(text, name, "exec"), globals())
            cell(1, "BASE = 3\\n\\nclass Model:\\n    def __init__(self, x):\\n        self.x = x\\n\\n"
                    "    @property\\n    def value(self):\\n        return self.x + BASE\\n")
            cell(2, "class Better(Model):\\n    def more(self):\\n        return super().value + 1\\n\\n"
                    "def objective(t):\\n    return Better(t).more()\\n")
            print(_travel.pack(objective, "m", by="source"))
            """))
        self.assertEqual(done.stderr, "")
        (self.folder / "packed.json").write_text(done.stdout)
        there = self.run_python("-c", ARRIVES.format(package=clean_environment()["PYTHONPATH"],
                                                     file=str(self.folder / "packed.json")))
        self.assertEqual(there.stdout, "11\n", there.stderr)

    def test_cloudpickle_carries_what_source_cannot(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is not installed")
        self.assertEqual(self.arrives("N = 2\nobjective = lambda t: t * N", by=None), "14")

    def test_what_cannot_travel_is_named(self):
        self.assertIn("'LOCK', which objective uses, cannot be sent to the trials: lock cannot be pickled",
                      self.refused("import threading\nLOCK = threading.Lock()\ndef objective(t):\n    return LOCK"))
        self.assertIn("a lambda has no source of its own", self.refused("objective = lambda t: t"))
        self.assertIn("the objective must be a function of a trial, not 3", self.refused("objective = 3"))

    def test_a_global_that_only_shares_an_attributes_name_stays_here(self):
        self.assertEqual(self.arrives("""
            import threading
            real = threading.Lock()
            def objective(t):
                return t.real
            """), "7")


if __name__ == "__main__":
    unittest.main()
