/* SPDX-License-Identifier: MIT */
/*
 * Views of objects for the CPU.
 *
 * A view covers whole pages. It starts at the page boundary (for sections, the 64 KiB boundary) at
 * or below the first requested byte, and ends with the page of the last one. Views of sections
 * follow the pages as these are paged in and out. A PAGE_WRITECOPY view has private copies of the
 * pages that were written through it, and keeps them when the pages move.
 */
#include "physmem/physical_mapping.h"

#include <stdio.h>
#include <string.h>

#include "physmem/physical_object.h"
#include "physmem/physical_record.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"

/* ---- pointing ---- */

/* The current location of one page of the object. */
static struct ram_view_source source_of(const struct physical_mapping *mapping, uint64_t index)
{
    const struct physical_object *object = mapping->object;
    bool in_file = physical_object_is_section(object) && object->section.resident[index] == 0;

    return (struct ram_view_source){
        .file = in_file ? object->section.file : -1,
        .page = in_file ? index : physical_object_page(object, index),
        .writable = mapping->writable,
        .copy_on_write = mapping->copy_on_write,
    };
}

/* Point a page of a copy-on-write view at its new location. This drops its private copy, so that is
 * restored afterwards, unless it equals the shared page. */
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

/* Pages are mapped with the rights that the object allows, so the view of a process must be made
 * inaccessible to others again afterwards. */
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

    if (physical_object_is_io(mapping->object)) {
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
    mapping->tracked.memory = memory; /* used by pointing, before the mapping is tracked */
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

/* Only the process that a user mode view was made for can access it (PHYS-195). */
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
    if (!physical_object_is_io(mapping->object))
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

static bool enter(struct physical_mapping *mapping, const struct physical_mapping_request *request)
{
    const struct physical_class *class = request->kind == PHYSICAL_SAVE_MAPPING
                                             ? &save_mapping_class
                                             : &mapping_class;

    return physical_tracked_enter(&mapping->tracked, request->object->tracked.memory,
                                  request->adapter, class, mapping->size, (uintptr_t)mapping->base);
}

NTSTATUS physical_mapping_create(const struct physical_mapping_request *request,
                                 struct physical_mapping **out, uint64_t *offset_out)
{
    struct physical_object *object = request->object;
    bool section = physical_object_is_section(object);
    uint64_t start = align_down(request->offset, section ? SECTION_GRANULARITY : PAGE_BYTES);
    ULONG protection = object->section.protection;
    struct physical_mapping *mapping = util_zalloc(1, sizeof(*mapping));

    if (!mapping)
        return STATUS_INSUFFICIENT_RESOURCES;
    mapping->object = object;
    mapping->first_page = start / PAGE_BYTES;
    mapping->size = align_up(request->offset - start + request->size, PAGE_BYTES);
    mapping->pages = mapping->size / PAGE_BYTES;
    mapping->user = request->user;
    mapping->process = request->process;
    mapping->copy_on_write = section && protection == PAGE_WRITECOPY;
    mapping->writable = !section || protection == PAGE_READWRITE;
    if (!place_view(mapping)) {
        util_free(mapping);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!give_to_process(mapping, request->process) || !enter(mapping, request)) {
        drop_view(mapping);
        util_free(mapping);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    list_push_back(&object->mappings, &mapping->of_object);
    *out = mapping;
    *offset_out = request->offset - start;
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
    physical_tracked_remove(&mapping->tracked);
    util_free(mapping);
}
