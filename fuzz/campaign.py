# SPDX-License-Identifier: MIT
"""What the campaigns have in common: a run of the program that must end well, many of them at once, and what is told at the end."""
import argparse
import concurrent.futures
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SANITIZER = ("AddressSanitizer", "LeakSanitizer", "runtime error:")


def heed_signals():
    """What a shell starts in the background ignores these, and so would what it starts: acts and runs must see them."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def arguments(description, **defaults):
    """A parser with the options of every campaign."""
    heed_signals()
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=defaults.get("runs", 200))
    parser.add_argument("--first", type=int, default=0, help="number of the first run; run I of a seed is always the same")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for what is needed to look at failures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser


class Done:
    """How a command ended: its status (None: it had to be killed), what it said, seconds, those of processors, KiB of its largest process."""

    def __init__(self, words, status, out, err, seconds, usage):
        self.words, self.status, self.out, self.err, self.seconds = words, status, out, err, seconds
        self.busy, self.kib = usage.ru_utime + usage.ru_stime, usage.ru_maxrss

    def __str__(self):
        return f"{' '.join(map(repr, self.words))}\nexit status {self.status}, {self.seconds:.1f} s, {self.kib} KiB\n{self.out}\n{self.err}"


def read(file):
    file.seek(0)
    return file.read().decode(errors="replace")


def perform(words, folder, longest, meanwhile=None, **how):
    """Run it, in a group of processes of its own; `meanwhile` gets the Popen and may send signals or close pipes."""
    with open(os.path.join(folder, "stdout"), "w+b") as out, open(os.path.join(folder, "stderr"), "w+b") as err:
        start = time.monotonic()
        how = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **how}
        process = subprocess.Popen(words, start_new_session=True, **how)
        if meanwhile:
            meanwhile(process)
        status = usage = None
        while time.monotonic() - start < longest:
            pid, ended, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = status = os.waitstatus_to_exitcode(ended)
                break
            time.sleep(0.002)
        else:
            os.killpg(process.pid, signal.SIGKILL)
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = -signal.SIGKILL
        return Done(words, status, read(out), read(err), time.monotonic() - start, usage)


def left_behind(process):
    """Processes of its group that still live."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == process.pid and fields[0] not in "ZX":
                found.append(int(name))
    return found


def problem_of(done, statuses, trace=None, verb="run"):
    """What of a run does not hold, whatever was done to it; None: all does."""
    if done.status is None:
        return f"did not end within {done.seconds:.0f} s"
    if any(word in done.err for word in SANITIZER):
        return "a finding of a sanitizer"
    if done.status not in statuses:
        return f"exit status {done.status}"
    if done.status and not re.search(r"^(dxgkhost: |  refused|usage: |error )", done.err + done.out, re.M):
        return "no reason is told"
    if verb == "run" and (done.status == 0) != bool(re.search(r"\bPASS\b", done.out)):
        return "the summary does not fit the status"
    if trace and done.status != 2:
        try:
            with open(trace, encoding="utf-8") as file:
                json.load(file)
        except (OSError, ValueError) as error:
            return f"the trace: {error}"
    return None


def sweep(name, options, runs, perform_one):
    """perform_one(run) gives (problem or None, what was said, a name of how it went). Returns how many runs were not well."""
    bad, start, went = 0, time.monotonic(), {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for run, (problem, said, how) in zip(runs, pool.map(perform_one, runs)):
            went[how] = went.get(how, 0) + 1
            if not problem:
                continue
            bad += 1
            print(f"{run}: {problem}", flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(os.path.join(options.keep, re.sub(r"\W+", "-", str(run))[:100] + ".txt"), "w", encoding="utf-8", errors="replace") as file:
                    file.write(f"{run}: {problem}\n{said}")
            elif bad <= 3:
                print(said[:2000])
    ways = ", ".join(f"{how}: {count}" for how, count in sorted(went.items(), key=lambda item: str(item[0])))
    print(f"{name}, seed {options.seed}: {len(runs)} runs, {bad} not well, {time.monotonic() - start:.0f} s ({ways})")
    return bad


def sanitized(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return bool(re.search(r"^DXGK_SANITIZE:BOOL=(ON|1|TRUE)", file.read(), re.M))


def small_core():
    """For preexec_fn: no core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def program(build):
    return os.path.join(build, "dxgkhost")


if __name__ == "__main__":
    sys.exit("this is a module of the campaigns")
