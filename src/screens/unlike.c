/* SPDX-License-Identifier: MIT */
/* What the screen shows when the driver says that a present is complete (PRES-335). */
#include "modes/vidpn.h"
#include "screens/screen.h"
#include "verify/verify.h"

#include <string.h>

#define COLOUR 0xFFFFFFu

/* How the picture stands on the screen. */
struct stance {
    struct screens_scanned on;
    LONG width, height; /* of the picture as it was drawn */
    UINT quarters;      /* that it is turned by, counter-clockwise */
};

/* Of what is shown in its own size. */
static bool find_stance(const struct screens *screens, const struct screen *s, struct stance *stance)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(screens->config.modes->active,
                                                             s->source, 0);
    bool upright;

    if (!path || !screens->config.scanned ||
        !screens->config.scanned(screens->config.scanned_context, s->source, &stance->on))
        return false;
    stance->width = (LONG)s->image.width;
    stance->height = (LONG)s->image.height;
    stance->quarters = ((UINT)path->ContentTransformation.Rotation - D3DKMDT_VPPR_IDENTITY) % 4;
    upright = stance->quarters % 2 == 0;
    return stance->on.width == (upright ? s->image.width : s->image.height) &&
           stance->on.height == (upright ? s->image.height : s->image.width);
}

static uint32_t on_screen(const struct stance *stance, LONG x, LONG y)
{
    LONG column = x, line = y;
    uint32_t pixel;

    switch (stance->quarters) {
    case 1:
        column = y;
        line = stance->width - 1 - x;
        break;
    case 2:
        column = stance->width - 1 - x;
        line = stance->height - 1 - y;
        break;
    case 3:
        column = stance->height - 1 - y;
        line = x;
        break;
    default:
        break;
    }
    memcpy(&pixel,
           stance->on.pixels + (SIZE_T)line * stance->on.pitch + (SIZE_T)column * SCREEN_BYTES,
           sizeof(pixel));
    return pixel & COLOUR;
}

static bool is_unlike(const struct screen *s, const struct stance *stance, const RECT *r)
{
    for (LONG y = r->top; y < r->bottom; y++) {
        const uint8_t *line = s->shown + (SIZE_T)y * s->image.pitch;

        for (LONG x = r->left; x < r->right; x++) {
            uint32_t pixel, is = on_screen(stance, x, y);

            memcpy(&pixel, line + (SIZE_T)x * SCREEN_BYTES, sizeof(pixel));
            if (is == (pixel & COLOUR))
                continue;
            WARNING("PRES-335",
                    "a present of source %u is complete, but pixel %d, %d of the picture is 0x%06x "
                    "on the screen, and 0x%06x in pSource",
                    s->source, (int)x, (int)y, is, pixel & COLOUR);
            return true;
        }
    }
    return false;
}

void screen_compare(const struct screens *screens, struct screen *s)
{
    struct stance stance;

    if (s->unlike || !s->frame || screens->config.modes->ddi->gone ||
        !find_stance(screens, s, &stance))
        return;
    for (UINT i = 0; i < s->changed.count && !s->unlike; i++)
        s->unlike = is_unlike(s, &stance, &s->changed.rect[i]);
}
