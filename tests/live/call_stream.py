# SPDX-License-Identifier: MIT
"""The calls that the driver sees, except passtally's own queries, are those that it sees without passtally.

tests/live/egl_trace.c is below libglvnd and logs every gl* call. The bare run's stream
must be found in the captured run's, in order and with equal arguments; each additional call must be a query or a
question, or restore a binding before the game's next call; with --snapshot exact it may be one of passtally's
fences, too; and where the game waits it may be a flush, because llvmpipe draws in tiles (gl_wait() in
gl_shim/pass/frames.c).
"""

import json
import re

import harness as h

# Calls about queries: passtally maps names and results, so only the function is compared.
QUERY = re.compile(r"gl(Gen|Create|Delete|Begin|End|Is|Get)?(Query|Queries)\w*$|glQueryCounter\w*$|glGetQuery\w*$|gl\w*ConditionalRender\w*$")
QUESTION = re.compile(r"gl((Get|Is)\w+|CheckFramebufferStatus)$")
FENCE = re.compile(r"gl(FenceSync|ClientWaitSync|DeleteSync)$")
WAIT = re.compile(r"gl(ClientWaitSync|Finish)$")
READ = re.compile(r"gl(Readn?Pixels|Getn?(Compressed)?Tex(ture)?(Sub)?Image)\w*$")
BIND = {"glBindTexture", "glBindRenderbuffer", "glActiveTexture", "glBindBuffer"}
EXACT = {"snapshot": "exact", "sources": "gl-timestamp+fake-snapshot", "counters": "fake_total_*"}
QUERY_BUFFER = "37266"  # GL_QUERY_BUFFER


def read(path):
    """(thread, name, arguments) of each call."""
    calls = []
    for line in path.read_text().splitlines():
        thread, name, *words = line.split(" ")
        calls.append((thread, name, () if QUERY.match(name) else tuple(words)))
    return calls


def is_harmless(call, fences):
    return bool(QUERY.match(call[1]) or QUESTION.match(call[1]) or (fences and FENCE.match(call[1])))


class Gap:
    """The additional calls between two calls of the game."""

    def __init__(self, bound, fences):
        self.bound = bound  # what the game has bound: (name, target) -> object
        self.fences = fences  # may be ours
        self.changed = {}

    def add(self, call):
        _, name, words = call
        if is_harmless(call, self.fences):
            return None
        if name in BIND:
            key = (name, words[0] if len(words) > 1 else "")
            self.changed[key] = words[-1]
            return None
        return f"{name} {' '.join(words)}"

    def left_over(self):
        return [f"{key} is {value}, was {self.bound.get(key, '0')}" for key, value in self.changed.items()
                if value != self.bound.get(key, "0") and not (key[0] == "glActiveTexture" and key not in self.bound)]


def compare(bare, got, fences):
    """The first difference as a sentence, or None."""
    bound, at = {}, 0
    gap = Gap(bound, fences)
    for call in got:
        if at < len(bare) and call == bare[at]:
            wrong = gap.left_over()
            if wrong:
                return f"before call {at} ({' '.join(call[1:2] + call[2])}): {wrong[0]}"
            if call[1] in BIND:
                bound[(call[1], call[2][0] if len(call[2]) > 1 else "")] = call[2][-1]
            at += 1
            gap = Gap(bound, fences)
            continue
        if call[1] == "glFlush" and (at < len(bare) and WAIT.match(bare[at][1]) or at and READ.match(bare[at - 1][1])):
            continue
        wrong = gap.add(call)
        if wrong:
            expected = " ".join(bare[at][1:2] + bare[at][2]) if at < len(bare) else "nothing"
            return f"after call {at} the driver sees {wrong}, expected {expected}"
    if at < len(bare):
        return f"call {at} never comes: {' '.join(bare[at][1:2] + bare[at][2])}"
    return None


def trace(folder, argv, name, extra):
    vendor = folder / "vendor.json"
    vendor.write_text(json.dumps({"file_format_version": "1.0.0",
                                  "ICD": {"library_path": str(h.need("egl_trace.so"))}}))
    path = folder / f"{name}.txt"
    env = h.base_env(folder, {"__EGL_VENDOR_LIBRARY_FILENAMES": str(vendor), "EGL_TRACE_FILE": str(path), **extra})
    result = h.run(argv, env)
    return result, read(path) if path.exists() else []


def check(checks, argv, options):
    with h.scratch() as folder:
        bare, bare_calls = trace(folder, argv, "bare", {})
        if bare.status == 77:
            print(f"{bare.errors.strip()}")
            return
        checks.equal(bare.status, 0, f"bare run: {bare.errors}")
        checks.that(len(bare_calls) > 50, f"only {len(bare_calls)} calls were traced")
        log = folder / "log.jsonl"
        got, calls = trace(folder, argv, "with", h.capture_env(log, options))
        checks.equal(got.status, bare.status, "exit status")
        checks.that(log.exists() and h.Log(log).frames, "nothing was captured")
        own = sum(1 for call in calls if QUERY.match(call[1]))
        checks.that(own > sum(1 for call in bare_calls if QUERY.match(call[1])), "no query of ours was seen: the trace is not below us")
        exact = options.get("snapshot") == "exact"
        fences, bare_fences = (sum(1 for call in seen if FENCE.match(call[1])) for seen in (calls, bare_calls))
        checks.equal(fences > bare_fences, exact, f"fences of ours were seen: {fences} calls, {bare_fences} without us")
        wrong = compare(bare_calls, calls, exact)
        checks.that(not wrong, wrong)


def main():
    h.need("libpasstally_gl.so")
    h.need("egl_trace.so")
    scenes = h.need("scenes")
    checks = h.Checks()
    rows = [line.split() for line in h.run([scenes, "--list"], dict(h.os.environ)).text.splitlines()]
    for name, *words in rows:
        if name == "threads":  # two streams in no fixed order
            continue
        for api in words:
            if api == "surface":
                continue
            argv = [scenes, name, "--api", api, "--frames", "3", "--no-read"]
            with checks.part(f"{name} {api}"):
                check(checks, argv, {"counters": "all"})
    for options in ({"granularity": "draw"}, {"granularity": "frame"}, {"split": "group"}, EXACT):
        for name in ("forward", "groups_in_pass", "interrupted"):
            with checks.part(f"{name} {h.options_text(options)}"):
                check(checks, [scenes, name, "--frames", "3", "--no-read"], options)
    checks.finish()


main()
