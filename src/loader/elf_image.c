/* SPDX-License-Identifier: MIT */
/* ELF images in the process: mapped by the dynamic linker, from a private copy if necessary. */
#include "loader/elf_image.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/elf_file.h"
#include "loader/file.h"
#include "loader/image.h"
#include "loader/imports.h"
#include "loader/lines.h"
#include "loader/symbols.h"
#include "loader/threads.h"
#include "race/race.h"
#include "sim/machine.h"
#include "util/explain.h"

/* Protects the test whether a file is already loaded, together with the dlopen that follows it,
 * against other machines that load. */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

void loader_make_host_global(void)
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
            util_explain(error, error_bytes, "%s: no memory file for a private copy", file->name);
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

            util_explain(error, error_bytes, "%s: refused by the dynamic linker: %s", file->name,
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
    util_explain(error, error_bytes, "%s: %s", image->name,
                 hidden ? "DriverEntry is not exported (give it default visibility)"
                        : "no DriverEntry: not a miniport driver");
    return STATUS_DRIVER_ENTRYPOINT_NOT_FOUND;
}

static NTSTATUS after_map(struct loader_image *image, char *error, size_t error_bytes)
{
    struct link_map *map = NULL;
    void *entry = dlsym(image->handle, "DriverEntry");

    if (!entry || dlinfo(image->handle, RTLD_DI_LINKMAP, &map) != 0) {
        util_explain(error, error_bytes, "%s: DriverEntry cannot be found after loading",
                     image->name);
        return STATUS_DRIVER_ENTRYPOINT_NOT_FOUND;
    }
    image->base = map->l_addr;
    memcpy(&image->entry, &entry, sizeof(entry));
    return STATUS_SUCCESS;
}

/* Its data are watched for races. */
static void watch(const struct loader_image *image, const struct elf_file *elf)
{
    if (!sim_current || !sim_current->races)
        return;
    for (uint32_t i = 0; i < elf->segments; i++)
        if (elf->segment[i].flags & PF_W)
            race_watch(sim_current->races,
                       (const void *)(image->base + elf->segment[i].address), // NOLINT: an address
                       elf->segment[i].memory_bytes);
}

NTSTATUS elf_image_load(struct loader_image *image, const struct loader_file *file,
                        const char *path, char *error, size_t error_bytes)
{
    struct elf_file elf;
    NTSTATUS status = elf_file_parse(&elf, file, error, error_bytes);

    if (!NT_SUCCESS(status))
        return status;
    image->low = elf.low;
    image->high = elf.high;
    status = find_entry(image, &elf, error, error_bytes);
    loader_make_host_global();
    if (NT_SUCCESS(status))
        status = loader_imports(image, &elf, error, error_bytes);
    if (NT_SUCCESS(status))
        status = symbol_table_init_elf(&image->symbols, &elf);
    if (NT_SUCCESS(status) && !loader_threads_note(image))
        status = STATUS_NO_MEMORY;
    if (NT_SUCCESS(status))
        status = map(image, &elf, path, error, error_bytes);
    if (NT_SUCCESS(status))
        status = after_map(image, error, error_bytes);
    if (!NT_SUCCESS(status))
        return status;
    image->lines = lines_read(file);
    watch(image, &elf);
    return status;
}

void elf_image_unload(struct loader_image *image)
{
    loader_threads_forget(image);
    pthread_mutex_lock(&load_lock);
    if (image->handle && !image->stays)
        dlclose(image->handle);
    if (image->copy >= 0)
        close(image->copy);
    pthread_mutex_unlock(&load_lock);
}
