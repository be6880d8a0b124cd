#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the rule tables of docs/spec/rules into one C table, sorted by id. Usage: gen_rules.py OUT.c ABSENT ADMISSION OBSERVED TABLE.tsv...

ABSENT (docs/spec/not-in-force.tsv) names the rules that the host does not carry out yet, and what that is. ADMISSION
(docs/spec/admission.tsv) gives the class, refused or expected, of each rule that can refuse something, and the evidence. OBSERVED
(docs/spec/evidence.tsv) says what Windows was seen to do about a rule.
"""
import sys


DISPLAYS = ("DISP", "VIDPN", "PRES")  # the start of an adapter without displays does not name them
MAX_ABSENT = 64  # VERIFY_MAX_ABSENT of src/verify/verify.h


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?") + '"'


def read_absent(path, rules):
    """{rule: what}"""
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if lines[0] != ["id", "what"] or any(len(cells) != 2 for cells in lines):
        sys.exit(f"{path}: not a table of id and what")
    told = dict(lines[1:])
    unknown = sorted(told.keys() - rules)
    if unknown:
        sys.exit(f"{path}: no such rule: {' '.join(unknown)}")
    return told


def series_of(rule):
    return rule.partition("-")[0]


CLASSES = {"refused": "VERIFY_REFUSED", "expected": "VERIFY_EXPECTED"}


def read_admission(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if lines[0] != ["id", "class", "evidence"] or any(len(cells) != 3 or cells[1] not in CLASSES or not cells[2] for cells in lines[1:]):
        sys.exit(f"{path}: not a table of id, class (refused, expected) and evidence")
    if len({cells[0] for cells in lines}) != len(lines):
        sys.exit(f"{path}: an id is there twice")
    return {cells[0]: (CLASSES[cells[1]], quote(cells[2])) for cells in lines[1:]}


def read_observed(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    if lines[0] != ["id", "windows", "sources", "seen"] or any(len(cells) != 4 or cells[2] not in ("one", "several") for cells in lines[1:]):
        sys.exit(f"{path}: not a table of id, windows, sources (one, several) and seen")
    if len({cells[0] for cells in lines}) != len(lines):
        sys.exit(f"{path}: an id is there twice")
    return {cells[0]: f"seen on Windows {cells[1]} ({'one source' if cells[2] == 'one' else 'several sources'}): {cells[3]}" for cells in lines[1:]}


def evidence(cells, observed):
    """What the rule rests on."""
    sources = [source for source in cells[4].split("; ") if source != "decision"]
    said = "documented" if any(source.endswith(".md") for source in sources) else "on record" if sources else ""
    decided = "decision" in cells[4].split("; ")
    base = f"{said}, in part a decision of this host" if said and decided else said or "a decision of this host"
    return f"{base}; {observed[cells[0]]}" if cells[0] in observed else base


def main():
    out, admission, observed, tables = sys.argv[1], read_admission(sys.argv[3]), read_observed(sys.argv[4]), sys.argv[5:]
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
    absent = read_absent(sys.argv[2], rows.keys())
    unknown = sorted(admission.keys() - rows.keys())
    if unknown:
        sys.exit(f"{sys.argv[3]}: no such rule: {' '.join(unknown)}")
    unknown = sorted(observed.keys() - rows.keys())
    if unknown:
        sys.exit(f"{sys.argv[4]}: no such rule: {' '.join(unknown)}")
    texts = [None] + list(dict.fromkeys(absent[key] for key in sorted(absent)))
    if len(texts) > MAX_ABSENT:
        sys.exit(f"{sys.argv[2]}: more than {MAX_ABSENT - 1} things")
    with open(out, "w", encoding="utf-8") as file:
        file.write('#include "verify/verify.h"\n\nconst struct verify_rule verify_rules[] = {\n')
        for key in sorted(rows):
            file.write("    {" + ", ".join(quote(cell) for cell in rows[key]) +
                       f", {'true' if rows[key][1].startswith('1') and series_of(key) not in DISPLAYS else 'false'}, {texts.index(absent.get(key))}, {', '.join(admission.get(key, ('VERIFY_NO_ADMISSION', 'NULL')))}, {quote(evidence(rows[key], observed))}" + "},\n")
        file.write("};\n\nconst size_t verify_rules_count = sizeof(verify_rules) / sizeof(verify_rules[0]);\n\n")
        file.write("const char *const verify_absent[] = {" + ", ".join(quote(text) if text else "NULL" for text in texts) + "};\n")


if __name__ == "__main__":
    main()
