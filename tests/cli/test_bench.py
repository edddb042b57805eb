#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally bench: its arguments, and what it says when nothing can be compared."""

import os
import unittest
import xml.etree.ElementTree

from cli_case import CliCase, device, log_bytes, program, simple_log

WRITE = "import os; open(os.environ['PASSTALLY_LOG'].replace('%%', '%'), 'wb').write(bytes.fromhex('{}'))"


class Bench(CliCase):
    def test_usage(self):
        for args, words in (((), "two programs are needed"), (("--", "a"), "two programs are needed"),
                            (("--", "a", "--vs"), "two programs are needed"), (("--", "--vs", "b"), "two programs are needed"),
                            (("a", "--vs", "b"), "unexpected argument a"), (("-n", "0", "--", "a", "--vs", "b"), "whole number"),
                            (("--wrong", "--", "a", "--vs", "b"), "unknown option"),
                            (("--fail-above", "x", "--", "a", "--vs", "b"), "--fail-above x"),
                            (("--allow", "x", "--", "a", "--vs", "b"), "--allow x: must be of device, driver, size")):
            done = self.command("bench", *args)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertIn(words, done.stderr.decode())
            self.assertNotIn("showed no frame", done.stderr.decode())

    def test_what_differs(self):
        sides = []
        for name in ("d", "e"):
            lines = simple_log(9)
            lines[1] = device(driver=name)
            sides.append(program(WRITE.format(log_bytes(lines).hex())))
        for allow, status in (((), 5), (("--allow", "driver"), 0)):
            done = self.command("bench", "-n", "1", *allow, "--", *sides[0], "--vs", *sides[1])
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual("--allow driver" in done.stderr.decode(), status == 5)

    def test_reports(self):
        words = program(WRITE.format(log_bytes(simple_log(9)).hex()))
        report = self.folder / "report.xml"
        done = self.command("bench", "-n", "1", "--markdown", "--gate", "draws", "--keys", "gpu_ns,draws", "--junit", report,
                            "--fail-above", "5%", "--", *words, "--vs", *words)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        self.assertTrue(done.stdout.startswith(b"### passtally compare: "), done.stdout)
        suite = xml.etree.ElementTree.parse(report).getroot()
        self.assertEqual((suite.tag, suite.get("failures")), ("testsuite", "0"))
        self.assertEqual({case.get("classname") for case in suite}, {"gpu_ns", "draws"})

    def test_programs_that_give_nothing(self):
        partial = [{**line, "flags": ["partial"]} if line["type"] == "frame" else line for line in simple_log(1)]
        for words_of, words in ((["true"], "true showed no frame"), (["false"], "false ended with status 1"),
                                (program(WRITE.format(log_bytes(partial).hex())), "PASSTALLY_OPTIONS=frame="),
                                (["/nowhere/game"], "/nowhere/game ended with status 127")):
            done = self.command("bench", "-n", "1", "--keep", self.folder / "kept", "--", *words_of, "--vs", *words_of)
            self.assertEqual((done.returncode, done.stdout), (125, b""), done.stderr)
            self.assertIn(words + (": nothing is compared" if "ended" in words else ""), done.stderr.decode())
            for name in os.listdir(self.folder / "kept"):
                (self.folder / "kept" / name).unlink()
            (self.folder / "kept").rmdir()

    def test_programs_that_do_not_end(self):
        """As games do: one that has shown its frames is ended."""
        words = program(WRITE.format(log_bytes(simple_log(9)).hex()) + "; import time; time.sleep(600)")
        done = self.command("bench", "-n", "1", "--", *words, "--vs", *words, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"scene/shadow", done.stdout)

    def test_folder(self):
        done = self.command("bench", "--keep", self.folder, "--", "true", "--vs", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot be created", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
