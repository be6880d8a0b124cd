/* SPDX-License-Identifier: MIT */
/* The detector's state; each part is written by the file that it is listed under. */
#ifndef DXGK_RACE_RECORD_H
#define DXGK_RACE_RECORD_H

#include "race/race.h"
#include "race/table.h"

#define RACE_LEVELS     16u
#define RACE_PROCESSORS 64u
#define RACE_LEFT       16u
/* So many tasks that have ended keep their numbers, which clocks have room for. */
#define RACE_ENDED 512u

/* What is known of each task, by its number; beyond `count` nothing. */
struct race_clock {
    uint32_t *time;
    uint32_t count;
};

/* What an object carries. */
struct race_mark {
    struct race_clock clock;
    uintptr_t object;
    struct race_mark *next; /* in the same watched page */
};

struct race_page {
    struct race_block *block[8]; /* NULL: not accessed yet */
    struct race_mark *marks;
};

struct race_task {
    struct race_clock knows; /* of itself: its own time */
    uint16_t number;
    bool carrier;                 /* of marks only: it accesses nothing, and has no time */
    uint32_t barrier;             /* its time at the last one: all know it */
    struct race_task *next_ended; /* in the order in which they did */
    uint32_t place;               /* in the tree of calls */
    uint32_t beyond;              /* calls that the tree had no room for */
    const void *outer;            /* race_begin */
    char name[32];
};

struct race_call {
    uintptr_t from;
    uint32_t caller; /* 0: none */
    uint32_t next;   /* of those with the same hash value; 0: none */
};

struct race {
    /* clock.c */
    struct race_task **task; /* by number */
    uint32_t tasks, room;
    struct race_task *first_ended, *last_ended; /* used again, oldest first */
    uint32_t ended;
    struct race_task *left[RACE_LEFT]; /* by race_task_restart, a ring */
    uint32_t lefts;
    struct race_task *current;
    struct race_task carrier;
    struct race_task *dpc[RACE_PROCESSORS][RACE_LEVELS]; /* and the interrupts of each level */
    struct race_clock level[RACE_PROCESSORS][RACE_LEVELS];
    unsigned processors;
    struct race_table marks; /* struct race_mark, by the address of the object */
    uint32_t strangers;      /* marks of variables in memory that is not watched */
    /* shadow.c */
    struct race_table pages; /* struct race_page, by address / 4096 */
    struct race_page *last;  /* the page of the last access */
    uint64_t last_page;
    struct race_table pairs; /* of places that were told */
    uint32_t evictions;
    /* calls.c */
    struct race_call *call; /* the tree; [0] is its root */
    uint32_t *bucket;
    uint32_t calls;
};

/* clock.c */
static inline uint32_t race_knows(const struct race_task *task, uint16_t number)
{
    return number < task->knows.count ? task->knows.time[number] : 0;
}

/* shadow.c: NULL: the page is not watched. */
struct race_page *race_page_of(struct race *race, uintptr_t address);

/* shadow.c, calls.c */
void race_shadow_finish(struct race *race);
void race_calls_finish(struct race *race);

#endif
