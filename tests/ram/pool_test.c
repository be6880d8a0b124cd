/* SPDX-License-Identifier: MIT */
/*
 * The frame pool against the obvious slow version: an array with a byte for each frame, searched
 * from its start. Every answer is checked (right place, found if there is one, best fit, low memory
 * spared), and all structures are validated after every operation. With DXGK_LONG ten million
 * operations, else some ten thousand.
 */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "ram/frame_pool.h"
#include "util/address.h"
#include "util/rng.h"

enum { MOST_FRAMES = 6000, BLOCKS = 512 };

struct block {
    uint64_t first, count; /* 0: none */
};

static struct {
    struct frame_pool pool;
    void *memory;
    struct rng rng;
    uint64_t frames;
    bool used[MOST_FRAMES];
    struct block blocks[BLOCKS];
    uint64_t taken, refused, longest, split; /* what happened, so that nothing is tested in vain */
} m;

static uint32_t draw(uint32_t bound)
{
    return rng_below(&m.rng, bound);
}

/* ---- the slow version ---- */

static uint64_t free_count(void)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < m.frames; i++)
        count += !m.used[i];
    return count;
}

static bool obeys(const struct frame_want *want, uint64_t first)
{
    uint64_t last = first + want->count - 1;

    return first >= want->low && last < want->high && first % want->align == 0 &&
           (want->boundary == 0 || first / want->boundary == last / want->boundary);
}

static bool is_free(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        if (m.used[i])
            return false;
    return true;
}

/* The highest place at or above `from`; 0: none. */
static uint64_t highest(const struct frame_want *want, uint64_t from)
{
    uint64_t run = 0, found = 0;

    for (uint64_t i = m.frames; i-- > 1 && i >= from;) {
        run = m.used[i] ? 0 : run + 1;
        if (run >= want->count && obeys(want, i) && i > found)
            found = i;
    }
    return found;
}

static struct block hole_of(uint64_t frame)
{
    struct block hole = {frame, 0};

    while (!m.used[hole.first - 1])
        hole.first--;
    while (hole.first + hole.count < m.frames && !m.used[hole.first + hole.count])
        hole.count++;
    return hole;
}

/* No hole that lies wholly in [low, high) and has room is of a smaller class. */
static void check_best(const struct frame_want *want, uint64_t low, unsigned class)
{
    for (uint64_t i = low; i < want->high; i++) {
        struct block hole;

        if (m.used[i])
            continue;
        hole = hole_of(i);
        i = hole.first + hole.count;
        CHECK(hole.first < low || i > want->high || hole.count < want->count ||
              hole_class(hole.count) >= class);
    }
}

/* ---- operations ---- */

static struct frame_want random_want(void)
{
    struct frame_want want = {.count = 1 + (draw(3) ? draw(12) : draw(draw(4) ? 100 : 1200)),
                              .high = m.frames,
                              .align = 1};

    if (draw(3) == 0) {
        want.low = draw((uint32_t)m.frames);
        want.high = want.low + 1 + draw((uint32_t)(m.frames - want.low));
    }
    if (draw(3) == 0)
        want.align = (uint64_t)1 << draw(13);
    if (draw(3) == 0)
        want.boundary = (uint64_t)1 << draw(12);
    return want;
}

static void check_place(const struct frame_want *want, const struct frame_place *place)
{
    struct block hole;
    uint64_t tier = highest(want, 4096) ? 4096 : highest(want, 256) ? 256 : want->low;

    CHECK(place->count == want->count && obeys(want, place->first) &&
          is_free(place->first, place->count));
    hole = hole_of(place->first);
    CHECK(hole.first == place->hole_first && hole.first + hole.count == place->hole_end);
    /* Low memory is spared, and above it the fit is best among what nothing could refuse. */
    CHECK(place->first >= tier);
    if (want->align == 1 && want->boundary == 0 && hole.first >= tier &&
        hole.first + hole.count <= want->high && want->count < EXACT_LENGTHS)
        check_best(want, tier > want->low ? tier : want->low, hole_class(hole.count));
}

static void use(struct block *block, const struct frame_place *place)
{
    frame_pool_take(&m.pool, place);
    *block = (struct block){place->first, place->count};
    memset(&m.used[block->first], true, block->count);
    m.taken++;
}

static void take(struct block *block)
{
    struct frame_want want = random_want();
    struct frame_place place;
    bool possible = highest(&want, 1) != 0, found = frame_pool_find(&m.pool, &want, &place);

    CHECK(found == possible);
    if (!found) {
        m.refused++;
        return;
    }
    check_place(&want, &place);
    use(block, &place);
}

static void take_longest(struct block *block)
{
    uint64_t low = draw((uint32_t)m.frames);
    uint64_t high = low + 1 + draw((uint32_t)(m.frames - low)), most = 0, run = 0;
    struct frame_place place;

    for (uint64_t i = low; i < high; i++) {
        run = m.used[i] ? 0 : run + 1;
        most = run > most ? run : most;
    }
    CHECK(frame_pool_find_longest(&m.pool, low, high, &place) == (most > 0));
    if (most == 0)
        return;
    CHECK(place.first >= low && place.first + place.count <= high &&
          is_free(place.first, place.count));
    CHECK(hole_class(place.count) == hole_class(most));
    m.longest++;
    if (place.count <= 1500)
        use(block, &place);
}

/* All of it, or a part from anywhere inside; the rest stays in one piece or two. */
static void give(struct block *block)
{
    struct block part = *block, *other = &m.blocks[draw(BLOCKS)];

    if (draw(3) == 0) {
        part.first += draw((uint32_t)block->count);
        part.count = 1 + draw((uint32_t)(block->first + block->count - part.first));
    }
    if (part.first > block->first && part.first + part.count < block->first + block->count) {
        if (other->count > 0)
            return;
        *other = (struct block){part.first + part.count,
                                block->first + block->count - part.first - part.count};
        block->count = part.first - block->first;
        m.split++;
    } else if (part.first == block->first) {
        *block = (struct block){part.first + part.count, block->count - part.count};
    } else {
        block->count -= part.count;
    }
    frame_pool_give(&m.pool, part.first, part.count);
    memset(&m.used[part.first], false, part.count);
}

/* ---- the walk ---- */

static void compare(void)
{
    uint64_t from = 1 + draw((uint32_t)m.frames - 1), next = from, used = from, before = from;

    CHECK(frame_pool_validate(&m.pool) && m.pool.free_frames == free_count());
    CHECK(frame_pool_is_free(&m.pool, from) == !m.used[from]);
    while (next < m.frames && m.used[next])
        next++;
    while (used < m.frames && !m.used[used])
        used++;
    while (!m.used[--before])
        ;
    CHECK(frame_map_next_free(&m.pool.map, from) == next &&
          frame_map_next_used(&m.pool.map, from) == used &&
          frame_map_prev_used(&m.pool.map, from) == before);
}

static void begin(uint64_t seed, uint64_t frames)
{
    memset(&m, 0, sizeof(m));
    m.rng.state = seed;
    m.frames = frames;
    m.used[0] = true;
    m.memory = calloc(1, frame_pool_bytes(frames));
    CHECK(m.memory != NULL);
    frame_pool_init(&m.pool, m.memory, frames);
    compare();
}

static void end(void)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (m.blocks[i].count > 0)
            frame_pool_give(&m.pool, m.blocks[i].first, m.blocks[i].count);
    CHECK(frame_pool_validate(&m.pool) && m.pool.free_frames == m.frames - 1);
    free(m.memory);
}

/* `fullness`: how often, of 8, an empty block is filled rather than a full one given. */
static void walk(uint64_t seed, uint64_t frames, unsigned fullness, uint64_t operations)
{
    begin(seed, frames);
    for (uint64_t i = 0; i < operations; i++) {
        struct block *block = &m.blocks[draw(BLOCKS)];

        if (block->count > 0 && draw(8) >= fullness)
            give(block);
        else if (block->count == 0 && draw(16) == 0)
            take_longest(block);
        else if (block->count == 0)
            take(block);
        else
            continue;
        compare();
    }
    CHECK(m.taken > operations / 20 && m.refused > operations / 100 && m.longest > operations / 200);
    CHECK(m.split > operations / 1000);
    end();
}

static uint64_t operations(void)
{
    return getenv("DXGK_LONG") ? 2500000 : 6000;
}

TEST(finds_what_a_search_of_all_frames_finds)
{
    walk(0xBE57F17, 1024, 5, operations());
}

TEST(so_does_a_pool_of_several_chunks)
{
    walk(0xC0C0A, 5000, 6, operations() / 5);
}

TEST(so_does_one_that_ends_within_a_word)
{
    walk(0x0DD, 297, 4, operations());
}

/* ---- single questions ---- */

static struct frame_place must_find(const struct frame_want *want)
{
    struct frame_place place = {0};

    CHECK(frame_pool_find(&m.pool, want, &place));
    return place;
}

static uint64_t must_take(uint64_t count, uint64_t align)
{
    struct frame_want want = {.count = count, .high = m.frames, .align = align};
    struct frame_place place = must_find(&want);

    frame_pool_take(&m.pool, &place);
    return place.first;
}

TEST(a_hole_of_the_very_length_is_taken)
{
    uint64_t first[40];
    unsigned tried = 0;

    begin(1, 4000);
    for (unsigned i = 0; i < 40; i++)
        first[i] = must_take(i + 1, 1);
    for (unsigned i = 0; i < 40; i++) {
        /* Not where the hole would join another. */
        if (frame_pool_is_free(&m.pool, first[i] - 1) || first[i] + i + 1 == m.frames ||
            frame_pool_is_free(&m.pool, first[i] + i + 1))
            continue;
        frame_pool_give(&m.pool, first[i], i + 1);
        CHECK(must_take(i + 1, 1) == first[i]);
        tried++;
    }
    CHECK(tried > 20 && frame_pool_validate(&m.pool));
    free(m.memory);
}

/* Who does not need the start of a large page leaves it to others. */
TEST(starts_of_large_pages_are_spared)
{
    begin(1, 2048 + 1);
    /* Above 1 MiB, one end of the hole holds the start of a large page, and the other does not. */
    CHECK(must_take(100, 1) == 256);
    for (uint64_t line = 512; line <= 2048; line += 512)
        CHECK(frame_pool_is_free(&m.pool, line));
    CHECK(must_take(512, 512) % 512 == 0);
    CHECK(frame_pool_validate(&m.pool));
    free(m.memory);
}

TEST(malformed_requests_find_nothing)
{
    static const struct frame_want bad[] = {
        {.count = 0, .high = 1000, .align = 1},
        {.count = 1, .high = 1001, .align = 1},
        {.count = 1, .low = 5, .high = 5, .align = 1},
        {.count = 4, .low = 5, .high = 8, .align = 1},
        {.count = 1, .high = 1000, .align = 3},
        {.count = 1, .high = 1000, .align = 0},
        {.count = 1, .high = 1000, .align = (uint64_t)1 << 40},
        {.count = 3, .high = 1000, .align = 1, .boundary = 2},
        {.count = 3, .high = 1000, .align = 1, .boundary = 6},
        {.count = UINT64_MAX, .high = 1000, .align = 1},
    };
    struct frame_place place;

    begin(1, 1000);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(!frame_pool_find(&m.pool, &bad[i], &place));
    free(m.memory);
}
