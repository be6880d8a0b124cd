/* SPDX-License-Identifier: MIT */
/* Physical memory objects of the first adapter's driver, their lists for the device, and their views for the processor. */
#ifndef DXGK_TESTS_PORT_OBJECT_CALLS_H
#define DXGK_TESTS_PORT_OBJECT_CALLS_H

#include "port/support/memory_scene.h"

/* ---- objects and lists ---- */

/* Good arguments of an object of one type, opened for the first adapter. */
static inline DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT ask_object(struct probe *p,
                                                                 DXGK_PHYSICAL_MEMORY_TYPE type,
                                                                 SIZE_T bytes)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = DXGK.DeviceHandle;
    args.Type = type;
    args.Size = bytes;
    args.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    args.hPhysicalMemoryObject = args.hAdapterMemoryObject = NONE;
    if (type == DXGK_PHYSICAL_MEMORY_TYPE_MDL)
        args.Mdl.HighAddress.QuadPart = -1;
    else if (type == DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY)
        args.ContiguousMemory.HighestAcceptableAddress.QuadPart = -1;
    else if (type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION)
        args.Section.PageProtection = PAGE_READWRITE;
    else
        args.IOSpace.BaseAddress = probe_bar(p, 1);
    return args;
}

static inline NTSTATUS take_object(struct probe *p, DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    return DXGK.DxgkCbCreatePhysicalMemoryObject(args);
}

static inline DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT make_object_of(struct probe *p,
                                                                     DXGK_PHYSICAL_MEMORY_TYPE type,
                                                                     SIZE_T bytes)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = ask_object(p, type, bytes);

    CHECK(IS(take_object(p, &args), STATUS_SUCCESS));
    return args;
}

static inline NTSTATUS try_object(struct probe *p,
                                  const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT copy = *args;
    NTSTATUS status = take_object(p, &copy);

    if (NT_SUCCESS(status))
        destroy_object(p, &copy);
    return status;
}

static inline void close_object(struct probe *p, HANDLE opened)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args = {.hAdapterMemoryObject = opened};

    DXGK.DxgkCbClosePhysicalMemoryObject(&args);
}

static inline NTSTATUS open_object(struct probe *p, HANDLE adapter, HANDLE object, HANDLE *opened)
{
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args = {
        .hAdapter = adapter, .hPhysicalMemoryObject = object, .hAdapterMemoryObject = NONE};
    NTSTATUS status = DXGK.DxgkCbOpenPhysicalMemoryObject(&args);

    *opened = args.hAdapterMemoryObject;
    return status;
}

enum { ADL_ANY = 0, ADL_REQUIRE = 1, ADL_PREFER = 2 };

static inline NTSTATUS take_adl(struct probe *p, HANDLE opened, uint64_t offset, uint64_t bytes,
                                UINT flags, DXGK_ADL **adl)
{
    DXGKARGCB_ALLOCATE_ADL args = {
        .hAdapterMemoryObject = opened, .Offset = offset, .Size = bytes, .pAdl = NONE};
    NTSTATUS status;

    args.Flags.Value = flags;
    status = DXGK.DxgkCbAllocateAdl(&args);
    *adl = args.pAdl;
    return status;
}

static inline NTSTATUS try_adl(struct probe *p, HANDLE opened, uint64_t offset, uint64_t bytes,
                               UINT flags)
{
    DXGK_ADL *adl;
    NTSTATUS status = take_adl(p, opened, offset, bytes, flags, &adl);

    if (NT_SUCCESS(status))
        free_adl(p, opened, adl);
    return status;
}

static inline DXGK_ADL *make_adl_at(struct probe *p, HANDLE opened, uint64_t offset, uint64_t bytes,
                                    UINT flags)
{
    DXGK_ADL *adl;

    CHECK(IS(take_adl(p, opened, offset, bytes, flags, &adl), STATUS_SUCCESS));
    return adl;
}

static inline uint64_t adl_page(const DXGK_ADL *adl, uint64_t i)
{
    return adl->Flags.Contiguous ? adl->BasePageNumber + i : adl->Pages[i];
}

/* ---- views ---- */

static inline DXGKARGCB_MAP_PHYSICAL_MEMORY ask_view(HANDLE object, uint64_t offset, uint64_t bytes)
{
    return (DXGKARGCB_MAP_PHYSICAL_MEMORY){.hPhysicalMemoryObject = object,
                                           .AccessMode = DXGK_ACCESS_MODE_KERNEL_MODE,
                                           .Offset = offset,
                                           .Size = bytes,
                                           .pMappedAddress = NONE};
}

static inline DXGKARGCB_MAP_PHYSICAL_MEMORY make_view(struct probe *p, HANDLE object,
                                                      uint64_t offset, uint64_t bytes)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY args = ask_view(object, offset, bytes);

    CHECK(IS(DXGK.DxgkCbMapPhysicalMemory(&args), STATUS_SUCCESS));
    return args;
}

/* The byte that was asked for. */
static inline char *view_bytes(const DXGKARGCB_MAP_PHYSICAL_MEMORY *view)
{
    return (char *)view->pMappedAddress + view->Offset;
}

static inline void set_byte(const DXGKARGCB_MAP_PHYSICAL_MEMORY *view, uint64_t at, char byte)
{
    char *bytes = view_bytes(view);

    bytes[at] = byte;
}

static inline void end_view_as(struct probe *p, HANDLE object, PVOID base, uint64_t bytes)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY args = {
        .hPhysicalMemoryObject = object, .pBaseAddress = base, .Size = bytes};

    DXGK.DxgkCbUnmapPhysicalMemory(&args);
}

static inline void end_view(struct probe *p, const DXGKARGCB_MAP_PHYSICAL_MEMORY *view)
{
    end_view_as(p, view->hPhysicalMemoryObject, view->pMappedAddress, view->Size);
}

#endif
