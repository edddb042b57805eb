#!/usr/bin/env python3
"""Is this a passtally log? An answer that shares no code with the command `passtally check`.

    scripts/validate_log.py [--schema FILE] [--allow-cut] LOG...

Each line is checked against the JSON Schema (made from json/log.fields beside this script's folder,
or FILE), by a small interpreter of the keywords that schema uses; a keyword it does not know stops
it. Then the order of the lines: header first, a device before its frames, a pass_info line before
an id's first use, the frames of a device in order, nothing after the end line. --allow-cut: the
last line may be cut, as a crash leaves it. Standard library only.

Prints "LOG:LINE: what is wrong". Exit status: 0 all good, 1 something is wrong, 2 usage, or a
schema that is not understood.
"""

import argparse
import json
import pathlib
import re
import sys

import gen_log

FIELDS = pathlib.Path(__file__).resolve().parent.parent / "json" / "log.fields"
MAX_DEPTH = 64
MAX_LINE = 64 << 20
LINE_TYPES = {"header", "device", "pass_info", "frame", "note", "end"}

# Keywords that forbid nothing.
NOTES = {"$schema", "$id", "$defs", "title", "description"}


class Unsupported(Exception):
    """The schema says something this interpreter would have to ignore."""


class Bad(Exception):
    """The line is not what it must be."""


def is_integer(value):
    """As our reader has it: spelled as an integer. 1.0 is none."""
    return isinstance(value, int) and not isinstance(value, bool)


TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": is_integer,
    "number": lambda v: is_integer(v) or isinstance(v, float),
}


def is_same(a, b):
    return type(a) is type(b) and a == b


class Validator:
    def __init__(self, schema):
        self.root = schema
        self.patterns = {}
        self.check_keywords(schema, "#")

    def keywords(self):
        return {name[3:] for name in dir(self) if name.startswith("on_")} | NOTES | {"then", "else"}

    def check_keywords(self, schema, where):
        """Every keyword, also where no line has reached it yet."""
        if isinstance(schema, bool):
            return
        for key, value in schema.items():
            if key.lstrip("$") not in {k.lstrip("$") for k in self.keywords()}:
                raise Unsupported(f"{where}: the keyword {key!r} is not understood")
            if key in ("properties", "$defs"):
                for name, inner in value.items():
                    self.check_keywords(inner, f"{where}/{key}/{name}")
            elif key in ("allOf", "anyOf", "oneOf"):
                for i, inner in enumerate(value):
                    self.check_keywords(inner, f"{where}/{key}/{i}")
            elif key in ("items", "additionalProperties", "propertyNames", "if", "then", "else"):
                self.check_keywords(value, f"{where}/{key}")
            elif key == "$ref":
                self.find(value)
            elif key == "type":
                if value not in TYPES:
                    raise Unsupported(f"{where}: the type {value!r} is not understood")
            elif key == "pattern":
                # `$` is the very end, as in JSON Schema; Python's would let a newline follow.
                self.patterns[value] = re.compile(re.sub(r"\$$", r"\\Z", value))

    def find(self, ref):
        if not ref.startswith("#/"):
            raise Unsupported(f"$ref to {ref!r}, which is not in the document")
        node = self.root
        for part in ref[2:].split("/"):
            if part not in node:
                raise Unsupported(f"$ref to {ref!r}, which is not there")
            node = node[part]
        return node

    def errors(self, schema, value, where=""):
        """What is wrong with the value, as texts."""
        if schema is True:
            return
        if schema is False:
            yield f"{where or 'the line'} may not be there"
            return
        for key, rule in schema.items():
            if key in NOTES or key in ("then", "else"):
                continue
            check = getattr(self, "on_" + key.lstrip("$"))
            yield from check(rule, value, where, schema)

    def holds(self, schema, value):
        return next(self.errors(schema, value), None) is None

    # One method a keyword.

    def on_type(self, rule, value, where, _schema):
        if not TYPES[rule](value):
            yield f"{where or 'the line'} is no {rule}"

    def on_const(self, rule, value, where, _schema):
        if not is_same(rule, value):
            yield f"{where} is not {rule!r}"

    def on_enum(self, rule, value, where, _schema):
        if not any(is_same(one, value) for one in rule):
            yield f"{where} is none of {', '.join(map(str, rule))}"

    def on_minimum(self, rule, value, where, _schema):
        if TYPES["number"](value) and value < rule:
            yield f"{where} is below {rule}"

    def on_maximum(self, rule, value, where, _schema):
        if TYPES["number"](value) and value > rule:
            yield f"{where} is above {rule}"

    def on_pattern(self, rule, value, where, _schema):
        if isinstance(value, str) and not self.patterns[rule].search(value):
            yield f"{where} does not match {rule}"

    def on_maxItems(self, rule, value, where, _schema):
        if isinstance(value, list) and len(value) > rule:
            yield f"{where} has more than {rule} items"

    def on_items(self, rule, value, where, _schema):
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield from self.errors(rule, item, f"{where}/{i}")

    def on_required(self, rule, value, where, _schema):
        if isinstance(value, dict):
            for name in rule:
                if name not in value:
                    yield f"{where or 'the line'} lacks {name!r}"

    def on_dependentRequired(self, rule, value, where, _schema):
        if isinstance(value, dict):
            for name, needs in rule.items():
                for other in needs:
                    if name in value and other not in value:
                        yield f"{where or 'the line'} has {name!r} but lacks {other!r}"

    def on_properties(self, rule, value, where, _schema):
        if isinstance(value, dict):
            for name, inner in rule.items():
                if name in value:
                    yield from self.errors(inner, value[name], f"{where}/{name}")

    def on_additionalProperties(self, rule, value, where, schema):
        if isinstance(value, dict):
            for name in value.keys() - schema.get("properties", {}).keys():
                yield from self.errors(rule, value[name], f"{where}/{name}")

    def on_propertyNames(self, rule, value, where, _schema):
        if isinstance(value, dict):
            for name in value:
                yield from self.errors(rule, name, f"{where}: the key {name!r}")

    def on_allOf(self, rule, value, where, _schema):
        for inner in rule:
            yield from self.errors(inner, value, where)

    def on_anyOf(self, rule, value, where, _schema):
        if not any(self.holds(inner, value) for inner in rule):
            yield f"{where} is none of {len(rule)} things it may be"

    def on_oneOf(self, rule, value, where, _schema):
        if sum(self.holds(inner, value) for inner in rule) != 1:
            yield f"{where} is not exactly one of {len(rule)} things it may be"

    def on_if(self, rule, value, where, schema):
        branch = schema.get("then" if self.holds(rule, value) else "else", True)
        yield from self.errors(branch, value, where)

    def on_ref(self, rule, value, where, _schema):
        yield from self.errors(self.find(rule), value, where)


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
        names = [name for name, _ in pairs]
        raise Bad(f"the key {next(n for n in names if names.count(n) > 1)!r} stands twice")
    return members


def check_tree(value, depth=0):
    if isinstance(value, str):
        if any("\ud800" <= c <= "\udfff" for c in value):
            raise Bad("half a surrogate pair")
    elif isinstance(value, (dict, list)):
        if depth == MAX_DEPTH:
            raise Bad(f"nested deeper than {MAX_DEPTH}")
        if isinstance(value, dict):
            for name in value:
                check_tree(name, depth + 1)
            value = value.values()
        for item in value:
            check_tree(item, depth + 1)


def parse(line):
    if len(line) > MAX_LINE:
        raise Bad("longer than 64 MiB")
    try:
        value = json.loads(
            line.decode("utf-8"),
            object_pairs_hook=read_object,
            parse_constant=refuse_constant,
            parse_float=read_float,
            parse_int=read_integer,
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Bad(str(error)) from None
    except RecursionError:
        raise Bad(f"nested deeper than {MAX_DEPTH}") from None
    check_tree(value)
    return value


class Order:
    """What must stand before what."""

    def __init__(self):
        self.n = 0
        self.ended = False
        self.ids = set()
        self.last_frame = {}  # of each device

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
            yield f"frame {frame['frame']} stands behind frame {self.last_frame[device]}"
        self.last_frame[device] = frame["frame"]
        for one in frame["passes"]:
            if one["id"] not in self.ids:
                yield f"pass {one['id']} has no pass_info line before it"


def check_integers(value, where=""):
    """No integer of a log is wider than 64 bits, also where the schema says only `number`."""
    if is_integer(value) and not -(2**63) <= value < 2**64:
        yield f"{where} does not fit in 64 bits"
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from check_integers(item, f"{where}/{name}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from check_integers(item, f"{where}/{i}")


def validate(path, validator, allow_cut):
    """Texts on what is wrong, with their line."""
    order = Order()
    number = 0
    with open(path, "rb") as log:
        for number, line in enumerate(log, 1):
            whole = line.endswith(b"\n")
            try:
                record = parse(line)
            except Bad as bad:
                if whole or not allow_cut:
                    yield number, str(bad)
                break
            wrong = list(validator.errors(validator.root, record))
            if not wrong and record["type"] in LINE_TYPES:
                wrong = list(check_integers(record))
            yield from ((number, text) for text in wrong)
            if wrong:
                break
            yield from ((number, text) for text in order.errors(record))
    if number == 0:
        yield 1, "the file is empty"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--schema", type=pathlib.Path, help="default: made from json/log.fields")
    parser.add_argument("--allow-cut", action="store_true")
    parser.add_argument("logs", nargs="+", metavar="LOG")
    args = parser.parse_args()
    try:
        schema = (json.loads(args.schema.read_text(encoding="utf-8")) if args.schema
                  else gen_log.make_schema(gen_log.Description(FIELDS)))
        validator = Validator(schema)
    except (OSError, ValueError, Unsupported) as error:
        print(f"{args.schema or FIELDS}: {error}", file=sys.stderr)
        return 2
    found = False
    for path in args.logs:
        try:
            for number, text in validate(path, validator, args.allow_cut):
                print(f"{path}:{number}: {text}")
                found = True
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
