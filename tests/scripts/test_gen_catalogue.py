#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_catalogue.py: the same data gives the same bytes, every fault names file, line and
remedy, and no word of a description is missing from the tables."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GENERATOR = ROOT / "scripts" / "gen_catalogue.py"
DATA = sorted((ROOT / "data" / "mali").glob("*.txt"))

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

import gen_catalogue  # noqa: E402

TOY = """\
unit cycles
	kind duration
aliases bifrost
	of A
aliases 2022
	of B
layout A
	name Mali-A
	architecture Old
	front-end job-manager
	values 64
layout B
	name Mali-B
	architecture New
	front-end command-stream
	values 128
constant MaliGPUWarpSize
	value 4 [A]
	value 16 [B]
product Mali-A
	layout A
	ids 0x6000
	engines 3
	engines-least 1
product Mali-B2
	layout B
	ids 0xb000 0xb001
	engines-by-variant 0=1 4=2
block core

# a remark
counter MaliOne
	name One thing
	id MaliOneCy
	unit cycles
	level novice
	at 6 ONE [A]
	at 100 ONE_MORE << 2 [B]
	bifrost SC.ONE
	2022 MaliOldOne
	overview
	erratum Never right. [B]
	text Cycles in which one thing
		was done "often" enough.
counter MaliTwo
	name Two
	id MaliTwoCy
	unit cycles
	level system
	at 4 TWO
	text Cycles in which two things were done.
"""

# What replaces what, the line that must be named, and the report about it.
FAULTS = [
    ("unit cycles\n\tkind duration", "unit cycles\n\tkind long", "\tkind long",
     "no kind is called long; take one of event, duration,"),
    ("level novice", "level easy", "\tlevel easy", "level is one of novice, application, system"),
    ("at 6 ONE", "at 4 ONE", "\tat 4 TWO", "index 4 of Mali-A is MaliOne (toy.txt:37) already; correct one"),
    ("at 6 ONE", "at 64 ONE", "\tat 64 ONE [A]", "index 64: a block of Mali-A has values 4 to 63"),
    ("at 6 ONE", "at 3 ONE", "\tat 3 ONE [A]", "index 3: a block of Mali-A has values 4 to 63"),
    ("at 6 ONE", "at ONE 6", "\tat ONE 6 [A]", "`at ONE 6`: must be `at INDEX HARDWARE_NAME`"),
    ("6 ONE [A]", "6 ONE [A..C]", "\tat 6 ONE [A..C]", "no layout is called C; take from A B"),
    ("6 ONE [A]", "6 ONE [B..A]", "\tat 6 ONE [B..A]", "B..A runs backwards; write A..B"),
    ("6 ONE [A]", "6 ONE", "\tat 100 ONE_MORE << 2 [B]", "a second `at` for B of MaliOne; remove one"),
    ("\tat 100 ONE_MORE << 2 [B]\n", "", "\terratum Never right. [B]",
     "speaks of layouts that have no MaliOne; correct the brackets"),
    ("unit cycles\n\tlevel novice", "unit bikes\n\tlevel novice", "\tunit bikes",
     "no unit is called bikes; take one of cycles, or add it to layouts.txt"),
    ("\tid MaliOneCy\n", "", "counter MaliOne", "MaliOne has no `id` for A; add a line for it"),
    ("id MaliTwoCy", "id MaliOneCy", "\tat 6 ONE [A]", "MaliOneCy also names MaliTwo (toy.txt:50) on Mali-A"),
    ("counter MaliTwo", "counter MaliOne", "counter MaliOne", None),
    ("counter MaliTwo", "countre MaliTwo", "countre MaliTwo",
     "countre is nothing that can stand at the left edge; take one of block, unit,"),
    ("\tname Two\n", "\ttitle Two\n", "\ttitle Two", "a counter has no field title; take one of name, id,"),
    ("things were done.", "things were done", "\ttext Cycles in which two things were done",
     "the text must be a sentence that says more than the name"),
    ("Cycles in which two things were done.", "Two.", "\ttext Two.", "the text must be a sentence"),
    ("block core\n", "", "counter MaliOne", "a counter of no block; put a line like `block core` before it"),
    ("block core\n", "block cores\n", "block cores",
     "no block is called cores; take one of frontend, tiler, l2, core"),
    ("\tlayout B\n", "\tlayout C\n", "\tlayout C", "no layout is called C; take one of A B"),
    ("ids 0xb000 0xb001", "ids b000", "\tids b000", "ids are one or two of the form 0x9001"),
    ("\tengines 3\n", "", "product Mali-A", "say either `engines` or `engines-by-variant`"),
    ("engines 3\n", "engines many\n", "\tengines many", "`engines many`: must be a number, 1 to 16"),
    ("0=1 4=2", "0=1 4", "\tengines-by-variant 0=1 4", "`4`: must be VARIANT=ENGINES, a variant being 0 to 15"),
    ("product Mali-B2", "product Mali-A", "product Mali-A", None),
    ("value 16 [B]", "value x [B]", "\tvalue x [B]", "`x` is no number; write digits alone"),
    ("\tvalue 16 [B]\n", "", "layout B", "its warps have no width; name it in MaliGPUWarpSize"),
    ("unit cycles\n\tkind", "unit cycles\n\t\tkind", "\t\tkind duration",
     "continues a field, but there is none; use one tab less"),
    ("level novice", "level novice ", "\tlevel novice ", "blanks at the end; remove them"),
    ("front-end job-manager", "front-end job", "\tfront-end job",
     "front-end is job-manager or command-stream"),
]
# Doubled: the later one is named, and the message says where the first one is.
DOUBLES = {"counter MaliOne": "MaliOne stands at toy.txt:32 already; give it another `at` there",
           "product Mali-A": "a second product Mali-A; remove one"}


class GenCatalogue(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="passtally-gen-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def generate(self, *paths):
        out = self.folder / "out.c"
        done = subprocess.run([sys.executable, "-B", GENERATOR, out, *paths], capture_output=True,
                              text=True, check=False)
        return done, out.read_text() if done.returncode == 0 else None

    def toy(self, text):
        path = self.folder / "toy.txt"
        path.write_text(text)
        return self.generate(path)

    def test_toy(self):
        done, text = self.toy(TOY)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Three variants: MaliOne differs between the layouts, MaliTwo does not.
        rows = text[text.index("packed_counter counters[]"):text.index("uint32_t aliases[]")]
        self.assertEqual(rows.count("/* MaliOne */"), 2)
        self.assertEqual(rows.count("/* MaliTwo */"), 1)
        self.assertIn('"Cycles in which one thing was done \\"often\\" enough.",', text)
        self.assertIn("{ 0xb000, 0xb001 }, { 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0, 2 },", text)
        self.assertIn("{ 0x6000, 0x0000 }, { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 }, 1, 1 },", text)
        aliases = text[text.index("aliases[] = {"):text.index("packed_place places[]")]
        self.assertEqual(aliases.count("/* SC.ONE */"), 1)
        self.assertEqual(aliases.count("/* MaliOldOne */"), 1)
        self.assertEqual(aliases.count("/* MaliOneCy */"), 2)

    def test_places(self):
        layouts, _ = gen_catalogue.load([self.write(TOY)])
        self.assertEqual([[(c["key"], c["index"], c["hw"], c["shift"], c["erratum"]) for c in l["counters"]]
                          for l in layouts],
                         [[("MaliTwo", 4, "TWO", 0, ""), ("MaliOne", 6, "ONE", 0, "")],
                          [("MaliTwo", 4, "TWO", 0, ""), ("MaliOne", 100, "ONE_MORE", 2, "Never right.")]])

    def write(self, text):
        path = self.folder / "toy.txt"
        path.write_text(text)
        return path

    def faults(self, text):
        with self.assertRaises(gen_catalogue.Faults) as caught:
            gen_catalogue.load([self.write(text)])
        return str(caught.exception).split("\n")

    def test_faults(self):
        for old, new, line, want in FAULTS:
            with self.subTest(new=new, line=line):
                self.assertIn(old, TOY)
                text = TOY.replace(old, new, 1)
                places = [n for n, found in enumerate(text.split("\n"), 1) if found == line]
                want = f"toy.txt:{places[-1]}: {want or DOUBLES[line]}"
                found = [fault for fault in self.faults(text) if fault.startswith(want)]
                self.assertEqual(len(found), 1, (want, self.faults(text)))

    def test_faults_end_it(self):
        done, text = self.toy(TOY.replace("level novice", "level a").replace("level system", "level b"))
        self.assertEqual((done.returncode, text), (1, None))
        self.assertEqual(len(done.stderr.strip().split("\n")), 2, "all faults are told at once")
        self.assertNotIn("Traceback", done.stderr)

    def test_nothing(self):
        done, _ = self.toy("# nothing\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("describes no layout or no product", done.stderr)
        done, _ = self.generate(self.folder / "missing.txt")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read the catalogue", done.stderr)

    def test_same_bytes(self):
        self.assertGreater(len(DATA), 10)
        done, first = self.generate(*DATA)
        self.assertEqual(done.stderr, "")
        self.assertEqual(self.generate(*reversed(DATA))[1], first)
        self.assertNotIn(os.fspath(ROOT), first)

    def test_every_file_is_built(self):
        listed = (ROOT / "query" / "meson.build").read_text()
        for path in DATA:
            self.assertIn(f"'../data/mali/{path.name}'", listed)

    def test_descriptions(self):
        """No two counters are described in the same words."""
        layouts, _ = gen_catalogue.load(DATA)
        texts = {}
        for layout in layouts:
            for c in layout["counters"]:
                self.assertEqual(texts.setdefault(c["text"], c["key"]), c["key"], c["text"])
        self.assertGreater(len(texts), 290)


if __name__ == "__main__":
    unittest.main()
