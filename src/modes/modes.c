/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "modes/modes.h"
#include "modes/connections.h"
#include "modes/gamma.h"
#include "modes/mode_list.h"
#include "modes/refusals.h"
#include "modes/monitor.h"
#include "modes/scope.h"
#include "modes/vidpn.h"
#include "sim/slot.h"
#include "util/alloc.h"
#include "util/list.h"

/* The adapters of a machine that have outputs. */
struct outputs {
    struct list list; /* struct modes */
};

static struct sim_slot outputs_slot;
SIM_SLOT_CLAIM(outputs_slot)

static struct outputs *outputs_now(void)
{
    struct outputs *outputs = sim_slot_get(&outputs_slot);

    if (outputs)
        return outputs;
    outputs = util_zalloc(1, sizeof(*outputs));
    if (!outputs)
        return NULL;
    list_init(&outputs->list);
    sim_slot_set(&outputs_slot, outputs);
    return outputs;
}

struct modes *modes_find(HANDLE adapter)
{
    const struct outputs *outputs = sim_slot_get(&outputs_slot);

    if (!outputs)
        return NULL;
    LIST_FOR(node, &outputs->list)
        if (CONTAINER(node, struct modes, link)->adapter == adapter)
            return CONTAINER(node, struct modes, link);
    return NULL;
}

UINT modes_adapters(HANDLE *adapter, UINT room)
{
    const struct outputs *outputs = sim_slot_get(&outputs_slot);
    UINT count = 0;

    if (!outputs)
        return 0;
    LIST_FOR(node, &outputs->list)
        if (count < room)
            adapter[count++] = CONTAINER(node, struct modes, link)->adapter;
    return count;
}

static void name_tracks(struct modes *modes)
{
    char name[24];

    for (UINT i = 0; i < modes->sources && i < MODES_MAX_SOURCES; i++) {
        (void)snprintf(name, sizeof(name), "source %u", i);
        modes->source[i].track = trace_track_create("screens", name);
    }
}

struct modes *modes_create(const struct modes *described, const struct modes_target *targets)
{
    struct outputs *outputs = outputs_now();
    struct modes *modes = outputs ? util_zalloc(1, sizeof(*modes)) : NULL;

    if (!modes)
        return NULL;
    *modes = *described;
    sim_waitq_init(&modes->alone);
    if (described->connections.used)
        modes->targets += CONNECTIONS_MAX_DYNAMIC;
    modes->target = util_zalloc(modes->targets + 1, sizeof(*modes->target));
    if (modes->target) {
        memcpy(modes->target, targets, described->targets * sizeof(*targets));
        for (UINT i = described->targets; i < modes->targets; i++)
            modes->target[i].gone = true;
        modes->active = vidpn_create(modes);
    }
    if (!modes->active) {
        util_free(modes->target);
        util_free(modes);
        return NULL;
    }
    name_tracks(modes);
    list_push_back(&outputs->list, &modes->link);
    return modes;
}

void modes_destroy(struct modes *modes)
{
    if (!modes)
        return;
    for (UINT i = 0; i < modes->targets; i++)
        monitor_depart(&modes->target[i]);
    for (UINT i = 0; i < MODES_MAX_SOURCES; i++)
        modes_list_free(modes->source[i].list);
    modes_refused_forget(modes);
    vidpn_destroy(modes->connections.told);
    vidpn_destroy(modes->active);
    modes_gamma_finish(modes);
    list_remove(&modes->link);
    util_free(modes->target);
    util_free(modes);
}

void modes_finish(void)
{
    util_free(sim_slot_get(&outputs_slot));
    sim_slot_set(&outputs_slot, NULL);
    modes_scopes_finish();
}

UINT modes_lit_target(const struct modes *modes)
{
    for (UINT source = 0; source < modes->sources; source++)
        if (vidpn_paths_from(modes->active, source))
            return vidpn_path_from(modes->active, source, 0)->VidPnTargetId;
    for (UINT i = 0; i < modes->targets; i++)
        if (modes->target[i].connected)
            return modes->target[i].id;
    return modes->targets ? modes->target[0].id : 0;
}
