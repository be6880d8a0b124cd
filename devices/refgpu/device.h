/* SPDX-License-Identifier: MIT */
/*
 * The RefGPU device model: a register file, two engines with rings and one with a scheduler, a GPU
 * MMU. It implements docs/refgpu.md.
 *
 * An engine is always in one of these phases; all but HANG and HALTED have the engine's timer
 * armed, and everything an engine does to memory happens when it fires:
 *
 *   IDLE -> (doorbell: entry and first commands are fetched) -> SLICE | NEXT | COMPLETE | STOP
 *   SLICE     one slice of the current command takes effect; again, or on to the next command
 *   POLL      a semaphore wait looks at memory
 *   NEXT      many commands without effect were passed over; a boundary, then on
 *   COMPLETE  fence written, interrupt, next ring entry
 *   STOP      a fault or error found while fetching becomes visible: HALTED
 *   HANG      until reset (or preempted, if the command allows it)
 *
 * Files: device.c life, registers.c MMIO and interrupts, engine.c the phases above, command.c
 * decoding and checking, execute.c effects, sched.h the scheduler, memory.c address translation, mmu.c what the host is told
 * of it, pixel.c arithmetic, log.c the log in system memory, display.h the outputs.
 */
#ifndef REFGPU_DEVICE_H
#define REFGPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "display.h"
#include "refgpu_hw.h"
#include "sched.h"

#define REFGPU_TLB_ENTRIES 2048u
#define REFGPU_ROW_BYTES   ((size_t)REFGPU_MAX_PIXELS * 4u)

enum refgpu_phase {
    REFGPU_IDLE,
    REFGPU_SLICE,
    REFGPU_POLL,
    REFGPU_NEXT,
    REFGPU_COMPLETE,
    REFGPU_STOP,
    REFGPU_HANG,
    REFGPU_HALTED,
};

struct refgpu_fault {
    uint32_t kind; /* REFGPU_FAULT_x */
    uint32_t info; /* as in ENG_FAULT_INFO */
    uint32_t fence;
    uint64_t address;
};

/* The current command, decoded and checked. Row counts and sizes are within the limits of the
 * manual. */
struct refgpu_command {
    uint32_t opcode, flags, dwords;
    uint64_t dst, src;
    uint32_t dst_pitch, src_pitch;
    uint32_t width, height;         /* destination; pixels or bytes */
    uint32_t src_width, src_height; /* SCALE */
    uint64_t bytes;                 /* linear length */
    uint64_t value;                 /* pattern, WRITE/WAIT value, alpha */
    int16_t coefficient[9];
    uint32_t rows;         /* per slice */
    uint64_t slices, done; /* total, finished */
    bool backwards;        /* COPY whose destination overlaps its source from above */
};

struct refgpu_engine {
    struct refgpu_device *device;
    uint32_t index;
    enum refgpu_phase phase;

    /* registers */
    bool enabled;
    uint64_t ring, fence_block;
    uint32_t ring_size, head, tail;
    uint32_t completed, preempted, aborted, stop_fence, stop_offset;
    struct refgpu_fault fault;
    uint64_t entries, commands, bytes, busy_ns, walks, preempts;

    /* execution */
    bool active; /* `entry` is being executed */
    bool preempt_wanted;
    uint32_t preempt_value;
    struct refgpu_ring_entry entry;
    uint32_t offset;        /* of the current command */
    uint64_t resume_slices; /* slices that were done when the entry was interrupted */
    uint64_t began;
    uint32_t poll_ns;
    bool looked; /* POLL: at memory, which does not have the value yet */
    bool command_traced;
    struct refgpu_command command;
    uint32_t *fetched; /* buffer of REFGPU_CMD_MAX_DWORDS: commands from fetch_offset on */
    uint32_t fetch_offset, fetch_bytes;
};

struct refgpu_tlb_entry {
    uint64_t page; /* GPU virtual page | generation << 40: 0 is never valid */
    uint64_t root;
    uint64_t pte; /* flags, and the 4 KiB page number */
};

struct refgpu_device {
    struct dxgk_device_services services_copy;
    const struct dxgk_device_services *services; /* the model's copy of the services */
    void *host;
    uint8_t *vram;
    uint64_t vram_bytes;
    uint32_t dma_bits, gart_limit;
    bool checks_tlb;         /* the host checks page tables */
    bool no_execute;         /* option: PTE_NO_EXECUTE is enforced */
    bool ignore_preempt;     /* option: preemption requests are never answered */
    uint32_t lose_interrupt; /* option: every n-th fence message is lost; 0: none */
    uint32_t fences_raised;

    uint32_t scratch, time_high;
    uint32_t irq_status, irq_enable, irq_count;
    uint64_t gart_table;
    uint32_t gart_pages;
    uint64_t log_page[REFGPU_LOG_PAGES];
    uint32_t log_pages, log_count;

    uint32_t tlb_generation;
    struct refgpu_tlb_entry *tlb;
    uint8_t *row[4];   /* REFGPU_ROW_BYTES each: gathered rows, bounce buffer */
    uint32_t *scale_x; /* REFGPU_MAX_PIXELS: left pixel << 8 | fraction */
    uint8_t sink[REFGPU_PAGE_BYTES];
    struct refgpu_engine engine[REFGPU_ALL_ENGINES];
    struct refgpu_sched sched;
    struct refgpu_display display;
};

/* ---- registers.c ---- */

uint64_t refgpu_register_read(struct refgpu_device *device, uint64_t offset, unsigned width);
void refgpu_register_write(struct refgpu_device *device, uint64_t offset, unsigned width,
                           uint64_t value);
/* Set causes; sends a message unless an enabled cause is already pending. */
void refgpu_interrupt(struct refgpu_device *device, uint32_t causes);

/* ---- engine.c ---- */

void refgpu_engine_kick(
    struct refgpu_engine *engine); /* start the next entry, if there is one and it can start */
void refgpu_engine_timer(struct refgpu_engine *engine);
void refgpu_engine_preempt(struct refgpu_engine *engine, uint32_t value);
void refgpu_engine_reset(struct refgpu_engine *engine); /* the RESET bit */
void refgpu_engine_skip(struct refgpu_engine *engine);  /* the SKIP bit */
void refgpu_engine_power_on(struct refgpu_engine *engine);
/* For the scheduler: take an empty entry, which it fills in; then begin it, or stop if it is not
 * good, after `cost` ns. */
void refgpu_engine_enter(struct refgpu_engine *engine);
void refgpu_engine_start(struct refgpu_engine *engine, bool good, uint64_t cost);
void refgpu_engine_leave(struct refgpu_engine *engine); /* the engine is idle */
void refgpu_engine_halt(struct refgpu_engine *engine);  /* its fault was recorded */
/* Record a fault or error of the current entry; the caller stops. Always returns false. */
bool refgpu_engine_fault(struct refgpu_engine *engine, uint32_t kind, uint32_t code, uint32_t unit,
                         uint32_t level, bool write, uint64_t address);

/* ---- command.c ---- */

/* Decode and check the complete command at `words` (`dwords` as in its header). False: the engine's
 * fault says why. */
bool refgpu_command_decode(struct refgpu_engine *engine, const uint32_t *words,
                           struct refgpu_command *command);

/* ---- execute.c ---- */

/* Duration of the next slice in virtual nanoseconds. */
uint64_t refgpu_slice_cost(const struct refgpu_command *command);
/* Execute slice command->done. `words`: the command itself. False: fault. */
bool refgpu_slice_execute(struct refgpu_engine *engine, struct refgpu_command *command,
                          const uint32_t *words);
/* Whether a WAIT is satisfied. *ok false: fault. */
bool refgpu_wait_satisfied(struct refgpu_engine *engine, const struct refgpu_command *command,
                           bool *ok);

/* ---- memory.c ---- */

enum refgpu_space {
    REFGPU_SPACE_VIRTUAL, /* through the tables of the entry's root */
    REFGPU_SPACE_DEVICE,
};

/* The bytes at an address, as far as they are contiguous, at least 1 and at most `want`; *run gets
 * the length. `access` is a set of enum dxgk_dma_access. NULL: a fault was recorded. Valid until
 * the model returns to the host. */
uint8_t *refgpu_memory(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                       unsigned access, uint32_t unit, uint64_t want, uint64_t *run);
bool refgpu_memory_read(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                        uint32_t unit, void *to, uint64_t bytes);
bool refgpu_memory_write(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                         uint32_t unit, const void *from, uint64_t bytes);
/* Bus transfers with fault reporting. */
bool refgpu_bus_read(struct refgpu_engine *engine, uint64_t address, uint32_t unit, void *to,
                     uint64_t bytes);
bool refgpu_bus_write(struct refgpu_engine *engine, uint64_t address, uint32_t unit,
                      const void *from, uint64_t bytes);
void refgpu_tlb_flush(struct refgpu_device *device, uint64_t root, uint64_t start, uint64_t end);
void refgpu_tlb_flush_all(struct refgpu_device *device);

/* ---- mmu.c ---- */

/* Tell the host of the MMU. */
void refgpu_mmu_tell(struct refgpu_device *device);
/* Tell the host if the tables say something else than what the TLB keeps for the address. */
void refgpu_mmu_compare(const struct refgpu_engine *engine, uint64_t address, uint64_t kept);

/* ---- patches.c ---- */

extern const struct dxgk_patch_format refgpu_patch_format;

/* ---- log.c ---- */

void refgpu_log(struct refgpu_device *device, uint32_t type, uint32_t engine, uint64_t value,
                uint64_t address);
void refgpu_log_start(struct refgpu_device *device, uint32_t pages);

#endif
