/* SPDX-License-Identifier: MIT */
/*
 * An image in memory: sections at their addresses from a base that the system chooses, relocations
 * applied, pages protected. Only an image without relocations is put at its preferred base.
 */
#include <string.h>
#include <sys/mman.h>

#include "loader/pe.h"
#include "nt/mm/race_guard.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "util/map.h"
#include "x64/traps/preempt.h"
#include "x64/x64.h"

/* Space after the image for generated code; costs only addresses. */
#define SPARE_BYTES ((size_t)1 << 20)
/* A requested base must be a multiple of this, and a user-space address. */
#define BASE_ALIGNMENT 0x10000u
#define BASE_LIMIT     ((uint64_t)1 << 47)

static uint32_t pages(uint32_t bytes)
{
    return (bytes + PE_PAGE - 1) & ~(PE_PAGE - 1);
}

static NTSTATUS reserve(struct pe_image *image, const struct pe_file *file)
{
    bool fixed = (file->header.characteristics & PE_FILE_NO_RELOCATIONS) != 0;
    uint64_t wanted = file->optional.base;
    void *base;

    image->bytes = pages(file->optional.image_bytes);
    image->mapped_bytes = image->bytes + SPARE_BYTES;
    if (fixed && (wanted == 0 || wanted % BASE_ALIGNMENT || wanted >= BASE_LIMIT))
        return pe_refuse(file, "it has no relocations, and its base 0x%llx is not usable",
                         (unsigned long long)wanted);
    base = util_map(fixed ? (void *)(uintptr_t)wanted : NULL, image->mapped_bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (fixed ? MAP_FIXED_NOREPLACE : 0),
                    -1, 0);
    if (base == MAP_FAILED && fixed)
        return pe_refuse(file, "it has no relocations, and its base 0x%llx is in use",
                         (unsigned long long)wanted);
    if (base == MAP_FAILED)
        return STATUS_NO_MEMORY;
    image->base = base;
    if (fixed && (uintptr_t)base != wanted) /* an old kernel treats it as a hint */
        return pe_refuse(file, "it has no relocations, and its base 0x%llx is in use",
                         (unsigned long long)wanted);
    return util_protect(base, image->bytes, PROT_READ | PROT_WRITE) == 0 ? STATUS_SUCCESS
                                                                         : STATUS_NO_MEMORY;
}

NTSTATUS pe_map(struct pe_image *image, const struct pe_file *file)
{
    NTSTATUS status = reserve(image, file);

    if (!NT_SUCCESS(status))
        return status;
    memcpy(image->base, file->bytes, file->optional.header_bytes);
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        if (s->file_bytes)
            memcpy(image->base + s->address, file->bytes + s->offset, s->file_bytes);
    }
    return STATUS_SUCCESS;
}

void pe_unmap(struct pe_image *image)
{
    if (image->base)
        util_unmap(image->base, image->mapped_bytes);
    image->base = NULL;
}

const char *pe_text_at(const struct pe_image *image, uint64_t address)
{
    uint64_t room;

    if (address >= image->bytes)
        return NULL;
    room = image->bytes - address;
    return memchr(image->base + address, 0, room < PE_MAX_NAME ? room : PE_MAX_NAME)
               ? (const char *)image->base + address
               : NULL;
}

/* ---- relocations ---- */

static NTSTATUS relocate_one(const struct pe_image *image, const struct pe_file *file,
                             uint64_t address, unsigned type, uint64_t distance)
{
    uint8_t *at;
    uint64_t value;

    if (type == PE_RELOCATION_NONE)
        return STATUS_SUCCESS;
    if (type != PE_RELOCATION_64)
        return pe_refuse(file, "a relocation of type %u at 0x%llx, which x64 images do not have",
                         type, (unsigned long long)address);
    at = pe_at(image, address, sizeof(value));
    if (!at)
        return pe_refuse(file, "damaged: a relocation at 0x%llx lies outside it",
                         (unsigned long long)address);
    memcpy(&value, at, sizeof(value));
    value += distance;
    memcpy(at, &value, sizeof(value));
    return STATUS_SUCCESS;
}

/* In a hostile image the table may relocate itself: each entry is read once, in place. */
NTSTATUS pe_relocate(struct pe_image *image, const struct pe_file *file)
{
    const struct pe_directory *table = &file->directory[PE_RELOCATIONS];
    uint64_t distance = (uintptr_t)image->base - file->optional.base;
    uint64_t at = table->address, end = at + table->bytes;
    struct pe_relocation_block block;

    if (distance == 0)
        return STATUS_SUCCESS;
    for (; at + sizeof(block) <= end; at += block.bytes) {
        memcpy(&block, image->base + at, sizeof(block));
        if (block.bytes < sizeof(block) || block.bytes > end - at)
            return pe_refuse(file, "damaged: a block of 0x%x bytes of relocations at 0x%llx",
                             block.bytes, (unsigned long long)at);
        for (uint64_t i = sizeof(block); i + sizeof(uint16_t) <= block.bytes;
             i += sizeof(uint16_t)) {
            uint16_t entry;
            NTSTATUS status;

            memcpy(&entry, image->base + at + i, sizeof(entry));
            status = relocate_one(image, file, (uint64_t)block.page + (entry & PE_RELOCATION_OFFSET),
                                  entry >> 12, distance);
            if (!NT_SUCCESS(status))
                return status;
        }
    }
    return STATUS_SUCCESS;
}

/* ---- protection ---- */

/* LIFE-184 */
static int protection(const struct pe_section *section)
{
    int wanted = PROT_READ;

    if (section->flags & PE_SECTION_WRITE)
        wanted |= PROT_WRITE;
    if (section->flags & PE_SECTION_EXECUTE)
        wanted |= PROT_EXEC;
    return wanted;
}

NTSTATUS pe_protect(const struct pe_image *image, const struct pe_file *file)
{
    if (util_protect(image->base, image->bytes, PROT_READ) != 0)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        if (s->memory_bytes &&
            util_protect(image->base + s->address, pages(s->memory_bytes), protection(s)) != 0)
            return STATUS_NO_MEMORY;
    }
    return STATUS_SUCCESS;
}

/* ---- discarding (LIFE-185) ---- */

NTSTATUS pe_note_discardable(struct pe_image *image, const struct pe_file *file)
{
    image->discardable = util_alloc(file->sections * sizeof(*image->discardable));
    if (!image->discardable)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        if (!(s->flags & PE_SECTION_DISCARDABLE) || s->memory_bytes == 0)
            continue;
        image->discardable[image->discardables].address = s->address;
        image->discardable[image->discardables].bytes = pages(s->memory_bytes);
        image->discardables++;
    }
    return STATUS_SUCCESS;
}

void pe_discard(struct pe_image *image)
{
    for (uint32_t i = 0; i < image->discardables; i++) {
        void *section = image->base + image->discardable[i].address;

        if (sim_current && sim_current->races)
            nt_race_guard_forget(section, image->discardable[i].bytes);
        if (sim_current && x64_is_created())
            x64_preempt_forget((uintptr_t)section, image->discardable[i].bytes);
        (void)util_protect(section, image->discardable[i].bytes, PROT_NONE);
    }
}
