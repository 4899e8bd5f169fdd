"""Tests of the checks of the action, and of their reports."""
from __future__ import annotations

import os
import subprocess
import unittest

import check
import report
from runner import TOKEN, GitHub, RunnerTest

SECRET = "ghp_4f8bC2dE6gH1jK3mN5pQ7rS9tU0vW2xY4zA6"


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

    def test_broken_runner(self) -> None:
        """A failure of the script is an error, and not a rejection."""
        self.env["GITHUB_STEP_SUMMARY"] = str(self.folder)
        done = self.step("check.py")
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertIn("::error title=Capstan gave no verdict::IsADirectoryError", done.stdout)

    def test_name_is_not_utf8(self) -> None:
        for name in (b"\xff.md", b"\xfe.md"):
            with open(os.path.join(os.fsencode(self.workspace), name), "wb") as file:
                file.write(b"One.")
        done = self.step("check.py", files="*.md", gates="word_count max=1")
        self.assertEqual((done.returncode, done.stderr), (1, ""), done.stdout)
        self.assertIn("gate word_count max=1: rejected, 2 passed, 1 not", done.stdout)
        done = self.step("check.py", files="*.md", gates="word_count min=5")
        self.assertIn("::error file=\\udcff.md,", done.stdout)
        self.assertIn("⟦U&#43;DCFF⟧", GitHub.comments[0]["body"])

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


if __name__ == "__main__":
    unittest.main()
