/* SPDX-License-Identifier: MIT */
#include "mm_segments.h"

DXGK_SEGMENTDESCRIPTOR4 mm_segment_memory(uint64_t base, uint64_t size)
{
    DXGK_SEGMENTDESCRIPTOR4 d = {0};

    d.BaseAddress.QuadPart = (LONGLONG)base;
    d.Size = size;
    return d;
}

DXGK_SEGMENTDESCRIPTOR4 mm_segment_visible(uint64_t base, uint64_t size, uint64_t bar_offset)
{
    DXGK_SEGMENTDESCRIPTOR4 d = mm_segment_memory(base, size);

    d.Flags.CpuVisible = 1;
    d.CpuTranslatedAddress.QuadPart = (LONGLONG)bar_offset;
    return d;
}

DXGK_SEGMENTDESCRIPTOR4 mm_segment_aperture(uint64_t size)
{
    DXGK_SEGMENTDESCRIPTOR4 d = mm_segment_memory(MM_APERTURE_BASE, size);

    d.Flags.Aperture = 1;
    return d;
}

struct mm_options mm_plain_options(void)
{
    struct mm_options o;

    mm_options_default(&o);
    o.segment[0] = mm_segment_memory(MM_BASE, 16 * MM_MB);
    o.segment[1] = mm_segment_aperture(64 * MM_MB);
    o.segment_count = 2;
    return o;
}
