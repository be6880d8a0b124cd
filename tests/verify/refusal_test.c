/* SPDX-License-Identifier: MIT */
/* Reasons of failed calls: which one counts, and who is told. */
#include "support/check_rule.h"

#include <string.h>

#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define BAD     ((int32_t)0xC000000D)
#define MEMORY  ((int32_t)0xC0000017)
#define LIMITED ((int32_t)0xC000009A)

static struct {
    unsigned count;
    const char *call;
    struct refusal refusal;
} told;

static void refused(void *context, const char *call, const struct refusal *refusal)
{
    CHECK(context == &told);
    told.count++;
    told.call = call;
    told.refusal = *refusal;
}

static const struct refusal_sink sink = {refused, &told};

static void listen(void)
{
    memset(&told, 0, sizeof(told));
    refusal_sink = &sink;
}

TEST(reason_is_that_of_the_status)
{
    struct refusal call;

    listen();
    refusal_begin(&call);
    CHECK(refuse(MEMORY, NULL, "a step that was tried again") == MEMORY);
    CHECK(refuse(BAD, "KMT-004", "%u pages, %s", 4, "there are 2") == BAD);
    refusal_end(&call, "Call", BAD);
    CHECK(told.count == 1);
    CHECK(strcmp(told.call, "Call") == 0);
    CHECK(strcmp(told.refusal.text, "4 pages, there are 2") == 0);
    CHECK(strcmp(told.refusal.rule, "KMT-004") == 0);

    refusal_begin(&call);
    (void)refuse(BAD, "KMT-004", "it does not matter");
    refusal_end(&call, "Call", MEMORY);
    CHECK(told.count == 2);
    CHECK(told.refusal.status == MEMORY);
    CHECK(told.refusal.text[0] == 0 && !told.refusal.rule);
    refusal_sink = NULL;
}

TEST(success_is_not_told)
{
    struct refusal call;

    listen();
    refusal_begin(&call);
    (void)refuse(BAD, NULL, "it does not matter");
    refusal_end(&call, "Call", 0);
    refusal_begin(&call);
    refusal_end(&call, "Call", 0x103); /* STATUS_PENDING */
    CHECK(told.count == 0);
    CHECK(!refusal_current);
    refusal_sink = NULL;
}

TEST(calls_within_calls_have_their_own)
{
    struct refusal outer, inner;

    listen();
    CHECK(refuse(BAD, NULL, "nobody asked") == BAD); /* no call in progress */
    refusal_begin(&outer);
    (void)refuse(BAD, NULL, "the outer");
    refusal_begin(&inner);
    (void)refuse(BAD, NULL, "the inner");
    refusal_end(&inner, "Inner", BAD);
    CHECK(strcmp(told.refusal.text, "the inner") == 0);
    CHECK(refusal_current == &outer);
    refusal_end(&outer, "Outer", BAD);
    CHECK(strcmp(told.refusal.text, "the outer") == 0);
    CHECK(told.count == 2);
    refusal_sink = NULL;
}

TEST(broken_rule_is_a_reason)
{
    struct verify_log *log = verify_log_create();
    struct refusal call;

    listen();
    verify_log_install(log);
    refusal_begin(&call);
    VIOLATION("PATCH-017", "the driver named %u nodes", 3);
    WARNING("PATCH-018", "it is only a warning");
    refusal_end(&call, "Call", LIMITED);
    CHECK(strcmp(told.refusal.text, "the driver named 3 nodes") == 0);
    CHECK(strcmp(told.refusal.rule, "PATCH-017") == 0);
    CHECK(told.refusal.status == LIMITED);

    refusal_begin(&call); /* but not where a reason is known */
    (void)refuse(BAD, NULL, "the reason");
    VIOLATION("PATCH-017", "found when it was cleaned up");
    refusal_end(&call, "Call", BAD);
    CHECK(strcmp(told.refusal.text, "the reason") == 0);

    refusal_begin(&call);
    VIOLATION("PATCH-017", "found before");
    (void)refuse(BAD, NULL, "the reason");
    refusal_end(&call, "Call", BAD);
    CHECK(strcmp(told.refusal.text, "the reason") == 0);
    verify_log_install(NULL);
    verify_log_destroy(log);
    refusal_sink = NULL;
}

TEST(want_of_host_memory_is_a_reason)
{
    static const int32_t statuses[] = {MEMORY, LIMITED};
    struct util_heap heap = {.fail_at = 1, .fail_onward = true};
    struct refusal call;

    listen();
    util_heap_current = &heap;
    for (size_t i = 0; i < 2; i++) {
        refusal_begin(&call);
        CHECK(!util_alloc(100));
        refusal_end(&call, "Call", statuses[i]);
        CHECK(strstr(told.refusal.text, "no memory"));
        refusal_begin(&call);
        refusal_end(&call, "Call", statuses[i]);
        CHECK(told.refusal.text[0] == 0);
    }
    refusal_begin(&call);
    CHECK(!util_alloc(100));
    refusal_end(&call, "Call", BAD);
    CHECK(told.refusal.text[0] == 0);
    util_heap_current = NULL;
    refusal_sink = NULL;
}
