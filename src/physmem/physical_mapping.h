/* SPDX-License-Identifier: MIT */
/* CPU views of an object: requested by drivers, and for saving frame buffers. */
#ifndef DXGK_PHYSMEM_PHYSICAL_MAPPING_H
#define DXGK_PHYSMEM_PHYSICAL_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "physmem/physical_tracked.h"
#include "util/list.h"

struct nt_process;
struct physical_object;

struct physical_mapping {
    struct physical_tracked tracked; /* key: base address */
    struct physical_object *object;
    struct list of_object; /* in physical_object.mappings */
    char *base;
    uint64_t first_page; /* page of the object */
    uint64_t pages;
    uint64_t size; /* as returned */
    bool user, writable, copy_on_write;
    const struct nt_process *process;
};

struct physical_mapping_request {
    struct physical_object *object;
    struct physical_adapter *adapter; /* the adapter through which it is held; NULL: none */
    enum physical_kind kind;          /* PHYSICAL_MAPPING or PHYSICAL_SAVE_MAPPING */
    uint64_t offset, size;            /* bytes of the object */
    struct nt_process *process;
    bool user; /* accessible only to that process */
};

/* The view may begin below the requested byte, which is at *offset_out in it. */
NTSTATUS physical_mapping_create(const struct physical_mapping_request *request,
                                 struct physical_mapping **out, uint64_t *offset_out);
void physical_mapping_free(struct physical_mapping *mapping);
/* Point the view at the current location of the object's pages. False: unchanged. */
bool physical_mapping_point(struct physical_mapping *mapping, uint64_t first, uint64_t count);

#endif
