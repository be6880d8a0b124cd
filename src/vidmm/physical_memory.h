/* SPDX-License-Identifier: MIT */
/*
 * Physical memory services: what stands behind the memory callbacks of DXGKRNL_INTERFACE (PHYS and
 * IOMMU rules).
 *
 *   physical_memory     one a machine: handles, commit charge, and what belongs to no adapter
 *    +- adapter         one a logical adapter: its IOMMU domain, and all its driver holds
 *
 * The functions take and return the structures of d3dkmddi.h. Each checks its argument completely
 * and reports a breach under the rule it broke; levels (THREAD-049), the handle of the adapter and
 * its state are the caller's to check. On failure out fields are NULL, in fields as they were, and
 * nothing is held (PHYS-018). A NULL argument is reported and refused.
 *
 * Handles are never pointers and never issued twice in the life of a machine (PHYS-016).
 */
#ifndef DXGK_VIDMM_PHYSICAL_MEMORY_H
#define DXGK_VIDMM_PHYSICAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "iommu/iommu.h"
#include "ram/ram.h"

struct nt_process; /* only compared here */
struct physical_memory;
struct physical_adapter;

/* What the services need from rooms above or beside; any member may be NULL. */
struct physical_hooks {
    /* Map a device range for the kernel, and undo it (bus_map, bus_unmap). NULL: no such range or
     * out of memory. */
    void *(*io_map)(void *context, struct phys_addr address, uint64_t bytes, enum ram_cache cache);
    void (*io_unmap)(void *context, void *mapping);
    /* The view of `what` for the CPU is about to end, for the report of a late use (PHYS-194). */
    void (*view_ends)(void *context, const void *base, uint64_t bytes, const char *what);
    /* The view belongs to a process from now on (PHYS-195), until user_view_ends. False: out of
     * memory. NULL: views of all processes can be touched by all. */
    bool (*user_view)(void *context, struct nt_process *process, void *base, uint64_t bytes,
                      bool writable, const char *what);
    void (*user_view_ends)(void *context, const void *base);
    /* Around the host's own work on such a view: it can be touched (false: it cannot), and again only
     * by its process. */
    bool (*user_view_admit)(void *context, const void *base);
    void (*user_view_shut)(void *context, const void *base);
    /* Let the kernel services map an MDL of the host's over these pages. False: out of memory. */
    bool (*mdl_lend)(void *context, PMDL mdl, const struct page_number *pages, uint64_t count);
    /* Drop what mappings the kernel services made of this MDL; true if one of them was into a
     * process. */
    bool (*mdl_unmap)(void *context, PMDL mdl);
    /* Copy driver memory that may have gone meanwhile; false if it has. */
    bool (*read_driver)(void *context, void *to, const void *from, size_t bytes);
    /* Address in the driver that the callback in progress returns to, and its name for reports. */
    uintptr_t (*caller)(void *context);
    bool (*symbolize)(void *context, uintptr_t address, char *text, size_t bytes);
    void *context;
};

/* NULL: out of memory. */
struct physical_memory *physical_memory_create(struct ram *ram, const struct physical_hooks *hooks);
/* Frees whatever is left, without a word. Adapters first. */
void physical_memory_destroy(struct physical_memory *memory);
/* Bytes of paging-file backed memory: promised, and the most that may be (default: twice the
 * RAM). */
uint64_t physical_memory_commit(const struct physical_memory *memory);
void physical_memory_set_commit_limit(struct physical_memory *memory, uint64_t bytes);
/* Hand pages of MDLs out in an order that is never ascending (PHYS-059). Default: true. */
void physical_memory_set_scatter(struct physical_memory *memory, bool scatter);
/* Give each contiguous block a kernel view of its own, which faults when touched after the free.
 * Costs two system calls and a mapping of the process a block. Default: false, the direct view of
 * RAM. */
void physical_memory_set_guard(struct physical_memory *memory, bool guard);
/* Objects of a driver that belong to no adapter (PHYS-144), after DxgkDdiUnload: each is reported
 * and reclaimed. Returns how many. */
unsigned physical_memory_driver_unloaded(struct physical_memory *memory, const void *driver);
/* Client mappings left by a process that ends: each is removed and reported (PHYS-159). Returns how
 * many. */
unsigned physical_memory_process_ended(struct physical_memory *memory,
                                       const struct nt_process *process);
bool physical_memory_validate(const struct physical_memory *memory);

struct physical_adapter_config {
    struct physical_memory *memory;
    struct iommu_domain *domain; /* outlives the adapter */
    const char *name;            /* for reports; copied */
    const void *driver;          /* identity of the driver image */
    bool legacy_refused;         /* WDDM 3.0 driver with DmaRemappingSupported (IOMMU-093) */
};

struct physical_adapter *physical_adapter_create(const struct physical_adapter_config *config);
/* Reclaims whatever is left (after DxgkDdiRemoveDevice, PHYS-022). */
void physical_adapter_destroy(struct physical_adapter *adapter);
/* While not started, everything that acquires something is refused (LIFE-064). Initially true. */
void physical_adapter_set_started(struct physical_adapter *adapter, bool started);
/* Once the driver's caps are known (IOMMU-093). */
void physical_adapter_set_legacy_refused(struct physical_adapter *adapter, bool refused);
/* After DxgkDdiStopDevice: report what is left (PHYS-022), adapter objects and ADLs last and
 * fatally (PHYS-143). Returns how many. */
unsigned physical_adapter_report_leaks(struct physical_adapter *adapter);

enum physical_kind {
    PHYSICAL_CONTIGUOUS = 1,
    PHYSICAL_MDL_PAGES,
    PHYSICAL_IOMMU_MDL,
    PHYSICAL_OBJECT,
    PHYSICAL_ADAPTER_OBJECT,
    PHYSICAL_ADL,
    PHYSICAL_MAPPING,
    PHYSICAL_PIN,
    PHYSICAL_SAVE_MAPPING,
};

/* Everything the driver holds through an adapter (NULL: through none), in order of acquisition
 * (PHYS-021). */
struct physical_holding {
    enum physical_kind kind;
    uint64_t bytes;
    uint64_t order;   /* grows with each acquisition of the machine */
    uint64_t context; /* objects: the driver's Context */
    uintptr_t caller;
    bool has_cache; /* not of the driver's own pages, and not of adapter objects, which are no memory */
    enum ram_cache cache;
};
/* Write at most `capacity` of them; returns how many there are. */
size_t physical_holdings(const struct physical_memory *memory,
                         const struct physical_adapter *adapter, struct physical_holding *list,
                         size_t capacity);
const char *physical_kind_name(enum physical_kind kind);

/* ---- contiguous memory and MDLs (WDDM 2.4) ---- */

NTSTATUS physical_allocate_contiguous(struct physical_adapter *adapter,
                                      DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args);
NTSTATUS physical_free_contiguous(struct physical_adapter *adapter,
                                  const DXGKARGCB_FREECONTIGUOUSMEMORY *args);
NTSTATUS physical_allocate_pages_for_mdl(struct physical_adapter *adapter,
                                         DXGKARGCB_ALLOCATEPAGESFORMDL *args);
NTSTATUS physical_free_pages_from_mdl(struct physical_adapter *adapter,
                                      const DXGKARGCB_FREEPAGESFROMMDL *args);
NTSTATUS physical_map_mdl_to_iommu(struct physical_adapter *adapter, DXGKARGCB_MAPMDLTOIOMMU *args);
void physical_unmap_mdl_from_iommu(struct physical_adapter *adapter,
                                   const DXGKARGCB_UNMAPMDLFROMIOMMU *args);

/* ---- physical memory objects (WDDM 2.9) ---- */

/* `adapter` is what args->hAdapter names: NULL only if that is NULL. `driver` and `process` (NULL:
 * the system's) are the caller's. */
NTSTATUS physical_object_create(struct physical_memory *memory, struct physical_adapter *adapter,
                                const void *driver, const struct nt_process *process,
                                DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args);
void physical_object_destroy(struct physical_memory *memory,
                             const DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT *args);
NTSTATUS physical_object_open(struct physical_memory *memory, struct physical_adapter *adapter,
                              DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT *args);
void physical_object_close(struct physical_memory *memory,
                           const DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT *args);
/* `process`: the current one, for user mode mappings. */
NTSTATUS physical_object_map(struct physical_memory *memory, struct nt_process *process,
                             DXGKARGCB_MAP_PHYSICAL_MEMORY *args);
void physical_object_unmap(struct physical_memory *memory, const struct nt_process *process,
                           const DXGKARGCB_UNMAP_PHYSICAL_MEMORY *args);
NTSTATUS physical_adl_allocate(struct physical_memory *memory, DXGKARGCB_ALLOCATE_ADL *args);
void physical_adl_free(struct physical_memory *memory, const DXGKARGCB_FREE_ADL *args);

/* ---- frame buffer save (WDDM 2.4; pin2: 2.9) ---- */

/* At adapter initialization: one section for each physical adapter with a nonzero MaximumSize
 * (PHYS-090); an index once. */
NTSTATUS physical_save_create(struct physical_adapter *adapter, UINT physical_index,
                              uint64_t maximum_bytes);
NTSTATUS physical_save_pin(struct physical_adapter *adapter, DXGKARGCB_PINFRAMEBUFFERFORSAVE *args);
NTSTATUS physical_save_pin2(struct physical_adapter *adapter,
                            DXGKARGCB_PINFRAMEBUFFERFORSAVE2 *args);
NTSTATUS physical_save_unpin(struct physical_adapter *adapter,
                             const DXGKARGCB_UNPINFRAMEBUFFERFORSAVE *args);
NTSTATUS physical_save_map(struct physical_adapter *adapter, DXGKARGCB_MAPFRAMEBUFFERPOINTER *args);
NTSTATUS physical_save_unmap(struct physical_adapter *adapter,
                             const DXGKARGCB_UNMAPFRAMEBUFFERPOINTER *args);

#endif
