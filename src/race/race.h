/* SPDX-License-Identifier: MIT */
/*
 * The detector of data races in drivers (THREAD-080): what happened before what, and which
 * accesses of the same bytes have no order.
 *
 * Theory of operation
 *
 *   A *task* is a flow of control that is in order by itself: a thread, a work item, the DPCs of
 *   one processor, the interrupts of one level of one processor. Each has a vector clock: how far
 *   it knows each task, itself included. What a driver sees as synchronization carries clocks from
 *   task to task through the *marks* of objects, which are found by the object's address, until its
 *   memory is given anew: a release joins the clock of the current task to the mark and lets the
 *   task's own time advance, an acquire joins the mark to the clock of the current task. A raised
 *   level is a lock of its processor: raising to DISPATCH_LEVEL acquires what the last lowering
 *   there has released. The scheduler of the simulation carries nothing.
 *
 *   The *shadow* holds, for each 8 bytes of the memory that is watched, the last four accesses that
 *   matter: task and time (an epoch, as in FastTrack, in place of a vector), which bytes, and what
 *   a report needs. Two of the same bytes, one of them a write, not both atomic, race if the later
 *   task's clock does not know the epoch of the earlier access. An access that a later one implies
 *   is replaced by it.
 *
 *   Structures and their cost: watched pages, and marks, are in hash tables with open addressing;
 *   a watched page has a table of eight blocks of shadow, made at the first access: 8 KiB for each
 *   512 bytes. An access costs one look-up and four comparisons, whatever the number of tasks; a
 *   release or acquire is O(tasks). Call stacks are nodes of one tree of calling contexts, so that
 *   an access keeps its whole stack as a number; entering a function is one look-up.
 *
 * Nothing here knows the machine; sim/order.h calls it for the current one. It uses malloc, so that
 * a run is the same with injected failures; short of memory, it forgets, and finds less.
 */
#ifndef DXGK_RACE_H
#define DXGK_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct race;
struct race_task;

/* NULL: out of memory. */
struct race *race_create(unsigned processors);
void race_destroy(struct race *race);

/* ---- tasks ---- */

/* A new task, which knows what the current one knows. NULL: out of memory. */
struct race_task *race_task_create(struct race *race, const char *name);
/* It never runs again; its number is used anew when some hundreds have ended after it. NULL:
 * nothing. */
void race_task_end(struct race *race, struct race_task *task);
/* The flow of the task begins something that has nothing to do with what it did before: it goes on
 * as another task, which knows nothing. Returns that one, which is current if the task was; short
 * of memory, the task itself. After some more such beginnings the number is used anew. */
struct race_task *race_task_restart(struct race *race, struct race_task *task);
/* The task that runs from now on; NULL: none of the driver's. Returns the one before. */
struct race_task *race_switch(struct race *race, struct race_task *task);
/* The same for a DPC, or an interrupt of that level, on a processor; race_end ends it. `outer`:
 * what race_outer is to return meanwhile. */
struct race_task *race_begin(struct race *race, unsigned processor, uint8_t irql, const void *outer);
void race_end(struct race *race, unsigned processor, uint8_t irql, struct race_task *before);

/* The call that the current task has interrupted; NULL: none. */
const void *race_outer(const struct race *race);

/* ---- order ---- */

void race_release(struct race *race, const volatile void *object);
void race_acquire(struct race *race, const volatile void *object);
/* What `to` carries from now on includes what `from` does. */
void race_relay(struct race *race, const volatile void *from, const volatile void *to);
/* The object is new, or what it carried has arrived. */
void race_forget(struct race *race, const volatile void *object);
/* What runs next, on nobody's behalf, hands on what the object carries: a timer that expires.
 * Returns the task before, for race_switch. */
struct race_task *race_carry(struct race *race, const volatile void *object);
/* The level of the processor changes. */
void race_raise(struct race *race, unsigned processor, uint8_t from, uint8_t to);
void race_lower(struct race *race, unsigned processor, uint8_t from, uint8_t to);
/* All that was done so far comes before all that follows: the processors stand still together. */
void race_barrier(struct race *race);
/* All DPCs of all processors have ended. */
void race_acquire_dpcs(struct race *race);

/* ---- memory ---- */

/* Accesses of these bytes are watched from now on; what was known of them is forgotten, and what
 * objects there carried. */
void race_watch(struct race *race, const void *address, uint64_t bytes);

/* Whether they are. */
bool race_watches(struct race *race, const volatile void *address);
/* Whether an interlocked operation there is to give order: elsewhere only at so many addresses. */
bool race_carries(struct race *race, const volatile void *address);

/* Of an access. */
#define RACE_WRITE  1u
#define RACE_ATOMIC 2u
#define RACE_FREE   4u /* with RACE_WRITE: the memory is given back */
#define RACE_IMAGE  8u /* of an image, which does not show what is volatile */

struct race_access {
    uintptr_t pc;     /* return address of the hook, or that of the instruction */
    const char *call; /* the DDI or callback in progress, a literal; NULL: none */
    uint32_t time;    /* of the task */
    uint32_t stack;   /* race_stack */
    uint16_t task;
    uint8_t bytes; /* a bit for each of the eight */
    uint8_t kind;  /* RACE_* */
    uint8_t irql, processor;
};

struct race_found {
    struct race_access now, before;
    char now_name[32], before_name[32]; /* of the tasks */
    uintptr_t address;                  /* of the first byte that both touched */
};

/* The current task is about to access these bytes: pc, call, kind, irql and processor are the
 * caller's. True: it races with an earlier access, and this pair of places was not told before. */
bool race_access(struct race *race, const volatile void *address, uint64_t bytes,
                 struct race_access access, struct race_found *found);
/* Pairs of places that were found to race. */
unsigned race_pairs(const struct race *race);

/* ---- call stacks ---- */

/* The current task calls a function, to return there; and it returns. */
void race_call(struct race *race, uintptr_t from);
void race_return(struct race *race);
/* The current task's place in the tree of calls, to be restored where it is left by a jump. */
uint32_t race_place(const struct race *race);
void race_set_place(struct race *race, uint32_t place);
/* Return addresses of an access, innermost first, without its own. Returns how many. */
size_t race_stack(const struct race *race, uint32_t stack, uintptr_t *pc, size_t capacity);

#endif
