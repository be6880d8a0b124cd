#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The probes of the driver "seeds" (docs/seeds.md) in every configuration. Usage: seeds.py elf|windows|long BUILD_FOLDER, and as
`seeds.py list` what is run. Prints the lines of what is not well; exit status 0: every probe passed."""
import fnmatch
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KINDS = ("mdl", "contiguous", "section")  # KIND in docs/seeds.md
PRINTED = re.compile(r"(ok|FAILED) +(\S+) \((\S+)\): ")


class Row:
    """One machine. `device`: options of the model; `status`: its exit status; `words`: what it must print; `skip`: a build
    that it is not for."""

    def __init__(self, driver, workload, device="", options="", sets="", status=0, words=(), skip=""):
        self.driver, self.workload, self.status, self.words = driver, workload, status, words
        self.skip = skip
        self.arguments = options.split()
        for key in device.split():
            self.arguments += ["--device-set", key]
        for key in sets.split():
            self.arguments += ["--set", key]

    def command(self, build, folder, extension):
        base = os.path.join(build, "tests", "drivers", "seeds")
        driver = os.path.join(base, extension.replace("*", self.driver))
        return [os.path.join(build, "dxgkhost"), "run", driver,
                os.path.join(SOURCE, "tests", "drivers", "seeds", self.workload + ".lua"),
                "--device", os.path.join(base, "device.so"), "--out", folder, *self.arguments]


def split_rows(more):
    """WDDM 1.2: DMA buffers in portions, because of memory or of the switch, in both IOMMU modes of such a driver: by turns, or all."""
    rows = []
    drivers = ("multi=0", "preempt=0", "preempt=1", "keep=1", "keep=1 multi=0", "keep=1 preempt=1 nopatching=1")
    sizes = ("--vram 1M", "--vram 1M --split-dma-buffers", "--vram 8M --split-dma-buffers")
    for index, (device, aperture, options) in enumerate(itertools.product(drivers, (0, 1), sizes)):
        preempted = "preempt=1" in device and "split-dma" in options
        for iommu in ("off", "flags=0xf") if more else (("off", "flags=0xf")[index % 2],):
            rows.append(Row("seeds12", "patch", f"{device} aperture={aperture}", f"{options} --iommu {iommu}",
                            "split=portions" if preempted else "split=1"))
    return rows


def power_rows():
    """The machine sleeps and wakes at any time."""
    rows = []
    for version, device, ns in itertools.product(("seeds12", "seeds20", "seeds29"), ("multi=0", "preempt=1", "aperture=1"),
                                                 (50000, 300000)):
        rows.append(Row(version, "patch", device, f"--vram 1M --power-cycle {ns}", "anytime=1"))
    for device in ("multi=0", "preempt=1 aperture=1", "keep=1"):
        rows.append(Row("seeds12", "patch", device, "--vram 1M --split-dma-buffers --power-cycle 50000", "anytime=1 split=1"))
    for iommu in ("off", "isolation", "remap"):
        rows.append(Row("seeds29", "patch", "gpummu=1", f"--vram 4M --iommu {iommu} --power-cycle 50000", "anytime=1"))
        rows.append(Row("seeds29", "context", "gpummu=1", f"--vram 4M --iommu {iommu} --power-cycle 50000"))
    return rows


def patch_rows(more):
    """Patch over each version, with and without engines, private data, preemption, in both places of DMA buffers."""
    rows = []
    for version in ("seeds12", "seeds20", "seeds29"):
        for multi, aperture in itertools.product((0, 1), (0, 1)):
            rows.append(Row(version, "patch", f"multi={multi} aperture={aperture}", "--vram 1M"))
            if multi:
                rows.append(Row(version, "patch", f"preempt=1 aperture={aperture}", "--vram 1M"))
        rows.append(Row(version, "patch", "private=0", "--vram 1M"))
        rows.append(Row(version, "patch", "private=16 preempt=1", "--vram 1M", sets="anywhere=1"))
        rows.append(Row(version, "patch", "stays=1", "--vram 1M"))
        rows.append(Row(version, "patch", "keep=1 preempt=1 nopatching=1", "--vram 1M"))
        rows.append(Row(version, "patch", "failpatch=1", "--vram 1M", status=5, words=("PATCH-157", "bug check 0x119 (0x3,")))
        for device in ("", "multi=0", "aperture=1 preempt=1"):
            rows.append(Row(version, "patch", f"pagingaperture=1 {device}", "--vram 1M"))
        if version != "seeds29":  # whatever the driver says of isolation
            rows.append(Row(version, "patch", "preempt=1", "--vram 1M --iommu flags=0xf"))
            rows.append(Row(version, "patch", "aperture=1", "--vram 1M --iommu flags=0xf"))
        for option in ("--strict", "--stress", "--force-irql", "--special-pool") if more else ():
            rows.append(Row(version, "patch", "preempt=1", f"--vram 1M {option}"))
        for seed in range(2, 12 if more else 3):
            rows.append(Row(version, "patch", "preempt=1", f"--vram 1M --seed {seed} --cpus {1 + seed % 5}"))
            rows.append(Row(version, "patch", "multi=0 aperture=1", f"--vram 1M --seed {seed} --cpus {1 + seed % 5}"))
    for version, iommu in itertools.product(("seeds20", "seeds29"), ("off", "isolation", "remap")):
        if version == "seeds29" or iommu == "off":
            rows.append(Row(version, "patch", "gpummu=1", f"--vram 4M --iommu {iommu}"))
            rows.append(Row(version, "patch", "gpummu=1 preempt=1 aperture=1", f"--vram 4M --iommu {iommu}"))
    rows.append(Row("seeds12", "patch", "", "--vram 8M", "destroyed=1"))
    rows.append(Row("seeds29", "patch", "preempt=1", "--vram 1M --iommu isolation"))
    rows.append(Row("seeds29", "patch", "aperture=1", "--vram 1M --iommu isolation"))
    return rows


def memory_rows():
    """Contiguous memory and physical memory objects, in every mode."""
    rows = []
    for iommu in ("off", "isolation", "remap"):
        device = "gpummu=1" if iommu == "remap" else ""
        options = f"--vram 4M --iommu {iommu}"
        rows.append(Row("seeds29", "contiguous", device, options, f"iommu={iommu}"))
        rows.append(Row("seeds29", "objects", device, options))
        rows.append(Row("seeds29", "objects", device, options, "only=device-memory"))
        # gcc for Windows has no exceptions: its driver asks before it touches an address.
        rows.append(Row("seeds29", "objects", device, options, "only=late-use", status=5, skip="gcc/",
                        words=("PHYS-194", "BAR 2", "that DxgkCbUnmapPhysicalMemory had ended", "bug check 0x50 (")))
        rows.append(Row("seeds29", "objects", device, options, "only=late-use-of-memory", status=5, skip="gcc/",
                        words=("PHYS-194", "(MDL, ", "that DxgkCbUnmapPhysicalMemory had ended", "bug check 0x50 (")))
    return rows


def context_rows():
    """Context allocations, in every mode, with and without NoExecute; what must stop or hang has a machine of its own."""
    rows = []
    for version, iommu in itertools.product(("seeds20", "seeds29"), ("off", "isolation", "remap")):
        if version == "seeds20" and iommu != "off":
            continue
        for noexec in (0, 1):
            rows.append(Row(version, "context", f"gpummu=1 noexec={noexec}", f"--vram 4M --iommu {iommu}"))
        rows.append(Row(version, "context", "gpummu=1", f"--vram 4M --iommu {iommu}", "only=taken"))
        rows.append(Row(version, "context", "gpummu=1", f"--vram 4M --iommu {iommu}", "only=hardware"))
    rows.append(Row("seeds29", "context", "gpummu=1 cputables=1", "--vram 4M"))
    rows.append(Row("seeds20", "context", "", "--vram 4M"))
    return rows


# ---- docs/seeds.md ----


def documented(text):
    """The probes of the tables: pattern of the name -> rules of its row."""
    probes = {}
    for row in (line.split("|") for line in text.splitlines() if line.startswith("| ")):
        for name in re.findall(r"`([a-z]+\.[^`]+)`", row[3]) if len(row) == 6 else ():
            for kind in KINDS if "KIND" in name else ("",):
                probes.setdefault(name.replace("KIND", kind), set()).update(re.findall(r"\d{3}", row[2]))
    return probes


def check_tables(printed, rows):
    """Every probe that is printed is in the tables with its rule, and the other way round; the numbers are true."""
    with open(os.path.join(SOURCE, "docs", "seeds.md"), encoding="utf-8") as file:
        text = file.read()
    tables, wrong = documented(text), []
    statements = sum(line.startswith("| ") and line.count("|") == 5 and not line.startswith("| statement") for line in text.splitlines())
    numbers = f"{statements} statements, {len({name for name, _ in printed})} probes, {rows} rows"
    if rows and numbers not in text:
        wrong.append(f"docs/seeds.md does not say {numbers}")
    for name, rule in sorted(printed):
        rows = [rules for pattern, rules in tables.items() if fnmatch.fnmatchcase(name, pattern)]
        if not any(rule[-3:] in rules for rules in rows):
            wrong.append(f"docs/seeds.md has no {name} ({rule})")
    names = [name for name, _ in printed]
    wrong += [f"docs/seeds.md has {pattern}, which nothing prints" for pattern in tables if not fnmatch.filter(names, pattern)]
    return wrong


def run(row, build, folder, extension, printed):
    """A row that is not as it should be: its lines."""
    command = row.command(build, folder, extension)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace", check=False)
    said = done.stdout + done.stderr
    shown = " ".join(shlex.quote(word) for word in command)
    if "AddressSanitizer" in done.stderr or "LeakSanitizer" in done.stderr or "runtime error:" in done.stderr:
        return f"{shown}\n{done.stderr}"
    printed.update((match[2], match[3]) for match in map(PRINTED.match, done.stdout.splitlines()) if match)
    if done.returncode == row.status and all(word in said for word in row.words):
        return None
    wrong = [line for line in said.splitlines() if line.startswith(("FAILED", "dxgkhost:")) and "expected error" not in line]
    return "\n".join([f"{shown}\nexit status {done.returncode}, not {row.status}", *wrong])


def selected(kind):
    """The rows of one kind of test."""
    rows = patch_rows(kind == "long") + split_rows(kind == "long") + power_rows() + memory_rows() + context_rows()
    if kind == "windows":  # one of each kind; the long one runs all of them
        rows = [row for row in rows if row.driver != "seeds20" and "--power-cycle" not in row.arguments
                and not ("--vram 1M" in " ".join(row.arguments) and "--split-dma-buffers" in row.arguments)]
    return rows


def is_sanitized(build):
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        return "DXGK_SANITIZE:BOOL=ON" in cache.read()


def main():
    kind, build = sys.argv[1], os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "build")
    rows = selected(kind)
    whole = kind in ("long", "list") or not is_sanitized(build)
    if not whole:  # every third row, which takes as long as all of them without
        rows = rows[::3]
    if kind == "list":
        for row in rows:
            print(" ".join(row.command(build, "out", "*.so")))
        return 0
    extensions = ["*.so"] if kind == "elf" else ["gcc/*.sys", "clang/*.sys"] + (["*.so"] if kind == "long" else [])
    failures, printed, count = [], set(), 0
    with tempfile.TemporaryDirectory() as folder:
        for extension in extensions:
            if not os.path.isdir(os.path.dirname(os.path.join(build, "tests", "drivers", "seeds", extension))):
                continue  # no compiler for it here
            for index, row in enumerate(rows):
                if row.skip and extension.startswith(row.skip):
                    continue
                if kind == "windows" and row.workload == "patch" and index % 2 == extension.startswith("gcc"):
                    continue  # the compilers take turns
                failure = run(row, build, folder, extension, printed)
                failures += [failure] if failure else []
                count += 1
    if kind != "windows":
        failures += check_tables(printed, len(rows) if kind == "elf" else 0) if whole else []
    print("\n".join(failures))
    names = len({name for name, _ in printed})
    print(f"{count} machines, {names} probes, {len(failures)} not well")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
