/* SPDX-License-Identifier: MIT */
/*
 * CPU mappings of objects: DxgkCbMapPhysicalMemory and DxgkCbUnmapPhysicalMemory, and the views of
 * frame buffer saves.
 *
 * A view covers whole pages, from a page (sections: 64 KiB) boundary of the object at or below the
 * byte asked for to the end of the page of the last byte. Views of sections follow their pages as
 * these go in and out; a PAGE_WRITECOPY view has private copies of the pages written through it,
 * and they are carried along.
 */
#include "vidmm/physical_private.h"

#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/checked.h"
#include "verify/verify.h"

static bool is_section(const struct physical_object *object)
{
    return object->type == DXGK_PHYSICAL_MEMORY_TYPE_SECTION;
}

static bool is_io(const struct physical_object *object)
{
    return object->type == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE;
}

/* ---- pointing ---- */

/* Where one page of the object is now. */
static struct ram_view_source source_of(const struct physical_mapping *mapping, uint64_t index)
{
    const struct physical_object *object = mapping->object;
    bool in_file = is_section(object) && object->section.resident[index] == 0;

    return (struct ram_view_source){
        .file = in_file ? object->section.file : -1,
        .page = in_file ? index : physical_object_page(object, index),
        .writable = mapping->writable,
        .copy_on_write = mapping->copy_on_write,
    };
}

/* A page of a copy-on-write view moves; what was written to it privately is what the view shows and
 * must go on showing. Private bytes equal to the shared ones need no care. */
static bool move_private_page(struct physical_mapping *mapping, uint64_t index)
{
    struct ram *ram = mapping->tracked.memory->ram;
    struct ram_view_source source = source_of(mapping, index);
    char *at = mapping->base + (index - mapping->first_page) * PAGE_BYTES;
    char kept[PAGE_BYTES];

    memcpy(kept, at, PAGE_BYTES);
    if (!ram_view_point_run(ram, mapping->base, index - mapping->first_page, &source, 1))
        return false;
    if (memcmp(kept, at, PAGE_BYTES) != 0)
        memcpy(at, kept, PAGE_BYTES);
    return true;
}

static bool point_run(struct physical_mapping *mapping, uint64_t first, uint64_t end)
{
    struct ram *ram = mapping->tracked.memory->ram;

    while (first < end) {
        struct ram_view_source source = source_of(mapping, first);
        uint64_t run = 1;

        for (; first + run < end; run++) {
            struct ram_view_source next = source_of(mapping, first + run);

            if (next.file != source.file || next.page != source.page + run)
                break;
        }
        if (!ram_view_point_run(ram, mapping->base, first - mapping->first_page, &source, run))
            return false;
        first += run;
    }
    return true;
}

static bool point_part(struct physical_mapping *mapping, uint64_t first, uint64_t end)
{
    if (!mapping->copy_on_write)
        return point_run(mapping, first, end);
    for (; first < end; first++)
        if (!move_private_page(mapping, first))
            return false;
    return true;
}

/* What is pointed allows what the object allows, so a view of a process is shut again. */
bool physical_mapping_point(struct physical_mapping *mapping, uint64_t first, uint64_t count)
{
    const struct physical_hooks *hooks = &mapping->tracked.memory->hooks;
    bool guarded = mapping->user && hooks->user_view;
    uint64_t end = first + count;
    bool done;

    if (first < mapping->first_page)
        first = mapping->first_page;
    if (end > mapping->first_page + mapping->pages)
        end = mapping->first_page + mapping->pages;
    if (first >= end)
        return true;
    if (guarded && !hooks->user_view_admit(hooks->context, mapping->base))
        return false;
    done = point_part(mapping, first, end);
    if (guarded)
        hooks->user_view_shut(hooks->context, mapping->base);
    return done;
}

/* ---- create and free ---- */

static bool place_view(struct physical_mapping *mapping)
{
    struct physical_memory *memory = mapping->object->tracked.memory;
    const struct physical_hooks *hooks = &memory->hooks;

    if (is_io(mapping->object)) {
        struct phys_addr address = {(mapping->object->io_base + mapping->first_page) * PAGE_BYTES};

        mapping->base = hooks->io_map && !util_fault_point()
                            ? hooks->io_map(hooks->context, address, mapping->pages * PAGE_BYTES,
                                            mapping->object->cache)
                            : NULL;
        return mapping->base != NULL;
    }
    mapping->base = ram_view_reserve(memory->ram, mapping->pages);
    if (!mapping->base)
        return false;
    mapping->tracked.memory = memory; /* needed for pointing, before it is tracked */
    if (!util_fault_point() &&
        point_run(mapping, mapping->first_page, mapping->first_page + mapping->pages))
        return true;
    ram_view_release(memory->ram, mapping->base, mapping->pages);
    return false;
}

static void describe(const struct physical_mapping *mapping, char *text, size_t bytes)
{
    static const char *const types[] = {"MDL", "contiguous", "section", "IO space"};

    snprintf(text, bytes, "a physical memory object (%s, Context 0x%llx)",
             types[mapping->object->type], (unsigned long long)mapping->object->context);
}

/* PHYS-195. */
static bool give_to_process(struct physical_mapping *mapping, struct nt_process *process)
{
    const struct physical_hooks *hooks = &mapping->object->tracked.memory->hooks;
    char what[96] = "a view of ";

    if (!mapping->user || !hooks->user_view)
        return true;
    describe(mapping, what + strlen(what), sizeof(what) - strlen(what));
    return hooks->user_view(hooks->context, process, mapping->base, mapping->size,
                            mapping->writable || mapping->copy_on_write, what);
}

static void drop_view(struct physical_mapping *mapping)
{
    struct physical_memory *memory = mapping->object->tracked.memory;

    if (mapping->user && memory->hooks.user_view_ends)
        memory->hooks.user_view_ends(memory->hooks.context, mapping->base);
    if (!is_io(mapping->object))
        ram_view_release(memory->ram, mapping->base, mapping->pages);
    else if (memory->hooks.io_unmap)
        memory->hooks.io_unmap(memory->hooks.context, mapping->base);
}

static void free_tracked(struct physical_tracked *tracked)
{
    physical_mapping_free(CONTAINER(tracked, struct physical_mapping, tracked));
}

static enum ram_cache cache_of(const struct physical_tracked *tracked)
{
    return CONTAINER(tracked, const struct physical_mapping, tracked)->object->cache;
}

static const struct physical_class mapping_class = {
    .kind = PHYSICAL_MAPPING, .free = free_tracked, .cache = cache_of};
static const struct physical_class save_mapping_class = {
    .kind = PHYSICAL_SAVE_MAPPING, .free = free_tracked, .cache = cache_of};

NTSTATUS physical_mapping_create(struct physical_object *object, struct physical_adapter *adapter,
                                 enum physical_kind kind, uint64_t offset, uint64_t size,
                                 struct nt_process *process, bool user,
                                 struct physical_mapping **out, uint64_t *offset_out)
{
    uint64_t start = align_down(offset, is_section(object) ? SECTION_GRANULARITY : PAGE_BYTES);
    ULONG protection = object->section.protection;
    struct physical_mapping *mapping = util_zalloc(1, sizeof(*mapping));

    if (!mapping)
        return STATUS_INSUFFICIENT_RESOURCES;
    mapping->object = object;
    mapping->first_page = start / PAGE_BYTES;
    mapping->size = align_up(offset - start + size, PAGE_BYTES);
    mapping->pages = mapping->size / PAGE_BYTES;
    mapping->user = user;
    mapping->process = process;
    mapping->copy_on_write = is_section(object) && protection == PAGE_WRITECOPY;
    mapping->writable = !is_section(object) || protection == PAGE_READWRITE;
    if (!place_view(mapping)) {
        util_free(mapping);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!give_to_process(mapping, process) ||
        !physical_track(&mapping->tracked, object->tracked.memory, adapter,
                        kind == PHYSICAL_MAPPING ? &mapping_class : &save_mapping_class,
                        mapping->size, (uintptr_t)mapping->base)) {
        drop_view(mapping);
        util_free(mapping);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    list_push_back(&object->mappings, &mapping->of_object);
    *out = mapping;
    *offset_out = offset - start;
    return STATUS_SUCCESS;
}

void physical_mapping_free(struct physical_mapping *mapping)
{
    const struct physical_hooks *hooks = &mapping->tracked.memory->hooks;
    char what[96];

    if (hooks->view_ends) {
        describe(mapping, what, sizeof(what));
        hooks->view_ends(hooks->context, mapping->base, mapping->size, what);
    }
    drop_view(mapping);
    list_remove(&mapping->of_object);
    physical_untrack(&mapping->tracked);
    util_free(mapping);
}

/* ---- callbacks ---- */

static NTSTATUS check_map(const struct physical_object *object,
                          const DXGKARGCB_MAP_PHYSICAL_MEMORY *args)
{
    if (args->AccessMode != DXGK_ACCESS_MODE_KERNEL_MODE &&
        args->AccessMode != DXGK_ACCESS_MODE_USER_MODE)
        return physical_refuse("PHYS-149", "AccessMode %u is neither kernel nor user mode",
                               (unsigned)args->AccessMode);
    if (is_io(object) && args->AccessMode == DXGK_ACCESS_MODE_USER_MODE)
        return physical_refuse("PHYS-150", "an IO space object cannot be mapped in user mode");
    if (args->Size == 0 || !range_inside(args->Offset, args->Size, object->bytes))
        return physical_refuse("PHYS-148",
                               "0x%llx bytes at 0x%llx are not inside an object of 0x%llx",
                               (unsigned long long)args->Size, (unsigned long long)args->Offset,
                               (unsigned long long)object->bytes);
    return STATUS_SUCCESS;
}

NTSTATUS physical_object_map(struct physical_memory *memory, struct nt_process *process,
                             DXGKARGCB_MAP_PHYSICAL_MEMORY *args)
{
    struct physical_mapping *mapping;
    struct physical_object *object;
    uint64_t offset;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbMapPhysicalMemory");
    args->pMappedAddress = NULL;
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object)
        return STATUS_INVALID_HANDLE;
    status = check_map(object, args);
    if (status != STATUS_SUCCESS)
        return status;
    status = physical_mapping_create(
        object, object->tracked.adapter, PHYSICAL_MAPPING, args->Offset, args->Size, process,
        args->AccessMode == DXGK_ACCESS_MODE_USER_MODE, &mapping, &offset);
    if (status != STATUS_SUCCESS)
        return status;
    args->pMappedAddress = mapping->base;
    args->Offset = offset;
    args->Size = mapping->size;
    return STATUS_SUCCESS;
}

void physical_object_unmap(struct physical_memory *memory, const struct nt_process *process,
                           const DXGKARGCB_UNMAP_PHYSICAL_MEMORY *args)
{
    struct physical_tracked *tracked;
    struct physical_mapping *mapping;
    struct physical_object *object;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbUnmapPhysicalMemory");
        return;
    }
    object = physical_object_find(memory, args->hPhysicalMemoryObject, "PHYS-130");
    if (!object)
        return;
    tracked = hash_get(&memory->table, (uintptr_t)args->pBaseAddress);
    mapping = tracked && tracked->class->kind == PHYSICAL_MAPPING
                  ? CONTAINER(tracked, struct physical_mapping, tracked)
                  : NULL;
    if (!mapping || mapping->object != object) {
        VIOLATION("PHYS-157", "pBaseAddress is no live mapping of the object");
        return;
    }
    if (mapping->user && mapping->process != process) {
        VIOLATION("PHYS-158",
                  "a user mode mapping was unmapped in another process than it was made in");
        return;
    }
    if (args->Size != mapping->size)
        VIOLATION("PHYS-157", "0x%llx bytes are mapped, and 0x%llx were unmapped",
                  (unsigned long long)mapping->size, (unsigned long long)args->Size);
    physical_mapping_free(mapping);
}
