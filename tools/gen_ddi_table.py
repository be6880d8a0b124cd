#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write ddi_table.inc of src/ddi, the names of a miniport's entry points in their order. Usage: gen_ddi_table.py [--check]"""
import re
import sys

from generated import ROOT, deliver, find


def main():
    text = (ROOT / "include/wdk/dispmprt.h").read_text(encoding="utf-8")
    body = re.search(r"typedef struct _DRIVER_INITIALIZATION_DATA \{(.*?)\n\}", text, re.S).group(1)
    names = re.findall(r"^\s+PDXGK\w+ (\w+);", body, re.M)
    table = "/* Written by tools/gen_ddi_table.py; do not change by hand. */\n" + "".join(f"ENTRY({name})\n" for name in names)
    return deliver({find("src/ddi", "ddi_table.inc"): table})


sys.exit(main())
