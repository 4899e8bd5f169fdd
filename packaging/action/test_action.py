"""Tests of the action: its steps run as a runner runs them, against a server that behaves as GitHub.

The tests need a program for this machine, in the environment variable CAPSTAN.
"""
from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest
import unittest.mock
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import check
import install
import report

ROOT = Path(__file__).resolve().parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
SECRET = "ghp_4f8bC2dE6gH1jK3mN5pQ7rS9tU0vW2xY4zA6"
TOKEN = "the token of the job"


class GitHub(BaseHTTPRequestHandler):
    """The API of comments, and files of releases."""

    comments: list[dict[str, Any]] = []
    files: dict[str, bytes] = {}
    failure = ""  # the method and the end of the path that fail, and how
    page = 100

    def do_POST(self) -> None:
        self.call()

    do_PATCH = do_GET = do_POST

    def call(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        method, end, kind = (GitHub.failure + "  ").split(" ")[:3]
        if self.command == method and self.path.endswith(end):
            return self.fail(kind)
        if self.command == "GET":
            data = GitHub.files.get(self.path)
            return self.answer(404 if data is None else 200, data or b"")
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.answer(401, b"{}")
        body = json.loads(text)
        if self.path == "/graphql":
            return self.answer(200, json.dumps(self.list(body["variables"])).encode())
        if self.command == "POST" and self.path == "/repos/ada/owls/issues/7/comments":
            GitHub.comments.append({"databaseId": len(GitHub.comments) + 1, "viewerDidAuthor": True, "body": body["body"]})
            return self.answer(201, b"{}")
        found = re.fullmatch("/repos/ada/owls/issues/comments/([0-9]+)", self.path)
        if self.command == "PATCH" and found:
            GitHub.comments[int(found[1]) - 1]["body"] = body["body"]
            return self.answer(200, b"{}")
        return self.answer(404, b"{}")

    def list(self, variables: dict[str, Any]) -> dict[str, Any]:
        assert (variables["owner"], variables["name"], variables["number"]) == ("ada", "owls", 7), variables
        last = len(GitHub.comments) if variables["before"] is None else int(variables["before"])
        first = max(0, last - GitHub.page)
        page = {"nodes": GitHub.comments[first:last], "pageInfo": {"hasPreviousPage": first > 0, "startCursor": str(first)}}
        return {"data": {"repository": {"pullRequest": {"comments": page}}}}

    def fail(self, kind: str) -> None:
        if kind == "redirect":
            self.send_response(307)
            self.send_header("Location", "http://localhost:1/")
            self.end_headers()
        elif kind == "closed":
            self.close_connection = True
        elif kind == "null":
            self.answer(200, b'{"data": null, "errors": [{"message": "no"}]}')
        else:
            self.answer(int(kind) if kind.isdigit() else 200, b"<html>")

    def answer(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class RunnerTest(unittest.TestCase):
    """A workspace with files, an event of a pull request, and the environment of a runner."""

    def setUp(self) -> None:
        GitHub.comments, GitHub.files, GitHub.failure, GitHub.page = [], {}, "", 100
        server = ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.api = f"http://127.0.0.1:{server.server_port}"
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.workspace = self.folder / "workspace"
        for name in ("workspace", "home", "bin", "temp"):
            (self.folder / name).mkdir()
        (self.folder / "bin" / "capstan").symlink_to(os.environ["CAPSTAN"])
        self.write("event.json", '{"pull_request": {"number": 7}}', self.folder)
        self.write("post.yaml", "cascade_id: post\nphases: [{name: a, compose: a}]\n")
        self.write("good.md", "Owls hoot at night.\n")
        self.env = {
            "HOME": str(self.folder / "home"), "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
            "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_REPOSITORY": "ada/owls", "GITHUB_WORKFLOW": "check -->", "GITHUB_JOB": "texts",
            "GITHUB_API_URL": self.api, "GITHUB_GRAPHQL_URL": self.api + "/graphql", "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            **{f"GITHUB_{name}": str(self.folder / name) for name in ("OUTPUT", "PATH", "STEP_SUMMARY")},
        }

    def write(self, name: str, text: str, folder: Path | None = None) -> Path:
        path = (folder or self.workspace) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def step(self, script: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run a script with the defaults of action.yml and these inputs."""
        declared = re.findall(r"(?m)^  (\w+):\n((?:    .*\n)+)", ACTION)
        defaults = {name: re.search(r'default: "?([^"\n]*)"?', text) for name, text in declared}
        given = {f"INPUT_{name.upper()}": found[1] if found else "" for name, found in defaults.items()}
        given |= {"INPUT_TOKEN": TOKEN, **{f"INPUT_{name.upper()}": value for name, value in inputs.items()}}
        args, env = [sys.executable, ROOT / "packaging" / "action" / script], {**self.env, **given}
        return subprocess.run(args, cwd=self.workspace, env=env, capture_output=True, text=True, check=False)

    def outputs(self) -> dict[str, str]:
        """Return the outputs as the runner reads them."""
        lines, found = (self.folder / "OUTPUT").read_text(encoding="utf-8").split("\n"), {}
        while lines:
            line = lines.pop(0)
            if "<<" in line:
                name, end = line.split("<<", 1)
                value = lines[:lines.index(end)]
                found[name], lines = "\n".join(value), lines[len(value) + 1:]
            elif line:
                name, value = line.split("=", 1)
                found[name] = value
        return found


class CheckTest(RunnerTest):
    """The checks and their reports."""

    def test_passed(self) -> None:
        self.record_test()
        done = self.step("check.py", files="*.md", gates="no_secrets\nword_count min=3", tests="cases")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertNotIn("::", done.stdout)
        table = self.outputs()["table"]
        self.assertEqual(self.outputs()["result"], "passed")
        for name in ("lint", "gate no&#95;secrets", "gate word&#95;count min&#61;3", "test cases"):
            self.assertIn(f"| <code>{name}</code> | ✅ passed | 1 | 0 | 0 |", table.split("\n"))
        self.assertEqual((self.folder / "STEP_SUMMARY").read_text(encoding="utf-8"), table)
        self.assertEqual([c["body"] for c in GitHub.comments], [f"<!-- capstan check-/texts -->\n{table}"])

    def record_test(self) -> None:
        """Record a run of post.yaml as the test cases/first."""
        env = {**self.env, "CAPSTAN_STORE": str(self.folder / "runs.db")}
        for args in (["run", "post.yaml"], ["test", "record", "last", "--name", "first", "--tests", "cases", "--link"]):
            subprocess.run(["capstan", *args], cwd=self.workspace, env=env, check=True, capture_output=True)

    def test_rejected(self) -> None:
        self.record_test()
        self.write("post.yaml", "cascade_id: post\nphases: [{name: a, compose: b}]\n")
        self.write("drafts/wrong.yaml", "cascade_id: wrong\nphases: [{name: a, instrutions: a}]\n")
        self.write("leak.md", f"Owls hoot.\nThe token is {SECRET}.\n")
        done = self.step("check.py", files="*.md", gates="no_secrets", tests="cases")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(self.outputs()["result"], "rejected")
        for place in ("drafts/wrong.yaml,line=2,col=20,title=Capstan%3A lint", "leak.md,title=Capstan%3A gate no_secrets",
                      "cases/first/case.yaml,title=Capstan%3A test cases"):
            self.assertIn(f"\n::error file={place}::", done.stdout)
        table = GitHub.comments[0]["body"]
        for row in ("<code>lint</code> | ❌ rejected | 0 | 2 | 0 |", "<code>gate no&#95;secrets</code> | ❌ rejected | 1 | 1 | 0 |",
                    "<code>test cases</code> | ❌ rejected | 0 | 1 | 0 |", "<code>leak&#46;md</code>"):
            self.assertIn(row, table)
        self.assertNotIn(SECRET, done.stdout + table)

    def test_one_file_as_many(self) -> None:
        """The verdict of a file does not depend on the number of files, for a gate with a report of its own too."""
        for number in range(2, 4):
            self.write(f"{number}.md", "A text.")
        for gate in ("word_count min=3", "capy stage=BASE_T1"):
            for file in ("[2].md", "[23].md"):
                done = self.step("check.py", lint="", files=file, gates=gate)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn("::error file=2.md,title=Capstan%3A gate " + gate + "::", done.stdout)
                self.assertNotIn("::None", done.stdout)

    def test_errors(self) -> None:
        """A check without a verdict is an error, and neither passed nor rejected."""
        broken = "validators: {broken: {exec: [/no/such/program]}}"
        self.write("gates.yaml", f"cascade_id: gates\n{broken}\nphases: [{{name: a, compose: a}}]\n")
        self.write("more.md", "More.")
        (self.workspace / "outside.md").symlink_to(self.folder / "event.json")
        for inputs, reason in (
            ({"gates": "nothing"}, 'no validator is called "nothing"'), ({"gates": "gates.yaml:broken"}, "/no/such/program"),
            ({"gates": "gates.yaml:broken", "files": "good.md"}, "/no/such/program"), ({"gates": "word_count minimum=3"}, "minimum"),
            ({"gates": "no_secrets", "files": ""}, "set the input files"), ({"tests": "nothing"}, "nothing"),
            ({"gates": "no_secrets", "files": "good.md\n*.txt"}, "no file has this name"), ({"lint": "", "files": ""}, "no checks"),
            ({"files": "outside.md"}, "outside the workspace"), ({"files": "../event.json"}, "outside the workspace"),
            ({"gates": 'word_count "min=3'}, "No closing quotation"),
        ):
            with self.subTest(inputs):
                (self.folder / "OUTPUT").unlink(missing_ok=True)
                done = self.step("check.py", **{"files": "good.md\nmore.md", **inputs})
                self.assertEqual((done.returncode, self.outputs()["result"]), (3, "error"), done.stdout)
                self.assertIn(reason, done.stdout)
                self.assertIn("⚠️ error", GitHub.comments[0]["body"])

    def test_rejection_before_error(self) -> None:
        done = self.step("check.py", files="good.md", gates="nothing\nword_count min=30")
        self.assertEqual((done.returncode, self.outputs()["result"]), (1, "rejected"))
        self.assertIn("❌ rejected | 0 | 1 | 0", GitHub.comments[0]["body"])

    def test_one_comment(self) -> None:
        """Later runs update the comment, among many others. A comment of another person with the marker does not change."""
        GitHub.page = 3
        self.step("check.py", files="good.md", gates="word_count min=30")
        marker = GitHub.comments[0]["body"].split("\n")[0]
        forged = {"databaseId": 2, "viewerDidAuthor": False, "body": marker + "\nforged"}
        others = [{"databaseId": 3 + n, "viewerDidAuthor": n % 2 == 0, "body": f"{n}"} for n in range(8)]
        GitHub.comments += [forged, *others]
        done = self.step("check.py", files="good.md", gates="word_count min=3")
        self.assertIn("comment updated", done.stdout)
        self.assertEqual(len(GitHub.comments), 10)
        self.assertIn("✅ passed", GitHub.comments[0]["body"])
        self.assertNotIn("rejected |", GitHub.comments[0]["body"].replace("| passed | rejected | errors |", ""))
        self.assertEqual(GitHub.comments[1:], [forged, *others])
        self.env["GITHUB_JOB"] = "other"
        self.assertIn("comment created", self.step("check.py").stdout)

    def test_api_errors(self) -> None:
        """An error of the API is a warning, and the verdict remains."""
        self.step("check.py")
        lists = (f"POST graphql {kind}" for kind in ("500", "403", "redirect", "text", "null", "closed"))
        for failure in (*lists, "PATCH 1 403", "PATCH 1 502", "POST comments 404"):
            for words, status in ((3, 0), (30, 1)):
                with self.subTest(failure, status=status):
                    GitHub.failure = failure
                    self.env["GITHUB_JOB"] = "other" if "comments" in failure else "texts"
                    done = self.step("check.py", files="good.md", gates=f"word_count min={words}")
                    self.assertEqual((done.returncode, done.stderr), (status, ""))
                    self.assertIn("::warning title=No comment::", done.stdout)
                    self.assertEqual("pull-requests: write" in done.stdout, failure[-3:] in ("403", "404"))
        self.assertEqual(len(GitHub.comments), 1)
        self.env["GITHUB_GRAPHQL_URL"] = "http://127.0.0.1:1"
        self.assertEqual(self.step("check.py").returncode, 0)

    def test_no_comment(self) -> None:
        """A push has no comment, and comment: false turns it off."""
        self.assertEqual(self.step("check.py", comment="false").returncode, 0)
        for event in ("{}", "null", '{"pull_request": null}', ""):
            self.write("event.json", event, self.folder)
            self.assertIn("no pull request", self.step("check.py").stdout)
        self.assertEqual(GitHub.comments, [])

    def test_hostile_names(self) -> None:
        """File names cannot add annotations, outputs, rows, links or mentions."""
        name = "a|b`c` [x](http:x) <b> @ada #1\n::error::no\nresult=passed\u202e%0A.md"
        self.write(name, "x")
        done = self.step("check.py", files="*.md", gates="word_count min=2")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line for line in done.stdout.split("\n") if line.startswith("::")][0].count("::"), 2)
        self.assertEqual(len([line for line in done.stdout.split("\n") if line.startswith("::")]), 1)
        self.assertEqual(self.outputs()["result"], "rejected")
        rows = [line for line in self.outputs()["table"].split("\n") if "result" in line and "passed" in line and "errors" not in line]
        self.assertEqual([row.count("|") for row in rows], [4])
        self.assertRegex(rows[0], r"^\| <code>(\w| |&#\d+;|⟦U&#43;202E⟧)+</code> \| <code>")

    def test_limits(self) -> None:
        """Many findings and long reasons fit in a comment, whose maximum is 65,536 characters."""
        for reason, most in (("short", 50), ("*" * 10_000, 35)):
            many = check.Check("gate", 0, [check.Finding(f"{n}.md", reason) for n in range(1000)])
            table = report.markdown([many], "rejected")
            self.assertLess(len(table), 65_000)
            rows = table.count("\n| <code>") - 1
            self.assertTrue(most - 10 < rows <= most, rows)
            self.assertIn(f"\n{1000 - rows} more findings", table)

    def test_files(self) -> None:
        """More files than one call takes, one of them named as standard input."""
        for number in range(check.CHUNK):
            self.write(f"texts/{number}.txt", "One two.")
        self.write("-", "One two.")
        done = self.step("check.py", lint="", files="texts/**\n-\ntexts/1.txt", gates="word_count max=2")
        self.assertIn(f"gate word_count max=2: passed, {check.CHUNK + 1} passed, 0 not", done.stdout)

    def test_token(self) -> None:
        """The program does not get the token."""
        program = self.folder / "bin" / "capstan"
        program.unlink()
        program.write_text(f"#!/bin/sh\nenv >{self.folder}/seen\necho '{{\"diagnostics\": []}}'\n")
        program.chmod(0o755)
        self.assertEqual(self.step("check.py").returncode, 0)
        seen = (self.folder / "seen").read_text()
        self.assertIn("GITHUB_JOB=texts", seen)
        self.assertNotIn(TOKEN, seen)


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
