/* SPDX-License-Identifier: MIT */
/*
 * The resolution of the clock, which drivers may raise (NT-178). Each driver that did so keeps it
 * until its own call that gives it back.
 */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/image.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/time.h"
#include "util/alloc.h"
#include "util/list.h"

/* One driver's wish, in the list of its resources. */
struct wish {
    struct nt_resource resource;
    struct list link; /* in nt.clock_wishes */
};

static bool init(struct nt *nt)
{
    list_init(nt->clock_wishes);
    return true;
}

const struct nt_component nt_timer_resolution_component = {
    .slot = offsetof(struct nt, clock_wishes),
    .bytes = sizeof(struct list),
    .init = init,
};

static void drop(struct wish *wish)
{
    struct list *wishes = nt_state()->clock_wishes;

    list_remove(&wish->link);
    util_free(wish);
    if (list_empty(wishes))
        nt_time_set_resolution(NT_TICK_100NS);
}

static void reclaim(struct nt_resource *resource)
{
    drop(CONTAINER(resource, struct wish, resource));
}

static const struct nt_resource_class wish_class = {
    .rule = "NT-178",
    .noun = "raised clock resolution",
    .reclaim = reclaim,
};

static struct wish *wish_of(const struct nt_image *image)
{
    LIST_FOR(node, nt_state()->clock_wishes) {
        struct wish *wish = CONTAINER(node, struct wish, link);

        if (wish->resource.image == image)
            return wish;
    }
    return NULL;
}

NT_EXPORT ULONG NTAPI ExSetTimerResolution(ULONG DesiredTime, BOOLEAN SetResolution)
{
    struct wish *wish;

    NT_ENTER();
    if (!nt_level(NT_APC, "NT-178", NT_NO_CODE, __func__))
        return nt_time_resolution();
    wish = wish_of(nt_image_current());
    if (!SetResolution) {
        if (wish) {
            nt_resource_untrack(&wish->resource);
            drop(wish);
        }
        return nt_time_resolution();
    }
    if (DesiredTime < NT_FINEST_TICK_100NS)
        DesiredTime = NT_FINEST_TICK_100NS;
    if (!wish) {
        wish = util_zalloc(1, sizeof(*wish));
        if (!wish)
            return nt_time_resolution();
        nt_resource_track(&wish->resource, &wish_class, NT_CALLER());
        list_push_back(nt_state()->clock_wishes, &wish->link);
    }
    if (DesiredTime < nt_time_resolution())
        nt_time_set_resolution(DesiredTime);
    return nt_time_resolution();
}

NT_EXPORT VOID NTAPI ExQueryTimerResolution(PULONG MaximumTime, PULONG MinimumTime,
                                            PULONG CurrentTime)
{
    NT_ENTER();
    if (!nt_level(NT_APC, "NT-178", NT_NO_CODE, __func__) || !MaximumTime || !MinimumTime ||
        !CurrentTime)
        return;
    *MaximumTime = NT_TICK_100NS;
    *MinimumTime = NT_FINEST_TICK_100NS;
    *CurrentTime = nt_time_resolution();
}
