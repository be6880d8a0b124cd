#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual pages of a build: mandoc and groff find nothing, and all is told. Usage: manual.py BUILD. Exit status 77: skipped, for
neither of the two programs is there."""
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tools"))
import option_table  # noqa: E402


def fail(text):
    print(text)
    sys.exit(1)


def plain(page):
    """A page as text."""
    return re.sub(r"\\f[BIRP]", "", page.read_text(encoding="utf-8")).replace("\\-", "-").replace("\\e", "\\")


def commands(folder):
    """Each command and option has its page and its heading, and no other one has."""
    table = option_table.Table()
    named = {f"dxgkhost-{command.name}" for command in table.commands} | {"dxgkhost"}
    there = {page.stem for page in folder.glob("man1/dxgkhost*.1")}
    if named != there:
        fail(f"pages of commands: {sorted(named ^ there)}")
    overview = plain(folder / "man1" / "dxgkhost.1")
    for command in table.commands:
        text = plain(folder / "man1" / f"dxgkhost-{command.name}.1")
        heads = re.findall(r"^\.TP\n(.*)$", text, re.M)
        want = [", ".join(f"{name} {option.operand}" if option.operand else name for name in option.names) for option in command.options if not option.has("hidden")]
        missing = [head for head in want if head not in heads]
        more = [head for head in heads if head.startswith("-") and head not in want]
        if missing or more:
            fail(f"dxgkhost-{command.name}.1: no {missing}, and {more}")
        for option in table.refused(command):
            if option not in text:
                fail(f"dxgkhost-{command.name}.1 does not say that {option} is not taken")
        if f"{command.name} {command.operand}".strip() not in overview or f"dxgkhost-{command.name}(1)" not in overview:
            fail(f"dxgkhost.1 does not tell {command.name}")


def library(folder):
    """Each function of the headers has a page, which tells all of its comment; each type is in that of its header."""
    for header in sorted((SOURCE / "include" / "dxgkhost").glob("*.h")):
        text = header.read_text(encoding="utf-8")
        page = folder / "man7" / f"dxgkhost_{header.name}.7"
        told = plain(page) if page.exists() else ""
        pages = told
        for name in re.findall(r"^DXGK_API [^;]*?\b(dxgk_\w+)\(", text, re.M):
            own = folder / "man3" / f"{name}.3"
            if not own.exists():
                fail(f"{header.name}: {name} has no page")
            link = re.match(r"\.so (\S+)", own.read_text(encoding="utf-8"))
            own = folder / link[1] if link else own
            if not re.search(rf"\b{name}\(", plain(own).split(".SH DESCRIPTION")[0]) or name not in plain(own).split(".SH SYNOPSIS")[0] or f"{name}(3)" not in told:
                fail(f"{own} or {page} does not name {name}")
            pages += plain(own)
        for name in re.findall(r"^(?:struct|enum) (\w+) \{", text, re.M):
            if not re.search(rf"(?:struct|enum) {name} {{", pages):
                fail(f"{header.name}: {name} is on no page")
        words = "".join(re.sub(r"\W", "", line) for line in pages.splitlines() if not re.match(r"\.\w", line))
        for comment in re.findall(r"/\*(?! ----)(.*?)\*/", text.split("#include", 1)[1], re.S):
            for line in comment.splitlines():
                bare = re.sub(r"\W", "", line)
                if len(bare) > 20 and bare.lower() not in words.lower():
                    fail(f"{header.name}: no page has {line}")


def lint(folder):
    pages = [page for page in sorted(folder.glob("man?/*")) if not page.read_text(encoding="utf-8").startswith(".so ")]
    programs = [(name, *options) for name, *options in (("mandoc", "-Tlint", "-W", "warning"), ("groff", "-man", "-ww", "-z", "-Tutf8")) if shutil.which(name)]
    for command in programs:
        done = subprocess.run([*command, *pages], capture_output=True, text=True, check=False)
        if done.returncode or done.stdout or done.stderr:
            fail(f"{command[0]}: {done.stdout}{done.stderr}")
    if shutil.which("lexgrog"):  # the names by which a page is found
        done = subprocess.run(["lexgrog", *pages], capture_output=True, text=True, check=False)
        if done.returncode:
            fail(f"lexgrog: {done.stdout}{done.stderr}")
    return len(pages), [command[0] for command in programs]


def main():
    folder = pathlib.Path(sys.argv[1]) / "man"
    commands(folder)
    library(folder)
    count, programs = lint(folder)
    if not programs:
        print("skipped: neither mandoc nor groff is installed")
        return 77
    print(f"{count} pages, clean for {' and '.join(programs)}")
    return 0


sys.exit(main())
