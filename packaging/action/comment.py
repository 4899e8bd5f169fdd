"""The comment on a pull request: one comment, which later runs update."""
from __future__ import annotations

import json
import os
import re
import urllib.request
from typing import Any

# viewerDidAuthor finds the comment of this token. A comment of another person is never
# updated, whatever it contains: its author could change it afterwards.
FIND = """
query($owner: String!, $name: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      comments(last: 100, before: $before) {
        nodes { databaseId viewerDidAuthor body }
        pageInfo { hasPreviousPage startCursor }
      }
    }
  }
}
"""


class CommentError(Exception):
    """A reason for which there is no comment."""


class Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects are errors, because they could receive the token."""

    def redirect_request(self, *_: Any) -> None:
        """Refuse a redirect."""


def publish(table: str) -> str:
    """Create or update the comment, and return a message about it."""
    number = pull_request()
    if number is None:
        return "no pull request, so no comment"
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    job = "/".join(os.environ.get(name, "") for name in ("GITHUB_WORKFLOW", "GITHUB_JOB"))
    marker = f"<!-- capstan {re.sub(r'[^A-Za-z0-9._/]+', '-', job)} -->"
    body = {"body": f"{marker}\n{table}"}
    own = find(repository, number, marker)
    if own is None:
        request("POST", f"{api()}/repos/{repository}/issues/{number}/comments", body)
        return "comment created"
    request("PATCH", f"{api()}/repos/{repository}/issues/comments/{own}", body)
    return "comment updated"


def pull_request() -> int | None:
    """Return the number of the pull request that started the workflow."""
    try:
        with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            number = json.load(file)["pull_request"]["number"]
    except (KeyError, TypeError, OSError, ValueError):
        return None
    return number if isinstance(number, int) else None


def find(repository: str, number: int, marker: str) -> int | None:
    """Return the newest own comment that begins with the marker."""
    owner, _, name = repository.partition("/")
    before = None
    while True:
        variables = {"owner": owner, "name": name, "number": number, "before": before}
        url = os.environ.get("GITHUB_GRAPHQL_URL", "https://api.github.com/graphql")
        answer = request("POST", url, {"query": FIND, "variables": variables})
        try:
            page = answer["data"]["repository"]["pullRequest"]["comments"]
            for node in reversed(page["nodes"]):
                if node["viewerDidAuthor"] and node["body"].startswith(marker):
                    return int(node["databaseId"])
            if not page["pageInfo"]["hasPreviousPage"]:
                return None
            before = page["pageInfo"]["startCursor"]
        except (KeyError, TypeError, ValueError) as err:
            raise CommentError(f"the API did not list the comments: {str(answer)[:200]}") from err


def api() -> str:
    """Return the address of the REST API."""
    return os.environ.get("GITHUB_API_URL", "https://api.github.com")


def request(method: str, url: str, body: dict[str, Any]) -> Any:
    """Send a request and return the JSON of its answer."""
    headers = {"Accept": "application/vnd.github+json", "Content-Type": "application/json", "User-Agent": "capstan"}
    message = urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)
    message.add_unredirected_header("Authorization", f"Bearer {os.environ.get('INPUT_TOKEN', '')}")
    try:
        with urllib.request.build_opener(Redirects).open(message, timeout=30) as response:
            return json.load(response)
    except (OSError, ValueError) as err:
        hint = ": the job needs the permission pull-requests: write" if getattr(err, "code", 0) in (401, 403, 404) else ""
        raise CommentError(f"{method} {url}: {err}{hint}") from err
