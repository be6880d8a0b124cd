/* SPDX-License-Identifier: MIT */
/* The smaller directories of a PE image: thread-local storage, the security cookie, the exception
 * table. */
#include <string.h>

#include "loader/pe.h"
#include "util/alloc.h"
#include "util/rng.h"
#include "verify/verify.h"

/* ---- thread-local storage ---- */

/* LIFE-186: kernel code has no thread-local storage, so its callbacks are not run, and an access to
 * such a variable faults. A linker may leave an empty directory. */
NTSTATUS pe_check_tls(const struct pe_image *image, const struct pe_file *file)
{
    const struct pe_directory *directory = &file->directory[PE_TLS];
    struct pe_tls_directory tls = {0};

    if (!directory->address)
        return STATUS_SUCCESS;
    if (directory->bytes >= sizeof(tls))
        memcpy(&tls, image->base + directory->address, sizeof(tls));
    if (tls.begin == tls.end && tls.zero_bytes == 0 && tls.callbacks == 0)
        return STATUS_SUCCESS;
    if (!verify_finding("LIFE-186",
                        "the image has thread-local variables (%u bytes) or their "
                        "callbacks, for which the kernel does nothing",
                        (unsigned)(tls.end - tls.begin) + tls.zero_bytes))
        return STATUS_SUCCESS;
    return pe_refuse(file, "it has thread-local variables (a TLS directory)");
}

/* ---- stack cookie (LIFE-189) ---- */

/* No secret: the cookie must differ from the linked value, since the image's own start code checks
 * that, and must be the same in every run. */
static uint64_t cookie_of(const struct pe_file *file)
{
    struct rng rng = {.state = ((uint64_t)file->header.time << 32) ^ file->optional.checksum ^
                               file->size};
    uint64_t cookie;

    do
        cookie = rng_next(&rng) & 0x0000FFFFFFFFFFFFu;
    while (cookie == 0 || cookie == PE_DEFAULT_COOKIE);
    return cookie;
}

NTSTATUS pe_set_cookie(const struct pe_image *image, const struct pe_file *file)
{
    const struct pe_directory *directory = &file->directory[PE_LOAD_CONFIG];
    uint64_t where, value;
    uint32_t bytes = 0;
    uint8_t *cookie;

    if (!directory->address)
        return STATUS_SUCCESS;
    /* Old linkers write a constant as directory size; the structure contains its real size. */
    if (directory->bytes >= sizeof(bytes))
        memcpy(&bytes, image->base + directory->address, sizeof(bytes));
    if (bytes < PE_CONFIG_COOKIE + sizeof(where))
        return STATUS_SUCCESS;
    if (!pe_at(image, directory->address, bytes))
        return pe_refuse(file, "damaged: a load configuration of 0x%x bytes at 0x%x", bytes,
                         directory->address);
    memcpy(&where, image->base + directory->address + PE_CONFIG_COOKIE, sizeof(where));
    if (where == 0)
        return STATUS_SUCCESS;
    cookie = pe_at(image, where - (uintptr_t)image->base, sizeof(value));
    if (!cookie)
        return pe_refuse(file, "damaged: its security cookie lies outside it");
    memcpy(&value, cookie, sizeof(value));
    if (value == 0 || value == PE_DEFAULT_COOKIE) {
        value = cookie_of(file);
        memcpy(cookie, &value, sizeof(value));
    }
    return STATUS_SUCCESS;
}

/* ---- exceptions ---- */

static NTSTATUS check_functions(const struct pe_image *image, const struct pe_file *file,
                                uint32_t count)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct x64_function *f = &image->function[i];

        if (f->begin < before || f->begin >= f->end || f->end > image->bytes)
            return pe_refuse(file,
                             "damaged: entry %u of the exception table, 0x%x to 0x%x, is not in "
                             "order",
                             i, f->begin, f->end);
        if (!pe_at(image, f->unwind & ~1u, 4))
            return pe_refuse(file, "damaged: unwind information at 0x%x lies outside it", f->unwind);
        before = f->end;
    }
    return STATUS_SUCCESS;
}

NTSTATUS pe_read_functions(struct pe_image *image, const struct pe_file *file)
{
    const struct pe_directory *directory = &file->directory[PE_EXCEPTIONS];
    uint32_t count = directory->bytes / (uint32_t)sizeof(*image->function);
    NTSTATUS status;

    image->table.base = (uintptr_t)image->base;
    image->table.image_bytes = image->bytes;
    image->table.spare = (uintptr_t)image->base + image->bytes;
    image->table.spare_bytes = (uint32_t)(image->mapped_bytes - image->bytes);
    if (directory->bytes % sizeof(*image->function))
        return pe_refuse(file, "damaged: an exception table of 0x%x bytes", directory->bytes);
    if (count == 0)
        return STATUS_SUCCESS;
    image->function = util_alloc(count * sizeof(*image->function));
    if (!image->function)
        return STATUS_NO_MEMORY;
    memcpy(image->function, image->base + directory->address, count * sizeof(*image->function));
    while (count && image->function[count - 1].begin == 0 && image->function[count - 1].end == 0)
        count--; /* padding */
    status = check_functions(image, file, count);
    if (!NT_SUCCESS(status))
        return status;
    image->table.function = image->function;
    image->table.count = count;
    return STATUS_SUCCESS;
}
