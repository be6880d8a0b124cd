/* SPDX-License-Identifier: MIT */
/*
 * The chronicle of an adapter's memory: what was placed in its segments and mapped in its address
 * spaces, and when it left, in the order of events. It is kept only where a report was asked for;
 * an event is a few stores. Reports (report/) make intervals of it.
 */
#ifndef DXGK_VIDMM_CHRONICLE_H
#define DXGK_VIDMM_CHRONICLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm;
struct vidmm_allocation;
struct vidmm_process;

enum chronicle_kind {
    CHRONICLE_PLACED,     /* one run of an allocation */
    CHRONICLE_LEFT,       /* all runs of an allocation */
    CHRONICLE_MAPPED,     /* pages of a process */
    CHRONICLE_UNMAPPED,   /* the same or some of them */
    CHRONICLE_TABLE,      /* a page table was made */
    CHRONICLE_TABLE_GONE, /* or freed */
};

struct chronicle_event {
    uint64_t time; /* virtual ns */
    enum chronicle_kind kind;
    uint32_t allocation;   /* number of the allocation, of all; 0: memory of the host */
    uint32_t process;      /* id */
    uint32_t segment;      /* placed: 0: system memory */
    uint64_t first, pages; /* of the segment, or of the address space; of a table:
                              those it takes */
    uint64_t offset;       /* mapped: page of the allocation */
    uint64_t protection;
    uint32_t why;      /* left: enum allocation_absence, or CHRONICLE_DESTROYED; unmapped: enum
                          mapping_end */
    uint32_t room_for; /* left: number of the allocation that needed the room, or 0 */
};

enum { CHRONICLE_DESTROYED = 100 };

struct chronicle {
    bool on;
    struct chronicle_event *events;
    size_t count, capacity;
    uint64_t lost;     /* events for which there was no memory */
    uint32_t room_for; /* what is being placed while others are evicted for it */
};

/* Lock held. Nothing if the chronicle is not kept. */
void chronicle_placed(const struct vidmm_allocation *allocation);
void chronicle_left(const struct vidmm_allocation *allocation, uint32_t why);
void chronicle_space(struct vidmm *vidmm, const struct chronicle_event *event);
/* The id of a process in events. */
uint32_t chronicle_process(const struct vidmm_process *process);
void chronicle_finish(struct chronicle *chronicle);

#endif
