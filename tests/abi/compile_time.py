#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""User time of compiling a file that includes <dispmprt.h>, best of some runs. Fails if it takes 0.3 s or more for ELF; for
Windows the figure is given beside that of mingw-w64's <ntddk.h> alone, which is most of it. Usage: compile_time.py [RUNS]"""
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

WDK = pathlib.Path(__file__).resolve().parent.parent.parent / "include" / "wdk"
DDK = pathlib.Path("/usr/share/mingw-w64/include/ddk")
ELF = ["-fshort-wchar", "-isystem", WDK, "-isystem", WDK / "base"]
WINDOWS = ["-isystem", WDK, "-isystem", WDK / "mingw", "-isystem", DDK]
LIMIT = 0.3


def user_seconds(command, runs):
    best = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command, check=True)
        time = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        best = time if best is None else min(best, time)
    return best


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        whole, base = pathlib.Path(folder, "whole"), pathlib.Path(folder, "base")
        whole.write_text("#include <ntddk.h>\n#include <dispmprt.h>\nint file;\n", encoding="ascii")
        base.write_text("#include <ntddk.h>\nint file;\n", encoding="ascii")
        for compiler, flags in (("gcc", ELF), ("g++", ELF), ("clang", ELF), ("clang++", ELF),
                                ("x86_64-w64-mingw32-gcc", WINDOWS), ("x86_64-w64-mingw32-g++", WINDOWS)):
            if not shutil.which(compiler) or (flags is WINDOWS and not DDK.is_dir()):
                continue
            language = ["-x", "c++", "-std=c++17"] if compiler.endswith("++") else ["-x", "c", "-std=c11"]
            command = [compiler, "-w", *flags, *language, "-c", "-o", "/dev/null"]
            time = user_seconds([*command, whole], runs)
            alone = user_seconds([*command, base], runs)
            slow |= flags is ELF and time >= LIMIT
            print(f"{compiler:<24} {time:.3f} s, of it <ntddk.h> {alone:.3f} s")
    return 1 if slow else 0


sys.exit(main())
