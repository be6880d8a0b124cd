/* SPDX-License-Identifier: MIT */
/*
 * The imports of an image, and whether they are available (LIFE-005). They are looked up before the
 * dynamic linker sees the image, so that all missing names are reported at once: the dynamic linker
 * would stop at the first.
 */
#include "loader/imports.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "loader/elf_file.h"
#include "loader/image.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "verify/verify.h"

static bool is_import(const struct elf_symbol *symbol)
{
    return !symbol->defined && symbol->name[0];
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static NTSTATUS collect(struct loader_image *image, const struct elf_file *file)
{
    struct elf_symbol symbol;
    uint32_t count = 0;
    size_t bytes = 0;
    char *at;

    for (uint32_t i = 0; i < file->dynamic.count; i++) {
        elf_symbol_at(file, &file->dynamic, i, &symbol);
        if (is_import(&symbol)) {
            count++;
            bytes += strlen(symbol.name) + 1;
        }
    }
    image->import = util_alloc((count ? count : 1) * sizeof(*image->import));
    image->import_names = at = util_alloc(bytes ? bytes : 1);
    if (!image->import || !image->import_names)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < file->dynamic.count; i++) {
        elf_symbol_at(file, &file->dynamic, i, &symbol);
        if (!is_import(&symbol))
            continue;
        image->import[image->imports++] = strcpy(at, symbol.name);
        at += strlen(symbol.name) + 1;
    }
    loader_sort_names(image->import, image->imports);
    return STATUS_SUCCESS;
}

/* A library that the image needs may be loaded only for that image; its symbols are then not in the
 * global scope. */
static bool offered_by_library(const struct elf_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->needed_count; i++) {
        const char *library = elf_string(file, &file->dynamic, file->needed[i]);
        void *handle = library ? dlopen(library, RTLD_LAZY | RTLD_LOCAL) : NULL;
        bool found = handle && dlsym(handle, name);

        if (handle)
            dlclose(handle);
        if (found)
            return true;
    }
    return false;
}

/* A variable may be at address 0 in theory, so dlerror decides, not the address. */
bool loader_offered(const struct elf_file *file, const char *name)
{
    dlerror();
    return dlsym(RTLD_DEFAULT, name) != NULL || !dlerror() || offered_by_library(file, name);
}

/* Append to a list in a buffer of fixed size; false: it does not fit. */
static bool append(char *list, size_t bytes, const char *name)
{
    size_t length = strlen(list), more = strlen(name);

    if (length + more + 3 > bytes)
        return false;
    if (length)
        memcpy(list + length, ", ", 3);
    strcat(list, name);
    return true;
}

void loader_sort_names(char **name, uint32_t count)
{
    if (count)
        qsort(name, count, sizeof(*name), by_name);
}

NTSTATUS loader_report_missing(const char *image, char *const *name, uint32_t count, bool stubs,
                               char *error, size_t error_bytes)
{
    const char *plural = count == 1 ? "" : "s";
    size_t bytes = 16;
    char *list;

    for (uint32_t i = 0; i < count; i++)
        bytes += strlen(name[i]) + 2;
    list = util_alloc(bytes);
    if (!list)
        return STATUS_NO_MEMORY;
    list[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        append(list, bytes, name[i]);
    if (stubs) {
        WARNING("LIFE-005", "%s imports %u routine%s that the host stands in for: %s", image, count,
                plural, list);
    } else {
        verify_refusal("LIFE-005", "%s: imports %u routine%s that the host does not have: %s",
                       image, count, plural, list);
        util_explain(error, error_bytes, "%s: imports %u routine%s that the host does not have: %s",
                     image, count, plural, list);
    }
    util_free(list);
    return stubs ? STATUS_SUCCESS : STATUS_DRIVER_ENTRYPOINT_NOT_FOUND;
}

NTSTATUS loader_imports(struct loader_image *image, const struct elf_file *file, char *error,
                        size_t error_bytes)
{
    NTSTATUS status = collect(image, file);
    struct elf_symbol symbol;
    char **missing;
    uint32_t count = 0;

    if (!NT_SUCCESS(status))
        return status;
    missing = util_alloc((image->imports ? image->imports : 1) * sizeof(*missing));
    if (!missing)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < file->dynamic.count; i++) {
        char **found;

        elf_symbol_at(file, &file->dynamic, i, &symbol);
        if (!is_import(&symbol) || symbol.binding == STB_WEAK || loader_offered(file, symbol.name))
            continue;
        found = bsearch(&(char *){(char *)(uintptr_t)symbol.name}, image->import, image->imports,
                        sizeof(*image->import), by_name);
        if (found)
            missing[count++] = *found;
    }
    if (count) {
        loader_sort_names(missing, count);
        status = loader_report_missing(file->name, missing, count, false, error, error_bytes);
    }
    util_free(missing);
    return status;
}

bool loader_image_imports(const struct loader_image *image, const char *name)
{
    char *key = (char *)(uintptr_t)name;

    return image->imports &&
           bsearch(&key, image->import, image->imports, sizeof(*image->import), by_name);
}
