/* SPDX-License-Identifier: MIT */
/* What a driver said, shown to whoever observes it (port_config.observe): `dxgkhost inspect` prints
 * it. */
#ifndef DXGK_PORT_ANSWERS_H
#define DXGK_PORT_ANSWERS_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "vidsch/vidsch.h"

#define PORT_MAX_SEGMENTS 31u

/* Only `table` is set: the driver registered. Otherwise what it answered while its adapter started;
 * members it was not asked for are zero. Valid during the call. */
struct port_answers {
    const DRIVER_INITIALIZATION_DATA *table; /* members that its Version does not have are NULL */
    const DXGK_DRIVERCAPS *caps;             /* NULL: it registered, and all below is empty */
    const DXGK_GPUMMUCAPS *mmu;
    const DXGK_PAGE_TABLE_LEVEL_DESC *level;
    const struct vidsch_node_info *node;
    const DXGK_SEGMENTDESCRIPTOR4 *segment[PORT_MAX_SEGMENTS];
    UINT nodes, segments, paging_buffer_bytes, paging_buffer_segment;
    bool gpu_mmu;
    NTSTATUS status; /* of the start */
};

#endif
