/* SPDX-License-Identifier: MIT */
/* Sections: the memory of objects that can be paged out. Used where objects of that type are
 * created and freed, and where ADLs and pins lock their pages. */
#ifndef DXGK_PHYSMEM_PHYSICAL_SECTION_H
#define DXGK_PHYSMEM_PHYSICAL_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct physical_memory;
struct physical_object;

#define SECTION_GRANULARITY 0x10000u /* views of sections start on 64 KiB (PHYS-104, PHYS-147) */

struct physical_section {
    int file; /* memory file that stands for its part of the paging file */
    ULONG protection;
    uint64_t *resident; /* frame + 1 of each page; 0: paged out */
    uint32_t *locks;    /* number of ADLs and pins that lock each page */
    uint64_t resident_pages;
};

/* Create the memory of an object of that size. STATUS_COMMITMENT_LIMIT: it would exceed the commit
 * limit. */
NTSTATUS physical_section_create(struct physical_memory *memory, struct physical_object *object);
void physical_section_free(struct physical_memory *memory, struct physical_object *object);
/* Make the pages resident and lock them. False: out of memory; nothing is locked. */
bool physical_section_lock(struct physical_memory *memory, struct physical_object *object,
                           uint64_t first, uint64_t count);
/* Unlock them; pages without locks are paged out. */
void physical_section_unlock(struct physical_memory *memory, struct physical_object *object,
                             uint64_t first, uint64_t count);
bool physical_section_validate(const struct physical_object *object);

#endif
