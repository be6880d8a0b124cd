#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write events.inc of src/wintrace, the events of Microsoft-Windows-DxgKrnl, from events.tsv beside it.

Usage: gen_windows_events.py [--check]"""
import re
import sys

from generated import ROOT, deliver, find

TYPES = {"UInt8": "UINT8", "UInt16": "UINT16", "UInt32": "UINT32", "HexInt32": "UINT32", "Int32": "INT32", "UInt64": "UINT64", "HexInt64": "UINT64",
         "Int64": "INT64", "Pointer": "POINTER", "Boolean": "BOOLEAN", "UnicodeString": "STRING"}


def main():
    kinds, fields = [], []
    for row in (ROOT / "src/wintrace/events.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        number, name, opcode, version, text, task, keywords = row.split("\t")
        members = [re.fullmatch(r"(\w+) (\w+)(?:\[(\w+)\])?", word).groups() for word in text.split(", ") if word]
        kinds.append((int(number), int(version), name, opcode, members, int(task), keywords))
    for number, version, _, _, members, _, _ in sorted(kinds, key=lambda kind: kind[:2]):
        fields.append(f"static const struct wintrace_field event_{number}_{version}[] = {{")
        fields += [f'    {{"{name}", WINTRACE_{TYPES[kind]}, ' + (f'"{count}"' if count else "NULL") + "}," for kind, name, count in members]
        fields.append("};")
    lines = ["/* Written by tools/gen_windows_events.py from events.tsv; do not change by hand. */", *fields, "static const struct wintrace_kind kinds[] = {"]
    lines += [f'    {{{number}, {version}, "{name}", "{opcode}", event_{number}_{version}, {len(members)}, {task}, {keywords}}},'
              for number, version, name, opcode, members, task, keywords in sorted(kinds, key=lambda kind: kind[:2])]
    lines.append("};")
    return deliver({find("src/wintrace", "events.inc"): "\n".join(lines) + "\n"})


sys.exit(main())
