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

static enum dxgk_result load(const struct dxgk_machine *machine, const char *path, char *error,
                             size_t error_bytes)
{
    char why[256];
    FILE *file;
    bool loaded;

    if (machine->sim->stopped || machine->shut_down || !path) {
        util_explain(error, error_bytes, path ? "the machine has stopped" : "there is no path");
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
    loaded = nt_registry_load(file);
    fclose(file);
    if (loaded)
        return DXGK_OK;
    util_explain(error, error_bytes, "%s: not a registry file, or out of memory", path);
    return DXGK_ERROR;
}

enum dxgk_result dxgk_machine_load_registry(struct dxgk_machine *machine, const char *path,
                                            char *error, size_t error_bytes)
{
    enum dxgk_result result;

    if (!host_begin(machine, error, error_bytes))
        return DXGK_ERROR;
    result = load(machine, path, error, error_bytes);
    host_leave(true);
    return result;
}
