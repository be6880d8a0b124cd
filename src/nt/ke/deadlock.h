/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks that have occurred: every thread waits, and nothing can end that (THREAD-072).
 */
#ifndef DXGK_NT_DEADLOCK_H
#define DXGK_NT_DEADLOCK_H

/* Nothing can happen any more and some thread still waits: report it, with what each thread waits
 * for and the drivers' stacks. Call between runs. */
void nt_deadlock_report(void);
/* Only output which thread waits for what, for a report that the caller makes. */
void nt_deadlock_describe(void);

#endif
