#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_gl.py: the toy registry's golden output, errors that name their place, and what the real rules
produce from the real registry, checked against the reference list of hooks.

PASSTALLY_REGISTRY names gl.xml (default: where Debian puts it), PASSTALLY_SHARED the folder of the
project's reference material (default: ../shared beside the sources). A test whose file is absent is
skipped and says so. With PASSTALLY_UPDATE_GOLDEN set, the golden files are written instead.
"""

import filecmp
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOY = os.path.join(HERE, "gen_gl")
GOLDEN = os.path.join(TOY, "golden")
GENERATOR = os.path.join(ROOT, "scripts", "gen_gl.py")
RULES = os.path.join(ROOT, "gl_shim", "hooks.rules")
REGISTRY = os.environ.get("PASSTALLY_REGISTRY") or "/usr/share/khronos-api/gl.xml"
SHARED = os.environ.get("PASSTALLY_SHARED") or os.path.join(os.path.dirname(ROOT), "shared")
HOOKS = os.path.join(SHARED, "opengl", "hooks.tsv")

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import gen_gl  # noqa: E402
import registry  # noqa: E402

# Names of the reference list that are left alone on purpose, and why.
NOT_HOOKED = {
    "the binding is asked of the driver when an attachment's shape is wanted": [
        "glActiveTexture", "glActiveTextureARB", "glBindTexture", "glBindTextureEXT",
        "glBindTextureUnit", "glBindTextures", "glBindMultiTextureEXT", "glBindRenderbuffer",
        "glBindRenderbufferEXT", "glBindRenderbufferOES"],
    "a name without storage has no shape yet": [
        "glCreateTextures", "glGenTextures", "glGenTexturesEXT", "glCreateRenderbuffers",
        "glGenRenderbuffers", "glGenRenderbuffersEXT", "glGenRenderbuffersOES"],
    "drops contents of a buffer or texture, not of a framebuffer a pass stores": [
        "glInvalidateBufferData", "glInvalidateBufferSubData", "glInvalidateTexImage",
        "glInvalidateTexSubImage"],
    "what is read from is no part of a target": [
        "glReadBuffer", "glReadBufferNV", "glReadBufferIndexedEXT"],
    "rasterizer discard is asked of the driver": ["glEnable", "glDisable"],
    "no work, and no wait of the CPU": [
        "glWaitSync", "glWaitSyncAPPLE"],
    "orders reads within a pass; splits none": [
        "glTextureBarrier", "glTextureBarrierNV", "glFramebufferFetchBarrierEXT",
        "glFramebufferFetchBarrierQCOM"],
    "begin and end already say whether a pass feeds back": [
        "glPauseTransformFeedback", "glPauseTransformFeedbackNV", "glResumeTransformFeedback",
        "glResumeTransformFeedbackNV"],
    "names sync objects, or has categories instead of types: no pass is called so": [
        "glObjectPtrLabel", "glObjectPtrLabelKHR", "glDebugMessageInsertAMD"],
}
# The vendors' counters come with the sources that use them.
NOT_HOOKED_PATTERN = re.compile(r"gl\w*Perf(Query|Monitor|Counter)\w*(INTEL|AMD)")


def generate(out, rules=RULES, source=REGISTRY, *more):
    command = [sys.executable, GENERATOR, "--registry", source, "--rules", rules, "--out", out]
    return subprocess.run(command + list(more), capture_output=True, text=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wrappers():
    """The real rules over the real registry: {name: (form, expression)}."""
    source = registry.read(REGISTRY)
    rules = gen_gl.Rules(RULES)
    commands = dict(source.commands)
    for command in rules.extra:
        commands.setdefault(command.name, command)
    found = gen_gl.resolve(rules, commands, source.vendors)
    return {w.command.name: w for w in found}, commands


class Toy(unittest.TestCase):
    def toy(self, rules):
        """Run the generator over the toy registry with these rules; what it wrote to stderr."""
        with tempfile.TemporaryDirectory() as out:
            path = os.path.join(out, "rules")
            with open(path, "w", encoding="utf-8") as file:
                file.write(rules)
            done = generate(out, path, os.path.join(TOY, "toy.xml"))
            self.assertEqual(done.returncode, 1, done.stderr)
            return done.stderr

    def test_golden(self):
        with tempfile.TemporaryDirectory() as out:
            done = generate(out, os.path.join(TOY, "toy.rules"), os.path.join(TOY, "toy.xml"),
                            "--export", "dlsym")
            self.assertEqual(done.returncode, 0, done.stderr)
            if os.environ.get("PASSTALLY_UPDATE_GOLDEN"):
                for name in os.listdir(out):
                    os.replace(os.path.join(out, name), os.path.join(GOLDEN, name))
                return
            self.assertEqual(sorted(os.listdir(out)), sorted(os.listdir(GOLDEN)))
            for name in os.listdir(out):
                self.assertMultiLineEqual(read(os.path.join(out, name)),
                                          read(os.path.join(GOLDEN, name)), name)

    def test_errors(self):
        good = "draw glDraw(V) T(c)\n"
        for what, rules, want in (
            ("a rule that matches nothing", good + "before glNone x(c)\n",
             "2: no command is wrapped by 'glNone'"),
            ("a rule that earlier ones leave nothing", good + "before glDraw x(c)\n",
             "2: no command is wrapped by 'glDraw'"),
            ("an unknown form", "around glWipe x(c)\n", "1: unknown form 'around'"),
            ("no expression", "before glWipe\n", "1: 'before' needs a pattern and a body"),
            ("no such parameter", "before glWipe x(c, mask)\n",
             "1: glWipe has no parameter 'mask' (it has: none)"),
            ("none of the choices", "before glWipe x(c, {a|b})\n",
             "1: glWipe has none of the parameters {a|b}"),
            ("a draw that returns", "draw glTest x(c)\n", "1: glTest returns GLboolean"),
            ("one spelling only", "draw glDraw x(c)\n",
             "glDrawEXT is another spelling of glDraw"),
            ("nothing to use", "use glNone\n", "1: there is no command 'glNone' to use"),
            ("a name of both kinds", good + "platform void glDraw(void)\n", "listed as 'platform' too"),
            ("no such value", good + "enum ONE TWO\n", "2: there is no value 'GL_TWO'"),
            ("half a hook", good + "platform void glXToy(void) | before\n",
             "2: 'platform' has a prototype, before and after"),
            ("no prototype", "extra glFoo\n", "not a prototype: 'glFoo'"),
            ("a parameter that shadows", "extra void glC(int c)\nbefore glC x(c)\n",
             "glC has a parameter 'c'"),
        ):
            with self.subTest(what):
                self.assertIn(want, self.toy(rules))

    def test_bad_registry(self):
        with tempfile.TemporaryDirectory() as out:
            for text, want in (("<registry/>", "holds no commands"), ("<reg", "cannot read")):
                path = os.path.join(out, "gl.xml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = generate(out, RULES, path)
                self.assertEqual(done.returncode, 1)
                self.assertIn(want, done.stderr)
            self.assertIn("cannot read", generate(out, RULES, "/nonexistent/gl.xml").stderr)


@unittest.skipUnless(os.path.exists(REGISTRY), f"no registry at {REGISTRY}")
class RealRegistry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wrappers, cls.commands = wrappers()

    def test_known(self):
        """The registry of this machine has all that the list says; one that lost commands fails."""
        known = os.path.join(ROOT, "gl_shim", "hooks.known")
        with tempfile.TemporaryDirectory() as out:
            self.assertEqual(generate(out, RULES, REGISTRY, "--known", known).stderr, "")
            path = os.path.join(out, "gl.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(read(REGISTRY).replace("<name>glDrawArraysInstancedBaseInstance<", "<name>glDrawLost<"))
            self.assertIn("gl.xml lacks what such a registry has: glDrawArraysInstancedBaseInstance. ",
                          generate(out, RULES, path, "--known", known).stderr)

    def test_same_bytes(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            for out in (one, two):
                done = generate(out)
                self.assertEqual(done.returncode, 0, done.stderr)
            names = sorted(os.listdir(one))
            self.assertEqual(len(names), 9)
            self.assertEqual(filecmp.cmpfiles(one, two, names, shallow=False), (names, [], []))

    def test_names_are_sorted(self):
        """gl_hook_find() uses a binary search, in byte order."""
        with tempfile.TemporaryDirectory() as out:
            generate(out)
            names = re.findall(r'^\t\{ "(\w+)"', read(os.path.join(out, "gl_names.c")), re.M)
        self.assertGreater(len(names), 500)
        self.assertEqual(names, sorted(set(names)))

    def test_query_names_never_leak(self):
        """Names of query objects are translated, so every function that takes one is wrapped."""
        missing = [command.name for command in self.commands.values()
                   if any(param.object_class == "query" for param in command.params)
                   and command.name not in self.wrappers]
        self.assertEqual(missing, [])

    def test_begin_has_its_end(self):
        """For every function that opens something, its closing counterpart is wrapped, in every spelling."""
        for begin, end in (("glBegin", "glEnd"), ("glPush", "glPop"), ("glNewList", "glEndList"),
                           ("glStartTiling", "glEndTiling")):
            for name in self.wrappers:
                twin = end + name[len(begin):]
                if re.match("glBeginPerf(Query|Monitor)", name):
                    continue # only observed: the program uses the extension itself
                if name.startswith(begin) and twin in self.commands:
                    self.assertIn(twin, self.wrappers, name)

    @unittest.skipUnless(os.path.exists(HOOKS), f"no reference list at {HOOKS}")
    def test_reference_list(self):
        left_out = {name for names in NOT_HOOKED.values() for name in names}
        listed = set()
        missing = []
        for line in read(HOOKS).splitlines()[1:]:
            _, tier, name, *_ = line.split("\t")
            listed.add(name)
            if tier not in ("T1", "T2") or name in self.wrappers or name in left_out:
                continue
            if not NOT_HOOKED_PATTERN.fullmatch(name):
                missing.append(name)
        self.assertEqual(missing, [])
        self.assertEqual(sorted(left_out - listed), [], "not in the reference list")
        self.assertEqual(sorted(left_out & set(self.wrappers)), [], "hooked after all")


if __name__ == "__main__":
    unittest.main()
