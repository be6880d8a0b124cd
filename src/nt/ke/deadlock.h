/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks that have happened: every thread waits, and nothing can end that (THREAD-072).
 */
#ifndef DXGK_NT_DEADLOCK_H
#define DXGK_NT_DEADLOCK_H

/* Nothing can happen any more and somebody still waits: report it, with who waits for what and the
 * drivers' stacks. Between runs. */
void nt_deadlock_report(void);
/* Only hand out who waits for what, for a report of the caller's. */
void nt_deadlock_describe(void);

#endif
