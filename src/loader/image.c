/* SPDX-License-Identifier: MIT */
/* Images of a machine in either format: loading, unloading, and the naming of addresses. */
#include "loader/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/coverage.h"
#include "loader/elf_image.h"
#include "loader/file.h"
#include "loader/lines.h"
#include "loader/source.h"
#include "loader/pe.h"
#include "loader/symbols.h"
#include "sim/machine.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "util/debugger.h"
#include "util/explain.h"

static struct sim_slot loader_slot;
SIM_SLOT_CLAIM(loader_slot)

struct loader *loader_current(void)
{
    return sim_slot_get(&loader_slot);
}

static struct loader *loader_of_machine(void)
{
    struct loader *loader = loader_current();

    if (loader)
        return loader;
    loader = util_zalloc(1, sizeof(*loader));
    if (!loader)
        return NULL;
    list_init(&loader->images);
    sim_slot_set(&loader_slot, loader);
    return loader;
}

static void set_names(struct loader_image *image, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dot;

    snprintf(image->name, sizeof(image->name), "%s", slash ? slash + 1 : path);
    memcpy(image->service, image->name, sizeof(image->service));
    dot = strchr(image->service, '.');
    if (dot && dot != image->service)
        *dot = '\0';
}

bool loader_coverage_enable(void)
{
    struct loader *loader = loader_of_machine();

    if (loader && !loader->coverage)
        loader->coverage = util_zalloc(1, sizeof(*loader->coverage));
    return loader && loader->coverage;
}

struct coverage *loader_coverage(void)
{
    const struct loader *loader = sim_current ? loader_current() : NULL;

    return loader ? loader->coverage : NULL;
}

bool loader_on_source(loader_source *source, void *context)
{
    struct loader *loader = loader_of_machine();

    if (!loader)
        return false;
    loader->source = source;
    loader->source_context = context;
    return true;
}

/* ---- life ---- */

static NTSTATUS load_elf(struct loader_image *image, const struct loader_file *file,
                         const char *path, unsigned options, char *error, size_t error_bytes)
{
    char *full;
    NTSTATUS status;

    if (options & LOADER_MODULE) {
        util_explain(error, error_bytes, "%s: not a Windows image", file->name);
        return STATUS_INVALID_IMAGE_FORMAT;
    }
    full = realpath(path, NULL);
    status = elf_image_load(image, file, full ? full : path, error, error_bytes);
    free(full);
    return status;
}

/* About the functions and lines of this image. */
static void ask_others(struct loader_image *image, const char *path)
{
    const struct loader *loader = loader_current();

    image->path = loader->source ? realpath(path, NULL) : NULL;
    image->source = loader->source;
    image->source_context = loader->source_context;
}

static NTSTATUS load(struct loader_image *image, const char *path, unsigned options, char *error,
                     size_t error_bytes)
{
    struct loader_file file;
    NTSTATUS status = loader_file_read(&file, path, image->name, error, error_bytes);

    if (!NT_SUCCESS(status))
        return status;
    status = loader_file_is_pe(&file) ? pe_image_load(image, &file, options, error, error_bytes)
                                      : load_elf(image, &file, path, options, error, error_bytes);
    if (image->pe && !image->lines)
        ask_others(image, path);
    loader_file_free(&file);
    return status;
}

NTSTATUS loader_image_load(const char *path, unsigned options, struct loader_image **out,
                           char *error, size_t error_bytes)
{
    struct loader *loader = loader_of_machine();
    struct loader_image *image = loader ? util_zalloc(1, sizeof(*image)) : NULL;
    NTSTATUS status;

    if (error && error_bytes)
        error[0] = '\0';
    if (!image) {
        util_explain(error, error_bytes, "%s: out of memory", path);
        return STATUS_NO_MEMORY;
    }
    image->copy = -1;
    list_init(&image->link);
    set_names(image, path);
    status = load(image, path, options, error, error_bytes);
    if (!NT_SUCCESS(status)) {
        if (error && error_bytes && !error[0])
            util_explain(error, error_bytes, "%s: out of memory", image->name);
        loader_image_unload(image);
        return status;
    }
    list_push_back(&loader->images, &image->link);
    dxgk_debug_image(path, image->base, (uintptr_t)image->entry);
    *out = image;
    return STATUS_SUCCESS;
}

void loader_image_unload(struct loader_image *image)
{
    if (!image)
        return;
    list_remove(&image->link);
    if (image->high)
        dxgk_debug_image_gone(image->base, (uintptr_t)image->entry);
    if (loader_coverage() && image->high)
        coverage_forget(loader_coverage(), image->base + image->low, image->base + image->high);
    elf_image_unload(image);
    pe_image_unload(image);
    loader_modules_close(image);
    symbol_table_finish(&image->symbols);
    lines_free(image->lines);
    free(image->path);
    util_free(image->import);
    util_free(image->import_names);
    util_free(image);
}

uint32_t loader_image_modules(const struct loader_image *image)
{
    return image->modules;
}

struct loader_image *loader_image_module(const struct loader_image *image, uint32_t index)
{
    return image->module[index];
}

bool loader_module_last_use(const struct loader_image *module)
{
    return module->importers == 1;
}

void *loader_image_export(const struct loader_image *image, const char *name)
{
    return image->pe ? pe_export_find(image->pe, name, 0) : NULL;
}

void loader_image_initialized(struct loader_image *image)
{
    if (image->pe)
        pe_discard(image->pe);
}

/* ---- questions ---- */

const char *loader_image_name(const struct loader_image *image)
{
    return image->name;
}

const char *loader_image_service(const struct loader_image *image)
{
    return image->service;
}

PDRIVER_INITIALIZE loader_image_entry(const struct loader_image *image)
{
    return image->entry;
}

uint64_t loader_image_place(const struct loader_image *image, uintptr_t *base)
{
    *base = image->base + image->low;
    return image->high - image->low;
}

bool loader_image_contains(const struct loader_image *image, uintptr_t pc)
{
    uint64_t address = pc - image->base;

    return address >= image->low && address < image->high;
}

static const struct loader_image *image_of(uintptr_t pc)
{
    struct loader *loader = loader_current();

    if (!loader)
        return NULL;
    LIST_FOR(node, &loader->images) {
        const struct loader_image *image = CONTAINER(node, struct loader_image, link);

        if (loader_image_contains(image, pc))
            return image;
    }
    return NULL;
}

bool loader_in_driver(uintptr_t pc)
{
    return image_of(pc) != NULL;
}

bool loader_offset(uintptr_t pc, uint64_t *offset)
{
    const struct loader_image *image = image_of(pc);

    if (image)
        *offset = pc - image->base;
    return image != NULL;
}

bool loader_symbolize(uintptr_t pc, char *text, size_t bytes)
{
    const struct loader_image *image = image_of(pc);
    const struct symbol *symbol;

    if (!image)
        return false;
    if (image->nameless && loader_source_name(image, pc - image->base, text, bytes))
        return true;
    symbol = symbol_table_find(&image->symbols, pc - image->base);
    if (symbol)
        snprintf(text, bytes, "%s!%s+0x%llx", image->name, image->symbols.names + symbol->name,
                 (unsigned long long)(pc - image->base - symbol->value));
    else
        snprintf(text, bytes, "%s+0x%llx", image->name, (unsigned long long)(pc - image->base));
    return true;
}

/* "" if it is not known. */
static void place_in_source(const struct loader_image *image, uint64_t offset, char *text,
                            size_t bytes)
{
    if (image->lines ? !lines_find_path(image->lines, offset, text, bytes)
                     : !loader_source_line_of(image, offset, text, bytes))
        text[0] = '\0';
}

/* "a.sys!f+0x42" becomes "a.sys!g (inlined into f)+0x42", where g was inlined. */
static void name_inlined(const struct loader_image *image, uint64_t offset, char *text, size_t bytes)
{
    char inlined[256], whole[512];
    const char *function = strchr(text, '!'), *end = strrchr(text, '+');

    if (!function || !end || image->lines ||
        !loader_source_inlined(image, offset, inlined, sizeof(inlined)))
        return;
    snprintf(whole, sizeof(whole), "%.*s!%s (inlined into %.*s)%s", (int)(function - text), text,
             inlined, (int)(end - function - 1), function + 1, end);
    snprintf(text, bytes, "%s", whole);
}

/* `returns`: the address is the one behind a call. */
bool loader_frame(uintptr_t pc, bool returns, char *text, size_t bytes)
{
    const struct loader_image *image = image_of(pc);
    size_t used;

    if (!loader_symbolize(pc, text, bytes))
        return false;
    name_inlined(image, pc - returns - image->base, text, bytes);
    used = strlen(text);
    if (bytes - used < sizeof(" (a:1)"))
        return true;
    place_in_source(image, pc - returns - image->base, text + used + 2, bytes - used - 3);
    if (!text[used + 2])
        return true;
    text[used] = ' ';
    text[used + 1] = '(';
    strcat(text, ")");
    return true;
}

bool loader_source_line(uintptr_t pc, char *text, size_t bytes)
{
    const struct loader_image *image = image_of(pc);
    char place[512];
    const char *slash;

    if (!image)
        return false;
    if (image->lines)
        return lines_find(image->lines, pc - image->base, text, bytes);
    if (!loader_source_line_of(image, pc - image->base, place, sizeof(place)))
        return false;
    slash = strrchr(place, '/');
    snprintf(text, bytes, "%s", slash ? slash + 1 : place);
    return true;
}
