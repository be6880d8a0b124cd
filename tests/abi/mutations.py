#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Show that tools/abi_matrix notices a wrong header: each mutation below, alone, must make it fail, and the headers as they
are must pass. Usage: mutations.py [--compiler NAME]"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# What is wrong, header, text (there once), its replacement, version and language at which to look.
MUTATIONS = [
    ("type of a member, of the same size", "d3dkmddi.h",
     "    UINT NumInvalidMemoryRanges;\n    SIZE_T VprRangeStartOffset;\n    SIZE_T VprRangeSize;\n    UINT VprAlignment;\n"
     "    UINT NumVprSupported;\n    UINT VprReserveSize;\n#if",
     "    INT NumInvalidMemoryRanges;\n    SIZE_T VprRangeStartOffset;\n    SIZE_T VprRangeSize;\n    UINT VprAlignment;\n"
     "    UINT NumVprSupported;\n    UINT VprReserveSize;\n#if", "WDDM3_1", "c++"),
    ("order of two members of one type", "d3dkmddi.h",
     "    SIZE_T VprRangeStartOffset;\n    SIZE_T VprRangeSize;\n    UINT VprAlignment;\n    UINT NumVprSupported;\n"
     "    UINT VprReserveSize;\n#if",
     "    SIZE_T VprRangeSize;\n    SIZE_T VprRangeStartOffset;\n    UINT VprAlignment;\n    UINT NumVprSupported;\n"
     "    UINT VprReserveSize;\n#if", "WDDM2_4", "c"),
    ("version of a member", "d3dkmddi.h",
     "    UINT VprReserveSize;\n#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_2)",
     "    UINT VprReserveSize;\n#if (DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_6)", "WDDM2_4", "c"),
    ("width of a member", "d3dkmddi.h",
     "    SIZE_T VprRangeStartOffset;\n    SIZE_T VprRangeSize;\n    UINT VprAlignment;\n    UINT NumVprSupported;\n"
     "    UINT VprReserveSize;\n#if",
     "    SIZE_T VprRangeStartOffset;\n    SIZE_T VprRangeSize;\n    UINT VprAlignment;\n    USHORT NumVprSupported;\n"
     "    UINT VprReserveSize;\n#if", "WDDM3_0", "c"),
    ("width of a bit-field", "d3dkmddi.h",
     "            UINT AlignmentShift : 4;\n            UINT MaxTextureWidthShift : 3;\n",
     "            UINT AlignmentShift : 3;\n            UINT MaxTextureWidthShift : 4;\n", "WDDM1_3", "c"),
    ("order of two entry points", "dispmprt.h",
     "    PDXGKDDI_CREATEPROCESS DxgkDdiCreateProcess;\n    PDXGKDDI_DESTROYPROCESS DxgkDdiDestroyProcess;\n"
     "    PDXGKDDI_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2",
     "    PDXGKDDI_DESTROYPROCESS DxgkDdiDestroyProcess;\n    PDXGKDDI_CREATEPROCESS DxgkDdiCreateProcess;\n"
     "    PDXGKDDI_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY2", "WDDM2_0", "c"),
    ("value of a constant", "d3dkmddi.h", "    DXGK_OPERATION_VIRTUAL_FILL = 9,", "    DXGK_OPERATION_VIRTUAL_FILL = 10,",
     "WDDM2_9", "c++"),
    ("parameter of an entry point", "d3dkmddi.h",
     "typedef NTSTATUS NTAPI DXGKDDI_PATCH(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch);",
     "typedef NTSTATUS NTAPI DXGKDDI_PATCH(IN_CONST_HANDLE hAdapter, DXGKARG_PATCH *pPatch);", "WDDM3_1", "c"),
    ("digit of a GUID", "dispmprt.h", "0xDDDB, 0x4495, 0xB4, 0x97,", "0xDDDB, 0x4495, 0xB5, 0x97,", "WDDM3_1", "c"),
]


def passes(include, compiler, language, version):
    command = [ROOT / "tools" / "abi_matrix", "--include", include, "--compiler", compiler, "--language", language,
               "--version", version, "--jobs", "1"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="gcc")
    compiler = parser.parse_args().compiler
    failures = 0

    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder, "wdk")
        shutil.copytree(ROOT / "include" / "wdk", include)
        for language, version in sorted({(m[5], m[4]) for m in MUTATIONS}):
            result = passes(include, compiler, language, version)
            if result.returncode != 0:
                print(f"the headers as they are fail as {language} at {version}:\n{result.stdout}{result.stderr}")
                failures += 1
        for what, header, old, new, version, language in MUTATIONS:
            path = include / header
            text = path.read_text(encoding="utf-8")
            if text.count(old) != 1:
                print(f"{what}: the text to change stands {text.count(old)} times in {header}")
                failures += 1
                continue
            path.write_text(text.replace(old, new), encoding="utf-8")
            result = passes(include, compiler, language, version)
            path.write_text(text, encoding="utf-8")
            noticed = result.returncode != 0
            failures += not noticed
            error = next((line.split("error: ", 1)[1] for line in result.stdout.splitlines() if "error: " in line), "")
            print(f"{'noticed' if noticed else 'NOT NOTICED'}: {what} ({header}, {version}, {language}): {error}")
    return 1 if failures else 0


sys.exit(main())
