/* SPDX-License-Identifier: MIT */
/*
 * Names for addresses of a PE image: from the COFF symbol table, which gcc and clang can leave in
 * an image, including static functions; else from the exports. Neither has sizes; those come from
 * the exception table, if it has the function. And the sections with DWARF, whose names are too
 * long for the table of sections: there stands "/" and where they are among the COFF strings.
 */
#include <stdlib.h>
#include <string.h>

#include "loader/lines.h"
#include "loader/pe.h"
#include "util/checked.h"

/* ---- sources ---- */

struct found {
    const char *name;
    size_t length;
    uint32_t address;
};

/* Called for each function that a source has. */
typedef void take_symbol(void *context, const struct found *found);

struct coff {
    const uint8_t *symbols;
    uint32_t count;
    const char *strings; /* the string table; its first four bytes are its size */
    uint64_t string_bytes;
};

static bool find_coff(const struct pe_file *file, struct coff *coff)
{
    uint64_t at = file->header.symbols_offset;
    uint64_t bytes = (uint64_t)file->header.symbols * PE_SYMBOL_BYTES;
    uint32_t strings = 0;

    if (at == 0 || file->header.symbols == 0 || !range_inside(at, bytes, file->size))
        return false;
    *coff = (struct coff){.symbols = file->bytes + at, .count = file->header.symbols};
    at += bytes;
    if (range_inside(at, sizeof(strings), file->size))
        memcpy(&strings, file->bytes + at, sizeof(strings));
    if (range_inside(at, strings, file->size)) {
        coff->strings = (const char *)file->bytes + at;
        coff->string_bytes = strings;
    }
    return true;
}

static bool coff_name(const struct coff *coff, const uint8_t *symbol, struct found *found)
{
    uint32_t zero, offset;

    memcpy(&zero, symbol, sizeof(zero));
    memcpy(&offset, symbol + 4, sizeof(offset));
    if (zero) {
        found->name = (const char *)symbol;
        found->length = strnlen(found->name, 8);
    } else {
        if (offset < 4 || offset >= coff->string_bytes)
            return false;
        found->name = coff->strings + offset;
        found->length = strnlen(found->name, coff->string_bytes - offset);
    }
    return found->length > 0;
}

static void each_coff(const struct pe_file *file, const struct coff *coff, take_symbol *take,
                      void *context)
{
    for (uint64_t i = 0; i < coff->count; i++) {
        const uint8_t *symbol = coff->symbols + i * PE_SYMBOL_BYTES;
        struct found found;
        uint32_t value;
        int16_t section;
        uint16_t type;
        uint8_t class = symbol[PE_SYMBOL_CLASS];

        i += symbol[PE_SYMBOL_AUXILIARY];
        memcpy(&value, symbol + PE_SYMBOL_VALUE, sizeof(value));
        memcpy(&section, symbol + PE_SYMBOL_SECTION, sizeof(section));
        memcpy(&type, symbol + PE_SYMBOL_TYPE, sizeof(type));
        if (type != PE_SYMBOL_FUNCTION || section < 1 || (uint32_t)section > file->sections ||
            (class != PE_SYMBOL_CLASS_EXTERNAL && class != PE_SYMBOL_CLASS_STATIC))
            continue;
        if (value >= file->section[section - 1].memory_bytes || !coff_name(coff, symbol, &found))
            continue;
        found.address = file->section[section - 1].address + value;
        take(context, &found);
    }
}

static void each_export(const struct pe_image *image, const struct pe_file *file, take_symbol *take,
                        void *context)
{
    const struct pe_directory *directory = &file->directory[PE_EXPORTS];
    struct pe_export_directory e;

    if (directory->bytes < sizeof(e))
        return;
    memcpy(&e, image->base + directory->address, sizeof(e));
    for (uint32_t i = 0; i < e.names && i < PE_MAX_EXPORTS; i++) {
        const uint8_t *name = pe_at(image, e.name_table + (uint64_t)i * 4, 4);
        const uint8_t *ordinal = pe_at(image, e.ordinal_table + (uint64_t)i * 2, 2);
        const uint8_t *function;
        const struct pe_section *section;
        struct found found;
        uint16_t index;
        uint32_t at;

        if (!name || !ordinal)
            return;
        memcpy(&index, ordinal, sizeof(index));
        memcpy(&at, name, sizeof(at));
        found.name = pe_text_at(image, at);
        function = index < e.functions ? pe_at(image, e.function_table + (uint64_t)index * 4, 4)
                                       : NULL;
        if (!found.name || !found.name[0] || !function)
            continue;
        memcpy(&found.address, function, sizeof(found.address));
        found.length = strlen(found.name);
        section = pe_section_at(file, found.address);
        if (section && (section->flags & PE_SECTION_EXECUTE)) /* skips variables and forwarders */
            take(context, &found);
    }
}

/* ---- the table ---- */

struct counting {
    uint64_t symbols, name_bytes;
};

static void count_one(void *context, const struct found *found)
{
    struct counting *counting = context;

    counting->symbols++;
    counting->name_bytes += found->length + 1;
}

static void add_one(void *context, const struct found *found)
{
    symbol_table_add(context, found->name, found->length, found->address, 0);
}

/* A size reaches to the end in the exception table, else to the next symbol, the next function of
 * that table (static functions of libraries have no names) or the end of the section. Walks from
 * the last symbol down, since one address may have any number of names. */
static void set_sizes(struct symbol_table *table, const struct pe_image *image,
                      const struct pe_file *file)
{
    uint64_t next = UINT64_MAX; /* the next higher symbol value than the current one */
    const struct x64_function *all = image->table.function;
    uint32_t above = image->table.count; /* the first function that begins above it */

    for (uint32_t i = table->count; i-- > 0;) {
        struct symbol *symbol = &table->symbol[i];
        const struct pe_section *section = pe_section_at(file, (uint32_t)symbol->value);
        const struct x64_function *function = x64_function_find(&image->table,
                                                                image->table.base + symbol->value);
        uint64_t end = section ? (uint64_t)section->address + section->memory_bytes : symbol->value;

        if (i + 1 < table->count && symbol[1].value != symbol->value)
            next = symbol[1].value;
        while (above > 0 && all[above - 1].begin > symbol->value)
            above--;
        if (above < image->table.count && all[above].begin < end)
            end = all[above].begin;
        if (next < end)
            end = next;
        if (function)
            end = function->end;
        symbol->size = end - symbol->value;
    }
}

NTSTATUS pe_read_symbols(struct symbol_table *table, const struct pe_image *image,
                         const struct pe_file *file)
{
    struct counting counting = {0};
    struct coff coff;
    bool have_coff = find_coff(file, &coff);
    NTSTATUS status;

    if (have_coff)
        each_coff(file, &coff, count_one, &counting);
    have_coff = counting.symbols != 0;
    if (!have_coff)
        each_export(image, file, count_one, &counting);
    status = symbol_table_init(table, counting.symbols, counting.name_bytes);
    if (!NT_SUCCESS(status))
        return status;
    if (have_coff)
        each_coff(file, &coff, add_one, table);
    else
        each_export(image, file, add_one, table);
    symbol_table_sort(table);
    set_sizes(table, image, file);
    return STATUS_SUCCESS;
}

/* ---- lines ---- */

static struct lines_section find_section(const struct pe_file *file, const struct coff *coff,
                                         const char *name)
{
    const size_t bytes = strlen(name) + 1;

    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];
        uint64_t at = s->name[0] == '/' ? strtoul(s->name + 1, NULL, 10) : 0;

        if (at && range_inside(at, bytes, coff->string_bytes) &&
            memcmp(coff->strings + at, name, bytes) == 0)
            return (struct lines_section){file->bytes + s->offset, s->file_bytes};
    }
    return (struct lines_section){NULL, 0};
}

struct lines *pe_read_lines(const struct pe_file *file)
{
    struct lines_sections in;
    struct coff coff;

    if (!find_coff(file, &coff) || !coff.strings)
        return NULL;
    in = (struct lines_sections){.line = find_section(file, &coff, ".debug_line"),
                                 .line_str = find_section(file, &coff, ".debug_line_str"),
                                 .str = find_section(file, &coff, ".debug_str")};
    return lines_keep(&in, file->optional.base);
}
