/* SPDX-License-Identifier: MIT */
/* Copies of client memory (KMT-006, KMT-007, KMT-012). */
#include <ntddk.h>

#include "kmt/client_memory.h"
#include "sim/fault.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/refusal.h"

NTSTATUS kmt_client_refuse(const void *user, size_t bytes, const char *verb)
{
    return refuse(STATUS_INVALID_PARAMETER, "KMT-007", "%zu bytes at %p cannot be %s", bytes, user,
                  verb);
}

NTSTATUS kmt_client_refuse_private(const void *user, UINT bytes)
{
    return refuse(STATUS_INVALID_PARAMETER, "KMT-012",
                  "private data of %u bytes at %p; at most %u are possible", bytes, user,
                  (UINT)KMT_MAX_PRIVATE_BYTES);
}

NTSTATUS kmt_client_copy_array(const void *user, UINT count, size_t size, void **copy)
{
    size_t bytes = count * size; /* a structure's size times 2^32 is no overflow */
    void *block;

    *copy = NULL;
    if (count == 0)
        return STATUS_SUCCESS;
    if (!user || count > KMT_MAX_ELEMENTS)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-006", "an array of %u elements at %p", count,
                      user);
    block = util_alloc(bytes);
    if (!block)
        return STATUS_NO_MEMORY;
    if (!sim_copy_checked(block, user, bytes)) {
        util_free(block);
        return refuse(STATUS_INVALID_PARAMETER, "KMT-007",
                      "an array of %u elements at %p cannot be read", count, user);
    }
    *copy = block;
    return STATUS_SUCCESS;
}

NTSTATUS kmt_client_copy_private(const void *user, UINT bytes, void **copy)
{
    *copy = NULL;
    if (bytes > KMT_MAX_PRIVATE_BYTES || (bytes && !user))
        return kmt_client_refuse_private(user, bytes);
    if (bytes == 0)
        return STATUS_SUCCESS;
    *copy = util_alloc(bytes);
    if (!*copy)
        return STATUS_NO_MEMORY;
    if (sim_copy_checked(*copy, user, bytes))
        return STATUS_SUCCESS;
    util_free(*copy);
    *copy = NULL;
    return kmt_client_refuse(user, bytes, "read");
}

bool kmt_client_probe_write(void *user, size_t bytes)
{
    uint8_t *at = user;

    if (bytes == 0)
        return true;
    if (!user)
        return kmt_client_refuse(user, bytes, "written") == STATUS_SUCCESS;
    for (size_t offset = 0; offset < bytes;
         offset += PAGE_BYTES - (((uintptr_t)at + offset) & (PAGE_BYTES - 1))) {
        uint8_t byte;

        if (!sim_copy_checked(&byte, at + offset, 1) || !sim_copy_checked(at + offset, &byte, 1))
            return kmt_client_refuse(user, bytes, "written") == STATUS_SUCCESS;
    }
    return true;
}
