#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page that --html leaves. Usage: page.py CASE BUILD_FOLDER. Exit status 0: the case holds; 77: it cannot be tried here."""
import base64
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

import png

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
SANITIZED = False
VOID = {"meta", "img", "br", "hr"}
OUTSIDE = re.compile(r"https://ui\.perfetto\.dev|https://learn\.microsoft\.com/windows-hardware/drivers/(?:ddi/[a-z0-9_]+/n[acefs]-[a-z0-9_-]+|debugger/bug-check-0x[a-z0-9_-]+)")
MOST_BYTES = 8000000
STOPPED = 5  # the exit status where the driver stopped the machine


class Bad(Exception):
    pass


class Page(html.parser.HTMLParser):
    """Reads it as strictly as XML: each element is closed in its order, nothing comes from elsewhere, and no text is markup."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        with open(path, "rb") as file:
            data = file.read()
        if len(data) > MOST_BYTES:
            raise Bad(f"{len(data)} bytes")
        self.text = data.decode()  # strict UTF-8
        odd = re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]", self.text)
        if odd:
            raise Bad(f"{odd.group()!r} after {self.text[max(0, odd.start() - 80):odd.start()]!r}")
        self.open, self.ids, self.links, self.sources, self.headings, self.tags = [], [], [], [], [], []
        self.said = {}  # the text of each element with an id or a class, by its name
        self.feed(self.text)
        self.close()
        if self.open:
            raise Bad(f"open at the end: {self.open}")
        self.judge()

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        given = dict(attrs)
        if len(names) != len(given):
            raise Bad(f"an attribute twice: <{tag} {attrs}>")
        for name in names:
            if name.startswith("on") or name in ("srcset", "action", "background", "poster", "data", "style", "xlink:href"):
                raise Bad(f"<{tag} {name}>")
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append((tag, [given[name] for name in ("id", "class") if given.get(name)]))
        if "id" in given:
            self.ids.append(given["id"])
        if "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.sources.append(given["src"])
        if tag == "img" and not given.get("alt"):
            raise Bad("a picture without words")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            raise Bad(f"</{tag}> ends {self.open[-1:]}")
        self.open.pop()

    def handle_data(self, data):
        for _, names in self.open:
            for name in names:
                for word in name.split():
                    self.said[word] = self.said.get(word, "") + data

    def handle_comment(self, data):
        raise Bad(f"a comment: {data}")

    def judge(self):
        if len(set(self.ids)) != len(self.ids):
            raise Bad(f"an id twice: {sorted(self.ids)}")
        for link in self.links:
            if not (link[1:] in self.ids if link.startswith("#") else OUTSIDE.fullmatch(link)):
                raise Bad(f"a link to {link}")
        for source in self.sources:
            if not source.startswith("data:image/png;base64,"):
                raise Bad(f"from elsewhere: {source[:80]}")
        bad = {"script", "link", "iframe", "object", "embed", "base", "form"} & set(self.tags)
        if bad or re.search(r"url\(|@import", self.text):
            raise Bad(f"what a page without scripts and references has not: {bad}")
        if self.headings[0] != 1 or self.headings.count(1) != 1 or any(b > a + 1 for a, b in zip(self.headings, self.headings[1:])):
            raise Bad(f"headings {self.headings}")


def fail(text):
    print(text)
    sys.exit(1)


def run(folder, driver, workload, *options, expect=0, act=None, place=None):
    """The page of a run."""
    path, page = os.path.join(folder, "workload.lua"), os.path.join(folder, "page.html")
    with open(path, "wb") as file:
        file.write(workload if isinstance(workload, bytes) else workload.encode())
    words = [os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, driver), path, "--out", os.path.join(folder, "out"), "--html", page, *options]
    if act is not None:
        service = os.path.basename(driver).split(".")[0]
        with open(os.path.join(folder, "registry"), "w", encoding="utf-8") as file:
            file.write(f'[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\{service}]\n"Act"=4:{act:02x}000000\n')
            if place is not None:
                file.write(f'"Place"=4:{place:02x}000000\n')
        words += ["--registry", os.path.join(folder, "registry")]
    done = subprocess.run(words, capture_output=True, timeout=300, check=False)
    said = f"{' '.join(words)}\n{done.stdout.decode(errors='replace')}\n{done.stderr.decode(errors='replace')}"
    if done.returncode != expect:
        fail(f"exit status {done.returncode}, not {expect}\n{said}")
    try:
        return Page(page)
    except (Bad, UnicodeDecodeError) as bad:
        shutil.copy(page, os.path.join(BUILD, "bad-page.html"))
        fail(f"{bad}\n{said}")


def has(text, *parts):
    for part in parts:
        if part not in text:
            fail(f"{part!r} is not in {text!r}")


def lacks(text, *parts):
    for part in parts:
        if part in text:
            fail(f"{part!r} is in {text!r}")


def is_(seen, wanted):
    if seen != wanted:
        fail(f"{seen!r} is not {wanted!r}")


def line_with(file, words):
    with open(os.path.join(SOURCE, "tests", "drivers", file), encoding="utf-8") as lines:
        return next(number for number, line in enumerate(lines, 1) if words in line)


def case_passed():
    """A good run: the verdict, what the workload says, figures, pictures of memory, a timeline; and nothing that was broken."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace<1>.json")
        page = run(folder, "drivers/refgpu.so", "D3DKMT.EnumAdapters2{} dxgk.report('a row', 'its value') return true", "--seed", "7", "--trace", trace)
        has(page.said["verdict"], "PASS")
        has(page.said["findings"], "No rule was broken")
        has(page.said["run"], "seed7", "a row", "its value", "dxgkhost run", "--seed 7")
        has(page.said["timeline"], "clients", "driver calls", "processor 00", trace)
        has(page.said["pictures"], "Physical memory", "Segments of adapter 0", "GPU address spaces of adapter 0", "fragmentation")
        has(page.said["counters"], "DDI calls", "leaks0")
        is_(page.tags.count("svg"), 4)
        is_("https://ui.perfetto.dev" in page.links, True)
        again = subprocess.run(["sh", "-c", page.said["command"].replace("dxgkhost", os.path.join(BUILD, "dxgkhost"), 1)], capture_output=True, timeout=120,
                               check=False)
        is_(again.returncode, 0)


def case_stopped():
    """A driver that faults: its guilty line comes first, with those around it, the stack and the rule."""
    with tempfile.TemporaryDirectory() as folder:
        page = run(folder, "tests/drivers/faults.so", "return true", "--device", os.path.join(BUILD, "examples", "blitter_device.so"), act=13, place=1, expect=STOPPED)
        number = line_with("faults.c", "(0x18 + zero) = 1;")
        has(page.said["verdict"], "FAIL", "stopped the machine")
        has(page.said["guilty"], f"{number}", "*(volatile ULONG *)(ULONG_PTR)(0x18 + zero) = 1;")
        has(page.said["source"], f"{number - 3}", f"{number + 3}", "case ACT_NULL:")
        lacks(page.said["source"], f"{number - 4} ", f"{number + 4}")
        has(page.said["f1"], "bug check", "NT-002", "wrote to address 0x18", "DriverEntry", "load driver", f"faults.c:{number}")
        has(page.said["stack"], "faults.so!BreakAt+0x", "faults.so!DriverEntry+0x", f"tests/drivers/faults.c:{line_with('faults.c', 'BREAK_AT(PLACE_ENTRY);')}")
        has(page.said["rule-text"], "simulated bug check 0x1E (KMODE_EXCEPTION_NOT_HANDLED)", "dxgkhost explain NT-002")
        has(page.said["run"], "0x1E (")
        is_(page.text.index('id="f1"') < page.text.index('class="guilty"') < page.text.index('class="rule-text"') < page.text.index('id="timeline"'), True)
        has(page.said["timeline"], "NT-002 at ")


def case_broken():
    """Several rules that are broken: the worst first. A workload that fails: why, and which call of it failed."""
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "submissions.reg")
        with open(registry, "w", encoding="utf-8") as file:
            file.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Services\\submissions]\n"SubmitFault"=4:07000000\n')
        with open(os.path.join(SOURCE, "tests", "system", "submissions.lua"), encoding="utf-8") as file:
            workload = file.read()
        options = ("--device", os.path.join(BUILD, "devices", "refgpu.so"), "--registry", registry, "--set", "modules=" + os.path.join(SOURCE, "workloads"))
        page = run(folder, "tests/drivers/submissions.so", workload, *options, expect=3)
        for number, severity, rule in ((1, "error", "THREAD-061"), (2, "warning", "PREEMPT-016"), (3, "note", "TDR-040")):
            has(page.said[f"f{number}"], severity, rule, f"What {rule} says", "for the first time of")
        has(page.said["failed"], "The driver broke a rule", "First look at THREAD-061: the service routine called DxgkCbNotifyInterrupt but queued no DPC")
        has(" ".join(page.links), "https://learn.microsoft.com/windows-hardware/drivers/ddi/d3dkmddi/ne-d3dkmddi-_dxgk_interrupt_type")
        has(page.said["calls"], "D3DKMTWaitForSynchronizationObjectFromCpu", "STATUS_DEVICE_REMOVED", "Lost work", "engine reset (0x141)")
        has(page.said["timeline"], "THREAD-061 at ", "PREEMPT-016 at ", "node 0", "contexts", "preempt")
        page = run(folder, "tests/drivers/submissions.so", "dxgk.expect('THREAD-061') " + workload, *options)
        has(page.said["f3"], "expected error", "THREAD-061")
        lacks(page.said["verdict"], "FAIL")
        page = run(folder, "drivers/refgpu.so", "pcall(D3DKMT.DestroyDevice, {hDevice = 4711}) return false, 'it says so'", expect=1)
        has(page.said["verdict"], "FAIL", "The workload failed")
        has(page.said["message"], "it says so")
        has(page.said["calls"], "D3DKMTDestroyDevice", "STATUS_INVALID_PARAMETER", "is not that of a device (KMT-026)")


def case_ended():
    """A driver that ends the process: what was recorded, with the place of the end, by the process that watched."""
    with tempfile.TemporaryDirectory() as folder:
        page = run(folder, "tests/drivers/ends_process.so", "return true", "--device", "null", act=1, expect=STOPPED)
        has(page.said["verdict"], "FAIL", "stopped the machine")
        has(page.said["end"], "the driver called exit(0)", "DriverEntry", "starting the driver ends_process.so", "ends_process.so!act+0x")
        has(page.said["findings"], "Before that, no rule was broken")
        has(page.said["timeline"], "processor 00")
        is_("counters" in page.said, False)
        page = run(folder, "tests/drivers/ends_process.so", "return true", "--device", "null", act=10, expect=STOPPED)
        has(page.said["end"], "the process of the machine ended with status 0 and without a result", "DriverEntry")
        has(page.said["f1"], "error")
        page = run(folder, "drivers/refgpu.so", "return true", "--severity", "PATCH-999=error", expect=2)
        has(page.said["message"], "PATCH-999")
        is_("end" in page.said, False)


def case_hostile():
    """Texts of any bytes, by the driver, by the workload and in lines of source, are texts; of a long log the last lines are there."""
    with tempfile.TemporaryDirectory() as folder:
        page = run(folder, "tests/drivers/prints.so", "return true", "--device", "null", expect=STOPPED)
        number = line_with("prints.c", "*nothing = 1;")
        has(page.said["guilty"], f"{number}", '/* </pre><script>alert("the guilty line")</script> */')
        has(page.said["log"], "<script>alert(1)</script> <img src=x onerror=alert(1)> &amp; \"quoted\" 'too' ]]>", "line 2999 of many",
            "\ufffd\ufffd[31m \ufffd \ufffd\ufffd \ufffd\ufffd \ufffd\ufffd\ufffd \ufffd \ufffd \ufffd\ufffd\ufffd\ufffd \u00e4 \u20ac\n", "The last lines")
        lacks(page.said["log"], "line 0 of", "line 999 of")
        first = page.text[page.text.index("<pre", page.text.index('id="log"')):].splitlines()[1]
        if not re.fullmatch(r"driver said: line \d+ of many, which are here so that the first of them are gone", first):
            fail(f"the log begins with {first!r}")
        page = run(folder, "drivers/refgpu.so", b"dxgk.report('<b>', '\xff</dd>') return false, '<\"&\\\\ \\1\\27 \xff\xc0\x80 \xed\xa0\x80 \xc2\x80 \xef\xb7\x90 "
                   b"\xf0\x9f\xbf\xbe \xf0\x9f\x98\x80 \xc3'", expect=1)
        has(page.said["message"], "<\"&\\ \ufffd\ufffd \ufffd\ufffd\ufffd \ufffd\ufffd\ufffd \ufffd \ufffd \ufffd \U0001f600 \ufffd")
        has(page.said["run"], "<b>", "\ufffd</dd>")


def case_screen():
    """The screens at the end, each as a picture; smaller ones of those that no PNG makes small."""
    with tempfile.TemporaryDirectory() as folder:
        page = run(folder, "drivers/bootfb.so", """
            local pixels = dxgk.buffer(64 * 64 * 4)
            for i = 0, 64 * 64 - 1 do pixels:u32(i * 4, 0xFFC08040) end
            dxgk.draw { pixels = pixels, width = 64, height = 64, x = 100, y = 50 }
            return true""", "--device", "null", "--screen", os.path.join(folder, "screen.png"))
        has(page.said["pictures"], "Screen of source 0 of adapter 0, 1024 x 768")
        is_(len(page.sources), 1)
        is_(page.said["timeline"].find("screens") < page.said["timeline"].find("source 0"), True)
        path = os.path.join(folder, "inside.png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(page.sources[0].split(",", 1)[1], validate=True))
        inside, beside = png.read(path)[0], png.read(os.path.join(folder, "screen.png"))[0]
        is_(inside.checksum(), beside.checksum())
        is_(inside.at(120, 60), (0xC0, 0x80, 0x40))
        page = run(folder, "drivers/bootfb.so", """
            local pixels, state = dxgk.buffer(1024 * 768 * 4), 1
            for y = 0, 767 do for x = 0, 1023 do
                state = state * 6364136223846793005 + 1442695040888963407
                pixels:u32((y * 1024 + x) * 4, 0xFF000000 | (state >> 32 & 0x3F3F3F) + (x < 512 and 0xC00000 or 0xC0))
            end end
            dxgk.draw { pixels = pixels, width = 1024, height = 768, x = 0, y = 0 }
            return true""", "--device", "null")
        has(page.said["pictures"], "Screen of source 0 of adapter 0, 1024 x 768", "drawn at 1/3 of its size")
        with open(path, "wb") as file:
            file.write(base64.b64decode(page.sources[0].split(",", 1)[1], validate=True))
        inside = png.read(path)[0]
        is_((inside.width, inside.height, os.path.getsize(path) < 400000), (341, 256, True))
        for x, wanted in ((20, (0xDF, 0x1F, 0x1F)), (320, (0x1F, 0x1F, 0xDF))):  # the mean of what is there
            mean = [sum(inside.at(x, y)[channel] for y in range(200)) / 200 for channel in range(3)]
            if any(abs(a - b) > 3 for a, b in zip(mean, wanted)):
                fail(f"column {x} is {mean}, not {wanted}")


def case_bounded():
    """A long run has a page of bounded size."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(SOURCE, "workloads", "refgpu.lua"), folder)
        with open(os.path.join(SOURCE, "workloads", "soak.lua"), encoding="utf-8") as file:
            soak = file.read()
        page = run(folder, "drivers/refgpu.so", soak, "--set", "submissions=20000", "--vram", "8M")
        is_(len(page.text) < 2000000, True)
        has(page.said["timeline"], "more rows in the trace")


def case_isolated():
    """Of an isolated machine, no file is read that it could not have read, by whichever process writes the page."""
    with tempfile.TemporaryDirectory() as folder:
        for ends, part in ((False, "f1"), (True, "end")):
            os.environ.pop("DXGK_TEST_EXIT", None)
            if ends:
                os.environ["DXGK_TEST_EXIT"] = "1"
            page = run(folder, "tests/drivers/prints.so", "return true", "--device", "null", expect=STOPPED)
            has(page.said[part], "prints.c:")
            has(page.said["guilty"], "the guilty")
            if SANITIZED:  # a sanitizer needs rights of its own
                continue
            page = run(folder, "tests/drivers/prints.so", "return true", "--device", "null", "--isolate", expect=STOPPED)
            has(page.said[part], "prints.c:", "cannot be read from here")
            is_("source" in page.said, False)


def case_refused():
    """Where it cannot be written it is told; a campaign has no page."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "workload.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write("return true")
        for target, word in ((os.path.join(folder, "none", "x"), "No such file or directory"), ("/dev/full", "writing failed")):
            done = subprocess.run([os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, "drivers", "refgpu.so"), path, "--html", target, "--out",
                                   os.path.join(folder, "out")], capture_output=True, text=True, timeout=120, check=False)
            is_(done.returncode, 4 if target == "/dev/full" else 2)
            has(done.stderr, word, target)
        done = subprocess.run([os.path.join(BUILD, "dxgkhost"), "explore", os.path.join(BUILD, "drivers", "refgpu.so"), path, "--seeds", "1..2", "--html", "x"],
                              capture_output=True, text=True, timeout=120, check=False)
        is_(done.returncode, 2)
        has(done.stderr, "not an option of explore: --html")


def shot(browser, folder, name, width, *options):
    """What a browser shows of the page; kept in the build folder, for who wants to look."""
    path = os.path.join(BUILD, f"page-{name}.png")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
               "--user-data-dir=" + os.path.join(folder, "browser"), f"--window-size={width},900", "--screenshot=" + path, *options,
               "file://" + os.path.join(folder, "page.html")]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    if done.returncode != 0 or not os.path.exists(path):
        fail(f"{' '.join(command)}\n{done.stderr.decode(errors='replace')}")
    return png.read(path)[0]


def case_browser():
    """In headless Chromium: light and dark as the reader has it, the guilty line in its color on the first screen."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("skipped: there is no Chromium here (Debian's package chromium)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        run(folder, "tests/drivers/prints.so", "return true", "--device", "null", expect=STOPPED)
        for name, width, option, ground, guilty in (("light", 1280, "0", (255, 255, 255), (0xFD, 0xEB, 0xE9)), ("dark", 1280, "1", (0x14, 0x17, 0x1A), (0x4A, 0x21, 0x1E)),
                                                    ("narrow", 520, "0", (255, 255, 255), (0xFD, 0xEB, 0xE9))):
            seen = shot(browser, folder, name, width, *(("--blink-settings=preferredColorScheme=0",) if option == "1" else ("--blink-settings=preferredColorScheme=1",)))
            is_(seen.width, width)
            is_(seen.at(2, 2), ground)
            is_({seen.at(width - 2, y) for y in range(0, 900, 7)}, {ground})  # nothing sticks out
            rows = [y for y in range(900) if seen.lines[y].count(bytes(guilty)) > width // 3]
            if not 10 < len(rows) < 40 or rows[-1] - rows[0] > 40:
                fail(f"{name}: the guilty line is at {rows}")


def main():
    global BUILD, SANITIZED
    BUILD = sys.argv[2]
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
