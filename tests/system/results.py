#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What runs leave for programs: --json, --junit, --sarif. Usage: results.py CASE BUILD_FOLDER."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
SANITIZED = False


class Left:
    """The results of one run, each read by a parser that takes no bad input."""

    def __init__(self, folder, driver, workload, *options, expect=0, act=None, place=None, cwd=None):
        self.folder = folder
        self.start(driver, workload, options, act, place, cwd)
        self.out, self.err = self.process.communicate(timeout=120)
        self.judge(expect)

    def start(self, driver, workload, options, act, place, cwd):
        path = os.path.join(self.folder, "workload.lua")
        with open(path, "wb") as file:
            file.write(workload if isinstance(workload, bytes) else workload.encode())
        self.words = [os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, driver), path, "--out", os.path.join(self.folder, "out")]
        for form in ("json", "junit", "sarif"):
            self.words += ["--" + form, os.path.join(self.folder, form)]
        if act is not None:
            service = os.path.basename(driver).split(".")[0]
            with open(os.path.join(self.folder, "registry"), "w", encoding="utf-8") as file:
                file.write(f'[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\{service}]\n"Act"=4:{act:02x}000000\n')
                if place is not None:
                    file.write(f'"Place"=4:{place:02x}000000\n')
            self.words += ["--registry", os.path.join(self.folder, "registry")]
        self.words += options
        self.process = subprocess.Popen(self.words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", cwd=cwd)

    def judge(self, expect):
        if self.process.returncode != expect:
            self.fail(f"exit status {self.process.returncode}, not {expect}")
        with open(os.path.join(self.folder, "json"), "rb") as file:
            self.json = json.loads(file.read().decode())  # strict UTF-8
        self.suite = xml.parse(os.path.join(self.folder, "junit")).getroot().find("testsuite")
        self.cases = self.suite.findall("testcase")
        with open(os.path.join(self.folder, "sarif"), "rb") as file:
            self.sarif = json.loads(file.read().decode())["runs"][0]
        self.results = self.sarif["results"]
        self.is_(self.json["status"], expect)
        self.is_(self.json["result"], "PASS" if expect == 0 else "FAIL")
        self.is_(self.sarif["invocations"][0]["exitCode"], expect)
        self.is_(self.sarif["invocations"][0]["commandLine"], self.json["command"])
        self.is_(self.suite.find("properties/property[@name='status']").get("value"), str(expect))
        self.is_(len(self.cases), int(self.suite.get("tests")))
        self.is_(len(self.suite.findall(".//failure")), int(self.suite.get("failures")))
        self.is_(len(self.suite.findall(".//error")), int(self.suite.get("errors")))
        self.is_([r["ruleId"] for r in self.results], [v["rule"] for v in self.json["violations"]])
        self.is_([r["id"] for r in self.sarif["tool"]["driver"]["rules"]], list(dict.fromkeys(v["rule"] for v in self.json["violations"])))

    def fail(self, text):
        print(f"{text}\n{' '.join(self.words)}\n{self.out}\n{self.err}")
        for form in ("json", "junit", "sarif"):
            path = os.path.join(self.folder, form)
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    print(file.read())
        sys.exit(1)

    def is_(self, seen, wanted):
        if seen != wanted:
            self.fail(f"{seen!r} is not {wanted!r}")

    def has(self, text, part):
        if part not in text:
            self.fail(f"{part!r} is not in {text!r}")


def line_with(words):
    with open(os.path.join(SOURCE, "tests", "drivers", "faults.c"), encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if words in line)


def case_passed():
    """A good run: figures as the report has them, the rows of the workload, and nothing that failed."""
    with tempfile.TemporaryDirectory() as folder:
        left = Left(folder, "drivers/refgpu.so", "dxgk.report('row \"1\"', 'a\\tb') return true", "--seed", "7")
        left.is_(left.json["outcome"], "passed")
        left.is_(left.json["seed"], 7)
        left.is_(left.json["workload_says"], {'row "1"': "a\tb"})
        said = re.search(r"DDI calls +(\d+)", left.out)
        left.is_(left.json["statistics"]["ddi_calls"], int(said.group(1)))
        left.is_(left.json["violations"], [])
        left.is_(left.results, [])
        left.is_([len(case) for case in left.cases], [0])
        left.is_(left.sarif["invocations"][0]["executionSuccessful"], True)
        again = subprocess.run(["sh", "-c", left.json["command"].replace("dxgkhost", os.path.join(BUILD, "dxgkhost"), 1)], capture_output=True,
                               text=True, timeout=120, check=False)
        left.is_(again.returncode, 0)


def case_stopped():
    """A driver that faults: the rule with its stack in files and lines, in each form, of each kind of driver."""
    null = 13  # ACT_NULL of tests/drivers/faults.h
    for driver in ("faults.so", "gcc/faults.sys", "clang/faults.sys"):
        if not os.path.exists(os.path.join(BUILD, "tests", "drivers", driver)):
            continue  # no such compiler here
        with tempfile.TemporaryDirectory() as folder:
            left = Left(folder, "tests/drivers/" + driver, "return true", "--device", os.path.join(BUILD, "examples", "blitter_device.so"),
                        act=null, place=1, expect=5, cwd=SOURCE)
            left.is_(left.json["outcome"], "stopped")
            left.is_(left.json["bug_check"]["by"], "driver")
            left.is_(left.json["bug_check"]["code"], "0x1E")
            left.is_(left.json["bug_check"]["parameters"][3], "0x18")
            violation = left.json["violations"][0]
            left.is_((violation["rule"], violation["severity"], violation["where"], violation["count"]), ("NT-002", "bug check", "DriverEntry", 1))
            guilty, caller = violation["stack"][:2]
            left.is_((guilty["module"], guilty["function"], os.path.basename(guilty["file"]), guilty["line"]),
                     (os.path.basename(driver), "BreakAt", "faults.c", line_with("(0x18 + zero) = 1;")))
            left.is_((caller["function"], caller["line"]), ("DriverEntry", line_with("BREAK_AT(PLACE_ENTRY);")))
            left.is_(guilty["file"], os.path.normpath(guilty["file"]))
            place = left.results[0]["locations"][0]["physicalLocation"]  # below the folder of the run: relative to it
            left.is_((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("tests/drivers/faults.c", guilty["line"]))
            left.is_(len(left.results[0]["stacks"][0]["frames"]), len(violation["stack"]))
            left.is_(left.results[0]["level"], "error")
            left.is_([case.get("name") for case in left.cases][1:], ["NT-002 in DriverEntry"])
            left.has(left.cases[1].find("failure").text, f"faults.c:{guilty['line']})")
            left.is_(left.cases[0].find("error").get("type"), "stopped")


def case_failed():
    """A workload that fails, with a reason of any bytes; one that waits in vain; one that expects what comes."""
    with tempfile.TemporaryDirectory() as folder:
        left = Left(folder, "drivers/refgpu.so", b"return false, '<\"&\\\\ \\1\\27 \xff\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80'",
                    expect=1)
        left.is_(left.json["outcome"], "failed")
        left.has(left.json["message"], "<\"&\\ \x01\x1b \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd\ufffd \u00e4 \u20ac \U0001f600")
        left.has(left.cases[0].find("failure").get("message"), "<\"&\\ \ufffd\ufffd \ufffd")
        left = Left(folder, "drivers/refgpu.so", "dxgk.expect('PATCH-017') return true", expect=1)
        left.is_(left.json["outcome"], "failed")
        left.has(left.json["message"], "PATCH-017 was expected and did not happen")
        left = Left(folder, "tests/drivers/ends_process.so", "dxgk.expect('LIFE-023') return true", "--device", "null", act=0, expect=6)
        left.is_(left.json["outcome"], "refused")
        left.is_(left.cases[0].find("error").get("type"), "refused")


def case_ended():
    """A driver that ends the process, or closes its streams: what was recorded, by the process that watched."""
    exit_act, violation, close = 1, 10, 17  # of tests/drivers/ends_process.c
    with tempfile.TemporaryDirectory() as folder:
        left = Left(folder, "tests/drivers/ends_process.so", "return true", "--device", "null", act=exit_act, expect=5)
        left.is_(left.json["outcome"], "stopped")
        left.has(left.json["message"], "the driver called exit(0)")
        left.is_("statistics" in left.json, False)
        left.is_(left.cases[0].find("error").get("message"), left.json["message"])
        left = Left(folder, "tests/drivers/ends_process.so", "return true", "--device", "null", act=violation, expect=5)
        left.is_(len(left.json["violations"]) > 0, True)
        left = Left(folder, "tests/drivers/ends_process.so", "return true", "--device", "null", act=close, expect=left_by_close(folder))
        left.is_(left.json["message"], "the report is lost")


def left_by_close(folder):
    """The status of the driver that closes its streams."""
    path = os.path.join(folder, "other.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write("return true")
    with open(os.path.join(folder, "other"), "w", encoding="utf-8") as file:
        file.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\ends_process]\n"Act"=4:11000000\n')
    return subprocess.run([os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, "tests", "drivers", "ends_process.so"), path, "--device", "null",
                           "--registry", os.path.join(folder, "other"), "--out", os.path.join(folder, "out")], capture_output=True, timeout=120,
                          check=False).returncode


def case_interrupted():
    """A user's end of the run is told as such."""
    with tempfile.TemporaryDirectory() as folder:
        left = Left.__new__(Left)
        left.folder = folder
        left.start("drivers/refgpu.so", "io.stderr:write('begun\\n') for i = 1, 1e9 do dxgk.sleep(1000000) end", ("--limit", "0"), None, None, None)
        while "begun" not in left.process.stderr.readline():
            time.sleep(0.01)
        left.process.send_signal(signal.SIGINT)
        left.out, left.err = left.process.communicate(timeout=120)
        left.judge(128 + signal.SIGINT)
        left.is_(left.json["outcome"], "interrupted")


def case_files():
    """Results that cannot be written: told before the run where that can be known, else at its end. An isolated run writes them."""
    with tempfile.TemporaryDirectory() as folder:
        Left(folder, "drivers/refgpu.so", "return true", *(() if SANITIZED else ("--isolate",)))  # a sanitizer needs rights of its own
        path = os.path.join(folder, "workload.lua")
        for form in ("json", "junit", "sarif"):
            for target, word in ((os.path.join(folder, "none", "x"), "No such file or directory"), ("/dev/full", "writing failed")):
                done = subprocess.run([os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, "drivers", "refgpu.so"), path, "--" + form, target,
                                       "--out", os.path.join(folder, "out")], capture_output=True, text=True, timeout=120, check=False)
                if done.returncode != (4 if target == "/dev/full" else 2) or word not in done.stderr or target not in done.stderr:
                    print(f"--{form} {target}: {done.returncode}\n{done.stdout}\n{done.stderr}")
                    sys.exit(1)


def explored(folder, driver, *options, expect):
    """A campaign: its JSON, its suite in JUnit's form, its run in SARIF."""
    words = [os.path.join(BUILD, "dxgkhost"), "explore", os.path.join(BUILD, driver),
             os.path.join(SOURCE, "workloads", "burst.lua"), "--device", os.path.join(BUILD, "devices", "refgpu.so"), "--out", folder, "-j", "1", *options]
    for form in ("json", "junit", "sarif"):
        words += ["--" + form, os.path.join(folder, form)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != expect:
        print(f"{' '.join(words)}\n{done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}")
        sys.exit(1)
    with open(os.path.join(folder, "json"), encoding="utf-8") as file:
        campaign = json.load(file)
    with open(os.path.join(folder, "sarif"), encoding="utf-8") as file:
        sarif = json.load(file)["runs"][0]
    return campaign, xml.parse(os.path.join(folder, "junit")).getroot().find("testsuite"), sarif, done


def must(holds, *seen):
    if not holds:
        print(*seen)
        sys.exit(1)


def case_explored():
    """A campaign's failures in each form: rule, place, stack, how many seeds, and the command that shows it again."""
    with tempfile.TemporaryDirectory() as folder:
        campaign, suite, sarif, done = explored(folder, "tests/planted/lost_wakeup.so", "--stress", "--seeds", "1..3", expect=5)
        must((campaign["outcome"], campaign["status"], sarif["invocations"][0]["exitCode"]) == ("stopped", 5, 5), campaign)
        must(" --seeds 1..3 " in sarif["invocations"][0]["commandLine"] and " explore " in sarif["invocations"][0]["commandLine"], sarif)
        failures, cases = campaign["failures"], suite.findall("testcase")
        must(failures and [f["rule"] for f in failures] == [r["ruleId"] for r in sarif["results"]], failures, sarif["results"])
        must([f["seeds"] for f in failures] == [r["occurrenceCount"] for r in sarif["results"]], failures, sarif["results"])
        must([f["command"] for f in failures] == [r["properties"]["again"] for r in sarif["results"]], failures, sarif["results"])
        must([f"{f['rule']} in {f['where']}" for f in failures] == [case.get("name") for case in cases[1:]], failures, done.stdout)
        must(all(f["command"] in case.find("failure").text for f, case in zip(failures, cases[1:])), failures)
        must(cases[0].find("error").get("message") == f"3 run, {campaign['failed']} failed in {len(failures)} ways", failures)
        frames = sarif["results"][0]["stacks"][0]["frames"]
        must(frames[0]["location"]["logicalLocations"][0]["name"] == "wait_for_counter", frames)
        must("wait_for_counter" in cases[1].find("failure").text, done.stdout)
        campaign, suite, sarif, done = explored(folder, "drivers/refgpu.so", "--seeds", "1", "--limit", "60", "--set", "unknown=1", expect=1)
        must((campaign["outcome"], campaign["failures"][0]["rule"]) == ("failed", "workload"), campaign)
        must(suite.find("testcase/failure") is not None and sarif["results"][0]["level"] == "error", campaign)
        done = subprocess.run([os.path.join(BUILD, "dxgkhost"), "explore", os.path.join(BUILD, "tests", "drivers", "incomplete_table.so"),
                               os.path.join(SOURCE, "workloads", "burst.lua"), "--device", "null", "--seeds", "1", "--out", folder], capture_output=True,
                              text=True, timeout=120, check=False)
        must(done.returncode == 6, done.stderr)


def main():
    global BUILD, SANITIZED
    BUILD = sys.argv[2]
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
