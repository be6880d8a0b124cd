/* SPDX-License-Identifier: MIT */
/*
 * Device models: a GPU (or NPU) in software, as a shared object that the host loads in addition to
 * a miniport driver.
 *
 * A model exports dxgk_device_get_model(). The host asks it to describe its PCI function, assigns
 * addresses, and then calls it for every register access and every timer that it armed. The model
 * has effects only through the host's services: DMA (through the IOMMU), interrupts, timers in
 * virtual time. All calls come on one host thread and must return promptly; a model must not use
 * wall time, threads or host randomness, so that a run can be repeated from its seed.
 *
 * Life: configure -> create -> (reset, read, write, timer)* -> destroy.
 */
#ifndef DXGKHOST_DEVICE_H
#define DXGKHOST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/page_tables.h"
#include "dxgkhost/patches.h"
#include "dxgkhost/scanout.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DXGK_DEVICE_API_VERSION 1u
#define DXGK_DEVICE_BARS        6u
#define DXGK_DEVICE_TIMERS      16u
/* What stands for the BAR in accesses to `fixed_ports` */
#define DXGK_DEVICE_FIXED_PORTS DXGK_DEVICE_BARS

enum dxgk_bar_kind {
    DXGK_BAR_NONE = 0,
    DXGK_BAR_REGISTERS, /* every access reaches read/write */
    DXGK_BAR_MEMORY,    /* plain bytes, prefetchable; CPU accesses do not reach the model */
    DXGK_BAR_PORTS,     /* I/O ports: every access, of width 1, 2 or 4, reaches read/write */
};

struct dxgk_device_bar {
    enum dxgk_bar_kind kind;
    uint64_t bytes; /* power of two: at least 4096; for ports 4 to 256 */
};

/*
 * A capability of PCI configuration space: its id, then the bytes that follow the pointer to the
 * next one, for example 14 for a vendor-specific capability of virtio (id 0x09, whose first byte is
 * the length). The host places it at a multiple of 4 and links it.
 */
struct dxgk_device_capability {
    uint8_t id;    /* 0x01: power management, 0x05: MSI, 0x09: vendor, 0x10: Express, 0x11: MSI-X */
    uint8_t count; /* of bytes behind id and next pointer */
    const uint8_t *bytes;
    const uint8_t *writable; /* for each byte, the bits that a write changes; NULL: none */
};

/* The function's PCI configuration space. */
struct dxgk_device_description {
    uint16_t vendor, device, subsystem_vendor, subsystem;
    uint8_t revision;
    uint32_t class_code; /* 0x030000: VGA, 0x038000: other display, 0x120000: accelerator */
    struct dxgk_device_bar bar[DXGK_DEVICE_BARS];
    uint32_t messages; /* interrupt messages (MSI), 1..32 */
    uint64_t device_memory; /* bytes of local memory behind no BAR or a smaller one; 0: the memory BARs are all there is */
    uint8_t dma_bits; /* address bits the device can put on the bus, 32..52 */
    /* PCI capabilities, in the order of the list, which must stay valid until `create` is called.
     * Every function has power management, MSI for `messages` and PCI Express (an endpoint
     * with function-level reset), which come first; one of the same id here takes the place of such
     * a one. All together have the bytes from 0x40 to 0xFF of configuration space. */
    const struct dxgk_device_capability *capability;
    uint32_t capabilities; /* elements of `capability` */
    /* I/O ports at numbers that no register assigns, below 0x1000, as the old ones of a PC. Every
     * access inside them of width 1, 2 or 4, aligned or not, reaches read or write, with
     * DXGK_DEVICE_FIXED_PORTS for the BAR. A device added before has what two ask for. */
    uint16_t fixed_port, fixed_ports; /* first number, count; 0: none */
    /* Bus-master accesses to its own memory BARs reach them, as those of a device that a hypervisor
     * makes; hardware has no such way. */
    bool own_memory;
};

/* Options of the run, as "key=value" strings ("vram=33554432"); unknown keys are ignored. */
struct dxgk_device_config {
    size_t count;
    const char *const *option;
};

enum dxgk_dma_access { DXGK_DMA_READ = 1, DXGK_DMA_WRITE = 2 };

/* The engine of a node begins the work that was submitted with this fence id, or is rid of it: it has
 * completed it, stopped in it, or dropped it in a reset. The model tells that before the driver can
 * learn of it. */
struct dxgk_device_work {
    unsigned node;
    uint32_t fence;
    bool begins;
    uint32_t bytes;   /* of its commands, as the driver has given them to the engine */
    uint64_t address; /* on the bus, or virtual, as the node has it */
};

/* Where monitors are plugged in. */
struct dxgk_device_outputs {
    uint32_t count;
    /* On this output, counted from 0, is now a monitor that says this of itself (EDID: one or more
     * blocks of 128 bytes, right or wrong), or `edid` NULL: none. The model shows it to its driver as
     * its hardware does, and interrupts if that does. False: the hardware has no room for so many
     * bytes; nothing has changed then. */
    bool (*monitor)(void *device, unsigned output, const uint8_t *edid, size_t bytes);
    /* What the output shows, *scanout zeroed before, which counts with DXGK_SCANOUT_ON. Changes nothing
     * in the device, and uses no service but `memory`. NULL: the host knows it otherwise. */
    enum dxgk_scanout_state (*scanout)(void *device, unsigned output, struct dxgk_scanout *scanout);
};

/* Services for the model. `host` is the token given to create. They are for calls that the host
 * makes into the model: on any other host thread they have no effect, and answer 0, false or NULL. */
struct dxgk_device_services {
    uint32_t size; /* of this structure, for later versions */
    /* Virtual nanoseconds since power on. */
    uint64_t (*now)(void *host);
    /* Bus-master access to system memory at a logical address, of any length and alignment; behind
     * RAM, to memory BARs of other devices. False: the IOMMU refused some page of it (the host
     * reports each page once). In refused pages no byte changes, and reads of them return ones;
     * accesses to the other pages are carried out. */
    bool (*dma_read)(void *host, uint64_t logical, void *to, size_t bytes);
    bool (*dma_write)(void *host, uint64_t logical, const void *from, size_t bytes);
    /* The bytes at a logical address, as far as they are contiguous in host memory (at most
     * `bytes`; *run gets the length), for large transfers without copying. `access` may be both of
     * enum dxgk_dma_access. Valid until the model returns. NULL: the first byte is refused. */
    void *(*dma_window)(void *host, uint64_t logical, enum dxgk_dma_access access, size_t bytes,
                        size_t *run);
    /* Raise interrupt message 0..messages-1 (edge-triggered). */
    void (*interrupt)(void *host, uint32_t message);
    /* Arm timer 0..DXGK_DEVICE_TIMERS-1 to fire `delay` ns from now (re-arms a pending one); disarm. */
    void (*timer_arm)(void *host, unsigned timer, uint64_t delay);
    void (*timer_disarm)(void *host, unsigned timer);
    /* The bytes of a memory BAR, or (bar = DXGK_DEVICE_BARS) of the whole device memory. */
    void *(*memory)(void *host, unsigned bar);
    /* A mark in the trace, on the device's own track; `name` must be a string literal. */
    void (*trace)(void *host, const char *name, uint64_t value);
    /* A span of work on an engine's track. Spans nest per engine. */
    void (*trace_begin)(void *host, unsigned engine, const char *name, uint64_t value);
    void (*trace_end)(void *host, unsigned engine, const char *name);
    /* Who makes the accesses that follow: an engine, and a number that differs from command to
     * command. Fault reports contain both; faults of one command in one page are reported once,
     * with their count. */
    void (*dma_source)(void *host, unsigned engine, uint64_t command);
    /* An access to the address space of a process, by the PASID that the driver got for it. False:
     * a part was refused; otherwise like dma_read and dma_write. */
    bool (*dma_pasid)(void *host, uint32_t pasid, uint64_t address, enum dxgk_dma_access access,
                      void *bytes, size_t count);
    /* Tell the host of the MMU, in `create`; what it points to stays valid. True: the host checks
     * page tables, so compare what the TLB keeps with the tables at each use, and tell of
     * differences by stale_translation. */
    bool (*mmu)(void *host, const struct dxgk_device_mmu *mmu);
    void (*stale_translation)(void *host, const struct dxgk_stale_translation *stale);
    /* Where the host checks page tables: the engine of a node begins the work that was submitted
     * with this fence id, by the root table at this offset of its segment. */
    void (*root_in_use)(void *host, unsigned node, uint32_t fence, uint64_t root);
    /* Tell the host, in `create`, how the driver for this device writes addresses into DMA buffers;
     * it stays valid. */
    void (*patches)(void *host, const struct dxgk_patch_format *format);
    /* What an engine does. A model that tells this lets the host find a driver that says something
     * else, or gives the engine something else than it was told. */
    void (*work)(void *host, const struct dxgk_device_work *work);
    /* Tell the host of outputs, in `create`; it stays valid. Monitors come after `create`, and at
     * any time later. */
    void (*outputs)(void *host, const struct dxgk_device_outputs *outputs);
};

struct dxgk_device_model {
    uint32_t api_version; /* DXGK_DEVICE_API_VERSION */
    const char *name;
    /* Fill *description (zeroed). False: the configuration is invalid; *error gets a string literal
     * that says why. */
    bool (*configure)(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error);
    /* Power on. NULL: out of memory. */
    void *(*create)(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host);
    void (*destroy)(void *device);
    /* Function-level reset: registers get their power-on values, work is dropped, no interrupt is
     * pending. Memory keeps its content. */
    void (*reset)(void *device);
    /* Register access of width 1, 2, 4 or 8 at an aligned offset of a register BAR (or a BAR of ports). */
    uint64_t (*read)(void *device, unsigned bar, uint64_t offset, unsigned width);
    void (*write)(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value);
    void (*timer)(void *device, unsigned timer);
};

typedef const struct dxgk_device_model *(*dxgk_device_get_model_fn)(uint32_t api_version);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
/* NULL: this version of the interface is not supported. */
const struct dxgk_device_model *
dxgk_device_get_model(uint32_t api_version);

#ifdef __cplusplus
}
#endif

#endif
