/* SPDX-License-Identifier: MIT */
/* Interrupts that the driver is not to control, and those of another adapter. */
#include "port/support/probe.h"

#include <string.h>

/* ---- DxgkDdiControlInterrupt, 2 and 3 ---- */

static NTSTATUS answer;
static struct {
    DXGK_INTERRUPT_TYPE type;
    int state; /* BOOLEAN of the first entry, InterruptState of the others */
} told;

static void control(struct probe *p, struct probe_call *call)
{
    (void)p;
    told.type = (DXGK_INTERRUPT_TYPE)call->arg[1];
    told.state = (BOOLEAN)call->arg[2];
    call->answered = true;
    call->result = (uint64_t)(uint32_t)answer;
}

static void control2(struct probe *p, struct probe_call *call)
{
    DXGKARG_CONTROLINTERRUPT2 args;

    (void)p;
    memcpy(&args, &call->arg[1], sizeof(args));
    told.type = args.InterruptType;
    told.state = args.InterruptState;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)answer;
}

static void control3(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CONTROLINTERRUPT3 *args = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    told.type = args->InterruptType;
    told.state = args->InterruptState;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)answer;
}

static const enum probe_ddi entry[] = {PROBE_ControlInterrupt, PROBE_ControlInterrupt2,
                                       PROBE_ControlInterrupt3};

/* A start with the entries of a mask; the driver answers `status`. */
static struct probe *start(bool strict, unsigned entries, NTSTATUS status)
{
    static probe_hook *const hook[] = {control, control2, control3};
    struct probe *p = probe_create(&(struct probe_options){.strict = strict});

    memset(&told, 0x55, sizeof(told));
    answer = status;
    for (unsigned i = 0; i < 3; i++) {
        probe_set_entry(p, entry[i], entries >> i & 1);
        p->before[entry[i]] = hook[i];
    }
    (void)probe_start(p);
    return p;
}

static size_t calls(const struct probe *p)
{
    return probe_count(p, entry[0]) + probe_count(p, entry[1]) + probe_count(p, entry[2]);
}

TEST(strict_mode_asks_for_an_interrupt_that_is_always_on)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = start(true, 1u << i, STATUS_NOT_IMPLEMENTED);

        CHECK_RULE("SUBMIT-070/a", p->adapters == 1 && calls(p) == 1 &&
                                       told.type == DXGK_INTERRUPT_DMA_COMPLETED &&
                                       probe_nth(p, entry[i], 0)->irql == PASSIVE_LEVEL);
        CHECK_RULE("SUBMIT-070/a",
                   probe_nth(p, entry[i], 0)->order >= probe_nth(p, PROBE_StartDevice, 0)->left &&
                       probe_rule(p, "SUBMIT-070") == 0);
        CHECK_RULE("SUBMIT-071/a", told.state == (i == 0 ? TRUE : 0));
        probe_destroy(p);
        p = start(false, 1u << i, STATUS_SUCCESS);
        CHECK_RULE("SUBMIT-070/a", p->adapters == 1 && calls(p) == 0);
        probe_destroy(p);
    }
    for (unsigned i = 0; i < 3; i++) {
        static const NTSTATUS wrong[] = {STATUS_SUCCESS, (NTSTATUS)STATUS_INVALID_PARAMETER,
                                         (NTSTATUS)STATUS_NOT_SUPPORTED};
        static const char *const names[] = {"DxgkDdiControlInterrupt answered ",
                                            "DxgkDdiControlInterrupt2 answered ",
                                            "DxgkDdiControlInterrupt3 answered "};
        struct probe *p = start(true, 1u << i, wrong[i]);

        CHECK_RULE("SUBMIT-070/b",
                   probe_rule(p, "SUBMIT-070") == 1 && probe_said(p, "SUBMIT-070", names[i]));
        CHECK_RULE("SUBMIT-070/b", p->adapters == 1 && probe_reports(p, VERIFY_ERROR) == 0 &&
                                       probe_reports(p, VERIFY_WARNING) == 1);
        probe_destroy(p);
    }
}

TEST(one_entry_alone_controls_interrupts)
{
    for (unsigned entries = 0; entries < 8; entries++) {
        struct probe *p = start(true, entries, STATUS_NOT_IMPLEMENTED);
        int newest = -1;

        for (unsigned i = 0; i < 3; i++)
            if (entries >> i & 1)
                newest = (int)i;
        CHECK_RULE("SUBMIT-071/b",
                   calls(p) == (newest >= 0) && (newest < 0 || probe_count(p, entry[newest]) == 1));
        CHECK_RULE("SUBMIT-070/a", newest >= 0 || calls(p) == 0);
        probe_destroy(p);
    }
}

/* ---- whose interrupt ---- */

static unsigned asked[2];

static void none_of_mine(struct probe *p, struct probe_call *call)
{
    asked[probe_adapter_of(p, call->arg[0]) - p->state]++;
    call->answered = true;
    call->result = FALSE;
}

static void raise_each(struct probe *p)
{
    (void)p;
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-050", asked[0] == 1 && asked[1] == 0);
    probe_device_cause(1, PROBE_CAUSE_TEST, 0);
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-050", asked[0] == 1 && asked[1] == 1);
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(1000000);
    CHECK_RULE("SUBMIT-050", asked[0] == 2 && asked[1] == 1);
}

TEST(a_message_is_for_one_adapter)
{
    struct probe *p = probe_started(&(struct probe_options){.adapters = 2});

    memset(asked, 0, sizeof(asked));
    p->before[PROBE_InterruptRoutine] = none_of_mine;
    CHECK(probe_run(p, raise_each) == SIM_DONE);
    CHECK_RULE("SUBMIT-050", probe_count(p, PROBE_DpcRoutine) == 0);
    p->before[PROBE_InterruptRoutine] = NULL;
    probe_destroy(p);
}
