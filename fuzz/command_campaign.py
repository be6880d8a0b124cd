#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Command lines, signals, closed streams and limits of the system. Options are those that --help names, with values that they want and
values that they do not, in any order, of files that are none; run, explore and inspect are interrupted, stopped and killed at random
moments; standard output is full, closed or a pipe without a reader; memory, files, processor time and stack are short. Each time: an
end in time, with a status that fits, a reason, whole results, and no process left behind.

Usage: command_campaign.py BUILD_FOLDER [--runs N] [--first I] [--seed N] [--only KIND] [--keep FOLDER] [--jobs N]"""
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

import campaign

LONGEST_S = 60
ODD = ("", "0", "1", "-1", "2", "3", "64", "65", "1e9", "0x10", "4294967296", "18446744073709551615", "18446744073709551616", "99999999999999999999", "1..2", "2..1", "1..", "a",
       "a=b", "=", "=b", "a=", "--seed", "-", "--", "\x7f", "\xff\xfe", "é", "x" * 5000, "%s%n", "64M", "1G", "16T", "1/2", "2/1", "0/0", "off", "isolation", "remap",
       "isolation,flags=1", "remap,flags=0x40", "memory", "LIFE-069=warning", "NT-002=bugcheck", "XX-1=note", "20ms", "1h", "null", "refgpu")
# Values that are wanted; what is more belongs to no workload or changes what the run is about.
GOOD = {"--seed": ("1", "77", "18446744073709551615"), "--ram": ("64M", "1G", "16G"), "--vram": ("8M", "64M", "1G"), "--cpus": ("1", "3", "64"),
        "--iommu": ("off", "isolation", "remap", "isolation,svm", "remap,present"), "--report": ("memory",), "--power-cycle": ("1000000", "20000000"), "--device": ("null",),
        "--severity": ("LIFE-069=warning", "NT-002=bugcheck", "KMT-007=note"), "--fail-allocation": ("1", "100", "3000"), "--stall-limit": ("0", "5"),
        "--limit": ("5", "300"), "--virtual-limit": ("20ms", "1h"), "--script-limit": ("0", "5"), "--script-memory": ("0", "1M", "64M", "1G"), "-j": ("1", "2", "16"),
        "--shard": ("1/1", "2/2"), "--stop-after": ("1", "5"), "--seeds": ("1..2", "5..5"), "--json": ("-",)}
SCRIPTS = {"good": "return true", "fails": "return false, 'no'", "error": "error('no')", "sleeps": "for i = 1, 1e9 do dxgk.sleep(1000000) end",
           "counts": "local n = 0 while true do n = n + 1 end", "burst": None}
WRITES = ("--trace", "--out", "--json")


def options_of_help(build):
    """(option, whether it takes a value) of each."""
    done = subprocess.run([campaign.program(build), "--help"], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        match = re.match(r"\s+(-{1,2}[a-z][\w-]*)( \S+)?", line)
        if match:
            # two columns: what follows several blanks is the explanation
            found[match[1]] = bool(match[2]) and not re.match(r"\s+-{1,2}[a-z][\w-]*  ", line)
    if len(found) < 30:
        sys.exit(f"--help names {len(found)} options only:\n{done.stdout}")
    return sorted(found.items())


class Run:
    def __init__(self, options, kinds, index):
        self.index = index
        self.chance = random.Random(f"{options.seed} command {index}")
        self.kind = kinds[index % len(kinds)]
        self.exact = None   # statuses that alone fit
        self.how = {}       # of Popen
        self.meanwhile = None
        self.wants = ""     # what the reason must hold

    def __str__(self):
        return f"run {self.index} ({self.kind})"


def files(folder, build):
    """Paths of every kind."""
    paths = {"missing": os.path.join(folder, "missing"), "folder": folder, "fifo": os.path.join(folder, "fifo"), "empty": os.path.join(folder, "empty"),
             "null": "/dev/null", "zero": "/dev/zero", "full": "/dev/full", "nowhere": os.path.join(folder, "no", "where"), "binary": os.path.join(folder, "binary"),
             "new": os.path.join(folder, "new"), "self": campaign.program(build), "registry": os.path.join(folder, "registry")}
    os.mkfifo(paths["fifo"])
    for name, data in (("empty", b""), ("binary", bytes(range(256)) * 40), ("registry", b'[\\Registry\\Machine]\n"a"=4:01000000\n')):
        with open(paths[name], "wb") as file:
            file.write(data)
    return paths


def script(folder, name):
    path = os.path.join(folder, name + ".lua")
    text = SCRIPTS[name]
    if text is None:
        return os.path.join(campaign.SOURCE, "workloads", name + ".lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def base(options, verb, driver, workload):
    words = [campaign.program(options.build), verb, driver]
    return words if verb == "inspect" else words + [workload]


# What needs a process of its own, or somebody who ends it.
NOT_TRIED = ("--help", "--version", "--no-supervisor", "--watch", "--gdb", "--break", "--until")


def wanted_options(run, known, verb):
    """Options of this subcommand with values that they want."""
    words, alone = [], ("-j", "--shard", "--stop-after", "--seeds", "--json", "--virtual-limit")
    fits = [(option, takes) for option, takes in known if option not in NOT_TRIED and (not takes or option in GOOD)
            and (verb == "explore" or option not in alone) and (verb != "explore" or option != "--seed")
            and (verb != "inspect" or not option.startswith(("--script", "--report", "--power", "--trace", "--limit")))]
    for option, takes in run.chance.sample(fits, run.chance.choice((1, 2, 3, 5, 8))):
        words += [option] + ([run.chance.choice(GOOD[option])] if takes else [])
    return words


def random_options(run, known, paths):
    words = []
    for _ in range(run.chance.choice((0, 1, 1, 2, 3, 5, 8))):
        option, takes = run.chance.choice(known)
        if option in NOT_TRIED:
            continue
        words.append(option)
        if takes and run.chance.random() < 0.95 or run.chance.random() < 0.02:
            value = run.chance.choice(ODD) if run.chance.random() < 0.6 else run.chance.choice(list(paths.values()))
            if option in WRITES and value in ("/dev/zero", campaign.program("")):
                value = paths["new"]
            words.append(value)
    return words


def with_options(options, run, folder, known):
    paths = files(folder, options.build)
    verb = run.chance.choice(("run", "run", "run", "explore", "explore", "inspect", "inspect", "explain", "rules", "bogus", ""))
    good = os.path.join(options.build, "drivers", "refgpu.so")
    driver = good if run.chance.random() < 0.8 else run.chance.choice(list(paths.values()))
    workload = script(folder, run.chance.choice(("good", "fails", "error", "burst"))) if run.chance.random() < 0.8 else run.chance.choice(list(paths.values()))
    words = base(options, verb, driver, workload)
    if verb in ("explain", "rules"):
        words = words[:2] + [run.chance.choice(ODD + ("PATCH-017", "PATCH", "patch-017"))]
    if verb == "explore" and run.chance.random() < 0.8:
        words += ["--seeds", run.chance.choice(("1..2", "5..6", "1..1"))]
    plain = verb in ("run", "explore", "inspect") and run.chance.random() < 0.6
    more = wanted_options(run, known, verb) if plain else random_options(run, known, paths)
    if verb in ("run", "explore", "inspect") and "--out" not in more:
        more += ["--out", os.path.join(folder, "out")] if verb != "inspect" else []
    at = run.chance.randint(0, 1)
    words = words + more if at else words[:2] + more + words[2:]
    if not verb:
        words.remove("")
    return [os.fsencode(word) if "\xff" not in word else word.encode("latin-1") for word in words if "\0" not in word]


def timed(run, folder, options):
    """A run that takes a while, and the verb."""
    verb = run.chance.choice(("run", "run", "explore"))
    name = run.chance.choice(("sleeps", "counts", "burst", "sleeps"))
    words = base(options, verb, os.path.join(options.build, "drivers", "refgpu.so"), script(folder, name)) + ["--out", os.path.join(folder, "out"), "--limit", "5"]
    if name == "counts":
        words += ["--script-limit", "3"]
    if verb == "explore":
        words += ["--seeds", "1..4", "-j", "2", "--json", os.path.join(folder, "results.json")]
    else:
        words += ["--trace", os.path.join(folder, "trace.json")]
    return words


def workers(process):
    found = []
    for pid in campaign.left_behind(process):
        if pid != process.pid:
            found.append(pid)
    return found


def signalled(options, run, folder, known):
    del known
    number = run.chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE, signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1, signal.SIGWINCH,
                                signal.SIGXCPU, signal.SIGABRT, signal.SIGSEGV, signal.SIGALRM))
    whom = run.chance.choice(("all", "supervisor", "worker", "supervisor"))
    delay, twice = run.chance.choice((0, 0.001, 0.01, 0.03, 0.1, 0.5)) * run.chance.random() * 2, run.chance.random() < 0.3

    def send(process):
        def kill():
            time.sleep(delay)
            for _ in range(2 if twice else 1):
                try:
                    targets = [process.pid] if whom == "supervisor" else workers(process)[:1] if whom == "worker" else [process.pid] + workers(process)
                    for pid in targets:
                        os.kill(pid, number)
                        if number == signal.SIGSTOP:
                            time.sleep(0.05)
                            os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
                time.sleep(0.01)
        run.thread = threading.Thread(target=kill)
        run.thread.start()
    run.meanwhile = send
    run.said = f"{number.name} to {whom} after {delay * 1000:.1f} ms{', twice' if twice else ''}"
    asked = number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    run.exact = (0, 1, 3, 4, 128 + number, -number) if not asked else (0, 1, 3, 4, 128 + number, -number if delay < 0.02 else 128 + number)
    run.ended_by = -number
    return timed(run, folder, options)


def with_streams(options, run, folder, known):
    del known
    what = run.chance.choice(("full", "closed", "pipe", "both", "stderr full", "stderr closed", "stdin closed", "all closed"))
    run.said = what
    verb = run.chance.choice(("run", "explore", "inspect", "rules", "explain"))
    words = [campaign.program(options.build), verb]
    if verb == "explain":
        words += ["PATCH-017"]
    elif verb != "rules":
        words = base(options, verb, os.path.join(options.build, "drivers", "refgpu.so"), script(folder, "good"))
        words += {"run": ["--out", os.path.join(folder, "out"), "--trace", os.path.join(folder, "trace.json")], "inspect": [],
                  "explore": ["--seeds", "1..2", "--out", os.path.join(folder, "out"), "--json", os.path.join(folder, "results.json")]}[verb]
    closed = {"closed": (1,), "both": (1, 2), "stderr closed": (2,), "stdin closed": (0,), "all closed": (0, 1, 2)}.get(what, ())
    if closed:
        run.how["preexec_fn"] = lambda: [os.close(number) for number in closed]
    if what in ("full", "stderr full"):
        run.file = open("/dev/full", "wb", buffering=0)  # pylint: disable=consider-using-with
        run.how["stdout" if what == "full" else "stderr"] = run.file
    if what == "pipe":
        reader, writer = os.pipe()
        os.close(reader)
        run.file = os.fdopen(writer, "wb")
        run.how["stdout"] = writer
    lost = what in ("full", "closed", "pipe", "both", "all closed")
    run.exact = (1, 4, -signal.SIGPIPE) if lost else (0,)
    run.quiet = what in ("both", "stderr full", "stderr closed", "all closed")
    return words


def with_limits(options, run, folder, known):
    del known
    name, values = run.chance.choice((("RLIMIT_AS", (1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32)), ("RLIMIT_NOFILE", (3, 4, 5, 6, 8, 10, 12, 16, 20, 30)), ("RLIMIT_FSIZE", (0, 100, 4096, 65536)),
                                      ("RLIMIT_STACK", (1 << 14, 1 << 16, 1 << 18, 1 << 20)), ("RLIMIT_CPU", (1,)), ("RLIMIT_DATA", (1 << 16, 1 << 20, 1 << 22, 1 << 24)),
                                      ("RLIMIT_MEMLOCK", (0,)), ("RLIMIT_SIGPENDING", (0, 1))))
    value = run.chance.choice(values)
    run.said = f"{name} {value}"
    run.how["preexec_fn"] = lambda: resource.setrlimit(getattr(resource, name), (value, value if name != "RLIMIT_CPU" else value + 2))
    run.exact = (0, 1, 2, 4, 6, 127, -signal.SIGKILL, -signal.SIGSEGV) if name in ("RLIMIT_AS", "RLIMIT_STACK", "RLIMIT_DATA") and value < 1 << 26 else (0, 1, 2, 4, 6, 127)
    run.quiet = name == "RLIMIT_FSIZE" and value < 4096 # standard error is a file, too
    run.short = name in ("RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_DATA", "RLIMIT_STACK")
    return timed(run, folder, options)


KINDS = {"options": with_options, "signals": signalled, "streams": with_streams, "limits": with_limits}


def whole(path):
    """A JSON file, if it is there, is whole."""
    if os.path.isfile(path):
        try:
            with open(path, encoding="utf-8") as file:
                json.load(file)
        except ValueError as error:
            return f"{os.path.basename(path)}: {error}"
    return None


def judge(run, done, folder, left):
    if left:
        return f"left processes {left} behind"
    if run.kind == "options":
        if done.status == 2 and os.path.exists(os.path.join(folder, "out")):
            return "wrong usage, but something was started"
        verb = done.words[1].decode(errors="replace") if isinstance(done.words[1], bytes) else done.words[1]
        return campaign.problem_of(done, (0, 1, 2, 3, 5, 6), verb=verb if b"-h" not in done.words else "help") if b"--help" not in done.words and b"--version" not in done.words else None
    if done.status is None:
        return f"did not end within {done.seconds:.0f} s"
    if any(word in done.err for word in campaign.SANITIZER):
        return "a finding of a sanitizer"
    if done.status not in run.exact:
        return f"exit status {done.status}, not one of {run.exact}"
    told = "dxgkhost: " in done.err or "FAIL" in done.out or "explore" in done.out
    if done.status > 0 and not told and not getattr(run, "quiet", False) and "error while loading shared libraries" not in done.err:
        return "no reason is told"
    killed = done.status < 0 or getattr(run, "short", False) and done.status in (1, 2, 4, 6, 127)
    unbuilt = "before the machine was built" in done.err and "the trace could not be written" in done.err
    return None if killed or unbuilt else whole(os.path.join(folder, "trace.json")) or whole(os.path.join(folder, "results.json"))


def perform(options, run, known):
    left = []
    with tempfile.TemporaryDirectory() as folder:
        words = KINDS[run.kind](options, run, folder, known)

        def meanwhile(process):
            run.process = process
            if run.meanwhile:
                run.meanwhile(process)
        before = run.how.pop("preexec_fn", None)

        def prepare():
            campaign.small_core()
            if before:
                before()
        done = campaign.perform(words, folder, LONGEST_S, meanwhile=meanwhile, cwd=folder, preexec_fn=prepare, **run.how)
        if getattr(run, "thread", None):
            run.thread.join()
        if getattr(run, "file", None):
            run.file.close()
        for _ in range(200): # those of a killed supervisor follow it
            left = campaign.left_behind(run.process)
            if not left:
                break
            time.sleep(0.02)
        problem = judge(run, done, folder, left)
    return problem, f"{getattr(run, 'said', '')}\n{done}", f"{run.kind} {done.status}"


def main():
    parser = campaign.arguments(__doc__, runs=200)
    parser.add_argument("--only", choices=sorted(KINDS))
    options = parser.parse_args()
    known = options_of_help(options.build)
    kinds = [options.only] if options.only else sorted(KINDS)
    runs = [Run(options, kinds, index) for index in range(options.first, options.first + options.runs)]
    return 1 if campaign.sweep("command campaign", options, runs, lambda run: perform(options, run, known)) else 0


if __name__ == "__main__":
    sys.exit(main())
