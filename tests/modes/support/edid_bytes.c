/* SPDX-License-Identifier: MIT */
#include "modes/support/edid_bytes.h"

#include <string.h>

void edid_bytes_init(struct edid_bytes *edid, unsigned revision)
{
    uint8_t *base = edid->block[0];

    memset(edid, 0, sizeof(*edid));
    edid->blocks = 1;
    memset(base + 1, 0xFF, 6);
    base[18] = 1;
    base[19] = (uint8_t)revision;
    memset(base + 38, 1, 16);
    for (unsigned i = 0; i < 4; i++)
        base[54 + 18 * i + 3] = 0x10;
}

uint8_t *edid_bytes_descriptor(struct edid_bytes *edid, unsigned n)
{
    return edid->block[0] + 54 + (size_t)18 * n;
}

uint8_t *edid_bytes_extension(struct edid_bytes *edid, unsigned detailed)
{
    uint8_t *block = edid->block[edid->blocks++];

    block[0] = 2;
    block[1] = 3;
    block[2] = (uint8_t)detailed;
    edid->block[0][126]++;
    return block;
}

void edid_bytes_detailed(uint8_t *at, unsigned units, unsigned width, unsigned blank,
                         unsigned height, unsigned lines, bool interlaced)
{
    memset(at, 0, 18);
    at[0] = units & 0xFF;
    at[1] = (uint8_t)(units >> 8);
    at[2] = width & 0xFF;
    at[3] = blank & 0xFF;
    at[4] = (uint8_t)((width >> 8) * 16 + (blank >> 8));
    at[5] = height & 0xFF;
    at[6] = lines & 0xFF;
    at[7] = (uint8_t)((height >> 8) * 16 + (lines >> 8));
    at[17] = interlaced ? 0x98 : 0x18;
}

void edid_bytes_sum(struct edid_bytes *edid)
{
    for (unsigned i = 0; i < edid->blocks; i++) {
        edid->block[i][127] = 0;
        for (unsigned k = 0; k < 127; k++)
            edid->block[i][127] -= edid->block[i][k];
    }
}

void edid_bytes_read(struct edid_bytes *edid)
{
    edid_bytes_end(edid);
    edid->set = mode_set_create(MODE_MONITOR, 1);
    assert_non_null(edid->set);
    assert_true(edid_modes(edid->block[0], edid->blocks, edid->set));
}

void edid_bytes_end(struct edid_bytes *edid)
{
    mode_set_destroy(edid->set);
    edid->set = NULL;
}

const D3DKMDT_MONITOR_SOURCE_MODE *edid_bytes_mode(const struct edid_bytes *edid,
                                                   const struct timing *t)
{
    const D3DKMDT_MONITOR_SOURCE_MODE *found = NULL;

    for (UINT i = 0; i < edid->set->count; i++) {
        const D3DKMDT_MONITOR_SOURCE_MODE *mode = &edid->set->mode[i].monitor;
        const D3DKMDT_VIDEO_SIGNAL_INFO *s = &mode->VideoSignalInfo;

        if (s->ActiveSize.cx != t->width || s->ActiveSize.cy != t->height ||
            s->TotalSize.cx != t->total_width || s->TotalSize.cy != t->total_height ||
            s->PixelRate != t->pixel_rate ||
            s->ScanLineOrdering != (t->interlaced ? D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST
                                                  : D3DDDI_VSSLO_PROGRESSIVE))
            continue;
        if (found)
            return NULL;
        found = mode;
    }
    return found;
}

int edid_bytes_preferred(const struct edid_bytes *edid)
{
    int found = -1;

    for (UINT i = 0; i < edid->set->count; i++)
        if (edid->set->mode[i].monitor.Preference == D3DKMDT_MP_PREFERRED)
            found = found == -1 ? (int)i : -2;
    return found;
}
