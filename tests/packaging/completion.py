#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bash's completion of dxgkhost, asked as bash asks it, and typed at a terminal. Usage: completion.py BUILD. Exit status 77: skipped."""
import os
import pathlib
import pty
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tools"))
import option_table  # noqa: E402

ASK = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(stale); _dxgkhost; printf "%s\\n" "${COMPREPLY[@]}"'


def fail(text):
    print(text)
    sys.exit(1)


class Shell:
    def __init__(self, build, folder):
        self.program, self.script, self.folder = build / "dxgkhost", build / "completions" / "dxgkhost", folder

    def ask(self, *words):
        """What is offered for the last word; bash would have made words of what is between '='."""
        done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", self.script, self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            fail(f"{words}: {done.returncode}: {done.stderr}")
        return sorted(done.stdout.split("\n")[:-1]) if done.stdout != "\n" else []

    def expect(self, words, *offered):
        found = self.ask(*words)
        if found != sorted(offered):
            fail(f"{words}: {found}, not {sorted(offered)}")

    def typed(self, keys):
        """The words of the line, as bash has completed it after these keys."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {"PATH": f"{self.program.parent}:{os.environ['PATH']}", "TERM": "dumb", "LC_ALL": "C.UTF-8", "HISTFILE": ""})
        words = self.folder / "typed"
        os.write(terminal, f"source {shlex.quote(str(self.script))}; dxgkhost() {{ printf '<%s>' \"$@\" >.typed; mv .typed typed; }}\n{keys}\nexit\n".encode())
        end, said = time.monotonic() + 30, b""
        while not words.exists() and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    said += os.read(terminal, 4096)
                except OSError:
                    break
        os.close(terminal)
        os.waitpid(child, 0)
        if not words.exists():
            fail(f"{keys!r}: {said}")
        text = words.read_text(encoding="utf-8")
        words.unlink()
        return text


def options(shell):
    """All options of the table that a command takes, and no other."""
    table = option_table.Table()
    shell.expect([""], *(command.name for command in table.commands), "--help", "--version")
    shell.expect(["ex"], "explore", "explain")
    for command in table.commands:
        operands = ["x"] * len(command.operand.split())
        shell.expect([command.name, *operands, "-"], "--help", *(name for option in table.taken(command) for name in option.names))
    shell.expect(["run", "--check"], "--checks", "--check-page-tables")
    shell.expect(["explore", "a", "b", "--seed"], "--seeds")
    shell.expect(["fuzz", "--serv"])
    shell.expect(["nonsense", "-"])


def values(shell):
    shell.expect(["run", "--checks", ""], "plain", "full")
    shell.expect(["run", "--checks", "=", "f"], "full")
    shell.expect(["run", "--checks", "="], "plain", "full")
    shell.expect(["inspect", "--windows", "o"], "observed")
    shell.expect(["run", "--iommu", "re"], "remap")
    shell.expect(["run", "--iommu", "remap,"], *("remap," + word for word in ("flags=", "present", "svm", "opt-out", "unjudged")))
    shell.expect(["run", "--iommu", "remap,svm,o"], "remap,svm,opt-out")
    shell.expect(["run", "--report", "gp"], "gpuva")
    shell.expect(["run", "--patch-format", "=", "ros"], "roskmd", "roskmd-vc4")
    shell.expect(["run", "--break", "an"], "any")
    shell.expect(["run", "--break", "PATCH-01"], *(f"PATCH-01{digit}" for digit in range(10)))
    shell.expect(["run", "--severity", "CAPS-001"], "CAPS-001=")
    shell.expect(["run", "--severity", "=", "CAPS-001"], "CAPS-001=")
    shell.expect(["run", "--severity", "CAPS-001", "=", "b"], "bugcheck")
    shell.expect(["run", "--severity", "=", "CAPS-001", "="], "note", "warning", "error", "bugcheck")
    for nothing in (["run", "--seed", ""], ["run", "--set", "a", "=", ""], ["explore", "--seeds", "1"]):
        shell.expect(nothing)
    shell.expect(["explain", "LIFE-00"], *(f"LIFE-00{digit}" for digit in range(1, 10)))
    shell.expect(["rules", "PA"], "PAGE", "PATCH")
    shell.expect(["rules", "PATCH", ""])


def files(shell):
    for name in ("gpu.so", "gpu.sys", "gpu.lua", "other.lua", "gpu.etl", "a b.so", "shot.png"):
        (shell.folder / name).touch()
    (shell.folder / "lib").mkdir()
    shell.expect(["run", ""], "gpu.so", "gpu.sys", "a b.so", "lib")
    shell.expect(["run", "gpu.so", ""], "gpu.lua", "other.lua", "lib")
    shell.expect(["run", "gpu.so", "gpu.lua", ""])
    shell.expect(["run", "--seed", "1", "gpu.so", "--checks", "=", "full", "--verbose", "g"], "gpu.lua")
    shell.expect(["run", "--set", "a", "=", "b", "gpu.so", "g"], "gpu.lua")
    shell.expect(["check-trace", "gpu.e"], "gpu.etl")
    shell.expect(["compare", "gpu.etl", "gpu.e"], "gpu.etl")
    shell.expect(["run", "--out", ""], "lib")
    shell.expect(["run", "--device", "n"], "null")
    shell.expect(["run", "--device", "=", "gpu.s"], "gpu.so", "gpu.sys")
    shell.expect(["run", "--screen", "1", "=", "s"], "shot.png")
    shell.expect(["run", "--page-table-format", ""], "cosgpu", "gpu.lua", "other.lua", "lib")


def terminal(shell):
    for keys, words in (("dxgkhost run --chec\ts=fu\t gpu.so ot\t", "<run><--checks=full><gpu.so><other.lua>"), ("dxgkhost expla\tPATCH-017", "<explain><PATCH-017>"),
                        ("dxgkhost inspect --verb\ta\\ \t", "<inspect><--verbose><a b.so>"),
                        ("dxgkhost run --out li\tx", "<run><--out><lib/x>"), ("dxgkhost inspect --window\tdoc\t a\t", "<inspect><--windows><documented><a b.so>")):
        line = shell.typed(keys)
        if line != words:
            fail(f"{keys!r}: {line}, not {words}")


def main():
    if not shutil.which("bash"):
        print("skipped: bash is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(folder))
        options(shell)
        values(shell)
        files(shell)
        terminal(shell)
    return 0


sys.exit(main())
