/* SPDX-License-Identifier: MIT */
/*
 * Kernel mutexes, for waits that take them and threads that end with them.
 */
#ifndef DXGK_NT_MUTEX_H
#define DXGK_NT_MUTEX_H

#include <stdbool.h>

#include <ntddk.h>

/* The mutex is taken by the thread; true: its former owner ended without releasing it. */
bool nt_mutex_take(KMUTANT *mutex, struct _KTHREAD *thread);
void nt_mutex_abandon_all(struct _KTHREAD *thread);
/* Forget the records of what it owns, at the end of the machine. */
void nt_mutex_forget_all(struct _KTHREAD *thread);

#endif
