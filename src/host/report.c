/* SPDX-License-Identifier: MIT */
/* What a machine can be asked: severities, statistics, violations, the trace. */
#include "host/report.h"
#include "bus/device.h"
#include "bus/dma.h"
#include "dxgkhost/dxgkhost.h"
#include "host/device.h"
#include "host/driver.h"
#include "host/enter.h"
#include "host/machine_record.h"
#include "host/windows_trace.h"
#include "iommu/iommu.h"
#include "port/port.h"
#include "port/record/adapter_info.h"
#include "report/addresses.h"
#include "report/memory.h"
#include "report/residency.h"
#include "report/submissions.h"
#include "trace/trace.h"
#include "util/explain.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

#include <stdio.h>
#include <string.h>

bool dxgk_machine_set_severity(struct dxgk_machine *machine, const char *rule, int severity)
{
    if (!rule || !host_may_look(machine) || severity < VERIFY_NOTE || severity > VERIFY_FATAL)
        return false;
    return verify_set_severity(machine->log, rule, (enum verify_severity)severity);
}

/* ---- statistics ---- */

static void add_mm(struct vidmm_statistics *to, const struct vidmm_statistics *from)
{
    to->bytes_paged_in += from->bytes_paged_in;
    to->bytes_paged_out += from->bytes_paged_out;
    to->bytes_filled += from->bytes_filled;
    to->paging_operations += from->paging_operations;
    to->paging_buffers += from->paging_buffers;
    to->page_table_updates += from->page_table_updates;
    to->evictions += from->evictions;
    to->table_evictions += from->table_evictions;
    to->allocations_created += from->allocations_created;
}

static void add_sch(struct vidsch_statistics *to, const struct vidsch_statistics *from)
{
    to->submissions += from->submissions;
    to->paging_submissions += from->paging_submissions;
    to->patches += from->patches;
    to->preemptions += from->preemptions;
    to->engine_resets += from->engine_resets;
    to->adapter_resets += from->adapter_resets;
}

void host_report_count(struct host_totals *totals, struct port_adapter *adapter)
{
    struct vidmm_statistics mm;
    struct vidsch_statistics sch;

    memset(&mm, 0, sizeof(mm));
    memset(&sch, 0, sizeof(sch));
    if (port_adapter_vidmm(adapter))
        vidmm_statistics(port_adapter_vidmm(adapter), &mm);
    if (port_adapter_vidsch(adapter))
        vidsch_statistics(port_adapter_vidsch(adapter), &sch);
    add_mm(&totals->mm, &mm);
    add_sch(&totals->sch, &sch);
    if (port_adapter_domain(adapter))
        totals->iommu_maps += iommu_domain_map_count(port_adapter_domain(adapter));
    totals->ddi_calls += port_adapter_ddi(adapter)->calls;
}

static void fill(struct dxgk_statistics *s, const struct dxgk_machine *machine,
                 const struct host_totals *totals)
{
    const struct verify_bugcheck *bug = verify_bugcheck_state(machine->log);

    s->virtual_ns = machine->sim->now;
    s->submissions = totals->sch.submissions;
    s->paging_submissions = totals->sch.paging_submissions;
    s->patches = totals->sch.patches;
    s->page_table_updates = totals->mm.page_table_updates;
    s->bytes_paged_in = totals->mm.bytes_paged_in;
    s->bytes_paged_out = totals->mm.bytes_paged_out;
    s->iommu_maps = totals->iommu_maps;
    s->ddi_calls = totals->ddi_calls;
    s->evictions = totals->mm.evictions;
    s->table_evictions = totals->mm.table_evictions;
    s->preemptions = totals->sch.preemptions;
    s->engine_resets = totals->sch.engine_resets;
    s->adapter_resets = totals->sch.adapter_resets;
    LIST_FOR(node, &machine->devices) {
        const struct bus_device *bus = CONTAINER(node, struct host_device, link)->bus;

        s->iommu_faults += bus_device_faults(bus);
        s->interrupts += bus_device_interrupts(bus);
    }
    s->violations = verify_count(machine->log, VERIFY_ERROR);
    s->warnings = verify_count(machine->log, VERIFY_WARNING) - s->violations;
    s->client_errors = verify_client_errors(machine->log);
    s->leaks = machine->leaks;
    s->allocations_requested = machine->sim->heap.requests - machine->requests_at_creation;
    s->trace_records = machine->trace ? trace_records(machine->trace) : 0;
    s->bugcheck = bug->happened;
    s->bugcheck_code = bug->code;
    s->bugcheck_client = bug->client;
    memcpy(s->bugcheck_parameter, bug->parameter, sizeof(s->bugcheck_parameter));
}

void dxgk_machine_statistics(const struct dxgk_machine *machine, struct dxgk_statistics *statistics)
{
    struct dxgk_statistics s = {.size = sizeof(s)};
    struct host_totals totals;

    if (!statistics)
        return;
    *statistics = s;
    if (!host_may_look(machine))
        return;
    totals = machine->totals;
    LIST_FOR(node, &machine->adapters)
        host_report_count(&totals, CONTAINER(node, struct host_adapter, link)->port);
    fill(&s, machine, &totals);
    *statistics = s;
}

/* ---- violations ---- */

size_t dxgk_machine_violations(const struct dxgk_machine *machine)
{
    return host_may_look(machine) ? verify_records(machine->log) : 0;
}

struct dxgk_violation host_report_violation(const struct verify_record *record)
{
    static const char *const severity[][4] = {
        {"note", "warning", "error", "bug check"},
        {"client note", "client warning", "client error", "client bug check"}};

    return (struct dxgk_violation){
        .rule = record->rule,
        .severity = severity[record->client][record->severity],
        .seen = record->seen,
        .where = record->where,
        .thread = record->thread,
        .virtual_ns = record->time,
        .count = record->count,
        .stack = record->stack ? record->stack : "",
        .refuses = record->refuses,
        .undoing = record->undoing,
        .client = record->client,
    };
}

bool dxgk_machine_violation(const struct dxgk_machine *machine, size_t index,
                            struct dxgk_violation *violation)
{
    const struct verify_record *record = host_may_look(machine)
                                             ? verify_record_at(machine->log, index)
                                             : NULL;

    if (!record || !violation)
        return false;
    *violation = host_report_violation(record);
    return true;
}

/* ---- memory ---- */

enum { REPORTED_ADAPTERS = 16 };

bool dxgk_machine_write_memory(const struct dxgk_machine *machine, enum dxgk_memory_form form,
                               FILE *out)
{
    struct report_adapter adapters[REPORTED_ADAPTERS];
    char names[REPORTED_ADAPTERS][24];
    struct report_memory memory = {.adapters = adapters};

    if (!out || !host_may_look(machine))
        return false;
    memory.ram = machine->ram;
    memory.physical = port_physical_memory(machine->port);
    LIST_FOR(node, &machine->adapters) {
        struct port_adapter *port = CONTAINER(node, struct host_adapter, link)->port;
        size_t i = memory.adapter_count;

        if (i == REPORTED_ADAPTERS)
            break;
        snprintf(names[i], sizeof(names[i]), "adapter %zu", i);
        adapters[i] = (struct report_adapter){.name = names[i],
                                              .domain = port_adapter_domain(port),
                                              .physical = port_adapter_physical(port)};
        memory.adapter_count++;
    }
    return form == DXGK_MEMORY_SVG ? report_memory_svg(&memory, out)
                                   : report_memory_text(&memory, out);
}

static struct port_adapter *adapter_at(const struct dxgk_machine *machine, unsigned index)
{
    LIST_FOR(node, &machine->adapters) {
        if (index-- == 0)
            return CONTAINER(node, struct host_adapter, link)->port;
    }
    return NULL;
}

unsigned dxgk_machine_adapters(const struct dxgk_machine *machine)
{
    unsigned count = 0;

    if (!host_may_look(machine))
        return 0;
    LIST_FOR(node, &machine->adapters)
        count++;
    return count;
}

static const char *why_no_report(const struct dxgk_machine *machine, struct port_adapter *port,
                                 enum dxgk_report report)
{
    if (!port)
        return "it does not exist";
    if (!port_adapter_vidmm(port))
        return report == DXGK_REPORT_GPUVA
                   ? "it is of a display-only driver, so there are no GPU address spaces"
               : report == DXGK_REPORT_RESIDENCY
                   ? "it is of a display-only driver, so there are no segments"
                   : "it is of a display-only driver, so nothing is submitted to it";
    if (report == DXGK_REPORT_SUBMISSIONS)
        return machine->config.journal ? NULL : "no journal was kept";
    return machine->config.chronicle ? NULL : "no chronicle was kept";
}

bool dxgk_machine_has_report(const struct dxgk_machine *machine, unsigned adapter,
                             enum dxgk_report report, char *error, size_t error_bytes)
{
    const bool may = host_may_look(machine);
    const char *why = may ? why_no_report(machine, adapter_at(machine, adapter), report)
                          : "another host thread uses the machine";

    if (!why)
        return true;
    util_explain(error, error_bytes, "adapter %u: %s", adapter, why);
    return false;
}

bool dxgk_machine_write_report(const struct dxgk_machine *machine, unsigned adapter,
                               enum dxgk_report report, enum dxgk_memory_form form, FILE *out)
{
    static bool (*const writers[2][2])(const struct vidmm *, const char *, uint64_t, FILE *) = {
        [DXGK_REPORT_GPUVA] = {report_addresses_text, report_addresses_svg},
        [DXGK_REPORT_RESIDENCY] = {report_residency_text, report_residency_svg},
    };
    struct port_adapter *port;
    struct vidmm *vidmm;
    char name[24];

    if (!out || !host_may_look(machine))
        return false;
    port = adapter_at(machine, adapter);
    snprintf(name, sizeof(name), "adapter %u", adapter);
    if (report == DXGK_REPORT_SUBMISSIONS) {
        const struct vidsch *vidsch = port ? port_adapter_vidsch(port) : NULL;
        const struct journal *journal = vidsch ? vidsch_journal(vidsch) : NULL;

        return journal && form == DXGK_MEMORY_TEXT && report_submissions_text(journal, name, out);
    }
    if (!machine->config.chronicle)
        return false;
    vidmm = port ? port_adapter_vidmm(port) : NULL;
    if (!vidmm)
        return false;
    return writers[report][form](vidmm, name, machine->sim->now, out);
}

bool dxgk_machine_write_trace(const struct dxgk_machine *machine, FILE *out)
{
    return out && host_may_look(machine) && machine->trace && trace_write_json(machine->trace, out);
}

bool host_report_timeline(const struct trace_sink *sink, const struct verify_log *log, FILE *out)
{
    struct trace_mark marks[HOST_TIMELINE_MARKS];
    const struct verify_record *record;
    size_t count = 0;

    while (log && count < HOST_TIMELINE_MARKS && (record = verify_record_at(log, count)) != NULL) {
        const struct dxgk_violation violation = host_report_violation(record);

        marks[count++] = (struct trace_mark){violation.virtual_ns, violation.rule};
    }
    return trace_write_svg(sink, marks, count, out);
}

bool dxgk_machine_write_timeline(const struct dxgk_machine *machine, FILE *out)
{
    return out && host_may_look(machine) && machine->trace &&
           host_report_timeline(machine->trace, machine->log, out);
}

bool dxgk_machine_write_dxgkrnl(const struct dxgk_machine *machine, enum dxgk_windows_trace form,
                                FILE *out)
{
    return out && host_may_look(machine) &&
           host_windows_trace_write(machine->windows_trace, form, out);
}
