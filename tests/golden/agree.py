#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`passtally check` and python3-jsonschema share no code: they must agree on what a valid log is.

    tests/golden/agree.py MUTATIONS PASSTALLY LOG-OR-FOLDER...

Three rounds: logs that are wrong in one place, or just right there; every LOG; and every LOG
line of the first file with each of its values replaced, MUTATIONS of those. A log that both refuse may be refused
for different reasons. Where the last line is cut, `check` still reports whether it was bad before the cut, which
the oracle does not: then only the oracle's "no" counts.
"""

import copy
import json
import pathlib
import subprocess
import sys

import oracle

HEADER = {"type": "header", "schema": "passtally/1", "version": "1", "program": "p", "pid": 1,
          "started": "2026-01-01T00:00:00Z", "options": {}}
DEVICE = {"type": "device", "device": 0, "api": "vulkan", "sources": [], "counters": []}
INFO = {"type": "pass_info", "id": "00000000000000aa", "kind": "render", "target": {}}
FRAME = {"type": "frame", "frame": 1, "device": 0, "start_ns": 1, "cpu_ns": 2, "passes": [],
         "overhead_ns": 0, "dropped_passes": 0}
PASS = {"index": 0, "id": "00000000000000aa", "kind": "render"}
END = {"type": "end", "frames": 1, "frames_dropped": 0, "passes": 0, "reason": "exit"}
NOTE = {"type": "note", "level": "info", "message": ""}


def text(*records):
    lines = (r if isinstance(r, str) else json.dumps(r) for r in records)
    return "".join(line + "\n" for line in lines).encode()


def a_frame(**fields):
    return {**FRAME, **fields}


def a_pass(**fields):
    return a_frame(passes=[{**PASS, **fields}])


# The planted error, the log, and whether the log is valid.
PLANTED = [
    ("a header alone", text(HEADER), True),
    ("one of each", text(HEADER, DEVICE, INFO, a_pass(), NOTE, END), True),
    ("unknown fields, words and lines", text(HEADER, {"type": "new"}, DEVICE, a_frame(new=1, flags=["new"])), True),
    ("the widest integer", text(HEADER, DEVICE, INFO, a_pass(draws=2**64 - 1)), True),
    ("doubles for counters", text(HEADER, DEVICE, INFO, a_pass(counters={"a": 1e300})), True),
    ("as deep as may be", text(HEADER, '{"type":"new","a":' + "[" * 63 + "]" * 63 + "}"), True),
    ("nothing", b"", False),
    ("no header", text(DEVICE), False),
    ("two headers", text(HEADER, HEADER), False),
    ("another schema", text({**HEADER, "schema": "passtally/2"}), False),
    ("a bad time", text({**HEADER, "started": "yesterday"}), False),
    ("a newline after the pattern", text(HEADER, {**INFO, "id": "00000000000000aa\n"}), False),
    ("a frame before its device", text(HEADER, FRAME), False),
    ("frames out of order", text(HEADER, DEVICE, a_frame(frame=2), FRAME), False),
    ("a pass not introduced", text(HEADER, DEVICE, a_pass()), False),
    ("a line after the end", text(HEADER, END, DEVICE), False),
    ("a missing field", text(HEADER, {"type": "note", "level": "info"}), False),
    ("a word that is none", text(HEADER, {**NOTE, "level": "bad"}), False),
    ("a double for an integer", text(HEADER, DEVICE, a_frame(frame=1.0)), False),
    ("true for an integer", text(HEADER, DEVICE, a_frame(frame=True)), False),
    ("a negative one", text(HEADER, DEVICE, a_frame(frame=-1)), False),
    ("65 bits", text(HEADER, DEVICE, a_frame(frame=2**64)), False),
    ("65 bits in a counter", text(HEADER, DEVICE, INFO, a_pass(counters={"a": 2**64})), False),
    ("a text for a counter", text(HEADER, DEVICE, INFO, a_pass(counters={"a": "1"})), False),
    ("a share over 1", text(HEADER, DEVICE, a_frame(coverage=1.5)), False),
    ("nine attachments", text(HEADER, {**INFO, "target": {"color": ["A"] * 9}}), False),
    ("a NUL", text(HEADER, {**NOTE, "message": "\0"}), False),
    ("a NUL in a flag", text(HEADER, DEVICE, a_frame(flags=["a\0b"])), False),
    ("NaN", text(HEADER, DEVICE, INFO, a_pass(counters={"a": float("nan")})), False),
    ("too large", text(HEADER, DEVICE, json.dumps(a_frame(coverage=7)).replace("7", "1e999")), False),
    ("half a surrogate", text(HEADER, '{"type":"new","a":"\\ud800"}'), False),
    ("too deep", text(HEADER, '{"type":"new","a":' + "[" * 64 + "]" * 64 + "}"), False),
    ("an empty line", text(HEADER, ""), False),
    ("no JSON", text(HEADER, "{'type':1}"), False),
    ("no UTF-8", text(HEADER) + b'{"type":"new\xff"}\n', False),
]

VALUES = [None, -1, 1.5, "", "x", [], {}, True, 10**20, 2**63, "00.1", "1e", "1.5e+3", "2026-13-01T00:00:00Z",
          "1969-01-01T00:00:00Z", "2600-01-01T00:00:00Z", "2026-01-01t00:00:60z", "2026-01-01T24:00:00Z", "a\0b",
          "00000000000000AA", [None] * 9, [1], 2, 1e30]


def places(node, path=()):
    """The paths of values; of an array only the first element."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else [(0, node[0])] if isinstance(node, list) and node else ()
    for name, item in items:
        yield from places(item, (*path, name))


def replaced(record, path, value):
    result = copy.deepcopy(record)
    node = result
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = value
    return result


def mutations(log):
    """Each value of each kind of line replaced by each of VALUES: (what, bytes)."""
    records = [json.loads(line) for line in log.read_bytes().splitlines()]
    seen = set()
    for i, record in enumerate(records):
        for path in places(record):
            kind = (record["type"], tuple(name if isinstance(name, str) else 0 for name in path))
            if kind in seen or path == ("type",):
                continue
            seen.add(kind)
            for value in VALUES:
                changed = [*records[:i], replaced(record, path, value), *records[i + 1:]]
                yield f"line {i + 1}, {'/'.join(map(str, path))} = {value!r}", text(*changed)


def check(command, data):
    return subprocess.run([command, "check", "--lines", "-"], input=data, capture_output=True, check=False).returncode


def main():
    if not oracle.jsonschema:
        print("skipped: the module jsonschema is not installed")
        return 77
    mutate, command = int(sys.argv[1]), sys.argv[2]
    validator = oracle.make_validator()
    wrong = []
    for what, data, good in PLANTED:
        said = check(command, data), not list(oracle.errors(validator, data))
        if said != (0 if good else 3, good):
            wrong.append(f"{what}: check {said[0]}, oracle {said[1]}, but it is {'good' if good else 'bad'}")
    logs = []
    for name in map(pathlib.Path, sys.argv[3:]):
        logs += sorted(name.iterdir()) if name.is_dir() else [name]
    for log in logs:
        data = log.read_bytes()
        said = check(command, data), not list(oracle.errors(validator, data, allow_cut=True))
        cut = not data.endswith(b"\n")
        if said not in ((0, True), (3, False)) and not (cut and said == (3, True)):
            wrong.append(f"{log}: check {said[0]}, oracle {said[1]}")
    changed = list(mutations(logs[0]))
    # What the schema cannot express (an id used nowhere else, a device's number) only `check` refuses.
    for what, data in changed[:: max(1, len(changed) // mutate)]:
        if list(oracle.errors(validator, data)) and check(command, data) != 3:
            wrong.append(f"{what}: check takes what the oracle refuses")
    print("\n".join(wrong))
    print(f"{len(PLANTED)} planted, {len(logs)} logs, {len(changed)} mutations: {len(wrong)} disagreements")
    return 1 if wrong or len(logs) < 20 or len(changed) < mutate else 0


if __name__ == "__main__":
    sys.exit(main())
