#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write routines.inc of src/nt, the sorted names of all exported kernel routines and variables. Usage: gen_routines.py [--check]

A routine is what a source of src/nt defines with NT_EXPORT; routine.c makes the table of addresses from the names."""
import re
import sys

from generated import ROOT, deliver, find


def main():
    routines, variables = set(), set()
    for source in sorted((ROOT / "src/nt").rglob("*.c")):
        text = source.read_text(encoding="utf-8")
        routines.update(re.findall(r"^NT_EXPORT\s[^;={]*?\bNTAPI\s+(\w+)\(", text, re.M))
        variables.update(re.findall(r"^NT_EXPORT\s[^;({]*?(\w+) =", text, re.M))
        for kind in ("REGISTER", "PORT"):
            for suffix in re.findall(rf"^DEFINE_{kind}\((\w+),", text, re.M):
                routines.update(f"{access}_{kind}{buffer}_{suffix}"
                                for access in ("READ", "WRITE") for buffer in ("", "_BUFFER"))
    lines = ["/* Written by tools/gen_routines.py; do not change by hand. */"]
    lines += [f"{'ROUTINE' if name in routines else 'VARIABLE'}({name})" for name in sorted(routines | variables)]
    return deliver({find("src/nt", "routines.inc"): "\n".join(lines) + "\n"})


sys.exit(main())
