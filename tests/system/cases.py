#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program as a user runs it. Usage: cases.py CASE BUILD_FOLDER. Exit status 0: the case holds."""
import hashlib
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import time
from xml.etree import ElementTree

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
SANITIZED = False
# A small picture for the cases that run often; the same path as the big one.
SMALL = ["--set", "width=480", "--set", "height=270", "--set", "columns=8", "--set", "rows=5"]


def fail(text):
    print(text)
    sys.exit(1)


def program(*arguments, expect=0, timeout=600, cwd=None):
    command = [os.path.abspath(os.path.join(BUILD, "dxgkhost")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace", check=False, cwd=cwd)
    if "AddressSanitizer" in done.stderr or "LeakSanitizer" in done.stderr or "runtime error:" in done.stderr:
        fail(f"{' '.join(command)}\nsanitizer:\n{done.stderr}")
    if expect is not None and done.returncode != expect:
        fail(f"{' '.join(command)}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
    return done


def own_script(name, *options, expect=0):
    with tempfile.TemporaryDirectory() as folder:
        return program("run", os.path.join(BUILD, "drivers", "refgpu.so"), os.path.join(SOURCE, "tests", "system", name), "--device",
                       os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder, *options, expect=expect)


def run(workload, *options, expect=0, driver="refgpu.so"):
    return program("run", os.path.join(BUILD, "drivers", driver), os.path.join(SOURCE, "workloads", workload), *options, expect=expect)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def picture(folder, *options):
    path = os.path.join(folder, "compositor.png")
    if os.path.exists(path):
        os.remove(path)
    run("compositor.lua", "--out", folder, *options)
    return digest(path)


def case_matrix():
    """Every IOMMU mode, one and four processors, little and much video memory: one picture."""
    with tempfile.TemporaryDirectory() as folder:
        seen = {}
        for iommu in ("off", "isolation", "remap"):
            for cpus in ("1", "4"):
                for vram in ("8M", "64M") if SANITIZED else ("8M", "32M", "1G"):
                    options = ["--iommu", iommu, "--cpus", cpus, "--vram", vram, *SMALL, "--set", "most=67108864"]
                    seen[picture(folder, *options)] = options
        if len(seen) != 1:
            fail(f"{len(seen)} different pictures: {seen}")


def case_update_modes():
    """Page tables written by the CPU, by the GPU at addresses of the paging process, and at physical ones: one picture, with every
    IOMMU mode, and no more said than that tables above the leaves lie in a segment although the CPU writes them (GPUVA-023)."""
    with tempfile.TemporaryDirectory() as folder:
        seen = {}
        for mode in range(3):
            registry = update_mode(folder, mode)
            for iommu in ("off", "isolation", "remap"):
                done = run("compositor.lua", "--registry", registry, "--iommu", iommu, "--vram", "8M", "--out", folder, *SMALL)
                seen[digest(os.path.join(folder, "compositor.png"))] = mode
                said = [line for line in done.stderr.splitlines() if line.startswith("dxgkhost:")]
                if any("GPUVA-023" not in line for line in said) or bool(said) != (mode == 0):
                    fail(f"mode {mode}, IOMMU {iommu}: {done.stderr}")
        if len(seen) != 1:
            fail(f"{len(seen)} different pictures: {seen}")


def update_mode(folder, mode):
    path = os.path.join(folder, f"mode{mode}.reg")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\refgpu]\n"
                   f'"PageTableUpdateMode"=4:0{mode}000000\n')
    return path


def address_spaces(count, *options, modes=range(3), least=1000):
    """Processes evict each other's page tables, in each update mode, `count` seeds of each; what they read is what they mapped, and
    the tables are what was asked for."""
    with tempfile.TemporaryDirectory() as folder:
        for mode in modes:
            common = ["--vram", "8M", "--check-page-tables", "--registry", update_mode(folder, mode), *options]
            done = run("address_spaces.lua", *common, "--out", folder)
            evicted = int(re.search(r"page tables evicted +(\d+)", done.stdout).group(1))
            if evicted < least or not re.search(r"page tables +\d+ entries of \d+ tables compared, 0 wrong", done.stdout):
                fail(f"mode {mode}: {evicted} evictions\n{done.stdout}")
            if count == 1:
                continue
            workload = os.path.join(SOURCE, "workloads", "address_spaces.lua")
            done = program("explore", os.path.join(BUILD, "drivers", "refgpu.so"), workload, "--seeds", f"2..{count}", *common, timeout=3000)
            if f"{count - 1} run, 0 failed" not in done.stdout:
                fail(f"mode {mode}: {done.stdout}")


def case_address_spaces():
    """A few seeds."""
    if SANITIZED:
        small = ("--set", "rounds=1", "--set", "mappings=150", "--set", "apart=1", "--script-limit", "300")
        address_spaces(1, *small, modes=(1,), least=20)
    else:
        address_spaces(2)


def case_address_spaces_many():
    """100 seeds."""
    address_spaces(100)


def resident(process):
    """The memory of a process in KiB; 0 when it has ended."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
    except (OSError, AttributeError):
        return 0


def soak(hours, submissions, *options):
    """Mixed load for so long: nothing is lost, done twice or out of order, and the second half takes no more memory than the first."""
    # its memory is that of this process, without a supervisor
    command = [os.path.abspath(os.path.join(BUILD, "dxgkhost")), "run", os.path.join(BUILD, "drivers", "refgpu.so"),
               os.path.join(SOURCE, "workloads", "soak.lua"), "--no-supervisor", "--vram", "8M", "--limit", "0", "--set", f"hours={hours}", "--set",
               f"submissions={submissions}", *options]
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT) as process:
        sizes = []
        while process.poll() is None:
            sizes.append(resident(process))
            time.sleep(0.2)
        said.seek(0)
        text = said.read()
    done = re.search(r"^ +submissions +(\d+)", text, re.MULTILINE)
    took = re.search(r"^ +virtual hours +([0-9.]+)", text, re.MULTILINE)
    if process.returncode or not done or not took or int(done.group(1)) < submissions or float(took.group(1)) < 0.9 * hours:
        fail(f"{' '.join(command)}\nexit status {process.returncode}\n{text[-4000:]}")
    sizes = [size for size in sizes if size]
    first, second = max(sizes[:len(sizes) // 2], default=0), max(sizes[len(sizes) // 2:], default=0)
    if hours > 24 and second > first + 1024:
        fail(f"the first half took {first} KiB, the second {second}")


def case_soak():
    """An hour."""
    soak(1, 5000 if SANITIZED else 20000)


def case_soak_long():
    """Three days, with each kind of IOMMU."""
    for iommu in ("off", "isolation", "remap"):
        soak(72, 10000000, "--iommu", iommu)


def case_big():
    """The full picture in every mode, with 32 MiB and with 1 GiB."""
    with tempfile.TemporaryDirectory() as folder:
        seen = {}
        for iommu in ("off", "isolation", "remap"):
            for cpus in ("1", "4"):
                for vram in ("32M", "1G"):
                    options = ["--iommu", iommu, "--cpus", cpus, "--vram", vram]
                    seen[picture(folder, *options)] = options
        if len(seen) != 1:
            fail(f"{len(seen)} different pictures: {seen}")


def seeds(count):
    with tempfile.TemporaryDirectory() as folder:
        seen = set()
        modes = ("off", "isolation", "remap")
        for seed in range(count):
            seen.add(picture(folder, "--seed", str(seed), "--vram", "8M", "--iommu", modes[seed % 3], "--cpus", str(1 + seed % 5), *SMALL))
        if len(seen) != 1:
            fail(f"{len(seen)} different pictures")


def case_seeds_few():
    """A few seeds, one picture."""
    seeds(4 if SANITIZED else 12)


def case_seeds_many():
    """200 seeds, one picture."""
    seeds(200)


def case_same_seed():
    """The same seed gives the same trace, byte for byte; another one a different interleaving."""
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
            path = os.path.join(folder, name + ".json")
            picture(folder, "--seed", seed, "--vram", "8M", "--trace", path, *SMALL)
            traces.append(digest(path))
        if traces[0] != traces[1]:
            fail("the same seed gave two different traces")
        if traces[0] == traces[2]:
            fail("two seeds gave the same trace")


# What check-trace must have looked at in a run of each workload, of how much at the least, to say that nothing breaks the rule.
SHOWN = {
    "compositor.lua": {"SUBMIT-039": 100, "SUBMIT-015": 100, "PREEMPT-012": 100, "SUBMIT-018": 100, "SUBMIT-047": 100, "(numbers)": 150, "RES-014": 30,
                       "GPUVA-218": 400},
    "burst.lua": {"SUBMIT-039": 50, "SUBMIT-015": 50, "SUBMIT-018": 50, "SUBMIT-047": 50, "(numbers)": 50, "RES-014": 3, "GPUVA-218": 5},
    "priorities.lua": {"SUBMIT-039": 100, "PREEMPT-011": 20, "PREEMPT-012": 100, "PREEMPT-022": 20, "PREEMPT-023": 20},
    "hang.lua": {"SUBMIT-039": 5, "SUBMIT-018": 5, "SUBMIT-047": 5},
}


def case_dxgkrnl_trace():
    """Runs as traces of Windows' provider: no rule that shows in them is broken, each form has the same events, a seed gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        def record(workload, name, *options):
            path = os.path.join(folder, name)
            small = ["--vram", "8M", *SMALL] if workload == "compositor.lua" else []
            run(workload, "--out", folder, "--trace-dxgkrnl", path, *small, *options)
            return path

        for workload, rules in SHOWN.items():
            done = program("check-trace", record(workload, "run.etl"))
            for rule, least in rules.items():
                seen = [int(line.split()[3]) for line in done.stdout.splitlines() if line.startswith(rule) and " 0 of " in line]
                if not seen or max(seen) < least:
                    fail(f"{workload}: {rule} was looked at {seen} times, not {least}\n{done.stdout}")
        paths = [record("compositor.lua", name, "--seed", seed) for name, seed in (("a.etl", "7"), ("b.etl", "7"), ("c.etl", "8"))]
        if digest(paths[0]) != digest(paths[1]) or digest(paths[0]) == digest(paths[2]):
            fail("the same seed gave two different traces, or two seeds the same")
        with open(record("compositor.lua", "run.csv", "--seed", "7"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        root = ElementTree.parse(record("compositor.lua", "run.xml", "--seed", "7")).getroot()
        space = {"e": "http://schemas.microsoft.com/win/2004/08/events/event"}
        ids = [event.find("e:System/e:EventID", space).text for event in root][1:]
        if ids != [line.split(", ")[2] for line in lines[2:]]:
            fail(".csv and .xml do not have the same events")
        if f"events of DxgKrnl      {len(ids)}," not in program("check-trace", paths[0]).stdout:
            fail(".etl does not have as many events as .xml")


def case_escape():
    """In each mode that isolates, the stray access is stopped and reported, and the adapter recovers."""
    with tempfile.TemporaryDirectory() as folder:
        for iommu in ("isolation", "remap"):
            for seed in range(4):
                done = run("escape.lua", "--iommu", iommu, "--seed", str(seed), "--out", folder)
                if "0x12345000" not in done.stderr:
                    fail(f"{iommu}: the logical address is not in the report\n{done.stderr}")


def case_iommu_words():
    """--iommu takes IOMMUFlags and more, and says what it does not know."""
    with tempfile.TemporaryDirectory() as folder:
        for words in ("flags=0x7", "off,flags=31", "remap,svm,present"):
            done = run("escape.lua", "--iommu", words, "--out", folder)
            if "0x12345000" not in done.stderr or f"IOMMU {words}" not in done.stdout:
                fail(f"{words}: the address is not in the report, or the words are not\n{done.stdout}{done.stderr}")
        for words in ("off", "flags=0x5", "svm,present"):
            # the workload fails, too; the broken rule comes first
            done = run("escape.lua", "--iommu", words, "--out", folder, expect=3)
            if "IOMMU-075" not in done.stderr:
                fail(f"{words}: the access was not judged\n{done.stderr}")
        done = run("escape.lua", "--iommu", "off,unjudged", "--out", folder, expect=1)
        if "IOMMU-075" in done.stderr:
            fail(f"the access was judged\n{done.stderr}")
        done = run("empty.lua", "--iommu", "remap,opt-out", "--out", folder, expect=6)
        if "IOMMU-026" not in done.stderr:
            fail(f"remapping was not refused\n{done.stderr}")
        run("empty.lua", "--iommu", "remap", "--iommu", "isolation", "--out", folder)
        for words in ("", "on", "off,", ",off", "flags=", "flags=x", "flags=0x100000000", "isolation remap"):
            run("empty.lua", "--iommu", words, "--out", folder, expect=2)
        done = run("empty.lua", "--iommu", "flags=0x20", "--out", folder, expect=4)
        if "IOMMUFlags" not in done.stderr:
            fail(f"a bit that IOMMUFlags does not have was taken\n{done.stderr}")


def case_windows():
    """--windows takes two words, and a workload runs under both."""
    with tempfile.TemporaryDirectory() as folder:
        for word in ("observed", "documented"):
            run("empty.lua", "--windows", word, "--out", folder)
        for word in ("", "observe", "10", "documented,observed"):
            done = run("empty.lua", "--windows", word, "--out", folder, expect=2)
            if "--windows is observed or documented" not in done.stderr:
                fail(f"--windows {word}: not told what it may be\n{done.stderr}")


def case_hang():
    """A command that never ends is noticed in virtual time, and the engine works again."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(4):
            done = run("hang.lua", "--seed", str(seed), "--out", folder)
            if "note TDR-040: " not in done.stderr:  # notes are told, and the run succeeds
                fail(f"no note of the engine reset\n{done.stderr}")
            again = run("hang.lua", "--seed", str(seed), "--out", folder)
            if "engine reset (0x141)" not in done.stderr or again.stderr != done.stderr:
                fail(f"the same seed says\n{done.stderr}and\n{again.stderr}")


def losses(done):
    """How many losses of power the report tells of."""
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("  losses of power ")]
    return int(rows[0][3]) if rows else 0


def case_power():
    """The machine sleeps and wakes beside and within a workload: content stays, and what cannot be is said."""
    with tempfile.TemporaryDirectory() as folder:
        def script(text):
            path = os.path.join(folder, "power.lua")
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            return path

        small = ["--out", folder, "--vram", "8M", *SMALL]
        wanted = picture(folder, *small)
        for iommu in ("off", "remap"):
            done = run("compositor.lua", "--power-cycle", "500000", "--iommu", iommu, *small)
            if losses(done) < 3 or digest(os.path.join(folder, "compositor.png")) != wanted:
                fail(f"not the same picture after losses of power:\n{done.stdout}")
        # While address spaces come and go, one has no root table yet, or no longer.
        less = ("--set", "processes=3", "--set", "mappings=100") if SANITIZED else ()
        for seed in ("1", "3"):
            run("address_spaces.lua", "--power-cycle", "300000", "--cpus", "2", "--seed", seed, "--out", folder, *less)
        # Physical addresses, with contexts and without.
        blitter = os.path.join(SOURCE, "examples", "blitter", "blitter.lua")
        device = ["--device", os.path.join(BUILD, "examples", "blitter_device.so"), "--out", folder]
        for driver in ("examples/blitter.so", "tests/drivers/single_engine.so"):
            if losses(program("run", os.path.join(BUILD, driver), blitter, *device, "--power-cycle", "200000", "--strict")) < 3:
                fail(f"{driver}: no loss of power")
        # A workload's own. A call that needs the driver wakes it.
        refgpu = os.path.join(BUILD, "drivers", "refgpu.so")
        program("run", refgpu, script("""
            local states = {dxgk.power()}
            for _, state in ipairs{"D3", "D2", "D1", "D0"} do
                dxgk.power(state, "hibernate")
                states[#states + 1] = dxgk.power()
            end
            assert(table.concat(states, " ") == "D0 D3 D2 D1 D0")
            dxgk.power("D3")
            D3DKMT.CreateDevice{hAdapter = D3DKMT.EnumAdapters2()[1].hAdapter}
            assert(dxgk.power() == "D0")
            dxgk.power("D3")
            """), "--out", folder)
        one_line(program("run", refgpu, script("dxgk.power('D4')"), "--out", folder, expect=1), "D4")
        one_line(program("run", refgpu, script("dxgk.power('D3', 'boredom')"), "--out", folder, expect=1), "boredom")
        one_line(program("run", refgpu, blitter, "--power-cycle", "0", expect=2), "--power-cycle")


def case_memory_report():
    """Physical memory by owner, in words and as a picture."""
    with tempfile.TemporaryDirectory() as folder:
        done = run("empty.lua", "--iommu", "isolation", "--report", "memory", "--out", folder)
        for words in ("physical memory", "free runs", "isolated", "contiguous block"):
            if words not in done.stdout:
                fail(f"'{words}' is not in the report\n{done.stdout}")
        with open(os.path.join(folder, "memory.svg"), encoding="utf-8") as file:
            if not file.read().endswith("</svg>\n"):
                fail("memory.svg is no whole picture")
        program("run", "x", "y", "--report", "everything", expect=2)


def charts(folder, name):
    """The heights of the charts of a picture, which begins with a frame of each."""
    tree = ElementTree.parse(os.path.join(folder, name + ".svg"))
    return [box.get("height") for box in tree.iter() if box.get("fill") == "#f4f4f4"]


def case_gpu_memory_reports():
    """Who was where in segments and address spaces, in words and as pictures."""
    with tempfile.TemporaryDirectory() as folder:
        small = ("--vram", "8M", "--out", folder)
        done = run("compositor.lua", *small, "--report", "gpuva", "--report", "residency")
        for words in ("GPU virtual addresses, adapter 0", "paging process: ", "from page 0, read and write", "residency, adapter 0", "segment 1, memory, 7680 KiB",
                      "evicted by D3DKMTEvict"):
            if words not in done.stdout:
                fail(f"'{words}' is not in the report\n{done.stdout}")
        for name, words in (("gpuva", "its range was freed"), ("residency", "evicted by D3DKMTEvict")):
            tree = ElementTree.parse(os.path.join(folder, name + ".svg"))
            if words not in "".join(tree.getroot().itertext()):
                fail(f"'{words}' is not in {name}.svg")
        # without a chronicle the same run is the same
        plain = run("compositor.lua", *small).stdout
        if [line for line in plain.splitlines() if "wall" not in line and line not in done.stdout]:
            fail(f"a report changes the run\n{plain}")
        # four ranges of the paging process, each in a row of its own; of the other, few, and more than fit
        for workload, last in (("burst.lua", "36"), ("address_spaces.lua", "1200")):
            options = ("--set", "processes=1", "--set", "mappings=200") if last == "1200" else ()
            run(workload, *options, "--report", "gpuva", "--out", folder)
            if charts(folder, "gpuva") != ["48", last]:
                fail(f"{workload}: heights of charts: {charts(folder, 'gpuva')}")


def nested(trace):
    """Whether spans that overlap others end in order, and how many there are."""
    open_spans, count = {}, 0
    with open(trace, encoding="utf-8") as file:
        for event in json.load(file)["traceEvents"]:
            spans = open_spans.setdefault(event.get("id"), [])
            if event["ph"] == "b":
                spans.append(event["name"])
                count += 1
            elif event["ph"] == "e" and (not spans or spans.pop() != event["name"]):
                fail(f"a span ends that did not begin: {event}")
    if any(open_spans.values()):
        fail(f"spans have no end: {open_spans}")
    return count


def case_submissions_report():
    """The life of each submission, in words and in the trace: renders that are preempted, and one that hangs and is reset."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        small = ("--vram", "8M", "--out", folder)
        done = run("priorities.lua", *small, "--report", "submissions", "--trace", trace)
        lines = [line.split() for line in done.stdout.splitlines()]
        renders = [line for line in lines if len(line) > 18 and line[2] == "render"]
        count = int(re.search(r"submissions +(\d+) \(", done.stdout).group(1))
        again = sum(int(words) for words in re.findall(r"preempted (\d+) times?", done.stdout))
        if len(renders) != 120 or len(renders) + again != count:
            fail(f"{len(renders)} renders, preempted {again} times, of {count} submissions\n{done.stdout}")
        for line in renders:
            times = [float(word) for word in line[11:18]]
            if times != sorted(times) or line[18:20] != ["COMPLETED", "completed" + ("," if len(line) > 20 else "")]:
                fail(f"a render went wrong: {line}")
        asked = done.stdout.count("is asked for: another context")
        if asked == 0 or asked != done.stdout.count("is answered: completed up to fence") or "context 10\n" not in done.stdout:
            fail(f"{asked} preemptions were asked for\n{done.stdout}")
        if nested(trace) < 4 * count:
            fail("spans are missing")
        done = run("hang.lua", *small, "--report", "submissions", "--trace", trace)
        for words in ("aborted by a reset", "canceled, its device was lost", "TDR: it is to be reset, because of a timeout",
                      "node 0: engine reset: fence 1 was aborted, 0 was the last completed one, the engine did not respond",
                      "preemption 1 is asked for: the oldest packet runs too long", "preemption 1 ends without an answer, by a reset"):
            if words not in done.stdout:
                fail(f"'{words}' is not in the report\n{done.stdout}")
        nested(trace)
        plain = run("hang.lua", *small).stdout
        if [line for line in plain.splitlines() if "wall" not in line and line not in done.stdout]:
            fail(f"the report changes the run\n{plain}")
        if os.listdir(folder) != ["trace.json"]:
            fail("there is a picture")


PAGES = b"""
local of, mapped = {}, 0
for address = 0, 64 * 1048576 - 1, 4096 do
    local page = dxgk.page(address)
    of[page.owner] = (of[page.owner] or 0) + 1
    assert(page.cache == "cached" or page.cache == "non-cached" or page.cache == "write-combined")
    assert(page.locks >= 0)
    if page.owner == "contiguous, by DxgkCb" then
        assert(page.cache == "cached" and page.iommu_maps == 1)
        mapped = mapped + 1
    end
    if page.owner == "free" then
        assert(page.locks == 0 and page.iommu_maps == 0)
    end
end
assert(of["free"] > 0 and of["pool"] > 0 and mapped > 0)
assert(dxgk.page(64 * 1048576 - 1).owner)
for _, address in ipairs {64 * 1048576, -1, 1 << 50} do
    local done, why = pcall(dxgk.page, address)
    assert(not done and why:find(string.format("no RAM at address 0x%x", address), 1, true))
end
"""


def case_pages():
    """What a workload is told of a page."""
    driver, device = os.path.join(BUILD, "drivers", "refgpu.so"), os.path.join(BUILD, "devices", "refgpu.so")
    with tempfile.TemporaryDirectory() as folder:
        workload = os.path.join(folder, "pages.lua")
        with open(workload, "wb") as out:
            out.write(PAGES)
        program("run", driver, workload, "--device", device, "--ram", "64M", "--out", folder)


def one_line(done, *words):
    lines = [line for line in done.stderr.splitlines() if line]
    if len(lines) != 1 or not all(word in lines[0] for word in words):
        fail(f"expected one line with {words}, got:\n{done.stderr}")


def windows_images(name, folder="drivers"):
    """The image as each of the cross compilers that are installed made it."""
    paths = [os.path.join(BUILD, folder, compiler, name) for compiler in ("gcc", "clang")]
    return [path for path in paths if os.path.exists(path)]


def expect_lines(done, *wanted):
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for words in wanted:
        if not any(line.startswith(words) for line in lines):
            fail(f"no line begins with {words!r}:\n{done.stdout}\n{done.stderr}")


def case_three_builds():
    """The reference miniport as ELF and as each compiler's Windows image: the same pictures, and the same trace at the same seed."""
    drivers = ["refgpu.so"] + [os.path.relpath(path, os.path.join(BUILD, "drivers")) for path in windows_images("refgpu.sys")]
    with tempfile.TemporaryDirectory() as folder:
        for seed, iommu, cpus in (("7", "off", "4"), ("8", "remap", "1")) if SANITIZED else (("7", "off", "4"), ("8", "remap", "1"), ("9", "isolation", "3")):
            seen = {}
            for driver in drivers:
                trace = os.path.join(folder, "trace.json")
                run("compositor.lua", "--out", folder, "--trace", trace, "--seed", seed, "--iommu", iommu, "--cpus", cpus, "--vram", "8M",
                    *SMALL, driver=driver)
                seen.setdefault((digest(os.path.join(folder, "compositor.png")), digest(trace)), []).append(driver)
            if len(seen) != 1:
                fail(f"seed {seed}, IOMMU {iommu}: {len(seen)} different pictures or traces: {list(seen.values())}")
        for driver in drivers[1:]:
            run("escape.lua", "--iommu", "remap", "--out", folder, driver=driver)
            run("hang.lua", "--out", folder, driver=driver)


def case_screen():
    """A display-only driver without a device, as ELF and as each compiler's Windows image: pictures in every mode, turned, over a
    loss of power, pixel by pixel; one screen at the end, and the same trace at the same seed."""
    drivers = ["bootfb.so"] + [os.path.relpath(path, os.path.join(BUILD, "drivers")) for path in windows_images("bootfb.sys")]
    with tempfile.TemporaryDirectory() as folder:
        seen = {}
        screen, trace = os.path.join(folder, "screen.png"), os.path.join(folder, "trace.json")
        for driver in drivers:
            done = run("screen.lua", "--device", "null", "--screen", screen, "--trace", trace,
                       "--out", folder, "--set", "frames=3", driver=driver)
            expect_lines(done, "pixels compared", "violations 0 (0 warnings)", "leaks 0")
            seen.setdefault((digest(screen), digest(trace)), []).append(driver)
        if len(seen) != 1:
            fail(f"{len(seen)} different screens or traces: {list(seen.values())}")
        with open(screen, "rb") as file:
            header = file.read(24)
        if header[:8] != b"\x89PNG\r\n\x1a\n" or (int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")) != (1024, 768):
            fail(f"{screen} is no PNG of 1024x768")
        # Functions with a VGA show the firmware's frame buffer, in their own memory, as long as nobody programs them.
        before = digest(screen)
        for device in ("stdvga.so", "virtio_gpu.so"):
            done = run("screen.lua", "--device", os.path.join(BUILD, "devices", device), "--screen", screen,
                       "--out", folder, "--set", "frames=3", driver="bootfb.so")
            expect_lines(done, "pixels compared", "violations 0 (0 warnings)", "leaks 0")
            if digest(screen) != before:
                fail(f"another screen with {device}")
        run(os.path.join(SOURCE, "tests", "system", "pointer.lua"), "--device", "null", "--out", folder, driver="bootfb.so")
        # A host without displays refuses the driver, by name.
        done = run("screen.lua", "--device", "null", "--no-displays", "--out", folder, expect=None, driver="bootfb.so")
        if done.returncode == 0 or "LIFE-036" not in done.stderr:
            fail(f"--no-displays: status {done.returncode}\n{done.stdout}\n{done.stderr}")


def case_inspect():
    """A driver is told in lines: file, imports, entry points, capabilities, segments, page tables, verdict."""
    done = program("inspect", os.path.join(BUILD, "drivers", "refgpu.so"))
    expect_lines(done, "refgpu.so: ELF shared object", "provided KeWaitForSingleObject", "entry points, interface version 0xe003",
                 "DxgkDdiPatch refgpu.so!RefGpuPatch", "WDDM version 2.9", "0 3D, physical addresses",
                 "1 copy, GPU virtual addresses", "2 at 0x10000000000,", "GPU MMU of 48 address bits, 4 page-table levels",
                 "level 3: 9 index bits", "verdict", "starts")
    done = program("inspect", os.path.join(BUILD, "tests", "drivers", "seeds", "seeds29.so"), "--device", "null")
    expect_lines(done, "verdict", "starts")
    own = os.path.join(BUILD, "tests", "drivers")
    expect_lines(program("inspect", os.path.join(own, "seeds", "seeds12.so")), "verdict", "loads; no device was there to start an adapter for")
    expect_lines(program("inspect", os.path.join(own, "single_engine.so"), "--device", "null", expect=6),
                 "capabilities: not asked for, the adapter did not come so far", "verdict",
                 "refused: single_engine.so: DxgkDdiStartDevice returned STATUS_DEVICE_CONFIGURATION_ERROR")
    expect_lines(program("inspect", os.path.join(own, "fails_entry.so"), expect=6), "refused: fails_entry.so: DriverEntry returned",
                 "found while the refused start was undone:", "error NT-027: fails_entry.so left a pool block of 100 bytes")
    with tempfile.TemporaryDirectory() as folder: # all flags by name
        habits = os.path.join(folder, "habits.reg")
        with open(habits, "w") as file:
            file.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\compute]\n"Habit"=4:09000000\n')
        done = program("inspect", os.path.join(BUILD, "tests", "drivers", "compute.so"), "--device", "null", "--registry", habits)
        expect_lines(done, "scheduling 0x45 MultiEngineAware PreemptionAware LowIrqlPreemptCommand",
                     "1 at 0xc0000000, 16384 KiB, commit limit 16384 KiB, 0x100031 Aperture CacheCoherent PitchAlignment NonLocalBudgetGroup",
                     "GPU MMU of 34 address bits, 2 page-table levels, update mode CPU_VIRTUAL, ReadOnlyMemorySupported ZeroInPteSupported",
                     "warning LIFE-030: DxgkDdiNotifyAcpiEvent is not NULL on a compute-only driver")
        # Options of run that are for workloads are refused, the others work.
        driver = os.path.join(BUILD, "tests", "drivers", "compute.so")
        done = program("inspect", driver, "--device", "null", "--registry", habits, "--severity", "LIFE-030=note")
        if "LIFE-030" in done.stdout:
            fail(done.stdout)
        done = program("inspect", driver, "--device", "null", "--registry", habits, "--strict", expect=6)
        expect_lines(done, "refused: compute.so: LIFE-030:")
        if done.stdout.count("DxgkDdiNotifyAcpiEvent is not NULL") != 1: # once, and the other findings after it
            fail(done.stdout)
        for wrong in (("--trace", "x"), ("--trace-dxgkrnl", "x.etl"), ("--out", folder), ("--set", "a=b"), ("--report", "memory"), ("--power-cycle", "1")):
            one_line(program("inspect", driver, "--device", "null", *wrong, expect=2), "inspect runs no workload: " + wrong[0])
        one_line(program("inspect", driver, "--device", "null", "other", expect=2), "one argument too many: other")
        one_line(program("inspect", driver, "--device", "null", "--severity", "NT-9999=note", expect=2), "NT-9999=note: no such rule")
    for path in windows_images("refgpu.sys"):
        done = program("inspect", path, expect=None)
        expect_lines(done, "refgpu.sys: PE32+ image for x64", ".text 0x00001000,",
                     f"ntoskrnl.exe: {30 if 'clang' in path else 29} provided, 0 missing", # clang has __try
                     "provided KeWaitForSingleObject", "DxgkDdiPatch refgpu.sys!RefGpuPatch", "verdict")
    for path in windows_images("missing.sys", os.path.join("tests", "drivers")):
        done = program("inspect", path, expect=6)
        expect_lines(done, "helper.sys: 0 provided, 2 missing", "missing #7", "missing KeNoSuchRoutine", "verdict", "refused: missing.sys:",
                     "warning LIFE-005: missing.sys imports 4 routines", "error LIFE-187: missing.sys called ntoskrnl.exe!KeNoSuchRoutine")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bad.sys")
        with open(path, "wb") as out:
            out.write(b"MZ" + bytes(200))
        one_line(program("inspect", path, expect=6), "bad.sys", "DOS program")
        one_line(program("inspect", os.path.join(folder, "none.sys"), expect=6), "none.sys")


def case_modules():
    """What a driver imports from beside the kernel is loaded from its folder, initialised before it and unloaded after it."""
    device = os.path.join(BUILD, "devices", "refgpu.so")
    workload = os.path.join(SOURCE, "workloads", "compositor.lua")
    for path in windows_images("uses_library.sys", os.path.join("tests", "drivers")):
        with tempfile.TemporaryDirectory() as folder:
            done = program("run", path, workload, "--device", device, "--verbose", "--out", folder, expect=6)
            if "library initialized: 1" not in done.stderr or "left a" in done.stderr:
                fail(done.stderr)
            done = program("inspect", path, "--device", device, expect=6)
            expect_lines(done, "library.sys: 4 provided, 0 missing", "provided #9")
    for path in windows_images("uses_fails.sys", os.path.join("tests", "drivers")):
        with tempfile.TemporaryDirectory() as folder:
            done = program("run", path, workload, "--device", device, "--verbose", "--out", folder, expect=3)
            if "library_fails.sys: its initialisation failed with 0x80000011" not in done.stderr or "entered" in done.stderr or "library_fails.sys left a pool block" not in done.stderr:
                fail(done.stderr)
    for path in windows_images("missing.sys", os.path.join("tests", "drivers")):
        with tempfile.TemporaryDirectory() as folder:
            start = ["run", path, workload, "--device", device, "--out", folder]
            one_line(program(*start, expect=6), "imports 4 routines that the host does not have", "ntoskrnl.exe!KeNoSuchRoutine", "helper.sys!#7")
            done = program(*start, "--stub-missing", expect=3)
            if "LIFE-187" not in done.stderr:
                fail(done.stderr)


def case_bad_input():
    """One clear line, and the exit status of whose fault it is."""
    driver = os.path.join(BUILD, "drivers", "refgpu.so")
    workload = os.path.join(SOURCE, "workloads", "compositor.lua")
    with tempfile.TemporaryDirectory() as folder:
        def file(name, content):
            path = os.path.join(folder, name)
            with open(path, "wb") as out:
                out.write(content)
            return path

        out = ["--out", folder]
        device = ["--device", os.path.join(BUILD, "devices", "refgpu.so")]
        one_line(program("run", os.path.join(folder, "no.so"), workload, *device, *out, expect=2), "no.so")
        one_line(program("run", os.path.join(folder, "no.so"), workload, *out, expect=2), "no.so")
        one_line(program("run", driver, workload, *out, "--device", os.path.join(folder, "none.so"), expect=2), "none.so")
        one_line(program("run", driver, workload, *out, "--device", "null", "--device-set", "class=x", expect=6), "class is a number")
        done = program("run", driver, workload, *out, "--device", "null", "--vram", "32M", expect=6) # the driver misses its hardware
        if "null" in done.stderr or "STATUS_DEVICE_CONFIGURATION_ERROR" not in done.stderr:
            fail(done.stderr)
        one_line(program("run", driver, workload, *out, "--trace", os.path.join(folder, "no", "trace.json"), expect=2), "trace.json")
        done = program("run", driver, file("quiet.lua", b"return dxgk.set.known ~= nil"), *out, "--set", "known=1", "--set", "unknwon=2", expect=1)
        one_line(done, "unknwon")
        one_line(program("run", file("text.so", b"hello"), workload, *device, *out, expect=6), "text.so")
        one_line(program("run", file("cut.so", open(driver, "rb").read()[:300]), workload, *device, *out, expect=6), "cut.so")
        one_line(program("run", os.path.join(BUILD, "devices", "refgpu.so"), workload, *device, *out, expect=6), "DriverEntry")
        one_line(program("run", driver, os.path.join(folder, "no.lua"), *out, expect=2), "no.lua")
        one_line(program("run", driver, file("bad.lua", b"this is not lua"), *out, expect=1), "bad.lua")
        one_line(program("run", driver, file("error.lua", b"error('as it must')"), *out, expect=1), "as it must")
        one_line(program("run", driver, workload, *out, "--set", "background=" + file("no.png", b"\x89PNG\r\n\x1a\nxxxx"), expect=1), "no.png")
        one_line(program("run", driver, workload, *out, "--set", "width=1", expect=1), "width")
        one_line(program("run", driver, workload, *out, "--ram", "3", expect=2), "--ram")
        one_line(program("run", driver, workload, *out, "--vram", "12345", expect=6), "vram")
        one_line(program("run", driver, workload, *out, "--ram", "much", expect=2), "--ram")
        one_line(program("run", driver, workload, *out, "--cpus", "0", expect=2), "--cpus")
        one_line(program("run", driver, workload, "--nothing", "1", expect=2), "--nothing")
        one_line(program("run", driver, file("status.lua", b"D3DKMT.CreateDevice{hAdapter=77}"), *out, expect=1), "STATUS_INVALID_PARAMETER")
        program("run", expect=2)
        program(expect=2)
        program("explain", "PATCH-9999", expect=1)


def case_calls():
    """A client of WDDM 1.x, and one of 2.0: calls, constants, and what is said of misspelt names."""
    folder = os.path.join(BUILD, "tests", "drivers", "seeds")
    workload = os.path.join(SOURCE, "tests", "system", "calls.lua")
    with tempfile.TemporaryDirectory() as out:
        for driver, version in (("seeds12.so", "1.x"), ("seeds20.so", "2.0")):
            program("run", os.path.join(folder, driver), workload, "--device", os.path.join(folder, "device.so"), "--set",
                    f"version={version}", "--out", out)


def case_buffers():
    """Byte buffers of workloads."""
    with tempfile.TemporaryDirectory() as out:
        program("run", os.path.join(BUILD, "drivers", "refgpu.so"), os.path.join(SOURCE, "tests", "system", "buffers.lua"), "--device",
                os.path.join(BUILD, "devices", "refgpu.so"), "--out", out)


def case_sharing():
    """What clients share, by global handles, NT handles and names, from a workload."""
    with tempfile.TemporaryDirectory() as out:
        program("run", os.path.join(BUILD, "drivers", "refgpu.so"), os.path.join(SOURCE, "tests", "system", "sharing.lua"), "--device",
                os.path.join(BUILD, "devices", "refgpu.so"), "--out", out)


def case_images():
    """Images and raw files of workloads."""
    own_script("images.lua")


def case_arguments():
    """Types and limits of the members of calls."""
    own_script("arguments.lua")


def case_library():
    """The table dxgk at its limits: of rows for the report, and of rules that are expected, each of which has to happen. A file beside
    which others are may be named without a folder."""
    done = own_script("library.lua", "--set", "one=1", "--set", "two=2=2", "--set", "three=", expect=1)
    wanted = [f"dxgkhost: a violation of LIFE-{number:03} was expected and did not happen" for number in range(1, 17)]
    if done.stderr.splitlines() != wanted:
        fail(done.stderr)
    expect_lines(done, "row 1 true", "row 2 " + "x" * 79, "row 3 0.75", "row 32 8.0", "result FAIL: done")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("other.lua", "return 'of the other'"), ("work.lua", "return require('other') == 'of the other' and dxgk.directory == '.'")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        program("run", os.path.abspath(os.path.join(BUILD, "drivers", "refgpu.so")), "work.lua", "--out", folder, cwd=folder)


def case_reasons():
    """A call that fails says why: as an error, when the workload fails without telling, and each one with --verbose."""
    refgpu = os.path.join(BUILD, "drivers", "refgpu.so")
    reason = "STATUS_INVALID_PARAMETER: handle 0x4d is not that of an adapter (KMT-026)"
    with tempfile.TemporaryDirectory() as folder:
        def run_script(text, *options, expect=1):
            path = os.path.join(folder, "work.lua")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return program("run", refgpu, path, *options, "--out", folder, expect=expect)

        one_line(run_script("D3DKMT.CreateDevice{hAdapter = 77}"), "D3DKMTCreateDevice: " + reason)
        quiet = "local ok, why = pcall(D3DKMT.CreateDevice, {hAdapter = 77}); "
        done = run_script(quiet + "return false, 'it is so'")
        expected = ["dxgkhost: it is so", "dxgkhost: before that, D3DKMTCreateDevice failed with " + reason]
        if done.stderr.splitlines() != expected:
            fail(done.stderr)
        one_line(run_script(quiet + "return false, why.status .. ': ' .. why.reason"), reason)
        done = run_script(quiet, expect=0)
        if done.stderr:
            fail(done.stderr)
        one_line(run_script(quiet, "--verbose", expect=0), "D3DKMTCreateDevice failed with " + reason)
        for number in range(1, 200): # until it is a callback of the start
            done = run_script("", "--fail-allocation", str(number), expect=None)
            lines = done.stderr.splitlines()
            if len(lines) > 1 and lines[1].startswith("dxgkhost: before that, DxgkCb"):
                break
        else:
            fail("no callback failed for want of memory")
        if "DxgkDdiStartDevice returned STATUS_INSUFFICIENT_RESOURCES" not in lines[0] or "no memory of the host" not in lines[1]:
            fail(done.stderr)


def case_limit():
    """--limit ends a run that does not end by itself, in virtual time, and tells who is left. Wrong ones are wrong usage."""
    refgpu = os.path.join(BUILD, "drivers", "refgpu.so")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "work.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write("while true do dxgk.sleep(7777777777) end")
        for limit, seconds in (("90", "90"), ("2m", "120"), ("1.5s", "1.5"), ("20ms", "0.02"), ("500us", "0.0005"), ("100000000ns", "0.1"), ("1h", "3600"), (None, "3600")):
            done = program("run", refgpu, path, *(["--limit", limit] if limit else []), "--out", folder, expect=1)
            for part in ("NT-194", f"the limit of {seconds} s of virtual time was reached", "client thread", "waits in dxgk_client_sleep"):
                if part not in done.stderr:
                    fail(f"{limit}: {part} is not in\n{done.stderr}")
        with open(path, "w", encoding="utf-8") as file:
            file.write("dxgk.sleep(4000000000000)")
        program("run", refgpu, path, "--limit", "0", "--out", folder)
        program("run", refgpu, path, "--limit", "2h", "--out", folder)
        for wrong in ("", "s", "-1", "1.", ".5", "5x", "5 s", "99999999999999999999", "18446744074s"):
            done = program("run", refgpu, path, "--limit", wrong, "--out", folder, expect=2)
            if "a limit is a time like" not in done.stderr:
                fail(done.stderr)


def case_driver_faults():
    """A driver that crashes or loops: a report with DDI, symbol and fault, exit status 5; one that cannot be loaded: 6."""
    with tempfile.TemporaryDirectory() as folder:
        for name, status, words in (
                ("crashes_entry", 5, ("write_to", "DriverEntry", "address 0x18")),
                ("loops_entry", 5, ("DriverEntry", "loops without calling the host")),
                ("missing_imports", 6, ("ExAnotherMissingRoutine", "KeNoSuchRoutine")),
                ("incomplete_table", 6, ("LIFE-021", "DxgkDdiAddDevice")),
                ("no_entry", 6, ("DriverEntry",))):
            done = program("run", os.path.join(BUILD, "tests", "drivers", name + ".so"), os.path.join(SOURCE, "workloads", "escape.lua"),
                           "--device", os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder, "--watchdog", "2", expect=status)
            if not all(word in done.stderr for word in words):
                fail(f"{name}: {words} not in\n{done.stderr}")
        # what the adapter would have used: it has not started, and that is all there is to say
        done = program("run", os.path.join(BUILD, "tests", "drivers", "incomplete_table.so"), os.path.join(SOURCE, "workloads", "escape.lua"),
                       "--device", os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder, "--report", "residency", "--report", "gpuva", "--report", "memory", expect=6)
        if "LIFE-021" not in done.stderr or "report could not be written" in done.stderr or "physical memory" not in done.stdout:
            fail(f"reports after a refused start\n{done.stdout}{done.stderr}")


def case_explain():
    """Rules are printed with those they lean on, and listed."""
    done = program("explain", "PHYS-011")
    if program("explain", "phys-011").stdout != done.stdout:
        fail("explain does not take any case")
    page = "https://learn.microsoft.com/windows-hardware/drivers/"
    if f"  pages   {page}debugger/bug-check-0x1e4--video-dxgkrnl-sysmm-fatal-error\n" not in program("explain", "PHYS-175").stdout or \
            f"\n          {page}ddi/d3dkmddi/ns-d3dkmddi-dxgkargcb_free_adl\n" not in program("explain", "PHYS-180").stdout:
        fail("explain does not tell where a source is published")
    if "THREAD-049" not in done.stdout or "APC_LEVEL" not in done.stdout:
        fail(done.stdout)
    if any(("not in force" in program("explain", rule).stdout) != told for rule, told in (("PATCH-160", True), ("PRES-279", True), ("PATCH-099", False), ("PRES-334", False), ("DISP-027", False), ("PATCH-098", False), ("DISP-001", False), ("PATCH-121", False))):
        fail("what is not in force is not told")
    for rule, basis in (("PREEMPT-012", "a decision of this host; seen on Windows 10-1803 (one source): nothing was submitted"), ("NT-202", "a decision of this host"),
                        ("SUBMIT-039", "on record, in part a decision of this host; seen on Windows 10-1803, 11-22H2 (several sources)"),
                        ("PHYS-011", "documented")):
        first = program("explain", rule).stdout.split("\n\n")[0]
        if f"basis {basis}" not in " ".join(first.split()):
            fail(f"{rule}: not told what it rests on\n{first}")
    if len(program("rules").stdout.splitlines()) < 3336 or len(program("rules", "PATCH").stdout.splitlines()) != 166:
        fail("the list of rules is not complete")


def case_page_tables():
    """--check-page-tables: a row in the report, and a rule for a driver with a mistake."""
    drivers, device = os.path.join(BUILD, "tests", "drivers"), os.path.join(BUILD, "devices", "refgpu.so")
    burst = os.path.join(SOURCE, "workloads", "burst.lua")
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "tables.reg")
        with open(registry, "w", encoding="utf-8") as out:
            out.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\tables]\n"TableFault"=4:05000000\n')
        done = run("burst.lua", "--check-page-tables", "--out", folder)
        if not re.search(r"page tables +\d+ entries of \d+ tables compared, 0 wrong", done.stdout):
            fail(f"no row of page tables\n{done.stdout}")
        if "page tables" in run("burst.lua", "--out", folder).stdout:
            fail("a row of page tables that nobody asked for")
        done = run("burst.lua", "--page-table-format", "cosgpu", "--out", folder)  # of another shape than refgpu's
        if "page tables            not compared" not in done.stdout:
            fail(f"tables of another shape were compared\n{done.stdout}")
        done = program("run", os.path.join(drivers, "tables.so"), burst, "--device", device, "--registry", registry, "--check-page-tables",
                       "--out", folder, expect=3)
        if "GPUVA-206: the page size of a leaf table is wrong: process 1 (workload)" not in done.stderr:
            fail(f"the leaf tables of large pages are not named\n{done.stderr}")
        one_line(run("burst.lua", "--page-table-format", "refgp", expect=2), "--page-table-format wants cosgpu or a file FORMAT.lua", "refgp")


FORMAT = """return {{
    entry_bytes = 8, index_bits = {{9, 9, 9, 9}}, valid = 1, address = {{mask = 0x000FFFFFFFFFF000}}, {more}
}}"""
# What is wrong with a description, by what is wrong with the file.
BAD_FORMATS = (
    ("", "it returns no table, but nil"),
    ("return 7", "it returns no table, but number"),
    ("return {", "format.lua:1: unexpected symbol near <eof>"),
    ("\x1bLua", "attempt to load a binary chunk"),
    ("error({})", "attempt to call a nil value (global 'error')"),
    ("return {[1] = 2}", "members have names, not a number"),
    ("while true do end", "it takes too long"),
    ("local t = {} for i = 1, 1 << 40 do t[i] = i end", "not enough memory"),
    ("local s = 'x' for i = 1, 60 do s = s .. s end", "not enough memory"),
    ("return " + "{" * 1000, "C stack overflow"),
    ("return require('os')", "attempt to call a nil value (global 'require')"),
    ("return {entry_bytes = 8}", "index_bits: table expected, got nil"),
    (FORMAT.format(more="vaild = 1"), "has no member vaild; the nearest is valid"),
    (FORMAT.format(more="name = 5"), "name: string expected, got number"),
    (FORMAT.format(more="zero = 1.5"), "zero: integer expected, got number"),
    (FORMAT.format(more="zero = '2'"), "zero: integer expected, got string"),
    (FORMAT.format(more="zero = 1"), "valid and zero have bits 0x1 in common"),
    (FORMAT.format(more="read_only = 2, writable = 4"), "read_only and writable: one of them"),
    (FORMAT.format(more="tables_plain = 1"), "tables_plain: true or false expected, got number"),
    (FORMAT.format(more="segments = {7}"), "segments: element 1 is no table"),
    (FORMAT.format(more="segments = {{bits = 0}}"), "there is no segment 4294967295"),
    (FORMAT.format(more="segments = {{segment = 1 << 32}}"), "segment: 4294967296 is no number of that kind"),
    (FORMAT.format(more="segments = {{segment = 1, bits = 2}}"), "bits 0x2 beyond segment_mask, 0x0"),
    (FORMAT.format(more="segments = {{}, {}, {}, {}, {}, {}, {}, {}, {}}"), "segments: 9 elements, at most 8 are possible"),
    (FORMAT.format(more="entry_bytes = -8"), "entry_bytes: -8 is no number of that kind"),
    (FORMAT.format(more="index_bits = {9, 9, 9, -1}"), "index_bits: element 4 is no number of bits"),
    (FORMAT.format(more="index_bits = {9, 9, 9, 60}"), "level 3 has 60 index bits: 1 to 24"),
    (FORMAT.format(more="index_bits = {1, 1, 1, 1, 1, 1, 1}"), "index_bits: 7 elements, at most 6 are possible"),
    (FORMAT.format(more="address = {mask = -4096, shift = 64}"), "the address is shifted by 64 bits"),
    (FORMAT.format(more="address = {-4096}"), "address: 1 elements, at most 0 are possible"),
)


def case_table_formats():
    """--page-table-format FILE.lua: the reference GPU's format in Lua finds what the built-in one finds; bad files are refused."""
    drivers, device = os.path.join(BUILD, "tests", "drivers"), os.path.join(BUILD, "devices", "refgpu.so")
    script = os.path.join(SOURCE, "tests", "system", "tables.lua")
    described = os.path.join(SOURCE, "examples", "page-tables", "refgpu.lua")
    with tempfile.TemporaryDirectory() as folder:
        registry, file = os.path.join(folder, "tables.reg"), os.path.join(folder, "format.lua")
        guilty = 0
        for fault in range(11):
            with open(registry, "w", encoding="utf-8") as out:
                out.write("[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\tables]\n"
                          f'"TableFault"=4:{fault:02x}000000\n')
            found = []
            for how in (("--check-page-tables",), ("--page-table-format", described)):
                done = program("run", os.path.join(drivers, "tables.so"), script, "--device", device, "--registry", registry, *how,
                               "--out", folder, expect=None)
                found.append((done.returncode, done.stderr, re.findall(r"^  page tables.*", done.stdout, re.MULTILINE)))
            guilty += found[0][0] == 3
            if found[0] != found[1] or (fault == 0 and not found[0][2]):
                fail(f"fault {fault}: the description in Lua finds something else\n{found[0]}\n{found[1]}")
        if guilty < 8:
            fail(f"only {guilty} drivers with a mistake were found")
        for text, reason in BAD_FORMATS:
            with open(file, "w", encoding="latin-1") as out:
                out.write(text)
            one_line(run("burst.lua", "--page-table-format", file, expect=2), "no format of page tables in", reason)
        for path, reason in ((os.path.join(folder, "none.lua"), "No such file"), (folder + "/.lua", "No such file")):
            one_line(run("burst.lua", "--page-table-format", path, expect=2), "no format of page tables in", reason)
        with open(os.path.join(SOURCE, "docs", "page-tables.md"), encoding="utf-8") as text, open(file, "w", encoding="utf-8") as out:
            out.write(re.search(r"^    local function bit.*?^    }$", text.read(), re.MULTILINE | re.DOTALL).group(0))
        if "no format of page tables" in run("burst.lua", "--page-table-format", file, "--out", folder, expect=None).stderr:
            fail("the example of docs/page-tables.md is refused")
        with open(file, "w", encoding="utf-8") as out:
            out.write(FORMAT.format(more="name = 'three levels', index_bits = {9, 9, 9}"))
        done = run("burst.lua", "--page-table-format", file, "--out", folder)
        if "by the format three levels: it has 3 levels, the driver's tables 4" not in done.stderr:
            fail(f"not told why nothing is compared\n{done.stderr}")


# What the driver tests/drivers/patches does wrong, by its number; and what is said of it.
PATCH_FAULTS = (
    (1, "PATCH-164", "0x4 bytes too high"),
    (2, "PATCH-164", "0x10000 bytes too high"),
    (3, "PATCH-164", "that is the address of allocation 0x"),
    (4, "PATCH-164", "DxgkDdiPatch has not written it"),
    (5, "PATCH-164", "patch location 2 (at 0x"),
    (6, "PATCH-162", "changed 4 bytes at 0x"),
    (7, "PATCH-162", "changed 4 bytes at 0x"),
    (8, "PATCH-159", "was written to by DxgkDdiSubmitCommand: 1 byte at 0x"),
    (9, "PATCH-066", "DxgkDdiPatch wrote outside its DMA buffer"),
)


def case_patches():
    """Drivers with one mistake in what they patch: each is named; the sound one never is."""
    driver, device = os.path.join(BUILD, "tests", "drivers", "patches.so"), os.path.join(BUILD, "devices", "refgpu.so")
    workload = os.path.join(SOURCE, "tests", "system", "patches.lua")
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "patches.reg")

        def patched(fault, *more, expect=None):
            with open(registry, "w", encoding="utf-8") as out:
                out.write(f'[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\patches]\n"PatchFault"=4:{fault:02x}000000\n')
            return program("run", driver, workload, "--device", device, "--registry", registry, "--set",
                           f"modules={os.path.join(SOURCE, 'workloads')}", "--out", folder, *more, expect=expect)

        if "PATCH-" in patched(0, expect=0).stderr:
            fail("the sound driver is blamed")
        for fault, rule, words in PATCH_FAULTS:
            said = [line for line in patched(fault).stderr.splitlines() if f" {rule}: " in line]
            if not said or words not in said[0]:
                fail(f"mistake {fault} is not told by {rule}: {said}")
        for fault in (1, 6):
            if "PATCH-" in patched(fault, "--no-patch-check").stderr:
                fail("what was not to be checked was")
        one_line(run("burst.lua", "--patch-format", "cosgpu", expect=2), "--patch-format wants coskmd, roskmd or roskmd-vc4", "cosgpu")
        if "error PATCH-164" not in patched(0, "--patch-format", "roskmd").stderr:  # 8 bytes, where there are two halves
            fail("another format says the same")


# What the driver tests/drivers/submissions does wrong, in the order of its numbers from 1 on; and what is said of it.
SUBMIT_FAULTS = (
    ("SUBMIT-044", "fence 2 of node 0 was reported before"),
    ("SUBMIT-090", "the engine of node 0 is done with fence 2 since "),
    ("SUBMIT-043", "DMA_COMPLETED with fence 2 on node 1: completed 5, submitted 5; a packet with that fence is in flight on node 0"),
    ("SUBMIT-043", "that fence was never submitted to the node"),
    ("SUBMIT-043", "that fence, or a later one, was reported as completed before"),
    ("SUBMIT-046", "DMA_COMPLETED says that fence 1 of node 0 is completed, but the engine still executes fence 1"),
    ("THREAD-061", "the service routine called DxgkCbNotifyInterrupt but queued no DPC"),
    ("THREAD-063", "the DPC returned without DxgkCbNotifyDpc"),
    ("THREAD-051", "DxgkCbNotifyInterrupt was called at DISPATCH_LEVEL"),
    ("SUBMIT-043", "DMA_FAULTED with fence 1002 on node 0: completed 1, submitted 2; that fence was never submitted"),
    ("PREEMPT-018", "LastCompletedFenceId, with fence 6 on node 0: completed 4, submitted 5; that fence was never submitted"),
    ("SUBMIT-046", "DMA_PREEMPTED says that fence 5 of node 0 is completed, but the engine still executes fence 5"),
    ("PREEMPT-018", "that fence, or a later one, was reported as completed before"),
    ("PREEMPT-019", "DMA_PREEMPTED with PreemptionFenceId 2 on node 0: the request that is outstanding is 1"),
    ("PREEMPT-019", "DMA_PREEMPTED with PreemptionFenceId 1 on node 0: request 1 was answered before"),
    ("PREEMPT-020", "DMA_COMPLETED with fence 5 on node 0: completed 4, submitted 5; that packet was preempted"),
    ("PREEMPT-016", "the engine of node 0 executes nothing, and neither it nor the driver has answered the request 1 for preemption"),
    ("PATCH-065", "DxgkDdiRender returned a pDmaBuffer outside the 65536 bytes given"),
    ("PATCH-066", "DxgkDdiRender wrote outside its DMA buffer"),
    ("PATCH-102", "patch location 1 refers to allocation 1 of 1"),
    ("PATCH-110", "patch location 1 is at 0x1008, behind the 0x18 bytes produced"),
    ("PATCH-108", "patch location 1 has offset 0x7ffff000 into an allocation of 0x1000 bytes"),
    ("PATCH-085", "returned a pPatchLocationListOut that is no element of the list"),
    ("PATCH-070", "DxgkDdiRender returned private data outside the 64 bytes given"),
    ("PATCH-157", "the driver answered STATUS_INVALID_PARAMETER for fence 1 of node 0"),
    ("SUBMIT-030", "the engine of node 0 executes 20 bytes at 0x"),
    ("SUBMIT-030", "004 for fence 1, for which the driver was given 24 bytes at 0x"),
    ("SUBMIT-030", "for fence 2, for which the driver was given 24 bytes at 0x"),
    ("SUBMIT-043", "DMA_COMPLETED with fence 2 on node 0: completed 0, submitted 1; that fence was never submitted"),
    ("SUBMIT-037", "DxgkDdiSubmitCommand answered STATUS_DEVICE_BUSY for fence 1 of node 0"),
    ("PATCH-066", "DxgkDdiSubmitCommand wrote outside the 64 bytes of private data of its DMA buffer"),
    ("SUBMIT-037", "DxgkDdiPreemptCommand answered STATUS_DEVICE_BUSY"),
    ("TDR-032", "DxgkDdiResetEngine aborted fence 19; completed 17, submitted 18"),
    ("TDR-032", "DxgkDdiResetEngine aborted fence 16; completed 17, submitted 18"),
    ("TDR-031", "DxgkDdiResetEngine has returned, but the engine of node 0 still executes fence 18"),
    ("TDR-024", "DMA_COMPLETED for node 0 between its reset and the next submission"),
    ("TDR-026", "dependent nodes 0x2 of node 0 lack the node itself"),
    ("TDR-046", "DxgkDdiResetFromTimeout has returned, but the engine of node 0 still executes fence 18"),
    ("TDR-024", "DMA_COMPLETED for node 0 between its reset and the next submission"),
    ("SUBMIT-091", "DxgkDdiQueryCurrentFence answered fence 7 for node 0, but the last one that DxgkCbNotifyInterrupt was told is 1"),
)


def case_submissions():
    """Drivers with one mistake in how they submit, report, preempt or reset: each is named; the sound one never is, whatever the seed."""
    driver, device = os.path.join(BUILD, "tests", "drivers", "submissions.so"), os.path.join(BUILD, "devices", "refgpu.so")
    workload = os.path.join(SOURCE, "tests", "system", "submissions.lua")
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "submissions.reg")

        def submitted(fault, *more, expect=None):
            with open(registry, "w", encoding="utf-8") as out:
                out.write("[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\submissions]\n"
                          f'"SubmitFault"=4:{fault:02x}000000\n')
            return program("run", driver, workload, "--device", device, "--registry", registry, "--set",
                           f"modules={os.path.join(SOURCE, 'workloads')}", "--out", folder, *more, expect=expect)

        for seed in range(1, 25):
            how = (("--stress",), ("--iommu", "remap"), ("--cpus", "1"), ("--raised-submit", "--cpus", "2"))[seed % 4]
            done = submitted(0, "--seed", str(seed), *how, expect=0)
            if re.search("violations +0 \\(0 warnings\\)", done.stdout) is None or "1 engine resets" not in done.stdout:
                fail(f"the sound driver is blamed, seed {seed}\n{done.stderr}\n{done.stdout}")
        for fault, (rule, words) in enumerate(SUBMIT_FAULTS, 1):
            done = submitted(fault)
            stopped = "the driver was stopped" in done.stderr
            if done.returncode != (0 if rule == "PREEMPT-016" else 5 if stopped else 3):  # that may be the hardware's fault, too
                fail(f"{rule}: exit status {done.returncode}\n{done.stderr}\n{done.stdout}")
            said = [line for line in done.stderr.splitlines() if f" {rule}: " in line]
            if not said or words not in said[0]:
                fail(f"mistake {fault} is not told by {rule}: {said}")


# What the driver tests/drivers/splits does wrong, in the order of its numbers from 1 on; and what is said of it.
SPLIT_FAULTS = (
    ("PATCH-112", "patch location 3 may be split at 0x41, behind the 0x40 bytes produced"),
    ("PATCH-114", "SplitOffset decreases from 0x20 to 0x0 at patch location 3"),
    ("PATCH-115", "patch location 3 is at 0x30, before its SplitOffset 0x34"),
    ("SUBMIT-030", "executes 64 bytes at 0x"),
    ("SUBMIT-030", "for which the driver was given 32 bytes at 0x"),
    ("PATCH-162", "whose portion is 0x0 to 0x20, changed 1 byte at 0x29 of the DMA buffer"),
)


def case_splits():
    """Drivers of WDDM 1.2 with one mistake about portions of DMA buffers: each is named; the sound one never is, whatever the seed."""
    drivers = os.path.join(BUILD, "tests", "drivers")
    workload = os.path.join(SOURCE, "tests", "drivers", "seeds", "patch.lua")
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "splits.reg")

        def split(fault, *more, expect=None):
            with open(registry, "w", encoding="utf-8") as out:
                out.write(f'[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\splits]\n"SplitFault"=4:{fault:02x}000000\n')
            return program("run", os.path.join(drivers, "splits.so"), workload, "--device", os.path.join(drivers, "seeds", "device.so"),
                           "--registry", registry, "--vram", "8M", "--split-dma-buffers", "--set", "split=1", "--out", folder, *more,
                           expect=expect)

        for seed in range(1, 9):
            if " 0 (0 warnings)" not in split(0, "--seed", str(seed), expect=0).stdout:
                fail(f"the sound driver is blamed, seed {seed}")
        for fault, (rule, words) in enumerate(SPLIT_FAULTS, 1):
            said = [line for line in split(fault).stderr.splitlines() if f" {rule}: " in line]
            if not said or words not in said[0]:
                fail(f"mistake {fault} is not told by {rule}: {said}")


def case_checks():
    """--checks=full: all that the single options do, at once; a value may follow "=" or a space."""
    one_by_one = ("--stress", "--races", "--special-pool", "--force-irql", "--split-dma-buffers", "--check-page-tables")
    drivers = os.path.join(BUILD, "tests", "drivers")
    with tempfile.TemporaryDirectory() as folder:
        trace, out = os.path.join(folder, "trace.json"), ("--out", folder)

        def traced(*options):
            done = run("burst.lua", "--trace", trace, *out, *options)
            return digest(trace), done.stdout

        whole, text = traced("--checks=full")
        if traced("--checks", "full")[0] != whole or traced(*one_by_one)[0] != whole or "entries of" not in text:
            fail(f"--checks=full is not {one_by_one}\n{text}")
        if traced("--checks=plain")[0] != traced()[0] or traced()[0] == whole or traced(*one_by_one[1:])[0] == whole:
            fail("--checks=plain is not a run without it, or --checks=full without --stress")
        key = "[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\"
        races, splits = os.path.join(folder, "races.reg"), os.path.join(folder, "splits.reg")
        with open(races, "w", encoding="utf-8") as file:
            file.write(key + 'races]\n"Race"=4:01000000\n')
        with open(splits, "w", encoding="utf-8") as file:
            file.write(key + 'splits]\n"SplitFault"=4:00000000\n')
        race = ("run", os.path.join(drivers, "races.so"), os.path.join(SOURCE, "workloads", "burst.lua"), "--device",
                os.path.join(BUILD, "devices", "refgpu.so"), "--registry", races, *out)
        if "THREAD-080" not in program(*race, "--checks=full", expect=3).stderr:
            fail("no race is found")
        program(*race, "--checks", "plain", expect=0)
        split = ("run", os.path.join(drivers, "splits.so"), os.path.join(SOURCE, "tests", "drivers", "seeds", "patch.lua"), "--device",
                 os.path.join(drivers, "seeds", "device.so"), "--registry", splits, "--vram", "8M", "--set", "split=1", *out)
        program(*split, "--checks=full", expect=0)
        program(*split, expect=1)
        for wrong in ("--checks=some", "--checks=", "--stress=1", "--no-such=1", "--no-such-option-has-so-long-a-name=1"):
            if wrong.split("=", maxsplit=1)[0] not in run("burst.lua", wrong, *out, expect=2).stderr and "--checks is" not in run("burst.lua", wrong, *out, expect=2).stderr:
                fail(f"{wrong} is not named")
        program("explore", *race[1:], "--checks=full", "--seeds=1..2", "--jobs=1", expect=3)


def case_colors():
    """Colors on a terminal, and none in a pipe, with NO_COLOR or on a terminal that has none."""
    with tempfile.TemporaryDirectory() as folder:
        words = [os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, "tests", "drivers", "crashes_entry.so"), os.path.join(SOURCE, "workloads", "empty.lua"),
                 "--device", "null", "--out", folder]

        def shown(**environment):
            terminal, other = pty.openpty()
            process = subprocess.Popen(words, stdout=other, stderr=other, env={**os.environ, "TERM": "xterm", **environment})
            os.close(other)
            text = b""
            try:
                while part := os.read(terminal, 65536):
                    text += part
            except OSError: # the other end is closed
                pass
            process.wait()
            os.close(terminal)
            return text

        if b"\x1b[1;31mbug check NT-002\x1b[0m: " not in shown(NO_COLOR=""):
            fail(shown(NO_COLOR=""))
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb", "NO_COLOR": ""}):
            if b"\x1b" in shown(**environment).replace(b"\x1b[K", b"") or b"bug check NT-002: " not in shown(**environment):
                fail(f"{environment}: {shown(**environment)}")
        words[2] = os.path.join(BUILD, "drivers", "refgpu.so")
        words[4:6] = []
        if b"\x1b[1;32mPASS\x1b[0m" not in shown(NO_COLOR=""):
            fail(shown(NO_COLOR=""))
        if "\x1b" in subprocess.run(words, capture_output=True, text=True, check=True).stdout:
            fail("colors in a pipe")


def case_fails():
    """explore --fail-allocation A..B: each allocation of the host fails once, for each seed; what a lack of memory leads to is no
    failure, what the driver makes of it is."""
    with tempfile.TemporaryDirectory() as folder:
        def explored(driver, *options, expect):
            path = os.path.join(folder, "results.json")
            done = program("explore", os.path.join(BUILD, driver), os.path.join(SOURCE, "workloads", "burst.lua"), "--device",
                           os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder, "--json", path, *options, expect=expect)
            with open(path, encoding="utf-8") as file:
                return json.load(file), done

        whole, _ = explored("drivers/refgpu.so", "--seeds", "3..4", "--fail-allocation", "40..79", expect=0)
        if (whole["run"], whole["first_allocation"], whole["last_allocation"]) != (80, 40, 79):
            fail(whole)
        if sum(explored("drivers/refgpu.so", "--seeds", "3..4", "--fail-allocation=40..42", "--shard", f"{i}/4", expect=0)[0]["run"] for i in range(1, 5)) != 6:
            fail("the shards are not the whole")
        fails = next(n for n in range(300, 3000, 20) if run("burst.lua", "--fail-allocation", str(n), "--out", folder, expect=None).returncode == 1)
        explored("drivers/refgpu.so", "--seeds=1", f"--fail-allocation={fails}..{fails}", expect=0)  # that the workload fails for it is none
        last, _ = explored("tests/planted/wrong_tag.so", "--seeds=1..2", "--stress", "--fail-allocation=1500..1503", "--shard=8/8", expect=5)
        if (last["run"], last["failures"][0]["seed"], last["failures"][0]["allocation"]) != (1, 2, 1503):
            fail(last)
        found, done = explored("tests/planted/wrong_tag.so", "--seeds=1..2", "--stress", "--fail-allocation=1500..1503", "-j1", expect=5)
        first = found["failures"][0]
        if (found["run"], first["seed"], first["allocation"]) != (8, 1, 1500) or not first["command"].endswith("--seed 1 --fail-allocation 1500"):
            fail(f"{found}\n{done.stdout}")
        if "first with seed 1, allocation 1500, " not in done.stdout or "allocations 1500..1503" not in done.stdout:
            fail(done.stdout)
        again = subprocess.run(first["command"].replace("dxgkhost", os.path.join(BUILD, "dxgkhost"), 1), shell=True, capture_output=True, text=True, check=False)
        if again.returncode != 5 or first["rule"] not in again.stderr:
            fail(again.stderr)
        for wrong in ("0..3", "3..1", "1..x", "1..4294967295"):
            program("explore", os.path.join(BUILD, "drivers", "refgpu.so"), os.path.join(SOURCE, "workloads", "burst.lua"), "--seeds=1..2",
                    "--fail-allocation", wrong, "--out", folder, expect=2)


def main():
    global BUILD, SANITIZED
    BUILD = sys.argv[2]
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
