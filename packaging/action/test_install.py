"""Tests of the installation of the action, and of action.yml."""
from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import unittest
import unittest.mock
import zipfile
from pathlib import Path

import install
from runner import ACTION, TOKEN, GitHub, RunnerTest


class InstallTest(RunnerTest):
    """The installation of a release."""

    PROGRAM = b"#!/bin/sh\necho capstan v9.8.7\n"

    def publish(self, system: str, arch: str, program: bytes = PROGRAM) -> str:
        """Publish a release as .ci/release builds it, and return the path of its archive."""
        packed = io.BytesIO()
        name = f"capstan_9.8.7_{system}_{arch}.{'zip' if system == 'windows' else 'tar.gz'}"
        if system == "windows":
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr("capstan.exe", program)
        else:
            with tarfile.open(fileobj=packed, mode="w:gz") as archive:
                member = tarfile.TarInfo("capstan")
                member.size = len(program)
                archive.addfile(member, io.BytesIO(program))
        folder = "/releases/v9.8.7/"
        GitHub.files[folder + name] = packed.getvalue()
        sums = GitHub.files.get(folder + "checksums.txt", b"").decode() + f"{hashlib.sha256(packed.getvalue()).hexdigest()}  {name}\n"
        GitHub.files[folder + "checksums.txt"] = sums.encode()
        self.env["CAPSTAN_DOWNLOADS"] = self.api + "/releases"
        return folder + name

    def test_release(self) -> None:
        self.publish("linux", "amd64")
        for version in ("v9.8.7", "9.8.7"):
            done = self.step("install.py", version=version)
            self.assertEqual((done.returncode, done.stdout), (0, "capstan v9.8.7\n"), done.stderr)
        folder = (self.folder / "PATH").read_text().splitlines()[0]
        self.assertEqual((Path(folder) / "capstan").read_bytes(), self.PROGRAM)
        self.assertEqual(shutil.which("capstan", path=folder), f"{folder}/capstan")

    def test_platforms(self) -> None:
        for system, arch in ((s, a) for s in install.SYSTEMS.values() for a in install.ARCHS.values()):
            self.publish(system, arch, f"{system} {arch}".encode())
        with unittest.mock.patch.dict(os.environ, {"CAPSTAN_DOWNLOADS": self.env["CAPSTAN_DOWNLOADS"]}):
            for system, arch in ((s, a) for s in install.SYSTEMS.values() for a in install.ARCHS.values()):
                self.assertEqual(install.release("9.8.7", system, arch), f"{system} {arch}".encode())

    def test_wrong_checksum(self) -> None:
        archive = self.publish("linux", "amd64")
        GitHub.files[archive] += b"x"
        self.not_installed("does not have the checksum", version="v9.8.7")

    def test_missing(self) -> None:
        """The default version is the one of names.yaml, which this server does not have."""
        self.publish("darwin", "arm64")
        self.not_installed("checksums.txt does not contain capstan_9.8.7_linux_amd64.tar.gz", version="v9.8.7")
        self.not_installed(f"/v{install.names()['version']}/checksums.txt")
        self.not_installed("want a release such as", version="../../other/v1.0.0")
        self.not_installed("no file", binary="nothing")
        self.env["RUNNER_ARCH"] = "ARM"
        self.not_installed("no release for Linux on ARM")

    def not_installed(self, reason: str, **inputs: str) -> None:
        done = self.step("install.py", **inputs)
        self.assertEqual((done.returncode, done.stderr), (3, ""), done.stdout)
        self.assertRegex(done.stdout, "^::error title=Capstan is not installed::.*" + re.escape(reason))
        self.assertFalse((self.folder / "PATH").exists())

    def test_action(self) -> None:
        """The steps of action.yml run in a shell, with the variables that they set, and install the given program."""
        (self.folder / "bin" / "capstan").unlink()
        inputs = {"binary": os.environ["CAPSTAN"], "files": "good.md", "gates": "word_count min=30", "comment": "true", "token": TOKEN}
        statuses = []
        for step in ACTION.split("    - name: ")[1:]:
            env = {name: inputs.get(value, "") for name, value in re.findall(r"(INPUT_\w+): \$\{\{ inputs\.(\w+) \}\}", step)}
            path = self.folder / "PATH"
            search = (path.read_text().splitlines() if path.exists() else []) + [str(Path(sys.executable).parent), "/usr/bin", "/bin"]
            run = re.search("run: (.*)", step)[1]
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run], cwd=self.workspace,
                                  env={**self.env, **env, "PATH": ":".join(search)}, capture_output=True, text=True, check=False)
            statuses.append(done.returncode)
        self.assertEqual(statuses, [0, 1], done.stderr)
        self.assertIn("word&#95;count", GitHub.comments[0]["body"])

    def test_inputs(self) -> None:
        """The scripts read every input of action.yml, and no other."""
        declared = set(re.findall(r"(?m)^  (\w+):$", ACTION.split("outputs:")[0]))
        passed = re.findall(r"(INPUT_\w+): \$\{\{ inputs\.(\w+) \}\}", ACTION)
        self.assertEqual({name for _, name in passed}, declared)
        self.assertTrue(all(variable == "INPUT_" + name.upper() for variable, name in passed))
        self.assertNotRegex(re.sub(r"(?m)^ +(INPUT_\w+|value|default): .*", "", ACTION), r"\$\{\{")


if __name__ == "__main__":
    unittest.main()
