"""Rewrites the expected outputs in jinja.json with those of Jinja2 itself.

    python3 jinja.py            (Jinja2 3.1.6)

A case gets "want", or "error": true where Jinja2 fails. Maps are handed to Jinja2 in the order of their keys.
"""

import json
import pathlib

import jinja2

PATH = pathlib.Path(__file__).with_name("jinja.json")


def expect(environment, case):
    kept = {key: case[key] for key in ("name", "template", "vars") if key in case}
    values = json.loads(json.dumps(case.get("vars", {}), sort_keys=True))
    try:
        return kept | {"want": environment.from_string(case["template"]).render(values)}
    except Exception:
        return kept | {"error": True}


def main():
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    cases = [expect(environment, case) for case in json.loads(PATH.read_text())]
    lines = (json.dumps(case, ensure_ascii=False) for case in cases)
    PATH.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
