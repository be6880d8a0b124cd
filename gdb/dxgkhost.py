# SPDX-License-Identifier: MIT
"""Debug a driver that dxgkhost runs: gdb -x dxgkhost.py --args dxgkhost run DRIVER WORKLOAD.lua --no-supervisor

`dxgkhost run --gdb` does that. The host's signals pass by; the symbols of Windows images are added when they are loaded; the
entries of a driver have the names of the interface, so that `break DxgkDdiSubmitCommand` works whatever the driver calls its
routine. docs/debugging.md tells of the commands dxgk-rule, dxgk-fault and dxgk-until.

Breakpoints stand on the functions of src/util/debugger.h, whose arguments are read from the registers: the host may be
without debug information.
"""
import os
import sys

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dxgk_images  # noqa: E402
import dxgk_types  # noqa: E402
import dxgk_unwind  # noqa: E402

FOREVER = 2**64 - 1
SEVERITIES = ("note", "warning", "error", "bug check")
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "": 10**9}


def register(name):
    return int(gdb.newest_frame().read_register(name)) & FOREVER


def text_at(address):
    """The string of the host there."""
    found = bytearray()
    while len(found) < 4096:
        byte = bytes(gdb.selected_inferior().read_memory(address + len(found), 1))
        if byte == b"\0":
            break
        found += byte
    return found.decode("utf-8", "replace")


def say(text):
    gdb.write(f"dxgkhost: {text}\n")


def refresh(frame):
    """Show the driver's code, where the host has stopped below it."""
    while frame is not None:
        if dxgk_images.of_driver(frame.pc()):
            frame.select()
            gdb.execute("frame")
            return
        frame = frame.older()


# ---- what stops ----

class Wanted:
    """What the user waits for."""

    def __init__(self):
        self.rules = set()  # ids, or their beginnings; "any"
        self.faults = False
        self.until = FOREVER
        self.stopped = False  # a hook has just stopped
        self.carried = False  # and it is the one for instructions that the host carries out
        self.behind = None  # the instruction behind, if it was stepped


wanted = Wanted()


def set_until():
    """Tell the host, which keeps no time for it to lose: it lies in memory that only a debugger writes."""
    try:
        address = int(gdb.parse_and_eval("(unsigned long)&dxgk_debug_until"))
        gdb.selected_inferior().write_memory(address, wanted.until.to_bytes(8, "little"))
    except gdb.error:
        pass  # there is no process yet


class Hook(gdb.Breakpoint):
    """On one of the host's functions for debuggers."""

    def __init__(self, function, act):
        super().__init__(function, internal=True)
        self.silent = True
        self.act = act

    def stop(self):
        try:
            wanted.stopped = bool(self.act())
            return wanted.stopped
        except (gdb.error, gdb.MemoryError, OSError, ValueError) as error:
            say(f"{self.location}: {error}")
            return False


def on_image():
    set_until()
    dxgk_images.loaded(text_at(register("rdi")), register("rsi"), register("rdx"))


def on_image_gone():
    dxgk_images.gone(register("rdi"), register("rsi"))


def on_entries():
    dxgk_images.registered([(text_at(name), routine) for name, routine in dxgk_images.pairs(register("rdi"), register("rsi"))])


def on_rule():
    rule, severity = text_at(register("rdi")), register("rsi") & 0xFF
    if not any(rule == want or want == "any" and severity >= 2 or want.endswith("*") and rule.startswith(want[:-1]) for want in wanted.rules):
        return False
    say(f"{SEVERITIES[severity] if severity < len(SEVERITIES) else severity} {rule}: {text_at(register('rdx'))}")
    return True


def on_fault():
    dxgk_unwind.fault_at(register("rdi"), register("rsi"))
    if not wanted.faults:
        return False
    say("the driver faults" if register("rdi") else "the driver is overdue")
    return True


def on_time():
    say(f"virtual time {register('rdi') / 1e6:.6f} ms; what follows passes {wanted.until / 1e6:.6f} ms")
    wanted.until = FOREVER
    set_until()
    return True


def on_code():
    """The host carries out an instruction that has a breakpoint. gdb waits there for the signal to return, which it does not: the
    host continues behind the instruction. A stop here makes gdb forget that; if no breakpoint is the reason, it was a step, and ends
    behind the instruction."""
    pc = register("rdi")
    gdb.selected_inferior().write_memory(register("rsi"), dxgk_images.memory(pc, 1))
    wanted.carried = True
    if not LineStop.waits and not any(location.address == pc for user in gdb.breakpoints() for location in getattr(user, "locations", ())):
        wanted.behind = gdb.selected_inferior().architecture().disassemble(pc, count=2)[1]["addr"]
    return True


def on_stop(_event):
    if not wanted.stopped:
        return
    wanted.stopped = False
    if wanted.carried:
        if wanted.behind:
            gdb.Breakpoint(f"*{wanted.behind}", internal=True, temporary=True).silent = True
        wanted.carried, wanted.behind = False, None
        gdb.write(gdb.execute("continue", to_string=True).removeprefix("Continuing.\n"))
        return
    refresh(gdb.newest_frame())


def on_exit(_event):
    dxgk_images.forget()
    dxgk_unwind.forget()


# ---- commands ----

class RuleCommand(gdb.Command):
    """dxgk-rule [RULE ...]: stop where a rule is broken.
A rule is an id as PATCH-017, PATCH-* for all of a series, or any for all errors. Without one, the rules that are waited for are
listed; `dxgk-rule none` forgets them. The report of the rule has not been made yet."""

    def __init__(self):
        super().__init__("dxgk-rule", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument, _from_tty):
        for word in gdb.string_to_argv(argument):
            if word == "none":
                wanted.rules.clear()
            else:
                wanted.rules.add(word if word == "any" else word.upper())
        say("stops at broken rules: " + (" ".join(sorted(wanted.rules)) or "none"))


class FaultCommand(gdb.Command):
    """dxgk-fault [on|off]: stop where the driver faults (or is overdue), before the host reports it.
Faults that the host or the driver handles do not count."""

    def __init__(self):
        super().__init__("dxgk-fault", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument, _from_tty):
        wanted.faults = argument.strip() != "off"
        say(f"stops at faults: {'yes' if wanted.faults else 'no'}")


class UntilCommand(gdb.Command):
    """dxgk-until TIME: run up to a virtual time, as 20ms or 1.5s (without a unit: seconds), and stop just before it.
The host stops at the end of a slice of the scheduler, at most 4 microseconds of virtual time earlier. What it does does not
depend on it: the same command line gives the same run."""

    def __init__(self):
        super().__init__("dxgk-until", gdb.COMMAND_RUNNING)

    def invoke(self, argument, _from_tty):
        text = argument.strip()
        number = text.rstrip("numsh")
        try:
            wanted.until = int(float(number) * UNITS[text[len(number):]])
        except (KeyError, ValueError):
            raise gdb.GdbError(f"dxgk-until wants a time like 20ms or 1.5s, not {argument!r}") from None
        set_until()


class LineStop(gdb.Breakpoint):
    """Where the next line may be: in the same call, or in its caller."""
    here = False
    waits = False

    def __init__(self, address, calls):
        super().__init__(f"*{address}", internal=True)
        self.silent = True
        self.calls = calls

    def stop(self):
        LineStop.here = called(gdb.newest_frame()) in self.calls
        return LineStop.here


def called(frame):
    """The frame of the function that another has called, which `frame` may be inlined into."""
    while frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    return frame


class NextCommand(gdb.Command):
    """dxgk-next: go on to another line of this function, or to its caller.
As gdb's next, but by breakpoints: a single step of an instruction that the host carries out, such as an access to a register of
the device, ends in the host's signal handler."""

    def __init__(self):
        super().__init__("dxgk-next", gdb.COMMAND_RUNNING)

    def invoke(self, _argument, _from_tty):
        frame = gdb.newest_frame()
        where = frame.find_sal()
        inner = frame.block() if where.symtab else None
        block = None
        while inner:  # out of what is inlined
            block = inner if inner.function else block
            inner = inner.superblock
        if not block:
            raise gdb.GdbError("dxgk-next: there are no lines here")
        stops = {entry.pc for entry in where.symtab.linetable() if block.start <= entry.pc < block.end and entry.line not in (0, where.line)}
        call = called(frame)
        calls = [call]
        if call.older():
            stops.add(call.older().pc())
            calls.append(called(call.older()))
        LineStop.here, LineStop.waits = False, True
        points = [LineStop(address, calls) for address in stops if address != frame.pc()]
        try:
            gdb.execute("continue")
        finally:
            LineStop.waits = False
            for point in points:
                if point.is_valid():
                    point.delete()
        if LineStop.here:
            gdb.execute("frame")


class EntriesCommand(gdb.Command):
    """dxgk-entries: list the entries that the driver has registered, by the names of the interface, with their routines."""

    def __init__(self):
        super().__init__("dxgk-entries", gdb.COMMAND_STATUS)

    def invoke(self, _argument, _from_tty):
        for name, routine in dxgk_images.entries():
            where = gdb.execute(f"info symbol {routine}", to_string=True).splitlines()[0]
            gdb.write(f"{name:<42} {routine:#x} {where.split(' in section')[0]}\n")


def begin():
    # Not SIGTRAP: gdb would pass on what its own breakpoints raise. So --races, which steps and traps, cannot be debugged.
    for name in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGVTALRM", "SIG39", "SIG40", "SIG41"):
        dxgk_images.quietly(f"handle {name} nostop noprint pass")
    dxgk_images.quietly("set breakpoint pending on")  # for functions of a driver that is not loaded
    for function, act in (("dxgk_debug_image", on_image), ("dxgk_debug_image_gone", on_image_gone), ("dxgk_debug_entries", on_entries),
                          ("dxgk_debug_rule", on_rule), ("dxgk_debug_fault", on_fault), ("dxgk_debug_time", on_time),
                          ("dxgk_debug_code", on_code)):
        Hook(function, act)
    gdb.events.stop.connect(on_stop)
    gdb.events.exited.connect(on_exit)
    for command in (RuleCommand, FaultCommand, UntilCommand, NextCommand, EntriesCommand):
        command()
    dxgk_unwind.begin()
    dxgk_types.begin()


begin()
