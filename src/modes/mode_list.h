/* SPDX-License-Identifier: MIT */
/* The modes that a source can be given while all others stay as they are (VIDPN-205). */
#ifndef DXGK_MODES_MODE_LIST_H
#define DXGK_MODES_MODE_LIST_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;

struct modes_listed {
    D3DKMDT_2DREGION size; /* of the source */
    D3DDDI_RATIONAL rate;  /* as the target mode has it; perhaps not specified */
    UINT target;
    UINT turns; /* bit n: it can be turned by n quarters */
    D3DDDIFORMAT format;
    D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING order;
    bool accepted; /* by the monitor */
};

struct mode_list {
    UINT count, capacity;
    uint64_t of; /* modes->changes when it was made */
    struct modes_listed *mode;
};

/* Are they the same to who only looks: but for format and scan lines? */
bool modes_listed_alike(const struct modes_listed *a, const struct modes_listed *b);
/* Ordered by target, width, height, rate, format and scan lines; it belongs to the adapter, and is
 * valid until the display worker runs again. Empty: the source has no path. Called by that
 * worker. */
NTSTATUS modes_list(struct modes *modes, UINT source, const struct mode_list **list);
void modes_list_free(struct mode_list *list); /* NULL is allowed */

#endif
