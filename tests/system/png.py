# SPDX-License-Identifier: MIT
"""PNG and APNG files, read by their specification and nothing of this project: read(path) gives the pictures and how long each stands."""
import itertools
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Broken(Exception):
    """What in the file is not as the specification has it."""


def need(good, text):
    if not good:
        raise Broken(text)


def chunks(data):
    need(data[:8] == SIGNATURE, "no PNG")
    at, found = 8, []
    while at < len(data):
        need(at + 12 <= len(data), "a chunk is cut off")
        length, name = struct.unpack(">I4s", data[at:at + 8])
        need(at + 12 + length <= len(data), f"{name} is cut off")
        body = data[at + 8:at + 8 + length]
        need(struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(name + body), f"checksum of {name}")
        found.append((name.decode("ascii"), body))
        at += 12 + length
    need(found and found[0][0] == "IHDR" and found[-1] == ("IEND", b""), "IHDR is not first, or IEND not last")
    return found


def paeth(left, up, corner):
    guess = left + up - corner
    far = abs(guess - left), abs(guess - up), abs(guess - corner)
    return (left, up, corner)[far.index(min(far))]


def unfilter(raw, width, height):
    """Lines of RGB pixels, 8 bits each."""
    stride = 3 * width
    need(len(raw) == (stride + 1) * height, f"{len(raw)} bytes for {width} x {height} pixels")
    before, lines = bytes(stride), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        need(kind <= 4, f"filter {kind}")
        if kind == 1:
            for channel in range(3):
                line[channel::3] = bytes(value & 255 for value in itertools.accumulate(line[channel::3]))
        elif kind == 2:
            line = bytearray((a + b) & 255 for a, b in zip(line, before))
        elif kind:
            for x in range(stride):
                left, up, corner = (line[x - 3] if x >= 3 else 0), before[x], (before[x - 3] if x >= 3 else 0)
                line[x] = (line[x] + ((left + up) // 2 if kind == 3 else paeth(left, up, corner))) & 255
        before = bytes(line)
        lines.append(before)
    return lines


class Picture:
    def __init__(self, width, height, lines, ms=None):
        self.width, self.height, self.lines, self.ms = width, height, lines, ms

    def at(self, x, y):
        return tuple(self.lines[y][3 * x:3 * x + 3])

    def checksum(self):
        """As the index of recorded frames has it (PRES-319)."""
        return zlib.crc32(struct.pack("<II", self.width, self.height) + b"".join(self.lines))


def read(path):
    """The picture of a still file, in a list; of an animated one, each as it is seen."""
    with open(path, "rb") as file:
        found = chunks(file.read())
    width, height, depth, color, packing, filters, interlace = struct.unpack(">IIBBBBB", found[0][1])
    need((depth, color, packing, filters, interlace) == (8, 2, 0, 0, 0), "not RGB of 8 bits")
    names = [name for name, _ in found]
    still = zlib.decompress(b"".join(body for name, body in found if name == "IDAT"))
    if "acTL" not in names:
        need("fcTL" not in names and "fdAT" not in names, "frames without acTL")
        return [Picture(width, height, unfilter(still, width, height))]
    need(names.index("acTL") < names.index("IDAT"), "acTL after IDAT")
    count, _ = struct.unpack(">II", found[names.index("acTL")][1])
    frames, sequence = [], 0
    for name, body in found:
        if name in ("fcTL", "fdAT"):
            need(struct.unpack(">I", body[:4])[0] == sequence, f"sequence number of {name}")
            sequence += 1
        if name == "fcTL":
            frames.append((struct.unpack(">IIIIHHBB", body[4:]), []))
        elif name == "fdAT":
            frames[-1][1].append(body[4:])
        elif name == "IDAT":
            need(len(frames) == 1, "IDAT is not the first frame")
            frames[-1][1].append(body)
    need(len(frames) == count, f"{len(frames)} frames, and acTL says {count}")
    canvas, seen = [bytes(3 * width)] * height, []
    for (w, h, x, y, number, units, dispose, blend), data in frames:
        need(x + w <= width and y + h <= height and (dispose, blend) == (0, 0), "a frame outside of the canvas, or blended")
        for i, line in enumerate(unfilter(zlib.decompress(b"".join(data)), w, h)):
            canvas[y + i] = canvas[y + i][:3 * x] + line + canvas[y + i][3 * (x + w):]
        seen.append(Picture(width, height, list(canvas), 1000 * number / (units or 100)))
    return seen
