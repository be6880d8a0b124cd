/* SPDX-License-Identifier: MIT */
/*
 * What the physical memory services need from rooms above or beside them: mappings of device
 * ranges, the watch over views of processes, MDLs, and the driver's memory and code. The port fills
 * the table once a machine; tests and benchmarks leave out what they do not look at.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_HOOKS_H
#define DXGK_PHYSMEM_PHYSICAL_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>

#include "ram/ram.h"

struct nt_process; /* only compared here */

/* Any member may be NULL. */
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
    /* Around the host's own work on such a view. After `admit` all may touch it (false: that
     * failed); after `shut` only its process may. */
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
/* Copy from where a pointer of the driver leads. False: nothing is there. Without the hook, a plain
 * copy. */
bool physical_hooks_read_driver(const struct physical_hooks *hooks, void *to, const void *from,
                                size_t bytes);

#endif
