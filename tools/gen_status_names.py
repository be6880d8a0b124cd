#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write status_names.inc of src/nt, the names of NTSTATUS values sorted by value, from ntstatus.h.

Usage: gen_status_names.py [--check]
Where several names share a value, the first in the header counts."""
import re
import sys

from generated import ROOT, deliver, find


def main():
    names = {}
    for line in (ROOT / "include/wdk/base/ntstatus.h").read_text(encoding="utf-8").splitlines():
        match = re.match(r"#define (STATUS_\w+)\s+\(\(NTSTATUS\)(0x[0-9A-Fa-f]+)L?\)", line)
        if match:
            names.setdefault(int(match[2], 16), match[1])
    lines = ["/* Written by tools/gen_status_names.py from ntstatus.h; do not change by hand. */"]
    lines += [f'{{0x{value:08X}, "{names[value]}"}},' for value in sorted(names)]
    return deliver({find("src/nt", "status_names.inc"): "\n".join(lines) + "\n"})


sys.exit(main())
