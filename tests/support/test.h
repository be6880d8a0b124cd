/* SPDX-License-Identifier: MIT */
/*
 * How a test is written. A case registers itself, so that there is no list of cases to keep:
 *
 *     TEST(sizes_that_overflow_fail) { CHECK(...); }
 *     TEST_WITH(mm, capture_is_pinned) { CHECK(rig->...); }
 *
 * A rig is what a case stands on: a machine, an adapter, a client. It is declared once, beside its code, by two macros that
 * say what the body gets and how a body is run:
 *
 *     #define RIG_ARGUMENT_mm       struct mm_rig *rig
 *     #define RIG_RUN_mm(body, ...) mm_run(..., body)
 *
 * The rest of the arguments of TEST_WITH goes to the second. TEST_ALSO runs the body of a case once more, under other options
 * or on another rig whose bodies get the same; `how` is the name of the difference:
 *
 *     TEST_WITH(mm, capture_is_pinned) { ... }
 *     TEST_ALSO(mm, capture_is_pinned, isolated, mm_isolation)
 *
 * The cases of tests/<room>/<what>_test.c are <what>.<name> and <what>.<name>:<how> in the program test_<room>. They run in
 * the order of the source, file by file (test_main.c).
 */
#ifndef DXGK_TESTS_TEST_H
#define DXGK_TESTS_TEST_H

struct test_case {
    const char *file; /* __FILE__ */
    int line;
    const char *name;
    void (*run)(void);
    char *full_name; /* "<what>.<name>"; from here on the runner's */
    struct test_case *next;
};

/* Before main; the case is kept, not copied. */
void test_register(struct test_case *test);
/* The one that runs; NULL: none. */
const struct test_case *test_running(void);

/* For RIG_RUN_x: make a rig, and take it down at the end of the case, also if that fails. Each returns 0; else the case has
 * failed. */
void test_set_up(int (*set_up)(void), int (*tear_down)(void));

#define TEST(name)                 \
    static void name(void);        \
    TEST_CASE(name, #name, name()) \
    static void name(void)

#define TEST_WITH(rig, name, ...)                              \
    static void name(RIG_ARGUMENT_##rig);                      \
    TEST_CASE(name, #name, RIG_RUN_##rig(name, ##__VA_ARGS__)) \
    static void name(RIG_ARGUMENT_##rig)

#define TEST_ALSO(rig, name, how, ...) \
    TEST_CASE(name##_##how, #name ":" #how, RIG_RUN_##rig(name, ##__VA_ARGS__))

/* What the others have in common: a function that makes the call, registered before main. */
#define TEST_CASE(id, text, call)                                                \
    static void id##_case(void)                                                  \
    {                                                                            \
        call;                                                                    \
    }                                                                            \
    __attribute__((constructor)) static void id##_register(void)                 \
    {                                                                            \
        static struct test_case test = {                                         \
            .file = __FILE__, .line = __LINE__, .name = text, .run = id##_case}; \
                                                                                 \
        test_register(&test);                                                    \
    }

#endif
