/* SPDX-License-Identifier: MIT */
/* Lines of source by address, from the debug information (DWARF) of an image file. */
#ifndef DXGK_LOADER_LINES_H
#define DXGK_LOADER_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines;
struct loader_file;

struct lines_section {
    const uint8_t *bytes;
    uint64_t size; /* 0: the file has none */
};

/* Of a file; damaged ones give no lines, or wrong ones. */
struct lines_sections {
    struct lines_section line, line_str, str; /* .debug_line, .debug_line_str, .debug_str */
};

/* A copy, in malloc's memory: a report cannot open the file. `bias` is what the table adds to the
 * addresses that are asked for. NULL: there are no lines, or out of memory. */
struct lines *lines_keep(const struct lines_sections *sections, uint64_t bias);
/* The same of an ELF file. */
struct lines *lines_read(const struct loader_file *file);
void lines_free(struct lines *lines);
/* "submit.c:85" of an address as in the file, and the same with the path of the file as far as the
 * compiler has told it. The first call walks the table twice, for an index; others cost a search in
 * it and the rows of a sequence. Takes memory from the system alone. False: not known. */
bool lines_find(struct lines *lines, uint64_t address, char *text, size_t bytes);
bool lines_find_path(struct lines *lines, uint64_t address, char *text, size_t bytes);

#endif
