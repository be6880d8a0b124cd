/* SPDX-License-Identifier: MIT */
/*
 * Sparse memory files of the host, mapped once: what stands behind RAM and behind device memory.
 *
 * A new file costs a fault, a cleared page and its return for each page that is touched. Who lives
 * one machine after the other (dxgkhost explore) hands on the files instead: a depot keeps those
 * that were closed, pages and mapping included, and gives them out again with every page that had
 * been touched set to zero. A file from the depot reads as a new one does, so that nothing of an
 * earlier machine can be seen.
 */
#ifndef DXGK_RAM_FILE_H
#define DXGK_RAM_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct ram_file {
    uint8_t *bytes; /* the mapping, readable and writable; NULL: not open */
    uint64_t size;
    int file;
};

/* Files between two uses. Of one host thread at a time; outlives the machines that use it. */
struct ram_depot;

struct ram_depot *ram_depot_create(void); /* NULL: out of memory */
void ram_depot_destroy(struct ram_depot *depot);

/* `size` zero bytes, whole pages, that cost nothing before they are touched. `depot` may be NULL.
 * False: out of memory; `file` is not open. */
bool ram_file_open(struct ram_depot *depot, uint64_t size, struct ram_file *file);
/* All mappings but its own must be gone, or be of no use any more. */
void ram_file_close(struct ram_depot *depot, struct ram_file *file);

#endif
