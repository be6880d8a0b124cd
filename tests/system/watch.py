#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--watch: the window on a real X server without a screen (Xvfb), and keys. Usage: watch.py CASE BUILD_FOLDER. Exit status 0: the case
holds; 77: there is no Xvfb, or the window was not built."""
import contextlib
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

BUILD = ""
MODULE = "libdxgkhost-window.so"
WORKLOAD = """
local canvas = dxgk.buffer(640 * 480 * 4)
for i = 0, 640 * 480 - 1 do canvas:u32(i * 4, i %% 640 < 320 and 0xC02040 or 0x2040C0) end
dxgk.mode { width = 640, height = 480 }
dxgk.draw { pixels = canvas, width = 640, height = 480 }
%s
"""
LEFT, RIGHT = 0xC02040, 0x2040C0


def fail(text):
    print(text)
    sys.exit(1)


def wait_for(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    return fail(f"{seconds} s without {what}")


# ---- X ----

class KeyEvent(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int), ("display", ctypes.c_void_p),
                ("window", ctypes.c_ulong), ("root", ctypes.c_ulong), ("subwindow", ctypes.c_ulong), ("time", ctypes.c_ulong),
                ("x", ctypes.c_int), ("y", ctypes.c_int), ("x_root", ctypes.c_int), ("y_root", ctypes.c_int), ("state", ctypes.c_uint),
                ("keycode", ctypes.c_uint), ("same_screen", ctypes.c_int), ("pad", ctypes.c_long * 24)]


class Server:
    """Xvfb, what its screen shows, and key presses for the window of the program."""

    def __init__(self, folder):
        read, write = os.pipe()
        self.process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1100x900x24", "-fbdir", folder, "-nolisten", "tcp"],
                                        pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            fail("Xvfb has not started")
        self.display = ":" + number
        self.file = os.path.join(folder, "Xvfb_screen0")
        self.x = ctypes.CDLL("libX11.so.6")
        self.x.XOpenDisplay.restype = ctypes.c_void_p
        self.x.XDefaultRootWindow.restype = ctypes.c_ulong
        self.x.XStringToKeysym.restype = ctypes.c_ulong
        self.connection = ctypes.c_void_p(self.x.XOpenDisplay(self.display.encode()))
        if not self.connection:
            fail("no connection to Xvfb")
        self.root = self.x.XDefaultRootWindow(self.connection)

    def end(self):
        self.x.XCloseDisplay(self.connection)
        self.process.terminate()
        self.process.wait()

    def windows(self):
        """Ids and titles of the windows."""
        root, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
        children = ctypes.POINTER(ctypes.c_ulong)()
        self.x.XQueryTree(self.connection, ctypes.c_ulong(self.root), ctypes.byref(root), ctypes.byref(parent), ctypes.byref(children),
                          ctypes.byref(count))
        found = []
        for i in range(count.value):
            name = ctypes.c_char_p()
            if self.x.XFetchName(self.connection, ctypes.c_ulong(children[i]), ctypes.byref(name)) and name.value:
                found.append((children[i], name.value.decode()))
        return found

    def title(self):
        return next((name for _, name in self.windows() if name.startswith("dxgkhost")), "")

    def press(self, key):
        window = next(window for window, name in self.windows() if name.startswith("dxgkhost"))
        event = KeyEvent(type=2, send_event=1, window=window, root=self.root, same_screen=1)
        event.display = self.connection
        event.keycode = self.x.XKeysymToKeycode(self.connection, ctypes.c_ulong(self.x.XStringToKeysym(key.encode())))
        for event.type in (2, 3):  # pressed, and released
            self.x.XSendEvent(self.connection, ctypes.c_ulong(window), 0, ctypes.c_long(1), ctypes.byref(event))
        self.x.XSync(self.connection, 0)

    def colours(self):
        """How many pixels of the screen have each colour."""
        with open(self.file, "rb") as file:
            data = file.read()
        header = struct.unpack(">25I", data[:100])
        start, width, height, pitch = header[0] + 12 * header[19], header[4], header[5], header[12]
        found = {}
        for y in range(0, height, 4):
            row = data[start + y * pitch:start + y * pitch + 4 * width]
            for x in range(0, width, 4):
                pixel = struct.unpack_from("<I", row, 4 * x)[0] & 0xFFFFFF
                found[pixel] = found.get(pixel, 0) + 1
        return found


@contextlib.contextmanager
def server(folder):
    x = Server(folder)
    try:
        yield x
    finally:
        x.end()


# ---- the program ----

def command(folder, tail, *options, driver="drivers/bootfb.so"):
    path = os.path.join(folder, "workload.lua")
    with open(path, "w", encoding="utf-8") as file:
        file.write(WORKLOAD % tail)
    return [os.path.join(BUILD, "dxgkhost"), "run", os.path.join(BUILD, driver), path, "--device", "null", "--out", folder, *options]


@contextlib.contextmanager
def watched(folder, tail, *options, driver="drivers/bootfb.so"):
    """The program, and its X server; it is to have ended with status 0."""
    with server(folder) as x:
        run = subprocess.Popen(command(folder, tail, "--watch", *options, driver=driver), env={**os.environ, "DISPLAY": x.display, "SDL_VIDEODRIVER": "x11"},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            yield run, x
        finally:
            try:
                run.wait(1 if sys.exc_info()[0] else 60)
            except subprocess.TimeoutExpired:
                run.terminate()  # the supervisor ends the machine, too
                print("it has not ended: " + run.communicate()[0])
                sys.exit(1)


def refused(expect, words, line, **environment):
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL, env={name: value for name, value in {**os.environ, **environment}.items() if value is not None})
    if done.returncode != expect or words not in done.stderr:
        fail(f"exit status {done.returncode}, not {expect}, or {words!r} is missing: {done.stdout}{done.stderr}")


def shows_both(x):
    seen = x.colours()
    return seen.get(LEFT, 0) == seen.get(RIGHT, 0) == 320 * 480 // 16


# ---- cases ----

def case_shown():
    """The window shows the screen pixel by pixel, stays when the workload is over, and ends the run when it is closed."""
    with tempfile.TemporaryDirectory() as folder:
        with watched(folder, "dxgk.sleep(200000000)") as (run, x):
            wait_for("the picture", lambda: shows_both(x))
            wait_for("the title of the end", lambda: x.title() == "dxgkhost: source 0: 1024 x 768, the workload is over")
            if run.poll() is not None or not shows_both(x):
                fail("it does not stay")
            x.press("Escape")
        text = run.stdout.read()
        if run.returncode or "PASS" not in text:
            fail(f"exit status {run.returncode}: {text}")


def case_keys():
    """Keys plug the monitor out and in again, Tab shows the next source, and the driver is told."""
    tail = """
        local function until_lit(wanted)
          while (dxgk.screen() ~= nil) ~= wanted do dxgk.sleep(20000000) end
        end
        until_lit(false)
        until_lit(true)
        dxgk.draw { pixels = canvas, width = 640, height = 480 }"""
    with tempfile.TemporaryDirectory() as folder:
        with watched(folder, tail, "--device-set", "outputs=1", "--monitor", "1024x768", driver="tests/drivers/monitors.so") as (run, x):
            wait_for("the picture", lambda: shows_both(x))
            x.press("1")
            wait_for("a dark screen", lambda: "no signal" in x.title() and not x.colours().get(LEFT))
            x.press("1")
            wait_for("the picture again", lambda: shows_both(x) and x.title().endswith("is over"))
            x.press("Tab")  # there is one source: the same again
            time.sleep(0.3)
            if not shows_both(x) or "source 0" not in x.title():
                fail(x.title())
            x.press("Escape")
        if run.returncode:
            fail(f"exit status {run.returncode}: {run.stdout.read()}")


def case_closed():
    """Closing the window, and a signal, end a workload that goes on, which tells so."""
    for way in ("Escape", "signal"):
        with tempfile.TemporaryDirectory() as folder:
            with watched(folder, "while true do dxgk.sleep(10000000) end") as (run, x):
                begun = time.monotonic()
                wait_for("the picture", lambda: shows_both(x))
                if way == "signal":
                    run.send_signal(signal.SIGINT)
                else:
                    x.press("Escape")
            if time.monotonic() - begun > 40 or run.returncode == 0 or "interrupted" not in run.stdout.read():
                fail(f"{way}: exit status {run.returncode}")


def case_pace():
    """Virtual time does not pass faster than real time."""
    with tempfile.TemporaryDirectory() as folder:
        with watched(folder, "dxgk.sleep(3000000000)") as (run, x):
            begun = time.monotonic()
            wait_for("the end", lambda: x.title().endswith("is over"))
            if time.monotonic() - begun < 2:
                fail(f"3 s of virtual time in {time.monotonic() - begun} s")
            x.press("Escape")
        if run.returncode:
            fail(f"exit status {run.returncode}: {run.stdout.read()}")


def case_refused():
    """What cannot be watched says why."""
    with tempfile.TemporaryDirectory() as folder:
        line = command(folder, "", "--watch")
        refused(4, "--watch: no window: ", line, DISPLAY=":0.does-not-exist", SDL_VIDEODRIVER="x11")
        refused(4, "--watch: no window: there is no display", line, DISPLAY=None, WAYLAND_DISPLAY=None, SDL_VIDEODRIVER=None)
        refused(2, "an isolated run has no window: --watch", [*line, "--isolate"])
        refused(2, "inspect runs no workload: --watch", [line[0], "inspect", line[2], "--watch"])
        refused(2, "not an option of explore: --watch", [line[0], "explore", *line[2:], "--seeds", "1"])


def main():
    global BUILD
    case, BUILD = sys.argv[1:3]
    if not shutil.which("Xvfb") or not os.path.exists(os.path.join(BUILD, MODULE)):
        print("there is no Xvfb, or no " + MODULE)
        sys.exit(77)
    globals()["case_" + case]()


main()
