/* SPDX-License-Identifier: MIT */
/* What the files of the bus share. */
#ifndef DXGK_BUS_PRIVATE_H
#define DXGK_BUS_PRIVATE_H

#include "bus/bus.h"
#include "sim/event.h"
#include "sim/interrupt.h"
#include "trace/trace.h"
#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/span_tree.h"

#define BUS_CONFIG_BYTES 256u
#define BUS_ENGINES      32u
#define BUS_FAULTS       8u

/* Address space of the kernel set aside for windows: reserved; that of registers is never
 * backed. */
#define BUS_REGISTER_PAGES ((uint64_t)1 << 18)
#define BUS_MEMORY_PAGES   ((uint64_t)1 << 28)

/* Pages without access until a window stands there, and again after it. */
struct bus_arena {
    uint8_t *base;
    uint64_t pages;
    struct extent_tree free;
    uint64_t next; /* where the search starts, so that pages come back late */
};

struct bus {
    struct ram *ram;
    struct list devices;
    uint32_t requesters; /* numbers given out */
    struct iommu_pasids pasids;
    uint64_t next_address; /* where the next BAR may start */
    uint32_t next_port;    /* the same for ports; 0: at the beginning */
    struct bus_arena registers, memory;
    struct bus_mapping **register_map; /* the mapping that owns each page of `registers` */
    struct span_tree memory_windows;   /* by page of the host's address space */
    struct hash_map mappings;          /* by the address that bus_map returned */
};

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

/* A mapping of BAR bytes for the kernel. */
struct bus_mapping {
    struct bus_device *device;
    unsigned bar;
    uint64_t offset; /* of the first byte in the BAR */
    uint64_t bytes;
    uint8_t *address;           /* of the first byte */
    struct bus_arena *arena;    /* NULL: not placed */
    uint8_t *start;             /* of the first page */
    uint64_t first_page, pages; /* in the arena */
    enum ram_cache cache;
    struct span_node span; /* in bus.memory_windows; 0 pages: not there */
};

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
    void *state; /* the model's */
    struct dxgk_device_description description;
    struct bus_bar bar[DXGK_DEVICE_BARS];
    struct ram_file memory[DXGK_DEVICE_BARS + 1]; /* the last: device memory behind no BAR */
    struct iommu_device iommu;
    bool unplugged;
    bool dma_quiet;  /* exclusive access: it must be silent */
    bool dma_unheld; /* may reach RAM that nobody holds for it (IOMMU-075) */
    uint32_t dma_engine;
    uint64_t dma_command;
    struct iommu_fault fault[BUS_FAULTS]; /* the last ones, to tell repeated ones */
    unsigned next_fault;
    bool timers_lost;
    struct sim_interrupt *interrupt; /* by message */
    struct bus_timer timer[DXGK_DEVICE_TIMERS];
    uint8_t config[BUS_CONFIG_BYTES];
    uint8_t config_mask[BUS_CONFIG_BYTES]; /* bits that a write changes */
    void (*on_fault)(void *context, const struct iommu_fault *fault);
    void *fault_context;
    uint64_t faults, interrupts, dma_bytes;
    trace_track track;
    trace_track engine[BUS_ENGINES];
};

extern const struct dxgk_device_services bus_services;

/* services.c */
void bus_timers_init(struct bus_device *device);
void bus_timers_cancel(struct bus_device *device);
void bus_timers_retry(struct bus_device *device);
void bus_service_interrupt(void *host, uint32_t message);

/* dma.c */
bool bus_dma_read(void *host, uint64_t logical, void *to, size_t bytes);
bool bus_dma_write(void *host, uint64_t logical, const void *from, size_t bytes);
bool bus_dma_pasid(void *host, uint32_t pasid, uint64_t address, enum dxgk_dma_access access,
                   void *bytes, size_t count);
void *bus_dma_window(void *host, uint64_t logical, enum dxgk_dma_access access, size_t bytes,
                     size_t *run);

/* config.c */
void bus_config_init(struct bus_device *device);
bool bus_config_decodes_memory(const struct bus_device *device);
bool bus_config_decodes_ports(const struct bus_device *device);
bool bus_config_is_master(const struct bus_device *device);

/* ports.c */
/* Give BARs of ports their numbers; the others are left alone. False: none are left. */
bool bus_place_ports(struct bus_device *device);

/* window.c */
bool bus_window_init(struct bus *bus);
void bus_window_finish(struct bus *bus);
/* Drop every mapping of a device that goes away. */
void bus_window_forget(struct bus_device *device);

#endif
