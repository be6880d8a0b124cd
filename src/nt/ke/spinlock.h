/* SPDX-License-Identifier: MIT */
/*
 * Spin locks, for code that ends something that may hold some.
 */
#ifndef DXGK_NT_SPINLOCK_H
#define DXGK_NT_SPINLOCK_H

#include <stdint.h>

/* Value of a lock word that ExInterlockedXxx routines have used. */
#define NT_LOCK_WORD_INTERLOCKED 0x5E000000u

/* Drop the spin locks that the current processor acquired after the first `count`, as if they were
 * released. */
void nt_spin_locks_drop(uint32_t count);

#endif
