/* SPDX-License-Identifier: MIT */
/*
 * Reading an untrusted ELF shared object: every offset is checked against the file before it is
 * used, and structures are copied out, since they may not be aligned.
 *
 * It yields the segments, the dynamic symbols (imports, DriverEntry), and, if the file was not
 * stripped, the full symbol table for reports. The number of dynamic symbols is not stored in the
 * file; it is derived from the hash table.
 */
#include "loader/elf_file.h"

#include <string.h>

#include "loader/file.h"
#include "loader/loader.h"
#include "util/checked.h"
#include "util/explain.h"

/* ---- bytes ---- */

static bool get(const struct elf_file *file, uint64_t offset, void *to, size_t bytes)
{
    if (!range_inside(offset, bytes, file->size))
        return false;
    memcpy(to, file->bytes + offset, bytes);
    return true;
}

/* The file offset of a virtual address, if the file has that byte; *rest gets how many bytes of the
 * segment follow. */
static bool offset_of(const struct elf_file *file, uint64_t address, uint64_t *offset,
                      uint64_t *rest)
{
    for (uint32_t i = 0; i < file->segments; i++) {
        const struct elf_segment *s = &file->segment[i];
        uint64_t inside = address - s->address;

        if (inside >= s->file_bytes)
            continue;
        *offset = s->offset + inside;
        *rest = s->file_bytes - inside;
        return true;
    }
    return false;
}

const char *elf_string(const struct elf_file *file, const struct elf_table *table, uint64_t offset)
{
    const char *text;

    if (offset >= table->string_bytes)
        return NULL;
    text = (const char *)file->bytes + table->strings + offset;
    return memchr(text, 0, table->string_bytes - offset) ? text : NULL;
}

void elf_symbol_at(const struct elf_file *file, const struct elf_table *table, uint32_t index,
                   struct elf_symbol *symbol)
{
    Elf64_Sym raw;
    const char *name;

    memcpy(&raw, file->bytes + table->symbols + (uint64_t)index * sizeof(raw), sizeof(raw));
    name = elf_string(file, table, raw.st_name);
    *symbol = (struct elf_symbol){
        .name = name ? name : "",
        .value = raw.st_value,
        .size = raw.st_size,
        .type = ELF64_ST_TYPE(raw.st_info),
        .binding = ELF64_ST_BIND(raw.st_info),
        .defined = raw.st_shndx != SHN_UNDEF,
    };
}

/* ---- headers ---- */

/* NULL: valid; else what is wrong. */
static const char *check_header(const struct elf_file *file, Elf64_Ehdr *header)
{
    if (file->size < SELFMAG || memcmp(file->bytes, ELFMAG, SELFMAG) != 0)
        return "neither an ELF file nor a Windows image";
    if (!get(file, 0, header, sizeof(*header)))
        return "truncated: the ELF header is not complete";
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
        header->e_machine != EM_X86_64)
        return "not built for x86-64";
    if (header->e_type != ET_DYN)
        return header->e_type == ET_REL ? "an object file, not a shared object"
                                        : "not a shared object";
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
        header->e_phnum == PN_XNUM)
        return "no usable program headers";
    if (!range_inside(header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr), file->size))
        return "truncated: the program headers are not complete";
    return NULL;
}

static const char *add_segment(struct elf_file *file, const Elf64_Phdr *p)
{
    uint64_t end;

    if (!range_inside(p->p_offset, p->p_filesz, file->size))
        return "truncated: a segment is not complete";
    if (p->p_filesz > p->p_memsz || ckd_add(&end, p->p_vaddr, p->p_memsz) ||
        end > (uint64_t)INT64_MAX)
        return "damaged: a segment has impossible sizes";
    if (file->segments == ELF_MAX_SEGMENTS)
        return "damaged: too many segments";
    file->segment[file->segments++] = (struct elf_segment){p->p_vaddr, p->p_offset, p->p_filesz,
                                                           p->p_memsz, p->p_flags};
    if (file->segments == 1 || p->p_vaddr < file->low)
        file->low = p->p_vaddr;
    if (end > file->high)
        file->high = end;
    return NULL;
}

static const char *read_segments(struct elf_file *file, const Elf64_Ehdr *header,
                                 Elf64_Phdr *dynamic)
{
    bool found = false;

    for (uint32_t i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr p;
        const char *wrong = NULL;

        if (!get(file, header->e_phoff + i * sizeof(p), &p, sizeof(p)))
            return "truncated: the program headers are not complete";
        if (p.p_type == PT_LOAD)
            wrong = add_segment(file, &p);
        if (wrong)
            return wrong;
        if (p.p_type == PT_DYNAMIC) {
            *dynamic = p;
            found = true;
        }
    }
    if (file->segments == 0)
        return "damaged: nothing in it is to be loaded";
    return found ? NULL : "no dynamic section: not a shared object";
}

/* ---- dynamic section ---- */

/* Number of symbols from a DT_GNU_HASH table: one past the end of the chain that begins last. */
static bool count_gnu(const struct elf_file *file, uint64_t address, uint32_t *count)
{
    /* header: buckets, first symbol hashed, bloom words, shift */
    uint32_t head[4], last = 0, value;
    uint64_t offset, rest, buckets, chains;

    if (!offset_of(file, address, &offset, &rest) || !get(file, offset, head, sizeof(head)))
        return false;
    buckets = offset + sizeof(head) + (uint64_t)head[2] * 8;
    chains = buckets + (uint64_t)head[0] * 4;
    if (!range_inside(buckets, (uint64_t)head[0] * 4, file->size))
        return false;
    for (uint32_t i = 0; i < head[0]; i++) {
        if (!get(file, buckets + (uint64_t)i * 4, &value, sizeof(value)))
            return false;
        if (value > last)
            last = value;
    }
    *count = head[1];
    if (last < head[1])
        return true; /* nothing is exported */
    for (;; last++) {
        if (!get(file, chains + (uint64_t)(last - head[1]) * 4, &value, sizeof(value)))
            return false;
        if (value & 1)
            break;
    }
    *count = last + 1;
    return true;
}

static bool count_old(const struct elf_file *file, uint64_t address, uint32_t *count)
{
    uint32_t head[2];
    uint64_t offset, rest;

    if (!offset_of(file, address, &offset, &rest) || !get(file, offset, head, sizeof(head)))
        return false;
    *count = head[1];
    return true;
}

struct dynamic_entries {
    uint64_t symbols, strings, string_bytes, gnu_hash, hash;
};

static const char *read_entries(struct elf_file *file, const Elf64_Phdr *dynamic,
                                struct dynamic_entries *found)
{
    Elf64_Dyn entry;

    memset(found, 0, sizeof(*found));
    for (uint64_t at = 0; at + sizeof(entry) <= dynamic->p_filesz; at += sizeof(entry)) {
        if (!get(file, dynamic->p_offset + at, &entry, sizeof(entry)))
            return "truncated: the dynamic section is not complete";
        switch (entry.d_tag) {
        case DT_NULL:
            return NULL;
        case DT_SYMTAB:
            found->symbols = entry.d_un.d_ptr;
            break;
        case DT_STRTAB:
            found->strings = entry.d_un.d_ptr;
            break;
        case DT_STRSZ:
            found->string_bytes = entry.d_un.d_val;
            break;
        case DT_GNU_HASH:
            found->gnu_hash = entry.d_un.d_ptr;
            break;
        case DT_HASH:
            found->hash = entry.d_un.d_ptr;
            break;
        case DT_NEEDED:
            if (file->needed_count < ELF_MAX_NEEDED)
                file->needed[file->needed_count++] = entry.d_un.d_val;
            break;
        default:
            break;
        }
    }
    return NULL;
}

static const char *read_dynamic(struct elf_file *file, const Elf64_Phdr *dynamic)
{
    static const char damaged[] = "damaged: the dynamic symbols lie outside the file";
    struct elf_table *table = &file->dynamic;
    struct dynamic_entries found;
    const char *wrong = read_entries(file, dynamic, &found);
    uint64_t rest;

    if (wrong)
        return wrong;
    if (!found.symbols || !found.strings || (!found.hash && !found.gnu_hash))
        return "no dynamic symbols";
    if (!offset_of(file, found.strings, &table->strings, &rest) || found.string_bytes > rest)
        return damaged;
    table->string_bytes = found.string_bytes;
    if (!offset_of(file, found.symbols, &table->symbols, &rest))
        return damaged;
    if (!(found.gnu_hash ? count_gnu(file, found.gnu_hash, &table->count)
                         : count_old(file, found.hash, &table->count)))
        return damaged;
    return (uint64_t)table->count * sizeof(Elf64_Sym) <= rest ? NULL : damaged;
}

/* ---- .symtab: for reports only, so that whatever is wrong with it just makes it absent ---- */

static bool section_at(const struct elf_file *file, const Elf64_Ehdr *header, uint32_t index,
                       Elf64_Shdr *section)
{
    return index < header->e_shnum && get(file, header->e_shoff + (uint64_t)index * sizeof(*section),
                                          section, sizeof(*section));
}

static void read_all_symbols(struct elf_file *file, const Elf64_Ehdr *header)
{
    Elf64_Shdr section, strings;

    if (header->e_shoff == 0 || header->e_shoff > file->size ||
        header->e_shentsize != sizeof(Elf64_Shdr))
        return;
    for (uint32_t i = 0; section_at(file, header, i, &section); i++) {
        if (section.sh_type != SHT_SYMTAB || section.sh_entsize != sizeof(Elf64_Sym))
            continue;
        if (!section_at(file, header, section.sh_link, &strings) ||
            !range_inside(section.sh_offset, section.sh_size, file->size) ||
            !range_inside(strings.sh_offset, strings.sh_size, file->size))
            return;
        file->all = (struct elf_table){
            .symbols = section.sh_offset,
            .count = (uint32_t)(section.sh_size / sizeof(Elf64_Sym)),
            .strings = strings.sh_offset,
            .string_bytes = strings.sh_size,
        };
        return;
    }
}

/* ---- all of it ---- */

NTSTATUS elf_file_parse(struct elf_file *file, const struct loader_file *source, char *error,
                        size_t error_bytes)
{
    Elf64_Ehdr header;
    Elf64_Phdr dynamic = {0};
    const char *wrong;

    memset(file, 0, sizeof(*file));
    file->name = source->name;
    file->bytes = source->bytes;
    file->size = source->size;
    wrong = check_header(file, &header);
    if (!wrong)
        wrong = read_segments(file, &header, &dynamic);
    if (!wrong)
        wrong = read_dynamic(file, &dynamic);
    if (wrong) {
        util_explain(error, error_bytes, "%s: %s", file->name, wrong);
        return STATUS_INVALID_IMAGE_FORMAT;
    }
    read_all_symbols(file, &header);
    return STATUS_SUCCESS;
}
