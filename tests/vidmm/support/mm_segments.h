/* SPDX-License-Identifier: MIT */
/* Segments as a driver of the rig reports them. */
#ifndef DXGK_TESTS_VIDMM_MM_SEGMENTS_H
#define DXGK_TESTS_VIDMM_MM_SEGMENTS_H

#include "mm_rig.h"

DXGK_SEGMENTDESCRIPTOR4 mm_segment_memory(uint64_t base, uint64_t size);
/* Memory that the CPU sees from this offset of the BAR on. */
DXGK_SEGMENTDESCRIPTOR4 mm_segment_visible(uint64_t base, uint64_t size, uint64_t bar_offset);
/* At MM_APERTURE_BASE. */
DXGK_SEGMENTDESCRIPTOR4 mm_segment_aperture(uint64_t size);
/* The default, but with two segments to be changed: 16 MiB of memory that the CPU does not see, an aperture of 64 MiB. */
struct mm_options mm_plain_options(void);

#endif
