#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write unsupported.c of src/kmt: every D3DKMT function of d3dkmthk.h that no other file there defines (KMT-001).

Usage: gen_unsupported.py [--check]
What stands in the file before the first function is kept as it is."""
import re
import sys

from generated import ROOT, deliver, find

COLUMNS = 100


def parameter(text, index):
    """A parameter of the header, with its name, if it has one, replaced by ours."""
    if re.search(r"[\s*]\w+$", text) and not text.startswith("const "):
        text = re.sub(r"(?<=[\s*])\w+$", "", text).strip()
    else:
        text = re.sub(r"\*\s*\w+$", "*", text)
    return f"{text}{'' if text.endswith('*') else ' '}argument{index}"


def by_macro(name, part):
    line = f"UNSUPPORTED({name}, {part})"
    return line if len(line) <= COLUMNS else line.replace(", ", ",\n            ")


def whole(result, name, parts):
    """A function that the macro of the others does not fit."""
    named = [parameter(part, i) for i, part in enumerate(parts) if part != "void"]
    head = f"{result} APIENTRY {name}("
    line = head + (", ".join(named) or "void") + ")"
    if len(line) > COLUMNS:
        line = head
        for i, part in enumerate(named):
            end = "," if i + 1 < len(named) else ")"
            if i > 0:
                fits = len(line.split("\n")[-1]) + 1 + len(part) + 1 <= COLUMNS
                line += " " if fits else "\n" + " " * len(head)
            line += part + end
    body = [f"    (void)argument{i};" for i in range(len(named))]
    if result != "void":
        refusal = f'kmt_call_unsupported("{name}", true)'
        body.append(f"    return {'FALSE' if result == 'BOOLEAN' else refusal};")
    return "\n".join(["", line, "{", *body, "}"])


def main():
    target = find("src/kmt", "unsupported.c")
    defined = set()
    for source in sorted((ROOT / "src/kmt").rglob("*.c")):
        if source != target:
            text = source.read_text(encoding="utf-8")
            defined.update(re.findall(r"KMT_[A-Z_]+\((D3DKMT\w+)", text))
            defined.update(re.findall(r"^NTSTATUS APIENTRY (D3DKMT\w+)\(", text, re.M))
    header = (ROOT / "include/wdk/d3dkmthk.h").read_text(encoding="utf-8")
    simple, others = [], []
    for result, name, parameters in re.findall(r"^(NTSTATUS|BOOLEAN|void) APIENTRY (D3DKMT\w+)\(([^;]*)\);", header, re.M):
        parts = [" ".join(part.split()) for part in parameters.split(",")]
        if name in defined:
            continue
        if result == "NTSTATUS" and len(parts) == 1 and re.fullmatch(r"[\w ]+\*", parts[0]):
            simple.append(by_macro(name, parts[0]))
        else:
            others.append(whole(result, name, parts))
    head = re.split(r"^UNSUPPORTED\(", target.read_text(encoding="utf-8"), maxsplit=1, flags=re.M)[0]
    return deliver({target: head + "\n".join(simple + others) + "\n"})


sys.exit(main())
