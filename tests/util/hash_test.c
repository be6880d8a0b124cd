/* SPDX-License-Identifier: MIT */
/* The hash map against an array indexed by key. */
#include "support/check_rule.h"

#include "util/alloc.h"
#include "util/hash.h"
#include "util/rng.h"

enum { KEYS = 500 };

static char objects[KEYS];

TEST(agrees_with_a_model_over_random_walks)
{
    for (uint64_t stride = 1; stride < (uint64_t)1 << 60;
         stride *= 4096) { /* keys that differ in their high bits only */
        struct hash_map map;
        struct rng rng = {.state = stride};
        char *model[KEYS] = {0};
        uint32_t live = 0;

        hash_init(&map);
        for (unsigned step = 0; step < 5000; step++) {
            uint64_t pick = rng_below(&rng, KEYS - 1) + 1, key = pick * stride;

            CHECK(hash_get(&map, key) == model[pick]);
            if (rng_below(&rng, 2)) {
                live += model[pick] == NULL;
                model[pick] = &objects[rng_below(&rng, KEYS)];
                CHECK(hash_put(&map, key, model[pick]));
            } else {
                CHECK(hash_remove(&map, key) == model[pick]);
                live -= model[pick] != NULL;
                model[pick] = NULL;
            }
            CHECK(map.count == live);
            if (step % 50 == 0) {
                uint32_t cursor = 0, seen = 0;
                uint64_t at;
                void *value;

                CHECK(hash_validate(&map));
                for (; hash_next(&map, &cursor, &at, &value); seen++)
                    CHECK(model[at / stride] == value);
                CHECK(seen == live);
            }
        }
        hash_finish(&map);
    }
}

TEST(an_empty_map_has_nothing)
{
    struct hash_map map;

    hash_init(&map);
    CHECK(hash_get(&map, 5) == NULL && hash_remove(&map, 5) == NULL && hash_get(&map, 0) == NULL);
    CHECK(hash_put(&map, 5, &objects[5]) && hash_get(&map, 0) == NULL &&
          hash_remove(&map, 0) == NULL);
    CHECK(hash_remove(&map, 5) == &objects[5] && map.count == 0 && hash_validate(&map));
    hash_finish(&map);
}

TEST(running_out_of_memory_changes_nothing)
{
    struct util_heap heap = {0};
    struct hash_map map;
    uint64_t key = 1;

    util_heap_current = &heap;
    hash_init(&map);
    heap.fail_at = 3;
    heap.fail_onward = true;
    while (hash_put(&map, key, &objects[0]))
        key++;
    CHECK(map.count == key - 1 && hash_validate(&map) && hash_get(&map, key) == NULL);
    CHECK(hash_put(&map, 1, &objects[1]) && hash_get(&map, 1) == &objects[1]);
    hash_finish(&map);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
}
