/* SPDX-License-Identifier: MIT */
/*
 * Waiting for dispatcher objects and for addresses. A thread's wait is part of the thread, not on
 * its stack: a client that jumps out of it leaves no dangling list.
 */
#ifndef DXGK_NT_WAIT_H
#define DXGK_NT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "sim/wait.h"

struct _KTHREAD;
struct nt_wait;

#define NT_BUILTIN_WAITS (THREAD_WAIT_OBJECTS + 1u)

struct nt_wait_block {
    struct nt_wait_block *next, *prev; /* ring of the waiters on one address; NULL: not in a ring */
    struct nt_wait *wait;
    uintptr_t address;
    uint32_t index;
};

struct nt_wait {
    struct _KTHREAD *thread;
    struct nt_wait_block builtin[NT_BUILTIN_WAITS];
    struct nt_wait_block *block;
    struct nt_wait_block *extra; /* allocated when there are not enough built-in ones */
    uint32_t count;              /* blocks in use; 0: no wait */
    bool all;
    bool absolute; /* the time-out is a system time */
    NTSTATUS status;
};

/* Wait for 1 .. MAXIMUM_WAIT_OBJECTS dispatcher objects. `timeout` as for KeWaitForSingleObject. */
NTSTATUS nt_wait_objects(DISPATCHER_HEADER *const object[], uint32_t count, bool all,
                         const LARGE_INTEGER *timeout);
/* The object became signaled: wake the waiters that it satisfies. */
void nt_wait_wake(DISPATCHER_HEADER *header);
/* Wait for nt_wait_wake_address on an address (for other kinds of locks); SIM_TIMED_OUT at the
 * time-out. The caller checks its condition again, and repeats the wait if it does not hold. */
enum sim_wake nt_wait_address(const void *address, const LARGE_INTEGER *timeout);
/* Wake at most `count` waiters, in order of arrival. Returns how many. */
unsigned nt_wait_wake_address(const void *address, unsigned count);
/* Remove the wait from all rings. */
void nt_wait_end(struct nt_wait *wait);
/* The system time was set: adjust the waits for a system time. */
void nt_wait_clock_changed(void);
/* Called once per machine: sets `balance`, which is called whenever a thread is about to block,
 * since it may have been the last working one. */
void nt_wait_before_block(void (*balance)(void));

#endif
