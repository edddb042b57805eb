# SPDX-License-Identifier: MIT
"""Manual pages and completions: they agree with the command, and the shells accept them.

    test_manuals.py COMMAND FOLDER     the built command, and where the build wrote both
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import help_text  # noqa: E402

COMMAND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
ENV = {"PATH": f"{FOLDER}:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


def need(tool):
    if not shutil.which(tool):
        raise unittest.SkipTest(f"{tool} is not installed")


class Parser(unittest.TestCase):
    GOOD = ("Usage: passtally x [options] LOG...\n       passtally x start|stop\n\nText.\nMore.\n\n"
            "  -o, --out PATH|off        Where.\n      --long-name a|b|c:N\n" + " " * 28 + "What\n" + " " * 28
            + "follows.\n  -h, --help                Show this.\n\nExit status: 0; 2 usage.\n")

    def test_parts(self):
        got = help_text.parse("x", self.GOOD)
        self.assertEqual(got.usage, ["passtally x [options] LOG...", "passtally x start|stop"])
        self.assertEqual((got.before, got.after), ([["Text.", "More."]], [["Exit status: 0; 2 usage."]]))
        self.assertEqual([(o.letter, o.name, o.values, o.help) for o in got.options],
                         [("o", "out", "PATH|off", "Where."), ("", "long-name", "a|b|c:N", "What follows."),
                          ("h", "help", "", "Show this.")])
        self.assertEqual([o.words() for o in got.options], [(["off"], True), (["a", "b", "c:"], False), ([], False)])
        self.assertEqual(got.operands(), {"files", "start", "stop"})

    def test_groups(self):
        got = help_text.parse("x", "Usage: passtally x\n\nText:\n\nEvery day:\n      --a    A.\n      --b    B.\n\n"
                              "More:\n      --c    C.\n\nEnd.\n")
        self.assertEqual([(o.name, o.group) for o in got.options],
                         [("a", "Every day"), ("b", "Every day"), ("c", "More")])
        self.assertEqual((got.before, got.after), ([["Text:"]], [["End."]]))

    def test_faults(self):
        for text in ("no usage\n", self.GOOD.replace("Show this.", "")):
            with self.assertRaises(ValueError):
                help_text.parse("x", text)


class Manuals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.main, cls.commands = help_text.all_of(COMMAND)

    def render(self, name):
        need("man")
        done = subprocess.run(["man", "--warnings", "-l", str(FOLDER / name)], capture_output=True, text=True,
                              env=dict(ENV, MANWIDTH="400", MAN_DISABLE_SECCOMP="1"), check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        return re.sub(".\b", "", done.stdout)

    def test_every_option(self):
        """With its values and the first words that describe it, and no others."""
        for command in self.commands:
            text = re.sub(r"\s+", " ", self.render(f"passtally-{command.name}.1"))
            with self.subTest(command.name):
                for option in command.options:
                    head = f"--{option.name}" + (f" {option.values}" if option.values else "")
                    self.assertIn(head, text)
                    self.assertIn(" ".join(option.help.replace("`", "").split()[:5]), text)
                self.assertRegex(text, r"EXIT STATUS .*2 usage")
                for usage in command.usage:
                    self.assertIn(usage, text)

    def test_run_page_is_grouped(self):
        text = self.render("passtally-run.1")
        heads = [text.index(f"\n   {name}\n") for name in ("Every day", "What to count", "Special hardware")]
        self.assertEqual(heads, sorted(heads))
        self.assertLess(heads[0], text.index("--log PATH"))
        self.assertLess(heads[2], text.index("--microblaze"))

    def test_main_page(self):
        text = self.render("passtally.1")
        for command in self.commands:
            self.assertIn(f"passtally-{command.name}(1)", text)
        for name in ("PASSTALLY_OPTIONS", "PASSTALLY_DISABLE", "programs/PROGRAM.conf"):
            self.assertIn(name, text)

    def test_log_page(self):
        text = self.render("passtally-log.5")
        for word in ("envelope_ns", "coverage", "jq 'select(.type == \"frame\"", "CLOCK_MONOTONIC", "\\x5c"):
            self.assertIn(word, text)

    def test_conf_page(self):
        text = self.render("passtally.conf.5")
        for words in ("passtally/programs/PROGRAM.conf", "[metric overdraw]", "log-quota = 10G", "passtally-run(1)"):
            self.assertIn(words, text)

    def test_wrong_list_of_commands(self):
        done = subprocess.run([sys.executable, str(ROOT / "scripts/gen_manuals.py"), COMMAND,
                               sys.argv[3], str(ROOT / "man"), "/nonexistent", "run"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the build expects run", done.stderr)


class Bash(unittest.TestCase):
    def complete(self, line):
        words = line.split(" ")
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _passtally; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", str(FOLDER / "passtally"), *words],
                              capture_output=True, text=True, env=ENV, cwd=ROOT, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return set(done.stdout.split())

    def test_words(self):
        self.assertEqual(self.complete("passtally ru"), {"run"})
        self.assertLess({"run", "report", "help", "--version"}, self.complete("passtally "))
        self.assertEqual(self.complete("passtally help con"), {"config"})
        self.assertEqual(self.complete("passtally run --sn"), {"--snapshot"})
        self.assertEqual(self.complete("passtally run --snapshot "), {"sampled", "exact", "off"})
        self.assertEqual(self.complete("passtally run --snapshot = e"), {"exact"})
        self.assertEqual(self.complete("passtally run --snapshot ="), {"sampled", "exact", "off"})
        self.assertEqual(self.complete("passtally run --frame su"), {"submit:"})
        self.assertEqual(self.complete("passtally trigger sta"), {"start", "status"})
        self.assertEqual(self.complete("passtally report READ"), {"README.md"})
        self.assertEqual(self.complete("passtally report --html READ"), {"README.md"})
        self.assertEqual(self.complete("passtally run --skip "), set())
        self.assertEqual(self.complete("passtally nonsense --"), set())

    def test_program(self):
        self.assertIn("bash", self.complete("passtally run bas"))
        self.assertIn("bash", self.complete("passtally run --skip 3 -- bas"))
        self.assertEqual(self.complete("passtally run bash READ"), {"README.md"})
        self.assertEqual(self.complete("passtally run --quiet bash --sn"), set())


class Fish(unittest.TestCase):
    def complete(self, line):
        need("fish")
        done = subprocess.run(["fish", "--no-config", "-c", f"source {FOLDER}/passtally.fish; complete -C '{line}'"],
                              capture_output=True, text=True, env=dict(ENV, HOME="/tmp"), cwd=ROOT, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), line)
        return {word.split("\t")[0] for word in done.stdout.splitlines()}

    def test_words(self):
        self.assertEqual(self.complete("passtally ru"), {"run"})
        self.assertEqual(self.complete("passtally run --sn"), {"--snapshot"})
        self.assertEqual(self.complete("passtally run --snapshot "), {"sampled", "exact", "off"})
        self.assertEqual(self.complete("passtally trigger sta"), {"start", "status"})
        self.assertEqual(self.complete("passtally report READ"), {"README.md"})
        self.assertEqual(self.complete("passtally schema READ"), set())
        self.assertIn("bash", self.complete("passtally run --skip 3 bas"))


class Zsh(unittest.TestCase):
    """A terminal, because zsh completes only in one: what a tab adds to a line that has one answer."""

    @classmethod
    def setUpClass(cls):
        need("zsh")
        pid, cls.fd = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execvpe("zsh", ["zsh", "-f", "-i"], dict(ENV, COLUMNS="200", HOME="/tmp"))
        cls.pid = pid
        cls.type(f"PS1='>'; fpath=({FOLDER} $fpath); unset zle_bracketed_paste; "
                 "autoload -Uz compinit && compinit -u -D; passtally() {{ print -r -- \"<\"\"<$*>\"\">\" }}; echo re''ady\n", "ready")

    @classmethod
    def tearDownClass(cls):
        os.close(cls.fd)
        os.kill(cls.pid, 9)
        os.waitpid(cls.pid, 0)

    @classmethod
    def type(cls, text, until):
        """The output before `until`; everything read so far after 20 s."""
        os.write(cls.fd, text.encode())
        got, end = "", time.monotonic() + 20
        while until not in got and time.monotonic() < end:
            if select.select([cls.fd], [], [], 0.2)[0]:
                got += os.read(cls.fd, 65536).decode(errors="replace")
        return got

    def complete(self, line):
        """The words after a tab, which the function of that name prints."""
        got = self.type(f"{line}\t\n", ">>")
        found = re.search(r"<<(.*)>>", got)
        self.assertTrue(found, got)
        return found.group(1)

    def test_words(self):
        for line, want in (("passtally ru", "run"), ("passtally run --sn", "run --snapshot"),
                           ("passtally run --snapshot=ex", "run --snapshot=exact"), ("passtally trigger mar", "trigger mark"),
                           ("passtally report READ", "report README.md"), ("passtally help conf", "help config")):
            self.assertEqual(self.complete(line), want)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
