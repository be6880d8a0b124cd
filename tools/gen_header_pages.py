#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write manual pages of the public headers, from their comments. Usage: gen_header_pages.py FOLDER VERSION DATE HEADER...

Of each HEADER (include/dxgkhost/device.h), FOLDER/man7 gets a page with all that it declares, and FOLDER/man3
one for each function or few functions that share a comment; the others of these are links to it. A comment belongs to the
declarations that follow it up to the next comment or empty line; its first clause is what the page is named by.
A function without a comment is an error."""
import pathlib
import re
import sys

from roff import bold, code, escape, head, inner, see_also, sentences

TITLE3, TITLE7 = "Library Functions", "Headers of dxgkhost"
FUNCTION = re.compile(r"\b(dxgk_\w+)\(")
NAMED = re.compile(r"(?:struct|enum|union) (\w+) \{")
NOT_TOLD = re.compile(r'#\s*(?:ifndef DXGKHOST_|define DXGKHOST_|ifdef __cplusplus|if defined\(__GNUC__\)|else|endif|include|define DXGK_API)|extern "C"|\}$|struct \w+;$|__attribute__')
CALLED_BY = re.compile(r"^Called by (a|the same) client[:.]\s*")


class Group:
    """Declarations under one comment."""

    def __init__(self, comment):
        self.comment, self.declarations = comment, []

    def functions(self):
        return [FUNCTION.search(text)[1] for text in self.declarations if is_function(text)]

    def types(self):
        return [text for text in self.declarations if not is_function(text)]


def is_function(text):
    return "{" not in text and not text.startswith(("#", "typedef")) and FUNCTION.search(text) is not None


def comment_text(text):
    """Lines of a comment without its frame."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in text.strip()[2:-2].strip("*").strip("\n").split("\n")]
    return [line.rstrip() for line in lines]


def end_of_declaration(text, start):
    depth = 0
    for match in re.compile(r"/\*.*?\*/|[{};]", re.S).finditer(text, start):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
        elif match[0] == ";" and depth == 0:
            rest = re.compile(r"[ \t]*/\*.*?\*/", re.S).match(text, match.end())
            return rest.end() if rest and "\n" not in text[match.end():rest.start()] else match.end()
    raise SystemExit("a declaration without an end")


def read(path):
    """The comment at the head of a header, and its groups."""
    text = path.read_text(encoding="utf-8")
    at, top, groups, comment, group = 0, None, [], None, None
    while at < len(text):
        if text.startswith("/*", at):
            end = text.index("*/", at) + 2
            body = text[at:end]
            at = end
            if "SPDX" in body or re.match(r"/\* ----", body):
                continue
            if top is None:
                top = comment_text(body)
                continue
            comment, group = comment_text(body), None
            continue
        line_end = text.index("\n", at)
        line = text[at:line_end]
        if not line.strip():
            if text[at:at + 1] == "\n" and text[at - 1:at] == "\n":
                comment = group = None
            at = line_end + 1
            continue
        if NOT_TOLD.match(line.strip()):
            at = line_end + 1
            continue
        if line.startswith("#"):
            end = line_end
        else:
            end = end_of_declaration(text, at)
        if group is None:
            group = Group(comment or [])
            groups.append(group)
        group.declarations.append(text[at:end].strip())
        at = end
    return top or [], groups


def without_comments(text):
    return re.sub(r"[ \t]*/\*.*?\*/", "", text, flags=re.S)


def layout(declaration):
    """Lines of a declaration for a page: without comments and empty lines, a prototype in 76 columns."""
    text = without_comments(declaration).replace("DXGK_API ", "")
    if is_function(text):
        text = " ".join(text.split()).replace("* ", "*")
        parts = re.split(r"(?<=,) (?![^()]*\)\()", text)
        indent = " " * (text.index("(") + 1 if text.index("(") < 40 else 4)
        lines = [parts[0]]
        for part in parts[1:]:
            if len(lines[-1]) + len(part) < 76:
                lines[-1] += " " + part
            else:
                lines.append(indent + part)
        return lines
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def members(declaration):
    """(name, comment) of what is commented inside a structure or an enumeration."""
    match = NAMED.search(declaration)
    if not match:
        return
    body = declaration[match.end():declaration.rindex("}")]
    pending, tokens = [], re.findall(r"/\*.*?\*/|[^;,{}/]*\{[^{}]*\}[^;]*;|(?:\((?:[^()]|\([^()]*\))*\)|[^;,/(]|/(?!\*))+[;,]?", body, re.S)
    found = []
    for token in tokens:
        if token.startswith("/*"):
            words = " ".join(" ".join(comment_text(token)).split())
            line_start = body[:body.index(token)].rfind("\n")
            trailing = body[line_start + 1:body.index(token)].strip()
            if trailing and found:
                found[-1][1].append(words)
            else:
                pending.append(words)
        elif token.strip():
            name = re.search(r"\(\*(\w+)\)", token) or re.search(r"(\w+)(?:\[[^\]]*\])?\s*(?:=[^;,]*)?[;,]?\s*$", token.strip()) or re.search(r"(\w+)", token)
            found.append([name[1], pending])
            pending = []
    told = [(name, " ".join(words)) for name, words in found if words]
    return [(match[1], match[2]) if (match := re.match(r"`(\w+)`: (.*)", text)) else (name, text) for name, text in told]


def mark(text):
    """Options, names of the interface and constants are bold."""
    pattern = re.compile(r"`([^`]+)`|(?<![\w-])(--[a-z][\w-]*)|\b(dxgk_\w+|D3DKMT\w+|Dxgk(?:Ddi|Cb)\w+|DXGK_[A-Z_0-9]+)\b")
    parts, end = [], 0
    for match in pattern.finditer(text):
        parts += [inner(text[end:match.start()]), bold(match[1] or match[2] or match[3])]
        end = match.end()
    return "".join([*parts, inner(text[end:])])


def paragraphs(lines):
    """A comment: paragraphs; lines indented by four and more are code; "- " begins an item."""
    found, words, block, items = [], [], [], False

    def flush():
        nonlocal words, block
        if block:
            indent = min(len(line) - len(line.lstrip()) for line in block if line)
            found.extend([*([".PP"] if found else []), *code([line[indent:] for line in block])])
        if words:
            found.extend([*([".PP"] if found and not found[-1].startswith(".IP") else []), *sentences(" ".join(words), mark)])
        words, block = [], []

    for line in [*lines, ""]:
        if line.startswith("    ") and line.strip():
            if words:
                flush()
            block.append(line)
        elif re.match(r"\s*- ", line):
            flush()
            found.append(".IP \\(bu 3")
            words, items = [line.strip()[2:]], True
        elif not line.strip():
            flush()
            items = False
        else:
            if block:
                flush()
            if items and not line.startswith("  "):
                flush()
                items = False
            words.append(line.strip())
    return found


def member_lines(declarations):
    lines = []
    for declaration in declarations:
        for name, text in members(declaration) or []:
            lines += [".TP", bold(name), *sentences(text[0].upper() + text[1:], mark)]
    return lines


def brief(group):
    text = CALLED_BY.sub("", " ".join(group.comment).strip())
    text = re.split(r"[.:;(](?:\s|$)| \(", text)[0].strip()
    text = text.replace("`", "")
    return text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def function_page(header, group, version, date):
    names = group.functions()
    lines = [*head(names[0], 3, date, version, TITLE3), ".SH NAME", f"{', '.join(map(escape, names))} \\- {escape(brief(group))}", ".SH SYNOPSIS", ".nf", bold(f"#include <dxgkhost/{header.name}>"), ".PP"]
    for declaration in group.declarations:
        lines += [re.sub(r"^([.'])", r"\\&\1", bold(line)) for line in layout(declaration)]
    lines += [".fi", ".SH DESCRIPTION", *paragraphs(group.comment), *member_lines(group.types())]
    return lines + see_also([("dxgkhost", 1), (page_name(header), 7)])


def page_name(header):
    return f"dxgkhost_{header.name}"


def title_of(group):
    names = [match[1] for text in group.declarations if (match := NAMED.search(text))] + group.functions()
    names += [match[1] for text in group.declarations if (match := re.match(r"#define (\w+)", text) or re.search(r"\(\*(\w+)\)\(", text) if text.startswith(("#define", "typedef")) else None)]
    return ", ".join(names) or "others"


def header_page(header, top, groups, others, version, date):
    name = page_name(header)
    first = re.split(r"[.:](?:\s|$)", " ".join(line.strip() for line in top))[0]
    lines = [*head(name, 7, date, version, TITLE7), ".SH NAME", f"{escape(name)} \\- {escape(first[0].lower() + first[1:] if first[1].islower() else first)}", ".SH SYNOPSIS", bold(f"#include <dxgkhost/{header.name}>"),
             ".SH DESCRIPTION", *paragraphs(top), ".SH DECLARATIONS"]
    for group in groups:
        if group.functions() and header.name != "device.h":
            continue
        lines += [f".SS {escape(title_of(group))}", *([*paragraphs(group.comment), ".PP"] if group.comment else [])]
        lines += code([line for declaration in group.declarations for line in layout(declaration)]) + member_lines(group.types())
    functions = [function for group in groups for function in group.functions()] if header.name != "device.h" else []
    if functions:
        lines += [".SS Functions", ".nf", *(f"{bold(function)}(3)" for function in functions), ".fi"]
    return lines + see_also([("dxgkhost", 1)] + [(page_name(other), 7) for other in others if other != header])


def main():
    folder = pathlib.Path(sys.argv[1])
    version, date = sys.argv[2:4]
    headers = [pathlib.Path(name) for name in sys.argv[4:]]
    for section in ("man3", "man7"):
        (folder / section).mkdir(parents=True, exist_ok=True)
    for header in headers:
        top, groups = read(header)
        (folder / "man7" / f"{page_name(header)}.7").write_text("\n".join(header_page(header, top, groups, headers, version, date)) + "\n", encoding="utf-8")
        for group in groups:
            names = group.functions()
            if not names or header.name == "device.h":
                continue
            if not group.comment:
                raise SystemExit(f"{header.name}: {names[0]} has no comment")
            (folder / "man3" / f"{names[0]}.3").write_text("\n".join(function_page(header, group, version, date)) + "\n", encoding="utf-8")
            for name in names[1:]:
                (folder / "man3" / f"{name}.3").write_text(f".so man3/{names[0]}.3\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
