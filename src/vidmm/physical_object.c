/* SPDX-License-Identifier: MIT */
/*
 * Physical memory objects: create, open for an adapter, close, destroy.
 *
 *   free          close            destroy
 *   ADL  ------>  adapter object ------> object        destroy with both handles = close + destroy
 *                 (at most one)           +- mappings: a violation at destroy, removed
 *
 * An object made with an adapter is that adapter's holding; made without, it belongs to the driver
 * and outlives adapters.
 */
#include "vidmm/physical_private.h"

#include "util/alloc.h"
#include "util/checked.h"
#include "verify/verify.h"

#define SECTION_LIMIT ((uint64_t)1 << 44)

#ifndef SEC_WRITECOMBINE
#define SEC_WRITECOMBINE 0x40000000
#endif

struct physical_object *physical_object_find(struct physical_memory *memory, HANDLE handle,
                                             const char *rule)
{
    struct physical_tracked *tracked = physical_find(memory, NULL, PHYSICAL_OBJECT,
                                                     (uintptr_t)handle, rule);

    return tracked ? CONTAINER(tracked, struct physical_object, tracked) : NULL;
}

uint64_t physical_object_page(const struct physical_object *object, uint64_t index)
{
    switch (object->type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        return object->section.resident[index] - 1;
    case DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE:
        return object->io_base + index;
    default:
        return physical_backing_page(&object->backing, index).value;
    }
}

/* ---- create: by type ---- */

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

    return physical_take_mdl(memory, &limits, object->cache, RAM_OBJECT, &object->backing);
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
    NTSTATUS status = physical_take_contiguous(memory, &limits, object->cache, RAM_OBJECT,
                                               &object->backing);

    if (status == STATUS_SUCCESS)
        physical_fill_undefined(memory, &object->backing);
    return status;
}

static bool one_protection(ULONG protection)
{
    return protection == PAGE_READONLY || protection == PAGE_READWRITE ||
           protection == PAGE_EXECUTE || protection == PAGE_WRITECOPY;
}

/* PHYS-125. */
static NTSTATUS check_attributes(const struct physical_memory *memory,
                                 const OBJECT_ATTRIBUTES *attributes,
                                 const struct nt_process *process)
{
    OBJECT_ATTRIBUTES copy;

    if (!attributes)
        return STATUS_SUCCESS;
    if (!physical_read_driver(memory, &copy, attributes, sizeof(copy)))
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
    /* A well-formed wish that is too large is no breach of contract. */
    return args->Size > SECTION_LIMIT ? STATUS_SECTION_TOO_BIG : STATUS_SUCCESS;
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
    /* check_common has looked at it. */
    verify_fatal("PHYS-113", SYSMM_BUGCHECK, SYSMM_BAD_TYPE, (ULONG)object->type, 0, 0,
                 "an object of type %u was about to be made", (unsigned)object->type);
    return STATUS_INVALID_PARAMETER;
}

static void memory_free(struct physical_memory *memory, struct physical_object *object)
{
    if (object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION)
        physical_section_free(memory, object);
    else
        physical_backing_give(memory, &object->backing);
}

/* ---- create and free ---- */

static void free_tracked_opened(struct physical_tracked *tracked)
{
    physical_opened_free(CONTAINER(tracked, struct physical_adapter_object, tracked));
}

static const struct physical_class opened_class = {.kind = PHYSICAL_ADAPTER_OBJECT,
                                                   .free = free_tracked_opened};

static void free_tracked_object(struct physical_tracked *tracked)
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
    .kind = PHYSICAL_OBJECT, .free = free_tracked_object, .cache = cache_of, .context = context_of};

static NTSTATUS open_for(struct physical_object *object, struct physical_adapter *adapter)
{
    struct physical_adapter_object *opened = util_zalloc(1, sizeof(*opened));

    if (!opened)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!physical_track(&opened->tracked, object->tracked.memory, adapter, &opened_class,
                        object->bytes, 0)) {
        util_free(opened);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    opened->object = object;
    list_init(&opened->adls);
    object->opened = opened;
    return STATUS_SUCCESS;
}

static NTSTATUS build(struct physical_memory *memory, struct physical_adapter *adapter,
                      const struct nt_process *process,
                      const DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args,
                      struct physical_object *object)
{
    NTSTATUS status = create_by_type(memory, object, process, args);

    if (status != STATUS_SUCCESS)
        return status;
    if (!physical_track(&object->tracked, memory, adapter, &object_class, object->bytes, 0)) {
        memory_free(memory, object);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (adapter) {
        status = open_for(object, adapter);
        if (status != STATUS_SUCCESS) {
            physical_untrack(&object->tracked);
            memory_free(memory, object);
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
    return physical_check_cache_type(args->CacheType);
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
    if (adapter && !physical_may_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    status = check_common(args);
    if (status != STATUS_SUCCESS)
        return status;
    object = util_zalloc(1, sizeof(*object));
    if (!object)
        return STATUS_INSUFFICIENT_RESOURCES;
    object->driver = driver;
    object->type = args->Type;
    object->cache = (enum ram_cache)args->CacheType;
    object->context = args->Context;
    object->section.file = -1;
    list_init(&object->mappings);
    /* Sizes that wrap here are refused by each type: no RAM, no section and no range is that large.
     * */
    object->bytes = align_up(args->Size, PAGE_BYTES);
    status = build(memory, adapter, process, args, object);
    if (status != STATUS_SUCCESS) {
        util_free(object);
        return status;
    }
    args->hPhysicalMemoryObject = physical_handle(&object->tracked);
    args->hAdapterMemoryObject = object->opened ? physical_handle(&object->opened->tracked) : NULL;
    return STATUS_SUCCESS;
}

void physical_opened_free(struct physical_adapter_object *opened)
{
    while (!list_empty(&opened->adls))
        physical_adl_destroy(CONTAINER(opened->adls.next, struct physical_adl, of_opened));
    opened->object->opened = NULL;
    physical_untrack(&opened->tracked);
    util_free(opened);
}

void physical_object_free(struct physical_object *object)
{
    struct physical_memory *memory = object->tracked.memory;

    if (object->opened)
        physical_opened_free(object->opened);
    while (!list_empty(&object->mappings))
        physical_mapping_free(CONTAINER(object->mappings.next, struct physical_mapping, of_object));
    memory_free(memory, object);
    list_remove(&object->all);
    physical_untrack(&object->tracked);
    util_free(object);
}

/* ---- destroy, open, close ---- */

/* The adapter object named beside the object; NULL after a report if the two do not belong
 * together. */
static struct physical_adapter_object *find_pair(struct physical_memory *memory,
                                                 const struct physical_object *object, HANDLE handle)
{
    struct physical_tracked *tracked = physical_find(memory, NULL, PHYSICAL_ADAPTER_OBJECT,
                                                     (uintptr_t)handle, "PHYS-138");
    struct physical_adapter_object *opened = tracked ? CONTAINER(tracked,
                                                                 struct physical_adapter_object,
                                                                 tracked)
                                                     : NULL;

    if (opened && opened->object != object) {
        VIOLATION("PHYS-141",
                  "hAdapterMemoryObject was opened from another object than hPhysicalMemoryObject");
        return NULL;
    }
    return opened;
}

void physical_object_destroy(struct physical_memory *memory,
                             const DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_object *object;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbDestroyPhysicalMemoryObject");
        return;
    }
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object ||
        (args->hAdapterMemoryObject && !find_pair(memory, object, args->hAdapterMemoryObject)))
        return;
    if (object->opened && !list_empty(&object->opened->adls)) {
        verify_fatal(
            "PHYS-139", SYSMM_BUGCHECK, SYSMM_MEMORY_UNLOCKED_UNDER_ADL, object->tracked.key, 0, 0,
            "a physical memory object of %llu bytes was destroyed while an ADL of it exists",
            (unsigned long long)object->bytes);
        return;
    }
    if (object->opened && !args->hAdapterMemoryObject) {
        verify_fatal("PHYS-140", SYSMM_BUGCHECK, SYSMM_ADAPTER_OBJECT_LEAKED, object->tracked.key,
                     0, 0, "a physical memory object of %llu bytes was destroyed while open for %s",
                     (unsigned long long)object->bytes, object->opened->tracked.adapter->name);
        return;
    }
    LIST_FOR(link, &object->mappings)
        VIOLATION("PHYS-142", "a CPU mapping of %llu bytes was left when its object was destroyed",
                  (unsigned long long)CONTAINER(link, struct physical_mapping, of_object)->size);
    physical_object_free(object);
}

NTSTATUS physical_object_open(struct physical_memory *memory, struct physical_adapter *adapter,
                              DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_object *object;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbOpenPhysicalMemoryObject");
    args->hAdapterMemoryObject = NULL;
    if (!adapter)
        return physical_refuse("PHYS-134", "an object was opened for no adapter");
    if (!physical_may_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object)
        return STATUS_INVALID_HANDLE;
    if (object->opened && object->opened->tracked.adapter == adapter) {
        VIOLATION("PHYS-132", "the object is already open for %s", adapter->name);
        return STATUS_ALREADY_REGISTERED;
    }
    if (object->opened) {
        VIOLATION("PHYS-133", "the object is open for %s, so not for %s",
                  object->opened->tracked.adapter->name, adapter->name);
        return STATUS_NOT_SUPPORTED;
    }
    status = open_for(object, adapter);
    if (status == STATUS_SUCCESS)
        args->hAdapterMemoryObject = physical_handle(&object->opened->tracked);
    return status;
}

void physical_object_close(struct physical_memory *memory,
                           const DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT *args)
{
    struct physical_tracked *tracked;
    struct physical_adapter_object *opened;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbClosePhysicalMemoryObject");
        return;
    }
    tracked = physical_find(memory, NULL, PHYSICAL_ADAPTER_OBJECT,
                            (uintptr_t)args->hAdapterMemoryObject, "PHYS-130");
    if (!tracked)
        return;
    opened = CONTAINER(tracked, struct physical_adapter_object, tracked);
    if (!list_empty(&opened->adls)) {
        verify_fatal("PHYS-136", SYSMM_BUGCHECK, SYSMM_ADL_LEAKED, tracked->key, 0, 0,
                     "an adapter memory object of %s was closed while an ADL of it exists",
                     tracked->adapter->name);
        return;
    }
    physical_opened_free(opened);
}
