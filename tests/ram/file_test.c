/* SPDX-License-Identifier: MIT */
/* Memory files, and the depot that hands them from one machine to the next. */
#include "support/check_rule.h"

#include <string.h>
#include <sys/stat.h>

#include "ram/file.h"
#include "util/address.h"
#include "util/alloc.h"

#define MIB ((uint64_t)1 << 20)

/* What the host has spent on the file. */
static uint64_t taken(const struct ram_file *file)
{
    struct stat status;

    CHECK(fstat(file->file, &status) == 0);
    return (uint64_t)status.st_blocks * 512;
}

static bool all_zero(const struct ram_file *file, uint64_t from, uint64_t bytes)
{
    for (uint64_t i = from; i < from + bytes; i++)
        if (file->bytes[i] != 0)
            return false;
    return true;
}

TEST(a_file_is_zero_and_sparse)
{
    struct ram_file file;

    CHECK(ram_file_open(NULL, (uint64_t)1 << 34, &file));
    CHECK(file.size == (uint64_t)1 << 34 && taken(&file) == 0);
    CHECK(all_zero(&file, file.size - PAGE_BYTES, PAGE_BYTES));
    file.bytes[0] = 1;
    ram_file_close(NULL, &file);
    CHECK(!file.bytes);
    ram_file_close(NULL, &file); /* nothing is open: nothing happens */
}

/* The first page, the last one, runs, single bytes at the ends of pages. */
static void scribble(const struct ram_file *file)
{
    file->bytes[0] = 1;
    memset(file->bytes + 5 * PAGE_BYTES, 0xAA, 3 * PAGE_BYTES);
    file->bytes[17 * PAGE_BYTES - 1] = 2;
    file->bytes[file->size - 1] = 3;
}

TEST(a_kept_file_reads_as_a_new_one)
{
    struct ram_depot *depot = ram_depot_create();
    struct ram_file file;
    uint64_t before = 0;
    uint8_t *bytes;

    CHECK(depot && ram_file_open(depot, MIB, &file));
    for (unsigned round = 0; round < 3; round++) {
        scribble(&file);
        before = taken(&file);
        bytes = file.bytes;
        ram_file_close(depot, &file);
        CHECK(ram_file_open(depot, MIB, &file));
        CHECK(file.bytes == bytes && file.size == MIB); /* the same, with its pages */
        CHECK(taken(&file) == before);
        CHECK(all_zero(&file, 0, MIB)); /* a look makes pages, too */
    }
    ram_file_close(depot, &file);
    ram_depot_destroy(depot);
}

TEST(files_of_other_sizes_are_let_be)
{
    struct ram_depot *depot = ram_depot_create();
    struct ram_file small, large, other;

    CHECK(depot && ram_file_open(depot, MIB, &small) && ram_file_open(depot, 2 * MIB, &large));
    small.bytes[0] = large.bytes[0] = 1;
    ram_file_close(depot, &large);
    CHECK(ram_file_open(depot, MIB, &other) && other.bytes != small.bytes && other.bytes[0] == 0);
    CHECK(small.bytes[0] == 1); /* in use: not to be given out */
    ram_file_close(depot, &small);
    ram_file_close(depot, &other);
    CHECK(ram_file_open(depot, 2 * MIB, &large) && large.bytes[0] == 0);
    ram_file_close(depot, &large);
    ram_depot_destroy(depot);
}

/* More of them than a depot keeps, and one with more in it than is worth keeping. */
TEST(a_depot_has_its_limits)
{
    struct ram_depot *depot = ram_depot_create();
    struct ram_file file[20], full;

    CHECK(depot);
    for (unsigned i = 0; i < 20; i++)
        CHECK(ram_file_open(depot, MIB, &file[i]));
    for (unsigned i = 0; i < 20; i++)
        ram_file_close(depot, &file[i]);
    CHECK(ram_file_open(depot, 64 * MIB, &full));
    memset(full.bytes, 1, 64 * MIB);
    ram_file_close(depot, &full);
    CHECK(ram_file_open(depot, 64 * MIB, &full));
    CHECK(taken(&full) == 0);
    ram_file_close(depot, &full);
    ram_depot_destroy(depot);
    ram_depot_destroy(NULL);
}

TEST(opening_survives_without_memory)
{
    struct util_heap heap = {.fail_at = 1};
    struct ram_depot *depot = ram_depot_create();
    struct ram_file file;

    util_heap_current = &heap;
    CHECK(depot && !ram_file_open(depot, MIB, &file) && !file.bytes);
    CHECK(ram_file_open(depot, MIB, &file));
    ram_file_close(depot, &file);
    heap.fail_at = heap.requests + 1; /* whether it would have been a kept one makes no difference */
    CHECK(!ram_file_open(depot, MIB, &file) && !file.bytes);
    util_heap_current = NULL;
    ram_depot_destroy(depot);
}
