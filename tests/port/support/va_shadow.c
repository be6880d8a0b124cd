/* SPDX-License-Identifier: MIT */
#include "port/support/va_shadow.h"

#include <stdlib.h>
#include <string.h>

#define ENTRIES  512u
#define TABLES   4096u /* 16 MiB of segment 1 */
#define NO_ORDER UINT64_MAX

struct va_shadow va_shadow;

static const struct probe *shadowed; /* its driver describes the tables */
static DXGK_PTE (*table)[ENTRIES];   /* by page of the segment */
static uint8_t *cpu_base;            /* CPU address of the segment, as updates by CPU show it */
static uint8_t *cpu_root;

/* Tables written by CPU before the first root was announced: where they are is known later. */
static struct {
    uint8_t *cpu;
    DXGK_PTE entry[ENTRIES];
} early[1024];
static unsigned early_count;

struct va_shadow_context *va_shadow_find(HANDLE context)
{
    for (unsigned i = va_shadow.contexts; i-- > 0;)
        if (va_shadow.context[i].handle == context)
            return &va_shadow.context[i];
    return NULL;
}

static unsigned levels(void)
{
    return shadowed->mmu.PageTableLevelCount;
}

static DXGK_PTE *table_at(uint64_t page)
{
    if (page >= TABLES)
        fail_msg("a page table at page 0x%llx of the segment", (unsigned long long)page);
    return table[page];
}

DXGK_PTE va_shadow_walk(const struct va_shadow_context *context, uint64_t va)
{
    uint64_t page = context->root >> 12;
    DXGK_PTE entry = {.Flags = 0};

    for (unsigned level = levels(); level-- > 0; page = entry.PageTableAddress) {
        entry = table_at(page)[va >> (12 + 9 * level) & (ENTRIES - 1)];
        if (!entry.Valid || entry.Zero || entry.LargePage)
            break;
    }
    return entry;
}

uint64_t va_shadow_leaf(const struct va_shadow_context *context, uint64_t va)
{
    uint64_t page = context->root >> 12;

    for (unsigned level = levels() - 1; level > 0; level--)
        page = table_at(page)[va >> (12 + 9 * level) & (ENTRIES - 1)].PageTableAddress;
    return page;
}

static DXGK_PTE *early_at(uint8_t *cpu)
{
    unsigned i = 0;

    while (i < early_count && early[i].cpu != cpu)
        i++;
    if (i == early_count) {
        if (early_count == sizeof(early) / sizeof(early[0]))
            fail_msg("too many tables before the first root");
        early[early_count++].cpu = cpu;
    }
    return early[i].entry;
}

/* The table that an operation writes; `context`: whose buffer it is in. */
static DXGK_PTE *table_of(const struct va_shadow_context *context,
                          const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    uint8_t *cpu = update->PageTableAddress.CpuVirtual;

    switch (update->UpdateMode) {
    case DXGK_PAGETABLEUPDATE_GPU_PHYSICAL:
        return table_at(update->PageTableAddress.GpuPhysical.SegmentOffset >> 12);
    case DXGK_PAGETABLEUPDATE_GPU_VIRTUAL:
        return table_at(va_shadow_walk(context, update->PageTableAddress.GpuVirtual).PageAddress);
    default:
        if (!cpu_root && update->PageTableLevel == levels() - 1)
            cpu_root = cpu;
        return cpu_base ? table_at((uint64_t)(cpu - cpu_base) >> 12) : early_at(cpu);
    }
}

static void copy_range(const struct va_shadow_context *context,
                       const DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range)
{
    memmove(table_at(va_shadow_walk(context, range->DstPageTableAddress).PageAddress) +
                range->DstStartPteIndex,
            table_at(va_shadow_walk(context, range->SrcPageTableAddress).PageAddress) +
                range->SrcStartPteIndex,
            range->NumPageTableEntries * sizeof(DXGK_PTE));
}

static struct {
    const struct va_shadow_context *context;
    DXGK_BUILDPAGINGBUFFER_COPY_RANGE range;
} waiting[64];

void va_shadow_copy_late(void)
{
    for (unsigned i = 0; i < va_shadow.waiting; i++)
        copy_range(waiting[i].context, &waiting[i].range);
    va_shadow.waiting = 0;
}

static void copy_or_wait(const struct va_shadow_context *context,
                         const DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range)
{
    if (!va_shadow.late) {
        copy_range(context, range);
        return;
    }
    if (va_shadow.waiting == sizeof(waiting) / sizeof(waiting[0]))
        fail_msg("too many ranges wait to be copied");
    waiting[va_shadow.waiting].context = context;
    waiting[va_shadow.waiting++].range = *range;
}

/* As many ranges as there is room for; for the others it is to be called again. */
static void copy_entries(const struct va_shadow_context *context, DXGKARG_BUILDPAGINGBUFFER *op,
                         struct probe_call *call)
{
    const DXGK_BUILDPAGINGBUFFER_COPYPAGETABLEENTRIES *copy = &op->CopyPageTableEntries;
    const UINT most = va_shadow.ranges_per_call ? va_shadow.ranges_per_call : copy->NumRanges;

    for (UINT i = 0; i < most && op->MultipassOffset < copy->NumRanges; i++)
        copy_or_wait(context, &copy->pRanges[op->MultipassOffset++]);
    if (op->MultipassOffset == copy->NumRanges)
        return;
    op->pDmaBuffer = (uint8_t *)op->pDmaBuffer + 64;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *op = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->UpdatePageTable;
    const struct va_shadow_context *context = va_shadow_find(op->hSystemContext);

    if (va_shadow.operation)
        va_shadow.operation(p, call);
    if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE && !update->Flags.Use64KBPages) {
        DXGK_PTE *entries = table_of(context, update) + update->StartIndex;

        for (UINT i = 0; i < update->NumPageTableEntries; i++)
            entries[i] = update->pPageTableEntries[update->Flags.Repeat ? 0 : i];
    } else if (op->Operation == DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES) {
        copy_entries(context, op, call);
    }
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    if (va_shadow.created)
        va_shadow.created(p, call);
    if (va_shadow.contexts == VA_SHADOW_CONTEXTS)
        fail_msg("too many contexts");
    va_shadow.context[va_shadow.contexts++] = (struct va_shadow_context){
        .handle = args->hContext,
        .device = (HANDLE)(uintptr_t)call->arg[0],
        .node = args->NodeOrdinal,
        .flags = args->Flags,
        .private_data = args->pPrivateDriverData != NULL || args->PrivateDriverDataSize != 0,
        .created = call->order,
        .announced = NO_ORDER,
        .gone = NO_ORDER};
}

static void note_end(struct probe *p, struct probe_call *call)
{
    struct va_shadow_context *context = va_shadow_find((HANDLE)(uintptr_t)call->arg[0]);

    (void)p;
    if (context)
        context->gone = call->order;
}

static void place_early_tables(uint64_t root)
{
    cpu_base = cpu_root - root;
    for (unsigned i = 0; i < early_count; i++)
        memcpy(table_at((uint64_t)(early[i].cpu - cpu_base) >> 12), early[i].entry,
               sizeof(early[i].entry));
}

static void note_root(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETROOTPAGETABLE *args = (const DXGKARG_SETROOTPAGETABLE *)(uintptr_t)call->arg[1];
    struct va_shadow_context *context = va_shadow_find(args->hContext);

    (void)p;
    if (!context)
        return;
    if (!cpu_base && cpu_root)
        place_early_tables(args->Address.SegmentOffset);
    context->root = args->Address.SegmentOffset;
    if (context->announced == NO_ORDER)
        context->announced = call->order;
}

void va_shadow_begin(struct probe *p)
{
    memset(&va_shadow, 0, sizeof(va_shadow));
    shadowed = p;
    free(table);
    table = calloc(TABLES, sizeof(*table));
    memset(early, 0, sizeof(early));
    early_count = 0;
    cpu_base = cpu_root = NULL;
    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_DestroyContext] = note_end;
    p->before[PROBE_SetRootPageTable] = note_root;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
}
