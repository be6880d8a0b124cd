#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The members of structures that cross the boundaries of the host, for transcripts, from the binary interface as data.
Usage: gen_structures.py OUTPUT"""
import collections
import csv
import pathlib
import re
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
ENTRY = re.compile(r"^DDI_ENTRY\(DxgkDdi\w+, [^)]*?, (\w+), (?:IN|BOTH)\)", re.M)

NUMBERS = ("LARGE_INTEGER", "PHYSICAL_ADDRESS", "ULARGE_INTEGER")  # one, not two halves


def rows(name):
    with (TESTS / "abi" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def leaves(structures, name, at=0, prefix=""):
    """(member, offset, bytes): each byte once, padding left out; of members that lie on one another, the largest."""
    taken, found = set(), []
    for row in sorted(structures[name], key=lambda row: -int(row["size_of_field"])):
        offset, size, kind = at + int(row["offset"]), int(row["size_of_field"]), row["type"]
        if re.sub(r"\[\d*\]", "", kind) in ("struct", "union") and "[" not in kind:
            continue  # its members are there, too
        member, inner = prefix + row["field"], structures.get(kind) if kind not in NUMBERS else None
        for leaf in leaves(structures, kind, offset, member + ".") if inner else [(member, offset, size)]:
            own = set(range(leaf[1], leaf[1] + leaf[2]))
            if not own & taken:
                found.append(leaf)
                taken |= own
    return sorted(found, key=lambda leaf: leaf[1])


def main():
    structures = collections.defaultdict(list)
    for row in rows("structs.tsv"):
        if row["offset"] and row["size_of_field"]:
            structures[row["struct"]].append(row)
    structures = dict(structures)
    calls = {row["name"]: match.group(1) for row in rows("functions.tsv") if row["kind"] == "EXPORT"
             and (match := re.fullmatch(r"(?:const )?(D3DKMT_\w+) \*\w*", row["parameters_resolved"])) and match.group(1) in structures}
    entries = set(ENTRY.findall((TESTS.parent / "src/ddi/entry_table.h").read_text(encoding="utf-8")))
    text = ["/* Written by gen_structures.py. */"]
    wanted = sorted((entries & set(structures)) | set(calls.values()))
    for name in wanted:
        text.append(f"static const struct leaf {name.lower()}[] = {{")
        text.extend(f'    {{"{member}", {offset}, {size}}},' for member, offset, size in leaves(structures, name))
        text.append("};")
    text.append("static const struct structure structures[] = {")
    text.extend(f'    {{"{name}", {name.lower()}, sizeof({name.lower()}) / sizeof({name.lower()}[0])}},' for name in wanted)
    text.append("};\nstatic const struct call calls[] = {")
    text.extend(f'    {{"{call}", "{calls[call]}"}},' for call in sorted(calls))
    text.append("};\n")
    output, text = pathlib.Path(sys.argv[1]), "\n".join(text)
    if not output.exists() or output.read_text(encoding="utf-8") != text:
        output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
