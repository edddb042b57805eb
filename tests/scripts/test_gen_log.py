#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json/log.fields: what was released stays, the documents follow, and a new number is one row.

    tests/scripts/test_gen_log.py

tests/golden/fields-1.txt lists the fields of passtally/1 as they were released. A field, a word or
a flag that is added later is listed there with its release:

    scripts/gen_log.py json/log.fields list > tests/golden/fields-1.txt
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "gen_log.py"
FIELDS = ROOT / "json" / "log.fields"
CC = shutil.which("cc") or shutil.which("gcc")

# The whole change that a new optional number of a frame needs: its row, and its member.
ROW = """\
	test_ns         nanoseconds           if:has_test              csv
		| Added by this test.
"""
MEMBER = "\tbool has_test;\n\tuint64_t test_ns;\n"
# Written, read back, and listed among the rows of `export --csv`.
PROGRAM = r"""
#include <stdio.h>
#include <string.h>
#include "json/log_numbers.h"
#include "json/record_json.h"
#include "json/record_write.h"
#include "tests/unit/json/log_bytes.h"

static bool
no_room(struct tally_json_writer *w, size_t need)
{
	(void)w;
	(void)need;
	return false;
}

static void
show(void *to, const char *name, const char *unit, bool known, struct tally_value value)
{
	(void)to;
	if (strcmp(name, "test_ns") == 0)
		printf("%s %s %d %d\n", name, unit, known, (int)value.u64);
}

int
main(void)
{
	for (const struct tally_number_name *n = tally_frame_number_names(); n->name; n++)
		if (strcmp(n->name, "test_ns") == 0)
			printf("column %s %s\n", n->name, n->unit);
	fflush(stdout);
	char text[4096];
	struct tally_json_writer w = { .at = text, .end = text + sizeof(text), .room = no_room };
	const struct tally_header_record header = { .version = "1", .program = "p" };
	const struct tally_device_record device = { .beneath = -1 };
	const struct tally_frame_record with = { .frame = 1, .has_test = true, .test_ns = 77 };
	const struct tally_frame_record without = { .frame = 2, .test_ns = 78 };
	tally_json_put_header(&w, &header);
	tally_json_put(&w, "\n", 1);
	tally_json_put_device(&w, &device);
	tally_json_put(&w, "\n", 1);
	tally_json_put_frame(&w, &with);
	tally_json_put(&w, "\n", 1);
	tally_json_put_frame(&w, &without);
	tally_json_put(&w, "\n", 1);
	size_t len = (size_t)(w.at - text);
	fwrite(text, 1, len, stdout);
	struct tally_log_reader *reader = open_log_bytes(text, len);
	struct tally_log_line line;
	struct tally_read_error error;
	while (tally_log_reader_next(reader, &line, &error) == TALLY_READ_OK) {
		if (line.type != TALLY_LINE_FRAME)
			continue;
		printf("%d %d\n", line.frame.has_test, (int)line.frame.test_ns);
		tally_frame_numbers(&line.frame, show, NULL);
	}
	tally_log_reader_close(reader);
	return 0;
}
"""


def run(*args, fields=FIELDS):
    return subprocess.run([sys.executable, SCRIPT, fields, *args], capture_output=True, text=True, check=False)


class GenLog(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="passtally-gen-log-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def test_released_fields_stay(self):
        now = run("list").stdout.splitlines()
        released = (ROOT / "tests/golden/fields-1.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual([line for line in released if line not in now], [], "removed, or changed")
        objects = {line.partition(".")[0] for line in released}
        new = [line for line in now if line not in released and line.partition(".")[0] in objects]
        self.assertEqual([line for line in new if line.endswith(" required")], [],
                         "a new field cannot be required: the logs of earlier versions lack it")

    def test_documents_follow(self):
        done = run("docs", ROOT / "docs/log.md", "--check")
        self.assertEqual(done.returncode, 0, done.stdout)
        page = self.folder / "log.md"
        page.write_text((ROOT / "docs/log.md").read_text(encoding="utf-8").replace("| `envelope_ns` |", "| `x` |"),
                        encoding="utf-8")
        self.assertEqual(run("docs", page, "--check").returncode, 1)
        run("docs", page)
        self.assertEqual(page.read_bytes(), (ROOT / "docs/log.md").read_bytes())

    def test_mistakes_have_a_line(self):
        text = FIELDS.read_text(encoding="utf-8")
        for old, new in (("\tcpu_ns          nanoseconds ", "\tcpu_ns          parsecs "),
                         ("list:workload", "list:workloads"),
                         ("word:level ", "word:levels "),
                         ("if:has_rest(r)", "unless:has_rest(r)"),
                         ("object pass ", "thing pass ")):
            wrong = self.folder / "log.fields"
            wrong.write_text(text.replace(old, new, 1), encoding="utf-8")
            done = run("list", fields=wrong)
            number = text[:text.index(old)].count("\n") + 1 + old.count("\n")
            self.assertEqual(done.returncode, 1, new)
            self.assertIn(f"log.fields:{number}: ", done.stderr)

    @unittest.skipUnless(CC, "no C compiler")
    def test_a_new_number_is_one_row(self):
        for folder in ("json", "layer"):
            shutil.copytree(ROOT / folder, self.folder / folder)
        self.add(self.folder / "json/log.fields", r"\toverhead_ns  ", ROW)
        self.add(self.folder / "layer/record.h", r"\tuint64_t overhead_ns;", MEMBER)
        made = {"json/log_put.inc": ["put"], "json/log_numbers.c": ["numbers"], "layer/record_words.c": ["words"],
                "json/log_read.inc": ["read", "header", "device", "pass_info", "pipeline", "frame", "process", "note",
                                      "end"]}
        for name, what in made.items():
            done = run(what[0], self.folder / name, *what[1:], fields=self.folder / "json/log.fields")
            self.assertEqual(done.stderr, "")
        with (self.folder / "json/pow10.h").open("w", encoding="utf-8") as header:
            subprocess.run([sys.executable, ROOT / "scripts/gen_pow10.py"], stdout=header, check=True)
        (self.folder / "main.c").write_text(PROGRAM, encoding="utf-8")
        sources = [*self.folder.glob("json/*.c"), self.folder / "main.c",
                   *(self.folder / "layer" / f"{name}.c" for name in
                     ("base/array", "base/numbers", "record", "record_words", "base/int192"))]
        sources.remove(self.folder / "json/record_json.c")  # the recorder, which needs a session
        sources.remove(self.folder / "json/sink.c")
        done = subprocess.run([CC, "-std=gnu11", "-D_GNU_SOURCE", "-I", self.folder, "-I", ROOT,
                               "-o", self.folder / "program", *sources, "-lm"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = subprocess.run([self.folder / "program"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(lines.pop(0), "column test_ns ns")  # of report --by frame
        self.assertIn('"test_ns":77,"overhead_ns"', lines[2])
        self.assertNotIn("test_ns", lines[3])
        self.assertEqual(lines[4:], ["1 77", "test_ns ns 1 77", "0 0"])

        run("schema", self.folder / "schema.json", fields=self.folder / "json/log.fields")
        (self.folder / "log.jsonl").write_text("\n".join(lines[:4]) + "\n", encoding="utf-8")
        checked = subprocess.run([sys.executable, ROOT / "tests/golden/oracle.py", "--schema",
                                  self.folder / "schema.json", self.folder / "log.jsonl"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        bad = lines[2].replace('"test_ns":77', '"test_ns":"77"')
        (self.folder / "log.jsonl").write_text("\n".join([*lines[:2], bad]) + "\n", encoding="utf-8")
        checked = subprocess.run([sys.executable, ROOT / "tests/golden/oracle.py", "--schema",
                                  self.folder / "schema.json", self.folder / "log.jsonl"], capture_output=True,
                                 text=True, check=False)
        self.assertEqual(checked.returncode, 1, checked.stdout)

    def add(self, path, before, text):
        """Put `text` before the line that begins with `before`."""
        old = path.read_text(encoding="utf-8")
        new = re.sub(f"^(?={before})", lambda _: text, old, count=1, flags=re.MULTILINE)
        self.assertNotEqual(old, new)
        path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    unittest.main()
