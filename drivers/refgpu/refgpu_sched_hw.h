/* SPDX-License-Identifier: MIT */
/*
 * RefGPU hardware interface, the scheduled engine: registers, descriptors and queue entries (section
 * 13 of docs/refgpu.md). As refgpu_hw.h, only numbers and layouts.
 */
/* clang-format off: tables */
#ifndef REFGPU_SCHED_HW_H
#define REFGPU_SCHED_HW_H

#include <stdint.h>

#include "refgpu_hw.h"

#define REFGPU_ENGINE_SCHEDULED 2u /* GPU virtual addresses; commands of queues */
#define REFGPU_ALL_ENGINES      3u /* those with rings, and this one */

/* ---- registers; a _LO/_HI pair may be accessed as one 64-bit register ---- */

#define REFGPU_REG_SCHED_VERSION 0x2000u /* RO REFGPU_SCHED_VERSION; 0: there is no scheduler */
#define REFGPU_REG_SCHED_LIMITS  0x2004u /* RO contexts 15:0, queues 31:16 */
#define REFGPU_REG_SCHED_CONTEXTS_LO \
    0x2008u /* RW bus address of the context table, 4 KiB aligned */
#define REFGPU_REG_SCHED_CONTEXTS_HI  0x200Cu
#define REFGPU_REG_SCHED_QUEUES_LO    0x2010u /* RW bus address of the queue table, 4 KiB aligned */
#define REFGPU_REG_SCHED_QUEUES_HI    0x2014u
#define REFGPU_REG_SCHED_COMMAND      0x2018u /* WO REFGPU_SCHED_COMMAND_x << 24 | index */
#define REFGPU_REG_SCHED_RUNNING      0x201Cu /* RO queue in execution, with SCHED_QUEUE_VALID; or 0 */
#define REFGPU_REG_SCHED_ABORTED      0x2020u /* RO queue in execution at the last reset, likewise */
#define REFGPU_REG_SCHED_NORMAL_SHARE 0x2024u /* RW percent for NORMAL beside FOCUS, 0..50 */
#define REFGPU_REG_SCHED_SWITCHES     0x2028u /* RO how often another context got the engine */

#define REFGPU_REG_SCHED_LOG_LO      0x2030u /* RW GPU virtual address of the scheduling log */
#define REFGPU_REG_SCHED_LOG_HI      0x2034u
#define REFGPU_REG_SCHED_LOG_ROOT_LO 0x2038u /* RW VRAM offset of the root table for it */
#define REFGPU_REG_SCHED_LOG_ROOT_HI 0x203Cu

#define REFGPU_SCHED_BANDS                4u
#define REFGPU_REG_SCHED_BAND(band, r)    (0x2040u + (band)*16u + (r)) /* nanoseconds */
#define REFGPU_SCHED_BAND_GRACE           0x0u /* RW when the band preempts another */
#define REFGPU_SCHED_BAND_PROCESS_QUANTUM 0x4u /* RW of a process among others of the band */
#define REFGPU_SCHED_BAND_PROCESS_GRACE   0x8u /* RW when one process preempts another */

#define REFGPU_REG_SCHED_LOG_ENTRIES \
    0x2080u /* RW entries of the log; 0: none. Writing begins with it */
#define REFGPU_REG_SCHED_LOG_NOTICE \
    0x2084u /* RW index at which IRQ_SCHED_LOG is raised, and at 0 */
#define REFGPU_REG_SCHED_END 0x2088u

#define REFGPU_REG_SCHED_DOORBELL(queue) (0x8000u + (queue)*4u) /* WO any value */

#define REFGPU_SCHED_VERSION     0x00010000u
#define REFGPU_SCHED_CONTEXTS    256u
#define REFGPU_SCHED_QUEUES      256u
#define REFGPU_SCHED_QUEUE_VALID 0x80000000u

#define REFGPU_SCHED_COMMAND(opcode, index) ((uint32_t)(opcode) << 24 | (uint32_t)(index))
#define REFGPU_SCHED_COMMAND_CONTEXT        1u /* read the descriptor of a context */
#define REFGPU_SCHED_COMMAND_QUEUE          2u /* read the descriptor of a queue */
#define REFGPU_SCHED_COMMAND_SUSPEND        3u /* take a context off the engine, and keep it off */
#define REFGPU_SCHED_COMMAND_RESUME         4u

/* Causes in IRQ_STATUS and IRQ_ENABLE, beside REFGPU_IRQ_ALL. */
#define REFGPU_IRQ_SCHED_PROGRESS  0x00001000u /* progress fences were written */
#define REFGPU_IRQ_SCHED_SUSPENDED 0x00002000u /* so were the answers to SUSPEND */
#define REFGPU_IRQ_SCHED_FAULT     0x00004000u /* page fault, bus fault or command error; halted */
#define REFGPU_IRQ_SCHED_SIGNAL    0x00008000u /* WRITE with interrupt */
#define REFGPU_IRQ_SCHED_LOG       0x00010000u /* the log has come to NOTICE, or round */
#define REFGPU_IRQ_SCHED_ALL       0x0001F000u

#define REFGPU_BAND_IDLE     0u
#define REFGPU_BAND_NORMAL   1u
#define REFGPU_BAND_FOCUS    2u
#define REFGPU_BAND_REALTIME 3u

/* ---- context table: REFGPU_SCHED_CONTEXTS descriptors of 128 bytes ---- */

struct refgpu_context_descriptor {
    uint32_t flags;                   /* REFGPU_CONTEXT_x */
    uint16_t band, level;             /* level: 0..31 */
    int32_t priority;                 /* among those of its process */
    uint32_t process;                 /* any number; those with the same one share its quantum */
    uint32_t quantum;                 /* ns; 0: none */
    uint32_t grace_same, grace_lower; /* ns, when it preempts one of the same or of lower priority */
    uint32_t id;                      /* any number; appears in the log */
    uint64_t root;                    /* VRAM offset of the level-3 table, 4 KiB aligned */
    uint64_t save;        /* GPU virtual address of the save area, 64-byte aligned; 0: none */
    uint64_t suspend;     /* the value with which SUSPEND is answered */
    uint64_t suspended;   /* written by the device: that value */
    uint64_t tag;         /* any number; names it in the scheduling log */
    uint64_t reserved[7]; /* 0 */
};

#define REFGPU_CONTEXT_VALID     0x00000001u
#define REFGPU_CONTEXT_SUSPENDED 0x00000002u /* it is suspended when the tables are loaded */
#define REFGPU_CONTEXT_FLAGS     0x00000003u

/* ---- queue table: REFGPU_SCHED_QUEUES descriptors of 64 bytes ---- */

struct refgpu_queue_descriptor {
    uint32_t flags;       /* REFGPU_QUEUE_x */
    uint32_t context;     /* index */
    uint64_t ring;        /* bus address, 4 KiB aligned */
    uint32_t entries;     /* of the ring: a power of two, 2..4096 */
    uint32_t save_offset; /* of the queue's state in the save area, 64-byte aligned; 0: none */
    uint64_t fence;       /* GPU virtual address of the progress fence, 8-byte aligned */
    uint32_t tail;        /* index after the last valid entry */
    /* written by the device when it leaves an entry */
    uint32_t head;     /* index of the next entry */
    uint32_t start;    /* offset in that entry at which to go on */
    uint32_t state;    /* REFGPU_QUEUE_RESUME, or 0 */
    uint64_t progress; /* value of the entry completed last */
    uint64_t reserved; /* 0 */
};

#define REFGPU_QUEUE_VALID  0x00000001u
#define REFGPU_QUEUE_FLAGS  0x00000001u
#define REFGPU_QUEUE_RESUME 0x00000001u /* in `state`: the save area holds where to go on */

/* ---- queue entries ---- */

struct refgpu_queue_entry {
    uint64_t address;  /* of the commands: GPU virtual, 4-byte aligned */
    uint32_t bytes;    /* of commands, a multiple of 4; 0: nothing but the progress fence */
    uint32_t flags;    /* REFGPU_QUEUE_ENTRY_x */
    uint64_t value;    /* for the progress fence when done */
    uint64_t reserved; /* 0 */
};

#define REFGPU_QUEUE_ENTRY_BYTES      32u
#define REFGPU_QUEUE_ENTRY_INTERRUPT  0x00000001u /* raise IRQ_SCHED_PROGRESS when done */
#define REFGPU_QUEUE_ENTRY_PRIVILEGED 0x00000002u /* privileged commands allowed */
#define REFGPU_QUEUE_ENTRY_FLAGS      0x00000003u

/* ---- scheduling log: the header, then entries of 32 bytes, oldest overwritten ---- */

struct refgpu_sched_log_header {
    uint32_t next;        /* written by the device: index of the next entry */
    uint32_t rounds;      /* likewise: how often it came to the first one again */
    uint64_t reserved[3]; /* software's */
};

struct refgpu_sched_log_entry {
    uint64_t time;
    uint64_t type; /* 0: a context has another state */
    uint64_t tag;
    uint64_t state; /* REFGPU_SCHED_IDLE .. */
};

#define REFGPU_SCHED_IDLE  0u /* nothing to do, or suspended */
#define REFGPU_SCHED_RUNS  1u /* it has the engine */
#define REFGPU_SCHED_READY 2u /* it has entries */

#define REFGPU_TIME_SWITCH_NS 1000u /* another context gets the engine */

#define REFGPU_LOG_SUSPENDED 12u /* value: context id; address: the answer */

#endif
