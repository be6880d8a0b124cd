/* SPDX-License-Identifier: MIT */
/* The record of a device: its BARs, configuration space, memory, timers, and its state as a bus
 * master. Others see it as device.h has it. */
#ifndef DXGK_BUS_DEVICE_RECORD_H
#define DXGK_BUS_DEVICE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "iommu/iommu.h"
#include "ram/file.h"
#include "sim/callout.h"
#include "sim/event.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/list.h"

#define BUS_CONFIG_BYTES 256u
#define BUS_ENGINES      32u
#define BUS_FAULTS       8u

struct bus_bar {
    enum dxgk_bar_kind kind;
    uint64_t bytes;
    struct phys_addr address; /* of registers and memory */
    uint32_t port;            /* the first one of a BAR of ports */
    uint8_t *memory;          /* of a memory BAR */
    int file;                 /* of a memory BAR; -1: none */
};

/* It stands in the memory space. */
static inline bool bus_bar_in_memory(const struct bus_bar *bar)
{
    return bar->kind == DXGK_BAR_REGISTERS || bar->kind == DXGK_BAR_MEMORY;
}

struct bus_timer {
    struct sim_event event;
    struct bus_device *device;
    uint64_t due;
    bool lost; /* not armed for want of memory; tried again when the device is next touched */
};

struct bus_device {
    struct list link;
    struct bus *bus;
    void *library; /* of dlopen; NULL: linked in */
    const struct dxgk_device_model *model;
    void *state;                /* the model's */
    struct sim_callout callout; /* model_call.h */
    struct dxgk_device_description description;
    struct bus_bar bar[DXGK_DEVICE_BARS];
    struct ram_file memory[DXGK_DEVICE_BARS + 1]; /* the last: device memory behind no BAR */
    struct iommu_device iommu;
    bool unplugged;
    void (*touched)(unsigned bar, uint64_t offset, bool write); /* of bus_device_unplug */
    enum iommu_cause dma_quiet; /* why it must be silent; IOMMU_CAUSE_NONE: it need not */
    bool dma_unheld;            /* may reach RAM that nobody holds for it (IOMMU-075) */
    uint32_t dma_engine;
    uint64_t dma_command;
    struct iommu_fault fault[BUS_FAULTS]; /* the last ones, to tell repeated ones */
    unsigned next_fault;
    bool timers_lost;
    struct sim_interrupt *interrupt; /* by message */
    struct bus_timer timer[DXGK_DEVICE_TIMERS];
    uint8_t config[BUS_CONFIG_BYTES];
    uint8_t config_mask[BUS_CONFIG_BYTES]; /* bits that a write changes */
    uint32_t reset_control; /* offset of device control, if a write there may reset; 0: none */
    void (*on_fault)(void *context, const struct iommu_fault *fault);
    void *fault_context;
    const struct dxgk_device_mmu *mmu;            /* what the model told of it; NULL: nothing */
    struct dxgk_table_format table_format;        /* copy; without levels: it described none */
    const struct dxgk_patch_format *patch_format; /* of its driver; NULL: the model told none */
    const struct dxgk_device_outputs *outputs;    /* NULL: the model told of none */
    void (*on_stale)(void *context, const struct dxgk_stale_translation *stale);
    void *stale_context;
    void (*on_root)(void *context, unsigned node, uint32_t fence, uint64_t root);
    void *root_context;
    void (*on_work)(void *context, const struct dxgk_device_work *work);
    void *work_context;
    uint64_t touches; /* register accesses that reached the model */
    uint64_t faults, interrupts, dma_bytes;
    trace_track track;
    trace_track engine[BUS_ENGINES];
};

#endif
