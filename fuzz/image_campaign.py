#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damaged driver files: mutants of refgpu.so and refgpu.sys, through inspect and run. Every one must end in time, with a status
that fits and a reason. They run isolated, since nobody knows what they do.

Usage: image_campaign.py BUILD_FOLDER [--mutants N] [--seed N] [--format so|sys] [--first I] [--keep FOLDER] [--jobs N]
       N mutants of each format; mutant I of a seed is always the same."""
import argparse
import concurrent.futures
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STALL_S = 2
LONGEST_S = 40
SANITIZER = ("AddressSanitizer", "LeakSanitizer", "runtime error:")
# Sections of ELF files that the dynamic linker and the loader read.
LINKED = (".dynamic", ".rela.dyn", ".rela.plt", ".gnu.version", ".gnu.version_r", ".gnu.hash", ".dynsym", ".dynstr", ".init_array",
          ".fini_array", ".got", ".got.plt", ".eh_frame", ".eh_frame_hdr")


def elf_ranges(data):
    """(name, start, size) of what is worth to be hit."""
    shoff, = struct.unpack_from("<Q", data, 40)
    shentsize, shnum, shstrndx = struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQ", data, shoff + i * shentsize) for i in range(shnum)]
    names = sections[shstrndx][4]
    ranges = [("header", 0, 64), ("program headers", 64, 56 * struct.unpack_from("<H", data, 56)[0]), ("section headers", shoff, shentsize * shnum)]
    for name, kind, _, _, offset, size in sections:
        text = data[names + name:data.index(b"\0", names + name)].decode()
        if text in LINKED or text == ".text":
            if kind != 8 and size:
                ranges.append((text, offset, size))
    return ranges


def pe_ranges(data):
    header, = struct.unpack_from("<I", data, 60)
    sections, = struct.unpack_from("<H", data, header + 6)
    optional, = struct.unpack_from("<H", data, header + 20)
    table = header + 24 + optional
    ranges = [("header", 0, 64), ("PE header", header, 24 + optional), ("section headers", table, 40 * sections)]
    for i in range(sections):
        name, _, _, size, offset = struct.unpack_from("<8sIIII", data, table + 40 * i)
        if size:
            ranges.append((name.rstrip(b"\0").decode(errors="replace"), offset, size))
    # what directories point to: imports, exceptions, relocations, load configuration
    for index in (1, 3, 5, 10):
        rva, size = struct.unpack_from("<II", data, header + 24 + 112 + 8 * index)
        for i in range(sections):
            _, virtual, address, raw, offset = struct.unpack_from("<8sIIII", data, table + 40 * i)
            if size and address <= rva < address + max(virtual, raw):
                ranges.append((f"directory {index}", offset + rva - address, size))
    return ranges


def mutate(data, ranges, chance):
    data = bytearray(data)
    what = chance.random()
    if what < 0.04:
        del data[chance.randrange(len(data)):]
        return bytes(data), "cut off"
    if what < 0.06:
        return bytes(data) + chance.randbytes(chance.randint(1, 5000)), "longer"
    said = []
    for _ in range(1 if chance.random() < 0.6 else chance.randint(2, 8)):
        name, start, size = chance.choice(ranges)
        at = start + chance.randrange(max(1, min(size, len(data) - start)))
        kind = chance.random()
        if at >= len(data):
            continue
        if kind < 0.5:
            data[at] ^= 1 << chance.randrange(8)
        elif kind < 0.7:
            data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind < 0.85:
            width = chance.choice((2, 4, 8))
            value = chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 63, len(data), chance.randrange(1 << 32)))
            data[at:at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")[:len(data) - at]
        else:
            other, length = chance.randrange(len(data)), chance.randint(1, 64)
            data[at:at + length] = data[other:other + length]
        said.append(f"{name}+{at - start:#x}")
    return bytes(data), ", ".join(said)


def problem_of(done, seconds, verb):
    if seconds > LONGEST_S:
        return f"took {seconds:.0f} s"
    if any(word in done.stderr for word in SANITIZER):
        return "a finding of a sanitizer"
    if done.returncode not in (0, 1, 3, 4, 5, 6):
        return f"exit status {done.returncode}"
    if done.returncode and not any(line.startswith("dxgkhost: ") or line.startswith(("  refused", "  error ")) for line in (done.stderr + done.stdout).splitlines()):
        return "no reason is told"
    if verb == "run" and (done.returncode == 0) != ("PASS" in done.stdout):
        return "the summary does not fit the status"
    return None


def perform(options, original, ranges, kind, index):
    chance = random.Random(f"{options.seed} {kind} {index}")
    data, said = mutate(original, ranges, chance)
    statuses = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "refgpu." + kind)
        with open(path, "wb") as file:
            file.write(data)
        device = ["--device", os.path.join(options.build, "devices", "refgpu.so"), "--stall-limit", str(STALL_S)]
        if not options.plain:
            device.append("--isolate")
        for verb, words in (("inspect", []), ("run", [os.path.join(SOURCE, "workloads", "burst.lua"), "--out", os.path.join(folder, "out")])):
            start = time.monotonic()
            command = [os.path.join(options.build, "dxgkhost"), verb, path, *words, *device]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, check=False,
                                      timeout=2 * LONGEST_S)
            except subprocess.TimeoutExpired as error:
                return index, data, said, f"{verb} did not end within {2 * LONGEST_S} s", f"{error.stdout}\n{error.stderr}", statuses
            statuses.append(done.returncode)
            problem = problem_of(done, time.monotonic() - start, verb)
            if problem:
                return index, data, said, f"{verb}: {problem}", f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}", statuses
    return index, data, said, None, "", statuses


def campaign(options, kind, path):
    with open(path, "rb") as file:
        original = file.read()
    ranges = elf_ranges(original) if kind == "so" else pe_ranges(original)
    bad, start, counts = 0, time.monotonic(), {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda index: perform(options, original, ranges, kind, index), range(options.first, options.first + options.mutants))
        for index, data, said, problem, output, statuses in results:
            for status in statuses:
                counts[status] = counts.get(status, 0) + 1
            if not problem:
                continue
            bad += 1
            print(f".{kind} mutant {index} ({said}): {problem}", flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(os.path.join(options.keep, f"{index}.{kind}"), "wb") as file:
                    file.write(data)
                with open(os.path.join(options.keep, f"{index}.{kind}.txt"), "w", encoding="utf-8") as file:
                    file.write(f"{said}: {problem}\n{output}")
            elif bad <= 3:
                print(output)
    print(f"image campaign, .{kind}, seed {options.seed}: {options.mutants} mutants, {bad} not well, exit statuses "
          f"{', '.join(f'{status}: {count}' for status, count in sorted(counts.items()))}, {time.monotonic() - start:.0f} s")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("so", "sys"))
    parser.add_argument("--keep")
    parser.add_argument("--plain", action="store_true", help="not isolated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    drivers = os.path.join(options.build, "drivers")
    files = {"so": os.path.join(drivers, "refgpu.so"), "sys": os.path.join(drivers, "clang", "refgpu.sys")}
    bad = 0
    for kind, path in files.items():
        if options.format not in (None, kind):
            continue
        if os.path.exists(path):
            bad += campaign(options, kind, path)
        else:
            print(f"{path} was not built: no mutants of .{kind}")
            bad += kind == "so" # there is always a compiler for it
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
