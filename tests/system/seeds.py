#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The probes of the driver "seeds" (docs/seeds.md) in every configuration. Usage: seeds.py elf|windows|long BUILD_FOLDER, and as
`seeds.py list` what is run. Prints the lines of what is not well; exit status 0: every probe passed or is pending."""
import itertools
import os
import shlex
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Probes that are known to fail: told, and not counted. Rows of which something else is known to fail say so themselves.
USER_VIEWS = [f"map.{kind}.user-view-is-not-of-other-processes" for kind in ("mdl", "contiguous", "section")]
DEVICE_VIEWS = ["map.io-space.views-of-device-memory-have-addresses-of-their-own",
                "map.io-space.unmapped-view-of-device-memory-is-gone", "map.io-space.last-view-of-device-memory-is-gone"]
HANDLES = ["map.ordinary-allocation-gives-0", "context.handles-are-not-those-of-the-client"]
SINGLE = ["paging.device-is-null-for-a-single-engine-driver"]
ADAPTER = ["contiguous.adapter-is-the-device-handle"]


class Row:
    """One machine. `device`: options of the model; `pending`: names of probes, or True for the whole row; `status`: its exit status."""

    def __init__(self, driver, workload, device="", options="", sets="", pending=(), status=0, words=()):
        self.driver, self.workload, self.pending, self.status, self.words = driver, workload, pending, status, words
        self.arguments = options.split()
        for key in device.split():
            self.arguments += ["--device-set", key]
        for key in sets.split():
            self.arguments += ["--set", key]

    def label(self, extension):
        return " ".join([extension.replace("*", self.driver), self.workload, *self.arguments])

    def command(self, build, folder, extension):
        base = os.path.join(build, "tests", "drivers", "seeds")
        driver = os.path.join(base, extension.replace("*", self.driver))
        command = [os.path.join(build, "dxgkhost"), "run", driver,
                   os.path.join(SOURCE, "tests", "drivers", "seeds", self.workload + ".lua"),
                   "--device", os.path.join(base, "device.so"), "--out", folder, *self.arguments]
        if self.pending and self.pending is not True:
            command += ["--set", "pending=" + ",".join(self.pending)]
        return command


def patch_rows(more):
    """Patch over each version, with and without engines, private data, preemption, in both places of DMA buffers."""
    rows = []
    for version in ("seeds12", "seeds20", "seeds29"):
        for multi, aperture in itertools.product((0, 1), (0, 1)):
            pending = () if multi else SINGLE
            rows.append(Row(version, "patch", f"multi={multi} aperture={aperture}", "--vram 1M", pending=pending))
            if multi:
                rows.append(Row(version, "patch", f"preempt=1 aperture={aperture}", "--vram 1M"))
        rows.append(Row(version, "patch", "private=0", "--vram 1M"))
        rows.append(Row(version, "patch", "private=16 preempt=1", "--vram 1M", sets="anywhere=1"))
        rows.append(Row(version, "patch", "failpatch=1", "--vram 1M", status=3, words=("PATCH-157", "bug check 0x119 (0x3,")))
        rows.append(Row(version, "patch", "pagingaperture=1", "--vram 1M", pending=True))
        if version != "seeds29": # whatever the driver says of isolation
            rows.append(Row(version, "patch", "preempt=1", "--vram 1M --iommu flags=0xf"))
            rows.append(Row(version, "patch", "aperture=1", "--vram 1M --iommu flags=0xf"))
        for option in ("--strict", "--stress", "--force-irql", "--special-pool") if more else ():
            rows.append(Row(version, "patch", "preempt=1", f"--vram 1M {option}"))
        for seed in range(2, 12 if more else 3):
            rows.append(Row(version, "patch", "preempt=1", f"--vram 1M --seed {seed} --cpus {1 + seed % 5}"))
    for preempt in (0, 1):
        for options in ("--vram 1M --set split=1", "--vram 1M --set split=1 --split-dma-buffers",
                        "--vram 8M --set split=1 --split-dma-buffers"):
            rows.append(Row("seeds12", "patch", f"preempt={preempt}", options, pending=True))
    for version, iommu in itertools.product(("seeds20", "seeds29"), ("off", "isolation", "remap")):
        if version == "seeds29" or iommu == "off":
            rows.append(Row(version, "patch", "gpummu=1", f"--vram 4M --iommu {iommu}"))
            rows.append(Row(version, "patch", "gpummu=1 preempt=1 aperture=1", f"--vram 4M --iommu {iommu}"))
    rows.append(Row("seeds29", "patch", "preempt=1", "--vram 1M --iommu isolation"))
    rows.append(Row("seeds29", "patch", "aperture=1", "--vram 1M --iommu isolation"))
    return rows


def memory_rows():
    """Contiguous memory and physical memory objects, in every mode."""
    rows = []
    for iommu in ("off", "isolation", "remap"):
        device = "gpummu=1" if iommu == "remap" else ""
        options = f"--vram 4M --iommu {iommu}"
        rows.append(Row("seeds29", "contiguous", device, options, f"iommu={iommu}", ADAPTER if iommu != "remap" else ()))
        rows.append(Row("seeds29", "objects", device, options, "", USER_VIEWS))
        rows.append(Row("seeds29", "objects", device, options, "only=device-memory", True))
    return rows


def context_rows():
    """Context allocations, in every mode, with and without NoExecute; what must stop or hang has a machine of its own."""
    rows = []
    for version, iommu in itertools.product(("seeds20", "seeds29"), ("off", "isolation", "remap")):
        if version == "seeds20" and iommu != "off":
            continue
        for noexec in (0, 1):
            rows.append(Row(version, "context", f"gpummu=1 noexec={noexec}", f"--vram 4M --iommu {iommu}", "", HANDLES))
        rows.append(Row(version, "context", "gpummu=1", f"--vram 4M --iommu {iommu}", "only=taken", True))
        rows.append(Row(version, "context", "gpummu=1", f"--vram 4M --iommu {iommu}", "only=null", True))
        rows.append(Row(version, "context", "gpummu=1", f"--vram 4M --iommu {iommu}", "only=hardware", True))
    rows.append(Row("seeds29", "context", "gpummu=1 cputables=1", "--vram 4M", "", True))
    rows.append(Row("seeds20", "context", "", "--vram 4M"))
    return rows


def run(row, build, folder, extension, quiet):
    """A row that is not as it should be: its lines."""
    command = row.command(build, folder, extension)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace", check=False)
    said = done.stdout + done.stderr
    shown = " ".join(shlex.quote(word) for word in command)
    leak = "LeakSanitizer" in done.stderr and row.pending is True # of a machine that stands still
    if ("AddressSanitizer" in done.stderr and not leak) or "runtime error:" in done.stderr:
        return f"{shown}\n{done.stderr}"
    good = done.returncode == row.status and all(word in said for word in row.words)
    if row.pending is True:
        quiet.append(f"{'passes by now' if good else 'pending'}: {row.label(extension)}")
        return None
    for line in done.stdout.splitlines():
        if line.startswith(("pending", "ok!")):
            quiet.append(f"{line} [{row.label(extension)}]")
    if good:
        return None
    wrong = [line for line in said.splitlines() if line.startswith(("FAILED", "dxgkhost:")) and "expected error" not in line]
    return "\n".join([f"{shown}\nexit status {done.returncode}, not {row.status}", *wrong])


def main():
    kind, build = sys.argv[1], os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else "build"
    rows = patch_rows(kind == "long") + memory_rows() + context_rows()
    if kind == "list":
        for row in rows:
            print(" ".join(row.command(build, "out", "*.so")))
        return 0
    extensions = ["*.so"] if kind == "elf" else ["gcc/*.sys", "clang/*.sys"]
    if kind == "windows": # one of each kind; the long one runs all of them
        rows = [row for row in rows if row.driver != "seeds20" and row.pending is not True]
    if kind == "long":
        extensions.append("*.so")
    failures, quiet, count = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        for extension in extensions:
            if not os.path.isdir(os.path.dirname(os.path.join(build, "tests", "drivers", "seeds", extension))):
                continue # no compiler for it here
            for row in rows:
                failure = run(row, build, folder, extension, quiet)
                count += 1
                if failure:
                    failures.append(failure)
    print("\n".join(quiet + failures))
    print(f"{count} machines, {len(failures)} not well, {len(quiet)} lines pending")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
