/* SPDX-License-Identifier: MIT */
/* One question of D3DKMTQueryAdapterInfo, and the client's buffer for it: some types carry input in
 * it, and every answer goes into it. */
#ifndef DXGK_KMT_QUERY_BUFFER_H
#define DXGK_KMT_QUERY_BUFFER_H

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct kmt_query {
    struct kmt_adapter *adapter;
    const DXGK_DRIVERCAPS *caps;
    KMTQUERYADAPTERINFOTYPE type;
    void *user; /* the client's buffer */
    UINT bytes;
};
/* Read what the client asks with, write the answer; STATUS_INVALID_PARAMETER if the buffer is too
 * small or bad (KMT-056). */
NTSTATUS kmt_query_get(const struct kmt_query *query, void *question, size_t bytes);
NTSTATUS kmt_query_put(const struct kmt_query *query, const void *answer, size_t bytes);

#endif
