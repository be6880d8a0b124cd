/* SPDX-License-Identifier: MIT */
/* What there is of planes: on their way, and shown. */
#include "screens/planes_record.h"

bool planes_pending(const struct scanout *s)
{
    if (!s->planes)
        return false;
    for (UINT i = 0; i < s->planes->count; i++)
        if (s->planes->plane[i].handed_count)
            return true;
    return !list_empty(&s->planes->waiting) || s->planes->moving_count;
}

/* Is one of the same present handed over on a lower layer? */
static bool is_counted(const struct planes *planes, UINT layer, uint64_t call)
{
    for (UINT i = 0; i < layer; i++)
        for (UINT k = 0; k < planes->plane[i].handed_count; k++)
            if (planes->plane[i].handed[k]->call == call)
                return true;
    return false;
}

/* Presents, not planes. */
UINT planes_queued_of(const struct scanout *s, const struct vidmm_device *device)
{
    uint64_t last = 0;
    UINT count = 0;

    if (!s->planes)
        return 0;
    count += s->planes->moving_count && s->planes->moving[0]->flip.device == device;
    LIST_FOR(node, &s->planes->waiting) {
        count += plane_flip_at(node)->call != last && plane_flip_at(node)->flip.device == device;
        last = plane_flip_at(node)->call;
    }
    for (UINT i = 0; i < s->planes->count; i++)
        for (UINT k = 0; k < s->planes->plane[i].handed_count; k++) {
            const struct plane_flip *f = s->planes->plane[i].handed[k];

            count += f->flip.device == device && !is_counted(s->planes, i, f->call);
        }
    return count;
}

bool planes_hold(const struct scanout *s, const struct vidmm_device *device)
{
    if (!s->planes)
        return false;
    for (UINT i = 0; i < s->planes->moving_count; i++)
        if (s->planes->moving[i]->flip.device == device)
            return true;
    for (UINT i = 0; i < s->planes->count; i++) {
        const struct plane *plane = &s->planes->plane[i];

        if (plane->now.allocation && plane->now.device == device)
            return true;
        for (UINT k = 0; k < plane->handed_count; k++)
            if (plane->handed[k]->flip.device == device ||
                plane->handed[k]->flip.primary.device == device)
                return true;
    }
    return false;
}

UINT planes_shown(const struct scanouts *scanouts, UINT source)
{
    const struct planes *planes = scanouts->source[source].planes;
    UINT count = 0;

    for (UINT i = 1; planes && planes->shown && i < planes->count; i++)
        count += planes->plane[i].enabled;
    return count;
}
