#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drivers that write outside of what they are given, as a user sees them. Usage: lent.py CASE BUILD_FOLDER. Exit status 0: the
case holds; 77: it cannot run here."""
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAMPAIGN = os.path.join(SOURCE, "fuzz", "driver_campaign")
KEY = r"[\Registry\Machine\System\CurrentControlSet\Services\acts]"


def numbers(file, expression, start="", end=None):
    with open(file, encoding="utf-8") as lines:
        text = lines.read()
    text = text[text.index(start):text.index(end) if end else None]
    return {name: index for index, name in enumerate(re.findall(expression, text, re.M))}


ACTS = numbers(os.path.join(CAMPAIGN, "acts.inc"), r"^ACT\((\w+),")
SLOTS = numbers(os.path.join(SOURCE, "include", "wdk", "dispmprt.h"), r"^\s+(?:\w+ |void \*)((?:DxgkDdi|Reserved)\w*);", "typedef struct _DRIVER_INITIALIZATION_DATA {",
                "} DRIVER_INITIALIZATION_DATA")


def run(build, kind, act, entry, *options):
    driver = os.path.join(build, "fuzz", "acts." + kind)
    if not os.path.exists(driver):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "registry")
        values = {"Act": ACTS[act], "Slot": SLOTS[entry], "Nth": 1, "After": 0, "Seed": 1}
        with open(registry, "w", encoding="utf-8") as file:
            file.write(KEY + "\n" + "".join(f'"{name}"=4:{value.to_bytes(4, "little").hex()}\n' for name, value in values.items()))
        return subprocess.run([os.path.join(build, "dxgkhost"), "run", driver, os.path.join(CAMPAIGN, "workload.lua"),
                               "--device", os.path.join(build, "devices", "refgpu.so"), "--registry", registry,
                               "--out", os.path.join(folder, "out"), "--iommu", "isolation", "--verbose", *options],
                              capture_output=True, text=True, errors="replace", check=False, timeout=120, stdin=subprocess.DEVNULL)


def check(done, *said, whole=True, status=None):
    text = done.stdout + done.stderr
    wrong = [word for word in said if not re.search(word, text)]
    if done.returncode != (status or (3 if whole else 5)) or wrong or "driver said: act" not in text or (whole and not re.search(r"^  result +FAIL$", text, re.M)):
        sys.exit(f"{done.args}\nstatus {done.returncode}, not said: {wrong}\n{text}")


def reported(build, kind):
    """One byte past private data, and 64 bytes past a structure: named, and the run goes on to its summary."""
    check(run(build, kind, "private_data_past", "DxgkDdiCreateAllocation"), "LIFE-191",
          r"wrote past the private data of DXGK_ALLOCATIONINFO of \d+ bytes: 1 bytes were changed", "in DxgkDdiCreateAllocation", "acts")
    check(run(build, kind, "private_data_past_4k", "DxgkDdiCreateAllocation"), "LIFE-191", r"\d{4} bytes were changed from offset")
    check(run(build, kind, "private_data_before", "DxgkDdiOpenAllocation"), "LIFE-191", "wrote before the private data of DXGK_OPENALLOCATIONINFO")
    check(run(build, kind, "lists_past", "DxgkDdiCreateAllocation"), "LIFE-191", "wrote past pAllocationInfo of DXGKARG_CREATEALLOCATION")
    check(run(build, kind, "structure_past", "DxgkDdiQueryEngineStatus"), "LIFE-191",
          r"wrote past DXGKARG_QUERYENGINESTATUS of 12 bytes: \d+ bytes were changed", "in DxgkDdiQueryEngineStatus")
    check(run(build, kind, "private_data_past", "DxgkDdiQueryAdapterInfo"), "CAPS-005", "wrote past pOutputData", whole=False, status=3)


def fatal(build, kind):
    """Buffers of submissions."""
    for act, entry in (("private_data_past", "DxgkDdiRender"), ("dma_buffer_past", "DxgkDdiRender"), ("lists_past", "DxgkDdiRender"),
                       ("dma_buffer_past", "DxgkDdiPatch"), ("private_data_past", "DxgkDdiSubmitCommand")):
        check(run(build, kind, act, entry), "PATCH-066", entry + " wrote outside", whole=False)
    check(run(build, kind, "dma_buffer_past", "DxgkDdiBuildPagingBuffer"), "PAGE-008", "DxgkDdiBuildPagingBuffer wrote outside its DMA buffer",
          whole=False)
    check(run(build, kind, "private_data_past", "DxgkDdiSubmitCommandVirtual"), "PAGE-008", "wrote outside the private data of its paging buffer", whole=False)


def fenced(build, kind):
    """With special pool, the access itself is found, with its place."""
    check(run(build, kind, "private_data_past", "DxgkDdiCreateAllocation", "--special-pool"), "LIFE-191", r"acts\S*!?.*in DxgkDdiCreateAllocation "
          r"wrote to the private data of DXGK_ALLOCATIONINFO of (\d+) bytes at offset \1, 0 past its end", "NT-002", whole=False)
    check(run(build, kind, "structure_past", "DxgkDdiQueryEngineStatus", "--special-pool"), "LIFE-191",
          "wrote to DXGKARG_QUERYENGINESTATUS of 12 bytes at offset 12", whole=False)
    check(run(build, kind, "structure_past", "DxgkDdiQueryEngineStatus", "--checks=full"), "LIFE-191",
          "wrote to DXGKARG_QUERYENGINESTATUS of 12 bytes at offset 12", whole=False)
    for entry, what in (("DxgkDdiRender", "DMA buffer"), ("DxgkDdiPatch", "DMA buffer"), ("DxgkDdiBuildPagingBuffer", "paging buffer")):
        check(run(build, kind, "dma_buffer_past", entry, "--special-pool"), "LIFE-191",
              f"in {entry} wrote to the {what} of (\\d+) bytes at offset \\1, 0 past its end", whole=False)
    check(run(build, kind, "private_data_past", "DxgkDdiSubmitCommandVirtual", "--special-pool"), "LIFE-191",
          r"the private data of the paging buffer of (\d+) bytes at offset \1, 0 past its end", whole=False)


CASES = {f"{case.__name__}_{kind}": (case, kind) for case in (reported, fatal, fenced) for kind in ("so", "sys")}

if __name__ == "__main__":
    what, of = CASES[sys.argv[1]]
    what(os.path.abspath(sys.argv[2]), of)
