#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the rule tables of docs/spec/rules into one C table, sorted by id. Usage: gen_rules.py OUT.c TABLE.tsv..."""
import sys


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?") + '"'


def main():
    out, tables = sys.argv[1], sys.argv[2:]
    rows = {}
    for table in tables:
        with open(table, encoding="utf-8") as file:
            header = file.readline().rstrip("\n").split("\t")
            if header != ["id", "since", "applies_to", "rule", "source", "test"]:
                sys.exit(f"{table}: unexpected header {header}")
            for number, line in enumerate(file, 2):
                cells = line.rstrip("\n").split("\t")
                if len(cells) != 6:
                    sys.exit(f"{table}:{number}: {len(cells)} cells, not 6")
                if cells[0] in rows:
                    sys.exit(f"{table}:{number}: {cells[0]} is there twice")
                rows[cells[0]] = cells
    with open(out, "w", encoding="utf-8") as file:
        file.write('#include "verify/verify.h"\n\nconst struct verify_rule verify_rules[] = {\n')
        for key in sorted(rows):
            file.write("    {" + ", ".join(quote(cell) for cell in rows[key]) + "},\n")
        file.write("};\n\nconst size_t verify_rules_count = sizeof(verify_rules) / sizeof(verify_rules[0]);\n")


if __name__ == "__main__":
    main()
