/* SPDX-License-Identifier: MIT */
/* The bits of the frames and the two summary trees above them. See frame_map.h for the
 * structure. */
#include "ram/frame_map.h"

#define ALL UINT64_MAX

enum { LEVELS = FRAME_MAP_LEVELS };

static uint64_t words_of(uint64_t bits)
{
    return (bits + 63) / 64;
}

size_t frame_map_bytes(uint64_t frames)
{
    uint64_t words = words_of(frames), total = words;

    for (unsigned level = 1; level < LEVELS; level++) {
        words = words_of(words);
        total += 2 * words;
    }
    return (size_t)total * sizeof(uint64_t);
}

void frame_map_init(struct frame_map *map, void *memory, uint64_t frames)
{
    uint64_t *next = memory, words = words_of(frames);

    *map = (struct frame_map){.frames = frames};
    for (unsigned level = 0; level < LEVELS; level++) {
        map->words[level] = words;
        map->used[level] = map->full[level] = next;
        next += words;
        if (level > 0) {
            map->full[level] = next;
            next += words;
        }
        words = words_of(words);
    }
}

/* ---- marking ---- */

/* The mask of the bits of [first, last] that are in this word. */
static inline uint64_t mask_in(uint64_t word, uint64_t first, uint64_t last)
{
    uint64_t mask = ALL;

    if (word == first / 64)
        mask &= ALL << first % 64;
    if (word == last / 64)
        mask &= ALL >> (63 - last % 64);
    return mask;
}

/* Both return whether anything changed. */
static inline bool set_bits(uint64_t *words, uint64_t first, uint64_t last)
{
    uint64_t changed = 0;

    for (uint64_t word = first / 64; word <= last / 64; word++) {
        uint64_t mask = mask_in(word, first, last);

        changed |= mask & ~words[word];
        words[word] |= mask;
    }
    return changed != 0;
}

static inline bool clear_bits(uint64_t *words, uint64_t first, uint64_t last)
{
    uint64_t changed = 0;

    for (uint64_t word = first / 64; word <= last / 64; word++) {
        uint64_t mask = mask_in(word, first, last);

        changed |= mask & words[word];
        words[word] &= ~mask;
    }
    return changed != 0;
}

/* Shrink [*first, *last] to the range of words that equal `value`. Words between the two ends are
 * known to equal it. */
static inline bool ends_equal(const uint64_t *words, uint64_t value, uint64_t *first, uint64_t *last)
{
    *first += words[*first] != value;
    if (*first > *last)
        return false;
    if (words[*last] == value)
        return true;
    if (*first == *last)
        return false;
    (*last)--;
    return true;
}

void frame_map_use(struct frame_map *map, uint64_t first, uint64_t count)
{
    uint64_t last = first + count - 1, low = first / 64, high = last / 64;

    set_bits(map->used[0], first, last);
    for (unsigned level = 1; level < LEVELS; level++) {
        if (!set_bits(map->used[level], low, high))
            break;
        low /= 64;
        high /= 64;
    }
    low = first / 64;
    high = last / 64;
    for (unsigned level = 1; level < LEVELS; level++) {
        if (!ends_equal(map->full[level - 1], ALL, &low, &high))
            break;
        set_bits(map->full[level], low, high);
        low /= 64;
        high /= 64;
    }
}

void frame_map_free(struct frame_map *map, uint64_t first, uint64_t count)
{
    uint64_t last = first + count - 1, low = first / 64, high = last / 64;

    clear_bits(map->used[0], first, last);
    for (unsigned level = 1; level < LEVELS; level++) {
        if (!clear_bits(map->full[level], low, high))
            break;
        low /= 64;
        high /= 64;
    }
    low = first / 64;
    high = last / 64;
    for (unsigned level = 1; level < LEVELS; level++) {
        if (!ends_equal(map->used[level - 1], 0, &low, &high))
            break;
        clear_bits(map->used[level], low, high);
        low /= 64;
        high /= 64;
    }
}

/* ---- looking ---- */

/* Climb until a set bit follows `at`, then descend to the first one below it. `invert`: search
 * `full` for zero bits instead. */
static uint64_t climb(const struct frame_map *map, uint64_t at, bool invert)
{
    uint64_t *const *tree = invert ? map->full : map->used;
    uint64_t flip = invert ? ALL : 0;
    unsigned level = 0;

    for (;;) {
        uint64_t word = at / 64, bits;

        if (word >= map->words[level])
            return map->frames;
        bits = (tree[level][word] ^ flip) >> at % 64;
        if (bits) {
            at += (uint64_t)__builtin_ctzll(bits);
            break;
        }
        at = word + 1;
        if (level + 1 < LEVELS)
            level++;
        else
            at *= 64; /* the top level is searched word by word: 16 words for 2^28 frames */
    }
    while (level > 0) {
        level--;
        if (at >= map->words[level])
            return map->frames; /* a zero bit past the last frame */
        at = at * 64 + (uint64_t)__builtin_ctzll(tree[level][at] ^ flip);
    }
    return at < map->frames ? at : map->frames;
}

uint64_t frame_map_next_used_far(const struct frame_map *map, uint64_t from)
{
    return climb(map, from, false);
}

uint64_t frame_map_next_free(const struct frame_map *map, uint64_t from)
{
    return from < map->frames ? climb(map, from, true) : map->frames;
}

uint64_t frame_map_prev_used_far(const struct frame_map *map, uint64_t below)
{
    unsigned level = 0;
    uint64_t at = below, bits;

    /* Ends at frame 0 at the latest. */
    for (;;) {
        bits = map->used[level][at / 64] << (63 - at % 64);
        if (bits)
            break;
        at /= 64;
        if (level + 1 < LEVELS) {
            level++;
            at--;
        } else {
            at = at * 64 - 1; /* the top level: word by word */
        }
    }
    at -= (uint64_t)__builtin_clzll(bits);
    while (level > 0) {
        level--;
        at = at * 64 + 63 - (uint64_t)__builtin_clzll(map->used[level][at]);
    }
    return at;
}

/* ---- validation ---- */

bool frame_map_validate(const struct frame_map *map)
{
    if (!frame_map_used(map, 0))
        return false;
    for (unsigned level = 1; level < LEVELS; level++) {
        for (uint64_t i = 0; i < map->words[level - 1]; i++) {
            bool some = map->used[level - 1][i] != 0, all = map->full[level - 1][i] == ALL;

            if ((map->used[level][i / 64] >> i % 64 & 1) != some ||
                (map->full[level][i / 64] >> i % 64 & 1) != all)
                return false;
        }
    }
    return true;
}
