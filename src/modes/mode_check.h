/* SPDX-License-Identifier: MIT */
/* What a mode may say when it is added to a set (VIDPN-080 to VIDPN-107, DISP-139, DISP-141). */
#ifndef DXGK_MODES_MODE_CHECK_H
#define DXGK_MODES_MODE_CHECK_H

#include "modes/mode_set.h"

#define MODE_MOST_HERTZ 10000u /* of vertical syncs; the least is 1 (VIDPN-096) */

struct modes;

/* The status with which the set refuses it, with the reason, or STATUS_SUCCESS. Members that only
 * deserve a warning are reported and set to what they count as. */
NTSTATUS mode_check(const struct modes *modes, const struct mode_set *set, union mode *mode);

/* Bytes of a pixel of a format that a source mode can have; 0: it is none of those (VIDPN-084). */
UINT mode_pixel_bytes(D3DDDIFORMAT format);
/* The signal follows the source mode: no active size is given (VIDPN-095). */
bool mode_follows_source(const D3DKMDT_VIDEO_SIGNAL_INFO *signal);
bool mode_frequency_given(const D3DDDI_RATIONAL *frequency);
bool mode_region_given(const D3DKMDT_2DREGION *region);
bool mode_rates_equal(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b);
/* The format of the same layout whose alpha channel does not count (PRES-089). */
D3DDDIFORMAT mode_without_alpha(D3DDDIFORMAT format);

#endif
