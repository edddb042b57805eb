#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generate from json/log.fields everything that depends on the fields of the log.

    gen_log.py FIELDS schema FILE             the JSON Schema
    gen_log.py FIELDS words FILE              C for layer/: tally_NAME_name() of the sets of words
    gen_log.py FIELDS numbers FILE            C for json/: the fields that `export --csv` shows
    gen_log.py FIELDS put FILE                C that json/record_write.c includes
    gen_log.py FIELDS read FILE LINE...       C that the decoder of those lines includes
    gen_log.py FIELDS docs PAGE [--check]     rewrite, or check, the tables of docs/log.md
    gen_log.py FIELDS list                    every field, its type and whether it is required

The grammar is at the top of json/log.fields. A mistake in it is printed as FILE:LINE.
"""

import json
import pathlib
import re
import sys

SCHEMA_URL = "https://json-schema.org/draft/2020-12/schema"
INLINE_TYPES = ("share", "number", "bool")  # spelled out in the schema where they are used


class Wrong(Exception):
    """FIELDS says something that makes no sense: (line number, what)."""


# ---- the description ----

class Entry:
    """Something with a name, a text below it and optionally JSON for the schema."""

    def __init__(self, line, name):
        self.line, self.name = line, name
        self.text, self.json = "", None

    def take(self, words):
        """A line below the name. False: the line is neither."""
        if words.startswith("| "):
            self.text += (" " if self.text else "") + words[2:]
        elif words.startswith("{"):
            self.json = json.loads(words)
        else:
            return False
        return True


class Field(Entry):
    def __init__(self, line, words):
        if len(words) < 3:
            raise Wrong(line, "a field is NAME TYPE WHEN")
        super().__init__(line, words[0])
        self.type, _, self.of = words[1].partition(":")
        self.when = [word for word in words[2:] if re.match(r"(required|always|optional|nonzero|known:|if:)", word)]
        rest = [word for word in words[2:] if word not in self.when]
        self.attributes = {key: value for key, _, value in (word.partition("=") for word in rest)}
        if not self.when or set(self.attributes) - {"in", "absent", "array", "get", "pointers", "csv", "known"}:
            raise Wrong(line, f"not understood: {' '.join(rest) or 'no WHEN'}")
        self.member = self.attributes.get("in", self.name)
        self.array = self.attributes.get("array", self.name)

    def condition(self):
        """MEMBER or FUNCTION(r) of if:, else None."""
        return next((word[3:] for word in self.when if word.startswith("if:")), None)

    def has_member(self):
        """The bool that is true when the value is present, or None."""
        condition = self.condition()
        return condition if condition and "(" not in condition else None

    def count(self):
        """COUNT of known:, or None."""
        return next((word[6:] for word in self.when if word.startswith("known:")), None)

    def is_always(self):
        return "required" in self.when or "always" in self.when


class Object(Entry):
    def __init__(self, line, kind, head):
        left, _, self.what = head.partition(" = ")
        words, _, struct = left.partition("struct ")
        name, *self.more = words.split()
        super().__init__(line, name)
        self.is_line = kind == "line"
        self.struct = f"struct {struct.strip()}"
        self.fields = []

    def bit(self, field):
        return f"{self.name}_{field.name}".upper()

    def marks(self):
        """Whether reading it marks the keys of its estimates by a separate mark."""
        return any(field.type == "estimated" and "get" not in field.attributes for field in self.fields)


class Words(Entry):
    def __init__(self, line, words):
        super().__init__(line, words[0])
        prefix, _, self.count = words[1].partition("/")
        pairs = [word.partition("=") for word in words[2:]]
        self.words = [word for word, _, _ in pairs]
        prefix = "" if prefix == "-" else prefix
        self.values = [prefix + (value or word.upper().replace("-", "_")) for word, _, value in pairs]


class Description:
    """json/log.fields, read."""

    def __init__(self, path):
        self.words, self.types, self.objects, self.flags = {}, {}, {}, []
        self.schema = None
        self.owner = self.entry = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                self.take(number, line)
        for owner in self.objects.values():
            for field in owner.fields:
                self.check(field)

    def take(self, number, line):
        depth = len(line) - len(line.lstrip("\t"))
        words = line.strip()
        if depth == 0:
            self.begin(number, *words.partition(" ")[::2])
            self.entry = self.owner
        elif depth == 1 and self.owner.take(words):
            pass
        elif depth == 1:
            self.begin_inner(number, words)
        elif not self.entry.take(words):
            raise Wrong(number, f"not understood: {words}")

    def begin(self, number, kind, rest):
        rest = rest.strip()
        if kind in ("line", "object"):
            self.owner = Object(number, kind, rest)
            self.objects[self.owner.name] = self.owner
        elif kind == "type":
            name, *more = rest.split()
            self.owner = self.types[name] = Entry(number, name)
            self.owner.more = dict(word.split("=") for word in more)
        elif kind == "words":
            self.owner = Words(number, rest.split())
            self.words[self.owner.name] = self.owner
        elif kind in ("schema", "flags"):
            self.owner = Entry(number, kind)
            self.schema = self.schema or self.owner
        else:
            raise Wrong(number, f"not understood: {kind}")

    def begin_inner(self, number, words):
        if isinstance(self.owner, Object):
            self.entry = Field(number, words.split())
            self.owner.fields.append(self.entry)
            return
        self.entry = Entry(number, words)
        if self.owner is self.schema:
            self.schema.inner = self.entry
        elif self.owner.name == "flags":
            self.flags.append(self.entry)
        else:
            raise Wrong(number, f"not understood: {words}")

    def all_words(self):
        """The sets of words, and the flags."""
        flags = Words(0, ["flag", "TALLY_FLAG_/TALLY_N_FLAGS", *(flag.name for flag in self.flags)])
        return [*self.words.values(), flags]

    def words_of(self, field):
        """The set of words it is one of, or None."""
        name = field.of if field.type == "word" else getattr(self.types.get(field.type), "more", {}).get("words")
        return self.words.get(name)

    def check(self, field):
        known = {"word": self.words, "object": self.objects, "list": self.objects, "by": {field.of},
                 "const": {field.of}, **dict.fromkeys(("key", "estimated", "values", "texts", "keys", "pairs"), {""})}
        if field.of not in known.get(field.type, {}) and (field.of or field.type not in self.types):
            raise Wrong(field.line, f"there is no type {field.type}:{field.of}".rstrip(":"))

    def inner_first(self, names):
        """These objects and those inside them, each after the ones inside it."""
        order = []

        def add(owner):
            for field in owner.fields:
                if field.type in ("object", "list"):
                    add(self.objects[field.of])
            if owner not in order:
                order.append(owner)
        for name in names:
            add(self.objects[name])
        return order


# ---- the schema ----

def type_schema(description, entry):
    rule = {"description": entry.text}
    if entry.name == "flags":
        words = ", ".join(f"{flag.name} ({flag.text})" for flag in description.flags)
        rule["description"] += f" Words of this version: {words}. Later versions add words."
    if "words" in entry.more:
        rule["enum"] = description.words[entry.more["words"]].words
    return rule | (entry.json or {})


def field_schema(description, field):
    rule = {"description": field.text} if field.text else {}
    if field.json:
        rule.update(field.json)
    elif field.type == "const":
        rule = {"description": field.of, "const": field.of}
    elif field.type == "word":
        rule["enum"] = description.words[field.of].words
    elif field.type == "list":
        rule.update({"type": "array", "items": {"$ref": f"#/$defs/{field.of}"}})
    elif field.type in INLINE_TYPES:
        rule.update(description.types[field.type].json)
    else:
        rule["$ref"] = f"#/$defs/{'text' if field.type == 'key' else field.of or field.type}"
    return rule


def object_schema(description, owner):
    rule = {"description": owner.text, "type": "object"}
    required = [field.name for field in owner.fields if "required" in field.when]
    if required:
        rule["required"] = required
    rule["properties"] = {field.name: field_schema(description, field) for field in owner.fields}
    return rule


def make_schema(description):
    """The schema as an object."""
    definitions = {name: type_schema(description, entry) for name, entry in description.types.items()
                   if name not in INLINE_TYPES}
    definitions |= {name: object_schema(description, owner) for name, owner in description.objects.items()}
    return {
        "$schema": SCHEMA_URL,
        "$id": "urn:passtally:schema:1",
        "title": "One line of a passtally log",
        "description": description.schema.text,
        "type": "object",
        "required": ["type"],
        "properties": {"type": {"description": description.schema.inner.text, "type": "string"}},
        "allOf": [{"if": {"properties": {"type": {"const": name}}}, "then": {"$ref": f"#/$defs/{name}"}}
                  for name, owner in description.objects.items() if owner.is_line],
        "$defs": definitions,
    }


def spell(value, indent=0, before=0):
    """JSON with short items on one line; `before` columns precede it there."""
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    is_object = isinstance(value, dict)
    pairs = [(json.dumps(key) + ": ", item) for key, item in value.items()] if is_object else [("", v) for v in value]
    flat = ", ".join(name + spell(item) for name, item in pairs)
    flat = f"{{ {flat} }}" if is_object else f"[{flat}]"
    is_short = "\n" not in flat and indent + before + len(flat) <= 88
    is_small = len(value) == 1 and not isinstance(next(iter(pairs))[1], list)
    if is_short and (not is_object or is_small or "const" in value):
        return flat
    body = ",\n".join(" " * (indent + 2) + name + spell(item, indent + 2, len(name)) for name, item in pairs)
    first, last = "{}" if is_object else "[]"
    return f"{first}\n{body}\n{' ' * indent}{last}"


# ---- C ----

HEAD = "/* Made by scripts/gen_log.py from json/log.fields; do not edit. */"


def literal(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def inside(lines):
    """One tab more."""
    return ["\t" + line for line in lines]


def words_source(description):
    """layer/: the names of the enums' values."""
    out = [HEAD, '#include "layer/record.h"']
    for words in description.all_words():
        n = len(words.words)
        if words.count:
            out += ["", f'_Static_assert({words.count} == {n}, "words {words.name}");']
        out += ["", "const char *", f"tally_{words.name}_name(unsigned v)", "{",
                f"\tstatic const char *const words[{n}] = {{",
                *(f"\t\t[{value}] = {literal(word)}," for word, value in zip(words.words, words.values)),
                "\t};", f"\treturn v < {n} ? words[v] : NULL;", "}"]
    return out


# How a value of a type is written and read: a call with the member M of r and the writer w, or the address `at`;
# one with the decoder d; the member's value while there is none, if not zero; the condition that there is one.
U64 = ("tally_number_put_u64(at, M)", "tally_json_read_u64(&d->json, &M)", None, None)
TEXT = ("tally_json_put_text(w, M)", "tally_decode_text(d, &M)", None, "M")
KEY = ("tally_json_put_text(w, M)", "tally_decode_kept(d, &M)", None, "M")
# The maximum number of characters that are written by address.
MOST = {"tally_number_put_u64": "TALLY_U64_CHARS", "tally_number_put_f64": "TALLY_F64_CHARS",
        "tally_json_put_ns_at": "TALLY_U64_CHARS",
        "tally_json_put_id_at": "TALLY_JSON_ID_CHARS", "put_word": "sizeof(struct word)"}
C_TYPES = {
    "uint32": ("tally_number_put_u64(at, M)", "tally_decode_u32(d, &M)", None, None),
    "uint64": U64,
    "nanoseconds": ("tally_json_put_ns_at(w, at, M)", *U64[1:]),
    "number63": ("tally_number_put_u64(at, (uint64_t)M)", "tally_decode_number(d, &M)", "-1", "M >= 0"),
    "text": TEXT,
    "label": TEXT,
    "key": KEY,
    "format": KEY,
    "id": ("tally_json_put_id_at(at, M)", "tally_decode_id(d, &M)", None, None),
    "number": ("tally_number_put_f64(at, M)", "tally_json_read_f64(&d->json, &M)", "NAN", "isfinite(M)"),
    "share": ("tally_number_put_f64(at, M)", "decode_share(d, &M)", None, "isfinite(M)"),
    "counter_value": ("tally_json_put_value(w, M)", "tally_json_read_value(&d->json, &M)",
                      "{ .storage = TALLY_STORAGE_F64, .f64 = NAN }", "tally_json_is_writable(M)"),
    "bool": (None, "tally_json_read_bool(&d->json, &M)", None, None),
    "flags": ("put_flags(w, flag_words, M)", "decode_flags(d, &M)", None, None),
    # N: how many there are; A: the decoder's array.
    "texts": ("put_texts(w, M, N)", "tally_decode_texts(d, A, &N, tally_decode_text)", None, None),
    "keys": ("put_texts(w, M, N)", "tally_decode_texts(d, A, &N, tally_decode_kept)", None, None),
    "pairs": ("put_key_texts(w, M, N)", "decode_key_texts(d, A, &N)", None, None),
}


def spell_call(call, field, member):
    """A call of C_TYPES for this field."""
    words = {"M": member, "N": f"r->n_{field.member}", "A": f"&d->{field.array}"}
    return re.sub(r"\b[MNA]\b", lambda match: words[match.group(0)], call)


class Put:
    """put_NAME() of an object: keys and numbers go to the address `at`, where there is room for all of
    the object's; the rest through the writer, which makes that room again."""

    def __init__(self, description, owner):
        self.description, self.owner = description, owner
        self.values = []  # members of the `values` so far
        self.is_plain = owner.fields[0].is_always()  # the first one is always present: commas are known
        self.chars, self.most = 2, []  # braces; the most that is written by address

    def key(self, field, value=""):
        """The statement that writes the key with its comma, and a constant."""
        spelled = f"{json.dumps(field.name)}:{value}"
        self.chars += len(spelled) + 1
        if not self.is_plain:
            return f"KEY({literal(spelled)});"
        before = "{" if field is self.owner.fields[0] else ","
        return f"AT({literal(before + spelled)});"

    def condition(self, field, member):
        out = []
        if field.count():
            out.append(f"!(r->unknown & TALLY_UNKNOWN_{field.count()})")
        if field.condition():
            out.append(field.condition() if "(" in field.condition() else f"r->{field.condition()}")
        if "nonzero" in field.when:
            n = {"list": f"r->n_{field.member}", "pairs": f"r->n_{field.member}", "flags": f"{member} & KNOWN_FLAGS", "number": f"{member} != 0"}
            out.append(n.get(field.type, member))
        if "optional" in field.when or field.type == "share":
            out.append(C_TYPES[field.type][3].replace("M", member))
        return " && ".join(out)

    @staticmethod
    def by_writer(lines):
        return ["w->at = at;", *lines, "ROOM();"]

    def value(self, field, member):
        if field.type in ("by", "object"):
            return self.by_writer([f"put_{field.of}(w, r);"])
        words = self.description.words_of(field)
        if field.type == "list":
            item = f"{'' if 'pointers' in field.attributes else '&'}{member}[i]"
            return self.by_writer([f"for (uint32_t i = 0; i < r->n_{field.member}; i++) {{",
                                   *inside(["if (i)", '\tPUT(",");', f"put_{field.of}(w, {item});"]), "}",
                                   'PUT("]");'])
        put = f"put_word(at, {words.name}_words, {len(words.words)}, M)" if words else C_TYPES[field.type][0]
        name, call = put.partition("(")[0], spell_call(put, field, member)
        if name not in MOST:
            return self.by_writer([f"{call};"])
        self.most.append(MOST[name])
        return [f"at = {call};"]

    def put_values(self, field):
        """{key: number}: only when there is a number to write."""
        self.values.append(f"r->{field.member}, r->n_{field.member}")
        lines = self.by_writer([f"put_values(w, {self.values[-1]}, &estimated);"])
        return [f"if (has_values({self.values[-1]})) {{", *inside([self.key(field, "{"), *lines]), "}"]

    def put(self, field):
        member = f"r->{field.member}"
        if field.type == "values":
            return self.put_values(field)
        if field.type == "estimated":
            lists = (self.values + ["NULL, 0"])[:2]
            return ["if (estimated) {", *inside(self.by_writer([f"put_estimated(w, {', '.join(lists)});"])), "}"]
        if field.type == "const":
            return [self.key(field, json.dumps(field.of))]
        if field.type == "bool":
            lines = [self.key(field, "true")]
        else:
            lines = [self.key(field, "[" if field.type == "list" else ""), *self.value(field, member)]
        condition = self.condition(field, member)
        return [f"if ({condition}) {{", *inside(lines), "}"] if condition else lines

    def source(self):
        body = [line for field in self.owner.fields for line in self.put(field)]
        if not self.is_plain:
            body = ["bool any = false;", 'AT("{");', *body]
        if self.values:
            body.insert(0, "uint32_t estimated = 0;")
        most = [f"{self.most.count(most)} * {most}" for most in sorted(set(self.most))]
        # The end line may be written without its lists: see json/record_write.c.
        head = ["void", "tally_json_put"] if self.owner.is_line and self.owner.name != "end" else ["static void", "put"]
        return ["", head[0],
                f"{head[1]}_{self.owner.name}(struct tally_json_writer *w, const {self.owner.struct} *r)",
                "{", *inside([f"enum {{ NEED = {' + '.join([str(self.chars), *most])} }};", "char *at;", "ROOM();",
                              *body, 'AT("}");', "w->at = at;"]), "}"]


def put_source(description):
    out = [HEAD]
    for words in description.all_words():
        unknown = [("unknown", str(len(words.words)))]  # a bad enum is noticed: it cannot be read back
        out += ["", f"static const struct word {words.name}_words[] = {{",
                *(f"\t[{value}] = WORD({literal(word)})," for word, value in [*zip(words.words, words.values), *unknown]),
                "};"]
    return out + [line for owner in description.inner_first(description.objects)
                  for line in Put(description, owner).source()]


class Read:
    """decode_NAME() of an object, and everything that it needs; of a line, tally_decode_NAME()."""

    def __init__(self, description, owner):
        self.description, self.owner = description, owner

    def call(self, field):
        """The statements of a field's case."""
        member = f"r->{field.member}"
        if field.type == "const":
            return ["return tally_decode_type(d);"]
        if field.type in ("by", "object"):
            return [f"return decode_{field.of}(d, r);"]
        words = self.description.words_of(field)
        if words:
            return [f"ok = tally_decode_enum(d, tally_{words.name}_name, {len(words.words)}, &word);",
                    f"{member} = word;", "return ok;"]
        if field.type == "list":
            return [f"return decode_{self.owner.name}_{field.name}(d, r);"]
        if field.type == "values":
            return [f"return decode_values(d, &d->{field.array}, &r->n_{field.member});"]
        if field.type == "estimated":
            get = field.attributes.get("get")
            return [f"return {get}(d);" if get else "return decode_estimated(d, o->mark);"]
        if "get" in field.attributes:
            return [f"return {field.attributes['get']}(d, &{member});"]
        return [f"return {spell_call(C_TYPES[field.type][1], field, member)};"]

    def list(self, field):
        """decode_OBJECT_FIELD(): an array of objects."""
        item = self.description.objects[field.of]
        return ["", "static bool",
                f"decode_{self.owner.name}_{field.name}(struct tally_decoder *d, {self.owner.struct} *r)", "{",
                *inside(["if (!tally_json_open_array(&d->json))", "\treturn false;",
                         "while (tally_json_next_item(&d->json)) {",
                         f"\t{item.struct} *item = tally_array_push(d, &d->{field.array}, sizeof(*item));",
                         f"\tif (!item || !decode_{item.name}(d, item))", "\t\treturn false;",
                         f"\tr->n_{field.member}++;", "}", "return !d->json.failed;"]), "}"]

    def field(self):
        """decode_NAME_field()."""
        out = ["", "static inline bool",
               f"decode_{self.owner.name}_field(struct tally_decoder *d, const struct tally_object *o, int field,",
               f"\t\t{self.owner.struct} *r)", "{"]
        if any(self.description.words_of(field) for field in self.owner.fields):
            out += ["\tunsigned word = 0;", "\tbool ok;"]
        out += [] if self.owner.marks() else ["\t(void)o;"]
        out.append("\tswitch (field) {")
        for field in self.owner.fields:
            out.append(f"\tcase {self.owner.bit(field)}:")
            if field.has_member():
                out.append(f"\t\tr->{field.has_member()} = true;")
            out += inside(inside(self.call(field)))
        return out + ["\t}", "\treturn true;", "}"]

    def object(self):
        """The type of the field in struct tally_object."""
        owner = self.owner
        out = [f".what = {literal(owner.what)},", f".fields = {owner.name}_fields,",
               f".n_fields = N_{owner.name.upper()}_FIELDS,"]
        required = [field for field in owner.fields if "required" in field.when and field.type != "const"]
        if required:
            bits = " | ".join(f"TALLY_BIT({owner.bit(field)})" for field in required)
            out.append(f".required = {bits},")
        if owner.marks():
            out.append(".mark = ++d->epoch,")
        return out

    def absent(self):
        """The members at the beginning of the record."""
        out = []
        for field in self.owner.fields:
            absent = C_TYPES.get(field.type, (0, 0, None))[2]
            if "absent" in field.attributes:
                out.append(field.attributes["absent"])
            elif absent and not field.is_always():
                out.append(f".{field.member} = {absent}")
        return ", ".join(out) or "0"

    def shares_record(self):
        """Whether it is an object inside another one's record."""
        return any(field.type == "object" and field.of == self.owner.name
                   for owner in self.description.objects.values() for field in owner.fields)

    def source(self):
        owner, upper = self.owner, self.owner.name.upper()
        out = ["", "enum {", *(f"\t{owner.bit(field)}," for field in owner.fields), f"\tN_{upper}_FIELDS,", "};", "",
               f"static const struct tally_field {owner.name}_fields[N_{upper}_FIELDS] = {{",
               *(f"\t[{owner.bit(field)}] = TALLY_FIELD({literal(field.name)})," for field in owner.fields), "};"]
        if "finish" in owner.more:
            out += ["", f"static void finish_{owner.name}(const struct tally_object *o, {owner.struct} *r);"]
        for field in owner.fields:
            out += self.list(field) if field.type == "list" else []
        out += self.field()
        out += ["", "bool" if owner.is_line else "static bool",
                f"{'tally_' if owner.is_line else ''}decode_{owner.name}(struct tally_decoder *d, {owner.struct} *r)",
                "{", "\tstruct tally_object inner = {", *inside(inside(self.object())), "\t}, *o = &inner;"]
        if not self.shares_record():
            out.append(f"\t*r = ({owner.struct}){{ {self.absent()} }};")
        out += inside(["if (!tally_object_open(d, o))", "\treturn false;",
                       "for (int field; (field = tally_object_next(d, o)) >= 0;) {",
                       f"\tif (!decode_{owner.name}_field(d, o, field, r))", "\t\treturn tally_object_fail(d, o);",
                       "}"])
        if owner.marks():
            out += [f"\tif (o->seen & TALLY_BIT({upper}_ESTIMATED)) {{",
                    *(f"\t\tapply_estimated(&d->{field.array}, r->n_{field.member}, o->mark);"
                      for field in owner.fields if field.type == "values"), "\t}"]
        if "finish" in owner.more:
            out.append(f"\tfinish_{owner.name}(o, r);")
        # The arrays no longer move.
        out += [f"\tr->{field.member} = tally_array_items(&d->{field.array});" for field in owner.fields
                if owner.is_line and field.type in ("list", "values", "texts", "pairs")
                and "pointers" not in field.attributes]
        end = " && tally_json_end(&d->json)" if owner.is_line else ""
        end += f" && check_{owner.name}(d, o, r)" if "check" in owner.more else ""
        return out + [f"\treturn !d->json.failed{end};", "}"]


def read_source(description, lines):
    return [HEAD, *(line for owner in description.inner_first(lines) for line in Read(description, owner).source())]


def number_call(description, field):
    """The statement that hands over a field for `export --csv`."""
    member, known = f"r->{field.member}", "true"
    has = field.attributes.get("known", field.has_member())
    if has:
        known = f"r->{has}"
    elif field.count():
        known = f"!(r->unknown & TALLY_UNKNOWN_{field.count()})"
    unless = [] if known == "true" or "absent" in field.attributes["csv"] else [known]
    if "nonzero" in field.when:
        unless.append(member if known == "true" else f"(!({known}) || {member})")
    storage = "f64" if field.type in ("share", "number") else "u64"
    value = f"(struct tally_value){{ .storage = TALLY_STORAGE_{storage.upper()}, .{storage} = {member} }}"
    unit = description.types[field.type].more["unit"]
    call = f"put(to, {literal(field.name)}, {literal(unit)}, {known}, {value});"
    return [f"if ({' && '.join(unless)})", f"\t{call}"] if unless else [call]


def numbers_source(description):
    """json/: tally_NAME_numbers() of the objects that have rows in `export --csv`."""
    out = [HEAD, '#include "json/log_numbers.h"']
    for owner in description.objects.values():
        fields = [field for field in owner.fields if "csv" in field.attributes]
        fields.sort(key=lambda field: int(re.sub(r"\D", "", field.attributes["csv"]) or 0))
        if fields:
            out += ["", "void",
                    f"tally_{owner.name}_numbers(const {owner.struct} *r, tally_put_number *put, void *to)",
                    "{", *inside(line for field in fields for line in number_call(description, field)), "}"]
        if owner.name == "frame":
            units = [(field.name, description.types[field.type].more["unit"]) for field in fields]
            out += ["", "const struct tally_number_name *", "tally_frame_number_names(void)", "{",
                    "\tstatic const struct tally_number_name names[] = {",
                    *(f"\t\t{{ {literal(name)}, {literal(unit)} }}," for name, unit in units), "\t\t{ 0 },",
                    "\t};", "\treturn names;", "}"]
    return out


# ---- documents ----

HOLDS = {
    "uint32": "integer", "uint64": "integer", "number63": "integer", "id": "16 hex digits", "kind": "word",
    "label": "text", "key": "text", "format": "text", "share": "number", "bool": "true", "counter_value": "number",
    "values": "numbers by key", "texts": "array", "keys": "array", "pairs": "object", "estimated": "array of keys", "flags": "array of words", "const": "word",
}


def holds(field):
    """The text after the colon, in words."""
    if field.type == "by":
        return {"object": "object", "array": "array"}.get(field.json.get("type"), "text")
    if field.type == "list":
        return f"array of {field.of}"
    return HOLDS.get(field.type, field.type)


def table(description, name):
    """A table of docs/log.md, as lines."""
    def cell(text):
        return re.sub(r"([|<>*])", r"\\\1", text)
    if name == "flags":
        return ["| flag | means |", "|---|---|",
                *(f"| `{flag.name}` | {cell(flag.text)} |" for flag in description.flags)]
    rows = ["| field | holds | meaning |", "|---|---|---|"]
    for field in description.objects[name].fields:
        if field.type == "const":
            continue  # the line's own name
        text = field.text
        if field.type == "object":
            text = text or description.objects[field.of].text
        text = text or description.types[field.type].text
        words = description.words_of(field)
        what = ", ".join(f"`{word}`" for word in words.words) if words else holds(field)
        always = ", always" if "required" in field.when else ""
        rows.append(f"| `{field.name}` | {what}{always} | {cell(text)} |")
    return rows


def fill_page(description, text):
    """The page with its tables as they should be. What a field of an earlier table means is not said again."""
    seen = set()

    def once(row):
        if row.count("|") == 4 and len(row) > 60 and row in seen:
            return "|".join([*row.split("|")[:3], " as above |"])
        seen.add(row)
        return row

    def fill(match):
        return "\n".join([match.group(1), *map(once, table(description, match.group(2))), match.group(3)])
    return re.sub(r"(<!-- fields of (\w+)[^\n]*-->)\n.*?(<!-- end -->)", fill, text, flags=re.DOTALL)


def list_fields(description):
    """Every promise a reader may rely on."""
    out = []
    for owner in description.objects.values():
        out += [f"{owner.name}.{field.name} {holds(field)}{' required' if 'required' in field.when else ''}"
                for field in owner.fields]
    out += [f"words {words.name} {word}" for words in description.words.values() for word in words.words]
    return out + [f"flags {flag.name}" for flag in description.flags]


def main(fields, what, target=None, *rest):
    description = Description(pathlib.Path(fields))
    makers = {
        "schema": lambda: [spell(make_schema(description))],
        "words": lambda: words_source(description),
        "numbers": lambda: numbers_source(description),
        "put": lambda: put_source(description),
        "read": lambda: read_source(description, rest),
    }
    if what == "list":
        print("\n".join(list_fields(description)))
    elif what == "docs":
        page = pathlib.Path(target)
        now = page.read_text(encoding="utf-8")
        wanted = fill_page(description, now)
        if "--check" in rest and now != wanted:
            print(f"{page} does not say what json/log.fields says: run\n    {sys.argv[0]} {fields} {what} {page}")
            return 1
        if now != wanted:
            page.write_text(wanted, encoding="utf-8")
    else:
        pathlib.Path(target).write_text("\n".join(makers[what]()) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Wrong as wrong:
        sys.exit(f"{sys.argv[1]}:{wrong.args[0]}: {wrong.args[1]}")
