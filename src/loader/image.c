/* SPDX-License-Identifier: MIT */
/* Images in the process: mapping by the dynamic linker, private copies, the list of the machine, naming of addresses. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/loader_private.h"
#include "sim/sim.h"
#include "util/alloc.h"

/* Images of one machine. */
struct loader {
    struct list images;
};

/* Is a file loaded already? The answer must hold until the dlopen after it, also when other machines load. */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

static struct loader *loader_of_machine(void)
{
    struct loader *loader = sim_current->room[SIM_ROOM_LOADER];

    if (loader)
        return loader;
    loader = util_zalloc(1, sizeof(*loader));
    if (!loader)
        return NULL;
    list_init(&loader->images);
    sim_current->room[SIM_ROOM_LOADER] = loader;
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

/* ---- mapping ---- */

/* A driver's imports must find the host even when the host library itself was loaded with local scope. */
static void make_host_global(void)
{
    Dl_info info;
    void *handle;

    if (!dladdr((void *)(uintptr_t)&loader_image_load, &info) || !info.dli_fname)
        return;
    handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (handle)
        dlclose(handle);
    dlerror();
}

static int copy_to_memory(const struct elf_file *file)
{
    size_t done = 0;
    int copy = memfd_create(file->name, MFD_CLOEXEC);

    while (copy >= 0 && done < file->size) {
        ssize_t put = write(copy, file->bytes + done, file->size - done);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            close(copy);
            return -1;
        }
        done += (size_t)put;
    }
    return copy;
}

static bool already_loaded(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);

    dlerror();
    if (handle)
        dlclose(handle);
    return handle != NULL;
}

static NTSTATUS map(struct loader_image *image, const struct elf_file *file, const char *path,
                    char *error, size_t error_bytes)
{
    char name[64];
    NTSTATUS status = STATUS_SUCCESS;

    pthread_mutex_lock(&load_lock);
    if (already_loaded(path)) {
        image->copy = copy_to_memory(file);
        if (image->copy < 0) {
            loader_explain(error, error_bytes, "%s: no memory file for a private copy", file->name);
            status = STATUS_NO_MEMORY;
        } else {
            snprintf(name, sizeof(name), "/proc/self/fd/%d", image->copy);
            path = name;
        }
    }
    if (NT_SUCCESS(status)) {
        image->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!image->handle) {
            const char *why = dlerror();

            loader_explain(error, error_bytes, "%s: refused by the dynamic linker: %s", file->name,
                           why ? why : "no reason given");
            status = STATUS_INVALID_IMAGE_FORMAT;
        }
    }
    pthread_mutex_unlock(&load_lock);
    return status;
}

static NTSTATUS find_entry(struct loader_image *image, const struct elf_file *file, char *error,
                           size_t error_bytes)
{
    bool exported = false, hidden = false;
    struct elf_symbol symbol;

    for (uint32_t i = 0; i < file->dynamic.count && !exported; i++) {
        elf_symbol_at(file, &file->dynamic, i, &symbol);
        exported = symbol.defined && symbol.type == STT_FUNC &&
                   strcmp(symbol.name, "DriverEntry") == 0;
    }
    for (uint32_t i = 0; i < file->all.count && !hidden; i++) {
        elf_symbol_at(file, &file->all, i, &symbol);
        hidden = symbol.defined && strcmp(symbol.name, "DriverEntry") == 0;
    }
    if (exported)
        return STATUS_SUCCESS;
    loader_explain(error, error_bytes, "%s: %s", image->name,
                   hidden ? "DriverEntry is not exported (give it default visibility)"
                          : "no DriverEntry: not a miniport driver");
    return STATUS_DRIVER_ENTRYPOINT_NOT_FOUND;
}

static NTSTATUS after_map(struct loader_image *image, char *error, size_t error_bytes)
{
    struct link_map *map = NULL;
    void *entry = dlsym(image->handle, "DriverEntry");

    if (!entry || dlinfo(image->handle, RTLD_DI_LINKMAP, &map) != 0) {
        loader_explain(error, error_bytes, "%s: DriverEntry cannot be found after loading",
                       image->name);
        return STATUS_DRIVER_ENTRYPOINT_NOT_FOUND;
    }
    image->base = map->l_addr;
    memcpy(&image->entry, &entry, sizeof(entry));
    return STATUS_SUCCESS;
}

/* ---- life ---- */

static NTSTATUS load(struct loader_image *image, const char *path, char *error, size_t error_bytes)
{
    struct elf_file file;
    char *full = realpath(path, NULL);
    NTSTATUS status = elf_file_open(&file, full ? full : path, image->name, error, error_bytes);

    if (!NT_SUCCESS(status)) {
        free(full);
        return status;
    }
    image->low = file.low;
    image->high = file.high;
    status = find_entry(image, &file, error, error_bytes);
    make_host_global();
    if (NT_SUCCESS(status))
        status = loader_imports(image, &file, error, error_bytes);
    if (NT_SUCCESS(status))
        status = symbol_table_init(&image->symbols, &file);
    if (NT_SUCCESS(status))
        status = map(image, &file, full ? full : path, error, error_bytes);
    if (NT_SUCCESS(status))
        status = after_map(image, error, error_bytes);
    elf_file_close(&file);
    free(full);
    return status;
}

NTSTATUS loader_image_load(const char *path, struct loader_image **out, char *error,
                           size_t error_bytes)
{
    struct loader *loader = loader_of_machine();
    struct loader_image *image = loader ? util_zalloc(1, sizeof(*image)) : NULL;
    NTSTATUS status;

    if (error && error_bytes)
        error[0] = '\0';
    if (!image) {
        loader_explain(error, error_bytes, "%s: out of memory", path);
        return STATUS_NO_MEMORY;
    }
    image->copy = -1;
    list_init(&image->link);
    set_names(image, path);
    status = load(image, path, error, error_bytes);
    if (!NT_SUCCESS(status)) {
        if (error && error_bytes && !error[0])
            loader_explain(error, error_bytes, "%s: out of memory", image->name);
        loader_image_unload(image);
        return status;
    }
    list_push_back(&loader->images, &image->link);
    *out = image;
    return STATUS_SUCCESS;
}

void loader_image_unload(struct loader_image *image)
{
    if (!image)
        return;
    list_remove(&image->link);
    pthread_mutex_lock(&load_lock);
    if (image->handle)
        dlclose(image->handle);
    if (image->copy >= 0)
        close(image->copy);
    pthread_mutex_unlock(&load_lock);
    symbol_table_finish(&image->symbols);
    util_free(image->import);
    util_free(image->import_names);
    util_free(image);
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

bool loader_image_contains(const struct loader_image *image, uintptr_t pc)
{
    uint64_t address = pc - image->base;

    return address >= image->low && address < image->high;
}

bool loader_symbolize(uintptr_t pc, char *text, size_t bytes)
{
    struct loader *loader = sim_current ? sim_current->room[SIM_ROOM_LOADER] : NULL;

    if (!loader)
        return false;
    LIST_FOR(node, &loader->images) {
        const struct loader_image *image = CONTAINER(node, struct loader_image, link);
        const struct symbol *symbol;

        if (!loader_image_contains(image, pc))
            continue;
        symbol = symbol_table_find(&image->symbols, pc - image->base);
        if (symbol)
            snprintf(text, bytes, "%s!%s+0x%llx", image->name, image->symbols.names + symbol->name,
                     (unsigned long long)(pc - image->base - symbol->value));
        else
            snprintf(text, bytes, "%s+0x%llx", image->name, (unsigned long long)(pc - image->base));
        return true;
    }
    return false;
}
