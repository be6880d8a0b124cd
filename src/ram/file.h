/* SPDX-License-Identifier: MIT */
/*
 * Sparse memory files of the host, mapped once: they hold the bytes of RAM and of device memory.
 *
 * With a new file, the host has to fault in, clear and later free each page that is touched. A
 * program that runs one machine after another (dxgkhost explore) reuses the files instead: a depot
 * keeps closed files, with their pages and their mapping, and hands them out again with every
 * touched page set to zero. A file from the depot reads like a new one, so nothing of an earlier
 * machine is visible.
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

/* Keeps closed files for reuse. Used by one host thread at a time; outlives the machines that use
 * it. */
struct ram_depot;

struct ram_depot *ram_depot_create(void); /* NULL: out of memory */
void ram_depot_destroy(struct ram_depot *depot);

/* Opens a file of `size` zero bytes (whole pages), which costs nothing until it is touched. `depot`
 * may be NULL. False: out of memory; `file` is then not open. */
bool ram_file_open(struct ram_depot *depot, uint64_t size, struct ram_file *file);
/* All mappings of the file but its own must be gone, or no longer used. */
void ram_file_close(struct ram_depot *depot, struct ram_file *file);

#endif
