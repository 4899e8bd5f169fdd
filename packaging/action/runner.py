"""The workspace, the environment and the server of the tests of the action.

The tests need a program for this machine, in the environment variable CAPSTAN.
"""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
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
