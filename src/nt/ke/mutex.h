/* SPDX-License-Identifier: MIT */
/*
 * Kernel mutexes, for waits that acquire them and threads that end while owning them.
 */
#ifndef DXGK_NT_MUTEX_H
#define DXGK_NT_MUTEX_H

#include <stdbool.h>

#include <ntddk.h>

/* The thread acquires the mutex; true: its previous owner ended without releasing it. */
bool nt_mutex_take(KMUTANT *mutex, struct _KTHREAD *thread);
void nt_mutex_abandon_all(struct _KTHREAD *thread);
/* Drop the records of the mutexes that it owns, at the end of the machine. */
void nt_mutex_forget_all(struct _KTHREAD *thread);

#endif
