/* SPDX-License-Identifier: MIT */
/* The IRQL: raising and lowering, and what waits for a low level. */
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/point.h"
#include "support/harness.h"

static KIRQL seen_irql;

static void note_irql(void)
{
    seen_irql = KeGetCurrentIrql();
}

static void raise_to_dpc_level(void)
{
    KeRaiseIrqlToDpcLevel();
}

TEST_WITH(driver, levels_go_up_and_down)
{
    FAST_MUTEX mutex;
    KIRQL old, inner;

    CHECK_RULE("NT-074/a", KeGetCurrentIrql() == PASSIVE_LEVEL);
    in_dpc(note_irql);
    CHECK_RULE("NT-074/b", seen_irql == 2);
    CHECK_RULE("THREAD-001/a", PASSIVE_LEVEL == 0 && APC_LEVEL == 1);
    CHECK_RULE("THREAD-001/b", seen_irql == 2);
    in_interrupt(note_irql);
    CHECK_RULE("NT-074/c", seen_irql == 5);
    ExInitializeFastMutex(&mutex);
    ExAcquireFastMutex(&mutex);
    CHECK_RULE("NT-074/d", KeGetCurrentIrql() == APC_LEVEL);
    ExReleaseFastMutex(&mutex);

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK_RULE("NT-075/a", old == PASSIVE_LEVEL && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeRaiseIrql(HIGH_LEVEL, &inner);
    CHECK_RULE("NT-075/b", inner == DISPATCH_LEVEL && errors() == 0);
    KeLowerIrql(inner);
    KeRaiseIrql(APC_LEVEL, &inner);
    CHECK_RULE("NT-075/c", reported("NT-075", 0xC4, 0x30) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeRaiseIrql(DISPATCH_LEVEL, &inner);
    CHECK_RULE("NT-075/b", errors() == 1 && inner == DISPATCH_LEVEL);
    KeLowerIrql(inner);
    forget_reports();
    KeRaiseIrql(HIGH_LEVEL + 1, &inner);
    CHECK_RULE("NT-075/d", reported("NT-075", 0xC4, 0x30) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeLowerIrql(HIGH_LEVEL);
    CHECK_RULE("NT-076/a", reported("NT-076", 0xC4, 0x31) && KeGetCurrentIrql() == DISPATCH_LEVEL);
    forget_reports();
    KeLowerIrql(APC_LEVEL);
    CHECK_RULE("NT-076/b", broken("NT-076"));
    KeLowerIrql(PASSIVE_LEVEL);

    CHECK_RULE("NT-078/a", KeRaiseIrqlToDpcLevel() == PASSIVE_LEVEL);
    CHECK_RULE("NT-078/a", KeRaiseIrqlToDpcLevel() == DISPATCH_LEVEL);
    KeLowerIrql(DISPATCH_LEVEL);
    KeLowerIrql(PASSIVE_LEVEL);
    in_interrupt(raise_to_dpc_level);
    CHECK_RULE("NT-078/b", broken("NT-078") && verify_bugcheck_state(h.log)->happened);
}

static unsigned dpc_runs;

static VOID NTAPI count_dpc(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc;
    (void)context;
    (void)a;
    (void)b;
    dpc_runs++;
}

TEST_WITH(driver, dpcs_wait_for_a_low_level)
{
    static KDPC dpc;
    KIRQL old;

    dpc_runs = 0;
    KeInitializeDpc(&dpc, count_dpc, NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    sim_stall(100000);
    CHECK_RULE("THREAD-003/a", dpc_runs == 0);
    KeLowerIrql(old);
    CHECK_RULE("NT-076/c", dpc_runs == 1);
    CHECK_RULE("THREAD-003/a", dpc_runs == 1);
}

static unsigned serviced;

static bool count_interrupt(void *context, uint32_t message)
{
    (void)context;
    (void)message;
    serviced++;
    return true;
}

TEST_WITH(driver, interrupts_wait_for_a_low_level)
{
    struct sim_interrupt interrupt;
    KIRQL old;

    serviced = 0;
    sim_interrupt_connect(&interrupt, count_interrupt, NULL, 0, SIM_IRQL_DEVICE);
    KeRaiseIrql(5, &old);
    sim_interrupt_raise(&interrupt);
    sim_stall(100000);
    CHECK_RULE("THREAD-003/b", serviced == 0);
    KeLowerIrql(old);
    sim_stall(100000);
    CHECK_RULE("THREAD-003/b", serviced == 1);
    sim_interrupt_disconnect(&interrupt);
}

static bool other_ran;

static void raise_shortly(void *arg)
{
    KIRQL old;

    (void)arg;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    other_ran = true;
    KeLowerIrql(old);
}

TEST_WITH(driver, dispatch_level_owns_the_processor)
{
    KIRQL old;

    other_ran = false;
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    start("other", raise_shortly, NULL);
    sim_stall(1000000);
    CHECK_RULE("THREAD-002", !other_ran);
    KeLowerIrql(old);
    pause_ns(1000000);
    CHECK_RULE("THREAD-002", other_ran);
}
