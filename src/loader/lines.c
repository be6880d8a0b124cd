/* SPDX-License-Identifier: MIT */
/*
 * The table of lines (.debug_line, DWARF 2 to 5): for each unit, a header with names of folders and
 * files and a program, which makes rows of address, file and line. The row of an address is the
 * last one in its sequence that does not lie behind it. Everything is read within bounds: a damaged
 * table gives no line, or a wrong one.
 */
#include "loader/lines.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "loader/file.h"
#include "x64/unwind/dwarf.h"

#define FORMATS 8u /* members of an entry of version 5 */

enum { FORM_DATA2 = 5, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 11 };
enum { FORM_STRP = 14, FORM_UDATA, FORM_DATA16 = 30, FORM_LINE_STRP };
enum { CONTENT_PATH = 1, CONTENT_FOLDER };
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };

/* A sequence of rows with ascending addresses: a function, or the code of a unit. */
struct sequence {
    uint64_t low, high;
    uint64_t most;     /* the highest `high` of this one and those before it in the index */
    uint64_t unit, at; /* where its unit and its program begin in the section */
};

struct lines {
    struct lines_sections in;
    uint64_t bias;
    struct sequence *index; /* by `low`; NULL: there is none */
    size_t sequences;
    bool indexed;    /* it was tried */
    uint8_t bytes[]; /* of all three */
};

/* The names of folders or of files in the header of a unit. */
struct names {
    struct dwarf at; /* the first one */
    uint8_t formats; /* from version 5 on: of an entry */
    uint64_t content[FORMATS], form[FORMATS];
    uint64_t count;
};

struct unit {
    const struct lines *tables;
    unsigned version, offset_bytes;
    uint8_t instruction_bytes, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256];
    struct names folder, file;
};

struct entry {
    const char *name; /* "": none */
    uint64_t folder;
};

struct row {
    uint64_t address, file, line;
};

/* ---- sections ---- */

static struct lines_section find_section(const struct loader_file *file, const char *name)
{
    const Elf64_Ehdr *head = (const void *)file->bytes;
    struct lines_section found = {NULL, 0};
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
static const char *string_in(struct lines_section section, uint64_t offset)
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

static void read_formats(struct names *names, struct dwarf *d)
{
    names->formats = (uint8_t)dwarf_fixed(d, 1);
    if (names->formats == 0 || names->formats > FORMATS)
        d->ok = false;
    for (unsigned i = 0; d->ok && i < names->formats; i++) {
        names->content[i] = dwarf_unsigned(d);
        names->form[i] = dwarf_unsigned(d);
    }
    names->count = dwarf_unsigned(d);
}

/* A value in an entry of version 5: a number, or a text (else ""). */
static uint64_t read_form(const struct unit *unit, struct dwarf *d, uint64_t form, const char **text)
{
    const struct lines_sections *in = &unit->tables->in;

    *text = "";
    switch (form) {
    case FORM_STRING:
        *text = inline_string(d);
        return 0;
    case FORM_LINE_STRP:
        *text = string_in(in->line_str, dwarf_fixed(d, unit->offset_bytes));
        return 0;
    case FORM_STRP:
        *text = string_in(in->str, dwarf_fixed(d, unit->offset_bytes));
        return 0;
    case FORM_UDATA:
        return dwarf_unsigned(d);
    case FORM_DATA1:
        return dwarf_fixed(d, 1);
    case FORM_DATA2:
        return dwarf_fixed(d, 2);
    case FORM_DATA4:
        return dwarf_fixed(d, 4);
    case FORM_DATA8:
        return dwarf_fixed(d, 8);
    case FORM_DATA16:
        (void)dwarf_block(d, 16);
        return 0;
    case FORM_BLOCK:
        (void)dwarf_block(d, dwarf_unsigned(d));
        return 0;
    default:
        d->ok = false;
        return 0;
    }
}

static struct entry read_entry(const struct unit *unit, const struct names *names, struct dwarf *d)
{
    struct entry entry = {.name = ""};

    for (unsigned i = 0; d->ok && i < names->formats; i++) {
        const char *text;
        uint64_t number = read_form(unit, d, names->form[i], &text);

        if (names->content[i] == CONTENT_PATH)
            entry.name = text;
        else if (names->content[i] == CONTENT_FOLDER)
            entry.folder = number;
    }
    return entry;
}

static void read_names(struct unit *unit, struct dwarf *d)
{
    if (unit->version < 5) {
        unit->folder.at = *d;
        while (d->ok && inline_string(d)[0])
            unit->folder.count++;
    } else {
        read_formats(&unit->folder, d);
        unit->folder.at = *d;
        for (uint64_t i = unit->folder.count; d->ok && i; i--)
            (void)read_entry(unit, &unit->folder, d);
        read_formats(&unit->file, d);
    }
    unit->file.at = *d;
}

/* Before version 5 files count from 1. */
static struct entry find_file(const struct unit *unit, uint64_t number)
{
    struct dwarf d = unit->file.at;
    struct entry entry = {.name = ""};

    if (unit->version < 5) {
        for (uint64_t i = 0; d.ok && i < number; i++) {
            entry.name = inline_string(&d);
            if (!entry.name[0])
                break;
            entry.folder = dwarf_unsigned(&d);
            (void)dwarf_unsigned(&d); /* time and size of the file */
            (void)dwarf_unsigned(&d);
        }
    } else if (number < unit->file.count) {
        for (uint64_t i = 0; d.ok && i <= number; i++)
            entry = read_entry(unit, &unit->file, &d);
    }
    return entry;
}

/* Folder 0 is where the compiler ran; before version 5 its name is not in the table. */
static const char *find_folder(const struct unit *unit, uint64_t number)
{
    struct dwarf d = unit->folder.at;
    const char *name = "";

    if (unit->version < 5) {
        for (uint64_t i = 0; d.ok && number <= unit->folder.count && i < number; i++)
            name = inline_string(&d);
    } else if (number < unit->folder.count) {
        for (uint64_t i = 0; d.ok && i <= number; i++)
            name = read_entry(unit, &unit->folder, &d).name;
    }
    return name;
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

/* ---- units ---- */

/* The unit at *at, which moves behind it, and its program. False: it is damaged. */
static bool open_unit(const struct lines *lines, struct dwarf *at, struct unit *unit,
                      struct dwarf *program)
{
    uint64_t length = dwarf_fixed(at, 4);

    memset(unit, 0, sizeof(*unit));
    unit->tables = lines;
    unit->offset_bytes = 4;
    if (length == UINT32_MAX) {
        length = dwarf_fixed(at, 8);
        unit->offset_bytes = 8;
    }
    *program = dwarf_block(at, length);
    read_header(unit, program);
    return program->ok;
}

static struct dwarf all_of(const struct lines *lines)
{
    return (struct dwarf){
        .at = lines->in.line.bytes, .end = lines->in.line.bytes + lines->in.line.size, .ok = true};
}

/* ---- the index: made when it is needed, in memory of its own, as a report may be at work ---- */

static void add(struct lines *lines, const struct sequence *sequence)
{
    if (lines->index)
        lines->index[lines->sequences] = *sequence;
    lines->sequences++;
}

/* The sequences of a unit, with all addresses of their rows; without an index they are counted. */
static void add_unit(struct lines *lines, const struct unit *unit, struct dwarf program, uint64_t at)
{
    static const struct row first = {.address = 0, .file = 1, .line = 1};
    const uint8_t *start = lines->in.line.bytes;
    const struct sequence fresh = {.low = UINT64_MAX, .unit = at};
    struct sequence sequence = fresh;
    struct row row = first;
    bool ends;

    sequence.at = (uint64_t)(program.at - start);
    while (program.ok && program.at < program.end) {
        if (!step(unit, &program, &row, &ends))
            continue;
        sequence.low = row.address < sequence.low ? row.address : sequence.low;
        sequence.high = row.address > sequence.high ? row.address : sequence.high;
        if (!ends)
            continue;
        if (sequence.low < sequence.high)
            add(lines, &sequence);
        sequence = fresh;
        sequence.at = (uint64_t)(program.at - start);
        row = first;
    }
    if (sequence.low < sequence.high)
        add(lines, &sequence); /* it has no end */
}

static void add_all(struct lines *lines)
{
    struct dwarf all = all_of(lines), program;
    struct unit unit;

    lines->sequences = 0;
    while (all.ok && all.at < all.end) {
        uint64_t at = (uint64_t)(all.at - lines->in.line.bytes);

        if (open_unit(lines, &all, &unit, &program))
            add_unit(lines, &unit, program, at);
    }
}

static void sift(struct sequence *heap, size_t at, size_t count)
{
    struct sequence moved = heap[at];

    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        child += child + 1 < count && heap[child + 1].low > heap[child].low;
        if (heap[child].low <= moved.low)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* By `low`, without memory: qsort may allocate. */
static void sort(struct sequence *list, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(list, i, count);
    for (size_t left = count; left-- > 1;) {
        struct sequence last = list[left];

        list[left] = list[0];
        list[0] = last;
        sift(list, 0, left);
    }
}

static void make_index(struct lines *lines)
{
    uint64_t most = 0;
    void *memory;

    lines->indexed = true;
    add_all(lines);
    if (lines->sequences == 0)
        return;
    memory = mmap(NULL, lines->sequences * sizeof(*lines->index), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    lines->index = memory;
    add_all(lines);
    sort(lines->index, lines->sequences);
    for (size_t i = 0; i < lines->sequences; i++) {
        most = lines->index[i].high > most ? lines->index[i].high : most;
        lines->index[i].most = most;
    }
}

/* How many sequences begin at the address or before it. */
static size_t begin_before(const struct lines *lines, uint64_t address)
{
    size_t low = 0, high = lines->sequences;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lines->index[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_in(const struct lines *lines, const struct sequence *sequence, uint64_t address,
                    struct unit *unit, struct row *row)
{
    struct dwarf all = all_of(lines), program;

    all.at += sequence->unit;
    if (!open_unit(lines, &all, unit, &program))
        return false;
    program.at = lines->in.line.bytes + sequence->at;
    return find_row(unit, program, address, row);
}

/* ---- lines ---- */

/* Without an index: of the first unit that has the address. */
static bool find_slowly(const struct lines *lines, uint64_t address, struct unit *unit,
                        struct row *row)
{
    struct dwarf all = all_of(lines), program;

    while (all.ok && all.at < all.end)
        if (open_unit(lines, &all, unit, &program) && find_row(unit, program, address, row))
            return true;
    return false;
}

/* Where sequences overlap, of the first one in the table. */
static bool find(struct lines *lines, uint64_t address, struct unit *unit, struct row *row)
{
    const struct sequence *best = NULL;

    address += lines->bias;
    if (!lines->indexed)
        make_index(lines);
    if (!lines->index)
        return lines->sequences != 0 && find_slowly(lines, address, unit, row);
    for (size_t i = begin_before(lines, address); i > 0 && lines->index[i - 1].most > address; i--) {
        const struct sequence *one = &lines->index[i - 1];

        if (one->high > address && (!best || one->at < best->at) &&
            find_in(lines, one, address, unit, row))
            best = one;
    }
    return best && find_in(lines, best, address, unit, row);
}

bool lines_find(struct lines *lines, uint64_t address, char *text, size_t bytes)
{
    struct unit unit;
    struct row row;
    const char *name, *slash;

    if (!find(lines, address, &unit, &row))
        return false;
    name = find_file(&unit, row.file).name;
    if (!name[0])
        return false;
    slash = strrchr(name, '/');
    snprintf(text, bytes, "%s:%llu", slash ? slash + 1 : name, (unsigned long long)row.line);
    return true;
}

/* "folder/" before a relative name, else nothing. */
static const char *before(const char *folder, const char *name)
{
    return folder[0] && name[0] != '/' && !(name[0] && name[1] == ':') ? folder : "";
}

bool lines_find_path(struct lines *lines, uint64_t address, char *text, size_t bytes)
{
    const char *folder, *root;
    struct entry file;
    struct unit unit;
    struct row row;

    if (!find(lines, address, &unit, &row))
        return false;
    file = find_file(&unit, row.file);
    if (!file.name[0])
        return false;
    folder = before(find_folder(&unit, file.folder), file.name);
    root = folder[0] && unit.version >= 5 && file.folder ? before(find_folder(&unit, 0), folder)
                                                         : "";
    snprintf(text, bytes, "%s%s%s%s%s:%llu", root, root[0] ? "/" : "", folder, folder[0] ? "/" : "",
             file.name, (unsigned long long)row.line);
    return true;
}

static uint8_t *keep(struct lines_section *section, uint8_t *to)
{
    if (section->size)
        memcpy(to, section->bytes, section->size);
    section->bytes = to;
    return to + section->size;
}

struct lines *lines_keep(const struct lines_sections *sections, uint64_t bias)
{
    struct lines_sections in = *sections;
    struct lines *lines;

    if (!in.line.size)
        return NULL;
    lines = malloc(sizeof(*lines) + in.line.size + in.line_str.size + in.str.size);
    if (!lines)
        return NULL;
    (void)keep(&in.str, keep(&in.line_str, keep(&in.line, lines->bytes)));
    lines->in = in;
    lines->bias = bias;
    lines->index = NULL;
    lines->sequences = 0;
    lines->indexed = false;
    return lines;
}

struct lines *lines_read(const struct loader_file *file)
{
    const struct lines_sections in = {.line = find_section(file, ".debug_line"),
                                      .line_str = find_section(file, ".debug_line_str"),
                                      .str = find_section(file, ".debug_str")};

    return lines_keep(&in, 0);
}

void lines_free(struct lines *lines)
{
    if (lines && lines->index)
        munmap(lines->index, lines->sequences * sizeof(*lines->index));
    free(lines);
}
