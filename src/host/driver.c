/* SPDX-License-Identifier: MIT */
/* Drivers: loading an image, DriverEntry, an adapter for each device that has no driver yet; and
 * the way back. */
#include "host/driver.h"
#include "dxgkhost/dxgkhost.h"
#include "host/debugger.h"
#include "host/device.h"
#include "host/enter.h"
#include "host/log.h"
#include "host/machine_record.h"
#include "host/module.h"
#include "host/monitor.h"
#include "host/recorder.h"
#include "host/report.h"
#include "host/run.h"
#include "loader/loader.h"
#include "nt/base/status_name.h"
#include "nt/io/image_life.h"
#include "port/adapter.h"
#include "port/driver.h"
#include "port/record/adapter_info.h"
#include "port/record/cause.h"
#include "sim/machine.h"
#include "sim/stop.h"
#include "util/alloc.h"
#include "util/array.h"
#include "util/explain.h"
#include "util/list.h"
#include "verify/verify.h"

#include <string.h>

struct loading {
    struct dxgk_machine *machine;
    struct host_driver *driver;
    NTSTATUS status; /* of DriverEntry, or of the first adapter that failed */
    unsigned started;
    bool stuck; /* the driver never came back from a call */
};

/* ---- on a kernel thread ---- */

/* CAPS-065: what an isolated driver must not import. Reports of one place are merged, so each of
 * them names all. */
static void check_imports(const struct loader_image *image, const struct port_adapter *adapter)
{
    static const char *const banned[] = {
        "MmAllocateContiguousMemory", "MmAllocateContiguousMemorySpecifyCache",
        "MmFreeContiguousMemory",     "MmAllocatePagesForMdl",
        "MmAllocatePagesForMdlEx",    "MmFreePagesFromMdl",
        "MmProbeAndLockPages",
    };
    char found[256] = "";
    unsigned count = 0;

    if (!port_adapter_caps(adapter)->MemoryManagementCaps.IoMmuSecureModeSupported)
        return;
    for (size_t i = 0; i < ARRAY_COUNT(banned); i++) {
        const size_t length = strlen(found);

        if (!loader_image_imports(image, banned[i]))
            continue;
        snprintf(found + length, sizeof(found) - length, "%s%s", count++ ? ", " : "", banned[i]);
    }
    for (unsigned i = 0; i < count; i++)
        VIOLATION("CAPS-065",
                  "%s imports %s, which a driver with IoMmuSecureModeSupported must not use",
                  loader_image_name(image), found);
}

static NTSTATUS start_adapter(struct loading *loading, struct host_device *device)
{
    struct host_adapter *adapter = util_zalloc(1, sizeof(*adapter));
    NTSTATUS status;

    if (!adapter)
        return STATUS_NO_MEMORY;
    status = port_adapter_add(loading->driver->port, device->bus, &adapter->port);
    if (!NT_SUCCESS(status)) {
        util_free(adapter);
        return status;
    }
    adapter->device = device;
    device->has_driver = true;
    list_push_back(&loading->machine->adapters, &adapter->link);
    check_imports(loading->driver->image, adapter->port);
    loading->started++;
    return STATUS_SUCCESS;
}

static void start_driver(void *arg)
{
    struct loading *loading = arg;
    struct host_driver *driver = loading->driver;
    struct dxgk_machine *machine = loading->machine;
    NTSTATUS status;

    port_cause_clear(machine->port);
    status = host_module_initialize_all(machine, driver->image);
    if (NT_SUCCESS(status))
        status = port_driver_start(machine->port, loader_image_service(driver->image),
                                   driver->nt_image, loader_image_entry(driver->image),
                                   &driver->port);
    loading->status = status;
    if (!NT_SUCCESS(status)) {
        host_module_unload_all(machine, driver->image);
        return;
    }
    host_debugger_entries(driver->port);
    loader_image_initialized(driver->image);
    LIST_FOR(node, &machine->devices) {
        struct host_device *device = CONTAINER(node, struct host_device, link);

        if (device->has_driver)
            continue;
        status = start_adapter(loading, device);
        if (!NT_SUCCESS(status) && NT_SUCCESS(loading->status))
            loading->status = status;
    }
    if (!NT_SUCCESS(loading->status) && !loading->started) {
        verify_set_undoing(machine->log, true);
        machine->leaks += port_driver_stop(driver->port);
        driver->port = NULL;
        host_module_unload_all(machine, driver->image);
        verify_set_undoing(machine->log, false);
    }
}

/* ---- what went wrong ---- */

/* Of the records made since, as far as they were made by the clean-up or not: the bug check, else
 * the first that refused; NULL: none did. `more`: how many others refused. */
static const struct verify_record *deciding_of(const struct verify_log *log, size_t since,
                                               bool undoing, size_t *more)
{
    const struct verify_record *first = NULL;

    *more = 0;
    for (size_t i = since; i < verify_records(log); i++) {
        const struct verify_record *record = verify_record_at(log, i);

        if (record->undoing != undoing)
            continue;
        if (record->severity == VERIFY_FATAL) {
            *more = 0;
            return record;
        }
        if (!record->refuses)
            continue;
        if (!first)
            first = record;
        else
            (*more)++;
    }
    return first;
}

/* What comes up while a start is undone is its cause only if nothing else is. */
static const struct verify_record *deciding_record(const struct dxgk_machine *machine, size_t since,
                                                   size_t *more)
{
    const struct verify_record *record = deciding_of(machine->log, since, false, more);

    return record || port_cause_text(machine->port)[0]
               ? record
               : deciding_of(machine->log, since, true, more);
}

/* Any record of a call that never came back: THREAD-037 and its like. */
static const struct verify_record *gravest_record(const struct verify_log *log, size_t since)
{
    const struct verify_record *best = NULL;

    for (size_t i = since; i < verify_records(log); i++) {
        const struct verify_record *record = verify_record_at(log, i);

        if (!best || record->severity >= best->severity)
            best = record;
    }
    return best;
}

static void explain_refusal(const struct dxgk_machine *machine, const struct host_driver *driver,
                            const struct loading *loading, size_t since, char *error,
                            size_t error_bytes)
{
    size_t more;
    const struct verify_record *record = deciding_record(machine, since, &more);
    const struct verify_bugcheck *bug = verify_bugcheck_state(machine->log);
    const char *name = loader_image_name(driver->image), *cause = port_cause_text(machine->port);
    const NTSTATUS status = NT_SUCCESS(loading->status) ? port_cause_status(machine->port)
                                                        : loading->status;
    char others[64] = "", suffix[96] = "";

    if (more)
        snprintf(others, sizeof(others), "; %zu more finding%s refuse%s it", more,
                 more == 1 ? "" : "s", more == 1 ? "s" : "");
    if (!record && loading->stuck && !cause[0])
        record = gravest_record(machine->log, since);
    if (!NT_SUCCESS(status) && !(record && strstr(record->seen, nt_status_text(status).text)))
        snprintf(suffix, sizeof(suffix), " (%s)", nt_status_text(status).text);
    if (record && record->severity == VERIFY_FATAL)
        util_explain(error, error_bytes, "%s: %s: %s (simulated bug check 0x%x)", name,
                     record->rule, record->seen, bug->code);
    else if (record)
        util_explain(error, error_bytes, "%s: %s: %s%s%s", name, record->rule, record->seen, suffix,
                     others);
    else if (cause[0])
        util_explain(error, error_bytes, "%s: %s", name, cause);
    else
        util_explain(error, error_bytes, "%s: refused with %s", name, nt_status_text(status).text);
}

/* ---- loading ---- */

static void free_driver(struct host_driver *driver)
{
    struct dxgk_recorder *recorder = host_current()->config.recorder;

    list_remove(&driver->link);
    if (driver->nt_image && !sim_current->stopped)
        nt_image_destroy(driver->nt_image);
    host_recorder_doing(recorder, "unloading the driver %s", loader_image_name(driver->image));
    host_recorder_driver_file(recorder, true);
    loader_image_unload(driver->image);
    host_recorder_driver_file(recorder, false);
    util_free(driver);
}

enum dxgk_result host_driver_load(struct dxgk_machine *machine, const char *path, char *error,
                                  size_t error_bytes)
{
    struct host_driver *driver = util_zalloc(1, sizeof(*driver));
    struct loading loading = {.machine = machine, .driver = driver, .status = STATUS_UNSUCCESSFUL};
    size_t since = verify_records(machine->log);
    enum dxgk_result result;
    uintptr_t base;
    uint64_t bytes;
    NTSTATUS status;

    if (!driver) {
        util_explain(error, error_bytes, "out of memory");
        return DXGK_OUT_OF_MEMORY;
    }
    list_init(&driver->link);
    host_recorder_doing(machine->config.recorder, "loading the driver %s", path);
    host_recorder_driver_file(machine->config.recorder, true);
    status = loader_image_load(path, machine->config.stub_missing ? LOADER_STUB_MISSING : 0,
                               &driver->image, error, error_bytes);
    host_recorder_driver_file(machine->config.recorder, false);
    if (!NT_SUCCESS(status)) {
        util_free(driver);
        return status == STATUS_NO_MEMORY ? DXGK_OUT_OF_MEMORY : DXGK_ERROR;
    }
    driver->nt_image = nt_image_create(loader_image_name(driver->image));
    if (!driver->nt_image) {
        free_driver(driver);
        util_explain(error, error_bytes, "out of memory");
        return DXGK_OUT_OF_MEMORY;
    }
    bytes = loader_image_place(driver->image, &base);
    nt_image_place(driver->nt_image, base, bytes);
    list_push_back(&machine->drivers, &driver->link);
    host_monitor_defaults(machine);
    host_recorder_doing(machine->config.recorder, "starting the driver %s",
                        loader_image_name(driver->image));
    result = host_run_kernel(machine, "load driver", start_driver, &loading);
    if (result != DXGK_OK) {
        loading.stuck = true;
        explain_refusal(machine, driver, &loading, since, error, error_bytes);
        if (result == DXGK_DEADLOCK || result == DXGK_TIME_UP || result == DXGK_INTERRUPTED)
            sim_stop(); /* the driver never came back: nothing of it may run any more */
        return result;
    }
    if (NT_SUCCESS(loading.status))
        return DXGK_OK;
    explain_refusal(machine, driver, &loading, since, error, error_bytes);
    if (!driver->port)
        free_driver(driver);
    return loading.status == STATUS_NO_MEMORY ? DXGK_OUT_OF_MEMORY : DXGK_ERROR;
}

enum dxgk_result dxgk_machine_load_driver(struct dxgk_machine *machine, const char *path,
                                          char *error, size_t error_bytes)
{
    char text[4096] = "";
    enum dxgk_result result;

    if (!host_begin(machine, error, error_bytes))
        return DXGK_ERROR;
    if (machine->sim->stopped || machine->shut_down || !path) {
        util_explain(text, sizeof(text), path ? "the machine has stopped" : "there is no path");
        result = machine->sim->stopped ? DXGK_DRIVER_STOPPED : DXGK_ERROR;
    } else {
        result = host_driver_load(machine, path, text, sizeof(text));
        if (result != DXGK_OK)
            host_log(machine, "%s", text);
    }
    host_leave(true);
    if (result != DXGK_OK)
        util_explain(error, error_bytes, "%s", text);
    return result;
}

/* ---- the way back ---- */

static void report_threads(const struct host_driver *driver)
{
    char names[160];
    unsigned count = loader_image_threads(driver->image, names, sizeof(names));

    if (count)
        VIOLATION("THREAD-079",
                  "%s was unloaded and left %u thread(s) of the host's process running: %s",
                  loader_image_name(driver->image), count, names);
}

/* On a kernel thread; clients are gone. */
void host_driver_stop_all(struct dxgk_machine *machine)
{
    while (!list_empty(&machine->adapters)) {
        struct host_adapter *adapter = CONTAINER(machine->adapters.next, struct host_adapter, link);

        host_report_count(&machine->totals, adapter->port);
        list_remove(&adapter->link);
        port_adapter_remove(adapter->port);
        adapter->device->has_driver = false;
        util_free(adapter);
    }
    LIST_FOR(node, &machine->drivers) {
        struct host_driver *driver = CONTAINER(node, struct host_driver, link);

        if (driver->port)
            machine->leaks += port_driver_stop(driver->port);
        driver->port = NULL;
        report_threads(driver);
        host_module_unload_all(machine, driver->image);
    }
}

void host_driver_free_all(struct dxgk_machine *machine)
{
    host_module_free_all(machine);
    while (!list_empty(&machine->drivers))
        free_driver(CONTAINER(machine->drivers.next, struct host_driver, link));
}
