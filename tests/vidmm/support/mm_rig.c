/* SPDX-License-Identifier: MIT */
/* The machine of the rig, its clients, and short forms of requests. */
#include "bus/device.h"
#include "ddi/client_handle.h"
#include "mm_rig.h"
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/wait.h"

#include <stdlib.h>

#define BAR_BYTES (64u << 20)

/* ---- adapter ---- */

void mm_options_default(struct mm_options *options)
{
    memset(options, 0, sizeof(*options));
    options->seed = 1;
    options->version = DXGKDDI_INTERFACE_VERSION_WDDM2_9;
    options->ram_bytes = 256u << 20;
    options->iommu = IOMMU_REMAP;
    options->buffer_bytes = 4096;
    options->vram_bytes = 16u << 20;
    options->aperture_bytes = 64u << 20;
}

void mm_options_physical(struct mm_options *options)
{
    mm_options_default(options);
    options->physical = true;
    options->iommu = IOMMU_ISOLATION;
}

static void default_segments(struct mm_options *options)
{
    DXGK_SEGMENTDESCRIPTOR4 *s = options->segment;

    options->segment_count = 2;
    s[0].Flags.CpuVisible = 1;
    s[0].Flags.ApplicationTarget = 1;
    s[0].BaseAddress.QuadPart = MM_BASE;
    s[0].Size = options->vram_bytes;
    s[1].Flags.Aperture = 1;
    s[1].Flags.CacheCoherent = 1;
    s[1].BaseAddress.QuadPart = MM_APERTURE_BASE;
    s[1].Size = options->aperture_bytes;
}

static void default_mmu(struct vidmm_config *config, UINT table_segment)
{
    config->gpu_mmu = true;
    config->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_PHYSICAL;
    config->mmu.VirtualAddressBitCount = 39;
    config->mmu.PageTableLevelCount = 3;
    for (unsigned level = 0; level < 3; level++)
        config->level[level] = (DXGK_PAGE_TABLE_LEVEL_DESC){.PageTableIndexBitCount = 9,
                                                            .PageTableSizeInBytes = 4096,
                                                            .PageTableSegmentId = table_segment};
}

NTSTATUS mm_create_vidmm(struct mm_rig *rig)
{
    struct mm_options *o = &rig->options;
    UINT stride = o->stride ? o->stride : (UINT)sizeof(DXGK_SEGMENTDESCRIPTOR4);
    uint8_t *table = calloc(o->segment_count ? o->segment_count : 1, stride);
    struct vidmm_config config = {.ddi = &rig->ddi,
                                  .ram = rig->base.ram,
                                  .device = rig->base.device,
                                  .domain = rig->base.domain,
                                  .scheduler = &mm_scheduler,
                                  .wddm_version = o->version,
                                  .aperture_commit_limit = o->aperture_commit_limit,
                                  .bad_range = o->bad_range,
                                  .bad_range_count = o->bad_range_count,
                                  .move_paging = o->move_paging};
    NTSTATUS status;

    CHECK(table);
    config.caps.MapAperture2Supported = !o->old_map;
    if (!o->physical)
        default_mmu(&config, rig->options.table_segment);
    for (UINT i = 0; i < o->segment_count; i++) {
        DXGK_SEGMENTDESCRIPTOR4 d = o->segment[i];

        if (d.Flags.CpuVisible && !d.Flags.Aperture)
            d.CpuTranslatedAddress.QuadPart += (LONGLONG)bus_device_bar(rig->base.device, 0).value;
        else if (d.Flags.SupportsCpuHostAperture)
            d.CpuHostAperture.PhysicalAddress += bus_device_bar(rig->base.device, 0).value;
        memcpy(table + i * stride, &d, sizeof(d));
    }
    config.segments.NbSegment = config.segment_count = o->segment_count;
    config.segments.pSegmentDescriptor = table;
    config.segments.SegmentDescriptorStride = stride;
    config.segments.PagingBufferSegmentId = o->paging_segment;
    config.segments.PagingBufferSize = o->no_paging_buffer ? 0 : o->buffer_bytes;
    config.segments.PagingBufferPrivateDataSize = o->private_bytes;
    status = vidmm_create(&config, &rig->vidmm);
    memset(table, 0xCC,
           stride *
               (size_t)(o->segment_count ? o->segment_count : 1)); /* read during the call only */
    free(table);
    return status;
}

static void make_buffers(struct mm_rig *rig)
{
    uint64_t pages = align_up(rig->options.buffer_bytes, PAGE_BYTES) >> PAGE_BITS;

    for (unsigned i = 0; i < 4; i++) {
        const struct ram_request request = {
            .pages = pages, .owner = RAM_HOST, .cache = RAM_WRITE_COMBINED};
        struct logical_page logical[64];

        CHECK(pages <= 64);
        CHECK(ram_take_contiguous(rig->base.ram, &request, &rig->buffer_first[i]));
        CHECK(iommu_map_run(rig->base.domain, rig->buffer_first[i], pages, IOMMU_READ | IOMMU_WRITE,
                            &logical[0]));
        for (uint64_t page = 1; page < pages; page++)
            logical[page].value = logical[0].value + page;
        rig->buffer[i].data = ram_direct(rig->base.ram, page_phys(rig->buffer_first[i]));
        rig->buffer[i].capacity = rig->options.buffer_bytes;
        rig->buffer[i].logical.value = logical[0].value << PAGE_BITS;
        rig->buffer[i].private_data = rig->options.private_bytes
                                          ? calloc(1, rig->options.private_bytes)
                                          : NULL;
        rig->buffer[i].private_capacity = rig->options.private_bytes;
        if (!rig->options.physical)
            CHECK(NT_SUCCESS(
                vidmm_map_paging_buffer(rig->vidmm, logical, pages, &rig->buffer[i].va)));
    }
}

NTSTATUS mm_start(struct mm_rig *rig)
{
    NTSTATUS status = mm_create_vidmm(rig);

    if (!NT_SUCCESS(status))
        return status;
    if (rig->vidmm->aperture) {
        uint64_t pages = rig->vidmm->segment[rig->vidmm->aperture].bytes >> PAGE_BITS;

        rig->aperture = malloc(pages * sizeof(*rig->aperture));
        CHECK(rig->aperture);
        for (uint64_t i = 0; i < pages; i++)
            rig->aperture[i] = rig->vidmm->dummy.page.value;
    }
    status = vidmm_start_process(rig->vidmm);
    if (NT_SUCCESS(status))
        status = vidmm_start_tables(rig->vidmm);
    if (!NT_SUCCESS(status))
        return status;
    make_buffers(rig);
    return vidmm_start(rig->vidmm);
}

void mm_stop(struct mm_rig *rig)
{
    vidmm_stop(rig->vidmm);
    vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
}

static void progress(void *context, uint64_t value)
{
    struct mm_client *client = context;

    CHECK(value > client->fence);
    client->fence = value;
    client->told++;
    sim_waitq_wake(&client->changed, UINT32_MAX);
}

NTSTATUS mm_client_open(struct mm_rig *rig, unsigned index, unsigned process)
{
    struct mm_client *client = &rig->client[index];
    NTSTATUS status;

    memset(client, 0, sizeof(*client));
    client->rig = rig;
    sim_waitq_init(&client->changed);
    status = vidmm_process_open(rig->vidmm, rig->nt_process[process], &client->process);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_device_create(client->process, (HANDLE)(uintptr_t)(0xD0 + index), client,
                                 &client->device);
    if (NT_SUCCESS(status)) {
        status = vidmm_paging_queue_create(client->device, D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL,
                                           progress, client, &client->queue);
        if (!NT_SUCCESS(status))
            vidmm_device_destroy(client->device);
    }
    if (!NT_SUCCESS(status)) {
        vidmm_process_close(client->process);
        client->process = NULL;
    }
    return status;
}

void mm_client_close(struct mm_rig *rig, unsigned index)
{
    struct mm_client *client = &rig->client[index];

    if (!client->process)
        return;
    mm_finish(client);
    vidmm_device_destroy(client->device);
    vidmm_process_close(client->process);
    client->process = NULL;
    client->device = NULL;
    client->queue = NULL;
}

/* ---- running ---- */

struct run {
    struct mm_rig *rig;
    void (*body)(struct mm_rig *rig);
    bool bare;
};

static void run_body(void *arg)
{
    const struct run *run = arg;
    struct mm_rig *rig = run->rig;

    if (!run->bare) {
        CHECK(NT_SUCCESS(mm_start(rig)));
        CHECK(NT_SUCCESS(mm_client_open(rig, 0, 0)));
        mm_mark(rig);
    }
    run->body(rig);
    if (!run->bare && rig->vidmm) {
        rig->hold = false;
        mm_release(rig);
        for (unsigned i = 0; i < MM_CLIENTS; i++)
            mm_client_close(rig, i);
        mm_idle(rig);
        CHECK(vidmm_validate(rig->vidmm));
        for (UINT id = 1; id <= rig->vidmm->segment_count;
             id++) /* nothing is left in any segment but page tables */
            CHECK(rig->vidmm->segment[id].mapped_bytes ==
                  segment_own_bytes(&rig->vidmm->segment[id]));
        mm_stop(rig);
    }
}

static void set_up(struct mm_rig *rig)
{
    const struct rig_machine_config config = {.seed = rig->options.seed,
                                              .ram_bytes = rig->options.ram_bytes,
                                              .vram_bytes = BAR_BYTES,
                                              .iommu = rig->options.iommu};

    rig_machine_begin(&rig->base, &config);
    for (unsigned i = 0; i < MM_CLIENTS; i++) {
        rig->nt_process[i] = nt_process_create(i == 0 ? "client" : "other");
        CHECK(rig->nt_process[i]);
    }
    sim_waitq_init(&rig->done);
    rig->ops = calloc(MM_MAX_OPS, sizeof(*rig->ops));
    rig->events = calloc(MM_MAX_EVENTS, sizeof(*rig->events));
    CHECK(rig->ops && rig->events);
    mm_driver_init(rig);
}

static void tear_down(struct mm_rig *rig)
{
    for (uint32_t i = 0; i < rig->op_count; i++) {
        free(rig->ops[i].entries);
        free(rig->ops[i].pages);
    }
    for (unsigned i = 0; i < 4; i++)
        free(rig->buffer[i].private_data);
    free(rig->ops);
    free(rig->events);
    free(rig->aperture);
    ddi_adapter_finish(&rig->ddi);
    for (unsigned i = MM_CLIENTS; i-- > 0;)
        nt_process_destroy(rig->nt_process[i]);
    rig_machine_end(&rig->base);
}

static void run(const struct mm_options *options, void (*body)(struct mm_rig *rig), bool bare)
{
    struct mm_rig *rig = calloc(1, sizeof(*rig));
    struct run arg = {.rig = rig, .body = body, .bare = bare};

    CHECK(rig);
    mm_rig = rig;
    if (options)
        rig->options = *options;
    else
        mm_options_default(&rig->options);
    if (!rig->options.segment_count && !bare)
        default_segments(&rig->options);
    set_up(rig);
    rig_machine_run(rig->nt_process[0], run_body, &arg);
    tear_down(rig);
    free(rig);
    mm_rig = NULL;
}

void mm_run(const struct mm_options *options, void (*body)(struct mm_rig *rig))
{
    run(options, body, false);
}

void mm_run_bare(const struct mm_options *options, void (*body)(struct mm_rig *rig))
{
    run(options, body, true);
}

static NTSTATUS nothing(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)vidmm;
    (void)arg;
    return STATUS_SUCCESS;
}

void mm_idle(struct mm_rig *rig)
{
    /* Follower, worker and retire fiber take turns; enough rounds let a chain of them end. */
    for (int i = 0; i < 4; i++) {
        sim_stall(10000);
        if (!rig->hold)
            CHECK(NT_SUCCESS(paging_run(rig->vidmm, nothing, NULL)) || rig->vidmm->lost);
    }
}

void mm_wait_fence(struct mm_client *client, uint64_t value)
{
    while (client->fence < value)
        sim_waitq_wait(&client->changed, SIM_FOREVER);
}

/* ---- requests ---- */

struct mm_private mm_private_default(UINT set, uint64_t size)
{
    return (struct mm_private){.size = size, .set = set, .flags = 1 /* CpuVisible */};
}

D3DKMT_HANDLE mm_create(struct mm_client *client, struct mm_private data, NTSTATUS *status)
{
    D3DDDI_ALLOCATIONINFO2 info = {0};
    struct vidmm_create_item item = {
        .private_data = &data, .private_bytes = sizeof(data), .info = &info};
    struct vidmm_create_request request = {.count = 1, .item = &item};
    NTSTATUS result = vidmm_allocation_create(client->device, &request, NULL);

    if (status)
        *status = result;
    return NT_SUCCESS(result) ? info.hAllocation : 0;
}

D3DKMT_HANDLE mm_create_ok(struct mm_client *client, struct mm_private data)
{
    NTSTATUS status;
    D3DKMT_HANDLE handle = mm_create(client, data, &status);

    CHECK(NT_SUCCESS(status) && handle);
    return handle;
}

NTSTATUS mm_make_resident(struct mm_client *client, const D3DKMT_HANDLE *list, UINT count,
                          UINT flags, uint64_t *fence)
{
    uint64_t trim;

    return vidmm_make_resident(client->queue, list, count,
                               (D3DDDI_MAKERESIDENT_FLAGS){.Value = flags}, fence, &trim);
}

NTSTATUS mm_resident(struct mm_client *client, D3DKMT_HANDLE handle)
{
    uint64_t fence;
    NTSTATUS status = mm_make_resident(client, &handle, 1, 0, &fence);

    if (status == STATUS_PENDING)
        mm_wait_fence(client, fence);
    return status;
}

NTSTATUS mm_evict(struct mm_client *client, D3DKMT_HANDLE handle, UINT flags)
{
    uint64_t trim;

    return vidmm_evict(client->device, &handle, 1, (D3DDDI_EVICT_FLAGS){.Value = flags}, &trim);
}

NTSTATUS mm_destroy(struct mm_client *client, D3DKMT_HANDLE handle, UINT flags)
{
    return vidmm_allocation_destroy(client->device, 0, &handle, 1,
                                    (D3DDDICB_DESTROYALLOCATION2FLAGS){.Value = flags});
}

struct vidmm_open *mm_open(struct mm_client *client, D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = handle_lookup(&client->process->nt->handles, handle,
                                            DDI_CLIENT_ALLOCATION);

    CHECK(open);
    return open;
}

struct vidmm_allocation *mm_allocation(struct mm_client *client, D3DKMT_HANDLE handle)
{
    return mm_open(client, handle)->allocation;
}

uint8_t *mm_page(struct mm_rig *rig, const struct vidmm_allocation *allocation, uint64_t page)
{
    if (allocation->content == CONTENT_SEGMENT) {
        for (uint32_t i = 0; i < allocation->run_count; i++) {
            if (page < allocation->runs[i].pages)
                return mm_gpu_memory(rig, allocation->segment,
                                     (allocation->runs[i].first + page) << PAGE_BITS);
            page -= allocation->runs[i].pages;
        }
        return NULL;
    }
    return allocation->backing ? ram_direct(rig->base.ram, page_phys(allocation->backing[page]))
                               : NULL;
}

static uint8_t byte_of(uint64_t page, unsigned i, uint8_t seed)
{
    return (uint8_t)(page * 7 + i * 3 + seed);
}

void mm_write_content(struct mm_rig *rig, const struct vidmm_allocation *allocation, uint8_t seed)
{
    for (uint64_t page = 0; page < allocation->pages; page++) {
        uint8_t *bytes = mm_page(rig, allocation, page);

        for (unsigned i = 0; i < PAGE_BYTES; i++)
            bytes[i] = byte_of(page, i, seed);
    }
}

bool mm_check_content(struct mm_rig *rig, const struct vidmm_allocation *allocation, uint8_t seed)
{
    for (uint64_t page = 0; page < allocation->pages; page++) {
        const uint8_t *bytes = mm_page(rig, allocation, page);

        if (!bytes)
            return false;
        for (unsigned i = 0; i < PAGE_BYTES; i++)
            if (bytes[i] != byte_of(page, i, seed))
                return false;
    }
    return true;
}

/* ---- records ---- */

void mm_mark(struct mm_rig *rig)
{
    rig->op_from = rig->op_count;
    rig->event_from = rig->event_count;
}

const struct mm_op *mm_op_at(const struct mm_rig *rig, int kind, uint32_t n)
{
    uint32_t position = mm_op_position(rig, kind, n);

    return position == UINT32_MAX ? NULL : &rig->ops[rig->op_from + position];
}

uint32_t mm_op_position(const struct mm_rig *rig, int kind, uint32_t n)
{
    for (uint32_t i = rig->op_from; i < rig->op_count; i++)
        if ((kind < 0 || (int)rig->ops[i].args.Operation == kind) && n-- == 0)
            return i - rig->op_from;
    return UINT32_MAX;
}

uint32_t mm_op_count(const struct mm_rig *rig, int kind)
{
    uint32_t count = 0;

    for (uint32_t i = rig->op_from; i < rig->op_count; i++)
        count += kind < 0 || (int)rig->ops[i].args.Operation == kind;
    return count;
}

uint32_t mm_event_position(const struct mm_rig *rig, enum mm_event_kind kind, uint32_t n)
{
    for (uint32_t i = rig->event_from; i < rig->event_count; i++)
        if (rig->events[i].kind == kind && n-- == 0)
            return i - rig->event_from;
    return UINT32_MAX;
}

const struct mm_event *mm_event_at(const struct mm_rig *rig, enum mm_event_kind kind, uint32_t n)
{
    uint32_t position = mm_event_position(rig, kind, n);

    return position == UINT32_MAX ? NULL : &rig->events[rig->event_from + position];
}

uint32_t mm_event_count(const struct mm_rig *rig, enum mm_event_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = rig->event_from; i < rig->event_count; i++)
        count += rig->events[i].kind == kind;
    return count;
}

uint64_t mm_violations(const struct mm_rig *rig, const char *rule)
{
    return verify_rule_count(rig->base.log, rule);
}
