# SPDX-License-Identifier: MIT
"""Hitches that were planted in four programs, recorded on llvmpipe and lavapipe on a busy machine: the cause that the
answer names. Each is cut out with the frames around it; tests/cli/recorded/ has them one after the other.
"""

import gzip
import json

from cli_case import CliCase, ROOT, unittest

# The frame in which it was planted, what, and its cause.
PLANTED = {
    "gl": ((17, "a lock, held by a thread that works", "wait"), (53, "a compile", "shaders"), (89, "a compile elsewhere, waited for", "shaders"),
           (125, "a pass, and a sleep", "wait"), (161, "a thread that spins", "cpu"), (197, "new memory", "cpu"), (233, "an upload", "upload"),
           (269, "a sleep in a pass", "wait"), (305, "a compile, and a sleep", "shaders"), (341, "a read-back", "readback"),
           (377, "two passes", "unknown"), (413, "draws", "pass"), (449, "the CPU, in a pass", "cpu"), (485, "a stopped process", "wait"),
           (521, "a sleep beside a compile elsewhere", "wait"), (557, "a disk beside a compile elsewhere", "faults")),
    "vk": ((17, "a compile elsewhere, waited for", "shaders"), (53, "system calls", "cpu"), (89, "memory", "cpu"), (125, "compiles on four threads", "shaders"),
           (161, "draws", "pass"), (197, "a pass without more draws", "pass"), (233, "a sleep", "wait"), (269, "a disk", "faults"), (305, "the CPU", "cpu"),
           (341, "draws, and the CPU", "unknown"), (377, "a compile", "shaders"), (413, "a lock, held asleep", "wait"), (449, "a lock, held by a thread that works", "wait"),
           (485, "a sleep beside a compile elsewhere", "wait")),
    # A game thread, a render thread, a loader with a context of its own; and a program that only computes.
    "gl-threads": ((17, "a compile at the first dispatch", "shaders"), (53, "a dispatch", "unknown"), (89, "the game thread works", "wait"), (125, "an upload elsewhere, waited for", "upload"),
                   (161, "a new pass", "pass"), (197, "a seldom pass", "pass"), (233, "two passes", "gpu"), (269, "a sleep beside a compile elsewhere", "wait"),
                   (305, "an upload beside a compile elsewhere", "upload"), (341, "blocks of the heap", "cpu"), (377, "a disk", "faults"), (413, "a compile", "shaders"),
                   (449, "a pass before a dispatch", "pass"), (485, "a pass with a query, before a dispatch", "pass")),
    "vk-compute": ((17, "copies", "pass"), (53, "a pipeline's first dispatch", "pass"), (89, "pipelines of 43 ms", "shaders"), (125, "dispatches", "pass"),
                   (161, "a stopped process", "wait"), (197, "a fence that comes late", "wait"), (233, "pipelines of 74 ms", "shaders"), (269, "other programs", "wait")),
}


class Causes(CliCase):
    def causes(self, api, change=lambda line: line):
        """(what, right cause, named cause or None) of each; `change` returns a line anew, or None."""
        with gzip.open(ROOT / "tests" / "cli" / "recorded" / f"hitches-{api}.jsonl.gz", "rt") as file:
            lines = [json.loads(line) for line in file]
        head = [line for line in lines if line["type"] not in ("frame", "process")]
        for k in range(0, len(PLANTED[api]), 4):  # the answer lists ten
            some = PLANTED[api][k:k + 4]
            from_ns, to_ns = (next(line["start_ns"] for line in lines if line.get("frame") == n)
                              for n in (some[0][0] - 17, some[-1][0] + 18))
            made = [json.loads(json.dumps(line)) for line in lines
                    if line not in head and from_ns <= line.get("start_ns", line.get("time_ns")) <= to_ns]
            log = self.write_log("a.jsonl", head + [line for line in map(change, made) if line])
            worst = json.loads(self.ok("report", "--json", "--warmup", "0", log).stdout)["reports"][0]["answers"][0]["hitches"]["worst"]
            for n, what, cause in some:
                near = [h for h in worst if n <= h["frame"] <= n + 2]
                yield what, cause, max(near, key=lambda h: h["excess_ns"])["cause"] if near else None

    def test_causes(self):
        for api in PLANTED:
            self.assertEqual([(what, found) for what, _, found in self.causes(api)], [(what, cause) for _, what, cause in PLANTED[api]])

    def test_without_events(self):
        """Of an older log, or one that was cut: what calls did is the CPU's or a wait, never another call."""
        def older(line):
            for key in ("events", "calls"):
                line.pop(key, None)
            return None if line["type"] == "process" else line
        calls = ("shaders", "upload", "readback")
        for api in PLANTED:
            for what, cause, found in self.causes(api, older):
                self.assertIn(found, ("cpu", "wait", "pass", "gpu", "unknown") if cause in calls else (cause, "pass", "gpu", "unknown"), what)

    def test_lies(self):
        """Calls of no time, more from a cache than there were, and a clock that jumped between frames and calls."""
        def lying(line, calls_ns):
            if line["type"] == "frame":
                line["start_ns"] += 3600 * 10**9 if calls_ns is None else 0
                for e in [*line.get("events", []), *line.get("calls", [])]:
                    e.update({"ns": 0, "own_ns": 0} if calls_ns == 0 else {"cached": 10**6} if "n" in e else {})
            return line
        for api in PLANTED:
            for what, cause, found in self.causes(api, lambda line: lying(line, 0)):
                self.assertNotIn(found, ("shaders", "upload", "readback", "map", "memory"), what)
            for what, cause, found in self.causes(api, lambda line: lying(line, None)):
                self.assertIn(found, (cause, "wait", "pass", "gpu", "unknown"), what)


if __name__ == "__main__":
    unittest.main()
