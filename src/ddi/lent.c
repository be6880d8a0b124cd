/* SPDX-License-Identifier: MIT */
/*
 * Lent buffers. A block is: zone, buffer, zone. Each byte of a zone depends on its offset in the
 * block, so that a copy of a zone to another place is seen as well as a fill.
 *
 *      0                 ZONE_BEFORE          + bytes                       whole
 *      |  known bytes    |  the driver's copy |  known bytes, >= ZONE_AFTER |
 *
 * A block that is not lent holds known bytes all over, where it was ever used.
 */
#include "ddi/lent.h"

#include <string.h>
#include <sys/mman.h>

#include "ddi/ddi.h"
#include "ddi/state.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define ZONE_BEFORE 2048u
#define ZONE_AFTER  4096u
#define SLOT_BYTES  (ZONE_BEFORE + DDI_LENT_SMALL + ZONE_AFTER)
#define CHUNK_SLOTS 32u

/* Slots of small buffers: those below `used` have been used, and stand in `free` unless lent. */
struct ddi_lent_chunk {
    struct ddi_lent_chunk *next;
    uint8_t *slots;
    unsigned used, free_count;
    uint8_t *free[CHUNK_SLOTS];
};

/* Known bytes for two pages and a half; larger blocks repeat them from the page of the offset. */
static uint8_t known[SLOT_BYTES];

static void make_known(void)
{
    uint32_t value = 0x9E3779B9u;

    if (known[0])
        return;
    for (size_t i = SLOT_BYTES; i-- > 0;) {
        value = value * 1664525u + 1013904223u;
        known[i] = (uint8_t)(value >> 24 | 1); /* never 0: zeroes past an end are seen */
    }
}

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- slots ---- */

static struct ddi_lent_chunk *new_chunk(struct ddi_state *state)
{
    struct ddi_lent_chunk *chunk = map(sizeof(*chunk));

    if (!chunk)
        return NULL;
    chunk->slots = map((size_t)CHUNK_SLOTS * SLOT_BYTES);
    if (!chunk->slots) {
        munmap(chunk, sizeof(*chunk));
        return NULL;
    }
    make_known();
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
    slot = chunk->slots + (size_t)chunk->used++ * SLOT_BYTES;
    memcpy(slot, known, SLOT_BYTES);
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
        if ((size_t)(slot - chunk->slots) < (size_t)CHUNK_SLOTS * SLOT_BYTES) {
            chunk->free[chunk->free_count++] = slot;
            return;
        }
}

void ddi_lent_finish(struct ddi_state *state)
{
    while (state->lent) {
        struct ddi_lent_chunk *chunk = state->lent;

        state->lent = chunk->next;
        munmap(chunk->slots, (size_t)CHUNK_SLOTS * SLOT_BYTES);
        munmap(chunk, sizeof(*chunk));
    }
}

/* ---- zones ---- */

static size_t end_of(const struct ddi_lent *lent)
{
    return ZONE_BEFORE + lent->bytes;
}

/* The known byte at an offset behind the buffer of a large block: counted from the buffer's end. */
static const uint8_t *known_at(const struct ddi_lent *lent, size_t offset)
{
    bool behind_large = lent->whole != SLOT_BYTES && offset >= ZONE_BEFORE;

    return known + (behind_large ? offset - end_of(lent) : offset);
}

static size_t after_bytes(const struct ddi_lent *lent)
{
    return lent->whole == SLOT_BYTES ? SLOT_BYTES - end_of(lent) : ZONE_AFTER;
}

/* Report and repair what differs in a zone. */
static void compare(struct ddi_lent *lent, size_t from, size_t bytes, uintptr_t routine)
{
    const struct ddi_state *state = ddi_state();
    const uint8_t *want = known_at(lent, from);
    uint8_t *have = lent->block + from;
    size_t first = 0, last = bytes, changed = 0;
    char place[128] = "the driver";

    if (memcmp(have, want, bytes) == 0)
        return;
    while (have[first] == want[first])
        first++;
    while (have[last - 1] == want[last - 1])
        last--;
    for (size_t i = first; i < last; i++)
        changed += have[i] != want[i];
    if (state->hooks.symbolize)
        (void)state->hooks.symbolize(routine, place, sizeof(place));
    if (from < ZONE_BEFORE)
        VIOLATION("LIFE-191",
                  "%s wrote before %s of %zu bytes: %zu bytes were changed from %zu to %zu bytes "
                  "before its start, the first is now 0x%02x",
                  place, lent->what, lent->bytes, changed, ZONE_BEFORE - from - first,
                  ZONE_BEFORE - from - last + 1, have[first]);
    else
        VIOLATION("LIFE-191",
                  "%s wrote past %s of %zu bytes: %zu bytes were changed from offset %zu to %zu, "
                  "%zu past its end, the first is now 0x%02x",
                  place, lent->what, lent->bytes, changed, lent->bytes + first,
                  lent->bytes + last - 1, first, have[first]);
    memcpy(have, want, bytes);
}

static bool near_differs(const struct ddi_lent *lent)
{
    size_t end = end_of(lent), before = ZONE_BEFORE - DDI_LENT_NEAR;

    return memcmp(lent->block + before, known + before, DDI_LENT_NEAR) != 0 ||
           memcmp(lent->block + end, known_at(lent, end), DDI_LENT_NEAR) != 0;
}

void ddi_lent_check(struct ddi_lent *lent, bool wide, uintptr_t routine)
{
    if (!lent->block || (!near_differs(lent) && !wide))
        return;
    compare(lent, 0, ZONE_BEFORE, routine);
    compare(lent, end_of(lent), after_bytes(lent), routine);
}

/* ---- loans ---- */

bool ddi_lend(struct ddi_lent *lent, const void *from, size_t bytes, const char *what)
{
    struct ddi_state *state = ddi_state();
    bool small = bytes <= DDI_LENT_SMALL;

    *lent = (struct ddi_lent){.data = (void *)(uintptr_t)from, .bytes = bytes, .what = what};
    if (!from || !bytes || !state)
        return true;
    lent->whole = small ? SLOT_BYTES : align_up(ZONE_BEFORE + bytes + ZONE_AFTER, PAGE_BYTES);
    if (!small && util_fault_point())
        return false;
    lent->block = small ? take_slot(state) : map(lent->whole);
    if (!lent->block)
        return false;
    if (!small) {
        make_known();
        memcpy(lent->block, known, ZONE_BEFORE);
        memcpy(lent->block + ZONE_BEFORE + bytes, known, ZONE_AFTER);
    }
    lent->data = lent->block + ZONE_BEFORE;
    memcpy(lent->data, from, bytes);
    return true;
}

void ddi_lent_end(struct ddi_lent *lent, void *back)
{
    if (!lent->block)
        return;
    if (back)
        memcpy(back, lent->data, lent->bytes);
    if (lent->whole != SLOT_BYTES) {
        munmap(lent->block, lent->whole);
    } else {
        memcpy(lent->data, known + ZONE_BEFORE, lent->bytes);
        give_slot(ddi_state(), lent->block);
    }
    lent->block = NULL;
}
