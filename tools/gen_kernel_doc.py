#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write docs/kernel-services.md: which routines and variables of the kernel the host offers.

    tools/gen_kernel_doc.py            # writes the file
    tools/gen_kernel_doc.py --check    # exit status 1 if the file is not what would be written

Names come from the sources: what src/nt exports (NT_EXPORT), the tables of names for Windows images in src/nt and src/x64, and the
registration routines of src/port. A row is a source file; its subject is the first sentence of the comment that opens it.
"""
import re
import sys

from generated import ROOT, deliver, find

PATTERNS = (
    r"^(?:NT_)?EXPORT\s[^;={]*?\bNTAPI\s+(\w+)\(",  # routines
    r"^NT_EXPORT(?:_VALUE)?\s[^;({]*?(\w+) =",  # variables
    r'^\s*\{"(\w+)",\s*[^"}]+\}',  # tables of names
    r'\bVARIABLE\("(\w+)"',
)
HEAD = """# Kernel services

What a driver can import from the kernel, by source file. Written by `tools/gen_kernel_doc.py` from the sources; do not change by hand.
Routines that are inline in a driver (`KeMemoryBarrier`, `InterlockedIncrement`, `IoGetCurrentIrpStackLocation`, ...) are in
`include/wdk/base` for ELF drivers, and in the image itself for Windows images. Each routine checks its level and arguments, and
reports what breaks a rule of the series NT or THREAD.

| subject | routines and variables |
|---|---|
"""


def subject(text):
    comments = re.findall(r"/\*(.*?)\*/", text, re.S)
    words = " ".join(line.strip(" *") for line in comments[1].splitlines()).strip()
    return re.split(r"(?<=[a-z)])[.:;] |\.$", words)[0]


def names(text):
    found = set()
    for pattern in PATTERNS:
        found.update(re.findall(pattern, text, re.M))
    if "crt_memcpy" in text:  # a table of several entries a line
        found.update(re.findall(r'\{"(\w+)", \w+\}', text))
    for kind in ("REGISTER", "PORT"):
        for suffix in re.findall(rf"^DEFINE_{kind}\((\w+),", text, re.M):
            found.update(f"{access}_{kind}{buffer}_{suffix}" for access in ("READ", "WRITE") for buffer in ("", "_BUFFER"))
    return sorted(found)


def main():
    rows, count = [], 0
    files = sorted((ROOT / "src/nt").rglob("*.c")) + sorted((ROOT / "src/x64").rglob("*.c"))
    files += [find("src/port", "registration.c"), find("src/port", "feature_interface.c")]
    for file in files:
        text = file.read_text(encoding="utf-8")
        found = sorted(re.findall(PATTERNS[0], text, re.M)) if file.name == "routine.c" else names(text)
        if found:
            rows.append(f"| {subject(text)} (`{file.relative_to(ROOT / 'src')}`) | {', '.join(f'`{name}`' for name in found)} |\n")
            count += len(found)
    return deliver({ROOT / "docs/kernel-services.md": HEAD + "".join(rows) + f"\n{count} in all.\n"})


sys.exit(main())
