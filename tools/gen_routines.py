#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write routines.inc of src/nt, the sorted names of all exported kernel routines and variables. Usage: gen_routines.py [--check]

A routine is what a source of src/nt defines with NT_EXPORT; routine.c makes the table of addresses from the names. A variable
is one that points to an object; a value (NT_EXPORT_VALUE) is one itself."""
import re
import sys

from generated import ROOT, deliver, find


def main():
    routines, variables, values = set(), set(), set()
    for source in sorted((ROOT / "src/nt").rglob("*.c")):
        text = source.read_text(encoding="utf-8")
        routines.update(re.findall(r"^NT_EXPORT\s[^;={]*?\bNTAPI\s+(\w+)\(", text, re.M))
        variables.update(re.findall(r"^NT_EXPORT\s[^;({]*?(\w+) =", text, re.M))
        values.update(re.findall(r"^NT_EXPORT_VALUE\s[^;({]*?(\w+) =", text, re.M))
        for kind in ("REGISTER", "PORT"):
            for suffix in re.findall(rf"^DEFINE_{kind}\((\w+),", text, re.M):
                routines.update(f"{access}_{kind}{buffer}_{suffix}"
                                for access in ("READ", "WRITE") for buffer in ("", "_BUFFER"))
    lines = ["/* Written by tools/gen_routines.py; do not change by hand. */"]
    kinds = {name: kind for kind, names in (("ROUTINE", routines), ("VARIABLE", variables), ("VALUE", values)) for name in names}
    lines += [f"{kinds[name]}({name})" for name in sorted(kinds)]
    return deliver({find("src/nt", "routines.inc"): "\n".join(lines) + "\n"})


sys.exit(main())
