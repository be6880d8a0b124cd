/* SPDX-License-Identifier: MIT */
/*
 * Waiting for dispatcher objects and for addresses. A thread's wait is part of the thread, not of
 * its stack: a client that is thrown out of it leaves no dangling list.
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
    struct nt_wait_block *next, *prev; /* ring of the waiters on one address; NULL: on none */
    struct nt_wait *wait;
    uintptr_t address;
    uint32_t index;
};

struct nt_wait {
    struct _KTHREAD *thread;
    struct nt_wait_block builtin[NT_BUILTIN_WAITS];
    struct nt_wait_block *block;
    struct nt_wait_block *extra; /* allocated when the built-in ones are too few */
    uint32_t count;              /* blocks in use; 0: no wait */
    bool all;
    bool absolute; /* until a system time */
    NTSTATUS status;
};

/* Wait for 1 .. MAXIMUM_WAIT_OBJECTS dispatcher objects. `timeout` as KeWaitForSingleObject has
 * it. */
NTSTATUS nt_wait_objects(DISPATCHER_HEADER *const object[], uint32_t count, bool all,
                         const LARGE_INTEGER *timeout);
/* The object became signalled: let go whom it satisfies. */
void nt_wait_wake(DISPATCHER_HEADER *header);
/* Wait for nt_wait_wake_address on any address (locks of other kinds); SIM_TIMED_OUT at the
 * time-out. The caller checks its condition again, and goes round when it does not hold. */
enum sim_wake nt_wait_address(const void *address, const LARGE_INTEGER *timeout);
/* Let go at most `count` waiters, first come first. Returns how many. */
unsigned nt_wait_wake_address(const void *address, unsigned count);
/* Take the wait off all rings. */
void nt_wait_end(struct nt_wait *wait);
/* The system time was set. */
void nt_wait_clock_changed(void);
/* Once for each machine: `balance` is called whenever a thread is about to block: it may have
 * been the last one that worked. */
void nt_wait_before_block(void (*balance)(void));

#endif
