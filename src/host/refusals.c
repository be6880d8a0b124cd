/* SPDX-License-Identifier: MIT */
/*
 * What the rooms below say of a call that fails (verify/refusal.h) is kept here, the last few of
 * the machine, and goes to the log. What fails while a refused start is undone goes to the log
 * alone: it explains nothing, and must not displace what does.
 */
#include "host/refusals.h"

#include <stdio.h>
#include <string.h>

#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/log.h"
#include "host/machine_record.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "verify/verify.h"

static void keep(struct host_refusals *all, const char *call, const struct refusal *refusal)
{
    struct host_refusal *r = &all->last[all->count++ % HOST_REFUSALS];
    const struct sim_machine *m = sim_current;

    r->call = call;
    r->rule = refusal->rule;
    r->status = refusal->status;
    r->virtual_ns = m ? m->now : 0;
    r->thread_id = m && m->thread ? sim_thread_id(m->thread) : 0;
    snprintf(r->thread, sizeof(r->thread), "%s", r->thread_id ? sim_thread_name(m->thread) : "");
    memcpy(r->reason, refusal->text, sizeof(r->reason));
}

static void refused(void *context, const char *call, const struct refusal *refusal)
{
    struct dxgk_machine *machine = context;
    const char *rule = refusal->rule;

    if (!verify_undoing(verify_current))
        keep(&machine->refusals, call, refusal);
    host_log(machine, "%s failed with %s: %s%s%s%s", call, nt_status_text(refusal->status).text,
             refusal->text[0] ? refusal->text : "no reason is known", rule ? " (" : "",
             rule ? rule : "", rule ? ")" : "");
}

void host_refusals_init(struct dxgk_machine *machine)
{
    machine->refusals.sink.refused = refused;
    machine->refusals.sink.context = machine;
}

static void give(const struct host_refusal *r, struct dxgk_refusal *refusal)
{
    const char *name = nt_status_name(r->status);

    refusal->call = r->call;
    refusal->code = (uint32_t)r->status;
    refusal->status = name ? name : "";
    refusal->rule = r->rule ? r->rule : "";
    refusal->reason = r->reason;
    refusal->thread = r->thread;
    refusal->virtual_ns = r->virtual_ns;
}

size_t dxgk_machine_refusals(const struct dxgk_machine *machine)
{
    uint64_t count = host_may_look(machine) ? machine->refusals.count : 0;

    return count < HOST_REFUSALS ? (size_t)count : HOST_REFUSALS;
}

bool dxgk_machine_refusal(const struct dxgk_machine *machine, size_t back,
                          struct dxgk_refusal *refusal)
{
    const struct host_refusals *all;

    if (!refusal || back >= dxgk_machine_refusals(machine))
        return false;
    all = &machine->refusals;
    give(&all->last[(all->count - 1 - back) % HOST_REFUSALS], refusal);
    return true;
}

bool dxgk_client_last_refusal(struct dxgk_refusal *refusal)
{
    const struct dxgk_machine *machine = sim_current ? host_current() : NULL;
    const struct host_refusals *all;
    uint64_t id;

    if (!machine || !refusal || !sim_current->thread)
        return false;
    all = &machine->refusals;
    id = sim_thread_id(sim_current->thread);
    for (size_t back = 0; back < dxgk_machine_refusals(machine); back++) {
        const struct host_refusal *r = &all->last[(all->count - 1 - back) % HOST_REFUSALS];

        if (r->thread_id != id || strncmp(r->call, "D3DKMT", 6) != 0)
            continue;
        give(r, refusal);
        return true;
    }
    return false;
}
