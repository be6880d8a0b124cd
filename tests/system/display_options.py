#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a workload does with screens, beyond showing something: display_options.py CASE BUILD_FOLDER. Exit status 0: the case holds."""
import json
import os
import sys
import tempfile

import png
import screens
from rules_shown import shown
from screens import SQUARE, fail, run

REFGPU = ("--device-set", "outputs=1")


def on_refgpu(folder, text, *options, words=()):
    return run(folder, text, *REFGPU, *options, driver="drivers/refgpu.so", device=os.path.join(screens.BUILD, "devices", "refgpu.so"), words=words)


def events(path):
    with open(path, encoding="utf-8") as file:
        return [event for event in json.load(file)["traceEvents"] if event["ph"] != "M"]


def calls(seen, name):
    """The arguments of each call of this name."""
    return [event.get("args", {}) for event in seen if event["ph"] == "B" and event["name"] == name]


def case_compared():
    """A screen against a reference: counts, the largest difference, the box around what differs, and a picture of it."""
    with tempfile.TemporaryDirectory() as folder:
        reference, difference = (os.path.join(folder, name) for name in ("reference.png", "difference.png"))
        run(folder, SQUARE + f"""
            square(0x102030, 40, 30)
            local seen = dxgk.screen()
            dxgk.image.write("{reference}", seen.pixels, seen.width, seen.height)
            local function compare(tolerance, allowed, picture)
              return dxgk.image.compare {{ picture = picture or dxgk.screen(), reference = "{reference}", tolerance = tolerance, allowed = allowed }}
            end
            local same = compare()
            assert(same.matches and same.same_size and same.count == 0 and same.largest == 0 and same.right == 0)
            square(0x132030, 50, 44, 1) -- red is off by 3
            local off = compare(2)
            assert(not off.matches and off.count == 1 and off.largest == 3)
            assert(off.left == 50 and off.top == 44 and off.right == 51 and off.bottom == 45)
            assert(compare(3).matches and compare(3).count == 0 and compare(3).largest == 3)
            assert(compare(2, 1).matches and not compare(2, 0).matches)
            square(0x10FF30, 60, 50, 1)
            local two = dxgk.image.compare {{ picture = dxgk.screen(), reference = dxgk.image.read("{reference}"), tolerance = 2, allowed = 1, difference = "{difference}" }}
            assert(not two.matches and two.count == 2 and two.largest == 0xDF and two.left == 50 and two.right == 61 and two.bottom == 51)
            local other = compare(255, 1024 * 768, {{ width = 9, height = 9, pixels = dxgk.buffer(9 * 9 * 4) }})
            assert(not other.same_size and not other.matches and other.right == 1024)
            for _, wrong in ipairs {{ {{ tolerance = 256 }}, {{ reference = 5 }}, {{ picture = {{ width = 9, height = 9, pixels = dxgk.buffer(8) }} }}, {{ colour = 1 }} }} do
              wrong.picture = wrong.picture or dxgk.screen()
              wrong.reference = wrong.reference or "{reference}"
              assert(not pcall(dxgk.image.compare, wrong))
            end
            """)
        seen = png.read(difference)[0]
        if (seen.width, seen.height) != (1024, 768) or seen.at(50, 44)[0] <= seen.at(50, 44)[1] or seen.at(60, 50)[0] <= seen.at(60, 50)[1] or \
                len(set(seen.at(0, 0))) != 1:
            fail(f"{seen.at(50, 44)} {seen.at(60, 50)} {seen.at(0, 0)}")
        shown("PRES-320")


def case_blanks():
    """Vertical syncs of a display-only driver are made up on the grid of the mode, and counted as such; refgpu reports its own."""
    text = """
        local opened = D3DKMT.OpenAdapterFromGdiDisplayName{DeviceName = [[\\\\.\\DISPLAY1]]}
        local source = {hAdapter = opened.hAdapter, VidPnSourceId = 0}
        D3DKMT.WaitForVerticalBlankEvent(source)
        local first = dxgk.time()
        for i = 1, 30 do
          D3DKMT.WaitForVerticalBlankEvent(source)
        end
        local passed, v = dxgk.time() - first, dxgk.mode().vsyncs
        assert(passed > 499500000 and passed < 500500000, passed)
        """
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        run(folder, text + "assert(v.simulated == 31 and v.reported == 0 and v.substituted == 0)", "--trace", trace)
        marks = [event["args"] for event in events(trace) if event["name"].startswith("vertical sync")]
        if [mark["count"] for mark in marks] != list(range(1, 32)) or {event["name"] for event in events(trace) if "vertical" in event["name"]} != {"vertical sync, simulated"}:
            fail(marks)
        on_refgpu(folder, text + """
            assert(v.reported >= 31 and v.simulated == 0 and v.substituted == 0)
            dxgk.display(dxgk.mode().target, false)
            D3DKMT.WaitForVerticalBlankEvent(source)
            """, "--trace", trace)
        if {event["name"] for event in events(trace) if event["name"].startswith("vertical")} != {"vertical sync", "vertical sync, substituted"}:
            fail("kinds of vertical syncs on refgpu")
        shown("PRES-193", "PRES-326")


def case_told():
    """The calls about displays are in a trace with source, rectangles, addresses and flags, and no pixel is."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        run(folder, SQUARE + """
            square(0x5A5A5A, 40, 30)
            dxgk.scroll { x = 140, y = 30, width = 32, height = 32, by_x = 100, by_y = 0 }
            dxgk.mode { width = 800, height = 600 }
            """, "--trace", trace)
        seen = events(trace)
        presents = calls(seen, "DxgkDdiPresentDisplayOnly")
        if presents[1] != {"source": 0, "rectangles": 1, "moves": 0, "flags": 0, "pitch": 4096} or \
                presents[2] != {"source": 0, "rectangles": 0, "moves": 1, "flags": 0, "pitch": 4096} or presents[-1]["pitch"] != 3200:
            fail(presents)
        if [call["visible"] for call in calls(seen, "DxgkDdiSetVidPnSourceVisibility")][:3] != [1, 0, 1] or \
                [call["source"] for call in calls(seen, "DxgkDdiCommitVidPn")][:2] != [0, 0]:
            fail([calls(seen, "DxgkDdiSetVidPnSourceVisibility"), calls(seen, "DxgkDdiCommitVidPn")])
        if any("ts" not in event for event in seen) or "1515870810" in json.dumps(seen) or "5A5A5A" in json.dumps(seen).upper():
            fail("no time, or a pixel")
        on_refgpu(folder, """
            local opened = D3DKMT.OpenAdapterFromGdiDisplayName{DeviceName = [[\\\\.\\DISPLAY1]]}
            local source = {hAdapter = opened.hAdapter, VidPnSourceId = 0}
            D3DKMT.WaitForVerticalBlankEvent(source)
            D3DKMT.GetScanLine(source)
            """, "--trace", trace)
        seen = events(trace)
        address = calls(seen, "DxgkDdiSetVidPnSourceAddress")[0]
        if address["source"] != 0 or address["flags"] & 1 != 1 or not address["segment"] or "address" not in address:
            fail(address)
        control = calls(seen, "DxgkDdiControlInterrupt") + calls(seen, "DxgkDdiControlInterrupt2") + calls(seen, "DxgkDdiControlInterrupt3")
        if not control or control[0]["type"] != 3 or "target" not in calls(seen, "DxgkDdiGetScanLine")[0]:
            fail(control)
        told = [event["args"] for event in seen if event["name"] == "notification"]
        if not told or told[0]["type"] != 3 or told[0]["address"] != address["address"]:
            fail(told[:3])
        shown("PRES-334")


def case_pointed():
    """The pointer is set by the workload alone: its shape of each kind, where it is, who moves it, whether it is seen."""
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        on_refgpu(folder, """
            local pixels = dxgk.buffer(16 * 16 * 4)
            for i = 0, 255 do pixels:u32(i * 4, 0xFFC08040) end
            dxgk.pointer { shape = { pixels = pixels, width = 16, height = 16, hot_x = 3, hot_y = 5 }, x = 50, y = 60 }
            dxgk.pointer { x = 51, y = 62, program = true }
            dxgk.pointer { visible = false }
            local masks = dxgk.buffer(16)
            masks:u32(0, 0xFFFFFFFF)
            dxgk.pointer { shape = { kind = "monochrome", pixels = masks, width = 8, height = 2, pitch = 4 }, x = 9, y = 9 }
            assert(dxgk.screen().width == 1024)
            """, "--trace", trace)
        seen = events(trace)
        shapes, places = calls(seen, "DxgkDdiSetPointerShape"), calls(seen, "DxgkDdiSetPointerPosition")
        if shapes[0] != {"source": 0, "flags": 2, "width": 16, "height": 16}:
            fail(shapes)
        wanted = [{"source": 0, "flags": 1, "x": 47, "y": 55}, {"source": 0, "flags": 3, "x": 48, "y": 57}, {"source": 0, "flags": 0, "x": 0, "y": 0}]
        if places[1:4] != wanted or places[4] != {"source": 0, "flags": 1, "x": 9, "y": 9}:
            fail(places)
        shown("PRES-306")


def case_flushed():
    """A virtio GPU shows what was flushed of the resource that is scanned out, not what was transferred."""
    with tempfile.TemporaryDirectory() as folder:
        run(folder, SQUARE + """
            local function at(x, y)
              local seen = dxgk.screen()
              return seen.pixels:u32((y * seen.width + x) * 4) & 0xFFFFFF
            end
            square(0x112233, 40, 30)
            square(0x445566, 40, 600)
            assert(at(40, 30) == 0x112233 and at(71, 631) == 0x445566)
            square(0xFF00FF, 0, 0, 1) -- the driver does not flush the upper half
            square(0x778899, 40, 30)
            square(0xAABBCC, 40, 600)
            assert(at(40, 30) == 0x112233 and at(0, 0) == 0 and at(40, 600) == 0xAABBCC)
            square(0, 0, 0, 1)
            assert(at(40, 30) == 0x778899)
            """, driver="tests/drivers/flushed.so", device=os.path.join(screens.BUILD, "devices", "virtio_gpu.so"), words=("violations             0 (0 warnings)", "leaks                  0"))
        shown("PRES-314")


def main():
    screens.BUILD = os.path.abspath(sys.argv[2])
    with open(os.path.join(screens.BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
        screens.SANITIZED = "DXGK_SANITIZE:BOOL=ON" in cache.read()
    globals()["case_" + sys.argv[1]]()


if __name__ == "__main__":
    main()
