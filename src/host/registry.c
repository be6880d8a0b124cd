/* SPDX-License-Identifier: MIT */
/* The registry that a run begins with (NT-151). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "nt/cm/registry.h"
#include "util/explain.h"
#include "util/is_file.h"

#define MAX_REGISTRY ((uint64_t)64 << 20)

enum dxgk_result dxgk_machine_load_registry(struct dxgk_machine *machine, const char *path,
                                            char *error, size_t error_bytes)
{
    char why[256];
    FILE *file;
    bool entered, loaded;

    if (machine->sim->stopped || machine->shut_down) {
        util_explain(error, error_bytes, "the machine has stopped");
        return machine->sim->stopped ? DXGK_DRIVER_STOPPED : DXGK_ERROR;
    }
    if (!util_is_file(path, MAX_REGISTRY, why, sizeof(why))) {
        util_explain(error, error_bytes, "%s: %s", path, why);
        return DXGK_ERROR;
    }
    file = fopen(path, "r");
    if (!file) {
        util_explain(error, error_bytes, "%s: %s", path, strerror(errno));
        return DXGK_ERROR;
    }
    entered = host_enter(machine);
    loaded = nt_registry_load(file);
    host_leave(entered);
    fclose(file);
    if (loaded)
        return DXGK_OK;
    util_explain(error, error_bytes, "%s: not a registry file, or out of memory", path);
    return DXGK_ERROR;
}
