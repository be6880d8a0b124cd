/* SPDX-License-Identifier: MIT */
/*
 * Address descriptor lists: what a device must be programmed with to reach a part of an object.
 *
 *                        no flag       PreferContiguous             RequireContiguous
 *   physical, isolated   page array    contiguous if the pages      contiguous; only for objects
 *                                      happen to be, else array     that are so by their type
 *   logical              page array    contiguous                   the same
 *
 * The lists stand in an arena of address space that is handed out upwards and never again: the
 * address of a freed ADL names nothing for the rest of the run (PHYS-016). A chunk of the arena
 * whose ADLs are all gone gives its memory back.
 *
 * What an ADL must contain follows from the object and the place of its mapping, so no second copy
 * is kept to compare with when it is freed (PHYS-178) nor to unmap by.
 */
#include "vidmm/physical_private.h"

#include <sys/mman.h>

#include "util/alloc.h"
#include "util/checked.h"
#include "verify/verify.h"

#define ARENA_BYTES ((uint64_t)1 << 38)
#define CHUNK_BYTES ((uint64_t)1 << 16)
#define MOST_LISTED ((uint64_t)1 << 24) /* pages of device ranges in an array: 64 GiB */

/* ---- arena ---- */

static void *map_sparse(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

bool physical_adl_arena_create(struct physical_adl_arena *arena)
{
    *arena = (struct physical_adl_arena){0};
    if (util_fault_point())
        return false;
    arena->base = map_sparse(ARENA_BYTES);
    arena->live = map_sparse(ARENA_BYTES / CHUNK_BYTES * sizeof(*arena->live));
    if (arena->base && arena->live)
        return true;
    physical_adl_arena_destroy(arena);
    return false;
}

void physical_adl_arena_destroy(struct physical_adl_arena *arena)
{
    if (arena->base)
        munmap(arena->base, ARENA_BYTES);
    if (arena->live)
        munmap(arena->live, ARENA_BYTES / CHUNK_BYTES * sizeof(*arena->live));
}

static void *arena_take(struct physical_adl_arena *arena, uint64_t bytes)
{
    uint64_t start = arena->used;

    if (util_fault_point() || bytes > ARENA_BYTES - start)
        return NULL;
    arena->used = align_up(start + bytes, 16);
    for (uint64_t chunk = start / CHUNK_BYTES; chunk <= (start + bytes - 1) / CHUNK_BYTES; chunk++)
        arena->live[chunk]++;
    return arena->base + start;
}

static void arena_give(struct physical_adl_arena *arena, void *memory, uint64_t bytes)
{
    uint64_t start = (uint64_t)((char *)memory - arena->base);

    for (uint64_t chunk = start / CHUNK_BYTES; chunk <= (start + bytes - 1) / CHUNK_BYTES; chunk++)
        if (--arena->live[chunk] == 0 && (chunk + 1) * CHUNK_BYTES <= arena->used)
            madvise(arena->base + chunk * CHUNK_BYTES, CHUNK_BYTES, MADV_DONTNEED);
}

/* ---- locks and device mapping ---- */

static bool is_remapped(const struct physical_adl *adl)
{
    return iommu_domain_mode(adl->tracked.adapter->domain) == IOMMU_REMAP;
}

/* Only RAM is locked; IO space is what it is (PHYS-174). */
static bool lock_pages(struct physical_memory *memory, struct physical_object *object,
                       uint64_t first, uint64_t count)
{
    if (object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION)
        return physical_section_lock(memory, object, first, count);
    for (uint64_t i = first;
         i < first + count && object->type != DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE; i++)
        ram_lock_page(memory->ram, (struct page_number){physical_object_page(object, i)});
    return true;
}

static void unlock_pages(struct physical_memory *memory, struct physical_object *object,
                         uint64_t first, uint64_t count)
{
    if (object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION) {
        physical_section_unlock(memory, object, first, count);
        return;
    }
    for (uint64_t i = first;
         i < first + count && object->type != DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE; i++)
        ram_unlock_page(memory->ram, (struct page_number){physical_object_page(object, i)});
}

/* Contiguous by its type, however large: its pages need no looking at. */
static bool one_run(const struct physical_object *object)
{
    return object->type == DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY ||
           object->type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE;
}

/* Calls for the stretches of consecutive pages of the range, in order. */
static uint64_t run_length(const struct physical_object *object, uint64_t first, uint64_t end)
{
    uint64_t run = 1;

    if (one_run(object))
        return end - first;
    while (first + run < end &&
           physical_object_page(object, first + run) == physical_object_page(object, first) + run)
        run++;
    return run;
}

static void unmap_identity(struct iommu_domain *domain, const struct physical_object *object,
                           uint64_t first, uint64_t end)
{
    for (uint64_t run; first < end; first += run) {
        run = run_length(object, first, end);
        iommu_unmap_run(domain, (struct page_number){physical_object_page(object, first)}, run);
    }
}

static bool map_identity(struct iommu_domain *domain, const struct physical_object *object,
                         uint64_t first, uint64_t end)
{
    uint64_t at = first;

    for (uint64_t run; at < end; at += run) {
        run = run_length(object, at, end);
        if (!iommu_map_run(domain, (struct page_number){physical_object_page(object, at)}, run,
                           IOMMU_READ | IOMMU_WRITE, NULL)) {
            unmap_identity(domain, object, first, at);
            return false;
        }
    }
    return true;
}

static bool map_remapped(struct iommu_domain *domain, const struct physical_object *object,
                         uint64_t first, uint64_t count, uint64_t *logical_first)
{
    struct page_number *pages, logical;
    bool mapped;

    if (run_length(object, first, first + count) == count) {
        mapped = iommu_map_run(domain, (struct page_number){physical_object_page(object, first)},
                               count, IOMMU_READ | IOMMU_WRITE, &logical);
        *logical_first = logical.value;
        return mapped;
    }
    pages = util_alloc(count * sizeof(*pages));
    if (!pages)
        return false;
    for (uint64_t i = 0; i < count; i++)
        pages[i].value = physical_object_page(object, first + i);
    mapped = iommu_map(domain, pages, count, IOMMU_READ | IOMMU_WRITE, pages);
    *logical_first = pages[0].value;
    util_free(pages);
    return mapped;
}

static bool map_pages(struct physical_adl *adl, struct iommu_domain *domain)
{
    if (iommu_domain_mode(domain) == IOMMU_REMAP)
        return map_remapped(domain, adl->object, adl->first_page, adl->pages, &adl->logical_first);
    return map_identity(domain, adl->object, adl->first_page, adl->first_page + adl->pages);
}

static void unmap_pages(struct physical_adl *adl, struct iommu_domain *domain)
{
    if (iommu_domain_mode(domain) == IOMMU_REMAP)
        iommu_unmap_run(domain, (struct page_number){adl->logical_first}, adl->pages);
    else
        unmap_identity(domain, adl->object, adl->first_page, adl->first_page + adl->pages);
}

/* ---- the list ---- */

static uint64_t device_page(const struct physical_adl *adl, bool remapped, uint64_t index)
{
    return remapped ? adl->logical_first + index
                    : physical_object_page(adl->object, adl->first_page + index);
}

static bool write_list(struct physical_adl *adl, struct physical_adl_arena *arena, bool remapped,
                       bool want_contiguous)
{
    bool consecutive = remapped || run_length(adl->object, adl->first_page,
                                              adl->first_page + adl->pages) == adl->pages;
    char *memory;

    adl->contiguous = want_contiguous && consecutive;
    if (!adl->contiguous && adl->pages > MOST_LISTED &&
        adl->object->type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE)
        return false;
    adl->arena_bytes = sizeof(DXGK_ADL) +
                       (adl->contiguous ? 0 : adl->pages * sizeof(DXGK_PAGE_NUMBER));
    memory = arena_take(arena, adl->arena_bytes);
    if (!memory)
        return false;
    adl->adl = (DXGK_ADL *)(void *)memory;
    adl->adl->PageCount = (UINT32)adl->pages;
    adl->adl->Flags.Value = 0;
    if (adl->contiguous) {
        adl->adl->Flags.Contiguous = 1;
        adl->adl->BasePageNumber = device_page(adl, remapped, 0);
        return true;
    }
    adl->pages_out = (DXGK_PAGE_NUMBER *)(void *)(memory + sizeof(DXGK_ADL));
    adl->adl->Pages = adl->pages_out;
    for (uint64_t i = 0; i < adl->pages; i++)
        adl->pages_out[i] = device_page(adl, remapped, i);
    return true;
}

/* PHYS-178: is the list still what the host wrote? */
static bool list_unchanged(const struct physical_adl *adl)
{
    bool remapped = is_remapped(adl);
    DXGK_ADL_FLAGS flags = {.Value = 0};

    flags.Contiguous = adl->contiguous;
    if (adl->adl->PageCount != adl->pages || adl->adl->Flags.Value != flags.Value)
        return false;
    if (adl->contiguous)
        return adl->adl->BasePageNumber == device_page(adl, remapped, 0);
    if (adl->adl->Pages != adl->pages_out)
        return false;
    for (uint64_t i = 0; i < adl->pages; i++)
        if (adl->pages_out[i] != device_page(adl, remapped, i))
            return false;
    return true;
}

/* PHYS-175: no driver can bring this about; it would be a mistake of the host. */
static void check_locked(const struct physical_adl *adl, const struct ram *ram)
{
    if (adl->object->type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE)
        return;
    for (uint64_t i = 0; i < adl->pages; i++) {
        struct page_number page = {physical_object_page(adl->object, adl->first_page + i)};

        if (ram_page_locks(ram, page) > 0)
            continue;
        verify_fatal("PHYS-175", SYSMM_BUGCHECK, SYSMM_ADL_OVER_UNLOCKED_MEMORY, page.value, 0, 0,
                     "an ADL was built over page 0x%llx, which is not locked",
                     (unsigned long long)page.value);
        return;
    }
}

/* ---- create and free ---- */

static void free_tracked(struct physical_tracked *tracked)
{
    physical_adl_destroy(CONTAINER(tracked, struct physical_adl, tracked));
}

static enum ram_cache cache_of(const struct physical_tracked *tracked)
{
    return CONTAINER(tracked, const struct physical_adl, tracked)->object->cache;
}

static const struct physical_class adl_class = {
    .kind = PHYSICAL_ADL, .free = free_tracked, .cache = cache_of};
static const struct physical_class pin_class = {
    .kind = PHYSICAL_PIN, .free = free_tracked, .cache = cache_of};

static NTSTATUS build(struct physical_adl *adl, struct physical_adapter *adapter,
                      enum physical_kind kind, bool want_contiguous)
{
    struct physical_memory *memory = adapter->memory;
    bool remapped = iommu_domain_mode(adapter->domain) == IOMMU_REMAP;

    if (!lock_pages(memory, adl->object, adl->first_page, adl->pages))
        return STATUS_NO_MEMORY;
    if (!map_pages(adl, adapter->domain))
        goto no_mapping;
    check_locked(adl, memory->ram);
    if (!write_list(adl, &memory->arena, remapped, want_contiguous))
        goto no_list;
    if (physical_track(&adl->tracked, memory, adapter,
                       kind == PHYSICAL_PIN ? &pin_class : &adl_class, adl->pages * PAGE_BYTES,
                       (uintptr_t)adl->adl))
        return STATUS_SUCCESS;
    arena_give(&memory->arena, adl->adl, adl->arena_bytes);
no_list:
    unmap_pages(adl, adapter->domain);
no_mapping:
    unlock_pages(memory, adl->object, adl->first_page, adl->pages);
    return STATUS_INSUFFICIENT_RESOURCES;
}

NTSTATUS physical_adl_create(struct physical_object *object, struct physical_adapter *adapter,
                             enum physical_kind kind, uint64_t first, uint64_t count,
                             bool want_contiguous, struct physical_adl **out)
{
    struct physical_adl *adl = util_zalloc(1, sizeof(*adl));
    NTSTATUS status;

    if (!adl)
        return STATUS_INSUFFICIENT_RESOURCES;
    adl->object = object;
    adl->first_page = first;
    adl->pages = count;
    list_init(&adl->of_opened);
    status = build(adl, adapter, kind, want_contiguous);
    if (status != STATUS_SUCCESS) {
        util_free(adl);
        return status;
    }
    *out = adl;
    return STATUS_SUCCESS;
}

void physical_adl_destroy(struct physical_adl *adl)
{
    struct physical_memory *memory = adl->tracked.memory;

    if (!list_unchanged(adl))
        VIOLATION("PHYS-178", "the driver wrote to an ADL of %llu pages",
                  (unsigned long long)adl->pages);
    unmap_pages(adl, adl->tracked.adapter->domain);
    unlock_pages(memory, adl->object, adl->first_page, adl->pages);
    arena_give(&memory->arena, adl->adl, adl->arena_bytes);
    list_remove(&adl->of_opened);
    physical_untrack(&adl->tracked);
    util_free(adl);
}

/* ---- callbacks ---- */

static NTSTATUS check_request(const struct physical_object *object,
                              const DXGKARGCB_ALLOCATE_ADL *args)
{
    if (args->Flags.Reserved != 0)
        return physical_refuse("PHYS-171", "Flags 0x%x has reserved bits", args->Flags.Value);
    if (args->Offset % PAGE_BYTES != 0 || args->Size % PAGE_BYTES != 0)
        return physical_refuse("PHYS-161",
                               "Offset 0x%llx and Size 0x%llx are not both multiples of PAGE_SIZE",
                               (unsigned long long)args->Offset, (unsigned long long)args->Size);
    if (args->Size == 0 || !range_inside(args->Offset, args->Size, object->bytes))
        return physical_refuse("PHYS-162",
                               "0x%llx bytes at 0x%llx are not inside an object of 0x%llx",
                               (unsigned long long)args->Size, (unsigned long long)args->Offset,
                               (unsigned long long)object->bytes);
    if (args->Size / PAGE_BYTES > UINT32_MAX)
        return STATUS_INSUFFICIENT_RESOURCES; /* PageCount could not say it */
    if (args->Flags.RequireContiguous && !one_run(object))
        return physical_refuse(
            "PHYS-167",
            "RequireContiguous is for contiguous memory and IO space, not for an object of type %u",
            (unsigned)object->type);
    return STATUS_SUCCESS;
}

NTSTATUS physical_adl_allocate(struct physical_memory *memory, DXGKARGCB_ALLOCATE_ADL *args)
{
    struct physical_adapter_object *opened;
    struct physical_tracked *tracked;
    struct physical_adl *adl;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbAllocateAdl");
    args->pAdl = NULL;
    tracked = physical_find(memory, NULL, PHYSICAL_ADAPTER_OBJECT,
                            (uintptr_t)args->hAdapterMemoryObject, "PHYS-130");
    if (!tracked)
        return STATUS_INVALID_HANDLE;
    if (!physical_may_acquire(tracked->adapter))
        return STATUS_INVALID_DEVICE_STATE;
    opened = CONTAINER(tracked, struct physical_adapter_object, tracked);
    status = check_request(opened->object, args);
    if (status != STATUS_SUCCESS)
        return status;
    status = physical_adl_create(opened->object, tracked->adapter, PHYSICAL_ADL,
                                 args->Offset / PAGE_BYTES, args->Size / PAGE_BYTES,
                                 args->Flags.RequireContiguous || args->Flags.PreferContiguous,
                                 &adl);
    if (status != STATUS_SUCCESS)
        return status;
    list_push_back(&opened->adls, &adl->of_opened);
    args->pAdl = adl->adl;
    return STATUS_SUCCESS;
}

void physical_adl_free(struct physical_memory *memory, const DXGKARGCB_FREE_ADL *args)
{
    struct physical_tracked *tracked, *opened;
    struct physical_adl *adl;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbFreeAdl");
        return;
    }
    opened = physical_find(memory, NULL, PHYSICAL_ADAPTER_OBJECT,
                           (uintptr_t)args->hAdapterMemoryObject, "PHYS-130");
    if (!opened)
        return;
    tracked = physical_find(memory, NULL, PHYSICAL_ADL, (uintptr_t)args->pAdl, "PHYS-017");
    if (!tracked)
        return;
    adl = CONTAINER(tracked, struct physical_adl, tracked);
    if (adl->object->opened != CONTAINER(opened, struct physical_adapter_object, tracked)) {
        VIOLATION("PHYS-180", "pAdl was made from another adapter memory object than the one given");
        return;
    }
    physical_adl_destroy(adl);
}
