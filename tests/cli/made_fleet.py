# SPDX-License-Identifier: MIT
"""Runs of an invented program on invented GPUs, for tests of fleet comparisons: the true answer is known."""

import uuid

from cli_case import A, B, C, device, end, frame, header, one_pass, pass_info


def run_log(rand, factor, n=60, extra=None, gpu="card 0", speed=1, device_more=None, **header_more):
    """One run: a pass in two segments, one that `factor` slows, and possibly another. The speed and the time of
    each frame are random."""
    lines = [header(**header_more), device(name=gpu, **(device_more or {})), pass_info(A, "scene/shadow"),
             pass_info(B, "scene/main"), pass_info(C, "scene/ui")]
    run = rand.gauss(1, 0.005)

    def ns(mean):
        return int(mean * speed * run * rand.gauss(1, 0.05))
    for i in range(n):
        passes = [one_pass(0, A, ns(60000)), one_pass(1, B, ns(200000 * factor)),
                  one_pass(2, A, ns(30000), segment=1)]
        if extra:
            passes.append(one_pass(3, extra, ns(5000)))
        lines.append(frame(i, passes, width=1920, height=1080))
    return lines + [end(n, len(passes) * n)]


def of_build(rand, build, factor=1, tags=None, **more):
    """A run that says its build and has a UUID."""
    return run_log(rand, factor, n=20, run=str(uuid.UUID(int=rand.getrandbits(128))), tags={"build": build, **(tags or {})}, **more)


def mixed_fleet(rand, slow):
    """One build on 30 fast and 10 slow GPUs, the next on 10 and 30; on the slow ones its main pass takes
    `slow` times as long. Returns (name, lines) of each log; names begin with base or new."""
    for side, fast, old in (("base", 30, 10), ("new", 10, 30)):
        for i in range(fast):
            yield f"{side}f{i}.jsonl", of_build(rand, side, gpu="fast")
        for i in range(old):
            yield f"{side}s{i}.jsonl", of_build(rand, side, slow if side == "new" else 1, gpu="slow", speed=2)
