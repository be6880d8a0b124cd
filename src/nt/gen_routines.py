#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write routines.inc, the sorted names of all exported kernel routines and variables. Usage: gen_routines.py src/nt

A routine is what a source here defines with NT_EXPORT; routine.c makes the table of addresses from the names."""
import pathlib
import re
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    routines, variables = set(), set()
    for source in sorted(folder.glob("*.c")):
        text = source.read_text(encoding="utf-8")
        routines.update(re.findall(r"^NT_EXPORT\s[^;={]*?\bNTAPI\s+(\w+)\(", text, re.M))
        variables.update(re.findall(r"^NT_EXPORT\s[^;({]*?(\w+) =", text, re.M))
        for kind in ("REGISTER", "PORT"):
            for suffix in re.findall(rf"^DEFINE_{kind}\((\w+),", text, re.M):
                routines.update(f"{access}_{kind}{buffer}_{suffix}"
                                for access in ("READ", "WRITE") for buffer in ("", "_BUFFER"))
    with open(folder / "routines.inc", "w", encoding="utf-8") as out:
        out.write("/* Written by gen_routines.py; do not change by hand. */\n")
        for name in sorted(routines | variables):
            out.write(f"{'ROUTINE' if name in routines else 'VARIABLE'}({name})\n")


main()
