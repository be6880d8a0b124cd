/* SPDX-License-Identifier: MIT */
/*
 * The main program of the tests of a room: all its cases, or those that are named. cmocka runs them and prints what came of
 * it.
 */
#include "support/check_rule.h"
#include "support/test.h"

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

#define SUFFIX "_test.c"

/* "<what>_test.c": a compiler may have been given the path in several ways. */
static const char *source_of(const struct test_case *test)
{
    const char *slash = strrchr(test->file, '/');

    return slash ? slash + 1 : test->file;
}

/* "<what>.<name>" */
static char *full_name(const struct test_case *test)
{
    const char *source = source_of(test);
    size_t length = strlen(source);
    char *name = NULL;

    if (length > strlen(SUFFIX) && strcmp(source + length - strlen(SUFFIX), SUFFIX) == 0)
        length -= strlen(SUFFIX);
    if (asprintf(&name, "%.*s.%s", (int)length, source, test->name) < 0)
        abort();
    return name;
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
    running->run();
}

static int end_case(void **state)
{
    int (*tear_down)(void) = pending_tear_down;

    (void)state;
    pending_tear_down = NULL;
    return tear_down ? tear_down() : 0;
}

static struct CMUnitTest for_cmocka(struct test_case *test)
{
    return (struct CMUnitTest){.name = full_name(test),
                               .test_func = run_case,
                               .teardown_func = end_case,
                               .initial_state = test};
}

static bool wanted(const struct CMUnitTest *test, char **patterns, bool *used)
{
    bool any = !*patterns;

    for (size_t i = 0; patterns[i]; i++) {
        if (!matches(patterns[i], test->name))
            continue;
        used[i] = any = true;
    }
    return any;
}

/* Leave of all cases those that a pattern names; their number. 0: one pattern names none. */
static size_t choose(struct CMUnitTest *tests, size_t count, char **patterns)
{
    size_t chosen = 0;
    bool used[256] = {false};

    for (size_t i = 0; i < count; i++) {
        if (wanted(&tests[i], patterns, used))
            tests[chosen++] = tests[i];
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

static int help(void)
{
    printf("usage: %s [--list] [WHAT | WHAT.CASE]...\n"
           "Runs the tests of a file or single ones (shell patterns do, too), without a name all.\n"
           "--list only prints their names.\n",
           program_invocation_short_name);
    return 0;
}

int main(int argc, char **argv)
{
    struct test_case **sorted = calloc(registered_count + 1, sizeof(struct test_case *));
    struct CMUnitTest *tests = calloc(registered_count + 1, sizeof(*tests));
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    size_t count = 0;
    char **patterns = argv + 1 + list;

    if (!sorted || !tests)
        return 2;
    setenv("DXGK_SOURCE", TEST_SOURCE, 0); /* as ctest sets them */
    setenv("DXGK_BUILD", TEST_BUILD, 0);
    if (argc > 1 && strcmp(argv[1], "--help") == 0)
        return help();
    if (argc > 256)
        return 2;
    for (struct test_case *test = registered; test; test = test->next)
        sorted[count++] = test;
    qsort(sorted, count, sizeof(struct test_case *), compare);
    for (size_t i = 0; i < count; i++)
        tests[i] = for_cmocka(sorted[i]);
    count = choose(tests, count, patterns);
    if (count == 0)
        return 2;
    if (list) {
        for (size_t i = 0; i < count; i++)
            printf("%s\n", tests[i].name);
        return 0;
    }
    /* What cmocka_run_group_tests calls, which only takes an array. */
    return _cmocka_run_group_tests(program_invocation_short_name, tests, count, NULL, NULL) ? 1 : 0;
}
