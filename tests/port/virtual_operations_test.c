/* SPDX-License-Identifier: MIT */
/* Paging operations by GPU virtual address on a started adapter: what they name, and that it leads there. */
#include "port/support/update_client.h"

#define BYTES (256 * KB)

/* ---- what was built ---- */

struct built {
    uint64_t order;
    DXGKARG_BUILDPAGINGBUFFER args;
    DXGK_PTE source, target; /* first pages that its addresses lead to, in the paging process */
    bool source_table, target_table; /* the page tables that it names map these addresses */
    bool contiguous;                 /* all other pages follow these */
};

static struct built built[32];
static unsigned count, physical, offsets_wrong;
static struct va_shadow_context *paging; /* the system's */

static bool leads_on(uint64_t va, uint64_t bytes, DXGK_PTE first)
{
    for (uint64_t at = 0; at < bytes; at += PAGE)
        if (!va_shadow_is(paging, va + at, first.Segment, first.PageAddress + at / PAGE))
            return false;
    return true;
}

static bool is_table_of(uint64_t table, uint64_t va)
{
    const DXGK_PTE entry = va_shadow_walk(paging, table);

    return table && entry.Valid && entry.PageAddress == va_shadow_leaf(paging, va);
}

static void keep(struct probe_call *call, const DXGKARG_BUILDPAGINGBUFFER *op)
{
    struct built *b = &built[count++];

    *b = (struct built){.order = call->order, .args = *op};
    if (op->Operation == DXGK_OPERATION_VIRTUAL_FILL) {
        b->target = va_shadow_walk(paging, op->FillVirtual.DestinationVirtualAddress);
        b->contiguous = leads_on(op->FillVirtual.DestinationVirtualAddress,
                                 op->FillVirtual.FillSizeInBytes, b->target);
        return;
    }
    b->source = va_shadow_walk(paging, op->TransferVirtual.SourceVirtualAddress);
    b->target = va_shadow_walk(paging, op->TransferVirtual.DestinationVirtualAddress);
    b->contiguous = leads_on(op->TransferVirtual.SourceVirtualAddress,
                             op->TransferVirtual.TransferSizeInBytes, b->source) &&
                    leads_on(op->TransferVirtual.DestinationVirtualAddress,
                             op->TransferVirtual.TransferSizeInBytes, b->target);
    b->source_table = is_table_of(op->TransferVirtual.SourcePageTable,
                                  op->TransferVirtual.SourceVirtualAddress);
    b->target_table = is_table_of(op->TransferVirtual.DestinationPageTable,
                                  op->TransferVirtual.DestinationVirtualAddress);
}

static void *last_end; /* where the driver's last operation ended */
static D3DGPU_VIRTUAL_ADDRESS last_buffer;
static UINT last_offset;
static unsigned continued;

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    for (unsigned i = 0; i < va_shadow.contexts && !paging; i++)
        if (va_shadow.context[i].flags.SystemContext)
            paging = &va_shadow.context[i];
    physical += op->Operation == DXGK_OPERATION_TRANSFER || op->Operation == DXGK_OPERATION_FILL;
    if (op->pDmaBuffer && op->pDmaBuffer == last_end) { /* behind the one before, in its buffer */
        continued++;
        offsets_wrong += op->DmaBufferGpuVirtualAddress != last_buffer ||
                         op->DmaBufferWriteOffset != last_offset + 64;
    }
    if (op->pDmaBuffer) {
        last_end = (uint8_t *)op->pDmaBuffer + 64;
        last_buffer = op->DmaBufferGpuVirtualAddress;
        last_offset = op->DmaBufferWriteOffset;
        offsets_wrong += op->hSystemContext != paging->handle ||
                         !va_shadow_walk(paging, last_buffer + last_offset).Valid;
    }
    if ((op->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER ||
         op->Operation == DXGK_OPERATION_VIRTUAL_FILL) &&
        count < 32)
        keep(call, op);
}

static HANDLE driver_allocation;

static void note_allocation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    driver_allocation = args->pAllocationInfo[0].hAllocation;
    args->pAllocationInfo[0].SupportedReadSegmentSet = 1;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 1;
    args->pAllocationInfo[0].PreferredSegment.SegmentId1 = 0;
}

static struct probe *create(DXGK_PAGETABLEUPDATEMODE mode, bool tables)
{
    struct probe *p = update_create(mode);

    count = physical = offsets_wrong = continued = 0;
    paging = NULL;
    last_end = NULL;
    p->mmu.LegacyBehaviors.SourcePageTableVaInTransfer = tables;
    p->after[PROBE_CreateAllocation] = note_allocation;
    va_shadow.operation = note_operation;
    return p;
}

static void evict(D3DKMT_HANDLE allocation)
{
    D3DKMT_EVICT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTEvict(&args)));
    probe_sleep(PROBE_SECOND / 10);
}

static void make_resident(D3DKMT_HANDLE allocation)
{
    D3DDDI_MAKERESIDENT args;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.NumAllocations = 1;
    args.AllocationList = &allocation;
    CHECK(NT_SUCCESS(D3DKMTMakeResident(&args)));
    probe_sleep(PROBE_SECOND / 10);
}

/* ---- fills and transfers ---- */

static bool with_tables;

static void transfer_body(struct probe *p)
{
    const DXGK_BUILDPAGINGBUFFER_TRANSFERVIRTUAL *transfer;
    D3DKMT_HANDLE allocation;
    DXGK_PTE place;
    uint64_t va;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    U->context = &va_shadow.context[va_shadow.contexts - 1];
    count = 0;
    allocation = update_pool(BYTES);
    va = update_map_whole(allocation, BYTES / PAGE);
    probe_sleep(PROBE_SECOND / 10);
    place = va_shadow_walk(U->context, va);
    CHECK_RULE("GPUVA-237", count == 1 && built[0].args.Operation == DXGK_OPERATION_VIRTUAL_FILL);
    CHECK_RULE("GPUVA-237", built[0].args.FillVirtual.FillPattern == 0 &&
                                built[0].args.FillVirtual.AllocationOffsetInBytes == 0 &&
                                built[0].args.FillVirtual.FillSizeInBytes == BYTES);
    CHECK_RULE("GPUVA-237", built[0].target.Segment == 1 && built[0].contiguous &&
                                built[0].target.PageAddress == place.PageAddress);
    CHECK_RULE("GPUVA-238", built[0].args.FillVirtual.hAllocation == driver_allocation);
    evict(allocation);
    CHECK_RULE("GPUVA-232", count == 2 && physical == 0);
    transfer = &built[1].args.TransferVirtual;
    CHECK_RULE("GPUVA-234", built[1].args.Operation == DXGK_OPERATION_VIRTUAL_TRANSFER &&
                                transfer->TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM);
    CHECK_RULE("GPUVA-233",
               transfer->TransferSizeInBytes == BYTES && transfer->AllocationOffsetInBytes == 0 &&
                   built[1].source.Segment == 1 &&
                   built[1].source.PageAddress == place.PageAddress && built[1].target.Segment == 0);
    CHECK_RULE("GPUVA-238", transfer->hAllocation == driver_allocation);
    CHECK_RULE("GPUVA-235", with_tables
                                ? built[1].source_table && built[1].target_table
                                : !transfer->SourcePageTable && !transfer->DestinationPageTable);
    make_resident(allocation);
    transfer = &built[2].args.TransferVirtual;
    CHECK_RULE("GPUVA-234",
               count == 3 && transfer->TransferDirection == DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL);
    place = va_shadow_walk(U->context, va);
    CHECK_RULE("GPUVA-233", built[2].source.Segment == 0 && built[2].target.Segment == 1 &&
                                built[2].target.PageAddress == place.PageAddress);
    CHECK_RULE("GPUVA-235", with_tables
                                ? built[2].source_table && built[2].target_table
                                : !transfer->SourcePageTable && !transfer->DestinationPageTable);
    CHECK_RULE("GPUVA-231", continued >= 1 && offsets_wrong == 0);
    update_end();
}

TEST(operations_lead_to_the_memory_of_the_allocation)
{
    for (unsigned i = 0; i < 6; i++) {
        with_tables = i >= 3;
        update_finish(create(update_modes[i % 3], with_tables), transfer_body);
    }
}

/* Pages of one allocation with driver protections of their own are moved apart. */
static void parts_body(struct probe *p)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    D3DKMT_HANDLE allocation;
    uint64_t moved = 0;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    U->context = &va_shadow.context[va_shadow.contexts - 1];
    allocation = update_pool(BYTES);
    for (unsigned i = 0; i < 2; i++) {
        memset(&args, 0, sizeof(args));
        args.hPagingQueue = U->gpu.queue;
        args.hAllocation = allocation;
        args.OffsetInPages = i * 24;
        args.SizeInPages = i ? 40 : 24;
        args.DriverProtection = D3DGPU_UNIQUE_DRIVER_PROTECTION | (i + 1);
        CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    }
    probe_sleep(PROBE_SECOND / 10);
    count = 0;
    evict(allocation);
    CHECK_RULE("GPUVA-233", count == 2);
    for (unsigned i = 0; i < count; i++) {
        const DXGK_BUILDPAGINGBUFFER_TRANSFERVIRTUAL *transfer = &built[i].args.TransferVirtual;

        CHECK_RULE("GPUVA-233",
                   transfer->AllocationOffsetInBytes == moved && built[i].source.Valid &&
                       built[i].source.PageAddress == built[0].source.PageAddress + moved / PAGE);
        moved += transfer->TransferSizeInBytes;
    }
    CHECK_RULE("GPUVA-233",
               moved == BYTES && built[0].args.TransferVirtual.TransferSizeInBytes == 24 * PAGE);
    update_end();
}

TEST(the_second_part_has_an_offset_and_addresses_of_its_own)
{
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false), parts_body);
}

/* ---- more than the scratch area takes at a time ---- */

static uint64_t next_offset[2]; /* of fills, of transfers */
static unsigned chunks[2], broken;

static void note_chunk(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const bool transfer = op->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER;

    (void)p;
    if (!transfer && op->Operation != DXGK_OPERATION_VIRTUAL_FILL)
        return;
    chunks[transfer]++;
    if (transfer) {
        broken += op->TransferVirtual.AllocationOffsetInBytes != next_offset[1];
        next_offset[1] += op->TransferVirtual.TransferSizeInBytes;
    } else {
        broken += op->FillVirtual.AllocationOffsetInBytes != next_offset[0];
        next_offset[0] += op->FillVirtual.FillSizeInBytes;
    }
}

static void chunks_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    memset(next_offset, 0, sizeof(next_offset));
    memset(chunks, 0, sizeof(chunks));
    broken = 0;
    allocation = update_pool(12 * MB);
    CHECK_RULE("GPUVA-229", chunks[0] >= 2 && next_offset[0] == 12 * MB && broken == 0);
    evict(allocation);
    CHECK_RULE("GPUVA-229", chunks[1] >= 2 && next_offset[1] == 12 * MB && broken == 0);
    next_offset[1] = chunks[1] = 0;
    make_resident(allocation);
    CHECK_RULE("GPUVA-229", chunks[1] >= 2 && next_offset[1] == 12 * MB && broken == 0);
    update_end();
}

/* An address space of 16 MB leaves little of it. */
TEST(what_does_not_fit_the_scratch_area_comes_in_consecutive_parts)
{
    struct probe *p = probe_create(NULL);

    memset(U, 0, sizeof(*U));
    p->mmu.PageTableLevelCount = 2;
    p->mmu.VirtualAddressBitCount = 24;
    p->after[PROBE_CreateAllocation] = note_allocation;
    p->before[PROBE_BuildPagingBuffer] = note_chunk;
    update_finish(p, chunks_body);
}

/* ---- the memory of what was evicted ---- */

static uint64_t old_va, old_page;
static unsigned reused, shown, flushes;
static bool invalid;

static void watch_old_page(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    DXGK_PTE target;

    note_operation(p, call);
    if (!va_shadow_walk(U->context, old_va).Valid)
        invalid = true;
    flushes += invalid && op->Operation == DXGK_OPERATION_FLUSH_TLB &&
               op->FlushTlb.StartVirtualAddress <= old_va &&
               (op->FlushTlb.EndVirtualAddress > old_va || op->FlushTlb.EndVirtualAddress == 0);
    if (op->Operation != DXGK_OPERATION_VIRTUAL_FILL)
        return;
    target = va_shadow_walk(paging, op->FillVirtual.DestinationVirtualAddress);
    if (target.Segment != 1 || target.PageAddress > old_page ||
        target.PageAddress + op->FillVirtual.FillSizeInBytes / PAGE <= old_page)
        return;
    reused++;
    shown += !invalid || flushes == 0;
}

static void reuse_body(struct probe *p)
{
    D3DKMT_HANDLE first;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    U->context = &va_shadow.context[va_shadow.contexts - 1];
    first = update_pool(8 * MB);
    old_va = update_map_whole(first, 8 * MB / PAGE);
    probe_sleep(PROBE_SECOND / 10);
    old_page = va_shadow_walk(U->context, old_va).PageAddress;
    CHECK(va_shadow_walk(U->context, old_va).Valid);
    reused = shown = flushes = 0;
    invalid = false;
    va_shadow.operation = watch_old_page;
    evict(first);
    (void)update_pool(10 * MB); /* which has no other place */
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("GPUVA-094", reused == 1 && shown == 0 && flushes >= 1);
    update_end();
}

TEST(pages_get_another_use_when_nothing_leads_to_them)
{
    update_finish(create(DXGK_PAGETABLEUPDATE_GPU_PHYSICAL, false), reuse_body);
}

/* ---- who writes tables ---- */

#define POISON 0x5A

static uint8_t *tables[1200];
static unsigned table_count, disturbed;

static bool is_poison(const uint8_t *table)
{
    for (unsigned i = 0; i < 4096; i++)
        if (table[i] != POISON)
            return false;
    return true;
}

/* This driver has a format of its own: all entries are of poison. */
static void poison_table(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    uint8_t *table = op->UpdatePageTable.PageTableAddress.CpuVirtual;

    (void)p;
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE)
        return;
    for (unsigned i = 0; i < table_count; i++)
        if (tables[i] == table) {
            disturbed += !is_poison(table);
            return;
        }
    if (table_count == 1200)
        return;
    memset(table, POISON, 4096);
    tables[table_count++] = table;
}

static void tables_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&U->gpu), STATUS_SUCCESS));
    allocation = update_pool(BYTES);
    for (unsigned i = 0; i < 8; i++)
        (void)update_map_whole(allocation, BYTES / PAGE);
    evict(allocation);
    make_resident(allocation);
    for (unsigned i = 0; i < table_count; i++)
        disturbed += !is_poison(tables[i]);
    CHECK_RULE("GPUVA-169", table_count > 4 && disturbed == 0);
    update_end();
}

TEST(only_the_driver_writes_page_tables)
{
    struct probe *p = probe_create(NULL);

    memset(U, 0, sizeof(*U));
    table_count = disturbed = 0;
    p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    p->before[PROBE_BuildPagingBuffer] = poison_table;
    update_finish(p, tables_body);
}
