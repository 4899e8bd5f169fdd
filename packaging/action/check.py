"""Check a repository with Capstan on a GitHub runner: the second step of action.yml.

The step lints cascades, gates files and runs tests. It writes annotations, a table for the
summary of the job, and outputs. The environment has INPUT_LINT, INPUT_FILES, INPUT_GATES,
INPUT_MODEL, INPUT_TESTS, INPUT_COMMENT and INPUT_TOKEN, beside the variables of GitHub.

Exit status: 0 passed, 1 rejected, 3 a check gave no verdict.
"""
from __future__ import annotations

import glob
import json
import os
import shlex
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from typing import Any, Iterator

import comment
import report

CHUNK = 100  # files in one call of capstan gate


@dataclass
class Finding:
    """A rejection, or an error if there is no verdict."""

    place: str  # a file, a test or the check itself
    reason: str
    line: int = 0
    column: int = 0
    error: bool = False


@dataclass
class Check:
    """A check of many files or tests."""

    name: str
    passed: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def result(self) -> str:
        """Return passed, rejected or error. A rejection has precedence."""
        if all(f.error for f in self.findings):
            return "error" if self.findings else "passed"
        return "rejected"

    def fail(self, reason: str) -> Check:
        """Add an error of the check itself."""
        self.findings.append(Finding("", reason, error=True))
        return self


def capstan(*args: str) -> tuple[int, Any, str]:
    """Run capstan and return its exit status, its JSON and its messages."""
    env = {name: value for name, value in os.environ.items() if name not in ("INPUT_TOKEN", "GITHUB_TOKEN")}
    done = subprocess.run(["capstan", *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    messages = done.stderr.decode("utf-8", "replace").strip()
    try:
        return done.returncode, json.loads(done.stdout), messages
    except ValueError:
        return done.returncode, None, messages or f"capstan {args[0]} ended with status {done.returncode} and without JSON"


def lint(paths: list[str]) -> Check:
    """Lint files and folders. Warnings count as errors."""
    check = Check("lint")
    status, data, messages = capstan("lint", "--strict", "--json", "--", *paths)
    if data is None or status not in (0, 2) or (status == 2) is not bool(data["diagnostics"]):
        return check.fail(messages or f"status {status}")
    for d in data["diagnostics"]:
        meant = f", did you mean {d['suggestion']!r}?" if d.get("suggestion") else ""
        check.findings.append(Finding(d["file"], f"{d['message']}{meant} [{d['code']}]", d["line"], d["column"]))
    check.passed = 0 if check.findings else 1
    return check


def gate(line: str, files: list[str], model: str) -> Check:
    """Judge files with a gate: NAME or FILE:NAME, followed by the parameters NAME=VALUE."""
    check = Check(f"gate {line}")
    try:
        name, *parameters = shlex.split(line)
    except ValueError as err:
        return check.fail(str(err))
    if not files:
        return check.fail("no files: set the input files")
    args = ["gate", "--json", *(f"--with={p}" for p in parameters), *([f"--model={model}"] if model else [])]
    for first in range(0, len(files), CHUNK):
        chunk = files[first:first + CHUNK]
        status, data, messages = capstan(*args, "--", name, *chunk)
        for file, valid, reason in verdicts(chunk, status, data, messages):
            if valid:
                check.passed += 1
            else:
                check.findings.append(Finding(file, reason, error=valid is None))
        if data is None and len(chunk) > 1:
            break  # the gate itself is wrong
    return check


def verdicts(files: list[str], status: int, data: Any, messages: str) -> Iterator[tuple[str, bool | None, str]]:
    """Return the verdict of each file, which is None where the gate gave none."""
    if isinstance(data, list) and len(data) == len(files):  # in the same order
        for file, judged in zip(files, data):
            verdict = judged.get("verdict") or {}
            yield file, verdict.get("valid"), str(verdict.get("reason") or judged.get("error") or "no verdict")
    elif len(files) == 1 and isinstance(data, dict) and status in (0, 1) and data.get("valid", status == 0) is (status == 0):
        issues = [str(issue["message"]) for issue in data.get("issues") or []]
        yield files[0], status == 0, str(data.get("reason") or "; ".join(issues) or data.get("status"))
    else:
        yield files[0] if len(files) == 1 else "", None, messages or f"status {status} without a verdict of each file"


def tests(folders: list[str]) -> Check:
    """Run the recorded tests of folders."""
    check = Check("test " + " ".join(folders))
    status, data, messages = capstan("test", "run", "--json", "--", *folders)
    if data is None or status not in (0, 1, 2) or (status == 0) is not data["ok"] or not data["cases"]:
        return check.fail(messages or f"status {status} without tests")
    for case in data["cases"]:
        if case["ok"]:
            check.passed += 1
            continue
        first = case["differences"][0]
        reason = f"{first['path']}: {first['message']}" if first.get("path") else first["message"]
        check.findings.append(Finding(case["dir"].replace(os.sep, "/") + "/case.yaml", reason))
    return check


def expand(patterns: list[str]) -> tuple[list[str], list[Finding]]:
    """Return the files of patterns. A pattern without a file, and a file outside the workspace, is an error."""
    root, files, wrong = os.path.realpath("."), dict[str, None](), []
    for pattern in patterns:
        found = [f for f in sorted(glob.glob(pattern, recursive=True)) if os.path.isfile(f)]
        if not found:
            wrong.append(Finding(pattern, "no file has this name or matches this pattern", error=True))
        for file in found:
            inside = os.path.relpath(os.path.realpath(file), root).split(os.sep)
            if inside[0] in (os.pardir, ".git") or os.path.isabs(inside[0]):
                wrong.append(Finding(file, "the file is outside the workspace", error=True))
            else:
                files["./-" if file == "-" else os.path.relpath(file).replace(os.sep, "/")] = None  # - is standard input
    return list(files), wrong


def checks() -> Iterator[Check]:
    """Run the checks of the inputs."""
    given = {name: os.environ.get("INPUT_" + name.upper(), "") for name in ("lint", "files", "gates", "tests", "model")}
    if not (given["lint"] + given["gates"] + given["tests"]).strip():
        yield Check("action").fail("no checks: set lint, gates or tests")
    if given["lint"].strip():
        yield lint(given["lint"].split())
    files, wrong = expand(lines(given["files"]))
    if wrong:
        yield Check("files", len(files), wrong)
    for line in lines(given["gates"]):
        yield gate(line, files, given["model"].strip())
    if given["tests"].strip():
        yield tests(given["tests"].split())


def lines(text: str) -> list[str]:
    """Return the lines of an input that are not empty."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def main() -> int:
    """Run the checks, report them, and return the exit status."""
    done = []
    for check in checks():
        print(f"{check.name}: {check.result}, {check.passed} passed, {len(check.findings)} not")
        for f in check.findings:
            print(report.annotation(check, f))
        done.append(check)
    results = [check.result for check in done]
    result = next((r for r in ("rejected", "error") if r in results), "passed")
    table = report.markdown(done, result)
    append("GITHUB_STEP_SUMMARY", table)
    end = f"end-{uuid.uuid4()}"  # no text can contain it
    append("GITHUB_OUTPUT", f"result={result}\ntable<<{end}\n{table}\n{end}\n")
    if os.environ.get("INPUT_COMMENT") == "true":
        try:
            print(comment.publish(table))
        except comment.CommentError as err:
            print(f"::warning title=No comment::{report.escape_data(str(err))}")
    return {"passed": 0, "rejected": 1, "error": 3}[result]


def append(variable: str, text: str) -> None:
    """Append a text to a file of the runner."""
    if name := os.environ.get(variable):
        with open(name, "a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as err:  # Python would exit with 1, the status of a rejection
        print(f"::error title=Capstan gave no verdict::{report.escape_data(repr(err))}")
        sys.exit(3)
