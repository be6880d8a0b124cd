# SPDX-License-Identifier: MIT
"""As much of PowerShell's grammar as tells whether brackets and quotes fit: comments, strings of both kinds with what they
escape, here-strings, and expressions inside of strings."""
import re

CLOSING = {"(": ")", "[": "]", "{": "}"}


class Scanner:
    def __init__(self, text):
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.tokens = []  # (kind, text): word, string, mark

    def fail(self, at, what):
        raise ValueError(f"line {self.text.count(chr(10), 0, at) + 1}: {what}")

    def find(self, what, start, name):
        end = self.text.find(what, start)
        if end < 0:
            self.fail(start, f"{name} without an end")
        return end + len(what)

    def code(self, closing):
        """Up to the bracket that closes this, or to the end ("")."""
        start = self.at
        while self.at < len(self.text):
            rest = self.text[self.at:self.at + 2]
            if rest == "<#":
                self.at = self.find("#>", self.at, "a comment")
            elif rest[0] == "#":
                self.at = self.text.find("\n", self.at) if "\n" in self.text[self.at:] else len(self.text)
            elif rest in ("@'", '@"') and self.text[self.at + 2:self.at + 3] == "\n":
                self.here(rest[1])
            elif rest[0] == "'":
                self.single()
            elif rest[0] == '"':
                self.double('"')
            elif rest[0] == "`":
                self.at += 2
            elif rest[0] in CLOSING:
                self.tokens.append(("mark", rest[0]))
                self.at += 1
                self.code(CLOSING[rest[0]])
            elif rest[0] in ")]}":
                if rest[0] != closing:
                    self.fail(self.at, f"{rest[0]} where {closing or 'nothing'} closes")
                self.tokens.append(("mark", rest[0]))
                self.at += 1
                return
            else:
                word = re.compile(r"[$\w][\w:.-]*|\s+|.").match(self.text, self.at).group()
                if not word.isspace():
                    self.tokens.append(("word" if len(word) > 1 or word.isalnum() else "mark", word))
                elif "\n" in word:
                    self.tokens.append(("mark", "\n"))
                self.at += len(word)
        if closing:
            self.fail(start, f"{closing} is missing")

    def single(self):
        start = self.at
        self.at = self.find("'", self.at + 1, "a string")
        while self.text[self.at:self.at + 1] == "'":
            self.at = self.find("'", self.at + 1, "a string")
        self.tokens.append(("string", self.text[start:self.at]))

    def double(self, quote):
        """From its quote to the one that ends it; of a here-string ("\\n\\"@") from its first line."""
        start = self.at
        self.at += 1
        while not self.text.startswith(quote, self.at):
            if self.at >= len(self.text):
                self.fail(start, "a string without an end")
            if self.text[self.at] == "`":
                self.at += 2
            elif self.text.startswith("$(", self.at):
                self.at += 2
                self.code(")")
            else:
                self.at += 1
        self.at += len(quote)
        if quote == '"' and self.text[self.at:self.at + 1] == '"':
            self.double(quote)
        else:
            self.tokens.append(("string", self.text[start:self.at]))

    def here(self, quote):
        self.at += 2
        if quote == "'":
            self.at = self.find("\n'@", self.at, "a here-string")
        else:
            self.at -= 1
            self.double('\n"@')


def tokens(text):
    """Throws ValueError, with the line, if something does not fit."""
    scanner = Scanner(text)
    scanner.code("")
    return scanner.tokens


def check(text):
    tokens(text)


def commands(found):
    """Words that may be called: all but names of parameters and of what is defined."""
    return {word for (_, before), (kind, word) in zip([("mark", "\n"), *found], found) if kind == "word" and before != "function"}
