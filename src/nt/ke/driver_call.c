/* SPDX-License-Identifier: MIT */
/* The frame around calls into a driver: records state before the call, then compares and restores
 * it. */
#include "nt/ke/driver_call.h"
#include "nt/base/caller.h"
#include "nt/base/current.h"
#include "nt/base/image.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/level.h"
#include "nt/ke/processor.h"
#include "nt/ke/spinlock.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "verify/verify.h"

const void *nt_call_last_spin_lock(void)
{
    const struct nt_processor *processor = nt_processor();

    return processor->held_count ? (const void *)processor->held[processor->held_count - 1].lock
                                 : NULL;
}

static void restore_irql(uint8_t irql)
{
    if (sim_irql() > irql)
        sim_lower_irql(irql);
    else if (sim_irql() < irql)
        sim_raise_irql(irql);
}

void nt_call_differs(const struct nt_call_state *before, const struct nt_call_state *now,
                     const char *routine)
{
    if (now->spin_locks > before->spin_locks) {
        const struct nt_processor *processor = nt_processor();
        char stack[512];

        if (processor->held_count &&
            nt_caller_stack(&processor->held[processor->held_count - 1].caller, 1, stack,
                            sizeof(stack)))
            verify_set_stack(stack);
        NT_VERIFIER("THREAD-007", 0x00040009, (uintptr_t)nt_call_last_spin_lock(), 0, 0,
                    "%s returned with %u spin lock(s) held that it took", routine,
                    now->spin_locks - before->spin_locks);
        nt_spin_locks_drop(before->spin_locks);
    }
    if (now->apc_disable != before->apc_disable) {
        if (before->irql >= SIM_IRQL_DISPATCH)
            verify_fatal("THREAD-007", 0xC7, 0, 0, 0, 4,
                         "%s returned with another APC disable count (%d, was %d)", routine,
                         now->apc_disable, before->apc_disable);
        else
            VIOLATION("THREAD-007", "%s returned with another APC disable count (%d, was %d)",
                      routine, now->apc_disable, before->apc_disable);
    }
    if (now->sleeping_locks > before->sleeping_locks)
        WARNING("THREAD-008", "%s returned with %u mutex(es) or resource(s) held that it took",
                routine, now->sleeping_locks - before->sleeping_locks);
    if (now->floating_saves != before->floating_saves) {
        VIOLATION("NT-160", "%s returned with a floating point state saved and not restored",
                  routine);
        nt_thread()->floating_saves = before->floating_saves;
    }
    if (now->attaches > before->attaches) {
        VIOLATION("NT-177", "%s returned attached to a process", routine);
        nt_state()->detach_to(before->attaches);
    }
    if (now->irql != before->irql) {
        VIOLATION("THREAD-006", "%s was called at %s and returned at %s", routine,
                  nt_irql_name(before->irql), nt_irql_name(now->irql));
        restore_irql(before->irql);
    }
}

static void enter(struct nt_callback *callback, struct nt_image *image, const char *what,
                  uint64_t limit_ns)
{
    callback->what = what;
    callback->outer_image = nt_image_enter(image);
    callback->outer_deadline = sim_inside_enter(sim_irql() >= SIM_IRQL_DISPATCH ? NT_RAISED_LIMIT_NS
                                                                                : limit_ns);
    nt_call_state(&callback->state);
    nt_call_guard(&callback->guard, true);
}

void nt_callback_enter(struct nt_callback *callback, struct nt_image *image, const char *what)
{
    enter(callback, image, what, NT_CALLBACK_LIMIT_NS);
}

void nt_callback_enter_work(struct nt_callback *callback, struct nt_image *image, const char *what)
{
    enter(callback, image, what, SIM_FOREVER);
}

void nt_callback_leave(struct nt_callback *callback)
{
    bool whole = callback->guard.word == nt_call_guard_word(&callback->guard);

    nt_call_returned(&callback->guard, whole, whole ? callback->what : "a routine of the driver");
    nt_call_check(&callback->state, callback->what);
    sim_inside_leave(callback->outer_deadline);
    nt_image_enter(callback->outer_image);
}
