/* SPDX-License-Identifier: MIT */
/* Changes of what sources show: alone with the driver, and no other thread at the pointer. */
#ifndef DXGK_MODES_CHANGE_H
#define DXGK_MODES_CHANGE_H

#include "modes/modes.h"

/* As modes_still and modes_go_on, around what the viewer is told the beginning and the end of. Who
 * holds the pointer waits in the driver, or to be let in; the limit of waiting is that of the
 * former (THREAD-037). */
static inline NTSTATUS modes_change_begin(const struct modes *modes, const char *name)
{
    const struct modes_viewer *viewer = &modes->viewer;
    NTSTATUS status = modes_still(modes, name);

    if (!NT_SUCCESS(status) || !viewer->hold_pointer || viewer->hold_pointer(viewer->context, false))
        return status;
    modes_go_on(modes);
    (void)viewer->hold_pointer(viewer->context, true);
    status = modes_still(modes, name);
    if (!NT_SUCCESS(status))
        viewer->let_pointer_go(viewer->context);
    return status;
}

static inline void modes_change_end(const struct modes *modes)
{
    modes_go_on(modes);
    if (modes->viewer.let_pointer_go)
        modes->viewer.let_pointer_go(modes->viewer.context);
}

#endif
