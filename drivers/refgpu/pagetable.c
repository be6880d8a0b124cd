/* SPDX-License-Identifier: MIT */
/*
 * Page tables: converts the host's DXGK_PTE to the hardware's entries. The copy engine writes them
 * at the table's device address, or at its address in the paging process, or the CPU does, as the
 * service key's PageTableUpdateMode says (settings.c). The CPU always does while the tables of the
 * paging process itself are set up, when there is no paging buffer yet. Runs of entries that grow by a constant, which is
 * what contiguous memory gives, become one fill command.
 */
#include "driver.h"

/* Most entries per PTE_WRITE command, and how many similar ones make a fill worthwhile. */
#define WRITE_MAX ((REFGPU_CMD_MAX_DWORDS - 4u) / 2u)
#define FILL_MIN  4u

ULONGLONG refgpu_segment_address(ULONG segment, ULONGLONG offset)
{
    switch (segment) {
    case REFGPU_SEGMENT_VRAM:
        return REFGPU_VRAM_BASE + offset;
    case REFGPU_SEGMENT_APERTURE:
        return REFGPU_GART_BASE + offset;
    default:
        return REFGPU_BUS_BASE + offset; /* 0: system memory */
    }
}

/* The hardware's entry for a table of `level`. */
static ULONGLONG hardware_entry(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, ULONG index)
{
    const DXGK_PTE *pte = &update->pPageTableEntries[update->Flags.Repeat ? 0u : index];
    ULONGLONG entry = REFGPU_PTE_VALID;

    if (!pte->Valid)
        return 0;
    if (pte->Zero)
        return REFGPU_PTE_VALID | REFGPU_PTE_ZERO;
    entry |= (pte->PageAddress << PAGE_SHIFT) & REFGPU_PTE_ADDRESS_MASK;
    if (update->PageTableLevel > 0) {
        if (update->PageTableLevel == 1 && pte->PageTablePageSize == DXGK_PTE_PAGE_TABLE_PAGE_64KB)
            entry |= REFGPU_PTE_BIG;
        return entry;
    }
    if (pte->Segment == 0)
        entry |= REFGPU_PTE_SYSTEM;
    else if (pte->Segment == REFGPU_SEGMENT_APERTURE)
        entry |= REFGPU_PTE_GART;
    if (pte->ReadOnly)
        entry |= REFGPU_PTE_READ_ONLY;
    if (pte->NoExecute)
        entry |= REFGPU_PTE_NO_EXECUTE;
    if (pte->CacheCoherent)
        entry |= REFGPU_PTE_SNOOP;
    return entry | (update->DriverProtection & 0xFFu) << REFGPU_PTE_TAG_SHIFT;
}

/* All bits in which entries differ from a run of pages that continues with `page`. */
static ULONGLONG differ(const DXGK_PTE *pte, ULONG count, ULONGLONG flags, ULONGLONG page,
                        ULONGLONG step)
{
    ULONGLONG bits = 0;

    for (ULONG i = 0; i < count; i++, page += step)
        bits |= (pte[i].Flags ^ flags) | (pte[i].PageAddress ^ page);
    return bits;
}

static BOOLEAN is_expressible(ULONGLONG page)
{
    return page <= REFGPU_PTE_ADDRESS_MASK >> PAGE_SHIFT;
}

/* Of pages that differ in their numbers alone, which is what most runs are; 0: the second one does
 * not. */
static ULONG page_run_length(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, ULONG first,
                             ULONGLONG *step)
{
    const DXGK_PTE *pte = &update->pPageTableEntries[first];
    const ULONG count = update->NumPageTableEntries - first;
    const ULONGLONG flags = pte->Flags, page = pte->PageAddress;
    ULONGLONG pages;
    ULONG length = 2;

    if (count < 2u || !pte->Valid || pte->Zero || pte[1].Flags != flags)
        return 0;
    pages = pte[1].PageAddress - page;
    while (length + 4u <= count && !differ(pte + length, 4, flags, page + length * pages, pages))
        length += 4;
    while (length < count && !differ(pte + length, 1, flags, page + length * pages, pages))
        length++;
    *step = pages << PAGE_SHIFT;
    return is_expressible(page) && is_expressible(pte[length - 1u].PageAddress) ? length : 0;
}

/* Number of entries from `first` on that increase by the same step. */
static ULONG run_length(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, ULONG first,
                        ULONGLONG *step)
{
    const ULONG count = update->NumPageTableEntries;
    ULONGLONG last;
    ULONG length;

    *step = 0;
    if (update->Flags.Repeat)
        return count - first;
    length = page_run_length(update, first, step);
    if (length)
        return length;
    last = hardware_entry(update, first);
    *step = 0;
    for (length = 1; first + length < count; length++) {
        const ULONGLONG next = hardware_entry(update, first + length);

        if (length == 1u)
            *step = next - last;
        else if (next - last != *step)
            break;
        last = next;
    }
    return length;
}

static void write_by_cpu(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    volatile ULONGLONG *table = (volatile ULONGLONG *)update->PageTableAddress.CpuVirtual +
                                update->StartIndex;
    const ULONG count = update->NumPageTableEntries;

    if (update->Flags.Repeat && count) {
        const ULONGLONG entry = hardware_entry(update, 0);

        for (ULONG i = 0; i < count; i++)
            table[i] = entry;
    } else {
        for (ULONG i = 0; i < count; i++)
            table[i] = hardware_entry(update, i);
    }
    KeMemoryBarrier();
}

/* The flag of commands for tables that are given by their address in the paging process. */
static ULONG address_flag(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    return update->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL ? REFGPU_PTE_VIRTUAL : 0;
}

static BOOLEAN emit_fill(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update,
                         struct refgpu_emitter *emitter, ULONGLONG address, ULONG first,
                         ULONG count, ULONGLONG step)
{
    uint32_t *c = refgpu_emit(emitter, REFGPU_OP_PTE_FILL, address_flag(update), 8);

    if (!c)
        return FALSE;
    refgpu_put64(c + 1, address);
    c[3] = count;
    refgpu_put64(c + 4, hardware_entry(update, first));
    refgpu_put64(c + 6, step);
    return TRUE;
}

/* Writes as many entries as fit, at most `count`; returns how many. */
static ULONG emit_write(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update,
                        struct refgpu_emitter *emitter, ULONGLONG address, ULONG first, ULONG count)
{
    uint32_t *c;

    if (emitter->room < 6u)
        return 0;
    if (count > (emitter->room - 4u) / 2u)
        count = (emitter->room - 4u) / 2u;
    if (count > WRITE_MAX)
        count = WRITE_MAX;
    c = refgpu_emit(emitter, REFGPU_OP_PTE_WRITE, address_flag(update), 4u + 2u * count);
    if (!c)
        return 0;
    refgpu_put64(c + 1, address);
    c[3] = count;
    for (ULONG i = 0; i < count; i++)
        refgpu_put64(c + 4u + 2u * i, hardware_entry(update, first + i));
    return count;
}

NTSTATUS refgpu_build_update_page_table(DXGKARG_BUILDPAGINGBUFFER *args,
                                        struct refgpu_emitter *emitter)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;
    ULONGLONG table;
    ULONG done = args->MultipassOffset;

    if (update->UpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL) {
        write_by_cpu(update);
        return STATUS_SUCCESS;
    }
    if (!emitter->at)
        return STATUS_INVALID_PARAMETER;
    table = update->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_VIRTUAL
                ? update->PageTableAddress.GpuVirtual
                : refgpu_segment_address(update->PageTableAddress.GpuPhysical.SegmentId,
                                         update->PageTableAddress.GpuPhysical.SegmentOffset);
    while (done < update->NumPageTableEntries) {
        const ULONGLONG address = table + (ULONGLONG)(update->StartIndex + done) * sizeof(ULONGLONG);
        ULONG count, alike = 0;
        ULONGLONG step;

        count = run_length(update, done, &step);
        if (count >= FILL_MIN || update->Flags.Repeat ||
            done + count == update->NumPageTableEntries) {
            if (emit_fill(update, emitter, address, done, count, step))
                alike = count;
        } else {
            /* Scattered pages: all up to the next run that is long enough for a fill. */
            while (count < FILL_MIN && done + alike + count <= update->NumPageTableEntries) {
                alike += count;
                if (done + alike == update->NumPageTableEntries)
                    break;
                count = run_length(update, done + alike, &step);
            }
            alike = emit_write(update, emitter, address, done, alike);
        }
        if (!alike) {
            args->MultipassOffset = done;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        done += alike;
    }
    args->MultipassOffset = done;
    return STATUS_SUCCESS;
}
