/* SPDX-License-Identifier: MIT */
/*
 * A machine around the RefGPU model for its unit tests: RAM at bus address 0, virtual time, an
 * interrupt counter. RAM pages lie scattered in host memory if asked for, and single pages can be
 * cut off the bus.
 */
#ifndef TESTS_REFGPU_FAKE_MACHINE_H
#define TESTS_REFGPU_FAKE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../../drivers/refgpu/refgpu_display_hw.h"
#include "../../../drivers/refgpu/refgpu_sched_hw.h"
#include "../../../drivers/refgpu/refgpu_umd.h"
#include "dxgkhost/device.h"

#define FAKE_RAM_BYTES  (32u << 20)
#define FAKE_VRAM_BYTES (16u << 20)

/* Where the fixture keeps its things, as bus addresses (RAM) and VRAM offsets. */
#define FAKE_RING(engine)  (0x10000u + (engine)*0x10000u)
#define FAKE_FENCE(engine) (0x30000u + (engine)*16u)
#define FAKE_COMMANDS      0x40000u /* command buffer, 256 KiB */
#define FAKE_RAM_FREE      0x100000u
#define FAKE_GART_TABLE    0xE00000u /* in VRAM: 1024 pages of aperture */
#define FAKE_TABLES        0xF00000u /* in VRAM: page tables, root first */
#define FAKE_VRAM_FREE     0x0u
#define FAKE_ROOT          FAKE_TABLES
#define FAKE_GART_PAGES    1024u
#define FAKE_VA            0x10000000000ull

struct fake {
    void *library;
    const struct dxgk_device_model *model;
    void *device;
    const struct dxgk_device_outputs *outputs; /* NULL: the model tells of none */
    uint8_t *ram, *vram;
    bool scatter;
    uint64_t time;
    bool armed[DXGK_DEVICE_TIMERS];
    uint64_t due[DXGK_DEVICE_TIMERS];
    unsigned interrupts;
    uint64_t refused_page; /* bus page that is cut off; 0: none */
    unsigned refusals;
    int trace_depth[REFGPU_ALL_ENGINES];
    uint32_t tail[REFGPU_ENGINES];
    uint32_t next_fence;
    uint64_t next_table; /* VRAM offset of the next free page table */
};

/* Loads build/devices/refgpu.so and powers it on; fails the test if that is impossible.
 * `options`: may be NULL. */
struct fake *fake_create(const char *const *options, size_t count);
void fake_destroy(struct fake *fake);
/* Rings, fence blocks, GART and interrupts set up; both engines enabled. */
void fake_start(struct fake *fake);

uint32_t fake_read(struct fake *fake, uint32_t reg);
uint64_t fake_read64(struct fake *fake, uint32_t reg);
void fake_write(struct fake *fake, uint32_t reg, uint32_t value);
void fake_write64(struct fake *fake, uint32_t reg, uint64_t value);
uint32_t fake_engine_read(struct fake *fake, uint32_t engine, uint32_t reg);
void fake_engine_write(struct fake *fake, uint32_t engine, uint32_t reg, uint32_t value);

/* RAM by bus address, through the scattering. */
void fake_ram_write(struct fake *fake, uint64_t address, const void *from, size_t bytes);
void fake_ram_read(struct fake *fake, uint64_t address, void *to, size_t bytes);

/* Fire the next timer. False: none is armed. */
bool fake_step(struct fake *fake);
/* Until nothing is armed, or `limit` virtual nanoseconds have passed. */
void fake_run(struct fake *fake, uint64_t limit);

/* Put an entry on a ring, without the doorbell; fields other than fence are taken as they are.
 * Returns its fence. */
uint32_t fake_queue(struct fake *fake, uint32_t engine, struct refgpu_ring_entry entry);
void fake_doorbell(struct fake *fake, uint32_t engine);
/* Copy the commands to FAKE_COMMANDS, run them to the end on an engine (engine 1: through
 * FAKE_VA), privileged. */
void fake_submit(struct fake *fake, uint32_t engine, const struct refgpu_builder *commands);
struct refgpu_ring_entry fake_entry(struct fake *fake, uint32_t engine, uint32_t bytes);

/* Map one 4 KiB page of GPU virtual space for FAKE_ROOT; `pte` is the leaf entry. Tables are
 * made as needed. */
void fake_map(struct fake *fake, uint64_t va, uint64_t pte);
void fake_map_range(struct fake *fake, uint64_t va, uint64_t pte, uint32_t pages);
void fake_gart(struct fake *fake, uint32_t page, uint64_t entry);

#endif
