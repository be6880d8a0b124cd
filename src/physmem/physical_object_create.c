/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbCreatePhysicalMemoryObject. An object and its dependents, in order of release:
 *
 *   free          close            destroy
 *   ADL  ------>  adapter object ------> object        destroy with both handles = close + destroy
 *                 (at most one)           +- mappings: a violation at destroy, removed
 *
 * An object created with an adapter is held through that adapter. One created without belongs to
 * the driver and may outlive the adapter.
 */
#include "physmem/physical_services.h"

#include "physmem/physical_adapter_object.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_object.h"
#include "physmem/physical_pages.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define SECTION_LIMIT ((uint64_t)1 << 44)

#ifndef SEC_WRITECOMBINE
#define SEC_WRITECOMBINE 0x40000000
#endif

/* ---- by type ---- */

static NTSTATUS create_mdl(struct physical_memory *memory, struct physical_object *object,
                           const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_mdl_limits limits = {
        .bytes = args->Size,
        .low = (uint64_t)args->Mdl.LowAddress.QuadPart,
        .high = (uint64_t)args->Mdl.HighAddress.QuadPart,
        .skip = (uint64_t)args->Mdl.SkipBytes.QuadPart,
        .flags = args->Mdl.Flags,
    };

    return physical_pages_take_mdl(memory, &limits, object->cache, RAM_OBJECT, &object->backing);
}

static NTSTATUS create_contiguous(struct physical_memory *memory, struct physical_object *object,
                                  const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_contiguous_limits limits = {
        .bytes = args->Size,
        .lowest = (uint64_t)args->ContiguousMemory.LowestAcceptableAddress.QuadPart,
        .highest = (uint64_t)args->ContiguousMemory.HighestAcceptableAddress.QuadPart,
        .boundary = (uint64_t)args->ContiguousMemory.BoundaryAddressMultiple.QuadPart,
    };
    NTSTATUS status = physical_pages_take_contiguous(memory, &limits, object->cache, RAM_OBJECT,
                                                     &object->backing);

    if (status == STATUS_SUCCESS)
        physical_backing_fill_undefined(memory, &object->backing);
    return status;
}

static bool one_protection(ULONG protection)
{
    return protection == PAGE_READONLY || protection == PAGE_READWRITE ||
           protection == PAGE_EXECUTE || protection == PAGE_WRITECOPY;
}

/* ObjectAttributes of a section (PHYS-125). */
static NTSTATUS check_attributes(const struct physical_memory *memory,
                                 const OBJECT_ATTRIBUTES *attributes,
                                 const struct nt_process *process)
{
    OBJECT_ATTRIBUTES copy;

    if (!attributes)
        return STATUS_SUCCESS;
    if (!physical_hooks_read_driver(&memory->hooks, &copy, attributes, sizeof(copy)))
        return physical_refuse("PHYS-125", "ObjectAttributes leads to no memory");
    if (process && !(copy.Attributes & OBJ_KERNEL_HANDLE))
        VIOLATION("PHYS-125",
                  "ObjectAttributes without OBJ_KERNEL_HANDLE in the context of a process");
    return STATUS_SUCCESS;
}

static NTSTATUS check_section(const struct physical_memory *memory,
                              const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args,
                              const struct nt_process *process)
{
    ULONG attributes = args->Section.AllocationAttributes;
    NTSTATUS status;

    if (args->CacheType == DXGK_MEMORY_CACHING_TYPE_NON_CACHED)
        return physical_refuse("PHYS-117", "a section cannot be non-cached");
    if (!one_protection(args->Section.PageProtection)) {
        physical_refuse("PHYS-123", "PageProtection 0x%x is not exactly one of the four",
                        args->Section.PageProtection);
        return STATUS_INVALID_PAGE_PROTECTION;
    }
    if (attributes & ~(ULONG)(SEC_COMMIT | SEC_NOCACHE | SEC_WRITECOMBINE))
        return physical_refuse("PHYS-124", "AllocationAttributes 0x%x: only SEC_COMMIT is possible",
                               attributes);
    if (attributes & (SEC_NOCACHE | SEC_WRITECOMBINE))
        VIOLATION("PHYS-124", "AllocationAttributes 0x%x names a cache attribute; CacheType counts",
                  attributes);
    status = check_attributes(memory, args->Section.ObjectAttributes, process);
    if (status != STATUS_SUCCESS)
        return status;
    /* Not a violation: a valid request that is too large. */
    if (args->Size > SECTION_LIMIT)
        return refuse(STATUS_SECTION_TOO_BIG, "PHYS-126",
                      "a section of 0x%llx bytes, at most 0x%llx", (unsigned long long)args->Size,
                      (unsigned long long)SECTION_LIMIT);
    return STATUS_SUCCESS;
}

static NTSTATUS create_section(struct physical_memory *memory, struct physical_object *object,
                               const struct nt_process *process,
                               const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    NTSTATUS status = check_section(memory, args, process);

    if (status != STATUS_SUCCESS)
        return status;
    object->section.protection = args->Section.PageProtection;
    return physical_section_create(memory, object);
}

static NTSTATUS create_io_space(struct physical_memory *memory, struct physical_object *object,
                                const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    uint64_t base = (uint64_t)args->IOSpace.BaseAddress.QuadPart, end;

    if (base % PAGE_BYTES != 0)
        return physical_refuse("PHYS-128", "BaseAddress 0x%llx is not a multiple of PAGE_SIZE",
                               (unsigned long long)base);
    if (args->Size % PAGE_BYTES != 0)
        return physical_refuse("PHYS-115",
                               "an IO space of 0x%llx bytes is not a multiple of PAGE_SIZE",
                               (unsigned long long)args->Size);
    if (ckd_add(&end, base, args->Size))
        return physical_refuse("PHYS-129", "the IO range from 0x%llx wraps around",
                               (unsigned long long)base);
    if (base < ram_bytes(memory->ram))
        return physical_refuse("PHYS-129", "the IO range from 0x%llx touches RAM",
                               (unsigned long long)base);
    object->io_base = base / PAGE_BYTES;
    return STATUS_SUCCESS;
}

static NTSTATUS create_by_type(struct physical_memory *memory, struct physical_object *object,
                               const struct nt_process *process,
                               const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    switch (object->type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_MDL:
        return create_mdl(memory, object, args);
    case DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY:
        return create_contiguous(memory, object, args);
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        return create_section(memory, object, process, args);
    case DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE:
        return create_io_space(memory, object, args);
    }
    /* Not reached: check_common refuses other types. */
    verify_fatal("PHYS-113", SYSMM_BUGCHECK, SYSMM_BAD_TYPE, (ULONG)object->type, 0, 0,
                 "an object of type %u was about to be made", (unsigned)object->type);
    return STATUS_INVALID_PARAMETER;
}

/* ---- all types ---- */

static void free_tracked(struct physical_tracked *tracked)
{
    physical_object_free(CONTAINER(tracked, struct physical_object, tracked));
}

static enum ram_cache cache_of(const struct physical_tracked *tracked)
{
    return CONTAINER(tracked, const struct physical_object, tracked)->cache;
}

static uint64_t context_of(const struct physical_tracked *tracked)
{
    return CONTAINER(tracked, const struct physical_object, tracked)->context;
}

static const struct physical_class object_class = {
    .kind = PHYSICAL_OBJECT, .free = free_tracked, .cache = cache_of, .context = context_of};

static NTSTATUS build(struct physical_memory *memory, struct physical_adapter *adapter,
                      const struct nt_process *process,
                      const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args,
                      struct physical_object *object)
{
    NTSTATUS status = create_by_type(memory, object, process, args);

    if (status != STATUS_SUCCESS)
        return status;
    if (!physical_tracked_enter(&object->tracked, memory, adapter, &object_class, object->bytes, 0)) {
        physical_object_free_memory(memory, object);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (adapter) {
        status = physical_adapter_object_create(object, adapter);
        if (status != STATUS_SUCCESS) {
            physical_tracked_remove(&object->tracked);
            physical_object_free_memory(memory, object);
            return status;
        }
    }
    list_push_back(&memory->objects, &object->all);
    return STATUS_SUCCESS;
}

static NTSTATUS check_common(const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    if ((ULONG)args->Type > DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE)
        return physical_refuse("PHYS-113", "Type %u is none of the four", (unsigned)args->Type);
    if (args->Size == 0)
        return physical_refuse("PHYS-115", "a physical memory object of 0 bytes was asked for");
    return physical_pages_check_cache(args->CacheType);
}

NTSTATUS physical_object_create(struct physical_memory *memory, struct physical_adapter *adapter,
                                const void *driver, const struct nt_process *process,
                                DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_object *object;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbCreatePhysicalMemoryObject");
    args->hPhysicalMemoryObject = NULL;
    args->hAdapterMemoryObject = NULL;
    if (adapter && !physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    status = check_common(args);
    if (status != STATUS_SUCCESS)
        return status;
    /* If the size wraps here, each type refuses it: no RAM, section or range is that large. */
    object = physical_object_new(driver, args->Type, (enum ram_cache)args->CacheType,
                                 align_up(args->Size, PAGE_BYTES));
    if (!object)
        return STATUS_INSUFFICIENT_RESOURCES;
    object->context = args->Context;
    status = build(memory, adapter, process, args, object);
    if (status != STATUS_SUCCESS) {
        util_free(object);
        return status;
    }
    args->hPhysicalMemoryObject = physical_tracked_handle(&object->tracked);
    args->hAdapterMemoryObject = object->opened ? physical_tracked_handle(&object->opened->tracked)
                                                : NULL;
    return STATUS_SUCCESS;
}
