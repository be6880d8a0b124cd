/* SPDX-License-Identifier: MIT */
/* Bus mastering: through a domain, without one, past holes, and for whom. */
#include "bus/config.h"
#include "bus/device.h"
#include "bus/dma.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

#include <stdlib.h>
#include <string.h>

static unsigned faults;
static struct iommu_fault last_fault;

static void note_fault(void *context, const struct iommu_fault *fault)
{
    assert_ptr_equal(context, &faults);
    faults++;
    last_fault = *fault;
}

TEST_WITH(bus, dma_goes_through_the_domain)
{
    struct bus_device *device = rig_add();
    struct ram_request request = {.pages = 8, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number page[8];
    struct logical_page logical;
    uint8_t out[3 * 4096], in[3 * 4096];
    const struct dxgk_device_services *s;
    uint64_t base;
    size_t run;

    faults = 0;
    s = rig.probe->services;
    bus_device_on_fault(device, note_fault, &faults);
    assert_true(ram_take_pages(rig.ram, &request, page));
    /* Logically contiguous, physically not. */
    for (unsigned i = 0; i < 4; i++) {
        struct page_number swap = page[i];

        page[i] = page[7 - i];
        page[7 - i] = swap;
    }
    struct logical_page map[4];
    assert_false(s->dma_write(rig.probe->host, 0x1000, out, 1)); /* no domain yet */
    bus_device_attach(device, rig.domain);
    assert_true(iommu_map(rig.domain, page, 4, IOMMU_READ | IOMMU_WRITE, map));
    logical = map[0];
    base = logical.value * 4096;
    for (unsigned i = 0; i < sizeof(out); i++)
        out[i] = (uint8_t)(i * 7 + i / 256);
    assert_true(s->dma_write(rig.probe->host, base + 100, out, sizeof(out)));
    assert_true(s->dma_read(rig.probe->host, base + 100, in, sizeof(in)));
    assert_memory_equal(in, out, sizeof(in));
    assert_memory_equal((uint8_t *)ram_direct(rig.ram, page_phys(page[0])) + 100, out, 3996);
    assert_memory_equal(ram_direct(rig.ram, page_phys(page[1])), out + 3996, 4096);
    assert_int_equal(bus_device_dma_bytes(device), 2 * sizeof(out));
    assert_true(s->dma_read(rig.probe->host, base, in, 0));
    assert_ptr_equal(s->dma_window(rig.probe->host, base + 16, DXGK_DMA_READ, 100, &run),
                     (uint8_t *)ram_direct(rig.ram, page_phys(page[0])) + 16);
    assert_int_equal(run, 100);
    assert_int_equal(faults, 1);

    /* Of an access that ends outside the pages inside are carried out. */
    memset(in, 0xEE, sizeof(in));
    assert_false(s->dma_write(rig.probe->host, base + 3 * 4096, in, 2 * 4096));
    assert_int_equal(faults, 2);
    assert_int_equal(last_fault.address.value, base + 4 * 4096);
    assert_int_equal(last_fault.access, IOMMU_WRITE);
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_UNMAPPED);
    assert_int_equal(last_fault.bytes, 2 * 4096);
    assert_int_equal(last_fault.requester, bus_device_iommu(device)->requester);
    assert_true(s->dma_read(rig.probe->host, base + 3 * 4096, in, 16));
    assert_int_equal(in[5], 0xEE);
    assert_false(s->dma_read(rig.probe->host, base + 3 * 4096, in, 2 * 4096));
    assert_int_equal(in[0], 0xEE);
    assert_int_equal(in[4096], 0xFF);
    assert_int_equal(in[8191], 0xFF);
    assert_null(s->dma_window(rig.probe->host, base + 4 * 4096, DXGK_DMA_WRITE, 4, &run));
    assert_false(
        s->dma_read(rig.probe->host, (uint64_t)1 << 36, in, 1)); /* beyond its address bits */
    assert_false(s->dma_read(rig.probe->host, UINT64_MAX - 3, in, 16));
    assert_int_equal(bus_device_faults(device), 6);
    iommu_unmap(rig.domain, map, 4);
    assert_false(s->dma_read(rig.probe->host, base, in, 1));
    assert_int_equal(faults, 7);
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_STALE);
    bus_device_attach(device, NULL);
    ram_give_pages(rig.ram, page, 8);
}

/* IOMMU-073: 3 pages with a hole in the middle, ten times by one command, then by another. */
TEST_WITH(bus, a_hole_faults_alone)
{
    struct bus_device *device = rig_add();
    struct ram_request request = {.pages = 2, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    const struct dxgk_device_services *s = rig.probe->services;
    struct page_number page;
    struct logical_page at[2] = {{100}, {102}};
    uint8_t out[3 * 4096], in[3 * 4096];

    faults = 0;
    bus_device_on_fault(device, note_fault, &faults);
    bus_device_attach(device, rig.domain);
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    for (unsigned i = 0; i < 2; i++)
        CHECK(iommu_map_at(rig.domain, &at[i], (struct page_number){page.value + i}, 1,
                           IOMMU_READ | IOMMU_WRITE, NULL) == IOMMU_DONE);
    memset(out, 0x5A, sizeof(out));
    s->dma_source(rig.probe->host, 3, 77);
    CHECK_RULE("IOMMU-073/ab", !s->dma_write(rig.probe->host, 100 * 4096, out, sizeof(out)) &&
                                   faults == 1 && last_fault.address.value == 101 * 4096 &&
                                   last_fault.engine == 3 && last_fault.command == 77 &&
                                   last_fault.count == 1);
    CHECK(!s->dma_read(rig.probe->host, 100 * 4096, in, sizeof(in)));
    CHECK_RULE("IOMMU-073/c", last_fault.access == IOMMU_READ && last_fault.count == 1);
    CHECK_RULE("IOMMU-073/a", memcmp(in, out, 4096) == 0 && in[4096] == 0xFF && in[8191] == 0xFF &&
                                  memcmp(in + 8192, out, 4096) == 0);
    CHECK_RULE("IOMMU-071", ((const uint8_t *)ram_direct(rig.ram, page_phys(page)))[4095] == 0x5A);
    for (unsigned i = 1; i < 10; i++)
        CHECK(!s->dma_write(rig.probe->host, 100 * 4096, out, sizeof(out)));
    CHECK_RULE("IOMMU-073/c", last_fault.count == 10);
    s->dma_source(rig.probe->host, 3, 78);
    CHECK(!s->dma_write(rig.probe->host, 100 * 4096, out, sizeof(out)));
    CHECK_RULE("IOMMU-073/c", last_fault.count == 1);
    for (unsigned i = 0; i < 2; i++)
        iommu_unmap_run(rig.domain, at[i], 1);
    ram_give_contiguous(rig.ram, page, 2);
}

/* A window for reading and writing needs both rights. */
TEST_WITH(bus, a_window_asks_for_all_it_will_do)
{
    struct bus_device *device = rig_add();
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    const struct dxgk_device_services *s = rig.probe->services;
    struct page_number page;
    struct logical_page logical;
    size_t run;

    bus_device_attach(device, rig.domain);
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    assert_true(iommu_map_run(rig.domain, page, 1, IOMMU_READ, &logical));
    assert_non_null(s->dma_window(rig.probe->host, logical.value * 4096, DXGK_DMA_READ, 8, &run));
    assert_null(s->dma_window(rig.probe->host, logical.value * 4096,
                              (enum dxgk_dma_access)(DXGK_DMA_READ | DXGK_DMA_WRITE), 8, &run));
    iommu_unmap_run(rig.domain, logical, 1);
    ram_give_contiguous(rig.ram, page, 1);
}

/* What goes through and should not is told: RAM that nobody holds, and a stale translation. */
TEST_WITH(bus, accesses_to_memory_that_nobody_holds_are_told)
{
    struct bus_device *device = rig_add();
    struct iommu_domain *books = iommu_domain_create(rig.ram, IOMMU_OFF, (struct logical_addr){0});
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    const struct dxgk_device_services *s = rig.probe->services;
    struct page_number page;
    struct logical_page logical;
    uint32_t word = 7;

    faults = 0;
    bus_device_on_fault(device, note_fault, &faults);
    bus_device_attach(device, books);
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    assert_true(iommu_map_run(books, page, 1, IOMMU_READ | IOMMU_WRITE, NULL));
    CHECK(s->dma_write(rig.probe->host, page.value * 4096, &word, 4) && faults == 0);
    iommu_unmap_run(books, page_identity(page), 1);
    word = 8;
    CHECK_RULE("IOMMU-075/a", s->dma_write(rig.probe->host, page.value * 4096, &word, 4) &&
                                  faults == 1 && last_fault.cause == IOMMU_CAUSE_NOT_HELD &&
                                  *(uint32_t *)ram_direct(rig.ram, page_phys(page)) == 8);
    bus_device_set_judged(device, false);
    CHECK_RULE("IOMMU-075/c",
               s->dma_write(rig.probe->host, page.value * 4096, &word, 4) && faults == 1);
    bus_device_set_judged(device, true);
    bus_device_attach(device, rig.domain);
    iommu_domain_destroy(books);

    /* The flush gets lost: the device goes on in a page that is somebody else's by now. */
    assert_true(iommu_map_run(rig.domain, page, 1, IOMMU_READ | IOMMU_WRITE, &logical));
    CHECK(s->dma_read(rig.probe->host, logical.value * 4096, &word, 4));
    iommu_domain_lose_flushes(rig.domain, 1);
    iommu_unmap_run(rig.domain, logical, 1);
    CHECK_RULE("IOMMU-074/a", s->dma_read(rig.probe->host, logical.value * 4096, &word, 4) &&
                                  word == 8 && faults == 2 &&
                                  last_fault.cause == IOMMU_CAUSE_NOT_HELD);
    iommu_flush_run(rig.domain, logical, 1);
    CHECK_RULE("IOMMU-074/b", !s->dma_read(rig.probe->host, logical.value * 4096, &word, 4) &&
                                  last_fault.cause == IOMMU_CAUSE_STALE);
    bus_device_set_quiet(device, IOMMU_CAUSE_EXCLUSIVE);
    assert_true(iommu_map_run(rig.domain, page, 1, IOMMU_READ | IOMMU_WRITE, &logical));
    CHECK(s->dma_read(rig.probe->host, logical.value * 4096, &word, 4) &&
          last_fault.cause == IOMMU_CAUSE_EXCLUSIVE);
    iommu_unmap_run(rig.domain, logical, 1);
    bus_device_attach(device, NULL);
    ram_give_contiguous(rig.ram, page, 1);
}

/* Two devices of one logical adapter share a domain, a third has its own (IOMMU-043). */
TEST_WITH(bus, linked_devices_share_a_domain)
{
    struct bus_device *lead = rig_add();
    struct probe *first = rig.probe;
    struct bus_device *linked = rig_add();
    struct probe *second = rig.probe;
    struct bus_device *alone = rig_add();
    struct iommu_domain *other = iommu_domain_create(rig.ram, IOMMU_REMAP,
                                                     (struct logical_addr){0xFFFFFFFFF});
    struct ram_request request = {.pages = 3, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number page;
    struct logical_page logical;
    uint32_t word = 0x1234;

    bus_device_attach(lead, rig.domain);
    bus_device_attach(linked, rig.domain);
    bus_device_attach(alone, other);
    CHECK(iommu_domain_attached(rig.domain) == 2);
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    assert_true(iommu_map_run(rig.domain, page, 3, IOMMU_READ | IOMMU_WRITE, &logical));
    CHECK(first->services->dma_write(first->host, logical.value * 4096 + 8200, &word, 4));
    word = 0;
    CHECK_RULE("IOMMU-043/a",
               second->services->dma_read(second->host, logical.value * 4096 + 8200, &word, 4) &&
                   word == 0x1234);
    CHECK_RULE("IOMMU-043/b", !rig.probe->services->dma_read(
                                  rig.probe->host, logical.value * 4096 + 8200, &word, 4));
    iommu_unmap_run(rig.domain, logical, 3);
    bus_device_attach(lead, NULL);
    bus_device_attach(linked, NULL);
    bus_device_attach(alone, NULL);
    iommu_domain_destroy(other);
    ram_give_contiguous(rig.ram, page, 3);
}

TEST_WITH(bus, rights_are_kept)
{
    struct bus_device *device = rig_add();
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number page;
    struct logical_page logical;
    uint8_t byte = 9;

    bus_device_attach(device, rig.domain);
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    assert_true(iommu_map_run(rig.domain, page, 1, IOMMU_READ, &logical));
    assert_true(rig.probe->services->dma_read(rig.probe->host, logical.value * 4096, &byte, 1));
    assert_int_equal(byte, 0);
    assert_false(rig.probe->services->dma_write(rig.probe->host, logical.value * 4096, &byte, 1));
    iommu_unmap_run(rig.domain, logical, 1);
    ram_give_contiguous(rig.ram, page, 1);
}

TEST_WITH(bus, without_translation_ram_is_one_run)
{
    struct bus_device *device = rig_add();
    struct iommu_domain *off = iommu_domain_create(rig.ram, IOMMU_OFF,
                                                   (struct logical_addr){UINT64_MAX});
    uint64_t top = ram_highest(rig.ram).value + 1;
    uint8_t *buffer = malloc(1 << 20);
    uint32_t command = 0x0002; /* memory, no bus master */
    size_t run;

    bus_device_attach(device, off);
    assert_non_null(
        rig.probe->services->dma_window(rig.probe->host, 0x5123, DXGK_DMA_READ, 1 << 20, &run));
    assert_int_equal(run, 1 << 20);
    assert_true(rig.probe->services->dma_read(rig.probe->host, top - (1 << 20), buffer, 1 << 20));
    assert_false(rig.probe->services->dma_read(rig.probe->host, top - 8, buffer, 16));
    assert_false(
        rig.probe->services->dma_read(rig.probe->host, bus_device_bar(device, 2).value, buffer, 4));
    bus_config_write(device, 4, &command, 2);
    assert_false(rig.probe->services->dma_read(rig.probe->host, 0x5123, buffer, 4));
    bus_device_attach(device, NULL);
    iommu_domain_destroy(off);
    free(buffer);
}
