/* SPDX-License-Identifier: MIT */
/* An adapter object: a physical memory object opened for an adapter, which allows ADLs of it.
 * Creating an object with an adapter makes one, too. */
#ifndef DXGK_PHYSMEM_PHYSICAL_ADAPTER_OBJECT_H
#define DXGK_PHYSMEM_PHYSICAL_ADAPTER_OBJECT_H

#include <ntddk.h>

#include "physmem/physical_tracked.h"
#include "util/list.h"

struct physical_adapter;
struct physical_object;

struct physical_adapter_object {
    struct physical_tracked tracked;
    struct physical_object *object;
    struct list adls; /* list of physical_adl.of_opened */
};

/* Open an object that is not open yet. STATUS_INSUFFICIENT_RESOURCES: out of memory. */
NTSTATUS physical_adapter_object_create(struct physical_object *object,
                                        struct physical_adapter *adapter);
/* Free it and its ADLs, without checks. */
void physical_adapter_object_free(struct physical_adapter_object *opened);
/* The adapter object of a handle; NULL after a report under `rule`. */
struct physical_adapter_object *physical_adapter_object_find(struct physical_memory *memory,
                                                             HANDLE handle, const char *rule);

#endif
