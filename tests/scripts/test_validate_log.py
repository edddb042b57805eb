"""scripts/validate_log.py must find what is planted in a log and leave alone what is allowed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "validate_log.py"
GOLDEN = ROOT / "tests" / "golden" / "log-1.jsonl"

HEADER = {"type": "header", "schema": "passtally/1", "version": "1", "program": "p", "pid": 1,
          "started": "2026-01-01T00:00:00Z", "options": {}}
DEVICE = {"type": "device", "device": 0, "api": "vulkan", "sources": [], "counters": []}
INFO = {"type": "pass_info", "id": "00000000000000aa", "kind": "render", "target": {}}
FRAME = {"type": "frame", "frame": 1, "device": 0, "start_ns": 1, "cpu_ns": 2, "passes": [],
         "overhead_ns": 0, "dropped_passes": 0}
PASS = {"index": 0, "id": "00000000000000aa", "kind": "render"}
END = {"type": "end", "frames": 1, "frames_dropped": 0, "passes": 0, "reason": "exit"}


def text(*records):
    lines = (r if isinstance(r, str) else json.dumps(r) for r in records)
    return "".join(line + "\n" for line in lines)


def a_frame(**fields):
    return {**FRAME, **fields}


def a_pass(**fields):
    return a_frame(passes=[{**PASS, **fields}])


# What is planted, the log, and a part of what must be said; "" when nothing is wrong.
CASES = [
    ("a header alone", text(HEADER), ""),
    ("one of each", text(HEADER, DEVICE, INFO, a_pass(), END), ""),
    ("unknown fields, words and lines", text(HEADER, {"type": "new"}, DEVICE,
                                             a_frame(new=1, flags=["new"])), ""),
    ("the widest integer", text(HEADER, DEVICE, INFO, a_pass(draws=2**64 - 1)), ""),
    ("doubles for counters", text(HEADER, DEVICE, INFO, a_pass(counters={"a": 1e300})), ""),
    ("nothing", "", ":1: the file is empty"),
    ("no header", text(DEVICE), ":1: the first line"),
    ("two headers", text(HEADER, HEADER), ":2: the first line"),
    ("another schema", text({**HEADER, "schema": "passtally/2"}), "/schema is not 'passtally/1'"),
    ("a bad time", text({**HEADER, "started": "yesterday"}), "/started does not match"),
    ("a newline behind the pattern", text(HEADER, {**INFO, "id": "00000000000000aa\n"}),
     "/id does not match"),
    ("a frame before its device", text(HEADER, FRAME), ":2: frame of device 0"),
    ("frames out of order", text(HEADER, DEVICE, a_frame(frame=2), FRAME), ":4: frame 1 stands"),
    ("a pass not introduced", text(HEADER, DEVICE, a_pass()), "has no pass_info line"),
    ("a line after the end", text(HEADER, END, DEVICE), ":3: a line follows the end"),
    ("a missing field", text(HEADER, {"type": "note", "level": "info"}), "lacks 'message'"),
    ("a word that is none", text(HEADER, {"type": "note", "level": "bad", "message": ""}),
     "/level is none of info"),
    ("a double for an integer", text(HEADER, DEVICE, a_frame(frame=1.0)), "/frame is no integer"),
    ("true for an integer", text(HEADER, DEVICE, a_frame(frame=True)), "/frame is no integer"),
    ("a negative one", text(HEADER, DEVICE, a_frame(frame=-1)), "/frame is below 0"),
    ("65 bits", text(HEADER, DEVICE, a_frame(frame=2**64)), "/frame is above"),
    ("65 bits in a counter", text(HEADER, DEVICE, INFO, a_pass(counters={"a": 2**64})),
     "/counters/a does not fit in 64 bits"),
    ("a text for a counter", text(HEADER, DEVICE, INFO, a_pass(counters={"a": "1"})),
     "/counters/a is no number"),
    ("a share over 1", text(HEADER, DEVICE, a_frame(coverage=1.5)), "/coverage is above 1"),
    ("half of a time", text(HEADER, DEVICE, a_frame(gpu_ns=1)), "lacks 'envelope_ns'"),
    ("nine attachments", text(HEADER, {**INFO, "target": {"color": ["A"] * 9}}), "more than 8"),
    ("a NUL", text(HEADER, {"type": "note", "level": "info", "message": "\0"}), "does not match"),
    ("NaN", text(HEADER, DEVICE, INFO, a_pass(counters={"a": float("nan")})), "NaN is no JSON"),
    ("too large", text(HEADER, '{"type":"new","a":1e999}'), "too large for a double"),
    ("a key twice", text(HEADER, '{"type":"new","a":1,"a":2}'), "the key 'a' stands twice"),
    ("half a surrogate", text(HEADER, '{"type":"new","a":"\\ud800"}'), "half a surrogate pair"),
    ("too deep", text(HEADER, '{"type":"new","a":' + "[" * 64 + "]" * 64 + "}"), "deeper than 64"),
    ("as deep as may be", text(HEADER, '{"type":"new","a":' + "[" * 63 + "]" * 63 + "}"), ""),
    ("an empty line", text(HEADER, ""), ":2: Expecting value"),
    ("no JSON", text(HEADER, "{'type':1}"), ":2: Expecting property name"),
]


def validate(log, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log.jsonl")
        path.write_bytes(log if isinstance(log, bytes) else log.encode())
        return subprocess.run([sys.executable, SCRIPT, *options, path], capture_output=True,
                              text=True, check=False)


class ValidateLog(unittest.TestCase):
    def test_cases(self):
        for what, log, want in CASES:
            with self.subTest(what):
                done = validate(log)
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_bad_utf8(self):
        done = validate(text(HEADER).encode() + b'{"type":"new\xff"}\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn(":2:", done.stdout)

    def test_cut(self):
        golden = GOLDEN.read_bytes()
        self.assertEqual(validate(golden).returncode, 0)
        cut = golden[:-20]
        self.assertEqual(validate(cut).returncode, 1)
        self.assertEqual(validate(cut, "--allow-cut").returncode, 0)
        self.assertEqual(validate(cut + b"\n", "--allow-cut").returncode, 1)

    def test_unknown_keyword(self):
        """What it cannot check it does not pretend to check."""
        for schema in ({"minProperties": 1}, {"allOf": [{"format": "date"}]},
                       {"properties": {"a": {"$ref": "#/$defs/none"}}}, {"type": "float"}):
            with self.subTest(schema), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "schema.json")
                path.write_text(json.dumps(schema), encoding="utf-8")
                done = validate("{}\n", "--schema", path)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("schema.json", done.stderr)

    def test_no_file(self):
        done = subprocess.run([sys.executable, SCRIPT, "/nonexistent"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
