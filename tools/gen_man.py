#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the manual pages of dxgkhost and its commands of their table (option_table.py). Usage: gen_man.py FOLDER VERSION DATE

FOLDER/man1 gets dxgkhost.1, and dxgkhost-COMMAND.1 for each command."""
import pathlib
import re
import sys

from option_table import Table
from roff import bold, code, escape, head, inner, italic, quoted, see_also, sentences

TITLE = "User Commands"
OTHERS = (("dxgk-case-overlay", 1), ("dxgk-merge-explore", 1), ("dxgk-tmh", 1))
VALUES = ("A value may follow its option after a space or after `=`. A SIZE is a number of bytes, with `K`, `M`, `G` or `T` for powers of 1024. A TIME is a number of seconds,"
          " or one with its unit (`ns`, `us`, `ms`, `s`, `m`, `h`).")
FILES = "Pages of docs/ that are named here are in /usr/share/doc/dxgkhost where dxgkhost is installed as a package of Debian."
WORDS = {"key", "value"}  # of operands in small letters that stand for something else


def marker(operands):
    """Sets names of operands, options and `words` in their types, and escapes all."""
    names = sorted({word for text in operands for word in re.findall(r"[A-Z][A-Za-z.]*", text or "")} - {"D"}, key=len, reverse=True)
    pattern = re.compile(r"`([^`]+)`|(?<![\w/-])(--?[a-z][\w=-]*)|\b(dxgkhost-[a-z-]+\(\d\))|(?<![\w/.-])(" + "|".join(map(re.escape, names or ["\0"])) + r")(?![\w.-]*\w)")

    def mark(text):
        parts, end = [], 0
        for match in pattern.finditer(text):
            parts.append(inner(text[end:match.start()]))
            if match[3]:
                name, section = match[3].split("(")
                parts.append(f"{bold(name)}({section}")
            else:
                parts.append(italic(match[4]) if match[4] else bold(match[1] or match[2]))
            end = match.end()
        return "".join([*parts, inner(text[end:])])

    return mark


def operand(text):
    """What stands for something else slanted, what is typed bold."""
    def part(match):
        word = match[0]
        if re.fullmatch(r"[\[\]|=@,./:]+|\.\.\.", word):
            return "\\fR" + inner(word) + "\\fP"
        return italic(word) if word in WORDS or re.match(r"[A-Z]", word) else bold(word)
    return re.sub(r"\.\.\.|[\[\]|=@,/:]+|[\w-]+=?|\.[a-z]+|.", lambda m: m[0] if m[0] == " " else part(m), text)


def paragraphs(entry, key, mark):
    lines, first = [], True
    inside = False
    for name, text in entry.blocks(key):
        if name:
            lines += [*([] if inside else [".RS"]), ".TP", ".B " + escape(name), *sentences(text, mark)]
            inside = True
        else:
            if inside:
                lines.append(".RE")
                inside = False
            lines += [*([] if first else [".IP" if key == "more" else ".PP"]), *sentences(text, mark)]
        first = False
    return lines + ([".RE"] if inside else [])


def sentence(text):
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def option_lines(options, mark):
    lines = []
    for option in options:
        names = ", ".join(bold(name) + (" " + operand(option.operand) if option.operand else "") for name in option.names)
        lines += [".TP", names, *sentences(sentence(option.help), mark), *paragraphs(option, "more", mark)]
    return lines


def examples(entry):
    if not entry.has("example"):
        return []
    return [".SH EXAMPLES", *code(entry.every("example"))]


def statuses(table, mark):
    lines = [".SH EXIT STATUS"]
    for status in table.statuses:
        lines += [".TP", bold(status.name), *sentences(sentence(status.help) + (" " + status.more if status.more else ""), mark)]
    return lines + [".PP", "The driver's fault comes first."]


def command_page(table, command, version, date):
    name = f"dxgkhost-{command.name}"
    mark = marker([command.operand, *(option.operand for option in table.taken(command)), "SIZE TIME"])
    words = [operand(part) for part in (command.operand, command.needs, "[option ...]" if command.options or command.also else "") if part]
    lines = [*head(name, 1, date, version, TITLE), ".SH NAME", f"{escape(name)} \\- {escape(command.brief)}", ".SH SYNOPSIS", bold(f"dxgkhost {command.name}") + " " + " ".join(words).replace(bold("option"), italic("option")),
             ".SH DESCRIPTION", *paragraphs(command, "about", mark)]
    own = [option for option in command.options if not option.has("hidden")]
    if own or command.also:
        lines += [".SH OPTIONS", *sentences(VALUES, marker(["SIZE TIME"])), *option_lines(own, mark)]
    if command.also:
        refused = table.refused(command)
        text = f"The options of dxgkhost-{command.also}(1) are taken, too" + (", but for " + ", ".join(refused) if refused else "") + "."
        lines += [".PP", *sentences(text, mark)]
    lines += [*statuses(table, marker(["N"])), *examples(command)]
    pages = [("dxgkhost", 1)] + [("dxgkhost-" + other.name, 1) for other in table.commands if other is not command]
    return lines + see_also(sorted(pages))


def program_page(table, version, date):
    program = table.program
    mark = marker(["COMMAND"])
    lines = [*head(program.name, 1, date, version, TITLE), ".SH NAME", f"{program.name} \\- {escape(program.brief)}", ".SH SYNOPSIS", f"{bold('dxgkhost')} {italic('COMMAND')} [{italic('argument')} ...]", ".br",
             f"{bold('dxgkhost')} [{italic('COMMAND')}] {bold('--help')}", ".br", f"{bold('dxgkhost')} {bold('--version')}", ".SH DESCRIPTION", *paragraphs(program, "about", mark), ".SH COMMANDS"]
    for command in table.commands:
        lines += [".TP", bold(command.name) + " " + operand(command.operand), *sentences(sentence(command.brief), mark), f"See {bold('dxgkhost-' + command.name)}(1)."]
    lines += [".SH OPTIONS", *option_lines(program.options, mark), *statuses(table, marker(["N"])), ".SH FILES", *sentences(FILES, mark), *examples(program)]
    return lines + see_also(sorted([("dxgkhost-" + command.name, 1) for command in table.commands] + [*OTHERS, ("dxgkhost_device.h", 7), ("dxgkhost_dxgkhost.h", 7)]))


def main():
    folder = pathlib.Path(sys.argv[1]) / "man1"
    version, date = sys.argv[2:4]
    table = Table()
    pages = {"dxgkhost": program_page(table, version, date)}
    pages.update({f"dxgkhost-{command.name}": command_page(table, command, version, date) for command in table.commands})
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in pages.items():
        (folder / f"{name}.1").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
