/* SPDX-License-Identifier: MIT */
/*
 * Fibers: stacks that the host thread switches between. Threads and idle processors are made of
 * them. What code on a stack overwrites beyond its own frame must not take along what a report of
 * that needs, so records of the calls in progress lie elsewhere, in a region of their own:
 *
 *     guard page | stack | guard page | records | guard page
 */
#ifndef DXGK_SIM_FIBER_H
#define DXGK_SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifndef SIM_ASAN
#define SIM_ASAN 0
#endif

struct fiber {
    void *sp;
    char *stack; /* lowest usable byte; the page below it is a guard page */
    size_t stack_bytes;
    char *records;      /* memory for records of calls in progress, as large as the stack */
    char *first_record; /* in it; other fibers begin at other lines of the processor's cache */
    void *asan_stack;   /* AddressSanitizer's fake stack while switched away */
};

/* False: out of memory. */
bool fiber_init(struct fiber *fiber, size_t stack_bytes);
void fiber_finish(struct fiber *fiber);
/* The next switch to the fiber will call entry(arg) on an empty stack. entry must not return. */
void fiber_prepare(struct fiber *fiber, void (*entry)(void *arg), void *arg);
/* `ending`: the current fiber is never switched to again. */
void fiber_switch(struct fiber *from, struct fiber *to, bool ending);

#endif
