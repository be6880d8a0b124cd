/* SPDX-License-Identifier: MIT */
/* The answers of a driver, as passed to the observer (port_config.observe): `dxgkhost inspect`
 * prints them. */
#ifndef DXGK_PORT_ANSWERS_H
#define DXGK_PORT_ANSWERS_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "vidsch/vidsch.h"

#define PORT_MAX_SEGMENTS 31u

/* With only `table` set: the driver has registered. Otherwise also its answers while its adapter
 * started; members for which it was not asked are zero. Valid during the call. */
struct port_answers {
    const DRIVER_INITIALIZATION_DATA *table; /* members that its Version does not have are NULL */
    PDXGKDDI_PRESENTDISPLAYONLY present_display_only; /* NULL: the driver is no display-only one */
    const DXGK_DRIVERCAPS *caps; /* NULL: it registered, and all below is empty */
    const DXGK_GPUMMUCAPS *mmu;
    const DXGK_PAGE_TABLE_LEVEL_DESC *level;
    const struct vidsch_node_info *node;
    const DXGK_SEGMENTDESCRIPTOR4 *segment[PORT_MAX_SEGMENTS];
    UINT nodes, segments, paging_buffer_bytes, paging_buffer_segment;
    bool gpu_mmu;
    NTSTATUS status; /* of the start */
};

#endif
