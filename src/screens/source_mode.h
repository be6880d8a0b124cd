/* SPDX-License-Identifier: MIT */
/* What a VidPN has a source show. */
#ifndef DXGK_SCREENS_SOURCE_MODE_H
#define DXGK_SCREENS_SOURCE_MODE_H

#include <ntddk.h>
#include <dispmprt.h>

struct vidpn;

/* The pinned mode; NULL: none is. */
const D3DKMDT_VIDPN_SOURCE_MODE *source_mode(const struct vidpn *vidpn, UINT source);
/* How often the target of the path is refreshed, in Hz: 60 when it is not specified (PRES-195). */
D3DDDI_RATIONAL source_rate(const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path);

#endif
