/* SPDX-License-Identifier: MIT */
/*
 * State of each processor of the machine: the spin locks that it holds, in order of acquisition.
 */
#ifndef DXGK_NT_PROCESSOR_H
#define DXGK_NT_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/base/kthread.h"
#include "nt/base/state.h"
#include "sim/machine.h"

enum nt_lock_kind {
    NT_LOCK_PLAIN,
    NT_LOCK_AT_DPC,
    NT_LOCK_QUEUED,
    NT_LOCK_QUEUED_AT_DPC,
    NT_LOCK_SHARED,
    NT_LOCK_EXCLUSIVE
};

/* What the readers of a lock have done, for the detector of races: writers come after it. */
#define NT_READERS(lock) ((const volatile char *)(lock) + 1)

struct nt_held_lock {
    volatile ULONG_PTR *lock;
    enum nt_lock_kind kind;
    uint8_t old_irql;
    uintptr_t caller; /* with special pool: who has taken it; else 0 */
    ULONG_PTR mark;   /* the word that a release restores: not 0 if ExInterlockedXxx use it, too */
};

struct nt_processor {
    const volatile void *wanted;             /* the spin lock that it waits for */
    const volatile void *queued_for;         /* the queued spin lock that it waits for */
    uint64_t ticket;                         /* its place in that queue */
    struct nt_held_lock held[NT_HELD_LOCKS]; /* in order of acquisition */
    uint32_t held_count;
};

struct nt_processors {
    struct nt_processor each[SIM_MAX_PROCESSORS];
    uint64_t tickets; /* of queued spin locks */
};

static inline struct nt_processor *nt_processor(void)
{
    return &nt_state()->processors->each[sim_current->processor];
}

/* The processor that holds the spin lock (the first of several readers); -1: none. */
int nt_processor_holder(const volatile void *lock);

#endif
