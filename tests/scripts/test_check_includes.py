# SPDX-License-Identifier: MIT
"""scripts/check_includes.py must find what is planted and leave alone what is allowed."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_includes.py"

# The contents of each file, and what the checker reports about it ("" = nothing).
CASES = [
    ("layer may use libc", "layer/a.c", "#include <pthread.h>\n#include <sys/mman.h>\n", ""),
    ("layer may use its own", "layer/a.c", '#include "layer/record.h"\n', ""),
    ("layer may use uthash", "layer/a.c", "#include <uthash.h>\n", ""),
    ("layer knows no GL", "layer/a.c", "#include <GL/gl.h>\n", "layer/a.c:1: layer/ may not include <GL/gl.h>"),
    ("layer knows no Vulkan", "layer/a.h", "\n#include <vulkan/vulkan.h>\n", "layer/a.h:2:"),
    ("layer knows no query", "layer/a.c", '#include "query/source.h"\n', "layer/a.c:1:"),
    ("layer knows no GLib", "layer/a.c", "#include <glib.h>\n", "layer/a.c:1:"),
    ("spaces do not hide", "layer/a.c", "  #\tinclude\t<GL/gl.h>\n", "layer/a.c:1:"),
    ("a comment behind does not hide", "layer/a.c", "#include <GL/gl.h> /* ok */\n", "layer/a.c:1:"),
    ("a comment in front does not hide", "layer/a.c", "/* x */ #include <GL/gl.h>\n", "layer/a.c:1:"),
    ("a comment is no include", "layer/a.c", "/*\n#include <GL/gl.h>\n*/\n// #include <GL/gl.h>\n", ""),
    ("a computed name", "layer/a.c", "#define H <GL/gl.h>\n#include H\n", "layer/a.c:2:"),
    ("query may use layer", "query/a.c", '#include "layer/record.h"\n', ""),
    ("query knows no json", "query/a.c", '#include "json/writer.h"\n', "query/a.c:1:"),
    ("API headers in query/gl/*.c", "query/gl/new.c", "#include <GL/gl.h>\n", ""),
    ("but not in its headers", "query/gl/new.h", "#include <GL/gl.h>\n", "query/gl/new.h:1:"),
    ("nor in other files", "query/source/harvest.c", "#include <GL/gl.h>\n", "query/source/harvest.c:1:"),
    ("nor Vulkan in gl/*.c", "query/gl/new.c", "#include <vulkan/vulkan.h>\n", "query/gl/new.c:1:"),
    ("a source knows what sources are", "query/gl/new.c", '#include "query/source/source.h"\n', ""),
    ("but no other source", "query/gl/new.c", '#include "query/vk/source.h"\n', "query/gl/new.c:1:"),
    ("nor the registry", "query/mali/new.c", '#include "query/sources.h"\n', "query/mali/new.c:1:"),
    ("a new folder is a source's", "query/gauge/a.c", '#include "query/source/snapshot.h"\n', ""),
    ("with the same walls", "query/gauge/a.c", '#include "query/linux/files.h"\n', "query/gauge/a.c:1:"),
    ("the registry knows all", "query/sources.c", '#include "query/gl/api.h"\n', ""),
    ("the sampler walks the registry", "query/sampler/a.c", '#include "query/sources.h"\n', ""),
    ("the log's readers know no report", "cli/log/a.c", '#include "cli/report/columns.h"\n', "cli/log/a.c:1:"),
    ("a report knows the log", "cli/report/a.c", '#include "cli/log/aggregate.h"\n', ""),
    ("json may use the record", "json/a.c", '#include "layer/record.h"\n', ""),
    ("json knows no session", "json/a.c", '#include "layer/session/session.h"\n', "json/a.c:1:"),
    ("by a path beside it", "json/a.c", '#include "../layer/session/session.h"\n', "json/a.c:1:"),
    ("the shim may use GL", "gl_shim/a.c", '#include <EGL/egl.h>\n#include "query/harvest.h"\n', ""),
    ("the shim may use what is generated", "gl_shim/a.c", '#include "gl_next.h"\n', ""),
    ("the game's queries know the context", "gl_shim/game/a.c", '#include "gl_shim/context/state.h"\n', ""),
    ("they know no pass", "gl_shim/game/a.c", '#include "gl_shim/pass/passes.h"\n', "gl_shim/game/a.c:1:"),
    ("the shim may not use epoxy", "gl_shim/a.c", "#include <epoxy/gl.h>\n", "gl_shim/a.c:1:"),
    ("the shim may not use the command", "gl_shim/a.c", '#include "cli/report.h"\n', "gl_shim/a.c:1:"),
    ("recording knows the device", "vk_layer/record/a.c", '#include "vk_layer/state.h"\n', ""),
    ("it knows no submission", "vk_layer/record/a.c", '#include "vk_layer/submit/batch.h"\n', "vk_layer/record/a.c:1:"),
    ("submitting knows what is recorded", "vk_layer/submit/a.c", '#include "vk_layer/record/recording.h"\n', ""),
    ("it calls exact by a table", "vk_layer/submit/a.c", '#include "vk_layer/exact/exact.h"\n', "vk_layer/submit/a.c:1:"),
    ("exact knows what is submitted", "vk_layer/exact/a.c", '#include "vk_layer/submit/batch.h"\n', ""),
    ("a new room knows no other", "vk_layer/new/a.c", '#include "vk_layer/submit/batch.h"\n', "vk_layer/new/a.c:1:"),
    ("the command may use GLib", "cli/report.c", '#include <glib.h>\n#include "layer/record.h"\n', ""),
    ("the command knows no capture", "cli/report.c", '#include "layer/frame/stream.h"\n', "cli/report.c:1:"),
    ("the command calls no driver", "cli/machine/ask.c", "#include <epoxy/egl.h>\n", "cli/machine/ask.c:1:"),
    ("a folder below counts too", "query/catalogue/a.c", "#include <GL/gl.h>\n", "query/catalogue/a.c:1:"),
    ("no source as a header", "layer/a.c", '#include "layer/record.c"\n', "includes a source file"),
]


def check(root):
    return subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True,
                          check=False)


class Includes(unittest.TestCase):
    def test_cases(self):
        for what, name, text, want in CASES:
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True)
                path.write_text(text, encoding="utf-8")
                for header in ("layer/record.h", "layer/session/session.h", "layer/record.c"):
                    other = pathlib.Path(folder, header)
                    other.parent.mkdir(exist_ok=True)
                    other.write_text("", encoding="utf-8")
                done = check(folder)
                self.assertEqual(done.returncode, 1 if want else 0, done.stdout + done.stderr)
                self.assertIn(want, done.stdout)

    def test_nothing_there(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(check(folder).returncode, 2)

    def test_this_tree(self):
        done = check(ROOT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
