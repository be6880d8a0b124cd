/* SPDX-License-Identifier: MIT */
/* What work refers to: elements of allocation lists. */
#ifndef DXGK_VIDSCH_REFERENCE_H
#define DXGK_VIDSCH_REFERENCE_H

#include "vidsch/vidsch.h"

struct dma_reference;
struct vidmm_open;

/* May work of the device use it as element `i` of a list? */
NTSTATUS vidsch_reference_usable(const struct vidsch_device *device, const struct vidmm_open *open,
                                 const struct dma_reference *reference, UINT i);
/* The same in physical mode. */
NTSTATUS vidsch_reference_check(const struct vidsch_device *device, const struct vidmm_open *open,
                                const struct dma_reference *reference, UINT i);

#endif
