/* SPDX-License-Identifier: MIT */
/* What the device reaches of the memory that its driver takes, and at which addresses, in each mode of DMA. */
#include "bus/dma.h"
#include "port/support/device_memory.h"
#include "port/support/scattered.h"
#include "sim/sim.h"

#include <stdio.h>

/* ---- which address a page has ---- */

TEST_WITH(mode, the_mode_decides_the_addresses, IOMMU_OFF)
{
    const enum iommu_mode mode = port_adapter_dma_mode(p->adapter[0]);
    struct memory m = memory_of(p, PAGES(5));

    for (uint64_t k = 0; k < 5; k++) {
        const bool same = page_of(m.adl, k) == frame_of(p, &m, k);

        if (mode == IOMMU_OFF)
            CHECK_RULE("IOMMU-001/a", same);
        else if (mode == IOMMU_ISOLATION)
            CHECK_RULE("IOMMU-001/b", same);
        else
            CHECK_RULE("IOMMU-001/c", !same);
        m.bytes[k * PAGE_SIZE] = (uint8_t)(0x40 + k);
    }
    if (mode == IOMMU_ISOLATION)
        CHECK_RULE("IOMMU-002/a", page_of(m.adl, 4) == frame_of(p, &m, 4));
    for (uint64_t k = 0; k < 5; k++) {
        uint8_t byte = 0;

        CHECK(probe_device_dma(0, page_of(m.adl, k) * PAGE_SIZE, &byte, 1, false));
        CHECK_RULE("IOMMU-096/a", byte == 0x40 + k);
    }
    give_memory(p, &m);
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
}
TEST_ALSO(mode, the_mode_decides_the_addresses, isolated, IOMMU_ISOLATION)
TEST_ALSO(mode, the_mode_decides_the_addresses, remapped, IOMMU_REMAP)

/* The pages lie about in RAM, and side by side for the device. */
TEST_WITH(mode, scattered_pages_are_one_range_for_the_device, IOMMU_REMAP)
{
    enum { COUNT = 7 };
    static uint8_t seen[PAGES(COUNT)];
    struct memory m;
    bool apart = false;

    scattered_begin(p, 40, 1);
    m = memory_of(p, PAGES(COUNT));
    for (uint64_t k = 1; k < COUNT; k++)
        apart |= frame_of(p, &m, k) != frame_of(p, &m, k - 1) + 1;
    CHECK(apart && m.adl->Flags.Contiguous && m.adl->PageCount == COUNT);
    for (uint64_t i = 0; i < PAGES(COUNT); i++)
        m.bytes[i] = (uint8_t)(i / PAGE_SIZE * 31 + i % 251);
    CHECK(probe_device_dma(0, m.adl->BasePageNumber * PAGE_SIZE, seen, sizeof(seen), false));
    CHECK_RULE("IOMMU-032", memcmp(seen, m.bytes, sizeof(seen)) == 0);
    memset(seen, 0xA7, sizeof(seen));
    CHECK(probe_device_dma(0, m.adl->BasePageNumber * PAGE_SIZE, seen, sizeof(seen), true));
    CHECK_RULE("IOMMU-032", memcmp(seen, m.bytes, sizeof(seen)) == 0);
    give_memory(p, &m);
    scattered_end(p, 40, 1);
}

TEST_WITH(mode, ranges_are_aligned_to_their_size, IOMMU_REMAP)
{
    static const struct {
        uint64_t pages, align;
    } sizes[] = {{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {8, 8}, {9, 16}, {64, 64}, {65, 128}};
    struct memory m[9];
    uint64_t lowest = UINT64_MAX;
    DXGK_ADL *last;

    for (unsigned i = 0; i < 9; i++) {
        m[i] = memory_of(p, PAGES(sizes[i].pages));
        CHECK_RULE("IOMMU-031/a", m[i].adl->BasePageNumber % sizes[i].align == 0);
        if (i > 0 && m[i].adl->BasePageNumber < lowest)
            lowest = m[i].adl->BasePageNumber;
    }
    /* Between the large ranges there is room for a small one, which goes there and not behind them. */
    last = list_of(p, &m[0], 0, PAGE_SIZE, true);
    CHECK_RULE("IOMMU-031/b",
               last->BasePageNumber < m[8].adl->BasePageNumber && m[8].adl->BasePageNumber < 1024);
    free_adl(p, m[0].object.hAdapterMemoryObject, last);
    for (unsigned i = 0; i < 9; i++)
        give_memory(p, &m[i]);
}

/* ---- how far they reach, and in which order they come back ---- */

#define REACH (4 * MIB)

static struct memory small[1100];

/* Every logical page that is left, one by one. */
static unsigned take_all(struct probe *p, struct memory *backing)
{
    unsigned count = 0;

    for (;; count++) {
        DXGKARGCB_ALLOCATE_ADL args = {.hAdapterMemoryObject = backing->object.hAdapterMemoryObject,
                                       .Size = PAGE_SIZE};

        if (count == 1100 || !NT_SUCCESS(DXGK.DxgkCbAllocateAdl(&args)))
            return count;
        small[count].adl = args.pAdl;
    }
}

static void reach_body(struct probe *p)
{
    struct memory one = object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_MDL, PAGE_SIZE);
    const HANDLE opened = one.object.hAdapterMemoryObject;
    const unsigned count = take_all(p, &one);
    uint64_t highest = 0, first, second;

    CHECK(count > 100);
    one.bytes[0] = 0x77;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t page = page_of(small[i].adl, 0);

        CHECK_RULE("IOMMU-029/a", page < REACH / PAGE_SIZE);
        CHECK_RULE("IOMMU-030/a", page != 0);
        CHECK(reads(page * PAGE_SIZE + 4095));
        highest = page > highest ? page : highest;
    }
    CHECK_RULE("IOMMU-029/b", highest == REACH / PAGE_SIZE - 1);
    CHECK(probe_rule(p, "IOMMU-072") == 0);
    CHECK_RULE("IOMMU-030/b", !reads(0) && !writes(0) && !reads(4095) && !writes(4095) &&
                                  probe_rule(p, "IOMMU-072") == 4 && reads(4096));
    /* What was freed comes back last, the oldest first; until then the device does not get there. */
    first = page_of(small[50].adl, 0);
    second = page_of(small[20].adl, 0);
    free_adl(p, opened, small[50].adl);
    free_adl(p, opened, small[20].adl);
    CHECK_RULE("IOMMU-033/a", !reads(first * PAGE_SIZE) && !writes(second * PAGE_SIZE));
    small[50].adl = make_adl(p, opened, PAGE_SIZE);
    CHECK_RULE("IOMMU-033/b", page_of(small[50].adl, 0) == first && reads(first * PAGE_SIZE) &&
                                  !reads(second * PAGE_SIZE));
    small[20].adl = make_adl(p, opened, PAGE_SIZE);
    CHECK_RULE("IOMMU-033/b", page_of(small[20].adl, 0) == second);
    for (unsigned i = 0; i < count; i++)
        free_adl(p, opened, small[i].adl);
    give_memory(p, &one);
}

TEST(all_logical_addresses_are_within_reach)
{
    struct probe *p = probe_create(&modes[IOMMU_REMAP]);

    p->memory.HighestVisibleAddress.QuadPart = (LONGLONG)(REACH - 1);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, reach_body);
}

TEST_WITH(mode, what_was_freed_is_not_used_again_soon, IOMMU_REMAP)
{
    struct memory m = memory_of(p, PAGES(4));
    uint64_t earlier[20];

    for (unsigned i = 0; i < 20; i++) {
        const uint64_t before = earlier[i] = m.adl->BasePageNumber;

        free_adl(p, m.object.hAdapterMemoryObject, m.adl);
        m.adl = list_of(p, &m, 0, PAGES(4), true);
        for (unsigned k = 0; k <= i; k++) /* and none of those before that */
            CHECK_RULE("IOMMU-033/a", m.adl->BasePageNumber != earlier[k]);
        CHECK_RULE("IOMMU-033/a", !reads(before * PAGE_SIZE));
    }
    iommu_domain_reuse_early(port_adapter_domain(p->adapter[0]), true);
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t before = m.adl->BasePageNumber;

        free_adl(p, m.object.hAdapterMemoryObject, m.adl);
        m.adl = list_of(p, &m, 0, PAGES(4), true);
        CHECK_RULE("IOMMU-033/c", i == 0 || m.adl->BasePageNumber == before);
    }
    give_memory(p, &m);
}

/* ---- what is out of reach ---- */

/* Each page of the range answers exactly if the domain maps it. */
static uint64_t pages_that_answer(struct probe *p, uint64_t count)
{
    const struct iommu_domain *domain = port_adapter_domain(p->adapter[0]);
    uint64_t answers = 0;

    for (uint64_t page = 0; page < count; page++) {
        const bool there = reads(page * PAGE_SIZE);

        CHECK_RULE("IOMMU-070/a", there == iommu_page_mapped(domain, (struct logical_page){page}));
        answers += there;
    }
    return answers;
}

TEST_WITH(mode, only_what_is_mapped_answers, IOMMU_ISOLATION)
{
    struct memory m = object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, PAGES(9));
    const uint64_t all = ram_bytes(p->ram) / PAGE_SIZE;
    const uint64_t before = pages_that_answer(p, all);
    uint64_t first;

    m.adl = list_of(p, &m, PAGES(2), PAGES(5), true);
    first = m.adl->BasePageNumber;
    CHECK_RULE("IOMMU-070/a", pages_that_answer(p, all) == before + 5);
    CHECK_RULE("IOMMU-070/b", reads(first * PAGE_SIZE) && reads((first + 5) * PAGE_SIZE - 1) &&
                                  !reads(first * PAGE_SIZE - 1) && !reads((first + 5) * PAGE_SIZE));
    CHECK_RULE("IOMMU-070/b", !reads(all * PAGE_SIZE) && !writes((1ull << 40) - 1));
    free_adl(p, m.object.hAdapterMemoryObject, m.adl);
    m.adl = NULL;
    CHECK_RULE("IOMMU-070/a", pages_that_answer(p, all) == before);
    give_memory(p, &m);
}
TEST_ALSO(mode, only_what_is_mapped_answers, remapped, IOMMU_REMAP)

static void other_adapter_body(struct probe *p)
{
    struct memory m = memory_of(p, PAGES(2));
    const uint64_t at = page_of(m.adl, 0) * PAGE_SIZE;
    uint32_t word = 0x1111;

    m.bytes[0] = 9;
    CHECK(probe_device_dma(0, at, &word, 1, false));
    CHECK_RULE("IOMMU-043/a", (uint8_t)word == 9);
    CHECK_RULE("IOMMU-043/b", !probe_device_dma(1, at, &word, 4, false) && word == UINT32_MAX);
    word = 0;
    CHECK_RULE("IOMMU-043/b", !probe_device_dma(1, at, &word, 4, true) && m.bytes[0] == 9);
    CHECK_RULE("IOMMU-043/a",
               port_adapter_domain(p->adapter[0]) != port_adapter_domain(p->adapter[1]));
    give_memory(p, &m);
}

TEST(each_adapter_has_a_domain_of_its_own)
{
    for (enum iommu_mode mode = IOMMU_ISOLATION; mode <= IOMMU_REMAP; mode++) {
        struct probe_options two = modes[mode];

        two.adapters = 2;
        probe_end(probe_started(&two), other_adapter_body);
    }
}

/* ---- what is said of a refused access ---- */

static const struct verify_record *last_fault(const struct probe *p)
{
    return verify_record_at(p->log, verify_records(p->log) - 1);
}

/* One record keeps what is said of the first fault, so each has a life of its own. */
static void fault_is_recorded(struct probe *p, bool write, unsigned engine, uint64_t at, size_t size)
{
    uint8_t bytes[24] = {0};
    char text[120];

    probe_device_source(0, engine, 1);
    memset(ram_direct(p->ram, (struct phys_addr){at & ~15ull}), 0x5A, 64);
    CHECK_RULE("IOMMU-072/ab", !probe_device_dma(0, at, bytes, size, write));
    for (unsigned i = 0; i < 24; i++)
        if (!write)
            CHECK_RULE("IOMMU-072/a", bytes[i] == (i < size ? 0xFF : 0));
        else
            CHECK_RULE("IOMMU-072/b",
                       ((uint8_t *)ram_direct(p->ram, (struct phys_addr){at}))[i] == 0x5A);
    CHECK_RULE("IOMMU-072/c",
               probe_rule(p, "IOMMU-072") == 1 && last_fault(p)->severity == VERIFY_ERROR &&
                   last_fault(p)->code == 0xE6 && last_fault(p)->parameter[0] == 0x26 &&
                   last_fault(p)->parameter[1] == bus_device_iommu(p->device[0])->requester &&
                   last_fault(p)->parameter[2] == at &&
                   last_fault(p)->parameter[3] == (write ? IOMMU_WRITE : IOMMU_READ));
    snprintf(text, sizeof(text),
             "engine %u tried to %s logical address 0x%llx (access of %zu bytes), which is not "
             "mapped for it",
             engine, write ? "write" : "read", (unsigned long long)at, size);
    CHECK_RULE("IOMMU-072/c", strstr(last_fault(p)->seen, text));
}

TEST_WITH(mode, a_refused_read_is_recorded_with_all_there_is_to_know, IOMMU_ISOLATION)
{
    fault_is_recorded(p, false, 3, 0x123456, 24);
}

TEST_WITH(mode, a_refused_write_is_recorded_with_all_there_is_to_know, IOMMU_ISOLATION)
{
    fault_is_recorded(p, true, 2, 0x200010, 7);
}

/* Four pages, of which the first and the last are mapped. */
TEST_WITH(mode, a_refused_access_does_not_reach_memory, IOMMU_ISOLATION)
{
    struct memory m = object_of(p, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, PAGES(4));
    DXGK_ADL *ends[2] = {list_of(p, &m, 0, PAGE_SIZE, true),
                         list_of(p, &m, PAGES(3), PAGE_SIZE, true)};
    const uint64_t at = ends[0]->BasePageNumber * PAGE_SIZE;
    static uint8_t out[PAGES(4)], in[PAGES(4)];
    size_t records;

    memset(m.bytes, 0x11, PAGES(4));
    memset(out, 0x22, sizeof(out));
    memset(in, 0, sizeof(in));
    probe_device_source(0, 1, 50);
    CHECK_RULE("IOMMU-073/b", !probe_device_dma(0, at, out, PAGES(4), true) &&
                                  probe_rule(p, "IOMMU-072") == 2 &&
                                  last_fault(p)->parameter[2] == at + PAGE_SIZE);
    CHECK_RULE("IOMMU-073/a", memcmp(m.bytes, out, PAGE_SIZE) == 0 &&
                                  memcmp(m.bytes + PAGES(3), out, PAGE_SIZE) == 0);
    for (unsigned i = 0; i < PAGES(2); i++)
        CHECK_RULE("IOMMU-071", m.bytes[PAGE_SIZE + i] == 0x11);
    CHECK(!probe_device_dma(0, at, in, PAGES(4), false));
    CHECK_RULE("IOMMU-073/a",
               memcmp(in, out, PAGE_SIZE) == 0 && memcmp(in + PAGES(3), out, PAGE_SIZE) == 0);
    for (unsigned i = 0; i < PAGES(2); i++)
        CHECK_RULE("IOMMU-071", in[PAGE_SIZE + i] == 0xFF);
    records = verify_records(p->log);
    for (unsigned i = 1; i < 10; i++)
        CHECK(!probe_device_dma(0, at, out, PAGES(4), true));
    CHECK_RULE("IOMMU-073/c", verify_records(p->log) == records &&
                                  last_fault(p)->count == probe_rule(p, "IOMMU-072") &&
                                  last_fault(p)->count == 2 * 11);
    for (unsigned i = 0; i < 2; i++)
        free_adl(p, m.object.hAdapterMemoryObject, ends[i]);
    give_memory(p, &m);
}

/* ---- what is given back is out of reach at once ---- */

/* The device has been there, so that the IOTLB knows it. */
static bool warm(uint64_t at)
{
    return reads(at) && writes(at);
}

static void give_back_adl(struct probe *p)
{
    struct memory m = memory_of(p, PAGES(3));
    uint64_t at[3];

    for (unsigned k = 0; k < 3; k++) {
        at[k] = page_of(m.adl, k) * PAGE_SIZE;
        CHECK(warm(at[k]) && warm(at[k] + PAGE_SIZE - 1));
    }
    free_adl(p, m.object.hAdapterMemoryObject, m.adl);
    m.adl = NULL;
    for (unsigned k = 0; k < 3; k++)
        CHECK_RULE("IOMMU-074/b", !reads(at[k]) && !writes(at[k] + PAGE_SIZE - 1));
    give_memory(p, &m);
}

TEST_WITH(mode, a_freed_list_is_flushed, IOMMU_REMAP)
{
    give_back_adl(p);
    CHECK(probe_said(p, "IOMMU-072", "not mapped for it any more"));
}
TEST_ALSO(mode, a_freed_list_is_flushed, isolated, IOMMU_ISOLATION)

static void give_back_2_4(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, PAGES(2));
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, PAGES(2), DXGK_MEMORY_CACHING_TYPE_CACHED);
    DXGKARGCB_MAPMDLTOIOMMU mapped = {.pMdl = pages.pMdl};
    DXGKARGCB_UNMAPMDLFROMIOMMU unmapped;
    const uint64_t list = MmGetMdlPfnArray(pages.pMdl)[1] * PAGE_SIZE;
    struct phys_addr at;

    CHECK(ram_physical(p->ram, block.pMemory, &at));
    CHECK_RULE("IOMMU-096/b", warm(at.value) && warm(at.value + PAGES(2) - 1));
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-074/b", !reads(at.value) && !writes(at.value + PAGES(2) - 1));
    CHECK(IS(DXGK.DxgkCbMapMdlToIoMmu(DXGK.DeviceHandle, &mapped), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-096/b", warm(list));
    unmapped.hMemoryHandle = mapped.hMemoryHandle;
    DXGK.DxgkCbUnmapMdlFromIoMmu(DXGK.DeviceHandle, &unmapped);
    CHECK(reads(list)); /* the pages have a mapping of their own */
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-074/b", !reads(list) && !writes(list));
}

TEST(what_2_4_callbacks_give_back_is_flushed)
{
    struct probe *p = probe_create(&modes[IOMMU_ISOLATION]);

    p->iommu.DmaRemappingSupported = 0;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, give_back_2_4) == SIM_DONE);
    CHECK(probe_run(p, give_back_adl) == SIM_DONE); /* side by side with the others */
    CHECK(probe_stop(p) == 0 && probe_rule(p, "PHYS-022") == 0);
    probe_destroy(p);
}

/* A flush that gets lost: the device goes on in a page that was given back, and that is told. */
TEST_WITH(mode, a_lost_flush_shows, IOMMU_REMAP)
{
    struct memory m = memory_of(p, PAGES(1));
    const uint64_t at = m.adl->BasePageNumber * PAGE_SIZE;

    CHECK(warm(at));
    iommu_domain_lose_flushes(port_adapter_domain(p->adapter[0]), UINT32_MAX);
    free_adl(p, m.object.hAdapterMemoryObject, m.adl);
    m.adl = NULL;
    CHECK_RULE("IOMMU-074/a",
               reads(at) && probe_rule(p, "IOMMU-075") == 1 && probe_rule(p, "IOMMU-072") == 0);
    iommu_domain_lose_flushes(port_adapter_domain(p->adapter[0]), 0);
    give_memory(p, &m);
}

/* ---- where nothing translates ---- */

TEST_WITH(mode, memory_of_callbacks_is_the_devices_until_it_is_freed, IOMMU_OFF)
{
    struct memory m = memory_of(p, PAGES(2));
    const uint64_t at = page_of(m.adl, 1) * PAGE_SIZE;

    CHECK_RULE("IOMMU-075/b", warm(at) && warm(at + 4095) && probe_rule(p, "IOMMU-075") == 0);
    free_adl(p, m.object.hAdapterMemoryObject, m.adl);
    m.adl = NULL;
    m.bytes[PAGE_SIZE] = 0;
    CHECK_RULE("IOMMU-075/a",
               writes(at) && m.bytes[PAGE_SIZE] == 0x3C && probe_rule(p, "IOMMU-075") == 1);
    CHECK_RULE("IOMMU-075/a", probe_said(p, "IOMMU-075", "memory that nobody holds for it"));
    give_memory(p, &m);
}
