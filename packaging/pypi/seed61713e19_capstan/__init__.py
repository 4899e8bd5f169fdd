"""A client of Capstan, which checks the texts of language models.

Binary starts the program of this package. Server uses the API of "capstan serve".

    verdict = seed61713e19_capstan.Binary().gate("no_secrets", text)
    print(verdict.valid, verdict.reason)

A rejected text is a result: gate returns a Verdict that is not valid, and run returns a
Run with the status "blocked" or "exhausted". Every other failure raises Error.
"""
from __future__ import annotations

import contextlib
import http.client
import importlib.metadata
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Container, Mapping

__all__ = ["Binary", "Error", "Run", "Server", "Verdict", "find_binary"]

RETURNED = {"succeeded": 0, "blocked": 1, "exhausted": 1, "waiting": 4}  # the runs that are results, and their exit statuses


class Error(Exception):
    """A call without a verdict or a result. run is the failed run, if there is one.

    code is the code of a server's problem or of a failed run's error, "exit N" for the exit
    status of the program, "timeout", "no_connection", "no_binary" or "bad_answer".
    """

    def __init__(self, code: str, message: str, run: Run | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code, self.message, self.run = code, message, run


@dataclass(frozen=True)
class Verdict:
    """The verdict of a gate. As a condition, it is true if the text is valid."""

    valid: bool
    reason: str
    data: Mapping[str, Any]  # the JSON object, with issues, warnings, fix and evidence

    def __bool__(self) -> bool:
        return self.valid


@dataclass(frozen=True)
class Run:
    """A run. As a condition, it is true if the run succeeded. No other run has an output."""

    run_id: str
    status: str  # succeeded, blocked, exhausted or waiting; the run of an Error has another one
    output: Any
    data: Mapping[str, Any]  # the JSON object, with outputs, phases, verdicts, usage and error

    def __bool__(self) -> bool:
        return self.status == "succeeded"


def find_binary() -> str:
    """Return the path of the program of this package. Without one, return the first on PATH."""
    name = "capstan.exe" if os.name == "nt" else "capstan"
    paths = [Path(__file__).resolve().parent.parent / "bin" / name]  # pip install --target
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        paths += [Path(str(f.locate())).resolve() for f in importlib.metadata.files("seed61713e19-capstan") or () if f.name == name]
    if not (found := next((str(p) for p in paths if p.is_file()), shutil.which(name))):
        raise Error("no_binary", f"no program {name} in this package or on PATH")
    return found


class Binary:
    """The program on this machine. process are arguments of subprocess.run, such as timeout (in seconds), cwd and env."""

    def __init__(self, program: str | None = None, **process: Any) -> None:
        self._program, self._process = program or find_binary(), process

    def gate(self, name: str, content: str | None, parameters: Mapping[str, Any] | None = None) -> Verdict:
        """Judge a text. content is None for a gate without a text, such as edit_verifier."""
        with tempfile.TemporaryDirectory(prefix="capstan-") as folder:
            args = ["gate", "--json"]
            for i, (key, value) in enumerate((parameters or {}).items()):  # a file has no limit, a command line has
                Path(file := f"{folder}/{i}.json").write_bytes(_json(value))
                args += ["--with", f"{key}:=@{file}"]
            args += ["--", name] if content is None else ["--", name, "-"]
            status, data = self._call(args, (content or "").encode(), (0, 1))
        if data.get("valid", status == 0) is not (status == 0):
            raise Error(f"exit {status}", "the verdict and the exit status differ")
        return Verdict(status == 0, str(data.get("reason", "")), data)

    def run(self, cascade: str, inputs: Mapping[str, Any] | None = None, *, model: str | None = None, run_id: str | None = None) -> Run:
        """Run a cascade file and wait for the end of the run, or for its question to a person."""
        flags = map("=".join, _given({"--model": model, "--run-id": run_id}).items())
        status, data = self._call(["run", "--json", "--input-file=-", *flags, "--", cascade], _json(dict(inputs or {})), range(256))
        return _returned(data, status)

    def runs(self, *, status: str | None = None, cascade: str | None = None, limit: int = 20) -> list[dict[str, Any]]:
        """List the stored runs, the newest first. A limit of 0 is no limit."""
        flags = map("=".join, _given({"--status": status, "--cascade": cascade, "--limit": str(limit)}).items())
        return list(self._call(["runs", "list", "--json", *flags])[1]["runs"])

    def _call(self, args: list[str], text: bytes = b"", statuses: Container[int] = (0,)) -> tuple[int, dict[str, Any]]:
        try:
            done = subprocess.run([self._program, *args], input=text, capture_output=True, check=False, **self._process)
            data = json.loads(done.stdout)
        except subprocess.TimeoutExpired as err:
            raise Error("timeout", f"capstan {args[0]} did not end within {err.timeout} s") from None
        except ValueError:
            data = None
        if not isinstance(data, dict) or done.returncode not in statuses:
            raise Error(f"exit {done.returncode}", done.stderr.decode("utf-8", "replace").strip())
        return done.returncode, data


class Server:
    """A server at http://HOST:PORT, https://HOST or unix:PATH. timeout is the limit of a call in seconds."""

    def __init__(self, address: str = "http://127.0.0.1:7070", *, token: str | None = None, timeout: float = 300) -> None:
        self._address, self._token, self._timeout, self._url = address, token, timeout, urllib.parse.urlsplit(address)
        if self._url.scheme not in ("http", "https", "unix") or not (self._url.hostname or self._url.scheme == "unix"):
            raise ValueError(f"the address {address!r} is not http://HOST:PORT, https://HOST or unix:PATH")

    def gate(self, name: str, content: str, parameters: Mapping[str, Any] | None = None) -> Verdict:
        """Judge a text with a gate that the server offers."""
        data = self._call("POST", f"/v1/gates/{urllib.parse.quote(name, '')}", {"content": content, "with": dict(parameters or {})})
        if not isinstance(data.get("valid"), bool):
            raise Error("bad_answer", "the answer has no verdict")
        return Verdict(data["valid"], str(data.get("reason", "")), data)

    def run(self, cascade: str, inputs: Mapping[str, Any] | None = None, *, model: str | None = None, run_id: str | None = None) -> Run:
        """Start an offered cascade and wait as Binary.run. After a timeout, a call with the same run_id waits again."""
        order = _given({"cascade": cascade, "input": dict(inputs or {}), "model": model, "run_id": run_id or uuid.uuid4().hex})
        self._call("POST", "/v1/runs", order)
        deadline, pause = time.monotonic() + self._timeout, 0.02
        while (data := self._call("GET", f"/v1/runs/{order['run_id']}")).get("status") == "running":
            if time.monotonic() > deadline:
                raise Error("timeout", f"run {order['run_id']} did not end within {self._timeout} s")
            time.sleep(pause := min(1.0, pause * 1.5))
        return _returned(data)

    def runs(self, *, status: str | None = None, cascade: str | None = None, limit: int = 20) -> list[dict[str, Any]]:
        """List at most 500 runs, the newest first."""
        query = urllib.parse.urlencode(_given({"status": status, "cascade": cascade, "limit": limit}))
        return list(self._call("GET", f"/v1/runs?{query}")["runs"])

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._token}"} if self._token else {})
        try:
            with contextlib.closing(self._connection()) as connection:
                if connection.sock is not None:
                    connection.sock.connect(self._address.removeprefix("unix:"))
                connection.request(method, path, None if body is None else _json(body), headers)
                response = connection.getresponse()
                answer = response.read()
        except (OSError, http.client.HTTPException) as err:
            code = "timeout" if isinstance(err, TimeoutError) else "no_connection"
            raise Error(code, f"{method} {self._address}{path}: {err}") from err
        with contextlib.suppress(ValueError):
            data = json.loads(answer)
            if isinstance(data, dict) and response.status in (200, 202):
                return data
            if isinstance(data, dict) and isinstance(data.get("code"), str):
                raise Error(data["code"], str(data.get("detail")))
        raise Error("bad_answer", f"{method} {self._address}{path}: status {response.status}, not an answer of capstan serve")

    def _connection(self) -> http.client.HTTPConnection:
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(self._url.netloc, timeout=self._timeout)
        connection = http.client.HTTPConnection(self._url.netloc or "localhost", timeout=self._timeout)
        if self._url.scheme == "unix":
            connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.sock.settimeout(self._timeout)
        return connection


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _returned(data: Mapping[str, Any], exit_status: int | None = None) -> Run:
    """Return the run if it is a result. Otherwise raise its error."""
    run, error = Run(str(data.get("run_id")), str(data.get("status")), data.get("output"), data), data.get("error") or {}
    if run.status not in RETURNED or exit_status not in (None, RETURNED[run.status]):
        raise Error(str(error.get("code", "bad_answer")), str(error.get("message", f"the run is {run.status}")), run)
    return run
