#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Help, version, schema, counters, doctor, and the behavior that all commands share."""

import ctypes.util
import json
import os
import pathlib
import pty
import re
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import help_text  # noqa: E402

from cli_case import A, COMMAND, ROOT, CliCase, device, end, frame, header, one_pass, pass_info, rows_of_doctor

# The sources of the registry, in its order: a new source needs no change here.
REGISTRY = (ROOT / "query/sources.c").read_text(encoding="utf-8").split("tally_snapshot_sources[] = {")[1]
SNAPSHOTS = tuple(re.findall(r'SOURCE\("([^"]+)"', REGISTRY.split("#ifdef")[0]))
CAPTURED = "passes (of OpenGL programs |of Vulkan programs |)can be captured[,:] "
COMMANDS = ("run", "report", "check", "counters", "doctor", "schema", "trigger", "top", "compare", "export",
            "config", "bench", "bisect", "digest", "logs", "install", "uninstall", "selftest")


class Commands(CliCase):
    def test_one_is_no_plural(self):
        """Of one thing of each kind no command says "1 frames"."""
        def log(name, **more):
            lines = [header(), device(), pass_info(A, "main"), frame(0, [one_pass(0, A, 1000, "main")], **more), end(1, 1)]
            return self.write_log(name, lines)
        a = log("a.jsonl")
        state = self.folder / "state/passtally"
        state.mkdir(parents=True)
        (state / "a.jsonl").write_bytes(a.read_bytes())
        wrong = re.compile(r"(?<![\w.,#x])1 (?!ms|us|ns|fps|is|was|has|less|pass\b)(?:more |whole |single )?[a-z]+s\b")
        dropped, partial = log("dropped.jsonl", dropped_passes=1), log("partial.jsonl", flags=["partial"])
        for words in (["check", a], ["report", a], ["report", "--wide", dropped], ["report", partial],
                      ["report", "--warmup", "9", a], ["compare", a, log("b.jsonl")], ["compare", "--markdown", a, dropped],
                      ["top", "--once", a], ["logs"], ["export", "--perfetto", a, "out"]):
            done = self.command(*words)
            text = (done.stdout + done.stderr).decode()
            self.assertTrue(text, words)
            self.assertEqual(wrong.findall(text), [], (words, text))

    def test_help(self):
        top = self.ok("--help").stdout
        self.assertEqual(self.ok("help").stdout, top)
        for name in COMMANDS:
            self.assertIn(name.encode(), top)
            text = self.ok(name, "--help").stdout
            self.assertEqual(self.ok("help", name).stdout, text)
            self.assertEqual(self.ok(name, "-h").stdout, text)
            self.assertTrue(text.startswith(f"Usage: passtally {name}".encode()))
            self.assertIn(b"Exit status", text)
            lines = text.decode().splitlines()
            self.assertTrue(all(len(line) <= 80 for line in lines))
            first = next(i for i, line in enumerate(lines) if re.match(r" +(-., )?--", line))
            options = lines[first:lines.index("", first)]
            self.assertTrue(all(re.match(r" {6,}|  -", line) for line in options), options)

    def test_run_help_lists_every_option(self):
        text = self.ok("run", "--help").stdout.decode()
        options = json.loads(self.ok("config", "--json").stdout)["options"]
        self.assertGreater(len(options), 20)
        for option in options:
            values = f" {option['values']}" if option["values"] else ""
            self.assertRegex(text, rf"(?m)^  (-., |    )--{option['option']}{re.escape(values)}(  |$)")
            self.assertTrue(option["help"].endswith("."), option)

    def test_each_option_of_the_help_is_known(self):
        """Also that bench describes what it passes on as compare does."""
        said = {}
        for name in COMMANDS:
            said[name] = help_text.parse(name, self.ok(name, "--help").stdout.decode()).options
            for option in said[name]:
                done = self.command(name, "--" + option.name, "--help")
                self.assertGreaterEqual(done.returncode, 0, (name, option))
                self.assertNotIn(b"unknown option", done.stderr, (name, option))
        self.assertEqual([o.name for o in said["bench"] if o not in said["compare"]],
                         ["runs", "frames", "seed", "keep"])
        self.assertEqual([o for o in said["bench"] if o in said["compare"]], said["compare"])

    def test_did_you_mean(self):
        """One line with the word that was meant; a program name means "run it"."""
        for args, meant in ((["reprot", "x"], "did you mean: passtally report"),
                            (["help", "trigegr"], "did you mean: passtally trigger"),
                            (["run", "--cuonters", "all", "x"], "did you mean --counters?"),
                            (["run", "--setx", "x"], "did you mean --set?"),
                            (["report", "--clumns=a"], "did you mean --columns?"),
                            (["sh", "-c", "exit 1"], "did you mean: passtally run -- sh -c exit 1"),
                            (["no-such-thing"], "the commands are run, "),
                            (["run", "--frobnicate", "x"], "passtally run --help lists them"),
                            (["check", "-Z"], "passtally check --help lists them")):
            done = self.command(*args)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertIn(meant, done.stderr.decode())

    def test_alone(self):
        done = self.command()
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        for words in (b"Every day:", b"passtally run -- GAME", b"  top ", b"passtally --help"):
            self.assertIn(words, done.stderr)

    def test_report_help_defines_its_numbers(self):
        text = self.ok("report", "--help").stdout.decode()
        for words in ("nearest-rank", "4096", "0.1 %", "N - 1"):
            self.assertIn(words, text)

    def test_version(self):
        text = self.ok("--version").stdout.decode()
        self.assertRegex(text, r"^passtally \d+\.\d+\.\d+\n$")

    def test_unknown(self):
        for args in ([], ["frobnicate"], ["--frobnicate"], ["help", "frobnicate"]):
            done = self.command(*args)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, b"")
        self.assertIn(b"report", self.command("frobnicate").stderr)
        for name in COMMANDS:
            done = self.command(name, "--frobnicate")
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--help", done.stderr)
        for name in ("counters", "doctor", "schema"):
            self.assertEqual(self.command(name, "stray").returncode, 2)

    def test_schema(self):
        text = self.ok("schema").stdout
        made = self.folder / "schema.json"
        subprocess.run([sys.executable, ROOT / "scripts/gen_log.py", ROOT / "json/log.fields", "schema", made],
                       check=True)
        self.assertEqual(text, made.read_bytes())
        json.loads(text)

    def test_output_that_cannot_be_written(self):
        for args in (["schema"], ["--help"], ["run", "--help"], ["report", "--help"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([COMMAND, *args], env=self.env, stdout=full, stderr=subprocess.PIPE,
                                      timeout=240)
            self.assertEqual(done.returncode, 125, args)
            self.assertIn(b"No space left", done.stderr)

    def test_counters(self):
        done = self.command("counters", "--json")
        if done.returncode == 1:
            self.assertIn(b"context", done.stderr)
            self.skipTest("neither OpenGL nor Vulkan here: " + done.stderr.decode())
        devices = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([d["device"] for d in devices], list(range(len(devices))))
        text = self.ok("counters").stdout.decode()
        for told in devices:
            self.assertEqual(told["type"], "device")
            self.assertIn("api", [s["name"] for s in told["sources"]])
            self.assertIn(f"{told['name']} ({told['api']})", text)
            for counter in told["counters"]:
                for key in ("key", "unit", "source", "description"):
                    self.assertTrue(counter[key])
                self.assertIn(counter["key"], text)
        log = self.write("a.jsonl", json.dumps({
            "type": "header", "schema": "passtally/1", "version": "0", "program": "p", "pid": 1,
            "started": "2026-01-02T03:04:05.000000000Z", "options": {}}) + "\n" + done.stdout.decode() + json.dumps({
                "type": "end", "frames": 0, "frames_dropped": 0, "passes": 0, "reason": "exit"}) + "\n")
        self.ok("check", log)
        self.assertEqual(self.left_behind(), [])

    def test_counters_of_one_api(self):
        for api in ("opengl", "opengl-es", "vulkan"):
            done = self.command("counters", "--json", "--api", api)
            self.assertIn(done.returncode, (0, 1), api)
            for line in done.stdout.splitlines():
                self.assertEqual(json.loads(line)["api"], api)
            self.assertEqual(done.returncode == 0, bool(done.stdout))
        done = self.command("counters", "--api", "direct3d")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"opengl, opengl-es or vulkan", done.stderr)

    def test_vulkan_without_a_driver(self):
        empty = self.folder / "empty.json"
        empty.write_text("{}")
        for env in ({"VK_ICD_FILENAMES": str(empty)}, {"VK_ICD_FILENAMES": "/nowhere"}):
            done = self.command("counters", "--api", "vulkan", env=env)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertIn(b"Vulkan", done.stderr)
        self.assertEqual(self.left_behind(), [])

    def test_registry_is_read(self):
        self.assertLessEqual({"mali-kbase", "linux-perf", "gauge"}, set(SNAPSHOTS))

    def test_vulkan_device(self):
        done = self.command("counters", "--json", "--api", "vulkan")
        if done.returncode:
            self.skipTest(done.stderr.decode())
        for told in map(json.loads, done.stdout.splitlines()):
            names = [s["name"] for s in told["sources"]]
            self.assertEqual(names, ["api", "vk-timestamp", "vk-statistics", "vk-khr", *SNAPSHOTS])
            for source in told["sources"]:
                self.assertTrue(source["state"] == "on" or source["reason"])
        text = "\n".join(rows_of_doctor(self.command("doctor").stdout.decode()))
        for words in ("queue family 0: ", "ns a tick", "calibrated time stamps: ", "host query reset: ",
                      "inherited queries: "):
            self.assertIn(words, text)

    def test_doctor(self):
        done = self.command("doctor")
        text = done.stdout.decode()
        self.assertIn(done.returncode, (0, 1), text)
        for word in ("library", "layer", "log", "display", "opengl", "opengl-es", "vulkan", "kernel", *SNAPSHOTS):
            self.assertIn(word, text)
        self.assertEqual(done.returncode == 0, bool(re.match(CAPTURED, text)))
        self.answer(text)
        done = self.command("doctor", env={"PASSTALLY_DISABLE": "1"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("PASSTALLY_DISABLE", self.answer(done.stdout.decode()))
        done = self.command("doctor", env={"XDG_STATE_HOME": "/proc/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc", self.answer(done.stdout.decode()))
        long = self.command("doctor", env={"XDG_STATE_HOME": "/proc/" + "a folder " * 14}).stdout.decode()
        step = self.answer(long).split("[[")[0]
        self.assertIn("a folder " * 14, step)
        self.assertRegex(step, r"or set XDG_STATE_HOME$", "what to do is not cut")
        done = self.command("doctor", env={"PASSTALLY_OPTIONS": "bogus"})
        step = self.answer(done.stdout.decode()).split("[[")[0]
        self.assertRegex(step, r"bogus.*[\w,] \.\.\. \(below\)$", "the list of all options ends after a whole one")
        self.assertEqual(done.returncode, 1, "run refuses it, so nothing can be captured")
        self.assertEqual(self.left_behind(), [])

    def test_doctor_without_egl(self):
        """OpenGL is asked by EGL; programs that use GLX need none."""
        (self.folder / "libEGL.so.1").write_text("no library")
        done = self.command("doctor", env={"LD_LIBRARY_PATH": str(self.folder), "VK_ICD_FILENAMES": "/nowhere"})
        text = done.stdout.decode()
        self.assertRegex(" ".join(text.split()), "libEGL is not installed, by which .* GLX")
        self.assertRegex(text, CAPTURED)
        self.assertEqual(done.returncode, 0)

    def answer(self, text):
        """The block before the rows agrees with them: a verdict, the next step, what each API can count.
        Returns the next step, and all BAD rows."""
        block, below = (rows_of_doctor(part) for part in text.split("\n\n", 1))
        self.assertRegex(block[0], f"^{CAPTURED}|^nothing can be captured until .* below ")
        word, step = block[1].split(maxsplit=1)
        bad = [row.split(maxsplit=2)[1:] for row in below if row.startswith("BAD")]
        self.assertEqual(word, "next")
        if bad:
            self.assertTrue(step.startswith(bad[0][0] + ": "), (step, bad))
        apis = {row.split()[0]: row for row in block[2:]}
        self.assertEqual(set(apis) - {"opengl-es"}, {"opengl", "vulkan"}, block)
        for api, row in apis.items():
            found = any(re.match(rf"ok +{api} ", line) for line in below)
            self.assertRegex(row, "the program's calls.*: " if found else "nothing: ")
        if len(block) == 4:
            self.assertLessEqual(text.index("\n\n"), text.replace("\n", " ", 9).index("\n"), "ten lines")
        return step + str(bad)

    def test_process_counters(self):
        """The source that counts for the process is available on every machine: it appears once in the text and in
        each device object."""
        done = self.command("counters", "--json", "--counters", "overview")
        if done.returncode:
            self.skipTest(done.stderr.decode())
        for told in map(json.loads, done.stdout.splitlines()):
            on = [s["name"] for s in told["sources"] if s["name"].startswith("linux-") and s["state"] == "on"]
            self.assertEqual(len(on), 1, told["sources"])
            of_process = {c["key"]: (c["unit"], c["kind"], c["scope"]) for c in told["counters"] if c["source"] == on[0]}
            self.assertEqual(of_process, {"cpu_task_clock": ("ns", "duration", "pass"),
                                          "cpu_page_faults": ("1", "event", "pass"),
                                          "cpu_context_switches": ("1", "event", "pass")})
        text = self.command("counters", "--counters", "cpu_page_faults").stdout.decode()
        self.assertEqual(text.count("\n  cpu_page_faults "), 1)
        self.assertNotIn("\n  cpu_task_clock ", text)
        for name in SNAPSHOTS:
            self.assertEqual(text.count(f"\n{name}: "), 1, text)

    def test_doctor_tries_the_display(self):
        """A display server that does not exist, and one that accepts and never answers: the command ends within
        seconds."""
        with socket.create_server(("127.0.0.1", 0)) as mute:
            silent = f"127.0.0.1:{mute.getsockname()[1] - 6000}"
            for variable, value in (("DISPLAY", ":99999"), ("DISPLAY", silent), ("WAYLAND_DISPLAY", "wayland-99")):
                library = "xcb" if variable == "DISPLAY" else "wayland-client"
                done = self.command("doctor", env={variable: value}, timeout=240)
                row = next(line for line in rows_of_doctor(done.stdout.decode()) if "display  " in line)
                self.assertIn(f"{variable}={value}", row)
                self.assertIn(done.returncode, (0, 1))
                if ctypes.util.find_library(library):
                    self.assertRegex(row, r"^BAD  display .* cannot be opened: .*; name a ")

    def test_doctor_without_a_display(self):
        done = self.command("doctor", env={"DISPLAY": "", "WAYLAND_DISPLAY": ""}).stdout.decode()
        rows = rows_of_doctor(done)
        self.assertRegex("\n".join(rows), "(?m)^off +display +neither DISPLAY nor WAYLAND_DISPLAY is set")
        if not any(row.startswith("BAD") or re.match("off +(layer|installation)", row) for row in rows):
            self.assertRegex(self.answer(done), "^display: neither .* xvfb-run passtally run")
        env = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "VK_ICD_FILENAMES": "/nowhere", "LIBGL_DRIVERS_PATH": "/nowhere"}
        done = self.command("doctor", env=env)
        if done.returncode and "BAD" not in done.stdout.decode().split("\n\n")[1]:
            self.assertRegex(self.answer(done.stdout.decode()), "^a driver that works: ")

    def test_doctor_without_a_home(self):
        """What the command stores about drivers does not go to the folder in which it was started."""
        done = self.command("doctor", env=dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"), ""))
        self.assertEqual(done.returncode, 1)
        self.assertIn("HOME is set: name a place with --log", self.answer(done.stdout.decode()))
        self.assertFalse((self.folder / ".cache").exists())

    def test_doctor_says_that_it_waits(self):
        """Drivers may take 30 seconds each: a line that is erased again, on a terminal only."""
        self.assertNotIn(b"asking", self.command("doctor").stderr)
        master, slave = pty.openpty()
        with subprocess.Popen([COMMAND, "doctor"], env=self.env, stdout=subprocess.DEVNULL, stderr=slave) as child:
            os.close(slave)
            said = b""
            try:
                while more := os.read(master, 65536):
                    said += more
            except OSError:
                pass # the other end is closed
        os.close(master)
        self.assertIn(child.returncode, (0, 1))
        self.assertRegex(said, rb"(?s)^\rasking the drivers \.\.\.\x1b\[K.*\r\x1b\[K$")

    def test_counters_says_what_it_waits_for(self):
        """A Vulkan driver whose manifest never ends: it is a pipe, which the loader waits to open."""
        manifest = self.folder / "icd.json"
        os.mkfifo(manifest)
        master, slave = pty.openpty()
        env = dict(self.env, VK_ICD_FILENAMES=str(manifest), VK_DRIVER_FILES=str(manifest))
        said = b""
        with subprocess.Popen([COMMAND, "counters", "--api", "vulkan"], env=env, stdout=subprocess.DEVNULL,
                              stderr=slave) as child:
            os.close(slave)
            try:
                while more := os.read(master, 65536):
                    said += more
                    if b"waiting" in said and manifest.exists():
                        writer = os.open(manifest, os.O_WRONLY)
                        manifest.unlink()
                        os.close(writer)
            except OSError:
                pass # the other end is closed
        os.close(master)
        if b"is not installed" in said or b"built without" in said:
            self.skipTest(said.decode())
        self.assertEqual(child.returncode, 1)
        self.assertRegex(said, rb"^\rwaiting for the vulkan driver, at most 30 s: \d+ s\x1b\[K")
        self.assertRegex(said, rb"\r\x1b\[Kpasstally counters: [^\r]*Vulkan")

    def test_unknown_words(self):
        """Each is named, with what is there, or what is nearest."""
        for words, answer in (
                (["report", "nosuchgame"], "nosuchgame is no file here, and there is no log of a program of that name: passtally logs"),
                (["config", "frames=1"], "frames=1: config takes the name of a program and sets nothing"),
                (["selftest", "--scenes", "work+nosuch"], "there is no scene nosuch; there are forward, strips, ")):
            done = self.command(*words)
            self.assertEqual((done.returncode, done.stdout), (2, b""), words)
            self.assertIn(f"passtally {words[0]}: ", done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
            self.assertIn(answer, done.stderr.decode())
        self.assertNotIn("option", self.command("config", "./a=b").stderr.decode())
        self.assertEqual(done.stderr.decode().count("work"), 1) # of both APIs

    def test_closed_output(self):
        done = subprocess.run([COMMAND, "schema"], env=self.env, stderr=subprocess.PIPE, timeout=240,
                              preexec_fn=lambda: os.close(1))
        self.assertEqual(done.returncode, 125)


if __name__ == "__main__":
    unittest.main()
