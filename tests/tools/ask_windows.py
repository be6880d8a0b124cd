#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/ask-windows: its data, its script, and what becomes of recordings. Usage: ask_windows.py DXGKHOST

The script itself runs on Windows alone; what it compiles there is compiled and run here where there is mono."""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "support"))
import powershell  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KIT = ROOT / "tools" / "ask-windows"
SAMPLES = sorted((ROOT / "tests/wintrace/samples").glob("*.etl"))
KEYWORDS = {"Base": 0x1, "References": 0x4, "Patch": 0x10, "Resource": 0x40, "Memory": 0x80, "DxgKrnl_Power": 0x200, "GPUScheduler": 0x8000,
            "GPUVA": 0x100000, "VidMmWorkerThread": 0x200000, "HardwareSchedulingLog": 0x4000000, "Present": 0x8000000}
PROVIDER = "802EC45A-1E99-4B83-9920-87C98277BA9D"
RULE = re.compile(r"\b(?:LIFE|CAPS|THREAD|NT|GPUVA|CTXA|PHYS|IOMMU|SEG|ALLOC|RES|PAGE|PATCH|SUBMIT|PREEMPT|TDR|KMT|DISP|VIDPN|PRES)-\d{3}\b")
EVENT = re.compile(r"(\d+) (\w+?)(?: (Start|Stop|DC_Start))?: (\w+(?:, \w+)*)")
FIELD = re.compile(r"((?:U?Int(?:8|16|32|64))|HexInt(?:32|64)|Pointer|Boolean|UnicodeString) (\w+)(?:\[(\w+)\])?")
HOST = None


def table(path):
    names, *rows = [line.split("\t") for line in path.read_text(encoding="ascii").splitlines()]
    return [dict(zip(names, row, strict=True)) for row in rows]


def rules_of_the_contract():
    return {line.split("\t")[0] for file in (ROOT / "docs/spec/rules").glob("*.tsv") for line in file.read_text(encoding="utf-8").splitlines()}


def fields_of(row):
    return [FIELD.fullmatch(word).groups() for word in row["fields"].split(", ")] if row["fields"] else []


class Questions(unittest.TestCase):
    def setUp(self):
        self.questions = table(KIT / "questions.tsv")
        self.events = table(KIT / "events.tsv")

    def test_are_well_formed(self):
        self.assertTrue(25 <= len(self.questions) <= 40)
        ids = [row["id"] for row in self.questions]
        self.assertEqual(len(set(ids)), len(ids))
        for row in self.questions:
            self.assertRegex(row["id"], r"^ASK-\d\d$")
            self.assertTrue(all(cell.strip() == cell and cell for cell in row.values()), row["id"])
            self.assertTrue(row["question"].endswith("?"), row["id"])
            self.assertLessEqual(set(row["needs"].split()), {"any", "load", "hang", "driver"}, row["id"])
            if "driver" in row["needs"].split():
                self.assertRegex(row["other"], r"\b(?:driver|client): ", row["id"])

    def test_name_rules_of_the_contract(self):
        known = rules_of_the_contract()
        for row in self.questions:
            for rule in row["rules"].split("; "):
                self.assertIn(rule, known, row["id"])
            self.assertLessEqual(set(RULE.findall(" ".join(row.values()))), known, row["id"])

    def test_say_what_each_answer_changes(self):
        for row in self.questions:
            self.assertGreaterEqual(row["changes"].count(": "), 2, row["id"])
            self.assertTrue(set(RULE.findall(row["changes"])) & set(row["rules"].split("; ")), row["id"])

    def test_name_events_and_fields_that_there_are(self):
        for row in self.questions:
            for text in row["events"].split("; "):
                match = EVENT.fullmatch(text)
                self.assertIsNotNone(match, f"{row['id']}: {text}")
                number, name, opcode, fields = match.groups()
                versions = [event for event in self.events if (event["id"], event["name"], event["opcode"].replace("DCStart", "DC_Start")) == (number, name, opcode or "")]
                self.assertTrue(versions, f"{row['id']}: no event {text}")
                have = {field for event in versions for _, field, _ in fields_of(event)}
                self.assertLessEqual(set(fields.split(", ")), have, f"{row['id']}: {text}")


class Events(unittest.TestCase):
    def setUp(self):
        self.events = table(KIT / "events.tsv")

    def test_are_well_formed(self):
        keys = [(int(row["id"]), int(row["version"])) for row in self.events]
        self.assertEqual(len(set(keys)), len(keys))
        for row in self.events:
            self.assertLess(int(row["id"]), 65536)
            before = set()
            for kind, name, count in fields_of(row):
                self.assertTrue(kind and name not in before, row["id"])
                self.assertTrue(count is None or count in before, f"{row['id']}: {name} is counted by {count}")
                before.add(name)

    def test_are_those_that_the_reader_knows(self):
        """So that a packet shows check-trace all that the whole recording would."""
        kit = {(row["id"], row["version"]): row for row in self.events}
        for row in table(ROOT / "src/wintrace/events.tsv"):
            ours = kit.get((row["id"], row["version"]))
            self.assertIsNotNone(ours, f"event {row['id']}, version {row['version']}, is missing")
            for column in ("name", "opcode", "fields"):
                self.assertEqual(ours[column], row[column], row["id"])

    def test_hold_nothing_personal(self):
        for row in self.events:
            for kind, name, _ in fields_of(row):
                self.assertNotRegex(name, r"(?i)^h?wnd|window|^sid$|path|username|userid|machine", row["id"])
                self.assertTrue(kind != "UnicodeString" or (row["name"], name) == ("NodeMetadata", "FriendlyName"), f"{row['id']}: {name} is a text")


class Script(unittest.TestCase):
    def setUp(self):
        self.bytes = (KIT / "ask-windows.ps1").read_bytes()
        self.text = self.bytes.decode("ascii")
        self.tokens = powershell.tokens(self.text)

    def test_has_one_kind_of_line_ends(self):
        self.assertIn(self.text.count("\r\n"), (0, self.text.count("\n")))
        self.assertTrue(self.text.endswith("\n"))

    def test_is_balanced(self):
        powershell.check(self.text)

    def test_records_what_the_questions_need(self):
        block = re.search(r"^\$Keywords = @\{\n(.*?)^\}", self.text, re.S | re.M).group(1)
        recorded = {name: int(value, 16) for name, value in re.findall(r"^ +(\w+) += (0x[0-9A-Fa-f]+)$", block, re.M)}
        self.assertEqual(len(recorded), len(block.splitlines()))
        for name, value in recorded.items():
            self.assertEqual(value, KEYWORDS[name], name)
        self.assertNotIn("DxgKrnl_Power", recorded)
        for row in table(KIT / "events.tsv"):
            self.assertTrue(set(row["keywords"].split()) & set(recorded), f"event {row['id']} is not recorded")

    def test_records_the_provider_that_is_read(self):
        self.assertIn(f"$Provider = '{{{PROVIDER}}}'", self.text)
        self.assertIn(f"{{{PROVIDER}}}", (ROOT / "src/wintrace/etl_layout.h").read_text(encoding="utf-8"))
        self.assertIn(f"{{{PROVIDER}}}", (KIT / "scrub.cs").read_text(encoding="ascii"))

    def test_has_no_path_of_a_user(self):
        for file in ("ask-windows.ps1", "scrub.cs", "windows.cs", "questions.tsv"):
            text = (KIT / file).read_text(encoding="ascii")
            self.assertNotRegex(text, r"(?i)\b[A-Z]:\\|\\Users\\\w|/home/|%USERPROFILE%", file)
        self.assertNotIn("$env:TEMP", self.text)  # which has the user's name in it

    def test_calls_each_function_and_no_other(self):
        defined = re.findall(r"^function ([\w-]+)", self.text, re.M)
        words = powershell.commands(self.tokens)
        for name in defined:
            self.assertIn(name, words, f"{name} is never called")
        cmdlets = {"Add-Type", "Get-ChildItem", "Get-CimInstance", "Get-Command", "Get-Item", "Get-ItemProperty", "Get-Process", "Join-Path", "New-Object",
                   "Read-Host", "Resolve-Path", "Select-Object", "Set-StrictMode", "Split-Path", "Test-Path", "Where-Object"}
        verbs = {word for word in words if re.fullmatch(r"[A-Z][a-z]+-[A-Z]\w+", word)}
        self.assertEqual(verbs - set(defined) - cmdlets, set())

    def test_cleans_up_whatever_ends_it(self):
        end = self.text[self.text.rindex("\ntry {"):]
        self.assertRegex(end, r"(?s)\ntry \{\n    Main\n\} catch \{.*\} finally \{\n    Clear-Up\n\}\nif \(\$failed\) \{ exit 1 \}\n$")
        clear = re.search(r"^function Clear-Up \{\n(.*?)^\}", self.text, re.S | re.M).group(1)
        for step in ("Stop-Recording", "Stop-Children", "Directory]::Delete"):
            self.assertIn(step, clear)

    def test_takes_the_parameters_that_it_describes(self):
        described = set(re.findall(r"^\.PARAMETER (\w+)$", self.text, re.M))
        block = re.search(r"^param\(\n(.*?)^\)", self.text, re.S | re.M).group(1)
        self.assertEqual(set(re.findall(r"\$(\w+)", re.sub(r"\$false|\$true", "", block))), described)
        readme = (KIT / "README.md").read_text(encoding="ascii")
        for name in re.findall(r"`-(\w+)", readme):
            self.assertTrue(name in described, f"README.md speaks of -{name}")

    def test_the_tokenizer_finds_what_is_wrong(self):
        for text in ("if ($a) { 'b' ", "'a", '"a', '"$(b"', "@(1]", ")", "<# a", "@'\na\n", '"a `"'):
            with self.assertRaises(ValueError, msg=text):
                powershell.check(text)
        for text in ("'a''}' # }", '"`"}$("{)" + 1)"', "@'\n}'\n'@", '@"\n"}$(1)\n"@', "<# } #> {}", "${a}b", "'a\\'"):
            powershell.check(text)


def event(size_type, payload, provider=PROVIDER, number=175, flags=0):
    """An event with the header of 64-bit processes."""
    header = struct.pack("<HBBHHIIQ16sHBBBBHQ16x", 80 + len(payload), size_type, 0xC0, flags, 0, 7, 8, 1000, uuid.UUID(provider).bytes_le, number, 1, 0, 0, 1, 0, 1)
    whole = header[:64] + bytes(16) + payload
    return whole + b"secretx"[:-len(whole) % 8]  # what lies between two events


def description(text):
    """The first event of a file, of a 64-bit system: lost 1 event and 2 buffers; behind its members, text."""
    fixed = struct.pack("<IIIIQIIIIIIII", 0, 0, 17134, 8, 0, 0, 0, 0, 0, 0, 8, 1, 2000)
    zone = "Home".encode("utf-16-le").ljust(172, b"\0")
    payload = (fixed + bytes(16) + zone).ljust(248, b"\0") + struct.pack("<QQQII", 0, 10000000, 0, 1, 2) + text.encode("utf-16-le")
    header = struct.pack("<HBBHHIIQQ", 1, 2, 0xC0, 32 + len(payload), 0, 1, 2, 3, 0)
    whole = header + payload
    return whole + bytes(-len(whole) % 8)


def recording(*events, size=4096):
    filled = 72 + sum(map(len, events))
    header = bytearray(72)
    struct.pack_into("<II", header, 0, size, filled)
    struct.pack_into("<I", header, 48, filled)
    return (bytes(header) + b"".join(events)).ljust(size, b"S")


@unittest.skipUnless(shutil.which("mcs") and shutil.which("mono"), "there is no mono to compile C# with")
class Scrub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.program = cls.folder / "scrub.exe"
        # As PowerShell 5.1 compiles it: C# 5, System.dll and nothing else, no warning.
        subprocess.run(["mcs", "-noconfig", "-r:System.dll", "-langversion:5", "-warn:4", "-warnaserror", f"-out:{cls.program}", KIT / "scrub.cs", KIT / "windows.cs",
                        ROOT / "tests/tools/support/scrub_main.cs"], check=True)

    def run_program(self, *arguments):
        return subprocess.run(["mono", self.program, *arguments], capture_output=True, text=True, check=False)

    def scrub(self, recorded):
        """What is left of a recording, and the counts kept, emptied, foreign, lost, buffers."""
        (self.folder / "from.etl").write_bytes(recorded)
        result = self.run_program("scrub", self.folder / "from.etl", self.folder / "to.etl", ",".join({row["id"] for row in table(KIT / "events.tsv")}))
        self.assertEqual(result.returncode, 0, result.stderr)
        return (self.folder / "to.etl").read_bytes(), [int(word) for word in result.stdout.split()]

    def check_trace(self, path):
        result = subprocess.run([HOST, "check-trace", path], capture_output=True, text=True, check=False)
        return result.returncode, result.stdout.splitlines()[1:]

    def test_leaves_check_trace_all_that_it_reads(self):
        self.assertTrue(SAMPLES)
        for sample in SAMPLES:
            left, counts = self.scrub(sample.read_bytes())
            self.assertGreater(counts[0], 0)
            self.assertEqual(self.check_trace(self.folder / "to.etl"), self.check_trace(sample))
            self.assertEqual(len(left), sample.stat().st_size)

    def test_keeps_what_is_asked_for_and_nothing_else(self):
        kept = event(0x13, b"kept bytes")
        whole = recording(description("S-1-5-21-1 C:\\Users\\anna\\a.etl"), kept, event(0x13, b"secret of 184", number=184),
                          event(0x13, b"secret of others", provider="9E814AAD-3204-11D2-9A82-006008A86939"), event(0x13, b"secret sid", flags=1),
                          struct.pack("<HBBHHIIQQ", 1, 2, 0xC0, 48, 0, 1, 2, 3, 0) + b"secret of system", b"\xFF" * 8, b"secret rest")
        left, counts = self.scrub(whole + recording(kept))
        extended = whole.index(struct.pack("<HBBH", 90, 0x13, 0xC0, 1))
        self.assertEqual(left[extended:extended + 6], struct.pack("<HBBH", 90, 0x13, 0xC0, 0))
        self.assertEqual(counts, [2, 1, 3, 3, 2])
        self.assertEqual(left.count(kept[:90]), 2)
        for secret in (b"secre", b"SSSS", "anna".encode("utf-16-le"), "S-1-5".encode("utf-16-le"), "Home".encode("utf-16-le")):
            self.assertTrue(secret not in left, secret)
        self.assertEqual(self.check_trace(self.folder / "to.etl")[1][0], "  recorded on            Windows build 17134, 8 processors")

    def test_says_what_is_wrong_with_a_recording(self):
        whole = recording(description(""), event(0x13, b"x"))
        for broken, reason in ((b"", "is empty"), (b"text that is no recording", "does not begin like a recording"), (whole[:-1], "buffer 0 is cut off"),
                               (whole + whole[:100], "buffer 1 is cut off"), (whole + recording(size=8192), "buffer 1 has a size of its own: 8192"),
                               (recording(event(0x13, b"x")), "does not begin with a description"), (recording(description(""), b"ABCDEFGH"), "does not begin like an event"),
                               (recording(description(""), struct.pack("<HBBI", 16, 0x13, 0xC0, 0)), "has 16 bytes"),
                               (recording(description(""), struct.pack("<HBBI", 7, 0x13, 0xC0, 0)), "has 7 bytes"),
                               (whole[:48] + struct.pack("<I", 5000) + whole[52:], "says that 5000 of its bytes are filled")):
            (self.folder / "from.etl").write_bytes(broken)
            result = self.run_program("scrub", self.folder / "from.etl", self.folder / "to.etl", "175")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(reason, result.stderr)

    def test_finds_words_of_one_and_two_bytes(self):
        path = self.folder / "words"
        for text, found in (("by Anna.", "anna"), ("banana, anna_b, xanna", ""), ("on DESKTOP-1:", "DESKTOP-1"), ("C:\\users\\bob", "Users\\"),
                            ("S-1-5-21-77", "S-1-5-21-"), ("anna", "anna"), ("anna\u0161", "anna"), ("ann", "")):
            for encoding in ("utf-8", "utf-16"):
                path.write_bytes(text.encode(encoding))
                self.assertEqual(self.run_program("find", path, "anna", "DESKTOP-1", "Users\\", "S-1-5-21-").stdout.strip(), found, text)

    def test_takes_names_out_of_xml(self):
        (self.folder / "in.xml").write_text('<Event>\n<Security UserID="S-1-5-18" />\n<Computer>PC-OF-ANNA</Computer><Data Name="NodeOrdinal">1</Data>\n', encoding="utf-8")
        self.assertEqual(self.run_program("xml", self.folder / "in.xml", self.folder / "out.xml").returncode, 0)
        self.assertEqual((self.folder / "out.xml").read_text(encoding="utf-8"), '<Event>\n<Security />\n<Computer></Computer><Data Name="NodeOrdinal">1</Data>\n')


if __name__ == "__main__":
    HOST = sys.argv.pop(1)
    unittest.main()
