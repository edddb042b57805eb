#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""passtally run: the program is left alone, and the log that it leaves is reported.

The programs here render nothing; those that must leave a log write what the capture would.
"""

import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from cli_case import A, B, C, COMMAND, CliCase, device, end, frame, header, log_bytes, one_pass, pass_info, program, simple_log

WRITE_LOG = """
import os
path = os.environ["PASSTALLY_LOG"].replace("%%", "%")
with open(path, "xb") as out:
    out.write(bytes.fromhex("{hex}"))
"""


def renders(n=5):
    return program(WRITE_LOG.format(hex=log_bytes(simple_log(n)).hex()))


class Run(CliCase):
    def run_program(self, args, *options, **kwargs):
        return self.command("run", *options, "--", *args, **kwargs)

    def start(self, args, *options, **kwargs):
        return subprocess.Popen([COMMAND, "run", *options, "--", *args], env=self.env, cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def logs(self):
        return sorted((self.folder / "state/passtally").glob("*.jsonl*"))

    # Status

    def test_exit_status(self):
        for status in (0, 1, 7, 255):
            self.assertEqual(self.run_program(program(f"raise SystemExit({status})")).returncode, status)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_privileges_of_others(self):
        """A set-user-ID program of another user, run by root too: nothing can be preloaded into it."""
        for owner, words in ((1, True), (0, False)):
            copy = self.folder / f"true-{owner}"
            shutil.copy("/bin/true", copy)
            os.chown(copy, owner, 0)
            copy.chmod(0o4755)
            self.assertEqual(b"privileges of its own" in self.run_program([str(copy)]).stderr, words)

    def test_failed_without_a_display(self):
        for display, words in ((None, b"neither DISPLAY nor WAYLAND_DISPLAY"), (":99999", b"passtally doctor")):
            env = {"DISPLAY": display or "", "WAYLAND_DISPLAY": ""}
            stderr = self.run_program(program("raise SystemExit(1)"), env=env).stderr
            self.assertIn(words, stderr)
            self.assertLess(stderr.index(words), stderr.index(b"passtally's fault"))

    def test_sandbox_without_the_library(self):
        folder = self.folder / "bin"
        folder.mkdir()
        (folder / "bwrap").write_text("#!/bin/sh\n", encoding="ascii")
        (folder / "bwrap").chmod(0o755)
        stderr = self.run_program([str(folder / "bwrap")]).stderr
        self.assertIn(b"libraries are visible inside", stderr)
        self.assertNotIn(b"--allow", stderr)

    def test_without_dashes(self):
        done = self.command("run", "sh", "-c", "echo $0 $1; exit 3", "--json", "-x")
        self.assertEqual((done.returncode, done.stdout), (3, b"--json -x\n"))

    def test_signal_death(self):
        for sig in (signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGABRT):
            done = self.run_program(program(f"import os; os.kill(os.getpid(), {int(sig)})"))
            self.assertEqual(done.returncode, -sig)
            self.assertIn(b"nothing was rendered", done.stderr)

    def test_one_core_at_most(self):
        before = resource.getrlimit(resource.RLIMIT_CORE)
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
            child = self.start(program("import os; os.kill(os.getpid(), 6)"))
        finally:
            resource.setrlimit(resource.RLIMIT_CORE, before)
        child.communicate(timeout=240)
        _, status = child.pid, child.returncode
        self.assertEqual(status, -6)
        self.assertFalse([p for p in self.folder.iterdir() if p.name.startswith("core") and
                          p.name == f"core.{child.pid}"])

    def test_not_found_not_executable(self):
        done = self.run_program(["./no-such-program"])
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"no-such-program", done.stderr)
        self.write("plain", "no program")
        done = self.run_program(["./plain"])
        self.assertEqual(done.returncode, 126)
        self.assertEqual(self.logs(), [])

    # Signals

    def test_term_is_passed_on(self):
        text = ("import signal, sys, time\n"
                "signal.signal(signal.{0}, lambda *a: sys.exit(9))\n"
                "print('up', flush=True)\ntime.sleep(60)\n")
        for name in ("SIGTERM", "SIGHUP", "SIGUSR2"):
            child = self.start(program(text.format(name)))
            self.assertEqual(child.stdout.readline(), b"up\n")
            child.send_signal(getattr(signal, name))
            child.communicate(timeout=240)
            self.assertEqual(child.returncode, 9, name)

    def test_interrupt_is_the_programs(self):
        text = ("import signal, sys, time\n"
                "signal.signal(signal.SIGINT, lambda *a: None)\n"
                "print('up', flush=True)\n"
                "time.sleep(2)\nsys.exit(4)\n")
        child = self.start(program(text))
        self.assertEqual(child.stdout.readline(), b"up\n")
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGQUIT)
        child.communicate(timeout=240)
        self.assertEqual(child.returncode, 4)

    def test_dispositions_are_inherited(self):
        text = ("import re\n"
                "status = open('/proc/self/status').read()\n"
                "for key in ('SigIgn', 'SigBlk'):\n"
                "    print(key, re.search(key + r':\\s*(\\S+)', status).group(1))\n")
        bare = subprocess.run(program(text), env=self.env, capture_output=True, check=True).stdout
        self.assertEqual(self.run_program(program(text)).stdout, bare)

    def test_terminal_interrupt(self):
        """^C goes to the program and not to us; its status comes through, and so does our summary."""
        pid, master = pty.fork()
        if pid == 0:
            os.environ.clear()
            os.environ.update(self.env)
            text = ("import signal, sys, time\n"
                    "signal.signal(signal.SIGINT, lambda *a: sys.exit(5))\n"
                    "print('up', flush=True)\ntime.sleep(60)\n")
            os.execv(COMMAND, [COMMAND, "run", "--", *program(text)])
        seen = b""
        sent = False
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:
                break
            if not more:
                break
            seen += more
            if b"up" in seen and not sent:
                sent = True
                os.write(master, b"\x03")
        os.close(master)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
        self.assertIn(b"nothing was rendered", seen)

    def wait_for(self, name):
        """A Python program that waits for a file, which the test creates when it has seen enough."""
        return ("import os, time\nend = time.monotonic() + 120\n"
                f"while not os.path.exists({str(self.folder / name)!r}) and time.monotonic() < end: time.sleep(0.02)\n")

    def test_job_control(self):
        """^Z stops both, SIGCONT wakes both."""
        child = self.start(program("print('up', flush=True)\n" + self.wait_for("go") + "print('done', flush=True)\n"),
                           preexec_fn=os.setpgrp)
        self.assertEqual(child.stdout.readline(), b"up\n")
        os.killpg(child.pid, signal.SIGSTOP)
        state, until = "", time.monotonic() + 60
        while state != "T" and time.monotonic() < until:
            time.sleep(0.02)
            with open(f"/proc/{child.pid}/stat", encoding="ascii") as stat:
                state = stat.read().rsplit(")", 1)[1].split()[0]
        self.assertEqual(state, "T")
        (self.folder / "go").touch()
        os.killpg(child.pid, signal.SIGCONT)
        out, _ = child.communicate(timeout=240)
        self.assertEqual((child.returncode, out), (0, b"done\n"))

    # Streams

    def test_streams_are_untouched(self):
        text = ("import os, sys\n"
                "data = sys.stdin.buffer.read()\n"
                "os.write(1, data[::-1]); os.write(2, b'mine\\n')\n"
                "print(sorted(os.listdir('/proc/self/fd')), flush=True)\n")
        bare = subprocess.run(program(text), input=b"abc\0", env=self.env, capture_output=True, check=True)
        done = self.run_program(program(text), "--quiet", input=b"abc\0")
        self.assertEqual((done.stdout, done.stderr), (bare.stdout, bare.stderr))

    def test_environment(self):
        self.env["LD_PRELOAD"] = "no-such-library.so"  # ld.so prints a warning and continues
        text = "import json, os; print(json.dumps(dict(os.environ)))"
        env = json.loads(self.run_program(program(text)).stdout)
        self.assertRegex(env["LD_PRELOAD"], r"^/.*libpasstally_gl\.so:no-such-library\.so$")
        self.assertTrue(env["PASSTALLY_LOG"].startswith(str(self.folder / "state/passtally")))
        self.assertFalse(os.path.exists(env["PASSTALLY_STATUS"]))
        self.assertEqual(self.left_behind(), [])

    def test_options_reach_the_capture(self):
        text = "import os; print(os.environ['PASSTALLY_OPTIONS'])"
        self.env["PASSTALLY_OPTIONS"] = r"frames=3,skip=1,frame=label:a\,b\\c"
        got = self.run_program(program(text), "--skip", "2", "--no-argv", "--period=2ms").stdout.decode().strip()
        items = re.split(r"(?<!\\),", got)
        self.assertIn("frames=3", items)
        self.assertIn("skip=2", items)
        self.assertIn("no-argv=on", items)
        self.assertIn("period=2ms", items)
        self.assertIn("force=off", items)
        self.assertIn(r"frame=label:a\,b\\c", items)
        self.assertFalse([i for i in items if i.startswith("log=")])

    def test_labels(self):
        text = "import os; print(os.environ.get('DXVK_DEBUG'), os.environ.get('VKD3D_CONFIG'))"
        for said, options, want in (({}, (), "None None"),
                                    ({}, ("--labels",), "markers debug_utils"),
                                    ({"DXVK_DEBUG": "capture", "VKD3D_CONFIG": "dxr,nodxr"}, ("--labels",),
                                     "markers debug_utils,dxr,nodxr"),
                                    ({"DXVK_DEBUG": "capture", "VKD3D_CONFIG": "dxr"}, (), "capture dxr")):
            self.assertEqual(self.run_program(program(text), *options, env=said).stdout.decode().strip(), want)

    # Options

    def test_bad_options_refuse_to_start(self):
        marker = self.folder / "started"
        cases = [
            (["--granularity", "x"], b"pass"),
            (["--frobnicate"], b"passtally run --help lists them"),
            (["--every=0"], b"every"),
            (["--quiet=1"], b"takes no value"),
            (["--counters"], b"needs a value"),
            (["-Z"], b"unknown option"),
            (["--digest", "--black-box", "1s"], b"use one of them"),
            (["--live", "--black-box", "1s"], b"with --black-box that has no frames while the program runs"),
            (["--live", "--digest"], b"with --digest that has no frames while the program runs"),
            (["--sources", "gl-timestamp+foo"], b'nothing is called "foo"; there are api, gl-timestamp'),
            (["--counters", "overview,nope_*"], b'nothing is called "nope_*"; `passtally counters` lists'),
        ]
        for options, words in cases:
            done = self.command("run", *options, "--", "touch", marker)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(words, done.stderr, options)
            self.assertFalse(marker.exists())

    def test_bad_environment_and_file_refuse_to_start(self):
        done = self.run_program(["true"], env={"PASSTALLY_OPTIONS": "bogus=1"})
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"granularity", done.stderr)
        folder = self.folder / "config/passtally"
        folder.mkdir(parents=True)
        (folder / "passtally.conf").write_text("[passtally]\nskip = many\n", encoding="ascii")
        done = self.run_program(["true"])
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"passtally.conf", done.stderr)

    def test_no_program(self):
        for args in ([], ["--"], ["--skip", "3"]):
            done = self.command("run", *args)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"no program", done.stderr)

    # The log

    def test_existing_log(self):
        old = self.write("a.jsonl", "mine")
        marker = self.folder / "started"
        done = self.command("run", "-o", "a.jsonl", "--", "touch", marker)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--force", done.stderr)
        self.assertFalse(marker.exists())
        self.assertEqual(old.read_bytes(), b"mine")
        done = self.command("run", "-o", "a.jsonl", "--force", "--", *renders())
        self.assertEqual(done.returncode, 0)
        self.ok("check", old)

    def test_standard_output_is_no_place_for_the_log(self):
        done = self.command("run", "-o", "-", "--", "true")
        self.assertEqual((done.returncode, b"standard output is the program's" in done.stderr), (2, True), done.stderr)

    def test_force_spares_what_is_no_log(self):
        os.symlink("target", self.folder / "link.jsonl")
        (self.folder / "dir.jsonl").mkdir()
        for name in ("link.jsonl", "dir.jsonl", "/dev/null"):
            done = self.command("run", "-o", name, "--force", "--", "true")
            self.assertEqual(done.returncode, 2, name)
            self.assertTrue(os.path.lexists(self.folder / name))
        self.write("old.jsonl", "mine")
        self.assertEqual(self.command("run", "-o", "old.jsonl", "--force", "--", "no-such-program").returncode, 127)
        self.assertEqual((self.folder / "old.jsonl").read_bytes(), b"mine")

    def test_pattern(self):
        done = self.command("run", "-o", "100%%-%e-%p.jsonl", "--", *renders())
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [p.name for p in self.folder.iterdir() if p.name.startswith("100%-")]
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], r"^100%-python[0-9.]*-\d+\.jsonl$")

    def test_default_place(self):
        done = self.run_program(renders())
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(self.logs()), 1)
        self.assertEqual((self.folder / "state/passtally").stat().st_mode & 0o777, 0o700)
        self.assertIn(f"log ~/state/passtally/{self.logs()[0].name}\n", done.stderr.decode())
        # Without a path it is the newest there; one of the user's own is named.
        self.assertIn("\nnext: passtally report --html\n", done.stderr.decode())
        done = self.ok("run", "-o", "a.jsonl", "--", *renders())
        self.assertIn(f"\nnext: passtally report --html {self.folder}/a.jsonl\n", done.stderr.decode().replace("~", str(self.folder)))

    def test_nothing_rendered(self):
        done = self.run_program(["true"], "-o", "a.jsonl")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"nothing was rendered", done.stderr)
        self.assertFalse((self.folder / "a.jsonl").exists())

    def test_the_last_pass_of_a_black_box(self):
        """It has the name that the tables have, and the group in it that had begun."""
        infos = [pass_info(A, "Bloom", width=8, height=4), dict(pass_info(B, width=8, height=4, presented=True), groups="Tone, UI"),
                 dict(pass_info(C, width=16, height=4, depth="D16"), target_name="Map")]
        text = ("import os, struct\npath = os.environ['PASSTALLY_LOG']\n"
                "open(path, 'xb').write(bytes.fromhex('{}'))\nopen(path + '.now', 'xb').write(bytes.fromhex('{}'))\n"
                "last = struct.pack('<????II4xQ64s416s', False, True, {}, {}, {}, 4, 7, b'{}', b'{}')\n"
                "open(path + '.last', 'xb').write(last)\nos.abort()")
        last = "in frame 7 or later; the pass that it began or submitted last"
        for at, (unread, presented, width, stopped, name, said) in enumerate((
                (False, False, 8, "", "Bloom", f"{last}: Bloom"), (False, True, 8, "", "UI", f"{last}: Backbuffer, in its group UI"),
                (False, True, 8, "", "", f"{last}: Backbuffer"), (False, False, 16, "", "Map", f"{last}: Map 16x4"),
                (False, False, 9, "", "New", f"{last}: New"), (False, False, 9, "", "", f"{last}: a pass of 9x4"),
                (False, False, 0, "lost", "", f"after lost {last}: a pass without a target"),
                (True, True, 8, "lost", "", "after lost in frame 7 or later; the first pass without a result: Backbuffer"))):
            done = self.run_program(program(text.format(
                log_bytes([header(), device(), *infos]).hex(), log_bytes([frame(6, [one_pass(0, A, 5, "Bloom")])]).hex(),
                unread, presented, width, stopped, name)), "--black-box", "1s", "-o", f"{at}.jsonl")
            self.assertIn(f"crashed or was killed {said}\n", done.stderr.decode())

    def test_what_it_started_still_runs(self):
        """As behind a launcher: its log is announced, and one that it has just begun is not removed as empty."""
        left = "; import subprocess; subprocess.Popen(['sleep', '600'], pass_fds={0}, stdout=-3, stderr=-3)"
        pid = "; print(subprocess._active[0].pid)"
        done = self.run_program(program("0" + left.format([]) + pid), "-o", "a.jsonl")
        self.addCleanup(os.kill, int(done.stdout), signal.SIGKILL)
        self.assertIn(b"still runs; if it renders, its log will be ~/a.jsonl\n", done.stderr)
        self.assertNotIn(b"there is no log", done.stderr)
        text = WRITE_LOG.format(hex=log_bytes([header()]).hex()) + "out = open(path, 'ab')"
        done = self.run_program(program(text + left.format("[out.fileno()]") + pid))
        self.addCleanup(os.kill, int(done.stdout), signal.SIGKILL)
        self.assertEqual(len(self.logs()), 1, done.stderr)

    def test_status_is_told_once(self):
        text = ("import os\n"
                "with open(os.environ['PASSTALLY_STATUS'], 'a') as out:\n"
                "    out.write('warning: session: the same\\n' * 3 + 'error: session: bad \\x1b[31m\\n')\n")
        done = self.run_program(program(text))
        self.assertEqual(done.stderr.count(b"the same"), 1)
        self.assertIn(b"error: session: bad \\u{1b}[31m", done.stderr)
        self.assertEqual(self.logs(), [])  # what failed to be written is not "nothing rendered"
        done = self.run_program(program(text), "--quiet")
        self.assertNotIn(b"the same", done.stderr)
        self.assertIn(b"bad", done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_status_and_note_are_one(self):
        lines = simple_log(2)
        lines.insert(2, {"type": "note", "level": "warning", "message": "beware", "source": "session"})
        text = (WRITE_LOG.format(hex=log_bytes(lines).hex()) +
                "open(os.environ['PASSTALLY_STATUS'], 'a').write('warning: session: beware\\n')\n")
        self.assertEqual(self.run_program(program(text)).stderr.count(b"beware"), 1)

    def test_cut_log(self):
        data = log_bytes(simple_log(3))[:-40]
        done = self.run_program(program(WRITE_LOG.format(hex=data.hex())))
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"cut", done.stderr)
        self.assertIn(b"3 frames", done.stderr)

    def test_disabled(self):
        done = self.run_program(["true"], env={"PASSTALLY_DISABLE": "1"})
        self.assertIn(b"PASSTALLY_DISABLE", done.stderr)
        self.assertEqual(self.logs(), [])

    def test_static_program(self):
        compiler = shutil.which("cc")
        self.write("s.c", "int main(void) { return 3; }\n")
        if not compiler or subprocess.run([compiler, "-static", "-o", "s", "s.c"], cwd=self.folder,
                                          capture_output=True).returncode:
            self.skipTest("no static program can be built here")
        done = self.run_program(["./s"])
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"statically", done.stderr)

    def test_blank_in_the_librarys_path(self):
        """ld.so cannot read such a path: run uses a link."""
        text = ("maps = open('/proc/self/maps').read(); print('libpasstally_gl' in maps)")
        found = json.loads(self.run_program(program("import os, json; print(json.dumps(os.environ['LD_PRELOAD']))")).stdout)
        library = os.path.dirname(found)
        home = self.folder / "with blank: colon"
        (home / "bin").mkdir(parents=True)
        shutil.copy2(COMMAND, home / "bin/passtally")
        os.symlink(library, home / "gl_shim")
        core = os.path.dirname(library)
        env = dict(self.env, LD_LIBRARY_PATH=core)
        done = subprocess.run([home / "bin/passtally", "run", "--", *program(text)], env=env, cwd=self.folder,
                              capture_output=True, timeout=240)
        self.assertEqual((done.returncode, done.stdout), (0, b"True\n"), done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_no_temporary_folder(self):
        """A TMPDIR that is not there, as of a session that ended, does not keep the game from starting."""
        self.env["TMPDIR"] = "/nonexistent"
        self.assertEqual(self.run_program(["true"], "-q").returncode, 0)


if __name__ == "__main__":
    unittest.main()
