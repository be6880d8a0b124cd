#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write constants.inc of src/lua: the names that workloads may use for numbers, sorted, from the headers of the client interface.

Usage: gen_lua_constants.py [--check]
Enumeration constants and macros that are numbers; the compiler takes their values from the same headers."""
import re
import sys

from generated import ROOT, deliver, find

HEADERS = ("d3dukmdt.h", "d3dkmthk.h", "d3dkmdt.h")


def header(name):
    text = (ROOT / "include/wdk" / name).read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def enumerators(text):
    for body in re.findall(r"\benum\b[^{;:]*\{(.*?)\}", text, flags=re.S):
        lines = [line for line in body.splitlines() if not line.lstrip().startswith(("#", "D3D_UMD_INTERFACE", "DXGKDDI_INTERFACE"))]
        for item in re.sub(r"\([^()]*\)", "", "\n".join(lines)).split(","):
            match = re.match(r"\s*([A-Za-z_]\w*)\s*(=|$)", item)
            if match and "_" in match[1]:
                yield match[1]


def macros(text):
    for match in re.finditer(r"^#define ((?:D3D|DXG)\w+)\s+\(?(?:0x[0-9A-Fa-f]+|\d+)[uUlL]*\)?\s*$", text, flags=re.M):
        yield match[1]


def main():
    names, statuses = set(), set()
    for name in HEADERS:
        names.update(enumerators(header(name)), macros(header(name)))
    statuses.update(re.findall(r"#define (STATUS_\w+)\s+\(\(NTSTATUS\)0x", (ROOT / "include/wdk/base/ntstatus.h").read_text(encoding="utf-8")))
    lines = ["/* Written by tools/gen_lua_constants.py from the headers of include/wdk; do not change by hand. */"]
    lines += [f"{'STATUS' if name in statuses else 'NUMBER'}({name})" for name in sorted(names | statuses)]
    return deliver({find("src/lua", "constants.inc"): "\n".join(lines) + "\n"})


sys.exit(main())
