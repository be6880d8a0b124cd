/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/edid.h"
#include "modes/edid_timing.h"
#include "modes/timing.h"
#include "modes/timing_list.h"

/* Offsets in the base block, and sizes. */
#define BASE_VERSION     18u
#define BASE_ESTABLISHED 35u
#define BASE_STANDARD    38u
#define BASE_DETAILED    54u
#define BASE_EXTENSIONS  126u
#define DETAILED_COUNT   4u
#define STANDARD_COUNT   8u

#define EXTENSION_CTA          0x02
#define CTA_DATA               4u /* offset of its data blocks */
#define CTA_WITH_DATA          3u /* revision that brought them */
#define CTA_SHORT_VIDEO        2u /* tag of a data block */
#define DESCRIPTOR_ESTABLISHED 0xF7
#define DESCRIPTOR_STANDARD    0xFA
#define DESCRIPTOR_STANDARDS   6u /* codes in it */
#define DESCRIPTOR_RANGES      0xFD
#define RANGES_BY_FORMULA      4u /* CVT, with the rest of the highest pixel rate */

bool edid_block_valid(const uint8_t *block, bool base)
{
    static const uint8_t header[] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    uint8_t sum = 0;

    for (unsigned i = 0; i < EDID_BLOCK; i++)
        sum = (uint8_t)(sum + block[i]);
    return sum == 0 && (!base || memcmp(block, header, sizeof(header)) == 0);
}

unsigned edid_extensions(const uint8_t *base)
{
    return base[BASE_EXTENSIONS];
}

/* ---- modes ---- */

/* The mode of this signal, whoever named it first; NULL: there is none. */
static union mode *with_signal(const struct mode_set *set, const D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    D3DKMDT_VIDEO_SIGNAL_INFO other;

    for (UINT i = 0; i < set->count; i++) {
        other = set->mode[i].monitor.VideoSignalInfo;
        other.VideoStandard = signal->VideoStandard;
        if (mode_signal_equal(&other, signal))
            return &set->mode[i];
    }
    return NULL;
}

static bool add(struct mode_set *set, const struct timing *timing,
                D3DKMDT_VIDEO_SIGNAL_STANDARD standard, D3DKMDT_MONITOR_CAPABILITIES_ORIGIN origin,
                bool preferred)
{
    union mode mode, *there;

    memset(&mode, 0, sizeof(mode));
    mode.id = set->next_id;
    mode.monitor.VideoSignalInfo = timing_signal(timing, standard);
    mode.monitor.ColorBasis = D3DKMDT_CB_SRGB; /* DISP-107 */
    mode.monitor.ColorCoeffDynamicRanges = (D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES){8, 8, 8, 0};
    mode.monitor.Origin = origin;
    mode.monitor.Preference = preferred ? D3DKMDT_MP_PREFERRED : D3DKMDT_MP_NOTPREFERRED;
    there = with_signal(set, &mode.monitor.VideoSignalInfo);
    if (there && preferred)
        there->monitor.Preference = D3DKMDT_MP_PREFERRED;
    if (there)
        return true;
    set->next_id++;
    return mode_set_append(set, &mode);
}

/* The timing is named among those of the monitor by 4 bytes or fewer. */
static bool add_named(struct mode_set *set, const struct timing *timing)
{
    return add(set, timing, D3DKMDT_VSS_VESA_DMT, D3DKMDT_MCO_MONITORDESCRIPTOR, false);
}

static bool established(struct mode_set *set, const uint8_t *base)
{
    struct timing timing;
    bool ok = true;

    for (unsigned i = 0; ok && i < EDID_ESTABLISHED; i++)
        if (base[BASE_ESTABLISHED + i / 8] & 0x80 >> i % 8) {
            timing = edid_established_timing(i);
            ok = add_named(set, &timing);
        }
    return ok;
}

static bool established_3(struct mode_set *set, const uint8_t *bits)
{
    struct timing timing;
    bool ok = true;

    for (unsigned i = 0; ok && i < EDID_ESTABLISHED_3; i++)
        if (bits[i / 8] & 0x80 >> i % 8) {
            timing = edid_established_3_timing(i);
            ok = add_named(set, &timing);
        }
    return ok;
}

/* Is it of this version, 1.n, or later? */
static bool is_from(const uint8_t *base, unsigned revision)
{
    return base[BASE_VERSION] > 1 || base[BASE_VERSION + 1] >= revision;
}

static bool standard(struct mode_set *set, const uint8_t *base, const uint8_t *codes, unsigned count)
{
    struct timing timing;
    bool ok = true;

    for (unsigned i = 0; ok && i < count; i++)
        if (edid_standard_timing(codes + (size_t)2 * i, !is_from(base, 3), &timing))
            ok = add_named(set, &timing);
    return ok;
}

static bool detailed(struct mode_set *set, const uint8_t *bytes, bool *first)
{
    const bool preferred = *first;
    struct timing timing;

    if (!edid_detailed_timing(bytes, &timing))
        return true;
    *first = false;
    return add(set, &timing, D3DKMDT_VSS_OTHER, D3DKMDT_MCO_MONITORDESCRIPTOR, preferred);
}

static bool short_video(struct mode_set *set, const uint8_t *codes, unsigned count)
{
    struct timing timing;
    bool ok = true;

    for (unsigned i = 0; ok && i < count; i++) {
        /* bit 7 marks 1 to 64 as native */
        const unsigned code = codes[i] > 128 && codes[i] <= 192 ? codes[i] & 0x7Fu : codes[i];

        if (timing_of_code(code, &timing))
            ok = add(set, &timing, D3DKMDT_VSS_EIA_861B, D3DKMDT_MCO_MONITORDESCRIPTOR, false);
    }
    return ok;
}

static bool of_extension(struct mode_set *set, const uint8_t *block, bool *first)
{
    const unsigned stop = EDID_BLOCK - 1, end = block[2] < stop ? block[2] : stop;
    bool ok = true;

    if (block[0] != EXTENSION_CTA || end < CTA_DATA)
        return true;
    for (unsigned at = CTA_DATA; ok && block[1] >= CTA_WITH_DATA && at < end;) {
        const unsigned count = block[at] & 31u;

        if (block[at] >> 5 == CTA_SHORT_VIDEO && at + 1 + count <= end)
            ok = short_video(set, block + at + 1, count);
        at += 1 + count;
    }
    for (unsigned at = end; ok && at + EDID_DETAILED_BYTES <= stop && edid_is_timing(block + at);
         at += EDID_DETAILED_BYTES)
        ok = detailed(set, block + at, first);
    return ok;
}

/* The n-th descriptor of the base block. */
static const uint8_t *descriptor(const uint8_t *base, unsigned n)
{
    return base + BASE_DETAILED + (size_t)n * EDID_DETAILED_BYTES;
}

/* Those of the descriptors that name more of what the base block has places for. */
static bool of_descriptors(struct mode_set *set, const uint8_t *base)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < DETAILED_COUNT; i++) {
        const uint8_t *d = descriptor(base, i);

        if (edid_is_timing(d))
            continue;
        if (d[3] == DESCRIPTOR_STANDARD)
            ok = standard(set, base, d + 5, DESCRIPTOR_STANDARDS);
        else if (d[3] == DESCRIPTOR_ESTABLISHED)
            ok = established_3(set, d + 6);
    }
    return ok;
}

bool edid_modes(const uint8_t *edid, unsigned blocks, struct mode_set *set)
{
    bool first = true, ok = true;

    if (!blocks)
        return true;
    for (unsigned i = 0; ok && i < DETAILED_COUNT; i++)
        ok = detailed(set, descriptor(edid, i), &first);
    ok = ok && standard(set, edid, edid + BASE_STANDARD, STANDARD_COUNT) &&
         established(set, edid) && of_descriptors(set, edid);
    for (unsigned i = 1; ok && i < blocks; i++)
        ok = of_extension(set, edid + (size_t)i * EDID_BLOCK, &first);
    return ok;
}

bool edid_default_modes(struct mode_set *set)
{
    static const uint16_t sizes[][2] = {{640, 480},   {800, 600},   {1024, 768}, {1280, 720},
                                        {1280, 1024}, {1600, 1200}, {1920, 1080}};
    struct timing timing;
    bool ok = true;

    for (unsigned i = 0; ok && i < sizeof(sizes) / sizeof(sizes[0]); i++)
        ok = timing_known(sizes[i][0], sizes[i][1], 60, &timing) &&
             add(set, &timing, D3DKMDT_VSS_VESA_DMT, D3DKMDT_MCO_DEFAULTMONITORPROFILE,
                 sizes[i][0] == 1024);
    return ok;
}

/* ---- ranges ---- */

static D3DDDI_RATIONAL hertz(uint32_t value)
{
    return (D3DDDI_RATIONAL){value, 1};
}

static bool is_ranges(const uint8_t *d)
{
    return !edid_is_timing(d) && d[3] == DESCRIPTOR_RANGES;
}

/* A limit of one byte; from EDID 1.4 on bits of byte 4 raise it by 255, that of the lower one only
 * with that of the upper. */
static uint32_t limit(const uint8_t *d, unsigned at, uint8_t needs, bool offsets)
{
    return d[at] + (offsets && (d[4] & needs) == needs ? 255u : 0);
}

static uint64_t most_pixels(const uint8_t *d, bool rest)
{
    const uint64_t rate = d[9] * UINT64_C(10000000);
    const uint64_t less = rest && d[10] == RANGES_BY_FORMULA ? (d[12] >> 2) * UINT64_C(250000) : 0;

    return less < rate ? rate - less : rate;
}

bool edid_range(const uint8_t *edid, unsigned n, D3DKMDT_MONITOR_FREQUENCY_RANGE *range)
{
    const bool from_4 = is_from(edid, 4);

    for (unsigned i = 0; i < DETAILED_COUNT; i++) {
        const uint8_t *d = descriptor(edid, i);

        if (!is_ranges(d) || n-- != 0)
            continue;
        memset(range, 0, sizeof(*range));
        range->Origin = D3DKMDT_MCO_MONITORDESCRIPTOR;
        range->RangeLimits.MinVSyncFreq = hertz(limit(d, 5, 0x3, from_4));
        range->RangeLimits.MaxVSyncFreq = hertz(limit(d, 6, 0x2, from_4));
        range->RangeLimits.MinHSyncFreq = hertz(limit(d, 7, 0xC, from_4) * 1000);
        range->RangeLimits.MaxHSyncFreq = hertz(limit(d, 8, 0x8, from_4) * 1000);
        range->ConstraintType = D3DKMDT_MFRC_MAXPIXELRATE;
        range->Constraint.MaxPixelRate = (SIZE_T)most_pixels(d, from_4);
        return true;
    }
    return false;
}
