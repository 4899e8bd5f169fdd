"""Install Capstan on a GitHub runner: the first step of action.yml.

The step installs the program of a release whose checksum matches, or a given program. The
environment has INPUT_VERSION and INPUT_BINARY. CAPSTAN_DOWNLOADS names another server of releases.
"""
from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

NAMES = Path(__file__).resolve().parents[1] / "names.yaml"
SYSTEMS = {"Linux": "linux", "macOS": "darwin", "Windows": "windows"}  # by RUNNER_OS
ARCHS = {"X64": "amd64", "ARM64": "arm64"}  # by RUNNER_ARCH


class InstallError(Exception):
    """A reason for which nothing is installed."""


def names() -> dict[str, str]:
    """Return packaging/names.yaml, whose lines have the form NAME: VALUE."""
    return dict(re.findall(r'^(\w+): "?(.+?)"?$', NAMES.read_text(encoding="utf-8"), re.MULTILINE))


def fetch(url: str) -> bytes:
    """Return the body of a URL."""
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            return bytes(response.read())
    except OSError as err:
        raise InstallError(f"{url}: {err}") from err


def release(version: str, system: str, arch: str) -> bytes:
    """Return the program of a release, if the checksum of its archive matches."""
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", version):
        raise InstallError(f"version: want a release such as v{names()['version']}, not {version!r}")
    archive = f"capstan_{version}_{system}_{arch}.{'zip' if system == 'windows' else 'tar.gz'}"
    folder = f"{os.environ.get('CAPSTAN_DOWNLOADS') or names()['downloads']}/v{version}/"
    listed = (line.split() for line in fetch(folder + "checksums.txt").decode("utf-8", "replace").splitlines())
    sums = {words[1]: words[0] for words in listed if len(words) == 2}
    if archive not in sums:
        raise InstallError(f"{folder}checksums.txt does not contain {archive}")
    data = fetch(folder + archive)
    if hashlib.sha256(data).hexdigest() != sums[archive]:
        raise InstallError(f"{folder}{archive} does not have the checksum of checksums.txt")
    if system == "windows":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return packed.read("capstan.exe")
    with tarfile.open(fileobj=io.BytesIO(data)) as unpacked:
        member = unpacked.extractfile("capstan")
        if member is None:
            raise InstallError(f"{archive}: capstan is not a file")
        return member.read()


def install() -> None:
    """Install the program, print its version and add its folder to PATH for later steps."""
    system, arch = SYSTEMS.get(os.environ["RUNNER_OS"]), ARCHS.get(os.environ["RUNNER_ARCH"])
    if system is None or arch is None:
        raise InstallError(f"no release for {os.environ['RUNNER_OS']} on {os.environ['RUNNER_ARCH']}")
    program = Path(os.environ["RUNNER_TEMP"], "capstan-bin", "capstan.exe" if system == "windows" else "capstan")
    program.parent.mkdir(parents=True, exist_ok=True)
    if binary := os.environ.get("INPUT_BINARY"):
        if not os.path.isfile(binary):
            raise InstallError(f"binary: no file {binary}")
        shutil.copyfile(binary, program)
    else:
        version = os.environ.get("INPUT_VERSION") or names()["version"]
        program.write_bytes(release(version.removeprefix("v"), system, arch))
    program.chmod(0o755)
    print(subprocess.run([program, "version"], check=True, capture_output=True, text=True).stdout, end="")
    with open(os.environ["GITHUB_PATH"], "a", encoding="utf-8") as path:
        path.write(f"{program.parent}\n")


if __name__ == "__main__":
    try:
        install()
    except (InstallError, OSError, subprocess.SubprocessError, KeyError, tarfile.TarError, zipfile.BadZipFile) as reason:
        message = str(reason).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::error title=Capstan is not installed::{message}")
        sys.exit(3)
