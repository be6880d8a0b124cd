/* SPDX-License-Identifier: MIT */
/*
 * Which processor holds which spin lock, and waiting for one.
 */
#ifndef DXGK_NT_SPIN_HELD_H
#define DXGK_NT_SPIN_HELD_H

#include <stdbool.h>

#include "nt/ke/processor.h"

/* The record of the lock, if that processor holds it; NULL: it does not. */
struct nt_held_lock *nt_held_find(struct nt_processor *processor, const volatile void *lock);
/* The same of any processor. */
struct nt_held_lock *nt_held_find_any(const volatile void *lock);

/* The current processor has acquired it. `mark`: its word before. */
void nt_held_add(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t old_irql, ULONG_PTR mark);
/* A record of the current processor. */
void nt_held_remove(struct nt_held_lock *held);

/* Let other processors run, since this one can only wait. False: it would wait forever. */
bool nt_spin_wait(const volatile void *lock, const char *routine);

#endif
