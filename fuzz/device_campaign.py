#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device models that do something wrong (device_campaign/hostile.c): they fault, loop, end the process, answer with ones or garbage,
ignore what is written, raise interrupts without end or none, reach for memory that is not theirs, arm timers wildly, describe a function that
cannot be. Each run must end in time, with a status that fits, a reason and a whole trace.

Usage: device_campaign.py BUILD_FOLDER [--runs N] [--first I] [--seed N] [--keep FOLDER] [--jobs N]
       --runs 0: every act in every callback, early, late and again and again"""
import os
import random
import sys
import tempfile

import campaign

LONGEST_S = 120
# Those of the first row end the process, or have to be ended; TOLD: status 0 would be wrong.
ENDS = ("fault", "exit", "exit_at_once", "abort", "sleep", "loop")
GOES_ON = ("ones", "zeroes", "garbage", "flips", "ignores", "deaf", "dma", "services", "thread", "interrupts", "timer_now", "timer_never")
ONCE = ("describe", "refuse", "no_device")
PLACES = ("configure", "create", "reset", "read", "write", "timer", "destroy")
TIMES = ({"nth": 1}, {"nth": 2}, {"nth": 20}, {"nth": 200}, {"chance": 20}, {"chance": 500})


class Run:
    def __init__(self, act, place, when, seed, iommu):
        self.act, self.place, self.when, self.seed, self.iommu = act, place, when, seed, iommu

    def __str__(self):
        when = " ".join(f"{name} {value}" for name, value in self.when.items())
        return f"{self.act} in {self.place}, {when}, seed {self.seed}, IOMMU {self.iommu}"


def all_runs(options):
    chance = random.Random(f"{options.seed} device")
    runs = []
    for place in PLACES:
        for act in ENDS + GOES_ON:
            for when in TIMES:
                if place in ("configure", "create", "destroy") and when != TIMES[0] or act == "sleep" and when != TIMES[0]:
                    continue # they come once; what sleeps takes long to find
                runs.append(Run(act, place, when, chance.randint(1, 1 << 30), chance.choice(("off", "isolation"))))
    for act in ONCE:
        runs += [Run(act, "configure", TIMES[0], chance.randint(1, 1 << 30), "off") for _ in range(40 if act == "describe" else 1)]
    return chance.sample(runs, min(options.runs, len(runs)))[options.first:] if options.runs else runs


def perform(options, run):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        words = [campaign.program(options.build), "run", os.path.join(options.build, "drivers", "refgpu.so"),
                 os.path.join(campaign.SOURCE, "fuzz", "driver_campaign", "workload.lua"), "--device", os.path.join(options.build, "fuzz", "hostile.so"),
                 "--out", os.path.join(folder, "out"), "--trace", trace, "--iommu", run.iommu, "--stall-limit", "3", "--limit", "60", "--script-limit", "20"]
        for name, value in {"act": run.act, "place": run.place, "seed": run.seed, **run.when}.items():
            words += ["--device-set", f"{name}={value}"]
        done = campaign.perform(words, folder, LONGEST_S, preexec_fn=campaign.small_core)
        problem = campaign.problem_of(done, (0, 1, 3, 4, 5, 6), trace)
    if not problem and run.act in ENDS and run.when == TIMES[0] and done.status == 0 and run.place not in ("reset", "timer"):
        problem = "exit status 0, though the process was ended"
    return problem, str(done), f"{run.act} {done.status}"


def main():
    options = campaign.arguments(__doc__, runs=60).parse_args()
    return 1 if campaign.sweep("device campaign", options, all_runs(options), lambda run: perform(options, run)) else 0


if __name__ == "__main__":
    sys.exit(main())
