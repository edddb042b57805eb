# SPDX-License-Identifier: MIT
"""Running tests/apps/vk_stream on tests/fake_vk, and comparing what that driver logged.

The program makes all its objects with allocation callbacks and the layer makes none with them: that shows whose
object it is. A trace is compared after all of the layer's calls are removed and objects are renumbered.
"""

import re

import harness as h
import vk_harness as vk

# What the layer may add to the game's request: features that it uses, and their extensions from before they were
# core.
MAY_ADD = {"pipelineStatisticsQuery", "inheritedQueries", "hostQueryReset", "VK_EXT_host_query_reset",
           "VK_EXT_calibrated_timestamps", "VK_KHR_calibrated_timestamps", "VK_KHR_get_physical_device_properties2",
           "VK_KHR_timeline_semaphore", "timelineSemaphore"}
OBJECT = re.compile(r"\b([A-Z]\w*)#(\d+)")
BUFFERS = re.compile(r"commandBufferCount=\d+;pCommandBuffers=\[([^\]]*)\]")
INHERITED = re.compile(r"(^vkBeginCommandBuffer .* statistics) \d+")
SUBMITS = ("vkQueueSubmit", "vkQueueSubmit2")
WAIT_BIT = 2


def program():
    return h.need("vk_stream")


def driver():
    path = h.BUILD / "tests" / "fake_vk" / "fake_vk.json"
    if not path.exists():
        h.skip("tests/fake_vk was not built")
    return path.resolve()


class Trace:
    """The lines of one run."""

    def __init__(self, path):
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        self.rules = [line for line in lines if line.startswith("RULE")]
        self.faults = [line for line in lines if line.startswith("FAULT")]
        self.lines = [line for line in lines if not line.startswith(("RULE", "FAULT"))]
        self.stripped = None  # see stripped()


class Stripper:
    """Takes out what the layer added; `wrong` lists what it must not have done."""

    def __init__(self):
        self.ours = set()
        self.wrong = []
        self.requests = []

    def strip(self, trace):
        return [line for line in map(self.one, trace.lines) if line is not None]

    def one(self, line):
        name, *words = line.split(" ")
        tokens = OBJECT.findall(line) if "#" in line else []
        if name in ("vkCreateDevice", "vkCreateInstance"):
            self.requests.append((name, set(words)))
            return None
        if words and words[-1] == "-":
            if not tokens:
                self.wrong.append(f"the layer made something: {line[:200]}")
            self.ours.update(tokens[:1])
            return None
        mine = [token in self.ours for token in tokens] if self.ours else []
        if name == "vkAllocateCommandBuffers" and mine and mine[0]:
            self.ours.update(tokens)
            return None
        if name in SUBMITS:
            return self.submit(line, tokens, mine)
        if True in mine:
            self.check_own(name, words, mine)
            return None
        # Statistics that a secondary inherits because of the layer.
        return INHERITED.sub(r"\1", line) if name == "vkBeginCommandBuffer" else line

    def submit(self, line, tokens, mine):
        if mine and mine[-1] and tokens[-1][0] == "Fence":
            if "[]" not in line:
                self.wrong.append(f"our fence on a submission with work: {line[:200]}")
            return None

        def game_s(match):
            kept = [word for word in match.group(1).split(",") if word and tuple(word.split("#")) not in self.ours]
            return f"commandBufferCount={len(kept)};pCommandBuffers=[{','.join(kept)}]"

        return BUFFERS.sub(game_s, line)

    def check_own(self, name, words, mine):
        if name == "vkGetQueryPoolResults" and int(words[3]) & WAIT_BIT:
            self.wrong.append("results were waited for")
        if name == "vkWaitForFences" and not (all(mine) and int(words[1]) <= 2_000_000_000):
            self.wrong.append(f"waits for {words}")
        if name in ("vkResetFences", "vkFreeCommandBuffers") and not all(mine):
            self.wrong.append(f"{name} of the game's and ours: {words}")


def renumber(lines):
    """Objects by the order of their first mention, because the layer's took numbers too."""
    numbers, counts = {}, {}

    def number(match):
        word = match.group()
        if word not in numbers:
            kind = match.group(1)
            counts[kind] = counts.get(kind, 0) + 1
            numbers[word] = f"{kind}#{counts[kind]}"
        return numbers[word]

    return [OBJECT.sub(number, line) if "#" in line else line for line in lines]


def compare_requests(bare, got):
    # A request that the driver refused is repeated without the layer's additions.
    got = [one for i, one in enumerate(got) if i + 1 == len(got) or got[i + 1][0] != one[0] or "0" in one[1] or
           one[0] == "vkCreateInstance"]
    for (name, words), (_, more) in zip(bare, got):
        if words - more:
            return f"{name} lost {sorted(words - more)}"
        if more - words - MAY_ADD:
            return f"{name} got {sorted(more - words - MAY_ADD)}"
    return None


def stripped(trace):
    """The Stripper of the captured run, and what it leaves; a bare run's is looked up with each of our options."""
    if trace.stripped is None or trace.stripped[0] is not trace.lines:
        stripper = Stripper()
        trace.stripped = trace.lines, stripper, renumber(stripper.strip(trace))
    return trace.stripped[1:]


def compare(bare, got):
    """The first difference as a sentence, or None."""
    theirs, want = stripped(bare)
    ours, have = stripped(got)
    if theirs.ours or theirs.wrong:
        return f"the program itself makes objects without callbacks: {sorted(theirs.ours)[:3]}{theirs.wrong[:1]}"
    if ours.wrong:
        return ours.wrong[0]
    for i, (a, b) in enumerate(zip(want, have)):
        if a != b:
            return f"command {i} is {b[:300]}, the program sent {a[:300]}"
    if len(want) != len(have):
        rest = want[len(have):] or have[len(want):]
        return f"{len(have)} commands instead of {len(want)}; the first: {rest[0][:200]}"
    return compare_requests(theirs.requests, ours.requests)


def run_bare(folder, argv, offers, timeout=None):
    path = folder / "bare.txt"
    env = vk.bare_env(folder, {"VK_ICD_FILENAMES": str(driver()), "FAKE_VK": offers, "FAKE_VK_LOG": str(path)})
    return h.run([program(), *argv], env, timeout=timeout), Trace(path)


def run_layer(folder, argv, offers, log, options, timeout=None):
    path = folder / "with.txt"
    env = vk.layer_env(folder, log, options, {"VK_ICD_FILENAMES": str(driver()), "FAKE_VK": offers,
                                              "FAKE_VK_LOG": str(path)})
    return h.run([program(), *argv], env, timeout=timeout), Trace(path)
