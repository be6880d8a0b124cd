#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read src/cli/options.txt, the table of the commands of dxgkhost and their options. Usage: option_table.py: print the names

A line in the first column begins an entry:

    program NAME               the program itself
    command NAME OPERANDS      what stands behind the name of the command
    option NAMES OPERAND       of the program or the command above; names are separated by ", "; without an operand it is a switch
    status NUMBER              an exit status

Lines below are indented by four: a key and its value, which may go on in lines that are indented by eight.

    brief, about               of a program or a command: a line, and the text of its manual page
    example                    of both: a command line (again for each)
    function                   of a command: the routine in C
    also NAME                  of a command: it takes the options of that one, too
    needs                      of a command: an option that must be there
    help, more                 of an option or a status: a text for --help, and what the manual page tells besides
    sets MEMBER                of a switch: the bool in the structure of the command's options
    path MEMBER                of an option: the string, which must not be empty
    number MEMBER LEAST MOST   of an option: the uint64_t
    parser ROUTINE             of an option: who takes its value
    not COMMAND ...            of an option: commands that have no use for it, although they take those of its command
    words WORD ...             of an option: what may follow its value behind commas
    hidden                     of an option: it is for the program itself, and is told nowhere

In texts, an empty line begins a paragraph, and "* NAME" an item whose text is indented by four more; `words` between backticks are typed.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src" / "cli" / "options.txt"
KEYS = {
    "program": {"brief", "about", "example"},
    "command": {"brief", "about", "example", "function", "also", "needs"},
    "option": {"help", "more", "sets", "path", "number", "parser", "not", "words", "hidden"},
    "status": {"help", "more"},
}
HOW = ("sets", "path", "number", "parser")


class Entry:
    def __init__(self, kind, rest, place):
        self.kind, self.place = kind, place
        self.values = {}
        self.options = []
        if kind == "option":
            match = re.fullmatch(r"((?:-[\w-]+, )*-[\w-]+)(?: (\S.*))?", rest)
            if not match:
                raise SystemExit(f"{place}: no option: {rest}")
            self.names, self.operand = match[1].split(", "), match[2]
            self.name = self.names[-1]
        else:
            self.name, _, self.operand = rest.partition(" ")

    def __getattr__(self, key):
        """brief, help, ...: the value as one line; "" where there is none."""
        if key.startswith("__"):
            raise AttributeError(key)
        return " ".join(" ".join(self.lines(key)).split())

    def lines(self, key):
        return self.values.get(key, [[]])[0]

    def has(self, key):
        return key in self.values

    def every(self, key):
        return [" ".join(lines) for lines in self.values.get(key, [])]

    def blocks(self, key):
        """The text as ("", paragraph) and (NAME, text of the item)."""
        found, name, words = [], "", []
        for line in [*self.lines(key), ""]:
            item = re.match(r"\* (.*)", line)
            if (not line.strip() or item) and words:
                found.append((name, " ".join(words)))
                name, words = "", []
            if item:
                name = item[1]
            elif line.strip():
                words.append(line.strip())
        return found

    def how(self):
        return next((key for key in HOW if self.has(key)), None)


class Table:
    def __init__(self, path=TABLE):
        self.program, self.commands, self.statuses = None, [], []
        self.read(path)
        self.check()

    def read(self, path):
        entry = owner = lines = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            place = f"{path.name}:{number}"
            if line.startswith("#"):
                continue
            if not line.strip():
                if lines:
                    lines.append("")
                continue
            kind, _, rest = line.strip().partition(" ")
            if not line.startswith(" "):
                if kind not in KEYS:
                    raise SystemExit(f"{place}: {kind} is no kind of entry")
                entry, lines = Entry(kind, rest, place), None
                if kind == "option":
                    owner.options.append(entry)
                elif kind == "status":
                    self.statuses.append(entry)
                elif kind == "program":
                    self.program = owner = entry
                else:
                    self.commands.append(entry)
                    owner = entry
            elif line.startswith("        "):
                if lines is None:
                    raise SystemExit(f"{place}: text of nothing")
                lines.append(line[8:])
            else:
                if entry is None or kind not in KEYS[entry.kind]:
                    raise SystemExit(f"{place}: {kind} is no key here")
                lines = [rest] if rest else []
                entry.values.setdefault(kind, []).append(lines)

    def check(self):
        for command in self.commands:
            if not command.function or not command.brief or (command.also and not self.command(command.also)):
                raise SystemExit(f"{command.place}: {command.name} lacks something")
            seen = set()
            for option in command.options:
                ways = [key for key in HOW if option.has(key)]
                if len(ways) != 1 or (option.how() == "sets") == bool(option.operand) or not (option.help or option.has("hidden")):
                    raise SystemExit(f"{option.place}: {option.name} lacks something, or has too much")
                if seen & set(option.names):
                    raise SystemExit(f"{option.place}: {option.name} is there twice")
                seen |= set(option.names)
                if any(not self.command(name) for name in getattr(option, "not").split()):
                    raise SystemExit(f"{option.place}: no such command")

    def command(self, name):
        return next((command for command in self.commands if command.name == name), None)

    def refused(self, command):
        """Names of options of the command whose options this one takes, too, that it has no use for."""
        return [option.name for option in self.command(command.also).options if command.name in getattr(option, "not").split()] if command.also else []

    def taken(self, command):
        """Options that a user may give: its own first."""
        own = [option for option in command.options if not option.has("hidden")]
        names = {name for option in own for name in option.names} | set(self.refused(command))
        return own + [option for option in (self.command(command.also).options if command.also else ()) if option.name not in names]


if __name__ == "__main__":
    for one in Table().commands:
        print(one.name, *(option.name for option in one.options))
    sys.exit(0)
