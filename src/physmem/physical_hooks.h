/* SPDX-License-Identifier: MIT */
/*
 * What the physical memory services need from other rooms: mappings of device ranges, tracking of
 * views of processes, MDLs, and access to the driver's memory and code. The port fills the table
 * once per machine; tests and benchmarks set only the members that they use.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_HOOKS_H
#define DXGK_PHYSMEM_PHYSICAL_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

#include "ram/ram.h"

struct nt_process; /* only compared in this room */

/* Any member may be NULL. */
struct physical_hooks {
    /* Map a device range for the kernel, and undo that (bus_map, bus_unmap). NULL: no such range,
     * or out of memory. */
    void *(*io_map)(void *context, struct phys_addr address, uint64_t bytes, enum ram_cache cache);
    void (*io_unmap)(void *context, void *mapping);
    /* A CPU view of `what` is about to be unmapped; remembered for the report of a late use
     * (PHYS-194). */
    void (*view_ends)(void *context, const void *base, uint64_t bytes, const char *what);
    /* The view belongs to a process from now on (PHYS-195), until user_view_ends. False: out of
     * memory. If the member is NULL, any process can access any view. */
    bool (*user_view)(void *context, struct nt_process *process, void *base, uint64_t bytes,
                      bool writable, const char *what);
    void (*user_view_ends)(void *context, const void *base);
    /* Called around the host's own access to such a view. After `admit` any process can access it
     * (false: failed); after `shut` only its own. */
    bool (*user_view_admit)(void *context, const void *base);
    void (*user_view_shut)(void *context, const void *base);
    /* Let the kernel services map a host MDL over these pages. False: out of memory. */
    bool (*mdl_lend)(void *context, PMDL mdl, const struct page_number *pages, uint64_t count);
    /* Remove the mappings that the kernel services made of this MDL; true if one of them was into a
     * process. */
    bool (*mdl_unmap)(void *context, PMDL mdl);
    /* Copy driver memory that may be inaccessible by now; false if it is. */
    bool (*read_driver)(void *context, void *to, const void *from, size_t bytes);
    /* Return address in the driver of the callback in progress, and its name for reports. */
    uintptr_t (*caller)(void *context);
    bool (*symbolize)(void *context, uintptr_t address, char *text, size_t bytes);
    void *context;
};
/* Copy from a driver's pointer. False: it is inaccessible. Without the hook, this is a plain
 * copy. */
bool physical_hooks_read_driver(const struct physical_hooks *hooks, void *to, const void *from,
                                size_t bytes);

#endif
