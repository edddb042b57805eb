# SPDX-License-Identifier: MIT
"""Untrusted text: names of files, arguments of the command line, labels of a game.

A terminal obeys escape sequences (ESC, and the C1 characters that mean the same), and shows text after a
bidirectional control in another order than that of its bytes. The command may write none of these unescaped, on
either stream, in any text format.
"""

import csv
import io
import json
import os
import re
import stat
import unittest

from cli_case import A, B, CliCase, device, end, frame, header, one_pass, pass_info, simple_log

# ESC and BEL (an OSC that sets the clipboard), DEL, C1 (CSI, OSC), bidi override and isolate.
NASTY = "\x1b]52;c;QQ\a\x7f\x9b31m\x9d0;x\x07\u202e\u2066x"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def hostile_log():
    """A log that holds NASTY wherever a program, driver or game can put text."""
    key = "nasty" + NASTY
    counter = {"key": key, "name": NASTY, "unit": NASTY, "kind": "event", "source": "gl-statistics",
               "scope": "pass", "description": NASTY}
    dev = device(name=NASTY, driver=NASTY, driver_version=NASTY, counters=[counter],
                 sources=[{"name": "api", "state": "on"},
                          {"name": "gl-timestamp", "state": "off", "reason": NASTY}])
    lines = [header(program=NASTY, argv=[NASTY], options={"log": NASTY}), dev,
             pass_info(A, NASTY, width=64, height=64, color=["RGBA8"]), pass_info(B, "=1+1", width=64, height=64)]
    for i in range(4):
        lines.append(frame(i, [one_pass(0, A, 1000 + i, NASTY, counters={key: 7}),
                               one_pass(1, B, 2000 + i, "=1+1")]))
    lines.append({"type": "note", "level": "warning", "source": NASTY, "message": NASTY})
    return lines + [end(4, 8)]


class Hostile(CliCase):
    def assert_clean(self, data, what):
        found = RAW.search(data.decode("utf-8", "replace").replace("\r\x1b[K", ""))
        self.assertIsNone(found, f"{what}: {found and found.group()!r} in {data[:400]!r}")

    def test_words_of_the_command_line_and_names_of_files(self):
        log = self.write_log("good.jsonl", simple_log())
        bad = self.write(f"bad{NASTY}.jsonl", b"{\n")
        gone = f"/nowhere/{NASTY}"
        rows = [
            (NASTY,), ("--" + NASTY,), ("help", NASTY),
            ("report", bad), ("report", gone), ("report", "--" + NASTY), ("report", "--sort", NASTY, log),
            ("report", "--columns", NASTY, log), ("report", "--by", NASTY, log), ("report", "--pass", NASTY, log),
            ("report", "--device", NASTY, log), ("report", "--html", gone, log), ("report", "-" + NASTY),
            ("report", "--html", self.folder / "page.html", bad),
            ("compare", log, bad), ("compare", bad, log), ("compare", log, gone), ("compare", log, log, NASTY),
            ("compare", "--gate", NASTY, log, log), ("compare", "--keys", NASTY, log, log),
            ("compare", "--fail-above", NASTY, log, log),
            ("check", bad), ("check", gone), ("check", "--" + NASTY),
            ("export", "--csv", "-", bad), ("export", "--csv", "-", gone), ("export", "--csv", gone, log),
            ("export", "--csv", "-", NASTY, NASTY), ("export", "--csv", NASTY, "--perfetto", NASTY, log),
            ("export", "--csv", bad, bad),
            ("counters", NASTY), ("counters", "--api", NASTY), ("counters", "--catalogue", NASTY),
            ("counters", "--counters", NASTY), ("counters", "--set", NASTY),
            ("doctor", NASTY), ("schema", NASTY), ("schema", "--" + NASTY),
            ("trigger", NASTY), ("trigger", "--control", gone, "status"), ("trigger", "--pid", NASTY, "status"),
            ("trigger", "mark", NASTY, NASTY),
            ("config", NASTY), ("config", NASTY, NASTY), ("config", "--json", NASTY),
            ("top", gone), ("top", bad), ("top", "--once", bad), ("top", "--sort", NASTY, log), ("top", "--pid", NASTY),
            ("top", "--window", NASTY, log), ("top", "--device", NASTY, log),
            ("run", "--", gone), ("run", "--" + NASTY, "--", "true"), ("run", "--log", gone, "--", "true"),
            ("run", "--frame", NASTY, "--", "true"), ("run", "--sources", NASTY, "--", "true"),
            ("run", "--counters", NASTY, "--", "true"), ("run", "--start-on", NASTY, "--", "true"),
            ("run", "--microblaze", NASTY, "--", "true"),
            ("run", "--control", gone, "--", "true"),
        ]
        for args in rows:
            with self.subTest(args=args):
                done = self.command(*args)
                self.assert_clean(done.stderr, "stderr")
                self.assert_clean(done.stdout, "stdout")

    def test_a_message_stays_one_line(self):
        bad = self.write("bad\npasstally: all is well\n.jsonl", b"{\n")
        for args in (("report", bad), ("check", bad), ("export", "--csv", "-", bad), ("top", "--once", bad),
                     ("compare", bad, bad), ("report", "/nowhere/a\nb"), ("a\nb",)):
            with self.subTest(args=args):
                done = self.command(*args)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)

    def test_environment_and_files(self):
        folder = self.folder / "config" / "passtally"
        folder.mkdir(parents=True)
        rows = [("PASSTALLY_OPTIONS", f"frame={NASTY}"), ("PASSTALLY_OPTIONS", f"{NASTY}=1"),
                ("PASSTALLY_OPTIONS", f"counters={NASTY}")]
        for name, value in rows:
            for args in (("config",), ("config", "--json"), ("run", "--", "true"), ("config", "--changed")):
                with self.subTest(value=value, args=args):
                    done = self.command(*args, env={name: value})
                    self.assert_clean(done.stderr, "stderr")
                    self.assert_clean(done.stdout, "stdout")
        for text in (f"[passtally]\nframe={NASTY}\n", f"[passtally]\n{NASTY}\n", f"[{NASTY}]\n",
                     f"[metric {NASTY}]\nexpression=1\n", f"[passtally]\nlog=/x/{NASTY}\n"):
            (folder / "passtally.conf").write_bytes(text.encode())
            for args in (("config",), ("config", "--json"), ("run", "--", "true")):
                with self.subTest(text=text, args=args):
                    done = self.command(*args)
                    self.assert_clean(done.stderr, "stderr")
                    self.assert_clean(done.stdout, "stdout")

    def test_what_a_log_holds(self):
        log = self.write_log(f"a{NASTY}.jsonl", hostile_log())
        other = self.write_log("b.jsonl", hostile_log())
        rows = [("report", log), ("report", "--json", log), ("report", "--csv", log), ("report", "--by", "frame", log),
                ("report", "--by", "label", log), ("report", "--by", "label", "--csv", log),
                ("report", "--by", "frame", "--json", log), ("report", "--html", "-", log),
                ("compare", "--all", log, other), ("compare", "--all", "--json", log, other),
                ("compare", "--all", "--markdown", log, other), ("check", log), ("top", "--once", log),
                ("export", "--csv", "-", log)]
        for args in rows:
            with self.subTest(args=args[:-1]):
                done = self.ok(*args)
                self.assert_clean(done.stdout, "stdout")
                self.assert_clean(done.stderr, "stderr")

    def test_json_says_what_was_there(self):
        log = self.write_log("a.jsonl", hostile_log())
        said = json.loads(self.ok("report", "--json", log).stdout)
        self.assertIn(NASTY, [row.get("label") for row in said["reports"][0]["rows"]])

    def test_no_cell_begins_as_a_formula(self):
        lines = [header(), device()]
        labels = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("x")', " =1", "plain", "a=b"]
        ids = [f"{i + 1:016x}" for i in range(len(labels))]
        lines += [pass_info(i, label, width=8, height=8) for i, label in zip(ids, labels)]
        lines += [frame(0, [one_pass(n, i, 1000, label) for n, (i, label) in enumerate(zip(ids, labels))])]
        log = self.write_log("=cmd.jsonl", lines + [end(1, len(labels))])
        for args in (("report", "--csv", "=cmd.jsonl"), ("report", "--csv", "--by", "label", log),
                     ("export", "--csv", "-", log)):
            with self.subTest(args=args):
                for row in csv.reader(io.StringIO(self.ok(*args).stdout.decode(), newline="")):
                    for cell in row:
                        self.assertFalse(re.match(r"\s*[=+@\t\r]|\s*-(?![0-9.]+(e-?[0-9]+)?$)", cell), row)
        said = self.ok("export", "--csv", "-", log).stdout.decode()
        self.assertIn(",'=1+1,", said)
        self.assertIn(",a=b,", said)

    def test_what_is_made_of_a_log_is_no_more_open_than_the_log(self):
        log = self.write_log("a.jsonl", simple_log())
        log.chmod(0o600)
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        made = {"page.html": ("report", "--html"), "a.csv": ("export", "--csv"),
                "a.pftrace": ("export", "--perfetto")}
        for mode in (0o600, 0o640, 0o644):
            log.chmod(mode)
            for name, args in made.items():
                with self.subTest(name=name, mode=oct(mode)):
                    self.ok(*args, self.folder / name, log)
                    self.assertEqual(stat.S_IMODE((self.folder / name).stat().st_mode), mode)
                    (self.folder / name).unlink()

    def test_many_devices(self):
        """Each event finds its device; a search through all devices would take a minute."""
        n = 30000
        lines = [header(), pass_info(A, width=8, height=8)] + [device(i, counters=[]) for i in range(n)]
        lines += [frame(0, [one_pass(0, A, 1000)], device_number=i) for i in range(n)] + [end(n, n)]
        self.write_log("many.jsonl", lines)
        self.ok("export", "--perfetto", "many.pftrace", "many.jsonl")
        self.assertGreater((self.folder / "many.pftrace").stat().st_size, 100 * n)


if __name__ == "__main__":
    unittest.main()
