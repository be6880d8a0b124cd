/* SPDX-License-Identifier: MIT */
/*
 * Locks of ExInterlockedXxx routines (NT-112). Those take their lock at whatever IRQL they are
 * called, so that a driver that also acquires it by the spin lock routines is safe only while all
 * of that happens at or below DISPATCH_LEVEL: an interrupt on the processor that holds the lock
 * would wait for ever. The word of the lock remembers who has used it.
 */
#include "nt/base/nt_report.h"
#include "nt/ke/spin_held.h"
#include "nt/ke/spinlock.h"
#include "sim/irql.h"
#include "sim/order.h"
#include "verify/verify.h"

/* Both kinds of routines use the lock, which `word` has not known yet. */
static void report_mixed(ULONG_PTR word, const char *routine)
{
    if (word & NT_LOCK_WORD_RAISED)
        VIOLATION(
            "NT-112",
            "%s: both spin lock routines and ExInterlockedXxx use the lock, the latter above DISPATCH_LEVEL: "
            "on the processor that holds it they would wait for ever",
            routine);
    else
        WARNING("NT-112", "%s: both spin lock routines and ExInterlockedXxx use the lock", routine);
}

void nt_spin_lock_check_mixed(volatile ULONG_PTR *lock, const char *routine)
{
    if (*lock == 0 || *lock & NT_LOCK_WORD_MIXED)
        return;
    report_mixed(*lock, routine);
    *lock |= NT_LOCK_WORD_MIXED;
}

/* The word with what this use adds. `held`: by the spin lock routines now. */
static ULONG_PTR marked(ULONG_PTR word, bool held, const char *routine)
{
    const bool raised = sim_irql() > SIM_IRQL_DISPATCH;
    const bool news = (held && !(word & NT_LOCK_WORD_MIXED)) ||
                      (raised && word & NT_LOCK_WORD_MIXED && !(word & NT_LOCK_WORD_RAISED));

    word |= NT_LOCK_WORD_INTERLOCKED | (raised ? NT_LOCK_WORD_RAISED : 0);
    if (news)
        report_mixed(word, routine);
    return held ? word | NT_LOCK_WORD_MIXED : word;
}

void nt_spin_lock_interlocked(PKSPIN_LOCK lock, const char *routine)
{
    if (!lock)
        return;
    if (nt_held_find(nt_processor(), lock)) {
        VIOLATION("NT-112", "%s with a lock that this processor holds: it would wait for ever",
                  routine);
        return;
    }
    while (!nt_spin_lock_is_free(*lock)) {
        struct nt_held_lock *held = nt_held_find_any(lock);

        if (!held) {
            VIOLATION("NT-005",
                      "%s with a spin lock that was never initialised, or was overwritten", routine);
            *lock = 0;
            break;
        }
        held->mark = marked(held->mark, true, routine);
        if (!nt_spin_wait(lock, routine))
            return;
    }
    *lock = marked(*lock, false, routine);
    sim_order_exchange(lock);
}
