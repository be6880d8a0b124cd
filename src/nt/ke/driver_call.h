/* SPDX-License-Identifier: MIT */
/*
 * Calls into a driver, which must restore certain state (THREAD-006 to THREAD-008).
 */
#ifndef DXGK_NT_DRIVER_CALL_H
#define DXGK_NT_DRIVER_CALL_H

#include <stdint.h>

#include "nt/base/current.h"
#include "nt/ke/call_guard.h"
#include "nt/ke/processor.h"
#include "sim/irql.h"

struct nt_image;

struct nt_call_state {
    uint8_t irql;
    uint32_t spin_locks; /* held by the current processor */
    /* critical and guarded regions that the thread has entered and not left */
    int32_t apc_disable;
    uint32_t sleeping_locks; /* mutexes, fast mutexes, push locks, ERESOURCEs owned by the thread */
    uint32_t floating_saves; /* calls of KeSaveFloatingPointState without restore */
    uint32_t attaches;       /* processes that the thread is attached to */
    uint32_t raises;         /* private */
};

static inline void nt_call_state(struct nt_call_state *state)
{
    const struct _KTHREAD *thread = nt_thread();

    state->irql = sim_irql();
    state->spin_locks = nt_processor()->held_count;
    state->apc_disable = thread->kernel_apc_disable + thread->special_apc_disable;
    state->sleeping_locks = thread->sleeping_locks;
    state->floating_saves = thread->floating_saves;
    state->attaches = thread->attaches;
    state->raises = thread->raises;
}

/* Address of the last spin lock that the current processor acquired, or NULL. */
const void *nt_call_last_spin_lock(void);
/* Report differences of two states, and undo them (level, spin locks). */
void nt_call_differs(const struct nt_call_state *before, const struct nt_call_state *now,
                     const char *routine);

/* Compare with the state before a call of `routine`. */
static inline void nt_call_check(const struct nt_call_state *before, const char *routine)
{
    struct nt_call_state now;

    nt_call_state(&now);
    if (__builtin_expect(now.irql != before->irql || now.spin_locks != before->spin_locks ||
                             now.apc_disable != before->apc_disable ||
                             now.sleeping_locks != before->sleeping_locks ||
                             now.floating_saves != before->floating_saves ||
                             now.attaches != before->attaches,
                         0))
        nt_call_differs(before, &now, routine);
    nt_thread()->raises = before->raises;
}

/* Frame for calls that the kernel makes on its own: attribution, watchdog, state checks on
 * return. */
struct nt_callback {
    struct nt_call_guard guard; /* first: what is overwritten from below reaches it first */
    struct nt_image *outer_image;
    uint64_t outer_deadline;
    struct nt_call_state state;
    const char *what;
};

#define NT_RAISED_LIMIT_NS   500000000u   /* at DISPATCH_LEVEL and above (THREAD-067) */
#define NT_CALLBACK_LIMIT_NS 60000000000u /* below (THREAD-037) */

/* The routine may take so much virtual time. */
void nt_callback_enter(struct nt_callback *callback, struct nt_image *image, const char *what);
/* A work item has a thread of its own, and may take any below DISPATCH_LEVEL. */
void nt_callback_enter_work(struct nt_callback *callback, struct nt_image *image, const char *what);
void nt_callback_leave(struct nt_callback *callback);

#endif
