/* SPDX-License-Identifier: MIT */
/*
 * The modules that PE images import from. The host stands in for the kernel's modules; which of
 * them contains a routine has changed over the years (ntoskrnl.exe, hal.dll, the names of API
 * sets), so each offers all routines. Any other module is an image file in the folder of the
 * importer: an export driver, a kernel-mode DLL (LIFE-188).
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "loader/pe.h"
#include "nt/routine.h"
#include "util/alloc.h"
#include "util/array.h"
#include "x64/runtime.h"

#define MODULES_MAX_DEPTH 8u

bool loader_module_is_host(const char *module)
{
    static const char *const name[] = {"ntoskrnl.exe", "ntkrnlmp.exe", "ntkrnlpa.exe", "hal.dll"};
    static const char *const set[] = {"ext-ms-win-ntos-", "api-ms-win-core-", "ext-ms-win-hal-"};

    for (size_t i = 0; i < ARRAY_COUNT(name); i++)
        if (strcasecmp(module, name[i]) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_COUNT(set); i++)
        if (strncasecmp(module, set[i], strlen(set[i])) == 0)
            return true;
    return false;
}

void *loader_module_find(const char *name)
{
    void *routine = nt_routine_find(name);

    return routine ? routine : x64_runtime_find(name);
}

/* ---- other images ---- */

static bool add_module(struct loader_image *importer, struct loader_image *module)
{
    struct loader_image **list;

    for (uint32_t i = 0; i < importer->modules; i++)
        if (importer->module[i] == module)
            return true;
    list = util_realloc(importer->module, (importer->modules + 1) * sizeof(*list));
    if (!list)
        return false;
    importer->module = list;
    importer->module[importer->modules++] = module;
    module->importers++;
    return true;
}

static struct loader_image *find_loaded(const struct loader *loader, const char *name)
{
    LIST_FOR(node, &loader->images) {
        struct loader_image *image = CONTAINER(node, struct loader_image, link);

        if (image->importers && strcasecmp(image->name, name) == 0)
            return image;
    }
    return NULL;
}

/* File names are case-insensitive on Windows. False: there is no such file. */
static bool find_file(const char *folder, const char *name, char *path, size_t bytes)
{
    DIR *directory = strchr(name, '/') ? NULL : opendir(folder);
    const struct dirent *entry;
    bool found = false;

    while (directory && !found && (entry = readdir(directory)) != NULL) {
        if (strcasecmp(entry->d_name, name) != 0)
            continue;
        found = (size_t)snprintf(path, bytes, "%s/%s", folder, entry->d_name) < bytes;
    }
    if (directory)
        closedir(directory);
    return found;
}

NTSTATUS loader_module_open(struct loader_image *importer, const struct pe_file *file,
                            const char *name, struct loader_image **out)
{
    struct loader *loader = loader_current();
    struct loader_image *module = loader ? find_loaded(loader, name) : NULL;
    char path[4096];
    NTSTATUS status;

    *out = NULL;
    if (!module) {
        if (!file->folder || strcasecmp(name, importer->name) == 0 ||
            !find_file(file->folder, name, path, sizeof(path)))
            return STATUS_SUCCESS;
        if (loader && loader->depth == MODULES_MAX_DEPTH)
            return pe_refuse(file, "modules that import each other: %.64s", name);
        if (loader)
            loader->depth++;
        status = loader_image_load(path, file->options | LOADER_MODULE, &module, file->error,
                                   file->error_bytes);
        if (loader)
            loader->depth--;
        if (!NT_SUCCESS(status))
            return status;
    }
    if (!add_module(importer, module)) {
        if (!module->importers)
            loader_image_unload(module);
        return STATUS_NO_MEMORY;
    }
    *out = module;
    return STATUS_SUCCESS;
}

void loader_modules_close(struct loader_image *importer)
{
    while (importer->modules) {
        struct loader_image *module = importer->module[--importer->modules];

        if (--module->importers == 0)
            loader_image_unload(module);
    }
    util_free(importer->module);
    importer->module = NULL;
}
