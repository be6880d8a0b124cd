/* SPDX-License-Identifier: MIT */
/* Functions of an image by address, for names in reports. */
#ifndef DXGK_LOADER_SYMBOLS_H
#define DXGK_LOADER_SYMBOLS_H

#include <ntddk.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct symbol {
    uint64_t value, size;
    uint32_t name; /* offset in names */
};

/* Functions in address order. */
struct symbol_table {
    struct symbol *symbol;
    uint32_t count, room;
    char *names;
    uint32_t name_bytes, name_room;
};

/* Allocate room for this many symbols, whose names take this many bytes with terminators. Then add
 * them, then sort. */
NTSTATUS symbol_table_init(struct symbol_table *table, uint64_t count, uint64_t name_bytes);
void symbol_table_add(struct symbol_table *table, const char *name, size_t length, uint64_t value,
                      uint64_t size);
void symbol_table_sort(struct symbol_table *table);
NTSTATUS symbol_table_init_elf(struct symbol_table *table, const struct elf_file *file);
void symbol_table_finish(struct symbol_table *table);
/* The function that contains the address (before relocation), or ends there (a return address after
 * a call that does not return); NULL: none. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

#endif
