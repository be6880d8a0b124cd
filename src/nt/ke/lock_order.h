/* SPDX-License-Identifier: MIT */
/*
 * Deadlock detection, an option (NT-059): tracks which locks are acquired while which others are
 * held. `sleeper`: the thread that acquires a mutex or fast mutex; NULL: a spin lock of this
 * processor.
 */
#ifndef DXGK_NT_LOCK_ORDER_H
#define DXGK_NT_LOCK_ORDER_H

#include <stdint.h>

struct _KTHREAD;

/* Called before waiting for the lock. */
void nt_lock_order_check(const volatile void *lock, struct _KTHREAD *sleeper);
/* Called before the lock counts as held. */
void nt_lock_order_acquire(const volatile void *lock, struct _KTHREAD *sleeper);
void nt_lock_order_release(const volatile void *lock, struct _KTHREAD *sleeper);
/* The memory with these locks goes away. */
void nt_lock_order_forget(const void *address, uint64_t bytes);

#endif
