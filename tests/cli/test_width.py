#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a command prints fits the terminal's width, or 80 columns where it is none; compare loses nothing there."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import unicodedata
import unittest

from cli_case import COMMAND, CliCase, device, frame, header, one_pass, pass_info

COMMANDS = ("run", "report", "check", "counters", "doctor", "schema", "trigger", "top", "compare", "export",
            "config", "bench", "logs", "install", "uninstall", "selftest")
NAMES = ("Shadows/Cascade 0, the one next to the camera", "GBuffer", "Post-processing/Bloom/Upsample 7 of 8")
COUNTERS = [{"key": f"a_counter_with_a_long_key_{n}", "name": "A counter", "unit": "cycles", "kind": "event",
             "source": "gl-intel", "scope": "pass"} for n in range(3)]

# Arguments, and what the output must show, so that a row cannot pass by failing.
ROWS = (
    (["--help"], "Every day"),
    *(([name, "--help"], "Usage: passtally " + name) for name in COMMANDS),
    (["doctor"], "library"),
    (["counters"], ""),
    (["counters", "--catalogue"], "Mali-G78"),
    (["counters", "--catalogue", "g78"], "Hardware: "),
    (["counters", "--catalogue", "microblaze"], ""),
    (["config"], "granularity"),
    (["logs"], "demo"),
    (["report", "{a}"], "GBuffer"),
    (["report", "--by", "label", "{a}"], "GBuffer"),
    (["report", "--by", "frame", "{a}"], "frame"),
    (["compare", "{a}", "{b}"], "SLOWER: "),
    (["compare", "--all", "{a}", "{b}"], "a_counter_with_a_long_key_2"),
    (["compare", "--fail-above", "5", "--gate", "hitches", "{a}", "{b}"], "REGRESSION: "),
    (["check", "{a}"], "frames"),
)


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Width(CliCase):
    def setUp(self):
        super().setUp()
        self.logs = {}
        for name, factor in (("a", 1.0), ("b", 1.3)):
            lines = [header(argv=["demo", "--scene", "harbour"] + (["--new"] if name == "b" else [])),
                     device(counters=COUNTERS)]
            lines += [pass_info(f"{n + 1:016x}", label) for n, label in enumerate(NAMES)]
            for i in range(120):
                noise = 1 + (i * 37 % 11 - 5) / 500
                passes = [one_pass(n, f"{n + 1:016x}", int(1e6 * (n + 1) * factor * noise), label,
                                   counters={c["key"]: 100000 * (n + 1) + i % 7 for c in COUNTERS})
                          for n, label in enumerate(NAMES)]
                lines.append(frame(i, passes))
            self.logs[name] = self.write_log(name + ".jsonl", lines)
        folder = self.folder / "state" / "passtally"
        folder.mkdir(parents=True)
        (folder / "demo-2026-01-02T03-04-05Z-42.jsonl").write_bytes(self.logs["a"].read_bytes())

    def printed(self, width, args):
        """Standard output, of a terminal `width` wide (0: none)."""
        args = [a.format(**self.logs) for a in args]
        if not width:
            return self.command(*args).stdout.decode()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 500, width, 0, 0))
        text = b""
        with subprocess.Popen([COMMAND, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL,
                              cwd=self.folder, env=dict(self.env, TERM="dumb", PAGER="cat")) as child:
            os.close(slave)
            try:
                while chunk := os.read(master, 65536):
                    text += chunk
            except OSError:
                pass  # the other end is closed
            child.wait(120)
        os.close(master)
        return text.decode().replace("\r", "")

    def test_fits(self):
        for width, rows in ((0, ROWS), (80, ROWS[-10:]), (120, ROWS[-10:])):
            for args, shown in rows:
                if args[0] == "compare" and "--help" not in args and not width:
                    continue
                with self.subTest(width=width, args=args):
                    text = self.printed(width, args)
                    self.assertIn(shown, text)
                    # A path is never broken, and the verdict always has one line.
                    lines = [l for l in text.splitlines() if "/" not in l.split(" ")[-1] and str(self.folder) not in l]
                    if args[0] == "compare":
                        lines = lines[1:-1]
                    self.assertEqual([l for l in lines if columns(l) > (width or 80)], [])
                    self.assertEqual([l for l in lines if l != l.rstrip()], [], "trailing blanks")

    def test_compare_in_a_pipe(self):
        """Names are cut on a terminal alone."""
        args = ["compare", "{a}", "{b}"]
        self.assertNotIn(NAMES[0], self.printed(80, args))
        self.assertIn(NAMES[0], self.printed(0, args))

    def test_wide(self):
        """Where rows take two lines anyway, names are whole; on one line they get what is left."""
        for width in (80, 120):
            text = self.printed(width, ["report", "--wide", "{a}"])
            for name in NAMES:
                self.assertIn("\n" + name + " ", text, width)

    def test_names_of_sides(self):
        text = self.printed(0, ["compare", "--base-name", "main@1234", "--new-name", "this change", "{a}", "{b}"])
        self.assertIn("base: main@1234, 120 frames\nnew: this change, 120 frames\n", text)


if __name__ == "__main__":
    unittest.main()
