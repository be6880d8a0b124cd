/* SPDX-License-Identifier: MIT */
/* The GPU of the rig: executes table updates and flushes, walks tables, and keeps a TLB that
 * forgets nothing by itself. */
#include "bus/memory.h"
#include "gva_rig.h"
#include "sim/machine.h"

#include <stdlib.h>
#include <string.h>

static uint64_t entry_of(const DXGK_PTE *pte, bool upper)
{
    uint64_t value = pte->PageAddress << 12 | (uint64_t)pte->Segment << 7;

    (void)upper;
    if (pte->Valid)
        value |= GVA_VALID;
    if (pte->Zero)
        value |= GVA_ZERO;
    if (pte->CacheCoherent)
        value |= GVA_COHERENT;
    if (pte->ReadOnly)
        value |= GVA_READ_ONLY;
    if (pte->NoExecute)
        value |= GVA_NO_EXECUTE;
    if (pte->LargePage)
        value |= GVA_LARGE;
    return value;
}

uint64_t gva_entry_page(uint64_t entry)
{
    return entry >> 12;
}

UINT gva_entry_segment(uint64_t entry)
{
    return (UINT)(entry >> 7 & 0x1F);
}

/* Bytes of GPU memory. */
static uint64_t *gpu_memory(struct gva_rig *rig, UINT segment, uint64_t address)
{
    struct phys_addr physical;

    if (segment == GVA_VRAM_SEGMENT)
        return (uint64_t *)(void *)((uint8_t *)bus_device_memory(rig->base.device, 0) + address);
    CHECK(segment == 0);
    /* GPUVA-200 */
    CHECK(iommu_translate(rig->base.domain, (struct logical_addr){address}, IOMMU_READ, &physical));
    return ram_direct(rig->base.ram, physical);
}

static DXGKARG_SETROOTPAGETABLE paging_root(const struct gva_rig *rig)
{
    return gva_root(rig->vidmm->paging_process->space);
}

static uint64_t *table_memory(struct gva_rig *rig,
                              const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    switch (update->UpdateMode) {
    case DXGK_PAGETABLEUPDATE_CPU_VIRTUAL:
        return update->PageTableAddress.CpuVirtual;
    case DXGK_PAGETABLEUPDATE_GPU_PHYSICAL:
        return gpu_memory(rig, update->PageTableAddress.GpuPhysical.SegmentId,
                          update->PageTableAddress.GpuPhysical.SegmentOffset);
    default: {
        DXGKARG_SETROOTPAGETABLE root = paging_root(rig);
        uint64_t entry;

        CHECK(gva_access(rig, &root, update->PageTableAddress.GpuVirtual, &entry));
        return gpu_memory(rig, gva_entry_segment(entry), gva_entry_page(entry) << 12);
    }
    }
}

static void put(struct hash_map *map, uint64_t key, void *value)
{
    uint64_t fail_at = sim_current->heap.fail_at;

    sim_current->heap.fail_at = 0;
    CHECK(hash_put(map, key, value));
    sim_current->heap.fail_at = fail_at;
}

static struct gva_table *table_record(struct gva_rig *rig, const uint64_t *memory)
{
    uint64_t key = (uint64_t)(uintptr_t)memory;
    struct gva_table *table = hash_get(&rig->tables, key);

    if (!table) {
        table = calloc(1, sizeof(*table)); /* the GPU does not take part in fault injection */
        CHECK(table);
        table->key = key;
        put(&rig->tables, key, table);
    }
    return table;
}

static void execute_update(struct gva_rig *rig, struct gva_op *op)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &op->args.UpdatePageTable;
    uint64_t *memory = table_memory(rig, update);
    struct gva_table *table = table_record(rig, memory);

    if (update->Flags.InitialUpdate) {
        table->initialised = true;
        table->level = update->PageTableLevel;
        table->process = update->hProcess;
        CHECK(update->StartIndex == 0);
    }
    /* GPUVA-175: nothing is written before the table was initialised for this use. */
    CHECK(table->initialised && table->level == update->PageTableLevel &&
          table->process == update->hProcess);
    for (UINT i = 0; rig->options.whole_entries && i < update->NumPageTableEntries; i++)
        memcpy(memory + (size_t)2 * (update->StartIndex + i),
               &op->entries[update->Flags.Repeat ? 0 : i], sizeof(DXGK_PTE));
    for (UINT i = 0; !rig->options.whole_entries && i < update->NumPageTableEntries; i++)
        memory[update->StartIndex + i] = entry_of(&op->entries[update->Flags.Repeat ? 0 : i],
                                                  update->PageTableLevel > 0);
}

static uint64_t tlb_key(const DXGKARG_SETROOTPAGETABLE *root, uint64_t page)
{
    return ((root->Address.SegmentOffset >> 12 | (uint64_t)root->Address.SegmentId << 40) << 20) *
               0x9E3779B97F4A7C15u ^
           (page + 1);
}

struct tlb_line {
    uint64_t root, page, entry;
};

static void execute_flush(struct gva_rig *rig, const DXGK_BUILDPAGINGBUFFER_FLUSHTLB *flush)
{
    bool all = flush->StartVirtualAddress == 0 && flush->EndVirtualAddress == 0;
    uint32_t cursor = 0;
    uint64_t key, drop[512];
    void *value;
    size_t count;

    CHECK(flush->StartVirtualAddress % GVA_PAGE == 0 && flush->EndVirtualAddress % GVA_PAGE == 0);
    do {
        count = 0;
        cursor = 0;
        while (count < 512 && hash_next(&rig->tlb, &cursor, &key, &value)) {
            struct tlb_line *line = value;

            if (line->root == (flush->RootPageTableAddress.SegmentOffset |
                               flush->RootPageTableAddress.SegmentId) &&
                (all || (line->page << 12 >= flush->StartVirtualAddress &&
                         line->page << 12 < flush->EndVirtualAddress)))
                drop[count++] = key;
        }
        for (size_t i = 0; i < count; i++)
            free(hash_remove(&rig->tlb, drop[i]));
    } while (count == 512);
}

void *gva_paging_memory(struct gva_rig *rig, uint64_t va)
{
    DXGKARG_SETROOTPAGETABLE root = paging_root(rig);
    uint64_t entry;

    CHECK(gva_access(rig, &root, va, &entry));
    return (uint8_t *)gpu_memory(rig, gva_entry_segment(entry), gva_entry_page(entry) << 12) +
           va % GVA_PAGE;
}

static void execute_fill(struct gva_rig *rig, const DXGK_BUILDPAGINGBUFFER_FILLVIRTUAL *fill)
{
    for (uint64_t at = 0; at < fill->FillSizeInBytes; at += sizeof(UINT))
        memcpy(gva_paging_memory(rig, fill->DestinationVirtualAddress + at), &fill->FillPattern,
               sizeof(UINT));
}

/* What the driver of the rig does with its private data: copies it to the start and its last byte
 * to the end. */
static void execute_context_update(struct gva_rig *rig, const struct gva_op *op)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATECONTEXTALLOCATION *update = &op->args.UpdateContextAllocation;

    for (UINT i = 0; i < update->DriverPrivateDataSize; i++)
        *(uint8_t *)gva_paging_memory(rig, update->ContextAllocation +
                                               i) = ((const uint8_t *)op->data)[i];
    *(uint8_t *)gva_paging_memory(rig, update->ContextAllocation + update->ContextAllocationSize -
                                           1) = 0x99;
}

void gva_gpu_execute(struct gva_rig *rig, struct gva_op *op)
{
    CHECK(!op->executed);
    op->executed = true;
    if (op->args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        execute_update(rig, op);
    else if (op->args.Operation == DXGK_OPERATION_FLUSH_TLB)
        execute_flush(rig, &op->args.FlushTlb);
    else if (op->args.Operation == DXGK_OPERATION_VIRTUAL_FILL)
        execute_fill(rig, &op->args.FillVirtual);
    else if (op->args.Operation == DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION)
        execute_context_update(rig, op);
    else if (op->args.Operation == DXGK_OPERATION_INIT_CONTEXT_RESOURCE &&
             op->args.InitContextResource.Destination.GpuVirtualAddress)
        *(uint32_t *)gva_paging_memory(
            rig, op->args.InitContextResource.Destination.GpuVirtualAddress) = 0x1417;
}

bool gva_walk(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *root, uint64_t va,
              uint64_t *entry)
{
    const struct table_geometry *geometry = &rig->vidmm->mmu->geometry;
    UINT segment = root->Address.SegmentId;
    uint64_t address = root->Address.SegmentOffset, page = va >> 12;
    unsigned level = geometry->levels;

    if (page >= geometry->end || page >> geometry->shift[level - 1] >= root->NumEntries)
        return false;
    while (level-- > 0) {
        uint64_t *table = gpu_memory(rig, segment, address);
        uint64_t index = page >> geometry->shift[level],
                 below = ((uint64_t)1 << geometry->shift[level]) - 1;

        if (level + 1 < geometry->levels)
            index &= geometry->entries[level] - 1;
        CHECK(table_record(rig, table)->initialised); /* GPUVA-149: no garbage is reachable */
        *entry = table[index];
        if (!(*entry & GVA_VALID))
            return false;
        if (*entry & GVA_ZERO)
            return true;
        if (*entry & GVA_LARGE) {
            *entry += (page & below) << 12;
            return true;
        }
        segment = gva_entry_segment(*entry);
        address = gva_entry_page(*entry) << 12;
    }
    return true;
}

bool gva_access(struct gva_rig *rig, const DXGKARG_SETROOTPAGETABLE *root, uint64_t va,
                uint64_t *entry)
{
    uint64_t key = tlb_key(root, va >> 12);
    struct tlb_line *line = hash_get(&rig->tlb, key);

    if (line) {
        *entry = line->entry;
        return (line->entry & GVA_VALID) != 0;
    }
    if (!gva_walk(rig, root, va, entry))
        return false;
    if (rig->sticky) {
        line = malloc(sizeof(*line));
        CHECK(line);
        *line = (struct tlb_line){.root = root->Address.SegmentOffset | root->Address.SegmentId,
                                  .page = va >> 12,
                                  .entry = *entry};
        put(&rig->tlb, key, line);
    }
    return true;
}

DXGKARG_SETROOTPAGETABLE gva_root(const struct vidmm_space *space)
{
    return (DXGKARG_SETROOTPAGETABLE){.Address = table_address(space->root),
                                      .NumEntries = space->root->entries};
}
