/* SPDX-License-Identifier: MIT */
/* Memory files, and the depot that keeps them for reuse. See file.h for their purpose. */
#include "ram/file.h"
#include "util/alloc.h"
#include "util/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPOT_FILES 8u
/* A larger file is not kept: clearing it would cost more than a new one, and memory that one
 * machine needed would stay allocated for all later ones. */
#define DEPOT_BYTES ((uint64_t)32 << 20)

struct ram_depot {
    struct ram_file kept[DEPOT_FILES];
    unsigned count;
};

/* ---- one file ---- */

static bool open_new(uint64_t size, struct ram_file *file)
{
    void *mapped = MAP_FAILED;
    int memory = memfd_create("dxgkhost", MFD_CLOEXEC);

    if (memory < 0)
        return false;
    if (ftruncate(memory, (off_t)size) == 0)
        mapped = util_map(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (mapped == MAP_FAILED) {
        close(memory);
        return false;
    }
    util_advise(mapped, size, MADV_DONTDUMP); /* a core dump would have all of the simulated RAM */
    *file = (struct ram_file){.bytes = mapped, .size = size, .file = memory};
    return true;
}

static void close_for_good(const struct ram_file *file)
{
    util_unmap(file->bytes, file->size);
    close(file->file);
}

/* Set every page that the file holds to zero. The host reports pages that were never touched as
 * holes, so they cost nothing here. */
static bool clear(const struct ram_file *file)
{
    off_t end, at = 0, size = (off_t)file->size;

    while (at < size && (at = lseek(file->file, at, SEEK_DATA)) >= 0) {
        end = lseek(file->file, at, SEEK_HOLE);
        if (end <= at || end > size)
            return false;
        memset(file->bytes + at, 0, (size_t)(end - at));
        at = end;
    }
    return true; /* lseek fails when there is no data at or after `at` */
}

/* ---- the depot ---- */

struct ram_depot *ram_depot_create(void)
{
    return calloc(1, sizeof(struct ram_depot));
}

void ram_depot_destroy(struct ram_depot *depot)
{
    if (!depot)
        return;
    for (unsigned i = 0; i < depot->count; i++)
        close_for_good(&depot->kept[i]);
    free(depot);
}

static bool take_kept(struct ram_depot *depot, uint64_t size, struct ram_file *file)
{
    for (unsigned i = 0; depot && i < depot->count; i++) {
        struct ram_file kept = depot->kept[i];

        if (kept.size != size)
            continue;
        depot->kept[i] = depot->kept[--depot->count];
        if (clear(&kept)) {
            *file = kept;
            return true;
        }
        close_for_good(&kept);
        return false;
    }
    return false;
}

bool ram_file_open(struct ram_depot *depot, uint64_t size, struct ram_file *file)
{
    *file = (struct ram_file){.file = -1};
    if (util_fault_point())
        return false;
    return take_kept(depot, size, file) || open_new(size, file);
}

static bool worth_keeping(const struct ram_file *file)
{
    struct stat status;

    return fstat(file->file, &status) == 0 && (uint64_t)status.st_blocks * 512 <= DEPOT_BYTES;
}

void ram_file_close(struct ram_depot *depot, struct ram_file *file)
{
    if (!file->bytes)
        return;
    if (depot && depot->count < DEPOT_FILES && worth_keeping(file))
        depot->kept[depot->count++] = *file;
    else
        close_for_good(file);
    *file = (struct ram_file){.file = -1};
}
