/* SPDX-License-Identifier: MIT */
/* The checked content of an ELF image file: segments, symbols, and the libraries it needs. */
#ifndef DXGK_LOADER_ELF_FILE_H
#define DXGK_LOADER_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader/file.h"

/* A symbol table and its string table, as offsets in the file; checked to be inside the file. */
struct elf_table {
    uint64_t symbols, strings, string_bytes;
    uint32_t count;
};

#define ELF_MAX_SEGMENTS 64u
#define ELF_MAX_NEEDED   32u

/* The parsed headers of a shared object. Bytes and name belong to the file that was parsed. */
struct elf_file {
    const uint8_t *bytes;
    size_t size;
    const char *name;
    struct elf_segment {
        uint64_t address, offset, file_bytes, memory_bytes;
        uint32_t flags;          /* PF_* */
    } segment[ELF_MAX_SEGMENTS]; /* the loadable segments */
    uint32_t segments;
    uint64_t low, high; /* of all segments, before relocation */
    struct elf_table dynamic;
    struct elf_table all;            /* .symtab; count 0: stripped */
    uint64_t needed[ELF_MAX_NEEDED]; /* offsets in the dynamic strings */
    uint32_t needed_count;
};

struct elf_symbol {
    const char *name; /* "" if it has none, or one outside the string table */
    uint64_t value, size;
    uint8_t type, binding;
    bool defined;
};

/* Check the file and find its tables; the result contains only pointers into the source. */
NTSTATUS elf_file_parse(struct elf_file *file, const struct loader_file *source, char *error,
                        size_t error_bytes);
void elf_symbol_at(const struct elf_file *file, const struct elf_table *table, uint32_t index,
                   struct elf_symbol *symbol);
/* The string at an offset in a table's strings, or NULL. */
const char *elf_string(const struct elf_file *file, const struct elf_table *table, uint64_t offset);

#endif
