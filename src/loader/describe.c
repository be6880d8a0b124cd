/* SPDX-License-Identifier: MIT */
/* Describes an image file in lines of text, without running it: its parts, its imports, and which
 * imports are available. */
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loader/elf_image.h"
#include "loader/imports.h"
#include "loader/pe.h"
#include "util/alloc.h"
#include "util/explain.h"

struct listener {
    void (*line)(void *context, const char *line);
    void *context;
};

static void say(const struct listener *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct listener *to, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    to->line(to->context, line);
}

static const char *rights(bool read, bool write, bool execute)
{
    static const char *const text[] = {"---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"};

    return text[read * 4 + write * 2 + execute];
}

/* ---- PE ---- */

static void say_sections(const struct listener *to, const struct pe_file *file)
{
    say(to, "sections");
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        say(to, "  %-8s 0x%08x, %8u bytes, %8u in the file, %s%s", s->name, s->address,
            s->memory_bytes, s->file_bytes,
            rights(true, (s->flags & PE_SECTION_WRITE) != 0, (s->flags & PE_SECTION_EXECUTE) != 0),
            s->flags & PE_SECTION_DISCARDABLE ? ", discardable" : "");
    }
}

/* The imports of a module are consecutive. */
static uint32_t say_module(const struct listener *to, const struct pe_image *image, uint32_t first)
{
    const char *name = image->import_names + image->import[first].module;
    uint32_t end = first, missing = 0;

    while (end < image->imports && image->import[end].module == image->import[first].module)
        missing += !image->import[end++].target;
    say(to, "  %s: %u provided, %u missing%s", name, end - first - missing, missing,
        image->import[first].delayed ? ", delay-loaded" : "");
    for (uint32_t i = first; i < end; i++)
        say(to, "    %s %s", image->import[i].target ? "provided" : "missing ",
            image->import_names + image->import[i].name);
    return end;
}

static void say_image(const struct listener *to, const struct pe_image *image,
                      const struct pe_file *file, const struct symbol_table *symbols)
{
    say(to, "%s: PE32+ image for x64, %zu bytes, %u bytes in memory", file->name, file->size,
        image->bytes);
    say(to, "  %-26s 0x%x", "entry point", file->optional.entry);
    say(to, "  %-26s %s", "relocations",
        file->header.characteristics & PE_FILE_NO_RELOCATIONS ? "stripped: only at its own base"
        : file->directory[PE_RELOCATIONS].address             ? "yes"
                                                              : "none needed");
    say(to, "  %-26s %u", "functions to unwind", image->table.count);
    say(to, "  %-26s %u", "symbols", symbols->count);
    say(to, "  %-26s %s", "load configuration",
        file->directory[PE_LOAD_CONFIG].address ? "yes" : "none");
    say_sections(to, file);
    say(to, "imports");
    for (uint32_t i = 0; i < image->imports;)
        i = say_module(to, image, i);
}

static NTSTATUS describe_pe(const struct listener *to, const struct loader_file *source,
                            char *error, size_t error_bytes)
{
    struct loader_image image = {.pe = NULL};
    struct pe_file file;
    NTSTATUS status = pe_file_parse(&file, source, 0, error, error_bytes);

    if (NT_SUCCESS(status))
        status = pe_image_prepare(&image, &file);
    if (NT_SUCCESS(status))
        say_image(to, image.pe, &file, &image.symbols);
    pe_image_unload(&image);
    symbol_table_finish(&image.symbols);
    loader_modules_close(&image);
    util_free(image.import);
    return status;
}

/* ---- ELF ---- */

static NTSTATUS describe_elf(const struct listener *to, const struct loader_file *source,
                             char *error, size_t error_bytes)
{
    struct elf_file file;
    NTSTATUS status = elf_file_parse(&file, source, error, error_bytes);
    uint32_t imports = 0, missing = 0;
    struct elf_symbol symbol;

    if (!NT_SUCCESS(status))
        return status;
    say(to, "%s: ELF shared object for x86-64, %zu bytes", file.name, file.size);
    say(to, "  %-26s %u", "symbols", file.all.count ? file.all.count : file.dynamic.count);
    say(to, "segments");
    for (uint32_t i = 0; i < file.segments; i++) {
        const struct elf_segment *s = &file.segment[i];

        say(to, "  0x%08llx, %8llu bytes, %8llu in the file, %s", (unsigned long long)s->address,
            (unsigned long long)s->memory_bytes, (unsigned long long)s->file_bytes,
            rights(s->flags & PF_R, s->flags & PF_W, s->flags & PF_X));
    }
    say(to, "imports");
    for (uint32_t i = 0; i < file.dynamic.count; i++) {
        bool there;

        elf_symbol_at(&file, &file.dynamic, i, &symbol);
        if (symbol.defined || !symbol.name[0])
            continue;
        there = loader_offered(&file, symbol.name);
        imports++;
        missing += !there && symbol.binding != STB_WEAK;
        say(to, "    %s %s",
            there                        ? "provided"
            : symbol.binding == STB_WEAK ? "optional"
                                         : "missing ",
            symbol.name);
    }
    say(to, "  %u provided or optional, %u missing", imports - missing, missing);
    return status;
}

NTSTATUS loader_describe(const char *path, void (*line)(void *context, const char *line),
                         void *context, char *error, size_t error_bytes)
{
    const struct listener to = {line, context};
    const char *slash = strrchr(path, '/');
    struct loader_file file;
    NTSTATUS status = loader_file_read(&file, path, slash ? slash + 1 : path, error, error_bytes);

    if (!NT_SUCCESS(status))
        return status;
    loader_make_host_global();
    status = loader_file_is_pe(&file) ? describe_pe(&to, &file, error, error_bytes)
                                      : describe_elf(&to, &file, error, error_bytes);
    loader_file_free(&file);
    if (!NT_SUCCESS(status) && error && error_bytes && !error[0])
        util_explain(error, error_bytes, "%s: out of memory", path);
    return status;
}
