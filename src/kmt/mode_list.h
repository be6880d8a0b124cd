/* SPDX-License-Identifier: MIT */
/* Modes as clients see them. */
#ifndef DXGK_KMT_MODE_LIST_H
#define DXGK_KMT_MODE_LIST_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

struct modes;

/* The committed mode of the source. False: it has none. */
bool kmt_current_mode(const struct modes *modes, UINT source, D3DKMT_DISPLAYMODE *mode);
/* The list of PRES-274, which the caller frees; it may ask the driver. PASSIVE_LEVEL. */
NTSTATUS kmt_list_modes(struct modes *modes, UINT source, D3DKMT_DISPLAYMODE **list, UINT *count);

#endif
