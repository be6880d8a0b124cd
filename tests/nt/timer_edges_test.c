/* SPDX-License-Identifier: MIT */
/* Timers and DPCs: what they show, what is refused while they are set or queued, and the clock. */
#include "nt/base/image.h"
#include "nt/io/image_life.h"
#include "nt/ke/system_time.h"
#include "sim/point.h"
#include "support/harness.h"

static KTIMER timer, other_timer;
static KDPC dpc, other_dpc;

/* One violation of the rule since the last call. */
static bool one_told(const char *rule)
{
    bool told = errors() == 1 && broken(rule);

    forget_reports();
    return told;
}

static NTSTATUS poll(void *object)
{
    LARGE_INTEGER zero = {.QuadPart = 0};

    return KeWaitForSingleObject(object, Executive, KernelMode, FALSE, &zero);
}

static unsigned runs;
static PVOID run_context, run_a, run_b;

static VOID NTAPI note(PKDPC self, PVOID context, PVOID a, PVOID b)
{
    (void)self;
    runs++;
    run_context = context;
    run_a = a;
    run_b = b;
}

static void init_all(void)
{
    runs = 0;
    KeInitializeTimer(&timer);
    KeInitializeTimer(&other_timer);
    KeInitializeDpc(&dpc, note, &runs);
    KeInitializeDpc(&other_dpc, note, &timer);
}

/* ---- timers ---- */

TEST_WITH(driver, timers_that_are_set_are_not_initialised)
{
    init_all();
    KeSetTimer(&timer, relative_ms(1), &dpc);
    KeInitializeTimer(&timer);
    CHECK(one_told("NT-079"));
    pause_ns(3000000);
    CHECK(runs == 0 && !KeReadStateTimer(&timer) && !KeCancelTimer(&timer));
    KeInsertQueueDpc(&dpc, NULL, NULL);
    CHECK_RULE("NT-081/b", errors() == 0);
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    CHECK(!KeSetTimerEx(&timer, relative_ms(1), -1, &dpc));
    CHECK(one_told("NT-080") && timer.Period == 0 && timer.Dpc == &dpc);
    runs = 0;
    pause_ns(5000000);
    CHECK(runs == 1 && errors() == 0); /* once */
    CHECK(KeReadStateTimer(&timer) && poll(&timer) == STATUS_SUCCESS && !KeReadStateTimer(&timer));
}

TEST_WITH(driver, timers_show_what_they_were_set_to)
{
    const LARGE_INTEGER due = relative_ms(1), later = relative_ms(7);

    init_all();
    KeSetTimerEx(&timer, due, 5, &dpc);
    CHECK(timer.DueTime.QuadPart == (ULONGLONG)due.QuadPart && timer.Period == 5 &&
          timer.Dpc == &dpc);
    pause_ns(1500000);
    CHECK(KeReadStateTimer(&timer) && runs == 1 && run_context == &runs && !run_a && !run_b);
    KeSetTimer(&timer, later, NULL);
    CHECK(timer.DueTime.QuadPart == (ULONGLONG)later.QuadPart && timer.Period == 0 && !timer.Dpc);
    CHECK_RULE("NT-080/c", !KeReadStateTimer(&timer));
    pause_ns(8000000);
    CHECK(KeReadStateTimer(&timer) && runs == 1);
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    CHECK(timer.DueTime.QuadPart == 0 && timer.Period == 0 && !timer.Dpc &&
          !KeReadStateTimer(&timer));
}

TEST_WITH(driver, a_dpc_may_belong_to_several_timers)
{
    init_all();
    KeSetTimer(&timer, relative_ms(1), &dpc);
    KeSetTimer(&other_timer, relative_ms(2), &dpc);
    KeCancelTimer(&timer);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    CHECK_RULE("NT-081/b", one_told("NT-081"));
    pause_ns(3000000);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    CHECK_RULE("NT-081/b", errors() == 0);
    KeSetTimer(&timer, relative_ms(1), &other_dpc);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    CHECK_RULE("NT-081/b", errors() == 0);
    KeSetTimer(&timer, relative_ms(1), NULL);
    KeInsertQueueDpc(&other_dpc, NULL, NULL);
    CHECK_RULE("NT-081/b", errors() == 0);
}

TEST_WITH(driver, dpcs_of_timers_are_in_good_memory)
{
    PKDPC freed = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*freed), TAG);

    init_all();
    KeInitializeDpc(freed, note, NULL);
    ExFreePool(freed);
    CHECK(!KeSetTimer(&timer, relative_ms(1), freed) && one_told("NT-005"));
    pause_ns(2000000);
    CHECK(!KeReadStateTimer(&timer));
}

/* A due time of the calendar comes when the clock says so, a relative one when that much time has
 * passed. */
TEST_WITH(driver, absolute_timers_follow_the_clock)
{
    LARGE_INTEGER now;

    init_all();
    KeQuerySystemTimePrecise(&now);
    now.QuadPart += 3600LL * 10000000; /* in an hour */
    KeSetTimer(&timer, now, &dpc);
    KeSetTimer(&other_timer, relative_ms(20), NULL);
    pause_ns(1000000);
    CHECK(!KeReadStateTimer(&timer));
    nt_system_time_set((uint64_t)now.QuadPart - 50000); /* 5 ms before */
    pause_ns(4000000);
    CHECK(!KeReadStateTimer(&timer) && !KeReadStateTimer(&other_timer));
    pause_ns(2000000);
    CHECK(KeReadStateTimer(&timer) && runs == 1 && !KeReadStateTimer(&other_timer));
    pause_ns(11000000);
    CHECK(!KeReadStateTimer(&other_timer));
    pause_ns(3000000);
    CHECK(KeReadStateTimer(&other_timer));
}

/* Whoever runs when it expires goes on for his own driver. */
TEST_WITH(driver, expiry_leaves_the_driver_that_runs)
{
    struct nt_image *other = nt_image_create("other"), *own;
    KIRQL old;

    init_all();
    KeSetTimer(&timer, relative_ms(1), &dpc);
    own = nt_image_enter(other);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    sim_stall(2000000);
    CHECK(nt_image_current() == other && runs == 0);
    KeLowerIrql(old);
    CHECK(nt_image_current() == other && runs == 1);
    nt_image_enter(own);
    nt_image_destroy(other);
    CHECK(errors() == 0);
}

/* ---- DPCs ---- */

TEST_WITH(driver, dpcs_that_are_queued_are_not_initialised)
{
    KIRQL old;

    init_all();
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(KeInsertQueueDpc(&dpc, &timer, &other_timer));
    CHECK(dpc.SystemArgument1 == &timer && dpc.SystemArgument2 == &other_timer);
    KeInitializeDpc(&dpc, note, NULL);
    CHECK(one_told("NT-083"));
    KeLowerIrql(old);
    CHECK(runs == 1 && run_context == &runs && run_a == &timer && run_b == &other_timer);
    KeInitializeDpc(&dpc, NULL, NULL);
    CHECK(one_told("NT-083"));
    CHECK(!KeInsertQueueDpc(&dpc, NULL, NULL) && one_told("NT-005"));
    memset(&dpc, 0, sizeof(dpc));
    dpc.DeferredRoutine = note;
    CHECK(!KeInsertQueueDpc(&dpc, NULL, NULL) && one_told("NT-005"));
    CHECK(!KeRemoveQueueDpc(&dpc) && one_told("NT-005"));
    KeSetTargetProcessorDpc(&dpc, 0);
    CHECK(one_told("NT-005") && dpc.Number == 0);
    KeSetImportanceDpc(&dpc, HighImportance);
    CHECK(one_told("NT-005") && dpc.Importance == 0);
}

TEST_WITH(driver, importance_has_four_values)
{
    init_all();
    CHECK(dpc.Importance == MediumImportance);
    for (int i = LowImportance; i <= MediumHighImportance; i++) {
        KeSetImportanceDpc(&dpc, (KDPC_IMPORTANCE)i);
        CHECK(dpc.Importance == i && errors() == 0);
    }
    KeSetImportanceDpc(&dpc, (KDPC_IMPORTANCE)(MediumHighImportance + 1));
    CHECK(one_told("NT-084") && dpc.Importance == MediumHighImportance);
    KeSetTargetProcessorDpc(&dpc, 0);
    CHECK(errors() == 0 && dpc.Number == 64);
    KeSetTargetProcessorDpc(&dpc, 1);
    CHECK_RULE("NT-084/c", one_told("NT-084") && dpc.Number == 64);
    KeSetTargetProcessorDpc(&dpc, -1);
    CHECK_RULE("NT-084/c", one_told("NT-084") && dpc.Number == 64);
}
