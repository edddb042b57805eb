#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally logs, and the log that a command uses when none is named."""

import fcntl
import json
import os
import shutil
import time
import unittest

from cli_case import CliCase, end, frame, header, log_bytes, one_pass, device, pass_info, A

HOUR = 3600


def log_of(name, frames=3, cpu_ns=16000000):
    return log_bytes([header(program=f"/usr/games/{name}"), device(), pass_info(A, "scene")] +
                     [frame(i, [one_pass(0, A, 1000, "scene")], cpu_ns=cpu_ns + i * 1000000) for i in range(frames)] +
                     [end(frames, frames)])


class Logs(CliCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "state/passtally"
        self.place.mkdir(parents=True)
        self.now = int(time.time())
        self.env["TZ"] = "UTC"

    def add(self, name, data, hours_ago):
        path = self.place / name
        path.write_bytes(data)
        os.utime(path, (self.now - hours_ago * HOUR, self.now - hours_ago * HOUR))
        return path

    def several(self):
        """The newest is last; files that are not passtally's logs."""
        self.add("alien.jsonl", b'{"type":"event"}\n', 0)
        self.add("notes.txt", b"mine", 0)
        return [self.add("a-1.jsonl", log_of("alpha", 5), 200), self.add("b-1.jsonl", log_of("beta"), 100),
                self.add("a-2.jsonl", log_of("alpha", 4), 50), self.add("b-2.jsonl", log_of("beta", 9), 1)]

    # The list

    def test_list(self):
        self.several()
        lines = self.ok("logs").stdout.decode().splitlines()
        self.assertEqual(lines[0].split(": ")[0], str(self.place))
        self.assertIn(": 4 logs, ", lines[0])
        self.assertEqual(lines[2].split(), ["AGE", "FRAMES", "MS", "SIZE", "LOG"])
        self.assertEqual([line.split()[0:1] + line.split()[4:] for line in lines[3:]],
                         [[lines[3].split()[0], "b-2.jsonl", "(beta)"], ["2d", "a-2.jsonl", "(alpha)"], ["4d", "b-1.jsonl", "(beta)"],
                          ["8d", "a-1.jsonl", "(alpha)"]])
        self.assertEqual(lines[3].split()[1:3], ["9", "20.00"])
        got = self.ok("logs", "--program", "alpha").stdout.decode().splitlines()[3:]
        self.assertEqual([line.split()[4] for line in got], ["a-2.jsonl", "a-1.jsonl"])

    def test_json(self):
        self.several()
        got = json.loads(self.ok("logs", "--json").stdout)
        self.assertEqual((got["schema"], got["folder"]), ("passtally-logs/1", str(self.place)))
        self.assertEqual([(log["program"], log["frames"], log["median_frame_ms"]) for log in got["logs"]],
                         [("beta", 9, 20), ("alpha", 4, 17), ("beta", 3, 17), ("alpha", 5, 18)])
        self.assertTrue(all(log["readable"] and not log["written_to"] for log in got["logs"]))

    def test_many(self):
        for i in range(25):
            self.add(f"{i:02}.jsonl", log_of("many", 1), i)
        self.assertIn("\n5 more: --all lists them\n", self.ok("logs").stdout.decode())
        self.assertEqual(len(self.ok("logs", "--all").stdout.decode().splitlines()), 28)

    def test_none(self):
        self.assertRegex(self.ok("logs").stdout.decode(), r"passtally: no log\n$")
        shutil.rmtree(self.place)
        self.ok("logs")
        self.assertEqual(self.command("logs", env={"HOME": "", "XDG_STATE_HOME": ""}).returncode, 125)

    def test_damaged(self):
        """Listed as its header says, with the frames before the error, and no count."""
        self.add("bad.jsonl", log_of("bad") + b"{\n" + log_of("bad"), 1)
        self.assertRegex(self.ok("logs").stdout.decode(), r"6[01]m +\? +17.00 +\d.*k  bad.jsonl\n")

    def test_still_written_to(self):
        path = self.add("a.jsonl", log_of("a"), 1)
        with open(self.write("probe", "x"), "rb") as probe:
            try:
                fcntl.fcntl(probe, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            except OSError:
                self.skipTest("the file system has no leases")
        with open(path, "ab"):
            self.assertIn(b"\nlive ", self.ok("logs").stdout)

    # Which log is meant

    def test_newest(self):
        self.several()
        for args in (("report",), ("check",), ("export", "--csv", "-")):
            done = self.ok(*args)
            self.assertEqual(done.stderr.decode(), f"passtally {args[0]}: no log is named; the newest is "
                             f"{self.place}/b-2.jsonl\n")
            # The path is said once.
            self.assertTrue(done.stdout.startswith(b"b-2.jsonl: /usr/games/beta\n" if args[0] == "report" else b""), done.stdout)
        done = self.ok("report", "alpha")
        self.assertEqual(done.stderr.decode(), "passtally report: that program's newest log is "
                         f"{self.place}/a-2.jsonl\n")
        self.assertIn(b"4 frames", done.stdout)

    def test_names_of_a_program(self):
        """As it was started, by its file, and without Debian's triplet."""
        gears = self.add("g-1.jsonl", log_bytes([header(program="/usr/bin/glxgears.x86_64-linux-gnu", argv=["glxgears"]),
                                                 end(0, 0)]), 2)
        script = self.add("p-1.jsonl", log_bytes([header(program="/usr/bin/python3.11", argv=["python3", "x.py"]), end(0, 0)]), 1)
        for name, path in (("glxgears", gears), ("glxgears.x86_64-linux-gnu", gears), ("python3", script), ("python3.11", script)):
            self.assertIn(f"newest log is {path}\n", self.ok("report", name).stderr.decode())
            listed = self.ok("logs", "--program", name).stdout.decode().splitlines()[3:]
            self.assertEqual([line.split()[4] for line in listed], [path.name])
        self.assertIn(" g-1.jsonl (glxgears)\n", self.ok("logs").stdout.decode())
        self.assertNotIn("linux-gnu", self.ok("logs").stdout.decode())

    def test_what_is_no_log(self):
        self.several()
        done = self.command("report", "nope")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"nope is no file here, and there is no log of a program of that name: passtally logs", done.stderr)

    def test_a_file_wins(self):
        self.several()
        self.write("alpha", log_of("other", 7))
        done = self.ok("report", "alpha")
        self.assertEqual(done.stderr, b"")
        self.assertIn(b"7 frames", done.stdout)

    def test_two_newest(self):
        paths = self.several()
        done = self.ok("compare")
        self.assertEqual(done.stderr.decode(), f"passtally compare: no logs are named; base is {paths[1]}\n"
                         f"passtally compare: new is {paths[3]}\n")
        self.assertEqual(done.stdout, self.ok("compare", paths[1], paths[3]).stdout)
        self.assertIn(f"base is {paths[0]}".encode(), self.ok("compare", "alpha").stderr)
        paths[0].unlink()
        done = self.command("compare", "alpha")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the only one of alpha", done.stderr)

    def test_nothing_there(self):
        for args in (("report",), ("check",), ("export", "--csv", "-"), ("compare",)):
            done = self.command(*args)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertIn(b"passtally run -- GAME", done.stderr)
        self.assertEqual(self.command("report", "gamma").returncode, 2)

    def test_page(self):
        if b"built without" in self.command("report", "--html", "-", self.write_log("x.jsonl", [header(), end(0, 0)])).stderr:
            self.skipTest("report --html is not in this build")
        self.several()
        for args, page in (((), "b-2.html"), (("alpha",), "a-2.html")):
            done = self.ok("report", *args, "--html")
            self.assertEqual(done.stdout.decode(), f"page {self.place}/{page}\n")
            self.assertIn(b"<html", (self.place / page).read_bytes())
        log = self.write("here.jsonl", log_of("here"))
        before = log.read_bytes()
        self.assertEqual(self.ok("report", "--html", "here.jsonl").stdout.decode(), f"page {self.folder}/here.html\n")
        self.assertEqual(log.read_bytes(), before)
        self.assertEqual(self.ok("report", "--html", "out.html", "here.jsonl").stdout, b"")
        done = self.command("report", "-", "--html", input=before)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--html OUT", done.stderr)


if __name__ == "__main__":
    unittest.main()
