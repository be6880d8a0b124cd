/* SPDX-License-Identifier: MIT */
/* Vertical syncs that do not come, and those that come too often or too rarely (PRES-327,
 * PRES-330). */
#include "modes/modes.h"
#include "screens/scanouts_record.h"
#include "sim/machine.h"
#include "verify/verify.h"

#define SECOND  UINT64_C(1000000000)
#define SILENCE (2 * SECOND)

static bool is_watched(const struct scanout *s)
{
    return s->all->enabled && s->reports && s->lit && !s->silent &&
           s->all->config.modes->source[s->source].visible && !s->all->config.modes->ddi->gone;
}

/* The driver is told once more to report them. */
static void note_silence(struct scanout *s)
{
    s->silent = true;
    VIOLATION("PRES-327",
              "no vertical sync of target 0x%x was reported within 2 s, although they are enabled",
              s->target);
    vsync_control(s->all, false);
    vsync_control(s->all, true);
}

bool vsync_watch(struct scanouts *scanouts, uint64_t *until)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++) {
        struct scanout *s = &scanouts->source[i];
        const uint64_t since = s->watched > s->last_sync ? s->watched : s->last_sync;

        if (!is_watched(s))
            continue;
        if (sim_now() >= since + SILENCE) {
            note_silence(s);
            return true;
        }
        if (since + SILENCE < *until)
            *until = since + SILENCE;
    }
    return false;
}

/* It is over when none has come for as long as a flip may wait for its own (PRES-256). */
bool vsync_in_vain(const struct scanout *s, struct flip *flip, uint64_t *until)
{
    uint64_t at;

    if (!flip->handed)
        flip->handed = sim_now(); /* since when it is the first */
    at = (flip->handed > s->last_sync ? flip->handed : s->last_sync) + s->all->config.limit_ns;
    if (sim_now() >= at || s->all->config.modes->ddi->gone)
        return true;
    if (*until > at)
        *until = at;
    return false;
}

void vsync_note_rate(struct scanout *s)
{
    const uint64_t passed = sim_now() - s->window;
    uint64_t thousandths, wanted;

    s->silent = false;
    if (s->off_grid || !s->all->enabled)
        return;
    if (!s->window) {
        s->window = sim_now();
        s->in_window = 0;
        return;
    }
    s->in_window++;
    if (passed < SECOND)
        return;
    thousandths = s->in_window * 1000 * SECOND / passed;
    wanted = 1000 * SECOND / vsync_period(s);
    s->window = sim_now();
    s->in_window = 0;
    /* what is told at exactly twice the rate may be measured a little below it */
    if (thousandths + thousandths / 100 < 2 * wanted && 2 * thousandths >= wanted)
        return;
    s->off_grid = true;
    WARNING("PRES-330",
            "vertical syncs of target 0x%x come at %llu.%03u Hz, in a mode of %llu.%03u Hz",
            s->target, (unsigned long long)(thousandths / 1000), (unsigned)(thousandths % 1000),
            (unsigned long long)(wanted / 1000), (unsigned)(wanted % 1000));
}
