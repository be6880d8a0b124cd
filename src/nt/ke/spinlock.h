/* SPDX-License-Identifier: MIT */
/*
 * Spin locks, for code that ends something that may hold some, and for routines that use one
 * inside.
 */
#ifndef DXGK_NT_SPINLOCK_H
#define DXGK_NT_SPINLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

/* The word of a free lock that ExInterlockedXxx routines have used, plus flags. */
#define NT_LOCK_WORD_INTERLOCKED 0x5E000000u
#define NT_LOCK_WORD_RAISED      1u /* by them, above DISPATCH_LEVEL */
#define NT_LOCK_WORD_MIXED       2u /* and by the spin lock routines, which was reported */
#define NT_LOCK_WORD_FLAGS       3u

static inline bool nt_spin_lock_is_free(ULONG_PTR word)
{
    return word == 0 || (word & ~(ULONG_PTR)NT_LOCK_WORD_FLAGS) == NT_LOCK_WORD_INTERLOCKED;
}

/* Drop the spin locks that the current processor acquired after the first `count`, as if they were
 * released. */
void nt_spin_locks_drop(uint32_t count);

/* An ExInterlockedXxx routine is about to work under the lock (NULL: under none): waits until it is
 * free. What follows is atomic up to the next point. Source: NT-112. */
void nt_spin_lock_interlocked(PKSPIN_LOCK lock, const char *routine);

/* A spin lock routine is about to acquire the free lock: reports use by both kinds (NT-112). */
void nt_spin_lock_check_mixed(volatile ULONG_PTR *lock, const char *routine);

#endif
