/* SPDX-License-Identifier: MIT */
#ifndef DXGK_VIDMM_OFFER_H
#define DXGK_VIDMM_OFFER_H

#include "vidmm/vidmm_private.h"

/* `open` goes: it offers nothing any more, nor keeps others from offering (KMT-285). Lock held. */
void offer_forget(struct vidmm_open *open);

#endif
