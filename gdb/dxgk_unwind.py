# SPDX-License-Identifier: MIT
"""Callers of frames that gdb cannot follow: of functions of Windows images, by their unwind data; of a fault of the driver, from the
host's function that tells of it to the instruction that has faulted; and of an instruction that the host carries out."""
import struct

import gdb
from gdb.unwinder import Unwinder

import dxgk_images

# By their numbers in instruction encodings.
REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")
RSP = 4
MASK = 2**64 - 1
CHAINED = 4
HOOKS = ("dxgk_debug_fault", "dxgk_debug_rule")
LONGEST = 1024  # bytes of such a function of the host
PUSH, ALLOC_LARGE, ALLOC_SMALL, SET_FRAME, SAVE, SAVE_FAR, EPILOG, SPARE, SAVE_XMM, SAVE_XMM_FAR, MACHINE_FRAME = range(11)


class Identity:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Fault:
    """The registers of the last fault; None: there was none."""
    registers = None
    pc = 0


def fault_at(general, pc):
    if general:
        Fault.registers = dict(zip(REGISTERS, struct.unpack("<16Q", dxgk_images.memory(general, 128))))
        Fault.pc = pc
    else:
        Fault.registers = None


def forget():
    Fault.registers = None


def word(address):
    return struct.unpack("<Q", dxgk_images.memory(address, 8))[0]


def read(pending, name):
    return int(pending.read_register(name)) & MASK


# ---- Windows images ----

def function_of(image, rva):
    low, high = 0, len(image.functions)
    while low < high:
        middle = (low + high) // 2
        if rva >= image.functions[middle][1]:
            low = middle + 1
        else:
            high = middle
    return image.functions[low] if low < len(image.functions) and image.functions[low][0] <= rva else None


def codes(image, info):
    """(offset, operation, argument, operands) of the unwind information there, and what follows it."""
    while info & 1:  # another function's
        info = struct.unpack_from("<III", dxgk_images.memory(image.base + info - 1, 12))[2]
    head = dxgk_images.memory(image.base + info, 4)
    flags, count, frame = head[0] >> 3, head[2], head[3]
    raw = struct.unpack(f"<{count}H", dxgk_images.memory(image.base + info + 4, 2 * count))
    found, at = [], 0
    while at < count:
        operation, argument = raw[at] >> 8 & 15, raw[at] >> 12
        extra = {ALLOC_LARGE: 2 if argument else 1, SAVE: 1, SAVE_FAR: 2, SAVE_XMM: 1, SAVE_XMM_FAR: 2, SPARE: 2}.get(operation, 0)
        found.append((raw[at] & 255, operation, argument, raw[at + 1:at + 1 + extra]))
        at += 1 + extra
    after = image.base + info + 4 + 2 * (count + count % 2)
    chained = struct.unpack("<III", dxgk_images.memory(after, 12)) if flags & CHAINED else None
    return found, frame & 15, (frame >> 4) * 16, chained


def epilogue(pc, registers):
    """Carry out the end of a function, if pc is in it; else False."""
    text, at, after = dxgk_images.memory(pc, 48), 0, dict(registers)
    if text[:3] == b"\x48\x83\xc4":  # add rsp, byte
        after["rsp"] += struct.unpack_from("<b", text, 3)[0]
        at = 4
    elif text[:3] == b"\x48\x81\xc4":
        after["rsp"] += struct.unpack_from("<i", text, 3)[0]
        at = 7
    while True:
        high = 8 if text[at] == 0x41 else 0
        if not 0x58 <= text[at + (high != 0)] <= 0x5F:
            break
        after[REGISTERS[high + (text[at + (high != 0)] & 7)]] = word(after["rsp"])
        after["rsp"] += 8
        at += 1 + (high != 0)
    if text[at] != 0xC3 and text[at:at + 2] != b"\xf3\xc3":
        return False
    registers.update(after)
    return True


def undo(found, frame, frame_offset, offset, registers):
    """Undo what the prologue had done when it had reached `offset`. Returns whether it ends in a machine frame."""
    framed = frame and any(operation == SET_FRAME and at <= offset for at, operation, _argument, _operands in found)
    base = registers[REGISTERS[frame]] - frame_offset & MASK if framed else registers["rsp"]
    for at, operation, argument, operands in found:
        if at > offset or operation in (EPILOG, SPARE, SAVE_XMM, SAVE_XMM_FAR):
            continue
        if operation == SET_FRAME:
            registers["rsp"] = base
        if operation == PUSH:
            registers[REGISTERS[argument]] = word(registers["rsp"])
            registers["rsp"] += 8
        elif operation == ALLOC_LARGE:
            registers["rsp"] += operands[0] * 8 if argument == 0 else operands[0] | operands[1] << 16
        elif operation == ALLOC_SMALL:
            registers["rsp"] += argument * 8 + 8
        elif operation == SAVE:
            registers[REGISTERS[argument]] = word(base + operands[0] * 8)
        elif operation == SAVE_FAR:
            registers[REGISTERS[argument]] = word(base + (operands[0] | operands[1] << 16))
        elif operation == MACHINE_FRAME:
            top = registers["rsp"] + argument * 8
            registers["rip"], registers["rsp"] = word(top), word(top + 24)
            return True
    return False


def has_symbol(pc):
    return not gdb.execute(f"info symbol {pc:#x}", to_string=True).startswith("No symbol")


def caller(image, pc, registers):
    """Registers of the caller, in place. Returns the begin of the function; None: nothing is known of it."""
    rva = pc - image.base
    function = function_of(image, rva)
    if not function and not has_symbol(word(registers["rsp"])):  # else it uses no stack, as what has no unwind data should
        return None
    begin = function[0] if function else rva
    if function and not epilogue(pc, registers):
        offset = rva - begin
        info = function[2]
        while info is not None:
            found, frame, frame_offset, chained = codes(image, info)
            if undo(found, frame, frame_offset, offset, registers):
                return image.base + begin
            offset = MASK
            info = chained[2] if chained else None
    registers["rip"] = word(registers["rsp"])
    registers["rsp"] += 8
    return image.base + begin


class WindowsUnwinder(Unwinder):
    def __init__(self):
        super().__init__("dxgkhost-windows")

    def __call__(self, pending):
        pc = read(pending, "rip")
        image = dxgk_images.windows_at(pc)
        if not image:
            return None
        registers = {name: read(pending, name) for name in REGISTERS}
        try:
            begin = caller(image, pc, registers)
        except (gdb.MemoryError, struct.error):
            return None
        return answer(pending, Identity(gdb.Value(registers["rsp"]), gdb.Value(begin)), registers) if begin is not None else None


def answer(pending, identity, registers):
    info = pending.create_unwind_info(identity)
    kind = gdb.lookup_type("unsigned long")
    for name, value in registers.items():
        info.add_saved_register(name, gdb.Value(value & MASK).cast(kind))
    return info


# ---- faults ----

class FaultUnwinder(Unwinder):
    def __init__(self):
        super().__init__("dxgkhost-fault")

    def __call__(self, pending):
        if Fault.registers is None:
            return None
        pc = read(pending, "rip")
        if not any(inside(hook, pc) for hook in HOOKS):
            return None
        registers = dict(Fault.registers, rip=Fault.pc)
        return answer(pending, Identity(gdb.Value(registers["rsp"] - 256 & MASK), gdb.Value(pc)), registers)


class TrapUnwinder(Unwinder):
    """From the host's landing, where it carries out an instruction that user space cannot, to that instruction."""
    def __init__(self):
        super().__init__("dxgkhost-trap")

    def __call__(self, pending):
        pc = read(pending, "rip")
        if not inside("x64_landing", pc):
            return None
        words = struct.unpack("<17Q", dxgk_images.memory(read(pending, "rbx"), 136))  # struct x64_interrupted
        registers = dict(zip(REGISTERS, words), rip=words[16])
        return answer(pending, Identity(gdb.Value(registers["rsp"] - 128 & MASK), gdb.Value(pc)), registers)


def inside(function, pc):
    """Whether pc is in this function of the host's."""
    try:
        begin = int(gdb.parse_and_eval(f"(unsigned long)&{function}"))
    except gdb.error:
        return False  # a stripped host, or none
    return 0 <= pc - begin < LONGEST and name_of(pc) == function


def name_of(pc):
    return gdb.execute(f"info symbol {pc}", to_string=True).split(" ")[0]


def begin():
    gdb.unwinder.register_unwinder(None, FaultUnwinder(), replace=True)
    gdb.unwinder.register_unwinder(None, TrapUnwinder(), replace=True)
    gdb.unwinder.register_unwinder(None, WindowsUnwinder(), replace=True)
