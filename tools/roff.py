# SPDX-License-Identifier: MIT
"""The little of roff that generated manual pages need."""
import re
import textwrap

WIDTH = 79


def inner(text):
    """Text as it stands inside a line of a page."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def escape(text):
    """Lines of a page, none of which is a request."""
    return re.sub(r"^([.'])", r"\\&\1", inner(text), flags=re.M)


def bold(text):
    return f"\\fB{inner(text)}\\fP"


def italic(text):
    return f"\\fI{inner(text)}\\fP"


def quoted(text):
    """An argument of a macro."""
    return '"' + escape(text).replace('"', "\\(dq") + '"'


def code(lines):
    return [".EX", *(escape(line) for line in lines), ".EE"]


def sentences(text, mark):
    """A paragraph with each sentence on lines of its own, as roff wants it; `mark` sets words in other types and escapes them."""
    found = re.split(r"(?<=[^.][.?!])\s+(?=[A-Z0-9`(*])", " ".join(text.split()))
    lines = [line for sentence in found for line in textwrap.wrap(mark(sentence), WIDTH, break_on_hyphens=False, break_long_words=False)]
    return [re.sub(r"^([.'])", r"\\&\1", line) for line in lines]


def head(name, section, date, version, title):
    return ['.\\" SPDX-License-Identifier: MIT', f".TH {quoted(name.upper())} {section} {date} {quoted('dxgkhost ' + version)} {quoted(title)}"]


def see_also(pages):
    """Pages as (name, section)."""
    pages = list(pages)
    return [".SH SEE ALSO"] + [f".BR {escape(name)} ({section}){',' if number + 1 < len(pages) else ''}" for number, (name, section) in enumerate(pages)]
