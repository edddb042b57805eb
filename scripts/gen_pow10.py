#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print pow10.h of the build: 128-bit significands of the powers of ten, for json/number.c.

Usage: gen_pow10.py > json/pow10.h
"""

FIRST, LAST = -292, 324


def significand(k):
    """The upper 128 bits of 10**k, rounded up where they are not exact."""
    if k >= 0:
        value = 10**k
        shift = value.bit_length() - 128
        if shift <= 0:
            return value << -shift
        return (value >> shift) + (1 if value & ((1 << shift) - 1) else 0)
    divisor = 10**-k
    shift = 127 + divisor.bit_length()
    quotient = (1 << shift) // divisor
    if quotient >> 128:
        quotient = (1 << (shift - 1)) // divisor
    assert quotient.bit_length() == 128
    return quotient + 1


def main():
    print("/* json/pow10.h - the upper 128 bits of 10^%d to 10^%d, rounded up." % (FIRST, LAST))
    print(" *")
    print(" * Made by scripts/gen_pow10.py; do not edit. Only json/number.c includes this.")
    print(" */")
    print("#ifndef PASSTALLY_JSON_POW10_H")
    print("#define PASSTALLY_JSON_POW10_H")
    print()
    print("#include <stdint.h>")
    print()
    print("#define TALLY_POW10_FIRST (%d)" % FIRST)
    print("#define TALLY_POW10_LAST %d" % LAST)
    print()
    print("static const struct {")
    print("\tuint64_t hi, lo;")
    print("} tally_pow10[TALLY_POW10_LAST - TALLY_POW10_FIRST + 1] = {")
    row = []
    for k in range(FIRST, LAST + 1):
        g = significand(k)
        row.append("{ 0x%016x, 0x%016x }," % (g >> 64, g & (2**64 - 1)))
        if len(row) == 2:
            print("\t" + " ".join(row))
            row = []
    if row:
        print("\t" + " ".join(row))
    print("};")
    print()
    print("#endif")


if __name__ == "__main__":
    main()
