#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Screens of display-only drivers as a user has them. Usage: screens.py CASE BUILD_FOLDER. Exit status 0: the case holds."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import png
from rules_shown import shown

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
SANITIZED = False
# A square of one colour on a canvas: square(colour, x, y [, side]).
SQUARE = """
local function square(colour, x, y, side)
  side = side or 32
  local pixels = dxgk.buffer(side * side * 4)
  for i = 0, side * side - 1 do pixels:u32(i * 4, 0xFF000000 | colour) end
  dxgk.draw { pixels = pixels, width = side, height = side, x = x, y = y }
end
"""


def fail(text):
    print(text)
    sys.exit(1)


def run(folder, text, *options, expect=0, driver="drivers/bootfb.so", words=(), verb="run", device="null"):
    """A workload of this text. `words`: what it is to say."""
    path = os.path.join(folder, "workload.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    command = [os.path.join(BUILD, "dxgkhost"), verb, os.path.join(BUILD, driver), *((path, "--out", os.path.join(folder, "out")) if verb != "inspect" else ()),
               "--device", device, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace", check=False, stdin=subprocess.DEVNULL)
    said = f"{' '.join(command)}\nexit status {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}"
    if done.returncode != expect or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
        fail(said)
    for word in words:
        if word not in done.stdout + done.stderr:
            fail(f"{word!r} is missing: {said}")
    return done


def row(done, name):
    return int(re.search(rf"^ +{name} +(\d+)", done.stdout, re.M).group(1))


def case_modes():
    """The modes of a source; each can be set, and no other. A member that is misspelt is refused."""
    with tempfile.TemporaryDirectory() as folder:
        run(folder, """
            local seen = {}
            for _, mode in ipairs(dxgk.modes()) do
              seen[#seen + 1] = mode.width .. "x" .. mode.height
              assert(mode.target == 0 and mode.hz == nil and table.concat(mode.rotations, " ") == "0 90 180 270")
              for _, rotation in ipairs(mode.rotations) do
                dxgk.mode { width = mode.width, height = mode.height, rotation = rotation }
              end
            end
            assert(table.concat(seen, " ") == "640x480 800x600 1024x768", table.concat(seen, " "))
            assert(not pcall(dxgk.mode, { width = 1280, height = 720 }))
            local function refused(why, call, ...)
              local good, error = pcall(call, ...)
              assert(not good and error:find(why, 1, true), tostring(error))
            end
            refused("dxgk.mode has no member heigth; the nearest is height", dxgk.mode, { width = 800, heigth = 600 })
            refused("dxgk.draw has no member pixel; the nearest is pixels", dxgk.draw, { width = 8, height = 8, pixel = dxgk.buffer(256) })
            refused("members have names, not a number", dxgk.mode, { 800, 600 })
            dxgk.mode { width = 800, height = 600, hz = 59.94 }
            for _, hz in ipairs { -1, 1000.5, "x", 0 / 0 } do
              refused("hz is to be a number from 0 to 1000", dxgk.mode, { width = 800, height = 600, hz = hz })
            end
            refused("wait is to be true or false", dxgk.draw, { width = 8, height = 8, pixels = dxgk.buffer(256), wait = 0 })
            refused("adapter 0 has no video present source 1", dxgk.modes, 1)
            refused("the machine has no adapter 1", dxgk.modes, 0, 1)
            dxgk.display(0, false)
            assert(dxgk.modes() == nil)""")
        once, twice = (row(run(folder, "dxgk.modes() " * count), "DDI calls") for count in (1, 2))
        if once != twice:
            fail(f"{once} DDI calls with one list, {twice} with two")
        shown("VIDPN-205")


# Three squares, 30 ms apart, then another mode, and twice the same square.
SHOW = SQUARE + """
for i = 0, 2 do square(0x204060 + i * 0x300000, i * 40, i * 30) dxgk.sleep(30000000) end
dxgk.mode { width = 800, height = 600 }
square(0xFF0000, 0, 0)
square(0xFF0000, 0, 0)
dxgk.report("checksum", ("%08x"):format(dxgk.screen().checksum))
"""


def picture(path):
    pictures = png.read(path)
    if len(pictures) != 1:
        fail(f"{path} is animated")
    return pictures[0]


def expect_pixels(seen, *wanted):
    for x, y, colour in wanted:
        if seen.at(x, y) != ((colour >> 16) & 255, (colour >> 8) & 255, colour & 255):
            fail(f"pixel {x}, {y} is {seen.at(x, y)}, not 0x{colour:06x}")


def case_at():
    """Pictures at virtual times and at the end: each shows what was there then, and the run is the same without them."""
    with tempfile.TemporaryDirectory() as folder:
        at, end, odd, trace = (os.path.join(folder, name) for name in ("at.png", "end@.png", "a@b", "trace.json"))
        done = run(folder, SHOW, "--screen", at + "@60ms", "--screen", end, "--screen", odd, "--trace", trace)
        expect_pixels(picture(at), (1, 1, 0x204060), (45, 35, 0x504060), (85, 65, 0), (1, 700, 0))
        expect_pixels(picture(end), (112, 84, 0xFF0000), (111, 84, 0), (85, 65, 0))
        picture(odd)
        if f"{picture(end).checksum():08x}" not in done.stdout:
            fail(f"the checksum is not {picture(end).checksum():08x}\n{done.stdout}")
        with open(trace, "rb") as file:
            traced = file.read()
        run(folder, SHOW, "--trace", trace)
        with open(trace, "rb") as file:
            if file.read() != traced:
                fail("a picture changes the run")
        late = os.path.join(folder, "late.png")
        run(folder, SHOW, "--screen", late + "@1s", expect=4, words=("late.png@1s: no picture of the screen: the run ended before, at ",))
        run(folder, "dxgk.display(0, false)", "--screen", late, expect=4, words=("late.png: no picture of the screen: the screen has no signal",))
        run(folder, "dxgk.display(0, false) dxgk.sleep(1000000)", "--screen", late + "@900us", expect=4, words=("the screen has no signal then",))
        run(folder, SHOW, "--screen", os.path.join(folder, "no", "where.png"), expect=4, words=("no picture of the screen: No such file",))
        for wrong in ("", "@5s", "0=", "0=@5s"):
            run(folder, SHOW, "--screen", wrong, expect=2, words=("--screen wants [SOURCE=]FILE.png",))
        run(folder, SHOW, "--screen", "1=" + late, expect=4, words=("late.png: no picture of the screen: adapter 0 has no video present source 1",))
        first = os.path.join(folder, "first.png")
        run(folder, SHOW, "--screen", f"0={first}@60ms")
        if picture(first).checksum() != picture(at).checksum():
            fail("0= is another source than none")
        if os.path.exists(late):
            fail("late.png is there")
        shown("PRES-312", "PRES-319")


def index_of(folder):
    with open(os.path.join(folder, "index.tsv"), encoding="utf-8") as file:
        head, *lines = file.read().splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"))) for line in lines]


def case_frames():
    """Each frame with its time, checksum and rectangles, equal ones in one file; two runs leave the same; limits hold."""
    with tempfile.TemporaryDirectory() as folder:
        frames = os.path.join(folder, "frames")
        done = run(folder, SHOW, "--frames", frames)
        index = index_of(frames)
        if [line["cause"] for line in index] != ["mode", "present", "present", "present", "mode", "present", "present"]:
            fail(index)
        if [line["rectangles"] for line in index[:3]] != ["0,0,1024,768", "0,0,32,32", "40,30,72,62"] or index[4]["rectangles"] != "0,0,800,600":
            fail(index)
        times = [int(line["time_ns"]) for line in index]
        if times != sorted(times) or any(later - earlier < 16666000 for earlier, later in zip(times, times[1:])):
            fail(f"times {times}")
        for number, line in enumerate(index, 1):
            seen = picture(os.path.join(frames, line["file"]))
            if (line["adapter"], line["source"], int(line["frame"])) != ("0", "0", number) or f"{seen.checksum():08x}" != line["checksum"] or \
                    (str(seen.width), str(seen.height)) != (line["width"], line["height"]):
                fail(f"{line}: the file has {seen.width} x {seen.height}, {seen.checksum():08x}")
        if index[5]["file"] != index[6]["file"] or len({line["file"] for line in index}) != 6 or len(os.listdir(frames)) != 7:
            fail(f"files: {sorted(os.listdir(frames))}, {index}")
        if index[-1]["checksum"] not in done.stdout:
            fail(done.stdout)
        again = os.path.join(folder, "again")
        run(folder, SHOW, "--frames", again)
        for name in os.listdir(frames):
            with open(os.path.join(frames, name), "rb") as one, open(os.path.join(again, name), "rb") as other:
                if one.read() != other.read():
                    fail(f"{name} is another in the second run")
        for limit, files in (("2", 2), ("0", 0), ("100,20K", 1)):
            some = os.path.join(folder, "some" + limit)
            done = run(folder, SHOW, "--frames", some, "--frames-limit", limit, words=(f"has {files} pictures of ",))
            if len(os.listdir(some)) != files + 1 or len(index_of(some)) != 7 or done.stderr.count("--frames-limit") != 1:
                fail(f"limit {limit}: {os.listdir(some)}\n{done.stderr}")
            if [line["checksum"] for line in index_of(some)] != [line["checksum"] for line in index]:
                fail("lines without a file have other checksums")
        for wrong in ("", "x", "5,", "5,x", "-1", "5 ,1G"):
            run(folder, SHOW, "--frames", frames, "--frames-limit", wrong, expect=2, words=("--frames-limit wants",))
        run(folder, SHOW, "--frames", os.path.join(folder, "workload.lua"), expect=2, words=("Not a directory",))
        full = os.path.join(folder, "full")
        os.mkdir(full)
        os.symlink("/dev/full", os.path.join(full, "index.tsv"))
        run(folder, SHOW, "--frames", full, expect=4, words=("full: not all frames are there: its index could not be written",))
        full = os.path.join(folder, "almost")
        os.mkdir(full)
        os.symlink("/dev/full", os.path.join(full, "0-0-000003.png"))
        run(folder, SHOW, "--frames", full, expect=4, words=("almost: not all frames are there: 0-0-000003.png: No space left on device",))
        # what was recorded before the process crashed is there
        crashed = os.path.join(folder, "crashed")
        run(folder, SHOW + "while true do end", "--frames", crashed, "--script-limit", "0", "--stall-limit", "1", expect=4, words=("the machine stood still",))
        if len(index_of(crashed)) != 7:
            fail(index_of(crashed))
        shown("PRES-317", "PRES-318")


def case_animation():
    """An animated PNG has the frames as they were seen, each as long as it stood."""
    with tempfile.TemporaryDirectory() as folder:
        frames, path = os.path.join(folder, "frames"), os.path.join(folder, "all.png")
        run(folder, SHOW + "dxgk.sleep(500000000)", "--frames", frames, "--animation", path)
        index, seen = index_of(frames), png.read(path)
        if [f"{one.checksum():08x}" for one in seen] != [line["checksum"] for line in index[:-1]]:
            fail(f"{[hex(one.checksum()) for one in seen]}, and the index {index}")
        times = [int(line["time_ns"]) / 1e6 for line in index[:-1]]
        if any(abs(sum(one.ms for one in seen[:i]) - (times[i] - times[0])) > 1 for i in range(len(seen))) or seen[-1].ms < 500:
            fail(f"{[one.ms for one in seen]}, and the index {times}")
        run(folder, SHOW, "--animation", path, "--frames-limit", "3", words=("all.png: the animation is not whole: it has all that --frames-limit lets in",))
        if len(png.read(path)) != 3:
            fail("not 3 frames")
        run(folder, SHOW, "--animation", "1=" + path, expect=4, words=("all.png: no animation of the screen: no frame was shown",))
        run(folder, SHOW, "--animation", "0=", expect=2, words=("--animation wants [SOURCE=]FILE.png",))
        run(folder, SHOW, "--animation", os.path.join(folder, "no", "where.png"), expect=4, words=("no animation of the screen: No such file",))


def case_explored():
    """explore leaves a picture of each seed that fails, and refuses recordings."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        text = SHOW + "if dxgk.set.fails then error('it fails') end"
        run(folder, text, "--seeds", "1..2", "-j", "1", "--screen", "some/screen.png", verb="explore")
        if os.listdir(out):
            fail(os.listdir(out))
        run(folder, text, "--seeds", "1..2", "-j", "1", "--screen", "some/screen.png", "--screen", "early@10us", "--set", "fails=1", verb="explore", expect=1)
        if sorted(os.listdir(out)) != ["early-1", "early-2", "screen-1.png", "screen-2.png"]:
            fail(os.listdir(out))
        expect_pixels(picture(os.path.join(out, "screen-2.png")), (112, 84, 0xFF0000))
        expect_pixels(picture(os.path.join(out, "early-1")), (1, 1, 0))
        for option in ("--frames", "--animation"):
            run(folder, text, "--seeds", "1..2", option, os.path.join(folder, "x"), verb="explore", expect=2, words=("not an option of explore: " + option,))


def case_isolated():
    """Without rights the files and folders of these options can be written, and those beside them cannot."""
    if SANITIZED:  # which needs rights of its own
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("screen.png", "early.png", "frames", "all.png", "beside.png")}
        options = ("--screen", paths["screen.png"], "--screen", paths["early.png"] + "@1ms", "--frames", paths["frames"], "--animation", paths["all.png"])
        run(folder, SHOW + f"assert(not io.open('{paths['beside.png']}', 'w'))", *options, "--isolate")
        isolated = {name: open(path, "rb").read() for name, path in paths.items() if os.path.isfile(path)}
        if sorted(isolated) != ["all.png", "early.png", "screen.png"] or len(os.listdir(paths["frames"])) != 7:
            fail(sorted(isolated))
        run(folder, SHOW, *options)
        if isolated != {name: open(paths[name], "rb").read() for name in isolated}:
            fail("other pictures without rights")
        run(folder, SHOW + "error('no')", "--screen", "screen.png", "--seeds", "1", "--isolate", verb="explore", expect=1)
        picture(os.path.join(folder, "out", "screen-1.png"))


def case_firmware():
    """A frame buffer of another size, with lines that are longer than their pixels."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "screen.png")
        text = SQUARE + """
            local last = dxgk.modes()
            last = last[#last]
            assert(last.width == dxgk.screen().width and last.height == dxgk.screen().height)
            dxgk.mode { width = last.width, height = last.height }
            square(0x123456, last.width - 32, last.height - 32)"""
        for value, width, height in (("1366x768,5504", 1366, 768), ("1920x1080", 1920, 1080), ("640x480,2560", 640, 480)):
            run(folder, text, "--firmware-screen", value, "--screen", path)
            seen = picture(path)
            if (seen.width, seen.height) != (width, height):
                fail(f"{value}: {seen.width} x {seen.height}")
            expect_pixels(seen, (width - 1, height - 1, 0x123456), (0, 0, 0))
        for value in ("", "1024", "1024x", "x768", "0x768", "1024x0", "16385x768", "1024x16385", "1024x768,4095", "1024x768,", "1024x768,4096x", " 1024x768", "1024x-768"):
            run(folder, text, "--firmware-screen", value, expect=2, words=("--firmware-screen",))


def case_reports():
    """A report of what a display-only adapter does not have says so."""
    with tempfile.TemporaryDirectory() as folder:
        for name, why in (("gpuva", "so there are no GPU address spaces"), ("residency", "so there are no segments"), ("submissions", "so nothing is submitted to it")):
            run(folder, "", "--report", name, expect=4, words=(f"--report {name}: adapter 0: it is of a display-only driver, {why}",))
        done = run(folder, "", "--report", "memory")
        if "owners" not in done.stdout:
            fail(done.stdout)


def case_traced():
    """A row of the trace for each source: modes, visibility, and presents with what they have."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        run(folder, SHOW + "dxgk.mode { width = 800, height = 600, rotation = 90 }", "--trace", trace)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        rows = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
        mine = [event for event in events if event["ph"] != "M" and groups[event["pid"]] == "screens"]
        if {rows[event["pid"], event["tid"]] for event in mine} != {"source 0"}:
            fail(rows)
        steps = " ".join(event["name"] for event in mine if event["ph"] != "E")
        if steps != "mode visible present present present present invisible mode visible present present present mode present":
            fail(steps)
        modes = [[event["args"][key] for key in ("source", "target", "width", "height", "rotation")] for event in mine if event["name"] == "mode"]
        if modes != [[0, 0, 1024, 768, 0], [0, 0, 800, 600, 0], [0, 0, 800, 600, 90]]:
            fail(modes)
        presents = [event["args"] for event in mine if event["ph"] == "B"]
        if [present["frame"] for present in presents] != list(range(1, len(presents) + 1)):
            fail(presents)
        box = [presents[2][key] for key in ("source", "rectangles", "left", "top", "right", "bottom", "width", "height", "format")]
        if box != [0, 1, 40, 30, 72, 62, 1024, 768, 21]:
            fail(box)
        ends = [event for event in mine if event["ph"] == "E"]
        if len(ends) != len(presents) or any(event["args"] != {"shown": 1} for event in ends):
            fail(ends)


def case_inspected():
    """inspect tells the entry that presents, the outputs, and the modes of each source."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("entry points, interface version 0x10004, display-only", "DxgkDdiPresentDisplayOnly ", "bootfb.so!bootfb_present_display_only", "23 of 41",
                 "SupportNonVGA SupportSmoothRotation", "output 0x0, other: a monitor without a descriptor, 8 modes, prefers 1280 x 1024",
                 "source 0: 1280 x 1024, modes", "    1280 x 720 on output 0x0, turned by 90 180 270")
        done = run(folder, "", "--firmware-screen", "1280x1024", verb="inspect", words=words)
        if done.stdout.count(" on output 0x0") != 5 or "nodes" in done.stdout or done.stdout.count("\nsegments\n") != 1:
            fail(done.stdout)
        run(folder, "", "--no-displays", verb="inspect", expect=6, words=("refused",))
        run(folder, "", "--screen", "x.png", verb="inspect", expect=2, words=("inspect runs no workload: --screen",))
        with open(os.path.join(SOURCE, "include", "wdk", "dispmprt.h"), encoding="utf-8") as file:
            table = re.search(r"struct _KMDDOD_INITIALIZATION_DATA \{(.*?)\n\}", file.read(), re.S).group(1)
        if len(re.findall(r"^ +PDXGK\w+ \w+;", table, re.M)) != 41:
            fail("the table of display-only drivers has another number of entries")


# What is shown, and the modes, now.
TELL = """
local function tell(what)
  local mode = dxgk.mode()
  print(what .. ": " .. (mode and mode.width .. "x" .. mode.height or "dark"))
end
"""


def edid_file(folder, change=None):
    """An EDID 1.3 with one detailed timing, 800x600 at 60 Hz, made here by its specification; with a byte that is wrong, 3 in the header."""
    timing = bytes([0xA0, 0x0F, 0x20, 0x00, 0x31, 0x58, 0x1C, 0x20, 0x28, 0x80, 0x14, 0x00, 0, 0, 0, 0, 0, 0x1E])
    name = bytes([0, 0, 0, 0xFC, 0]) + b"Test\n        "
    base = bytearray(bytes([0, 255, 255, 255, 255, 255, 255, 0, 0x4C, 0x2D, 1, 0, 0, 0, 0, 0, 1, 20, 1, 3, 0x80, 30, 20, 120, 10]) + bytes(10) + bytes(3) + bytes([1] * 16) +
                     timing + name + bytes([0, 0, 0, 0x10, 0] + [0] * 13) * 2 + bytes(2))
    if change == 3:
        base[change] ^= 1
    base[127] = -sum(base[:127]) & 255
    if change and change != 3:
        base[change] ^= 1
    path = os.path.join(folder, "monitor.bin")
    with open(path, "wb") as file:
        file.write(base)
    return path


def case_monitors():
    """Monitors from modes and from EDID files, which come and go at virtual times, on the output of a device that tells of them."""
    with tempfile.TemporaryDirectory() as folder:
        def plug(text, *monitors, driver="tests/drivers/monitors.so", verb="run", expect=0, words=(), more=()):
            options = sum((["--monitor", monitor] for monitor in monitors), [])
            return run(folder, text, "--device-set", "outputs=1", *options, *more, driver=driver, verb=verb, expect=expect, words=words)

        look = TELL + "tell('start') dxgk.sleep(100000000) tell('100 ms') dxgk.sleep(100000000) tell('200 ms')"
        plug(look, words=("start: 1024x768", "200 ms: 1024x768"))
        plug("", verb="inspect", words=('output 0x0, HDMI: monitor "dxgkhost", EDID of 128 bytes, 3 modes, prefers 1024 x 768',))
        shown("PRES-323", "PRES-322/b")
        plug(look, "800x600,640x480", words=("start: 800x600", "200 ms: 800x600"))
        plug("", "800x600,640x480", verb="inspect", words=("EDID of 128 bytes, 2 modes, prefers 800 x 600",))
        plug("", "0=640x480@60", verb="inspect", words=("1 modes, prefers 640 x 480",))
        path = edid_file(folder)
        plug(look, path, words=("start: 800x600",))
        plug("", path, verb="inspect", words=('monitor "Test", EDID of 128 bytes, 1 modes, prefers 800 x 600',))
        plug(look, "none", words=("start: dark", "200 ms: dark"))
        plug(look, "0@50ms=none", words=("start: 1024x768", "100 ms: dark", "200 ms: dark"))
        plug(look, "640x480", "0@50ms=none", f"0@150ms={path}", words=("start: 640x480", "100 ms: dark", "200 ms: 800x600"))
        plug(look, "640x480", "0@50ms=800x600", words=("start: 640x480", "100 ms: 800x600"))
        # by the workload; it takes some time until the driver has told
        plug(TELL + """
            local function refused(why, ...)
              local good, error = pcall(dxgk.monitor, ...)
              assert(not good and error:find(why, 1, true), tostring(error))
            end
            dxgk.monitor(false) dxgk.sleep(1000000) tell("none")
            dxgk.monitor("640x480@60,800x600") dxgk.sleep(1000000) tell("modes")
            local file = assert(io.open(dxgk.set.edid, "rb"))
            local bytes = file:read("a")
            local edid = dxgk.buffer(#bytes)
            for i = 1, #bytes do edid:u8(i - 1, bytes:byte(i)) end
            dxgk.monitor(edid, 0) dxgk.sleep(1000000) tell("bytes")
            edid:u8(127, edid:u8(127) ~ 1)
            refused("has a sum that is not 0", edid)
            refused("is no mode such as", "640")
            refused("the device has 1 output, and none with number 1", false, 1)
            refused("the machine has no device 1", false, 0, 1)
            refused("outputs are counted from 0", false, -1)
            refused("", 5)""", more=("--set", "edid=" + path), words=("none: dark", "modes: 640x480", "bytes: 800x600"))
        # the screen, at the time of the change
        screen = os.path.join(folder, "screen.png")
        plug(look, "0@50ms=none", more=("--screen", screen + "@49999us"))
        picture(screen)
        plug(look, "0@50ms=none", more=("--screen", screen + "@51ms"), expect=4, words=("the screen has no signal then",))
        plug(look, "0@5s=none", more=("--frames", os.path.join(folder, "frames")))
        shown("PRES-324")
        # a driver that asks no hardware
        plug(look, "none", driver="drivers/bootfb.so", words=("start: 1024x768", "200 ms: 1024x768"))
        shown("PRES-322/a")
        for change, why in ((100, "block 0 of the EDID has a sum that is not 0"), (3, "block 0 of the EDID has no header of a base block")):
            path = edid_file(folder, change)
            plug(look, path, expect=2, words=(f"--monitor {path}: {why}",))
        plug(look, "force:" + edid_file(folder, 100), words=("DISP-069",))
        for wrong, why in (("800y600", '"800y600" is no mode such as 1024x768@60'), (os.path.join(folder, "none.bin"), "neither a file nor a list of modes"),
                           (os.path.join(folder, "workload.lua"), "an EDID has 1 to 256 blocks of 128 bytes"), (folder, "this is a directory"), ("1=800x600", "the device has 1 output, and none with number 1"),
                           ("force:no.bin", "no file no.bin"), ("20000x20000", "is no mode")):
            plug(look, wrong, expect=2, words=(why,))
        for wrong in ("", "0=", "0@5ms="):
            plug(look, wrong, expect=2, words=("--monitor wants",))
        run(folder, look, "--monitor", "800x600", expect=2, words=("--monitor 800x600: the device model tells of no outputs",))
        run(folder, look, "--monitor", "800x600", device=os.path.join(BUILD, "devices", "refgpu.so"), expect=2, words=("the device model tells of no outputs",))
        if not SANITIZED:
            plug(look, edid_file(folder), more=("--isolate",), words=("start: 800x600",))
        shown("PRES-321")


def case_outputs():
    """The reference GPU on a board with outputs, in each of its forms: modes, monitors and power, without a finding."""
    drivers = ["drivers/refgpu.so"] + [f"drivers/{c}/refgpu.sys" for c in ("gcc", "clang") if os.path.exists(os.path.join(BUILD, "drivers", c, "refgpu.sys"))]
    text = """
        local function shows(source, width, height)
          local screen = dxgk.screen(source)
          assert(screen and not screen.black and screen.width == width and screen.height == height)
        end
        shows(0, 1024, 768)
        assert(dxgk.screen(1) == nil and #dxgk.modes() == 3)
        for _, mode in ipairs(dxgk.modes()) do
          dxgk.mode { width = mode.width, height = mode.height, hz = mode.hz }
          shows(0, mode.width, mode.height)
        end
        dxgk.monitor("800x600@75", 1)
        dxgk.sleep(50000000)
        shows(1, 800, 600)
        assert(math.abs(dxgk.mode(1).hz - 75) < 0.5)
        dxgk.monitor(false, 0)
        dxgk.sleep(50000000)
        assert(dxgk.mode(0) == nil and dxgk.screen(0) == nil)
        shows(1, 800, 600)
        dxgk.power("D3")
        assert(dxgk.screen(1) == nil)
        dxgk.power("D0")
        shows(1, 800, 600)
        """
    with tempfile.TemporaryDirectory() as folder:
        for driver in drivers:
            for options in ((), ("--device-set", "vga=1"), ("--iommu", "remap")):
                run(folder, text, "--device-set", "outputs=2", *options, driver=driver, device=os.path.join(BUILD, "devices", "refgpu.so"),
                    words=("violations             0 (0 warnings)", "leaks                  0"))
            command = [os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, driver), os.path.join(SOURCE, "workloads", "desktop.lua"), "--device-set", "outputs=2",
                       "--vram", "64M", "--set", "frames=2", "--out", folder]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, errors="replace", check=False)
            if done.returncode or "violations             0 (0 warnings)" not in done.stdout or not os.path.exists(os.path.join(folder, "desktop.png")):
                fail(f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        run(folder, "assert(not pcall(dxgk.mode))", device=os.path.join(BUILD, "devices", "refgpu.so"), driver=drivers[0])


def case_stopped():
    """In a bug check the reference GPU, on the firmware's display, shows the code; without the option, what was there."""
    with tempfile.TemporaryDirectory() as folder:
        registry = os.path.join(folder, "tdr.reg")
        with open(registry, "w", encoding="utf-8") as file:
            file.write('[\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers]\n"TdrLevel"=4:01000000\n')
        shutil.copy(os.path.join(SOURCE, "workloads", "refgpu.lua"), folder)
        with open(os.path.join(SOURCE, "workloads", "hang.lua"), encoding="utf-8") as file:
            hang = file.read()
        for options, blue in (("--last-screen",), True), ((), False):
            path = os.path.join(folder, f"screen{blue}.png")
            run(folder, hang, "--device-set", "outputs=1", "--device-set", "vga=1", "--registry", registry, "--screen", path, *options, expect=5,
                driver="drivers/refgpu.so", device=os.path.join(BUILD, "devices", "refgpu.so"))
            picture = png.read(path)[0]
            colours = {bytes(row[i:i + 3]) for row in picture.lines for i in range(0, len(row), 3)}
            if picture.width != 1024 or (colours == {b"\0\0\0"}) == blue or (blue and len(colours) != 2):
                fail(f"{options}: {picture.width} columns, {len(colours)} colours")


def case_client():
    """The D3DKMT calls of displays by a workload, on the reference GPU with an output."""
    text = """
        local function refused(status, call, arguments)
          local good, error = pcall(D3DKMT[call], arguments)
          assert(not good and error.status == status, call .. ": " .. tostring(error))
          return error
        end
        local opened = D3DKMT.OpenAdapterFromGdiDisplayName{DeviceName = [[\\\\.\\DISPLAY1]]}
        assert(opened.VidPnSourceId == 0 and D3DKMT.OpenAdapterFromHdc{hDc = 1}.LowPart == opened.LowPart)
        refused("STATUS_UNSUCCESSFUL", "OpenAdapterFromGdiDisplayName", {DeviceName = [[\\\\.\\DISPLAY2]]})
        local source = {hAdapter = opened.hAdapter, VidPnSourceId = 0}
        local list = D3DKMT.GetDisplayModeList(source)
        assert(list.ModeCount == #list.pModeList and list.ModeCount >= 3)
        assert(list.pModeList[1].Width == 1024 and list.pModeList[1].IntegerRefreshRate == 60)
        refused("STATUS_BUFFER_TOO_SMALL", "GetDisplayModeList", {hAdapter = opened.hAdapter, VidPnSourceId = 0, ModeCount = 1})
        refused("STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE", "GetDisplayModeList", {hAdapter = opened.hAdapter, VidPnSourceId = 1})
        local device = D3DKMT.CreateDevice{hAdapter = opened.hAdapter}.hDevice
        local state = {hDevice = device, StateType = D3DKMT_DEVICESTATE_PRESENT, VidPnSourceId = 0}
        assert(D3DKMT.GetDeviceState(state).PresentState.PresentStats.PresentCount == 0)
        assert(D3DKMT.SetQueuedLimit{hDevice = device, Type = D3DKMT_GET_QUEUEDLIMIT_PRESENT}.QueuedPresentLimit == 3)
        assert(D3DKMT.GetSharedPrimaryHandle(source).hSharedPrimary ~= 0)
        D3DKMT.CheckMonitorPowerState(source)
        D3DKMT.CheckOcclusion{hWindow = 1}
        D3DKMT.SetVidPnSourceOwner{hDevice = device, pType = {D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE}, pVidPnSourceId = {0}}
        refused("STATUS_GRAPHICS_PRESENT_OCCLUDED", "CheckOcclusion", {hWindow = 1})
        refused("STATUS_GRAPHICS_PRESENT_OCCLUDED", "CheckVidPnExclusiveOwnership", source)
        local before = dxgk.time()
        for _ = 1, 3 do
          D3DKMT.WaitForVerticalBlankEvent(source)
        end
        assert(dxgk.time() - before > 33000000 and dxgk.time() - before < 51000000)
        local line = D3DKMT.GetScanLine(source)
        assert(line.ScanLine < 2000)
        D3DKMT.WaitForVerticalBlankEvent2{hAdapter = opened.hAdapter, VidPnSourceId = 0, ObjectHandleArray = {}}
        local error = refused("STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED", "SetGammaRamp", {hDevice = device, VidPnSourceId = 0,
          Type = D3DDDI_GAMMARAMP_DXGI_1, pGammaRampRgb256x3x16 = dxgk.buffer(12324)})
        assert(error.reason:find("no cap for ramps", 1, true))
        D3DKMT.SetGammaRamp{hDevice = device, VidPnSourceId = 0, Type = D3DDDI_GAMMARAMP_RGB256x3x16, pGammaRampRgb256x3x16 = dxgk.buffer(1536)}
        refused("STATUS_INVALID_PARAMETER", "Present", {hContext = 0, Flags = 4, DstRect = {left = 0, top = 0, right = 8, bottom = 8}})
        D3DKMT.ReleaseProcessVidPnSourceOwners{}
        D3DKMT.CheckVidPnExclusiveOwnership(source)
        D3DKMT.DestroyDevice{hDevice = device}
        """
    with tempfile.TemporaryDirectory() as folder:
        run(folder, text, "--device-set", "outputs=1", driver="drivers/refgpu.so", device=os.path.join(BUILD, "devices", "refgpu.so"),
            words=("violations             0 (0 warnings)", "leaks                  0"))


def main():
    global BUILD, SANITIZED
    BUILD = os.path.abspath(sys.argv[2])
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
