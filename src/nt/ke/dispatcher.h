/* SPDX-License-Identifier: MIT */
/*
 * The common header of dispatcher objects, which a thread can wait for.
 */
#ifndef DXGK_NT_DISPATCHER_H
#define DXGK_NT_DISPATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

enum nt_dispatcher_type {
    NT_EVENT_NOTIFICATION = 0,
    NT_EVENT_SYNCHRONIZATION = 1,
    NT_MUTANT = 2,
    NT_PROCESS = 3,
    NT_SEMAPHORE = 5,
    NT_THREAD = 6,
    NT_TIMER_NOTIFICATION = 8,
    NT_TIMER_SYNCHRONIZATION = 9,
};

void nt_dispatcher_init(DISPATCHER_HEADER *header, enum nt_dispatcher_type type, size_t bytes,
                        LONG state);
/* Check that this is an initialized object of one of the types (bit mask), in memory where it may
 * be. Reports it otherwise (NT-004, NT-005). */
bool nt_dispatcher_check(const void *object, uint32_t types, const char *routine);

#endif
