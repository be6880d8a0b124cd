#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes unsupported.c: every D3DKMT function of d3dkmthk.h that no other file of this folder defines (KMT-001).

    python3 src/kmt/gen_unsupported.py | clang-format --assume-filename=src/kmt/x.c > src/kmt/unsupported.c
"""
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
header = (here.parent.parent / "include/wdk/d3dkmthk.h").read_text()
defined = set()
for source in sorted(here.glob("*.c")):
    if source.name != "unsupported.c":
        defined |= set(re.findall(r"KMT_(?:IN|IN_OUT|IN_OUT_CONST)\((D3DKMT\w+)", source.read_text()))

HEAD = """/* SPDX-License-Identifier: MIT */
/*
 * The functions of the client interface that this host does not carry out: display, overlays, output duplication, GDI,
 * protected sessions, and what is not done yet. They exist, so that a client finds every name, and do not read their
 * arguments (KMT-001).
 *
 * Written by gen_unsupported.py; a function that another file of this folder defines leaves this one when it runs again.
 */
#include "kmt/kmt_private.h"

#define UNSUPPORTED(function, type)        \\
    NTSTATUS APIENTRY function(type args)  \\
    {                                      \\
        (void)args;                        \\
        return STATUS_NOT_SUPPORTED;       \\
    }
"""

lines = [HEAD]
odd = []
for result, name, parameters in re.findall(r"^(NTSTATUS|BOOLEAN|void) APIENTRY (D3DKMT\w+)\(([^;]*)\);", header, re.M):
    if name in defined:
        continue
    parts = [" ".join(p.split()) for p in parameters.split(",")]
    if result == "NTSTATUS" and len(parts) == 1 and parts[0].endswith("*") and re.fullmatch(r"[\w ]+\*", parts[0]):
        lines.append(f"UNSUPPORTED({name}, {parts[0]})")
    else:
        odd.append((result, name, parts))

for result, name, parts in odd:
    named = []
    for i, part in enumerate(parts):
        if part == "void":
            continue
        part = re.sub(r"(?<=[\s*])\w+$", "", part).strip() if re.search(r"[\s*]\w+$", part) and not part.startswith("const ") \
            else re.sub(r"\*\s*\w+$", "*", part)
        named.append(f"{part}{'' if part.endswith('*') else ' '}argument{i}")
    head = f"{result} APIENTRY {name}("
    one_line = head + (", ".join(named) if named else "void") + ")"
    if len(one_line) > 100:
        one_line = head + (",\n" + " " * len(head)).join(named) + ")"
    lines.append(f"\n{one_line}\n{{")
    for i in range(len(named)):
        lines.append(f"    (void)argument{i};")
    if result != "void":
        lines.append("    return FALSE;" if result == "BOOLEAN" else "    return STATUS_NOT_SUPPORTED;")
    lines.append("}")
sys.stdout.write("\n".join(lines) + "\n")
