"""Tests of the wheels: real installs by pip, with an empty HOME and without Go on PATH.

The tests need a program for this machine, in the environment variable CAPSTAN.
"""
from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv
import zipfile
from pathlib import Path

import build

SYSTEM = {"Linux": "linux", "Darwin": "darwin", "Windows": "windows"}[platform.system()]
ARCH = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
PROGRAM = "capstan.exe" if SYSTEM == "windows" else "capstan"
SCRIPTS = "Scripts" if SYSTEM == "windows" else "bin"


class WheelTest(unittest.TestCase):
    """Wheels of this machine and of other platforms."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.wheels = cls.folder / "wheels"
        cls.archive = cls.folder / "artefacts" / f"capstan_0.1.0-dev_{SYSTEM}_{ARCH}.tar.gz"
        cls.archive.parent.mkdir()
        with tarfile.open(cls.archive, "w:gz", compresslevel=1) as packed:
            packed.add(os.environ["CAPSTAN"], arcname="capstan")
        done = subprocess.run([sys.executable, build.__file__, "--artefacts", cls.archive.parent, "--out", cls.wheels],
                              capture_output=True, text=True, check=True)
        cls.wheel = Path(done.stdout.strip())
        home = cls.folder / "home"
        home.mkdir()
        path = os.pathsep.join(p for p in ("/usr/bin", "/bin", os.environ.get("SYSTEMROOT", "") + "\\System32") if os.path.isdir(p))
        cls.env = {"HOME": str(home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                   **{name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if name in os.environ}}
        if shutil.which("go", path=path):
            raise AssertionError(f"{path} contains go")
        cls.venv = cls.folder / "venv"
        venv.create(cls.venv, with_pip=True, symlinks=SYSTEM != "windows")
        cls.python = str(cls.venv / SCRIPTS / "python")
        cls.pip("install", build.names()["pypi"])

    @classmethod
    def pip(cls, verb: str, *args: str, wheels: Path | None = None) -> str:
        done = subprocess.run([cls.python, "-m", "pip", verb, "--no-index", "--find-links", wheels or cls.wheels, *args],
                              env=cls.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout

    def run_in_home(self, *args: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(args, env=self.env, cwd=self.env["HOME"], capture_output=True, text=True, check=False, **more)

    def test_program(self) -> None:
        """The installed program is the one of the archive, and works."""
        program = self.venv / SCRIPTS / PROGRAM
        self.assertEqual(program.read_bytes(), Path(os.environ["CAPSTAN"]).read_bytes())
        done = self.run_in_home(str(program), "gate", "word_count", "--with", "min=3", "-", input="Owls hoot.")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (1, "invalid: the text has 2 words, fewer than 3"))

    def test_client(self) -> None:
        """The tests of the client pass with the installed package."""
        done = self.run_in_home(self.python, str(Path(__file__).with_name("client_cases.py")), "-v")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("skipped", done.stderr)
        self.assertIn(f"program {self.venv.resolve() / SCRIPTS / PROGRAM}", done.stderr)

    def test_target(self) -> None:
        """With "pip install --target", the module finds the program beside itself."""
        target = self.folder / "target"
        self.pip("install", "--target", str(target), build.names()["pypi"])
        code = "import sys; sys.path.insert(0, sys.argv[1]); import seed61713e19_capstan as c; print(c.find_binary())"
        done = self.run_in_home(sys.executable, "-I", "-c", code, str(target))
        self.assertEqual(done.stdout.strip(), str(target.resolve() / "bin" / PROGRAM), done.stderr)

    def test_no_program(self) -> None:
        """Without a program, the module reports an error."""
        code = ("import sys; sys.path.insert(0, sys.argv[1]); import seed61713e19_capstan as c\n"
                "try: c.Binary()\nexcept c.Error as err: print(err.code)")
        done = self.run_in_home(sys.executable, "-I", "-c", code, str(Path(build.__file__).parent))
        self.assertEqual(done.stdout.strip(), "no_binary", done.stderr)

    def test_tags(self) -> None:
        """pip selects the wheel of each platform, and no wheel for an older macOS or glibc."""
        wheels = self.folder / "platforms"
        for name in build.TAGS:
            build.write_wheel(wheels, name, "0.1.0-dev", b"not a program of this machine")

        def downloaded(tag: str) -> str:
            with tempfile.TemporaryDirectory() as dest:
                choice = ["--no-deps", "--only-binary=:all:", "--platform", tag, "--dest", dest]
                self.pip("download", *choice, build.names()["pypi"], wheels=wheels)
                return os.listdir(dest)[0]

        for tag, name in {
            "manylinux2014_x86_64": "linux/amd64", "musllinux_1_1_x86_64": "linux/amd64", "manylinux2014_aarch64": "linux/arm64",
            "macosx_12_0_x86_64": "darwin/amd64", "macosx_14_0_arm64": "darwin/arm64",
            "win_amd64": "windows/amd64", "win_arm64": "windows/arm64",
        }.items():
            with self.subTest(tag):
                self.assertIn("-" + ".".join(build.TAGS[name]) + ".whl", downloaded(tag))
        for tag in ("macosx_11_0_arm64", "manylinux1_x86_64", "linux_armv7l"):
            with self.subTest(tag), self.assertRaisesRegex(AssertionError, "No matching distribution"):
                downloaded(tag)

    def test_contents(self) -> None:
        """RECORD lists every file with its sum, and two builds are equal."""
        first = build.write_wheel(self.folder / "one", "windows/arm64", "v0.1.0", b"MZ")
        second = build.write_wheel(self.folder / "two", "windows/arm64", "v0.1.0", b"MZ")
        self.assertEqual(first.read_bytes(), second.read_bytes())
        with zipfile.ZipFile(first) as packed:
            files = {name: packed.read(name) for name in packed.namelist()}
        info = "seed61713e19_capstan-0.1.0.dist-info"
        listed = dict(line.split(",", 1) for line in files[f"{info}/RECORD"].decode().splitlines())
        self.assertEqual(listed.pop(f"{info}/RECORD"), ",")
        del files[f"{info}/RECORD"]
        self.assertEqual(listed, {name: f"sha256={build.digest(data)},{len(data)}" for name, data in files.items()})
        self.assertEqual(build.digest(b""), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU")
        self.assertEqual(files["seed61713e19_capstan-0.1.0.data/scripts/capstan.exe"], b"MZ")

    def test_metadata(self) -> None:
        """pip shows the names of names.yaml."""
        shown = self.run_in_home(self.python, "-m", "pip", "show", build.names()["pypi"]).stdout.splitlines()
        for line in ("Name: seed61713e19-capstan", "Version: 0.1.0.dev0", f"Summary: {build.names()['summary']}"):
            self.assertIn(line, shown)

    def test_versions(self) -> None:
        """Versions of releases and other builds have the form of PEP 440."""
        for version, want in {"v1.2.3": "1.2.3", "1.2.0-rc.1": "1.2.0rc1", "1.0.0-beta.2": "1.0.0b2", "0.1.0-dev": "0.1.0.dev0"}.items():
            self.assertEqual(build.python_version(version), want)
        for version in ("1.2", "latest", "1.2.3-next", "1.2.3+4", "1.2.3\nX: y"):
            with self.assertRaises(SystemExit):
                build.python_version(version)

    def test_size(self) -> None:
        """The client has at most 200 lines."""
        client = Path(build.__file__).with_name(build.names()["pypi_module"]) / "__init__.py"
        self.assertLessEqual(len(client.read_text(encoding="utf-8").splitlines()), 200)


if __name__ == "__main__":
    unittest.main()
