#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write what the program has of its table of options (option_table.py). Usage: gen_options.py HEADER USAGE

HEADER gets macros that list the commands and, for each with options, the rows of its table; USAGE, a source in C, what --help prints."""
import pathlib
import sys
import textwrap

from option_table import Table

WIDTH = 110
NAME_COLUMN, TEXT_COLUMN = 11, 34
ENDING = "a value may follow its option after a space or after '='\n"


def macro_name(text):
    return text.upper().replace("-", "_")


def rows(command):
    """CLI_SETS("--strict", config.strict, 0) and the like, for each name of an option."""
    for option in command.options:
        refused = " | ".join("CLI_NOT_" + macro_name(name) for name in getattr(option, "not").split()) or "0"
        for name in option.names:
            if option.how() == "number":
                yield f'CLI_NUMBER("{name}", {", ".join(option.number.split())}, {refused})'
            else:
                yield f'CLI_{option.how().upper()}("{name}", {getattr(option, option.how())}, {refused})'


def header(table):
    lines = ["/* SPDX-License-Identifier: MIT */", "/* Made of src/cli/options.txt by tools/gen_options.py. */", "#ifndef DXGK_CLI_OPTION_TABLE_H", "#define DXGK_CLI_OPTION_TABLE_H", ""]
    lines += ["#define CLI_COMMANDS(COMMAND) \\"] + [f'    COMMAND("{command.name}", {command.function}) \\' for command in table.commands] + [""]
    for command in table.commands:
        if command.options:
            lines += [f"#define CLI_{macro_name(command.name)}_OPTIONS \\"] + [f"    {row}, \\" for row in rows(command)] + [""]
    lines += ["enum { /* commands that have no use for an option of another one whose options they take */"]
    lines += [f"    CLI_NOT_{macro_name(command.name)} = 1 << {number}," for number, command in enumerate(table.commands)]
    return "\n".join([*lines, "};", "", "#endif", ""])


def entry(name, text):
    """A name at its column, and a text beside it, or below where the name is long."""
    head = " " * NAME_COLUMN + name
    lines = textwrap.wrap(text, WIDTH - TEXT_COLUMN, break_on_hyphens=False, break_long_words=False)
    if len(head) >= TEXT_COLUMN - 1:
        lines.insert(0, "")
    return "\n".join((head.ljust(TEXT_COLUMN) if not i else " " * TEXT_COLUMN) + line for i, line in enumerate(lines)).replace(" \n", "\n") + "\n"


def options_text(options):
    return "".join(entry(", ".join(f"{name} {option.operand}" if option.operand else name for name in option.names), option.help.replace("`", "")) for option in options)


def also_text(table, command):
    if not command.also:
        return ""
    refused = table.refused(command)
    text = f"and the options of {command.also}" + (f", but for {', '.join(refused)}" if refused else "")
    return textwrap.indent(textwrap.fill(text, WIDTH - NAME_COLUMN, break_on_hyphens=False), " " * NAME_COLUMN) + "\n"


def block(table, command):
    words = [command.name, command.operand, command.needs, "[option ...]" if command.options or command.also else ""]
    head = "dxgkhost " + " ".join(word for word in words if word)
    text = textwrap.fill(command.brief, WIDTH - TEXT_COLUMN)
    return head + "\n" + textwrap.indent(text, " " * TEXT_COLUMN) + "\n" + options_text([option for option in command.options if not option.has("hidden")]) + also_text(table, command)


def ending(table):
    words = "; ".join(f"{status.name} {status.help}" for status in table.statuses)
    return ENDING + textwrap.fill("exit status: " + words, WIDTH + 10, subsequent_indent=" " * 13) + "\n"


def literal(text):
    return "\n".join(f'        "{line}\\n"' for line in text.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"').split("\n"))


def usage(table):
    lines = ["/* SPDX-License-Identifier: MIT */", "/* Made of src/cli/options.txt by tools/gen_options.py. */", '#include "cli/usage.h"', "",
             "const struct cli_usage_part cli_usage_parts[] = {"]
    for command in table.commands:
        lines += [f'    {{"{command.name}",', literal(block(table, command)) + "},"]
    lines += ["    {NULL,", literal("dxgkhost --version | [COMMAND] --help") + "},", "};", "", "const char cli_usage_end[] =", literal(ending(table)) + ";", ""]
    return "\n".join(lines)


def main():
    table = Table()
    pathlib.Path(sys.argv[1]).write_text(header(table), encoding="utf-8")
    pathlib.Path(sys.argv[2]).write_text(usage(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
