#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""query/statistics/moments.c against arbitrary precision: whole sums to the last digit, the rest to a few
places of a double.

    moments_oracle.py PROGRAM    (tests/unit/query/moments_main.c)
"""

import fractions
import math
import random
import subprocess
import sys

BIG = 2**64 - 1
ULP = 2.0**-52


def series():
    """(what, [(count, type, value)]) with value an int or a float."""
    rng = random.Random(20220817)
    yield "one", [(1, "u", 7)]
    yield "zeros", [(5, "u", 0)]
    yield "the largest", [(3, "u", BIG)]
    yield "2^63, often", [(100000, "u", 2**63)]
    yield "alternating extremes", [(1, "u", v) for _ in range(500) for v in (0, BIG)]
    yield "signed extremes", [(1, "i", v) for _ in range(500) for v in (-2**63, 2**63 - 1)]
    yield "signed and unsigned", [(1, "i", -5), (1, "u", BIG), (1, "i", 3)]
    yield "two neighbours far from zero", [(1, "u", 2000000000), (1, "u", 2000000002)]
    yield "neighbours at 2^63", [(1, "u", 2**63 + i % 3) for i in range(1000)]
    yield "ten million equal", [(10_000_000, "u", 123456789)]
    yield "ten million, one apart", [(9_999_999, "u", 2**62), (1, "u", 2**62 + 1)]
    for n in (2, 10, 1000):
        yield f"{n} random", [(1, "u", rng.getrandbits(64)) for _ in range(n)]
        yield f"{n} random, small", [(1, "u", rng.getrandbits(20)) for _ in range(n)]
        yield f"{n} random, signed", [(1, "i", rng.getrandbits(64) - 2**63) for _ in range(n)]
        yield f"{n} doubles", [(1, "f", rng.uniform(-1, 1)) for _ in range(n)]
        yield f"{n} doubles far from zero", [(1, "f", 1e9 + rng.random()) for _ in range(n)]
        yield f"{n} doubles of all sizes", [
            (1, "f", rng.uniform(-1, 1) * 10.0 ** rng.randint(-100, 100)) for _ in range(n)]
    yield "equal doubles", [(1000, "f", 0.1)]
    yield "large and small doubles", [(1, "f", v) for _ in range(100) for v in (1e16, 1.0, -1e16)]
    yield "whole numbers, then doubles", [(1, "u", 2**60 + i) for i in range(50)] + [(1, "f", 0.5)]
    yield "small doubles", [(1, "f", v * 2.0**-470) for v in (1, 3, 4, -7)]
    yield "doubles whose squares are too small", [(1, "f", v) for v in (5e-324, 1e-310, 0.0, 2e-200)]
    yield "equal doubles, their squares too small", [(9, "f", 3e-300)]
    yield "not finite", [(1, "f", float("nan")), (1, "f", float("inf")), (1, "f", 1.5)]


def oracle(values):
    """n, sum, sum of squares, min, max, mean, variance, of exact fractions."""
    exact = [(count, fractions.Fraction(v)) for count, v in values]
    n = sum(count for count, _ in exact)
    total = sum(count * v for count, v in exact)
    squares = sum(count * v * v for count, v in exact)
    spread = squares - total * total / n
    return (n, total, squares, min(v for _, v in exact), max(v for _, v in exact), total / n, spread)


def root(fraction):
    """The square root as a double."""
    scale = 1
    while fraction * scale and fraction * scale < 2**120:
        scale *= 4
    return math.isqrt(int(fraction * scale)) / math.isqrt(scale)


def near(got, want, slack):
    want = float(want)
    return abs(got - want) <= slack + 8 * ULP * abs(want)


def check(what, values, line):
    """What is wrong with a line, or None."""
    got = line.split()
    n, total, squares, low, high, mean, spread = oracle(values)
    whole = all(isinstance(v, int) for _, v in values)
    if int(got[0]) != n or bool(int(got[1])) != whole:
        return f"n or whole: {line}"
    if whole and (int(got[2]) != total or int(got[3]) != squares):
        return f"sums: {got[2]} {got[3]}, not {total} {squares}"
    # Doubles: as accurate as 100 bits; the error of a cancellation is measured by the largest part.
    largest = float(max(abs(low), abs(high)))
    lost = 0.0 if whole else largest * 2.0**-90 * n
    if not whole and not (near(float(got[2]), total, lost)
                          and near(float(got[3]), squares, largest * lost)):
        return f"sums: {got[2]} {got[3]}, not {float(total)} {float(squares)}"
    wants = [low, high, mean, root(spread / n), root(spread / (n - 1)) if n > 1 else -1]
    # Squares of which a double holds no significant part: no deviation, rather than 0.
    if not whole and 0 < high - low < 2.0**-480:
        if not all(math.isnan(float(text)) for text in got[7:9]):
            return f"deviations: {got[7:9]}, not NaN"
        wants[3:] = []
    for name, text, want in zip(("min", "max", "mean", "sd", "sample sd"), got[4:], wants):
        slack = lost if name != "min" and name != "max" else 0
        if not near(float(text), want, slack):
            return f"{name}: {text}, not {float(want)!r}"
    return None


def main():
    cases = list(series())
    text = ""
    for _, values in cases:
        text += "".join(f"r {count} {kind} {value!r}\n" for count, kind, value in values) + "=\n"
    out = subprocess.run([sys.argv[1]], input=text, capture_output=True, text=True, check=True)
    lines = out.stdout.splitlines()
    print(f"1..{len(cases)}")
    for i, ((what, values), line) in enumerate(zip(cases, lines, strict=True), 1):
        finite = [(c, v) for c, _, v in values if isinstance(v, int) or math.isfinite(v)]
        wrong = check(what, finite, line)
        print(f"{'not ok' if wrong else 'ok'} {i} - {what}" + (f"\n# {wrong}" if wrong else ""))


if __name__ == "__main__":
    main()
