/* SPDX-License-Identifier: MIT */
#include "util/arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check_rule.h"

#define MIB ((size_t)1 << 20)

TEST(blocks_are_zeroed_aligned_and_apart)
{
    struct util_arena *arena = util_arena_create(64 * MIB);
    char *one = util_arena_alloc(arena, 1), *two = util_arena_alloc(arena, 100);

    CHECK(one && two && (uintptr_t)one % 16 == 0 && two - one == 16);
    for (size_t i = 0; i < 100; i++)
        CHECK(two[i] == 0);
    util_arena_destroy(arena);
}

TEST(a_full_arena_says_so_and_stays_whole)
{
    struct util_arena *arena = util_arena_create(64 * MIB);
    size_t before = util_arena_mark(arena);

    CHECK(!util_arena_alloc(arena, 64 * MIB));
    CHECK(!util_arena_alloc(arena, SIZE_MAX));
    CHECK(util_arena_mark(arena) == before);
    CHECK(util_arena_alloc(arena, 64 * MIB - before));
    CHECK(!util_arena_alloc(arena, 1));
    util_arena_destroy(arena);
}

TEST(blocks_after_a_reset_are_zeroed_again)
{
    struct util_arena *arena = util_arena_create(64 * MIB);
    const size_t sizes[] = {1000, 20 * MIB}; /* cleared when taken; given back at once */
    size_t mark;

    (void)util_arena_alloc(arena, 48);
    mark = util_arena_mark(arena);
    for (size_t i = 0; i < 2; i++) {
        char *block = util_arena_alloc(arena, sizes[i]), *again;

        memset(block, 0xAA, sizes[i]);
        util_arena_reset(arena, mark);
        again = util_arena_alloc(arena, sizes[i] + 64);
        CHECK(again == block);
        for (size_t at = 0; at < sizes[i] + 64; at++)
            CHECK(again[at] == 0);
        util_arena_reset(arena, mark);
    }
    util_arena_destroy(arena);
}

TEST(what_a_child_writes_is_there_when_it_has_ended)
{
    struct util_arena *arena = util_arena_create(64 * MIB);
    char *block = util_arena_alloc(arena, 32);
    pid_t child = fork();

    if (child == 0) {
        char *own = util_arena_alloc(arena, 32);

        strcpy(block, "before");
        strcpy(own, "after");
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(strcmp(block, "before") == 0);
    CHECK(strcmp(block + 32, "after") == 0);
    CHECK(util_arena_has(arena, block, 64));
    CHECK(!util_arena_has(arena, block, 65));
    CHECK(!util_arena_has(arena, arena, 1));
    CHECK(!util_arena_has(arena, NULL, 1));
    util_arena_destroy(arena);
}
