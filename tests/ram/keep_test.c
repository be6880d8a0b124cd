/* SPDX-License-Identifier: MIT */
/* Memory files that are set back to what they held. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ram/file.h"
#include "ram/keep.h"
#include "util/address.h"
#include "util/rng.h"

#define PAGES 4096u
#define BYTES (PAGES * PAGE_BYTES)

static uint64_t taken_pages(const struct ram_file *file)
{
    struct stat status;

    CHECK(fstat(file->file, &status) == 0);
    return (uint64_t)status.st_blocks * 512 / PAGE_BYTES;
}

TEST(only_pages_that_were_touched_are_kept)
{
    struct ram_keep *keep = ram_keep_create();
    struct ram_file file, other;

    CHECK(ram_file_open(NULL, BYTES, &file));
    CHECK(ram_file_open(NULL, BYTES, &other));
    file.bytes[10 * PAGE_BYTES] = 1;
    file.bytes[11 * PAGE_BYTES] = 1;
    file.bytes[100 * PAGE_BYTES] = 1;
    other.bytes[0] = 1;
    CHECK(ram_keep_add(keep, &file) && ram_keep_add(keep, &other));
    CHECK(ram_keep_bytes(keep) == 4 * PAGE_BYTES);
    CHECK(ram_keep_restore(keep) == 0);
    ram_keep_destroy(keep);
    ram_file_close(NULL, &file);
    ram_file_close(NULL, &other);
}

TEST(pages_that_were_not_there_go)
{
    struct ram_keep *keep = ram_keep_create();
    struct ram_file file;

    CHECK(ram_file_open(NULL, BYTES, &file));
    file.bytes[10 * PAGE_BYTES] = 1;
    CHECK(ram_keep_add(keep, &file));
    memset(file.bytes + 8 * PAGE_BYTES, 2, 4 * PAGE_BYTES);
    file.bytes[(PAGES - 1) * PAGE_BYTES] = 3;
    CHECK(taken_pages(&file) == 5);
    CHECK(ram_keep_restore(keep) == 5);
    CHECK(taken_pages(&file) == 1);
    CHECK(file.bytes[10 * PAGE_BYTES] == 1 && file.bytes[10 * PAGE_BYTES + 1] == 0);
    CHECK(file.bytes[9 * PAGE_BYTES] == 0 && file.bytes[(PAGES - 1) * PAGE_BYTES] == 0);
    ram_keep_destroy(keep);
    ram_file_close(NULL, &file);
}

/* Writes anywhere, and a run of pages that is given back. */
static void disturb(struct rng *rng, const struct ram_file *file)
{
    for (unsigned i = 0; i < 60; i++)
        file->bytes[rng_below(rng, BYTES)] = (uint8_t)rng_next(rng);
    CHECK(madvise(file->bytes + (uint64_t)rng_below(rng, PAGES / 2) * PAGE_BYTES,
                  (uint64_t)PAGES / 4 * PAGE_BYTES, MADV_REMOVE) == 0);
}

TEST(a_file_is_what_it_was)
{
    struct rng rng = {.state = 7};
    uint8_t *copy = malloc(BYTES);
    struct ram_file file;

    CHECK(copy && ram_file_open(NULL, BYTES, &file));
    for (unsigned round = 0; round < 20; round++) {
        struct ram_keep *keep = ram_keep_create();

        disturb(&rng, &file);
        for (unsigned i = 0; i < PAGES; i++) /* reading a hole would fill it */
            if (pread(file.file, copy + (size_t)i * PAGE_BYTES, PAGE_BYTES,
                      (off_t)i * PAGE_BYTES) != PAGE_BYTES)
                CHECK(false);
        CHECK(ram_keep_add(keep, &file));
        disturb(&rng, &file);
        CHECK(ram_keep_restore(keep) > 0);
        CHECK(ram_keep_restore(keep) == 0);
        CHECK(memcmp(copy, file.bytes, BYTES) == 0);
        ram_keep_destroy(keep);
    }
    ram_file_close(NULL, &file);
    free(copy);
}
