#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tutorial as a reader follows it. Usage: tutorial.py PART BUILD | tutorial.py --write PART FOLDER

The second form writes the files as they are after a part. The first is a test. In an empty folder, with BUILD installed, it writes the files that the parts of docs/tutorial show up to this one, makes the changes that they
show, runs the commands of this part, and compares what they print with what the part says. Exit status 0: it is as the part says; 77: it
cannot run here, and the last line says why.

What it reads of Markdown are fenced blocks:
- of C, Lua or CMake, after a line that ends with `name`: is that file;
- of diff, after such a line: changes of that file. Lines that begin with @@ part them; each must fit in exactly one place;
- of sh: commands. <!-- needs: PROGRAM --> before it: only where that is installed; <!-- not run: WHY -->: not at all;
- of text, after one of sh: what that prints, both streams. A line "..." stands for any lines; numbers that a run counts or measures may be
  others, and so may be the seed that a campaign finds, which then takes the place of the shown one in what follows."""
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
TUTORIAL = SOURCE / "docs" / "tutorial"
LANGUAGES = ("c", "lua", "cmake", "diff")  # of files
EXACT = ("seed", "violations", "leaks", "result", "recovery")  # rows of a run that are compared as they are
VARIES = ((r"\d+ ms wall", "N ms wall"), (r"^[\d.]+ s, \d+ (\w+) a second", r"N s, N \1 a second"), (r"\+0x[0-9a-f]+", "+N"),
          (r"0x[0-9a-fA-F]{6,}", "N"), (r"(at|since|ago|for) \d+\.\d+ ms", r"\1 N ms"), (r"on processor \d", "on processor N"),
          (r"[1-9]\d* failed in [1-9]\d* ways?", "N failed"), (r"(first with seed )\d+, \d+ seeds? in all", r"\1N"),
          (r"(--seed |seed  +)\d+", r"\1N"), (r"call \d+ \(", "call N ("), (r"\b(request|id|fence) \d+", r"\1 N"), (r"[1-9]\d* times in all", "N times"), (r"\d+ preemptions", "N preemptions"))


class Failure(Exception):
    pass


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


class Block:
    def __init__(self, line, language, text, before, comment):
        self.line, self.language, self.text, self.comment = line, language, text, comment
        named = re.search(r"`([^` ]+)`[^`]*:$", before)
        self.file = named.group(1) if named else None


def blocks(page):
    """The fenced blocks of a page, in order."""
    found, before, comment, fence = [], "", "", None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if fence:
            if line == "```":
                found.append(Block(fence[0], fence[1], "".join(fence[2]), before, comment))
                before, comment, fence = "", "", None
            else:
                fence[2].append(line + "\n")
        elif line.startswith("```"):
            fence = (number, line[3:], [])
        elif line.startswith("<!-- "):
            comment = line
        elif line:
            before, comment = line, ""
    return found


def changed(text, changes):
    for change in re.split(r"^@@.*\n", changes, flags=re.M):
        lines = change.splitlines(keepends=True)
        if not lines:
            continue
        lines = [line if line != "\n" else " \n" for line in lines]
        old = "".join(line[1:] for line in lines if line[0] in " -")
        if text.count(old) != 1:
            raise Failure(f"these lines are in {text.count(old)} places, not in one:\n{old}")
        text = text.replace(old, "".join(line[1:] for line in lines if line[0] in " +"))
    return text


def write(folder, block):
    path = folder / block.file
    if block.language == "diff":
        path.write_text(changed(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")


def plain(line):
    """A line without what differs from run to run, and from one version of the host or a compiler to the next."""
    row = re.match(r"  (\w[\w/ -]*?)  +\S", line)
    if row and row.group(1) not in EXACT:
        line = re.sub(r"\d+(\.\d+)?", "N", line)
    for pattern, by in VARIES:
        line = re.sub(pattern, by, line)
    return line.rstrip()


def compare(where, expected, printed):
    """Are the lines those that are expected? "..." are any."""
    wanted, seen = [plain(line) for line in expected.splitlines()], [plain(line) for line in printed.splitlines()]
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in wanted)
    if not re.fullmatch(pattern, "".join(line + "\n" for line in seen)):
        difference = "\n".join(difflib.unified_diff(wanted, seen, "the tutorial", "printed", lineterm=""))
        raise Failure(f"{where}: prints something else:\n{difference}\n\nAs it was printed:\n{printed}")


class Reader:
    def __init__(self, build, folder):
        self.home = pathlib.Path(folder)
        self.seeds = {}
        self.folder = self.home / "brush"
        self.folder.mkdir()
        prefix = self.home / "dxgkhost"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
        library = next(prefix.glob("lib*/**/libdxgkhost.so")).parent
        self.environment = dict(os.environ, HOME=folder, PATH=f"{prefix / 'bin'}:{os.environ['PATH']}", PKG_CONFIG_PATH=str(library / "pkgconfig"),
                                CMAKE_PREFIX_PATH=str(prefix), NO_COLOR="1", LC_ALL="C.UTF-8")

    def seed(self, command):
        return re.sub(r"--seed (\d+)", lambda match: "--seed " + self.seeds.get(match.group(1), match.group(1)), command)

    def run(self, where, command, expected):
        command = self.seed(command)
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300, check=False)
        if expected is None:
            if done.returncode != 0:
                raise Failure(f"{where}: exit status {done.returncode}\n{done.stdout}")
            return
        compare(where, expected, done.stdout)
        shown, found = (re.findall(r"first with seed (\d+)", text) for text in (expected, done.stdout))
        self.seeds.update(zip(shown, found))


def works(reader, program):
    if program == "dxgkhost-fuzz":
        return any((reader.home / "dxgkhost").glob("lib*/**/" + program))
    if not shutil.which(program):
        return False
    if program != "gdb":
        return True
    words = ["gdb", "-nx", "-batch", "-ex", "python print(6 * 7)", "-ex", "run", "--args", "/bin/true"]
    said = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
    return "42" in said and "exited normally" in said


def follow(reader, page):
    parts = blocks(page)
    for i, block in enumerate(parts):
        where = f"{page.name}:{block.line}"
        if block.file and block.language in LANGUAGES:
            try:
                write(reader.folder, block)
            except Failure as failure:
                raise Failure(f"{where}: {block.file}: {failure}") from failure
        elif block.language == "sh" and "not run" not in block.comment:
            needs = re.match(r"<!-- needs: (\S+) -->", block.comment)
            if needs and not works(reader, needs.group(1)):
                print(f"{where}: not run, as there is no {needs.group(1)} that works")
                continue
            printed = parts[i + 1].text if i + 1 < len(parts) and parts[i + 1].language == "text" else None
            reader.run(where, block.text, printed)
            print(f"{where}: as it says")


def write_files(folder, pages):
    for page in pages:
        for block in blocks(page):
            if block.file and block.language in LANGUAGES:
                write(folder, block)


def main():
    pages = sorted(TUTORIAL.glob("[0-9][0-9]-*.md"))
    if sys.argv[1] == "--write":
        write_files(pathlib.Path(sys.argv[3]), pages[: int(sys.argv[2])])
        return
    part, build = int(sys.argv[1]), sys.argv[2]
    if part == 8 and not (shutil.which("clang") and shutil.which("lld-link") and shutil.which("x86_64-w64-mingw32-gcc")):
        skip("Windows images want clang, lld-link and x86_64-w64-mingw32-gcc")
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(build, folder)
        try:
            write_files(reader.folder, pages[: part - 1])
            if (reader.folder / "CMakeLists.txt").exists():
                reader.run("before", "cmake -B build -DCMAKE_BUILD_TYPE=Debug", None)
            follow(reader, pages[part - 1])
        except Failure as failure:
            print(failure)
            sys.exit(1)


if __name__ == "__main__":
    main()
