#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The client interface as tables for the client campaign, from tests/abi: every exported D3DKMT*, and the members of its structure and
of those that this points to. An export that fits no pattern is an error. Usage: calls.py FOLDER_OF_ABI TARGET"""
import csv
import os
import re
import sys

# Those whose arguments are not one structure; calls.c has a function for each.
SPECIAL = ("ShareObjects", "GetPresentQueueEvent", "SetProcessSchedulingPriorityClass", "GetProcessSchedulingPriorityClass", "ReleaseProcessVidPnSourceOwners",
           "CheckExclusiveOwnership", "CloseDxCoreDevice")
HANDLES = {"D3DKMT_HANDLE": "HANDLE32", "HANDLE": "HANDLE64"}
BYTES = {"UINT": 4, "ULONG": 4, "UINT64": 8, "ULONGLONG": 8, "ULONG64": 8, "BYTE": 1, "UCHAR": 1, "WCHAR": 2, "D3DKMT_HANDLE": 4, "HANDLE": 8, "LARGE_INTEGER": 8,
         "SIZE_T": 8, "GUID": 16, "LUID": 8, "RECT": 16, "void": 1, "BOOL": 4, "INT": 4, "PVOID": 8}


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


class Tables:
    def __init__(self, folder):
        self.structures, self.sizes, self.typedefs = {}, {}, {}
        for row in rows(folder, "structs.tsv"):
            self.structures.setdefault(row["struct"], []).append(row)
            self.sizes[row["struct"]] = int(row["size"])
        self.enums = {}
        for row in rows(folder, "enums.tsv"):
            self.enums.setdefault(row["enum"], []).append(int(row["value"], 0))
        for row in rows(folder, "typedefs.tsv"):
            self.typedefs[row["name"]] = row["canonical"]
        self.order, self.lists = [], []

    def index(self, name):
        if name not in self.order:
            self.order.append(name)
        return self.order.index(name)

    def resolve(self, kind):
        """(name of what, levels of pointer)."""
        kind = re.sub(r"\b(const|volatile|struct|enum)\b", "", kind).strip()
        stars = kind.count("*")
        kind = kind.replace("*", "").strip()
        seen = set()
        while kind in self.typedefs and kind not in seen and kind not in self.structures and kind not in self.enums and kind not in BYTES:
            seen.add(kind)
            under = re.sub(r"\b(const|volatile|struct|enum)\b", "", self.typedefs[kind]).strip()
            stars += under.count("*")
            kind = under.replace("*", "").strip()
            if kind.startswith("_") and kind[1:] in self.structures:
                kind = kind[1:]
        return kind, stars

    def member(self, row):
        kind, stars = self.resolve(row["type"])
        size = int(row["size_of_field"])
        if stars:
            if stars == 1 and kind in self.structures and kind != "D3DKMT_HANDLE":
                return "POINTER", self.index(kind), self.sizes[kind]
            element = 8 if stars > 1 else BYTES.get(kind, 4 if kind in self.enums else 8)
            return "POINTER", -2 if kind == "D3DKMT_HANDLE" and stars == 1 else -1, element
        if kind.startswith("D3DKMT_HANDLE["):
            return "HANDLE32", 0, 4 # the first element
        if kind in HANDLES:
            return HANDLES[kind], 0, size
        if kind in self.enums:
            values = sorted(set(self.enums[kind]))
            self.lists.append((kind, values))
            return "ENUM", kind, size
        if kind in self.structures and "[" not in row["type"]:
            return "STRUCTURE", self.index(kind), size
        if kind == "D3DGPU_VIRTUAL_ADDRESS" or row["field"].endswith("VirtualAddress"):
            return "ADDRESS", 0, size
        return "VALUE", 0, size

    def members(self, name):
        bits, out = 0, []
        for row in self.structures[name]:
            if row["bit_offset"]:
                if "eserved" not in row["field"] and int(row["offset"]) == 0:
                    bits |= ((1 << int(row["bit_width"])) - 1) << int(row["bit_offset"])
                continue
            if row["type"] in ("union", "struct") or not row["size_of_field"]:
                continue
            out.append((row["field"].rpartition(".")[2], int(row["offset"]), *self.member(row)))
        return bits, out


def main():
    folder, target = sys.argv[1:]
    tables = Tables(folder)
    calls = []
    for row in rows(folder, "functions.tsv"):
        name = row["name"]
        if row["kind"] != "EXPORT" or not name.startswith("D3DKMT"):
            continue
        if name.startswith("D3DKMDT"):
            continue
        parameters = row["parameters_resolved"]
        match = re.fullmatch(r"(?:const )?(\w+) \*\w*", parameters)
        if name.removeprefix("D3DKMT") in SPECIAL:
            calls.append((name, "special_" + name.removeprefix("D3DKMT"), -1))
        elif match and match[1] in tables.structures:
            calls.append((name, f"(NTSTATUS(*)(void *)){name}", tables.index(match[1])))
        elif match and match[1] == "GUID":
            calls.append((name, f"(NTSTATUS(*)(void *)){name}", -1))
        else:
            sys.exit(f"{name}({parameters}): neither one structure nor known to calls.c")
    lines, members, at = [], [], 0
    structures = []
    while at < len(tables.order):
        name = tables.order[at]
        bits, own = tables.members(name)
        structures.append((name, tables.sizes[name], len(members), len(own), bits))
        members += own
        at += 1
    enums = {}
    numbers = []
    for kind, values in tables.lists:
        if kind not in enums:
            enums[kind] = (len(enums), len(numbers), len(values))
            numbers += values
    lines.append("/* Made by calls.py from tests/abi. */")
    lines.append("static const int64_t constants[] = {" + ", ".join(f"INT64_C({n})" for n in numbers) + "};")
    lines.append("static const struct enumeration enumerations[] = {")
    lines += [f'    {{"{kind}", {first}, {count}}},' for kind, (_, first, count) in enums.items()]
    lines.append("};\nstatic const struct member members[] = {")
    for field, offset, kind, of, size in members:
        of = enums[of][0] if kind == "ENUM" else of
        lines.append(f'    {{"{field}", {offset}, {size}, MEMBER_{kind}, {of}}},')
    lines.append("};\nstatic const struct structure structures[] = {")
    lines += [f'    {{"{name}", {size}, {first}, {count}, {bits & 0xFFFFFFFF}u}},' for name, size, first, count, bits in structures]
    lines.append("};\nstatic const struct call calls[] = {")
    lines += [f'    {{"{name}", {function}, {structure}}},' for name, function, structure in calls]
    lines.append("};\n")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main()
