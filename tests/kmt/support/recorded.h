/* SPDX-License-Identifier: MIT */
/* What the tests of recorded answers (docs/client-answers.md) have in common: handles, and heaps that
 * wrap memory of the client. */
#ifndef DXGK_TESTS_KMT_RECORDED_H
#define DXGK_TESTS_KMT_RECORDED_H

#include "host/support/refgpu_client.h"

#define NONSENSE   0x5EED5EEDu /* no handle, and what an output must not keep */
#define HEAP_BYTES 65536u

/* KMT-028: a handle of the process, and the next one after `*last`, which it replaces. */
static inline bool is_next_local(D3DKMT_HANDLE handle, D3DKMT_HANDLE *last)
{
    bool next = *last == 0 || handle == *last + 0x40;

    *last = handle;
    return next && (handle & 0xC0000000u) != 0 && (handle & 0x3Fu) == 0;
}

static inline bool is_local(D3DKMT_HANDLE handle)
{
    return (handle & 0xC0000000u) != 0 && (handle & 0x3Fu) == 0;
}

/* KMT-029. */
static inline bool is_global(D3DKMT_HANDLE handle)
{
    return (handle & 0xC0000000u) != 0 && (handle & 0x3Fu) == 2;
}

/* KMT-030. */
static inline bool is_nt(HANDLE handle)
{
    return handle && ((uintptr_t)handle & 0xC0000000u) == 0;
}

/* ---- heaps ---- */

/* A request for an allocation that wraps memory of the client. */
struct heap {
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_CREATESTANDARDALLOCATION standard[2];
    D3DDDI_ALLOCATIONINFO info[2];
    D3DDDI_ALLOCATIONINFO2 info2[2];
};

static inline bool heap_init(struct heap *h, const struct gpu *g)
{
    memset(h, 0, sizeof(*h));
    h->args.hDevice = g->device;
    h->args.Flags.ExistingSysMem = h->args.Flags.StandardAllocation = 1;
    h->args.pStandardAllocation = h->standard;
    h->args.NumAllocations = 1;
    h->args.pAllocationInfo = h->info;
    for (unsigned i = 0; i < 2; i++) {
        h->standard[i].Type = D3DKMT_STANDARDALLOCATIONTYPE_EXISTINGHEAP;
        h->standard[i].ExistingHeapData.Size = HEAP_BYTES;
        h->info[i].pSystemMem = h->info2[i].pSystemMem = dxgk_client_allocate(HEAP_BYTES);
        if (!h->info[i].pSystemMem)
            return false;
    }
    return true;
}

static inline NTSTATUS heap_create(struct heap *h)
{
    h->info[0].hAllocation = h->args.hGlobalShare = NONSENSE;
    return D3DKMTCreateAllocation(&h->args);
}

/* The list of one allocation. */
static inline NTSTATUS heap_destroy_list(const struct heap *h, const D3DKMT_HANDLE *list)
{
    D3DKMT_DESTROYALLOCATION destroy = {
        .hDevice = h->args.hDevice, .phAllocationList = list, .AllocationCount = 1};

    return D3DKMTDestroyAllocation(&destroy);
}

static inline NTSTATUS resource_destroy(const struct gpu *g, D3DKMT_HANDLE resource)
{
    D3DKMT_DESTROYALLOCATION destroy = {.hDevice = g->device, .hResource = resource};

    return D3DKMTDestroyAllocation(&destroy);
}

/* Adapter and device, and the last handle that was given out. */
static inline bool device_begin(struct gpu *g, D3DKMT_HANDLE *last)
{
    *last = 0;
    memset(g, 0, sizeof(*g));
    return gpu_open_adapter(g) == STATUS_SUCCESS && is_next_local(g->adapter, last) &&
           gpu_create_device(g) == STATUS_SUCCESS && is_next_local(g->device, last);
}

static inline bool device_end(struct gpu *g)
{
    return gpu_destroy_device(g) == STATUS_SUCCESS && gpu_close_adapter(g) == STATUS_SUCCESS;
}

#endif
