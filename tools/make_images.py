#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the pictures of workloads/images from nothing but arithmetic. Usage: make_images.py [--check]

--check compares the pictures and not how they are compressed."""
import math
import multiprocessing
import struct
import sys
import zlib

from generated import ROOT, deliver

SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Line:
    """A line of a picture, in bytes, of its number. Called in another process, which inherits what it draws with."""
    width = pixel = None

    @classmethod
    def draw(cls, y):
        return bytes(max(0, min(255, int(c + 0.5))) for x in range(cls.width) for c in cls.pixel(x, y))


def png(width, height, pixel):
    rows = bytearray()
    previous = bytearray(width * 4)
    Line.width, Line.pixel = width, staticmethod(pixel)
    with multiprocessing.get_context("fork").Pool() as pool:
        lines = pool.map(Line.draw, range(height), 4)
    for row in lines:
        rows.append(2)  # filter: up
        rows += bytes((a - b) & 255 for a, b in zip(row, previous))
        previous = row

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    return (SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def same_picture(old, new):
    """Of two files that have the chunks IHDR, IDAT, IEND."""
    def content(file):
        at, found = len(SIGNATURE), []
        while at < len(file):
            size = struct.unpack_from(">I", file, at)[0]
            kind, data = file[at + 4:at + 8], file[at + 8:at + 8 + size]
            found.append((kind, zlib.decompress(data) if kind == b"IDAT" else data))
            at += 12 + size
        return found

    return content(old) == content(new)


def mix(a, b, t):
    t = max(0.0, min(1.0, t))
    return tuple(p + (q - p) * t for p, q in zip(a, b))


def hash01(x, y):
    n = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((n ^ (n >> 16)) & 0xFFFF) / 65535.0


def noise(x, y):
    xi, yi = math.floor(x), math.floor(y)
    u, v = x - xi, y - yi
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    a = hash01(xi, yi) + (hash01(xi + 1, yi) - hash01(xi, yi)) * u
    b = hash01(xi, yi + 1) + (hash01(xi + 1, yi + 1) - hash01(xi, yi + 1)) * u
    return a + (b - a) * v


def fractal_noise(x, y, octaves):
    total, weight = 0.0, 0.5
    for _ in range(octaves):
        total += noise(x, y) * weight
        x, y, weight = x * 2.03 + 17.1, y * 2.03 + 9.7, weight * 0.5
    return total


def landscape(width, height):
    """A sunset behind ridges, mirrored in a lake."""
    horizon = int(height * 0.68)
    sun = (width * 0.62, height * 0.46)
    ridges = [
        (0.60, 0.22, 2.2, (96, 74, 128)),
        (0.65, 0.17, 3.6, (70, 54, 108)),
        (0.68, 0.12, 6.0, (44, 36, 80)),
        (0.70, 0.07, 11.0, (22, 20, 48)),
    ]
    lines = [[height * (base - amp * fractal_noise(x / width * freq * 2, 31.7 * i + 3, 5)) for x in range(width)]
             for i, (base, amp, freq, _) in enumerate(ridges)]

    def sky(x, y):
        t = y / horizon
        colour = mix((38, 40, 98), (232, 112, 92), t ** 1.3)
        colour = mix(colour, (255, 206, 120), max(0.0, t - 0.55) * 1.6)
        d = math.hypot(x - sun[0], (y - sun[1]))
        colour = mix(colour, (255, 244, 214), math.exp(-((d / 34.0) ** 4)))
        colour = mix(colour, (255, 214, 150), 0.75 * math.exp(-d / 70.0))
        cloud = fractal_noise(x / 90.0, y / 16.0 + 40, 5)
        return mix(colour, (255, 176, 150), max(0.0, cloud - 0.52) * 2.2 * (1 - abs(t - 0.5)))

    def above(x, y):
        colour = sky(x, y)
        for i, (_, _, _, tint) in enumerate(ridges):
            edge = lines[i][x]
            if y > edge - 1:
                shade = mix(tint, (255, 170, 120), 0.25 * math.exp(-(y - edge) / 12.0) * (1 - i * 0.2))
                colour = mix(colour, shade, min(1.0, y - edge + 1))
        return colour

    def pixel(x, y):
        if y < horizon:
            return (*above(x, y), 255)
        depth = y - horizon
        wave = math.sin(depth * 0.9 + 6 * noise(x / 40.0, depth / 3.0)) * (0.6 + depth / 18.0)
        mx = max(0, min(width - 1, int(x + wave)))
        my = max(0, horizon - 1 - int(depth * 1.55))
        colour = mix(above(mx, my), (24, 26, 60), 0.34 + 0.3 * depth / (height - horizon))
        glint = noise(x / 9.0, depth / 1.3)
        if abs(x - sun[0]) < 16 + depth * 0.5 and glint > 0.72:
            colour = mix(colour, (255, 236, 190), (glint - 0.72) * 2.4)
        return (*colour, 255)

    return pixel


def spheres(width, height):
    """Three mirror spheres over a checkerboard, on a transparent ground."""
    balls = [((-0.95, 0.0, 3.4), 0.72, (230, 80, 70)), ((0.75, -0.12, 3.0), 0.6, (70, 150, 235)), ((0.0, 0.35, 4.6), 1.05, (240, 200, 80))]
    light = (-0.55, 0.75, -0.36)

    def hit(o, d):
        best = None
        for centre, radius, colour in balls:
            oc = tuple(a - b for a, b in zip(o, centre))
            b = sum(p * q for p, q in zip(oc, d))
            c = sum(p * p for p in oc) - radius * radius
            h = b * b - c
            if h > 0:
                t = -b - math.sqrt(h)
                if t > 1e-3 and (best is None or t < best[0]):
                    point = tuple(a + q * t for a, q in zip(o, d))
                    best = (t, point, tuple((a - q) / radius for a, q in zip(point, centre)), colour)
        if d[1] < -1e-4:
            t = (-0.72 - o[1]) / d[1]
            if t > 1e-3 and (best is None or t < best[0]):
                point = tuple(a + q * t for a, q in zip(o, d))
                if math.hypot(point[0], point[2] - 3.4) < 1.68:
                    odd = (math.floor(point[0] * 1.6) + math.floor(point[2] * 1.6)) & 1
                    best = (t, point, (0, 1, 0), (238, 238, 244) if odd else (60, 64, 84))
        return best

    def trace(o, d, depth):
        h = hit(o, d)
        if not h:
            return None
        _, p, n, colour = h
        dark = hit(p, light) is not None
        diffuse = 0.16 if dark else 0.16 + 0.84 * max(0.0, sum(a * b for a, b in zip(n, light)))
        out = tuple(c * diffuse for c in colour)
        r = tuple(q - 2 * sum(a * b for a, b in zip(d, n)) * m for q, m in zip(d, n))
        if depth:
            seen = trace(p, r, depth - 1) or mix((250, 170, 120), (60, 70, 140), r[1] * 1.4)
            out = mix(out, seen, 0.30)
        if not dark:
            out = mix(out, (255, 255, 255), max(0.0, sum(a * b for a, b in zip(r, light))) ** 60)
        return out

    def pixel(x, y):
        total, alpha = [0.0, 0.0, 0.0], 0
        for sx, sy in ((0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)):
            v = ((x + sx) / width * 2 - 1, -((y + sy) / height * 2 - 1) * height / width, 1.7)
            length = math.sqrt(sum(q * q for q in v))
            colour = trace((0.0, 0.25, -0.6), tuple(q / length for q in v), 2)
            if colour:
                alpha += 1
                total = [a + b for a, b in zip(total, colour)]
        if not alpha:
            return (0, 0, 0, 0)
        return (*(c / alpha for c in total), alpha * 255 / 4)

    return pixel


def julia(width, height):
    """A Julia set with smooth colours, rounded off like a glass disc."""
    c = complex(-0.7885, 0.1505)

    def colour(z):
        for i in range(160):
            if abs(z) > 8:
                t = i + 1 - math.log2(math.log(abs(z)))
                return tuple(128 + 127 * math.cos(0.09 * t + p) for p in (3.6, 2.7, 1.9))
            z = z * z + c
        return (16, 12, 32)

    def pixel(x, y):
        u, v = (x + 0.5) / width * 2 - 1, (y + 0.5) / height * 2 - 1
        radius = math.hypot(u, v)
        if radius > 1.02:
            return (0, 0, 0, 0)
        bend = 1.0 - 0.25 * math.sqrt(max(0.0, 1 - min(1.0, radius * radius)))
        out = colour(complex(u * 1.35 * bend, v * 1.1 * bend))
        rim = max(0.0, radius - 0.86) / 0.14
        out = mix(out, (20, 20, 30), 0.7 * rim)
        shine = math.exp(-((u + 0.38) ** 2 + (v + 0.45) ** 2) * 14)
        out = mix(out, (255, 255, 255), 0.55 * shine)
        return (*out, 255 * max(0.0, min(1.0, (1.0 - radius) * width / 2)))

    return pixel


GLYPHS = {
    "d": ["    X", "    X", " XXXX", "X   X", "X   X", "X   X", " XXXX"],
    "x": ["     ", "     ", "X   X", " X X ", "  X  ", " X X ", "X   X"],
    "g": ["     ", " XXXX", "X   X", "X   X", " XXXX", "    X", " XXX "],
    "k": ["X    ", "X    ", "X  X ", "X X  ", "XX   ", "X X  ", "X  X "],
    "h": ["X    ", "X    ", "X XX ", "XX  X", "X   X", "X   X", "X   X"],
    "o": ["     ", "     ", " XXX ", "X   X", "X   X", "X   X", " XXX "],
    "s": ["     ", "     ", " XXXX", "X    ", " XXX ", "    X", "XXXX "],
    "t": [" X   ", " X   ", "XXXX ", " X   ", " X   ", " X  X", "  XX "],
}


def wordmark(width, height):
    """The name, in soft dots."""
    text = "dxgkhost"
    dots = []
    cell = width / (len(text) * 6 + 1)
    for i, letter in enumerate(text):
        for row, line in enumerate(GLYPHS[letter]):
            for column, mark in enumerate(line):
                if mark == "X":
                    dots.append(((i * 6 + column + 1) * cell + cell / 2, (row + 1) * cell + cell / 2))

    def pixel(x, y):
        best = min(math.hypot(x + 0.5 - a, y + 0.5 - b) for a, b in dots)
        alpha = max(0.0, min(1.0, (cell * 0.47 - best) + 0.5))
        tint = mix((255, 255, 255), (255, 214, 160), y / height)
        return (*tint, 255 * alpha)

    return pixel


def main():
    sizes = {landscape: (640, 360), spheres: (320, 240), julia: (256, 256), wordmark: (294, 54)}
    return deliver({ROOT / f"workloads/images/{picture.__name__}.png": png(*size, picture(*size))
                    for picture, size in sizes.items()}, same_picture)


if __name__ == "__main__":
    sys.exit(main())
