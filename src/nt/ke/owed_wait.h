/* SPDX-License-Identifier: MIT */
/*
 * The wait that a thread announces with Wait TRUE (KeSetEvent and its like): its next call must be
 * a KeWaitXxx (NT-036).
 */
#ifndef DXGK_NT_OWED_WAIT_H
#define DXGK_NT_OWED_WAIT_H

#include <stdbool.h>

#include <ntddk.h>

/* `routine` was called with Wait TRUE. */
void nt_owed_wait_announce(BOOLEAN wait, const char *rule, const char *routine);
/* The thread begins a wait. */
void nt_owed_wait_done(void);
/* Another routine is called instead: report it, if this thread owes a wait. */
void nt_owed_wait_check(const char *routine);

#endif
