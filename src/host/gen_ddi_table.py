#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write ddi_table.inc, the names of a miniport's entry points in their order. Usage: gen_ddi_table.py include/wdk/dispmprt.h src/host"""
import pathlib
import re
import sys


def main():
    text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    body = re.search(r"typedef struct _DRIVER_INITIALIZATION_DATA \{(.*?)\n\}", text, re.S).group(1)
    names = re.findall(r"^\s+PDXGK\w+ (\w+);", body, re.M)
    with open(pathlib.Path(sys.argv[2], "ddi_table.inc"), "w", encoding="utf-8") as out:
        out.write("/* Written by gen_ddi_table.py; do not change by hand. */\n")
        for name in names:
            out.write(f"ENTRY({name})\n")


main()
