/* SPDX-License-Identifier: MIT */
/*
 * Processors that wait for each other's spin locks (THREAD-073).
 */
#ifndef DXGK_NT_SPIN_DEADLOCK_H
#define DXGK_NT_SPIN_DEADLOCK_H

#include <stdbool.h>

/* The current processor is about to wait for the lock: report a cycle of waits. True: there is one,
 * and the report did not stop the machine. */
bool nt_spin_deadlock_check(const volatile void *lock, const char *routine);

#endif
