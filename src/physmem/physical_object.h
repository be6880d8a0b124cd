/* SPDX-License-Identifier: MIT */
/*
 * The physical memory object: memory of one of four types, which drivers open, map and describe by
 * ADLs. Mappings, sections, ADLs and frame buffer saves work on this record.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_OBJECT_H
#define DXGK_PHYSMEM_PHYSICAL_OBJECT_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "physmem/physical_backing.h"
#include "physmem/physical_section.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/list.h"

struct physical_adapter_object;

struct physical_object {
    struct physical_tracked tracked;
    struct list all; /* in physical_memory.objects */
    const void *driver;
    DXGK_PHYSICAL_MEMORY_TYPE type;
    enum ram_cache cache;
    uint64_t bytes; /* rounded to pages */
    uint64_t context;
    struct physical_backing backing; /* MDL, CONTIGUOUS */
    uint64_t io_base;                /* IO_SPACE: first page */
    struct physical_section section;
    struct physical_adapter_object *opened; /* NULL: not open */
    struct list mappings;                   /* list of physical_mapping.of_object */
};

/* Creates a record without memory, in no list. NULL: out of memory. */
struct physical_object *physical_object_new(const void *driver, DXGK_PHYSICAL_MEMORY_TYPE type,
                                            enum ram_cache cache, uint64_t bytes);
/* The object of a handle; NULL after a report under `rule`. */
struct physical_object *physical_object_find(struct physical_memory *memory, HANDLE handle,
                                             const char *rule);
/* Frame (or device page) of page `index`. A page of a section must be resident. */
uint64_t physical_object_page(const struct physical_object *object, uint64_t index);
/* Whether its type makes it contiguous, so that its pages need not be compared. */
bool physical_object_is_one_run(const struct physical_object *object);
/* Whether its pages can be paged out. */
bool physical_object_is_section(const struct physical_object *object);
/* Whether it is device memory, not RAM. */
bool physical_object_is_io(const struct physical_object *object);
/* Free the memory, but not the record. */
void physical_object_free_memory(struct physical_memory *memory, struct physical_object *object);
/* Free the object and all that depends on it, without checks. */
void physical_object_free(struct physical_object *object);

#endif
