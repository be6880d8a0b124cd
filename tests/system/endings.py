#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs whose process ends before it has a result, and runs that a user ends. Usage: endings.py CASE BUILD_FOLDER."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

from rules_shown import shown

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
SANITIZED = False
KEY = r"[\Registry\Machine\System\CurrentControlSet\Services\ends_process]"
# of tests/drivers/ends_process.c
EXIT, QUICK_EXIT, UNDERSCORE_EXIT, THREAD_EXIT, SYSTEM_CALL, ABORT, KILL, LOOP, FINDING, VIOLATION, OPEN, CREATE, SOCKET, FORK, EXECUTE, \
    KILL_PARENT, CLOSE, SHELL = range(1, 19)
SLEEPS = "dxgk.report('row', 'kept') for i = 1, 1e9 do dxgk.sleep(1000000) end"
COUNTS = "local n = 0 while true do n = n + 1 end"


def fail(text):
    print(text)
    sys.exit(1)


def command(folder, verb, driver, *options, workload="return true", trace=True):
    path = os.path.join(folder, "workload.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(workload)
    words = [os.path.join(BUILD, "dxgkhost"), verb, driver]
    if verb != "inspect":
        words += [path, "--out", os.path.join(folder, "out")]
    if trace and verb == "run":
        words += ["--trace", os.path.join(folder, "trace.json"), "--trace-dxgkrnl", os.path.join(folder, "trace.etl")]
    return words + list(options)


def bad(act, folder, verb="run", options=(), expect=5, environment=None, words=(), absent=()):
    registry = os.path.join(folder, "registry")
    with open(registry, "w", encoding="utf-8") as file:
        file.write(f'{KEY}\n"Act"=4:{act:02x}000000\n')
    words_of_command = command(folder, verb, os.path.join(BUILD, "tests", "drivers", "ends_process.so"), "--device", "null",
                               "--registry", registry, *options)
    return judged(words_of_command, folder, expect, environment, words, absent)


def whole(folder):
    """The trace of Windows' provider can be read, and breaks no rule."""
    done = subprocess.run([os.path.join(BUILD, "dxgkhost"), "check-trace", os.path.join(folder, "trace.etl")], capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        fail(f"{done.stdout}\n{done.stderr}")


def judged(words_of_command, folder, expect, environment, words, absent=()):
    start = time.monotonic()
    done = subprocess.run(words_of_command, capture_output=True, text=True, timeout=120, errors="replace", check=False,
                          env={**os.environ, **(environment or {})})
    said = f"{' '.join(words_of_command)} {environment or ''}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}"
    if done.returncode != expect:
        fail(said)
    for word in words:
        if word not in done.stderr:
            fail(f"{word!r} is missing: {said}")
    for word in absent:
        if word in done.stderr:
            fail(f"{word!r} is too much: {said}")
    if "--trace" in words_of_command:
        with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
            json.load(file)
        whole(folder)
    if time.monotonic() - start > 60:
        fail(f"took too long: {said}")
    return done


def case_driver():
    """A driver that ends the process: what it called, where, with stack; status 5 whatever it asked for; the trace is kept."""
    with tempfile.TemporaryDirectory() as folder:
        place = ("in DriverEntry", "thread load driver", "while starting the driver ends_process.so")
        for act, words in ((EXIT, ("the driver called exit(0)", "ends_process.so!")), (QUICK_EXIT, ("the driver called quick_exit()", "ends_process.so!")),
                           (UNDERSCORE_EXIT, ("ended with status 0 and without a result",)),
                           (THREAD_EXIT, ("the driver called pthread_exit()",)),
                           (SYSTEM_CALL, ("ended with status 0 and without a result",)),
                           (ABORT, ("ended by SIGABRT", "ends_process.so!")), (KILL, ("ended by SIGKILL",))):
            if SANITIZED and act == THREAD_EXIT: # it unwinds a stack that a sanitizer does not know
                continue
            done = bad(act, folder, words=place + words)
            if "FAIL: the run has no result" not in done.stdout:
                fail(done.stdout)
            with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
                if "DriverEntry" not in file.read():
                    fail(f"act {act}: the trace does not have the call")
            bad(act, folder, verb="inspect", words=place + words)


def case_file():
    """Constructors and destructors that fault, end the process or loop: told, in driver's name, in bounded time."""
    with tempfile.TemporaryDirectory() as folder:
        loading = ("while loading the driver",)
        unloading = ("while unloading the driver ends_process.so",)
        for verb in ("run", "inspect"):
            for variable, words in (("DXGK_TEST_CONSTRUCTOR", loading), ("DXGK_TEST_DESTRUCTOR", unloading)):
                if not SANITIZED:  # which ends the process with a report of its own
                    bad(0, folder, verb, environment={variable: "fault"}, words=words + ("SIGSEGV", "at address 0x10", "ends_process.so"))
                bad(0, folder, verb, environment={variable: str(EXIT)}, words=words + ("called exit(0)",))
                bad(0, folder, verb, environment={variable: str(UNDERSCORE_EXIT)}, words=words + ("without a result",))
        bad(0, folder, options=("--stall-limit", "1"), environment={"DXGK_TEST_CONSTRUCTOR": str(LOOP)},
            words=loading + ("the machine stood still", "ends_process.so"))


def case_watchdog():
    """NT-199: the watchdog's limit is an option; without it, the limit of the whole machine ends a loop."""
    with tempfile.TemporaryDirectory() as folder:
        for options, expect, word, most in ((("--watchdog", "1"), 5, "THREAD-037", 6), (("--watchdog", "3"), 5, "THREAD-037", 9),
                                            (("--watchdog", "0", "--stall-limit", "1"), 5, "the machine stood still", 8)):
            before = os.times()
            bad(LOOP, folder, options=options, expect=expect, words=(word, "ends_process.so"))
            after = os.times()
            busy = after.children_user + after.children_system - before.children_user - before.children_system
            if not (int(options[1]) or 1) <= busy <= most:
                fail(f"{options}: took {busy} s of processor time")
        shown("NT-199/h")


def case_told():
    """What was found up to then is told once: at once, or by the supervisor if it was held back."""
    with tempfile.TemporaryDirectory() as folder:
        for act, rule in ((FINDING, "LIFE-021"), (VIOLATION, "NT-145")):
            done = bad(act, folder, words=(rule, "without a result"))
            lines = [line for line in done.stderr.splitlines() if line.startswith("dxgkhost: error") and rule in line]
            if len(lines) != len(set(lines)) or not lines:
                fail(done.stderr)


def case_device():
    """A device model and a workload that end the process: status 4, since the driver did nothing."""
    model = os.path.join(BUILD, "tests", "devices", "ends_process.so")
    with tempfile.TemporaryDirectory() as folder:
        for where, doing in (("configure", "while adding the device"), ("create", "while adding the device"),
                             ("destroy", "while unloading the driver and the device")):
            for what, words in (("fault", ("SIGSEGV", "at address 0x10")), ("exit", ("code in the process called exit(0)",)), ("abort", ("SIGABRT",))):
                if SANITIZED and what == "fault":
                    continue
                # the driver fails before a device model is destroyed
                bad(0, folder, options=("--device", model, "--device-set", f"{where}={what}"), expect=4, words=(doing,) + words)
        bad(0, folder, options=("--device", model, "--device-set", "create=loop", "--stall-limit", "1"), expect=4,
            words=("the machine stood still", "while adding the device"))
        bad(0, folder, options=("--device", model, "--device-set", "destroy=loop", "--stall-limit", "1"), expect=4,
            words=("the machine stood still", "while unloading the driver and the device"))
        refgpu = os.path.join(BUILD, "drivers", "refgpu.so")
        judged(command(folder, "run", refgpu, workload="os.exit(0)"), folder, 4, None, ("code in the process called exit(0)", "thread workload"))
        judged(command(folder, "run", refgpu, workload=COUNTS) + ["--stall-limit", "1"], folder, 4, None, ("the machine stood still", "thread workload"))


def case_explored():
    """A campaign tells the same of each seed."""
    with tempfile.TemporaryDirectory() as folder:
        for act, words in ((EXIT, "the driver called exit(0)"), (ABORT, "SIGABRT"), (UNDERSCORE_EXIT, "without a result"), (FINDING, "LIFE-021")):
            done = bad(act, folder, verb="explore", options=("--seeds", "1..3"))
            if words not in done.stdout or "3 run, 3 failed" not in done.stdout or "DriverEntry" not in done.stdout:
                fail(done.stdout)


def interrupted(words_of_command, number, after=0.7, again=None):
    """`again`: seconds to the second signal."""
    process = subprocess.Popen(words_of_command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    time.sleep(after)
    process.send_signal(number)
    start = time.monotonic()
    if again:
        time.sleep(again)
        process.send_signal(number)
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors, time.monotonic() - start


def case_interrupted():
    """SIGINT and SIGTERM: the report, the waits and the trace, then 128 and the signal's number; also when the machine comes to no point."""
    refgpu = os.path.join(BUILD, "drivers", "refgpu.so")
    with tempfile.TemporaryDirectory() as folder:
        for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")):
            for more in ([], ["--no-supervisor"]):
                status, out, errors, _ = interrupted(command(folder, "run", refgpu, "--limit", "0", *more, workload=SLEEPS), number)
                told = name if not more else "SIG"
                if status != 128 + number and not more or f"interrupted by {told}" not in errors or "FAIL" not in out or "kept" not in out or \
                        "waits for event" not in errors:
                    fail(f"{status}\n{out}\n{errors}")
                whole(folder)
                with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
                    json.load(file)
            status, out, errors, seconds = interrupted(command(folder, "run", refgpu, workload=COUNTS), number)
            if status != 128 + number or "came to no point in time" not in errors or "thread workload" not in errors or seconds > 20:
                fail(f"{status} after {seconds} s\n{out}\n{errors}")
            with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
                json.load(file)
            # a second signal does not wait, but the two of timeout are one
            for again, least, most in ((0.02, 2.5, 20), (0.3, 0, 2.5)):
                status, out, errors, seconds = interrupted(command(folder, "run", refgpu, workload=COUNTS), number, again=again)
                if status != 128 + number or not least <= seconds <= most:
                    fail(f"{status} after {seconds} s, the second signal after {again} s\n{out}\n{errors}")
            status, out, errors, _ = interrupted(command(folder, "explore", refgpu, "--seeds", "1..1000000"), number)
            if status != 128 + number or f"interrupted by {name}" not in errors or " of 1000000 seeds" not in errors or "dxgkhost explore" not in out:
                fail(f"{status}\n{out}\n{errors}")


def case_progress():
    """On a terminal, a run that takes long tells how far it is, twice a second from the third second on; elsewhere it does not."""
    with tempfile.TemporaryDirectory() as folder:
        words = command(folder, "run", os.path.join(BUILD, "drivers", "refgpu.so"), "--limit", "0", workload=SLEEPS)
        master, slave = pty.openpty()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        said, end = "", time.monotonic() + 30
        while len(re.findall(r"\r\x1b\[K[0-9]+\.[0-9]{3} ms virtual, 0 submissions, [2-9] s\r", said)) < 2 and time.monotonic() < end:
            said += os.read(master, 4096).decode(errors="replace")
        process.send_signal(signal.SIGINT)
        while process.poll() is None: # what it says at its end has room
            try:
                os.read(master, 4096)
            except OSError: # the other side is closed
                break
        if time.monotonic() >= end or process.wait() != 128 + signal.SIGINT:
            fail(f"{process.returncode}: {said!r}")
        os.close(master)
        status, _, errors, _ = interrupted(words, signal.SIGINT, after=3)
        if status != 128 + signal.SIGINT or "ms virtual, 0 submissions" in errors:
            fail(f"{status}: {errors}")


def isolated_run(folder, workload, *options, driver="drivers/refgpu.so", expect=0):
    return program_status([os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, driver), workload, "--out", os.path.join(folder, "out"),
                           "--isolate", *options], expect)


def program_status(words, expect):
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, errors="replace", check=False)
    if done.returncode != expect:
        fail(f"{' '.join(words)}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
    return done


def case_mute():
    """A driver that closes the streams that the report goes to: the supervisor tells what it knows, and writes the trace."""
    with tempfile.TemporaryDirectory() as folder:
        lost = ("code in the process of the machine closed its standard output or error, so its report is lost",)
        done = bad(CLOSE, folder, expect=6, words=lost)
        if "FAIL: the report is lost" not in done.stdout:
            fail(done.stdout)
        bad(CLOSE, folder, verb="inspect", expect=6, words=lost)


def case_isolated():
    """Without rights a sound run does all it did; a driver that goes beyond is named with the call, and nothing of it is done."""
    if SANITIZED:  # which needs rights of its own
        return
    with tempfile.TemporaryDirectory() as folder:
        mark = os.path.join(folder, "mark")
        for act, call in ((OPEN, 'openat("/etc/passwd")'), (CREATE, f'openat("{mark}")'), (SOCKET, "socket"), (FORK, "clone"), (EXECUTE, "execve"),
                          (KILL_PARENT, "kill"), (SHELL, "clone")):
            words = ("the driver made the system call " + call,)
            done = bad(act, folder, options=("--isolate",), environment={"DXGK_TEST_MARK": mark}, words=words + ("error LIFE-190", "in DriverEntry"))
            if "ends_process.so!" not in done.stderr and act != SHELL:  # no stack leads through clone3
                fail(done.stderr)
            bad(0, folder, options=("--isolate",), environment={"DXGK_TEST_MARK": mark, "DXGK_TEST_CONSTRUCTOR": str(act)},
                words=words + ("while loading the driver",))
            bad(0, folder, verb="inspect", options=("--isolate",), environment={"DXGK_TEST_MARK": mark, "DXGK_TEST_DESTRUCTOR": str(act)},
                words=words + ("while unloading the driver",))
            if os.path.exists(mark):
                fail("the file was made")
        shown("LIFE-190")
        small = ["--set", "width=480", "--set", "height=270", "--set", "columns=8", "--set", "rows=5"]
        workloads = os.path.join(SOURCE, "workloads")
        drivers = ["drivers/refgpu.so"] + [d for d in ("drivers/gcc/refgpu.sys", "drivers/clang/refgpu.sys") if os.path.exists(os.path.join(BUILD, d))]
        for driver in drivers:
            device = ("--device", os.path.join(BUILD, "devices", "refgpu.so"))
            isolated_run(folder, os.path.join(workloads, "compositor.lua"), *device, *small, "--report", "memory", driver=driver)
            for name in ("compositor.png", "memory.svg"):
                if not os.path.getsize(os.path.join(folder, "out", name)):
                    fail(name)
            isolated_run(folder, os.path.join(workloads, "escape.lua"), *device, "--iommu", "isolation", driver=driver)
            isolated_run(folder, os.path.join(workloads, "hang.lua"), *device, "--verbose", driver=driver)
        # the lines in a report of races are those that were read with the driver
        path = os.path.join(folder, "races.reg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\races]\n\"Race\"=4:01000000\n")
        done = isolated_run(folder, os.path.join(workloads, "burst.lua"), *device, "--races", "--stress", "--registry", path,
                            driver="tests/drivers/races.so", expect=3)
        if "THREAD-080" not in done.stderr or " at races_submit.c:" not in done.stderr or "LIFE-190" in done.stderr:
            fail(done.stderr)
        # a workload is refused, not ended
        path = os.path.join(folder, "w.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""
                assert(not io.open("/etc/passwd"))
                assert(not io.open("{mark}", "w"))
                assert(not os.remove("{path}"))
                assert(io.open("{path}")):close()
                local out = assert(io.open(dxgk.out .. "/written", "w"))
                out:write("text")
                out:close()""")
        done = isolated_run(folder, path)
        if "isolated: refused the system call openat" not in done.stderr or os.path.exists(mark):
            fail(done.stderr)
        with open(os.path.join(folder, "out", "written"), encoding="utf-8") as file:
            if file.read() != "text":
                fail("what the workload wrote")
        program_status([os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, "drivers", "refgpu.so"), path, "--isolate", "--no-supervisor"], 2)
        done = bad(OPEN, folder, verb="explore", options=("--seeds", "1..3", "--isolate"))
        if "3 run, 3 failed" not in done.stdout or 'openat("/etc/passwd")' not in done.stdout or "LIFE-190" not in done.stdout:
            fail(done.stdout)
        # a new process is made with all signals blocked, which must not hide the call
        with open(path, "w", encoding="utf-8") as file:
            file.write("assert(not os.execute('true'))")
        done = isolated_run(folder, path)
        if "isolated: refused the system call clone" not in done.stderr:
            fail(done.stderr)

def case_orphan():
    """A worker ends with its supervisor."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command(folder, "run", os.path.join(BUILD, "drivers", "refgpu.so"), "--limit", "0", workload=SLEEPS),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.7)
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            worker = int(file.read().split()[0])
        process.kill()
        process.wait()
        for _ in range(100):
            if not os.path.exists(f"/proc/{worker}"):
                return
            with open(f"/proc/{worker}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
            time.sleep(0.05)
        fail("the worker lives on")


def main():
    global BUILD, SANITIZED
    BUILD = sys.argv[2]
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
