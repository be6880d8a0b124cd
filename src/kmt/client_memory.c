/* SPDX-License-Identifier: MIT */
/* Copies of client memory (KMT-006, KMT-007, KMT-012). */
#include <ntddk.h>

#include "kmt/client_memory.h"
#include "sim/fault.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"

NTSTATUS kmt_client_copy_array(const void *user, UINT count, size_t size, void **copy)
{
    size_t bytes;
    void *block;

    *copy = NULL;
    if (count == 0)
        return STATUS_SUCCESS;
    if (!user || count > KMT_MAX_ELEMENTS || ckd_mul(&bytes, (size_t)count, size))
        return STATUS_INVALID_PARAMETER;
    block = util_alloc(bytes);
    if (!block)
        return STATUS_NO_MEMORY;
    if (!sim_copy_checked(block, user, bytes)) {
        util_free(block);
        return STATUS_INVALID_PARAMETER;
    }
    *copy = block;
    return STATUS_SUCCESS;
}

NTSTATUS kmt_client_copy_private(const void *user, UINT bytes, void **copy)
{
    *copy = NULL;
    if (bytes > KMT_MAX_PRIVATE_BYTES)
        return STATUS_INVALID_PARAMETER;
    if (bytes == 0)
        return STATUS_SUCCESS;
    if (!user)
        return STATUS_INVALID_PARAMETER;
    *copy = util_alloc(bytes);
    if (!*copy)
        return STATUS_NO_MEMORY;
    if (sim_copy_checked(*copy, user, bytes))
        return STATUS_SUCCESS;
    util_free(*copy);
    *copy = NULL;
    return STATUS_INVALID_PARAMETER;
}

bool kmt_client_probe_write(void *user, size_t bytes)
{
    uint8_t *at = user;

    if (bytes == 0)
        return true;
    if (!user)
        return false;
    for (size_t offset = 0; offset < bytes;
         offset += PAGE_BYTES - (((uintptr_t)at + offset) & (PAGE_BYTES - 1))) {
        uint8_t byte;

        if (!sim_copy_checked(&byte, at + offset, 1) || !sim_copy_checked(at + offset, &byte, 1))
            return false;
    }
    return true;
}
