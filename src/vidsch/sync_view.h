/* SPDX-License-Identifier: MIT */
/*
 * Views of a shared monitored fence: what a device that created or opened it has of it, which is a
 * CPU and a GPU address in its process, and flags of its own (KMT-360, KMT-361). The value is in
 * memory that all of them map; it lives as long as the fence, and as long as any view.
 */
#ifndef DXGK_VIDSCH_SYNC_VIEW_H
#define DXGK_VIDSCH_SYNC_VIEW_H

#include "util/list.h"
#include "vidmm/context/fence_memory.h"
#include "vidsch/vidsch.h"

struct vidsch_process;

struct vidsch_sync_view {
    struct list link; /* device->views */
    struct vidsch_sync *sync;
    struct vidsch_process *process;
    struct vidmm_fence_slot slot;
    struct vidmm_fence_slot monitored; /* of a native fence, for the GPU */
    D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags;
};

/* A lost device could have signaled the fence of the view, which its waiters would wait for for
 * ever (TDR-059, KMT-395). */
static inline bool sync_view_jumps(const struct vidsch_sync_view *view)
{
    return !view->flags.NoSignal && !view->flags.NoSignalMaxValueOnTdr;
}

#endif
