#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the five display headers of include/wdk from tests/abi/records.json.

Run by hand, from anywhere, whenever the tables change:

    tools/gen_wdk.py                # rewrites include/wdk/*.h
    tools/gen_wdk.py --check        # exit status 1 if a header on disk is not what would be written

records.json lists every declaration of the five headers in declaration order, with the interface
versions in which it (and each part of it) exists; tests/abi/README.md describes the format. This
program only decides how a declaration is written in C. Nothing about the interface is known here,
except the few things the tables leave out: see PROLOGUE, EPILOGUE and INLINE_BODIES.
"""

import argparse
import json
import pathlib
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "tests" / "abi" / "records.json"
OUTPUT = ROOT / "include" / "wdk"
COLUMNS = 100
INDENT = "    "

ABOUT = {
    "d3dukmdt.h":
        "Types shared by user-mode and kernel-mode display drivers: interface versions, handles, "
        "formats, allocations, allocation and patch lists, synchronization objects, GPU virtual "
        "address operations.",
    "d3dkmdt.h":
        "Types shared by the kernel-mode driver interface and the kernel-mode thunks: video "
        "present networks, modes, monitors, output protection, standard allocations, node data.",
    "d3dkmddi.h":
        "The driver side of the display driver model: the DXGKARG_* arguments and DXGKDDI_* entry "
        "points a display miniport implements, capability structures, the DXGKCB_* memory and "
        "scheduling callbacks.",
    "dispmprt.h":
        "The port side of the display driver model: DRIVER_INITIALIZATION_DATA, DXGKRNL_INTERFACE, "
        "the query interfaces, and DxgkInitialize, with which a display miniport registers itself.",
    "d3dkmthk.h":
        "The kernel-mode thunk interface: the D3DKMT* functions through which user-mode drivers "
        "and runtimes reach the display driver model, and their arguments. D3DKMT* functions are "
        "APIENTRY, not NTAPI: on ELF targets they have the platform's own calling convention.",
}

INCLUDES = {
    "d3dukmdt.h": ["dxgk_base.h"],
    "d3dkmdt.h": ["d3dukmdt.h"],
    "d3dkmddi.h": ["dxgk_base_kernel.h", "d3dkmdt.h"],
    "dispmprt.h": ["dxgk_base_kernel.h", "d3dkmddi.h", "ntddvdeo.h", "acpiioct.h"],
    "d3dkmthk.h": ["d3dkmdt.h"],
}

# Headers that declare functions of ours.
EXPORTING = {"dispmprt.h", "d3dkmthk.h"}

# Declarations that an included header needs: <video.h> names the two records before it.
INCLUDE_AFTER = {"PBANKED_SECTION_ROUTINE": """\
/* Without _NTOSDEF_ some versions of <video.h> declare a DriverEntry of another shape. */
#ifndef _NTOSDEF_
#define _NTOSDEF_
#endif
#include <video.h>"""}

# Listed where the original headers repeat them; ours have them from dxgk_base.h already.
IN_BASE = {"UINT", "DWORD", "BYTE", "PINTERFACE_REFERENCE", "PINTERFACE_DEREFERENCE"}

# Said once, where a reader meets the name.
NOTES = {
    "D3DKMT_HANDLE": "Handles of the thunk interface; 0 is never a valid one.",
    "D3DGPU_VIRTUAL_ADDRESS": "GPU virtual addresses and sizes are in bytes.",
    "DXGK_PTE": "A page table entry as VidMm describes it; the driver translates it for its GPU.",
    "D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY":
        "The casts keep the type 32 bits wide; -1 and 0x80000000 together would make it wider.",
    "DXGKMDT_OPM_CONNECTOR_TYPE":
        "The casts keep the type 32 bits wide; -1 and 0x80000000 together would make it wider.",
    "D3DKMDT_VPPR_GET_OFFSET_ROTATION":
        "A path rotation from 1 to 16 combines an offset rotation (in fours) and a content one.",
    "DXGKARGCB_NOTIFY_INTERRUPT_DATA":
        "What an interrupt means; InterruptType selects the member of the union.",
    "DXGK_ALLOCATIONINFO": "One allocation of DXGKARG_CREATEALLOCATION, filled in by the driver.",
    "DXGKARG_BUILDPAGINGBUFFER":
        "One paging operation; Operation selects the member of the union.",
    "DXGK_DRIVERCAPS": "The answer to DXGKQAITYPE_DRIVERCAPS.",
    "DXGKRNL_INTERFACE":
        "What the port driver offers a miniport, given to it by DxgkDdiStartDevice. Each older "
        "form is a prefix of this one, so Size tells which members there are.",
    "DRIVER_INITIALIZATION_DATA":
        "A miniport's entry points, for DxgkInitialize. Each older form is a prefix of this one; "
        "Version tells the port driver how far to read.",
    "KMDDOD_INITIALIZATION_DATA":
        "The entry points of a display-only miniport, for DxgkInitializeDisplayOnlyDriver.",
    "DxgkInitialize": "Called once, from DriverEntry.",
}

# What the tables do not list: macros that take arguments, rename, or stand for a string.
PROLOGUE = {
    "d3dukmdt.h": """\
#ifndef MAKEFOURCC
#define MAKEFOURCC(ch0, ch1, ch2, ch3)                                                             \\
    ((DWORD)(BYTE)(ch0) | ((DWORD)(BYTE)(ch1) << 8) | ((DWORD)(BYTE)(ch2) << 16) |                 \\
     ((DWORD)(BYTE)(ch3) << 24))
#endif

/* Nothing to do on x64: every client has 8-byte pointers and 8-byte alignment already. */
#define D3DKMT_ALIGN64
#define D3DKMT_PTR_HELPER(Name)
#define D3DKMT_PTR(Type, Name) Type Name
#define D3DKMT_PTR_INIT(Value) (Value)
""",
    "d3dkmdt.h": """\
/* A node ordinal as drivers report it: engine in the low half, physical adapter in the high. */
#define DXGKNODEMETADATA_GETNODEORDINAL(Ordinal) ((Ordinal) & 0xFFFF)
#define DXGKNODEMETADATA_GETPHYSICALADAPTERINDEX(Ordinal) (((Ordinal) >> 16) & 0xFFFF)
""",
    "d3dkmddi.h": """\
/* Names under which older sources know members that are reserved by now. */
#define DXGK_DEVICE_RESERVED0 Reserved0
#define DXGK_ALLOC_RESERVED0 Reserved0
#define DXGK_ALLOC_RESERVED1 Reserved1
#define DXGK_ALLOC_RESERVED2 Reserved2
#define DXGK_ALLOC_RESERVED3 Reserved3
#define DXGK_ALLOC_RESERVED4 Reserved4
#define DXGK_ALLOC_RESERVED5 Reserved5
#define DXGK_ALLOC_RESERVED6 Reserved6
#define DXGK_ALLOC_RESERVED7 Reserved7
#define DXGK_ALLOC_RESERVED8 Reserved8
#define DXGK_ALLOC_RESERVED9 Reserved9
#define DXGK_ALLOC_RESERVED10 Reserved10
#define DXGK_ALLOC_RESERVED11 Reserved11
#define DXGK_ALLOC_RESERVED12 Reserved12
#define DXGK_ALLOC_RESERVED13 Reserved13
#define DXGK_ALLOC_RESERVED14 Reserved14
#define DXGK_ALLOC_RESERVED15 Reserved15
""",
    "dispmprt.h": "",
    "d3dkmthk.h": """\
#define D3DKMT_SUBKEY_DX9 L"DX9"
#define D3DKMT_SUBKEY_OPENGL L"OpenGL"
""",
}

EPILOGUE = {
    "dispmprt.h": """\
#if DBG
#define DlDebugPrintEx(Arguments) DlDebugPrint Arguments
#else
#define DlDebugPrintEx(Arguments)
#endif
""",
    "d3dkmthk.h": """\
/* A snapshot holds NumOutputDuplContexts records for each video present source. */
#define GET_OUTPUT_DUPL_DEBUG_INFO_FROM_SNAPSHOT(Snapshot, VidPnSource, Index)                     \\
    ((Snapshot)->OutputDuplDebugInfos[(VidPnSource) * (Snapshot)->NumOutputDuplContexts + (Index)])
""",
}

# Rotations of present paths are numbered 1 to 16: content rotation (4) within offset rotation (4).
INLINE_BODIES = {
    "D3DKMDT_VPPR_GET_OFFSET_ROTATION": """\
    if (Rotation >= 1 && Rotation <= 16) {
        return (D3DKMDT_VIDPN_PRESENT_PATH_ROTATION)((Rotation - 1) / 4 + 1);
    }
    return Rotation;""",
    "D3DKMDT_VPPR_GET_CONTENT_ROTATION_PART": """\
    if (Rotation >= 5 && Rotation <= 16) {
        return (D3DKMDT_VIDPN_PRESENT_PATH_ROTATION)((Rotation - 1) % 4 + 1);
    }
    return Rotation;""",
    "D3DKMDT_VPPR_GET_CONTENT_ROTATION": """\
    if (Rotation >= 5 && Rotation <= 16) {
        int part = (int)D3DKMDT_VPPR_GET_CONTENT_ROTATION_PART(Rotation);
        int offset = (int)D3DKMDT_VPPR_GET_OFFSET_ROTATION(Rotation);

        return (D3DKMDT_VIDPN_PRESENT_PATH_ROTATION)((part - 1 + offset - 1) % 4 + 1);
    }
    return Rotation;""",
}

# Gates that hold wherever these headers are used (x64 Windows ABI) or that a repeated, identical
# typedef satisfies.
MOOT_GATES = {
    "_WIN32", "_AMD64_ || _ARM64_", "!_NTOSP_",
    "!PHYSICAL_ADDRESS", "!PINTERFACE_REFERENCE", "!PINTERFACE_DEREFERENCE",
}


# --- when a declaration exists -----------------------------------------------------------------

def gate_expression(gate):
    """`DXGKDDI>=A || D3D_UMD>=B` in terms of the version macros."""
    terms = []
    for term in gate.split(" || "):
        macro, version = term.split(">=")
        name = f"{macro}_INTERFACE_VERSION"
        terms.append(f"{name} >= {name}_{version}")
    return "(" + " || ".join(terms) + ")"


def directive(word, cond):
    """`#if cond`, continued after an operator where it would be too long."""
    line = f"#{word} {cond}"
    if len(line) <= COLUMNS or " || " not in cond:
        return [line]
    first, second = line.rsplit(" || ", 1)
    return [f"{first} || \\", " " * (len(word) + 3) + second]


def condition(part, until=None):
    """The preprocessor condition under which `part` exists, or "" if always."""
    terms = []
    if part.get("since", "VISTA") != "VISTA":
        terms.append(f"(DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_{part['since']})")
    until = until or part.get("until")
    if until:
        terms.append(f"(DXGKDDI_INTERFACE_VERSION < DXGKDDI_INTERFACE_VERSION_{until})")
    gate = part.get("gate")
    if gate and gate not in MOOT_GATES and gate not in ("C", "C++"):
        terms.append(gate_expression(gate))
    return " && ".join(terms)


class Part:
    """Lines that exist under a condition, or alternatives by version (newest first)."""

    def __init__(self, alternatives):
        self.alternatives = alternatives  # [(condition, [line, ...]), ...]; "" = otherwise/always

    @property
    def shape(self):
        return [cond for cond, _ in self.alternatives]


def parts_of(element, emit):
    """The part for one member or constant, whose forms `emit(form)` writes."""
    variants = element.get("variants")
    if not variants:
        return Part([(condition(element), emit(element))])
    alternatives = []
    for index, variant in enumerate(reversed(variants)):
        form = {**element, **variant}
        oldest = index == len(variants) - 1
        if oldest and variant["since"] == element.get("outer_since", "VISTA"):
            alternatives.append(("", emit(form)))
        else:
            alternatives.append((condition(variant), emit(form)))
    return Part(alternatives)


def negation(cond):
    """The `until` condition that a single `since` condition leaves over."""
    return cond.replace(">=", "<") if cond.count(">=") == 1 and "&&" not in cond else None


def merge(parts):
    """Join neighbours that depend on the same version into one #if block."""
    merged = []
    for part in parts:
        last = merged[-1] if merged else None
        if last and last.shape == part.shape:
            for (_, mine), (_, new) in zip(last.alternatives, part.alternatives):
                mine.extend(new)
        elif last and len(last.shape) == 1 and last.shape[0] and part.shape == [last.shape[0], ""]:
            merged[-1] = Part([(last.shape[0], last.alternatives[0][1] + part.alternatives[0][1]),
                               part.alternatives[1]])
        elif last and len(last.shape) == 1 and last.shape[0] and len(part.shape) == 1 and \
                negation(part.shape[0]) == last.shape[0].replace(">=", "<") and \
                ">=" in part.shape[0]:
            last.alternatives[0][1].extend(part.alternatives[0][1])
        elif last and len(last.shape) == 1 and len(part.shape) == 1 and last.shape[0] and \
                negation(part.shape[0]) == last.shape[0]:
            # dropped at a version, replaced by something else from that version on
            merged[-1] = Part([part.alternatives[0], ("", last.alternatives[0][1])])
        else:
            merged.append(Part([(cond, list(lines)) for cond, lines in part.alternatives]))
    return merged


def conditional_lines(parts):
    lines = []
    for part in merge(parts):
        if part.shape == [""]:
            lines.extend(part.alternatives[0][1])
            continue
        for index, (cond, body) in enumerate(part.alternatives):
            if index == 0:
                lines.extend(directive("if", cond))
            elif cond:
                lines.extend(directive("elif", cond))
            else:
                lines.append("#else")
            lines.extend(body)
        lines.append("#endif")
    return lines


# --- how a declaration is written ----------------------------------------------------------------

def declarator(type_name, name):
    """`UINT *` `x` -> `UINT *x`."""
    if not name:
        return type_name
    return f"{type_name}{name}" if type_name.endswith("*") else f"{type_name} {name}"


def typedef_line(type_name, name):
    line = f"typedef {declarator(type_name, name)};"
    if len(line) <= COLUMNS:
        return [line]
    stars = type_name[len(type_name.rstrip("*")):]
    return [f"typedef {type_name.rstrip('*').rstrip()}", f"{INDENT}{stars}{name};"]


def parameter_list(prefix, params, variadic, suffix):
    """`prefix(params)suffix`, on one line if it fits, else one parameter a line."""
    texts = [declarator(p["type"], p.get("name", "")) for p in params]
    if variadic:
        texts.append("...")
    if not texts:
        texts = ["void"]
    line = f"{prefix}({', '.join(texts)}){suffix}"
    if len(line) <= COLUMNS:
        return [line]
    lines = [f"{prefix}("]
    lines += [f"{INDENT}{text}," for text in texts[:-1]]
    lines += [f"{INDENT}{texts[-1]}){suffix}"]
    return lines


def number(value, hexadecimal=False):
    if value < 0 and value <= -0x10000000:
        return f"(int)0x{value & 0xFFFFFFFF:08X}"
    if hexadecimal:
        return f"(int)0x{value & 0xFFFFFFFF:08X}" if value < 0 else f"0x{value:X}"
    return str(value)


def constant_value(constant, enum):
    value = constant["value"]
    if enum["underlying"] != "i32":
        return str(value) if value < 0x10000 else f"0x{value:08X}"
    if value == -1 and "FORCE" in constant["name"]:
        return "(int)0xFFFFFFFF"
    if value >= 0x10000 and (value & 0xFF == 0 or value == 0x7FFFFFFF):
        return f"0x{value:08X}"
    return number(value)


def enum_lines(element, c_typedefs):
    def emit(constant):
        return [f"{INDENT}{constant['name']} = {constant_value(constant, element)},"]

    constants = [{**c, "outer_since": element["since"]} for c in element["constants"]]
    body = conditional_lines([parts_of(c, emit) for c in constants])
    name = element["name"]
    tag = element["tag"]
    if element.get("gate") == "C++":
        base = c_typedefs[name]
        return [f"enum {name} : {base} {{"] + body + ["};"]
    if name or element.get("aliases"):
        names, extra = alias_names(element)
        head = f"typedef enum {tag} {{" if tag else "typedef enum {"
        return [head] + body + [f"}} {names};"] + extra
    head = f"enum {tag} {{" if tag else "enum {"
    return [head] + body + ["};"]


def alias_names(element):
    """Names for the declarator list, and typedefs that do not fit into it."""
    name = element["name"]
    names = [name] if name else []
    extra = []
    for alias in element.get("aliases", []):
        if alias["type"] == f"{name} *":
            names.append(f"*{alias['name']}")
        elif alias["type"] == name:
            names.append(alias["name"])
        else:
            extra.extend(typedef_line(alias["type"], alias["name"]))
    return ", ".join(names), extra


def has_bits(members):
    return any("bits" in m for m in members)


def record_head(kind, members, tag=""):
    words = [kind]
    if has_bits(members):
        words.append("DXGK_MS_STRUCT")
    if tag:
        words.append(tag)
    return " ".join(words) + " {"


def member_lines(member, depth, convention, outer_since):
    pad = INDENT * depth
    array = "".join(f"[{n or ''}]" for n in member.get("array", []))
    if "members" in member and "type" not in member:
        lines = [pad + record_head(member["kind"], member["members"])]
        lines += body_lines(member["members"], depth + 1, convention, outer_since)
        name = f" {member['name']}{array}" if member["name"] else ""
        lines.append(f"{pad}}}{name};")
        return lines
    if "params" in member:
        prefix = f"{pad}{declarator(member['returns'], f'({convention} *' + member['name'] + ')')}"
        texts = [declarator(p["type"], p.get("name", "")) for p in member["params"]] or ["void"]
        line = f"{prefix}({', '.join(texts)});"
        if len(line) <= COLUMNS:
            return [line]
        return [f"{prefix}("] + [f"{pad}{INDENT}{t}," for t in texts[:-1]] + \
               [f"{pad}{INDENT}{texts[-1]});"]
    if "bits" in member:
        name = f" {member['name']}" if member["name"] else ""
        return [f"{pad}{member['type']}{name} : {member['bits']};"]
    return [f"{pad}{declarator(member['type'], member['name'])}{array};"]


def body_lines(members, depth, convention, outer_since):
    parts = []
    for member in members:
        shown = {**member, "outer_since": outer_since}
        if shown.get("since") == outer_since:
            shown["since"] = "VISTA"
        parts.append(parts_of(shown, lambda form: member_lines(form, depth, convention,
                                                               member["since"])))
    return conditional_lines(parts)


def record_lines(element, convention):
    head = record_head(element["kind"], element["members"], element["tag"])
    body = body_lines(element["members"], 1, convention, element["since"])
    if not element["name"]:
        return [head] + body + ["};"]
    names, extra = alias_names(element)
    return [f"typedef {head}"] + body + [f"}} {names};"] + extra


def function_lines(element, convention):
    returns, name, form = element["returns"], element["name"], element["form"]
    variadic = element.get("variadic", False)
    if element.get("inline"):
        lines = parameter_list(f"static inline {declarator(returns, name)}", element["params"],
                               False, "")
        return lines + ["{"] + INLINE_BODIES[name].split("\n") + ["}"]
    if form == "pointer":
        prefix = f"typedef {declarator(returns, f'({convention} *{name})')}"
    elif form == "function":
        prefix = f"typedef {declarator(returns, f'{convention} {name}')}"
    else:
        prefix = declarator(returns, f"{convention} {name}")
    lines = parameter_list(prefix, element["params"], variadic, ";")
    for alias in element.get("aliases", []):
        alias_name = alias if isinstance(alias, str) else alias["name"]
        alias_type = f"{name} *" if isinstance(alias, str) else alias["type"]
        lines.extend(typedef_line(alias_type, alias_name))
    return lines


def macro_text(element, value):
    kind = element["type"]
    bits = 64 if kind.endswith("64") else 32
    suffix = {"i32": "", "u32": "U", "i64": "LL", "u64": "ULL"}[kind]
    if element.get("hex") or element["name"].startswith("D3D_UMD_INTERFACE_VERSION_"):
        text = f"0x{value & ((1 << bits) - 1):X}"
        if kind == "i32" and (value < 0 or value > 0x7FFFFFFF):
            return f"((int){text})"
        return text + suffix
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def macro_lines(element):
    def emit(form):
        return [f"#define {form['name']} {macro_text(element, form['value'])}"]

    shown = {**element, "outer_since": element["since"]}
    if not element.get("variants"):
        shown["since"] = "VISTA"
        shown.pop("gate", None)
    lines = conditional_lines([parts_of(shown, emit)])
    if element["name"] == "D3D_UMD_INTERFACE_VERSION":
        return ["#ifndef D3D_UMD_INTERFACE_VERSION",
                "#define D3D_UMD_INTERFACE_VERSION D3D_UMD_INTERFACE_VERSION_WDDM3_1", "#endif"]
    return lines


def guid_lines(element):
    a, b, c, d, e = element["value"].split("-")
    tail = [f"0x{(d + e)[i:i + 2]}" for i in range(0, 16, 2)]
    head = f"DEFINE_GUID({element['name']}, "
    line = f"{head}0x{a}, 0x{b}, 0x{c}, {', '.join(tail)});"
    if len(line) <= COLUMNS:
        return [line]
    return [f"DEFINE_GUID({element['name']},", f"{INDENT}0x{a}, 0x{b}, 0x{c}, {', '.join(tail)});"]


# --- one header ----------------------------------------------------------------------------------

class Block:
    """One declaration with what decides its surroundings."""

    def __init__(self, element, lines):
        self.lines = lines
        self.kind = element["kind"]
        self.pack = element.get("pack")
        self.condition = condition(element)
        self.language = element.get("gate") if element.get("gate") in ("C", "C++") else None
        # macros, plain typedefs and GUIDs stand in columns; everything else is set apart
        self.compact = self.kind in ("macro", "typedef", "guid") and len(lines) <= 2 and \
            not lines[0].startswith("/*")


def note_lines(text):
    line = f"/* {text} */"
    if len(line) <= COLUMNS:
        return [line]
    return ["/*"] + [f" * {part}" for part in textwrap.wrap(text, COLUMNS - 3)] + [" */"]


def default_version_lines():
    return ["#ifndef DXGKDDI_INTERFACE_VERSION",
            "#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM3_1",
            "#endif",
            "",
            "/* Whether a version is one of those that were released. */",
            "#define IS_OFFICIAL_DDI_INTERFACE_VERSION(Version) \\"]


def official_version_lines(versions):
    lines = default_version_lines()
    tests = [f"(Version) == DXGKDDI_INTERFACE_VERSION_{v}" for v in versions]
    for index, test in enumerate(tests):
        opening = "    (" if index == 0 else "     "
        ending = ")" if index == len(tests) - 1 else " || \\"
        lines.append(f"{opening}({test}){ending}")
    return lines


def blocks_of(elements, convention):
    c_typedefs = {e["name"]: e["type"] for e in elements
                  if e["kind"] == "typedef" and e.get("gate") == "C"}
    blocks = []
    for element in elements:
        kind = element["kind"]
        if element["name"] in IN_BASE:
            continue
        if kind in ("struct", "union"):
            lines = record_lines(element, convention)
        elif kind == "enum":
            lines = enum_lines(element, c_typedefs)
        elif kind == "typedef":
            array = "".join(f"[{n}]" for n in element.get("array", []))
            lines = typedef_line(element["type"], element["name"] + array)
        elif kind == "function":
            lines = function_lines(element, convention)
        elif kind == "macro":
            lines = macro_lines(element)
        elif kind == "guid":
            lines = guid_lines(element)
        else:
            raise ValueError(kind)
        if element["name"] in NOTES:
            lines = note_lines(NOTES[element["name"]]) + lines
        if element["name"] in INCLUDE_AFTER:
            lines += [""] + INCLUDE_AFTER[element["name"]].split("\n")
        blocks.append(Block(element, lines))
    return blocks


def align_macros(lines):
    """Set the values of consecutive one-line macros in a column."""
    out, run = [], []

    def flush():
        if run:
            width = max(len(line.split()[1]) for line in run)
            if width > 64:
                width = 0
            out.extend(f"#define {line.split(None, 2)[1].ljust(width)} {line.split(None, 2)[2]}"
                       for line in run)
            run.clear()

    for line in lines:
        if line.startswith("#define ") and not line.endswith("\\") and \
                "(" not in line.split()[1] and len(line.split()) > 2:
            run.append(line)
        else:
            flush()
            out.append(line)
    flush()
    return out


def lay_out(blocks):
    lines, cond, pack, language, last = [], "", None, None, None

    def close(what_cond, what_pack):
        nonlocal cond, pack
        if pack and what_pack != pack:
            lines.extend(["", "#pragma pack(pop)"])
            pack = None
        if cond and what_cond != cond:
            lines.extend(["", "#endif"])
            cond = ""

    for index, block in enumerate(blocks):
        before = (cond, pack)
        same = block.condition == cond
        close(block.condition, block.pack if same else None)
        if not same and block.condition:
            lines.extend([""] + directive("if", block.condition))
            cond = block.condition
        if block.pack and not pack:
            lines.extend(["", f"#pragma pack(push, {block.pack})"])
            pack = block.pack
        together = last is not None and last.compact and block.compact and \
            last.kind == block.kind and before == (cond, pack) and \
            not (block.language or last.language)
        if not together:
            lines.append("")
        if block.language == "C++":
            lines.append("#ifdef __cplusplus")
            lines.extend(block.lines)
            follows = blocks[index + 1].language if index + 1 < len(blocks) else None
            lines.append("#else" if follows == "C" else "#endif")
        elif block.language == "C":
            if last is not None and last.language == "C++":
                lines.pop()  # the blank line after #else
            else:
                lines.append("#ifndef __cplusplus")
            lines.extend(block.lines)
            lines.append("#endif")
        else:
            lines.extend(block.lines)
        last = block
    close("", None)
    return lines


def header_text(name, elements, versions):
    guard = "DXGK_WDK_" + name.upper().replace(".", "_")
    convention = "APIENTRY" if name == "d3dkmthk.h" else "NTAPI"
    lines = ["/* SPDX-License-Identifier: MIT */", "/*"]
    lines += [f" * {line}" for line in textwrap.wrap(ABOUT[name], COLUMNS - 3)]
    lines += [" *", " * Written by tools/gen_wdk.py from tests/abi/records.json; change those.", " */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [f"#include <{i}>" if i in ("ntddvdeo.h", "acpiioct.h") else f'#include "{i}"'
              for i in INCLUDES[name]]
    lines += [""]
    if name in EXPORTING:
        lines += ["/* The functions are visible even where the default visibility is hidden. */",
                  "#if !defined(_WIN32)", "#pragma GCC visibility push(default)", "#endif", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    blocks = blocks_of(elements, convention)
    if name == "d3dukmdt.h":
        split = next(i for i, e in enumerate(elements)
                     if not e["name"].startswith("DXGKDDI_INTERFACE_VERSION_"))
        lines += lay_out(blocks[:split])[1:] + [""] + official_version_lines(versions) + [""]
        split_umd = next(i for i, e in enumerate(elements[split:], split)
                         if e["name"] == "D3D_UMD_INTERFACE_VERSION") + 1
        lines += lay_out(blocks[split:split_umd])[1:] + [""]
        lines += PROLOGUE[name].rstrip("\n").split("\n")
        lines += lay_out(blocks[split_umd:])
    else:
        if PROLOGUE[name]:
            lines += PROLOGUE[name].rstrip("\n").split("\n")
        lines += lay_out(blocks)[0 if PROLOGUE[name] else 1:]
    if name in EPILOGUE:
        lines += [""] + EPILOGUE[name].rstrip("\n").split("\n")
    lines += ["", "#ifdef __cplusplus", "}", "#endif", ""]
    if name in EXPORTING:
        lines += ["#if !defined(_WIN32)", "#pragma GCC visibility pop", "#endif", ""]
    lines += [f"#endif /* {guard} */", ""]
    return "\n".join(align_macros(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    arguments = parser.parse_args()

    elements = json.loads(RECORDS.read_text())
    prefix = "DXGKDDI_INTERFACE_VERSION_"
    versions = [e["name"][len(prefix):] for e in elements if e["name"].startswith(prefix)]
    stale = []
    for name in ABOUT:
        text = header_text(name, [e for e in elements if e["header"] == name], versions)
        path = OUTPUT / name
        if arguments.check:
            if not path.exists() or path.read_text() != text:
                stale.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if stale:
        print("not up to date: " + ", ".join(stale), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
