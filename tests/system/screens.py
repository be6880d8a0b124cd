#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Screens of display-only drivers as a user has them. Usage: screens.py CASE BUILD_FOLDER. Exit status 0: the case holds."""
import os
import re
import subprocess
import sys
import tempfile

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
            refused("wait is to be true or false", dxgk.draw, { width = 8, height = 8, pixels = dxgk.buffer(256), wait = 0 })
            refused("adapter 0 has no video present source 1", dxgk.modes, 1)
            refused("the machine has no adapter 1", dxgk.modes, 0, 1)
            dxgk.display(0, false)
            assert(dxgk.modes() == nil)""")
        once, twice = (row(run(folder, "dxgk.modes() " * count), "DDI calls") for count in (1, 2))
        if once != twice:
            fail(f"{once} DDI calls with one list, {twice} with two")
        shown("VIDPN-205")


def main():
    global BUILD, SANITIZED
    BUILD = os.path.abspath(sys.argv[2])
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
