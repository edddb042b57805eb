#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`passtally trigger` against sockets that the test serves; real games are in tests/live/trigger.py."""

import json
import os
import pathlib
import re
import socket
import subprocess
import unittest

from cli_case import COMMAND, CliCase, device, end, frame, header, one_pass, pass_info, program


class Trigger(CliCase):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "run" / "passtally"
        self.place.mkdir(mode=0o700, parents=True)
        self.env["XDG_RUNTIME_DIR"] = str(self.folder / "run")

    def refuse(self, *args, status=1):
        done = self.command("trigger", *args)
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        text = done.stderr.decode()
        self.assertTrue(text.startswith("passtally trigger: "), text)
        return text

    def test_usage(self):
        for args in ((), ("go",), ("start", "now"), ("toggle", "x"), ("mark",), ("mark", "a", "b"), ("mark", ""), ("mark", "a\nb"),
                     ("mark", "x" * 257), ("--pid", "0", "start"), ("--pid", "x", "start"), ("--pid", "-3", "start"),
                     ("--control", "p", "--pid", "1", "start"), ("--nothing", "start")):
            with self.subTest(args):
                self.refuse(*args, status=2)

    def test_nobody(self):
        self.assertIn("no game runs", self.refuse("start"))
        self.assertIn("process 7 has no control socket", self.refuse("--pid", "7", "start"))
        missing = self.folder / "missing"
        self.assertIn(f"{missing} cannot be reached: No such file", self.refuse("--control", missing, "status"))
        plain = self.write("plain", "text")
        self.assertIn(f"{plain} cannot be reached: ", self.refuse("--control", plain, "status"))
        self.assertIn(f"{self.folder} cannot be reached: ", self.refuse("--control", self.folder, "status"))
        self.assertEqual(plain.read_text(), "text")

    def test_one(self):
        path = self.place / "game-1.sock"
        asked = self.serve(path, [b"ok\nthe capture starts\n", b"ok\nmark \x1b[31m\n", b"error\nnot \x1b now\n",
                                  b"ok\nstate capturing\npid 3\nprogram /a\tb\n"])
        self.assertIn(b": the capture starts\n", self.ok("trigger", "start").stdout)
        shown = self.ok("trigger", "mark", "a b=c").stdout
        self.assertNotIn(b"\x1b", shown)
        done = self.command("trigger", "--pid", os.getpid(), "stop")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"says: not ", done.stderr)
        self.assertEqual(self.ok("trigger", "--control", path, "status").stdout,
                         b"state capturing\npid 3\nprogram /a\\tb\n")
        self.assertEqual(asked, [b"start", b"mark a b=c", b"stop", b"status"])

    def test_by_the_run_that_started_it(self):
        """passtally run's number names the game too; that of any other parent, as of what takes in orphans, does not."""
        game = """if True:
            import socket, sys
            server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            server.bind(sys.argv[1])
            server.listen(8)
            print(flush=True)
            while True:
                client = server.accept()[0]
                if client.recv(100):
                    client.send(b"ok\\nby its run\\n")"""
        run = subprocess.Popen([COMMAND, "run", "-q", "--control", "off", "--", *program(game),
                                self.place / "game.sock"], stdout=subprocess.PIPE, env=self.env)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.terminate)
        run.stdout.readline()
        self.assertIn(b": by its run\n", self.ok("trigger", "--pid", run.pid, "start").stdout)
        for parent in (os.getpid(), 1):
            self.assertIn("has no control socket", self.refuse("--pid", parent, "start"))

    def test_toggle_and_progress(self):
        """status also shows what the log contains so far, even where its last line is cut."""
        log = self.write_log("a.jsonl", [header(), device(), pass_info("00000000000000aa", "Scene")] +
                             [frame(i, [one_pass(0, "00000000000000aa", 5)]) for i in range(3)])
        with open(log, "ab") as out:
            out.write(b'{"type":"frame","fra')
        status = f"ok\nstate capturing\nlog {log}\n".encode()
        asked = self.serve(self.place / "game.sock", [b"ok\nthe capture pauses\n", status,
                                                      b"ok\nlog /no/such.jsonl\n"])
        self.assertIn(b": the capture pauses\n", self.ok("trigger", "toggle").stdout)
        self.assertEqual(self.ok("trigger", "status").stdout.decode(),
                         f"state capturing\nlog {log}\nbytes {log.stat().st_size}\n")
        self.assertEqual(self.ok("trigger", "status").stdout, b"log /no/such.jsonl\n")
        self.assertEqual(asked, [b"toggle", b"status", b"status"])

    def test_several(self):
        for i in range(2):
            self.serve(self.place / f"game-{i}.sock", [b"ok\nstate waiting\n"])
        text = self.refuse("start")
        self.assertIn("2 games run", text)
        for i in range(2):
            self.assertIn(f"--control {self.place / f'game-{i}.sock'}\n", text)
        self.assertEqual(self.ok("trigger", "status").stdout, b"state waiting\n\nstate waiting\n")

    def test_no_answer(self):
        self.serve(self.place / "game.sock", [None])
        self.assertIn("closed the connection", self.refuse("start"))
        silent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(silent.close)
        path = self.folder / "silent"
        silent.bind(str(path))
        silent.listen(1)
        self.assertIn("does not answer", self.refuse("--control", path, "start"))

    def test_temporary(self):
        """Without a folder for the session, the sockets are in a folder in TMPDIR, which is always searched."""
        place = self.folder / "tmp" / f"passtally-{os.geteuid()}"
        place.mkdir(mode=0o700)
        self.serve(place / "game.sock", [b"ok\nstate waiting\n", b"ok\nstate waiting\n"])
        self.assertEqual(self.ok("trigger", "status").stdout, b"state waiting\n")
        self.env.pop("XDG_RUNTIME_DIR")
        self.assertEqual(self.ok("trigger", "status").stdout, b"state waiting\n")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder to another user")
    def test_foreign_runtime(self):
        """A folder for the session that another user owns (sudo -E) is not used, even with a passtally folder in
        it."""
        self.serve(self.place / "game.sock", [b"ok\nstate waiting\n"])
        os.chown(self.env["XDG_RUNTIME_DIR"], 65534, 65534)
        self.refuse("status")

    def test_dead(self):
        """The folder is cleared of sockets at which no process listens, and of nothing else."""
        for name in ("dead.sock", "dead.other"):
            dead = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            dead.bind(str(self.place / name))
            dead.close()
        self.assertIn("dead.sock cannot be reached: Connection refused", self.refuse("--control", self.place / "dead.sock", "status"))
        self.assertTrue((self.place / "dead.sock").exists())  # named by hand: left alone
        self.refuse("status")
        self.assertEqual([p.name for p in self.place.iterdir()], ["dead.other"])

    def test_folder(self):
        """A folder that others may write to, or that is a link, is not searched."""
        self.serve(self.place / "game.sock", [b"ok\nstate waiting\n"])
        self.place.chmod(0o777)
        self.assertIn("no game runs", self.refuse("status"))
        self.place.chmod(0o700)
        moved = self.place.rename(self.folder / "moved")
        self.place.symlink_to(moved)
        self.assertIn("no game runs", self.refuse("status"))
        done = self.command("run", "--", "true")
        self.assertIn(b"no folder of yours alone", done.stderr)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(b"yours alone", self.ok("run", "--control", "off", "--", "true").stderr)

    def test_run(self):
        """What the command line names is relative to this folder; paths from other places stay as they are."""
        def said(*args, **env):
            words = self.ok("run", *args, "--", "env", env=env).stdout.decode()
            return re.search(r"^PASSTALLY_OPTIONS=.*control=([^,\n]*)", words, re.MULTILINE)[1]
        self.assertEqual(said("--control", "s"), str(self.folder / "s"))
        self.assertEqual(said("--control", "off"), "off")
        self.assertEqual(said(PASSTALLY_OPTIONS="control=s"), "s")

    def test_long_path(self):
        deep = self.folder / ("d" * 120)
        deep.mkdir()
        before = pathlib.Path.cwd()
        os.chdir(deep)  # the address of a socket has to be short
        try:
            self.serve("s", [b"ok\nstate waiting\n"])
        finally:
            os.chdir(before)
        self.assertEqual(self.ok("trigger", "--control", deep / "s", "status").stdout, b"state waiting\n")

    def test_report(self):
        mark = {"type": "note", "level": "info", "message": "boss", "source": "mark"}
        log = self.write_log("a.jsonl", [
            header(), device(), pass_info("00000000000000aa", "Scene"), frame(1, [one_pass(0, "00000000000000aa", 5)], start_ns=2000000000),
            dict(mark, time_ns=2500000000), dict(mark, time_ns=3000000000), dict(mark, time_ns=1), end(1, 1)])
        text = self.ok("report", log).stdout.decode()
        for at in ("0.500", "1.000", "0.000"):
            self.assertIn(f"mark: boss, {at} s into the log", text)
        self.ok("check", log)


if __name__ == "__main__":
    unittest.main()
