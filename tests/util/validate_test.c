/* SPDX-License-Identifier: MIT */
/* Structures that are damaged are told from those that are whole: each invariant is broken alone, and mended again. */
#include "support/check_rule.h"

#include "util/alloc.h"
#include "util/extent.h"
#include "util/extent_node.h"
#include "util/handle.h"
#include "util/hash.h"
#include "util/order.h"
#include "util/slab.h"
#include "util/span_tree.h"

#include <string.h>

/* With another value in one place, the structure is damaged; with the old one, whole again. */
#define DAMAGES(valid, place, value)       \
    do {                                   \
        __typeof__(place) kept_ = (place); \
        (place) = (value);                 \
        CHECK(!(valid));                   \
        (place) = kept_;                   \
        CHECK(valid);                      \
    } while (0)

TEST(a_hash_map_that_is_damaged_is_told)
{
    struct hash_map map;
    struct hash_entry *entry = NULL, *empty = NULL;
    uint32_t slot;

    hash_init(&map);
    CHECK(hash_validate(&map));
    DAMAGES(hash_validate(&map), map.count, 1);
    DAMAGES(hash_validate(&map), map.entries, (struct hash_entry *)&map);
    for (uint64_t key = 1; key <= 6; key++)
        CHECK(hash_put(&map, key, &map));
    CHECK(hash_validate(&map));
    DAMAGES(hash_validate(&map), map.count, 5);
    DAMAGES(hash_validate(&map), map.count, 7);
    DAMAGES(hash_validate(&map), map.capacity, map.capacity - 1);
    for (slot = 0; slot < map.capacity; slot++) {
        if (map.entries[slot].key == 0)
            empty = &map.entries[slot];
        else
            entry = &map.entries[slot];
    }
    CHECK(entry && empty);
    /* one more, and one twice */
    DAMAGES(hash_validate(&map), empty->key, entry->key);
    DAMAGES(hash_validate(&map), entry->key, 0);
    hash_finish(&map);
    CHECK(hash_validate(&map));
}

/* At most three quarters are in use. */
TEST(a_hash_map_that_is_too_full_is_told)
{
    struct hash_map map;
    uint32_t capacity, most;
    uint64_t key = 1;

    hash_init(&map);
    CHECK(hash_put(&map, key++, &map));
    capacity = map.capacity;
    most = capacity / 4 * 3;
    while (map.count < most)
        CHECK(hash_put(&map, key++, &map));
    CHECK(map.capacity == capacity && hash_validate(&map));
    CHECK(hash_put(&map, key, &map) && map.capacity == 2 * capacity && hash_validate(&map));
    CHECK(hash_put(&map, key, &capacity) && map.capacity == 2 * capacity);
    CHECK(hash_get(&map, key) == &capacity && map.count == most + 1);
    hash_finish(&map);
}

TEST(a_tree_of_ranges_that_is_damaged_is_told)
{
    struct extent_tree tree;
    struct extent_node *root, *leaf;

#define VALID extent_tree_validate(&tree)
    extent_tree_init(&tree);
    CHECK(VALID);
    DAMAGES(VALID, tree.height, 1);
    DAMAGES(VALID, tree.free_units, 1);
    DAMAGES(VALID, tree.extents, 1);
    DAMAGES(VALID, tree.says.best[0], 1);
    for (uint64_t i = 0; i < 100; i++)
        CHECK(extent_give(&tree, 100 * i, 20 + i % 3));
    CHECK(VALID && tree.height == 2);
    root = tree.root;
    leaf = root->of[1].child;
    DAMAGES(VALID, tree.height, 0);
    DAMAGES(VALID, tree.root, NULL);
    DAMAGES(VALID, tree.free_units, tree.free_units + 1);
    DAMAGES(VALID, tree.extents, tree.extents - 1);
    DAMAGES(VALID, tree.says.best[1], tree.says.best[1] + 1);
    DAMAGES(VALID, root->low[1], root->low[1] + 1);
    DAMAGES(VALID, root->best[2][1], root->best[2][1] + 1);
    DAMAGES(VALID, root->count, 1);
    DAMAGES(VALID, root->count, WIDTH + 1);
    DAMAGES(VALID, leaf->count, MIN - 1);
    DAMAGES(VALID, leaf->low[1], leaf->low[0] + leaf->of[0].size); /* it touches the one before */
    DAMAGES(VALID, leaf->of[0].size, 0);
    DAMAGES(VALID, leaf->of[0].size, leaf->of[0].size + 1);
    DAMAGES(VALID, leaf->best[0][0], leaf->best[0][0] - 1);
    DAMAGES(VALID, leaf->best[1][0], leaf->best[1][0] + 1);
    DAMAGES(VALID, leaf->best[0][leaf->count], 1);
    DAMAGES(VALID, leaf->best[1][leaf->count], 1);
    DAMAGES(VALID, leaf->best[2][leaf->count], 1);
    DAMAGES(VALID, leaf->low[leaf->count], 0);
    DAMAGES(VALID, tree.nodes.spare_objects, tree.nodes.spare_objects + 1);
    DAMAGES(VALID, tree.nodes.objects, tree.nodes.objects + 1);
#undef VALID
    extent_tree_finish(&tree);
}

TEST(a_table_of_handles_that_is_damaged_is_told)
{
    struct handle_table table;
    uint32_t handle[5];

#define VALID handle_table_validate(&table)
    handle_table_init(&table, &handle_layout_plain);
    CHECK(VALID);
    DAMAGES(VALID, table.live, 1);
    DAMAGES(VALID, table.free_last, 0);
    for (unsigned i = 0; i < 5; i++)
        CHECK((handle[i] = handle_create(&table, 3, &table)) != 0);
    CHECK(handle_remove(&table, handle[1], 3) == &table && VALID);
    DAMAGES(VALID, table.live, 3);
    DAMAGES(VALID, table.live, 5);
    DAMAGES(VALID, table.free_last, UINT32_MAX);
    DAMAGES(VALID, table.free_first, table.free_last); /* the others are lost */
    DAMAGES(VALID, table.free_first, table.capacity);
    DAMAGES(VALID, table.free_first, 0); /* one that is in use */
    DAMAGES(VALID, table.capacity, table.capacity - 1);
#undef VALID
    handle_table_finish(&table);
    CHECK(handle_table_validate(&table));
}

TEST(an_order_that_is_damaged_is_told)
{
    struct order_tree tree = {0};
    struct order_node node[20];
    struct order_node *root, *first, *second;

#define VALID order_validate(&tree)
    CHECK(VALID);
    DAMAGES(VALID, tree.count, 1);
    for (unsigned i = 0; i < 20; i++)
        order_insert(&tree, &node[i], 10 * (i / 4), i);
    CHECK(VALID);
    root = tree.root;
    first = order_first(&tree);
    second = order_next(first);
    DAMAGES(VALID, tree.count, 19);
    DAMAGES(VALID, tree.count, 21);
    DAMAGES(VALID, root->parent, first);
    DAMAGES(VALID, first->major, UINT64_MAX);
    DAMAGES(VALID, first->minor, second->minor + 1);
    DAMAGES(VALID, root->weight, 0);
    for (unsigned i = 0; i < 20; i++) {
        if (node[i].parent)
            DAMAGES(VALID, node[i].weight, UINT64_MAX);
        if (node[i].left && node[i].right) {
            struct order_node *left = node[i].left, *right = node[i].right;

            node[i].left = right;
            node[i].right = left;
            CHECK(!VALID);
            node[i].left = left;
            node[i].right = right;
        }
    }
    CHECK(VALID);
#undef VALID
}

TEST(a_cache_of_objects_that_is_damaged_is_told)
{
    struct slab slab;
    void *one, *two;

#define VALID slab_validate(&slab)
    slab_init(&slab, 24);
    CHECK(VALID);
    DAMAGES(VALID, slab.objects, 1);
    one = slab_take(&slab);
    two = slab_take(&slab);
    CHECK(one && two && VALID);
    slab_give(&slab, one);
    DAMAGES(VALID, slab.objects, slab.objects - 1);
    DAMAGES(VALID, slab.spare_objects, slab.spare_objects + 1);
    DAMAGES(VALID, slab.spare_objects, slab.spare_objects - 1);
    DAMAGES(VALID, slab.spare, NULL);
    memcpy((char *)two + 8, one, sizeof(void *)); /* so that the number of spare ones is right */
    DAMAGES(VALID, slab.spare, (struct slab_object *)(void *)((char *)two + 8)); /* inside of one */
    DAMAGES(VALID, *(void **)one, one);                                          /* a ring */
    DAMAGES(VALID, *(void **)one, (void *)&slab);                                /* of no chunk */
#undef VALID
    slab_finish(&slab);
    CHECK(slab.objects == 0 && slab.object_bytes == 24 && slab_validate(&slab));
}

/* Of less than a pointer, of a cache line, and of more than a chunk. */
TEST(objects_of_any_size_are_apart)
{
    static const size_t sizes[] = {1, 7, 8, 9, 64, 100, 128, 4096, 5000000};
    struct util_heap heap = {0};

    util_heap_current = &heap;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct slab slab;
        char *object[20];

        slab_init(&slab, sizes[i]);
        CHECK(slab.object_bytes >= sizes[i] && slab.object_bytes >= sizeof(void *) &&
              slab.object_bytes % 8 == 0 && slab.object_bytes < sizes[i] + 8);
        for (unsigned k = 0; k < 20; k++) {
            object[k] = slab_take(&slab);
            CHECK(object[k] && (uintptr_t)object[k] % 8 == 0);
            if (slab.object_bytes % 64 == 0)
                CHECK((uintptr_t)object[k] % 64 == 0);
            object[k][0] = object[k][sizes[i] - 1] = (char)k;
            for (unsigned j = 0; j < k; j++)
                CHECK((size_t)(object[k] > object[j] ? object[k] - object[j]
                                                     : object[j] - object[k]) >= sizes[i]);
        }
        CHECK(slab_validate(&slab));
        for (unsigned k = 0; k < 20; k++)
            CHECK(object[k][0] == (char)k && object[k][sizes[i] - 1] == (char)k);
        slab_finish(&slab);
        CHECK(heap.live_blocks == 0);
    }
    util_heap_current = NULL;
}

TEST(objects_that_are_reserved_are_there)
{
    struct util_heap heap = {0};
    struct slab slab;

    util_heap_current = &heap;
    slab_init(&slab, 4096);
    CHECK(slab_reserve(&slab, 0) && slab.objects == 0);
    CHECK(slab_reserve(&slab, 100) && slab.spare_objects >= 100 && slab_validate(&slab));
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    CHECK(slab_reserve(&slab, slab.spare_objects));
    CHECK(!slab_reserve(&slab, slab.spare_objects + 1) && slab_validate(&slab));
    while (slab.spare_objects)
        CHECK(slab_take(&slab));
    CHECK(!slab_take(&slab) && slab_validate(&slab));
    slab_finish(&slab);
    util_heap_current = NULL;
}

TEST(a_tree_of_spans_that_is_damaged_is_told)
{
    struct span_tree tree = {0};
    struct span_node node[15];
    struct span_node *leaf = &node[0], *root;

#define VALID span_validate(&tree)
    CHECK(VALID);
    DAMAGES(VALID, tree.count, 1);
    for (unsigned i = 0; i < 15; i++) {
        node[i].first = 10 * (i + 1);
        node[i].pages = 10;
        span_insert(&tree, &node[i]);
    }
    CHECK(VALID);
    root = tree.root;
    DAMAGES(VALID, tree.count, 14);
    DAMAGES(VALID, tree.count, 16);
    DAMAGES(VALID, leaf->pages, 0);
    DAMAGES(VALID, leaf->pages, 11);   /* into the next one */
    DAMAGES(VALID, node[1].first, 19); /* into the one before */
    DAMAGES(VALID, leaf->height, 2);
    DAMAGES(VALID, root->height, root->height + 1);
    DAMAGES(VALID, root->child[0], NULL);
    DAMAGES(VALID, root->child[1], NULL);
    DAMAGES(VALID, root->child[1], root->child[0]);
    CHECK(span_first(&tree) == leaf && span_next(&tree, leaf) == &node[1] &&
          !span_next(&tree, &node[14]));
    CHECK(span_at(&tree, 10) == leaf && span_at(&tree, 19) == leaf && !span_at(&tree, 9) &&
          span_at(&tree, 159) == &node[14] && !span_at(&tree, 160));
    CHECK(span_from(&tree, 9) == leaf && span_from(&tree, 159) == &node[14] &&
          !span_from(&tree, 160));
    span_remove(&tree, root);
    CHECK(VALID && tree.count == 14);
#undef VALID
}

/* ---- limits ---- */

#define LIMIT_UNITS ((uint64_t)1 << 63)

TEST(ranges_end_at_the_limit)
{
    struct extent_request want = {.size = 8, .high = UINT64_MAX};
    struct extent_tree tree;
    uint64_t start = 7, size = 7;

    extent_tree_init(&tree);
    CHECK(!extent_next(&tree, 0, &start, &size) && start == 7 && size == 7);
    CHECK(!extent_is_free(&tree, 0, 1) && extent_largest(&tree) == 0);
    CHECK(!extent_give(&tree, 0, 0) && !extent_give(&tree, LIMIT_UNITS, 1) &&
          !extent_give(&tree, LIMIT_UNITS - 15, 16) && !extent_give(&tree, 1, LIMIT_UNITS) &&
          !extent_give(&tree, 0, UINT64_MAX));
    CHECK(extent_give(&tree, LIMIT_UNITS - 16, 15));
    CHECK(extent_take(&tree, &want, &start) && start == LIMIT_UNITS - 16); /* no bound is one */
    want.from_end = true;
    want.size = 4;
    CHECK(extent_take(&tree, &want, &start) && start == LIMIT_UNITS - 5);
    CHECK(extent_is_free(&tree, LIMIT_UNITS - 8, 3) && !extent_is_free(&tree, LIMIT_UNITS - 8, 4) &&
          !extent_is_free(&tree, LIMIT_UNITS - 9, 2));
    CHECK(!extent_take_fixed(&tree, LIMIT_UNITS - 8, 0) &&
          !extent_take_fixed(&tree, LIMIT_UNITS - 8, 4));
    CHECK(extent_take_fixed(&tree, LIMIT_UNITS - 8, 3) && tree.extents == 0);
    want.align = 3;
    CHECK(!extent_take(&tree, &want, &start) && !tree.out_of_memory);
    extent_tree_finish(&tree);
}

TEST(a_request_that_makes_no_sense_takes_nothing)
{
    struct extent_tree tree;
    uint64_t start = 7;

    extent_tree_init(&tree);
    CHECK(extent_give(&tree, 0, 1024));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 0}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = UINT64_MAX}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 1, .align = 6}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 1, .align = LIMIT_UNITS, .low = 1},
                       &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 1025}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 2, .low = 1023}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 2, .high = 1}, &start));
    CHECK(start == 7 && tree.free_units == 1024 && tree.taken == 0);
    CHECK(extent_take(&tree, &(struct extent_request){.size = 1024, .high = 1024}, &start) &&
          start == 0 && tree.extents == 0);
    CHECK(extent_give(&tree, 0, 1024) && !extent_give(&tree, 1023, 1) &&
          extent_give(&tree, 1024, 1));
    CHECK(tree.extents == 1 && tree.free_units == 1025);
    extent_tree_finish(&tree);
}

/* Ranges of 2^32 units and more, below different branches. */
TEST(the_largest_of_very_long_ranges_is_found)
{
    struct extent_tree tree;

    extent_tree_init(&tree);
    for (uint64_t i = 0; i < 200; i++)
        CHECK(extent_give(&tree, i << 40, ((uint64_t)1 << 33) + (i * 77) % 200));
    CHECK(extent_largest(&tree) == ((uint64_t)1 << 33) + 199 && extent_tree_validate(&tree));
    CHECK(extent_give(&tree, ((uint64_t)50 << 40) - 100, 100));
    CHECK(extent_largest(&tree) == ((uint64_t)1 << 33) + 199);
    extent_tree_finish(&tree);
}
