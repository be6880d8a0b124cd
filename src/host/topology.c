/* SPDX-License-Identifier: MIT */
/* Which displays show which source, as a user asks for it. */
#include "dxgkhost/display.h"
#include "host/display.h"
#include "host/run.h"
#include "host/task.h"
#include "modes/display_worker.h"
#include "port/running/display.h"
#include "util/explain.h"
#include "verify/refusal.h"

struct request {
    struct dxgk_machine *machine;
    unsigned adapter;
    enum modes_arrangement arrangement;
    UINT target;
    bool forces, on; /* a target is to be forced, or no more */
    NTSTATUS status;
    char reason[400];
};

static NTSTATUS carry_out(const struct request *request)
{
    const struct port_adapter *port = host_display_adapter(request->machine, request->adapter);
    struct modes *modes = port ? port_display_modes(port) : NULL;

    if (!modes)
        return STATUS_DEVICE_REMOVED;
    return request->forces ? display_force(modes, request->target, request->on)
                           : display_arrange(modes, request->arrangement);
}

static void ask(void *arg)
{
    struct request *request = arg;
    const char *reason;
    struct refusal refusal;

    refusal_begin(&refusal);
    refusal.call = request->forces ? "a display without a monitor" : "a change of the topology";
    request->status = carry_out(request);
    reason = refusal_reason(request->status);
    util_explain(request->reason, sizeof(request->reason), "%s",
                 reason                                     ? reason
                 : request->status == STATUS_NO_MEMORY      ? "out of memory"
                 : request->status == STATUS_DEVICE_REMOVED ? "the adapter was stopped, or is lost"
                                                            : "the driver does not support it");
    refusal_drop(&refusal);
}

static enum dxgk_result run(struct request *request, const char *what, char *error,
                            size_t error_bytes)
{
    enum dxgk_result result;

    request->machine = host_run_client_machine();
    if (!host_display_modes(request->machine, request->adapter, 0, error, error_bytes))
        return DXGK_ERROR;
    result = host_task_run("topology", ask, request);
    return host_display_result(result, request->status, what, request->reason, error, error_bytes);
}

DXGK_API enum dxgk_result dxgk_client_set_topology(unsigned adapter, enum dxgk_topology topology,
                                                   char *error, size_t error_bytes)
{
    struct request request = {.adapter = adapter,
                              .arrangement = topology == DXGK_TOPOLOGY_CLONE ? MODES_CLONE
                                                                             : MODES_EXTEND};

    return run(&request,
               topology == DXGK_TOPOLOGY_CLONE ? "the displays do not show the same"
                                               : "the displays do not show a picture each",
               error, error_bytes);
}

DXGK_API enum dxgk_result dxgk_client_force_display(unsigned adapter, uint32_t target, bool on,
                                                    char *error, size_t error_bytes)
{
    struct request request = {.adapter = adapter, .target = target, .forces = true, .on = on};
    char what[80];

    util_explain(what, sizeof(what), "target 0x%x is not driven without a monitor", target);
    return run(&request, what, error, error_bytes);
}
