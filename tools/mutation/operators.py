# SPDX-License-Identifier: MIT
"""Small mistakes in C sources: where each could be made, and the text that makes it."""
import bisect
import re

# What no test can notice: checks of the host against itself, and points at which a seed may let others run.
SELF_CHECK = re.compile(r"(?:^|_)validate(?:_|$)|^validate")
SKIPPED = re.compile(r"\b(?:HOLDS|__builtin_trap|__builtin_unreachable|NT_ENTER\w*|(?:__builtin_ms_)?va_end|sim_point|sim_assert\w*|util_assert|nt_assert\w*|_Static_assert|assert)\s*\(")
KEYWORDS = {"return", "sizeof", "goto", "break", "continue", "else", "case", "default", "do", "if", "for", "while", "switch", "typedef", "struct",
            "union", "enum", "static", "const", "extern", "_Noreturn", "inline", "register", "unsigned", "volatile"}
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
COMPARISON = re.compile(r" (<=|>=|==|!=|<|>) ")
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "|": "&", "&": "|"}
OPERATOR = re.compile(r"(?<=[\w)\]]) (<<|>>|[-+*/%|&]) (?=[\w(*&~-])")
NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)(?![\w.])")
STATUS = re.compile(r"\bSTATUS_[A-Z_0-9]+\b")
FUNCTION = re.compile(r"^(?!#|typedef|struct |union |enum )([A-Za-z_][\w \t*]*?[\s*])(\w+)\(", re.M)
STATEMENT = re.compile(r"(?<=[;{}:\n])([ \t]*(?:(?:case [^:;]+|default|\w+):\s*)*)((?:\([a-z]+\))?[*(\w][^;{}]*;)")
CALL = re.compile(r"(?:\(void\))?\w+\(.*\);$", re.S)
ASSIGNMENT = re.compile(r"\*?[\w.>\-\[\]() +*]+? [-+*/|&^]?=(?!=) .*;$|\S+(?:\+\+|--);$", re.S)
DECLARATION = re.compile(r"(?:(?:const|static|volatile|struct|union|enum|unsigned|register) )*\w+[ *]+\**\w+(?:\[[^]]*\])?(?: = .*)?;$", re.S)
ARRAY = re.compile(r"[ \t]*(?:\w+[ *]+)+\w+(?:\[\w*\])*\[")  # its declaration, up to a number of elements: room for texts, mostly
ARGUMENTS = re.compile(r"(?<![\w])([a-z_]\w*)\(([^()]*)\)")
FIRST_WORD = re.compile(r"\w+")
WORD = re.compile(r"^[&*]?[A-Za-z_][\w.\->\[\]]*$")


class Mutant:
    """`new` in place of text[start:end] of a file; `kind` says what mistake it is."""

    def __init__(self, kind, start, end, new):
        self.kind, self.start, self.end, self.new = kind, start, end, new


def masked(text):
    """The text with comments, strings and characters as blanks of the same length, and lines kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blank, text, flags=re.S | re.M)


def closing(code, start):
    """The position of the parenthesis or brace that closes the one at `start`."""
    opening, depth = code[start], 0
    other = {"(": ")", "{": "}", "[": "]"}[opening]
    for at in range(start, len(code)):
        depth += (code[at] == opening) - (code[at] == other)
        if depth == 0:
            return at
    return -1


class Source:
    def __init__(self, text):
        self.text = text
        self.code = masked(text)
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.functions = self.find_functions()

    def line_of(self, at):
        return bisect.bisect_right(self.starts, at)

    def find_functions(self):
        """[(name, type, start of the text before, start of the body, end)]"""
        found = []
        for match in FUNCTION.finditer(self.code):
            close = closing(self.code, match.end() - 1)
            body = re.compile(r"\s*\{").match(self.code, close + 1) if close >= 0 else None
            if body:
                found.append((match.group(2), match.group(1).strip(), match.start(), body.end(), closing(self.code, body.end() - 1)))
        return found

    def function_at(self, at):
        for function in self.functions:
            if function[2] <= at <= function[4]:
                return function
        return None

    def skipped(self, start):
        """Whether the statement around is one that no test can notice."""
        function = self.function_at(start)
        if function and SELF_CHECK.search(function[0]):
            return True
        before = max(self.code.rfind(mark, 0, start) for mark in ";{}")
        after = self.code.find(";", start)
        return bool(SKIPPED.search(self.code, before + 1, max(after, start)))


def swaps(source):
    for match in COMPARISON.finditer(source.code):
        if source.function_at(match.start()):
            yield Mutant("comparison", match.start(1), match.end(1), COMPARISONS[match.group(1)])
    for match in OPERATOR.finditer(source.code):
        if source.function_at(match.start()):
            yield Mutant("operator", match.start(1), match.end(1), ARITHMETIC[match.group(1)])


def constants(source):
    for match in NUMBER.finditer(source.code):
        if ARRAY.fullmatch(source.code, source.starts[source.line_of(match.start()) - 1], match.start()):
            continue
        value = int(match.group(1), 0) if not re.fullmatch(r"0\d+", match.group(1)) else int(match.group(1), 8)
        yield Mutant("constant", match.start(), match.end(), str(value + 1 if value != 1 else 0) + match.group(2))
    statuses = sorted(set(STATUS.findall(source.code)))
    for match in STATUS.finditer(source.code):
        if source.function_at(match.start()):
            others = [status for status in statuses if status != match.group()] or ["STATUS_UNSUCCESSFUL"]
            yield Mutant("status", match.start(), match.end(), others[sum(map(ord, match.group())) % len(others)])
    for match in re.finditer(r"\b(true|false)\b", source.code):
        yield Mutant("constant", match.start(), match.end(), "false" if match.group() == "true" else "true")


def operand_end(code, start, step):
    """Where the operand of && or || that begins (step 1) or ends (-1) at `start` ends: its own parentheses are passed."""
    depth, at = 0, start
    while 0 <= at < len(code):
        char = code[at]
        depth += step * ((char in "([") - (char in ")]"))
        if depth < 0 or (depth == 0 and (char in ";{}?:," or (step < 0 and code[at] == "=" and code[at - 1] not in "=!<>" and code[at + 1] != "="))):
            break
        if depth == 0 and (code[at:at + 2] if step > 0 else code[max(at - 1, 0):at + 1]) in ("&&", "||"):
            break
        at += step
    return at


def conditions(source):
    for match in re.finditer(r"&&|\|\|", source.code):
        if not source.function_at(match.start()):
            continue
        yield Mutant("connective", match.start(), match.end(), "||" if match.group() == "&&" else "&&")
        end = operand_end(source.code, match.end(), 1)
        yield Mutant("clause dropped", match.start(), end, "")
        start = operand_end(source.code, match.start() - 1, -1) + 1
        if source.code[:start].endswith(match.group()):
            continue  # of "a && b && c", b was dropped with what is before it
        start += len(re.match(r"\s*(?:return\b\s*)?", source.code[start:match.start()]).group())
        yield Mutant("clause dropped", start, match.end() + 1, "")
    for match in re.finditer(r"\b(if|while) \(", source.code):
        close = closing(source.code, match.end() - 1)
        if close >= 0 and source.function_at(match.start()):
            yield Mutant("condition negated", match.end() - 1, close + 1, "(!" + source.text[match.end() - 1:close + 1] + ")")


def statements(source):
    for match in STATEMENT.finditer(source.code):
        text = match.group(2)
        if not source.function_at(match.start(2)) or FIRST_WORD.search(text).group() in KEYWORDS:
            continue
        if ASSIGNMENT.match(text) and not DECLARATION.match(text):
            yield Mutant("assignment removed", match.start(2), match.end(2), ";")
        elif CALL.match(text):
            yield Mutant("call removed", match.start(2), match.end(2), ";")
    for match in re.finditer(r"^[ \t]+case [\w]+:[ \t]*\n", source.code, re.M):
        yield Mutant("case removed", match.start(), match.end(), "")
    for match in re.finditer(r"^[ \t]+\{[^;{}]*\},[ \t]*\n", source.code, re.M):
        if not source.function_at(match.start()):
            yield Mutant("row removed", match.start(), match.end(), "")


def arguments(source):
    for match in ARGUMENTS.finditer(source.code):
        if match.group(1) in KEYWORDS or not source.function_at(match.start()):
            continue
        parts, at = [], match.start(2)
        for part in match.group(2).split(","):
            parts.append((at + len(part) - len(part.lstrip()), at + len(part.rstrip())))
            at += len(part) + 1
        for (a, b), (c, d) in zip(parts, parts[1:]):
            one, other = source.text[a:b], source.text[c:d]
            if WORD.match(one) and WORD.match(other) and one != other:
                yield Mutant("arguments swapped", a, d, other + source.text[b:c] + one)


def early_returns(source):
    for _, kind, _, body, _ in source.functions:
        value = {"void": "", "bool": " false", "NTSTATUS": " STATUS_SUCCESS"}.get(kind.replace("static ", "").replace("inline ", "").strip())
        if value is None and re.search(r"\b(?:u?int\d*(?:_t)?|size_t|unsigned|UINT|ULONG)$", kind):
            value = " 0"
        if value is not None and "_Noreturn" not in kind:
            yield Mutant("early return", body, body, f" return{value};")


def mutants(source):
    """All of a source, in the order of their places."""
    found = [mutant for make in (swaps, constants, conditions, statements, arguments, early_returns) for mutant in make(source)
             if not source.skipped(mutant.start)]
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.kind, mutant.new))
