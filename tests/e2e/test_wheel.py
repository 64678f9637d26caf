"""`make wheel`: the package with the program inside, in a bare virtual environment. Nothing is built."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from e2e.harness import BIN, ROOT
from e2e.test_bundle import needed, said


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        if re.search(r"lib(a|t|ub)san\.so", " ".join(needed(BIN / "tandem"))):
            raise unittest.SkipTest("wheels are made of release builds: this one is instrumented by a sanitizer")
        done = said(ROOT / "tools/wheel", "--build", BIN.parent, "--out", cls.folder)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        (cls.wheel,) = cls.folder.glob("*.whl")

    def environment(self, **more):
        """Nothing of this checkout: a home and a store of its own, Debian's path."""
        home = tempfile.mkdtemp(dir=self.folder)
        return {"HOME": home, "PATH": "/usr/bin:/bin", "TANDEM_RUNTIME_DIR": str(self.folder / "lock"),
                "OMP_WAIT_POLICY": "passive", **more}

    def venv(self):
        """A bare virtual environment with what the wheel says, as an installer puts it there."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
        (packages,) = place.glob("lib/python*/site-packages")
        with zipfile.ZipFile(self.wheel) as wheel:
            wheel.extractall(packages)
            for entry in wheel.infolist():
                (packages / entry.filename).chmod(entry.external_attr >> 16 & 0o777)
        return place / "bin/python", packages

    def test_the_example_of_the_readme_runs_in_a_bare_environment(self):
        example = re.search(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S).group(1)
        self.assertLessEqual(len(example.splitlines()), 12)
        python, _ = self.venv()
        script = self.folder / "example.py"
        script.write_text(example)
        done = subprocess.run([python, script], env=self.environment(), cwd=self.folder, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\{'x': .*\} \{'loss': .*\}")

    def test_programs_find_their_libraries_inside(self):
        python, packages = self.venv()
        for program in (packages / "tandem/bin").iterdir():
            found = said("ldd", program, env=self.environment()).stdout
            self.assertNotIn("not found", found)
            for name in needed(program):
                if (packages / "tandem/lib" / name).exists():
                    self.assertIn(str(packages / "tandem"), re.search(rf"{re.escape(name)} => (\S+)", found).group(1))
        done = said(python, "-c", "from tandem import _binary; _binary.main()", env=self.environment())
        self.assertIn("A subcommand is required", done.stdout + done.stderr)

    def test_what_forgets_modes_does_no_harm(self):
        python, packages = self.venv()
        (packages / "tandem/bin/tandem").chmod(0o644)
        done = said(python, "-c", "import tandem; print(tandem.runs())", env=self.environment())
        self.assertEqual(done.stdout, "[]\n", done.stderr)

    def test_the_record_and_the_tag_are_right(self):
        self.assertRegex(self.wheel.name, r"^tandem_sdk-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
        tag = "-".join(self.wheel.stem.split("-")[2:])
        with zipfile.ZipFile(self.wheel) as wheel:
            names = set(wheel.namelist())
            (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
            self.assertIn(f"Tag: {tag}\n", wheel.read(f"{info}/WHEEL").decode())
            record = wheel.read(f"{info}/RECORD").decode().splitlines()
        self.assertEqual({line.rsplit(",", 2)[0] for line in record}, names)
        self.assertNotIn("tandem/bin/tandem-trainer", names)

    def test_pip_installs_it_without_network(self):
        if said(sys.executable, "-m", "pip", "--version").returncode != 0:
            self.skipTest("pip is not installed")
        target = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        done = said(sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--no-cache-dir", "--target", target,
                    self.wheel)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.access(target / "tandem/bin/tandem", os.X_OK))


if __name__ == "__main__":
    unittest.main()
