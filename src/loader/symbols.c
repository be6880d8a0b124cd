/* SPDX-License-Identifier: MIT */
/* Names for addresses: the functions of an image in address order, found by binary search. */
#include "loader/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "loader/elf_file.h"
#include "util/alloc.h"

static bool is_function(const struct elf_symbol *symbol)
{
    return symbol->defined && symbol->name[0] &&
           (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC);
}

/* If an address has several names, any will do, but it must always be the same one. */
static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static uint32_t count_functions(const struct elf_file *file, const struct elf_table *table,
                                uint64_t *name_bytes)
{
    struct elf_symbol symbol;
    uint32_t count = 0;

    *name_bytes = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        elf_symbol_at(file, table, i, &symbol);
        if (!is_function(&symbol))
            continue;
        count++;
        *name_bytes += strlen(symbol.name) + 1;
    }
    return count;
}

NTSTATUS symbol_table_init(struct symbol_table *table, uint64_t count, uint64_t name_bytes)
{
    memset(table, 0, sizeof(*table));
    if (count == 0 || count > UINT32_MAX || name_bytes > UINT32_MAX)
        return STATUS_SUCCESS;
    table->symbol = util_alloc(count * sizeof(*table->symbol));
    table->names = util_alloc(name_bytes);
    if (!table->symbol || !table->names) {
        symbol_table_finish(table);
        return STATUS_NO_MEMORY;
    }
    table->room = (uint32_t)count;
    table->name_room = (uint32_t)name_bytes;
    return STATUS_SUCCESS;
}

void symbol_table_add(struct symbol_table *table, const char *name, size_t length, uint64_t value,
                      uint64_t size)
{
    if (table->count == table->room || length + 1 > table->name_room - table->name_bytes)
        return;
    table->symbol[table->count++] = (struct symbol){value, size, table->name_bytes};
    memcpy(table->names + table->name_bytes, name, length);
    table->names[table->name_bytes + length] = '\0';
    table->name_bytes += (uint32_t)length + 1;
}

void symbol_table_sort(struct symbol_table *table)
{
    if (table->count)
        qsort(table->symbol, table->count, sizeof(*table->symbol), by_address);
}

NTSTATUS symbol_table_init_elf(struct symbol_table *table, const struct elf_file *file)
{
    const struct elf_table *source = &file->all;
    uint64_t name_bytes;
    uint32_t count = source->count ? count_functions(file, source, &name_bytes) : 0;
    NTSTATUS status;

    if (count == 0) {
        source = &file->dynamic;
        count = count_functions(file, source, &name_bytes);
    }
    status = symbol_table_init(table, count, name_bytes);
    if (!NT_SUCCESS(status))
        return status;
    for (uint32_t i = 0; i < source->count; i++) {
        struct elf_symbol symbol;

        elf_symbol_at(file, source, i, &symbol);
        if (is_function(&symbol))
            symbol_table_add(table, symbol.name, strlen(symbol.name), symbol.value, symbol.size);
    }
    symbol_table_sort(table);
    return STATUS_SUCCESS;
}

void symbol_table_finish(struct symbol_table *table)
{
    util_free(table->symbol);
    util_free(table->names);
    memset(table, 0, sizeof(*table));
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
    /* the result is the last one whose value is <= address */
    uint32_t low = 0, high = table->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (table->symbol[middle].value <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    return address - table->symbol[low - 1].value <= table->symbol[low - 1].size
               ? &table->symbol[low - 1]
               : NULL;
}
