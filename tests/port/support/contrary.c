/* SPDX-License-Identifier: MIT */
/* The contrary driver; contrary.h says what it is for. */
#include "port/support/contrary.h"
#include "ram/ram.h"
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>

#define MB (1u << 20)

struct contrary_seen contrary_seen;
struct contrary_allocation contrary_next;

/* ---- old bytes ---- */

static struct page_number frames[16384];

static void dirty_ram(struct probe *p)
{
    const struct ram_request all = {
        .pages = ram_free_pages(p->ram), .owner = RAM_HOST, .cache = RAM_CACHED};

    CHECK(all.pages <= sizeof(frames) / sizeof(frames[0]) && ram_take_pages(p->ram, &all, frames));
    for (uint64_t i = 0; i < all.pages; i++)
        memset(ram_direct(p->ram, (struct phys_addr){frames[i].value * 4096}), CONTRARY_DIRT, 4096);
    ram_give_pages(p->ram, frames, all.pages);
}

/* Also, video memory is not where the probe has it: in the middle of the range. */
static void after_start(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = probe_adapter_of(p, call->arg[0]);
    PHYSICAL_ADDRESS start = probe_bar(p, 1);
    PVOID mapped;

    if (!a->started)
        return;
    p->segment[CONTRARY_APERTURE - 1].CpuTranslatedAddress.QuadPart = 0;
    p->segment[CONTRARY_VRAM - 1].CpuTranslatedAddress.QuadPart = start.QuadPart +
                                                                  CONTRARY_VRAM_IN_BAR;
    p->segment[CONTRARY_FAR - 1].CpuTranslatedAddress.QuadPart = start.QuadPart +
                                                                 CONTRARY_FAR_IN_BAR;
    CHECK(NT_SUCCESS(a->dxgk.DxgkCbMapMemory(a->dxgk.DeviceHandle, start, 16 * MB, FALSE, FALSE,
                                             MmWriteCombined, &mapped)));
    memset(mapped, CONTRARY_DIRT, 16 * MB);
    CHECK(NT_SUCCESS(a->dxgk.DxgkCbUnmapMemory(a->dxgk.DeviceHandle, mapped)));
}

/* ---- what it is told ---- */

static void note_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext) {
        contrary_seen.system_node = args->NodeOrdinal;
        contrary_seen.system_context = args->hContext;
    } else if (args->Flags.VirtualAddressing)
        args->ContextInfo.DmaBufferSegmentSet = CONTRARY_SET(CONTRARY_APERTURE);
}

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemProcess)
        contrary_seen.system_process = args->hKmdProcess;
}

static void note_allocation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];
    UINT set = contrary_next.set;

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->Alignment = contrary_next.alignment;
        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = set;
        info->PreferredSegment.SegmentId0 = 0x1Fu & (1u + (UINT)__builtin_ctz(set));
        info->PreferredSegment.SegmentId1 = 0;
        info->FlagsWddm2.AccessedPhysically = contrary_next.physical;
        contrary_seen.allocated = *info;
    }
}

static void note_page(uint64_t va, const DXGK_PTE *pte)
{
    struct contrary_seen *s = &contrary_seen;
    size_t i = 0;

    while (i < s->pages && s->page[i].va != va)
        i++;
    if (i == s->pages && ++s->pages > sizeof(s->page) / sizeof(s->page[0]))
        fail_msg("too many pages");
    s->page[i] = (struct contrary_page){va, *pte};
}

/* An entry above the leaf says where a table of the level below is. */
static void note_table(const DXGK_PTE *pte, UINT level, bool paging, const struct probe *p)
{
    if (!pte->Valid)
        return;
    (paging ? contrary_seen.paging_table_segments
            : contrary_seen.table_segments)[level] |= 1u << pte->Segment;
    contrary_seen.tables_misaligned += pte->PageTableAddress * 4096 %
                                           p->level[level].PageTableAlignmentInBytes !=
                                       0;
}

static void note_entries(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, const struct probe *p)
{
    bool paging = update->hProcess == contrary_seen.system_process;

    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const DXGK_PTE *pte = &update->pPageTableEntries[update->Flags.Repeat ? 0 : i];

        if (update->PageTableLevel > 0)
            note_table(pte, update->PageTableLevel - 1, paging, p);
        else if (!paging)
            note_page(update->FirstPteVirtualAddress + 4096ull * i, pte);
    }
}

static void note_root(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETROOTPAGETABLE *args = (DXGKARG_SETROOTPAGETABLE *)(uintptr_t)call->arg[1];
    UINT *segments = args->hContext == contrary_seen.system_context
                         ? contrary_seen.paging_table_segments
                         : contrary_seen.table_segments;

    segments[CONTRARY_LEVELS - 1] |= 1u << args->Address.SegmentId;
    contrary_seen.tables_misaligned += args->Address.SegmentOffset %
                                           p->level[CONTRARY_LEVELS - 1].PageTableAlignmentInBytes !=
                                       0;
}

static void note_mapping(UINT segment, uint64_t pages, bool mapped)
{
    uint64_t sum = 0;

    contrary_seen.aperture_bytes[segment] += (mapped ? pages : -pages) * 4096;
    for (UINT id = 1; id <= CONTRARY_SEGMENTS + 1; id++)
        sum += contrary_seen.aperture_bytes[id];
    if (sum > contrary_seen.aperture_most)
        contrary_seen.aperture_most = sum;
}

static void note_paging(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    if (op->pDmaBuffer && !contrary_seen.first_paging_bytes) {
        contrary_seen.first_paging_bytes = op->DmaSize;
        contrary_seen.first_paging_private = op->DmaBufferPrivateDataSize;
        for (UINT i = 0; i < op->DmaBufferPrivateDataSize; i++)
            contrary_seen.paging_dirty |= ((const uint8_t *)op->pDmaBufferPrivateData)[i] != 0;
    }
    if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        note_entries(&op->UpdatePageTable, p);
    if (op->Operation == DXGK_OPERATION_VIRTUAL_TRANSFER)
        contrary_seen.transfers[op->TransferVirtual.TransferDirection & 7]++;
    contrary_seen.fills += op->Operation == DXGK_OPERATION_VIRTUAL_FILL;
    if (op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2)
        note_mapping(op->MapApertureSegment2.SegmentId, op->MapApertureSegment2.NumberOfPages, true);
    if (op->Operation == DXGK_OPERATION_UNMAP_APERTURE_SEGMENT)
        note_mapping(op->UnmapApertureSegment.SegmentId, op->UnmapApertureSegment.NumberOfPages,
                     false);
}

static void note_virtual(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    if (args->Flags.Paging)
        contrary_seen.paging_nodes |= 1u << args->NodeOrdinal;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.Paging) {
        contrary_seen.paging_nodes |= 1u << args->NodeOrdinal;
        contrary_seen.paging_segments |= 1u << args->DmaBufferSegmentId;
    }
}

/* ---- its answers ---- */

static void answer_memory(struct probe *p)
{
    static const DXGK_SEGMENTDESCRIPTOR4 segments[CONTRARY_SEGMENTS] = {
        [CONTRARY_VRAM - 1] = {.Flags = {.CpuVisible = 1, .LocalBudgetGroup = 1},
                               .BaseAddress.QuadPart = 0x123400000,
                               .Size = 5 * MB,
                               .CommitLimit = 5 * MB,
                               .NumInvalidMemoryRanges = 2},
        [CONTRARY_FAR - 1] = {.Flags = {.CpuVisible = 1},
                              .BaseAddress.QuadPart = 0x200000000,
                              .Size = 6 * MB,
                              .CommitLimit = 6 * MB,
                              .NumInvalidMemoryRanges = 3},
        [CONTRARY_APERTURE - 1] = {.Flags = {.Aperture = 1, .NonLocalBudgetGroup = 1},
                                   .BaseAddress.QuadPart = 0x450000000,
                                   .Size = 9 * MB,
                                   .CommitLimit = 8 * MB},
    };
    static const DXGK_MEMORYRANGE bad[] = {
        {.SegmentOffset = 0x30000, .SizeInBytes = 0x5000},
        {.SegmentOffset = 0x111000, .SizeInBytes = 0x1000},
        {.SegmentOffset = 0x200000, .SizeInBytes = 0x2000},
    };

    p->segments = CONTRARY_SEGMENTS;
    memcpy(p->segment, segments, sizeof(segments));
    memcpy(p->bad_range, bad, sizeof(bad));
    p->paging_bytes = CONTRARY_PAGING_BYTES;
    p->paging_private_bytes = CONTRARY_PAGING_PRIVATE;
    p->caps.ApertureSegmentCommitLimit = CONTRARY_LIMIT;
    p->caps.HighestAcceptableAddress.QuadPart = 0x27FFFFFFFF;
    p->memory.HighestVisibleAddress.QuadPart = 0x1FFFFFFFFF;
    p->physical.Flags.MovePagingSupported = 1;
}

static void answer_addresses(struct probe *p)
{
    static const DXGK_PAGE_TABLE_LEVEL_DESC levels[CONTRARY_LEVELS] = {
        {.PageTableIndexBitCount = 10,
         .PageTableSegmentId = CONTRARY_VRAM,
         .PagingProcessPageTableSegmentId = CONTRARY_FAR,
         .PageTableSizeInBytes = 0x2000,
         .PageTableAlignmentInBytes = 0x4000},
        {.PageTableIndexBitCount = 11,
         .PageTableSegmentId = CONTRARY_FAR,
         .PagingProcessPageTableSegmentId = CONTRARY_VRAM,
         .PageTableSizeInBytes = 0x5000,
         .PageTableAlignmentInBytes = 0x8000},
        {.PageTableIndexBitCount = 8,
         .PageTableSegmentId = CONTRARY_VRAM,
         .PagingProcessPageTableSegmentId = CONTRARY_FAR,
         .PageTableSizeInBytes = 0x1000,
         .PageTableAlignmentInBytes = 0x10000},
    };

    memcpy(p->level, levels, sizeof(levels));
    p->mmu.VirtualAddressBitCount = CONTRARY_BITS;
    p->mmu.PageTableLevelCount = CONTRARY_LEVELS;
    p->mmu.LeafPageTableSizeFor64KPagesInBytes = 0x3000;
    p->caps.InternalGpuVirtualAddressRangeStart = CONTRARY_INTERNAL;
    p->caps.InternalGpuVirtualAddressRangeEnd = CONTRARY_INTERNAL_END;
}

static void answer_nodes(struct probe *p)
{
    static const DXGK_ENGINE_TYPE types[CONTRARY_NODES] = {
        DXGK_ENGINE_TYPE_VIDEO_DECODE, DXGK_ENGINE_TYPE_OTHER, DXGK_ENGINE_TYPE_COPY,
        DXGK_ENGINE_TYPE_3D};

    for (UINT i = 0; i < CONTRARY_NODES; i++) {
        p->node[i].EngineType = types[i];
        p->node[i].GpuMmuSupported = i != CONTRARY_PHYSICAL;
    }
    p->node[CONTRARY_WORK].FriendlyName[0] = L'w'; /* only of a type that is none of the known */
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = CONTRARY_NODES;
    p->physical.NumExecutionNodes = CONTRARY_NODES;
    p->physical.PagingNodeIndex = CONTRARY_PAGING;
    p->caps.MemoryManagementCaps.PagingNode = CONTRARY_WORK; /* which 2.x ignores */
    p->caps.MaxAllocationListSlotId = CONTRARY_SLOT;
}

struct probe *contrary_create(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    memset(&contrary_seen, 0, sizeof(contrary_seen));
    contrary_next = (struct contrary_allocation){.set = CONTRARY_SET(CONTRARY_VRAM),
                                                 .alignment = 0x4000};
    answer_memory(p);
    answer_addresses(p);
    answer_nodes(p);
    p->after[PROBE_StartDevice] = after_start;
    p->after[PROBE_CreateContext] = note_context;
    p->after[PROBE_CreateProcess] = note_process;
    p->after[PROBE_CreateAllocation] = note_allocation;
    p->before[PROBE_BuildPagingBuffer] = note_paging;
    p->before[PROBE_SetRootPageTable] = note_root;
    p->before[PROBE_SubmitCommand] = note_submission;
    p->before[PROBE_SubmitCommandVirtual] = note_virtual;
    return p;
}

/* Why a test fails whose driver was expected to be in order. */
static bool in_order(const struct probe *p, NTSTATUS status)
{
    bool good = NT_SUCCESS(status) && probe_reports(p, VERIFY_ERROR) == 0;

    if (!good)
        fprintf(stderr, "status 0x%x; %s\n", (unsigned)status,
                p->calls ? p->call[p->calls - 1]->name : "");
    for (size_t i = 0; !good && i < verify_records(p->log); i++)
        fprintf(stderr, "%s: %s\n", verify_record_at(p->log, i)->rule,
                verify_record_at(p->log, i)->seen);
    return good;
}

void contrary_run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    dirty_ram(p);
    probe_clients_begin(p);
    CHECK(in_order(p, probe_start(p)));
    client = probe_client_run(p, body);
    CHECK(in_order(p, STATUS_SUCCESS));
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- for the tests ---- */

const DXGK_PTE *contrary_entry(uint64_t va)
{
    for (size_t i = 0; i < contrary_seen.pages; i++)
        if (contrary_seen.page[i].va == va)
            return &contrary_seen.page[i].pte;
    return NULL;
}

NTSTATUS contrary_query(const struct probe_gpu *g, KMTQUERYADAPTERINFOTYPE type, void *answer,
                        UINT bytes)
{
    D3DKMT_QUERYADAPTERINFO query;

    memset(&query, 0, sizeof(query));
    query.hAdapter = g->adapter;
    query.Type = type;
    query.pPrivateDriverData = answer;
    query.PrivateDriverDataSize = bytes;
    return D3DKMTQueryAdapterInfo(&query);
}
