# SPDX-License-Identifier: MIT
"""The images that the host has loaded: symbols of Windows images, and the names of the interface for entries of drivers.

gdb itself follows ELF drivers. A Windows image is added at its base (add-symbol-file). The entries get their names by a small
ELF file, made here, that has nothing but symbols: so `break DxgkDdiPatch` is an ordinary breakpoint, also before the driver is
loaded.
"""
import atexit
import os
import struct
import tempfile

import gdb


BEHIND_ENTRY = 256  # bytes: where breakpoints on an entry can be, after what its function begins with


class Windows:
    """A Windows image in memory."""

    def __init__(self, path, base):
        self.path, self.base = path, base
        headers = memory(base, 4096)
        at = struct.unpack_from("<I", headers, 0x3C)[0]
        self.linked = struct.unpack_from("<Q", headers, at + 24 + 24)[0]
        self.bytes = struct.unpack_from("<I", headers, at + 24 + 56)[0]
        table, length = struct.unpack_from("<II", headers, at + 24 + 112 + 3 * 8)  # the exception directory
        functions = memory(base + table, length) if length else b""
        self.functions = [struct.unpack_from("<III", functions, i) for i in range(0, length - length % 12, 12)]


class Known:
    def __init__(self):
        self.process = 0
        self.windows = []
        self.libraries = set()  # names of ELF drivers and device models
        self.named = []


class Named:
    """The entries of a driver, and the file that gives them their names."""

    def __init__(self, entries):
        self.entries = entries  # (name, routine)
        self.image = image_of(entries[0][1])
        handle, self.path = tempfile.mkstemp(prefix="dxgkhost-entries-", suffix=".elf")
        with os.fdopen(handle, "wb") as file:
            file.write(symbols(entries))
        atexit.register(remove, self.path)


known = Known()


def memory(address, count):
    return bytes(gdb.selected_inferior().read_memory(address, count))


def pairs(address, count):
    return list(struct.iter_unpack("<QQ", memory(address, 16 * count)))


def windows_at(pc):
    for image in known.windows:
        if image.base <= pc < image.base + image.bytes:
            return image
    return None


def of_driver(pc):
    """Whether a driver's code is there."""
    image = image_of(pc)
    return isinstance(image, Windows) or image in known.libraries


def image_of(pc):
    """A Windows image, or the name of an ELF library; None: the program, or nothing."""
    return windows_at(pc) or gdb.current_progspace().solib_name(pc)


def entries():
    return [pair for named in known.named for pair in named.entries]


def quietly(command):
    confirm = gdb.parameter("confirm")
    gdb.execute("set confirm off", to_string=True)
    try:
        gdb.execute(command, to_string=True)
    finally:
        gdb.execute(f"set confirm {'on' if confirm else 'off'}", to_string=True)


def loaded(path, base, entry):
    if known.process != gdb.selected_inferior().pid:
        forget()  # one that was killed, and another run
        known.process = gdb.selected_inferior().pid
    if memory(base, 2) != b"MZ":  # ELF: gdb is told by the dynamic linker
        known.libraries.add(image_of(entry))
        return
    path = os.path.join(os.getcwd(), path)
    image = Windows(path, base)
    known.windows.append(image)
    quietly(f'add-symbol-file "{path}" -o {image.base - image.linked:#x}')
    if not any(symtab_of(image, begin) for begin, _end, _info in image.functions[:64]):
        gdb.write(f"dxgkhost: {path} has no lines for gdb, which reads DWARF and no PDB: compile it with -g (clang: -gdwarf, and "
                  "link with /debug:dwarf)\n")


def symtab_of(image, address):
    return gdb.find_pc_line(image.base + address).symtab


def gone(base, entry):
    image = windows_at(base) or image_of(entry)
    for named in [named for named in known.named if named.image == image]:
        known.named.remove(named)
        forget_names(named)
    if image in known.windows:
        known.windows.remove(image)
        quietly(f'remove-symbol-file "{image.path}"')


def registered(found):
    if not found:
        return
    named = Named(found)
    known.named.append(named)
    quietly(f'add-symbol-file "{named.path}"')


def forget_names(named):
    quietly(f'remove-symbol-file "{named.path}"')
    remove(named.path)


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def forget():
    """The process has ended."""
    for named in known.named:
        forget_names(named)
    for image in known.windows:
        quietly(f'remove-symbol-file "{image.path}"')
    known.named, known.windows, known.libraries = [], [], set()


def symbols(named):
    """An ELF file with a symbol for each pair of a name and an address, each in a section without content. gdb takes its places for
    those of the driver's file, which it has seen before; but breakpoints there count as breakpoints in a library, which wait for it
    when it goes."""
    names, table, sections = b"\0", [bytes(24)], [bytes(64)]
    section_names = b"\0.ddi\0.symtab\0.strtab\0.shstrtab\0"
    for index, (name, address) in enumerate(named):
        table.append(struct.pack("<IBBHQQ", len(names), 0x12, 0, index + 1, address, BEHIND_ENTRY))  # global, a function
        names += name.encode() + b"\0"
        sections.append(struct.pack("<IIQQQQIIQQ", 1, 8, 6, address, 64, BEHIND_ENTRY, 0, 0, 1, 0))  # no bits; allocated, executable
    symtab = b"".join(table)
    at = 64
    count = len(sections)
    for content, name, kind, link, first, entry in ((symtab, 6, 2, count + 1, 1, 24), (names, 14, 3, 0, 0, 0), (section_names, 22, 3, 0, 0, 0)):
        sections.append(struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, at, len(content), link, first, 8 if entry else 1, entry))
        at += len(content)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, len(sections), len(sections) - 1)
    return header + symtab + names + section_names + b"".join(sections)
