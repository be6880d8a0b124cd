/* SPDX-License-Identifier: MIT */
/*
 * Spin locks, for those who end what holds some.
 */
#ifndef DXGK_NT_SPINLOCK_H
#define DXGK_NT_SPINLOCK_H

#include <stdint.h>

/* Content of a lock word that ExInterlockedXxx routines have used. */
#define NT_LOCK_WORD_INTERLOCKED 0x5E000000u

/* Forget the spin locks of the current processor that were taken since `count`, as if released. */
void nt_spin_locks_drop(uint32_t count);

#endif
