/* SPDX-License-Identifier: MIT */
/* Snapshots: a machine goes on in children of fork, many times from one point. */
#include "dxgkhost/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bus/bus.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/run.h"
#include "host/snapshot.h"
#include "ram/keep.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim.h"

struct dxgk_snapshot {
    struct dxgk_machine *machine;
    struct ram_keep *keep;
};

struct dxgk_snapshot *dxgk_client_snapshot(void)
{
    struct dxgk_machine *machine = host_run_client_machine();
    struct dxgk_snapshot *snapshot;

    if (!machine || machine->config.recorder || sim_current->stopped)
        return NULL;
    snapshot = calloc(1, sizeof(*snapshot));
    if (!snapshot)
        return NULL;
    snapshot->machine = machine;
    snapshot->keep = ram_keep_create();
    if (snapshot->keep && ram_keep_add(snapshot->keep, ram_memory(machine->ram)) &&
        bus_keep(machine->bus, snapshot->keep))
        return snapshot;
    dxgk_snapshot_destroy(snapshot);
    return NULL;
}

void dxgk_snapshot_destroy(struct dxgk_snapshot *snapshot)
{
    if (!snapshot)
        return;
    ram_keep_destroy(snapshot->keep);
    free(snapshot);
}

uint64_t dxgk_snapshot_bytes(const struct dxgk_snapshot *snapshot)
{
    return ram_keep_bytes(snapshot->keep);
}

pid_t dxgk_snapshot_fork(struct dxgk_snapshot *snapshot)
{
    struct dxgk_machine *machine = snapshot->machine;
    pid_t child;

    if (host_run_client_machine() != machine) {
        errno = EPERM;
        return -1;
    }
    host_enter_fork(true);
    child = fork();
    host_enter_fork(false);
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        machine->owner = getpid();
        sim_forked();
    }
    return child;
}

int64_t dxgk_snapshot_restore(struct dxgk_snapshot *snapshot)
{
    return ram_keep_restore(snapshot->keep);
}

bool host_snapshot_is_of_caller(const struct dxgk_snapshot *snapshot)
{
    return host_run_client_machine() == snapshot->machine;
}

const struct ram_keep *host_snapshot_keep(const struct dxgk_snapshot *snapshot)
{
    return snapshot->keep;
}
