/* SPDX-License-Identifier: MIT */
/*
 * A machine: its rooms, built from the bottom up and taken down in the other direction.
 *
 * After a simulated bug check the simulated life has stopped in the middle of things. Then nothing
 * is taken apart that would need the driver or a thread (adapters, processes): what is on the
 * machine's heap goes with the heap (sim_machine_destroy). The rooms at the bottom are destroyed
 * nevertheless, for what they hold that is not on it: memory files and mappings, device models,
 * images of drivers.
 */
#include "host/machine.h"
#include "bus/bus.h"
#include "bus/mmu.h"
#include "ddi/ddi.h"
#include "dxgkhost/dxgkhost.h"
#include "host/driver.h"
#include "host/enter.h"
#include "host/inspect.h"
#include "host/frames.h"
#include "host/iommu.h"
#include "host/log.h"
#include "host/moment.h"
#include "host/monitor.h"
#include "host/machine_record.h"
#include "host/recorder.h"
#include "host/run.h"
#include "host/windows_trace.h"
#include "kmt/kmt.h"
#include "loader/loader.h"
#include "nt/base/nt_config.h"
#include "nt/nt.h"
#include "port/dxgkrnl_events.h"
#include "port/port.h"
#include "port/record/machine.h"
#include "port/record/port_config.h"
#include "port/running/post.h"
#include "ram/file.h"
#include "ram/ram.h"
#include "sim/fiber.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/stop.h"
#include "trace/trace.h"
#include "util/explain.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidsch/patch_format.h"
#include "wintrace/sink.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/stack_text.h"
#include "x64/x64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITS_INDENT 10     /* columns before a line of who waits for what */
#define MOST_SIDE    16384u /* of a screen */
#define MIN_RAM      ((uint64_t)64 << 20)
#define MAX_RAM      ((uint64_t)1 << 40)
/* 200 nested calls between C and Lua need 0.5 MiB, and a D3DKMT call below them less than 0.1. */
#define CLIENT_STACK     ((uint64_t)(SIM_ASAN ? 4 : 1) << 20)
#define MIN_CLIENT_STACK ((uint64_t)256 << 10)
#define MAX_CLIENT_STACK ((uint64_t)1 << 30)

/* ---- words ---- */

static void debug_print(void *context, const char *line)
{
    host_log(context, "driver said: %s", line);
}

static void port_news(void *context, const char *line)
{
    host_log(context, "%s", line);
}

/* Short of memory, the text ends early. */
static void waits_line(void *context, const char *line)
{
    struct dxgk_machine *machine = context;
    size_t before = machine->waits ? strlen(machine->waits) : 0, more = strlen(line) + 2;
    char *text = realloc(machine->waits, before + more + WAITS_INDENT);

    host_log(machine, "%s", line);
    if (!text)
        return;
    snprintf(text + before, more + WAITS_INDENT, "%*s%s\n", WAITS_INDENT, "", line);
    machine->waits = text;
}

const char *dxgk_machine_waits(const struct dxgk_machine *machine)
{
    return host_may_look(machine) ? machine->waits : NULL;
}

static void violation_news(void *context, const struct verify_record *record)
{
    struct dxgk_machine *machine = context;
    const struct dxgk_violation violation = host_report_violation(record);

    machine->hooks++;
    machine->config.violation(machine->config.log_context, &violation);
    machine->hooks--;
}

static void bugcheck_news(const struct verify_bugcheck *bugcheck)
{
    struct dxgk_machine *machine = host_current();

    host_log(machine, "simulated bug check 0x%x (0x%llx, 0x%llx, 0x%llx, 0x%llx), rule %s",
             bugcheck->code, (unsigned long long)bugcheck->parameter[0],
             (unsigned long long)bugcheck->parameter[1], (unsigned long long)bugcheck->parameter[2],
             (unsigned long long)bugcheck->parameter[3], bugcheck->rule ? bugcheck->rule : "none");
}

/* ---- configuration ---- */

void dxgk_machine_config_init(struct dxgk_machine_config *config)
{
    if (!config)
        return;
    memset(config, 0, sizeof(*config));
    config->size = sizeof(*config);
    config->seed = 1;
    config->ram_bytes = (uint64_t)16 << 30;
    config->processors = 4;
    config->iommu = DXGK_IOMMU_OFF;
    config->client_stack_bytes = CLIENT_STACK;
    config->watchdog_ms = 10000;
    config->time_limit_ns = 3600000000000u;
}

static const char *check_config(const struct dxgk_machine_config *config)
{
    const char *why;

    if (!config || config->size != sizeof(*config))
        return "the configuration was not made by dxgk_machine_config_init of this version";
    if (config->ram_bytes < MIN_RAM || config->ram_bytes > MAX_RAM || config->ram_bytes % 4096)
        return "ram_bytes must be whole pages between 64 MiB and 1 TiB";
    if (config->processors < 1 || config->processors > SIM_MAX_PROCESSORS)
        return "processors must be 1 to 64";
    if (config->client_stack_bytes < MIN_CLIENT_STACK ||
        config->client_stack_bytes > MAX_CLIENT_STACK)
        return "client_stack_bytes must be between 256 KiB and 1 GiB";
    if (config->firmware_screen.width &&
        (config->firmware_screen.width > MOST_SIDE || config->firmware_screen.height < 1 ||
         config->firmware_screen.height > MOST_SIDE ||
         config->firmware_screen.pitch < 4 * config->firmware_screen.width ||
         config->firmware_screen.pitch > 8 * MOST_SIDE))
        return "firmware_screen must have sides of 1 to 16384, and a pitch of 4 bytes a pixel at least";
    if (config->patch_format && !patch_format_check(config->patch_format, &why))
        return why;
    if ((unsigned)config->windows > DXGK_WINDOWS_DOCUMENTED)
        return "windows must be a value of enum dxgk_windows";
    return host_iommu_check(config);
}

/* ---- from one machine to the next ---- */

struct dxgk_depot {
    struct ram_depot *ram;
};

struct dxgk_depot *dxgk_depot_create(void)
{
    struct dxgk_depot *depot = calloc(1, sizeof(*depot));

    if (!depot)
        return NULL;
    depot->ram = ram_depot_create();
    if (depot->ram)
        return depot;
    free(depot);
    return NULL;
}

void dxgk_depot_destroy(struct dxgk_depot *depot)
{
    if (!depot)
        return;
    ram_depot_destroy(depot->ram);
    free(depot);
}

/* ---- creation ---- */

static size_t driver_frames(uintptr_t *pc, size_t most)
{
    return x64_driver_frames(loader_in_driver, pc, most);
}

static void tell_source(void *context, const char *image, uint64_t offset,
                        struct loader_place *place)
{
    const struct dxgk_machine_config *config = &((const struct dxgk_machine *)context)->config;
    struct dxgk_source source = {.function = ""};

    config->source(config->source_context, image, offset, &source);
    memcpy(place->function, source.function, sizeof(place->function));
    memcpy(place->inlined, source.inlined, sizeof(place->inlined));
    memcpy(place->line, source.line, sizeof(place->line));
}

static bool create_services(struct dxgk_machine *machine)
{
    struct ram_config ram = {.bytes = machine->config.ram_bytes,
                             .depot = machine->config.depot ? machine->config.depot->ram : NULL};
    struct nt_config nt = {
        .debug_print = debug_print,
        .debug_context = machine,
        .special_pool = machine->config.special_pool,
        .pool_limit = machine->config.pool_limit,
        .force_irql = machine->config.force_irql,
        .deadlock_detection = true,
        .symbolize = loader_symbolize,
        .line = loader_source_line,
        .frame = loader_frame,
        .frames = driver_frames,
        .raise = x64_raise_in_caller,
        .find = x64_routine_find,
        .waits = waits_line,
        .waits_context = machine,
    };
    struct ddi_hooks hooks = {.symbolize = loader_symbolize,
                              .frame = loader_frame,
                              .import_name = loader_import_name,
                              .bugcheck = bugcheck_news};

    host_enter_claim(machine);
    host_refusals_init(machine);
    machine->ram = ram_create(&ram);
    if (machine->ram)
        machine->bus = bus_create(machine->ram);
    if (!machine->bus)
        return false;
    bus_check_translations(machine->bus, machine->config.check_page_tables);
    nt.ram = machine->ram;
    nt.bus = machine->bus;
    machine->nt = nt_create(&nt);
    if (!machine->nt || !x64_create())
        return false;
    if (machine->config.coverage && !loader_coverage_enable())
        return false;
    if (machine->config.source && !loader_on_source(tell_source, machine))
        return false;
    return ddi_install(&hooks);
}

static bool light_screen(const struct dxgk_machine *machine)
{
    const struct port_firmware_display display = {.width = machine->config.firmware_screen.width,
                                                  .height = machine->config.firmware_screen.height,
                                                  .pitch = machine->config.firmware_screen.pitch,
                                                  .format = D3DDDIFMT_X8R8G8B8};

    return !display.width || NT_SUCCESS(port_post_configure(machine->port, NULL, &display));
}

static bool create_graphics(struct dxgk_machine *machine)
{
    struct port_config port = {
        .ram = machine->ram,
        .bus = machine->bus,
        .tdr = {.level = 3,
                .delay = 2,
                .ddi_delay = 5,
                .limit_count = 5,
                .limit_time = 60,
                .enable_preemption = true},
        .raised_submit = machine->config.raised_submit,
        .tell_unpinned = machine->config.tell_unpinned,
        .reset_device = machine->config.last_screen,
        .no_displays = machine->config.no_displays,
        .split_dma_buffers = machine->config.split_dma_buffers,
        .driver_fences = machine->config.driver_fences,
        .test_prepatching = machine->config.test_prepatching,
        .chronicle = machine->config.chronicle,
        .journal = machine->config.journal,
        .log = port_news,
        .log_context = machine,
        .loss = host_loss,
        .check_tables = machine->config.check_page_tables,
        .table_format = machine->config.page_table_format,
        .check_patches = !machine->config.unchecked_patches,
        .patch_format = machine->config.patch_format,
        .observe = host_inspect_observe,
        .observe_context = machine,
    };

    if (machine->config.windows == DXGK_WINDOWS_DOCUMENTED) {
        port.policy = (struct vidsch_policy){
            .shared_ids = true, .patient = true, .round_robin = true};
        port.sparse_addresses = port.sizes_of_host = true;
    }
    if (machine->config.frame) {
        port.frame = host_frame;
        port.frame_context = machine;
    }
    host_iommu_configure(&machine->config, &port);
    if (!NT_SUCCESS(port_create(&port, &machine->port)) || !light_screen(machine))
        return false;
    machine->kmt = kmt_create(machine->port);
    return machine->kmt != NULL;
}

static struct dxgk_machine *alloc_machine(const struct dxgk_machine_config *config)
{
    struct sim_config sim = {.seed = config->seed,
                             .processors = config->processors,
                             .client_stack_bytes = config->client_stack_bytes,
                             .watchdog_ms = config->watchdog_ms,
                             .stress = config->stress,
                             .races = config->races,
                             .arena = config->recorder ? config->recorder->arena : NULL};
    struct dxgk_machine *machine = calloc(1, sizeof(*machine));

    if (!machine)
        return NULL;
    machine->config = *config;
    host_enter_own(machine);
    list_init(&machine->devices);
    list_init(&machine->drivers);
    list_init(&machine->modules);
    list_init(&machine->adapters);
    list_init(&machine->processes);
    list_init(&machine->moments);
    list_init(&machine->monitors);
    machine->log = verify_log_create_in(sim.arena);
    machine->trace = config->trace ? trace_sink_create_in(sim.arena) : NULL;
    machine->windows_trace = config->trace_dxgkrnl
                                 ? host_windows_trace_create(config->processors, sim.arena)
                                 : NULL;
    machine->sim = sim_machine_create(&sim);
    if (!machine->log || !machine->sim || (!machine->trace && config->trace) ||
        (!machine->windows_trace && config->trace_dxgkrnl)) {
        dxgk_machine_destroy(machine);
        return NULL;
    }
    if (config->recorder) {
        config->recorder->sim = machine->sim;
        config->recorder->log = machine->log;
        config->recorder->trace = machine->trace;
        config->recorder->windows_trace = machine->windows_trace;
    }
    if (config->violation)
        verify_set_news(machine->log, violation_news, machine);
    return machine;
}

struct dxgk_machine *host_machine_create(const struct dxgk_machine_config *config,
                                         uint64_t fail_in_creation, char *error, size_t error_bytes)
{
    const char *wrong = host_current() ? "it was called from inside another machine"
                                       : check_config(config);
    struct dxgk_machine *machine;
    bool done, entered;

    if (wrong) {
        util_explain(error, error_bytes, "%s", wrong);
        return NULL;
    }
    if (config->recorder && !host_recorder_begin(config->recorder)) {
        util_explain(error, error_bytes, "the recorder is in use by another machine");
        return NULL;
    }
    machine = alloc_machine(config);
    if (!machine) {
        if (config->recorder)
            host_recorder_end(config->recorder);
        util_explain(error, error_bytes, "out of memory");
        return NULL;
    }
    verify_set_strict(machine->log, config->strict);
    entered = host_enter(machine);
    machine->sim->heap.fail_at = fail_in_creation;
    done = create_services(machine) && create_graphics(machine);
    machine->requests_at_creation = machine->sim->heap.requests;
    machine->sim->heap.fail_at = config->fail_allocation
                                     ? machine->requests_at_creation + config->fail_allocation
                                     : 0;
    host_leave(entered);
    if (done)
        return machine;
    util_explain(error, error_bytes, "out of memory");
    dxgk_machine_destroy(machine);
    return NULL;
}

struct dxgk_machine *dxgk_machine_create(const struct dxgk_machine_config *config, char *error,
                                         size_t error_bytes)
{
    return host_machine_create(config, 0, error, error_bytes);
}

/* ---- the end ---- */

struct ending {
    struct dxgk_machine *machine;
};

static void end_everything(void *arg)
{
    struct dxgk_machine *machine = ((struct ending *)arg)->machine;

    host_run_end_processes(machine);
    host_driver_stop_all(machine);
}

enum dxgk_result dxgk_machine_shutdown(struct dxgk_machine *machine)
{
    struct ending ending = {machine};
    enum dxgk_result result = DXGK_OK;

    if (!host_begin(machine, NULL, 0))
        return DXGK_ERROR;
    if (machine->shut_down) {
        host_leave(true);
        return machine->sim->stopped ? DXGK_DRIVER_STOPPED : DXGK_OK;
    }
    machine->shut_down = true;
    host_recorder_doing(machine->config.recorder, "shutting the machine down");
    machine->sim->heap.fail_at = 0; /* an end has to come through */
    if (!machine->sim->stopped && machine->port)
        port_tell_all(machine->port);
    if (machine->sim->interrupted)
        result = DXGK_INTERRUPTED;
    else if (!machine->sim->stopped && (machine->live || !list_empty(&machine->drivers)))
        result = host_run_kernel(machine, "shutdown", end_everything, &ending);
    if (result != DXGK_OK && result != DXGK_DRIVER_STOPPED) {
        host_log(machine, "the driver could not be stopped; the machine is");
        sim_stop();
    }
    if (machine->sim->stopped)
        result = result == DXGK_OK ? DXGK_DRIVER_STOPPED : result;
    else
        host_run_reap_processes(machine);
    host_leave(true);
    return result;
}

static void destroy_rooms(struct dxgk_machine *machine)
{
    host_driver_free_all(machine);
    if (!machine->sim->stopped)
        kmt_destroy(machine->kmt);
    if (machine->port)
        port_destroy(machine->port);
    x64_destroy();
    nt_destroy(machine->nt);
    ddi_uninstall();
    if (machine->bus)
        bus_destroy(machine->bus);
    if (machine->ram)
        ram_destroy(machine->ram);
}

void dxgk_machine_interrupt(struct dxgk_machine *machine)
{
    if (machine)
        sim_interrupt(machine->sim);
}

void dxgk_machine_destroy(struct dxgk_machine *machine)
{
    if (!machine)
        return;
    if (machine->sim) {
        (void)dxgk_machine_shutdown(machine);
        if (!host_begin(machine, NULL, 0))
            return; /* the shutdown was refused, too */
        host_recorder_doing(machine->config.recorder, "unloading the driver and the device");
        destroy_rooms(machine);
        host_leave(true);
        sim_machine_destroy(machine->sim);
    }
    host_moments_free(machine);
    host_monitors_free(machine);
    trace_sink_destroy(machine->trace);
    wintrace_sink_destroy(machine->windows_trace);
    verify_log_destroy(machine->log);
    free(machine->waits);
    host_losses_free(&machine->losses);
    if (machine->config.recorder)
        host_recorder_end(machine->config.recorder);
    free(machine);
}
