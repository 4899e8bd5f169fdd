"""The reports of check.py. File names and reasons come from untrusted texts."""
from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from check import Check, Finding

ROWS = 50  # maximum of findings in the table
SIZE = 50_000  # maximum of characters in the table; a comment of GitHub has at most 65,536
WIDTH = 300  # maximum of characters of a reason
MARKS = {"passed": "✅ passed", "rejected": "❌ rejected", "error": "⚠️ error"}


def annotation(check: Check, finding: Finding) -> str:
    """Return a workflow command that marks a finding in the change."""
    place = {"file": finding.place, "line": finding.line, "col": finding.column, "title": f"Capstan: {check.name}"}
    properties = ",".join(f"{name}={escape_property(str(value))}" for name, value in place.items() if value)
    return f"::error {properties}::{escape_data(finding.reason)}"


def escape_data(text: str) -> str:
    """Return a text as the message of a workflow command."""
    text = text.encode("utf-8", "backslashreplace").decode()  # a file name need not be UTF-8
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Return a text as a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def markdown(checks: list[Check], result: str) -> str:
    """Return the result, a table of the checks, and a table of the first findings."""
    rows = [f"### Capstan: {MARKS[result]}", "", "| check | result | passed | rejected | errors |", "|---|---|---|---|---|"]
    for check in checks:
        errors = sum(f.error for f in check.findings)
        rows.append(f"| {code(check.name)} | {MARKS[check.result]} | {check.passed} | {len(check.findings) - errors} | {errors} |")
    findings = [(check, f) for check in checks for f in check.findings]
    if findings:
        rows += ["", "| place | check | reason |", "|---|---|---|"]
    shown, size = 0, sum(map(len, rows))
    for check, f in findings[:ROWS]:
        place = f"{f.place}:{f.line}" if f.line else f.place
        row = f"| {code(place)} | {code(check.name)} | {code(f.reason)} |"
        if size + len(row) > SIZE:
            break
        rows.append(row)
        shown, size = shown + 1, size + len(row)
    if shown < len(findings):
        rows += ["", f"{len(findings) - shown} more findings are in the log of the job."]
    return "\n".join(rows) + "\n"


def code(text: str) -> str:
    """Return a text as code that Markdown, HTML and mentions of GitHub cannot change."""
    text = "".join(visible(c) for c in " ".join(text.split()))
    if len(text) > WIDTH:
        text = text[:WIDTH] + "…"
    return "<code>" + re.sub(r"[!-/:-@\[-`{-~]", lambda m: f"&#{ord(m[0])};", text) + "</code>" if text else ""


def visible(c: str) -> str:
    """Return a character, or the code point of one that cannot be seen or turns the direction of writing."""
    return f"⟦U+{ord(c):04X}⟧" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn") else c
