/* SPDX-License-Identifier: MIT */
/* The validators notice each record that does not agree with another one. */
#include "ram/ram.h"
#include "ram/ram_record.h"
#include "support/check_rule.h"
#include "util/alloc.h"

static struct util_heap heap;
static struct ram *ram;

static int set_up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    ram = ram_create(&(struct ram_config){.bytes = (uint64_t)16 << 20});
    return ram ? 0 : -1;
}

static int tear_down(void)
{
    ram_destroy(ram);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_validate void
#define RIG_RUN_validate(body)      \
    test_set_up(set_up, tear_down); \
    body()

/* With another value of one member the records do not hold. */
#define WRONG(member, value)                   \
    do {                                       \
        __typeof__(member) before_ = (member); \
                                               \
        CHECK(ram_validate(ram));              \
        (member) = (value);                    \
        CHECK(!ram_validate(ram));             \
        (member) = before_;                    \
    } while (0)

/* Frames 100 to 103 are used, 101 is locked. */
static void take_some(void)
{
    const struct ram_request request = {.pages = 4,
                                        .low = {100 * PAGE_BYTES},
                                        .high = {104 * PAGE_BYTES - 1},
                                        .owner = RAM_POOL,
                                        .cache = RAM_CACHED};
    struct page_number first;

    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == 100);
    ram_lock_page(ram, (struct page_number){101});
}

TEST_WITH(validate, frames_agree_with_the_pool)
{
    take_some();
    WRONG(ram->frames[100], RAM_FREE);
    WRONG(ram->frames[99], RAM_POOL);
    WRONG(ram->frames[100], RAM_QUARANTINED);
    WRONG(ram->frames[100], ram->frames[100] | FRAME_HELD);
    WRONG(ram->frames[101], ram->frames[101] & (uint8_t)~FRAME_HELD);
    WRONG(ram->locks.few[100], 1);
    WRONG(ram->iommu_maps.few[102], 1);
    WRONG(ram->locks.few[101], 0);
    WRONG(ram->pool.free_frames, ram->pool.free_frames - 1);
    WRONG(ram->arena_free.free_units, 1);
    CHECK(ram_validate(ram));
}

TEST_WITH(validate, maps_agree_with_their_summaries)
{
    struct frame_map *map = &ram->pool.map;

    take_some();
    WRONG(map->used[0][0], map->used[0][0] & ~(uint64_t)1);
    WRONG(map->used[0][1], 0);
    WRONG(map->used[0][5], 1);
    WRONG(map->used[1][0], map->used[1][0] ^ 2);
    WRONG(map->used[1][0], map->used[1][0] ^ (uint64_t)1 << 63);
    WRONG(map->full[1][0], map->full[1][0] ^ 2);
    WRONG(map->used[2][0], map->used[2][0] ^ 1);
    WRONG(map->full[2][0], map->full[2][0] ^ 1);
    WRONG(map->used[3][0], map->used[3][0] ^ 1);
    WRONG(map->full[3][0], map->full[3][0] ^ 1);
    CHECK(ram_validate(ram));
}

/* Holes of [1, 100) and [104, 4096): classes of their lengths, in chunk 0. */
TEST_WITH(validate, indexes_agree_with_holes)
{
    struct hole_index *index = &ram->pool.index;
    unsigned class = hole_class(99), word = class / 64;

    take_some();
    CHECK(index->low[0].chunks[0][class].some & 1);
    WRONG(index->low[0].chunks[0][class].some, 0);
    WRONG(index->low[0].chunks[0][class].some, 3);
    WRONG(index->low[0].chunks[0][class + 1].some, 1);
    WRONG(index->low[0].chunks[0][class].several, 2);
    WRONG(index->low[0].chunks[2][1].some, 1);
    WRONG(index->low[0].classes[0][word],
          index->low[0].classes[0][word] ^ (uint64_t)1 << class % 64);
    WRONG(index->low[0].classes[1][10], 1);
    WRONG(index->level[1][0].children[0][class], 0);
    WRONG(index->level[1][0].children[0][class], 2);
    WRONG(index->level[1][0].classes[0][word], 0);
    WRONG(index->level[2][0].children[0][class], 0);
    WRONG(index->level[2][0].classes[0][word], 0);
    WRONG(index->level[2][0].classes[2][0], (uint64_t)1 << 63);
    CHECK(ram_validate(ram));
}
