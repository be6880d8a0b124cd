/* SPDX-License-Identifier: MIT */
/* What a source shows when all that is queued has been shown. */
#include "screens/planes_record.h"

void planes_expect(struct scanout *s, const struct plane_setting *setting)
{
    struct plane *plane = &s->planes->plane[setting->layer];

    plane->will_be = setting->enabled;
    plane->plain = false;
    plane->look = setting->look;
}

void planes_will_end(struct scanout *s)
{
    if (!s->planes)
        return;
    for (UINT i = 0; i < s->planes->count; i++)
        s->planes->plane[i].will_be = s->planes->plane[i].plain = i == 0;
}

/* After some have been dropped: what is shown, with what is queued still. */
void planes_expect_again(struct scanout *s)
{
    struct planes *planes = s->planes;

    for (UINT i = 0; i < planes->count; i++) {
        struct plane *plane = &planes->plane[i];

        plane->will_be = planes->shown ? plane->enabled : i == 0;
        plane->plain = !planes->shown;
        plane->look = plane->setting.look;
        for (UINT k = 0; k < plane->handed_count; k++)
            planes_expect(s, &plane->handed[k]->setting);
    }
    for (UINT i = 0; i < planes->moving_count; i++)
        planes_expect(s, &planes->moving[i]->setting);
    LIST_FOR(node, &planes->waiting)
        planes_expect(s, &plane_flip_at(node)->setting);
}
