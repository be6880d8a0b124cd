/* SPDX-License-Identifier: MIT */
/*
 * Lending parts: collect the pieces by walking the host's structures once, lay them out in an
 * arena, copy, and point the copies at each other.
 *
 *      | FRONT | piece 0 | behind, pad | before | piece 1 | behind ...
 *
 * Each byte between pieces is a known one. A call of few pieces has long zones; with many of them,
 * as in a request for a million allocations, the zones are short.
 */
#include "ddi/parts.h"

#include <string.h>

#include "ddi/arena.h"
#include "ddi/fenced.h"
#include "ddi/zone.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define FRONT       2048u
#define NEAR        DDI_LENT_NEAR
#define BEHIND      4096u
#define FEW         16u /* pieces */
#define ALIGNMENT   16u
#define FENCED_MOST 256u /* pieces */
#define OVER        0xDD /* fills what is no longer lent: shows that a driver kept the pointer */

static const char *rule_of(const struct ddi_part *part)
{
    return part->rule ? part->rule : "LIFE-191";
}

/* ---- collecting ---- */

static void *pointer_at(const void *structure, size_t offset)
{
    void *pointer;

    memcpy(&pointer, (const uint8_t *)structure + offset, sizeof(pointer));
    return pointer;
}

static size_t elements_of(const struct ddi_part *part, const void *structure)
{
    const uint8_t *at = (const uint8_t *)structure + part->count;
    uint16_t narrow;
    uint32_t wide;
    size_t widest;

    switch (part->counted) {
    case 0:
        return 1;
    case sizeof(narrow):
        memcpy(&narrow, at, sizeof(narrow));
        return narrow;
    case sizeof(wide):
        memcpy(&wide, at, sizeof(wide));
        return wide;
    default:
        memcpy(&widest, at, sizeof(widest));
        return widest;
    }
}

static bool make_room(struct ddi_parts *parts)
{
    const unsigned room = parts->room * 4;
    struct ddi_piece *piece;

    if (parts->count < parts->room)
        return true;
    piece = util_alloc(room * sizeof(*piece));
    if (!piece)
        return false;
    memcpy(piece, parts->piece, parts->count * sizeof(*piece));
    if (parts->piece != parts->own)
        util_free(parts->piece);
    parts->piece = piece;
    parts->room = room;
    return true;
}

/* A piece of the same memory that is not shorter: two members may be the same buffer (CAPS-016).
 * Not looked for among the elements of arrays. */
static int alias_of(const struct ddi_parts *parts, const void *host, size_t bytes, int parent)
{
    if (parent >= 0 && parts->piece[parent].part->counted)
        return -1;
    for (unsigned i = 0; i < parts->count && i < FEW; i++)
        if (parts->piece[i].host == host && parts->piece[i].bytes >= bytes)
            return (int)i;
    return -1;
}

static bool collect(struct ddi_parts *parts, const struct ddi_part *table, const void *structure,
                    int parent, size_t base);

static bool collect_inner(struct ddi_parts *parts, const struct ddi_part *part, const void *host,
                          size_t elements)
{
    const int parent = (int)parts->count - 1;

    for (size_t i = 0; i < elements; i++)
        if (!collect(parts, part->inner, (const uint8_t *)host + i * part->each, parent,
                     i * part->each))
            return false;
    return true;
}

/* `base`: where the structure begins in its piece. */
static bool collect(struct ddi_parts *parts, const struct ddi_part *table, const void *structure,
                    int parent, size_t base)
{
    for (const struct ddi_part *part = table; part->what; part++) {
        void *host = part->applies && !part->applies(structure)
                         ? NULL
                         : pointer_at(structure, part->pointer);
        size_t elements = elements_of(part, structure);
        size_t bytes = part->bytes ? part->bytes(structure) : elements * part->each;
        struct ddi_piece *piece;

        if (!host || !bytes)
            continue;
        if (!make_room(parts))
            return false;
        piece = &parts->piece[parts->count];
        *piece = (struct ddi_piece){.part = part,
                                    .host = host,
                                    .bytes = bytes,
                                    .alias = alias_of(parts, host, bytes, parent),
                                    .parent = parent,
                                    .offset = base + part->pointer};
        parts->count++;
        if (piece->alias < 0 && part->inner && !collect_inner(parts, part, host, elements))
            return false;
    }
    return true;
}

/* ---- layout ---- */

/* Give each piece its place, as an offset, and its zones; the bytes of the whole. */
static size_t lay_out(struct ddi_parts *parts)
{
    const uint32_t behind = parts->count <= FEW ? BEHIND : NEAR;
    size_t at = 0;

    for (unsigned i = 0; i < parts->count; i++) {
        struct ddi_piece *piece = &parts->piece[i];
        size_t end;

        if (piece->alias >= 0)
            continue;
        piece->before = at ? NEAR : FRONT;
        piece->data = (uint8_t *)(at + piece->before);
        end = at + piece->before + piece->bytes;
        at = align_up(end + behind, ALIGNMENT);
        piece->behind = (uint32_t)(at - end);
    }
    return at;
}

/* What is counted in bytes is known only to those who exchange it. */
static size_t alignment_of(const struct ddi_part *part)
{
    return part->counted && part->each == 1 ? DDI_FENCED_ALIGNMENT : 1;
}

/* Memory of its own for each piece, unless they are many. */
static bool fence_in(struct ddi_parts *parts)
{
    for (unsigned i = 0; i < parts->count; i++) {
        struct ddi_piece *piece = &parts->piece[i];

        if (piece->alias >= 0)
            continue;
        piece->fenced = ddi_fenced_take(piece->bytes, alignment_of(piece->part), piece->part->what);
        if (!piece->fenced)
            return false;
        piece->data = ddi_fenced_data(piece->fenced);
        piece->before = DDI_FENCED_BEFORE;
        piece->behind = (uint32_t)ddi_fenced_slack(piece->bytes, alignment_of(piece->part));
    }
    return true;
}

static bool find_room(struct ddi_parts *parts)
{
    if (parts->count <= FENCED_MOST && ddi_fences())
        return fence_in(parts);
    parts->arena = ddi_arena_take(lay_out(parts));
    return parts->arena != NULL;
}

static void point(struct ddi_parts *parts, const struct ddi_piece *piece, void *to)
{
    uint8_t *holder = piece->parent < 0 ? parts->structure.data : parts->piece[piece->parent].data;

    memcpy(holder + piece->offset, &to, sizeof(to));
}

static void fill(struct ddi_parts *parts)
{
    for (unsigned i = 0; i < parts->count; i++) {
        struct ddi_piece *piece = &parts->piece[i];

        if (piece->alias >= 0) {
            piece->data = parts->piece[piece->alias].data;
        } else {
            if (parts->arena)
                piece->data = ddi_arena_bytes(parts->arena) + (uintptr_t)piece->data;
            memcpy(piece->data - piece->before, ddi_zone_known, piece->before);
            memcpy(piece->data, piece->host, piece->bytes);
            memcpy(piece->data + piece->bytes, ddi_zone_known, piece->behind);
        }
        point(parts, piece, piece->data);
    }
}

static void forget(struct ddi_parts *parts)
{
    for (unsigned i = 0; i < parts->count; i++) {
        const struct ddi_piece *piece = &parts->piece[i];

        if (piece->fenced)
            ddi_fenced_give(piece->fenced);
        else if (parts->arena)
            memset(piece->data, OVER, piece->bytes);
    }
    if (parts->arena)
        ddi_arena_give(parts->arena);
    if (parts->piece != parts->own)
        util_free(parts->piece);
    parts->arena = NULL;
    parts->piece = parts->own;
    parts->count = 0;
}

bool ddi_parts_lend(struct ddi_parts *parts, const struct ddi_part *table, const void *structure,
                    size_t bytes, const char *what)
{
    parts->structure.block = NULL;
    parts->host = (void *)(uintptr_t)structure;
    parts->arena = NULL;
    parts->lent = false;
    parts->piece = parts->own;
    parts->count = 0;
    parts->room = DDI_PIECES_OWN;
    if (structure && !collect(parts, table, structure, -1, 0)) {
        forget(parts);
        return false;
    }
    if (!ddi_lend(&parts->structure, structure, bytes, what)) {
        forget(parts);
        return false;
    }
    if (!parts->count || !parts->structure.block) /* without a machine: as it is */
        return true;
    if (!find_room(parts)) {
        ddi_lent_end(&parts->structure, NULL);
        forget(parts);
        return false;
    }
    fill(parts);
    parts->lent = true;
    return true;
}

/* ---- the return ---- */

/* Whether a piece, or a second pointer to it, comes back. */
static bool comes_back(const struct ddi_parts *parts, unsigned index)
{
    if (parts->piece[index].part->way == DDI_PART_BACK)
        return true;
    for (unsigned i = index + 1; i < parts->count && i < FEW; i++)
        if (parts->piece[i].alias == (int)index && parts->piece[i].part->way == DDI_PART_BACK)
            return true;
    return false;
}

void ddi_parts_check(struct ddi_parts *parts, uintptr_t routine)
{
    ddi_lent_check(&parts->structure, true, routine);
    for (unsigned i = 0; parts->lent && i < parts->count; i++) {
        const struct ddi_piece *piece = &parts->piece[i];
        const struct ddi_part *part = piece->part;
        const struct ddi_zone_of of = {part->what, piece->bytes, rule_of(part), routine};

        if (piece->alias >= 0)
            continue;
        ddi_zone_compare(piece->data - piece->before, ddi_zone_known, piece->before,
                         DDI_ZONE_BEFORE, &of);
        ddi_zone_compare(piece->data + piece->bytes, ddi_zone_known, piece->behind, DDI_ZONE_BEHIND,
                         &of);
        if (part->constant && !comes_back(parts, i) &&
            memcmp(piece->data, piece->host, piece->bytes) != 0)
            VIOLATION(part->constant, "the driver changed %s", part->what);
    }
}

/* The pointer in the host's structure is the host's own again. */
static void restore(const struct ddi_piece *piece, void *holder)
{
    uint8_t *at = (uint8_t *)holder + piece->offset;
    const void *left = pointer_at(holder, piece->offset);

    if (left != piece->data) {
        WARNING("LIFE-192", "the driver changed the pointer to %s, which has no effect",
                piece->part->what);
        if (piece->part->told)
            return;
    }
    memcpy(at, &piece->host, sizeof(piece->host));
}

void ddi_parts_end(struct ddi_parts *parts, void *back)
{
    ddi_lent_end(&parts->structure, back);
    for (unsigned i = 0; parts->lent && i < parts->count; i++) {
        const struct ddi_piece *piece = &parts->piece[i];

        /* those who hold pointers were copied back before what the pointers lead to */
        if (piece->parent >= 0 && comes_back(parts, (unsigned)piece->parent))
            restore(piece, parts->piece[piece->parent].host);
        else if (piece->parent < 0 && back)
            restore(piece, back);
        if (piece->alias < 0 && comes_back(parts, i))
            memcpy(piece->host, piece->data, piece->bytes);
    }
    forget(parts);
}

NTSTATUS ddi_parts_refuse(struct ddi_parts *parts, NTSTATUS status)
{
    ddi_lent_end(&parts->structure, NULL);
    forget(parts);
    return status;
}
