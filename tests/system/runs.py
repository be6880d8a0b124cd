#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transcripts of whole runs (tests/support/transcript.h has what transcripts are): all that the program prints, its exit status, and
the trace. Usage: runs.py NAME BUILD_FOLDER [--write], or runs.py --list BUILD_FOLDER

Exit status 0: the run is the one that tests/transcripts/runs.tsv keeps. --write: the text and its row are left in transcripts/runs of the
build folder, and nothing is compared."""
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
# A small picture; the same path as the big one.
SMALL = "--set width=480 --set height=270 --set columns=8 --set rows=5"
REFGPU = "run build/drivers/refgpu.so"
SEEDS = "--device build/tests/drivers/seeds/device.so"
# What each transcript consists of: lines for the program; a first word with a slash is another one.
RUNS = {
    "compositor": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M", f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --seed 5 --cpus 1 --verbose"],
    "compositor_isolated": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --iommu isolation --special-pool"],
    "compositor_remapped": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --iommu remap,svm --report memory"],
    "compositor_asleep": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --power-cycle 3000000"],
    "compositor_stressed": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --stress --force-irql --raised-submit"],
    "compositor_documented": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --windows documented"],
    "burst": [f"{REFGPU} workloads/burst.lua", f"{REFGPU} workloads/burst.lua --windows documented --seed 3"],
    "escape": [f"{REFGPU} workloads/escape.lua --iommu {words}" for words in ("isolation", "remap", "off", "flags=0x5", "off,unjudged")],
    "hang": [f"{REFGPU} workloads/hang.lua", f"{REFGPU} workloads/hang.lua --seed 3 --verbose"],
    "empty": [f"{REFGPU} workloads/empty.lua", f"{REFGPU} workloads/empty.lua --iommu remap,opt-out", f"{REFGPU} workloads/empty.lua --strict --verbose"],
    "every_call": [f"{REFGPU} tests/system/every_call.lua"],
    "every_call_remapped": [f"{REFGPU} tests/system/every_call.lua --iommu remap --cpus 1 --special-pool"],
    "calls": [f"run build/tests/drivers/seeds/seeds{version}.so tests/system/calls.lua {SEEDS} --set version={word} --verbose"
              for version, word in (("12", "1.x"), ("20", "2.0"))],
    "buffers": [f"{REFGPU} tests/system/buffers.lua --verbose"],
    "images": [f"{REFGPU} tests/system/images.lua --verbose"],
    "library": [f"{REFGPU} tests/system/library.lua --set one=1 --set two=2=2 --set three= --verbose"],
    "arguments": [f"{REFGPU} tests/system/arguments.lua --verbose", f"{REFGPU} tests/system/arguments.lua --iommu remap --seed 3"],
    "sharing": [f"{REFGPU} tests/system/sharing.lua --verbose"],
    "hostile": [f"{REFGPU} tests/system/hostile.lua --verbose"],
    "starts": [f"run build/tests/drivers/{name}.so workloads/empty.lua --device null --verbose" for name in (
        "crashes_entry", "compute", "contiguous", "counter", "fails_entry", "hidden_entry", "incomplete_table", "missing_imports", "no_entry",
        "own_thread", "refused", "single_engine", "touches_freed", "waits_entry", "isolated_all", "isolated_locks", "isolated_no_cap")],
    "shortage": [f"{REFGPU} workloads/empty.lua --fail-allocation {number}" for number in (1, 17, 40, 77, 120, 170, 230, 300, 400, 520)],
    "inspect": ["inspect build/drivers/refgpu.so", "inspect build/tests/drivers/compute.so --device null", "inspect build/tests/drivers/refused.so --device null",
                "inspect build/tests/drivers/missing_imports.so", "inspect build/tests/drivers/incomplete_table.so", "inspect build/tests/drivers/no_entry.so"],
    "rules": ["rules LIFE", "rules NONE", "explain PATCH-017", "explain gpuva-062", "explain CAPS-095", "explain PATCH-999", "--version", "--help", "run", "explore", "inspect",
              "run nothing.so nothing.lua", "run --seed", f"{REFGPU} workloads/empty.lua --seed x", f"{REFGPU} workloads/empty.lua --cpus 65",
              f"{REFGPU} workloads/empty.lua --ram 1", f"{REFGPU} workloads/empty.lua --set x", f"{REFGPU} workloads/empty.lua --set a=b",
              f"{REFGPU} workloads/empty.lua --severity X=note", f"{REFGPU} workloads/empty.lua --severity CAPS-001=loud", f"{REFGPU} workloads/empty.lua --windos documented"],
    "check_trace": ["check-trace tests/wintrace/samples/whole.etl", "check-trace tests/wintrace/samples/gap.etl", "check-trace tests/system/runs.py", "check-trace nothing",
                    "check-trace", "check-trace --all"],
    "explore": [f"explore build/drivers/refgpu.so workloads/escape.lua --seeds 1..3 -j 1 --iommu off", f"explore build/drivers/refgpu.so workloads/burst.lua --seeds 1..2 -j 1"],
    "client_campaign": ["build/fuzz/client_campaign/client_campaign build --calls 6000 --each 2000 --seed 3 --list"],
}
HOST = re.compile(r"\b(?:0x)?(?:5[5-9a-f]|6[0-9a-f]|7[0-9a-f])[0-9a-f]{10}\b")
PLACE = re.compile(r"(?<=[\w>)])\+0x[0-9a-f]+")
WALL = re.compile(r"\d+(?:\.\d+)? (?:ms|s) wall|, \d+ s$|\d+(?:\.\d+)? s of processor time|in \d+(?:\.\d+)? s\b|\d+\.\d+ s, \d+ seeds a second|handle 0x[0-9a-f]+ is", re.M)
LINE = re.compile(r"(?<=\.c:)\d+")


def normal(text, folder, build):
    text = text.replace(folder, "OUT").replace(str(build), "build").replace(str(SOURCE), ".")
    for pattern in (HOST, WALL):
        text = pattern.sub("@", text)
    return LINE.sub("@", PLACE.sub("+@", text))


def command_of(line, folder, build):
    words = [str(build) + word.removeprefix("build") if word.split("/")[0] == "build" else word for word in line.split()]
    if "/" in words[0]:
        return words
    if words[0] == "run" and len(words) > 2 and ".lua" in line:
        words += ["--out", folder, "--trace", folder + "/trace"]
    return [str(build / "dxgkhost"), *words]


def take(name, build):
    text = []
    for line in RUNS[name]:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(command_of(line, folder, build), cwd=SOURCE, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False)
            trace = pathlib.Path(folder) / "trace"
            text.append(f"$ {line}\n{normal(done.stdout, folder, build)}--\n{normal(done.stderr, folder, build)}-- status {done.returncode}\n")
            if trace.exists():
                text.append(normal(trace.read_text(encoding="utf-8", errors="replace"), folder, build))
    return "".join(text)


def kept(name):
    path = SOURCE / "tests/transcripts/runs.tsv"
    for row in path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []:
        case, lines, digest = row.split("\t")
        if case == name:
            return lines, digest
    return None


def main():
    if sys.argv[1] == "--list":
        print("\n".join(RUNS))
        return 0
    name, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    text = take(name, build)
    is_now, was = (str(text.count("\n")), hashlib.sha256(text.encode()).hexdigest()[:16]), kept(name)
    if "--write" not in sys.argv and was and (was == is_now or was[0] == "varies"):
        return 0
    folder = build / "transcripts/runs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / f"{name}.tsv").write_text("\t".join((name, *is_now)) + "\n", encoding="utf-8")
    if "--write" in sys.argv:
        return 0
    print(f"the transcript of {name} has changed, from {was[0]} lines to {is_now[0]}: it is in {folder / name}.txt; tools/transcripts shows where" if was
          else f"no transcript of {name} is kept: tools/transcripts --accept keeps it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
