/* SPDX-License-Identifier: MIT */
/* What a driver's entry may not leave behind: another level, a mutex. */
#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

static FAST_MUTEX mutex;

static struct probe *create(probe_hook *hook)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    p->after[PROBE_QueryAdapterInfo] = hook;
    return p;
}

/* ---- the level ---- */

static void forget_to_lower(struct probe *p, struct probe_call *call)
{
    KIRQL before;

    (void)p;
    (void)call;
    KeRaiseIrql(DISPATCH_LEVEL, &before);
}

static void lower_again(struct probe *p, struct probe_call *call)
{
    KIRQL before;

    (void)p;
    (void)call;
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    KeLowerIrql(before);
}

static void good_body(struct probe *p)
{
    probe_ask_driver(p);
    CHECK_RULE("THREAD-006/a", probe_rule(p, "THREAD-006") == 0);
}

static void leaky_body(struct probe *p)
{
    probe_ask_driver(p);
    CHECK_RULE("THREAD-006/b", probe_rule(p, "THREAD-006") == 1 &&
                                   probe_said(p, "THREAD-006", "DxgkDdiQueryAdapterInfo"));
    CHECK_RULE("THREAD-006/c", KeGetCurrentIrql() == PASSIVE_LEVEL);
    probe_ask_driver(p); /* from the level that was put right */
    CHECK_RULE("THREAD-006/b", probe_rule(p, "THREAD-006") == 2);
}

TEST(the_level_is_put_right)
{
    struct probe *p = create(lower_again);

    CHECK(probe_run(p, good_body) == SIM_DONE);
    probe_destroy(p);
    p = create(forget_to_lower);
    CHECK(probe_run(p, leaky_body) == SIM_DONE);
    probe_destroy(p);
}

/* ---- a mutex ---- */

static void keep_mutex(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    ExAcquireFastMutex(&mutex);
}

static void give_mutex(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    ExAcquireFastMutex(&mutex);
    ExReleaseFastMutex(&mutex);
}

static void mutex_body(struct probe *p)
{
    ExInitializeFastMutex(&mutex);
    probe_ask_driver(p);
}

TEST(a_kept_mutex_is_noted)
{
    struct probe *p = create(give_mutex);

    CHECK(probe_run(p, mutex_body) == SIM_DONE);
    CHECK_RULE("THREAD-008/a", probe_rule(p, "THREAD-008") == 0 && probe_rule(p, "THREAD-006") == 0);
    probe_destroy(p);
    p = create(keep_mutex);
    CHECK(probe_run(p, mutex_body) == SIM_DONE);
    CHECK_RULE("THREAD-008/b", probe_rule(p, "THREAD-008") == 1 &&
                                   probe_record(p, "THREAD-008")->severity == VERIFY_WARNING &&
                                   probe_rule(p, "THREAD-006") == 1); /* at APC_LEVEL */
    probe_destroy(p);
}
