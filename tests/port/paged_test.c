/* SPDX-License-Identifier: MIT */
/* Pageable memory, and waiting, where neither is allowed. */
#include "port/support/probe.h"
#include "sim/irql.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define A   (&p->state[0])
#define TAG 0x67615054u

#define BYTES 10000u

static volatile uint8_t *paged;
static KEVENT event;

static struct probe *create(bool force, bool reset)
{
    const struct probe_options options = {.force_irql = force, .port = {.reset_device = reset}};
    struct probe *p = probe_create(&options);

    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

static void take(void)
{
    paged = ExAllocatePool2(POOL_FLAG_PAGED, BYTES, TAG);
    CHECK(paged != NULL);
    paged[0] = 1;
    paged[BYTES - 1] = 2;
}

static void give_back(void)
{
    ExFreePoolWithTag((void *)(uintptr_t)paged, TAG);
}

/* ---- what is allowed ---- */

static void below_body(struct probe *p)
{
    KIRQL before;

    (void)p;
    take();
    KeRaiseIrql(APC_LEVEL, &before);
    paged[1] = 3;
    KeLowerIrql(before);
    for (unsigned i = 0; i < 100; i++) { /* taken away and given back each time */
        KeRaiseIrql(DISPATCH_LEVEL, &before);
        KeLowerIrql(before);
        CHECK(paged[0] == 1 && paged[BYTES - 1] == 2 && paged[1] == 3);
        paged[5000] = (uint8_t)i;
    }
    for (unsigned i = 0; i < 200; i++) { /* more pages than are kept open */
        volatile uint8_t *more = ExAllocatePool2(POOL_FLAG_PAGED, 64, TAG);

        CHECK(more != NULL);
        *more = (uint8_t)i;
        CHECK(*more == (uint8_t)i && paged[0] == 1);
        ExFreePoolWithTag((void *)(uintptr_t)more, TAG);
    }
    give_back();
}

TEST(below_dispatch_level_it_is_there)
{
    for (unsigned force = 0; force < 2; force++) {
        struct probe *p = create(force != 0, false);

        CHECK(probe_run(p, below_body) == SIM_DONE);
        CHECK_RULE("THREAD-004/a", probe_reports(p, VERIFY_WARNING) == 0);
        probe_destroy(p);
    }
}

/* ---- what is not ---- */

static void touch(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    (void)paged[BYTES - 1];
}

static void store(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    paged[4] = 1;
}

static void interrupt_body(struct probe *p)
{
    (void)p;
    take();
    probe_device_raise(0, 0);
    probe_sleep(1000000);
}

static bool stopped_at(struct probe *p, uint8_t irql, unsigned write, uint32_t offset)
{
    const struct verify_bugcheck *bug = verify_bugcheck_state(p->log);

    return bug->happened && bug->code == 0xD1 && bug->parameter[1] == irql &&
           bug->parameter[2] == write &&
           bug->parameter[0] == (uint64_t)(uintptr_t)(paged + offset) && bug->parameter[3] != 0;
}

static void claim(struct probe *p, struct probe_call *call)
{
    call->answered = true;
    call->result = TRUE;
    (void)A->dxgk.DxgkCbQueueDpc(A->dxgk.DeviceHandle);
}

TEST(in_a_deferred_call)
{
    struct probe *p = create(true, false);

    p->before[PROBE_InterruptRoutine] = claim;
    p->before[PROBE_DpcRoutine] = touch;
    CHECK(probe_run(p, interrupt_body) == SIM_STOPPED);
    CHECK_RULE("THREAD-005", stopped_at(p, DISPATCH_LEVEL, 0, BYTES - 1) &&
                                 probe_said(p, "THREAD-005", "DxgkDdiDpcRoutine"));
    CHECK_RULE("THREAD-004/b", probe_rule(p, "THREAD-005") == 1);
    probe_destroy(p);
    p = create(true, false);
    p->before[PROBE_InterruptRoutine] = store;
    CHECK(probe_run(p, interrupt_body) == SIM_STOPPED);
    CHECK_RULE("THREAD-005", stopped_at(p, SIM_IRQL_DEVICE, 1, 4));
    probe_destroy(p);
}

/* Without the option nothing is noticed: the page is in. */
TEST(without_the_option)
{
    struct probe *p = create(false, false);

    p->before[PROBE_InterruptRoutine] = claim;
    p->before[PROBE_DpcRoutine] = touch;
    CHECK(probe_run(p, interrupt_body) == SIM_DONE);
    CHECK_RULE("THREAD-005", probe_rule(p, "THREAD-005") == 0);
    probe_destroy(p);
}

/* One thread at DISPATCH_LEVEL does not take memory from another processor's for good. */
static volatile bool raised, over;

static void stay_raised(struct probe *p)
{
    KIRQL before;

    (void)p;
    for (unsigned i = 0; i < 50; i++) {
        KeRaiseIrql(DISPATCH_LEVEL, &before);
        raised = true;
        KeStallExecutionProcessor(5);
        raised = false;
        KeLowerIrql(before);
        probe_sleep(1000);
    }
    over = true;
}

static void two_processors_body(struct probe *p)
{
    struct sim_thread *thread;
    unsigned meanwhile = 0;

    take();
    over = false;
    thread = probe_thread(p, probe_process(p, "raises"), "raises", stay_raised);
    for (unsigned i = 0; !over; i++) {
        paged[i % BYTES] = (uint8_t)i;
        CHECK(paged[i % BYTES] == (uint8_t)i);
        meanwhile += raised;
        KeStallExecutionProcessor(1);
    }
    CHECK_RULE("THREAD-005", meanwhile > 0);
    sim_thread_release(thread);
    give_back();
}

TEST(another_processor_keeps_it)
{
    struct probe *p = create(true, false);

    CHECK(probe_run(p, two_processors_body) == SIM_DONE);
    CHECK_RULE("THREAD-005", probe_rule(p, "THREAD-005") == 0);
    probe_destroy(p);
}

/* ---- the screen of a bug check ---- */

static void crash_body(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;
    UINT bytes[4] = {0};

    take();
    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_UMDRIVERPRIVATE;
    args.pOutputData = bytes;
    args.OutputDataSize = sizeof(bytes);
    (void)ddi_query_adapter_info(port_adapter_ddi(p->adapter[0]), &args);
}

static void crash(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    KeBugCheckEx(0xE2, 0, 0, 0, 0);
}

TEST(reset_device_may_not_touch_it)
{
    struct probe *p = create(true, true);

    p->before[PROBE_QueryAdapterInfo] = crash;
    p->before[PROBE_ResetDevice] = touch;
    CHECK(probe_run(p, crash_body) == SIM_STOPPED);
    CHECK_RULE("LIFE-143/b", probe_count(p, PROBE_ResetDevice) == 1 &&
                                 probe_said(p, "THREAD-005", "DxgkDdiResetDevice"));
    probe_destroy(p);
}

/* ---- waiting ---- */

static void wait_body(struct probe *p)
{
    LARGE_INTEGER second = {.QuadPart = -10000000};
    KIRQL before;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    (void)KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &second);
    KeLowerIrql(before);
    p->user = p;
}

TEST(waiting_is_reported)
{
    struct probe *p = create(true, false);

    (void)probe_run(p, wait_body);
    CHECK_RULE("THREAD-004/b", probe_reports(p, VERIFY_ERROR) > 0);
    probe_destroy(p);
}
