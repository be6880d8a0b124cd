/* SPDX-License-Identifier: MIT */
/* Why a wish cannot be met, with what there is instead (VIDPN-204). */
#ifndef DXGK_MODES_MODE_WORDS_H
#define DXGK_MODES_MODE_WORDS_H

#include "modes/mode_set.h"

/* Both return STATUS_INVALID_PARAMETER. No mode of the source's set has the size; no mode of the
 * target's set has the frequency. */
NTSTATUS modes_refuse_size(const struct mode_set *set, const D3DKMDT_2DREGION *wish);
NTSTATUS modes_refuse_rate(const struct mode_set *set, const D3DDDI_RATIONAL *wish);

#endif
