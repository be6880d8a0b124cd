#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes of docs/debugging.md. Usage: debugging.py CASE BUILD_FOLDER. Exit status 0: the case holds; 77: it cannot run here,
and the last line says why."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
BLITTER = os.path.join(SOURCE, "examples", "blitter")
FORMS = {"so": "", "gcc": "gcc", "clang": "clang"}
KEY = r"[\Registry\Machine\System\CurrentControlSet\Services\faults]"
# of tests/drivers/faults.h
ENTRY, SYSTEM, DPC = 1, 2, 5
RECURSION, NULL, ZW_BAD_POINTER, INT_29 = 7, 13, 15, 25


def fail(text):
    print(text)
    sys.exit(1)


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def need(program):
    if not shutil.which(program):
        skip(f"there is no {program}")


def driver(name, form):
    path = os.path.join(BUILD, "tests", "drivers", FORMS[form], name + (".so" if form == "so" else ".sys"))
    if not os.path.exists(path):
        skip(f"there is no {path}")
    return path


def run(words, stdin="", environment=None, cwd=SOURCE):
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, errors="replace", timeout=240, check=False, cwd=cwd,
                          env=dict(os.environ, NO_COLOR="1", **(environment or {})))
    done.text = f"{done.stdout}\n{done.stderr}"
    return done


def blitter(folder, path, *options, verb="run"):
    return [os.path.join(BUILD, "dxgkhost"), verb, path, os.path.join(BLITTER, "blitter.lua"), "--device",
            os.path.join(BUILD, "examples", "blitter_device.so"), "--out", os.path.join(folder, "out"), *options]


def can_debug():
    need("gdb")
    done = run(["gdb", "-nx", "-batch", "-ex", "python print(6 * 7)", "-ex", "run", "--args", "/bin/true"])
    if "42" not in done.stdout:
        skip("gdb has no Python")
    if "exited normally" not in done.stdout:
        skip(f"gdb cannot run a process here: {done.stderr.strip()}")


def in_order(text, *parts):
    """Each part is a regular expression, found after the one before."""
    at = 0
    for part in parts:
        match = re.search(part, text[at:], re.M)
        if not match:
            fail(f"{text}\n\n{part!r} is not there, after what came before it")
        at += match.end()


def session(words, *commands):
    """What gdb says, in lines that it has not broken; it reads commands as from a terminal."""
    return re.sub(r"\n {3,}(?=\S+=|at /|from /)", " ", run(words, "".join(command + "\n" for command in commands)).text)


def figures(text):
    """What a run came to, but for the time that it took."""
    return re.findall(r"^  (submissions|interrupts|DDI calls|patches applied|time|result) +(.*?)(?:, \d+ ms wall)?$", text, re.M)


def line_with(words):
    with open(os.path.join(BLITTER, "work.c"), encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if words in line)


def case_entries(form):
    """Breakpoints by the names of DDIs and of the driver's own functions, set before there is a driver; its types; callers across the
    border of image and host; a time; another run in the same gdb; and none of that changes the run."""
    can_debug()
    path = driver("debugged", form)
    with tempfile.TemporaryDirectory() as folder:
        words = blitter(folder, path, "--seed", "3")
        text = session(words + ["--gdb"], "break DxgkDdiSubmitCommand", "tbreak BlitterCreateContext", "tbreak DriverEntry", "run", "print *RegistryPath",
                       "continue", "print *pCreateContext", "bt", "continue", "info args", "print *pSubmitCommand", "bt", "up", "dxgk-entries", "delete",
                       "dxgk-until 1ms", "continue", "tbreak DxgkDdiStopDevice", "continue", "break DxgkDdiPatch", "run", "bt 1",
                       "kill", "quit")
        in_order(text, r"Temporary breakpoint 3, DriverEntry \(DriverObject=", r'= "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\debugged" \(\d+ of \d+ bytes\)',
                 r"reakpoint 2, BlitterCreateContext \(hDevice=", r"hContext = 0xd3d13\w+ \(the host's: context, adapter \d+\)", r"#1 .* in ddi_create_context \(\)",
                 r"Breakpoint 1, BlitterSubmitCommand \(hAdapter=", r"^pSubmitCommand = 0x", r"DmaBufferPhysicalAddress = 0x[0-9a-f]+,\s+DmaBufferSize = 65536",
                 r"#0 +BlitterSubmitCommand \(.* at .*work\.c:\d+", r"#1 .* in ddi_submit_command \(\)", r"in fiber_begin \(\)", r"#1 .* in ddi_submit_command",
                 r"^DxgkDdiSubmitCommand +0x[0-9a-f]+ BlitterSubmitCommand$", r"virtual time (0\.\d+) ms; what follows passes 1\.000000 ms",
                 r"BlitterStopDevice \( ?MiniportDeviceContext=", r"Starting program", r"BlitterPatch \(", r"#0 +BlitterPatch")
        if len(re.findall(r"^#0 .*dxgk_debug_|Cannot insert|Traceback", text, re.M)):
            fail(text)
        plain = run(words)
        if form == "gcc":  # a breakpoint where the host carries out an instruction, and lines after such
            text = session(words + ["--gdb"], "break BlitterInterruptRoutine", f"break work.c:{line_with('BLITTER_REG_IRQ_STATUS')}", "run", "delete 1",
                           *["dxgk-next"] * 8, "delete", "tbreak x64_trapped", "continue", "up 2", "break *$pc", "ignore $bpnum 5", "continue", "delete", "continue")
            in_order(text, r"Breakpoint 1, BlitterInterruptRoutine", r"Breakpoint 2, ", r"^\d+\t.*if \(causes == 0 ", r"^\d+\t.*if \(causes & BLITTER_IRQ_FAULT",
                     r"^\d+\t.*ReportCompleted\(adapter", r"#2 .*(work\.c|blitter\.h):\d+", r"Breakpoint (\d+) at", r"Will ignore next 5",
                     r"^Breakpoint \d+, ", "exited normally")
            if "NT-167" in text:
                fail(text)
        else:
            text = session(words + ["--gdb", "--until", "2ms"], "continue")
            in_order(text, r"virtual time 1\.\d+ ms", "exited normally")
        if form == "clang":  # without debug information
            words = [os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, "drivers", "clang", "refgpu.sys"), os.path.join(SOURCE, "workloads", "burst.lua"),
                     "--device", os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder, "--gdb"]
            in_order(session(words, "break DxgkDdiSubmitCommandVirtual", "run", "bt", "kill", "quit"), r"refgpu\.sys has no lines for gdb",
                     r"Breakpoint 1, 0x.* in RefGpuSubmitCommandVirtual", r"#1 .* in ddi_submit_command_virtual", r"in fiber_begin")
        if plain.returncode != 0 or not figures(plain.stdout) or figures(plain.stdout) != figures(text):
            fail(f"{plain.text}\n{text}\nare not the same run")


def case_stress(form):
    """A seed that fails under stress, in an image that was not compiled for it, fails in gdb at the same time; breakpoints, some of them where
    the host stops the image itself, change nothing."""
    can_debug()
    path = driver("preempted", form)
    with tempfile.TemporaryDirectory() as folder:
        key = os.path.join(folder, "lost.reg")
        with open(key, "w", encoding="utf-8") as file:
            file.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\preempted]\n"Lost"=4:01000000\n')
        words = [os.path.join(BUILD, "dxgkhost"), "run", path, os.path.join(SOURCE, "workloads", "burst.lua"), "--device",
                 os.path.join(BUILD, "devices", "refgpu.so"), "--registry", key, "--out", folder, "--stress"]
        for seed in range(1, 61):
            plain = run(words + ["--seed", str(seed)])
            if plain.returncode != 0:
                break
        broken = re.findall(r"bug check NT-166.*\n.* at [\d.]+ ms", plain.text)
        if not broken:
            fail(f"{plain.text}\nno update was lost with 60 seeds")
        text = session(words + ["--seed", str(seed), "--gdb"], "tbreak DxgkDdiInterruptRoutine", "run", "break DxgkDdiSubmitCommandVirtual",
                       "break *count", "ignore 3 40", "continue", "continue", "continue", "stepi", "stepi", "delete", "continue")
        in_order(text, r"breakpoint 1, ", r"Breakpoint [23], ", r"Breakpoint [23], ", r"Breakpoint [23], ", "exited with code 05")
        if broken[0] not in text or figures(plain.stdout) != figures(text):
            fail(f"{plain.text}\n{text}\nare not the same run")


def case_rules(form):
    """A stop where a rule is broken and where a driver faults, in its code and with its callers."""
    can_debug()
    path = driver("faults", form)
    with tempfile.TemporaryDirectory() as folder:
        registry, workload = os.path.join(folder, "registry"), os.path.join(folder, "workload.lua")
        with open(workload, "w", encoding="utf-8") as file:
            file.write("return true")

        def acts(act, place):
            return rf"""shell printf '{KEY.replace(chr(92), chr(92) * 2)}\n"Act"=4:{act:02x}000000\n"Place"=4:{place:02x}000000\n' > {registry}"""

        words = [os.path.join(BUILD, "dxgkhost"), "run", path, workload, "--device", os.path.join(BUILD, "examples", "blitter_device.so"), "--registry", registry,
                 "--out", folder]
        acts_now = acts(ZW_BAD_POINTER, SYSTEM)
        subprocess.run(["sh", "-c", acts_now.removeprefix("shell ")], check=True)
        text = session(words + ["--break", "NT-145"], "bt", "continue", acts(INT_29, SYSTEM), "dxgk-rule none", "dxgk-rule NT-17*", "run", "bt", "kill",
                       "dxgk-rule none", "dxgk-fault", acts(NULL, ENTRY), "run", "bt", "kill", acts(NULL, DPC), "run", "bt", "kill", acts(RECURSION, SYSTEM),
                       "run", "bt 2", "kill", "quit")
        in_order(text, r"dxgkhost: error NT-145: ZwQueryValueKey with a user-mode pointer", r"^#\d+ .*Services \(.*faults\.c:\d+", r"^\d+\s+\(VOID\) ZwQueryValueKey\(",
                 r"#0 .* in dxgk_debug_rule \(\)", r"in ZwQueryValueKey \(\)", r"in FaultsCreateDevice \(", r"in ddi_create_device \(\)", r"in fiber_begin",
                 r"exited with code 05", r"dxgkhost: bug check NT-176", r"in x64_landing \(\)", r"Break \(.*faults\.c:\d+", r"in ddi_create_device",
                 r"the driver faults", r"Break \(.*faults\.c:\d+", r"in dxgk_debug_fault", r"Break \(", r"DriverEntry \(", r"in port_driver_start \(\)",
                 r"the driver faults", r"in FaultsDpcRoutine \(", r"in ddi_dpc_routine \(\)", r"the driver faults", r"in dxgk_debug_fault", r"Recurse \(")
        if "Traceback" in text:
            fail(text)


def case_pdb():
    """Functions and lines of an image that has a PDB and nothing else, also of an isolated machine, in the results of run and explore; and
    what is said where there are none."""
    image = os.path.join(BUILD, "tests", "drivers", "msvc", "faults.sys")
    pdb = image[:-3] + "pdb"
    if not os.path.exists(pdb):
        skip(f"there is no {pdb}")
    need("llvm-symbolizer")
    with tempfile.TemporaryDirectory() as folder:
        registry, workload, mine = (os.path.join(folder, name) for name in ("registry", "workload.lua", "faults.sys"))
        with open(workload, "w", encoding="utf-8") as file:
            file.write("return true")
        with open(registry, "w", encoding="utf-8") as file:
            file.write(f'{KEY}\n"Act"=4:{NULL:02x}000000\n"Place"=4:{DPC:02x}000000\n')
        with open(os.path.join(SOURCE, "tests", "drivers", "faults.c"), encoding="utf-8") as file:
            lines = [number for number, line in enumerate(file, 1) if "BREAK_AT(PLACE_DPC)" in line]
        shutil.copy(image, mine)
        shutil.copy(pdb, folder)

        def words(verb="run", *options):
            return [os.path.join(BUILD, "dxgkhost"), verb, mine, workload, "--device", os.path.join(BUILD, "examples", "blitter_device.so"), "--registry",
                    registry, "--out", os.path.join(folder, "out"), *options]

        frames = r"^ +faults\.sys!Break \(inlined into BreakAt\)\+0x[0-9a-f]{1,3} \(faults\.c:\d+\)\n +faults\.sys!FaultsDpcRoutine\+0x[0-9a-f]+ \(faults\.c:(\d+)\)$"
        for options in ((), ("--isolate",), ("--no-supervisor",)):
            done = run(words("run", *options))
            if options == ("--isolate",) and done.returncode == 4:
                continue  # this system has none
            found = re.search(frames, done.stderr, re.M)
            if not found or int(found.group(1)) not in lines or "note: faults.sys" in done.stderr:
                fail(f"{options}: {done.text}\n{lines}")
        done = run(words("explore", "--seeds", "1..2", "-j1", "--sarif", os.path.join(folder, "result.sarif")))
        with open(os.path.join(folder, "result.sarif"), encoding="utf-8") as file:
            if not re.search(r'faults\.c"[^}]*\}?[^}]*"startLine": ?\d+', file.read()):
                fail(f"no line in what explore has written: {done.text}")

        silent = os.path.join(folder, "silent")
        with open(silent, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec sleep 60\n")
        os.chmod(silent, 0o755)

        def without(said, environment=None):
            done = run(words(), environment=environment)
            if len(re.findall(said, done.stderr)) != 1 or not re.search(r"^ +faults\.sys\+0x[0-9a-f]+$", done.stderr, re.M) or done.returncode != 5:
                fail(f"{said}: {done.text}")

        without(r"note: faults\.sys: lines of source need llvm-symbolizer \(Debian: llvm\), which is not there", {"DXGK_SYMBOLIZER": "/none"})
        without(r"note: llvm-symbolizer has ended, or takes too long", {"DXGK_SYMBOLIZER": silent})
        without(r"note: llvm-symbolizer has ended, or takes too long", {"DXGK_SYMBOLIZER": "/bin/false"})
        with open(os.path.join(folder, "faults.pdb"), "r+b") as file:
            guid = re.search(rb"RSDS(.{16})", open(image, "rb").read(), re.S).group(1)
            data = file.read()
            file.seek(data.index(guid))
            file.write(bytes(16))
        without(r"note: faults\.sys: no lines of source, as .*/faults\.pdb is of another build")


def case_refused():
    """What cannot be debugged, and what is missing, is said."""
    path = driver("debugged", "so")
    with tempfile.TemporaryDirectory() as folder:
        for options, status, said in ((("--gdb", "--races"), 2, "--races"), (("--gdb", "--isolate"), 2, "--isolate"), (("--break", "NO-001"), 2, "--break wants"),
                                      (("--until", "soon"), 2, "--until wants"), (("--until", "0"), 2, "--until wants"), (("--gdb",), 4, "no_gdb cannot be started"),
                                      (("--break=any",), 4, "no_gdb cannot be started")):
            done = run(blitter(folder, path, *options), environment={"DXGK_GDB": "no_gdb"})
            if done.returncode != status or said not in done.stderr:
                fail(f"{options}: {done.returncode}: {done.text}")
        for option in (("--gdb",), ("--break", "any"), ("--until", "1ms")):
            done = run(blitter(folder, path, "--seeds", "1..2", *option, verb="explore"))
            if done.returncode != 2 or "not an option of explore" not in done.stderr:
                fail(f"{option}: {done.returncode}: {done.text}")
            done = run([os.path.join(BUILD, "dxgkhost"), "inspect", path, *option])
            if done.returncode != 2 or "inspect runs no workload" not in done.stderr:
                fail(f"{option}: {done.returncode}: {done.text}")
        done = run(blitter(folder, path), environment={"LD_PRELOAD": "/nowhere/vgpreload_core-amd64-linux.so"})
        if done.returncode != 4 or "no machine runs under valgrind" not in done.stderr:
            fail(done.text)


def compiled(folder, name, *options, mistake=""):
    """The example driver as docs/building-drivers.md builds it, with more options."""
    sources = [os.path.join(BLITTER, file) for file in ("adapter.c", "memory.c", "work.c")]
    if mistake:
        with open(sources[2], encoding="utf-8") as file:
            text = file.read()
        sources[2] = os.path.join(folder, "work.c")
        with open(sources[2], "w", encoding="utf-8") as file:
            file.write(text.replace("const UINT first = pPatch", mistake + "\n    const UINT first = pPatch"))
    done = run(["gcc", "-shared", "-fPIC", "-g", "-O0", "-fvisibility=hidden", "-fshort-wchar", "-I" + BLITTER, "-isystem", os.path.join(SOURCE, "include", "wdk"),
                "-isystem", os.path.join(SOURCE, "include", "wdk", "base"), *options, "-o", os.path.join(folder, name + ".so"), *sources], cwd=folder)
    if done.returncode != 0:
        fail(done.text)
    return os.path.join(folder, name + ".so")


def case_instruments():
    """AddressSanitizer and UndefinedBehaviorSanitizer in the driver alone, without LD_PRELOAD by hand; coverage of it."""
    need("gcc")
    with tempfile.TemporaryDirectory() as folder:
        passes = r"result +PASS"
        good = compiled(folder, "good", "-fsanitize=address", "--coverage")
        in_order(run(blitter(folder, good)).text, passes)
        done = run(["gcov", "--stdout", *[file for file in os.listdir(folder) if file.endswith("work.gcda")]], cwd=folder)
        in_order(done.stdout, r"^ +[1-9]\d*\*?: +\d+:.*BlitterSubmitCommand\(")
        in_order(run(blitter(folder, good, "--seeds", "1..3", verb="explore")).text, r"3 run, 0 failed")
        overrun = compiled(folder, "overrun", "-fsanitize=address",
                           mistake='char small[8]; volatile int at = 8; small[at] = 1; __asm__ volatile("" : : "r"(small));')
        done = run(blitter(folder, overrun))
        in_order(done.stderr, r"AddressSanitizer: stack-buffer-overflow", r"in BlitterPatch .*work\.c:\d+", r"in ddi_patch")
        if done.returncode != 5:
            fail(done.text)
        overflow = compiled(folder, "overflow", "-fsanitize=undefined", "-fno-sanitize-recover=undefined",
                            mistake="volatile int number = 0x7FFFFFFF; number += 1;")
        done = run(blitter(folder, overflow))
        in_order(done.stderr, r"work\.c:\d+:\d+: runtime error: signed integer overflow")
        if done.returncode == 0:
            fail(done.text)
        if shutil.which("gdb"):
            can_debug()
            in_order(session(blitter(folder, good, "--gdb"), "break DxgkDdiPatch", "run", "bt 2", "kill", "quit"), r"Breakpoint 1, BlitterPatch \(", r"in ddi_patch")


def case_tools():
    """perf names functions of an ELF driver; valgrind is told apart."""
    path = driver("debugged", "so")
    why = []
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which("valgrind"):
            done = run(["valgrind", "-q", *blitter(folder, path, "--no-supervisor")])
            in_order(done.text, r"no machine runs under valgrind")
        else:
            why.append("there is no valgrind")
        data = os.path.join(folder, "perf.data")
        recorded = shutil.which("perf") and run(["perf", "record", "-q", "-F", "20000", "-o", data, *blitter(folder, path, "--no-supervisor")])
        if not recorded or not os.path.exists(data) or recorded.returncode != 0:
            why.append(f"perf cannot record: {recorded.stderr.strip()}" if recorded else "there is no perf")
        else:
            done = run(["perf", "report", "-i", data, "--stdio", "--sort", "dso,symbol"])
            if "blitter_device.so" not in done.stdout:
                fail(done.text)
    if why:
        skip("; ".join(why))


def case_lldb():
    """lldb, for ELF drivers: signals pass, a breakpoint waits for the driver, and its types are known."""
    need("lldb")
    path = driver("debugged", "so")
    with tempfile.TemporaryDirectory() as folder:
        commands = ("settings set target.disable-aslr false", "breakpoint set -n BlitterSubmitCommand", "process launch --stop-at-entry",
                    "process handle -p true -s false -n false SIGSEGV SIGBUS SIGILL SIGFPE SIGRTMIN+5 SIGRTMIN+6 SIGRTMIN+7", "continue", "bt",
                    "frame variable pSubmitCommand->DmaBufferSize", "breakpoint delete 1", "continue")
        done = run(["lldb", "-b", *[word for command in commands for word in ("-o", command)], "--", *blitter(folder, path, "--no-supervisor", "--watchdog", "0")])
        if "launch failed" in done.text or "error: process launch" in done.text:
            skip(f"lldb cannot run a process here: {done.stderr.strip()}")
        in_order(done.text, r"stop reason = breakpoint", r"debugged\.so`BlitterSubmitCommand\(", r"dxgkhost`ddi_submit_command", r"DmaBufferSize = 65536", r"result +PASS")


def main():
    global BUILD
    case, BUILD = sys.argv[1], os.path.abspath(sys.argv[2])
    name, _, form = case.partition("_")
    globals()["case_" + name](*([form] if form else []))


main()
