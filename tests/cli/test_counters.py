#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The GPU's own counters before a run: over a driver that imitates Mesa's, and over none.

PASSTALLY_FAKE_PERF names the driver (tests/fake_gl/perf_egl.c), empty where it was not built.
"""

import json
import os
import unittest

from cli_case import CliCase, program, rows_of_doctor

FAKE = os.environ.get("PASSTALLY_FAKE_PERF")
PIPELINE, BASIC = "Pipeline Statistics Registers", "Render Metrics Basic set"
OLD = [("Intel_GT_Hardware_Counters", 216, 38), ("Intel_Pipeline_Query", 48, 6)]
MANNERS = ("one runs at a time, and one set of counters at a time is unread",
           "intel_gpu_top -m, GPUVis or Perfetto keep them from others",
           "Mesa's threaded context")
REMAINS = "what remains: the program's calls, GPU times"
NO_AMD = ("off gl-amd the driver does not offer GL_AMD_performance_monitor (Mesa's radeonsi, freedreno, "
          f"nouveau and others do); {REMAINS}")


@unittest.skipUnless(FAKE, "the driver of tests/fake_gl was not built")
class Counters(CliCase):
    def setUp(self):
        super().setUp()
        vendor = self.write("vendor.json", json.dumps({"file_format_version": "1.0.0",
                                                       "ICD": {"library_path": FAKE}}))
        self.env["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(vendor)

    def probe(self, config, *args):
        done = self.command("counters", "--api", "opengl", *args, env={"FAKE_PERF": config})
        if done.returncode == 1 and b"no OpenGL context" in done.stderr:
            self.skipTest(done.stderr.decode())
        self.assertEqual(self.left_behind(), [])
        return done

    def device(self, config, *args):
        done = self.probe(config, "--json", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        device = json.loads(done.stdout)
        of = {c["key"]: c["source"] for c in device["counters"]}
        self.assertEqual(len(of), len(device["counters"]), "keys")
        for s in device.get("sets", []):
            self.assertEqual({of[k] for k in s["counters"]}, {s["source"]}, "a set's counters are its source's")
        return device

    def sets(self, device):
        return [(s["name"], s.get("bytes"), len(s["counters"])) for s in device.get("sets", [])]

    def count(self, device, source):
        return sum(c["source"] == source for c in device["counters"])

    def doctor(self, config):
        """The rows about OpenGL, blanks joined."""
        text = self.command("doctor", env={"FAKE_PERF": config}).stdout.decode()
        rows = [" ".join(row.split()) for row in rows_of_doctor(text)]
        first = next(i for i, row in enumerate(rows) if row.startswith("ok opengl "))
        last = next(i for i, row in enumerate(rows) if " opengl-es " in row)
        return rows[first:last]

    def test_intel(self):
        device = self.device("ext=intel")
        self.assertEqual(self.sets(device), [(PIPELINE, 16, 2), (BASIC, 64, 8)])
        self.assertEqual((self.count(device, "gl-intel"), device["rotation_frames"]), (10, 2))
        self.assertIn("gl-intel", device["serialized_by"])
        told = {c["key"]: (c["unit"], c["kind"], c["scope"]) for c in device["counters"]}
        self.assertEqual(told["hardware_draws"], ("1", "event", "workload"))
        self.assertEqual(told["typed_float"], ("1", "ratio", "workload"))

    def test_intel_rotation(self):
        device = self.device("ext=intel,sets=5")
        self.assertEqual(self.sets(device), [(PIPELINE, 16, 2), (BASIC, 64, 8),
                                             *((f"Turn set {i}", 16, 2) for i in range(1, 5))])
        self.assertEqual((self.count(device, "gl-intel"), device["rotation_frames"]), (18, 6))
        text = self.probe("ext=intel,sets=5").stdout.decode()
        self.assertIn("the sets take turns: each counter is counted once in 6 captured frames, which a full "
                      "rotation takes; --set NAME stays with one", " ".join(text.split()))
        self.assertIn(f"  set 2, {BASIC}: 8 counters, 64 bytes\n", text)
        self.assertIn("\n  turn_4_share (1, ratio, workload, set 6)\n      Counter 2 of Turn set 4.\n", text)

    def test_choice(self):
        device = self.device("ext=intel,sets=5", "--counters", "overview")
        self.assertEqual((self.sets(device), device["rotation_frames"]), ([(BASIC, 64, 8)], 1))
        device = self.device("ext=intel,sets=5", "--counters", "turn_*_count")
        self.assertEqual([s["counters"] for s in device["sets"]], [[f"turn_{i}_count"] for i in range(1, 5)])
        self.assertEqual(device["rotation_frames"], 4)
        text = self.probe("ext=intel", "--counters", "overview").stdout.decode()
        self.assertIn("there is one set: every captured frame counts it", text)

    def test_pinned(self):
        device = self.device("ext=intel,sets=5", "--set", "Turn set 3")
        self.assertEqual((self.sets(device), device["rotation_frames"]), ([("Turn set 3", 16, 2)], 1))
        device = self.device("ext=intel,sets=5", "--counters", "overview", "--set", PIPELINE)
        self.assertEqual(self.sets(device), [(PIPELINE, 16, 2)])
        text = self.probe("ext=amd,sets=5", "--set", "gl-amd-2").stdout.decode()
        self.assertIn("--set gl-amd-2 stays with this set: every captured frame counts it", text)
        for config in ("ext=intel", "ext=amd", "ext=none"):
            done = self.probe(config, "--set", "no such")
            self.assertEqual(done.returncode, 1, config)
            self.assertIn(b"--set no such: there is no set of counters with that name here", done.stderr)

    def test_run_refuses_a_set_that_is_not_there(self):
        self.probe("ext=none")  # skips where there is no device
        for config, known in (("ext=intel,sets=5", b"Turn set 3"), ("ext=none", b"")):
            done = self.command("run", "-o", "x.jsonl", "--set", "Turn set 9", "--", "touch", "ran",
                                env={"FAKE_PERF": config})
            self.assertEqual((done.returncode, done.stdout), (2, b""), config)
            self.assertIn(b'no set of counters here is called "Turn set 9"; there are ', done.stderr)
            self.assertIn(known, done.stderr)
            self.assertFalse((self.folder / "ran").exists())
        self.ok("run", "-o", "x.jsonl", "--set", "Turn set 3", "--", "touch", "ran", env={"FAKE_PERF": "ext=intel,sets=5"})
        self.assertTrue((self.folder / "ran").exists())

    def test_old_dialect(self):
        device = self.device("ext=old")
        self.assertEqual(self.sets(device), OLD)
        self.assertEqual((self.count(device, "gl-intel"), device["rotation_frames"]), (44, 2))

    def test_amd(self):
        device = self.device("ext=amd")
        self.assertEqual(self.sets(device), [("gl-amd-1", 120, 9)])
        self.assertEqual((self.count(device, "gl-amd"), device["rotation_frames"]), (9, 1))
        device = self.device("ext=amd,sets=5")
        self.assertEqual(self.count(device, "gl-amd"), 13)
        self.assertEqual(self.sets(device), [("gl-amd-1", 120, 9), ("gl-amd-2", 12, 1), ("gl-amd-3", 12, 1),
                                             ("gl-amd-4", 12, 1), ("gl-amd-5", 16, 1)])
        self.assertEqual(device["rotation_frames"], 5)

    def test_both(self):
        device = self.device("ext=intel+amd")
        self.assertEqual([s["source"] for s in device["sets"]], ["gl-intel", "gl-intel", "gl-amd"])
        self.assertEqual(device["rotation_frames"], 3)

    def test_none(self):
        device = self.device("ext=none")
        self.assertNotIn("sets", device)
        self.assertNotIn("rotation_frames", device)
        self.assertEqual([s["name"] for s in device["sources"]
                          if s["state"] == "on" and (s["name"] == "api" or s["name"].startswith("gl-"))],
                         ["api", "gl-timestamp"])
        text = self.probe("ext=none").stdout.decode()
        self.assertNotIn("rotation", text)
        self.assertNotIn(" SET ", text)

    def test_what_is_printed_is_a_log(self):
        done = self.probe("ext=intel+amd,sets=5", "--json")
        log = self.write("a.jsonl", json.dumps({
            "type": "header", "schema": "passtally/1", "version": "0", "program": "p", "pid": 1,
            "started": "2026-01-02T03:04:05.000000000Z", "options": {}}) + "\n" + done.stdout.decode() + json.dumps({
                "type": "end", "frames": 0, "frames_dropped": 0, "passes": 0, "reason": "exit"}) + "\n")
        self.ok("check", log)

    def test_doctor(self):
        rows = self.doctor("ext=intel,sets=2")
        for row in ("GL_INTEL_performance_query: yes", "GL_AMD_performance_monitor: no", "ok gl-intel 12 counters",
                    f"set {PIPELINE}: 2 counters, 16 bytes", "set Turn set 1: 2 counters, 16 bytes",
                    "--counters all the sets take turns: each counter is counted once in 3 captured frames, "
                    "which a full rotation takes; --set NAME stays with one",
                    f"{NO_AMD}, the counters of gl-intel"):
            self.assertIn(row, rows)
        for words in MANNERS:
            self.assertEqual(sum(words in row for row in rows), 1, words)

    def test_doctor_old_and_amd(self):
        rows = self.doctor("ext=old+amd")
        for row in ("GL_INTEL_performance_queries: yes", "GL_AMD_performance_monitor: yes", "ok gl-intel 44 counters", "ok gl-amd 9 counters",
                    "set Intel_GT_Hardware_Counters: 38 counters, 216 bytes"):
            self.assertIn(row, rows)

    def test_doctor_none(self):
        rows = self.doctor("ext=none")
        for row in ("GL_INTEL_performance_query: no", "GL_AMD_performance_monitor: no",
                    f"off gl-intel needs GL_INTEL_performance_query; {REMAINS}", NO_AMD):
            self.assertIn(row, rows)
        self.assertFalse([row for row in rows if "rotation" in row or row.startswith("set ")])
        for config in ("ext=none", "ext=old+amd", "ext=intel"):
            rows = [row for row in self.doctor(config) if row.startswith("GL_INTEL_")]
            self.assertEqual(len(rows), 1, (config, rows))

    def test_a_driver_that_misbehaves(self):
        for config in ("ext=all,late=0", "ext=all,error_every=1", "ext=all,stall_begin=1,exclusive=1"):
            device = self.device(config)
            self.assertIn("gl-timestamp", [s["name"] for s in device["sources"] if s["state"] == "on"])

    def test_run_knows_the_drivers_names(self):
        for config, name in (("ext=intel", "hardware_dr*"), ("ext=intel", BASIC), ("ext=amd", "Turns"),
                             ("ext=amd", "turns_turn_0")):
            done = self.command("run", "--counters", name, "--log", self.folder / "a.jsonl", "--",
                                *program("pass"), env={"FAKE_PERF": config})
            self.assertNotIn(b"nothing is called", done.stderr, (config, name))
        done = self.command("run", "--counters", "hardware_dr*", "--", *program("pass"), env={"FAKE_PERF": "ext=none"})
        self.assertEqual(done.returncode, 2)
        self.assertIn(b'nothing is called "hardware_dr*"; `passtally counters` lists', done.stderr)


class Names(CliCase):
    def test_unknown(self):
        for items, name, words in (
                ("xyzzyq", "xyzzyq", "; `passtally counters` lists"), ("all,xyzzyq", "xyzzyq", "; `passtally counters` lists"),
                ("overveiw", "overveiw", "; did you mean overview? `passtally counters` lists"),
                ("fragment_shader", "fragment_shader", "; did you mean fragment_shader_invocations"),
                ("samples_pased", "samples_pased", "; did you mean samples_passed"),
                ("overdrw", "overdrw", "; did you mean overdraw"),
                ("vertices", "vertices", "; the numbers of calls and their vertices are counted always")):
            done = self.command("counters", "--counters", items)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(f'nothing is called "{name}"{words}', done.stderr.decode())
            self.assertLess(len(done.stderr), 320, done.stderr)


class NoExtension(CliCase):
    def test_lavapipe(self):
        done = self.command("counters", "--json", "--api", "vulkan")
        devices = [json.loads(line) for line in done.stdout.splitlines()]
        device = next((d for d in devices if "llvmpipe" in d["name"]), None)
        if not device:
            self.skipTest("no lavapipe here")
        self.assertNotIn("sets", device)
        text = " ".join(self.command("doctor").stdout.decode().split())
        self.assertIn(f"off vk-khr the driver does not offer VK_KHR_performance_query; {REMAINS}, pipeline statistics", text)


if __name__ == "__main__":
    unittest.main()
