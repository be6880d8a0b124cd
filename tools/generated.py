# SPDX-License-Identifier: MIT
"""What the generators share: where files are, and --check, which writes nothing and fails on a difference."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def find(folder, name):
    """The one file of that name somewhere in `folder`."""
    found = sorted((ROOT / folder).rglob(name))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files named {name}, not one")
    return found[0]


def deliver(files, same=lambda old, new: old == new):
    """Write {path: bytes or text}, or compare with what is there when --check is given; the exit status."""
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    stale = []
    for path, content in files.items():
        content = content.encode() if isinstance(content, str) else content
        if not sys.argv[1:]:
            path.write_bytes(content)
        elif not path.exists() or not same(path.read_bytes(), content):
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        print(f"not what {sys.argv[0]} would write: {', '.join(stale)}", file=sys.stderr)
    return 1 if stale else 0
