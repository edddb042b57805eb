#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compressed logs: every command reads them as the plain ones, and run --compress makes them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from cli_case import COMMAND, CliCase, log_bytes, program, simple_log

ZSTD = shutil.which("zstd")
if not ZSTD:
    print("zstd is not installed: nothing can be compressed here")
    sys.exit(77)
# What a game's capture would leave: the log at the path that `run` sets.
WRITE_LOG = """
import os, sys
path = os.environ["PASSTALLY_LOG"].replace("%%", "%")
out = open(path, "xb")
out.write(open("log", "rb").read())
out.flush()
"""
SKIPPABLE = b"\x50\x2a\x4d\x18\x05\0\0\0hello"


def pack(data, *options):
    return subprocess.run([ZSTD, "-q", "-c", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def unpack(data):
    return subprocess.run([ZSTD, "-q", "-d", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Reading(CliCase):
    def setUp(self):
        super().setUp()
        self.plain = log_bytes(simple_log(2000))
        self.write("log.jsonl", self.plain)

    def report(self, name, **kwargs):
        """The report in JSON, without the log's name."""
        done = self.ok("report", "--json", name, **kwargs)
        answer = json.loads(done.stdout)
        for one in answer["reports"]:
            one.pop("log", None)
            one.pop("path", None)
        return answer, done.stderr.decode()

    def test_same_report(self):
        want, _ = self.report("log.jsonl")
        cut = len(self.plain) // 3
        forms = {
            "one frame": pack(self.plain),
            "with a checksum, at another level": pack(self.plain, "-19", "--check"),
            "frames that end inside a line": b"".join(pack(self.plain[i:i + 7777])
                                                      for i in range(0, len(self.plain), 7777)),
            "a skippable frame before, between and behind":
                SKIPPABLE + pack(self.plain[:cut]) + SKIPPABLE + pack(self.plain[cut:]) + SKIPPABLE,
            "an empty frame": pack(b"") + pack(self.plain),
        }
        for name, data in forms.items():
            with self.subTest(name):
                # Recognized by its bytes, not its name.
                self.write("any.name", data)
                self.assertEqual(self.report("any.name"), (want, ""))
                self.assertEqual(self.report("-", input=data), (want, ""))

    def test_plain_under_the_name_of_a_packed_one(self):
        want, _ = self.report("log.jsonl")
        self.write("plain.jsonl.zst", self.plain)
        self.assertEqual(self.report("plain.jsonl.zst")[0], want)

    def test_slow_pipe(self):
        """Byte by byte: even the first bytes identify the format only together."""
        small = log_bytes(simple_log(3))
        for data in (small, pack(small)):
            child = subprocess.Popen([COMMAND, "report", "--json", "-"], env=self.env, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for i in range(len(data)):
                child.stdin.write(data[i:i + 1])
                child.stdin.flush()
            out, err = child.communicate(timeout=240)
            self.assertEqual((child.returncode, err), (0, b""))
            self.assertEqual(json.loads(out)["reports"][0]["devices"][0]["frames"], 3)

    def test_other_commands(self):
        packed = self.write("log.jsonl.zst", pack(self.plain))
        done = self.ok("check", packed)
        self.assertEqual(done.stdout.decode(), f"{packed}: ok, 2000 frames, 4000 passes\n")
        done = self.ok("check", "-", input=packed.read_bytes())
        self.assertEqual(done.stdout.decode(), "-: ok, 2000 frames, 4000 passes\n")
        done = self.ok("compare", "--json", "log.jsonl", packed)
        subjects = json.loads(done.stdout)["subjects"]
        self.assertEqual(len(subjects), 3) # the frame and two passes
        self.assertEqual({v["difference"] for s in subjects for v in s["values"]}, {0})
        done = self.ok("report", "--csv", "log.jsonl", packed)
        lines = done.stdout.decode().splitlines()
        rows = [line.split(",", 1)[1] for line in lines[1:]] # without the log's name
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows[:2], rows[2:])

    def test_check_finds_the_line(self):
        lines = self.plain.splitlines(keepends=True)
        lines[99] = lines[99].replace(b'"cpu_ns":16000000', b'"cpu_ns":"16"')
        self.write("bad.zst", pack(b"".join(lines)))
        done = self.command("check", "bad.zst")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr.decode(), r'(?m)^bad\.zst:100:\d+: "cpu_ns": ')

    def test_cut(self):
        """Wherever the file ends, its contents are reported, and that it is cut."""
        data = pack(self.plain, "--check")
        for cut in (len(data) - 1, len(data) - 5, len(data) * 2 // 3):
            with self.subTest(cut=cut):
                answer, err = self.report("-", input=data[:cut])
                self.assertRegex(err, r"^passtally report: -: the last line \(\d+\) is cut")
                self.assertTrue(answer["reports"][0]["truncated"])
        # The frames before the cut are whole.
        first = pack(self.plain[:100000])
        whole = self.plain[:100000].count(b'{"type":"frame"') - 1
        answer, err = self.report("-", input=first + pack(self.plain[100000:])[:3])
        self.assertIn("is cut", err)
        self.assertIn(answer["reports"][0]["devices"][0]["frames"], (whole, whole + 1))
        done = self.command("check", "-", input=data[:-5])
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"the last line is cut", done.stderr)

    def test_cut_between_lines(self):
        """The text seems complete there; the file is not."""
        end = self.plain.index(b"\n", 50000) + 1
        answer, err = self.report("-", input=pack(self.plain[:end], "--check")[:-2])
        self.assertIn("is cut", err)
        self.assertTrue(answer["reports"][0]["truncated"])

    def test_damaged(self):
        data = bytearray(pack(self.plain, "--check"))
        data[-2] ^= 0x55 # of the checksum
        for name, bad in {"checksum": bytes(data), "garbage behind": pack(self.plain) + b"garbage",
                          "no frame": b"\x28\xb5\x2f\xfd" + b"\xff" * 100}.items():
            with self.subTest(name):
                self.write("bad.zst", bad)
                for command in ("report", "check"):
                    done = self.command(command, "bad.zst")
                    self.assertEqual(done.returncode, 3)
                    self.assertRegex(done.stderr.decode(),
                                     r'^bad\.zst:\d+:1: the compressed file cannot be unpacked .* "[^"]+"\n')

    def test_directory(self):
        done = self.command("report", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"Is a directory", done.stderr)

    def test_any_damage_ends_well(self):
        """Never a crash, whichever byte is wrong: a report, or "bad log" with its position."""
        data = pack(log_bytes(simple_log(40)), "--check")
        for at in range(0, len(data), max(1, len(data) // 60)):
            bad = bytearray(data)
            bad[at] ^= 0xa5
            done = self.command("report", "-", input=bytes(bad))
            self.assertEqual(done.returncode, 3, done.stderr)


class Compressing(CliCase):
    def renders(self, log=None, after=""):
        self.write("log", log or log_bytes(simple_log(5)))
        return program(WRITE_LOG + after)

    def run_program(self, args, *options, **kwargs):
        return self.command("run", *options, "--", *args, **kwargs)

    def names(self):
        return sorted(p.name for p in self.folder.iterdir() if re.match(r"a\.(\d+\.)?jsonl", p.name))

    def test_compress(self):
        before = self.run_program(self.renders(), "--log", "plain.jsonl")
        done = self.run_program(self.renders(), "--log", "a.jsonl", "--compress")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.names(), ["a.jsonl.zst"])
        packed = self.folder / "a.jsonl.zst"
        self.assertEqual(unpack(packed.read_bytes()), log_bytes(simple_log(5)))
        # The summary is of the compressed log, and is the same.
        self.assertEqual(done.stderr.replace(b"a.jsonl.zst", b"plain.jsonl"), before.stderr)
        self.assertEqual(packed.stat().st_mode & 0o777, (self.folder / "plain.jsonl").stat().st_mode & 0o777)

    def test_mode_stays(self):
        self.run_program(self.renders(after="out.close(); os.chmod(path, 0o640)"), "--log", "a.jsonl", "--compress")
        self.assertEqual((self.folder / "a.jsonl.zst").stat().st_mode & 0o777, 0o640)

    def test_crashed_game(self):
        cut = log_bytes(simple_log(5))[:-150]
        done = self.run_program(self.renders(cut, "os.kill(os.getpid(), 9)"), "--log", "a.jsonl", "--compress")
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual(self.names(), ["a.jsonl.zst"])
        self.assertEqual(unpack((self.folder / "a.jsonl.zst").read_bytes()), cut)
        self.assertIn(b"is cut", done.stderr)

    def test_several_processes(self):
        more = """
for number in ("111", "222"):
    open(path.replace("a.jsonl", f"a.{number}.jsonl"), "xb").write(open("log", "rb").read())
"""
        done = self.run_program(self.renders(after=more), "--log", "a.jsonl", "--compress")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.names(), ["a.111.jsonl.zst", "a.222.jsonl.zst", "a.jsonl.zst"])
        self.assertEqual(done.stderr.count(b"passtally: log "), 3)

    def test_name_taken(self):
        for name in ("a.jsonl.zst", "a.jsonl"):
            self.write(name, "precious")
            done = self.run_program(self.renders(after="open('ran', 'w')"), "--log", "a.jsonl", "--compress")
            self.assertEqual(done.returncode, 2)
            self.assertFalse((self.folder / "ran").exists())
            self.assertIn(f"{name} exists: --force replaces it".encode(), done.stderr)
            self.assertEqual((self.folder / name).read_text(), "precious")
            done = self.run_program(self.renders(), "--log", "a.jsonl", "--compress", "--force")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.names(), ["a.jsonl.zst"])
            (self.folder / "a.jsonl.zst").unlink()

    def test_name_taken_meanwhile(self):
        after = "open(path + '.zst', 'w').write('precious')"
        done = self.run_program(self.renders(after=after), "--log", "a.jsonl", "--compress")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.names(), ["a.jsonl", "a.jsonl.zst"])
        self.assertEqual((self.folder / "a.jsonl.zst").read_text(), "precious")
        self.assertRegex(done.stderr.decode(), r"run: .*\.zst exists: .* is not compressed\n")

    def test_still_written_to(self):
        """A process that outlives the program keeps its log."""
        after = """
pid = os.fork()
if pid == 0:
    os.closerange(0, 3)
    import time
    time.sleep(60)
open("child", "w").write(str(pid))
"""
        done = self.run_program(self.renders(after=after), "--log", "a.jsonl", "--compress")
        os.kill(int((self.folder / "child").read_text()), signal.SIGKILL)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.names(), ["a.jsonl"])
        self.assertIn(b"still writes to", done.stderr)
        self.assertIn(b"zstd --rm ", done.stderr)

    def test_folder_read_only(self):
        if os.geteuid() == 0:
            self.skipTest("root may write anywhere")
        after = "os.chmod(os.path.dirname(path), 0o500)"
        (self.folder / "dir").mkdir()
        done = self.run_program(self.renders(after=after), "--log", "dir/a.jsonl", "--compress")
        os.chmod(self.folder / "dir", 0o700)
        self.assertEqual(done.returncode, 0)
        self.assertEqual([p.name for p in (self.folder / "dir").iterdir()], ["a.jsonl"])
        self.assertIn(b"Permission denied", done.stderr)

    def test_disk_full(self):
        """The limit on the file size simulates a full disk: the plain log stays, nothing else."""
        noise = os.urandom(150000).hex()
        log = log_bytes(simple_log(5)[:-1] + [{"type": "note", "level": "info", "source": "x", "message": noise}])
        path = self.folder / "a.jsonl"
        # The limit applies to passtally alone: the program raises it again.
        text = ("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))\n" +
                self.renders(log)[2])
        child = subprocess.run(["prlimit", "--fsize=100000:unlimited", COMMAND, "run", "--log", str(path),
                                "--compress", "--", *program(text)], env=self.env, cwd=self.folder,
                               capture_output=True, timeout=240)
        self.assertEqual(self.names(), ["a.jsonl"], child.stderr)
        self.assertEqual(path.read_bytes(), log)
        self.assertIn(b"a.jsonl.zst: File too large", child.stderr)
        self.assertEqual(child.returncode, 0)

    def test_interrupted(self):
        """A signal that asks passtally to end leaves the plain log, complete, and nothing else."""
        log = log_bytes(simple_log(5)[:-1]) + \
            b'{"type":"note","level":"info","source":"x","message":"%s"}\n' % os.urandom(60 << 20).hex().encode()
        child = subprocess.Popen([COMMAND, "run", "--log", "a.jsonl", "--compress", "--",
                                  *self.renders(log)], env=self.env, cwd=self.folder, stderr=subprocess.PIPE)
        until = time.monotonic() + 60
        while not [n for n in self.names() if re.search(r"\.zst\.", n)] and time.monotonic() < until:
            time.sleep(0.01)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=240)
        self.assertEqual(child.returncode, -signal.SIGTERM)
        self.assertEqual(self.names(), ["a.jsonl"])
        self.assertEqual((self.folder / "a.jsonl").read_bytes(), log)

    def test_quiet(self):
        done = self.run_program(self.renders(), "-q", "--log", "a.jsonl", "--compress")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(self.names(), ["a.jsonl.zst"])


if __name__ == "__main__":
    unittest.main()
