#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Transcripts of whole runs (tests/support/transcript.h has what transcripts are): all that the program prints, its exit status, the
trace, and what is left in its folder of results. Usage: runs.py NAME BUILD_FOLDER [--write], or runs.py --list BUILD_FOLDER

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
# Few frames in each mode.
DESKTOP = f"{REFGPU} workloads/desktop.lua --device-set outputs=2 --set frames=3"
EMPTY = f"{REFGPU} workloads/empty.lua"
INSPECT = "inspect build/drivers/refgpu.so"
EXPLORE = "explore build/drivers/refgpu.so"
# The probes of the test driver "seeds" (docs/seeds.md): version, workload, and the options of a run each.
PROBES = {
    "patch12": ("12", "patch", ("--vram 1M --split-dma-buffers --device-set multi=0 --set split=1", "--vram 1M --split-dma-buffers --device-set preempt=1 --device-set aperture=1 --set split=portions",
                                "--vram 8M --device-set keep=1 --device-set preempt=1 --device-set nopatching=1", "--vram 1M --power-cycle 50000 --device-set multi=0 --set anytime=1",
                                "--vram 1M --iommu flags=0xf --device-set aperture=1", "--vram 8M --set destroyed=1")),
    "patch20": ("20", "patch", ("--vram 1M --device-set multi=0", "--vram 1M --device-set preempt=1 --device-set aperture=1", "--vram 1M --device-set stays=1",
                                "--vram 1M --device-set private=16 --device-set preempt=1 --set anywhere=1", "--vram 1M --device-set failpatch=1", "--vram 1M --device-set pagingaperture=1",
                                "--vram 4M --device-set gpummu=1 --device-set preempt=1 --device-set aperture=1")),
    "patch29": ("29", "patch", ("--vram 1M --device-set preempt=1 --iommu isolation", "--vram 4M --device-set gpummu=1 --iommu remap", "--vram 1M --device-set multi=1 --strict",
                                "--vram 1M --device-set preempt=1 --power-cycle 50000 --set anytime=1", "--vram 1M --device-set preempt=1 --cpus 2",
                                "--vram 1M --device-set preempt=1 --force-irql --seed 3")),
    "context": ("29", "context", ("--vram 4M --device-set gpummu=1", "--vram 4M --device-set gpummu=1 --device-set noexec=1 --iommu isolation", "--vram 4M --device-set gpummu=1 --iommu remap",
                                  "--vram 4M --device-set gpummu=1 --set only=taken", "--vram 4M --device-set gpummu=1 --iommu remap --set only=hardware",
                                  "--vram 4M --device-set gpummu=1 --device-set cputables=1", "--vram 4M --device-set gpummu=1 --iommu remap --power-cycle 50000")),
    "objects": ("29", "objects", ("--vram 4M", "--vram 4M --iommu isolation", "--vram 4M --iommu remap --device-set gpummu=1", "--vram 4M --set only=device-memory", "--vram 4M --set only=late-use",
                                  "--vram 4M --set only=late-use-of-memory")),
    "contiguous": ("29", "contiguous", ("--vram 4M --set iommu=off", "--vram 4M --iommu isolation --set iommu=isolation", "--vram 4M --iommu remap --device-set gpummu=1 --set iommu=remap")),
}
# Values of options that are taken, the last and first of a range among them, and that are not.
TAKEN = ("--seed 0", "--seed 18446744073709551615", "--seed 0x10", "--seed 010", "--fail-allocation 0", "--stall-limit 0", "--stall-limit 86400", "--watchdog 0",
         "--watchdog 86400", "--limit 0", "--limit 1.5s", "--limit 18446744073s", "--virtual-limit 90", "--ram 64M", "--ram 0x10000000", "--ram 65536k", "--ram 256MiB",
         "--ram 67112960", "--ram 1TB", "--vram 8M", "--vram 0", "--cpus 1", "--cpus 64", "--iommu remap,flags=0x7,svm,present", "--windows observed", "--stub-missing",
         "--device null", "--device-set vram=16777216", "--severity CAPS-001=note --severity CAPS-001=bugcheck", "--verbose", "--strict", "--stress", "--special-pool",
         "--force-irql --raised-submit --split-dma-buffers")
REFUSED = ("--seed -1", "--seed 18446744073709551616", "--fail-allocation x", "--stall-limit 86401", "--watchdog 86401", "--watchdog 18446744073709552", "--limit 5x", "--limit 1.",
           "--limit .5", "--limit 18446744074s", "--limit 18446744073709551616ns", "--limit 18446744073.9s", "--ram 63M", "--ram 67104768", "--ram 67108865", "--ram 1025G",
           "--ram 1T1", "--ram 1Q", "--ram 1Mib", "--ram 16777216T", "--vram 1KK", "--vram 1@", "--vram 1iB", "--cpus 0", "--cpus 65", "--iommu remap,", "--iommu svm,on",
           "--iommu flags=0x1234567890123", "--windows observe", "--device", "--device-set =1", "--device-set nonsense=1", "--severity =note", "--severity CAPS-001",
           "--severity CAPS-001=notes", "--severity caps-01=note", "--registry nothing.reg", "--registry tests", "--device nothing.so", "--device tests", "--trace", "--nonsense", "-", "more")
# Only of a run, with its workload.
RUN_TAKEN = ("--script-limit 0", "--script-limit 86400", "--script-memory 0", "--script-memory 1M", "--script-memory 1048576", "--power-cycle 1000000", "--set a=", "--set a=b=c",
             "--report memory")
RUN_REFUSED = ("--script-limit 86401", "--script-memory 1048575", "--script-memory 1023K", "--script-memory x", "--power-cycle 0", "--power-cycle x", "--set =b", "--set a",
               "--report memories", "--no-supervisor --isolate")
EXPLORE_REFUSED = ("", "--seeds", "--seeds x", "--seeds 1..", "--seeds ..2", "--seeds 3..2", "--seeds 1.2", "--seeds 0..18446744073709551615", "--seeds 18446744073709551616..18446744073709551617",
                   "--seeds 000000000000000000000001..2", "--seeds 1 -j 0", "--seeds 1 -j 257", "--seeds 1 -j257", "--seeds 1 -jx", "--seeds 1 --jobs", "--seeds 1 --shard 0/2",
                   "--seeds 1 --shard 3/2", "--seeds 1 --shard 1/0", "--seeds 1 --shard 1/1000001", "--seeds 1 --shard 1", "--seeds 1 --stop-after 0", "--seeds 1 --stop-after 257",
                   "--seeds 1 --limit 0", "--seeds 1 --limit 86401", "--seeds 1 --json", "--seeds 1 --seed 1", "--seeds 1 --trace x", "--seeds 1 --cpus 0", "--seeds 1 more",
                   "--seeds 1 --device nothing.so", "--seeds 1 --json no/where")
# What each transcript consists of: lines for the program; a first word with a slash is another one.
RUNS = {
    "compositor": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M", f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --seed 5 --cpus 1 --verbose"],
    "compositor_isolated": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --iommu isolation --special-pool"],
    "compositor_remapped": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --iommu remap,svm --report memory"],
    "compositor_asleep": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --power-cycle 3000000"],
    "compositor_stressed": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --stress --force-irql --raised-submit"],
    "compositor_documented": [f"{REFGPU} workloads/compositor.lua {SMALL} --vram 8M --windows documented"],
    "desktop": [DESKTOP, f"{DESKTOP} --seed 5 --cpus 1 --verbose"],
    "desktop_remapped": [f"{DESKTOP} --iommu remap --special-pool --force-irql"],
    "desktop_firmware": [f"{DESKTOP} --device-set vga=1 --stress"],
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
    "shortage_burst": [f"{REFGPU} workloads/burst.lua --verbose --fail-allocation {number}" for number in range(530, 1200, 40)],
    "shortage_calls": [f"{REFGPU} tests/system/every_call.lua --fail-allocation {number}" for number in range(560, 1400, 120)],
    "shortage_probes": [f"run build/tests/drivers/seeds/seeds{version}.so tests/drivers/seeds/patch.lua {SEEDS} --vram 1M --fail-allocation {number}"
                        for version in ("12", "20", "29") for number in range(150, 1500, 190)],
    "inspect": ["inspect build/drivers/refgpu.so", "inspect build/tests/drivers/compute.so --device null", "inspect build/tests/drivers/refused.so --device null",
                "inspect build/tests/drivers/missing_imports.so", "inspect build/tests/drivers/incomplete_table.so", "inspect build/tests/drivers/no_entry.so"],
    "inspect_more": [f"inspect build/tests/drivers/{name}.so{device}" for name in (
        "seeds/seeds12", "seeds/seeds20", "seeds/seeds29", "single_engine", "fails_entry", "counter", "isolated_all", "crashes_entry", "contiguous", "habits")
        for device in ("", " --device null", " --device build/tests/drivers/seeds/device.so --strict")],
    "rules": ["rules LIFE", "rules NONE", "explain PATCH-017", "explain gpuva-062", "explain CAPS-095", "explain PATCH-999", "--version", "--help", "run", "explore", "inspect",
              "run nothing.so nothing.lua", "run --seed", f"{REFGPU} workloads/empty.lua --seed x", f"{REFGPU} workloads/empty.lua --cpus 65",
              f"{REFGPU} workloads/empty.lua --ram 1", f"{REFGPU} workloads/empty.lua --set x", f"{REFGPU} workloads/empty.lua --set a=b",
              f"{REFGPU} workloads/empty.lua --severity X=note", f"{REFGPU} workloads/empty.lua --severity CAPS-001=loud", f"{REFGPU} workloads/empty.lua --windos documented"],
    "check_trace": ["check-trace tests/wintrace/samples/whole.etl", "check-trace tests/wintrace/samples/gap.etl", "check-trace tests/system/runs.py", "check-trace nothing",
                    "check-trace", "check-trace --all"],
    "compare_traces": [f"compare tests/wintrace/samples/{words}" for words in (
        "whole.etl tests/wintrace/samples/whole.etl", "whole.etl tests/wintrace/samples/gap.etl --all", "gap.etl tests/wintrace/samples/whole.etl --process-ours 44",
        "whole.etl tests/wintrace/samples/gap.etl --process-windows 45", "whole.etl nothing", "whole.etl tests/system/runs.py", "whole.etl")],
    "explore": [f"explore build/drivers/refgpu.so workloads/escape.lua --seeds 1..3 -j 1 --iommu off", f"explore build/drivers/refgpu.so workloads/burst.lua --seeds 1..2 -j 1"],
    "memory_reports": [f"{REFGPU} workloads/{words} --report memory" for words in (
        f"compositor.lua {SMALL} --vram 8M --ram 64M --iommu isolation", "burst.lua --ram 65M --iommu remap,svm", "hang.lua --ram 1T", "escape.lua --iommu off --ram 256M", "empty.lua --limit 1us")],
    "inspect_windows": [f"inspect build/tests/drivers/{compiler}/{name}.sys --device null" for compiler in ("gcc", "clang") for name in ("habits", "missing", "ordinals", "uses_library", "compute")]
                       + [f"inspect build/tests/drivers/{compiler}/missing.sys --device null --stub-missing" for compiler in ("gcc", "clang")],
    "starts_windows": [f"run build/tests/drivers/{compiler}/{name}.sys workloads/empty.lua --device null --verbose {option}" for compiler in ("gcc", "clang")
                       for name, option in (("compute", ""), ("missing", ""), ("missing", "--stub-missing"), ("ordinals", ""), ("uses_library", ""), ("habits", ""), ("faults", ""))],
    "options_taken": [f"{EMPTY} {option}" for option in TAKEN + RUN_TAKEN] + [f"{INSPECT} --verbose --strict --cpus 2 --severity CAPS-001=note",
                         f"{INSPECT} --seed 2 --fail-allocation 1000000 --stall-limit 60 --watchdog 5 --limit 1h --virtual-limit 1h --ram 1G --vram 16M --iommu off"
                         " --windows documented --device build/devices/refgpu.so"],
    "options_refused": [f"{EMPTY} {option}" for option in REFUSED + RUN_REFUSED] + [f"{INSPECT} {option}" for option in (
        "more", "--nonsense", "--set a=b", "--power-cycle 1", "--script-limit 1", "--script-memory 1M", "--report memory", "--trace x", "--out x", "--ram 1", "--severity CAPS-001=x",
        "--device", "--device nothing.so")] + ["inspect nothing.so", "inspect tests", "inspect tests/system/runs.py", "inspect --verbose"],
    "explore_refused": [f"{EXPLORE} workloads/empty.lua {option}" for option in EXPLORE_REFUSED] + ["explore --seeds 1", f"{EXPLORE} --seeds 1"],
    "explore_taken": [f"{EXPLORE} workloads/{words}" for words in (
        "empty.lua --seeds 7 -j1", "empty.lua --seeds 0 --jobs 1 --limit 86400", "empty.lua --seeds 18446744073709551614..18446744073709551614 -j 1", "empty.lua --seeds 1..10 --shard 2/3 -j 1",
        "empty.lua --seeds 1..3 --shard 3/1000000 -j1", "escape.lua --seeds 1..9 --stop-after 1 -j 1 --iommu off", "escape.lua --seeds 4..5 -j 1 --iommu off --severity IOMMU-075=note",
        "escape.lua --seeds 4..5 -j 1 --iommu off --severity IOMMU-075=bugcheck", "escape.lua --seeds 4..5 -j 1 --iommu off --json -", "burst.lua --seeds 3..4 -j 1 --virtual-limit 1ms",
        "burst.lua --seeds 3..4 -j 1 --set a'b=c\\\"d --fail-allocation 77 --json -", "nothing.lua --seeds 1 -j 1", "empty.lua --seeds 1..2 -j 1 --iommu remap,opt-out --json -")],
    "commands": ["", "nonsense", "--nonsense", "run --help", "--version more", "explain", "explain PATCH-017 PATCH-018", "explain PATCH", "explain NT-202", "explain SEG-001", "explain IOMMU-075",
                 "rules a b", "rules PATC", "rules PATCHES", "rules patch", "rules"],
    "explained": ["explain " + rule for rule in ("CAPS-001", "CAPS-002", "PATCH-077", "PATCH-121", "LIFE-191", "SUBMIT-039", "PREEMPT-012", "PHYS-011", "TDR-041", "DISP-001", "KMT-003")],
    "judged": [f"{REFGPU} workloads/escape.lua --iommu off --severity IOMMU-075={severity}" for severity in ("note", "warning", "error", "bugcheck")]
              + [f"{REFGPU} workloads/escape.lua --iommu off --strict", f"{REFGPU} workloads/escape.lua --iommu off --severity IOMMU-075=note --strict"],
    "ended": [f"{REFGPU} workloads/burst.lua --limit 100us", f"{REFGPU} workloads/hang.lua --limit 1ms --verbose", f"{REFGPU} workloads/nothing.lua", f"{REFGPU} tests/system/runs.py"],
    "commands_fail": [f"{REFGPU} workloads/hang.lua --fail-allocation {number}" for number in (900, 1100, 1300, 1600, 2000)],
    "isolated": [f"{EMPTY} --isolate", f"{REFGPU} workloads/burst.lua --isolate --verbose", f"{EMPTY} --isolate --device null", f"{EMPTY} --isolate --report memory",
                 f"run build/tests/drivers/ends_process.so workloads/empty.lua --device null --isolate", f"{REFGPU} tests/system/files.lua --isolate", f"{REFGPU} tests/system/files.lua --isolate --set file=README.md --set other=none.md --registry /etc/passwd",
                 f"{INSPECT} --isolate", f"{EXPLORE} workloads/empty.lua --seeds 1..2 -j 1 --isolate"],
    **{f"probes_{name}": [f"run build/tests/drivers/seeds/seeds{version}.so tests/drivers/seeds/{workload}.lua {SEEDS} {options}" for options in rows]
       for name, (version, workload, rows) in PROBES.items()},
    "client_campaign": ["build/fuzz/client_campaign/client_campaign build --calls 6000 --each 2000 --seed 3 --list"],
}
HOST = re.compile(r"\b(?:0x)?(?:5[5-9a-f]|6[0-9a-f]|7[0-9a-f])[0-9a-f]{10}\b", re.I)
PLACE = re.compile(r"(?<=[\w>)])\+0x[0-9a-f]+")
WALL = re.compile(r"\d+(?:\.\d+)? (?:ms|s) wall|, \d+ s$|\d+(?:\.\d+)? s of processor time|in \d+(?:\.\d+)? s\b|\d+\.\d+ s, \d+ seeds a second|handle 0x[0-9a-f]+ is|\"seconds\": \d+\.\d+", re.M)
LINE = re.compile(r"(?<=\.c:)\d+")
FILE = re.compile(r"(?<=image for x64, )\d+ bytes, \d+|(?<=for x86-64, )\d+(?= bytes)|0x[0-9a-f]{8}, +\d+ bytes, +\d+(?= in the file)")  # by compiler and paths


def normal(text, folder, build):
    text = text.replace(folder, "OUT").replace(str(build), "build").replace(str(SOURCE), ".")
    for pattern in (HOST, WALL, FILE):
        text = pattern.sub("@", text)
    return LINE.sub("@", PLACE.sub("+@", text))


def command_of(line, folder, build):
    words = [str(build) + word.removeprefix("build") if word.split("/")[0] == "build" else word for word in line.split()]
    if words and "/" in words[0]:
        return words
    if words[:1] == ["run"] and len(words) > 2 and ".lua" in line:
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
            for path in sorted(pathlib.Path(folder).rglob("*")):
                if path.suffix == ".svg":
                    text.append(f"{path.name}\n{path.read_text(encoding='utf-8')}")
                elif path.is_file() and path != trace:
                    text.append(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n")
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
    was = kept(name)
    for _ in range(3):  # limits of the host's time end a run otherwise on a machine that is very busy
        text = take(name, build)
        is_now = str(text.count("\n")), hashlib.sha256(text.encode()).hexdigest()[:16]
        if "--write" in sys.argv or not was:
            break
        if was == is_now or was[0] == "varies":
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
