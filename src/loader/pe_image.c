/* SPDX-License-Identifier: MIT */
/* Loading a PE image step by step, and unloading it. */
#include <string.h>

#include "loader/coverage.h"
#include "loader/imports.h"
#include "loader/pe.h"
#include "nt/mm/race_guard.h"
#include "race/race.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "x64/traps/locked.h"
#include "x64/traps/preempt.h"
#include "x64/x64.h"

/* The names that loader_image_imports searches; they stay where pe_collect_imports put them. */
static NTSTATUS list_imports(struct loader_image *image)
{
    const struct pe_image *pe = image->pe;

    image->import = util_alloc((pe->imports ? pe->imports : 1) * sizeof(*image->import));
    if (!image->import)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < pe->imports; i++)
        image->import[i] = pe->import_names + pe->import[i].name;
    image->imports = pe->imports;
    loader_sort_names(image->import, image->imports);
    return STATUS_SUCCESS;
}

NTSTATUS pe_image_prepare(struct loader_image *image, const struct pe_file *file)
{
    struct pe_image *pe = util_zalloc(1, sizeof(*pe));
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!pe)
        return status;
    list_init(&pe->table.link);
    pe->table.name = image->name;
    pe->exports = file->directory[PE_EXPORTS];
    image->pe = pe;
    status = pe_map(pe, file);
    if (NT_SUCCESS(status))
        status = pe_relocate(pe, file);
    if (NT_SUCCESS(status))
        status = pe_check_tls(pe, file);
    if (NT_SUCCESS(status))
        status = pe_set_cookie(pe, file);
    if (NT_SUCCESS(status))
        status = pe_read_functions(pe, file);
    if (NT_SUCCESS(status))
        status = pe_collect_imports(image, file);
    if (NT_SUCCESS(status))
        status = list_imports(image);
    if (NT_SUCCESS(status))
        status = pe_read_symbols(&image->symbols, pe, file);
    if (NT_SUCCESS(status))
        image->lines = pe_read_lines(file);
    image->nameless = file->header.symbols == 0;
    return status;
}

/* Its data are watched for races; not the addresses that it imports. */
static void watch(const struct pe_image *pe, const struct pe_file *file)
{
    nt_race_guard_begin();
    for (uint32_t i = 0; i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        if (!(s->flags & PE_SECTION_WRITE) || s->flags & PE_SECTION_EXECUTE ||
            s->memory_bytes == 0 || strcmp(s->name, ".idata") == 0)
            continue;
        race_watch(sim_current->races, pe->base + s->address, s->memory_bytes);
        nt_race_guard_add(pe->base + s->address, s->memory_bytes, false);
    }
}

/* What the driver counts of itself (displib/coverage.c): counters and pairs of values in sections
 * of these names. */
static void find_coverage(const struct pe_image *pe, const struct pe_file *file)
{
    struct coverage *coverage = loader_coverage();

    for (uint32_t i = 0; coverage && i < file->sections; i++) {
        const struct pe_section *s = &file->section[i];

        if (!(s->flags & PE_SECTION_WRITE))
            continue;
        if (strcmp(s->name, ".SCOV") == 0 || strcmp(s->name, ".dxgkpc") == 0)
            coverage_add_region(coverage, pe->base + s->address, s->memory_bytes);
        else if (strcmp(s->name, ".dxgkcmp") == 0)
            coverage_add_pairs(coverage, (struct coverage_compare *)(pe->base + s->address),
                               s->memory_bytes / sizeof(struct coverage_compare));
    }
}

/* The fuzzer has breakpoints of its own. */
static bool under_stress(void)
{
    return sim_current && sim_current->stress && !loader_coverage();
}

NTSTATUS pe_image_load(struct loader_image *image, const struct loader_file *source,
                       unsigned options, char *error, size_t error_bytes)
{
    struct pe_image *pe;
    struct pe_file file;
    uintptr_t entry;
    NTSTATUS status = pe_file_parse(&file, source, options, error, error_bytes);

    if (!NT_SUCCESS(status))
        return status;
    status = pe_image_prepare(image, &file);
    pe = image->pe;
    if (NT_SUCCESS(status))
        status = pe_make_stubs(pe, (options & LOADER_STUB_MISSING) != 0);
    if (NT_SUCCESS(status))
        status = pe_bind_imports(pe, &file);
    if (NT_SUCCESS(status))
        status = pe_note_discardable(pe, &file);
    if (NT_SUCCESS(status))
        status = pe_rewrite(pe, &file, under_stress());
    if (NT_SUCCESS(status))
        status = pe_protect(pe, &file);
    if (!NT_SUCCESS(status))
        return status;
    image->base = (uintptr_t)pe->base;
    image->low = 0;
    image->high = pe->bytes;
    entry = image->base + file.optional.entry;
    memcpy(&image->entry, &entry, sizeof(entry));
    if (!x64_function_table_add(&pe->table))
        return STATUS_NO_MEMORY;
    if (sim_current && sim_current->races)
        watch(pe, &file);
    find_coverage(pe, &file);
    return STATUS_SUCCESS;
}

static void forget(const struct pe_image *pe)
{
    if (sim_current->races)
        nt_race_guard_forget(pe->base, pe->bytes);
    if (!x64_is_created())
        return;
    x64_locked_forget((uintptr_t)pe->base, pe->bytes);
    x64_preempt_forget((uintptr_t)pe->base, pe->bytes);
}

void pe_image_unload(struct loader_image *image)
{
    struct pe_image *pe = image->pe;

    if (!pe)
        return;
    if (sim_current && pe->base)
        forget(pe);
    x64_function_table_remove(&pe->table);
    pe_free_stubs(pe);
    pe_unmap(pe);
    util_free(pe->import);
    util_free(pe->import_names);
    util_free(pe->function);
    util_free(pe->discardable);
    util_free(pe);
    image->pe = NULL;
}
