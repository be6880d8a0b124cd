#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What clients, scripts and command lines do wrong. Usage: clients.py CASE BUILD_FOLDER. Exit status 0: the case holds."""
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time

from rules_shown import shown

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.join(SOURCE, "tools"))
import option_table  # noqa: E402
BUILD = ""
SANITIZED = False
WORKLOADS = os.path.join(SOURCE, "workloads")
OPEN = f"package.path = '{WORKLOADS}/?.lua;' .. package.path local refgpu = require('refgpu') local gpu = refgpu.open() "
LOOPS = {"alone": "local n = 0\nwhile true do\n  n = n + 1\nend", "pcall": "while true do\n  pcall(function()\n    while true do end end)\nend",
         "wrap": "local co = coroutine.wrap(function()\n  while true do end\nend)\nwhile true do pcall(co) end",
         "after": "coroutine.wrap(function() end)()\nwhile true do\nend",
         "resume": "local co = coroutine.create(function()\n  coroutine.yield()\n  while true do end\nend)\nwhile true do coroutine.resume(co) end"}


def fail(text):
    print(text)
    sys.exit(1)


def program(*arguments, expect=0, words=(), out=None, timeout=60, before=None):
    command = [os.path.join(BUILD, "dxgkhost"), *arguments]
    done = subprocess.run(command, stdout=out or subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, errors="replace", check=False,
                          stdin=subprocess.DEVNULL, preexec_fn=before)
    said = f"{' '.join(command)}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}"
    if done.returncode != expect:
        fail(said)
    for word in words:
        if word not in done.stderr:
            fail(f"{word!r} is missing: {said}")
    return done


def write(folder, text, name="workload.lua"):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run(folder, text, *options, driver="refgpu.so", **how):
    return program("run", os.path.join(BUILD, "drivers", driver), write(folder, text), "--out", os.path.join(folder, "out"), *options, **how)


def case_script():
    """Nesting, memory that is gone, ranges, files that are none; the same without rights."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        words = ("run", os.path.join(BUILD, "drivers", "refgpu.so"), os.path.join(SOURCE, "tests", "system", "hostile.lua"), "--out", folder,
                 "--set", f"modules={WORKLOADS}", "--set", f"fifo={fifo}")
        program(*words)
        if not SANITIZED:  # which needs rights of its own
            program(*words, "--isolate", "--set", "isolated=yes")


def case_loop():
    """KMT-494: a script that computes for ever ends with the line where it is, whatever it catches; another may compute long."""
    with tempfile.TemporaryDirectory() as folder:
        for name, line in (("alone", (2, 3)), ("pcall", (3,)), ("wrap", (2,)), ("after", (2, 3)), ("resume", (3,))):
            start = time.monotonic()
            done = run(folder, LOOPS[name], "--script-limit", "1", expect=1, words=("1 s of processor time", "KMT-494"))
            if not any(f"workload.lua:{number}: the script took" in done.stderr for number in line) or time.monotonic() - start > 20:
                fail(f"{name}: {done.stderr}")
        run(folder, "load(collectgarbage)", "--script-limit", "1", expect=1, words=("1 s of processor time", "KMT-494")) # a piece that never ends
        run(folder, "local start = os.clock() while os.clock() < start + 1.5 do dxgk.sleep(1000) end", "--script-limit", "1")
        run(folder, "while true do for i = 1, 200 do end dxgk.sleep(1) end", "--script-limit", "1", expect=1, words=("1 s of processor time", "KMT-494"))
        run(folder, "local start = os.clock() while os.clock() < start + 1.5 do end", "--script-limit", "0")
        # the host's threads work for it
        run(folder, "while true do\ndxgk.mode{width=800, height=600}\ndxgk.mode{width=1024, height=768}\nend", "--script-limit", "1", "--device",
            "null", driver="bootfb.so", expect=1, words=("1 s of processor time", "KMT-494"))
        # in a process of its own, which nobody waits for
        run(folder, "dxgk.process('other', function()\nwhile true do end end)\ndxgk.sleep(10)", "--script-limit", "1", expect=1,
            words=("workload.lua:2: the script took 1 s of processor time", "KMT-494"))
        shown("KMT-494")


def case_memory():
    """KMT-495: memory without end is an error, which a handler may catch; what was let go counts no more."""
    grow = "local held, n = {}, 0 while n < %s do n = n + 1 held[#held + 1] = ('x'):rep(2^20) .. n %s end"
    with tempfile.TemporaryDirectory() as folder:
        for text in (grow % ("1000", ""), "local s = 'x' while #s < 2^28 do s = s .. s end", "return #('x'):rep(2^30)",
                     "local t = {} for i = 1, 2^28 do t[i] = i end"):
            run(folder, text, "--script-memory", "32M", expect=1, words=("not enough memory", "beyond its limit of 33554432 (KMT-495, --script-memory)"))
        run(folder, grow % ("100", "if #held == 16 then held = {} end"), "--script-memory", "40M")
        run(folder, f"local ok, why = pcall(function() {grow % ('1000', '')} end) assert(not ok and why == 'not enough memory') "
            f"collectgarbage() {grow % ('16', '')} return true", "--script-memory", "32M")
        run(folder, grow % ("64", ""), "--script-memory", "0")
        run(folder, grow % ("64", ""), "--script-memory", "128M")
        if not SANITIZED:  # to which the limit's value makes no difference, and a GiB much
            run(folder, grow % ("1100", ""), expect=1, words=("beyond its limit of 1073741824",))
        shown("KMT-495")


def case_expected():
    """A rule that was to be broken and was not: the workload fails, not the driver."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(folder, "dxgk.expect('PATCH-017') dxgk.expect('NT-002') dxgk.expect('NT-002')", expect=1)
        for rule in ("PATCH-017", "NT-002"):
            if done.stderr.count(f"dxgkhost: a violation of {rule} was expected and did not happen") != 1:
                fail(done.stderr)
        if "rules were broken" in done.stderr or "FAIL" not in done.stdout:
            fail(done.stderr)


def case_killed():
    """KMT-472: a process that ends while a thread of it ends a device, which waits for its work."""
    text = OPEN + """
        for i = 1, 20 do gpu:wait_paging(gpu:map(gpu:allocate(8192, refgpu.CPU_VISIBLE))) end
        gpu:wait_on(gpu.copy, 1000)
        gpu:submit_copy{refgpu.write64(0, 0)}
        D3DKMT.DestroyDevice{hDevice = gpu.device}"""
    with tempfile.TemporaryDirectory() as folder:
        for cpus in ("1", "2", "4"):
            for seed in range(3):
                run(folder, text, "--limit", "20ms", "--cpus", cpus, "--seed", str(seed), expect=1, words=("waits in D3DKMTDestroyDevice",))


def case_timer():
    """Where the system has no timer left, what would be watched is told, and a limit of a script refused."""
    def none():
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        run(folder, "return true", expect=1, before=none, words=("no timer for the limit of the script: Resource temporarily unavailable (--script-limit 0 needs none)",))
        run(folder, "return true", "--script-limit", "0", before=none, words=("warning NT-199: nothing watches for calls that do not return: no timer",))


def case_fifo():
    """Lua's own functions do not open what would block."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = os.path.join(folder, "fifo")
        os.mkfifo(fifo)
        bound = socket.socket(socket.AF_UNIX)
        bound.bind(os.path.join(folder, "socket"))
        run(folder, f"""
            local fifo = '{fifo}'
            local file, why, number = io.open('{folder}/socket')
            assert(not file and why:find('socket: it is a socket, and opening it would stop the machine', 1, true) and number == 22)
            file, why, number = io.open(fifo)
            assert(not file and why == fifo .. ': it is a FIFO, and opening it would stop the machine' and number == 22)
            for _, f in ipairs{{io.lines, io.input, io.output, dofile, loadfile}} do
                local ok, why = pcall(f, fifo)
                assert(not ok and why:find('it is a FIFO, and opening', 1, true))
            end
            local path = dxgk.out .. '/text'
            local out = assert(io.open(path, 'w'))
            out:write('return 6 * 7')
            out:close()
            for line in io.lines(path) do assert(line == 'return 6 * 7') end
            assert(select('#', dofile(path, 1, 2, 3)) == 1 and dofile(path, 1) == 42)
            assert(dofile(path) == 42 and loadfile(path)() == 42 and io.open(path):read('n') == nil)
            local none, why, number = io.open(path .. 's')
            assert(not none and number == 2)
            """)
        bound.close()


def case_error():
    """KMT-493: what the workload does wrong is not the driver's fault, and can be expected."""
    signal = OPEN + """
        local s = D3DKMT.CreateSynchronizationObject{hDevice = gpu.device, Type = D3DDDI_SEMAPHORE, MaxCount = 1, InitialCount = 1}.hSyncObject
        D3DKMT.SignalSynchronizationObject2{hContext = gpu.copy, ObjectHandleArray = {s}}
        D3DKMT.WaitForIdle{hDevice = gpu.device}
        """
    with tempfile.TemporaryDirectory() as folder:
        done = run(folder, signal, expect=1, words=("client error SUBMIT-134", "rules for clients (1 errors)"))
        if "violations             0 (0 warnings)" not in done.stdout or "client errors          1" not in done.stdout:
            fail(done.stdout)
        run(folder, signal, "--strict", expect=1, words=("client error SUBMIT-134",))
        run(folder, "dxgk.expect('SUBMIT-134')" + signal)
        run(folder, signal, "--severity", "SUBMIT-134=warning", words=("client warning SUBMIT-134",))
        crash = OPEN + "D3DKMT.Escape{hAdapter = gpu.adapter, Type = 25, pPrivateDriverData = string.pack('<I8I8I8', 1, 2, 3)}"
        run(folder, crash, expect=1, words=("client bug check KMT-456", "a client stopped the machine: bug check 0xE2 (0x1, 0x2, 0x3, 0x0)"))
        done = program("explore", os.path.join(BUILD, "drivers", "refgpu.so"), write(folder, signal), "--seeds", "1..2", "--out", folder, expect=1)
        if "client error SUBMIT-134" not in done.stdout:
            fail(done.stdout)
        shown("KMT-493")


def case_file():
    """A FIFO, a device, a folder, nothing: refused at once for whatever it was meant to be."""
    with tempfile.TemporaryDirectory() as folder:
        driver, workload = os.path.join(BUILD, "drivers", "refgpu.so"), write(folder, "return true")
        fifo, file = os.path.join(folder, "fifo"), write(folder, "", "empty")
        os.mkfifo(fifo)
        for bad, words in ((fifo, "a FIFO, and must be a file"), ("/dev/zero", "a device, and must be a file"), (folder, "a directory, and must be a file"),
                           (os.path.join(folder, "nothing"), "No such file")):
            for arguments in ((bad, workload), (driver, bad), (driver, workload, "--registry", bad), (driver, workload, "--device", bad)):
                program("run", *arguments, "--out", folder, expect=2, words=(words,), timeout=20)
            program("explore", driver, bad, "--seeds", "1..2", "--out", folder, expect=2, words=(words,), timeout=20)
            program("inspect", bad, expect=6, timeout=20)
            program("inspect", driver, "--device", bad, expect=6, timeout=20)
            program("inspect", driver, "--registry", bad, expect=2, timeout=20)
        program("run", driver, workload, "--out", file, expect=2, words=("Not a directory",))
        program("run", driver, workload, "--out", os.path.join(folder, "no", "where"), expect=2, words=("No such file",))


def case_usage():
    """Wrong numbers, names and places of options: status 2 and what is wrong; --help everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        base = (os.path.join(BUILD, "drivers", "refgpu.so"), write(folder, "return true"), "--out", folder)
        for option in ("--seed", "--cpus", "--power-cycle", "--stall-limit", "--watchdog", "--script-limit", "--script-memory", "--fail-allocation", "--ram", "--vram"):
            for value in ("", "-1", "+1", " 1", "1x", "0x", "1e3", "18446744073709551616", "one"):
                program("run", *base, option, value, expect=2, words=(option + " wants",))
            program("run", *base, option, expect=2, words=("this option wants a value: " + option,))
        for option, values in (("--ram", ("0", "63M", "1025G", "67108865", "16777216T")), ("--cpus", ("0", "65")), ("--script-memory", ("1", "1023K", "16777216T")), ("--power-cycle", ("0",)),
                               ("--stall-limit", ("86401",)), ("--watchdog", ("86401", "1s")), ("--iommu", ("", "on", "remap,", "flags=", "flags=x", "flags=4294967296")),
                               ("--set", ("", "a", "=a")), ("--device-set", ("a",)), ("--severity", ("a", "KMT-003=bad", "NO-001=error")),
                               ("--report", ("all",)), ("--out", ("",))):
            for value in values:
                program("run", *base, option, value, expect=2, words=("dxgkhost: ",))
        for option in ("--seeds", "--jobs", "-j", "--shard", "--stop-after", "--limit"):
            for value in ("", "0x", "-1", "1e3", "2..1", "3/2", "99999999999999999999"):
                program("explore", *base, "--seeds", "1..2", option, value, expect=2, words=(option + ": wrong value",))
            program("explore", *base, "--seeds", "1..2", option, expect=2, words=("this option wants a value: " + option,))
        for unknown in ("--bogus", "-x"):
            for verb in ("run", "explore", "inspect"):
                program(verb, *(base[:1] if verb == "inspect" else base), unknown, expect=2, words=("unknown option: " + unknown,))
        for count, status in ((64, 1), (65, 2)):
            done = program("run", *base, *sum((["--set", f"a{i}=1"] for i in range(count)), []), expect=status)
            if status == 2 and "--set: at most 64" not in done.stderr:
                fail(done.stderr)
        for verb in ("run", "explore", "inspect", "explain", "rules"):
            for arguments in ((verb, "--help"), (verb, "anything", "--help")):
                if not program(*arguments).stdout.startswith(f"usage: dxgkhost {verb} "):
                    fail(f"{arguments}: no help")
        program("run", expect=2, words=("a DRIVER is missing",))
        program("run", base[0], expect=2, words=("a WORKLOAD.lua is missing",))
        program("runs", expect=2, words=("unknown command: runs",))
        program("rules", "a", "b", expect=2)


def squeezed(text):
    return "".join(text.replace("`", "").split())


def case_documented():
    """Each option of the table is taken by the commands that it is for, and told by their --help; no other one is."""
    table = option_table.Table()
    everything = program("--help").stdout
    if not everything.startswith("usage: dxgkhost run DRIVER"):
        fail(everything)
    for command in table.commands:
        operands = ["nothing"] * len(command.operand.split())
        helped = program(command.name, "--help").stdout
        if not helped.startswith(f"usage: dxgkhost {command.name} {command.operand}"):
            fail(f"{command.name} --help: {helped}")
        for name in (name for option in table.taken(command) for name in option.names if not (SANITIZED and name == "--isolate")):
            done = subprocess.run([os.path.join(BUILD, "dxgkhost"), command.name, *operands, name], capture_output=True, text=True, check=False, timeout=60, cwd=SOURCE)
            if done.returncode not in (1, 2, 6) or re.search("unknown option|not an option of explore|runs no workload", done.stderr):
                fail(f"{command.name} {name}: {done.returncode}, {done.stderr}")
        for name in [*table.refused(command), "--bogus"] if command.options or command.also else []:
            program(command.name, *operands, name, "1", expect=2, words=("takes a file" if command.name == "check-trace" else name,))
        for option in command.options:
            for where in (helped, everything):
                if not option.has("hidden") and (squeezed(option.help) not in squeezed(where) or not all(name in where for name in option.names)):
                    fail(f"{command.name}: --help does not tell {option.name}")
        if "--serve" in helped:
            fail("--help tells what is for the program itself")


def case_full():
    """Results that cannot be written, by a full disk, a closed pipe or a bad path: an error status and a message, before the work where it can be."""
    with tempfile.TemporaryDirectory() as folder:
        base = (os.path.join(BUILD, "drivers", "refgpu.so"), write(folder, "return true"), "--out", folder)
        os.symlink("/dev/full", os.path.join(folder, "memory.svg"))
        program("run", *base, "--report", "memory", expect=4, words=("memory report could not be written",))
        program("run", *base, "--trace", "/dev/full", expect=4, words=("/dev/full",))
        os.symlink("/dev/full", os.path.join(folder, "full.etl"))
        program("run", *base, "--trace-dxgkrnl", os.path.join(folder, "full.etl"), expect=4, words=("full.etl: writing the trace failed",))
        program("run", *base, "--trace-dxgkrnl", os.path.join(folder, "no", "run.xml"), expect=2, words=("run.xml: No such file or directory",))
        program("run", *base, "--trace-dxgkrnl", os.path.join(folder, "run.json"), expect=2, words=("ends in .etl, .csv or .xml",))
        for bad in (os.path.join(folder, "no", "where"), folder):
            program("run", *base, "--trace", bad, expect=2, words=(bad,))
            done = program("explore", *base, "--seeds", "1..1000000000", "--json", bad, expect=2, words=(bad,), timeout=20)
            if done.stdout:
                fail(f"explored before the path was found bad: {done.stdout}")
        program("explore", *base, "--seeds", "1..2", "--json", "/dev/full", expect=4, words=("/dev/full: writing failed",))
        kept = write(folder, "old", "results.json")
        program("explore", *base, "--seeds", "2..1", "--json", kept, expect=2)
        with open(kept, encoding="utf-8") as file:
            if file.read() != "old":
                fail("a wrong command line cost the results of an earlier campaign")
        commands = (("run", *base), ("run", *base, "--no-supervisor"), ("inspect", base[0]), ("rules",), ("explain", "KMT-001"), ("--version",), ("run", "--help"),
                    ("explore", *base, "--seeds", "1..2"), ("explore", *base, "--seeds", "1..2", "--json", "-"))
        with open("/dev/full", "w", encoding="utf-8") as full:
            for command in commands:
                program(*command, expect=4, words=("standard output: ",), out=full)
        for command in commands:
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "w") as closed:
                program(*command, expect=4, words=("standard output: ",), out=closed)


def case_inspected():
    """inspect: status 6 where it tells of an error, 5 for a bug check."""
    drivers = os.path.join(BUILD, "tests", "drivers")
    for driver, status in (("fails_entry.so", 6), ("incomplete_table.so", 6), ("crashes_entry.so", 5)):
        program("inspect", os.path.join(drivers, driver), expect=status)
    refgpu = os.path.join(BUILD, "drivers", "refgpu.so")
    program("inspect", refgpu)
    done = program("inspect", os.path.join(drivers, "touches_freed.so"), expect=6)
    if "error" not in done.stdout + done.stderr:
        fail(done.stdout + done.stderr)


def attack(seed, packets, *options, driver="refgpu.so"):
    with tempfile.TemporaryDirectory() as folder:
        done = program("run", os.path.join(BUILD, "drivers", driver), os.path.join(SOURCE, "tests", "refgpu", "attack.lua"), "--out", folder,
                       "--seed", str(seed), "--set", f"seed={seed}", "--set", f"packets={packets}", "--set", f"modules={WORKLOADS}", *options, timeout=600)
    for line in done.stderr.splitlines(): # TDR-041: the process has caused five timeouts
        if line.startswith(("dxgkhost: error", "dxgkhost: warning", "dxgkhost: bug check")) and "TDR-041" not in line:
            fail(f"seed {seed}: {done.stderr}")


def case_attack():
    """TDR-032 and all else: whatever a client sends to the reference GPU, the machine goes on and the driver breaks no rule."""
    unmapped = OPEN + """
        for i = 1, 5 do
            D3DKMT.SubmitCommand{Commands = 0x7000000000, CommandLength = 64, BroadcastContext = {gpu.copy}}
            D3DKMT.SubmitCommand{Commands = 0x7000000000, CommandLength = 65, BroadcastContext = {gpu.copy}}
            pcall(D3DKMT.WaitForIdle, {hDevice = gpu.device})
            gpu = refgpu.open()
        end"""
    with tempfile.TemporaryDirectory() as folder:
        done = run(folder, unmapped)
        if "5 engine resets" not in done.stdout:
            fail(done.stdout)
    print("seeds 1 to 10")
    for seed, options in ((1, ()), (2, ("--iommu", "remap")), (3, ("--iommu", "isolation", "--vram", "8M")), (4, ("--stress",)), (5, ("--cpus", "1", "--strict")),
                          (6, ("--set", "hangs=3")), (7, ("--power-cycle", "3000000")), (8, ("--special-pool",)), (9, ("--set", "hangs=20", "--vram", "8M"))):
        attack(seed, 1000, *options)
    windows = os.path.join("clang", "refgpu.sys")
    if os.path.exists(os.path.join(BUILD, "drivers", windows)):
        attack(10, 1000, "--device", os.path.join(BUILD, "devices", "refgpu.so"), driver=windows)


def case_attack_long():
    """The same for 200,000 packets."""
    first = int(os.environ.get("DXGK_SEED", "100"))
    print(f"seeds {first} to {first + 19}")
    for seed in range(first, first + 20):
        attack(seed, 10000, "--set", f"hangs={seed % 3 * 10}", "--iommu", ("off", "isolation", "remap")[seed % 3], "--vram", ("8M", "64M")[seed % 2])


def main():
    global BUILD, SANITIZED
    BUILD = sys.argv[2]
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
