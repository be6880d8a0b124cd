/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#define NO_ALPHA 4u

/* Where in a pixel blue, green, red and alpha are. */
struct layout {
    uint8_t blue, green, red, alpha;
};

static bool layout_of(uint32_t format, struct layout *layout)
{
    static const struct {
        uint32_t format;
        struct layout layout;
    } known[] = {
        {GPU_BGRA, {0, 1, 2, 3}}, {GPU_BGRX, {0, 1, 2, NO_ALPHA}},
        {GPU_ARGB, {3, 2, 1, 0}}, {GPU_XRGB, {3, 2, 1, NO_ALPHA}},
        {GPU_RGBA, {2, 1, 0, 3}}, {GPU_RGBX, {2, 1, 0, NO_ALPHA}},
        {GPU_ABGR, {1, 2, 3, 0}}, {GPU_XBGR, {1, 2, 3, NO_ALPHA}},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].format == format) {
            *layout = known[i].layout;
            return true;
        }
    return false;
}

bool gpu_format_known(uint32_t format)
{
    struct layout layout;

    return layout_of(format, &layout);
}

void gpu_convert(uint8_t *to, const uint8_t *from, uint32_t count, uint32_t format)
{
    struct layout layout;

    if (!layout_of(format, &layout))
        return;
    for (uint32_t i = 0; i < count; i++, to += GPU_PIXEL, from += GPU_PIXEL) {
        to[0] = from[layout.blue];
        to[1] = from[layout.green];
        to[2] = from[layout.red];
        to[3] = layout.alpha == NO_ALPHA ? 0xFF : from[layout.alpha];
    }
}
