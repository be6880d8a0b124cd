#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The node of RefGPU that its device schedules, as a user runs it. Usage: queues.py CASE BUILD_FOLDER. Exit status 0: the case holds;
77: it cannot run here."""
import hashlib
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
SMALL = ["--set", "width=480", "--set", "height=270", "--set", "columns=8", "--set", "rows=5", "--vram", "8M"]
SYSTEM = r"[\Registry\Machine\System\CurrentControlSet\Control\GraphicsDrivers]"
DRIVER = r"[\Registry\Machine\System\CurrentControlSet\Services\refgpu]"


def fail(text):
    print(text)
    sys.exit(1)


def registry(folder, mode=2, setting=1, tables=2):
    """The setting of the system, and those of the driver: whether the node is there, and who writes page tables."""
    path = os.path.join(folder, f"{mode}{setting}{tables}.reg")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{SYSTEM}\n"HwSchMode"=4:{mode:02}000000\n{DRIVER}\n"HardwareScheduling"=4:{setting:02}000000\n'
                   f'"PageTableUpdateMode"=4:{tables:02}000000\n')
    return path


def program(command, kind, workload, folder, *options, expect=0):
    driver = os.path.join(BUILD, "drivers", {"so": "refgpu.so", "sys": "gcc/refgpu.sys", "clang": "clang/refgpu.sys"}[kind])
    if not os.path.exists(driver):
        sys.exit(77)
    out = ["--out", folder] if command == "run" else []
    done = subprocess.run([os.path.join(BUILD, "dxgkhost"), command, driver, os.path.join(SOURCE, "workloads", workload), *out, *options],
                          capture_output=True, text=True, errors="replace", check=False, timeout=800, stdin=subprocess.DEVNULL)
    said = [line for line in done.stderr.splitlines() if re.match(r"dxgkhost: (error|warning|bug check)", line)]
    if done.returncode != expect or said or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
        fail(f"{done.args}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
    return done


def explored(kind, workload, folder, count, *options):
    if kind != "so": # the same code: what differs is how it is called
        count = (count + 1) // 2
    done = program("explore", kind, workload, folder, "--seeds", f"1..{count}", *options)
    if f"{count} run, 0 failed" not in done.stdout:
        fail(done.stdout)


def picture(kind, folder, *options):
    program("run", kind, "compositor.lua", folder, *SMALL, *options)
    with open(os.path.join(folder, "compositor.png"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def pictures(kind, folder):
    """Whoever schedules the copies, the picture is the same; in each IOMMU mode, and while the machine sleeps and wakes."""
    on = ["--registry", registry(folder)]
    seen = {picture(kind, folder), picture(kind, folder, *on), picture(kind, folder, *on, "--power-cycle", "3000000")}
    for iommu in ("isolation", "remap"):
        seen.add(picture(kind, folder, *on, "--iommu", iommu))
    if len(seen) != 1:
        fail(f"{len(seen)} different pictures")


def queues(kind, folder):
    """Priorities, waits, losses and sleep, by seeds; three engines are reset, one for each loss."""
    on = ["--registry", registry(folder)]
    done = program("run", kind, "queues.lua", folder, *on)
    if " 3 engine resets, 0 adapter resets" not in done.stdout:
        fail(done.stdout)
    if not all(words in done.stderr for words in ("hardware context", "page fault: node 2", "address 0x7000000000", "device-specific error 0x301")):
        fail(done.stderr)
    explored(kind, "queues.lua", folder, 6, *on)
    explored(kind, "queues.lua", folder, 4, *on, "--stress", "--raised-submit", "--cpus", "2")


def others(kind, folder):
    """The workloads that use a copy engine."""
    on = ["--registry", registry(folder), "--vram", "8M"]
    explored(kind, "burst.lua", folder, 10, *on)
    explored(kind, "soak.lua", folder, 3, *on, "--virtual-limit", "10h", "--set", "submissions=600")
    explored(kind, "address_spaces.lua", folder, 3, *on, "--check-page-tables", "--set", "rounds=1", "--set", "mappings=150", "--set", "apart=2")


def pages(kind, folder):
    """Paging goes through a hardware queue, too; page tables are written by addresses of the paging process, and physical ones."""
    seen = {picture(kind, folder)}
    for tables in (1, 2):
        on = ["--registry", registry(folder, setting=2, tables=tables)]
        seen |= {picture(kind, folder, *on), picture(kind, folder, *on, "--power-cycle", "3000000"), picture(kind, folder, *on, "--iommu", "remap")}
        explored(kind, "queues.lua", folder, 4, *on, "--stress")
        explored(kind, "address_spaces.lua", folder, 3, *on, "--vram", "8M", "--check-page-tables", "--set", "rounds=1", "--set", "mappings=150", "--set",
                 "apart=2")
    if len(seen) != 1:
        fail(f"{len(seen)} different pictures")


def refused(kind, folder):
    """Either setting alone makes no node, and the same mistake is told without one."""
    for mode, setting in ((1, 1), (2, 0)):
        done = program("run", kind, "queues.lua", folder, "--registry", registry(folder, mode, setting), expect=1)
        if "no node that the hardware schedules" not in done.stderr:
            fail(done.stderr)
        picture(kind, folder, "--registry", registry(folder, mode, setting))


CASES = {f"{case.__name__}_{kind}": (case, kind) for case in (pictures, queues, others, pages, refused) for kind in ("so", "sys", "clang")}

if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv[2])
    what, of = CASES[sys.argv[1]]
    with tempfile.TemporaryDirectory() as place:
        what(of, place)
