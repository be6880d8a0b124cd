/* SPDX-License-Identifier: MIT */
/* The client's buffer of a query (KMT-056). */
#include <ntddk.h>

#include "kmt/query_buffer.h"
#include "kmt/client_memory.h"

NTSTATUS kmt_query_put(const struct kmt_query *query, const void *answer, size_t bytes)
{
    if (query->bytes < bytes)
        return STATUS_INVALID_PARAMETER; /* KMT-056 */
    return kmt_client_put(query->user, answer, bytes) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS kmt_query_get(const struct kmt_query *query, void *question, size_t bytes)
{
    if (query->bytes < bytes || !kmt_client_get(question, query->user, bytes))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}
