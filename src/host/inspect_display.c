/* SPDX-License-Identifier: MIT */
/* What a driver of displays has: outputs, the monitors on them, and the modes of its sources. */
#include "host/driver.h"
#include "host/inspect.h"
#include "host/log.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "modes/display_worker.h"
#include "modes/mode_check.h"
#include "modes/mode_list.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/vidpn.h"
#include "port/running/display.h"
#include "util/array.h"
#include "util/list.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 14u /* of an EDID, and the end */

static const char *technology_of(const struct modes_target *target)
{
    static const char *const names[] = {"HD15",
                                        "S-Video",
                                        "composite video",
                                        "component video",
                                        "DVI",
                                        "HDMI",
                                        "LVDS",
                                        "7",
                                        "D_JPN",
                                        "SDI",
                                        "DisplayPort, external",
                                        "DisplayPort, embedded",
                                        "UDI, external",
                                        "UDI, embedded",
                                        "SDTV dongle",
                                        "Miracast",
                                        "indirect, wired"};

    if (target->technology == D3DKMDT_VOT_INTERNAL)
        return "internal";
    return (unsigned)target->technology < ARRAY_COUNT(names) ? names[target->technology] : "other";
}

/* What the monitor calls itself; "": nothing. */
static const char *name_of(const struct monitor *monitor, char *name)
{
    memset(name, 0, NAME_BYTES);
    for (unsigned at = 54; monitor->blocks && at < 126; at += 18) {
        const uint8_t *d = monitor->edid + at;

        if (d[0] || d[1] || d[3] != 0xFC)
            continue;
        for (unsigned i = 0; i < NAME_BYTES - 1 && d[5 + i] >= ' ' && d[5 + i] <= '~'; i++)
            name[i] = (char)d[5 + i];
        break;
    }
    return name;
}

static void show_output(const struct dxgk_machine *machine, const struct modes_target *target)
{
    const D3DKMDT_MONITOR_SOURCE_MODE *preferred = target->monitor
                                                       ? monitor_preferred(target->monitor)
                                                       : NULL;
    const D3DKMDT_2DREGION *size = preferred ? &preferred->VideoSignalInfo.ActiveSize : NULL;
    char name[NAME_BYTES], prefers[40] = "";

    if (size)
        (void)snprintf(prefers, sizeof(prefers), ", prefers %u x %u", size->cx, size->cy);
    if (!target->monitor)
        host_inspect_say(machine, "  output 0x%x, %s: no monitor", target->id,
                         technology_of(target));
    else if (!target->monitor->blocks)
        host_inspect_say(machine, "  output 0x%x, %s: a monitor without a descriptor, %u modes%s",
                         target->id, technology_of(target), target->monitor->set->count, prefers);
    else
        host_inspect_say(machine, "  output 0x%x, %s: monitor \"%s\", EDID of %u bytes, %u modes%s",
                         target->id, technology_of(target), name_of(target->monitor, name),
                         target->monitor->blocks * 128, target->monitor->set->count, prefers);
}

static void show_mode(const struct dxgk_machine *machine, const struct modes_listed *mode)
{
    char rate[24] = "", turns[40] = "";

    if (mode_frequency_given(&mode->rate))
        (void)snprintf(rate, sizeof(rate), " at %.2f Hz",
                       (double)mode->rate.Numerator / mode->rate.Denominator);
    if (mode->turns & 0xE)
        (void)snprintf(turns, sizeof(turns), ", turned by%s%s%s", mode->turns & 2 ? " 90" : "",
                       mode->turns & 4 ? " 180" : "", mode->turns & 8 ? " 270" : "");
    host_inspect_say(machine, "    %u x %u%s on output 0x%x%s", mode->size.cx, mode->size.cy, rate,
                     mode->target, turns);
}

static void show_source(const struct dxgk_machine *machine, const struct modes *modes, UINT source)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(modes->active, source));

    if (!mode)
        host_inspect_say(machine, "  source %u: dark", source);
    else
        host_inspect_say(machine, "  source %u: %u x %u, modes", source,
                         mode->source.Format.Graphics.PrimSurfSize.cx,
                         mode->source.Format.Graphics.PrimSurfSize.cy);
}

struct look {
    const struct dxgk_machine *machine;
    struct modes *modes;
};

/* On the display worker. */
static NTSTATUS show(struct modes *modes, void *arg)
{
    const struct look *look = arg;
    const struct mode_list *list;

    host_inspect_say(look->machine, "displays");
    for (UINT i = 0; i < modes->targets; i++)
        if (!modes->target[i].gone)
            show_output(look->machine, &modes->target[i]);
    for (UINT source = 0; source < modes->sources; source++) {
        show_source(look->machine, modes, source);
        if (!NT_SUCCESS(modes_list(modes, source, &list)))
            continue;
        for (UINT i = 0; i < list->count; i++)
            if (!i || !modes_listed_alike(&list->mode[i - 1], &list->mode[i]))
                show_mode(look->machine, &list->mode[i]);
    }
    return STATUS_SUCCESS;
}

static void ask(void *arg)
{
    struct look *look = arg;

    (void)display_do(look->modes, show, look);
}

void host_inspect_displays(struct dxgk_machine *machine)
{
    LIST_FOR(node, &machine->adapters) {
        struct look look = {
            .machine = machine,
            .modes = port_display_modes(CONTAINER(node, struct host_adapter, link)->port)};

        if (look.modes && host_run_kernel(machine, "inspect", ask, &look) != DXGK_OK)
            return;
    }
}
