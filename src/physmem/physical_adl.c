/* SPDX-License-Identifier: MIT */
/*
 * Address descriptor lists: the addresses with which a device reaches a part of an object.
 *
 *                        no flag       PreferContiguous             RequireContiguous
 *   physical, isolated   page array    contiguous if the pages      contiguous; only for objects
 *                                      happen to be, else array     that are so by their type
 *   logical              page array    contiguous                   the same
 *
 * The correct content of an ADL follows from the object and the address of its mapping, so no
 * second copy is kept for the comparison when it is freed (PHYS-178) or for unmapping.
 */
#include "physmem/physical_adl.h"

#include "iommu/iommu.h"
#include "physmem/physical_object.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define MOST_LISTED ((uint64_t)1 << 24) /* the most pages of device ranges in an array: 64 GiB */

/* ---- locks and device mapping ---- */

static bool is_remapped(const struct physical_adl *adl)
{
    return iommu_domain_mode(adl->tracked.adapter->domain) == IOMMU_REMAP;
}

/* Only RAM is locked; IO space does not move (PHYS-174). */
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

/* Number of contiguous pages from the first one on, in [first, end). */
static uint64_t run_length(const struct physical_object *object, uint64_t first, uint64_t end)
{
    uint64_t run = 1;

    if (physical_object_is_one_run(object))
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
        iommu_unmap_run(domain, (struct logical_page){physical_object_page(object, first)}, run);
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
    struct page_number *pages;
    struct logical_page *logical, start;
    bool mapped;

    if (run_length(object, first, first + count) == count) {
        mapped = iommu_map_run(domain, (struct page_number){physical_object_page(object, first)},
                               count, IOMMU_READ | IOMMU_WRITE, &start);
        *logical_first = start.value;
        return mapped;
    }
    pages = util_alloc(count * sizeof(*pages));
    logical = util_alloc(count * sizeof(*logical));
    mapped = pages && logical;
    for (uint64_t i = 0; mapped && i < count; i++)
        pages[i].value = physical_object_page(object, first + i);
    mapped = mapped && iommu_map(domain, pages, count, IOMMU_READ | IOMMU_WRITE, logical);
    if (mapped)
        *logical_first = logical[0].value;
    util_free(logical);
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
        iommu_unmap_run(domain, (struct logical_page){adl->logical_first}, adl->pages);
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
    memory = physical_adl_arena_take(arena, adl->arena_bytes, adl->apart);
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

/* PHYS-178: whether the list still has what the host wrote. */
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

/* PHYS-175. No driver can cause this: it would be an error in the host. */
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

static NTSTATUS build(struct physical_adl *adl, const struct physical_adl_request *request)
{
    const struct physical_class *class = request->kind == PHYSICAL_PIN ? &pin_class : &adl_class;
    struct physical_adapter *adapter = request->adapter;
    struct physical_memory *memory = adapter->memory;
    bool remapped = iommu_domain_mode(adapter->domain) == IOMMU_REMAP;

    if (!lock_pages(memory, adl->object, adl->first_page, adl->pages))
        return refuse(STATUS_NO_MEMORY, NULL, "%llu pages of the object could not be locked",
                      (unsigned long long)adl->pages);
    if (!map_pages(adl, adapter->domain))
        goto no_mapping;
    check_locked(adl, memory->ram);
    if (!write_list(adl, &memory->arena, remapped, request->want_contiguous))
        goto no_list;
    if (physical_tracked_enter(&adl->tracked, memory, adapter, class, adl->pages * PAGE_BYTES,
                               (uintptr_t)adl->adl))
        return STATUS_SUCCESS;
    physical_adl_arena_give(&memory->arena, adl->adl, adl->arena_bytes, adl->apart);
no_list:
    unmap_pages(adl, adapter->domain);
no_mapping:
    unlock_pages(memory, adl->object, adl->first_page, adl->pages);
    return STATUS_INSUFFICIENT_RESOURCES;
}

NTSTATUS physical_adl_create(const struct physical_adl_request *request, struct physical_adl **out)
{
    struct physical_adl *adl = util_zalloc(1, sizeof(*adl));
    NTSTATUS status;

    if (!adl)
        return STATUS_INSUFFICIENT_RESOURCES;
    adl->object = request->object;
    adl->first_page = request->first_page;
    adl->pages = request->pages;
    adl->apart = request->kind == PHYSICAL_ADL && request->adapter->memory->guard;
    list_init(&adl->of_opened);
    status = build(adl, request);
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
    const struct physical_hooks *hooks = &memory->hooks;

    if (!list_unchanged(adl))
        VIOLATION("PHYS-178", "the driver wrote to an ADL of %llu pages",
                  (unsigned long long)adl->pages);
    unmap_pages(adl, adl->tracked.adapter->domain);
    unlock_pages(memory, adl->object, adl->first_page, adl->pages);
    if (adl->apart && hooks->view_ends)
        hooks->view_ends(hooks->context, adl->adl, adl->arena_bytes, "an ADL");
    physical_adl_arena_give(&memory->arena, adl->adl, adl->arena_bytes, adl->apart);
    list_remove(&adl->of_opened);
    physical_tracked_remove(&adl->tracked);
    util_free(adl);
}
