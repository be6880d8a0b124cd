/* SPDX-License-Identifier: MIT */
#include "host/monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/device.h"
#include "bus/outputs.h"
#include "dxgkhost/dxgkhost.h"
#include "host/device.h"
#include "host/enter.h"
#include "host/log.h"
#include "host/machine_record.h"
#include "modes/edid.h"
#include "modes/edid_given.h"
#include "modes/edid_make.h"
#include "sim/event.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "util/list.h"

#define DEFAULT_MODES "1024x768@60,1280x720@60,1920x1080@60"

/* One that comes, or goes. */
struct change {
    struct list link;
    struct sim_event event;
    struct dxgk_machine *machine;
    struct bus_device *device;
    unsigned output;
    size_t bytes;
    bool there;
    uint8_t edid[];
};

static bool apply(const struct change *change)
{
    return bus_device_monitor(change->device, change->output, change->there ? change->edid : NULL,
                              change->there ? change->bytes : 0);
}

static void fire(struct sim_event *event)
{
    const struct change *change = CONTAINER(event, struct change, event);

    if (!apply(change))
        host_log(change->machine,
                 "output %u: the device model has no room for an EDID of %zu bytes, or is gone",
                 change->output, change->bytes);
}

static void describe(const struct sim_event *event, char *text, size_t bytes)
{
    (void)snprintf(text, bytes, "the monitor on output %u",
                   CONTAINER(event, struct change, event)->output);
}

static struct change *new_change(struct dxgk_machine *machine, struct bus_device *device,
                                 const struct dxgk_monitor *monitor)
{
    struct change *change = calloc(1, sizeof(*change) + (monitor->edid ? monitor->bytes : 0));

    if (!change)
        return NULL;
    change->event.fire = fire;
    change->event.describe = describe;
    change->machine = machine;
    change->device = device;
    change->output = monitor->output;
    change->there = monitor->edid != NULL;
    if (monitor->edid) {
        change->bytes = monitor->bytes;
        memcpy(change->edid, monitor->edid, monitor->bytes);
    }
    list_push_back(&machine->monitors, &change->link);
    return change;
}

/* ---- which device ---- */

static struct host_device *find(const struct dxgk_machine *machine, unsigned number)
{
    LIST_FOR(node, &machine->devices)
        if (number-- == 0)
            return CONTAINER(node, struct host_device, link);
    return NULL;
}

/* False: *error says why there is no such output. */
static bool check_output(const struct host_device *device, const struct dxgk_monitor *monitor,
                         char *error, size_t error_bytes)
{
    const unsigned outputs = device ? bus_device_outputs(device->bus) : 0;

    if (monitor->output < outputs)
        return true;
    if (!device)
        util_explain(error, error_bytes, "the machine has no device %u", monitor->device);
    else if (!outputs)
        util_explain(error, error_bytes,
                     "the device model tells of no outputs, so no monitor can be plugged in "
                     "(\"null\" has them with its option outputs=N)");
    else
        util_explain(error, error_bytes, "the device has %u output%s, and none with number %u",
                     outputs, outputs == 1 ? "" : "s", monitor->output);
    return false;
}

static enum dxgk_result set(struct dxgk_machine *machine, const struct dxgk_monitor *monitor,
                            bool outside, char *error, size_t error_bytes)
{
    struct host_device *device = find(machine, monitor->device);
    struct change *change;

    if (!check_output(device, monitor, error, error_bytes) ||
        (monitor->edid &&
         !edid_given_check(monitor->edid, monitor->bytes, monitor->force, error, error_bytes)))
        return DXGK_ERROR;
    change = new_change(machine, device->bus, monitor);
    if (change && outside && monitor->virtual_ns <= sim_now()) {
        device->monitors_chosen = true;
        if (apply(change))
            return DXGK_OK;
        util_explain(error, error_bytes, "the device has no room for an EDID of %zu bytes",
                     monitor->bytes);
        return DXGK_ERROR;
    }
    if (change && sim_event_arm(&change->event,
                                monitor->virtual_ns < sim_now() ? sim_now() : monitor->virtual_ns))
        return DXGK_OK;
    util_explain(error, error_bytes, "out of memory");
    return DXGK_OUT_OF_MEMORY;
}

enum dxgk_result dxgk_machine_set_monitor(struct dxgk_machine *machine,
                                          const struct dxgk_monitor *monitor, char *error,
                                          size_t error_bytes)
{
    enum dxgk_result result;
    bool entered;

    if (!monitor || !host_may_look(machine) || machine->shut_down || machine->sim->stopped) {
        util_explain(error, error_bytes, "%s",
                     !monitor ? "there is no monitor" : "the machine cannot be changed now");
        return DXGK_ERROR;
    }
    entered = host_enter(machine);
    result = set(machine, monitor, entered, error, error_bytes);
    host_leave(entered);
    return result;
}

/* ---- EDIDs ---- */

uint8_t *dxgk_edid_of_modes(const char *modes, size_t *bytes, char *error, size_t error_bytes)
{
    unsigned count, blocks = 0;
    struct timing *timings = edid_given_modes(modes, &count, error, error_bytes);
    uint8_t *made = timings ? edid_make(&(struct edid_wish){.timing = timings, .count = count},
                                        &blocks, error, error_bytes)
                            : NULL;
    uint8_t *copy = made ? malloc((size_t)blocks * EDID_BLOCK) : NULL;

    if (copy)
        memcpy(copy, made, (size_t)blocks * EDID_BLOCK);
    else if (made)
        util_explain(error, error_bytes, "out of memory");
    *bytes = copy ? (size_t)blocks * EDID_BLOCK : 0;
    util_free(made);
    util_free(timings);
    return copy;
}

void host_monitor_defaults(struct dxgk_machine *machine)
{
    unsigned number = 0;

    LIST_FOR(node, &machine->devices) {
        const struct host_device *device = CONTAINER(node, struct host_device, link);
        struct dxgk_monitor monitor = {.device = number++};
        uint8_t *edid;

        if (device->has_driver || device->monitors_chosen || !bus_device_outputs(device->bus))
            continue;
        monitor.edid = edid = dxgk_edid_of_modes(DEFAULT_MODES, &monitor.bytes, NULL, 0);
        if (edid)
            (void)set(machine, &monitor, true, NULL, 0);
        free(edid);
    }
}

void host_monitors_free(struct dxgk_machine *machine)
{
    LIST_FOR_SAFE(node, following, &machine->monitors)
        free(CONTAINER(node, struct change, link));
}
