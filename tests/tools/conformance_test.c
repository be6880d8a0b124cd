/* SPDX-License-Identifier: MIT */
/* tools/conformance on a project of eight rules. */
#include "support/check_rule.h"

#include <stdio.h>
#include <string.h>

#include "support/fixture.h"
#include "verify/verify.h"

#define TOOL "$TOOLS/conformance --source . "

static struct fixture fixture;

static int set_up(void)
{
    fixture_init(&fixture);
    fixture_write(&fixture, "docs/spec/rules/one.tsv",
                  "id\tsince\tapplies_to\trule\tsource\ttest\n"
                  "LIFE-001\t-\tlife\tThe first.\tdecision\tlook\n"
                  "LIFE-002\t1.2\tlife\tThe second.\tdecision\tlook\n"
                  "LIFE-003\t-\tlife\tThe third.\tdecision\tlook\n"
                  "LIFE-004\t-\tlife\tAs LIFE-001 to LIFE-003: all of them.\tdecision\tlook\n");
    fixture_write(&fixture, "docs/spec/rules/two.tsv",
                  "id\tsince\tapplies_to\trule\tsource\ttest\n"
                  "NT-001\t-\tpool\tAs LIFE-002, also here.\tdecision\tlook\n"
                  "PATCH-001\t-\tpatch\tAs NT-001 and LIFE-001: both.\tdecision\tlook\n"
                  "PATCH-002\t-\tpatch\tDecision: as PATCH-001: again.\tdecision\tlook\n"
                  "KMT-001\t-\tclient\tUnlike LIFE-001.\tdecision\tlook\n");
    fixture_write(&fixture, "src/nt/mm/pool.c",
                  "/* LIFE-003 */\nvoid f(void)\n{\n    VIOLATION(\"NT-001\", \"x\");\n}\n");
    fixture_write(&fixture, "build/rules-shown/test_nt.tsv",
                  "NT-001\ttests/nt/pool_test.c:12\tpool_refuses\n"
                  "NT-001\ttests/nt/pool_test.c:15\tpool_refuses\n"
                  "LIFE-001\ttests/nt/pool_test.c:17\tpool_records\n");
    fixture_write(&fixture, "build/rules-shown/test_life.tsv",
                  "LIFE-001\ttests/life_test.c:3\tlives\n");
    return 0;
}

static int tear_down(void)
{
    fixture_finish(&fixture);
    return 0;
}

#define RIG_ARGUMENT_conformance void
#define RIG_RUN_conformance(body)   \
    test_set_up(set_up, tear_down); \
    body()

static void expect_output(const char *expected)
{
    assert_string_equal(fixture.output, expected);
}

TEST_WITH(conformance, the_summary_has_a_line_per_series)
{
    CHECK(fixture_run(&fixture, TOOL "--summary") == 0);
    expect_output("LIFE 4 1 25.0 1 0 1 4\nCAPS 0 0 0.0 0 0 0 0\nTHREAD 0 0 0.0 0 0 0 0\n"
                  "NT 1 1 100.0 1 0 1 1\nGPUVA 0 0 0.0 0 0 0 0\nCTXA 0 0 0.0 0 0 0 0\n"
                  "PHYS 0 0 0.0 0 0 0 0\nIOMMU 0 0 0.0 0 0 0 0\nSEG 0 0 0.0 0 0 0 0\n"
                  "ALLOC 0 0 0.0 0 0 0 0\nRES 0 0 0.0 0 0 0 0\nPAGE 0 0 0.0 0 0 0 0\n"
                  "PATCH 2 0 0.0 0 0 0 2\nSUBMIT 0 0 0.0 0 0 0 0\nPREEMPT 0 0 0.0 0 0 0 0\n"
                  "TDR 0 0 0.0 0 0 0 0\nKMT 1 0 0.0 0 0 0 1\nDISP 0 0 0.0 0 0 0 0\n"
                  "VIDPN 0 0 0.0 0 0 0 0\nPRES 0 0 0.0 0 0 0 0\nTOTAL 8 2 25.0 2 0 2 8\n");
}

TEST_WITH(conformance, the_summary_of_this_project_counts_every_rule)
{
    char expected[64];
    const char *total;

    CHECK(fixture_run(&fixture, "$TOOLS/conformance --summary --build build") <= 1);
    snprintf(expected, sizeof(expected), "TOTAL %zu ", verify_rules_count);
    total = strstr(fixture.output, "TOTAL");
    CHECK(total && strncmp(total, expected, strlen(expected)) == 0);
}

TEST_WITH(conformance, missing_lists_what_no_test_showed)
{
    CHECK(fixture_run(&fixture, TOOL "--missing LIFE") == 0);
    expect_output("LIFE-002\tlife\tThe second.\nLIFE-003\tlife\tThe third.\n"
                  "LIFE-004\tlife\tAs LIFE-001 to LIFE-003: all of them.\n");
    CHECK(fixture_run(&fixture, TOOL "--missing NT") == 0);
    expect_output("");
    CHECK(fixture_run(&fixture, TOOL "--missing POOL") == 2);
}

/* A rule of two clauses in a series that has to be shown from outside, and one in another. */
static void write_clauses(const char *shown)
{
    fixture_write(&fixture, "docs/spec/rules/clauses.tsv",
                  "id\tsince\tapplies_to\trule\tsource\ttest\n"
                  "CAPS-001\t-\tcaps\tBoth.\tdecision\t(a) one; (b) two, f(c) is none\n"
                  "SEG-001\t-\tsegment\tBoth.\tdecision\tas ever (a) one (b) two\n");
    fixture_write(&fixture, "build/rules-shown/test_clauses.tsv", shown);
}

TEST_WITH(conformance, a_rule_is_shown_when_all_its_clauses_are)
{
    write_clauses("CAPS-001/a\ttests/port/caps_test.c:1\tf\n"
                  "SEG-001/b\ttests/vidmm/segment_test.c:1\tf\n");
    CHECK(fixture_run(&fixture, TOOL) == 0);
    CHECK(strstr(fixture.output, "CAPS 1 0 0.0 0 0 1 2\n"));
    CHECK(strstr(fixture.output, "SEG 1 0 0.0 0 0 1 2\n"));
    CHECK(fixture_run(&fixture, TOOL "--missing CAPS") == 0);
    expect_output("CAPS-001/b\tcaps\tBoth.\n");
    write_clauses("CAPS-001/a\ttests/port/caps_test.c:1\tf\nCAPS-001/b\ttests/nt/x_test.c:1\tf\n"
                  "SEG-001/ab\ttests/port/segment_test.c:1\tf\n");
    CHECK(fixture_run(&fixture, TOOL) == 0);
    CHECK(strstr(fixture.output, "CAPS 1 1 100.0 1 0 2 2\n"));
    CHECK(strstr(fixture.output, "SEG 1 1 100.0 1 0 2 2\n"));
    CHECK(fixture_run(&fixture, TOOL "--rule SEG-001") == 0);
    CHECK(strstr(fixture.output, "shown:\n    tests/port/segment_test.c:1 f /ab\n"));
}

TEST_WITH(conformance, what_a_unit_test_shows_counts_where_no_other_can)
{
    write_clauses("CAPS-001/ab\ttests/vidmm/caps_test.c:1\tf\n"
                  "SEG-001/a\ttests/vidmm/segment_test.c:1\tf\n"
                  "SEG-001/b\ttests/port/segment_test.c:1\tf\n");
    CHECK(fixture_run(&fixture, TOOL) == 0);
    CHECK(strstr(fixture.output, "CAPS 1 0 0.0 0 1 0 2\n"));
    CHECK(strstr(fixture.output, "SEG 1 1 100.0 0 1 2 2\n"));
    CHECK(fixture_run(&fixture, TOOL "--missing CAPS") == 0);
    expect_output("CAPS-001/ab (unit)\tcaps\tBoth.\n");
    fixture_write(&fixture, "docs/spec/inside.tsv", "rule\twhy\nCAPS-001\tonly a cache\n");
    CHECK(fixture_run(&fixture, TOOL) == 0);
    CHECK(strstr(fixture.output, "CAPS 1 1 100.0 0 1 2 2\n"));
    fixture_write(&fixture, "docs/spec/inside.tsv", "rule\twhy\nCAPS-002\tonly a cache\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "docs/spec/inside.tsv: CAPS-002 is in no table\n"));
}

TEST_WITH(conformance, clauses_that_do_not_exist_fail)
{
    write_clauses("CAPS-001/c\ttests/port/caps_test.c:1\tf\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "caps_test.c:1: shows CAPS-001/c, whose clauses are a, b\n"));
    write_clauses("CAPS-001\ttests/port/caps_test.c:2\tf\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "caps_test.c:2: shows CAPS-001 without one of its clauses a, b\n"));
    write_clauses("NT-001/a\ttests/nt/pool_test.c:3\tf\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "pool_test.c:3: shows NT-001/a, whose clauses are none\n"));
    write_clauses("");
    fixture_write(&fixture, "docs/spec/rules/more.tsv",
                  "id\tsince\tapplies_to\trule\tsource\ttest\n"
                  "TDR-001\t-\tx\tX.\tdecision\t(a) one; (c) two\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "TDR-001: its clauses are a, c\n"));
}

TEST_WITH(conformance, a_rule_is_printed_with_its_places)
{
    CHECK(fixture_run(&fixture, TOOL "--rule LIFE-001") == 0);
    expect_output(
        "LIFE-001 (life)\n    The first.\n    test: look\n    source: decision\n\n"
        "reported: nowhere\nnamed: nowhere\nnamed nearby:\n    LIFE-003 src/nt/mm/pool.c:1\n"
        "files that have its names: nowhere\n"
        "shown:\n    tests/life_test.c:3 lives (unit)\n    tests/nt/pool_test.c:17 pool_records\n");
    CHECK(fixture_run(&fixture, TOOL "--rule NT-001") == 0);
    CHECK(strstr(fixture.output, "LIFE-002 (life, since 1.2)\n"));
    CHECK(strstr(fixture.output, "reported:\n    src/nt/mm/pool.c:4\nnamed: nowhere\nshown:"));
    CHECK(fixture_run(&fixture, TOOL "--rule LIFE-003") == 0);
    CHECK(strstr(fixture.output, "reported: nowhere\nnamed:\n    src/nt/mm/pool.c:1\nshown: "));
    CHECK(fixture_run(&fixture, TOOL "--rule LIFE-009") == 1);
}

TEST_WITH(conformance, a_rule_that_src_does_not_name_is_found_by_its_words)
{
    fixture_write(&fixture, "docs/spec/rules/three.tsv",
                  "id\tsince\tapplies_to\trule\tsource\ttest\n"
                  "TDR-001\t-\tDxgkDdiResetEngine\tWith LastAbortedFenceId.\tdecision\tlook\n");
    fixture_write(
        &fixture, "src/vidsch/reset.c",
        "/* LIFE-003 */\nvoid f(void)\n{\n    DxgkDdiResetEngine(LastAbortedFenceId);\n}\n");
    fixture_write(&fixture, "src/vidsch/other.c", "void g(void)\n{\n    DxgkDdiResetEngine();\n}\n");
    CHECK(fixture_run(&fixture, TOOL "--rule TDR-001") == 0);
    CHECK(strstr(fixture.output, "named nearby: nowhere\nfiles that have its names:\n"
                                 "    src/vidsch/reset.c (DxgkDdiResetEngine, LastAbortedFenceId)\n"
                                 "    src/vidsch/other.c (DxgkDdiResetEngine)\n"));
}

/* The rules printed by --rule, one letter and number each, in order. */
static void expect_rules(const char *rule, const char *const *expected)
{
    char command[128];
    const char *at;

    snprintf(command, sizeof(command), TOOL "--rule %s | grep -o '^[A-Z]*-[0-9]*'", rule);
    CHECK(fixture_run(&fixture, command) == 0);
    at = fixture.output;
    for (; *expected; expected++) {
        CHECK(strncmp(at, *expected, strlen(*expected)) == 0);
        at += strlen(*expected) + 1;
    }
    CHECK(*at == '\0');
}

TEST_WITH(conformance, a_rule_is_printed_with_those_it_leans_on)
{
    expect_rules("PATCH-002", (const char *const[]){"PATCH-002", "PATCH-001", "NT-001", "LIFE-002",
                                                    "LIFE-001", NULL});
    expect_rules("LIFE-004",
                 (const char *const[]){"LIFE-004", "LIFE-001", "LIFE-002", "LIFE-003", NULL});
    expect_rules("KMT-001", (const char *const[]){"KMT-001", NULL});
}

TEST_WITH(conformance, an_unknown_id_that_was_shown_fails)
{
    fixture_write(&fixture, "build/rules-shown/test_wrong.tsv",
                  "NT-009\ttests/nt/wrong_test.c:1\twrong\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "tests/nt/wrong_test.c:1: shows NT-009, which is in no table\n"));
    CHECK(strstr(fixture.output, "TOTAL 8 2 25.0 ")); /* and does not count */
}

TEST_WITH(conformance, an_unknown_id_in_a_source_fails)
{
    fixture_write(&fixture, "src/nt/wrong.c", "\n/* see NT-010 */\n");
    CHECK(fixture_run(&fixture, TOOL) == 1);
    CHECK(strstr(fixture.output, "src/nt/wrong.c:2: names NT-010, which is in no table\n"));
}

TEST_WITH(conformance, the_newest_build_counts_unless_one_is_given)
{
    fixture_write(&fixture, "build-asan/rules-shown/test_kmt.tsv",
                  "KMT-001\ttests/kmt_test.c:1\tcalls\n");
    CHECK(fixture_run(&fixture, "touch -d '1 hour ago' build/rules-shown/*; " TOOL) == 0);
    CHECK(strstr(fixture.output, "TOTAL 8 1 12.5 "));
    CHECK(fixture_run(&fixture, TOOL "--build build") == 0);
    CHECK(strstr(fixture.output, "TOTAL 8 2 25.0 "));
    CHECK(fixture_run(&fixture, TOOL "--build=build --build=build-asan --build=build-none") == 0);
    CHECK(strstr(fixture.output, "TOTAL 8 3 37.5 "));
}

TEST_WITH(conformance, nothing_ran_yet)
{
    CHECK(fixture_run(&fixture, "rm -r build; " TOOL) == 0);
    CHECK(strstr(fixture.output, "TOTAL 8 0 0.0 "));
}

/* ---- --evidence ---- */

#define NO_RULE(series) series " 0 0 0.0 0 0.0 0 0.0\n"

TEST_WITH(conformance, evidence_counts_each_rule_once)
{
    fixture_write(
        &fixture, "docs/spec/rules/one.tsv",
        "id\tsince\tapplies_to\trule\tsource\ttest\n"
        "LIFE-001\t-\tlife\tA.\tdecision\tlook\n"
        "LIFE-002\t-\tlife\tB.\tpage.md; decision\tlook\n"
        "LIFE-003\t-\tlife\tC.\tdecision\tlook\n"
        "LIFE-004\t-\tlife\tD.\tlogs of a driver on Linux; tdr-changes-in-windows-8.md\tlook\n"
        "LIFE-005\t-\tlife\tE.\tWine's tests of D3DKMT, which record what Windows "
        "answers; decision\tlook\n"
        "LIFE-006\t-\tlife\tF.\tdecision\tlook\n");
    fixture_write(&fixture, "docs/spec/evidence.tsv",
                  "id\twindows\tsources\tseen\nLIFE-003\t11-22H2\tone\tonce\n");
    CHECK(fixture_run(&fixture, "rm docs/spec/rules/two.tsv; " TOOL "--evidence") == 0);
    expect_output("LIFE 6 2 33.3 2 33.3 2 33.3\n" NO_RULE("CAPS") NO_RULE("THREAD") NO_RULE("NT")
                      NO_RULE("GPUVA") NO_RULE("CTXA") NO_RULE("PHYS") NO_RULE("IOMMU")
                          NO_RULE("SEG") NO_RULE("ALLOC") NO_RULE("RES") NO_RULE("PAGE")
                              NO_RULE("PATCH") NO_RULE("SUBMIT") NO_RULE("PREEMPT") NO_RULE("TDR")
                                  NO_RULE("KMT") NO_RULE("DISP") NO_RULE("VIDPN")
                                      NO_RULE("PRES") "TOTAL 6 2 33.3 2 33.3 2 33.3\n");
}

TEST_WITH(conformance, evidence_of_a_project_without_observations)
{
    CHECK(fixture_run(&fixture, TOOL "--evidence") == 0);
    CHECK(strstr(fixture.output, "TOTAL 8 0 0.0 0 0.0 8 100.0\n"));
}

TEST_WITH(conformance, evidence_of_an_unknown_rule_fails)
{
    fixture_write(&fixture, "docs/spec/evidence.tsv",
                  "id\twindows\tsources\tseen\nLIFE-009\t11-22H2\tone\tonce\n");
    CHECK(fixture_run(&fixture, TOOL "--evidence") == 1);
    CHECK(strstr(fixture.output, "docs/spec/evidence.tsv: LIFE-009 is in no table\n"));
}

TEST_WITH(conformance, a_rule_that_rests_on_a_log_is_in_the_evidence)
{
    const char *const *source;

    for (source =
             (const char *const[]){"logs of DDI calls on Windows 11", "public trace of Windows 10",
                                   "diagnostics of Windows 11", NULL};
         *source; source++) {
        char rule[256];

        snprintf(
            rule, sizeof(rule),
            "id\tsince\tapplies_to\trule\tsource\ttest\nTDR-001\t-\tx\tX.\tdecision; %s\tlook\n",
            *source);
        fixture_write(&fixture, "docs/spec/rules/three.tsv", rule);
        fixture_write(&fixture, "docs/spec/evidence.tsv", "id\twindows\tsources\tseen\n");
        CHECK(fixture_run(&fixture, TOOL "--evidence") == 1);
        CHECK(strstr(fixture.output, "evidence.tsv: TDR-001 is missing, whose source is: "));
        CHECK(strstr(fixture.output, "TDR 1 0 0.0 1 100.0 0 0.0\n"));
        fixture_write(&fixture, "docs/spec/evidence.tsv",
                      "id\twindows\tsources\tseen\nTDR-001\t11-22H2\tone\tonce\n");
        CHECK(fixture_run(&fixture, TOOL "--evidence") == 0);
    }
}

/* Of this project, whose page has the table. */
TEST_WITH(conformance, the_page_has_the_counts_of_the_evidence)
{
    CHECK(fixture_run(&fixture, "$TOOLS/conformance --evidence") == 0);
    CHECK(strstr(fixture.output, "\nTOTAL "));
    CHECK(fixture_run(
              &fixture,
              "$TOOLS/conformance --evidence | while read series rules d dp o op c cp; do grep -q "
              "\"^| $series | $rules |.*| $dp | $op | $cp |$\" "
              "$TOOLS/../docs/windows-evidence.md || echo \"$series is out of date\"; done") == 0);
    expect_output("");
}
