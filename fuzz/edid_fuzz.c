/* SPDX-License-Identifier: MIT */
/*
 * An EDID of which every byte may lie. The first byte of an input, if it is odd, leaves the sums and headers as they are; else they
 * are put right, so that what a driver may hand to the host is looked at too. Behind it are the blocks.
 *
 * What must hold: every mode is one that a driver could add itself, and is there once; there are no more than the blocks have room
 * for; of those, an EDID can be made, or the reason is told; and what is made reads back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "modes/edid.h"
#include "modes/edid_given.h"
#include "modes/edid_make.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "util/alloc.h"

#define MUST(condition)                                                                   \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

/* Codes of a base block and its descriptors, and of an extension. */
#define MOST_IN_BASE      (4 + 8 + 17 + 4 * 44)
#define MOST_IN_EXTENSION (6 + 31 * 4)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- modes ---- */

static void look_at_mode(const union mode *mode)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_VISTA,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_9};
    const D3DKMDT_VIDEO_SIGNAL_INFO *s = &mode->monitor.VideoSignalInfo;

    MUST(s->ActiveSize.cx && s->ActiveSize.cy && s->ActiveSize.cx <= s->TotalSize.cx &&
         s->ActiveSize.cy <= s->TotalSize.cy);
    MUST(mode_frequency_given(&s->VSyncFreq) && mode_frequency_given(&s->HSyncFreq));
    for (unsigned i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct modes modes = {.version = versions[i]};
        const struct mode_set set = {.kind = MODE_MONITOR};
        union mode copy = *mode;

        copy.monitor.Origin = D3DKMDT_MCO_DRIVER;
        MUST(mode_check(&modes, &set, &copy) == STATUS_SUCCESS);
        MUST(copy.monitor.Preference == mode->monitor.Preference);
    }
}

/* Returns the index of the preferred mode, or -1. */
static int look_at_modes(const struct mode_set *set, unsigned blocks)
{
    int preferred = -1;

    MUST(set->count <= (blocks ? MOST_IN_BASE + (blocks - 1) * MOST_IN_EXTENSION : 0));
    for (UINT i = 0; i < set->count; i++) {
        look_at_mode(&set->mode[i]);
        MUST(set->mode[i].id == i + 1);
        if (set->mode[i].monitor.Preference == D3DKMDT_MP_PREFERRED) {
            MUST(preferred == -1);
            preferred = (int)i;
        }
        for (UINT k = 0; k < i && i < 256; k++)
            MUST(!mode_signal_equal(&set->mode[k].monitor.VideoSignalInfo,
                                    &set->mode[i].monitor.VideoSignalInfo));
    }
    return preferred;
}

static void look_at_ranges(const uint8_t *base)
{
    D3DKMDT_MONITOR_FREQUENCY_RANGE range;
    unsigned count = 0;

    while (edid_range(base, count, &range)) {
        MUST(range.RangeLimits.MaxVSyncFreq.Numerator <= 510 &&
             range.RangeLimits.MaxVSyncFreq.Denominator == 1);
        MUST(range.RangeLimits.MinHSyncFreq.Numerator <= 510000 &&
             range.RangeLimits.MinHSyncFreq.Denominator == 1);
        MUST(range.Constraint.MaxPixelRate <= 2550000000);
        count++;
    }
    MUST(count <= 4);
}

/* ---- and back ---- */

static struct timing timing_of(const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    return (struct timing){.width = s->ActiveSize.cx,
                           .height = s->ActiveSize.cy,
                           .total_width = s->TotalSize.cx,
                           .total_height = s->TotalSize.cy,
                           .pixel_rate = s->PixelRate,
                           .interlaced = s->ScanLineOrdering != D3DDDI_VSSLO_PROGRESSIVE};
}

/* Its pixel rate may have been rounded. */
static bool is_there(const struct mode_set *set, const struct timing *timing)
{
    for (UINT i = 0; i < set->count; i++) {
        const struct timing one = timing_of(&set->mode[i].monitor.VideoSignalInfo);
        struct timing rounded = *timing;

        rounded.pixel_rate = (rounded.pixel_rate + 5000) / 10000 * 10000;
        if (timing_equal(&one, timing) || timing_equal(&one, &rounded))
            return true;
    }
    return false;
}

static void look_at_made(const struct timing *list, unsigned count)
{
    const struct edid_wish wish = {.timing = list, .count = count};
    struct mode_set *set = mode_set_create(MODE_MONITOR, 1);
    char error[256] = "";
    unsigned blocks = 0;
    uint8_t *edid = edid_make(&wish, &blocks, error, sizeof(error));
    int preferred;

    MUST(set && (edid || error[0]));
    if (edid) {
        MUST(edid_given_check(edid, (size_t)blocks * EDID_BLOCK, false, error, sizeof(error)));
        MUST(edid_modes(edid, blocks, set));
        preferred = look_at_modes(set, blocks);
        MUST(preferred == 0 && set->count <= count);
        for (unsigned i = 0; i < count; i++)
            MUST(is_there(set, &list[i]));
        look_at_ranges(edid);
    }
    util_free(edid);
    mode_set_destroy(set);
}

/* The preferred mode first, as it was. */
static void make_again(const struct mode_set *set, int preferred)
{
    struct timing *list = util_zalloc(set->count + 1, sizeof(*list));

    MUST(list);
    for (UINT i = 0; i < set->count; i++)
        list[i] = timing_of(&set->mode[i].monitor.VideoSignalInfo);
    if (preferred > 0) {
        list[set->count] = list[0];
        list[0] = list[preferred];
        list[preferred] = list[set->count];
    }
    look_at_made(list, set->count);
    util_free(list);
}

/* ---- the rest ---- */

/* Bytes as timings that nobody has checked. */
static void make_of_bytes(const uint8_t *data, size_t size)
{
    const unsigned count = (unsigned)(size / sizeof(uint64_t) / 3);
    struct timing list[8];
    uint64_t n[3];

    for (unsigned i = 0; i < count && i < 8; i++) {
        memcpy(n, data + i * sizeof(n), sizeof(n));
        list[i] = (struct timing){.width = (uint32_t)n[0],
                                  .height = (uint32_t)(n[0] >> 32),
                                  .total_width = (uint32_t)n[1],
                                  .total_height = (uint32_t)(n[1] >> 32),
                                  .pixel_rate = n[2] >> 1,
                                  .interlaced = n[2] & 1};
    }
    look_at_made(list, count < 8 ? count : 8);
}

static void make_of_text(const uint8_t *data, size_t size)
{
    char text[256], error[256] = "";
    struct timing *list;
    unsigned count = 0;

    if (size >= sizeof(text))
        size = sizeof(text) - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    list = edid_given_modes(text, &count, error, sizeof(error));
    MUST(list || error[0]);
    if (list)
        look_at_made(list, count);
    util_free(list);
}

static void put_right(uint8_t *edid, unsigned blocks)
{
    static const uint8_t header[] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};

    if (blocks) {
        memcpy(edid, header, sizeof(header));
        edid[126] = (uint8_t)(blocks - 1);
    }
    for (unsigned i = 0; i < blocks; i++) {
        uint8_t *block = edid + (size_t)i * EDID_BLOCK, sum = 0;

        for (unsigned k = 0; k + 1 < EDID_BLOCK; k++)
            sum = (uint8_t)(sum + block[k]);
        block[EDID_BLOCK - 1] = (uint8_t)-sum;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mode_set *set = mode_set_create(MODE_MONITOR, 1);
    const size_t bytes = size ? size - 1 : 0;
    unsigned blocks = (unsigned)(bytes / EDID_BLOCK);
    char error[256] = "";
    uint8_t *edid;
    int preferred;

    if (blocks > EDID_MOST_BLOCKS)
        blocks = EDID_MOST_BLOCKS;
    edid = util_alloc((size_t)blocks * EDID_BLOCK); /* not a byte more, for the sanitizer */
    MUST(set && edid);
    if (blocks)
        memcpy(edid, data + 1, (size_t)blocks * EDID_BLOCK);
    if (!(size && data[0] & 1))
        put_right(edid, blocks);
    MUST(edid_given_check(edid, (size_t)blocks * EDID_BLOCK, false, error, sizeof(error)) ||
         error[0]);
    MUST(!blocks || (data[0] & 1) || !error[0]);
    MUST(edid_modes(edid, blocks, set));
    preferred = look_at_modes(set, blocks);
    if (blocks)
        look_at_ranges(edid);
    make_again(set, preferred);
    if (!blocks && size) {
        make_of_text(data, size);
        make_of_bytes(data, size);
    }
    mode_set_destroy(set);
    util_free(edid);
    return 0;
}
