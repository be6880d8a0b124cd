/* SPDX-License-Identifier: MIT */
/*
 * Calls into a driver, which must restore certain state (THREAD-006 to THREAD-008).
 */
#ifndef DXGK_NT_DRIVER_CALL_H
#define DXGK_NT_DRIVER_CALL_H

#include <stdint.h>

#include "nt/ke/call_guard.h"

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
void nt_call_state(struct nt_call_state *state);
/* Address of the last spin lock that the current processor acquired, or NULL. */
const void *nt_call_last_spin_lock(void);
/* Compare with the state before a call of `routine`; report differences and undo them (level, spin
 * locks). */
void nt_call_check(const struct nt_call_state *before, const char *routine);

/* Frame for calls that the kernel makes on its own: attribution, watchdog, state checks on
 * return. */
struct nt_callback {
    struct nt_call_guard guard; /* first: what is overwritten from below reaches it first */
    struct nt_image *outer_image;
    uint64_t outer_deadline;
    struct nt_call_state state;
    const char *what;
};
void nt_callback_enter(struct nt_callback *callback, struct nt_image *image, const char *what);
void nt_callback_leave(struct nt_callback *callback);

#endif
