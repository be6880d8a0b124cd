/* SPDX-License-Identifier: MIT */
/* Calls of the memory callbacks by the driver of the first adapter, which succeed. */
#ifndef DXGK_TESTS_PORT_MEMORY_CALLS_H
#define DXGK_TESTS_PORT_MEMORY_CALLS_H

#include "physmem/physical_holding.h"
#include "physmem/physical_memory.h"
#include "port/support/probe.h"
#include "ram/ram.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define ALL_RAM            ((1ll << 40) - 1)

static inline DXGKARGCB_ALLOCATECONTIGUOUSMEMORY make_block(struct probe *p, SIZE_T bytes)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = bytes,
                                               .HighestAcceptableAddress.QuadPart = ALL_RAM,
                                               .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};

    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocateContiguousMemory(DXGK.DeviceHandle, &args)));
    return args;
}

static inline NTSTATUS free_block(struct probe *p, HANDLE handle)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = handle};

    return DXGK.DxgkCbFreeContiguousMemory(DXGK.DeviceHandle, &args);
}

static inline DXGKARGCB_ALLOCATEPAGESFORMDL make_pages(struct probe *p, SIZE_T bytes,
                                                       DXGK_MEMORY_CACHING_TYPE cache)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {
        .TotalBytes = bytes, .HighAddress.QuadPart = ALL_RAM, .CacheType = cache};

    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocatePagesForMdl(DXGK.DeviceHandle, &args)));
    return args;
}

static inline NTSTATUS free_pages(struct probe *p, HANDLE handle)
{
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = handle};

    return DXGK.DxgkCbFreePagesFromMdl(DXGK.DeviceHandle, &args);
}

static inline DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT make_object(struct probe *p, SIZE_T bytes)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = {
        .hAdapter = DXGK.DeviceHandle,
        .Size = bytes,
        .Type = DXGK_PHYSICAL_MEMORY_TYPE_MDL,
        .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
    };

    args.Mdl.HighAddress.QuadPart = ALL_RAM;
    CHECK(NT_SUCCESS(DXGK.DxgkCbCreatePhysicalMemoryObject(&args)));
    return args;
}

static inline void destroy_object(struct probe *p,
                                  const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *object)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = object->hPhysicalMemoryObject,
        .hAdapterMemoryObject = object->hAdapterMemoryObject};

    DXGK.DxgkCbDestroyPhysicalMemoryObject(&args);
}

static inline DXGK_ADL *make_adl(struct probe *p, HANDLE opened, SIZE_T bytes)
{
    DXGKARGCB_ALLOCATE_ADL args = {.hAdapterMemoryObject = opened, .Size = bytes};

    CHECK(NT_SUCCESS(DXGK.DxgkCbAllocateAdl(&args)));
    return args.pAdl;
}

static inline void free_adl(struct probe *p, HANDLE opened, DXGK_ADL *adl)
{
    DXGKARGCB_FREE_ADL args = {.hAdapterMemoryObject = opened, .pAdl = adl};

    DXGK.DxgkCbFreeAdl(&args);
}

static inline size_t held(struct probe *p)
{
    return physical_holdings(port_physical_memory(p->port), port_adapter_physical(p->adapter[0]),
                             NULL, 0);
}

/* body(p) on a thread of that process; returns when it has. */
#endif
