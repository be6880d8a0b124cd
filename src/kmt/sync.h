/* SPDX-License-Identifier: MIT */
/* Lists of synchronization objects, as the wait and signal calls take them. No heap: they are
 * short. */
#ifndef DXGK_KMT_SYNC_H
#define DXGK_KMT_SYNC_H

#include "kmt/kmt_private.h"

struct kmt_sync_list {
    struct vidsch_sync *sync[KMT_MAX_OBJECTS];
    UINT count;
    UINT monitored;            /* how many of them are monitored fences */
    struct kmt_device *device; /* of the last one */
};

/* `count` is at most KMT_MAX_OBJECTS. */
NTSTATUS kmt_sync_list_get(const struct kmt_call *call, const D3DKMT_HANDLE *handles, UINT count,
                           struct kmt_sync_list *list);
/* The same from the client's array; a count of 0 or above the limit is STATUS_INVALID_PARAMETER. */
NTSTATUS kmt_sync_list_copy(const struct kmt_call *call, const D3DKMT_HANDLE *user, UINT count,
                            struct kmt_sync_list *list);

#endif
