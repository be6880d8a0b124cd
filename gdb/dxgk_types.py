# SPDX-License-Identifier: MIT
"""How gdb prints the types of the driver interface: statuses and handles by name, strings and large integers by value.

They go by the names of types in the driver's debug information, and read no more than the value: also of a core file.
"""
import os
import re

import gdb
import gdb.printing

# As src/ddi/handle.h numbers them.
KINDS = (None, "adapter", "device", "context", "context allocation", "process", "CPU event", "acquired allocation", "acquired resource",
         "hardware queue", "native fence", "doorbell")
STATUSES = {}


def read_statuses():
    """From the header for drivers: beside this file in a build, else as in the sources, or as it is installed."""
    here = os.path.dirname(os.path.realpath(__file__))
    for way in (".", "../include/wdk/base", "../../../include/dxgkhost/wdk/base"):
        path = os.path.join(here, way, "ntstatus.h")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for name, number in re.findall(r"#define (STATUS_\w+)\s+\(\(NTSTATUS\)(0x[0-9A-Fa-f]+)L?\)", file.read()):
                STATUSES.setdefault(int(number, 16), name)
        return


def unsigned(value, bits):
    return int(value) & (1 << bits) - 1


def status(value):
    number = unsigned(value, 32)
    return f"{number:#010x} {STATUSES[number]}" if number in STATUSES else f"{number:#010x}"


def handle(value):
    """Of the host: its kind and adapter stand in it. Others are the driver's, or objects of the kernel."""
    number = unsigned(value, 64)
    if number >> 48 != 0xD3D1 or not 0 < (number >> 44 & 15) < len(KINDS):
        return f"{number:#x}"
    return f"{number:#x} (the host's: {KINDS[number >> 44 & 15]}, adapter {number >> 32 & 0xFFF})"


def counted(value, encoding):
    """UNICODE_STRING and its like."""
    length = int(value["Length"])
    buffer = value["Buffer"]
    if not int(buffer):
        return "NULL" if not length else f"NULL, of {length} bytes"
    text = bytes(gdb.selected_inferior().read_memory(int(buffer), length)).decode(encoding, "backslashreplace")
    return f'"{text}" ({length} of {int(value["MaximumLength"])} bytes)'


def large(value):
    number = int(value["QuadPart"])
    return f"{number} ({number & (1 << 64) - 1:#x})"


def guid(value):
    data = [int(value["Data4"][i]) & 0xFF for i in range(8)]
    return (f"{{{unsigned(value['Data1'], 32):08x}-{unsigned(value['Data2'], 16):04x}-{unsigned(value['Data3'], 16):04x}-"
            f"{data[0]:02x}{data[1]:02x}-{''.join(f'{byte:02x}' for byte in data[2:])}}}")


TEXTS = {
    "NTSTATUS": status,
    "HANDLE": handle,
    "D3DKMT_HANDLE": lambda value: f"{unsigned(value, 32):#x}",
    "UNICODE_STRING": lambda value: counted(value, "utf-16-le"),
    "ANSI_STRING": lambda value: counted(value, "latin-1"),
    "STRING": lambda value: counted(value, "latin-1"),
    "LARGE_INTEGER": large,
    "ULARGE_INTEGER": large,
    "PHYSICAL_ADDRESS": lambda value: f"{unsigned(value['QuadPart'], 64):#x}",
    "GUID": guid,
    "_UNICODE_STRING": lambda value: counted(value, "utf-16-le"),
    "_STRING": lambda value: counted(value, "latin-1"),
    "_LARGE_INTEGER": large,
    "_ULARGE_INTEGER": large,
    "_GUID": guid,
}


class Printer:
    def __init__(self, text, value):
        self.text, self.value = text, value

    def to_string(self):
        return self.text(self.value)


def lookup(value):
    """Through typedefs, from the outermost name on: NTSTATUS is a LONG, which is nothing special."""
    kind = value.type.unqualified()
    while True:
        text = TEXTS.get(kind.name or kind.tag)
        if text:
            return Printer(text, value)
        if kind.code != gdb.TYPE_CODE_TYPEDEF:
            return None
        kind = kind.target().unqualified()


lookup.name, lookup.enabled = "dxgkhost", True


def begin():
    read_statuses()
    gdb.printing.register_pretty_printer(None, lookup, replace=True)
