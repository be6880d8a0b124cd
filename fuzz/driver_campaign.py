#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drivers that do something wrong: each act of driver_campaign/acts.inc, in entries of refgpu, in threads, DPCs and work items,
and when the file is loaded or unloaded. Every run must end in time, with a status that fits, a reason on standard error, and
a whole trace.

Usage: driver_campaign.py BUILD_FOLDER [--runs N] [--seed N] [--only ACT] [--format so|sys] [--keep FOLDER] [--jobs N]
       --runs 0: every act at every place. The seed is printed; with it the same runs are made again."""
import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import campaign

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEY = r"[\Registry\Machine\System\CurrentControlSet\Services\acts]"
ELSEWHERE = {"thread": 1000, "DPC": 1001, "work item": 1002}
STALL_S = 3
WATCHDOG_S = 1
LONGEST_S = 60 # of processor time
MOST_WAITED_S = 600
# No supervisor in the same container of processes can tell about these.
SANITIZER = ("AddressSanitizer", "LeakSanitizer", "runtime error:")


def acts():
    with open(os.path.join(SOURCE, "fuzz", "driver_campaign", "acts.inc"), encoding="utf-8") as file:
        return re.findall(r"^ACT\((\w+), (\w+), (\w+)\)", file.read(), re.M)


def slots():
    """Names of the table's members in order: the number of a slot is its index."""
    with open(os.path.join(SOURCE, "include", "wdk", "dispmprt.h"), encoding="utf-8") as file:
        text = file.read()
    body = text[text.index("typedef struct _DRIVER_INITIALIZATION_DATA {"):text.index("} DRIVER_INITIALIZATION_DATA")]
    return re.findall(r"^\s+(?:\w+ |void \*)((?:DxgkDdi|Reserved)\w*);", body, re.M)


class Run:
    def __init__(self, act, kind, place, nth, after, seed):
        self.act, self.kind, self.place, self.nth, self.after, self.seed = act, kind, place, nth, after, seed

    def __str__(self):
        return f"{self.act[1][0]} ({self.kind}) in {self.place}, call {self.nth}, {'after' if self.after else 'before'}, seed {self.seed}"


def command(options, run, folder, numbers):
    registry = os.path.join(folder, "registry")
    slot = ELSEWHERE.get(run.place, numbers.get(run.place, 5000))
    values = {"Act": run.act[0], "Slot": slot, "Nth": run.nth, "After": int(run.after), "Seed": run.seed}
    with open(registry, "w", encoding="utf-8") as file:
        file.write(KEY + "\n" + "".join(f'"{name}"=4:{value.to_bytes(4, "little").hex()}\n' for name, value in values.items()))
    return [os.path.join(options.build, "dxgkhost"), "run", os.path.join(options.build, "fuzz", "acts." + run.kind),
            os.path.join(SOURCE, "fuzz", "driver_campaign", "workload.lua"), "--device", os.path.join(options.build, "devices", "refgpu.so"),
            "--registry", registry, "--out", os.path.join(folder, "out"), "--trace", os.path.join(folder, "trace.json"), "--verbose",
            "--stall-limit", str(STALL_S), "--watchdog", str(WATCHDOG_S), "--iommu", "isolation"]


def wrong(run, done, folder):
    """What of the run does not hold; None: all does."""
    if done.status is None:
        return f"did not end within {MOST_WAITED_S} s"
    acted = f"driver said: act {run.act[0]}" in done.err or run.place in ("constructor", "destructor")
    outcome = run.act[1][2]
    if done.busy > LONGEST_S: # other programs do not count
        return f"took {done.busy:.0f} s of processor time"
    if any(word in done.err for word in SANITIZER) and run.act[1][1] != "ELF":
        return "a finding of a sanitizer"
    if done.status not in (0, 1, 3, 4, 5, 6):
        return f"exit status {done.status}"
    # a thread that a destructor starts may not run before the process ends
    late = run.place == "destructor" and run.act[1][0].startswith("thread_")
    if acted and outcome == "TOLD" and done.status not in (3, 4, 5) and not late:
        return f"exit status {done.status}, though something must be told"
    if done.status and not any(line.startswith("dxgkhost: ") for line in done.err.splitlines()):
        return "no reason is told"
    results = re.findall(r"^  result +(PASS|FAIL)", done.out, re.M)  # one more, if the process ends after the summary
    if (done.status == 0) != (results[-1:] == ["PASS"]):
        return "the summary does not fit the status"
    try:
        with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
            json.load(file)
    except (OSError, ValueError) as error:
        return f"the trace: {error}"
    return None


def perform(options, run, numbers):
    with tempfile.TemporaryDirectory() as folder:
        words = command(options, run, folder, numbers)
        environment = dict(os.environ)
        if run.place in ("constructor", "destructor"):
            environment["ACTS_" + run.place.upper()] = str(run.act[0])
        done = campaign.perform(words, folder, MOST_WAITED_S, env=environment)
        return run, wrong(run, done, folder), str(done), done.seconds


def places_called(options, kind, numbers):
    """Entries that the workload makes the driver see, with how often."""
    none = (0, acts()[0])
    with tempfile.TemporaryDirectory() as folder:
        words = command(options, Run(none, kind, "none", 1, False, 1), folder, numbers)
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONGEST_S, stdin=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"without an act, exit status {done.returncode}\n{done.stdout}\n{done.stderr}")
        with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
            begun = [event["name"] for event in json.load(file)["traceEvents"] if event.get("ph") == "B"]
    return {name: begun.count(name) for name in sorted(set(begun)) if name in numbers}


def all_runs(options, kind, numbers, chance):
    called = places_called(options, kind, numbers)
    runs = []
    for act in enumerate(acts()):
        if options.only and act[1][0] != options.only or act[1][1] == "ELF" and kind == "sys":
            continue
        for place, times in called.items():
            for nth in sorted({1, chance.randint(1, times)}):
                runs.append(Run(act, kind, place, nth, chance.random() < 0.5, chance.randint(1, 100000)))
        for place in ELSEWHERE:
            runs.append(Run(act, kind, place, 1, False, chance.randint(1, 100000)))
        if kind == "so" and act[0]:
            for place in ("constructor", "destructor"):
                # no driver runs there: services have no machine to speak of
                if act[1][0] in ("write_null", "jump_null", "recurse", "divide", "undefined", "loop") or act[1][1] == "ELF":
                    runs.append(Run(act, kind, place, 1, False, 1))
        if act[1][0] in ("callback", "service"):
            runs += [Run(act, kind, place, 1, False, chance.randint(1, 100000)) for place in called for _ in range(10)]
    return runs


def main():
    campaign.heed_signals()
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--format", choices=("so", "sys"))
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    chance = random.Random(options.seed)
    numbers = {name: index for index, name in enumerate(slots())}
    kinds = [kind for kind in ("so", "sys") if options.format in (None, kind) and os.path.exists(os.path.join(options.build, "fuzz", "acts." + kind))]
    runs = [run for kind in kinds for run in all_runs(options, kind, numbers, chance)]
    if options.runs:
        runs = chance.sample(runs, min(options.runs, len(runs)))
    bad, start = 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for index, (run, problem, said, seconds) in enumerate(pool.map(lambda run: perform(options, run, numbers), runs)):
            if problem:
                bad += 1
                print(f"{run}: {problem}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    with open(os.path.join(options.keep, f"{index}.txt"), "w", encoding="utf-8") as file:
                        file.write(f"{run}: {problem} ({seconds:.1f} s)\n{said}")
                elif bad <= 3:
                    print(said)
    print(f"driver campaign, seed {options.seed}: {len(runs)} runs, {bad} not well, {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
