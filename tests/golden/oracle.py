#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is this a passtally log? Answered without code of the command `passtally check`.

    tests/golden/oracle.py [--allow-cut] [--schema FILE] LOG...

Each line is checked against the JSON Schema (made from json/log.fields, or FILE) by python3-jsonschema.
Then the order of the lines: header first, a device before its frames, a pass_info line before an id's
first use, the frames of a device in order, nothing after the end line. --allow-cut: the last line may be cut, as a crash leaves it.

Prints "LOG:LINE: what is wrong". Exit status: 0 all good, 1 something is wrong, 77 python3-jsonschema
is not installed.
"""

import argparse
import bisect
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import gen_log  # pylint: disable=wrong-import-position

FIELDS = ROOT / "json" / "log.fields"
LINE_TYPES = {"header", "device", "pass_info", "pipeline", "frame", "note", "end"}
MAX_DEPTH = 64

try:
    import jsonschema
except ImportError:
    jsonschema = None


class Bad(Exception):
    """The line violates a rule."""


def is_integer(_checker, value):
    """An integer as our reader defines it: spelled as an integer. 1.0 is not one."""
    return isinstance(value, int) and not isinstance(value, bool)


def matches(pattern, text):
    """`$` is the very end, as in JSON Schema; Python's would let a newline follow."""
    return bool(re.search(re.sub(r"\$$", r"\\Z", pattern), text))


def match_whole(_validator, pattern, value, _schema):
    if isinstance(value, str) and not matches(pattern, value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern}")


# Keywords that depend on more of a value than Validator.shape() keeps.
UNSEEN = ("multipleOf", "uniqueItems", "minLength", "maxLength", "format")


def values_of(schema, *names):
    """Each value that one of these keywords has in a schema."""
    items = schema.items() if isinstance(schema, dict) else enumerate(schema) if isinstance(schema, list) else ()
    for name, item in items:
        if name in names and not isinstance(item, dict):
            yield item
        yield from values_of(item, *names)


class Validator:
    """For one line. Python3-jsonschema takes milliseconds for one, so lines or items of an array that it cannot
    tell apart are shown to it only once: those of one shape, where that shape is valid."""

    def __init__(self, schema):
        assert not list(values_of(schema, *UNSEEN)), "shape() keeps too little for this schema"
        known = {*values_of(schema, "minimum", "maximum", "const")}.union(*values_of(schema, "enum"))
        numbers = {one for one in known if not isinstance(one, str)}
        self.words = known - numbers
        self.bounds = sorted(numbers | {-(2**63), 2**64 - 1})  # including those of wide_integers()
        self.patterns = sorted(set(values_of(schema, "pattern")))
        self.texts = {}
        self.good = set()
        base = jsonschema.Draft202012Validator
        self.strict = jsonschema.validators.extend(
            base, {"pattern": match_whole, "items": self.items},
            type_checker=base.TYPE_CHECKER.redefine("integer", is_integer))(schema)

    def shape(self, value):
        """The value, but for a number its type and the bounds that it lies between, and for a text that the schema
        does not name the patterns that it matches."""
        if isinstance(value, str):
            if value not in self.texts:
                self.texts[value] = value if value in self.words else tuple(matches(p, value) for p in self.patterns)
            return self.texts[value]
        if value is None:
            return None
        if isinstance(value, dict):
            return dict, *value, *map(self.shape, value.values())
        if isinstance(value, list):
            return list, *map(self.shape, value)
        return type(value), bisect.bisect_left(self.bounds, value), bisect.bisect_right(self.bounds, value)

    def items(self, validator, schema, instance, _whole):
        """JSON Schema's keyword `items`."""
        for index, item in enumerate(instance if isinstance(instance, list) else ()):
            yield from self.unless_good((id(schema), self.shape(item)),
                                        lambda item=item, i=index: validator.descend(item, schema, path=i))

    def unless_good(self, shape, check):
        wrong = [] if shape in self.good else list(check())
        if not wrong:
            self.good.add(shape)
        return wrong

    def errors(self, record):
        return self.unless_good(self.shape(record), lambda: self.line_errors(record))

    def line_errors(self, record):
        wrong = [f"{e.json_path}: {e.message}" for e in self.strict.iter_errors(record)]
        if not wrong and record["type"] in LINE_TYPES:
            wrong = list(wide_integers(record))
        return wrong


def make_validator(schema=None):
    return Validator(schema or gen_log.make_schema(gen_log.Description(FIELDS)))


# Strict JSON: Python's own parser lets some things through.


def refuse_constant(word):
    raise Bad(f"{word} is no JSON")


def read_float(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise Bad(f"{text} is too large for a double")
    return value


def read_integer(text):
    return -0.0 if text == "-0" else int(text)


def read_object(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Bad("a key stands twice")
    return members


def check_tree(value, depth=0):
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise Bad("half a surrogate pair")
    if not isinstance(value, (dict, list)):
        return
    if depth == MAX_DEPTH:
        raise Bad(f"nested deeper than {MAX_DEPTH}")
    for item in [*value, *value.values()] if isinstance(value, dict) else value:
        check_tree(item, depth + 1)


def parse(line):
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=read_object, parse_constant=refuse_constant,
                           parse_float=read_float, parse_int=read_integer)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Bad(str(error)) from None
    except RecursionError:
        raise Bad(f"nested deeper than {MAX_DEPTH}") from None
    check_tree(value)
    return value


def wide_integers(value, where=""):
    """No integer of a log is wider than 64 bits, even where the schema says only `number` and 1.5 is allowed."""
    if where.endswith(("/mean", "/sd_population", "/sd_sample")):
        return  # never whole
    if is_integer(None, value) and not -(2**63) <= value < 2**64:
        yield f"{where} does not fit in 64 bits"
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield from wide_integers(item, f"{where}/{name}")


class Order:
    """The required order of lines."""

    def __init__(self):
        self.n = 0
        self.ended = False
        self.ids = set()
        self.last_frame = {}  # per device

    def errors(self, record):
        self.n += 1
        kind = record["type"]
        if self.ended:
            yield "a line follows the end line"
        if (self.n == 1) != (kind == "header"):
            yield "the first line, and only that, is a header"
        if kind == "device":
            self.last_frame.setdefault(record["device"], -1)
        elif kind == "pass_info":
            self.ids.add(record["id"])
        elif kind == "frame":
            yield from self.frame_errors(record)
        self.ended = kind == "end"

    def frame_errors(self, frame):
        device = frame["device"]
        if device not in self.last_frame:
            yield f"frame of device {device}, which has no device line before it"
        elif frame["frame"] <= self.last_frame[device]:
            yield f"frame {frame['frame']} stands after frame {self.last_frame[device]}"
        self.last_frame[device] = frame["frame"]
        for one in frame["passes"]:
            if one["id"] not in self.ids:
                yield f"pass {one['id']} has no pass_info line before it"


def errors(validator, data, allow_cut=False):
    """What is wrong with the bytes of a log, with the line's number."""
    order = Order()
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    for number, line in enumerate(lines, 1):
        try:
            record = parse(line)
        except Bad as bad:
            if line.endswith(b"\n") or not allow_cut:
                yield number, str(bad)
            return
        wrong = validator.errors(record)
        yield from ((number, text) for text in wrong or order.errors(record))
        if wrong:
            return
    if not lines:
        yield 1, "the file is empty"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--schema", type=pathlib.Path, help="default: made from json/log.fields")
    parser.add_argument("--allow-cut", action="store_true")
    parser.add_argument("logs", nargs="+", metavar="LOG", type=pathlib.Path)
    args = parser.parse_args()
    if not jsonschema:
        print("skipped: the module jsonschema is not installed")
        return 77
    validator = make_validator(json.loads(args.schema.read_text(encoding="utf-8")) if args.schema else None)
    found = 0
    for log in args.logs:
        for number, text in errors(validator, log.read_bytes(), args.allow_cut):
            print(f"{log}:{number}: {text}")
            found = 1
    return found


if __name__ == "__main__":
    sys.exit(main())
