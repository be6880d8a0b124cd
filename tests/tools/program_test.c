/* SPDX-License-Identifier: MIT */
/* The program that the tests of a room are (tests/support/test.h): this one, run by itself. */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fixture.h"

#define PROGRAM "$DXGK_BUILD/tests/test_tools "

static struct fixture fixture;

static int set_up(void)
{
    fixture_init(&fixture);
    return 0;
}

static int tear_down(void)
{
    fixture_finish(&fixture);
    return getenv("FAIL_AT_THE_END") ? -1 : 0;
}

#define RIG_ARGUMENT_program void
#define RIG_RUN_program(body, ...)  \
    test_set_up(set_up, tear_down); \
    ((void)0, ##__VA_ARGS__);       \
    body()

static bool said(const char *text)
{
    return strstr(fixture.output, text) != NULL;
}

TEST_WITH(program, cases_are_listed_in_the_order_of_the_source)
{
    const char *first, *second;

    CHECK(fixture_run(&fixture, PROGRAM "--list") == 0);
    first = strstr(fixture.output, "\nprogram.cases_are_listed_in_the_order_of_the_source\n");
    second = strstr(fixture.output, "\nprogram.a_file_or_a_case_is_chosen\n");
    CHECK(first && second && first < second);
    CHECK(said("\nlayers.a_project_in_order_passes\n"));
}

TEST_WITH(program, a_file_or_a_case_is_chosen)
{
    CHECK(fixture_run(&fixture, PROGRAM "layers.a_project_in_order_passes") == 0);
    CHECK(said("[       OK ] layers.a_project_in_order_passes\n") && said("1 test(s) run."));
    CHECK(fixture_run(&fixture, PROGRAM "--list program") == 0);
    CHECK(said("program.a_file_or_a_case_is_chosen\n") && !said("layers."));
    CHECK(fixture_run(&fixture, PROGRAM "--list 'pro*.a_file_*' layers") == 0);
    CHECK(said("program.a_file_or_a_case_is_chosen\n") && said("layers.") &&
          !said("program.cases_are_listed"));
}

TEST_WITH(program, a_name_of_nothing_is_an_error)
{
    CHECK(fixture_run(&fixture, PROGRAM "layers layer") == 2);
    assert_string_equal(fixture.output,
                        "test_tools: no test is named 'layer'; --list shows those there are\n");
}

/* ---- options, and a second run under others ---- */

static int sum;

TEST_WITH(program, options_are_seen, sum = 1)
{
    CHECK(sum == 1 || sum == 2);
}
TEST_ALSO(program, options_are_seen, twice, sum = 1, sum += 1)

TEST_WITH(program, each_variant_is_a_case)
{
    CHECK(fixture_run(&fixture, PROGRAM "program.options_are_seen*") == 0);
    CHECK(said("[       OK ] program.options_are_seen\n") &&
          said("[       OK ] program.options_are_seen:twice\n") && said("2 test(s) run."));
}

/* ---- failure ---- */

TEST_WITH(program, fails_if_told_to)
{
    CHECK(!getenv("FAIL"));
}

TEST_WITH(program, what_fails_is_named)
{
    CHECK(fixture_run(&fixture, "FAIL=1 " PROGRAM "program.fails_if_told_to") == 1);
    CHECK(said("[  FAILED  ] program.fails_if_told_to\n") && said("1 FAILED TEST(S)"));
    CHECK(fixture_run(&fixture, "FAIL_AT_THE_END=1 " PROGRAM "program.fails_if_told_to") == 1);
}

TEST_WITH(program, a_rig_is_taken_down_after_a_failure)
{
    CHECK(fixture_run(&fixture, "FAIL=1 FAIL_AT_THE_END=1 " PROGRAM "program.fails_if_told_to") ==
          1);
    CHECK(said("Test teardown failed\n[  ERROR   ] program.fails_if_told_to\n"));
}
