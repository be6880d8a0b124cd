#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dxgkhost explore as a user runs it. Usage: cases.py CASE BUILD_FOLDER [PLANT]. Exit status 0: the case holds; 77: it cannot run here."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
PROGRAM = ""
FOUND = (3, 5)  # a rule was broken; the driver stopped the machine

# Each planted driver, and the rules that its bug may be reported under: which one comes first is chance.
PLANTS = {
    "race_isr_dpc": {"THREAD-063"},
    "lock_order": {"NT-059", "THREAD-073"},
    "lost_wakeup": {"THREAD-072", "THREAD-037"},
    "use_after_free": {"NT-026", "NT-025"},
    "double_completion": {"SUBMIT-044"},
    "irql_leak": {"THREAD-006"},
    "overrun": {"NT-025"},
    "wrong_tag": {"NT-021"},
    "wait_at_dispatch": {"NT-040"},
    "timer_at_unload": {"NT-006"},
}


def fail(text):
    print(text)
    sys.exit(1)


def program(*arguments, expect=None, folder=None):
    command = [PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000, errors="replace", check=False, cwd=folder)
    if "AddressSanitizer" in done.stderr or "runtime error:" in done.stderr:
        fail(f"{' '.join(command)}\nsanitizer:\n{done.stderr}")
    if expect is not None and done.returncode not in (expect if isinstance(expect, tuple) else (expect,)):
        fail(f"{' '.join(command)}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
    return done


def common(driver, folder, workload="burst.lua"):
    return [driver, os.path.join(SOURCE, "workloads", workload), "--device", os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder]


def planted(name):
    return os.path.join(BUILD, "tests", "planted", name + ".so")


def explore(driver, folder, *options, workload="burst.lua", expect=None):
    out = os.path.join(folder, "result.json")
    begin = time.monotonic()
    program("explore", *common(driver, folder, workload), "--json", out, *options, expect=expect)
    with open(out, encoding="utf-8") as file:
        result = json.load(file)
    if not 0 < result["seconds"] <= time.monotonic() - begin:
        fail(f"{result['seconds']} s of {time.monotonic() - begin}")
    return result


def repeat(command, folder, times):
    """The command that explore printed, word for word: it fails each time, in the same way."""
    seen = set()
    for _ in range(times):
        done = subprocess.run(command.replace("dxgkhost run", f"{PROGRAM} run", 1), shell=True, capture_output=True, text=True,
                              timeout=600, errors="replace", check=False, cwd=folder)
        if done.returncode not in FOUND:
            fail(f"{command}\nexit status {done.returncode}, not of {FOUND}\n{done.stdout}\n{done.stderr}")
        seen.add(re.sub(r"0x[0-9A-Fa-f]{9,}", "ADDRESS", done.stderr))  # the host's own differ
    if len(seen) != 1:
        fail(f"{command}\n{len(seen)} different outcomes:\n" + "\n----\n".join(sorted(seen)))
    return seen.pop()


def look_for(name, times, *options):
    with tempfile.TemporaryDirectory() as folder:
        result = explore(planted(name), folder, "--seeds", "1..1000", "--stress", *options, expect=FOUND)
        found = [f for f in result["failures"] if f["rule"] in PLANTS[name]]
        if not found:
            fail(f"{name}: none of {PLANTS[name]} in {result['run']} seeds: {result['failures']}")
        strangers = {f["rule"] for f in result["failures"] if f["rule"] in ("crash", "hang", "machine", "start")}
        if strangers:
            fail(f"{name}: {strangers}")
        for failure in found if times > 3 else found[:1]:
            said = repeat(failure["command"], folder, times)
            if failure["rule"] not in said or re.sub(r"0x[0-9A-Fa-f]{9,}", "ADDRESS", failure["seen"]) not in said:
                fail(f"{failure['command']} does not repeat {failure}:\n{said}")
        print(f"{name}: {found[0]['rule']} with seed {found[0]['seed']}, {result['failed']} of {result['run']} seeds failed")


def case_planted(name):
    """A planted bug is found, and the command given repeats it."""
    look_for(name, 3, "--stop-after", "1")


def case_planted_long(name):
    """All of a thousand seeds; each different failure repeats ten times of ten."""
    look_for(name, 10)


def case_sound():
    """The same miniport without a planted bug fails with no seed, and neither does a start and stop alone."""
    driver = os.path.join(BUILD, "drivers", "refgpu.so")
    with tempfile.TemporaryDirectory() as folder:
        for workload, options in (("burst.lua", ["--stress"]), ("empty.lua", [])):
            result = explore(driver, folder, "--seeds", "1..60", *options, workload=workload, expect=0)
            if result["run"] != 60 or result["failed"] or result["failures"]:
                fail(f"{workload}: {result}")


def case_warned():
    """A driver that starts with warnings is no failure: nothing of them is told, in any process of the campaign."""
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "habit.reg")
        with open(registry, "w", encoding="utf-8") as file:
            file.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\compute]\n"Habit"=4:09000000\n')
        words = [os.path.join(BUILD, "tests", "drivers", "compute.so"), os.path.join(SOURCE, "workloads", "empty.lua"), "--device", "null",
                 "--registry", registry, "--out", folder]
        if "warning" not in program("run", *words, expect=0).stderr:
            fail("it starts without a warning")
        for jobs in ("1", "2"):
            done = program("explore", *words, "--seeds", "1..4", "-j", jobs, expect=0)
            if "4 run, 0 failed" not in done.stdout or "dxgkhost:" in done.stderr:
                fail(f"{done.stdout}\n{done.stderr}")


def case_image():
    """In a Windows image that was not compiled for it, an update is lost inside a function that calls nobody, with and without other checks;
    none that is synchronized with the ISR."""
    count = 0
    for compiler in ("gcc", "clang"):
        driver = os.path.join(BUILD, "tests", "drivers", compiler, "preempted.sys")
        if not os.path.exists(driver):
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            for lost in (0, 1, 2):
                registry = os.path.join(folder, f"lost{lost}.reg")
                with open(registry, "w", encoding="utf-8") as file:
                    file.write(f'[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\preempted]\n"Lost"=4:{lost:02x}000000\n')
                for check in ("--stress", "--checks=full"):
                    options = ["--registry", registry, check, "--seeds", "1..200" if lost else "1..20", "--stop-after", "1"]
                    result = explore(driver, folder, *options, expect=FOUND if lost else 0)
                    rules = [f["rule"] for f in result["failures"]]
                    if rules != (["NT-166"] if lost else []):
                        fail(f"{driver} {options}: {result}")
                    if lost:
                        repeat(result["failures"][0]["command"], folder, 3)
                        print(f"{compiler}, {lost}, {check}: seed {result['failures'][0]['seed']}")
    if count == 0:
        sys.exit(77)


def case_special_pool():
    """An access after free stops the machine where it is made."""
    with tempfile.TemporaryDirectory() as folder:
        result = explore(planted("use_after_free"), folder, "--seeds", "1..200", "--stress", "--special-pool", "--stop-after", "1", expect=FOUND)
        failure = result["failures"][0]
        if failure["rule"] != "NT-025" or "use_after_free.so!tick" not in failure["seen"] or "freed" not in failure["seen"]:
            fail(f"{result}")
        repeat(failure["command"], folder, 3)


def strip(result):
    return [(f["rule"], f["where"], f["seed"], f["seeds"], f["seen"]) for f in result["failures"]]


def merged(results):
    """What tools/merge-explore makes of the shards."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for i, result in enumerate(results):
            names.append(os.path.join(folder, f"{i}.json"))
            with open(names[-1], "w", encoding="utf-8") as file:
                json.dump(result, file)
        done = subprocess.run([os.path.join(SOURCE, "tools", "merge-explore"), "--json", *names], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)


def case_shards():
    """However the seeds are spread over workers and shards, the same failures come out."""
    driver = planted("race_isr_dpc")
    with tempfile.TemporaryDirectory() as folder:
        whole = explore(driver, folder, "--stress", "--seeds", "97..156", "-j1", expect=FOUND)
        wide = explore(driver, folder, "--stress", "--seeds", "97..156", "-j", "5", expect=FOUND)
        shards = [explore(driver, folder, "--stress", "--seeds", "97..156", "--shard", f"{i}/3") for i in (1, 2, 3)]
    if whole["run"] != 60 or strip(whole) != strip(wide):
        fail(f"one worker: {whole}\nfive: {wide}")
    if [s["run"] for s in shards] != [20, 20, 20]:
        fail(f"shards of another size: {[s['run'] for s in shards]}")
    if strip(merged(shards)) != strip(whole):
        fail(f"whole: {strip(whole)}\nshards: {strip(merged(shards))}")


def case_parallel():
    """The command of the documentation for GNU parallel."""
    if not shutil.which("parallel"):
        sys.exit(77)
    driver = planted("race_isr_dpc")
    with tempfile.TemporaryDirectory() as folder:
        whole = explore(driver, folder, "--seeds", "90..119")
        command = " ".join([PROGRAM, "explore", *common(driver, folder), "--seeds", "90..119", "-j1", "--shard", "{}/2", "--json", "shard-{}.json"])
        subprocess.run(["parallel", "--will-cite", "-j2", command, ":::", "1", "2"], cwd=folder, check=False, capture_output=True, timeout=600)
        shards = []
        for i in (1, 2):
            with open(os.path.join(folder, f"shard-{i}.json"), encoding="utf-8") as file:
                shards.append(json.load(file))
    if strip(merged(shards)) != strip(whole):
        fail(f"whole: {whole}\nshards: {shards}")


def case_bad_input():
    """Wrong options are refused before anything runs; a driver that cannot start is a failure of each seed, and none of the host."""
    driver = os.path.join(BUILD, "drivers", "refgpu.so")
    with tempfile.TemporaryDirectory() as folder:
        arguments = common(driver, folder, "empty.lua")
        for wrong in ([], ["--seeds", "5..1"], ["--seeds", "x"], ["--seeds", "1..2", "-j", "0"], ["--seeds", "1..2", "--shard", "3/2"],
                      ["--seeds", "1..2", "--shard", "1"], ["--seeds", "1..2", "--seed", "3"], ["--seeds", "1..2", "--nonsense", "1"],
                      ["--seeds", "1..2", "--trace", "x"], ["--seeds", "1..2", "--stop-after", "0"]):
            program("explore", *arguments, *wrong, expect=2)
        program("explore", os.path.join(folder, "none.so"), *arguments[1:], "--seeds", "1..2", expect=2)
        for bad, rule, status in (("crashes_entry", "NT-002", 5), ("waits_entry", "THREAD-072", 5), ("no_entry", "start", 6)):
            result = explore(os.path.join(BUILD, "tests", "drivers", bad + ".so"), folder, "--seeds", "1..3", workload="empty.lua", expect=status)
            if result["failed"] != 3 or rule not in {f["rule"] for f in result["failures"]}:
                fail(f"{bad}: {result}")


def main():
    global BUILD, PROGRAM
    if len(sys.argv) not in (3, 4):
        fail(__doc__)
    BUILD = os.path.abspath(sys.argv[2])
    PROGRAM = os.path.join(BUILD, "dxgkhost")
    globals()["case_" + sys.argv[1]](*sys.argv[3:])


main()
