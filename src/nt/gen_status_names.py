#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write status_names.inc, the names of NTSTATUS values sorted by value, from ntstatus.h.

Usage: gen_status_names.py include/wdk/base/ntstatus.h src/nt/status_names.inc
Where several names share a value, the first in the header counts."""
import re
import sys


def main():
    names = {}
    with open(sys.argv[1], encoding="utf-8") as header:
        for line in header:
            match = re.match(r"#define (STATUS_\w+)\s+\(\(NTSTATUS\)(0x[0-9A-Fa-f]+)L?\)", line)
            if match:
                names.setdefault(int(match[2], 16), match[1])
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("/* Written by gen_status_names.py from ntstatus.h; do not change by hand. */\n")
        for value in sorted(names):
            out.write(f'{{0x{value:08X}, "{names[value]}"}},\n')


main()
