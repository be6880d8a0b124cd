/* SPDX-License-Identifier: MIT */
#include "bus/bus.h"
#include "ddi/state.h"
#include "nt/base/current.h"
#include "nt/base/nt_config.h"
#include "nt/nt.h"
#include "nt/ps/process.h"
#include "nt/ps/thread.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "vidsch/support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine ---- */

static void loss(struct ddi_adapter *adapter, const char *line)
{
    struct fixture *f = adapter->context;

    if (f->losses < 4)
        snprintf(f->loss[f->losses], sizeof(f->loss[0]), "%s", line);
    f->losses++;
}

static void keep_waits(void *context, const char *line)
{
    struct fixture *f = context;
    size_t used = strlen(f->waits);

    snprintf(f->waits + used, sizeof(f->waits) - used, "%s\n", line);
}

static void configure(struct fixture *f)
{
    const struct fixture_options *o = &f->options;
    struct vidsch_config *c = &f->config;

    c->ddi = &f->ddi;
    c->ram = f->ram;
    c->domain = f->domain;
    c->wddm_version = o->version ? o->version : DXGKDDI_INTERFACE_VERSION_WDDM2_9;
    c->nodes = o->nodes ? o->nodes : o->single_engine ? 1 : 2;
    c->node = f->info;
    c->paging_node = o->physical_paging || o->single_engine ? 0 : 1;
    c->aperture_segment_set = o->aperture_set;
    c->caps.MultiEngineAware = !o->single_engine;
    c->caps.PreemptionAware = !o->no_preemption && !o->single_engine;
    c->caps.NoDmaPatching = o->no_dma_patching;
    c->max_allocation_list_slot = o->max_slot;
    c->split_dma_buffers = o->split;
    c->caps.CancelCommandAware = o->cancel_aware;
    c->caps.HwQueuePacketCap = o->packet_cap & 15u;
    c->caps.No64BitAtomics = o->no_64bit_atomics;
    c->required_dma_queue_entry = o->depth;
    c->paging_buffer_bytes = 12288;
    c->paging_buffer_private_bytes = 24;
    c->per_engine_tdr = !o->no_engine_reset;
    c->displays = o->displays;
    c->tdr = o->tdr;
    c->policy = o->policy;
    c->loss = loss;
    for (uint32_t i = 0; i < c->nodes; i++) {
        f->info[i].virtual_addressing = !o->single_engine &&
                                        ((o->virtual_mask ? o->virtual_mask : 2) >> i & 1);
        f->info[i].metadata.GpuMmuSupported = f->info[i].virtual_addressing;
        f->info[i].metadata.FriendlyName[0] = 'x';
    }
}

static void warm(void *arg)
{
    (void)arg;
    (void)ddi_track(LEVEL_ZERO);
}

/* Make the room grow to what it needs at most, since it keeps that. */
static void warm_ram(struct ram *ram)
{
    enum { PIECES = 600 };
    static struct page_number pages[PIECES];
    void *views[64];
    struct ram_request request = {.pages = 1};

    for (int i = 0; i < PIECES; i++)
        ram_take_contiguous(ram, &request, &pages[i]);
    for (int i = 0; i < 64; i++)
        views[i] = ram_view_reserve(ram, 2);
    for (int i = 0; i < 64; i++)
        ram_view_release(ram, views[i], 2);
    for (int i = 0; i < PIECES; i += 2)
        ram_give_contiguous(ram, pages[i], 1);
    for (int i = 1; i < PIECES; i += 2)
        ram_give_contiguous(ram, pages[i], 1);
}

static bool build(struct fixture *f)
{
    static const struct ddi_hooks hooks;
    struct sim_config sim = {.seed = f->options.seed ? f->options.seed : 1, .processors = 2};
    struct ram_config ram = {.bytes = 64u << 20};
    struct nt_config nt = {0};
    DRIVER_INITIALIZATION_DATA table;

    f->sim = sim_machine_create(&sim);
    sim_enter(f->sim);
    f->log = verify_log_create();
    verify_log_install(f->log);
    f->ram = ram_create(&ram);
    warm_ram(f->ram);
    f->bus = bus_create(f->ram);
    ddi_install(&hooks);
    sim_thread_release(sim_thread_create("warm", SIM_THREAD_KERNEL, warm, NULL));
    sim_run(NULL, NULL, 1); /* what the machine itself keeps is there now */
    f->blocks = f->sim->heap.live_blocks;
    nt.ram = f->ram;
    nt.bus = f->bus;
    nt.waits = keep_waits;
    nt.waits_context = f;
    f->nt = nt_create(&nt);
    f->domain = iommu_domain_create(f->ram, f->options.wide_iommu ? IOMMU_REMAP : IOMMU_OFF,
                                    (struct logical_addr){UINT32_MAX});
    driver_table(&table);
    if (f->options.create_process)
        table.DxgkDdiCreateProcess = driver_create_process;
    if (f->options.no_query_fence)
        table.DxgkDdiQueryCurrentFence = NULL;
    ddi_adapter_init(&f->ddi, &table, NULL, "fake");
    f->ddi.context = f;
    f->ddi.compute_only = f->options.compute_only;
    f->mm.ddi = &f->ddi;
    f->mm.paging.nt = nt_process_system();
    f->process = nt_process_create("client");
    f->client = (struct vidmm_process){.nt = f->process, .driver_handle = (HANDLE)(uintptr_t)0x77};
    f->other_process = nt_process_create("other");
    f->other_client = (struct vidmm_process){.nt = f->other_process,
                                             .driver_handle = (HANDLE)(uintptr_t)0x78};
    driver_init(f);
    configure(f);
    return f->sim && f->ram && f->nt && f->process;
}

static void client_main(void *arg)
{
    struct fixture *f = arg;
    struct sim_mark mark;

    if (SIM_RECOVER(&mark))
        return;
    if (f->options.fail_start)
        f->sim->heap.fail_at = f->sim->heap.requests + f->options.fail_start;
    f->start_status = vidsch_start(f->vidsch);
    f->sim->heap.fail_at = 0;
    if (NT_SUCCESS(f->start_status)) {
        f->body(f);
        if (!vidsch_validate(f->vidsch))
            fail_msg("vidsch_validate");
        vidsch_quiesce(f->vidsch);
        vidsch_stop(f->vidsch);
    } else {
        f->body(f);
    }
    sim_unmark(&mark);
    f->finished = true;
}

static bool is_finished(void *arg)
{
    return ((struct fixture *)arg)->finished;
}

/* What build() made after it had counted the blocks. */
static void pull_down(struct fixture *f)
{
    if (!f->domain)
        return;
    iommu_domain_destroy(f->domain);
    f->domain = NULL;
    ddi_adapter_finish(&f->ddi);
    nt_destroy(f->nt);
}

struct fixture *fixture_run(const struct fixture_options *options, void (*body)(struct fixture *f))
{
    struct fixture *f = calloc(1, sizeof(*f));
    struct sim_thread *thread;
    uint64_t pages;

    if (options)
        f->options = *options;
    if (!f->options.tdr.level && !f->options.tdr.delay) {
        f->options.tdr.level = 3;
        f->options.tdr.debug_mode = 2;
        f->options.tdr.enable_preemption = true;
    }
    if (!build(f))
        fail_msg("no machine");
    pages = ram_free_pages(f->ram);
    f->body = body;
    if (f->options.prepare)
        f->options.prepare(f);
    if (vidsch_create(&f->config, &f->vidsch) != STATUS_SUCCESS)
        fail_msg("vidsch_create");
    thread = nt_client_thread_create(f->process, "client", client_main, f);
    sim_run(is_finished, f, 3600 * SECOND);
    sim_thread_release(thread);
    if (verify_bugcheck_state(f->log))
        f->bug = *verify_bugcheck_state(f->log);
    if (f->finished) {
        vidsch_destroy(f->vidsch);
        sim_run(NULL, NULL, f->sim->now + 1);
        f->mapped = iommu_domain_mapped_pages(f->domain);
        f->pages_lost = pages - ram_free_pages(f->ram);
        pull_down(f);
        f->leaked = f->sim->heap.live_blocks - f->blocks;
    }
    return f;
}

void fixture_close(struct fixture *f)
{
    pull_down(f);
    verify_log_install(NULL);
    verify_log_destroy(f->log);
    bus_destroy(f->bus);
    ram_destroy(f->ram);
    sim_leave();
    sim_machine_destroy(f->sim);
    free(f);
}

void fixture_check(const struct fixture_options *options, void (*body)(struct fixture *f))
{
    struct fixture *f = fixture_run(options, body);

    if (f->bug.happened)
        fail_msg("bug check 0x%x by %s", f->bug.code, f->bug.rule);
    if (!f->finished)
        fail_msg("the body did not come to its end");
    if (f->leaked)
        fail_msg("%llu blocks leaked", (unsigned long long)f->leaked);
    if (f->pages_lost)
        fail_msg("%llu pages of memory leaked", (unsigned long long)f->pages_lost);
    if (f->mapped)
        fail_msg("%llu pages are still mapped for the device", (unsigned long long)f->mapped);
    fixture_close(f);
}

void fixture_expect_bugcheck(const struct fixture_options *options, void (*body)(struct fixture *f),
                             const char *rule, uint32_t code, uint64_t parameter)
{
    struct fixture *f = fixture_run(options, body);

    if (!f->bug.happened)
        fail_msg("%s does not hold: no bug check", rule);
    if (f->bug.code != code || f->bug.parameter[0] != parameter || strcmp(f->bug.rule, rule) != 0)
        fail_msg("%s does not hold: bug check 0x%x/0x%llx by %s", rule, f->bug.code,
                 (unsigned long long)f->bug.parameter[0], f->bug.rule);
    fixture_close(f);
}

uint64_t violations(const struct fixture *f, const char *rule)
{
    return verify_rule_count(f->log, rule);
}

bool reported(const struct fixture *f, const char *rule, const char *text)
{
    const struct verify_record *record;

    for (size_t i = 0; (record = verify_record_at(f->log, i)) != NULL; i++)
        if (strcmp(record->rule, rule) == 0 && strcmp(record->seen, text) == 0)
            return true;
    for (size_t i = 0; (record = verify_record_at(f->log, i)) != NULL; i++)
        if (strcmp(record->rule, rule) == 0)
            printf("    got      %s\n    expected %s\n", record->seen, text);
    return false;
}

bool refused_for(const struct refusal *refusal, const char *rule, const char *text)
{
    const char *got = refusal->rule ? refusal->rule : "";

    if (strcmp(got, rule ? rule : "") == 0 && strcmp(refusal->text, text) == 0)
        return true;
    printf("    got      %s: %s\n    expected %s: %s\n", got, refusal->text, rule ? rule : "", text);
    return false;
}

/* ---- shorthands ---- */

void idle(struct vidsch_device *device)
{
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS);
}

struct vidsch_device *make_device(struct fixture *f)
{
    return make_device_of(f, &f->client);
}

struct vidsch_device *make_device_of(struct fixture *f, struct vidmm_process *process)
{
    D3DKMT_CREATEDEVICEFLAGS flags = {0};
    struct vidsch_device *device = NULL;
    NTSTATUS status = vidsch_device_create(f->vidsch, process, &flags, &device);

    if (status != STATUS_SUCCESS)
        fail_msg("vidsch_device_create: 0x%08x", (unsigned)status);
    return device;
}

struct vidsch_context *make_context(struct vidsch_device *device, UINT node)
{
    struct vidsch_context_request request = {
        .node = node,
        .virtual_addressing = device->vidsch->node[node].info.virtual_addressing,
    };
    struct vidsch_context *context = NULL;
    NTSTATUS status = vidsch_context_create(device, &request, &context);

    if (status != STATUS_SUCCESS)
        fail_msg("vidsch_context_create: 0x%08x", (unsigned)status);
    return context;
}

struct vidsch_sync *make_fence(struct vidsch_device *device, UINT64 value)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE};
    struct vidsch_sync *sync = NULL;
    NTSTATUS status;

    info.MonitoredFence.InitialFenceValue = value;
    status = vidsch_sync_create(device, &info, &sync);
    if (status != STATUS_SUCCESS)
        fail_msg("vidsch_sync_create: 0x%08x", (unsigned)status);
    return sync;
}

NTSTATUS submit(struct vidsch_context *context, D3DGPU_VIRTUAL_ADDRESS va, UINT bytes)
{
    D3DKMT_SUBMITCOMMAND args = {.Commands = va, .CommandLength = bytes};

    return vidsch_submit_command(&context, 1, &args, NULL);
}

NTSTATUS render(struct vidsch_context *context, UINT bytes)
{
    D3DKMT_RENDER args = {.CommandLength = bytes};

    return vidsch_render(context, &args);
}

NTSTATUS wait_gpu(struct vidsch_context *context, struct vidsch_sync *sync, UINT64 value)
{
    return vidsch_sync_wait_gpu(context, &sync, &value, 1);
}

NTSTATUS signal_gpu(struct vidsch_context *context, struct vidsch_sync *sync, UINT64 value)
{
    return vidsch_sync_signal_gpu(&context, 1, &sync, &value, 1, (D3DDDICB_SIGNALFLAGS){.Value = 0});
}

NTSTATUS signal_cpu(struct vidsch_sync *sync, UINT64 value)
{
    return vidsch_sync_signal_cpu(&sync, &value, 1, (D3DDDICB_SIGNALFLAGS){.Value = 0});
}

NTSTATUS wait_cpu(struct vidsch_sync *sync, UINT64 value)
{
    return vidsch_sync_wait_cpu(&sync, &value, 1, false, SIM_FOREVER);
}

void pass(uint64_t ns)
{
    sim_block(sim_now() + ns, NULL);
}

uint64_t page(struct fixture *f, uint32_t bytes)
{
    struct vidmm_paging_buffer *buffer = NULL;
    uint64_t ticket = 0;

    if (vidsch_for_vidmm.paging_buffer_get(&f->ddi, &buffer) != STATUS_SUCCESS)
        fail_msg("paging_buffer_get");
    buffer->used += bytes;
    if (vidsch_for_vidmm.paging_buffer_submit(&f->ddi, buffer, &ticket) != STATUS_SUCCESS)
        fail_msg("paging_buffer_submit");
    return ticket;
}

struct sim_thread *spawn(struct fixture *f, void (*fn)(void *arg), void *arg)
{
    return spawn_in(f->process, fn, arg);
}

struct sim_thread *spawn_in(struct nt_process *process, void (*fn)(void *arg), void *arg)
{
    return nt_client_thread_create(process, "other", fn, arg);
}

void join(struct sim_thread *thread)
{
    while (!sim_thread_ended(thread))
        pass(1000);
    sim_thread_release(thread);
}

struct vidsch_sync *make_sync(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info)
{
    struct vidsch_sync *sync = NULL;

    CHECK(vidsch_sync_create(device, &info, &sync) == STATUS_SUCCESS);
    return sync;
}

const DXGKARG_SUBMITCOMMANDVIRTUAL *sent_virtual(const struct fixture *f, uint32_t index)
{
    const struct call *call = call_at(f, CALL_SUBMIT_VIRTUAL, index);

    CHECK(call != NULL);
    return &call->submit_virtual.args;
}
