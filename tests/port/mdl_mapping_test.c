/* SPDX-License-Identifier: MIT */
/* DxgkCbMapMdlToIoMmu and DxgkCbUnmapMdlFromIoMmu: memory that the driver got elsewhere, for the device. */
#include "port/support/memory_scene.h"

#include <stdio.h>

#define TAG 0x74736554u

static char *pool_block(SIZE_T bytes)
{
    char *block = ExAllocatePoolWithTag(NonPagedPoolNx, bytes, TAG);

    CHECK(block != NULL);
    memset(block, 0, bytes);
    return block;
}

static PMDL mdl_of(char *bytes, ULONG count)
{
    PMDL mdl = IoAllocateMdl(bytes, count, FALSE, FALSE, NULL);

    CHECK(mdl != NULL);
    MmBuildMdlForNonPagedPool(mdl);
    return mdl;
}

static NTSTATUS map_mdl(struct probe *p, PMDL mdl, HANDLE *handle)
{
    DXGKARGCB_MAPMDLTOIOMMU args = {.pMdl = mdl, .hMemoryHandle = NONE};
    NTSTATUS status = DXGK.DxgkCbMapMdlToIoMmu(DXGK.DeviceHandle, &args);

    *handle = args.hMemoryHandle;
    return status;
}

static void unmap_mdl(struct probe *p, HANDLE handle)
{
    DXGKARGCB_UNMAPMDLFROMIOMMU args = {.hMemoryHandle = handle};

    DXGK.DxgkCbUnmapMdlFromIoMmu(DXGK.DeviceHandle, &args);
}

TEST_WITH(memory, pool_is_reachable_while_mapped, &memory_isolated)
{
    char *block = pool_block(3 * PAGE);
    PMDL mdl = mdl_of(block, 3 * PAGE);
    uint64_t page = page_of(block), before = ram_free_pages(p->ram);
    PVOID system = mdl->MappedSystemVa;
    HANDLE handle;

    CHECK_RULE("PHYS-078/a", !device_reaches(p, page));
    CHECK_RULE("PHYS-078/a",
               IS(map_mdl(p, mdl, &handle), STATUS_SUCCESS) && handle != NULL && handle != NONE);
    for (unsigned i = 0; i < 3; i++) {
        page = page_of(block + i * PAGE);
        block[i * PAGE] = (char)('a' + i);
        CHECK_RULE("PHYS-078/a", device_byte(p, page, 0) == (char)('a' + i) &&
                                     device_writes(p, page, 5, 'd') && block[i * PAGE + 5] == 'd');
        CHECK_RULE("PHYS-078/b", ram_page_locks(p->ram, (struct page_number){page}) == 0);
    }
    CHECK_RULE("PHYS-078/b", ram_free_pages(p->ram) == before && mdl->MappedSystemVa == system);
    unmap_mdl(p, handle);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("PHYS-084", !device_reaches(p, page_of(block + i * PAGE)));
    CHECK_RULE("PHYS-084", block[0] == 'a' && ram_free_pages(p->ram) == before);
    unmap_mdl(p, handle);
    CHECK_RULE("PHYS-084", probe_rule(p, "PHYS-017") == 1);
    IoFreeMdl(mdl);
    ExFreePoolWithTag(block, TAG);
}

/* ---- which MDLs ---- */

TEST_WITH(memory, an_mdl_must_hold_pages, &memory_isolated)
{
    char *block = pool_block(PAGE), *paged = ExAllocatePoolWithTag(PagedPool, PAGE, TAG);
    PMDL mdl = IoAllocateMdl(block, 4096, FALSE, FALSE, NULL), locked, parts;
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY given = make_block(p, PAGE);
    uint64_t free_page = free_frames(p, 1, 1, 0);
    PFN_NUMBER own;
    HANDLE handle;

    CHECK_RULE("PHYS-079/a", IS(map_mdl(p, NULL, &handle), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-079") == 1 && handle == NULL);
    CHECK_RULE("PHYS-079/b", IS(map_mdl(p, mdl, &handle), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-079") == 2);
    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("PHYS-079/c", IS(map_mdl(p, mdl, &handle), STATUS_SUCCESS));
    unmap_mdl(p, handle);
    locked = IoAllocateMdl(paged, 4096, FALSE, FALSE, NULL);
    CHECK(locked && paged);
    MmProbeAndLockPages(locked, KernelMode, IoWriteAccess);
    CHECK_RULE("PHYS-079/c", IS(map_mdl(p, locked, &handle), STATUS_SUCCESS));
    unmap_mdl(p, handle);
    parts = IoAllocateMdl(MmGetMdlVirtualAddress(locked), 4096, FALSE, FALSE, NULL);
    CHECK(parts != NULL);
    IoBuildPartialMdl(locked, parts, MmGetMdlVirtualAddress(locked), 4096);
    CHECK_RULE("PHYS-079/c", IS(map_mdl(p, parts, &handle), STATUS_SUCCESS));
    unmap_mdl(p, handle);
    IoFreeMdl(parts);
    MmUnlockPages(locked);
    IoFreeMdl(locked);
    CHECK(probe_rule(p, "PHYS-079") == 2);
    own = MmGetMdlPfnArray(mdl)[0];
    MmGetMdlPfnArray(mdl)[0] = free_page; /* nobody's */
    CHECK_RULE("PHYS-079/d", IS(map_mdl(p, mdl, &handle), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-079") == 3 && !device_reaches(p, free_page));
    MmGetMdlPfnArray(mdl)[0] = ram_bytes(p->ram) / PAGE;
    CHECK_RULE("PHYS-080/c", IS(map_mdl(p, mdl, &handle), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-080") == 1);
    MmGetMdlPfnArray(mdl)[0] = 0;
    CHECK_RULE("PHYS-080/c", IS(map_mdl(p, mdl, &handle), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-080") == 2);
    MmGetMdlPfnArray(mdl)[0] = own;
    IoFreeMdl(mdl);
    CHECK(IS(free_block(p, given.hMemoryHandle), STATUS_SUCCESS));
    ExFreePoolWithTag(block, TAG);
    ExFreePoolWithTag(paged, TAG);
}

TEST_WITH(memory, touched_pages_are_mapped_whole, &memory_isolated)
{
    char *block = pool_block(4 * PAGE),
         *edge = (char *)(((uintptr_t)block + 2 * PAGE - 1) & ~4095ull);
    char *chained = pool_block(PAGE);
    uint64_t first = page_of(edge - 1), second = page_of(edge);
    PMDL mdl = mdl_of(edge - 1, 2), next = mdl_of(chained, 4096);
    HANDLE handle;

    mdl->Next = next;
    CHECK(IS(map_mdl(p, mdl, &handle), STATUS_SUCCESS));
    CHECK_RULE("PHYS-080/a",
               device_reads(p, first, 0, &(char){0}) && device_writes(p, first, 0, 1) &&
                   device_writes(p, first, 4095, 1) && device_writes(p, second, 0, 1) &&
                   device_writes(p, second, 4095, 1));
    CHECK_RULE("PHYS-080/a", !device_reaches(p, page_of(edge + PAGE)));
    CHECK_RULE("PHYS-080/b", !device_reaches(p, page_of(chained)));
    unmap_mdl(p, handle);
    mdl->Next = NULL;
    IoFreeMdl(mdl);
    IoFreeMdl(next);
    ExFreePoolWithTag(block, TAG);
    ExFreePoolWithTag(chained, TAG);
}

TEST_WITH(memory, a_page_stays_for_its_last_mapping, &memory_isolated)
{
    char *block = pool_block(3 * PAGE);
    PMDL whole = mdl_of(block, 2 * PAGE), behind = mdl_of(block + PAGE, 2 * PAGE);
    uint64_t page[3];
    HANDLE first, second, third;

    for (unsigned i = 0; i < 3; i++)
        page[i] = page_of(block + i * PAGE);
    CHECK(IS(map_mdl(p, whole, &first), STATUS_SUCCESS));
    CHECK_RULE("PHYS-081/a", IS(map_mdl(p, whole, &second), STATUS_SUCCESS) && second != first);
    CHECK_RULE("PHYS-081/b",
               IS(map_mdl(p, behind, &third), STATUS_SUCCESS) && third != first && third != second);
    unmap_mdl(p, first);
    CHECK_RULE("PHYS-081/a", device_reaches(p, page[0]) && device_reaches(p, page[1]));
    unmap_mdl(p, second);
    CHECK_RULE("PHYS-081/a", !device_reaches(p, page[0]));
    CHECK_RULE("PHYS-081/b", device_reaches(p, page[1]) && device_reaches(p, page[2]));
    unmap_mdl(p, third);
    CHECK_RULE("PHYS-081/b", !device_reaches(p, page[1]) && !device_reaches(p, page[2]));
    IoFreeMdl(whole);
    IoFreeMdl(behind);
    ExFreePoolWithTag(block, TAG);
}

/* ---- what must stay ---- */

TEST_WITH(memory, a_changed_page_list_is_not_believed, &memory_isolated)
{
    char *block = pool_block(66 * PAGE), *other = pool_block(PAGE);
    static const unsigned changed[] = {0, 1, 63, 64, 65};
    uint64_t reports = 0;

    for (unsigned i = 0; i < 8; i++) {
        PMDL mdl = mdl_of(block, 66 * PAGE);
        PFN_NUMBER *list = MmGetMdlPfnArray(mdl);
        PFN_NUMBER own = 0;
        HANDLE handle;

        CHECK(IS(map_mdl(p, mdl, &handle), STATUS_SUCCESS));
        if (i < 5) {
            own = list[changed[i]];
            list[changed[i]] = page_of(other);
        } else if (i == 5) {
            mdl->ByteCount -= 4096;
        } else if (i == 6) {
            mdl->ByteOffset += 1;
        }
        unmap_mdl(p, handle);
        reports += i < 7;
        CHECK_RULE("PHYS-082/a", probe_rule(p, "PHYS-082") == reports);
        for (unsigned k = 0; k < 66; k++)
            CHECK_RULE("PHYS-082/b", !device_reaches(p, page_of(block + k * PAGE)));
        if (i < 5)
            list[changed[i]] = own;
        else if (i == 5)
            mdl->ByteCount += 4096;
        else if (i == 6)
            mdl->ByteOffset -= 1;
        IoFreeMdl(mdl);
    }
    ExFreePoolWithTag(block, TAG);
    ExFreePoolWithTag(other, TAG);
}

/* Whether the pages are among all that anybody can get. */
static bool handed_out(struct probe *p, uint64_t first, uint64_t count)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL all = ask_pages(ram_free_pages(p->ram) * PAGE);
    uint64_t found = 0;

    CHECK(IS(take_pages(p, &all), STATUS_SUCCESS) && ram_free_pages(p->ram) == 0);
    for (uint64_t i = 0; i < all.TotalBytes / PAGE; i++)
        found += pfn(&all, i) - first < count;
    CHECK(IS(free_pages(p, all.hMemoryHandle), STATUS_SUCCESS));
    CHECK(found == 0 || found == count);
    return found > 0;
}

static bool named(struct probe *p, uint64_t page)
{
    char text[40];

    snprintf(text, sizeof(text), "page 0x%llx was released", (unsigned long long)page);
    return probe_said(p, "PHYS-003", text);
}

TEST_WITH(memory, released_pages_wait_for_the_unmap, &memory_isolated)
{
    char *block = MmAllocateContiguousMemory(2 * PAGE, (PHYSICAL_ADDRESS){.QuadPart = -1});
    uint64_t page = page_of(block), count;
    PMDL mdl = mdl_of(block, 2 * PAGE);
    HANDLE handle;

    count = ram_free_pages(p->ram);
    CHECK(block != NULL);
    CHECK(IS(map_mdl(p, mdl, &handle), STATUS_SUCCESS));
    CHECK(probe_rule(p, "PHYS-003") == 0);
    MmFreeContiguousMemory(block);
    CHECK_RULE("PHYS-083/a", probe_rule(p, "PHYS-003") == 2);
    CHECK_RULE("PHYS-003/a", named(p, page));
    CHECK_RULE("PHYS-083/b", ram_free_pages(p->ram) == count && !handed_out(p, page, 2));
    CHECK_RULE("PHYS-003/b", !handed_out(p, page, 2));
    unmap_mdl(p, handle);
    CHECK_RULE("PHYS-083/b", ram_free_pages(p->ram) == count + 2 && !device_reaches(p, page) &&
                                 !device_reaches(p, page + 1));
    CHECK_RULE("PHYS-003/b", handed_out(p, page, 2));
    IoFreeMdl(mdl);
}

TEST_WITH(memory, released_pages_wait_for_the_unlock, &memory_isolated)
{
    char *block = MmAllocateContiguousMemory(2 * PAGE, (PHYSICAL_ADDRESS){.QuadPart = -1});
    uint64_t page = page_of(block), count;
    PMDL mdl = IoAllocateMdl(block, 2 * 4096, FALSE, FALSE, NULL);
    PMDL twice = IoAllocateMdl(block, 2 * 4096, FALSE, FALSE, NULL);

    count = ram_free_pages(p->ram);
    CHECK(block && mdl && twice);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    MmProbeAndLockPages(twice, KernelMode, IoWriteAccess);
    MmFreeContiguousMemory(block);
    CHECK_RULE("PHYS-003/c", named(p, page) && probe_rule(p, "PHYS-003") == 2);
    MmUnlockPages(mdl);
    CHECK_RULE("PHYS-003/c", ram_free_pages(p->ram) == count && !handed_out(p, page, 2));
    MmUnlockPages(twice);
    CHECK_RULE("PHYS-003/c", ram_free_pages(p->ram) == count + 2 && handed_out(p, page, 2));
    IoFreeMdl(mdl);
    IoFreeMdl(twice);
}
