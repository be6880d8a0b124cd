/* SPDX-License-Identifier: MIT */
#include "screens/blanks.h"
#include "ddi/entries_display.h"
#include "modes/vidpn.h"
#include "nt/base/status_name.h"
#include "screens/screen.h"
#include "screens/vertical.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define SECOND UINT64_C(1000000000)

/* ---- the grid ---- */

/* That of the last mode (PRES-293), 60 Hz before any. */
static D3DDDI_RATIONAL rate_of(const struct screen *s)
{
    return s->rate.Numerator && s->rate.Denominator ? s->rate : (D3DDDI_RATIONAL){60, 1};
}

static uint64_t period_of(const struct screen *s)
{
    const D3DDDI_RATIONAL rate = rate_of(s);

    return (uint64_t)((unsigned __int128)rate.Denominator * SECOND / rate.Numerator);
}

uint64_t blank_after(const struct screen *s, uint64_t time)
{
    const D3DDDI_RATIONAL rate = rate_of(s);
    const uint64_t passed = time - s->epoch;
    uint64_t n = (uint64_t)((unsigned __int128)passed * rate.Numerator /
                            ((unsigned __int128)rate.Denominator * SECOND));
    uint64_t at;

    for (;; n++) {
        at = s->epoch +
             (uint64_t)((unsigned __int128)n * rate.Denominator * SECOND / rate.Numerator);
        if (at > time)
            return at;
    }
}

/* ---- who waits ---- */

/* Nobody is to wait any more. */
static bool ends(const struct screens *screens)
{
    return screens->stop || screens->removed || sim_current->stopped;
}

/* The driver reports those of what is lit, in D0. */
static bool is_reported(const struct screens *screens, const struct screen *s)
{
    return screens->config.modes->vsync_control && s->lit && !screens->config.modes->asleep;
}

void screens_watch(struct screens *screens, UINT source, struct scanouts_watch *watch)
{
    struct screen *s = &screens->screen[source];
    const uint64_t within = is_reported(screens, s) ? 2 * period_of(s)
                                                    : blank_after(s, sim_now()) - sim_now();

    screens->users++;
    screens->blanks.watchers++;
    watch->source = source;
    watch->within_ns = (within + 99) / 100 * 100; /* time-outs count hundreds of ns */
    list_push_back(&s->watches, &watch->link);
    (void)sim_waitq_wake(&screens->work, 1);
}

static enum vsync_kind made_up_for(const struct screens *screens, const struct screen *s)
{
    return screens->config.modes->vsync_control || !s->lit ? VSYNC_SUBSTITUTED : VSYNC_SIMULATED;
}

bool screens_unwatch(struct screens *screens, struct scanouts_watch *watch, bool made_up)
{
    struct screen *s = &screens->screen[watch->source];
    const bool stops = ends(screens);

    list_remove(&watch->link);
    screens->blanks.watchers--;
    screens->blanks.needed = sim_now();
    if (made_up && !stops)
        vsync_count(&s->vsyncs, screens->config.modes, s->source, made_up_for(screens, s));
    (void)sim_waitq_wake(&screens->work, 1);
    screens_leave(screens);
    return stops;
}

static void note_came(void *context)
{
    *(bool *)context = true;
}

NTSTATUS screens_await_blank(struct screens *screens, UINT source)
{
    bool seen = false;
    struct scanouts_watch watch = {.came = note_came, .context = &seen};
    uint64_t limit;

    screens_watch(screens, source, &watch);
    limit = sim_now() + watch.within_ns;
    while (!seen && sim_now() < limit && !ends(screens))
        (void)sim_waitq_wait(&screens->news, limit);
    if (!screens_unwatch(screens, &watch, !seen))
        return STATUS_SUCCESS;
    return screens->removed
               ? refuse(STATUS_DEVICE_REMOVED, "PRES-054", "the device was removed meanwhile")
               : STATUS_DEVICE_REMOVED;
}

static void tell(struct screens *screens, const struct screen *s)
{
    LIST_FOR_SAFE(node, following, &s->watches) {
        const struct scanouts_watch *watch = CONTAINER(node, struct scanouts_watch, link);

        watch->came(watch->context);
    }
    (void)sim_waitq_wake(&screens->news, UINT32_MAX);
}

void blanks_wake(struct screens *screens)
{
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++)
        tell(screens, &screens->screen[i]);
}

struct vsync_counts screens_vsyncs(const struct screens *screens, UINT source)
{
    return source < MODES_MAX_SOURCES ? screens->screen[source].vsyncs
                                      : (struct vsync_counts){.of = {0}};
}

struct scanouts_line screens_line(const struct screens *screens, UINT source)
{
    const struct screen *s = &screens->screen[source];
    const uint64_t period = period_of(s), left = blank_after(s, sim_now()) - sim_now();

    return beam_line(screens->config.modes, source, left < period ? period - left : 0, period);
}

/* ---- what the driver reports ---- */

void blanks_notify(struct screens *screens, UINT target)
{
    const struct modes *modes = screens->config.modes;

    if (!modes->vsync_control)
        return;
    if (!modes_target(modes, target)) {
        VIOLATION("PRES-159", "a vertical sync was reported for target 0x%x, which does not exist",
                  target);
        return;
    }
    for (UINT i = 0; i < modes->sources; i++) {
        struct screen *s = &screens->screen[i];

        if (!s->lit || s->target != target)
            continue;
        s->synced = sim_now();
        s->syncs_told++;
    }
}

void blanks_notify_dpc(struct screens *screens)
{
    for (UINT i = 0; i < screens->config.modes->sources; i++) {
        struct screen *s = &screens->screen[i];

        if (!s->syncs_told)
            continue;
        for (; s->syncs_told; s->syncs_told--)
            vsync_count(&s->vsyncs, screens->config.modes, i, VSYNC_REPORTED);
        tell(screens, s);
    }
}

/* ---- what it is told ---- */

static void control(struct screens *screens, bool on)
{
    struct screens_blanks *blanks = &screens->blanks;
    const struct modes *modes = screens->config.modes;
    NTSTATUS status;

    blanks->enabled = on;
    blanks->since = blanks->needed = sim_now();
    status = ddi_control_interrupt(modes->ddi, DXGK_INTERRUPT_CRTC_VSYNC, on);
    if (NT_SUCCESS(status) || !on || blanks->refused || modes->ddi->gone)
        return;
    blanks->refused = true; /* PRES-176 */
    WARNING("PRES-176", "vertical syncs could not be enabled: %s", nt_status_text(status).text);
}

void screens_sleep(struct screens *screens)
{
    if (screens->blanks.enabled)
        control(screens, false);
}

void blanks_restarted(struct screens *screens)
{
    screens->blanks.enabled = false;
}

static bool is_due(uint64_t at, uint64_t *until)
{
    if (sim_now() >= at)
        return true;
    if (at < *until)
        *until = at;
    return false;
}

static bool is_awaited(const struct screens *screens)
{
    for (UINT i = 0; i < screens->config.modes->sources; i++)
        if (is_reported(screens, &screens->screen[i]) && !list_empty(&screens->screen[i].watches))
            return true;
    return false;
}

/* PRES-328: the source whose vertical syncs should have come; NULL: none. */
static struct screen *silent(struct screens *screens, uint64_t *until)
{
    for (UINT i = 0; i < screens->config.modes->sources; i++) {
        struct screen *s = &screens->screen[i];
        const uint64_t begun = s->lit_at > screens->blanks.since ? s->lit_at : screens->blanks.since;
        const uint64_t since = s->synced > begun ? s->synced : begun;

        if (is_reported(screens, s) && s->visible &&
            is_due(since + screens->config.sync_limit_ns, until))
            return s;
    }
    return NULL;
}

bool blanks_step(struct screens *screens, uint64_t *until, bool *lost)
{
    struct screens_blanks *blanks = &screens->blanks;
    const struct modes *modes = screens->config.modes;
    const bool awaited = is_awaited(screens);
    const struct screen *s;

    if (!modes->vsync_control || modes->ended || screens->removed || screens->lost)
        return false;
    if (awaited)
        blanks->needed = sim_now();
    if (!blanks->enabled) {
        if (awaited)
            control(screens, true);
        return awaited;
    }
    if (!awaited && screens->config.idle_periods && /* PRES-170, PRES-171 */
        is_due(blanks->needed + screens->config.idle_periods * period_of(&screens->screen[0]),
               until)) {
        control(screens, false);
        return true;
    }
    s = silent(screens, until);
    if (!s)
        return false;
    VIOLATION("PRES-328",
              "no vertical sync of target 0x%x was reported within %llu ms, although they are "
              "enabled",
              s->target, (unsigned long long)(screens->config.sync_limit_ns / 1000000));
    *lost = true;
    return true;
}
