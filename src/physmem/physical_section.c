/* SPDX-License-Identifier: MIT */
/*
 * Sections: objects whose pages are in the paging file unless an ADL or pin locks them.
 *
 * A sparse memory file stands for the section's part of the paging file. Locking a page brings it
 * in: a frame is taken, the bytes are copied, and the CPU views are pointed at the frame. When the
 * last lock is released, the page is paged out at once, by the same steps. So every run exercises
 * paging, and a stale device address does not reach the old bytes. If a page cannot be paged out
 * (out of memory), it stays resident, which is allowed, and is paged out after its next lock.
 *
 *   commit    charged for the whole section at creation, given back at destruction
 *   resident  frame + 1 while in RAM; a page with locks > 0 is resident
 */
#include "physmem/physical_section.h"

#include <sys/mman.h>
#include <unistd.h>

#include "physmem/physical_mapping.h"
#include "physmem/physical_object.h"
#include "physmem/physical_pages.h"
#include "physmem/physical_record.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/list.h"
#include "verify/refusal.h"

NTSTATUS physical_section_create(struct physical_memory *memory, struct physical_object *object)
{
    struct physical_section *section = &object->section;
    uint64_t pages = object->bytes / PAGE_BYTES;

    if (object->bytes > memory->commit_limit - memory->commit)
        return refuse(STATUS_COMMITMENT_LIMIT, NULL,
                      "a section of 0x%llx bytes: 0x%llx are charged, the limit is 0x%llx",
                      (unsigned long long)object->bytes, (unsigned long long)memory->commit,
                      (unsigned long long)memory->commit_limit);
    section->resident = util_zalloc(pages, sizeof(*section->resident));
    section->locks = util_zalloc(pages, sizeof(*section->locks));
    if (!section->resident || !section->locks || util_fault_point())
        goto failed;
    section->file = memfd_create("dxgkhost-section", MFD_CLOEXEC);
    if (section->file < 0 || ftruncate(section->file, (off_t)object->bytes) != 0)
        goto failed;
    memory->commit += object->bytes;
    return STATUS_SUCCESS;

failed:
    if (section->file >= 0)
        close(section->file);
    util_free(section->resident);
    util_free(section->locks);
    *section = (struct physical_section){.file = -1};
    return STATUS_INSUFFICIENT_RESOURCES;
}

void physical_section_free(struct physical_memory *memory, struct physical_object *object)
{
    struct physical_section *section = &object->section;

    for (uint64_t i = 0; section->resident_pages > 0; i++) {
        if (section->resident[i] == 0)
            continue;
        ram_give_contiguous(memory->ram, (struct page_number){section->resident[i] - 1}, 1);
        section->resident_pages--;
    }
    close(section->file);
    util_free(section->resident);
    util_free(section->locks);
    *section = (struct physical_section){.file = -1};
    util_assert(memory->commit >= object->bytes);
    memory->commit -= object->bytes;
}

/* Point all views of the object at the current location of [first, first + count). */
static bool point_views(struct physical_object *object, uint64_t first, uint64_t count)
{
    bool done = true;

    LIST_FOR(link, &object->mappings)
        done &= physical_mapping_point(CONTAINER(link, struct physical_mapping, of_object), first,
                                       count);
    return done;
}

static char *page_bytes(const struct physical_object *object, uint64_t index)
{
    return ram_direct(object->tracked.memory->ram,
                      page_phys((struct page_number){physical_object_page(object, index)}));
}

/* Write the page to the file and free its frame. False: it stays resident. */
static bool page_out(struct physical_object *object, uint64_t index)
{
    struct physical_section *section = &object->section;
    uint64_t frame = section->resident[index];
    off_t offset = (off_t)(index * PAGE_BYTES);

    if (pwrite(section->file, page_bytes(object, index), PAGE_BYTES, offset) != (ssize_t)PAGE_BYTES)
        return false;
    section->resident[index] = 0;
    if (!point_views(object, index, 1)) {
        section->resident[index] = frame;
        point_views(object, index, 1);
        return false;
    }
    section->resident_pages--;
    ram_give_contiguous(object->tracked.memory->ram, (struct page_number){frame - 1}, 1);
    return true;
}

/* Read the page into the frame, which then belongs to it. False: nothing changed. */
static bool page_in(struct physical_object *object, uint64_t index, struct page_number frame)
{
    struct physical_section *section = &object->section;
    char *to = ram_direct(object->tracked.memory->ram, page_phys(frame));

    if (util_fault_point() ||
        pread(section->file, to, PAGE_BYTES, (off_t)(index * PAGE_BYTES)) != (ssize_t)PAGE_BYTES)
        return false;
    section->resident[index] = frame.value + 1;
    if (point_views(object, index, 1)) {
        section->resident_pages++;
        return true;
    }
    section->resident[index] = 0;
    point_views(object, index, 1);
    return false;
}

/* Make the range resident. On failure, pages that were paged in are paged out again. */
static bool bring_in(struct physical_object *object, uint64_t first, uint64_t count)
{
    struct physical_memory *memory = object->tracked.memory;
    struct ram_request request = {.owner = RAM_OBJECT, .cache = object->cache};
    struct page_number *frames;
    uint64_t used = 0, index = first;

    for (uint64_t i = first; i < first + count; i++)
        request.pages += object->section.resident[i] == 0;
    if (request.pages == 0)
        return true;
    if (request.pages > ram_free_pages(memory->ram))
        return false;
    frames = util_alloc(request.pages * sizeof(*frames));
    if (!frames)
        return false;
    if (!physical_pages_take_scattered(memory, &request, frames)) {
        util_free(frames);
        return false;
    }
    for (; index < first + count; index++) {
        if (object->section.resident[index] != 0)
            continue;
        if (!page_in(object, index, frames[used]))
            break;
        used++;
    }
    if (used < request.pages) {
        while (index-- > first)
            if (object->section.locks[index] == 0 && object->section.resident[index] != 0)
                page_out(object, index);
        ram_give_pages(memory->ram, frames + used, request.pages - used);
    }
    util_free(frames);
    return used == request.pages;
}

bool physical_section_lock(struct physical_memory *memory, struct physical_object *object,
                           uint64_t first, uint64_t count)
{
    if (!bring_in(object, first, count))
        return false;
    for (uint64_t i = first; i < first + count; i++) {
        object->section.locks[i]++;
        ram_lock_page(memory->ram, (struct page_number){physical_object_page(object, i)});
    }
    return true;
}

void physical_section_unlock(struct physical_memory *memory, struct physical_object *object,
                             uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        util_assert(object->section.locks[i] > 0);
        ram_unlock_page(memory->ram, (struct page_number){physical_object_page(object, i)});
        if (--object->section.locks[i] == 0)
            page_out(object, i);
    }
}

bool physical_section_validate(const struct physical_object *object)
{
    const struct physical_section *section = &object->section;
    uint64_t resident = 0;

    for (uint64_t i = 0; section->locks && i < object->bytes / PAGE_BYTES; i++) {
        resident += section->resident[i] != 0;
        if (section->locks[i] > 0 && section->resident[i] == 0)
            return false;
    }
    return resident == section->resident_pages;
}
