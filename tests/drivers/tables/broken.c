/* SPDX-License-Identifier: MIT */
/*
 * The reference miniport with one mistake in its page tables: what the host asks is changed before
 * the miniport's own code sees it. Only tables of clients are written wrongly. The driver prints the
 * number of each call in which it makes its mistake, as the host counts them.
 */
#include "driver.h"

#include "service_value.h"
#include "tables/broken.h"

NTSTATUS NTAPI __real_RefGpuBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                              IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer);
NTSTATUS NTAPI __wrap_RefGpuBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                              IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer);
void NTAPI __real_RefGpuSetRootPageTable(IN_CONST_HANDLE hAdapter,
                                         IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable);
void NTAPI __wrap_RefGpuSetRootPageTable(IN_CONST_HANDLE hAdapter,
                                         IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable);
void __real_refgpu_read_settings(PUNICODE_STRING registry_path);
void __wrap_refgpu_read_settings(PUNICODE_STRING registry_path);

#define LINKS 64u

static struct {
    ULONG fault; /* enum table_fault */
    ULONG calls; /* of DxgkDdiBuildPagingBuffer */
    DXGK_PTE entries[TABLES_VICTIM_PAGES];
    /* WRONG_LEVEL: the table above the leaves of clients */
    D3DGPU_PHYSICAL_ADDRESS above;
    /* LATE: an update that waits for the next call, which comes after the submission */
    DXGKARG_BUILDPAGINGBUFFER late;
    DXGK_PTE late_entries[TABLES_VICTIM_PAGES];
    BOOLEAN waits;
    BOOLEAN hung; /* HANG */
    /* KEPT_LINK: what upper entries had first */
    struct {
        ULONGLONG address; /* GPU virtual */
        UINT level;
        DXGK_PTE entry;
    } link[LINKS];
    ULONG links;
    /* FIRST_ROOT */
    D3DGPU_PHYSICAL_ADDRESS root;
    BOOLEAN has_root;
} tables;

void __wrap_refgpu_read_settings(PUNICODE_STRING registry_path)
{
    __real_refgpu_read_settings(registry_path);
    tables.fault = ServiceValue(registry_path, L"TableFault");
}

static void say(void)
{
    DbgPrintEx(DPFLTR_IHVVIDEO_ID, DPFLTR_ERROR_LEVEL, "wrong in call %lu\n",
               (unsigned long)tables.calls);
}

static BOOLEAN is_client(HANDLE process)
{
    return process && !((const struct refgpu_process *)process)->system;
}

/* An update of the leaf entries of the test's victim. */
static BOOLEAN is_victim(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    return update->PageTableLevel == 0 && update->NumPageTableEntries == TABLES_VICTIM_PAGES;
}

/* A copy of the entries that may be changed. */
static DXGK_PTE *own_entries(DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, DXGK_PTE *to)
{
    const ULONG count = update->Flags.Repeat ? 1u : update->NumPageTableEntries;

    RtlCopyMemory(to, update->pPageTableEntries, count * sizeof *to);
    update->pPageTableEntries = to;
    return to;
}

static NTSTATUS forward(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                        DXGKARG_BUILDPAGINGBUFFER *own)
{
    const NTSTATUS status = __real_RefGpuBuildPagingBuffer(adapter, own);

    args->pDmaBuffer = own->pDmaBuffer;
    args->DmaSize = own->DmaSize;
    args->MultipassOffset = own->MultipassOffset;
    return status;
}

static void move_past(DXGKARG_BUILDPAGINGBUFFER *args, const void *before)
{
    args->DmaSize -= (UINT)((const UCHAR *)args->pDmaBuffer - (const UCHAR *)before);
}

/* ---- mistakes in the entries of a leaf ---- */

static NTSTATUS without_middle(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    const UINT third = TABLES_VICTIM_PAGES / 3u;
    DXGKARG_BUILDPAGINGBUFFER own = *args;
    NTSTATUS status;

    own.UpdatePageTable.NumPageTableEntries = third;
    status = __real_RefGpuBuildPagingBuffer(adapter, &own);
    if (!NT_SUCCESS(status))
        return status;
    move_past(&own, args->pDmaBuffer);
    own.MultipassOffset = 0;
    own.UpdatePageTable.StartIndex += 2u * third;
    own.UpdatePageTable.pPageTableEntries += 2u * third;
    return forward(adapter, args, &own);
}

static NTSTATUS keep_for_later(const DXGKARG_BUILDPAGINGBUFFER *args)
{
    tables.late = *args;
    (void)own_entries(&tables.late.UpdatePageTable, tables.late_entries);
    tables.waits = TRUE;
    return STATUS_SUCCESS;
}

static void write_late(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    const void *before = args->pDmaBuffer;

    if (!tables.waits || !before)
        return;
    tables.waits = FALSE;
    tables.late.pDmaBuffer = args->pDmaBuffer;
    tables.late.DmaSize = args->DmaSize;
    (void)forward(adapter, args, &tables.late);
    args->MultipassOffset = 0;
    move_past(args, before);
}

/* The first paging buffer with the victim's entries never ends; the reset writes all anew. */
static NTSTATUS hang(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct refgpu_emitter emitter = {.at = args->pDmaBuffer,
                                     .room = args->DmaSize / (UINT)sizeof(ULONG)};
    const void *before = args->pDmaBuffer;

    if (!tables.hung && refgpu_emit(&emitter, REFGPU_OP_HANG, 0, 1)) {
        tables.hung = TRUE;
        args->pDmaBuffer = emitter.at;
        move_past(args, before);
    }
    return __real_RefGpuBuildPagingBuffer(adapter, args);
}

static NTSTATUS write_victim(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    DXGKARG_BUILDPAGINGBUFFER own = *args;
    DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &own.UpdatePageTable;
    const BOOLEAN valid = update->pPageTableEntries[0].Valid;
    DXGK_PTE *entries = own_entries(update, tables.entries);

    if (valid == (tables.fault == TABLES_STALE))
        return __real_RefGpuBuildPagingBuffer(adapter, args);
    say();
    if (tables.fault == TABLES_STALE)
        return STATUS_SUCCESS;
    if (tables.fault == TABLES_CHUNK)
        return without_middle(adapter, args);
    if (tables.fault == TABLES_LATE)
        return keep_for_later(args);
    if (tables.fault == TABLES_HANG)
        return hang(adapter, args);
    if (tables.fault == TABLES_WRONG_LEVEL)
        update->PageTableAddress.GpuPhysical = tables.above;
    for (UINT i = 0; i < update->NumPageTableEntries; i++) {
        if (tables.fault == TABLES_WRONG_PAGE)
            entries[i].PageAddress++;
        if (tables.fault == TABLES_WRONG_SEGMENT)
            entries[i].Segment = REFGPU_SEGMENT_APERTURE;
        if (tables.fault == TABLES_WRITABLE)
            entries[i].ReadOnly = 0;
    }
    return forward(adapter, args, &own);
}

/* ---- mistakes in the entries above ---- */

/* The first entry that stood there; NULL: this is it. */
static const DXGK_PTE *first_link(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    for (ULONG i = 0; i < tables.links; i++)
        if (tables.link[i].level == update->PageTableLevel &&
            tables.link[i].address == update->FirstPteVirtualAddress)
            return &tables.link[i].entry;
    if (tables.links < LINKS) {
        tables.link[tables.links].level = update->PageTableLevel;
        tables.link[tables.links].address = update->FirstPteVirtualAddress;
        tables.link[tables.links++].entry = update->pPageTableEntries[0];
    }
    return NULL;
}

static NTSTATUS write_link(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    DXGKARG_BUILDPAGINGBUFFER own = *args;
    DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &own.UpdatePageTable;
    DXGK_PTE *entry = own_entries(update, tables.entries);
    const DXGK_PTE *first = tables.fault == TABLES_KEPT_LINK ? first_link(update) : NULL;

    if (tables.fault == TABLES_BIG)
        entry->PageTablePageSize = DXGK_PTE_PAGE_TABLE_PAGE_64KB;
    else if (first && first->PageTableAddress != entry->PageTableAddress)
        *entry = *first;
    else
        return __real_RefGpuBuildPagingBuffer(adapter, args);
    say();
    return forward(adapter, args, &own);
}

/* ---- root tables ---- */

void NTAPI __wrap_RefGpuSetRootPageTable(IN_CONST_HANDLE hAdapter,
                                         IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable)
{
    const struct refgpu_context *context = pSetPageTable->hContext;
    DXGKARG_SETROOTPAGETABLE own = *pSetPageTable;

    if (tables.fault == TABLES_FIRST_ROOT && !context->system) {
        if (!tables.has_root)
            tables.root = own.Address;
        tables.has_root = TRUE;
        own.Address = tables.root;
    }
    __real_RefGpuSetRootPageTable(hAdapter, &own);
}

/* ---- the entry ---- */

static NTSTATUS update_tables(IN_CONST_HANDLE adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;

    if (is_client(update->hProcess)) {
        if (is_victim(update) && tables.fault != TABLES_NO_FLUSH && tables.fault != TABLES_BIG &&
            tables.fault != TABLES_KEPT_LINK)
            return write_victim(adapter, args);
        if (update->PageTableLevel == 1)
            tables.above = update->PageTableAddress.GpuPhysical;
        if (update->PageTableLevel == 1 && update->NumPageTableEntries == 1u &&
            update->pPageTableEntries[0].Valid &&
            (tables.fault == TABLES_BIG || tables.fault == TABLES_KEPT_LINK))
            return write_link(adapter, args);
    }
    return __real_RefGpuBuildPagingBuffer(adapter, args);
}

NTSTATUS NTAPI __wrap_RefGpuBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                              IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer)
{
    DXGKARG_BUILDPAGINGBUFFER *args = pBuildPagingBuffer;

    tables.calls++;
    if (tables.fault == TABLES_SOUND)
        return __real_RefGpuBuildPagingBuffer(hAdapter, args);
    if (tables.fault == TABLES_LATE)
        write_late(hAdapter, args);
    if (args->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        return update_tables(hAdapter, args);
    if (args->Operation == DXGK_OPERATION_FLUSH_TLB && tables.fault == TABLES_NO_FLUSH &&
        is_client(args->FlushTlb.hProcess)) {
        say();
        return STATUS_SUCCESS;
    }
    return __real_RefGpuBuildPagingBuffer(hAdapter, args);
}
