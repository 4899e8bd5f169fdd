#!/usr/bin/env python3
"""Build the wheels of the Python package, without network and with the standard library alone.

usage: build.py --artefacts DIR --out DIR
       build.py --binary FILE --platform OS/ARCH --version VERSION --out DIR

The first form makes a wheel of each archive that .ci/release has written to DIR. A wheel
contains the module and the program, which pip puts where it puts the scripts of a package.
"""
from __future__ import annotations

import argparse
import base64
import hashlib
import os
import re
import sys
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The platform tags of a wheel. The Linux program is static, so it needs neither glibc nor musl.
# On macOS, programs of Go 1.26 need version 12 (the load command LC_BUILD_VERSION).
TAGS = {
    "linux/amd64": ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"],
    "linux/arm64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"],
    "darwin/amd64": ["macosx_12_0_x86_64"],
    "darwin/arm64": ["macosx_12_0_arm64"],
    "windows/amd64": ["win_amd64"],
    "windows/arm64": ["win_arm64"],
}
ARCHIVE = re.compile(r"capstan_(?P<version>.+)_(?P<os>[a-z]+)_(?P<arch>[a-z0-9]+)\.(tar\.gz|zip)")
STAGES = {"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}


def names() -> dict[str, str]:
    """Return packaging/names.yaml, whose lines have the form NAME: VALUE."""
    text = (HERE.parent / "names.yaml").read_text(encoding="utf-8")
    return dict(re.findall(r'^(\w+): "?(.+?)"?$', text, re.MULTILINE))


def python_version(version: str) -> str:
    """Return a semantic version in the form of PEP 440: 1.2.0-rc.1 is 1.2.0rc1, 0.1.0-dev is 0.1.0.dev0."""
    parts = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(alpha|beta|rc|dev)(?:\.(\d+))?)?", version)
    if parts is None:
        raise SystemExit(f"build.py: the version {version!r} is not MAJOR.MINOR.PATCH, optionally with -alpha.N, -beta.N, -rc.N or -dev")
    release, stage, number = parts.groups()
    return release if stage is None else f"{release}{STAGES[stage]}{number or 0}"


def metadata(version: str) -> str:
    """Return the file METADATA."""
    known = names()
    return "\n".join([
        "Metadata-Version: 2.4",
        f"Name: {known['pypi']}",
        f"Version: {version}",
        f"Summary: {known['summary']}",
        f"License-Expression: {known['license']}",
        "License-File: LICENSE",
        "Requires-Python: >=3.9",
        f"Project-URL: Repository, {known['repository']}",
        "Classifier: Environment :: Console",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
        "", (HERE / "README.md").read_text(encoding="utf-8"),
    ])


def write_wheel(out: Path, platform: str, version: str, program: bytes) -> Path:
    """Write the wheel of a platform and return its path. Equal inputs give equal bytes."""
    known, version = names(), python_version(version)
    module, tags = known["pypi_module"], TAGS[platform]
    prefix = f"{known['pypi'].replace('-', '_')}-{version}"
    info = f"{prefix}.dist-info"
    wheel = ["Wheel-Version: 1.0", "Generator: build.py", "Root-Is-Purelib: false", *("Tag: py3-none-" + tag for tag in tags)]
    files = {f"{module}/{name}": (HERE / module / name).read_bytes() for name in ("__init__.py", "py.typed")}
    files[f"{prefix}.data/scripts/capstan{'.exe' if platform.startswith('windows/') else ''}"] = program
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = "\n".join([*wheel, ""]).encode()
    files[f"{info}/licenses/LICENSE"] = (HERE.parents[1] / "LICENSE").read_bytes()
    record = [f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items()]
    files[f"{info}/RECORD"] = "".join([*record, f"{info}/RECORD,,\n"]).encode()

    path = out / f"{prefix}-py3-none-{'.'.join(tags)}.whl"
    out.mkdir(parents=True, exist_ok=True)
    stamp = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800))[:6]  # zip begins in 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, stamp)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            archive.writestr(entry, data)
    return path


def digest(data: bytes) -> str:
    """Return the SHA-256 sum as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def program_in(archive: Path) -> bytes:
    """Return the program at the root of a release archive."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            return packed.read("capstan.exe")
    with tarfile.open(archive) as packed:
        member = packed.extractfile("capstan")
        if member is None:
            raise SystemExit(f"build.py: {archive}: capstan is not a file")
        return member.read()


def main(args: list[str]) -> None:
    """Write the wheels and print their paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the wheels")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--artefacts", type=Path, help="a folder with release archives")
    source.add_argument("--binary", type=Path, help="a program")
    parser.add_argument("--platform", choices=TAGS, help="the platform of --binary")
    parser.add_argument("--version", help="the version of --binary")
    given = parser.parse_args(args)
    if given.binary:
        if not given.platform or not given.version:
            parser.error("--binary needs --platform and --version")
        print(write_wheel(given.out, given.platform, given.version, given.binary.read_bytes()))
        return
    archives = [(path, found) for path in sorted(given.artefacts.iterdir()) if (found := ARCHIVE.fullmatch(path.name))]
    if not archives:
        parser.error(f"{given.artefacts} contains no archive of a release")
    for path, found in archives:
        print(write_wheel(given.out, f"{found['os']}/{found['arch']}", found["version"], program_in(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
