/* SPDX-License-Identifier: MIT */
/* Lines of source by address, from the debug information of an ELF file. */
#ifndef DXGK_LOADER_LINES_H
#define DXGK_LOADER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines;
struct loader_file;

/* A copy of what the file has of them, in malloc's memory: a machine that detects races keeps it,
 * since a report cannot open the file. NULL: it has none, or out of memory. */
struct lines *lines_read(const struct loader_file *file);
void lines_free(struct lines *lines);
/* "submit.c:85" of an address as in the file. Does not allocate. False: not known. */
bool lines_find(const struct lines *lines, uint64_t address, char *text, size_t bytes);

#endif
