#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/gen_vk.py: the toy registry's golden output, errors that name their place, and what the real rules
produce from the real registry.

PASSTALLY_VK_REGISTRY names vk.xml (default: where Debian puts it). A test whose file is absent is
skipped and says so. With PASSTALLY_UPDATE_GOLDEN set, the golden files are written instead.
"""

import filecmp
import fnmatch
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOY = os.path.join(HERE, "gen_vk")
GOLDEN = os.path.join(TOY, "golden")
GENERATOR = os.path.join(ROOT, "scripts", "gen_vk.py")
RULES = os.path.join(ROOT, "vk_layer", "hooks.rules")
KNOWN = os.path.join(ROOT, "vk_layer", "hooks.known")
REGISTRY = os.environ.get("PASSTALLY_VK_REGISTRY") or "/usr/share/vulkan/registry/vk.xml"

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import gen_vk  # noqa: E402
import vk_registry  # noqa: E402

# What a hook contains, by the words of the table in docs/vulkan.md; None: there is no hook.
COUNT_AS = {
    "draw": "VK_COUNT|vk_count_multi", "clear": "VK_WORK_CLEAR|vk_clear", "dispatch": "VK_WORK_DISPATCH",
    "trace": "VK_WORK_TRACE", "build": "VK_WORK_BUILD", "copy": "VK_WORK_COPY", "other": "VK_WORK_OTHER",
    "copy, flag `readback`": "VK_WORK_READBACK", "copy, flag `resolve`": "VK_WORK_RESOLVE",
    "draw, dispatch or trace": "vk_generated", "a call in its scope": "vk_video_work",
    "no work: opens, ends or sets": "", "not counted": None,
}


def generate(out, rules=RULES, source=REGISTRY, *more):
    command = [sys.executable, GENERATOR, "--registry", source, "--rules", rules, "--out", out, *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


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
            done = generate(out, os.path.join(TOY, "toy.rules"), os.path.join(TOY, "toy.xml"))
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
        good = "count vkCmdDraw(V) T(c)\n"
        for what, rules, want in (
            ("a rule that matches nothing", good + "around vkNone - | x(c)\n",
             "2: no command is hooked by 'vkNone'"),
            ("a rule that earlier ones leave nothing", good + "hand vkCmdDraw x\n",
             "2: no command is hooked by 'vkCmdDraw'"),
            ("a command of a platform", "around vkCmdWindow x(c) | -\n",
             "1: no command is hooked by 'vkCmdWindow'"),
            ("a command of another API", "around vkCmdSafe x(c) | -\n",
             "1: no command is hooked by 'vkCmdSafe'"),
            ("an unknown form", "before vkCmdEnd x(c)\n", "1: unknown form 'before'"),
            ("no body", "count vkCmdDraw\n", "1: 'count' needs a pattern and a body"),
            ("no bar", "around vkCmdEnd x(c)\n", "1: 'around' needs BEFORE | AFTER"),
            ("two bars", "around vkCmdEnd x(c) | y(c) | z(c)\n", "1: 'around' needs BEFORE | AFTER"),
            ("no function", "hand vkQueueSubmit x(c)\n", "1: 'hand' needs the name of a function"),
            ("no such parameter", "around vkCmdEnd x(c, mask) | -\n",
             "1: vkCmdEnd has no parameter 'mask' (it has: commandBuffer)"),
            ("a parameter of another API", "around vkCmdBegin x(c, notOurs) | -\n",
             "1: vkCmdBegin has no parameter 'notOurs'"),
            ("none of the choices", "count vkCmdDraw(V) T(c, {a|b})\n",
             "1: vkCmdDraw has none of the parameters {a|b}"),
            ("a draw that returns", "count vkQueueSubmit T(c)\n",
             "1: vkQueueSubmit is not recorded into a command buffer"),
            ("no bar of a device", "device vkQueueSubmit x(d)\n",
             "1: 'device' needs BEFORE | AFTER"),
            ("by hand, of no device", "hand vkGetToy(V) x\n",
             "1: vkGetToy does not begin with a device's handle"),
            ("a wait of which nothing is known",
             "newer int vkFoo(VkDevice device)\nwait vkFoo FENCE | x(d)\n", "2: vkFoo does not say how it ended"),
            ("no kind", "wait vkQueueSubmit x(d)\n", "1: 'wait' needs KIND | AFTER"),
            ("one spelling only", "count vkCmdDraw T(c)\n",
             "vkCmdDrawKHR is another spelling of vkCmdDraw"),
            ("spellings differ", "count vkCmdDraw T(c)\ncount vkCmdDrawKHR U(c)\n",
             "or not with the same body"),
            ("nothing to use", "use vkNone\n", "1: there is no command 'vkNone' to use"),
            ("no instance command", "instance vkNone\n", "1: there is no command 'vkNone' to use"),
            ("no prototype", "newer vkFoo\n", "1: not a prototype: 'vkFoo'"),
            ("a spelling of nothing", "newer void vkFoo(VkDevice device) = vkBar\n",
             "vkFoo is another spelling of vkBar, which there is not"),
            ("a parameter that shadows",
             "newer void vkCmdC(VkCommandBuffer c)\naround vkCmdC x(c) | -\n",
             "vkCmdC has a parameter named like a variable of ours"),
        ):
            with self.subTest(what):
                self.assertIn(want, self.toy(rules))

    def test_shapes_of_registries(self):
        """A registry of before 1.4.340 and one after give the same: Vulkan 1.0 may be in several features, and what
        a `require` is for may be said by the feature, the extension or itself."""
        toy = read(os.path.join(TOY, "toy.xml"))
        old = '<feature api="vulkan" name="VK_VERSION_1_0" number="1.0">'
        body = re.search(re.escape(old) + "(.*?)</feature>", toy, re.S)[1]
        sc = ('<require api="vulkansc"><type name="VkNowhereToy"/><command name="vkCmdEnd"/>'
              '<command name="vkDestroyToy"/></require>')
        debug = 'type="instance" supported="vulkan">'
        both = 'api="vulkan,vulkansc,vulkanbase"'
        new = (f'<feature {both} apitype="internal" name="VK_BASE_VERSION_1_0" number="1.0">{body}{sc}</feature>'
               f'<feature {both} name="VK_VERSION_1_0" number="1.0" depends="VK_BASE_VERSION_1_0"></feature>')
        twin = '<type api="vulkansc" category="struct" name="VkOtherToy"><member values="VK_STRUCTURE_TYPE_SC_TOY">' \
               '<type>VkStructureType</type> <name>sType</name></member></type>'
        for what, text in (
            ("split", toy.replace(f"{old}{body}</feature>", new)),
            ("in an extension", toy.replace(debug, debug + sc)),
            ("a structure of both", toy.replace("<types>", "<types>" + twin)),
        ):
            text = text.replace(r"\g<0>", 'type="instance" supported="vulkan">')
            with self.subTest(what), tempfile.TemporaryDirectory() as out:
                self.assertNotEqual(text, toy)
                path = os.path.join(out, "toy.xml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = generate(out, os.path.join(TOY, "toy.rules"), path)
                self.assertEqual(done.returncode, 0, done.stderr)
                for name in os.listdir(GOLDEN):
                    self.assertMultiLineEqual(read(os.path.join(out, name)), read(os.path.join(GOLDEN, name)), name)

    def test_known(self):
        """What registries of a version have, every later one must have."""
        version = ('<types><type category="define">#define <name>VK_HEADER_VERSION</name> {0}</type>'
                   '<type category="define">#define <name>VK_HEADER_VERSION_COMPLETE</name> '
                   '<type>VK_MAKE_API_VERSION</type>(0, 1, {1}, VK_HEADER_VERSION)</type>')
        toy = read(os.path.join(TOY, "toy.xml"))
        feature = '<feature api="vulkan" name="VK_VERSION_1_0" number="1.0">'
        no_toy = toy.replace("vkDestroyToy", "vkDestroyOther")

        def run(out, text, minor, patch, *more, rules=""):
            for name, content in (("toy.xml", text.replace("<types>", version.format(patch, minor))),
                                  ("rules", "device vk(Break|Destroy)Toy - | x(d)\nuse vkGetToy vkCmdDraw\n" + rules)):
                with open(os.path.join(out, name), "w", encoding="utf-8") as file:
                    file.write(content)
            return generate(out, os.path.join(out, "rules"), os.path.join(out, "toy.xml"), "--known",
                            os.path.join(out, "known"), *more).stderr

        with tempfile.TemporaryDirectory() as out:
            self.assertEqual(run(out, no_toy, 3, 239, "--learn"), "")
            self.assertEqual(run(out, toy, 4, 20, "--learn"), "")
            self.assertRegex(read(os.path.join(out, "known")),
                             "(?s)1.3.239 .*core:vkCmdDraw.*vkBreakToy.*\n1.4.20 vkDestroyToy\n")
            newer = "newer void vkDestroyNew(VkDevice device)\ndevice vkDestroyNew - | x(d)\n"
            for what, text, minor, patch, rules, want in (
                ("as before", toy, 4, 20, "", "^$"),
                ("before the command came", no_toy, 3, 300, "", "^$"),
                ("lost", no_toy, 4, 20, "", "is of version 1.4.20, but lacks what such a registry has: vkDestroyToy. "),
                ("later", no_toy, 5, 1, "", "version 1.5.1, .*: vkDestroyToy"),
                ("no core", toy.replace(feature, feature.replace("1.0", "1.9")), 4, 20, "", "core:vkCmdDraw, core:vkGetToy"),
                ("a structure less", toy.replace('name="VkOtherToy"/', 'name="VkNone"/'), 4, 20, "", "structures>=3. It is damaged"),
                ("nobody knows since when", toy, 4, 20, newer, "does not say which version .* vkDestroyNew"),
            ):
                with self.subTest(what):
                    self.assertRegex(run(out, text, minor, patch, rules=rules), want)
            plain = generate(out, os.path.join(out, "rules"), os.path.join(TOY, "toy.xml"), "--known", os.path.join(out, "known"))
            self.assertIn("does not state its version", plain.stderr)

    def test_bad_registry(self):
        with tempfile.TemporaryDirectory() as out:
            for text, want in (
                ("<registry/>", "holds no commands"),
                ("<reg", "cannot read"),
                ("<registry><commands><command name='vkA' alias='vkB'/></commands></registry>",
                 "vkA is an alias of vkB, which there is not"),
                ("<registry><commands><command/></commands></registry>", "no <proto>"),
            ):
                path = os.path.join(out, "vk.xml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = generate(out, RULES, path)
                self.assertEqual(done.returncode, 1)
                self.assertIn(want, done.stderr)
            self.assertIn("cannot read", generate(out, RULES, "/nonexistent/vk.xml").stderr)


@unittest.skipUnless(os.path.exists(REGISTRY), f"no registry at {REGISTRY}")
class RealRegistry(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.source = vk_registry.read(REGISTRY)
        rules = gen_vk.Rules(RULES)
        gen_vk.add_newer(cls.source, rules)
        cls.wrappers = {w.command.name: w for w in gen_vk.resolve(rules, cls.source)}

    def test_same_bytes(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            for out in (one, two):
                done = generate(out)
                self.assertEqual(done.returncode, 0, done.stderr)
            names = sorted(os.listdir(one))
            self.assertEqual(len(names), 9)
            self.assertEqual(filecmp.cmpfiles(one, two, names, shallow=False), (names, [], []))

    def test_known(self):
        """The registry of this machine has what it should, and one whose core moved again fails."""
        with tempfile.TemporaryDirectory() as out:
            self.assertEqual(generate(out, RULES, REGISTRY, "--known", KNOWN).stderr, "")
            path = os.path.join(out, "vk.xml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(read(REGISTRY).replace('number="1.0"', 'number="1.x"'))
            self.assertRegex(generate(out, RULES, path, "--known", KNOWN).stderr,
                             "lacks what such a registry has: core:vk.* and [0-9]+ more")

    def test_names_are_sorted(self):
        """vk_hook_find() uses a binary search, in byte order."""
        with tempfile.TemporaryDirectory() as out:
            generate(out)
            names = re.findall(r'^\t\{ "(vk\w+)"', read(os.path.join(out, "vk_wrappers.c")), re.M)
        self.assertGreater(len(names), 150)
        self.assertEqual(names, sorted(set(names)))
        self.assertEqual(names, sorted(self.wrappers))

    def test_all_work_is_in_the_table(self):
        """Each command that does work ("action") has a row in docs/vulkan.md, which says what its hook counts."""
        table = read(os.path.join(ROOT, "docs", "vulkan.md")).partition("## What each command counts as")[2]
        rows = [(re.findall("`([^`]+)`", row[0]), row[1]) for row in
                re.findall(r"^\| (`vkCmd.*?) \| (.*?) \| .*? \|$", table.partition("\n## ")[0], re.M)]
        self.assertGreater(len(rows), 10)
        wrong = []
        work = {element.findtext("proto/name") for element in vk_registry.parse(REGISTRY).findall("commands/command")
                if "action" in element.get("tasks", "")} & self.source.offered
        newer = {command.name for command in gen_vk.Rules(RULES).newer if command.name.startswith("vkCmd")}
        for name in sorted(work | newer):
            row = next(((pattern, says) for patterns, says in rows for pattern in patterns
                        if fnmatch.fnmatchcase(name, pattern)), None)
            hook = self.wrappers.get(name)
            want = COUNT_AS[row[1]] if row else ""
            # What does no work may be left alone.
            if not row or (want and not hook) or (hook and (want is None or not re.search(want, hook.before))):
                wrong.append((name, row, hook and hook.before))
        self.assertEqual(wrong, [])
        for pattern in (pattern for patterns, _ in rows for pattern in patterns):
            self.assertTrue(fnmatch.filter(self.source.offered | newer, pattern), f"{pattern}: a row of nothing")

    def test_begin_has_its_end(self):
        """For every command that opens something, its closing counterpart is hooked, in every spelling."""
        for name in self.wrappers:
            twin = name.replace("CmdBegin", "CmdEnd")
            if twin != name and twin in self.source.commands:
                self.assertIn(twin, self.wrappers, name)

    def test_no_hook_calls_null(self):
        """Every member that a wrapper calls has a function that replaces the driver's."""
        with tempfile.TemporaryDirectory() as out:
            generate(out)
            rows = dict(re.findall(r'offsetof\(struct vk_device_next, (\w+)\), "vk\w+",\n\t  (.+?) \}',
                                   read(os.path.join(out, "vk_next.c"))))
            called = set(re.findall(r"next[.>-]+(\w+)", read(os.path.join(out, "vk_wrappers.c"))))
        self.assertGreater(len(called), 150)
        for name in called:
            self.assertIn(f"no_{name}", rows[name])

    def test_newest_ends(self):
        for name in ("vkCmdEndRendering2KHR", "vkCmdEndRendering2EXT", "vkCmdEndPerTileExecutionQCOM"):
            self.assertIn(name, self.wrappers)


if __name__ == "__main__":
    unittest.main()
