/* SPDX-License-Identifier: MIT */
/*
 * The main program of the tests of a room: all its cases, or those that are named. cmocka runs them and prints what came of
 * it.
 */
#include "support/check_rule.h"
#include "support/test.h"
#include "support/transcript.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct test_case *registered;
static size_t registered_count;
static const struct test_case *running;
static int (*pending_tear_down)(void);

void test_register(struct test_case *test)
{
    test->next = registered;
    registered = test;
    registered_count++;
}

const struct test_case *test_running(void)
{
    return running;
}

void test_set_up(int (*set_up)(void), int (*tear_down)(void))
{
    assert_int_equal(set_up(), 0);
    pending_tear_down = tear_down;
}

/* ---- names ---- */

#define MAX_PATTERNS 256
#define SUFFIX       "_test.c"

/* "<what>_test.c": a compiler may have been given the path in several ways. */
static const char *source_of(const struct test_case *test)
{
    const char *slash = strrchr(test->file, '/');

    return slash ? slash + 1 : test->file;
}

static void set_full_name(struct test_case *test)
{
    const char *source = source_of(test);
    size_t length = strlen(source);

    if (length > strlen(SUFFIX) && strcmp(source + length - strlen(SUFFIX), SUFFIX) == 0)
        length -= strlen(SUFFIX);
    if (asprintf(&test->full_name, "%.*s.%s", (int)length, source, test->name) < 0)
        abort();
}

/* A name without a dot is that of a file, and stands for all its cases. */
static bool matches(const char *pattern, const char *name)
{
    const char *dot = strchr(name, '.');
    char what[256];

    if (strchr(pattern, '.'))
        return fnmatch(pattern, name, 0) == 0;
    snprintf(what, sizeof(what), "%.*s", (int)(dot - name), name);
    return fnmatch(pattern, what, 0) == 0;
}

/* ---- the run ---- */

static int compare(const void *a, const void *b)
{
    const struct test_case *x = *(const struct test_case *const *)a,
                           *y = *(const struct test_case *const *)b;
    int order = strcmp(source_of(x), source_of(y));

    return order ? order : x->line - y->line;
}

static void run_case(void **state)
{
    running = *state;
    transcript_begin();
    running->run();
}

static int end_case(void **state)
{
    int (*tear_down)(void) = pending_tear_down;
    int status, differs;

    (void)state;
    pending_tear_down = NULL;
    status = tear_down ? tear_down() : 0;
    differs = transcript_end(running);
    return status ? status : differs;
}

/* All that there are, in order; NULL: out of memory. To be freed. */
static struct test_case **all_cases(void)
{
    struct test_case **cases = calloc(registered_count + 1, sizeof(struct test_case *));
    size_t count = 0;

    if (!cases)
        return NULL;
    for (struct test_case *test = registered; test; test = test->next) {
        set_full_name(test);
        cases[count++] = test;
    }
    qsort(cases, count, sizeof(struct test_case *), compare);
    return cases;
}

static bool wanted(const struct test_case *test, char **patterns, bool *used)
{
    bool any = !*patterns;

    for (size_t i = 0; patterns[i]; i++) {
        if (!matches(patterns[i], test->full_name))
            continue;
        used[i] = any = true;
    }
    return any;
}

/* Leave those that a pattern names; their number. 0: one pattern names none. */
static size_t choose(struct test_case **cases, char **patterns)
{
    size_t chosen = 0;
    bool used[MAX_PATTERNS] = {false};

    for (size_t i = 0; i < registered_count; i++) {
        if (wanted(cases[i], patterns, used))
            cases[chosen++] = cases[i];
    }
    for (size_t i = 0; patterns[i]; i++) {
        if (used[i])
            continue;
        fprintf(stderr, "%s: no test is named '%s'; --list shows those there are\n",
                program_invocation_short_name, patterns[i]);
        return 0;
    }
    return chosen;
}

/* The exit status. */
static int run(struct test_case *const *cases, size_t count)
{
    struct CMUnitTest *tests = calloc(count, sizeof(*tests));
    int failed;

    if (!tests)
        return 2;
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i]->full_name,
                                       .test_func = run_case,
                                       .teardown_func = end_case,
                                       .initial_state = cases[i]};
    /* What cmocka_run_group_tests calls, which only takes an array. */
    failed = _cmocka_run_group_tests(program_invocation_short_name, tests, count, NULL, NULL);
    free(tests);
    return failed ? 1 : 0;
}

static int list(struct test_case *const *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s\n", cases[i]->full_name);
    return 0;
}

static int usage(FILE *to)
{
    fprintf(to,
            "usage: %s [--list] [WHAT | WHAT.CASE]...\n"
            "Runs the tests of a file or single ones (shell patterns do, too), without a name all.\n"
            "--list only prints their names.\n",
            program_invocation_short_name);
    return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    bool only_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    char **patterns = argv + 1 + only_list;
    struct test_case **cases;
    size_t count;
    int status = 2;

    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return usage(stdout);
    if (argc > MAX_PATTERNS || (*patterns && **patterns == '-'))
        return usage(stderr);
    setenv("DXGK_SOURCE", TEST_SOURCE, 0); /* as ctest sets them */
    setenv("DXGK_BUILD", TEST_BUILD, 0);
    cases = all_cases();
    if (!cases)
        return 2;
    count = choose(cases, patterns);
    if (count)
        status = only_list ? list(cases, count) : run(cases, count);
    free(cases);
    return status;
}
