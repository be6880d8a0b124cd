/* SPDX-License-Identifier: MIT */
/*
 * Lent buffers. A block is: zone, buffer, zone. Each byte of a zone depends on its offset in the
 * block, so that a copy of a zone to another place is seen as well as a fill.
 *
 *      0                 DDI_LENT_BEFORE          + bytes                       whole
 *      |  known bytes    |  the driver's copy |  known bytes, >= DDI_LENT_AFTER |
 *
 * A block that is not lent holds known bytes all over, where it was ever used.
 */
#include "ddi/lent.h"

#include <string.h>
#include <sys/mman.h>

#include "ddi/ddi.h"
#include "ddi/fenced.h"
#include "ddi/state.h"
#include "ddi/zone.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"

#define CHUNK_SLOTS 32u
/* From slot to slot; no multiple of a page, so that buffers lie in different lines of the cache. */
#define STRIDE (DDI_LENT_SLOT + 5u * 64u)

_Static_assert(DDI_LENT_BEFORE == DDI_FENCED_BEFORE, "either has the same zone in front");
_Static_assert(DDI_LENT_SLOT <= DDI_ZONE_MOST, "the bytes of a zone are enough for a slot");

/* Slots of small buffers: those below `used` have been used, and stand in `free` unless lent. */
struct ddi_lent_chunk {
    struct ddi_lent_chunk *next;
    uint8_t *slots;
    unsigned used, free_count;
    uint8_t *free[CHUNK_SLOTS];
};

static void *map(size_t bytes)
{
    void *memory = util_map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- slots ---- */

static struct ddi_lent_chunk *new_chunk(struct ddi_state *state)
{
    struct ddi_lent_chunk *chunk = map(sizeof(*chunk));

    if (!chunk)
        return NULL;
    chunk->slots = map((size_t)CHUNK_SLOTS * STRIDE);
    if (!chunk->slots) {
        util_unmap(chunk, sizeof(*chunk));
        return NULL;
    }
    ddi_zone_begin();
    chunk->next = state->lent;
    state->lent = chunk;
    return chunk;
}

static uint8_t *take_from(struct ddi_lent_chunk *chunk)
{
    uint8_t *slot;

    if (chunk->free_count)
        return chunk->free[--chunk->free_count];
    if (chunk->used == CHUNK_SLOTS)
        return NULL;
    slot = chunk->slots + (size_t)chunk->used++ * STRIDE;
    memcpy(slot, ddi_zone_known, DDI_LENT_SLOT);
    return slot;
}

static uint8_t *take_slot(struct ddi_state *state)
{
    struct ddi_lent_chunk *chunk;

    for (chunk = state->lent; chunk; chunk = chunk->next) {
        uint8_t *slot = take_from(chunk);

        if (slot)
            return slot;
    }
    chunk = new_chunk(state);
    return chunk ? take_from(chunk) : NULL;
}

static void give_slot(struct ddi_state *state, uint8_t *slot)
{
    for (struct ddi_lent_chunk *chunk = state->lent; chunk; chunk = chunk->next)
        if ((size_t)(slot - chunk->slots) < (size_t)CHUNK_SLOTS * STRIDE) {
            chunk->free[chunk->free_count++] = slot;
            return;
        }
}

void ddi_lent_finish(struct ddi_state *state)
{
    while (state->lent) {
        struct ddi_lent_chunk *chunk = state->lent;

        state->lent = chunk->next;
        util_unmap(chunk->slots, (size_t)CHUNK_SLOTS * STRIDE);
        util_unmap(chunk, sizeof(*chunk));
    }
}

/* ---- zones ---- */

static size_t end_of(const struct ddi_lent *lent)
{
    return DDI_LENT_BEFORE + lent->bytes;
}

/* Lent in memory that ends at a fence (fenced.h): there is no zone behind. */
#define FENCED SIZE_MAX

/* The known byte at an offset behind the buffer of a large block: counted from the buffer's end. */
static const uint8_t *known_at(const struct ddi_lent *lent, size_t offset)
{
    bool behind_large = lent->whole != DDI_LENT_SLOT && offset >= DDI_LENT_BEFORE;

    return ddi_zone_known + (behind_large ? offset - end_of(lent) : offset);
}

static size_t after_bytes(const struct ddi_lent *lent)
{
    if (lent->whole == FENCED)
        return 0;
    return lent->whole == DDI_LENT_SLOT ? DDI_LENT_SLOT - end_of(lent) : DDI_LENT_AFTER;
}

static void compare(struct ddi_lent *lent, size_t from, size_t bytes, uintptr_t routine)
{
    const struct ddi_zone_of of = {lent->what, lent->bytes, "LIFE-191", routine};

    ddi_zone_compare(lent->block + from, known_at(lent, from), bytes,
                     from < DDI_LENT_BEFORE ? DDI_ZONE_BEFORE : DDI_ZONE_BEHIND, &of);
}

static bool near_differs(const struct ddi_lent *lent)
{
    size_t end = end_of(lent), before = DDI_LENT_BEFORE - DDI_LENT_NEAR;

    return memcmp(lent->block + before, ddi_zone_known + before, DDI_LENT_NEAR) != 0 ||
           memcmp(lent->block + end, known_at(lent, end), DDI_LENT_NEAR) != 0;
}

void ddi_lent_check(struct ddi_lent *lent, bool wide, uintptr_t routine)
{
    if (!lent->block || (lent->whole != FENCED && !near_differs(lent) && !wide))
        return;
    compare(lent, 0, DDI_LENT_BEFORE, routine);
    compare(lent, end_of(lent), after_bytes(lent), routine);
}

/* ---- loans ---- */

static bool lend_fenced(struct ddi_lent *lent, const void *from, size_t bytes, const char *what)
{
    struct ddi_fenced *fenced = ddi_fenced_take(bytes, 1, what);

    if (!fenced)
        return false;
    lent->fenced = fenced;
    lent->whole = FENCED;
    lent->data = memcpy(ddi_fenced_data(fenced), from, bytes);
    lent->block = (uint8_t *)lent->data - DDI_LENT_BEFORE;
    return true;
}

bool ddi_lend(struct ddi_lent *lent, const void *from, size_t bytes, const char *what)
{
    struct ddi_state *state = ddi_state();
    bool small = bytes <= DDI_LENT_SMALL;

    *lent = (struct ddi_lent){.data = (void *)(uintptr_t)from, .bytes = bytes, .what = what};
    if (!from || !bytes || !state)
        return true;
    if (ddi_fences())
        return lend_fenced(lent, from, bytes, what);
    lent->whole = small ? DDI_LENT_SLOT
                        : align_up(DDI_LENT_BEFORE + bytes + DDI_LENT_AFTER, PAGE_BYTES);
    if (!small && util_fault_point())
        return false;
    lent->block = small ? take_slot(state) : map(lent->whole);
    if (!lent->block)
        return false;
    if (!small) {
        ddi_zone_begin();
        memcpy(lent->block, ddi_zone_known, DDI_LENT_BEFORE);
        memcpy(lent->block + DDI_LENT_BEFORE + bytes, ddi_zone_known, DDI_LENT_AFTER);
    }
    lent->data = lent->block + DDI_LENT_BEFORE;
    memcpy(lent->data, from, bytes);
    return true;
}

void ddi_lent_end(struct ddi_lent *lent, void *back)
{
    if (!lent->block)
        return;
    if (back)
        memcpy(back, lent->data, lent->bytes);
    if (lent->whole == FENCED) {
        ddi_fenced_give(lent->fenced);
    } else if (lent->whole != DDI_LENT_SLOT) {
        util_unmap(lent->block, lent->whole);
    } else {
        memcpy(lent->data, ddi_zone_known + DDI_LENT_BEFORE, lent->bytes);
        give_slot(ddi_state(), lent->block);
    }
    lent->block = NULL;
}
