# SPDX-License-Identifier: MIT
"""`passtally config`, files for one program, and programs that are not captured."""

import json
import subprocess
import sys
import unittest

from cli_case import CliCase, rows_of_doctor

# Loads libEGL by name, as a launcher's toolkit does, and makes a context without a window.
EGL = """
import ctypes
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetProcAddress.restype = ctypes.c_void_p
egl.eglGetDisplay.restype = ctypes.c_void_p
egl.eglGetDisplay.argtypes = [ctypes.c_void_p]
display = ctypes.c_void_p(egl.eglGetDisplay(None))
assert egl.eglInitialize(display, None, None)
egl.eglBindAPI(0x30A2)
config, n = ctypes.c_void_p(), ctypes.c_int()
attributes = (ctypes.c_int * 5)(0x3033, 1, 0x3040, 8, 0x3038)
assert egl.eglChooseConfig(display, attributes, ctypes.byref(config), 1, ctypes.byref(n)) and n.value
egl.eglCreatePbufferSurface.restype = egl.eglCreateContext.restype = ctypes.c_void_p
size = (ctypes.c_int * 5)(0x3057, 16, 0x3056, 16, 0x3038)
surface = ctypes.c_void_p(egl.eglCreatePbufferSurface(display, config, size))
context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, None))
assert egl.eglMakeCurrent(display, surface, surface, context)
gl = ctypes.CDLL("libGL.so.1")
for i in range(3):
    gl.glClear(0x4000)
    egl.eglSwapBuffers(display, surface)
    gl.glFinish()
"""


class Config(CliCase):
    def conf(self, name, text):
        path = self.folder / "config" / "passtally" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_where_values_come_from(self):
        user = self.conf("passtally.conf", "[passtally]\nskip = 1\nevery = 2\nframes = 9\n"
                                           "[metric a]\nexpression = 1 + 2\n")
        mine = self.conf("programs/game.conf", "[passtally]\nskip = 4\n")
        done = self.ok("config", "--json", "/usr/games/game",
                       env={"PASSTALLY_OPTIONS": "frames=7", "PASSTALLY_LOG": "/l"})
        told = json.loads(done.stdout)
        values = {row["option"]: (row["value"], row["from"]) for row in told["options"]}
        self.assertEqual(values["skip"], ("4", "program file"))
        self.assertEqual(values["every"], ("2", "user file"))
        self.assertEqual(values["frames"], ("7", "PASSTALLY_OPTIONS"))
        self.assertEqual(values["log"], ("/l", "PASSTALLY_LOG"))
        self.assertEqual(values["counters"], ("overview", "default"))
        self.assertEqual(values["set"], (None, "default"))
        self.assertEqual([(f["path"], f["there"]) for f in told["files"]],
                         [(str(user), True), (str(mine), True)])
        self.assertEqual(told["metrics"], [{"metric": "a", "expression": "1 + 2", "path": str(user), "line": 5}])
        self.assertEqual((told["left_alone"], told["reason"]), (False, None))
        changed = json.loads(self.ok("config", "--json", "--changed").stdout)
        self.assertEqual([row["option"] for row in changed["options"]], ["skip", "frames", "every"])

    def test_text(self):
        self.conf("passtally.conf", "[passtally]\nskip = 1\nlog = /a/\x1b[2J\n".replace("\x1b", ""))
        text = self.ok("config", "--changed", "steam").stdout.decode()
        self.assertRegex(text, r"(?m)^skip +1 +user file$")
        self.assertRegex(text, r"(?m)^program file +.*/programs/steam.conf \(not there\)$")
        self.assertTrue(text.startswith("steam is left alone: Steam's own window; allow=steam captures it\n"), text)
        text = self.ok("config", env={"PASSTALLY_DISABLE": "1"}).stdout.decode()
        self.assertTrue(text.startswith("PASSTALLY_DISABLE is set"), text)

    def test_nothing_changed(self):
        self.assertTrue(self.ok("config", "--changed").stdout.endswith(b"\nevery option has its default\n"))

    def test_mistakes(self):
        self.conf("passtally.conf", "[passtally]\nskip = x\n")
        done = self.command("config")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"passtally.conf:2: option skip cannot be \"x\"", done.stderr)
        for words in (["a", "b"], ["--path", "--json"], ["--nonsense"]):
            self.assertEqual(self.command("config", *words).returncode, 2, words)

    def test_mistakes_that_only_run_would_tell(self):
        """Names that match nothing and metrics that cannot be parsed: run refuses them, so these commands do
        too."""
        for text, what in (("[passtally]\ncounters = nope_x\n", 'option counters: nothing is called "nope_x"'),
                           ("[passtally]\nsources = nope_y\n", 'option sources: nothing is called "nope_y"'),
                           ("[metric a]\nexpression = 1 +\n", "passtally.conf:2:")):
            self.conf("passtally.conf", text)
            for words in (["run", "--", "true"], ["config"]):
                done = self.command(*words)
                self.assertEqual(done.returncode, 2, words)
                self.assertIn(what, done.stderr.decode())
                self.assertNotIn("\\n", done.stderr.decode())
        done = self.command("config", "counters=5")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn("PASSTALLY_OPTIONS=counters=5 passtally config", done.stderr.decode())
        done = self.command("doctor").stdout.decode()
        self.assertRegex("\n".join(rows_of_doctor(done)), r"(?m)^BAD +configuration +.*passtally.conf:2:\d+: metric a: [^\\\\]*$")
        self.assertNotIn("no error in the files", done)

    def test_path(self):
        folder = self.folder / "config" / "passtally"
        self.assertEqual(self.ok("config", "--path").stdout.decode(), f"{folder}/passtally.conf\n")
        self.assertEqual(self.ok("config", "--path", "C:\\x\\Game.exe").stdout.decode(),
                         f"{folder}/programs/Game.exe.conf\n")
        nowhere = self.command("config", "--path", env={"XDG_CONFIG_HOME": "", "HOME": ""})
        self.assertEqual(nowhere.returncode, 125)
        self.assertEqual(self.command("config", "--path", "x" * 600).returncode, 125)

    def test_blocklist(self):
        rows = [line.split(None, 1) for line in self.ok("config", "--blocklist").stdout.decode().splitlines()]
        self.assertIn(["steamwebhelper", "Steam's pages, drawn by a browser"], rows)
        self.assertEqual({len(row) for row in rows}, {2}, "each has a reason")
        self.assertFalse({row[0] for row in rows} & {"glxgears", "vkcube", "glmark2", "python3"})


class LeftAlone(CliCase):
    """A script with a launcher's name draws; so does the same script with a game's name."""

    def draw(self, name, *options, how="script"):
        script = self.folder / name
        script.write_text(f"#!{sys.executable}\n{EGL}")
        script.chmod(0o755)
        words = [script] if how == "script" else [sys.executable, script]
        done = self.command("run", "-o", "out.jsonl", "--force", *options, "--", *words,
                            env={"EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return self.count(), done.stderr.decode()

    def count(self):
        """A run that rendered nothing leaves no log; --force removed the one before."""
        log = self.folder / "out.jsonl"
        return log.read_text().count('"type":"frame"') if log.exists() else 0

    def setUp(self):
        super().setUp()
        probe = subprocess.run([sys.executable, "-c", EGL], env=dict(self.env, EGL_PLATFORM="surfaceless"),
                               capture_output=True, check=False)
        if probe.returncode:
            self.skipTest("no EGL without a window here")

    def test_game(self):
        self.assertEqual(self.draw("game")[0], 3)
        frames, said = self.draw("game", "--block", "gam?")
        self.assertEqual(frames, 0)
        self.assertIn("game is left alone: the option block names it", said)

    def test_launcher(self):
        frames, said = self.draw("lutris")
        self.assertEqual(frames, 0)
        self.assertIn("lutris is left alone (a launcher)", said)
        self.assertEqual(self.draw("lutris", how="interpreter")[0], 0)
        self.assertEqual(self.draw("lutris", "--allow", "lutris")[0], 3)
        self.assertEqual(self.draw("lutris", "--allow", "lutris", how="interpreter")[0], 3)

    def test_file_of_its_own(self):
        """By the name that was executed, not the interpreter's."""
        folder = self.folder / "config" / "passtally" / "programs"
        folder.mkdir(parents=True)
        (folder / "game.conf").write_text("[passtally]\nframes = 1\n")
        self.assertEqual(self.draw("game")[0], 1)
        self.assertEqual(self.draw("other")[0], 3)

    def test_command_line(self):
        script = self.folder / "browser"
        script.write_text(f"#!{sys.executable}\n{EGL}")
        script.chmod(0o755)
        for argument, frames in (("--type=renderer", 0), ("--type=gpu-process", 3)):
            self.command("run", "-o", "out.jsonl", "--force", "--", script, argument,
                         env={"EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"})
            self.assertEqual(self.count(), frames, argument)


if __name__ == "__main__":
    unittest.main()
