#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the ABI tables into C and C++ sources whose static assertions check include/wdk.

    gen_abi_tests.py --tables tests/abi --output <build folder>     # write the sources
    gen_abi_tests.py --list                                        # print the names of the sources

Every row of every table becomes at least one assertion, so that a declaration which is added to
the tables is checked without anyone remembering it. A row can be left out only by naming it, with
a reason, in tests/abi/residue.tsv; how many rows each table has, how many are asserted and which
are left out is written to abi_report.tsv and compiled into the report program.

What is written:

  abi_<table>.c        the rows of one table, at WDDM 3.1 (types and prototypes are compared too)
  abi_cpp.cpp          records, constants and macros as C++17, with the sized enums C does not have
  abi_version_<V>.c    everything of records.json that exists at version V: sizes, offsets, values,
                       table sizes and slots; what is newer than V must not exist
  abi_absent_<V>.cpp   fields that do not exist at version V, each by name
  abi_bits_<V>.c       bit-fields at version V, which no constant expression can look at
  abi_runtime.c        runs them, and compares the GUIDs
  abi_report.c/.tsv    the counts
"""

import argparse
import csv
import json
import pathlib
import re
import sys

TABLES = ["structs", "enums", "macros", "functions", "typedefs", "guids", "tables",
          "structs_by_version", "fields_since", "records"]
DISPLAY = ["d3dukmdt.h", "d3dkmdt.h", "d3dkmddi.h", "dispmprt.h", "d3dkmthk.h"]
VERSIONS = ["VISTA", "VISTA_SP1", "WIN7", "WIN8", "WDDM1_3",
            "WDDM1_3_PATH_INDEPENDENT_ROTATION", "WDDM2_0", "WDDM2_1", "WDDM2_1_5", "WDDM2_1_6",
            "WDDM2_2", "WDDM2_3", "WDDM2_4", "WDDM2_5", "WDDM2_6", "WDDM2_7", "WDDM2_8", "WDDM2_9",
            "WDDM3_0", "WDDM3_1"]
NEWEST = VERSIONS[-1]

# The kernel headers declare these at every version.
KERNEL_TOO = {"POBJECT_ATTRIBUTES", "PINTERFACE_REFERENCE", "PINTERFACE_DEREFERENCE"}

BANNER = "/* Written by tools/gen_abi_tests.py. */\n"
INCLUDES = """\
#include <ntddk.h>
#include <dispmprt.h>
#include <d3dkmthk.h>
#include <evntprov.h>
"""
DISPLAY_INCLUDES = """\
#include <ntddk.h>
#include <dispmprt.h>
#include <d3dkmthk.h>
"""
C_PRELUDE = """\
#define CHECK(Condition, What) _Static_assert(Condition, What)
#define IS_SIGNED(Value) ((Value) * 0 - 1 < 0)
#define SAME(Left, Right) __builtin_types_compatible_p(Left, Right)
#define FIELD(Type, Field) (((Type *)0)->Field)
"""
CXX_PRELUDE = """\
#include <type_traits>
#define CHECK(Condition, What) static_assert(Condition, What)
#define FIELD(Type, Field) (((Type *)0)->Field)
"""


def version_number(name):
    return VERSIONS.index(name)


def exists(part, version):
    number = version_number(version)
    if number < version_number(part.get("since", "VISTA")):
        return False
    return "until" not in part or number < version_number(part["until"])


def form_at(part, version):
    """The member or constant as it is at `version`."""
    form = part
    for variant in part.get("variants", []):
        if version_number(variant["since"]) <= version_number(version):
            form = {**part, **variant}
    return form


class Tables:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in TABLES[:-1]:
            setattr(self, name, self.read(f"{name}.tsv"))
        self.records = json.loads((self.folder / "records.json").read_text())
        self.residue = {}
        for row in self.read("residue.tsv"):
            self.residue[(row["table"], row["name"])] = row["reason"]
        self.counts = {name: [0, 0, 0] for name in TABLES}  # rows, asserted, residue
        self.used_residue = set()

    def read(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))

    def take(self, table, name):
        """Count a row; False if the residue list leaves it out."""
        count = self.counts[table]
        count[0] += 1
        if (table, name) in self.residue:
            self.used_residue.add((table, name))
            count[2] += 1
            return False
        count[1] += 1
        return True


def spell(type_name):
    """A type as the tables spell it, in a form that holds on ELF too."""
    text = re.sub(r"\s*__attribute__\(\(stdcall\)\)", "", type_name)
    text = text.replace("__unaligned ", "")
    text = text.replace("tagPALETTEENTRY_SHIM", "tagPALETTEENTRY")  # the recording's stand-in
    text = re.sub(r"\bunsigned long\b(?! long)", "ULONG", text)
    text = re.sub(r"(?<!long )(?<!unsigned )\blong\b(?! long)", "LONG", text)
    return text


def with_convention(type_name, convention):
    return re.sub(r"\((\*+)\)", rf"({convention} \1)", type_name)


def convention_of(header):
    return "APIENTRY" if header == "d3dkmthk.h" else "NTAPI"


def type_name(struct):
    return f"struct {struct}" if struct.endswith("__") else struct


def in_place(type_text):
    """struct/union written inside another record: it has no name to compare with."""
    return re.match(r"(struct|union)(\[|$|\s+_PCI_HEADER|\s+_PM_SUPPORT)", type_text) is not None


def check(condition, what):
    return f'CHECK({condition}, "{what}");'


# --- one source per table, at the newest version -------------------------------------------------

def struct_checks(tables, cxx=False, only=None, count=True, types=True):
    lines, seen = [], set()
    for row in tables.structs:
        if only and row["header"] not in only:
            continue
        struct, field = row["struct"], row["field"]
        if count and not tables.take("structs", f"{struct}.{field}" if field else struct):
            continue
        name = type_name(struct)
        if struct not in seen:
            seen.add(struct)
            lines.append(check(f"sizeof({name}) == {row['size']}", f"size of {struct}"))
            align = "alignof" if cxx else "_Alignof"
            lines.append(check(f"{align}({name}) == {row['align']}", f"alignment of {struct}"))
        if not field or row["bit_width"]:
            continue  # a bit-field: see abi_bits_<V>.c
        where = f"{struct}.{field}"
        lines.append(check(f"__builtin_offsetof({name}, {field}) == {row['offset']}",
                           f"offset of {where}"))
        if row["size_of_field"] != "0":
            lines.append(check(f"sizeof(FIELD({name}, {field})) == {row['size_of_field']}",
                               f"size of {where}"))
        if types and not cxx and not in_place(row["type"]):
            text = with_convention(spell(row["type"]), convention_of(row["header"]))
            lines.append(check(f"SAME(__typeof__(FIELD({name}, {field})), {text})",
                               f"type of {where}"))
    return lines


def enum_checks(tables, cxx=False, count=True):
    tags = {e["tag"] for e in tables.records if e["kind"] == "enum" and not e["name"] and e["tag"]}
    lines, seen = [], set()
    for row in tables.enums:
        name, constant, sized = row["enum"], row["constant"], row["language"] == "C++"
        if name in tags:
            name = f"enum {name}"
        if count and not tables.take("enums", constant):
            continue
        if sized and not cxx:
            if name not in seen:
                seen.add(name)
                size = int(row["underlying"][1:]) // 8
                lines.append(check(f"sizeof({name}) == {size}", f"size of {name}"))
                lines.append(check(f"(({name})-1) > 0", f"signedness of {name}"))
            continue
        if name and name not in seen:
            seen.add(name)
            size = int(row["underlying"][1:]) // 8
            lines.append(check(f"sizeof({name}) == {size}", f"size of {name}"))
            if sized:
                base = {"u8": "unsigned char", "u32": "unsigned int"}[row["underlying"]]
                same = f"std::is_same<std::underlying_type<{name}>::type, {base}>::value"
                lines.append(check(f"({same})", f"type under {name}"))
        value = int(row["value"]) & 0xFFFFFFFF
        lines.append(check(f"(unsigned int){constant} == 0x{value:X}U", f"value of {constant}"))
    return lines


def macro_checks(tables, count=True):
    lines = []
    for row in tables.macros:
        name = row["name"]
        if count and not tables.take("macros", name):
            continue
        bits = int(row["type"][1:])
        value = int(row["value"], 0) & ((1 << bits) - 1)
        unsigned = {32: "unsigned int", 64: "unsigned long long"}[bits]
        lines.append(check(f"({unsigned})({name}) == 0x{value:X}ULL", f"value of {name}"))
        lines.append(check(f"sizeof({name}) == {bits // 8}", f"size of {name}"))
        compare = "IS_SIGNED" if row["type"][0] == "i" else "!IS_SIGNED"
        lines.append(check(f"{compare}({name})", f"signedness of {name}"))
    return lines


def prototype_check(name, form, returns, params, convention):
    subject = {"function": f"{name} *", "pointer": name, "declared": f"__typeof__(&{name})"}[form]
    return check(f"SAME({subject}, {returns} ({convention} *)({params}))", f"prototype of {name}")


def function_checks(tables):
    inline = {e["name"] for e in tables.records if e.get("inline")}
    lines = []
    for row in tables.functions:
        if not tables.take("functions", row["name"]):
            continue
        convention = "" if row["name"] in inline else convention_of(row["header"])
        for column in ("parameters", "parameters_resolved"):
            lines.append(prototype_check(row["name"], row["form"], spell(row["return_type"]),
                                         spell(row[column]), convention))
    return lines


def typedef_checks(tables):
    lines = []
    for row in tables.typedefs:
        name = row["name"]
        if not tables.take("typedefs", name):
            continue
        convention = convention_of(row["header"])
        if row["size"]:
            lines.append(check(f"sizeof({name}) == {row['size']}", f"size of {name}"))
        if row["align"]:
            lines.append(check(f"_Alignof({name}) == {row['align']}", f"alignment of {name}"))
        for column in ("underlying", "canonical"):
            text = with_convention(spell(row[column]), convention)
            if "(" in text and not re.match(r"[^(]*\((NTAPI|APIENTRY) \*", text):  # a function type
                returns, params = re.match(r"([^(]*?)\s*\((.*)\)$", text).groups()
                lines.append(check(f"SAME({name} *, {returns} ({convention} *)({params}))",
                                   f"{column} type of {name}"))
            else:
                lines.append(check(f"SAME({name}, {text})", f"{column} type of {name}"))
    return lines


# --- one source per version ----------------------------------------------------------------------

def paths_of(members, version, prefix=""):
    """(path, form) of every named member that exists at `version`."""
    for member in members:
        if not exists(member, version):
            continue
        form = form_at(member, version)
        name = form.get("name", "")
        path = prefix + name
        if name:
            yield path, form
        if "members" in form and "type" not in form:
            index = "[0]" if form.get("array") else ""
            yield from paths_of(form["members"], version, f"{path}{index}." if name else prefix)


def size_at(record, version):
    size = {"size": record["size"], "align": record["align"]}
    if "sizes" in record:
        for entry in record["sizes"]:
            if version_number(entry["since"]) <= version_number(version):
                size = entry
    return size


def record_checks(record, version):
    name = record["name"] or f"{record['kind']} {record['tag']}"
    size = size_at(record, version)
    lines = [check(f"sizeof({name}) == {size['size']}", f"size of {name}"),
             check(f"_Alignof({name}) == {size['align']}", f"alignment of {name}")]
    for path, form in paths_of(record["members"], version):
        if "bits" in form:
            continue
        lines.append(check(f"__builtin_offsetof({name}, {path}) == {form['offset']}",
                           f"offset of {name}.{path}"))
        if "type" in form:
            dimensions = "".join(f"[{n or ''}]" for n in form.get("array", []))
            text = with_convention(form["type"], convention_of(record["header"]))
            lines.append(check(f"SAME(__typeof__(FIELD({name}, {path})), {text}{dimensions})",
                               f"type of {name}.{path}"))
    return lines


def absent_lines(element):
    """Declarations that collide with `element` if the headers declare it."""
    kind, name = element["kind"], element.get("name")
    if kind == "macro":
        return [f"#ifdef {name}", f'#error "{name} is newer than this version"', "#endif"]
    if kind == "enum" and element.get("gate") == "C++":
        return []
    lines = []
    if kind == "enum":
        for constant in element["constants"]:
            lines.append(f"enum {{ {constant['name']} = 0 }};")
    if name and name not in KERNEL_TOO and kind in ("struct", "union", "enum", "typedef",
                                                   "function"):
        lines.append(f"typedef struct {{ int absent; }} {name};")
    return lines


def version_source(tables, version):
    newest = version == NEWEST
    lines = []
    for element in tables.records:
        kind, name = element["kind"], element["name"]
        if newest and not tables.take("records", name or element.get("tag") or "(unnamed)"):
            continue
        if not exists(element, version):
            lines += absent_lines(element)
            continue
        if kind in ("struct", "union"):
            lines += record_checks(element, version)
        elif kind == "enum":
            if element.get("gate") == "C++":
                continue  # abi_cpp.cpp
            if name:
                lines.append(check(f"sizeof({name}) == 4", f"size of {name}"))
            for constant in element["constants"]:
                if not exists(constant, version):
                    lines.append(f"enum {{ {constant['name']} = 0 }};")
                    continue
                value = form_at(constant, version)["value"] & 0xFFFFFFFF
                lines.append(check(f"(unsigned int){constant['name']} == 0x{value:X}U",
                                   f"value of {constant['name']}"))
        elif kind == "typedef":
            dimensions = "".join(f"[{n}]" for n in element.get("array", []))
            lines.append(check(f"SAME({name}, {element['type']}{dimensions})", f"type of {name}"))
        elif kind == "function":
            params = ", ".join(p["type"] for p in element["params"]) or "void"
            if element.get("variadic"):
                params += ", ..."
            if element.get("inline"):
                convention = ""
            else:
                convention = convention_of(element["header"])
            lines.append(prototype_check(name, element["form"], element["returns"], params,
                                         convention))
            for alias in element.get("aliases", []):
                alias = alias if isinstance(alias, str) else alias["name"]
                lines.append(check(f"SAME({alias}, {name} *)", f"type of {alias}"))
        elif kind == "macro":
            form = form_at(element, version)
            bits = int(form["type"][1:])
            unsigned = {32: "unsigned int", 64: "unsigned long long"}[bits]
            value = form["value"] & ((1 << bits) - 1)
            lines.append(check(f"({unsigned})({name}) == 0x{value:X}ULL", f"value of {name}"))
        elif kind == "guid":
            lines.append(check(f"SAME(__typeof__({name}), const GUID)", f"type of {name}"))
    for row in tables.structs_by_version:
        if newest and not tables.take("structs_by_version", f"{row['struct']}@{row['version']}"):
            continue
        if row["version"] == version:
            lines.append(check(f"sizeof({row['struct']}) == {row['size']}",
                               f"size of {row['struct']} by version"))
    for row in tables.tables:
        table, slot, name = row["table"], row["slot"], row["name"]
        if newest and not tables.take("tables", f"{table}.{slot}"):
            continue
        if slot.startswith("sizeof@"):
            if slot == f"sizeof@{version}":
                lines.append(check(f"sizeof({table}) == {name}", f"size of {table}"))
            continue
        if exists(row, version):
            lines.append(check(f"__builtin_offsetof({table}, {name}) == {row['offset']}",
                               f"slot {slot} of {table}: {name}"))
            lines.append(check(f"SAME(__typeof__(FIELD({table}, {name})), {spell(row['type'])})",
                               f"type of slot {slot} of {table}: {name}"))
    return lines


def declared_at(tables, version):
    names = set()
    for element in tables.records:
        if exists(element, version):
            names.add(element["name"])
            names.update(a["name"] for a in element.get("aliases", []) if isinstance(a, dict))
    return names


def field_check(negation, number, struct, field, what):
    """C++: whether a record has a field. Two templates for each are a fifth of the work that a lambda is for the compiler."""
    return [f"template <typename R> constexpr decltype((void)((R *)0)->{field}, true) has_{number}(int) {{ return true; }}",
            f"template <typename R> constexpr bool has_{number}(long) {{ return false; }}",
            check(f"{negation}has_{number}<{struct}>(0)", what)]


def absent_source(tables, version):
    """Fields of fields_since.tsv: there at this version or not, as the table says."""
    lines = []
    known = declared_at(tables, version)
    for row in tables.fields_since:
        struct, field = row["struct"], row["field"]
        if version == NEWEST and not tables.take("fields_since", f"{struct}.{field}"):
            continue
        if struct not in known:
            continue
        part = {"since": row["since"], **({"until": row["until"]} if row["until"] else {})}
        here = "" if exists(part, version) else "!"
        lines += field_check(here, len(lines), struct, field,
                             f"{struct}.{field} since {row['since']} until {row['until'] or 'now'}")
    return lines


# --- what runs -----------------------------------------------------------------------------------

BITS_PRELUDE = """\
#include <string.h>
#include "abi_expect.h"

#define BITS(Type, Field, Offset, Bit, Width)                                                      \\
    {                                                                                              \\
        static union {                                                                             \\
            Type record;                                                                           \\
            unsigned char image[sizeof(Type)];                                                     \\
        } u;                                                                                       \\
        memset(&u, 0, sizeof(u));                                                                  \\
        u.record.Field = (__typeof__(u.record.Field + 0))~0ULL;                                    \\
        expect_bits(#Type "." #Field, u.image, sizeof(u.image), (Offset) * 8 + (Bit), Width);      \\
    }
"""

EXPECT_HEADER = """\
#include <stddef.h>

void expect_bits(const char *what, const unsigned char *image, size_t size, size_t first,
                 size_t width);
"""

RUNTIME_MAIN = """\
#include <stdio.h>
#include <string.h>

#include "abi_expect.h"

static int failures;
static int checked;

/* All bits of one field set in a cleared record: exactly the expected bits of the record are 1. */
void expect_bits(const char *what, const unsigned char *image, size_t size, size_t first,
                 size_t width)
{
    checked++;
    for (size_t bit = 0; bit < size * 8; bit++) {
        int set = (image[bit / 8] >> (bit % 8)) & 1;

        if (set != (bit >= first && bit < first + width)) {
            fprintf(stderr, "bit-field %s: bit %zu is %d\\n", what, bit, set);
            failures++;
            return;
        }
    }
}

static void expect_guid(const char *what, const GUID *actual, const GUID *expected)
{
    checked++;
    if (memcmp(actual, expected, sizeof(GUID)) != 0) {
        fprintf(stderr, "GUID %s differs\\n", what);
        failures++;
    }
}

#define GUID_IS(Name, l, w1, w2, ...)                                                              \\
    {                                                                                              \\
        const GUID expected = {l, w1, w2, {__VA_ARGS__}};                                          \\
        expect_guid(#Name, &Name, &expected);                                                      \\
    }
"""


def bits_source(tables, version):
    """Bit-fields of records.json at one version; at the newest also those of structs.tsv."""
    lines = []
    for record in tables.records:
        if record["kind"] not in ("struct", "union") or not exists(record, version):
            continue
        name = record["name"] or f"{record['kind']} {record['tag']}"
        for path, form in paths_of(record["members"], version):
            if "bits" in form:
                lines.append(f"    BITS({name}, {path}, {form['offset']}, {form['bit']}, "
                             f"{form['bits']})")
    if version == NEWEST:
        for row in tables.structs:
            if row["bit_width"] and \
                    ("structs", f"{row['struct']}.{row['field']}") not in tables.residue:
                lines.append(f"    BITS({type_name(row['struct'])}, {row['field']}, "
                             f"{row['offset']}, {row['bit_offset']}, {row['bit_width']})")
    body = "\n".join(lines)
    function = f"void bits_{version}(void)"
    return f"{BITS_PRELUDE}\n{function};\n\n{function}\n{{\n{body}\n}}\n"


def runtime_source(tables):
    guids = []
    for row in tables.guids:
        if not tables.take("guids", row["name"]):
            continue
        a, b, c, d, e = row["value"].split("-")
        tail = ", ".join(f"0x{(d + e)[i:i + 2]}" for i in range(0, 16, 2))
        guids.append(f"    GUID_IS({row['name']}, 0x{a}, 0x{b}, 0x{c}, {tail})")
    declarations = "\n".join(f"void bits_{v}(void);" for v in VERSIONS)
    calls = "\n".join(f"    bits_{v}();" for v in VERSIONS)
    return "#include <initguid.h>\n" + INCLUDES + RUNTIME_MAIN + f"""
{declarations}

static void check_guids(void)
{{
{chr(10).join(guids)}
}}

int main(void)
{{
{calls}
    printf("%d bit-fields, ", checked);
    checked = 0;
    check_guids();
    printf("%d GUIDs checked, %d failures\\n", checked, failures);
    return failures != 0;
}}
"""


def report_sources(tables, assertions):
    rows = ["table\trows\tasserted\tresidue"]
    text = []
    for name in TABLES:
        total, asserted, left = tables.counts[name]
        rows.append(f"{name}\t{total}\t{asserted}\t{left}")
        text.append(f'    printf("%-20s %6d rows %6d asserted %4d left out\\n", "{name}", {total}, '
                    f"{asserted}, {left});")
    for (table, name), reason in tables.residue.items():
        rows.append(f"residue\t{table}\t{name}\t{reason}")
        quoted = reason.replace('"', '\\"')
        text.append(f'    printf("left out: %s %s: %s\\n", "{table}", "{name}", "{quoted}");')
    text.append(f'    printf("%d static assertions in %d sources\\n", {assertions[0]}, '
                f"{assertions[1]});")
    complete = all(c[0] == c[1] + c[2] and c[0] for c in tables.counts.values())
    c_text = "#include <stdio.h>\n\nint main(void)\n{\n" + "\n".join(text) + \
        f"\n    return {0 if complete else 1};\n}}\n"
    return "\n".join(rows) + "\n", c_text


def source_names():
    names = [f"abi_{t}.c" for t in ("structs", "enums", "macros", "functions", "typedefs")]
    names += ["abi_display.c", "abi_cpp.cpp"]
    names += [f"abi_version_{v}.c" for v in VERSIONS]
    names += [f"abi_absent_{v}.cpp" for v in VERSIONS]
    names += [f"abi_bits_{v}.c" for v in VERSIONS]
    return names + ["abi_runtime.c", "abi_report.c"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", default=pathlib.Path(__file__).parent.parent / "tests" / "abi")
    parser.add_argument("--output")
    parser.add_argument("--list", action="store_true", help="print the names of the sources")
    arguments = parser.parse_args()
    if arguments.list:
        print(";".join(source_names()), end="")
        return 0

    tables = Tables(arguments.tables)
    output = pathlib.Path(arguments.output)
    output.mkdir(parents=True, exist_ok=True)
    assertions = [0, 0]

    def write(name, body):
        text = BANNER + body
        assertions[0] += text.count("\nCHECK(")
        assertions[1] += 1
        path = output / name
        path.write_text(text)

    def c_source(name, lines, includes=INCLUDES):
        write(name, includes + C_PRELUDE + "\n".join(lines) + "\n")

    c_source("abi_structs.c", struct_checks(tables))
    c_source("abi_enums.c", enum_checks(tables))
    c_source("abi_macros.c", macro_checks(tables))
    c_source("abi_functions.c", function_checks(tables))
    c_source("abi_typedefs.c", typedef_checks(tables))
    # The display headers alone: this one also compiles with a compiler for Windows.
    c_source("abi_display.c", struct_checks(tables, only=DISPLAY, count=False, types=False),
             DISPLAY_INCLUDES)
    cxx_lines = struct_checks(tables, cxx=True, count=False)
    cxx_lines += enum_checks(tables, cxx=True, count=False)
    write("abi_cpp.cpp", INCLUDES + CXX_PRELUDE + "\n".join(cxx_lines) + "\n")
    for version in VERSIONS:
        define = f"#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_{version}\n"
        c_source(f"abi_version_{version}.c", version_source(tables, version),
                 define + DISPLAY_INCLUDES)
        write(f"abi_bits_{version}.c", define + INCLUDES + bits_source(tables, version))
        write(f"abi_absent_{version}.cpp", define + DISPLAY_INCLUDES + CXX_PRELUDE +
              "\n".join(absent_source(tables, version)) + "\n")
    (output / "abi_expect.h").write_text(BANNER + EXPECT_HEADER)
    write("abi_runtime.c", runtime_source(tables))

    unused = set(tables.residue) - tables.used_residue
    if unused:
        print(f"residue.tsv names rows that no table has: {sorted(unused)}", file=sys.stderr)
        return 1
    report, program = report_sources(tables, assertions)
    (output / "abi_report.tsv").write_text(report)
    (output / "abi_report.c").write_text(BANNER + program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
