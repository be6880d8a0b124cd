/* SPDX-License-Identifier: MIT */
/* The client's buffer of a query (KMT-056). */
#include <ntddk.h>

#include "kmt/query_buffer.h"
#include "kmt/client_memory.h"
#include "verify/refusal.h"

NTSTATUS kmt_query_put(const struct kmt_query *query, const void *answer, size_t bytes)
{
    if (query->bytes < bytes)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-056", "a buffer of %u bytes for %zu",
                      query->bytes, bytes);
    return kmt_client_put(query->user, answer, bytes) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS kmt_query_get(const struct kmt_query *query, void *question, size_t bytes)
{
    if (query->bytes < bytes)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-056", "a buffer of %u bytes for %zu",
                      query->bytes, bytes);
    if (!kmt_client_get(question, query->user, bytes))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}
