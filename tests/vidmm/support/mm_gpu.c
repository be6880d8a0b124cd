/* SPDX-License-Identifier: MIT */
/* The GPU of the rig: carries out paging operations on the bytes of the machine. */
#include "bus/memory.h"
#include "mm_rig.h"

#define ENTRY_VALID 1u

uint8_t *mm_gpu_memory(struct mm_rig *rig, UINT segment, uint64_t offset)
{
    struct phys_addr physical;

    if (segment == MM_APERTURE && rig->vidmm->segment[MM_APERTURE].flags.Aperture) {
        uint64_t page = rig->aperture[offset >> PAGE_BITS];

        return mm_gpu_memory(rig, 0, (page << PAGE_BITS) + offset % PAGE_BYTES);
    }
    if (segment != 0)
        return segment_cpu(rig->vidmm, segment, (struct segment_addr){offset})
                   ? segment_cpu(rig->vidmm, segment, (struct segment_addr){offset})
                   : (uint8_t *)bus_device_memory(rig->base.device, 0) + offset;
    if (!iommu_translate(rig->base.domain, (struct logical_addr){offset}, IOMMU_WRITE, &physical)) {
        rig->faults++;
        return NULL;
    }
    return ram_direct(rig->base.ram, physical);
}

/* ---- page tables: 8 bytes an entry, page << 12 | segment << 1 | valid ---- */

static uint64_t *table_at(struct mm_rig *rig, const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    if (update->UpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        return update->PageTableAddress.CpuVirtual;
    return (void *)mm_gpu_memory(rig, update->PageTableAddress.GpuPhysical.SegmentId,
                                 update->PageTableAddress.GpuPhysical.SegmentOffset);
}

static void update_table(struct mm_rig *rig, const struct mm_op *op)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->args.UpdatePageTable;
    uint64_t *table = table_at(rig, update);

    CHECK(table);
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        const DXGK_PTE *pte = &op->entries[update->Flags.Repeat ? 0 : i];

        table[update->StartIndex + i] = pte->PageAddress << 12 | (uint64_t)pte->Segment << 1 |
                                        pte->Valid;
    }
}

/* Translate an address of the paging process. */
static uint8_t *paging_byte(struct mm_rig *rig, uint64_t va)
{
    const struct table_geometry *geometry = &rig->vidmm->mmu->geometry;
    const struct page_table *root = rig->vidmm->paging_process->space->root;
    uint64_t page = va >> PAGE_BITS;
    uint64_t *table = (void *)mm_gpu_memory(rig, table_address(root).SegmentId,
                                            table_address(root).SegmentOffset);

    for (unsigned level = geometry->levels; level-- > 0;) {
        uint64_t entry = table[(page >> geometry->shift[level]) & (geometry->entries[level] - 1)];

        if (!(entry & ENTRY_VALID)) {
            rig->faults++;
            return NULL;
        }
        table = (void *)mm_gpu_memory(rig, (UINT)(entry >> 1 & 31), entry & ~(uint64_t)0xFFF);
        if (!table)
            return NULL;
    }
    return (uint8_t *)table + va % PAGE_BYTES;
}

static void fill(uint8_t *to, uint32_t pattern)
{
    uint32_t *words = (void *)to;

    for (unsigned i = 0; to && i < PAGE_BYTES / 4; i++)
        words[i] = pattern;
}

static void copy(uint8_t *to, const uint8_t *from)
{
    if (to && from)
        memcpy(to, from, PAGE_BYTES);
}

static void transfer(struct mm_rig *rig, const struct mm_op *op)
{
    const __typeof__(op->args.Transfer) *t = &op->args.Transfer;

    for (uint64_t i = 0; i < t->TransferSize >> PAGE_BITS; i++) {
        struct phys_addr frame = {op->pages ? op->pages[i] << PAGE_BITS : 0};
        uint8_t *from = t->Source.SegmentId
                            ? mm_gpu_memory(rig, t->Source.SegmentId,
                                            (uint64_t)t->Source.SegmentAddress.QuadPart - MM_BASE +
                                                (i << PAGE_BITS))
                            : ram_direct(rig->base.ram, frame);
        uint8_t *to = t->Destination.SegmentId
                          ? mm_gpu_memory(rig, t->Destination.SegmentId,
                                          (uint64_t)t->Destination.SegmentAddress.QuadPart -
                                              MM_BASE + (i << PAGE_BITS))
                          : ram_direct(rig->base.ram, frame);

        copy(to, from);
    }
}

void mm_gpu_execute(struct mm_rig *rig, struct mm_op *op)
{
    const DXGKARG_BUILDPAGINGBUFFER *a = &op->args;

    CHECK(!op->executed);
    op->executed = true;
    switch (a->Operation) {
    case DXGK_OPERATION_TRANSFER:
        transfer(rig, op);
        break;
    case DXGK_OPERATION_FILL:
        for (uint64_t i = 0; i < a->Fill.FillSize >> PAGE_BITS; i++)
            fill(mm_gpu_memory(rig, a->Fill.Destination.SegmentId,
                               (uint64_t)a->Fill.Destination.SegmentAddress.QuadPart - MM_BASE +
                                   (i << PAGE_BITS)),
                 a->Fill.FillPattern);
        break;
    case DXGK_OPERATION_VIRTUAL_FILL:
        for (uint64_t i = 0; i < a->FillVirtual.FillSizeInBytes >> PAGE_BITS; i++)
            fill(paging_byte(rig, a->FillVirtual.DestinationVirtualAddress + (i << PAGE_BITS)),
                 a->FillVirtual.FillPattern);
        break;
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        for (uint64_t i = 0; i < a->TransferVirtual.TransferSizeInBytes >> PAGE_BITS; i++)
            copy(paging_byte(rig, a->TransferVirtual.DestinationVirtualAddress + (i << PAGE_BITS)),
                 paging_byte(rig, a->TransferVirtual.SourceVirtualAddress + (i << PAGE_BITS)));
        break;
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        update_table(rig, op);
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        for (SIZE_T i = 0; i < a->MapApertureSegment.NumberOfPages; i++)
            rig->aperture[a->MapApertureSegment.OffsetInPages + i] = op->pages[i];
        break;
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2:
        for (SIZE_T i = 0; i < a->MapApertureSegment2.NumberOfPages; i++)
            rig->aperture[a->MapApertureSegment2.OffsetInPages + i] = op->pages[i];
        break;
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        for (SIZE_T i = 0; i < a->UnmapApertureSegment.NumberOfPages; i++)
            rig->aperture[a->UnmapApertureSegment.OffsetInPages + i] =
                (uint64_t)a->UnmapApertureSegment.DummyPage.QuadPart >> PAGE_BITS;
        break;
    default:
        break;
    }
}
