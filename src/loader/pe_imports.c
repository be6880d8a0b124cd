/* SPDX-License-Identifier: MIT */
/*
 * The imports of a PE image: all are collected before anything is written, since in a hostile image
 * the slots may overlap the tables; then they are looked up, then bound. Delay-loaded imports are
 * bound at once, too, since nothing would bind them later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/imports.h"
#include "loader/pe.h"
#include "util/alloc.h"

/* One walk counts, the next one fills. */
struct import_walk {
    struct pe_image *image;
    const struct pe_file *file;
    struct pe_import *import; /* NULL: only count */
    char *names;
    uint32_t imports, name_bytes, modules;
    uint32_t module; /* name of the current module */
    bool delayed;
};

/* Names are kept as they are to be printed. */
static uint32_t add_name(struct import_walk *walk, const char *name)
{
    uint32_t at = walk->name_bytes;
    size_t length = strlen(name);

    for (size_t i = 0; walk->names && i <= length; i++)
        walk->names[at + i] = name[i] == '\0' || (name[i] > 0x20 && name[i] < 0x7F) ? name[i] : '?';
    walk->name_bytes += (uint32_t)length + 1;
    return at;
}

static NTSTATUS add_import(struct import_walk *walk, uint64_t value, uint64_t slot)
{
    bool by_ordinal = (value & PE_IMPORT_BY_ORDINAL) != 0;
    char text[16];
    const char *name = text;
    uint32_t at;

    if (walk->imports == PE_MAX_IMPORTS)
        return pe_refuse(walk->file, "damaged: more than %u imports", PE_MAX_IMPORTS);
    if (by_ordinal)
        snprintf(text, sizeof(text), "#%u", (unsigned)(value & 0xFFFF));
    else if (value > UINT32_MAX || !(name = pe_text_at(walk->image, value + 2)) || !*name)
        return pe_refuse(walk->file, "damaged: an import at 0x%llx has no name",
                         (unsigned long long)slot);
    at = add_name(walk, name);
    if (walk->import)
        walk->import[walk->imports] = (struct pe_import){
            .module = walk->module,
            .name = at,
            .slot = (uint32_t)slot,
            .ordinal = by_ordinal ? (uint16_t)value : 0,
            .by_ordinal = by_ordinal,
            .delayed = walk->delayed,
        };
    walk->imports++;
    return STATUS_SUCCESS;
}

/* All imports of one module; the names and the slots are parallel arrays that end with a zero
 * name. */
static NTSTATUS walk_module(struct import_walk *walk, uint64_t module, uint64_t names,
                            uint64_t slots)
{
    const char *name = pe_text_at(walk->image, module);

    if (!name || !*name)
        return pe_refuse(walk->file, "damaged: it imports from a module without a name");
    if (++walk->modules > PE_MAX_MODULES)
        return pe_refuse(walk->file, "damaged: it imports from more than %u modules",
                         PE_MAX_MODULES);
    walk->module = add_name(walk, name);
    for (;; names += sizeof(uint64_t), slots += sizeof(uint64_t)) {
        const uint8_t *at = pe_at(walk->image, names, sizeof(uint64_t));
        uint64_t value;
        NTSTATUS status;

        if (!at || !pe_at(walk->image, slots, sizeof(uint64_t)))
            return pe_refuse(walk->file, "damaged: its imports from %.64s do not end inside it",
                             name);
        memcpy(&value, at, sizeof(value));
        if (value == 0)
            return STATUS_SUCCESS;
        status = add_import(walk, value, slots);
        if (!NT_SUCCESS(status))
            return status;
    }
}

static NTSTATUS walk_imports(struct import_walk *walk)
{
    const struct pe_directory *table = &walk->file->directory[PE_IMPORTS];
    struct pe_import_descriptor d;
    uint64_t at = table->address;

    walk->delayed = false;
    if (!at)
        return STATUS_SUCCESS;
    /* Ends with an empty descriptor; the directory's size may be that of the whole section, or too
     * small. */
    for (;; at += sizeof(d)) {
        NTSTATUS status;

        if (!pe_at(walk->image, at, sizeof(d)))
            return pe_refuse(walk->file, "damaged: its import table does not end inside it");
        memcpy(&d, walk->image->base + at, sizeof(d));
        if (d.module == 0 || d.slots == 0)
            return STATUS_SUCCESS;
        status = walk_module(walk, d.module, d.names ? d.names : d.slots, d.slots);
        if (!NT_SUCCESS(status))
            return status;
    }
}

static NTSTATUS walk_delayed(struct import_walk *walk)
{
    const struct pe_directory *table = &walk->file->directory[PE_DELAY_IMPORTS];
    struct pe_delay_descriptor d;
    uint64_t at = table->address;

    walk->delayed = true;
    if (!at)
        return STATUS_SUCCESS;
    for (;; at += sizeof(d)) {
        NTSTATUS status;

        if (!pe_at(walk->image, at, sizeof(d)))
            return pe_refuse(walk->file, "damaged: its delayed imports do not end inside it");
        memcpy(&d, walk->image->base + at, sizeof(d));
        if (d.module == 0)
            return STATUS_SUCCESS;
        if (!(d.attributes & PE_DELAY_ADDRESSES))
            return pe_refuse(walk->file, "damaged: delayed imports in the form of 32-bit images");
        status = walk_module(walk, d.module, d.names, d.slots);
        if (!NT_SUCCESS(status))
            return status;
    }
}

static NTSTATUS walk_all(struct import_walk *walk)
{
    NTSTATUS status = walk_imports(walk);

    return NT_SUCCESS(status) ? walk_delayed(walk) : status;
}

/* The imports of a module are consecutive; handles those from `first` on, and *end gets the first
 * one after them. */
static NTSTATUS find_module(struct loader_image *image, const struct pe_file *file, uint32_t first,
                            uint32_t *end)
{
    const struct pe_image *pe = image->pe;
    const char *name = pe->import_names + pe->import[first].module;
    bool host = loader_module_is_host(name);
    struct loader_image *module = NULL;
    NTSTATUS status = host ? STATUS_SUCCESS : loader_module_open(image, file, name, &module);
    uint32_t i;

    for (i = first; i < pe->imports && pe->import[i].module == pe->import[first].module; i++) {
        struct pe_import *import = &pe->import[i];
        const char *routine = import->by_ordinal ? NULL : pe->import_names + import->name;

        if (host)
            import->target = routine ? loader_module_find(routine) : NULL;
        else if (module)
            import->target = pe_export_find(module->pe, routine, import->ordinal);
    }
    *end = i;
    return status;
}

NTSTATUS pe_collect_imports(struct loader_image *image, const struct pe_file *file)
{
    struct pe_image *pe = image->pe;
    struct import_walk count = {.image = pe, .file = file}, fill = count;
    NTSTATUS status = walk_all(&count);

    if (!NT_SUCCESS(status))
        return status;
    fill.import = pe->import = util_zalloc(count.imports + 1, sizeof(*pe->import));
    fill.names = pe->import_names = util_alloc(count.name_bytes + 1);
    if (!pe->import || !pe->import_names)
        return STATUS_NO_MEMORY;
    status = walk_all(&fill);
    pe->imports = fill.imports;
    for (uint32_t i = 0; NT_SUCCESS(status) && i < pe->imports;)
        status = find_module(image, file, i, &i);
    return status;
}

/* ---- binding ---- */

static bool is_missing(const struct pe_import *import)
{
    return !import->target || (import->stub && !import->delayed);
}

/* The kernel does not document its ordinals, so none of them can be found. */
static const char *remark(const struct pe_image *image, const struct pe_import *import)
{
    return import->by_ordinal && loader_module_is_host(image->import_names + import->module)
               ? " (by ordinal, which is different in each build of the kernel)"
               : "";
}

/* "module!routine" of each missing import, sorted, in one block. NULL: out of memory. */
static char **list_missing(const struct pe_image *image, uint32_t missing)
{
    uint64_t bytes = 0;
    uint32_t count = 0;
    char **name, *at;

    for (uint32_t i = 0; i < image->imports; i++)
        if (is_missing(&image->import[i]))
            bytes += strlen(image->import_names + image->import[i].module) +
                     strlen(image->import_names + image->import[i].name) +
                     strlen(remark(image, &image->import[i])) + 2;
    name = util_alloc(missing * sizeof(*name) + bytes);
    if (!name)
        return NULL;
    at = (char *)(name + missing);
    for (uint32_t i = 0; i < image->imports; i++) {
        const struct pe_import *import = &image->import[i];

        if (!is_missing(import))
            continue;
        name[count++] = at;
        at += sprintf(at, "%s!%s%s", image->import_names + import->module,
                      image->import_names + import->name, remark(image, import)) +
              1;
    }
    loader_sort_names(name, count);
    return name;
}

NTSTATUS pe_bind_imports(struct pe_image *image, const struct pe_file *file)
{
    NTSTATUS status = STATUS_SUCCESS;
    uint32_t missing = 0;
    bool stubs = false;
    char **name;

    for (uint32_t i = 0; i < image->imports; i++) {
        missing += is_missing(&image->import[i]);
        stubs |= image->import[i].stub && !image->import[i].delayed;
    }
    if (missing) {
        name = list_missing(image, missing);
        if (!name)
            return STATUS_NO_MEMORY;
        status = loader_report_missing(file->name, name, missing, stubs, file->error,
                                       file->error_bytes);
        util_free(name);
    }
    for (uint32_t i = 0; NT_SUCCESS(status) && i < image->imports; i++) {
        uint64_t value = (uintptr_t)image->import[i].target;

        memcpy(image->base + image->import[i].slot, &value, sizeof(value));
    }
    return status;
}
