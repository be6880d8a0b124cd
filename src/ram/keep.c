/* SPDX-License-Identifier: MIT */
/* Copies of what memory files hold. See keep.h for their purpose. */
#include "ram/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/address.h"

/* Pages of a file that it held when it was added. */
struct run {
    uint64_t offset, bytes;
    uint8_t *copy;
};

struct kept_file {
    struct ram_file file;
    struct run *run; /* in the order of their offsets */
    size_t runs;
};

struct ram_keep {
    struct kept_file *kept;
    size_t count;
    uint64_t bytes;
};

/* The next pages that the file holds, from *at on. 1: found, 0: there are none, -1: the host
 * failed. */
static int next_run(const struct ram_file *file, uint64_t at, uint64_t *first, uint64_t *end)
{
    off_t found = at < file->size ? lseek(file->file, (off_t)at, SEEK_DATA) : -1;

    if (found < 0)
        return at >= file->size || errno == ENXIO ? 0 : -1;
    *first = align_down((uint64_t)found, PAGE_BYTES);
    found = lseek(file->file, found, SEEK_HOLE);
    if (found < 0)
        return -1;
    *end = align_up((uint64_t)found, PAGE_BYTES);
    return 1;
}

struct ram_keep *ram_keep_create(void)
{
    return calloc(1, sizeof(struct ram_keep));
}

void ram_keep_destroy(struct ram_keep *keep)
{
    if (!keep)
        return;
    for (size_t i = 0; i < keep->count; i++) {
        for (size_t j = 0; j < keep->kept[i].runs; j++)
            munmap(keep->kept[i].run[j].copy, keep->kept[i].run[j].bytes);
        free(keep->kept[i].run);
    }
    free(keep->kept);
    free(keep);
}

static bool add_run(struct ram_keep *keep, struct kept_file *kept, uint64_t first, uint64_t end)
{
    struct run *list = realloc(kept->run, (kept->runs + 1) * sizeof(*list));
    struct run *run;

    if (!list)
        return false;
    kept->run = list;
    run = &list[kept->runs];
    *run = (struct run){.offset = first, .bytes = end - first};
    run->copy = mmap(NULL, run->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (run->copy == MAP_FAILED)
        return false;
    (void)madvise(run->copy, run->bytes, MADV_DONTFORK); /* children have no use for it */
    memcpy(run->copy, kept->file.bytes + first, run->bytes);
    keep->bytes += run->bytes;
    kept->runs++;
    return true;
}

bool ram_keep_add(struct ram_keep *keep, const struct ram_file *file)
{
    struct kept_file *list = realloc(keep->kept, (keep->count + 1) * sizeof(*list)), *kept;
    uint64_t first, end = 0;
    int more;

    if (!list)
        return false;
    keep->kept = list;
    kept = &list[keep->count++];
    *kept = (struct kept_file){.file = *file};
    while ((more = next_run(file, end, &first, &end)) > 0)
        if (!add_run(keep, kept, first, end))
            return false;
    return more == 0;
}

const struct ram_file *ram_keep_file(const struct ram_keep *keep, size_t index)
{
    return index < keep->count ? &keep->kept[index].file : NULL;
}

uint64_t ram_keep_bytes(const struct ram_keep *keep)
{
    return keep->bytes;
}

/* Pages that the file did not hold. */
static int64_t drop(const struct ram_file *file, uint64_t first, uint64_t end)
{
    if (first >= end)
        return 0;
    if (fallocate(file->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                  (off_t)(end - first)) != 0)
        return -1;
    return (int64_t)((end - first) / PAGE_BYTES);
}

static int64_t write_back(const struct ram_file *file, const struct run *run)
{
    int64_t changed = 0;

    for (uint64_t at = 0; at < run->bytes; at += PAGE_BYTES) {
        uint8_t *page = file->bytes + run->offset + at;

        if (memcmp(page, run->copy + at, PAGE_BYTES) == 0)
            continue;
        memcpy(page, run->copy + at, PAGE_BYTES);
        changed++;
    }
    return changed;
}

/* Drops what [first, end) holds beyond the runs from *next on. */
static int64_t drop_beyond(const struct kept_file *kept, size_t *next, uint64_t first, uint64_t end)
{
    int64_t changed = 0, dropped;

    while (first < end) {
        const struct run *run;
        uint64_t until = end;

        while (*next < kept->runs && kept->run[*next].offset + kept->run[*next].bytes <= first)
            ++*next;
        run = *next < kept->runs ? &kept->run[*next] : NULL;
        if (run && run->offset < until)
            until = run->offset > first ? run->offset : first;
        dropped = drop(&kept->file, first, until);
        if (dropped < 0)
            return -1;
        changed += dropped;
        first = run && run->offset <= until ? run->offset + run->bytes : end;
    }
    return changed;
}

static int64_t restore_file(const struct kept_file *kept)
{
    int64_t changed = 0, dropped;
    uint64_t first, end = 0;
    size_t next = 0;
    int more;

    while ((more = next_run(&kept->file, end, &first, &end)) > 0) {
        dropped = drop_beyond(kept, &next, first, end);
        if (dropped < 0)
            return -1;
        changed += dropped;
    }
    if (more < 0)
        return -1;
    for (size_t i = 0; i < kept->runs; i++)
        changed += write_back(&kept->file, &kept->run[i]);
    return changed;
}

int64_t ram_keep_restore(struct ram_keep *keep)
{
    int64_t changed = 0;

    for (size_t i = 0; i < keep->count; i++) {
        int64_t more = restore_file(&keep->kept[i]);

        if (more < 0)
            return -1;
        changed += more;
    }
    return changed;
}
