/* SPDX-License-Identifier: MIT */
/* For how long the addresses of system memory that a driver was told lead there. */
#include "port/support/told_addresses.h"

/* ---- for how long ---- */

static bool none_answers(void)
{
    for (unsigned i = 0; i < driver.leaves; i++)
        if (reads(driver.leaf[i] * PAGE_SIZE))
            return false;
    return driver.leaves > 0;
}

static void fill(D3DKMT_HANDLE allocation, uint64_t pages, uint8_t value)
{
    memset(lock(allocation), value, pages * PAGE_SIZE);
    unlock(allocation);
}

#define EVICTED 8u

/* Since the last time. */
static bool transferred(void)
{
    const bool any = driver.operations[DXGK_OPERATION_VIRTUAL_TRANSFER] > 0;

    driver.operations[DXGK_OPERATION_VIRTUAL_TRANSFER] = 0;
    return any && driver.leaves >= EVICTED && driver.out_of_reach == 0;
}

/* To and from a memory segment: while the transfer runs, and no longer. */
TEST_WITH(mode, pages_of_a_transfer_are_mapped_for_it, IOMMU_ISOLATION)
{
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 visible = {.Value = 0};
    D3DKMT_HANDLE h;

    (void)p;
    visible.CpuVisible = 1; /* and not cached, so that it stays where it is for the processor */
    begin_client();
    h = make_allocation(1, visible.Value, EVICTED);
    fill(h, EVICTED, 0x21);
    CHECK(!transferred());
    driver.leaves = 0;
    evict(h);
    settle();
    CHECK_RULE("IOMMU-066/a", transferred());
    CHECK_RULE("IOMMU-066/b", none_answers());
    driver.leaves = 0;
    make_resident(h);
    CHECK_RULE("IOMMU-066/a", transferred());
    CHECK_RULE("IOMMU-066/b", none_answers());
    end_client();
}
TEST_ALSO(mode, pages_of_a_transfer_are_mapped_for_it, remapped, IOMMU_REMAP)

/* In an aperture, and in the implicit system memory segment. */
TEST_WITH(mode, pages_are_mapped_while_resident, IOMMU_ISOLATION)
{
    D3DKMT_HANDLE h;
    uint64_t va;

    (void)p;
    begin_client();
    h = make_allocation(2, flags_of(true, false), 3);
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-066/c", reads(driver.pages[k] * PAGE_SIZE));
    evict(h);
    settle();
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-066/c", !reads(driver.pages[k] * PAGE_SIZE));
    h = make_allocation(2, flags_of(false, false), 3);
    driver.leaves = 0;
    va = map_va(h, 3);
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-066/d", reads(entry_of(va + k * PAGE_SIZE).PageAddress * PAGE_SIZE));
    CHECK(driver.leaves == 3);
    evict(h);
    settle();
    CHECK_RULE("IOMMU-066/d", none_answers());
    end_client();
}
TEST_ALSO(mode, pages_are_mapped_while_resident, remapped, IOMMU_REMAP)

/* An eviction waits for the work that may use the pages. */
TEST_WITH(mode, pages_stay_until_the_device_is_done, IOMMU_ISOLATION)
{
    D3DKMT_HANDLE h;
    uint64_t at;

    begin_client();
    h = make_allocation(2, flags_of(false, false), 3);
    at = entry_of(map_va(h, 3)).PageAddress * PAGE_SIZE;
    CHECK_RULE("IOMMU-069/a", driver.system > 0 && driver.out_of_reach == 0 && reads(at));
    probe_device_packet_ns = 20 * MS;
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    probe_sleep(MS);
    evict(h);
    probe_sleep(10 * MS);
    CHECK_RULE("IOMMU-069/b", p->state[0].submitted[1] != p->state[0].reported[1] && reads(at));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    probe_device_packet_ns = 1000;
    probe_sleep(500 * MS);
    CHECK_RULE("IOMMU-069/b", !reads(at));
    destroy(h);
    CHECK_RULE("IOMMU-069/c", probe_rule(p, "PHYS-003") == 0 && probe_rule(p, "IOMMU-075") == 0);
    end_client();
}
TEST_ALSO(mode, pages_stay_until_the_device_is_done, remapped, IOMMU_REMAP)

static void hold_pages(struct probe *p)
{
    (void)p;
    begin_client();
    (void)make_allocation(2, flags_of(true, false), 3);
    CHECK(reads(driver.pages[0] * PAGE_SIZE) && reads(driver.pages[2] * PAGE_SIZE));
}

static void reset(struct probe *p)
{
    CHECK(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true) == STATUS_SUCCESS);
}

/* What the aperture had is lost with it, and so is the way there. */
TEST(a_reset_leaves_no_page_in_reach)
{
    for (enum iommu_mode mode = IOMMU_ISOLATION; mode <= IOMMU_REMAP; mode++) {
        struct probe *p = make(&modes[mode]);
        struct probe_client *client;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, hold_pages);
        CHECK(probe_run(p, reset) == SIM_DONE);
        for (unsigned k = 0; k < 3; k++)
            CHECK_RULE("IOMMU-066/c", !reads(driver.pages[k] * PAGE_SIZE));
        probe_client_end(p, client);
        probe_clients_end(p);
        CHECK(probe_stop(p) == 0);
        probe_destroy(p);
    }
}

static unsigned last_looks;

/* The paging process goes last. */
static void at_the_last(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    last_looks++;
    CHECK_RULE("IOMMU-085", reads((uint64_t)driver.unmap.UnmapApertureSegment.DummyPage.QuadPart));
}

static void dummy_body(struct probe *p)
{
    D3DKMT_HANDLE h;

    begin_client();
    for (unsigned i = 0; i < 3; i++) {
        h = make_allocation(2, flags_of(true, false), 4);
        destroy(h);
        /* through each page of the range that was unmapped */
        for (unsigned k = 0; k < 4; k++)
            CHECK_RULE("IOMMU-085",
                       reads(driver.aperture[driver.unmap.UnmapApertureSegment.OffsetInPages + k] *
                             PAGE_SIZE) &&
                           driver.aperture[driver.unmap.UnmapApertureSegment.OffsetInPages + k] !=
                               driver.pages[k]);
    }
    CHECK(probe_rule(p, "IOMMU-072") == 0);
    end_client();
}

TEST(what_is_unmapped_leads_to_the_dummy_page)
{
    for (enum iommu_mode mode = IOMMU_ISOLATION; mode <= IOMMU_REMAP; mode++) {
        struct probe *p = make(&modes[mode]);

        last_looks = 0;
        p->before[PROBE_DestroyProcess] = at_the_last;
        live(p, dummy_body);
        CHECK_RULE("IOMMU-085", last_looks == 2); /* the client's and the system's */
    }
}

static void loan_body(struct probe *p)
{
    D3DKMT_HANDLE h;

    begin_client();
    scattered_begin(p, 500, 2);
    h = make_allocation(2, flags_of(true, false), 6);
    scattered_end(p, 500, 2);
    CHECK(driver.list);
    (void)map_va(h, 6); /* calls that follow */
    CHECK_RULE("IOMMU-089/a", !driver.list_lasts);
    CHECK_RULE("IOMMU-089/b", reads(driver.pages[0] * PAGE_SIZE));
    end_client();
}

TEST_WITH(mode, the_array_of_a_list_is_on_loan, IOMMU_ISOLATION)
{
    loan_body(p);
}

/* ---- fences ---- */

enum { FENCES = 600 };

static struct {
    D3DKMT_HANDLE handle;
    volatile uint64_t *value;
    uint64_t va;
} fences[FENCES];

static void make_fence_with(unsigned i, bool gpu_access)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.Info.Type = D3DDDI_MONITORED_FENCE;
    args.Info.Flags.NoGPUAccess = !gpu_access;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&args), STATUS_SUCCESS));
    fences[i].handle = args.hSyncObject;
    fences[i].value = args.Info.MonitoredFence.FenceValueCPUVirtualAddress;
    fences[i].va = args.Info.MonitoredFence.FenceValueGPUVirtualAddress;
}

static void make_fence(unsigned i)
{
    make_fence_with(i, true);
}

static void drop_fence(unsigned i)
{
    CHECK(IS(D3DKMTDestroySynchronizationObject(
                 &(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT){fences[i].handle}),
             STATUS_SUCCESS));
}

/* Where the device finds the value: the page of the entry, and the byte in it. */
static uint64_t fence_at(unsigned i)
{
    const DXGK_PTE entry = entry_of(fences[i].va);

    CHECK(entry.Valid && entry.Segment == 0);
    return entry.PageAddress * PAGE_SIZE + fences[i].va % PAGE_SIZE;
}

TEST_WITH(mode, a_fence_is_in_reach_for_its_life, IOMMU_ISOLATION)
{
    unsigned count = 0;
    uint64_t value = 5, at;

    begin_client();
    do {
        CHECK(count < FENCES);
        make_fence(count);
    } while (fence_at(count++) / PAGE_SIZE == fence_at(0) / PAGE_SIZE);
    /* the last one has a page of its own */
    at = fence_at(count - 1);
    CHECK_RULE("IOMMU-067/a", probe_device_dma(0, at, &value, sizeof(value), true) &&
                                  *fences[count - 1].value == 5);
    value = 6;
    CHECK_RULE("IOMMU-067/a", probe_device_dma(0, fence_at(0), &value, sizeof(value), true) &&
                                  *fences[0].value == 6 && probe_rule(p, "IOMMU-072") == 0);
    drop_fence(0);
    settle();
    CHECK_RULE("IOMMU-067/a", reads(at) && reads(fence_at(1)));
    drop_fence(count - 1);
    settle();
    CHECK_RULE("IOMMU-067/b", !reads(at) && !probe_device_dma(0, at, &value, sizeof(value), true));
    end_client();
}
TEST_ALSO(mode, a_fence_is_in_reach_for_its_life, remapped, IOMMU_REMAP)

TEST_WITH(mode, a_fence_without_gpu_access_is_not_mapped, IOMMU_ISOLATION)
{
    size_t mappings;

    begin_client();
    make_fence(0);
    mappings = probe_count(p, PROBE_BuildPagingBuffer);
    for (unsigned i = 1; i < FENCES; i++) {
        make_fence_with(i, false);
        CHECK_RULE("SUBMIT-142", fences[i].va == 0);
    }
    CHECK_RULE("SUBMIT-142", probe_count(p, PROBE_BuildPagingBuffer) == mappings);
    for (unsigned i = 1; i < FENCES; i++)
        drop_fence(i);
    for (unsigned i = 1; i < FENCES; i++) /* more than a page has room for */
        make_fence(i);
    CHECK(probe_count(p, PROBE_BuildPagingBuffer) > mappings);
    for (unsigned i = 0; i < FENCES; i++)
        drop_fence(i);
    end_client();
}

/* ---- what is not announced ---- */

static void quiet_body(struct probe *p)
{
    D3DKMT_HANDLE h;

    begin_client();
    for (unsigned i = 0; i < 2; i++) {
        h = make_allocation(2, flags_of(i & 1u, false), 3);
        fill(h, 3, 0x31);
        evict(h);
        settle();
        make_resident(h);
        CHECK_RULE("IOMMU-097", lock(h)[2 * PAGE_SIZE] == 0x31);
        unlock(h);
    }
    for (unsigned i = DXGK_OPERATION_MAP_APERTURE_SEGMENT2 + 1; i < 64; i++) {
        CHECK_RULE("IOMMU-097", driver.operations[i] == 0);
        CHECK_RULE("PAGE-080", driver.operations[i] == 0);
    }
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    end_client();
}

static void ask_to_be_told(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    choose_flags(p, call);
    for (UINT i = 0; i < args->NumAllocations; i++)
        args->pAllocationInfo[i].Flags2.Reserved = 0x7FFFFFFF; /* NotifyIoMmuUnmap is one of them */
}

TEST(no_unmapping_is_announced)
{
    const struct probe_options newer = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0,
                                        .port = {.iommu = IOMMU_ISOLATION}};
    struct probe *p = make(&newer);

    p->after[PROBE_CreateAllocation] = ask_to_be_told;
    live(p, quiet_body);
}
