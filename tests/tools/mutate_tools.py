#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mistakes that tools/mutate makes. Usage: mutate_tools.py"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
from mutation import operators, trial  # noqa: E402

CODE = r"""/* a < b && c */
#include <x.h>
#define LIMIT (4 < 5)

static const struct row rows[] = {
    {1, "a < b"},
    {2, "c"},
};

struct thing {
    int member[4];
};

static NTSTATUS choose(const struct thing *thing, unsigned flag, unsigned other)
{
    unsigned value = other;
    char text[16];

    NT_ENTER();
    util_assert(flag < 9 && other);
    if (flag >= 16 || !thing) // not in force: x == y
        return STATUS_INVALID_PARAMETER;
    switch (flag) {
    case FLAG_ONE:
        value = combine(flag, other, "a == b");
        break;
    default:
        report(thing->member[7]);
    }
    return value > 1 && check(other, thing) ? STATUS_SUCCESS : STATUS_NOT_FOUND;
}
"""


def load_tool():
    loader = importlib.machinery.SourceFileLoader("mutate", str(pathlib.Path(sys.path[0]) / "mutate"))
    spec = importlib.util.spec_from_loader("mutate", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def become(kind, code=CODE):
    """What the mutants of a kind make of their lines, white space apart."""
    source, found = operators.Source(code), []
    for mutant in operators.mutants(source):
        if mutant.kind == kind:
            text = code[:mutant.start] + mutant.new + code[mutant.end:]
            begin = code.rfind("\n", 0, mutant.start) + 1
            end = code.find("\n", mutant.end - 1 if code[mutant.end - 1] == "\n" else mutant.end)
            found.append(" ".join(text[begin:end + len(text) - len(code)].split()))
    return found


class Mistakes(unittest.TestCase):
    def test_comparisons(self):
        self.assertEqual(become("comparison"), ["if (flag > 16 || !thing) // not in force: x == y",
                                                "return value >= 1 && check(other, thing) ? STATUS_SUCCESS : STATUS_NOT_FOUND;"])

    def test_constants(self):
        self.assertEqual(become("constant"), ['{0, "a < b"},', '{3, "c"},', "if (flag >= 17 || !thing) // not in force: x == y", "report(thing->member[8]);",
                                              "return value > 0 && check(other, thing) ? STATUS_SUCCESS : STATUS_NOT_FOUND;"])

    def test_statuses_become_others_of_the_file(self):
        found = become("status")
        self.assertEqual(len(found), 3)
        self.assertNotIn("return STATUS_INVALID_PARAMETER;", found)
        self.assertTrue(found[0] in ("return STATUS_SUCCESS;", "return STATUS_NOT_FOUND;"))

    def test_clauses(self):
        self.assertEqual(become("clause dropped"), ["if (!thing) // not in force: x == y", "if (flag >= 16 ) // not in force: x == y",
                                                    "return check(other, thing) ? STATUS_SUCCESS : STATUS_NOT_FOUND;",
                                                    "return value > 1 ? STATUS_SUCCESS : STATUS_NOT_FOUND;"])
        self.assertEqual(become("connective"), ["if (flag >= 16 && !thing) // not in force: x == y",
                                                "return value > 1 || check(other, thing) ? STATUS_SUCCESS : STATUS_NOT_FOUND;"])
        self.assertEqual(become("condition negated"), ["if (!(flag >= 16 || !thing)) // not in force: x == y"])

    def test_each_clause_of_a_chain_is_dropped_once(self):
        self.assertEqual(become("clause dropped", CHAINED), ["return b(c) && c;", "return a == 1 && c;", "return a == 1 && b(c) ;",
                                                             "return b && c;", "return a && c;", "return a || c;", "return a || b ;"])

    def test_statements(self):
        self.assertEqual(become("call removed"), [";"])
        self.assertEqual(become("assignment removed"), [";"])
        self.assertEqual(become("case removed"), [""])
        self.assertEqual(become("row removed"), ["", ""])

    def test_arguments(self):
        self.assertEqual(become("arguments swapped"), ['value = combine(other, flag, "a == b");',
                                                       "return value > 1 && check(thing, other) ? STATUS_SUCCESS : STATUS_NOT_FOUND;"])

    def test_early_return(self):
        source = operators.Source(CODE)
        early = [mutant for mutant in operators.mutants(source) if mutant.kind == "early return"]
        self.assertEqual([(mutant.new, source.line_of(mutant.start)) for mutant in early], [(" return STATUS_SUCCESS;", 15)])

    def test_functions(self):
        source = operators.Source(CODE)
        self.assertEqual([function[0] for function in source.functions], ["choose"])
        self.assertEqual(source.function_at(CODE.index("util_assert"))[1], "static NTSTATUS")
        self.assertIsNone(source.function_at(CODE.index("rows")))


CHAINED = """static bool every(int a, int b, int c)
{
    return a == 1 && b(c) && c;
}

static bool mixed(int a, int b, int c)
{
    return a || b && c;
}
"""


RULED = """/* NT-001: the function that follows. */
static int whole(int a)
{
    return a + 1;
}

static int parts(struct thing *thing, int a)
{
    int b = a + 2; /* NT-002 */

    if (a > 3 &&
        b > 4)
        return refuse(STATUS_NONE, "NT-003", "why %d",
                      a + 5);
    if (b > 6) { /* NT-004 */
        note();
        warn("NT-005", a * 7);
    }
    /* NT-006: what comes
     * next */
    thing->member = a - 8;
    b++;
    return a - b;
}
"""


class Rules(unittest.TestCase):
    """What belongs to a rule: the statement that names it, with its condition."""

    def lines(self, rule):
        tool = load_tool()
        source = operators.Source(RULED)
        return tool.lines_of_rule(source, list(range(1, RULED.count("\n") + 1)), RULED.index(rule))

    def line(self, text):
        return RULED[:RULED.index(text)].count("\n") + 1

    def test_a_comment_before_a_function_is_about_it(self):
        self.assertEqual(self.lines("NT-001"), [2, 3, 4, 5])

    def test_a_comment_behind_a_statement_is_about_it(self):
        self.assertEqual(self.lines("NT-002"), [self.line("NT-002")])
        self.assertEqual(self.lines("NT-004"), [self.line("NT-004")])

    def test_a_statement_has_its_condition(self):
        self.assertEqual(self.lines("NT-003"), [self.line("a > 3") + i for i in range(4)])

    def test_a_statement_in_a_block_has_the_condition_of_the_block_or_stands_alone(self):
        self.assertEqual(self.lines("NT-005"), [self.line("NT-005")])

    def test_a_comment_of_its_own_is_about_what_follows(self):
        self.assertEqual(self.lines("NT-006"), [self.line("a - 8")])


class Again(unittest.TestCase):
    """What an earlier run printed leads to the same mutants, on whatever lines they are by now."""

    def test_lines_may_have_moved(self):
        tool = load_tool()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "src/room/choose.c"
            file.parent.mkdir(parents=True)
            file.write_text(CODE, encoding="utf-8")
            sources = tool.Sources(pathlib.Path(folder))
            every = [tool.Draw("src/room/choose.c", sources.get("src/room/choose.c")[0], mutant)
                     for mutants in sources.get("src/room/choose.c")[1].values() for mutant in mutants]
            survived = [draw for i, draw in enumerate(every) if i % 2 or "FLAG_ONE" in str(draw)]
            printed = "".join(f"seed 1: {'SURVIVED 3 tests' if draw in survived else 'killed by room_choose'}: {draw} (4 s)\n" for draw in every)
            file.write_text("/* one line\n * two lines */\n" + CODE.replace("FLAG_ONE", "FLAG_TWO"), encoding="utf-8")
            found = list(tool.by_list(tool.Sources(pathlib.Path(folder)), tool.survivors(printed)))
            self.assertEqual(sum(draw is None for draw, _ in found), 1)
            self.assertEqual([draw.line for draw, _ in found if draw],
                             [draw.line + 2 for draw in survived if "FLAG_ONE" not in str(draw)])
            self.assertTrue(all("FLAG_ONE" in text for draw, text in found if not draw))


class Reach(unittest.TestCase):
    def names(self, line, reached, first=10, last=30):
        place = trial.Trial.__new__(trial.Trial)
        tests = {name: trial.Test({"name": name, "command": []}) for names in reached.values() for name in names}
        place.reach = {"src/kmt/a.c": {number: [tests[name] for name in names] for number, names in reached.items()}}
        return [test.name for test in place.tests_of("src/kmt/a.c", first, last, line)]

    def test_those_around_the_line_come_first(self):
        reached = {12: ["port_a"], 18: ["kmt_b"], 25: ["kmt_c"], 28: ["port_d"], 40: ["kmt_e"]}
        self.assertEqual(self.names(20, reached), ["kmt_b", "kmt_c", "port_a", "port_d"])
        self.assertEqual(self.names(11, reached), ["port_a", "kmt_b", "kmt_c", "port_d"])
        self.assertEqual(self.names(29, reached), ["port_d", "kmt_b", "kmt_c", "port_a"])

    def test_of_the_others_there_are_some(self):
        reached = {12: ["kmt_a"], 15: [f"port_{i}" for i in range(30)]}
        self.assertEqual(len(self.names(11, reached)), 1 + trial.OTHERS)
        self.assertEqual(self.names(11, reached)[0], "kmt_a")

    def test_a_line_that_nobody_runs_has_none(self):
        self.assertEqual(self.names(20, {5: ["kmt_a"], 40: ["kmt_b"]}), [])


if __name__ == "__main__":
    unittest.main()
