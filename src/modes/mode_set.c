/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/mode_set.h"
#include "util/alloc.h"

struct mode_set *mode_set_create(enum mode_kind kind, UINT owner)
{
    struct mode_set *set = util_zalloc(1, sizeof(*set));

    if (!set)
        return NULL;
    set->kind = kind;
    set->owner = owner;
    set->next_id = 1;
    return set;
}

struct mode_set *mode_set_copy(const struct mode_set *set)
{
    struct mode_set *copy = mode_set_create(set->kind, set->owner);

    if (!copy)
        return NULL;
    *copy = *set;
    copy->mode = NULL;
    copy->capacity = set->count;
    if (!set->count)
        return copy;
    copy->mode = util_alloc(set->count * sizeof(*set->mode));
    if (!copy->mode) {
        util_free(copy);
        return NULL;
    }
    memcpy(copy->mode, set->mode, set->count * sizeof(*set->mode));
    return copy;
}

void mode_set_destroy(struct mode_set *set)
{
    if (!set)
        return;
    util_free(set->mode);
    util_free(set);
}

size_t mode_bytes(enum mode_kind kind)
{
    return kind == MODE_SOURCE   ? sizeof(D3DKMDT_VIDPN_SOURCE_MODE)
           : kind == MODE_TARGET ? sizeof(D3DKMDT_VIDPN_TARGET_MODE)
                                 : sizeof(D3DKMDT_MONITOR_SOURCE_MODE);
}

bool mode_set_append(struct mode_set *set, const union mode *mode)
{
    if (set->count == set->capacity) {
        const UINT capacity = set->capacity ? set->capacity * 2 : 8;
        union mode *grown = util_realloc(set->mode, capacity * sizeof(*grown));

        if (!grown)
            return false;
        set->mode = grown;
        set->capacity = capacity;
    }
    memset(&set->mode[set->count], 0, sizeof(*mode));
    memcpy(&set->mode[set->count++], mode, mode_bytes(set->kind));
    return true;
}

union mode *mode_set_find(const struct mode_set *set, UINT id)
{
    for (UINT i = 0; i < set->count; i++)
        if (set->mode[i].id == id)
            return &set->mode[i];
    return NULL;
}

/* ---- comparison ---- */

/* The members are compared, since a driver that copies a structure leaves anything in its gaps. */
static bool is_size(const D3DKMDT_2DREGION *a, const D3DKMDT_2DREGION *b)
{
    return a->cx == b->cx && a->cy == b->cy;
}

static bool is_ratio(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b)
{
    return a->Numerator == b->Numerator && a->Denominator == b->Denominator;
}

bool mode_signal_equal(const D3DKMDT_VIDEO_SIGNAL_INFO *a, const D3DKMDT_VIDEO_SIGNAL_INFO *b)
{
    return a->VideoStandard == b->VideoStandard && is_size(&a->TotalSize, &b->TotalSize) &&
           is_size(&a->ActiveSize, &b->ActiveSize) && is_ratio(&a->VSyncFreq, &b->VSyncFreq) &&
           is_ratio(&a->HSyncFreq, &b->HSyncFreq) && a->PixelRate == b->PixelRate &&
           a->ScanLineOrdering == b->ScanLineOrdering;
}

static bool source_equal(const D3DKMDT_VIDPN_SOURCE_MODE *a, const D3DKMDT_VIDPN_SOURCE_MODE *b)
{
    const D3DKMDT_GRAPHICS_RENDERING_FORMAT *f = &a->Format.Graphics, *g = &b->Format.Graphics;

    return a->Type == b->Type && is_size(&f->PrimSurfSize, &g->PrimSurfSize) &&
           is_size(&f->VisibleRegionSize, &g->VisibleRegionSize) && f->Stride == g->Stride &&
           f->PixelFormat == g->PixelFormat && f->ColorBasis == g->ColorBasis &&
           f->PixelValueAccessMode == g->PixelValueAccessMode;
}

static bool target_equal(const D3DKMDT_VIDPN_TARGET_MODE *a, const D3DKMDT_VIDPN_TARGET_MODE *b)
{
    D3DKMDT_WIRE_FORMAT_AND_PREFERENCE f = a->WireFormatAndPreference,
                                       g = b->WireFormatAndPreference;

    f.Preference = g.Preference = D3DKMDT_MP_UNINITIALIZED;
    return mode_signal_equal(&a->VideoSignalInfo, &b->VideoSignalInfo) && f.Value == g.Value &&
           is_ratio(&a->MinimumVSyncFreq, &b->MinimumVSyncFreq);
}

static bool monitor_equal(const D3DKMDT_MONITOR_SOURCE_MODE *a, const D3DKMDT_MONITOR_SOURCE_MODE *b)
{
    const D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES *r = &a->ColorCoeffDynamicRanges,
                                             *s = &b->ColorCoeffDynamicRanges;

    return mode_signal_equal(&a->VideoSignalInfo, &b->VideoSignalInfo) &&
           a->ColorBasis == b->ColorBasis && r->FirstChannel == s->FirstChannel &&
           r->SecondChannel == s->SecondChannel && r->ThirdChannel == s->ThirdChannel &&
           r->FourthChannel == s->FourthChannel && a->Origin == b->Origin;
}

static bool is_same(enum mode_kind kind, const union mode *a, const union mode *b)
{
    return kind == MODE_SOURCE   ? source_equal(&a->source, &b->source)
           : kind == MODE_TARGET ? target_equal(&a->target, &b->target)
                                 : monitor_equal(&a->monitor, &b->monitor);
}

union mode *mode_set_same(const struct mode_set *set, const union mode *mode)
{
    for (UINT i = 0; i < set->count; i++)
        if (is_same(set->kind, &set->mode[i], mode))
            return &set->mode[i];
    return NULL;
}

bool mode_set_equal(const struct mode_set *a, const struct mode_set *b)
{
    if (a->count != b->count || a->pinned != b->pinned)
        return false;
    for (UINT i = 0; i < a->count; i++)
        if (a->mode[i].id != b->mode[i].id || !is_same(a->kind, &a->mode[i], &b->mode[i]))
            return false;
    return true;
}

/* ---- the pinned mode ---- */

const union mode *mode_set_pinned(const struct mode_set *set)
{
    return set->pinned ? &set->mode[set->pinned - 1] : NULL;
}

void mode_set_pin(struct mode_set *set, const union mode *mode)
{
    set->pinned = (UINT)(mode - set->mode) + 1;
}
