# SPDX-License-Identifier: MIT
"""A copy of the project with a build folder of its own, its tests, and which of them run which lines of src."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time

CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DDXGK_REACH=ON", "-DDXGK_ABI_TESTS=OFF", "-DDXGK_QUICK=OFF"]
LEAST_S = 20  # that a test may take
OTHERS = 8  # tests that run a function, but not the line in question
DOES_NOT_HOLD = re.compile(r"\b([A-Z]+-\d{3})(?:/[a-z]+)? does not hold")


def limited():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Test:
    def __init__(self, entry):
        properties = {item["name"]: item["value"] for item in entry.get("properties", [])}
        self.name, self.command = entry["name"], entry["command"]
        self.folder = properties.get("WORKING_DIRECTORY", "")
        self.environment = dict(word.split("=", 1) for word in properties.get("ENVIRONMENT", []))
        self.labels = properties.get("LABELS", [])
        self.skipped = properties.get("SKIP_RETURN_CODE")
        self.seconds = 0.0

    def run(self, extra=None, timeout=600):
        """(whether it passed, what it said)"""
        begin = time.monotonic()
        with subprocess.Popen(self.command, cwd=self.folder, env={**os.environ, **self.environment, **(extra or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limited) as process:
            try:
                said = process.communicate(timeout=timeout)[0].decode(errors="replace")
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                said = process.communicate()[0].decode(errors="replace") + "\nno end within its time"
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it has left behind
            except ProcessLookupError:
                pass
        self.last_seconds = time.monotonic() - begin
        return process.returncode in (0, self.skipped), said


class Trial:
    def __init__(self, project, folder, jobs):
        self.project, self.folder, self.jobs = pathlib.Path(project), pathlib.Path(folder), jobs
        self.source, self.build = self.folder / "source", self.folder / "build"
        self.tests, self.reach = [], {}

    # ---- the copy ----

    def copy(self):
        """Only what differs, so that only that is built again."""
        listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=self.project, capture_output=True, check=True).stdout
        names = [os.fsdecode(name) for name in listed.split(b"\0") if name and (self.project / os.fsdecode(name)).is_file()]
        for name in names:
            here, there = self.project / name, self.source / name
            if not there.exists() or here.read_bytes() != there.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(here, there)
                os.utime(there)
        for path in [path for path in self.source.rglob("*") if path.is_file()]:
            if str(path.relative_to(self.source)) not in set(names):
                path.unlink()
        return hashlib.sha256("".join(f"{name} {hashlib.sha256((self.source / name).read_bytes()).hexdigest()}\n" for name in sorted(names)
                                      if name.startswith(("src/", "tests/", "tools/mutation/"))).encode()).hexdigest()

    def configure(self):
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-S", self.source, "-B", self.build, *CONFIGURE, *launcher], check=True, capture_output=True)

    def make(self):
        """Whether it builds."""
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.source), "CCACHE_NOHASHDIR": "1"}
        return subprocess.run(["cmake", "--build", self.build, "-j", str(self.jobs)], capture_output=True, check=False, env=environment).returncode == 0

    # ---- tests ----

    def list_tests(self):
        listed = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], capture_output=True, check=True).stdout
        tests = [Test(entry) for entry in json.loads(listed)["tests"] if "command" in entry]
        self.tests = [test for test in tests if not {"long", "slow"} & set(test.labels)]

    def measure(self, key):
        """Which tests run which lines: kept until a source changes."""
        kept = self.folder / "reach.json"
        have = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        if have.get("key") != key:
            have = {"key": key, **self.measure_anew()}
            kept.write_text(json.dumps(have), encoding="utf-8")
        for test in self.tests:
            test.seconds = have["seconds"].get(test.name, 0.0)
        self.tests = [test for test in self.tests if test.name in have["seconds"]]
        by_name = {test.name: test for test in self.tests}
        self.reach = {file: {int(line): [by_name[name] for name in names if name in by_name] for line, names in lines.items()}
                      for file, lines in have["reach"].items()}
        return have["failed"]

    def measure_anew(self):
        modules, seconds, failed = {}, {}, []

        def one(test):
            with tempfile.TemporaryDirectory() as folder:
                passed, _ = test.run({"DXGK_REACH": folder})
                return test, passed, {path.name: [match.start() for match in re.finditer(b"\1", path.read_bytes())] for path in pathlib.Path(folder).iterdir()}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for test, passed, reached in pool.map(one, self.tests):
                if not passed:
                    failed.append(test.name)
                    continue
                seconds[test.name] = test.last_seconds
                for module, places in reached.items():
                    for place in places:
                        modules.setdefault(module, {}).setdefault(place, []).append(test.name)
        reach = {}
        for module, places in modules.items():
            for lines, names in zip(self.lines_of(module, list(places)), places.values()):
                for file, line in lines:
                    reach.setdefault(file, {}).setdefault(line, set()).update(names)
        return {"seconds": seconds, "failed": failed,
                "reach": {file: {line: sorted(names) for line, names in lines.items()} for file, lines in reach.items()}}

    def lines_of(self, module, places):
        """For each place its line, and those of the functions into which it was inlined."""
        path = next((path for path in self.build.rglob(module) if path.is_file()), None)
        if not path:
            return [[]] * len(places)
        asked = "".join(f"{place - 1:#x}\n" for place in places)
        said = subprocess.run(["addr2line", "-a", "-i", "-e", path], input=asked, capture_output=True, text=True, check=True).stdout
        frames = [block.splitlines()[1:] for block in re.split(r"^(?=0x[0-9a-f]+$)", said, flags=re.M) if block]
        return [[place for place in map(self.place_of, block) if place[0]] for block in frames]

    def place_of(self, text):
        file, _, line = text.split(" ")[0].rpartition(":")
        relative = os.path.normpath(file).rpartition("/src/")[2]  # a compiler cache may name another folder
        return ("src/" + relative, int(line)) if line.isdigit() and (self.source / "src" / relative).is_file() else (None, 0)

    def tests_of(self, file, first, last, line):
        """The tests that run code of `file` around `line`, quick ones before others, then some of those that run other code from line `first` to
        `last`, in case a line is another one than the compiler says. None: no line there is known, as of a table."""
        lines = self.reach.get(file, {})
        known, room = sorted(other for other in lines if first <= other <= last), file.split("/")[1]
        around = [*[other for other in known if other <= line][-1:], *[other for other in known if other > line][:1]]
        ranks = {test.name: (rank, test) for rank, places in ((1, known), (0, around)) for other in places for test in lines[other]}
        ordered = sorted(ranks.values(), key=lambda pair: (pair[0], not pair[1].name.startswith(room + "_"), pair[1].seconds))
        near = [test for rank, test in ordered if rank == 0]
        return near + [test for rank, test in ordered if rank == 1][:OTHERS]

    def kill(self, tests, enough):
        """Run tests until one fails, and `enough` says of its name and text that no other needs to: [(name, text)] of those that failed."""
        failed = []
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting, running = list(tests), {}
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    test = waiting.pop(0)
                    running[pool.submit(test.run, None, max(LEAST_S, 8 * test.seconds))] = test
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    passed, said = future.result()
                    test = running.pop(future)
                    if not passed:
                        failed.append((test.name, said))
                        if enough(said):
                            waiting = []
        return failed


def rules_that_failed(text):
    return set(DOES_NOT_HOLD.findall(text))
