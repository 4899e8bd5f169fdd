"""Tests of the client against the program and a server, whose models are scripted.

test_wheel.py runs this file with the installed package.
"""
from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Iterator

from seed61713e19_capstan import Binary, Error, Run, Server, Verdict, find_binary

CASCADE = """\
cascade_id: post
inputs_schema: {topic: The topic of the text}
model: gpt-5-mini
phases:
  - name: draft
    instructions: "Write about {{ input.topic }}."
    wards: {post: [{validator: word_count, with: {min: 3}, mode: blocking}]}
  - name: approved
    human_input: {type: confirmation, prompt: "Publish it?"}
    when: input.topic == "news"
    compose: "{{ outputs.draft }}"
"""
SCRIPT = """\
- {phase: draft, contains: about owls, reply: "Owls hoot at night.", times: always}
- {phase: draft, contains: about bats, reply: "Bats.", times: always}
- {phase: draft, contains: about news, reply: "Nothing is new today.", times: always}
- {phase: draft, contains: about fire, error: {status: 400}, times: always}
"""
BROKEN = """\
cascade_id: gates
validators: {broken: {exec: [/no/such/program]}}
phases: [{name: a, compose: a}]
"""


def setUpModule() -> None:
    global FOLDER
    FOLDER = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    for name, text in {"post.yaml": CASCADE, "post.scripted.yaml": SCRIPT, "gates.yaml": BROKEN}.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print("program", find_binary(), file=sys.stderr)


def environment() -> dict[str, str]:
    return {**os.environ, "CAPSTAN_STORE": str(FOLDER / "runs.db")}


@contextlib.contextmanager
def serving(address: str, **env: str) -> Iterator[str]:
    """Start capstan serve and return its address."""
    args = [find_binary(), "serve", "post.yaml", "--model", "scripted:post.scripted.yaml", "--addr", address]
    with subprocess.Popen(args, cwd=FOLDER, env={**environment(), **env}, stderr=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stderr:
                if found := re.search(r"(http://\S+?|unix:\S+)/? ", line):
                    break
            else:
                raise AssertionError("the server did not start")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield found[1]
        finally:
            process.terminate()


class Calls:
    """The same calls for the program and for a server."""

    client: Binary | Server
    cascade: str

    def test_gate(self) -> None:
        verdict = self.client.gate("word_count", "Owls hoot.", {"min": 3})
        self.assertEqual((verdict.valid, bool(verdict), verdict.reason), (False, False, "the text has 2 words, fewer than 3"))
        self.assertEqual(verdict.data["issues"][0]["expected"], "at least 3 words")
        verdict = self.client.gate("word_count", "Owls hoot.", {"max": 2})
        self.assertIs(type(verdict), Verdict)
        self.assertEqual((verdict.valid, bool(verdict)), (True, True))

    def test_gate_texts(self) -> None:
        """Texts and parameters arrive unchanged, also if they are long, empty or look like options."""
        for text in ("", "-", "--json", "Ä🦉\u2028\r\n\tx", "word " * 100_000):
            self.assertTrue(self.client.gate("contains", "<" + text + ">", {"text": "<" + text + ">"}), text[:20])
            self.assertFalse(self.client.gate("contains", text, {"text": text + "!"}), text[:20])

    def test_gate_errors(self) -> None:
        wrong = {"minimum": 3}, {"min": "many"}
        for name, parameters in (("nothing", {}), ("--help", {}), ("../runs", {}), *(("word_count", each) for each in wrong)):
            with self.assertRaises(Error, msg=name) as caught:
                self.client.gate(name, "Owls hoot.", parameters)
            self.assertIn(caught.exception.code, ("exit 2", "unknown_gate", "bad_parameters", "not_found"))

    def test_run(self) -> None:
        run = self.client.run(self.cascade, {"topic": "owls"})
        self.assertIs(type(run), Run)
        self.assertEqual((run.status, bool(run), run.output), ("succeeded", True, "Owls hoot at night."))
        self.assertEqual(run.data["usage"]["model_calls"], 1)

    def test_run_rejected(self) -> None:
        run = self.client.run(self.cascade, {"topic": "bats"})
        self.assertEqual((run.status, bool(run), run.output), ("blocked", False, None))
        self.assertEqual(run.data["verdicts"][0]["reason"], "the text has 1 word, fewer than 3")

    def test_run_waits(self) -> None:
        run = self.client.run(self.cascade, {"topic": "news"})
        self.assertEqual((run.status, bool(run), run.output), ("waiting", False, None))

    def test_run_fails(self) -> None:
        """A failed model call is an error, and so are wrong inputs and unknown cascades."""
        with self.assertRaises(Error) as caught:
            self.client.run(self.cascade, {"topic": "fire"})
        self.assertEqual(caught.exception.run.status, "failed")
        self.assertEqual(caught.exception.code, caught.exception.run.data["error"]["code"])
        for cascade, inputs in ((self.cascade, {}), (self.cascade, {"topic": "owls", "more": 1}), ("nothing.yaml", {"topic": "owls"})):
            with self.assertRaises(Error):
                self.client.run(cascade, inputs)

    def test_run_id(self) -> None:
        name = f"{type(self).__name__}-1"
        self.assertEqual(self.client.run(self.cascade, {"topic": "owls"}, run_id=name).run_id, name)

    def test_runs(self) -> None:
        run = self.client.run(self.cascade, {"topic": "bats"})
        self.assertIn(run.run_id, [summary["run_id"] for summary in self.client.runs(status="blocked", cascade="post", limit=100)])
        self.assertEqual(len(self.client.runs(limit=1)), 1)
        self.assertEqual(self.client.runs(cascade="nothing"), [])
        with self.assertRaises(Error):
            self.client.runs(status="good")

    def test_not_json(self) -> None:
        with self.assertRaises(ValueError):
            self.client.gate("word_count", "a", {"min": float("nan")})


class BinaryTest(Calls, unittest.TestCase):
    cascade = "post.yaml"

    def setUp(self) -> None:
        self.client = Binary(cwd=str(FOLDER), env={**environment(), "CAPSTAN_MODEL": "scripted:post.scripted.yaml"})

    def test_broken_validator(self) -> None:
        with self.assertRaises(Error) as caught:
            self.client.gate("gates.yaml:broken", "Owls hoot.")
        self.assertEqual(caught.exception.code, "exit 3")
        self.assertIn("/no/such/program", caught.exception.message)

    def test_gate_without_text(self) -> None:
        with self.assertRaisesRegex(Error, "edit_verifier: "):
            self.client.gate("edit_verifier", None, {"source": "a"})

    def test_gate_with_own_report(self) -> None:
        """The report of the gate capy has no field valid. The exit status is the verdict."""
        verdict = self.client.gate("capy", "A text.", {"stage": "BASE_T1"})
        self.assertEqual((verdict.valid, verdict.data["status"]), (False, "FAIL"))

    @unittest.skipIf(os.name == "nt", "the program is a shell script")
    def test_contradictions(self) -> None:
        """A program whose output and exit status differ gives no verdict and no result."""
        valid, invalid, unknown = '{"valid": true}', '{"valid": false}', '{"valid": null}'
        wrong = [(valid, 1), (valid, 3), (invalid, 0), (invalid, 3), (unknown, 0), (unknown, 1), ("{}", 2), ("", 0), ("[]", 0)]
        for output, status in wrong:
            with self.subTest(output=output, status=status), self.assertRaises(Error):
                Binary(self.program(output, status)).gate("word_count", "a")
        for output, status in (('{"run_id": "a", "status": "succeeded"}', 3), ('{"run_id": "a", "status": "blocked"}', 0), ("{}", 0)):
            with self.subTest(output=output, status=status), self.assertRaises(Error):
                Binary(self.program(output, status)).run("post.yaml")

    @unittest.skipIf(os.name == "nt", "the program is a shell script")
    def test_timeout(self) -> None:
        with self.assertRaises(Error) as caught:
            Binary(self.program("", 0, "exec sleep 60"), timeout=0.2).gate("word_count", "a")
        self.assertEqual(caught.exception.code, "timeout")

    def program(self, output: str, status: int, first: str = "") -> str:
        path = FOLDER / "program"
        path.write_text(f"#!/bin/sh\n{first}\ncat >/dev/null\nprintf '%s' '{output}'\nexit {status}\n")
        path.chmod(0o755)
        return str(path)


class ServerTest(Calls, unittest.TestCase):
    cascade = "post"
    token = "0123456789abcdef"

    @classmethod
    def setUpClass(cls) -> None:
        address = cls.enterClassContext(serving("127.0.0.1:0", CAPSTAN_TOKEN=cls.token))
        cls.client = Server(address, token=cls.token)
        cls.address = address

    def test_token(self) -> None:
        for token in (None, "fedcba9876543210"):
            with self.assertRaises(Error) as caught:
                Server(self.address, token=token).gate("word_count", "a")
            self.assertEqual(caught.exception.code, "unauthorized")

    def test_same_run_id(self) -> None:
        """A repeated call returns the run of the first call."""
        first, second = (self.client.run("post", {"topic": "owls"}, run_id="twice") for _ in range(2))
        self.assertEqual((second.run_id, second.output), (first.run_id, first.output))
        with self.assertRaises(Error) as caught:
            self.client.run("post", {"topic": "bats"}, run_id="twice")
        self.assertEqual(caught.exception.code, "run_exists")

    @unittest.skipIf(os.name == "nt", "Unix sockets")
    def test_unix_socket(self) -> None:
        with serving(f"unix:{FOLDER}/s.sock") as address:
            self.assertFalse(Server(address).gate("word_count", "Owls hoot.", {"min": 3}))

    def test_addresses(self) -> None:
        for address in ("127.0.0.1:7070", "localhost", "file:///etc/passwd", "http://", "unix"):
            with self.subTest(address), self.assertRaises(ValueError):
                Server(address)
        for address in ("http://127.0.0.1:1", "unix:/no/such/socket"):
            with self.subTest(address), self.assertRaises(Error) as caught:
                Server(address).runs()
            self.assertEqual(caught.exception.code, "no_connection")


class Foreign(BaseHTTPRequestHandler):
    """Answers that are not those of capstan serve."""

    seen: list[tuple[str, str | None]] = []

    def do_POST(self) -> None:
        kind = self.path.rsplit("/", 1)[1]
        Foreign.seen.append((self.path, self.headers["Authorization"]))
        self.rfile.read(int(self.headers["Content-Length"]))
        if kind == "slow":
            time.sleep(1)
        self.send_response({"moved": 307, "error": 500}.get(kind, 200))
        self.send_header("Location", f"http://localhost:{self.server.server_port}/v1/gates/other")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write({"text": b"<html>", "list": b"[true]", "word": b'{"valid": "yes"}'}.get(kind, b'{"valid": true}'))

    def log_message(self, *_: object) -> None:
        pass


class ForeignServerTest(unittest.TestCase):
    def setUp(self) -> None:
        server = HTTPServer(("127.0.0.1", 0), Foreign)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.client = Server(f"http://127.0.0.1:{server.server_port}", token="secret", timeout=0.3)

    def test_no_verdict(self) -> None:
        """Only a JSON object with a boolean verdict and status 200 is a verdict."""
        for name in ("text", "list", "word", "error", "moved"):
            with self.subTest(name), self.assertRaises(Error) as caught:
                self.client.gate(name, "a")
            self.assertEqual(caught.exception.code, "bad_answer")
        self.assertTrue(self.client.gate("good", "a"))

    def test_redirect(self) -> None:
        """The token is not sent to the address of a redirect."""
        Foreign.seen.clear()
        with self.assertRaises(Error):
            self.client.gate("moved", "a")
        self.assertEqual(Foreign.seen, [("/v1/gates/moved", "Bearer secret")])

    def test_timeout(self) -> None:
        with self.assertRaises(Error) as caught:
            self.client.gate("slow", "a")
        self.assertEqual(caught.exception.code, "timeout")


if __name__ == "__main__":
    unittest.main()
