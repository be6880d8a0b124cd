#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the exports of the host's kernel as a module definition file. Usage: gen_def.py OUT routines.inc SOURCE...

A source has tables of names, {"name", address} or VARIABLE("name", member).

An import library made from it lets a Windows driver link against exactly what the host offers."""
import pathlib
import re
import sys


def main():
    out, routines, *sources = map(pathlib.Path, sys.argv[1:])
    text = routines.read_text(encoding="utf-8")
    functions = set(re.findall(r"^ROUTINE\((\w+)\)", text, re.M))
    variables = set(re.findall(r"^(?:VARIABLE|VALUE)\((\w+)\)", text, re.M))
    for source in sources:
        text = source.read_text(encoding="utf-8")
        functions.update(re.findall(r'\{"(\w+)",', text))
        variables.update(re.findall(r'VARIABLE\("(\w+)"', text))
    lines = ["LIBRARY ntoskrnl.exe", "EXPORTS"]
    lines += [f"{name} DATA" if name in variables else name for name in sorted(functions | variables)]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
