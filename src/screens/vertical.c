/* SPDX-License-Identifier: MIT */
#include "screens/vertical.h"
#include "modes/modes.h"
#include "screens/scanouts_record.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "util/alloc.h"

#define COUNTER_NS 100u /* of KeQueryPerformanceCounter */

/* ---- waiting ---- */

void scanouts_watch(struct scanouts *scanouts, UINT source, struct scanouts_watch *watch)
{
    struct scanout *s = &scanouts->source[source];

    scanouts->users++;
    scanouts->watchers++;
    s->awaited++;
    watch->source = source;
    watch->within_ns = scanout_patience(s);
    list_push_back(&s->watches, &watch->link);
    (void)sim_waitq_wake(&scanouts->work, 1);
}

struct vsync_counts scanouts_vsyncs(const struct scanouts *scanouts, UINT source)
{
    return source < MODES_MAX_SOURCES ? scanouts->source[source].vsyncs
                                      : (struct vsync_counts){.of = {0}};
}

bool scanouts_unwatch(struct scanouts *scanouts, struct scanouts_watch *watch, bool made_up)
{
    const bool stops = scanouts_ends(scanouts);

    list_remove(&watch->link);
    if (made_up && !stops)
        vsync_count(&scanouts->source[watch->source].vsyncs, scanouts->config.modes, watch->source,
                    VSYNC_SUBSTITUTED);
    scanouts->watchers--;
    scanouts->source[watch->source].awaited--;
    scanouts->needed = sim_now();
    (void)sim_waitq_wake(&scanouts->work, 1);
    if (--scanouts->users == 0 && scanouts->stop)
        (void)sim_waitq_wake(&scanouts->news, UINT32_MAX);
    return stops;
}

void vertical_tell(struct scanout *s)
{
    LIST_FOR_SAFE(node, following, &s->watches) {
        const struct scanouts_watch *watch = CONTAINER(node, struct scanouts_watch, link);

        watch->came(watch->context);
    }
}

void vertical_stop(struct scanouts *scanouts)
{
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++)
        vertical_tell(&scanouts->source[i]);
}

/* ---- counting ---- */

struct presenter {
    struct list link;
    UINT source;
    const struct vidmm_device *device;
    UINT flips;
    uint64_t refresh; /* count of vertical syncs when the last one was shown */
};

static struct presenter *find(const struct scanouts *scanouts, UINT source,
                              const struct vidmm_device *device)
{
    LIST_FOR(node, &scanouts->presenters) {
        struct presenter *presenter = CONTAINER(node, struct presenter, link);

        if (presenter->source == source && presenter->device == device)
            return presenter;
    }
    return NULL;
}

bool vertical_begin(struct scanouts *scanouts, UINT source, const struct vidmm_device *device)
{
    struct presenter *presenter;

    if (find(scanouts, source, device))
        return true;
    presenter = util_zalloc(1, sizeof(*presenter));
    if (!presenter)
        return false;
    presenter->source = source;
    presenter->device = device;
    list_push_back(&scanouts->presenters, &presenter->link);
    return true;
}

void vertical_note_flip(struct scanout *s, const struct vidmm_device *device)
{
    struct presenter *presenter = find(s->all, s->source, device);

    if (!presenter)
        return;
    presenter->flips++;
    presenter->refresh = s->syncs;
}

void vertical_forget(struct scanouts *scanouts, const struct vidmm_device *device)
{
    LIST_FOR_SAFE(node, following, &scanouts->presenters) {
        struct presenter *presenter = CONTAINER(node, struct presenter, link);

        if (device && presenter->device != device)
            continue;
        list_remove(node);
        util_free(presenter);
    }
}

D3DKMT_PRESENT_STATS scanouts_statistics(const struct scanouts *scanouts, UINT source,
                                         const struct vidmm_device *device)
{
    const struct scanout *s = &scanouts->source[source];
    const struct presenter *presenter = find(scanouts, source, device);
    D3DKMT_PRESENT_STATS statistics = {0}; /* SyncGPUTime is not known */

    if (!presenter)
        return statistics;
    statistics.PresentCount = presenter->flips;
    statistics.PresentRefreshCount = (UINT)presenter->refresh;
    statistics.SyncRefreshCount = (UINT)s->syncs;
    statistics.SyncQPCTime.QuadPart = (LONGLONG)(s->last_sync / COUNTER_NS);
    return statistics;
}

/* ---- the beam ---- */

struct scanouts_line scanouts_line(const struct scanouts *scanouts, UINT source)
{
    const struct scanout *s = &scanouts->source[source];
    const uint64_t period = vsync_period(s);

    return beam_line(scanouts->config.modes, source, (sim_now() - s->last_sync) % period, period);
}
