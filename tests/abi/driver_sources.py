#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile sources that are written as drivers are, with every compiler of tools/abi_matrix that is installed, as C and C++,
with warnings as errors. Usage: driver_sources.py [--some] [--compiler NAME]... With --some each compiler has one of the two languages."""
import argparse
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
IN_C = ("clang", "mingw") # with --some; the others in C++


def load_matrix():
    loader = importlib.machinery.SourceFileLoader("abi_matrix", str(ROOT / "tools" / "abi_matrix"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("abi_matrix", loader))
    loader.exec_module(module)
    return module


def main():
    matrix = load_matrix()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", action="append", choices=matrix.COMPILERS)
    parser.add_argument("--some", action="store_true")
    options = parser.parse_args()
    compilers = options.compiler or list(matrix.COMPILERS)
    ddk = next((folder for folder in matrix.DDK if (folder / "ntddk.h").is_file()), None)
    failed = False

    with tempfile.TemporaryDirectory() as tmh:
        subprocess.run([ROOT / "tools" / "dxgk-tmh", "--output", tmh, FOLDER / "wpp_source.c", FOLDER / "wpp_trace.h"], check=True)
        for compiler in compilers:
            lacking = matrix.missing_compiler(compiler, ddk)
            if lacking:
                print(f"{compiler}: left out, not installed: {lacking}")
                continue
            for language in ("c", "c++"):
                if options.some and (language == "c") != (compiler in IN_C):
                    continue
                sources = ["driver_source.c", "style_source.c", "sample_source.c", "habit_source.c", "wpp_source.c"]
                if compiler != "mingw": # gcc has no structured exceptions for Windows
                    sources.append("seh_source.c")
                line = matrix.command(compiler, language == "c++", ROOT / "include" / "wdk", ddk, tmh)
                line.remove("-w")
                line += ["-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas",
                         "-D_CLANG_DISABLE_CRT_DEPRECATION_WARNINGS", "-O1", "-x", language]
                if compiler != "clang-msvc":  # whose exceptions only the generator of code judges
                    line.append("-fsyntax-only")
                if compiler == "clang-gnu":
                    line.append("-fms-extensions")
                for source in sources:
                    result = subprocess.run([*line, FOLDER / source], capture_output=True, text=True, check=False)
                    if result.returncode != 0:
                        failed = True
                        print(f"{compiler}, {language}: {source}:\n{result.stderr}")
                print(f"{compiler:<11} {language:<4} {' '.join(sources)}")
    return 1 if failed else 0


sys.exit(main())
