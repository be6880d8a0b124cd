/* SPDX-License-Identifier: MIT */
/* The GPU: the bytes of its segments, its page tables and its TLB, and what each paging operation does. */
#include "gpu_memory_fuzz.h"

#include "bus/memory.h"
#include "dxgkhost/page_tables.h"
#include "sim/machine.h"

enum { TLB_LINES = 64 };

#define ENTRY_VALID      1ull
#define ENTRY_ZERO       2ull
#define ENTRY_COHERENT   4ull
#define ENTRY_READ_ONLY  8ull
#define ENTRY_NO_EXECUTE 16ull
#define ENTRY_LARGE      32ull
#define ENTRY_BIG        64ull
#define ENTRY_SEGMENT    7u
#define ENTRY_ADDRESS    0x000FFFFFFFFFF000ull
#define NOT_MAPPED       UINT64_MAX

struct dxgk_table_format fuzz_format = {
    .name = "fuzz",
    .entry_bytes = 8,
    .valid = ENTRY_VALID,
    .zero = ENTRY_ZERO,
    .read_only = ENTRY_READ_ONLY,
    .no_execute = ENTRY_NO_EXECUTE,
    .coherent = ENTRY_COHERENT,
    .large = ENTRY_LARGE,
    .big = ENTRY_BIG,
    .address_mask = ENTRY_ADDRESS,
    .segment_mask = 7ull << ENTRY_SEGMENT,
    .segments = SEGMENTS,
    .segment = {{0, 0, 0},
                {1, 1ull << ENTRY_SEGMENT, 0},
                {2, 2ull << ENTRY_SEGMENT, 0},
                {3, 3ull << ENTRY_SEGMENT, 0}},
};

static uint64_t *aperture; /* logical address by page */
static uint8_t *hidden;

/* Translations that were used and not flushed since. */
static struct {
    bool used;
    UINT segment;
    uint64_t root, page, entry;
} tlb[TLB_LINES];

void fuzz_gpu_begin(void)
{
    const struct fuzz_shape *s = &fuzz_run->shape;

    aperture = malloc(s->aperture_pages * sizeof(*aperture));
    hidden = calloc(s->hidden_pages ? s->hidden_pages : 1, PAGE);
    MUST(aperture && hidden);
    memset(aperture, 0xFF, s->aperture_pages * sizeof(*aperture));
    memset(tlb, 0, sizeof(tlb));
}

void fuzz_gpu_end(void)
{
    free(aperture);
    free(hidden);
    aperture = NULL;
    hidden = NULL;
}

/* ---- bytes ---- */

bool fuzz_gpu_touch(UINT segment, uint64_t offset, void *bytes, size_t count, bool write)
{
    const struct fuzz_shape *s = &fuzz_run->shape;
    uint8_t *memory;

    MUST(offset % PAGE + count <= PAGE);
    if (segment == 0)
        return probe_device_dma(0, offset, bytes, count, write);
    if (segment == 2) {
        MUST(offset / PAGE < s->aperture_pages);
        return aperture[offset / PAGE] != NOT_MAPPED &&
               probe_device_dma(0, aperture[offset / PAGE] + offset % PAGE, bytes, count, write);
    }
    MUST(segment == 1 || segment == 3);
    MUST(offset + count <= (segment == 1 ? s->vram_pages : s->hidden_pages) * PAGE);
    memory = segment == 1 ? bus_device_memory(fuzz_run->probe->device[0], 2) : hidden;
    memcpy(write ? memory + offset : bytes, write ? bytes : memory + offset, count);
    return true;
}

/* ---- translation ---- */

static uint64_t read_entry(UINT segment, uint64_t table, uint64_t index)
{
    uint64_t entry = 0;

    MUST(fuzz_gpu_touch(segment, table + index * 8, &entry, 8, false));
    return entry;
}

static unsigned shift_of(unsigned level)
{
    return 12 + (level ? fuzz_run->shape.bits + fuzz_run->shape.middle_bits * (level - 1) : 0);
}

/* The leaf entry, or one that says Zero or maps a block; its address is that of the page. 0: a fault. */
static uint64_t translate(const D3DGPU_PHYSICAL_ADDRESS *root, UINT entries, uint64_t va)
{
    const struct fuzz_shape *s = &fuzz_run->shape;
    UINT segment = root->SegmentId;
    uint64_t table = root->SegmentOffset, entry = 0;
    bool big = false;

    for (unsigned level = s->levels; level-- > 0;) {
        uint64_t index = va >> shift_of(level);

        if (level + 1 == s->levels ? index >= entries : false)
            return 0;
        if (level + 1 < s->levels)
            index &= (1ull << (level ? s->middle_bits : s->bits)) - 1;
        if (level == 0 && big)
            index >>= 4;
        entry = read_entry(segment, table, index);
        if (!(entry & ENTRY_VALID) || (entry & ENTRY_ZERO))
            return entry & ENTRY_VALID ? entry : 0;
        if (level && (entry & ENTRY_LARGE))
            return entry + (va & ((1ull << shift_of(level)) - PAGE));
        if (level == 0 && big)
            entry = (entry & ~0xF000ull) | (va & 0xF000);
        segment = entry >> ENTRY_SEGMENT & 7;
        table = entry & ENTRY_ADDRESS;
        big = level == 1 && (entry & ENTRY_BIG);
    }
    return entry;
}

static struct fuzz_translation of_entry(uint64_t entry, uint64_t va)
{
    return (struct fuzz_translation){.valid = entry & ENTRY_VALID,
                                     .zero = entry & ENTRY_ZERO,
                                     .read_only = entry & ENTRY_READ_ONLY,
                                     .no_execute = entry & ENTRY_NO_EXECUTE,
                                     .segment = entry >> ENTRY_SEGMENT & 7,
                                     .offset = (entry & ENTRY_ADDRESS) + va % PAGE};
}

struct fuzz_translation fuzz_gpu_walk(HANDLE context, uint64_t va)
{
    D3DGPU_PHYSICAL_ADDRESS root;
    UINT entries;

    if (!fuzz_gpu_root(context, &root, &entries))
        return (struct fuzz_translation){.valid = false};
    return of_entry(translate(&root, entries, va), va);
}

/* Through the TLB, which keeps whatever is valid. */
static struct fuzz_translation look(HANDLE context, uint64_t va)
{
    D3DGPU_PHYSICAL_ADDRESS root;
    UINT entries;
    unsigned line;
    uint64_t entry;

    if (!fuzz_gpu_root(context, &root, &entries))
        return (struct fuzz_translation){.valid = false};
    line = (unsigned)((va / PAGE + root.SegmentOffset / PAGE * 7) % TLB_LINES);
    if (tlb[line].used && tlb[line].segment == root.SegmentId &&
        tlb[line].root == root.SegmentOffset && tlb[line].page == va / PAGE)
        return of_entry(tlb[line].entry, va);
    entry = translate(&root, entries, va);
    if (entry & ENTRY_VALID) {
        tlb[line].used = true;
        tlb[line].segment = root.SegmentId;
        tlb[line].root = root.SegmentOffset;
        tlb[line].page = va / PAGE;
        tlb[line].entry = entry;
    }
    return of_entry(entry, va);
}

static void flush(const DXGK_BUILDPAGINGBUFFER_FLUSHTLB *f)
{
    const bool all = f->StartVirtualAddress == 0 && f->EndVirtualAddress == 0;

    for (unsigned i = 0; i < TLB_LINES; i++)
        if (tlb[i].segment == f->RootPageTableAddress.SegmentId &&
            tlb[i].root == f->RootPageTableAddress.SegmentOffset &&
            (all || (tlb[i].page * PAGE >= f->StartVirtualAddress &&
                     tlb[i].page * PAGE < f->EndVirtualAddress)))
            tlb[i].used = false;
}

/* Paging: its addresses must be there. */
static void touch_va(HANDLE context, uint64_t va, void *bytes, size_t count, bool write)
{
    uint8_t *at = bytes;

    while (count) {
        const size_t part = PAGE - va % PAGE < count ? (size_t)(PAGE - va % PAGE) : count;
        const struct fuzz_translation t = look(context, va);

        MUST(t.valid && !t.zero && (!write || !t.read_only));
        MUST(fuzz_gpu_touch(t.segment, t.offset, at, part, write));
        at += part;
        va += part;
        count -= part;
    }
}

void fuzz_gpu_fetch(HANDLE context, uint64_t va, void *bytes, size_t count)
{
    touch_va(context, va, bytes, count, false);
}

/* ---- operations ---- */

static uint64_t entry_of(const DXGK_PTE *pte, UINT level)
{
    uint64_t entry = ENTRY_VALID;

    if (!pte->Valid)
        return 0;
    if (pte->Zero)
        return ENTRY_VALID | ENTRY_ZERO;
    entry |= (pte->PageAddress << 12 & ENTRY_ADDRESS) | (uint64_t)pte->Segment << ENTRY_SEGMENT;
    if (level && !pte->LargePage)
        return entry |
               (level == 1 && pte->PageTablePageSize == DXGK_PTE_PAGE_TABLE_PAGE_64KB ? ENTRY_BIG
                                                                                      : 0);
    return entry | (pte->CacheCoherent ? ENTRY_COHERENT : 0) |
           (pte->ReadOnly ? ENTRY_READ_ONLY : 0) | (pte->NoExecute ? ENTRY_NO_EXECUTE : 0) |
           (pte->LargePage ? ENTRY_LARGE : 0);
}

static void update(const struct fuzz_op *op, HANDLE context)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &op->args.UpdatePageTable;

    for (UINT i = op->first; i < op->first + op->count; i++) {
        uint64_t entry = entry_of(&op->entries[u->Flags.Repeat ? 0 : i - op->first],
                                  u->PageTableLevel);
        const uint64_t at = (uint64_t)(u->StartIndex + i) * 8;

        switch (u->UpdateMode) {
        case DXGK_PAGETABLEUPDATE_CPU_VIRTUAL:
            memcpy((uint8_t *)u->PageTableAddress.CpuVirtual + at, &entry, 8);
            break;
        case DXGK_PAGETABLEUPDATE_GPU_VIRTUAL:
            touch_va(context, u->PageTableAddress.GpuVirtual + at, &entry, 8, true);
            break;
        default:
            MUST(fuzz_gpu_touch(u->PageTableAddress.GpuPhysical.SegmentId,
                                u->PageTableAddress.GpuPhysical.SegmentOffset + at, &entry, 8,
                                true));
        }
    }
}

static void fill_page(UINT segment, uint64_t offset, UINT pattern)
{
    uint32_t page[PAGE / 4];

    for (unsigned i = 0; i < PAGE / 4; i++)
        page[i] = pattern;
    MUST(fuzz_gpu_touch(segment, offset, page, PAGE, true));
}

static void fill_virtual(const DXGK_BUILDPAGINGBUFFER_FILLVIRTUAL *f, HANDLE context)
{
    uint32_t page[PAGE / 4];

    for (unsigned i = 0; i < PAGE / 4; i++)
        page[i] = f->FillPattern;
    for (uint64_t at = 0; at < f->FillSizeInBytes; at += PAGE)
        touch_va(context, f->DestinationVirtualAddress + at, page,
                 f->FillSizeInBytes - at < PAGE ? (size_t)(f->FillSizeInBytes - at) : PAGE, true);
}

static void transfer_virtual(const DXGK_BUILDPAGINGBUFFER_TRANSFERVIRTUAL *t, HANDLE context)
{
    uint8_t page[PAGE];

    for (uint64_t at = 0; at < t->TransferSizeInBytes; at += PAGE) {
        const size_t part = t->TransferSizeInBytes - at < PAGE
                                ? (size_t)(t->TransferSizeInBytes - at)
                                : PAGE;

        touch_va(context, t->SourceVirtualAddress + at, page, part, false);
        touch_va(context, t->DestinationVirtualAddress + at, page, part, true);
    }
}

/* A page of one side of a physical transfer. */
static void touch_side(const struct fuzz_op *op, UINT segment, LARGE_INTEGER address, UINT i,
                       void *page, bool write)
{
    const uint64_t base = segment
                              ? (uint64_t)fuzz_run->probe->segment[segment - 1].BaseAddress.QuadPart
                              : 0;

    if (segment)
        MUST(fuzz_gpu_touch(
            segment, (uint64_t)address.QuadPart - base + op->args.Transfer.TransferOffset + i * PAGE,
            page, PAGE, write));
    else
        MUST(probe_device_dma(0, (uint64_t)op->pages[i - op->first] * PAGE, page, PAGE, write));
}

static void transfer(const struct fuzz_op *op)
{
    const __typeof__(op->args.Transfer) *t = &op->args.Transfer;
    uint8_t page[PAGE];

    for (UINT i = op->first; i < op->first + op->count; i++) {
        touch_side(op, t->Source.SegmentId, t->Source.SegmentAddress, i, page, false);
        touch_side(op, t->Destination.SegmentId, t->Destination.SegmentAddress, i, page, true);
    }
}

static void set_aperture(uint64_t first, UINT from, UINT count, const PFN_NUMBER *pages,
                         uint64_t dummy)
{
    MUST(first + from + count <= fuzz_run->shape.aperture_pages);
    for (UINT i = 0; i < count; i++)
        aperture[first + from + i] = pages ? (uint64_t)pages[i] * PAGE : dummy;
}

static void copy_entries(const struct fuzz_op *op, HANDLE context)
{
    uint64_t entries[1024];

    for (UINT i = 0; i < op->count; i++) {
        const DXGK_BUILDPAGINGBUFFER_COPY_RANGE *r = &op->ranges[i];

        MUST(r->NumPageTableEntries <= 1024);
        touch_va(context, r->SrcPageTableAddress + r->SrcStartPteIndex * 8ull, entries,
                 r->NumPageTableEntries * 8ull, false);
        touch_va(context, r->DstPageTableAddress + r->DstStartPteIndex * 8ull, entries,
                 r->NumPageTableEntries * 8ull, true);
    }
}

static void init_context(const DXGKARG_BUILDPAGINGBUFFER *args, HANDLE context)
{
    uint64_t zero = 0;

    if (args->InitContextResource.Destination.GpuVirtualAddress)
        touch_va(context, args->InitContextResource.Destination.GpuVirtualAddress, &zero, 8, true);
}

void fuzz_gpu_execute(struct fuzz_op *op, HANDLE context)
{
    const DXGKARG_BUILDPAGINGBUFFER *a = &op->args;
    UINT64 value;

    switch (a->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        update(op, context);
        break;
    case DXGK_OPERATION_FLUSH_TLB:
        flush(&a->FlushTlb);
        break;
    case DXGK_OPERATION_VIRTUAL_FILL:
        fill_virtual(&a->FillVirtual, context);
        break;
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        transfer_virtual(&a->TransferVirtual, context);
        break;
    case DXGK_OPERATION_TRANSFER:
        transfer(op);
        break;
    case DXGK_OPERATION_FILL:
        for (uint64_t at = 0; at < a->Fill.FillSize; at += PAGE)
            fill_page(a->Fill.Destination.SegmentId,
                      (uint64_t)a->Fill.Destination.SegmentAddress.QuadPart -
                          (uint64_t)fuzz_run->probe->segment[a->Fill.Destination.SegmentId - 1]
                              .BaseAddress.QuadPart +
                          at,
                      a->Fill.FillPattern);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2:
        set_aperture(a->MapApertureSegment2.OffsetInPages, op->first, op->count, op->pages, 0);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        set_aperture(a->MapApertureSegment.OffsetInPages, op->first, op->count, op->pages, 0);
        break;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        set_aperture(a->UnmapApertureSegment.OffsetInPages, op->first, op->count, NULL,
                     (uint64_t)a->UnmapApertureSegment.DummyPage.QuadPart);
        break;
    case DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES:
        copy_entries(op, context);
        break;
    case DXGK_OPERATION_INIT_CONTEXT_RESOURCE:
        init_context(a, context);
        break;
    case DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION:
        touch_va(context, a->UpdateContextAllocation.ContextAllocation, op->data,
                 a->UpdateContextAllocation.DriverPrivateDataSize, true);
        break;
    case DXGK_OPERATION_SIGNAL_MONITORED_FENCE:
        value = a->SignalMonitoredFence.MonitoredFenceValue;
        touch_va(context, a->SignalMonitoredFence.MonitoredFenceGpuVa, &value, 8, true);
        break;
    default:
        break;
    }
}

/* ---- a client's work ---- */

void fuzz_gpu_work(const struct fuzz_work *work, HANDLE context)
{
    for (UINT i = 0; i < work->count && i < ACCESSES; i++) {
        const struct fuzz_access *a = &work->access[i];
        const struct fuzz_translation t = look(context, a->va);
        uint64_t value = a->value;

        MUST(t.valid && !t.zero && (!a->write || !t.read_only));
        MUST(fuzz_gpu_touch(t.segment, t.offset, &value, 8, a->write));
        if (!a->write && a->known && value != a->value)
            fprintf(stderr, "0x%llx has 0x%llx, not 0x%llx\n", (unsigned long long)a->va,
                    (unsigned long long)value, (unsigned long long)a->value);
        MUST(a->write || !a->known || value == a->value);
    }
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < DEVICES; k++)
            if (fuzz_run->process[i].device[k].own_context == context)
                fuzz_run->process[i].device[k].done = work->number;
}
