/* SPDX-License-Identifier: MIT */
/* The addresses of system memory that a driver is told, by paging operations and submissions: what its device finds there. */
#include "port/support/told_addresses.h"

/* ---- which operation ---- */

static void operations_body(struct probe *p)
{
    const bool second = p->caps.MemoryManagementCaps.MapAperture2Supported;
    D3DKMT_HANDLE h;

    begin_client();
    h = make_allocation(2, flags_of(true, false), 2);
    CHECK_RULE("IOMMU-086/a", (driver.operations[17] > 0) == second);
    CHECK_RULE("IOMMU-086/b", (driver.operations[5] > 0) == !second);
    CHECK(driver.operations[6] == 0);
    evict(h);
    settle();
    CHECK_RULE("IOMMU-086/c",
               driver.operations[6] == 1 && driver.unmap.UnmapApertureSegment.NumberOfPages == 2);
    end_client();
}

TEST(the_cap_decides_the_operation)
{
    for (unsigned second = 0; second < 2; second++) {
        struct probe *p = make(&modes[IOMMU_ISOLATION]);

        p->caps.MemoryManagementCaps.MapAperture2Supported = second & 1u;
        p->iommu.DmaRemappingSupported = second & 1u;
        live(p, operations_body);
    }
}

TEST_WITH(mode, only_what_is_accessed_physically_is_mapped, IOMMU_ISOLATION)
{
    D3DKMT_HANDLE h;
    uint64_t va;

    (void)p;
    begin_client();
    h = make_allocation(2, flags_of(false, true), 2);
    va = map_va(h, 2);
    CHECK_RULE("IOMMU-092/b", driver.operations[17] == 0 && entry_of(va).Valid &&
                                  entry_of(va).Segment == 0 && driver.written == 0);
    evict(h);
    settle();
    CHECK_RULE("IOMMU-092/b", driver.operations[6] == 0);
    h = make_allocation(2, flags_of(true, true), 2);
    CHECK_RULE("IOMMU-092/a", driver.operations[17] == 1 && driver.written == 1);
    va = map_va(h, 2);
    CHECK_RULE("IOMMU-092/a", entry_of(va).Valid && entry_of(va).PageAddress == driver.pages[0]);
    end_client();
}

/* ---- which pages ---- */

#define COUNT 6u

/* Page k of the allocation is where the driver was told, in the list and at the GPU's address. */
static void pages_body(struct probe *p)
{
    const bool remap = port_adapter_dma_mode(p->adapter[0]) == IOMMU_REMAP;
    D3DKMT_HANDLE first, h;
    uint8_t *bytes;
    uint64_t va;

    begin_client();
    first = make_allocation(2, flags_of(true, false), 3); /* so that the other is not at the start */
    scattered_begin(p, 500, 2);
    h = make_allocation(2, flags_of(true, false), COUNT);
    scattered_end(p, 500, 2);
    CHECK_RULE("IOMMU-088/a", !remap || driver.map.MapApertureSegment2.Adl.Flags.Contiguous);
    CHECK_RULE("IOMMU-088/b", remap || !driver.map.MapApertureSegment2.Adl.Flags.Contiguous);
    CHECK(driver.map.MapApertureSegment2.SegmentId == APERTURE &&
          driver.map.MapApertureSegment2.NumberOfPages == COUNT);
    CHECK_RULE("IOMMU-087/b", driver.map.MapApertureSegment2.OffsetInPages >= 3);
    va = map_va(h, COUNT);
    bytes = lock(first);
    bytes[2 * PAGE_SIZE] = 0x19;
    unlock(first);
    bytes = lock(h);
    for (unsigned k = 0; k < COUNT; k++)
        bytes[k * PAGE_SIZE + 1] = (uint8_t)(0x60 + k);
    for (unsigned k = 0; k < COUNT; k++) {
        const DXGK_PTE entry = entry_of(va + k * PAGE_SIZE);
        struct phys_addr frame;

        CHECK_RULE("IOMMU-087/a", byte_at(driver.pages[k] * PAGE_SIZE + 1) == 0x60 + k);
        CHECK_RULE(
            "IOMMU-087/b",
            byte_at(driver.aperture[driver.map.MapApertureSegment2.OffsetInPages + k] * PAGE_SIZE +
                    1) == 0x60 + k);
        /* the same page for accesses that go through page tables */
        CHECK(entry.Valid && entry.Segment == 0 && entry.PageAddress == driver.pages[k]);
        CHECK(ram_physical(p->ram, bytes + k * PAGE_SIZE, &frame));
        CHECK_RULE("IOMMU-084/b", (driver.pages[k] == frame.value / PAGE_SIZE) == !remap);
    }
    unlock(h);
    CHECK_RULE("IOMMU-089/b", byte_at(driver.pages[COUNT - 1] * PAGE_SIZE + 1) == 0x60 + COUNT - 1);
    CHECK_RULE("IOMMU-087/b", byte_at(driver.aperture[2] * PAGE_SIZE) == 0x19);
    destroy(h);
    CHECK(driver.unmap.UnmapApertureSegment.OffsetInPages ==
          driver.map.MapApertureSegment2.OffsetInPages);
    destroy(first);
    end_client();
}

TEST(lists_carry_the_pages_of_the_allocation)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++)
        in_mode(mode, pages_body);
}

/* ---- the view of the driver ---- */

static void view_body(struct probe *p)
{
    D3DKMT_HANDLE h;
    uint8_t *bytes, byte;
    const void *view;

    (void)p;
    begin_client();
    h = make_allocation(2, flags_of(true, false), 2);
    CHECK_RULE("IOMMU-090/c", driver.operations[17] == 1 && driver.written == 0);
    destroy(h);
    h = make_allocation(2, flags_of(true, true), 2);
    CHECK_RULE("IOMMU-090/a", driver.operations[17] == 2 && driver.written == 1);
    view = driver.map.MapApertureSegment2.CpuVisibleAddress;
    bytes = lock(h);
    CHECK_RULE("IOMMU-090/a",
               bytes[PAGE_SIZE + 7] == 0x5A && byte_at(driver.pages[1] * PAGE_SIZE + 7) == 0x5A);
    unlock(h);
    CHECK_RULE("IOMMU-090/b", sim_copy_checked(&byte, (const uint8_t *)view + 2 * PAGE_SIZE - 1, 1));
    evict(h);
    settle();
    CHECK_RULE("IOMMU-090/b", driver.operations[6] == 2 && !sim_copy_checked(&byte, view, 1) &&
                                  !sim_copy_checked(&byte, (const uint8_t *)view + PAGE_SIZE, 1));
    make_resident(h);
    CHECK_RULE("IOMMU-090/a", driver.operations[17] == 3 && driver.written == 2);
    end_client();
}

TEST(a_driver_sees_what_it_asked_to_see)
{
    for (enum iommu_mode mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++)
        in_mode(mode, view_body);
}

static void refused_body(struct probe *p)
{
    const bool second = p->caps.MemoryManagementCaps.MapAperture2Supported;
    D3DKMT_HANDLE h = 0;
    NTSTATUS status;

    begin_client();
    driver.set = 2;
    driver.flags = flags_of(true, true);
    status = probe_gpu_allocate(&gpu, 2 * PAGE_SIZE, &h);
    CHECK_RULE("IOMMU-091", IS(status, second ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER) &&
                                probe_reports(p, VERIFY_ERROR) == !second &&
                                probe_rule(p, "ALLOC-061") == !second);
    CHECK_RULE("SEG-080", IS(status, second ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
    end_client();
}

TEST(a_view_needs_the_cap)
{
    for (unsigned second = 0; second < 2; second++) {
        struct probe *p = make(NULL);

        p->caps.MemoryManagementCaps.MapAperture2Supported = second & 1u;
        p->iommu.DmaRemappingSupported = second & 1u;
        live(p, refused_body);
    }
}

/* ---- no frame number is told in logical mode ---- */

/* Pages of RAM that are taken, so that frames lie above, and logical pages below. */
#define LOW 8192u

static struct page_number low[LOW];

static void every_kind_body(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_HANDLE h[4];

    (void)p;
    begin_client();
    for (unsigned i = 0; i < 4; i++) {
        h[i] = make_allocation(i & 1 ? 2 : 3, flags_of(i & 2, false), 5);
        (void)map_va(h[i], 5);
    }
    memset(&fence, 0, sizeof(fence));
    fence.hDevice = gpu.device;
    fence.Info.Type = D3DDDI_MONITORED_FENCE;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&fence), STATUS_SUCCESS));
    for (unsigned i = 0; i < 4; i++) {
        evict(h[i]);
        settle();
    }
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(driver.operations[17] && driver.operations[6] && driver.operations[11]);
    end_client();
}

/* Page tables in system memory, too, whose addresses stand in operations and in the entries above them. */
TEST(no_frame_number_is_told_in_logical_mode)
{
    const struct ram_request request = {
        .pages = LOW, .high = {LOW * PAGE_SIZE - 1}, .owner = RAM_HOST, .cache = RAM_CACHED};
    uint64_t count;

    for (unsigned tables = 0; tables < 2; tables++) {
        struct probe *p = make(&modes[IOMMU_REMAP]);
        struct probe_client *client;

        count = ram_take_some_pages(p->ram, &request, low);
        for (unsigned i = 0; tables && i < 4; i++)
            p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
        driver.bound = LOW;
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, every_kind_body);
        CHECK_RULE("IOMMU-084/a", driver.system > 50 && driver.beyond == 0);
        CHECK_RULE("IOMMU-084/c", driver.out_of_reach == 0);
        probe_client_end(p, client);
        probe_clients_end(p);
        CHECK(probe_stop(p) == 0);
        ram_give_pages(p->ram, low, count);
        probe_destroy(p);
    }
}
