/* SPDX-License-Identifier: MIT */
/* Monitors as a user has them: plugged into outputs of a device, and pulled out. */
#include "dxgkhost/device.h"
#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "host/task.h"
#include "modes/edid.h"
#include "modes/edid_given.h"
#include "modes/edid_make.h"
#include "modes/edid_timing.h"
#include "port/running/display.h"
#include "util/alloc.h"
#include "util/explain.h"

#define DETAILED 54u /* of a base block: its first timing */

struct plug_request {
    struct port_adapter *port;
    unsigned output;
    struct dxgk_device_monitor monitor;
    uint8_t *made; /* its EDID, if that is of this host */
    const char *refused;
};

static void plug(void *arg)
{
    struct plug_request *request = arg;

    request->refused = port_display_plug(request->port, request->output, &request->monitor);
}

/* Its EDID, of the list of modes; false: that is no list, or out of memory. */
static bool make(const char *modes, struct plug_request *request, char *error, size_t error_bytes)
{
    struct edid_wish wish = {.name = NULL};
    unsigned blocks = 0;
    struct timing *list = edid_given_modes(modes, &wish.count, error, error_bytes);

    wish.timing = list;
    if (list)
        request->made = edid_make(&wish, &blocks, error, error_bytes);
    if (request->made) {
        request->monitor.width = list->width;
        request->monitor.height = list->height;
        request->monitor.edid = request->made;
        request->monitor.edid_bytes = (size_t)blocks * EDID_BLOCK;
    }
    util_free(list);
    return request->made;
}

/* False: the EDID is wrong. */
static bool take(const struct dxgk_monitor *given, struct plug_request *request, char *error,
                 size_t error_bytes)
{
    struct timing timing;

    if (!edid_given_check(given->edid, given->edid_bytes, given->force, error, error_bytes))
        return false;
    request->monitor.edid = given->edid;
    request->monitor.edid_bytes = given->edid_bytes;
    if (!edid_detailed_timing(request->monitor.edid + DETAILED, &timing))
        return true;
    request->monitor.width = timing.width;
    request->monitor.height = timing.height;
    return true;
}

/* False: what is given is wrong, or nothing says what the monitor prefers. */
static bool describe(const struct dxgk_monitor *given, struct plug_request *request, char *error,
                     size_t error_bytes)
{
    if (given->modes && given->edid) {
        util_explain(error, error_bytes, "a monitor with both an EDID and modes to make one of");
        return false;
    }
    if (given->modes && !make(given->modes, request, error, error_bytes))
        return false;
    if (given->edid && !take(given, request, error, error_bytes))
        return false;
    if (given->width || given->height) {
        request->monitor.width = given->width;
        request->monitor.height = given->height;
    }
    if (request->monitor.width && request->monitor.height)
        return true;
    util_explain(error, error_bytes, "a monitor without a size that it prefers");
    return false;
}

static enum dxgk_result perform(struct plug_request *request, char *error, size_t error_bytes)
{
    const enum dxgk_result result = host_task_run("monitor", plug, request);

    if (result == DXGK_OK && request->refused) {
        util_explain(error, error_bytes, "output %u: %s", request->output, request->refused);
        return DXGK_ERROR;
    }
    if (result != DXGK_OK)
        util_explain(error, error_bytes,
                     result == DXGK_OUT_OF_MEMORY ? "out of memory"
                                                  : "a bug check stopped the machine");
    return result;
}

DXGK_API enum dxgk_result dxgk_client_plug_monitor(unsigned adapter, unsigned output,
                                                   const struct dxgk_monitor *monitor, char *error,
                                                   size_t error_bytes)
{
    struct plug_request request = {.output = output};
    struct dxgk_machine *machine = host_run_client_machine();
    enum dxgk_result result = DXGK_ERROR;

    if (machine && host_may_look(machine))
        request.port = host_display_adapter(machine, adapter);
    if (!request.port) {
        util_explain(error, error_bytes,
                     machine ? "the machine has no adapter %u" : "not a client's thread", adapter);
        return DXGK_ERROR;
    }
    if (!monitor || describe(monitor, &request, error, error_bytes))
        result = perform(&request, error, error_bytes);
    util_free(request.made);
    return result;
}
