"""`make bundle`: what was built here runs where nothing is installed, from wherever the folder was moved to.

Nothing is built: tools/bundle copies the programs under test. The bare machine is a chroot that holds glibc's few files,
/proc and the bundle, and nothing else: no /bin, no /dev, no /etc, no /sys.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from e2e.harness import BIN, ROOT, SPEAKER

BUNDLE = ROOT / "tools/bundle"
OLDEST_GLIBC = (2, 36)  # Debian 12's
JOB = """\
kind: tune
name: small
program: {command: [/opt/moved here/bin/speaker]}
hyper: {x: {range: [0, 1]}}
system: {cores: 1}
search: {algorithm: random, trials: 3, max_epochs: 2, seed: 1}
objective: {maximise: accuracy}
energy: {source: none}
"""


def said(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=300, **options)


def needed(file):
    """sonames that a program or library asks for itself."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", said("readelf", "-d", file).stdout))


class BundleCase(unittest.TestCase):
    """One bundle for all tests, as a person would have it: made in one place, moved to another."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-bundle-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        if re.search(r"lib(a|t|ub)san\.so", " ".join(needed(BIN / "tandem"))):
            raise unittest.SkipTest("bundles are made of release builds: this one is instrumented by a sanitizer")
        done = said(BUNDLE, "--build", BIN.parent, "--out", cls.folder / "made")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        (made,) = [path for path in (cls.folder / "made").iterdir() if path.is_dir()]
        (cls.archive,) = (cls.folder / "made").glob("*.tar.gz")
        cls.name = made.name
        cls.moved = cls.folder / "jail/opt/moved here"
        cls.moved.parent.mkdir(parents=True)
        made.rename(cls.moved)
        cls.manifest = json.loads((cls.moved / "tandem-bundle.json").read_text())


class Contents(BundleCase):
    def test_all_that_is_needed_is_there_but_glibc(self):
        libraries = {path.name for path in (self.moved / "lib").iterdir()}
        self.assertEqual(libraries, {library["name"] for library in self.manifest["libraries"]})
        self.assertIn("libstdc++.so.6", libraries)
        self.assertFalse([name for name in libraries if re.match(r"(libc|libm|libpthread|ld-linux.*)\.so", name)])
        for file in [*(self.moved / "bin").iterdir(), *(self.moved / "lib").iterdir()]:
            for name in needed(file) - libraries:
                owner = said("dpkg-query", "-S", f"*/{name}").stdout
                self.assertIn("libc6", owner, f"{file.name} needs {name}")

    def test_the_manifest_tells_the_truth(self):
        self.assertEqual(self.manifest["version"], said(self.moved / "bin/tandem", "--version").stdout.split()[1])
        self.assertEqual(sorted(self.manifest["programs"]), sorted(path.name for path in (self.moved / "bin").iterdir()))
        self.assertNotIn("tandem-trainer", self.manifest["programs"])
        if (ROOT / ".git").exists():
            self.assertRegex(self.manifest["commit"], r"^[0-9a-f]{40}")
        for library in self.manifest["libraries"]:
            self.assertTrue(library["package"] and library["version"], library)
            self.assertGreater((self.moved / library["licence"]).stat().st_size, 0, library)
        asked = {tuple(map(int, number.split(".")))
                 for file in [*(self.moved / "bin").iterdir(), *(self.moved / "lib").iterdir()]
                 for number in re.findall(r"Name: GLIBC_([0-9.]+)", said("readelf", "-V", file).stdout)}
        self.assertEqual(tuple(map(int, self.manifest["glibc"].split("."))), max(asked))
        self.assertLessEqual(max(asked), OLDEST_GLIBC)

    def test_what_people_look_for_is_there(self):
        for name in ("README.md", "LICENSE", "docs/bundle.md", "examples/pytorch_script.py",
                     "share/bash-completion/completions/tandem"):
            self.assertGreater((self.moved / name).stat().st_size, 0, name)
        sdk = said("/usr/bin/python3", "-I", "-B", "-c", f"import sys; sys.path.insert(0, {str(self.moved / 'python')!r}); "
                   "import tandem; print(tandem.__file__)")
        self.assertTrue(sdk.stdout.startswith(str(self.moved)), sdk.stderr)

    def test_the_tarball_is_the_folder_and_always_the_same(self):
        done = said(BUNDLE, "--build", BIN.parent, "--out", self.folder / "again")
        self.assertEqual(done.returncode, 0, done.stderr)
        (again,) = (self.folder / "again").glob("*.tar.gz")
        self.assertEqual(again.read_bytes(), self.archive.read_bytes())
        with tarfile.open(again) as tar:
            tar.extractall(self.folder / "unpacked")
            self.assertEqual({entry.name.split("/")[0] for entry in tar}, {self.name})
        compared = said("diff", "-r", self.folder / "unpacked" / self.name, self.folder / "again" / self.name)
        self.assertEqual((compared.returncode, compared.stdout), (0, ""))
        self.assertEqual(said(self.folder / "unpacked" / self.name / "bin/tandem", "--version").returncode, 0)


class Mistakes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-bundle-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def refused(self):
        done = said(BUNDLE, "--build", self.folder / "build", "--out", self.folder / "out")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(list((self.folder / "out").glob("*")), [], "half a bundle looks like a whole one")
        return done.stderr

    def test_nothing_was_built(self):
        self.assertIn("make build", self.refused())

    def test_a_program_that_cannot_be_moved(self):
        (self.folder / "build/bin").mkdir(parents=True)
        shutil.copy(shutil.which("true"), self.folder / "build/bin/tandem")
        self.assertIn("$ORIGIN/../lib", self.refused())


class InABareChroot(BundleCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jail = cls.folder / "jail"
        for name in ("proc", "home", "tmp"):
            (cls.jail / name).mkdir()
        inside = ["chroot", cls.jail]
        for how in (["-r"], []):  # as a user who becomes root of a namespace, or as root
            cls.enter = ["unshare", *how, "--pid", "--fork", "--kill-child", f"--mount-proc={cls.jail}/proc"]
            tried = said(*cls.enter, "true")
            if tried.returncode == 0:
                break
        else:
            raise unittest.SkipTest(f"no chroot with /proc is permitted here: {tried.stderr.strip()}")
        cls.enter += inside
        cls.copy_glibc()
        shutil.copy(SPEAKER, cls.moved / "bin/speaker")
        (cls.jail / "home/job.yaml").write_text(JOB)

    @classmethod
    def copy_glibc(cls):
        for program in (cls.moved / "bin").iterdir():
            for line in said("ldd", program).stdout.splitlines():
                path = re.search(r"(/\S+) \(0x", line)
                name = pathlib.Path(path.group(1)).name if path else ""
                if (cls.moved / "lib" / name).exists() or not path:
                    continue
                target = cls.jail / path.group(1).lstrip("/")
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path.group(1), target)
                target.chmod(0o755)

    def tandem(self, *arguments):
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        enter = [shutil.which(word, path=path) or word if word in ("unshare", "chroot") else word for word in self.enter]
        done = said(*enter, "/opt/moved here/bin/tandem", *arguments, env={"HOME": "/home"})
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_it_says_what_it_is_and_what_it_can_use(self):
        self.assertEqual(self.tandem("--version").strip(), f"tandem {self.manifest['version']}")
        about = self.tandem("doctor")
        self.assertIn("make bundle TRAINER=1", about)
        self.assertIn("/home/.local/share/tandem", about)

    def test_it_tunes_a_program_to_the_end(self):
        result = json.loads(self.tandem("tune", "/home/job.yaml", "--json", "-"))
        self.assertEqual([trial["state"] for trial in result["trials"]], ["finished"] * 3, result)
        self.assertEqual(result["epochs_total"], 6)
        self.assertIn("every decision the same", self.tandem("show", result["run"], "--verify"))
        self.tandem("report", result["run"], "-o", "/tmp/report.html")
        self.assertIn("<svg", (self.jail / "tmp/report.html").read_text())

    def test_it_simulates_its_own_example(self):
        rows = json.loads(self.tandem("sim", "/opt/moved here/examples/sim-kth-alexnet.yaml", "--json", "-"))["rows"]
        self.assertGreater(rows[0]["t_exec"], 0)


if __name__ == "__main__":
    unittest.main()
