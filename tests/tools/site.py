#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The site of the documentation. Usage: site.py links|broken|browser BUILD

links: it can be made, and all links of the repository and of the site lead somewhere; broken: those that do not are named, with file and
line; browser: a reader sees the front page, the tutorial, a rule and the search in headless Chromium, light and dark. Exit status 77: it
cannot run here, and the last line says why."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "system"))
import png  # noqa: E402  pylint: disable=wrong-import-position


def fail(text):
    print(text)
    sys.exit(1)


def site(tool, *options):
    done = subprocess.run([tool, *map(str, options)], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        print("skipped: " + done.stdout.strip())
        sys.exit(77)
    return done


def made(folder):
    done = site(SOURCE / "tools" / "site", folder)
    if done.returncode != 0:
        fail(done.stdout + done.stderr)
    print(done.stdout.strip())


def case_links():
    with tempfile.TemporaryDirectory() as folder:
        made(pathlib.Path(folder) / "site")
        outside = [path for path in pathlib.Path(folder).rglob("*.html")
                   if re.search(r'<(?:script|img|link)[^>]*(?:src|href)="(?:https?:)?//', path.read_text(encoding="utf-8"))]
        if outside:
            fail(f"{outside} load something from elsewhere")


def case_broken():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("site", "site.css", "site.js"):
            (root / "tools").mkdir(exist_ok=True)
            shutil.copy(SOURCE / "tools" / name, root / "tools")
        (root / "docs/spec/rules").mkdir(parents=True)
        for name in ("admission", "not-in-force", "evidence", "rules/submission"):
            (root / f"docs/spec/{name}.tsv").write_text((SOURCE / f"docs/spec/{name}.tsv").read_text(encoding="utf-8").split("\n", 1)[0] + "\n", encoding="utf-8")
        with open(root / "docs/spec/rules/submission.tsv", "a", encoding="utf-8") as file:
            file.write("SUBMIT-001\t-\tx\tRule.\tdecision\tTest.\n")
        for name in ("README", "submission"):
            (root / f"docs/spec/{name}.md").write_text("# Rules\n", encoding="utf-8")
        (root / "a.c").write_text("int a;\n", encoding="utf-8")
        good = "# Title\n\n## One `two`: three\n\n## Same\n\n## Same\n\n[a](a.c) [b](#one-two-three) [c](#same-1) [d](docs) [e](docs/spec/#rules) [f](https://x.org/y#z)\n"
        (root / "README.md").write_text(good, encoding="utf-8")
        done = site(root / "tools" / "site", "--external", root / "made")
        made_of = [(root / "made" / name).exists() for name in ("index.html", "a.c.html", "docs/index.html", "docs/spec/index.html")]
        if done.returncode != 0 or "https://x.org/y#z (README.md)" not in done.stdout or not all(made_of):
            fail(done.stdout + done.stderr)
        bad = {"[a](b.c)": "no such file", "[a](#two)": "the page has no such part", "[a](docs/spec/README.md#none)": "the page has no such part",
               "![a](x.png)": "no such file", "[a](/a.c)": "not relative", "[a](ftp://x.org/a)": "neither a file nor https", "SUBMIT-002, but SUBMIT-001": "no such rule"}
        for link, why in bad.items():
            (root / "README.md").write_text(f"{good}\n- good\n- {link}\n", encoding="utf-8")
            done = site(root / "tools" / "site", "--check")
            if done.returncode != 1 or not re.fullmatch(rf"README\.md:12: .*: {why}\n", done.stdout):
                fail(f"{link}: {done.returncode}: {done.stdout}{done.stderr}")


def browse(build, folder, name, page, dark=False, width=1280):
    """What a browser shows of a page, in a frame, as headless Chromium shows nothing of a page that is not at its top; kept in the build
    folder, for who wants to look."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("skipped: there is no Chromium here (Debian's package chromium)")
        sys.exit(77)
    frame, path = folder / "site" / "frame.html", build / f"site-{name}.png"
    frame.write_text(f'<!DOCTYPE html><style>body{{margin:0}}iframe{{border:0;width:{width}px;height:900px;display:block}}</style><iframe src="{page}"></iframe>', encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1", "--virtual-time-budget=5000",
               f"--user-data-dir={folder / 'browser'}", f"--blink-settings=preferredColorScheme={0 if dark else 1}", f"--window-size={width},900",
               f"--screenshot={path}", f"file://{frame}"]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    if done.returncode != 0 or not path.exists():
        fail(f"{' '.join(command)}\n{done.stderr.decode(errors='replace')}")
    return png.read(str(path))[0]


def case_browser(build):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made(folder / "site")
        light, dark, mark = (255, 255, 255), (0x14, 0x17, 0x1A), (0x1F, 0x32, 0x47)
        for shot, page, is_dark, width in (("front", "index.html", False, 1280), ("tutorial", "docs/tutorial/03-device.html", True, 1280),
                                           ("narrow", "docs/tutorial/04-memory.html", False, 520)):
            seen = browse(build, folder, shot, page, is_dark, width)
            ground = dark if is_dark else light
            edges = {seen.at(x, y) for x in (2, width - 3) for y in range(60, 900, 7)}
            if edges != {ground}:  # nothing sticks out
                fail(f"{shot}: {edges}")
            inside = {seen.at(x, y) for x in range(0, width, 3) for y in range(60, 900, 3)}
            if len(inside) < 20:
                fail(f"{shot}: there is nothing")
        seen = browse(build, folder, "rule", "docs/spec/rules/PATCH.html#PATCH-017", True)
        rows = [y for y in range(900) if seen.lines[y].count(bytes(mark)) > 300]
        if not rows or rows[0] > 120:
            fail(f"the rule is not at the top: {rows}")
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", f"--user-data-dir={folder / 'browser'}",
                               "--dump-dom", f"file://{folder / 'site'}/docs/index.html?q=PATCH-017"], capture_output=True, text=True, timeout=120, check=False)
        if not re.search(r'<ol><li><a href="\.\./docs/spec/rules/PATCH\.html#PATCH-017">PATCH-017', done.stdout):
            fail(f"the search finds nothing:\n{done.stdout[:3000]}\n{done.stderr}")


def main():
    case = sys.argv[1]
    if case == "browser":
        case_browser(pathlib.Path(os.path.abspath(sys.argv[2])))
    else:
        globals()["case_" + case]()


if __name__ == "__main__":
    main()
