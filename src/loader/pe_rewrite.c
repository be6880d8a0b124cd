/* SPDX-License-Identifier: MIT */
/* Rewrites instructions of an image that would be slow here, or read the real clock
 * (x64/rewrite/rewrite.h), and those at which others are to run, or are to be seen (accesses.h,
 * locked.h). */
#include <stdlib.h>
#include <string.h>

#include "loader/pe.h"
#include "sim/machine.h"
#include "util/array.h"
#include "x64/rewrite/accesses.h"
#include "x64/rewrite/locked.h"
#include "x64/rewrite/rewrite.h"
#include "x64/x64.h"

/* Code that the image itself may write to is not rewritten: it may read its own bytes. */
static bool can_rewrite(const struct pe_section *section)
{
    return section->flags & PE_SECTION_EXECUTE && !(section->flags & PE_SECTION_WRITE) &&
           section->memory_bytes > 0;
}

/* ---- pointers to code ---- */

struct pointers {
    const struct pe_image *image;
    const struct pe_file *file;
    uint32_t *at; /* offsets in the image */
    uint32_t count, room;
};

static void add_pointer(struct pointers *p, uint64_t at)
{
    const struct pe_section *section = at < p->image->bytes ? pe_section_at(p->file, (uint32_t)at)
                                                            : NULL;
    uint32_t room = p->room ? p->room * 2 : 64;
    uint32_t *larger;

    if (!section || !can_rewrite(section))
        return;
    if (p->count == p->room) {
        larger = realloc(p->at, room * sizeof(*larger));
        if (!larger)
            return;
        p->at = larger;
        p->room = room;
    }
    p->at[p->count++] = (uint32_t)at;
}

/* What relocations point to, in an image that is relocated. */
static void find_pointers(struct pointers *p)
{
    const struct pe_directory *table = &p->file->directory[PE_RELOCATIONS];
    const uint8_t *base = p->image->base;
    uint64_t at = table->address, end = at + table->bytes;
    struct pe_relocation_block block;

    add_pointer(p, p->file->optional.entry);
    for (; at + sizeof(block) <= end; at += block.bytes) {
        memcpy(&block, base + at, sizeof(block));
        if (block.bytes < sizeof(block) || block.bytes > end - at)
            return;
        for (uint64_t i = sizeof(block); i + sizeof(uint16_t) <= block.bytes;
             i += sizeof(uint16_t)) {
            const uint8_t *place;
            uint16_t entry;
            uint64_t value;

            memcpy(&entry, base + at + i, sizeof(entry));
            place = pe_at(p->image, (uint64_t)block.page + (entry & PE_RELOCATION_OFFSET),
                          sizeof(value));
            if (entry >> 12 != PE_RELOCATION_64 || !place)
                continue;
            memcpy(&value, place, sizeof(value));
            add_pointer(p, value - (uintptr_t)base);
        }
    }
}

/* ---- the image ---- */

struct rewriting {
    struct x64_locked locked;
    struct x64_accesses accesses;
    struct pointers pointers;
    struct x64_rewriting counts;
    bool preempts;
};

/* A grain as that of slices: the more places, the more orders, but the less room has each of
 * them. */
static void begin(struct rewriting *r, const struct pe_image *image, const struct pe_file *file)
{
    static const uint32_t one_of[] = {2, 4, 8, 16};

    if (r->preempts) {
        r->accesses.one_of = one_of[sim_random(ARRAY_COUNT(one_of))];
        r->accesses.choice = rng_next(&sim_current->rng);
    }
    r->pointers = (struct pointers){.image = image, .file = file};
    if (r->preempts || sim_current->races)
        find_pointers(&r->pointers);
}

static bool rewrite(struct rewriting *r, const struct pe_image *image, const struct pe_section *s)
{
    const struct x64_function_table *table = &image->table;
    uint32_t from = s->address, to = s->address + s->memory_bytes;

    if (sim_current->races)
        x64_locked_find(&r->locked, table, from, to, r->pointers.at, r->pointers.count);
    if (r->preempts)
        x64_accesses_find(&r->accesses, table, from, to, r->pointers.at, r->pointers.count);
    return x64_rewrite(table, from, to, &r->counts);
}

NTSTATUS pe_rewrite(const struct pe_image *image, const struct pe_file *file, bool preempts)
{
    struct rewriting r = {.preempts = preempts};
    bool done = true;

    if (!x64_is_created()) /* without x64, the rewritten code would find no level to read */
        return STATUS_SUCCESS;
    begin(&r, image, file);
    for (uint32_t i = 0; i < file->sections && done; i++)
        if (can_rewrite(&file->section[i]))
            done = rewrite(&r, image, &file->section[i]);
    x64_locked_replace(&r.locked, &image->table);
    x64_accesses_place(&r.accesses, &image->table);
    free(r.pointers.at);
    return done ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}
