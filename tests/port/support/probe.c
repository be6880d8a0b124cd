/* SPDX-License-Identifier: MIT */
/* The machine around the probe, its default answers, and what a test asks of the records. */
#include "bus/bus.h"
#include "bus/device.h"
#include "ddi/ddi.h"
#include "iommu/iommu.h"
#include "nt/io/image_life.h"
#include "nt/nt.h"
#include "nt/ps/process.h"
#include "nt/ps/thread.h"
#include "physmem/physical_memory.h"
#include "port/support/probe.h"
#include "port/support/probe_levels.h"
#include "port/support/probe_driver.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct probe *probe;

/* ---- default answers: a small WDDM 2.9 render adapter ---- */

static void default_caps(struct probe *p)
{
    DXGK_DRIVERCAPS *caps = &p->caps;

    caps->HighestAcceptableAddress.QuadPart = (1ll << 40) - 1;
    caps->MaxAllocationListSlotId = 1;
    caps->PresentationCaps.SupportKernelModeCommandBuffer = 1;
    caps->FlipCaps.FlipOnVSyncMmIo = 1;
    caps->FlipCaps.FlipIndependent = 1;
    caps->SchedulingCaps.MultiEngineAware = 1;
    caps->SchedulingCaps.PreemptionAware = 1;
    caps->MemoryManagementCaps.VirtualAddressingSupported = 1;
    caps->MemoryManagementCaps.GpuMmuSupported = 1;
    caps->MemoryManagementCaps.IoMmuSecureModeSupported = 1;
    caps->MemoryManagementCaps.MapAperture2Supported = 1;
    caps->GpuEngineTopology.NbAsymetricProcessingNodes = 2;
    caps->WDDMVersion = DXGKDDI_WDDMv2_9;
    caps->PreemptionCaps.GraphicsPreemptionGranularity =
        D3DKMDT_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY;
    caps->PreemptionCaps.ComputePreemptionGranularity =
        D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY;
    caps->SupportPerEngineTDR = TRUE;
    p->device_wddm = DXGKDDI_WDDMv2_9;
    p->physical.NumExecutionNodes = 2;
    p->physical.PagingNodeIndex = 1;
    p->physical.Flags.GpuMmuSupported = 1;
    p->memory.HighestVisibleAddress.QuadPart = (1ll << 40) - 1;
    p->iommu.IommuIsolationSupported = 1;
    p->iommu.DmaRemappingSupported = 1;
    p->history_bits = 64;
}

static void default_memory(struct probe *p)
{
    p->segments = 2;
    p->segment[0].Size = 16u << 20;
    p->segment[0].CommitLimit = 16u << 20;
    p->segment[0].Flags.CpuVisible = 1;
    p->segment[0].Flags.LocalBudgetGroup = 1;
    p->segment[1].BaseAddress.QuadPart = 1ll << 32;
    p->segment[1].Size = 16u << 20;
    p->segment[1].CommitLimit = 16u << 20;
    p->segment[1].Flags.Aperture = 1;
    p->segment[1].Flags.CacheCoherent = 1;
    p->segment[1].Flags.NonLocalBudgetGroup = 1;
    p->paging_bytes = 0x10000;
    p->mmu.ZeroInPteSupported = 1;
    p->mmu.ReadOnlyMemorySupported = 1;
    p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_PHYSICAL;
    p->mmu.VirtualAddressBitCount = 48;
    p->mmu.LeafPageTableSizeFor64KPagesInBytes = 4096;
    p->mmu.PageTableLevelCount = 4;
    for (unsigned i = 0; i < 8; i++) {
        p->level[i].PageTableIndexBitCount = 9;
        p->level[i].PageTableSegmentId = 1;
        p->level[i].PagingProcessPageTableSegmentId = 1;
        p->level[i].PageTableSizeInBytes = 4096;
        p->level[i].PageTableAlignmentInBytes = 4096;
    }
    /* Node 0 is physical, the others are virtual; node 1 pages. */
    for (unsigned i = 0; i <= PROBE_MAX_NODES; i++) {
        p->node[i].EngineType = i ? DXGK_ENGINE_TYPE_COPY : DXGK_ENGINE_TYPE_3D;
        p->node[i].GpuMmuSupported = i != 0;
    }
}

/* Three states each; none of them is there unless p->components says so. */
static void default_components(struct probe *p)
{
    for (unsigned i = 0; i < 8; i++) {
        DXGK_POWER_RUNTIME_COMPONENT *c = &p->component[i];

        c->StateCount = 3;
        c->States[0].NominalPower = 100;
        c->States[1].TransitionLatency = 10;
        c->States[1].ResidencyRequirement = 100;
        c->States[1].NominalPower = 50;
        c->States[2].TransitionLatency = 1000;
        c->States[2].ResidencyRequirement = 10000;
        c->States[2].NominalPower = 5;
        c->ComponentMapping.ComponentType = DXGK_POWER_COMPONENT_OTHER;
    }
    for (unsigned i = 0; i < 8; i++) {
        p->bad_range[i].SegmentOffset = 0x10000 * (i + 1);
        p->bad_range[i].SizeInBytes = 0x1000;
    }
}

void probe_use_components(struct probe *p, UINT count)
{
    p->components = count;
    p->caps.SupportRuntimePowerManagement = TRUE;
    probe_set_entry(p, PROBE_SetPowerComponentFState, true);
    probe_set_entry(p, PROBE_PowerRuntimeControlRequest, true);
}

static void default_entries(struct probe *p)
{
    static const enum probe_ddi present[] = {
        PROBE_AddDevice,
        PROBE_StartDevice,
        PROBE_StopDevice,
        PROBE_RemoveDevice,
        PROBE_InterruptRoutine,
        PROBE_DpcRoutine,
        PROBE_SetPowerState,
        PROBE_ResetDevice,
        PROBE_Unload,
        PROBE_ControlEtwLogging,
        PROBE_QueryAdapterInfo,
        PROBE_GetNodeMetadata,
        PROBE_CreateProcess,
        PROBE_DestroyProcess,
        PROBE_CreateDevice,
        PROBE_DestroyDevice,
        PROBE_CreateContext,
        PROBE_DestroyContext,
        PROBE_SetRootPageTable,
        PROBE_GetRootPageTableSize,
        PROBE_CreateAllocation,
        PROBE_DestroyAllocation,
        PROBE_DescribeAllocation,
        PROBE_GetStandardAllocationDriverData,
        PROBE_OpenAllocation,
        PROBE_CloseAllocation,
        PROBE_Render,
        PROBE_Patch,
        PROBE_SubmitCommand,
        PROBE_SubmitCommandVirtual,
        PROBE_PreemptCommand,
        PROBE_CancelCommand,
        PROBE_BuildPagingBuffer,
        PROBE_QueryDependentEngineGroup,
        PROBE_QueryEngineStatus,
        PROBE_ResetEngine,
        PROBE_ResetFromTimeout,
        PROBE_RestartFromTimeout,
        PROBE_CollectDbgInfo,
        PROBE_BeginExclusiveAccess,
        PROBE_EndExclusiveAccess,
    };

    for (size_t i = 0; i < sizeof(present) / sizeof(present[0]); i++)
        probe_set_entry(p, present[i], true);
}

void probe_make_compute_only(struct probe *p)
{
    static const enum probe_ddi more[] = {
        PROBE_QueryChildRelations, PROBE_QueryChildStatus,      PROBE_QueryDeviceDescriptor,
        PROBE_SetStablePowerState, PROBE_SetVirtualMachineData, PROBE_CalibrateGpuClock,
        PROBE_FormatHistoryBuffer,
    };

    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
        probe_set_entry(p, more[i], true);
    p->caps.MiscCaps.ComputeOnly = 1;
    p->caps.MaxAllocationListSlotId = 0;
    p->caps.PresentationCaps.Value = 0;
    p->caps.FlipCaps.Value = 0;
    p->caps.SchedulingCaps.LowIrqlPreemptCommand = 1;
    p->node[0].EngineType = DXGK_ENGINE_TYPE_OTHER;
    p->node[0].FriendlyName[0] = L'c';
}

void probe_make_1x(struct probe *p)
{
    DXGK_VIDMMCAPS *m = &p->caps.MemoryManagementCaps;

    m->VirtualAddressingSupported = m->GpuMmuSupported = m->MapAperture2Supported = 0;
    p->caps.WDDMVersion = p->device_wddm = (DXGK_WDDMVERSION)0;
    p->physical.Flags.GpuMmuSupported = 0;
    for (unsigned i = 0; i <= PROBE_MAX_NODES; i++)
        p->node[i].GpuMmuSupported = FALSE;
    p->segment[1].Flags.NonLocalBudgetGroup = 0;
    p->segment[0].Flags.ApplicationTarget = p->segment[0].Flags.LocalBudgetGroup = 0;
}

void probe_add_display_entries(struct probe *p)
{
    DRIVER_INITIALIZATION_DATA own = p->table;

    for (unsigned i = 0; i < PROBE_DDI_COUNT; i++) {
        switch (i) {
        case PROBE_LinkDevice: /* not about displays: as they were */
        case PROBE_CancelCommand:
        case PROBE_SetPowerComponentFState:
        case PROBE_PowerRuntimeControlRequest:
        case PROBE_NotifySurpriseRemoval:
        case PROBE_ExchangePreStartInfo:
        case PROBE_QueryCurrentFence:
            break;
        default:
            probe_set_entry(p, (enum probe_ddi)i, true);
        }
    }
    p->table.Version = own.Version;
}

/* ---- the machine ---- */

static bool symbolize(uintptr_t pc, char *text, size_t bytes)
{
    Dl_info info;

    /* What stands in the test program and is no room of the host counts as the driver's. */
    if (!dladdr((void *)pc, &info) || !info.dli_sname || strncmp(info.dli_sname, "probe_", 6) != 0)
        return false;
    snprintf(text, bytes, "%s+0x%zx", info.dli_sname, (size_t)(pc - (uintptr_t)info.dli_saddr));
    return true;
}

static void add_devices(struct probe *p)
{
    struct dxgk_device_config config = {0};
    struct bus_refusal error = {.text = ""};

    if (probe)
        probe_device_forget();
    while (p->options.device && p->options.device[config.count])
        config.count++;
    config.option = p->options.device;
    p->devices = p->options.adapters ? p->options.adapters : 1;
    for (unsigned i = 0; i < p->devices; i++) {
        p->device[i] = bus_device_add(p->bus, &probe_device_model, &config, &error);
        if (!p->device[i])
            fail_msg("%s", error.text);
    }
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Threads that come to their end are gone after this, and tables of the machine that grow have done
 * so. */
static void settle(void)
{
    sim_thread_release(sim_thread_create("nothing", SIM_THREAD_KERNEL, nothing, NULL));
    (void)sim_run(NULL, NULL, sim_now() + 1000000);
}

#define SILENT_BYTES 160

static struct refusal last;
const char *probe_refused_call, *probe_refused_rule, *probe_refused_text;

/* No callback, nor call of a client, fails without a reason. */
static void refused(void *context, const char *call, const struct refusal *refusal)
{
    char *silent = context;

    last = *refusal;
    probe_refused_call = call;
    probe_refused_rule = last.rule ? last.rule : "";
    probe_refused_text = last.text;
    if (!refusal->text[0])
        snprintf(silent, SILENT_BYTES, "%s failed with 0x%08x without a reason", call,
                 (unsigned)refusal->status);
}

static char silent_call[SILENT_BYTES];
static const struct refusal_sink sink = {refused, silent_call};

struct probe *probe_create(const struct probe_options *options)
{
    struct probe *p = calloc(1, sizeof(*p));
    struct sim_config sim = {0};
    struct ram_config ram = {0};
    struct nt_config nt = {0};
    const struct ddi_hooks hooks = {.symbolize = symbolize};
    struct port_config port;

    if (options)
        p->options = *options;
    sim.seed = p->options.seed ? p->options.seed : 1;
    sim.processors = p->options.processors ? p->options.processors : 2;
    sim.watchdog_ms = p->options.watchdog_ms;
    ram.bytes = p->options.ram_bytes ? p->options.ram_bytes : 64u << 20;
    p->sim = sim_machine_create(&sim);
    if (!p->sim)
        fail_msg("no machine");
    sim_enter(p->sim);
    settle();
    p->blocks = p->sim->heap.live_blocks;
    p->log = verify_log_create();
    verify_log_install(p->log);
    silent_call[0] = 0;
    probe_refused_call = NULL;
    refusal_sink = &sink;
    verify_set_strict(p->log, p->options.strict);
    p->ram = ram_create(&ram);
    p->bus = bus_create(p->ram);
    nt.ram = p->ram;
    nt.bus = p->bus;
    nt.force_irql = p->options.force_irql;
    nt.special_pool = p->options.special_pool;
    nt.pool_limit = p->options.pool_limit;
    p->nt = nt_create(&nt);
    ddi_install(&hooks);
    p->image = nt_image_create("probe");
    port = p->options.port;
    port.ram = p->ram;
    port.bus = p->bus;
    port.check_patches = true;
    if (!port.tdr.level)
        port.tdr.level = 3;
    if (!p->ram || !p->bus || !p->nt || !p->image || !NT_SUCCESS(port_create(&port, &p->port)))
        fail_msg("no rooms");
    probe_device_packet_ns = 1000;
    probe_driver_begin();
    add_devices(p);
    p->table.Version = p->options.version ? p->options.version : DXGKDDI_INTERFACE_VERSION_WDDM2_9;
    default_caps(p);
    default_memory(p);
    default_components(p);
    default_entries(p);
    probe = p;
    return p;
}

void probe_destroy(struct probe *p)
{
    if (!p->sim->stopped && p->driver)
        (void)probe_stop(p);
    probe_check_levels(p);
    for (unsigned i = 0; i < p->devices; i++)
        bus_device_remove(p->device[i]);
    if (!p->sim->stopped)
        settle();
    port_destroy(p->port);
    if (!p->sim->stopped)
        nt_image_destroy(p->image);
    nt_destroy(p->nt);
    bus_destroy(p->bus);
    ram_destroy(p->ram);
    ddi_uninstall();
    if (!p->sim->stopped && p->sim->heap.live_blocks != p->blocks)
        fail_msg("%lld blocks of memory are left",
                 (long long)(p->sim->heap.live_blocks - p->blocks));
    verify_log_install(NULL);
    refusal_sink = NULL;
    sim_leave();
    sim_machine_destroy(p->sim);
    verify_log_destroy(p->log);
    probe_forget(p);
    free(p->call);
    free(p);
    probe = NULL;
    if (silent_call[0])
        fail_msg("%s", silent_call);
}

/* ---- running ---- */

struct run {
    struct probe *p;
    void (*body)(struct probe *p);
    bool done;
};

static void run_main(void *arg)
{
    struct run *run = arg;
    struct util_heap *heap = &run->p->sim->heap;

    if (run->p->fail_allocation)
        heap->fail_at = heap->requests + run->p->fail_allocation;
    heap->fail_onward = run->p->fail_onward;
    run->body(run->p);
    heap->fail_at = 0;
    heap->fail_onward = false;
    run->p->fail_allocation = 0;
    run->p->fail_onward = false;
    run->done = true;
}

static bool run_done(void *arg)
{
    return ((struct run *)arg)->done;
}

enum sim_outcome probe_run(struct probe *p, void (*body)(struct probe *p))
{
    struct run run = {p, body, false};
    struct sim_thread *thread = sim_thread_create("system", SIM_THREAD_KERNEL, run_main, &run);
    enum sim_outcome outcome;

    if (!thread)
        fail_msg("no thread");
    outcome = sim_run(run_done, &run, sim_now() + 3600 * PROBE_SECOND);
    sim_thread_release(thread);
    return outcome;
}

struct probe *probe_started(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

void probe_end(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_run(p, body) == SIM_DONE);
    probe_destroy(p);
}

struct nt_process *probe_process(struct probe *p, const char *name)
{
    struct nt_process *process = nt_process_create(name);

    (void)p;
    if (!process)
        fail_msg("no process");
    return process;
}

struct client {
    struct probe *p;
    void (*body)(struct probe *p);
};

static void client_main(void *arg)
{
    struct client client = *(struct client *)arg;

    free(arg);
    client.body(client.p);
}

struct sim_thread *probe_thread(struct probe *p, struct nt_process *process, const char *name,
                                void (*body)(struct probe *p))
{
    struct client *client = malloc(sizeof(*client));
    struct sim_thread *thread;

    *client = (struct client){p, body};
    thread = nt_client_thread_create(process, name, client_main, client);
    if (!thread)
        fail_msg("no thread");
    return thread;
}

void probe_sleep(uint64_t ns)
{
    sim_block(sim_now() + ns, NULL);
}

/* ---- life ---- */

NTSTATUS probe_load(struct probe *p)
{
    return port_driver_start(p->port, "probe", p->image, probe_driver_entry, &p->driver);
}

NTSTATUS probe_add(struct probe *p, unsigned device)
{
    struct port_adapter *adapter;
    NTSTATUS status = port_adapter_add(p->driver, p->device[device], &adapter);

    if (NT_SUCCESS(status))
        p->adapter[p->adapters++] = adapter;
    return status;
}

void probe_remove(struct probe *p, unsigned adapter)
{
    port_adapter_remove(p->adapter[adapter]);
    memmove(&p->adapter[adapter], &p->adapter[adapter + 1],
            (--p->adapters - adapter) * sizeof(p->adapter[0]));
}

struct started {
    struct probe *p;
    NTSTATUS status;
    uint64_t left;
};

static struct started started; /* of the one probe */

static void start_body(struct probe *p)
{
    started.status = probe_load(p);
    for (unsigned i = 0; i < p->devices && NT_SUCCESS(started.status); i++)
        started.status = probe_add(p, i);
}

NTSTATUS probe_start(struct probe *p)
{
    enum sim_outcome outcome;

    started.status = STATUS_UNSUCCESSFUL;
    outcome = probe_run(p, start_body);
    if (outcome == SIM_STOPPED)
        return STATUS_DEVICE_REMOVED;
    if (outcome != SIM_DONE)
        fail_msg("the start did not end: %d", (int)outcome);
    return started.status;
}

void probe_validate(const struct probe *p)
{
    CHECK(ram_validate(p->ram) && physical_memory_validate(port_physical_memory(p->port)));
    for (unsigned i = 0; i < p->adapters; i++) {
        const struct ddi_adapter *ddi = port_adapter_ddi(p->adapter[i]);
        struct vidmm *vidmm = vidmm_of_adapter(ddi);
        struct vidsch *vidsch = vidsch_of_adapter(ddi);

        CHECK(iommu_validate(port_adapter_domain(p->adapter[i])));
        CHECK((!vidmm || vidmm_validate(vidmm)) && (!vidsch || vidsch_validate(vidsch)));
    }
}

static void stop_body(struct probe *p)
{
    probe_validate(p);
    while (p->adapters)
        probe_remove(p, p->adapters - 1);
    if (p->driver)
        started.left = port_driver_stop(p->driver);
    p->driver = NULL;
}

uint64_t probe_stop(struct probe *p)
{
    started.left = 0;
    if (probe_run(p, stop_body) == SIM_DEADLOCK)
        fail_msg("the stop did not end");
    return started.left;
}

/* ---- records ---- */

size_t probe_count(const struct probe *p, enum probe_ddi ddi)
{
    size_t count = 0;

    for (size_t i = 0; i < p->calls; i++)
        count += p->call[i]->ddi == ddi;
    return count;
}

const struct probe_call *probe_nth(const struct probe *p, enum probe_ddi ddi, size_t n)
{
    for (size_t i = 0; i < p->calls; i++)
        if (p->call[i]->ddi == ddi && n-- == 0)
            return p->call[i];
    fail_msg("no such call of DDI %d", (int)ddi);
    return NULL;
}

const struct probe_call *probe_query(const struct probe *p, DXGK_QUERYADAPTERINFOTYPE type, size_t n)
{
    for (size_t i = 0; i < p->calls; i++)
        if (p->call[i]->ddi == PROBE_QueryAdapterInfo && p->call[i]->query_type == type && n-- == 0)
            return p->call[i];
    return NULL;
}

size_t probe_queries(const struct probe *p, DXGK_QUERYADAPTERINFOTYPE type)
{
    size_t count = 0;

    while (probe_query(p, type, count))
        count++;
    return count;
}

void probe_forget(struct probe *p)
{
    for (size_t i = 0; i < p->calls; i++)
        free(p->call[i]);
    p->calls = 0;
}

uint64_t probe_rule(const struct probe *p, const char *rule)
{
    return verify_rule_count(p->log, rule);
}

bool probe_said(const struct probe *p, const char *rule, const char *part)
{
    for (size_t i = 0; i < verify_records(p->log); i++) {
        const struct verify_record *record = verify_record_at(p->log, i);

        if (strcmp(record->rule, rule) == 0 && strstr(record->seen, part))
            return true;
    }
    return false;
}

const struct verify_record *probe_record(const struct probe *p, const char *rule)
{
    for (size_t i = 0; i < verify_records(p->log); i++)
        if (strcmp(verify_record_at(p->log, i)->rule, rule) == 0)
            return verify_record_at(p->log, i);
    fail_msg("no record of %s", rule);
    return NULL;
}

size_t probe_reports(const struct probe *p, enum verify_severity at_least)
{
    return verify_count(p->log, at_least);
}

struct probe_adapter *probe_adapter_of(struct probe *p, uint64_t context)
{
    for (unsigned i = 0; i < p->added; i++)
        if ((uint64_t)(uintptr_t)p->state[i].context == context)
            return &p->state[i];
    return NULL;
}
