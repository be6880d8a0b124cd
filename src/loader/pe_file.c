/* SPDX-License-Identifier: MIT */
/*
 * Reading the headers of a PE image, none of which is trusted. Accepted is an executable for x64,
 * of the native subsystem, whose sections follow one another, each in its own pages, inside the
 * file and inside the image (LIFE-183).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loader/pe.h"
#include "util/checked.h"
#include "util/explain.h"

#define MAX_IMAGE_BYTES ((uint32_t)1 << 30)

NTSTATUS pe_refuse(const struct pe_file *file, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    util_explain(file->error, file->error_bytes, "%s: %s", file->name, text);
    return STATUS_INVALID_IMAGE_FORMAT;
}

static bool get(const struct pe_file *file, uint64_t offset, void *to, size_t bytes)
{
    if (!range_inside(offset, bytes, file->size))
        return false;
    memcpy(to, file->bytes + offset, bytes);
    return true;
}

static bool is_power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

/* ---- headers ---- */

static NTSTATUS check_machine(const struct pe_file *file)
{
    switch (file->header.machine) {
    case PE_MACHINE_X64:
        return STATUS_SUCCESS;
    case PE_MACHINE_X86:
        return pe_refuse(file, "built for 32-bit x86, not for x64");
    case PE_MACHINE_ARM64:
        return pe_refuse(file, "built for ARM64, not for x64");
    default:
        return pe_refuse(file, "built for machine 0x%04x, not for x64", file->header.machine);
    }
}

static NTSTATUS read_directories(struct pe_file *file, uint64_t offset)
{
    uint32_t count = file->optional.directories < PE_DIRECTORIES ? file->optional.directories
                                                                 : PE_DIRECTORIES;

    if (sizeof(file->optional) + count * sizeof(file->directory[0]) > file->header.optional_bytes)
        return pe_refuse(file, "damaged: its optional header has no room for %u directories", count);
    if (!get(file, offset, file->directory, count * sizeof(file->directory[0])))
        return pe_refuse(file, "truncated: the directories are not complete");
    for (uint32_t i = 0; i < count; i++) {
        struct pe_directory *directory = &file->directory[i];

        if (directory->address == 0 || directory->bytes == 0)
            *directory = (struct pe_directory){0, 0};
        else if (i != PE_SECURITY && /* a file offset, of data that no loader maps */
                 !range_inside(directory->address, directory->bytes, file->optional.image_bytes))
            return pe_refuse(file, "damaged: directory %u (0x%x bytes at 0x%x) lies outside it", i,
                             directory->bytes, directory->address);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS check_optional(const struct pe_file *file)
{
    const struct pe_optional_header *o = &file->optional;

    if (o->magic != PE_MAGIC_64)
        return pe_refuse(file, o->magic == PE_MAGIC_32 ? "a PE32 image, not PE32+"
                                                       : "damaged: not a PE32+ header");
    if (!(file->header.characteristics & PE_FILE_EXECUTABLE))
        return pe_refuse(file, "not executable: it was linked with errors");
    if (o->subsystem != PE_SUBSYSTEM_NATIVE)
        return pe_refuse(file, "built for subsystem %u, not for the native one (1) of drivers",
                         o->subsystem);
    if (!is_power_of_two(o->section_alignment) || o->section_alignment < PE_PAGE)
        return pe_refuse(file, "its sections are aligned to 0x%x bytes, not to pages",
                         o->section_alignment);
    if (!is_power_of_two(o->file_alignment) || o->file_alignment > o->section_alignment)
        return pe_refuse(file, "damaged: file alignment 0x%x", o->file_alignment);
    if (o->image_bytes == 0 || o->image_bytes > MAX_IMAGE_BYTES)
        return pe_refuse(file, "damaged: an image of 0x%x bytes", o->image_bytes);
    if (o->header_bytes > o->image_bytes || o->header_bytes > file->size)
        return pe_refuse(file, "damaged: headers of 0x%x bytes", o->header_bytes);
    return STATUS_SUCCESS;
}

/* *sections gets the file offset of the section headers. */
static NTSTATUS read_headers(struct pe_file *file, uint64_t *sections)
{
    uint32_t signature, offset;
    uint64_t at;
    NTSTATUS status;

    if (!get(file, PE_DOS_NEW_HEADER, &offset, sizeof(offset)))
        return pe_refuse(file, "truncated: the DOS header is not complete");
    if (!get(file, offset, &signature, sizeof(signature)))
        return pe_refuse(file, "truncated: no PE header at 0x%x", offset);
    if (signature != PE_SIGNATURE)
        return pe_refuse(file, "a DOS program, not a Windows image");
    at = (uint64_t)offset + sizeof(signature);
    if (!get(file, at, &file->header, sizeof(file->header)))
        return pe_refuse(file, "truncated: the PE header is not complete");
    status = check_machine(file);
    if (!NT_SUCCESS(status))
        return status;
    at += sizeof(file->header);
    if (!get(file, at, &file->optional, sizeof(file->optional)) ||
        file->header.optional_bytes < sizeof(file->optional))
        return pe_refuse(file, "truncated: the optional header is not complete");
    status = check_optional(file);
    if (!NT_SUCCESS(status))
        return status;
    *sections = at + file->header.optional_bytes;
    return read_directories(file, at + sizeof(file->optional));
}

/* ---- sections ---- */

static void copy_name(char *to, const char *from)
{
    size_t i;

    for (i = 0; i < 8 && from[i]; i++)
        to[i] = from[i] >= 0x20 && from[i] < 0x7F ? from[i] : '?';
    to[i] = '\0';
}

static NTSTATUS add_section(struct pe_file *file, const struct pe_section_header *raw, uint64_t *end)
{
    struct pe_section *s = &file->section[file->sections];
    uint64_t after;

    *s = (struct pe_section){
        .address = raw->address,
        .memory_bytes = raw->memory_bytes ? raw->memory_bytes : raw->file_bytes,
        .offset = raw->offset,
        .file_bytes = raw->offset ? raw->file_bytes : 0,
        .flags = raw->flags,
    };
    copy_name(s->name, raw->name);
    if (s->address % file->optional.section_alignment)
        return pe_refuse(file, "damaged: section %u (%s) at 0x%x is not aligned", file->sections,
                         s->name, s->address);
    if (s->address < *end)
        return pe_refuse(file, "damaged: section %u (%s) at 0x%x overlaps what is before it",
                         file->sections, s->name, s->address);
    if (!range_inside(s->address, s->memory_bytes, file->optional.image_bytes))
        return pe_refuse(file,
                         "damaged: section %u (%s), 0x%x bytes at 0x%x, lies outside the image",
                         file->sections, s->name, s->memory_bytes, s->address);
    if (s->file_bytes > s->memory_bytes)
        s->file_bytes = s->memory_bytes; /* the rest is file padding */
    if (!range_inside(s->offset, s->file_bytes, file->size))
        return pe_refuse(file, "truncated: section %u (%s) is not complete", file->sections,
                         s->name);
    after = (uint64_t)s->address + s->memory_bytes;
    *end = (after + PE_PAGE - 1) & ~(uint64_t)(PE_PAGE - 1);
    file->sections++;
    return STATUS_SUCCESS;
}

static NTSTATUS read_sections(struct pe_file *file, uint64_t at)
{
    uint64_t end = ((uint64_t)file->optional.header_bytes + PE_PAGE - 1) & ~(uint64_t)(PE_PAGE - 1);

    if (file->header.sections == 0 || file->header.sections > PE_MAX_SECTIONS)
        return pe_refuse(file, "damaged: %u sections", file->header.sections);
    for (uint32_t i = 0; i < file->header.sections; i++) {
        struct pe_section_header raw;
        NTSTATUS status;

        if (!get(file, at + i * sizeof(raw), &raw, sizeof(raw)))
            return pe_refuse(file, "truncated: the section headers are not complete");
        status = add_section(file, &raw, &end);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

const struct pe_section *pe_section_at(const struct pe_file *file, uint32_t address)
{
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *section = &file->section[i];

        if (address - section->address < section->memory_bytes)
            return section;
    }
    return NULL;
}

/* ---- all of it ---- */

static NTSTATUS check_entry(const struct pe_file *file)
{
    const struct pe_section *section = pe_section_at(file, file->optional.entry);

    if (file->optional.entry == 0 && (file->options & LOADER_MODULE))
        return STATUS_SUCCESS;
    if (file->optional.entry == 0) {
        pe_refuse(file, "no entry point: not a miniport driver");
        return STATUS_DRIVER_ENTRYPOINT_NOT_FOUND;
    }
    if (!section || !(section->flags & PE_SECTION_EXECUTE))
        return pe_refuse(file, "damaged: its entry point 0x%x is not code", file->optional.entry);
    return STATUS_SUCCESS;
}

NTSTATUS pe_file_parse(struct pe_file *file, const struct loader_file *source, unsigned options,
                       char *error, size_t error_bytes)
{
    uint64_t sections = 0;
    NTSTATUS status;

    memset(file, 0, sizeof(*file));
    file->bytes = source->bytes;
    file->size = source->size;
    file->name = source->name;
    file->folder = source->folder;
    file->options = options;
    file->error = error;
    file->error_bytes = error_bytes;
    status = read_headers(file, &sections);
    if (NT_SUCCESS(status))
        status = read_sections(file, sections);
    if (NT_SUCCESS(status) && file->directory[PE_CLR].address)
        status = pe_refuse(file, "a .NET program, not a driver");
    if (NT_SUCCESS(status))
        status = check_entry(file);
    return status;
}
