/* SPDX-License-Identifier: MIT */
/* The handle table against an array of what is live. */
#include "support/check_rule.h"

#include "util/alloc.h"
#include "util/handle.h"
#include "util/rng.h"

enum { LIVE = 300 };

static char objects[LIVE];

TEST(handles_name_objects_of_one_type)
{
    struct handle_table table;
    uint32_t a, b;

    handle_table_init(&table, &handle_layout_plain);
    CHECK(handle_lookup(&table, 0, 0) == NULL && handle_lookup(&table, UINT32_MAX, 0) == NULL);
    a = handle_create(&table, 1, &objects[1]);
    b = handle_create(&table, 2, &objects[2]);
    CHECK(a != 0 && b != 0 && a != b && table.live == 2);
    CHECK(handle_lookup(&table, a, 1) == &objects[1] && handle_lookup(&table, a, 0) == &objects[1]);
    CHECK(handle_lookup(&table, a, 2) == NULL && handle_type(&table, b) == 2);
    CHECK(handle_remove(&table, a, 2) == NULL && handle_remove(&table, a, 1) == &objects[1]);
    CHECK(handle_lookup(&table, a, 0) == NULL && handle_type(&table, a) == 0 &&
          handle_remove(&table, a, 0) == NULL);
    CHECK(handle_lookup(&table, b ^ (1u << 20), 0) == NULL); /* another generation */
    CHECK(handle_lookup(&table, b | 1u << 30, 0) == NULL);
    CHECK(handle_table_validate(&table));
    handle_table_finish(&table);
}

TEST(stale_handles_stay_stale_for_a_thousand_reuses)
{
    struct handle_table table;
    uint32_t first, handle;

    handle_table_init(&table, &handle_layout_plain);
    first = handle_create(&table, 1, &objects[0]);
    CHECK(handle_remove(&table, first, 1) == &objects[0]);
    for (unsigned i = 0; i < 16 * 1022; i++) { /* 16 slots, first come first served */
        handle = handle_create(&table, 1, &objects[1]);
        CHECK(handle != first && handle_lookup(&table, first, 0) == NULL);
        CHECK(handle_remove(&table, handle, 1) == &objects[1]);
    }
    CHECK(table.capacity == 16 && handle_table_validate(&table));
    handle_table_finish(&table);
}

/* The bits of the four layouts, and what comes after the last generation. */
TEST(a_layout_says_where_slot_and_generation_lie)
{
    static const struct {
        const struct handle_layout *layout;
        uint32_t first, second, zero;
    } known[] = {
        {&handle_layout_plain, 1u << 20, (1u << 20) + 1, 0xC0000000},
        {&handle_layout_short, 1u << 20, (1u << 20) + 1, 0xF0000000},
        {&handle_layout_local, 0x40000000, 0x40000040, 0x3F},
        {&handle_layout_global, 0x40000002, 0x40000042, 0x3D},
    };

    for (unsigned i = 0; i < 4; i++) {
        struct handle_table table;

        handle_table_init(&table, known[i].layout);
        CHECK(handle_create(&table, 1, &objects[0]) == known[i].first);
        CHECK(handle_create(&table, 1, &objects[1]) == known[i].second);
        CHECK(handle_lookup(&table, known[i].first ^ 1u, 0) ==
              (known[i].second == (known[i].first ^ 1u) ? &objects[1] : NULL));
        for (unsigned j = 0; j < 1u << 16; j++) {
            uint32_t handle = handle_create(&table, 1, &objects[2]);

            CHECK(handle && (handle & known[i].zero) == 0);
            CHECK(handle >> known[i].layout->generation_shift != 0);
            CHECK(handle_remove(&table, handle, 1) == &objects[2]);
        }
        CHECK(handle_table_validate(&table));
        handle_table_finish(&table);
    }
}

/* KMT-028: with two bits of generation, the FIFO makes up for it. */
TEST(client_handles_ascend_and_come_back_late)
{
    struct handle_table table;
    uint32_t first, handle, before;
    unsigned created = 0;

    handle_table_init(&table, &handle_layout_local);
    before = first = handle_create(&table, 1, &objects[0]);
    CHECK(handle_remove(&table, first, 1) == &objects[0]);
    do {
        handle = handle_create(&table, 1, &objects[1]);
        CHECK_RULE("KMT-028", created >= 255 || handle == before + 0x40);
        before = handle;
        CHECK(handle_remove(&table, handle, 1) == &objects[1]);
        created++;
    } while (handle != first);
    CHECK_RULE("KMT-028", created >= 3 * 256);
    CHECK(handle_table_validate(&table));
    handle_table_finish(&table);
}

TEST(agrees_with_a_model_over_random_walks)
{
    struct handle_table table;
    struct rng rng = {.state = 3};
    uint32_t handles[LIVE] = {0}, retired = 0;

    handle_table_init(&table, &handle_layout_plain);
    for (unsigned step = 0; step < 20000; step++) {
        unsigned pick = rng_below(&rng, LIVE);

        if (handles[pick] == 0) {
            handles[pick] = handle_create(&table, (uint8_t)(1 + pick % 7), &objects[pick]);
            CHECK(handles[pick] != 0);
        } else {
            CHECK(handle_remove(&table, handles[pick], (uint8_t)(1 + pick % 7)) == &objects[pick]);
            retired = handles[pick];
            handles[pick] = 0;
        }
        CHECK(retired == 0 || handle_lookup(&table, retired, 0) == NULL);
        pick = rng_below(&rng, LIVE);
        if (handles[pick])
            CHECK(handle_lookup(&table, handles[pick], (uint8_t)(1 + pick % 7)) == &objects[pick]);
        if (step % 100 == 0) {
            uint32_t cursor = 0, handle, live = 0;
            uint8_t type;

            CHECK(handle_table_validate(&table));
            for (char *at; (at = handle_next(&table, &cursor, &handle, &type)) != NULL; live++)
                CHECK(handles[at - objects] == handle && type == 1 + (at - objects) % 7);
            CHECK(live == table.live);
        }
    }
    handle_table_finish(&table);
}

TEST(removal_during_a_walk_is_allowed)
{
    struct handle_table table;
    uint32_t cursor = 0, handle, count = 0;

    handle_table_init(&table, &handle_layout_plain);
    for (unsigned i = 0; i < 40; i++)
        CHECK(handle_create(&table, 1, &objects[i]));
    while (handle_next(&table, &cursor, &handle, NULL)) {
        CHECK(handle_remove(&table, handle, 0));
        count++;
    }
    CHECK(count == 40 && table.live == 0 && handle_table_validate(&table));
    handle_table_finish(&table);
}

TEST(running_out_of_memory_keeps_what_is_there)
{
    struct util_heap heap = {0};
    struct handle_table table;
    unsigned made = 0;

    util_heap_current = &heap;
    handle_table_init(&table, &handle_layout_plain);
    heap.fail_at = 3;
    heap.fail_onward = true;
    while (handle_create(&table, 1, &objects[0]))
        made++;
    CHECK(made == 32 && table.live == 32 && handle_table_validate(&table));
    handle_table_finish(&table);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
}

TEST(the_limit_is_a_million_handles)
{
    struct handle_table table;
    uint32_t last = 0;

    handle_table_init(&table, &handle_layout_plain);
    for (uint32_t i = 0; i < 1u << 20; i++)
        last = handle_create(&table, 1, &objects[0]);
    CHECK(last != 0 && table.live == 1u << 20);
    CHECK(handle_create(&table, 1, &objects[0]) == 0);
    CHECK(handle_remove(&table, last, 1) && handle_create(&table, 1, &objects[0]) != last);
    handle_table_finish(&table);
}
