/* SPDX-License-Identifier: MIT */
/*
 * The table of lines (.debug_line, DWARF 2 to 5): for each unit, a header with names of files and a
 * program, which makes rows of address, file and line. The row of an address is the last one in its
 * sequence that does not lie behind it. Everything is read within bounds: a damaged table gives no
 * line, or a wrong one.
 */
#include "loader/lines.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/file.h"
#include "x64/unwind/dwarf.h"

#define FORMATS 8u /* members of an entry of version 5 */

enum { FORM_DATA2 = 5, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 11 };
enum { FORM_STRP = 14, FORM_UDATA, FORM_DATA16 = 30, FORM_LINE_STRP };
enum { CONTENT_PATH = 1 };
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };

struct section {
    const uint8_t *bytes;
    uint64_t size;
};

struct lines {
    struct section line, line_str, str;
    uint8_t bytes[]; /* of all three */
};

struct unit {
    const struct lines *tables;
    unsigned version, offset_bytes;
    uint8_t instruction_bytes, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256];
    struct dwarf files; /* where the names of files begin */
    uint8_t formats;
    uint64_t content[FORMATS], form[FORMATS];
    uint64_t file_count;
};

struct row {
    uint64_t address, file, line;
};

/* ---- sections ---- */

static struct section find_section(const struct loader_file *file, const char *name)
{
    const Elf64_Ehdr *head = (const void *)file->bytes;
    struct section found = {NULL, 0};
    const Elf64_Shdr *section, *names;

    if (file->size < sizeof(*head) || head->e_shentsize != sizeof(*section) ||
        head->e_shoff % 8 != 0 || head->e_shoff > file->size ||
        (file->size - head->e_shoff) / sizeof(*section) < head->e_shnum ||
        head->e_shstrndx >= head->e_shnum)
        return found;
    section = (const void *)(file->bytes + head->e_shoff);
    names = &section[head->e_shstrndx];
    for (unsigned i = 0; i < head->e_shnum; i++) {
        uint64_t at = names->sh_offset + section[i].sh_name;

        if (at >= file->size || file->size - at <= strlen(name) ||
            memcmp(file->bytes + at, name, strlen(name) + 1) != 0 ||
            section[i].sh_type == SHT_NOBITS || section[i].sh_flags & SHF_COMPRESSED ||
            section[i].sh_offset > file->size ||
            section[i].sh_size > file->size - section[i].sh_offset)
            continue;
        found.bytes = file->bytes + section[i].sh_offset;
        found.size = section[i].sh_size;
    }
    return found;
}

/* "": it lies outside, or has no end. */
static const char *string_in(struct section section, uint64_t offset)
{
    if (offset >= section.size || !memchr(section.bytes + offset, 0, section.size - offset))
        return "";
    return (const char *)section.bytes + offset;
}

static const char *inline_string(struct dwarf *d)
{
    const char *text = (const char *)d->at;

    while (d->ok && dwarf_fixed(d, 1) != 0)
        ;
    return d->ok ? text : "";
}

/* ---- the header of a unit ---- */

static void read_formats(struct unit *unit, struct dwarf *d)
{
    unit->formats = (uint8_t)dwarf_fixed(d, 1);
    if (unit->formats == 0 || unit->formats > FORMATS)
        d->ok = false;
    for (unsigned i = 0; d->ok && i < unit->formats; i++) {
        unit->content[i] = dwarf_unsigned(d);
        unit->form[i] = dwarf_unsigned(d);
    }
}

/* The name in an entry of version 5, which is passed over. */
static const char *read_entry(const struct unit *unit, struct dwarf *d)
{
    const char *name = "";

    for (unsigned i = 0; d->ok && i < unit->formats; i++) {
        const char *text = "";

        switch (unit->form[i]) {
        case FORM_STRING:
            text = inline_string(d);
            break;
        case FORM_LINE_STRP:
            text = string_in(unit->tables->line_str, dwarf_fixed(d, unit->offset_bytes));
            break;
        case FORM_STRP:
            text = string_in(unit->tables->str, dwarf_fixed(d, unit->offset_bytes));
            break;
        case FORM_UDATA:
            (void)dwarf_unsigned(d);
            break;
        case FORM_DATA1:
            (void)dwarf_fixed(d, 1);
            break;
        case FORM_DATA2:
            (void)dwarf_fixed(d, 2);
            break;
        case FORM_DATA4:
            (void)dwarf_fixed(d, 4);
            break;
        case FORM_DATA8:
            (void)dwarf_fixed(d, 8);
            break;
        case FORM_DATA16:
            (void)dwarf_block(d, 16);
            break;
        case FORM_BLOCK:
            (void)dwarf_block(d, dwarf_unsigned(d));
            break;
        default:
            d->ok = false;
        }
        if (unit->content[i] == CONTENT_PATH)
            name = text;
    }
    return name;
}

static void read_names(struct unit *unit, struct dwarf *d)
{
    if (unit->version < 5) {
        while (d->ok && inline_string(d)[0]) /* folders */
            ;
    } else {
        read_formats(unit, d);
        for (uint64_t i = dwarf_unsigned(d); d->ok && i; i--)
            (void)read_entry(unit, d);
        read_formats(unit, d);
        unit->file_count = dwarf_unsigned(d);
    }
    unit->files = *d;
}

static const char *file_name(const struct unit *unit, uint64_t number)
{
    struct dwarf d = unit->files;
    const char *name = "", *slash;

    if (unit->version < 5) {
        for (uint64_t i = 0; d.ok && i < number; i++) {
            name = inline_string(&d);
            if (!name[0])
                break;
            for (unsigned skipped = 0; skipped < 3; skipped++)
                (void)dwarf_unsigned(&d);
        }
    } else if (number < unit->file_count) {
        for (uint64_t i = 0; d.ok && i <= number; i++)
            name = read_entry(unit, &d);
    }
    slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* `d`: the rest of the unit; becomes its program. */
static void read_header(struct unit *unit, struct dwarf *d)
{
    struct dwarf rest;
    uint64_t header;

    unit->version = (unsigned)dwarf_fixed(d, 2);
    if (unit->version < 2 || unit->version > 5)
        d->ok = false;
    if (unit->version >= 5)
        (void)dwarf_fixed(d, 2); /* size of addresses, and of selectors */
    header = dwarf_fixed(d, unit->offset_bytes);
    rest = dwarf_block(d, header); /* *d is the program now */
    unit->instruction_bytes = (uint8_t)dwarf_fixed(&rest, 1);
    if (unit->version >= 4)
        (void)dwarf_fixed(&rest, 1);
    (void)dwarf_fixed(&rest, 1);
    unit->line_base = (int8_t)dwarf_fixed(&rest, 1);
    unit->line_range = (uint8_t)dwarf_fixed(&rest, 1);
    unit->opcode_base = (uint8_t)dwarf_fixed(&rest, 1);
    for (unsigned i = 1; i < unit->opcode_base; i++)
        unit->operands[i] = (uint8_t)dwarf_fixed(&rest, 1);
    read_names(unit, &rest);
    if (!rest.ok || unit->line_range == 0 || unit->opcode_base == 0)
        d->ok = false;
}

/* ---- its program ---- */

/* One instruction. True: it makes a row. */
static bool step(const struct unit *unit, struct dwarf *d, struct row *row, bool *ends)
{
    uint8_t opcode = (uint8_t)dwarf_fixed(d, 1);

    *ends = false;
    if (opcode >= unit->opcode_base) {
        unsigned adjusted = (unsigned)(opcode - unit->opcode_base);

        row->address += adjusted / unit->line_range * unit->instruction_bytes;
        row->line += (uint64_t)unit->line_base + adjusted % unit->line_range;
        return true;
    }
    switch (opcode) {
    case 0: {
        struct dwarf extended = dwarf_block(d, dwarf_unsigned(d));
        uint64_t what = dwarf_fixed(&extended, 1);

        if (what == SET_ADDRESS)
            row->address = dwarf_fixed(&extended, 8);
        *ends = what == END_SEQUENCE;
        return *ends;
    }
    case COPY:
        return true;
    case ADVANCE_PC:
        row->address += dwarf_unsigned(d) * unit->instruction_bytes;
        return false;
    case ADVANCE_LINE:
        row->line += (uint64_t)dwarf_signed(d);
        return false;
    case SET_FILE:
        row->file = dwarf_unsigned(d);
        return false;
    case CONST_ADD_PC:
        row->address += (uint64_t)((255u - unit->opcode_base) / unit->line_range) *
                        unit->instruction_bytes;
        return false;
    case FIXED_ADVANCE_PC:
        row->address += dwarf_fixed(d, 2);
        return false;
    default:
        for (unsigned i = 0; i < unit->operands[opcode]; i++)
            (void)dwarf_unsigned(d);
        return false;
    }
}

/* The row of the address in this unit. */
static bool find_row(const struct unit *unit, struct dwarf program, uint64_t address,
                     struct row *found)
{
    static const struct row first = {.address = 0, .file = 1, .line = 1};
    struct row row = first, last = first;
    bool in_sequence = false, ends;

    while (program.ok && program.at < program.end) {
        if (!step(unit, &program, &row, &ends))
            continue;
        if (in_sequence && last.address <= address && address < row.address) {
            *found = last;
            return true;
        }
        last = row;
        in_sequence = !ends;
        if (ends)
            row = first;
    }
    return false;
}

/* ---- lines ---- */

bool lines_find(const struct lines *lines, uint64_t address, char *text, size_t bytes)
{
    struct dwarf all = {
        .at = lines->line.bytes, .end = lines->line.bytes + lines->line.size, .ok = true};

    while (all.ok && all.at < all.end) {
        struct unit unit = {.tables = lines, .offset_bytes = 4};
        uint64_t length = dwarf_fixed(&all, 4);
        struct dwarf one;
        struct row row;

        if (length == UINT32_MAX) {
            length = dwarf_fixed(&all, 8);
            unit.offset_bytes = 8;
        }
        one = dwarf_block(&all, length);
        read_header(&unit, &one);
        if (!one.ok || !find_row(&unit, one, address, &row))
            continue;
        snprintf(text, bytes, "%s:%llu", file_name(&unit, row.file), (unsigned long long)row.line);
        return true;
    }
    return false;
}

static uint8_t *keep(struct section *section, uint8_t *to)
{
    if (section->size)
        memcpy(to, section->bytes, section->size);
    section->bytes = to;
    return to + section->size;
}

struct lines *lines_read(const struct loader_file *file)
{
    struct section line = find_section(file, ".debug_line");
    struct section line_str = find_section(file, ".debug_line_str");
    struct section str = find_section(file, ".debug_str");
    struct lines *lines = line.size ? malloc(sizeof(*lines) + line.size + line_str.size + str.size)
                                    : NULL;

    if (!lines)
        return NULL;
    (void)keep(&str, keep(&line_str, keep(&line, lines->bytes)));
    lines->line = line;
    lines->line_str = line_str;
    lines->str = str;
    return lines;
}

void lines_free(struct lines *lines)
{
    free(lines);
}
