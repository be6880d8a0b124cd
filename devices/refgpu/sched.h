/* SPDX-License-Identifier: MIT */
/*
 * The scheduler in front of engine 2: which context has the engine, and for how long. It keeps what
 * the tables in memory say, from ENABLE to the next reset, and writes back only how far each queue
 * has come.
 *
 *   sched.c         the tables, commands and doorbells; entries begin, end, and are left
 *   sched_choose.c  which queue is next, and when the one in execution has to leave
 *   sched_log.c     the scheduling log
 */
#ifndef REFGPU_SCHED_H
#define REFGPU_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "refgpu_sched_hw.h"

#define REFGPU_SCHED_NONE  UINT32_MAX
#define REFGPU_SCHED_TIMER REFGPU_ALL_ENGINES /* behind those of the engines */

struct refgpu_device;
struct refgpu_engine;

struct refgpu_sched_context {
    struct refgpu_context_descriptor set; /* what software wrote */
    bool valid;
    bool suspended;  /* it stays off the engine */
    bool suspending; /* and that is not answered yet */
    uint64_t used;   /* ns of its quantum */
    uint64_t order;  /* among contexts of the same priority: the lowest is next */
    uint32_t last_queue;
    uint32_t noted; /* state in the log */
};

struct refgpu_sched_queue {
    struct refgpu_queue_descriptor set; /* head, start, state and progress are the device's */
    bool valid;
    uint64_t value;         /* of the entry in execution */
    bool interrupts;        /* when that entry is done */
    uint64_t blocked_until; /* it gave way in WAIT, which looks again then */
    uint64_t back_off;      /* ns for the next time; 0: none yet */
};

struct refgpu_sched_band {
    uint32_t grace, process_quantum, process_grace; /* registers, ns */
    uint32_t process;                               /* whose turn it is */
    uint64_t used;                                  /* ns of its quantum */
};

struct refgpu_sched_log {
    uint64_t at, root;        /* registers */
    uint32_t entries, notice; /* registers */
    bool known;               /* the header was read */
    struct refgpu_sched_log_header header;
};

struct refgpu_sched {
    uint64_t contexts, queues; /* registers: the tables */
    uint32_t normal_share;     /* register */
    struct refgpu_sched_band band[REFGPU_SCHED_BANDS];
    uint32_t aborted;  /* register */
    uint32_t switches; /* register */
    struct refgpu_sched_log log;

    bool loaded;   /* the tables were read */
    bool deciding; /* a decision is being made: what happens in it needs no other one */
    uint32_t context_end, queue_end; /* one after the last valid one */
    uint32_t running;                /* queue; REFGPU_SCHED_NONE: none */
    uint32_t last_context;           /* that had the engine; REFGPU_SCHED_NONE: none */
    uint64_t since;                  /* time up to which `used` is right */
    uint64_t leave_at;               /* when the running one is preempted; 0: nobody waits for it */
    uint64_t debt;                   /* ns that FOCUS owes NORMAL */
    bool normal_turn;
    uint64_t orders; /* stamps given */
    struct refgpu_sched_context context[REFGPU_SCHED_CONTEXTS];
    struct refgpu_sched_queue queue[REFGPU_SCHED_QUEUES];
};

/* ---- sched.c ---- */

uint32_t refgpu_sched_read(struct refgpu_device *device, uint32_t offset);
void refgpu_sched_write(struct refgpu_device *device, uint32_t offset, uint32_t value);
void refgpu_sched_doorbell(struct refgpu_device *device, uint32_t queue);
void refgpu_sched_enable(struct refgpu_device *device); /* reads the tables after a reset */
void refgpu_sched_reset(struct refgpu_device *device);  /* of the engine */
void refgpu_sched_power_on(struct refgpu_device *device);
/* The commands of the entry are done. */
void refgpu_sched_complete(struct refgpu_engine *engine);
/* The engine has left the entry at `offset`, its state saved if the entry has an area; `waited`: in
 * WAIT. */
void refgpu_sched_left(struct refgpu_engine *engine, uint32_t offset, bool waited);
void refgpu_sched_skipped(struct refgpu_engine *engine); /* the SKIP bit: the entry was dropped */
/* Begin an entry of this queue. */
void refgpu_sched_begin(struct refgpu_device *device, uint32_t queue);

/* ---- sched_log.c ---- */

uint32_t *refgpu_sched_log_register(struct refgpu_sched *sched, uint32_t offset); /* NULL: none */
/* Log the contexts that have another state than when they were logged last. */
void refgpu_sched_log(struct refgpu_device *device);

/* ---- sched_choose.c ---- */

/* Something has changed: begin, leave, or look again later. */
void refgpu_sched_update(struct refgpu_device *device);
/* Account the time that has passed. */
void refgpu_sched_account(struct refgpu_device *device);

#endif
