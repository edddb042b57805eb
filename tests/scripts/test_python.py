#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""scripts/python/passtally.py: logs as columns, whole, cut and compressed; what other tools read."""

import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "python"))
import passtally  # noqa: E402

HEADER = {"type": "header", "schema": "passtally/1"}


def one(index, gpu_ns=None, **more):
    return {"index": index, "id": f"{index:016x}", "kind": "render", **({} if gpu_ns is None else {"gpu_ns": gpu_ns}), **more}


def frame(number, *passes, **more):
    return {"type": "frame", "frame": number, "device": 0, "cpu_ns": 5, "passes": list(passes), **more}


LOG = [HEADER, {"type": "device", "device": 0},
       frame(0, one(0, 1000000, label="shadow", counters={"samples": 2 ** 64 - 1}), one(1), gpu_ns=1500000),
       frame(1, one(0, 3000000, label="shadow", flags=["lost", "merged"], workloads=[{}]), gpu_ns=3500000, metrics={"load": 0.5}),
       frame(2, one(0, 9000000, label="shadow"), flags=["partial"]), {"type": "unknown"}]


class Python(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.write("run.jsonl", *LOG)

    def write(self, name, *records, tail=b""):
        path = self.folder / name
        path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records) + tail)
        return path

    def test_passes(self):
        got = passtally.passes(self.log)
        self.assertEqual({len(column) for column in got.values()}, {4})
        self.assertEqual(got["frame"], [0, 0, 1, 2])
        self.assertEqual(got["gpu_ns"], [1000000, None, 3000000, 9000000])
        self.assertEqual(got["label"], ["shadow", None, "shadow", "shadow"])
        self.assertEqual(got["samples"], [2 ** 64 - 1, None, None, None])
        self.assertEqual(got["flags"], [None, None, "lost merged", None])
        self.assertNotIn("workloads", got)

    def test_frames(self):
        got = passtally.frames(self.log)
        self.assertEqual((got["frame"], got["passes"], got["load"]), ([0, 1, 2], [2, 1, 1], [None, 0.5, None]))
        self.assertNotIn("type", got)

    def test_golden(self):
        got = passtally.passes(ROOT / "tests/golden/log-1.jsonl")
        self.assertEqual(got["gpu_ns"][0], 4000)
        self.assertEqual(got["vertex_shader_invocations"][0], 2 ** 64 - 1)

    def test_cut_and_foreign(self):
        cut = self.write("cut.jsonl", *LOG, tail=b'{"type":"frame","frame":3,"dev')
        self.assertEqual(passtally.frames(cut), passtally.frames(self.log))
        bad = self.write("bad.jsonl", HEADER, tail=b"{nonsense}\n")
        with self.assertRaisesRegex(ValueError, "bad.jsonl:2: "):
            passtally.frames(bad)
        for number, (records, tail, why) in enumerate((([{"schema": "other"}], b"", "not a log of passtally"), ([[1]], b"", "not a log"),
                                                       ([], b"", "not a log of passtally, but empty"), ([], b"cut", "jsonl:1: "))):
            with self.assertRaisesRegex(ValueError, why):
                passtally.frames(self.write(f"{number}.jsonl", *records, tail=tail))

    def test_digest(self):
        """It has no frames, which is not the same as none that took time."""
        digest = self.write("digest.jsonl", {**HEADER, "digest": True}, {"type": "end", "frames": 9, "statistics": []})
        self.assertEqual(passtally.statistics(digest), {})
        for read in (passtally.frames, passtally.passes):
            with self.assertRaisesRegex(ValueError, "a digest, which has no frames"):
                read(digest)
        for option in ("--benchmark", "--mangohud", "--presentmon"):
            done = subprocess.run([sys.executable, ROOT / "scripts/python/passtally.py", option, digest], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, b""))
            self.assertRegex(done.stderr, b"^passtally.py: .*digest.jsonl: a digest, which has no frames")

    @unittest.skipUnless(shutil.which("zstd"), "the program zstd is not installed")
    def test_compressed(self):
        packed = self.folder / "run.jsonl.zst"
        packed.write_bytes(subprocess.run(["zstd", "-c", self.log], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
        self.assertEqual(passtally.passes(packed), passtally.passes(self.log))

    def test_benchmark(self):
        other = self.write("other.jsonl", HEADER, frame(0, one(0, 4000000, label="shadow"), gpu_ns=4500000))
        done = subprocess.run([sys.executable, ROOT / "scripts/python/passtally.py", "--benchmark", self.log, other], check=True,
                              stdout=subprocess.PIPE)
        got = {entry["name"]: entry for entry in json.loads(done.stdout)}
        self.assertEqual(list(got), ["frame", "shadow"])
        self.assertEqual(got["shadow"], {"name": "shadow", "unit": "ms", "value": 3.0, "range": "± 1.000000", "extra": "2 runs"})

    def test_what_frame_tools_read(self):
        log = self.write("frames.jsonl", {**HEADER, "program": "/games/a, b", "pid": 7, "os": "Debian", "cpu": "fast", "kernel": "6.1",
                                          "memory_bytes": 2048},
                         {"type": "device", "device": 0, "api": "vulkan", "name": "card", "driver": "d", "driver_version": "1"},
                         frame(0, gpu_ns=4000000, metrics={"gpu_clock": 900, "gpu_load": 42.5, "gpu_memory_used": 2 ** 29}, cpu_ns=20000000, start_ns=1000),
                         frame(1, cpu_ns=10000000, start_ns=20001000))
        def rows(option):
            done = subprocess.run([sys.executable, ROOT / "scripts/python/passtally.py", option, log], check=True, stdout=subprocess.PIPE)
            return list(csv.reader(done.stdout.decode().splitlines()))
        got = rows("--mangohud")
        self.assertEqual(got[1], ["Debian", "fast", "card", "2", "6.1", "d 1", ""])
        first, second = (dict(zip(got[2], row)) for row in got[3:])
        self.assertEqual((first["fps"], first["frametime"], first["gpu_core_clock"], first["elapsed"]), ("50", "20", "900", "20000000"))
        self.assertEqual((first["gpu_load"], first["gpu_vram_used"]), ("42.5", "0.5"))
        self.assertEqual((second["fps"], second["gpu_core_clock"], second["cpu_load"], second["elapsed"]), ("100", "", "", "30000000"))
        got = rows("--presentmon")
        first, second = (dict(zip(got[0], row)) for row in got[1:])
        self.assertEqual((first["Application"], first["ProcessID"], first["Runtime"], first["msGPUActive"]), ("a, b", "7", "vulkan", "4.000000"))
        self.assertEqual((second["TimeInSeconds"], second["MsBetweenPresents"], second["msGPUActive"]), ("0.020000", "10.000000", "NA"))

    def test_libraries(self):
        for name in ("pandas", "polars"):
            try:
                library = __import__(name)
            except ImportError:
                continue
            self.assertEqual(len(library.DataFrame(passtally.frames(self.log))), 3)


if __name__ == "__main__":
    unittest.main()
