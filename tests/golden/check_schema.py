#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The golden logs against the schema, by python3-jsonschema: an oracle that is not part of the project.

    tests/golden/check_schema.py SCHEMA

Also: the schema is one of draft 2020-12, and every field of it has a description. Exit status 77
(skipped) where the module is not installed.
"""

import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the module jsonschema is not installed")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent


def undescribed(schema, where="#"):
    """Fields without their own description or one of what they refer to."""
    for name, rule in schema.get("properties", {}).items():
        if "description" not in rule and "$ref" not in rule:
            yield f"{where}/{name}"
    for name, inner in schema.get("$defs", {}).items():
        if "description" not in inner:
            yield f"{where}/$defs/{name}"
        yield from undescribed(inner, f"{where}/$defs/{name}")


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = [f"{field} has no description" for field in undescribed(schema)]
    checked = 0
    for log in sorted(HERE.glob("log-*.jsonl")):
        for number, line in enumerate(log.read_text(encoding="utf-8").splitlines(), 1):
            for error in validator.iter_errors(json.loads(line)):
                wrong.append(f"{log.name}:{number}: {error.json_path}: {error.message}")
            checked += 1
    if not checked:
        wrong.append("no golden log was found")
    # The schema must be able to refuse, too.
    if validator.is_valid({"type": "frame", "frame": "1"}):
        wrong.append("a frame with a text for a number is taken")
    print("\n".join(wrong) or f"{checked} lines are as the schema says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
