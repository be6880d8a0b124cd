/* SPDX-License-Identifier: MIT */
/* Reservations of video memory, through the client interface. */
#include "host/support/refgpu_client.h"

static D3DKMT_MEMORY_SEGMENT_GROUP group;

static NTSTATUS query(const struct gpu *g, D3DKMT_QUERYVIDEOMEMORYINFO *info)
{
    memset(info, 0, sizeof(*info));
    info->hAdapter = g->adapter;
    info->MemorySegmentGroup = group;
    return D3DKMTQueryVideoMemoryInfo(info);
}

static NTSTATUS change(const struct gpu *g, UINT64 bytes)
{
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = g->adapter;
    args.MemorySegmentGroup = group;
    args.Reservation = bytes;
    return D3DKMTChangeVideoMemoryReservation(&args);
}

static bool reserves(const struct gpu *g, UINT64 bytes)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info;

    return change(g, bytes) == STATUS_SUCCESS && query(g, &info) == STATUS_SUCCESS &&
           info.CurrentReservation == bytes;
}

/* Each group has its own. */
static void each_group(struct client *c, const struct gpu *g)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info;
    UINT64 most;

    for (unsigned i = 0; i < 2; i++) {
        group = i ? D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL : D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
        TRY(c, query(g, &info) == STATUS_SUCCESS);
        SHOW(c, "RES-043", info.CurrentReservation == 0 && info.AvailableForReservation > 0);
        most = info.AvailableForReservation;
        SHOW(c, "RES-044", reserves(g, 1) && reserves(g, most) && reserves(g, most - 1));
        SHOW(c, "RES-044", change(g, most + 1) == STATUS_INVALID_PARAMETER);
        TRY(c, query(g, &info) == STATUS_SUCCESS);
        SHOW(c, "RES-044", info.CurrentReservation == most - 1);
        SHOW(c, "RES-044", reserves(g, i ? 3 << 20 : 5 << 20));
    }
    group = D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    TRY(c, query(g, &info) == STATUS_SUCCESS);
    SHOW(c, "RES-043", info.CurrentReservation == 5 << 20);
    SHOW(c, "RES-044", reserves(g, 0));
    group = D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL;
    TRY(c, query(g, &info) == STATUS_SUCCESS);
    SHOW(c, "RES-043", info.CurrentReservation == 3 << 20);
}

TEST_WITH(client, reservations_are_kept_by_group)
{
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION args;
    struct gpu g;

    memset(&g, 0, sizeof(g));
    group = D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    /* nothing is kept for a process without a device */
    TRY(c, change(&g, 0) == STATUS_SUCCESS && change(&g, 1) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_create_device(&g) == STATUS_SUCCESS);
    each_group(c, &g);
    memset(&args, 0, sizeof(args));
    args.hAdapter = g.adapter;
    args.PhysicalAdapterIndex = 1;
    SHOW(c, "RES-043", D3DKMTChangeVideoMemoryReservation(&args) == STATUS_INVALID_PARAMETER);
    args.PhysicalAdapterIndex = 0;
    args.MemorySegmentGroup = (D3DKMT_MEMORY_SEGMENT_GROUP)2;
    SHOW(c, "RES-043", D3DKMTChangeVideoMemoryReservation(&args) == STATUS_INVALID_PARAMETER);
    args.MemorySegmentGroup = D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    args.hAdapter = g.device;
    SHOW(c, "KMT-026", D3DKMTChangeVideoMemoryReservation(&args) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
