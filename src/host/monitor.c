/* SPDX-License-Identifier: MIT */
/* Monitors as a user has them: plugged into outputs of a device, and pulled out. */
#include "dxgkhost/device.h"
#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "host/task.h"
#include "modes/edid_given.h"
#include "modes/edid_timing.h"
#include "port/running/display.h"
#include "util/explain.h"

#define DETAILED 54u /* of a base block: its first timing */

struct plug_request {
    struct port_adapter *port;
    unsigned output;
    struct dxgk_device_monitor monitor;
    const char *refused;
};

static void plug(void *arg)
{
    struct plug_request *request = arg;

    request->refused = port_display_plug(request->port, request->output, &request->monitor);
}

/* False: the EDID is wrong, or nothing says what the monitor prefers. */
static bool describe(const struct dxgk_monitor *given, struct dxgk_device_monitor *monitor,
                     char *error, size_t error_bytes)
{
    struct timing timing = {0};

    *monitor = (struct dxgk_device_monitor){given->width, given->height, given->edid,
                                            given->edid ? given->edid_bytes : 0};
    if (given->edid && !edid_given_check(given->edid, given->edid_bytes, false, error, error_bytes))
        return false;
    if (given->edid && !given->width && !given->height &&
        edid_detailed_timing(monitor->edid + DETAILED, &timing)) {
        monitor->width = timing.width;
        monitor->height = timing.height;
    }
    if (monitor->width && monitor->height)
        return true;
    util_explain(error, error_bytes, "a monitor without a size that it prefers");
    return false;
}

DXGK_API enum dxgk_result dxgk_client_plug_monitor(unsigned adapter, unsigned output,
                                                   const struct dxgk_monitor *monitor, char *error,
                                                   size_t error_bytes)
{
    struct plug_request request = {.output = output};
    struct dxgk_machine *machine = host_run_client_machine();
    enum dxgk_result result;

    if (machine && host_may_look(machine))
        request.port = host_display_adapter(machine, adapter);
    if (!request.port) {
        util_explain(error, error_bytes,
                     machine ? "the machine has no adapter %u" : "not a client's thread", adapter);
        return DXGK_ERROR;
    }
    if (monitor && !describe(monitor, &request.monitor, error, error_bytes))
        return DXGK_ERROR;
    result = host_task_run("monitor", plug, &request);
    if (result == DXGK_OK && request.refused) {
        util_explain(error, error_bytes, "output %u: %s", output, request.refused);
        return DXGK_ERROR;
    }
    if (result != DXGK_OK)
        util_explain(error, error_bytes,
                     result == DXGK_OUT_OF_MEMORY ? "out of memory"
                                                  : "a bug check stopped the machine");
    return result;
}
