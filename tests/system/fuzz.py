#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dxgkhost fuzz, as a user runs it. Usage: fuzz.py CASE BUILD_FOLDER. Exit status 0: the case holds; 77: it cannot run here."""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

CASES = {}
RUNS = 5000  # in which all that is planted is found with this seed, several times over
SEED = 2


def case(function):
    CASES[function.__name__] = function
    return function


def fail(done, why):
    sys.exit(f"{done.args}\n{why}\nstatus {done.returncode}\n{done.stdout}\n{done.stderr}")


class Fuzz:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def driver(self, name):
        return os.path.join(self.build, "tests", "drivers", "fuzzed", name)

    def run(self, name, *options, status, words=()):
        driver = self.driver(name)
        if not os.path.exists(driver):
            sys.exit(77)
        done = subprocess.run([os.path.join(self.build, "dxgkhost"), "fuzz", driver, "--device", "null", "--out", self.folder, *options],
                              capture_output=True, text=True, errors="replace", check=False, timeout=280, stdin=subprocess.DEVNULL)
        if done.returncode not in (status if isinstance(status, tuple) else (status,)):
            fail(done, f"status {status} was expected")
        for word in words:
            if not re.search(word, done.stdout + done.stderr, re.M):
                fail(done, f"not said: {word}")
        return done

    def campaign(self, name, *options, status, words=()):
        return self.run(name, "--fuzz-seed", str(SEED), *options, status=status, words=words)

    def findings(self):
        return sorted(name for name in os.listdir(os.path.join(self.folder, "findings")) if not name.endswith(".txt"))


def planted(fuzz, name):
    """Both mistakes are found from nothing; each is told once, and its file and command show it again."""
    done = fuzz.campaign(name, "--runs", str(RUNS), status=3, words=(r"^bug check NT-002: .*DxgkDdiEscape", r"^error NT-023: ExFreePoolWithTag .* free already"))
    found = fuzz.findings()
    rules = [file.rsplit("-", 1)[0] for file in found]
    if rules.count("NT-023") != 1 or "NT-002" not in rules:
        fail(done, f"found: {found}")
    for file in found:
        path = os.path.join(fuzz.folder, "findings", file)
        with open(path + ".txt", encoding="utf-8") as note:
            text = note.read()
        if f"--replay {path}" not in text:
            fail(done, f"{file}: {text}")
        rule = "NT-023" if file.startswith("NT-023") else "(NT-002|NT-173)"  # what a wild access hits is the host's
        shown = fuzz.run(name, "--replay", path, status=3 if rule == "NT-023" else (3, 5), words=(rf"(error|bug check) {rule}: ", r"^  1  D3DKMTEscape, choice 0x00, \d+ bytes"))
        if " 2  D3DKMT" in shown.stdout:
            fail(shown, "the input is not as small as it can be")
    return done


@case
def found(fuzz):
    planted(fuzz, "mistaken.so")
    double = next(file for file in fuzz.findings() if file.startswith("NT-023"))
    fuzz.run("mistaken.so", "--replay", os.path.join(fuzz.folder, "findings", double), status=3, words=(r"FuzzedEscape\+0x[0-9a-f]+ \(.*escape\.c:\d+\)",))
    # of the repaired driver the same inputs show nothing
    fuzz.run("repaired.so", "--replay", os.path.join(fuzz.folder, "findings", double), status=0, words=("D3DKMTEscape",))


@case
def windows(fuzz):
    """The same of Windows images, of either compiler."""
    for compiler in ("gcc", "clang"):
        again = Fuzz(fuzz.build, os.path.join(fuzz.folder, compiler))
        planted(again, f"{compiler}/mistaken.sys")
        again = Fuzz(fuzz.build, os.path.join(fuzz.folder, compiler + "-repaired"))
        again.campaign(f"{compiler}/repaired.sys", "--runs", "1500", status=0, words=(r"^  inputs +1500, 0 of them failed in 0 ways$",))


@case
def plain(fuzz):
    """Drivers that are not instrumented: breakpoints guide the inputs, and constants of the code are tried."""
    done = fuzz.campaign("plain.so", "--runs", "12000", "--stop-after", "1", status=3, words=(r"^(error|bug check) NT-(002|173): .*FuzzedEscape",))
    for name in ("../gcc/compute.sys", "../clang/compute.sys"):
        if os.path.exists(fuzz.driver(name)):
            done = Fuzz(fuzz.build, os.path.join(fuzz.folder, name[3:6])).campaign(name, "--runs", "300", status=0)
            if int(re.search(r"^  places +(\d+) reached$", done.stdout, re.M)[1]) < 40:
                fail(done, "more places were expected")


@case
def grammar(fuzz):
    """With the layout of its requests a driver without instrumentation has no secrets, either."""
    path = os.path.join(fuzz.folder, "layouts.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write('return {{call = "Escape", choice = 0, fields = {{4, 0x5A5A5546}, {4, 0, 3}, {4, 0, 15}, {4}, {4, 0x20, 0x22}, {4, 0x3000, 0x300F}}}}\n')
    fuzz.campaign("plain.so", "--runs", "5000", "--grammar", path, status=3, words=(r"^error NT-023: ",))
    for text, word in (("return 1", "no list"), ("return {{}}", "no call of inputs is named nothing"), ("return {{call = 'Escape'}}", "fields is a list"),
                       ("return {{call = 'Escape', fields = {{9, 1}}}}", "1 to 8 bytes"), ("return {{call = 'Escape', fields = {{4, 2, 1}}}}", "above the highest"), ("x", "layouts.lua")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        fuzz.run("plain.so", "--grammar", path, status=2, words=("no grammar: .*" + word,))


@case
def repaired(fuzz):
    """As many inputs of the repaired driver show nothing; and the corpus that they leave is made smaller."""
    fuzz.campaign("repaired.so", "--runs", str(RUNS), status=0, words=(rf"^  inputs +{RUNS}, 0 of them failed in 0 ways$", r"^  places +\d\d+ reached$"))
    if fuzz.findings():
        sys.exit(f"findings: {fuzz.findings()}")
    before = os.listdir(os.path.join(fuzz.folder, "corpus"))
    fuzz.run("repaired.so", "--merge", status=0, words=("is reduced",))
    after = os.listdir(os.path.join(fuzz.folder, "corpus"))
    if not 10 < len(after) <= len(before):
        sys.exit(f"the corpus had {len(before)} inputs, and has {len(after)}")


@case
def equal(fuzz):
    """Equal seeds: equal findings and corpora."""
    results = []
    for name in ("a", "b"):
        folder = os.path.join(fuzz.folder, name)
        again = Fuzz(fuzz.build, folder)
        again.campaign("mistaken.so", "--runs", "1500", status=3)
        results.append((again.findings(), sorted(os.listdir(os.path.join(folder, "corpus")))))
    if results[0] != results[1]:
        sys.exit(f"{results[0]}\n{results[1]}")


@case
def reset(fuzz):
    """Where memory is set back, each input reaches what it does in a process of its own; and nothing is different behind it."""
    for name in ("repaired.so", "plain.so", "gcc/repaired.sys", "clang/repaired.sys"):
        results = []
        for options in (("--reset", "fork", "--batch", "1"), ("--reset", "memory")):
            folder = os.path.join(fuzz.folder, name.replace("/", "-") + options[1])
            done = Fuzz(fuzz.build, folder).campaign(name, "--runs", "200", *options, status=0)
            results.append((sorted(os.listdir(os.path.join(folder, "corpus"))), re.findall(r"^  (?:inputs|places) .*", done.stdout, re.M)))
        if results[0] != results[1] or len(results[0][0]) < 3:
            sys.exit(f"{name}: {results[0]}\n{results[1]}")
        if "resets by another process: the kernel" in done.stderr:  # it does not tell which pages were written
            sys.exit(77)
        done = Fuzz(fuzz.build, os.path.join(fuzz.folder, "checked")).campaign(name, "--runs", "20", "--reset", "checked", status=0, words=(r"inputs a second, reset \d+ us of \d+ pages",))
        if "were not set back" in done.stderr or "another process" in done.stderr:
            fail(done, "all memory was to be as it was")


@case
def afl(fuzz):
    """afl-fuzz finds each mistake from an input that is a byte away; its file is one for --replay."""
    if not shutil.which("afl-fuzz"):
        print("afl-fuzz is not installed (Debian: afl++)")
        sys.exit(77)
    environment = dict(os.environ, AFL_NO_UI="1", AFL_SKIP_CPUFREQ="1", AFL_NO_AFFINITY="1", AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES="1", AFL_BENCH_UNTIL_CRASH="1")
    for rules, fields in (({"NT-002", "NT-173"}, (1, 15, 0, 0, 0)), ({"NT-023"}, (3, 0, 0, 0x21, 0x3000))):
        folder = os.path.join(fuzz.folder, min(rules))
        os.makedirs(os.path.join(folder, "seeds"))
        with open(os.path.join(folder, "seeds", "0"), "wb") as file:
            file.write(b"\0\0\x18\0" + struct.pack("<6I", 0x5A5A5546, *fields))
        command = ["afl-fuzz", "-D", "-s", "1", "-t", "20000", "-V", "200", "-i", os.path.join(folder, "seeds"), "-o", os.path.join(folder, "out"), "--",
                   os.path.join(fuzz.build, "dxgkhost"), "fuzz", fuzz.driver("mistaken.so"), "--device", "null", "--engine", "afl", "--out", folder]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False, timeout=280, stdin=subprocess.DEVNULL)
        crashes = os.path.join(folder, "out", "default", "crashes")
        for word in ("SHARED MEMORY FUZZING", r"Loaded \d\d+ autodictionary entries", "Target map size: 131072"):
            if not re.search(word, done.stdout):
                fail(done, f"not said: {word}")
        files = [name for name in os.listdir(crashes) if name.startswith("id:")]
        if not files:
            fail(done, "nothing was found")
        shown = fuzz.run("mistaken.so", "--replay", os.path.join(crashes, files[0]), status=(3, 5))
        if not rules & set(re.findall(r"(?:error|bug check) ([A-Z]+-\d+): ", shown.stdout + shown.stderr)):
            fail(shown, f"{rules} was expected")


@case
def target(fuzz):
    """The engine by itself is a target as any that is linked with libFuzzer: the command of the machine is in a file beside it."""
    program = os.path.join(fuzz.folder, "gpu_fuzzer")
    corpus = os.path.join(fuzz.folder, "corpus")
    os.mkdir(corpus)
    shutil.copy(os.path.join(fuzz.build, "dxgkhost-fuzz"), program)
    for name in ("mistaken.so", "repaired.so"):
        shutil.copy(fuzz.driver(name), fuzz.folder)
    def run(driver, *options):
        with open(program + ".command", "w", encoding="utf-8") as file:
            file.write("\n".join((os.path.join(fuzz.build, "dxgkhost"), "fuzz", "./" + driver, "--device", "null", "")))
        return subprocess.run([program, *options], cwd=fuzz.folder, capture_output=True, text=True, errors="replace", check=False, timeout=280, stdin=subprocess.DEVNULL)
    done = run("mistaken.so", "-seed=2", f"-runs={RUNS}", corpus)
    files = [name for name in os.listdir(fuzz.folder) if name.startswith("crash-")]
    if done.returncode == 0 or len(files) != 1 or not re.search(r"==ERROR: dxgkhost: (bug check|error) NT-\d+: .*mistaken.so!FuzzedEscape\+0x", done.stderr):
        fail(done, f"a crash was to be found, and kept: {files}")
    if "==ERROR: dxgkhost: " not in run("mistaken.so", files[0]).stderr:
        fail(done, "the file was to show it again")
    done = run("repaired.so", "-runs=100", files[0])
    if done.returncode != 0:
        fail(done, "the repaired driver was to pass")


@case
def shards(fuzz):
    """Shards of a campaign, as Slurm would start them, and the merge of their corpus; scripts of examples/fuzz are ones."""
    examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "fuzz")
    scripts = [os.path.join(examples, name) for name in ("fuzz.sbatch", "bundle.sh", ".clusterfuzzlite/build.sh")]
    for script in scripts:
        subprocess.run(["bash", "-n", script], check=True)
    environment = dict(os.environ, PATH=f"{fuzz.build}:{os.environ['PATH']}", DRIVER=fuzz.driver("repaired.so"), SECONDS_OF_FUZZ="1", SLURM_ARRAY_JOB_ID="7", SLURM_CPUS_PER_TASK="1")
    for task, step in (("1", "shard"), ("2", "shard"), ("0", "merge")):
        done = subprocess.run(["bash", scripts[0], step], cwd=fuzz.folder, env={**environment, "SLURM_ARRAY_TASK_ID": task}, capture_output=True, text=True, check=False, timeout=280)
        if done.returncode != 0:
            fail(done, step)
    if not {"shard-1", "shard-2", "corpus", "corpus.old"} <= set(os.listdir(os.path.join(fuzz.folder, "fuzz"))):
        sys.exit(f"{os.listdir(os.path.join(fuzz.folder, 'fuzz'))}")


@case
def wrong(fuzz):
    """What cannot be done is told in a line."""
    for option in ("--runs", "--seconds", "--fuzz-seed", "--max-bytes", "--batch", "-j", "--limit", "--stop-after"):
        for value in ("", "0", "x", "-1"):
            fuzz.run("repaired.so", option, value, status=2, words=(rf"^dxgkhost: {option}: wrong value",))
    fuzz.run("repaired.so", "--replay", os.path.join(fuzz.folder, "none"), status=2, words=("No such file",))
    fuzz.run("repaired.so", "--reset", "all", status=2, words=("^dxgkhost: --reset: wrong value: all",))
    fuzz.run("repaired.so", "--engine", "x", status=2, words=("^dxgkhost: --engine: wrong value: x",))
    fuzz.run("repaired.so", "--engine", "afl", status=2, words=("is for afl-fuzz",))
    fuzz.run("repaired.so", "--isolate", status=2, words=("not an option of fuzz: --isolate",))
    fuzz.run("repaired.so", "--json", "-", status=2, words=("with --replay only",))
    fuzz.run("repaired.so", "--bogus", status=2, words=("unknown option: --bogus",))
    fuzz.run("../refused.so", "--runs=10", status=6, words=("refused.so",))


def main():
    name, build = sys.argv[1], os.path.abspath(sys.argv[2])
    if not os.path.exists(os.path.join(build, "dxgkhost-fuzz")):
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        CASES[name](Fuzz(build, folder))


if __name__ == "__main__":
    main()
