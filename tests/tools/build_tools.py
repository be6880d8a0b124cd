#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What helps to build drivers from sources for Windows: dxgk-tmh and dxgk-case-overlay. Usage: build_tools.py"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
        return path


class Tmh(Folder):
    def configured(self, *lines):
        text = '#include "a.tmh"\n// begin_wpp config\n' + "".join(f"// {line}\n" for line in lines) + "// end_wpp\n"
        return run(TOOLS / "dxgk-tmh", "--output", self.folder / "tmh", self.write("a.c", text))

    def written(self):
        return (self.folder / "tmh" / "a.tmh").read_text(encoding="utf-8")

    def test_forms_of_a_macro(self):
        for line, macro in (("FUNC A(LEVEL, FLAGS, MSG, ...);", "#define A(LEVEL, FLAGS, MSG, ...)"),
                            ("A{FLAG=X}(LEVEL, (MSG, ...));", "#define A(LEVEL, MSG)"),
                            ("A{FLAG = X}(LEVEL, MSG, ...)", "#define A(LEVEL, MSG, ...)"),
                            ("FUNC A{LEVEL=TRACE_LEVEL_ERROR}(FLAGS);", "#define A(FLAGS)")):
            result = self.configured(line)
            self.assertEqual((result.returncode, result.stderr), (0, ""), line)
            self.assertIn(macro, self.written())

    def test_affixes_before_what_they_are_about(self):
        result = self.configured('USEPREFIX (A, "pre ");', 'USESUFFIX (DoTraceMessage, " post");', "A{FLAG=X}(LEVEL, (MSG, ...));")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn('"pre "', self.written())
        self.assertIn("#define DoTraceMessage(FLAGS, MSG, ...)", self.written())

    def test_types_are_passed_over(self):
        self.assertEqual(self.configured("CUSTOM_TYPE(t, ItemEnum(e));", "DEFINE_CPLX_TYPE(P, WPP_P, x, ItemHexDump, \"s\", _X_, 0,1);",
                                         "FUNC A(MSG, ...);").returncode, 0)

    def test_what_is_not_understood_stops_it(self):
        for line in ("FUNC A LEVEL, MSG;", "FUNC A(LEVEL, (MSG, ...), ...);", "FUNC A(..., MSG);", "FUNC A(LEVEL, (MSG));", "A(LEVEL);",
                     "FUNK A(LEVEL, MSG, ...);", 'USEPREFIX (B, "x");', "FUNC A(LEVEL,", "free text", "FUNC A(LEVEL, MSG, ...); more"):
            result = self.configured("FUNC Z(MSG, ...);", line)
            self.assertEqual(result.returncode, 1, line)
            self.assertIn("a.c:4: ", result.stderr)
            self.assertFalse((self.folder / "tmh").exists(), line)

    def test_block_without_end(self):
        source = self.write("a.c", '#include "a.tmh"\n// begin_wpp config\n// FUNC A(MSG, ...);\n')
        result = run(TOOLS / "dxgk-tmh", "--output", self.folder / "tmh", source)
        self.assertEqual(result.returncode, 1)
        self.assertIn("a.c:2: begin_wpp config without end_wpp", result.stderr)


class CaseOverlay(Folder):
    def overlay(self, source, *folders):
        places = [part for folder in folders for part in ("-I", self.folder / folder)]
        return run(TOOLS / "dxgk-case-overlay", "--output", self.folder / "case", *places, source)

    def compiled(self, source, *folders):
        """Preprocesses with what the overlay says, by each compiler there is."""
        result = self.overlay(source, *folders)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        options = [result.stdout.strip(), *(f"-I{self.folder / folder}" for folder in folders)]
        outputs = []
        for compiler in (["gcc"], ["clang"], ["clang", "--target=x86_64-pc-windows-msvc"]):
            try:
                output = run(*compiler, "-E", "-P", *options, source)
            except FileNotFoundError:
                continue
            self.assertEqual(output.returncode, 0, output.stderr)
            outputs.append(output.stdout.split())
        self.assertTrue(outputs)
        return outputs

    def test_other_case_and_backslashes(self):
        self.write("common/deep/Inner.h", "inner\n")
        self.write("common/outer.h", '#include "DEEP/inner.H"\nouter\n')
        self.write("src/bdd.hxx", "#pragma once\n#include <Outer.h>\nbdd\n")
        self.write("beside.h", "beside\n")
        source = self.write("src/a.c", '#include "BDD.hxx"\n#include "..\\Beside.h"\n#include "../BESIDE.h"\n#include "bdd.hxx"\n'
                                       '#ifdef NEVER\n#include <nowhere.h>\n#endif\n')
        for output in self.compiled(source, "common"):
            self.assertEqual(output, ["inner", "outer", "bdd", "beside", "beside"])

    def test_exact_names_need_nothing(self):
        self.write("common/a.h", "a\n")
        source = self.write("src/a.c", "#include <a.h>\n")
        self.compiled(source, "common")
        self.assertEqual(list((self.folder / "case").rglob("*")), [])

    def test_one_name_for_two_files(self):
        self.write("x/a.h", "x\n")
        self.write("y/a.h", "y\n")
        self.write("x/x.h", '#include "A.h"\n')
        self.write("y/y.h", '#include "A.h"\n')
        source = self.write("a.c", "".join(f'#include "{name}/{name}.h"\n' for name in "xy"))
        result = self.overlay(source)
        self.assertEqual(result.returncode, 1)
        self.assertIn("A.h is ", result.stderr)

    def test_source_that_is_not_there(self):
        result = self.overlay(self.folder / "none.c")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none.c", result.stderr)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
