# SPDX-License-Identifier: MIT
"""CHECK_RULE of tests in Python: shown("NT-199") after what shows it records the place for tools/conformance."""
import inspect
import os
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
lines = []


def shown(*rules):
    """Each is an id, with the letters of its clauses if it has any: "PATCH-017/b"."""
    folder = os.environ.get("DXGK_RULES_SHOWN")
    if not folder:
        return
    caller = inspect.currentframe().f_back
    place = f"{os.path.relpath(caller.f_code.co_filename, SOURCE)}:{caller.f_lineno}"
    lines.extend(f"{rule}\t{place}\t{caller.f_code.co_name}\n" for rule in rules)
    program = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"test_system_{program}_{sys.argv[1]}.tsv"), "w", encoding="utf-8") as file:
        file.writelines(lines)
