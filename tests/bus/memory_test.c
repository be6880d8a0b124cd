/* SPDX-License-Identifier: MIT */
/* Memory of devices: its files, whose a byte is, what one device reaches of another, and address spaces of processes. */
#include "bus/bus.h"
#include "bus/config.h"
#include "bus/device.h"
#include "bus/dma.h"
#include "bus/memory.h"
#include "bus/ports.h"
#include "bus/reset.h"
#include "bus/window.h"
#include "iommu/iommu.h"
#include "iommu/pasid.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"
#include "trace/trace.h"

#include <string.h>

static unsigned faults;
static struct iommu_fault last_fault;

static void note_fault(void *context, const struct iommu_fault *fault)
{
    (void)context;
    faults++;
    last_fault = *fault;
}

/* ---- files ---- */

TEST_WITH(bus, each_bar_of_memory_has_a_file)
{
    struct bus_device *device = rig_add();
    const struct dxgk_device_services *s = rig.probe->services;

    assert_int_equal(bus_device_memory_file(device, 2),
                     bus_device_memory_file(device, DXGK_DEVICE_BARS));
    assert_true(bus_device_memory_file(device, 4) >= 0 &&
                bus_device_memory_file(device, 4) != bus_device_memory_file(device, 2));
    assert_int_equal(bus_device_memory_file(device, 0), -1);
    assert_int_equal(bus_device_memory_file(device, DXGK_DEVICE_BARS + 1), -1);
    assert_ptr_equal(bus_device_memory(device, 2), bus_device_memory(device, DXGK_DEVICE_BARS));
    assert_null(bus_device_memory(device, 0));
    assert_null(s->memory(rig.probe->host, DXGK_DEVICE_BARS + 1));
    /* none at all */
    rig.description.bar[2].kind = rig.description.bar[4].kind = DXGK_BAR_NONE;
    rig.description.device_memory = 0;
    device = rig_add();
    assert_int_equal(bus_device_memory_file(device, DXGK_DEVICE_BARS), -1);
    assert_null(bus_device_memory(device, DXGK_DEVICE_BARS));
    /* behind no BAR, and of less than a page */
    rig.description.device_memory = 5;
    device = rig_add();
    assert_true(bus_device_memory_file(device, DXGK_DEVICE_BARS) >= 0);
    memset(bus_device_memory(device, DXGK_DEVICE_BARS), 1, 4096);
    rig_default_description();
}

/* A byte of device memory is told by the address of the file, too, without a window. */
TEST_WITH(bus, bytes_of_device_memory_have_an_address)
{
    struct bus_device *first = rig_add(), *device = rig_add();
    uint8_t *bytes = bus_device_memory(device, 4);
    struct phys_addr at = {0};

    assert_true(bus_physical(rig.bus, bytes, &at));
    assert_int_equal(at.value, bus_device_bar(device, 4).value);
    assert_true(bus_physical(rig.bus, bytes + 65535, &at));
    assert_int_equal(at.value, bus_device_bar(device, 4).value + 65535);
    assert_true(bus_physical(rig.bus, (uint8_t *)bus_device_memory(first, 2) + 77, &at));
    assert_int_equal(at.value, bus_device_bar(first, 2).value + 77);
    assert_false(bus_physical(rig.bus, &at, &at));
    assert_int_equal(at.value, bus_device_bar(first, 2).value + 77);
}

TEST_WITH(bus, addresses_are_described)
{
    struct bus_device *device = rig_add();
    char text[80];

    assert_true(bus_describe(rig.bus, bus_device_bar(device, 0), text, sizeof(text)));
    assert_string_equal(text, "BAR 0 of probe at 0x0");
    assert_true(bus_describe(rig.bus, (struct phys_addr){bus_device_bar(device, 4).value + 65535},
                             text, sizeof(text)));
    assert_string_equal(text, "BAR 4 of probe at 0xffff");
    assert_false(bus_describe(rig.bus, (struct phys_addr){bus_device_bar(device, 4).value + 65536},
                              text, sizeof(text)));
}

/* ---- windows ---- */

TEST_WITH(bus, windows_know_how_they_are_cached)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 64);
    uint8_t *m = bus_map(rig.bus, bus_device_bar(device, 2), 8192);
    enum ram_cache cache = RAM_CACHED;

    bus_set_cache(rig.bus, r, RAM_NON_CACHED);
    bus_set_cache(rig.bus, m, RAM_WRITE_COMBINED);
    bus_set_cache(rig.bus, m + 1, RAM_CACHED); /* no window begins there */
    assert_true(bus_cache(rig.bus, r + 63, &cache) && cache == RAM_NON_CACHED);
    assert_true(bus_cache(rig.bus, m + 8191, &cache) && cache == RAM_WRITE_COMBINED);
    assert_false(bus_cache(rig.bus, r + 64, &cache) || bus_cache(rig.bus, m + 8192, &cache));
    assert_true(cache == RAM_WRITE_COMBINED);
    assert_true(bus_window_space(rig.bus, r) && bus_window_space(rig.bus, m) &&
                !bus_register_space(rig.bus, m) && !bus_window_space(rig.bus, &cache));
    assert_false(bus_unmap(rig.bus, NULL));
}

/* The windows of one device go with it, those of another stay. */
TEST_WITH(bus, only_its_own_windows_go_with_a_device)
{
    struct bus_device *first = rig_add(), *second = rig_add();
    uint8_t *kept[2], *gone[4];
    uint64_t value;

    kept[0] = bus_map(rig.bus, bus_device_bar(second, 0), 4096);
    for (unsigned i = 0; i < 4; i++)
        gone[i] = bus_map(rig.bus, bus_device_bar(first, i % 2 ? 2 : 0), 4096);
    kept[1] = bus_map(rig.bus, bus_device_bar(second, 2), 4096);
    assert_int_equal(bus_mappings(rig.bus), 6);
    bus_device_remove(first);
    assert_int_equal(bus_mappings(rig.bus), 2);
    assert_false(bus_register_read(rig.bus, gone[0], 4, &value));
    assert_true(bus_register_read(rig.bus, kept[0], 4, &value));
    kept[1][5] = 7;
    assert_int_equal(((uint8_t *)bus_device_memory(second, 2))[5], 7);
    assert_true(bus_unmap(rig.bus, kept[0]) && bus_unmap(rig.bus, kept[1]));
}

/* Registers that are not decoded, of no width that there is, or not aligned are all ones, and the model is not told. */
TEST_WITH(bus, registers_that_do_not_answer)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    const uint16_t off = 4, on = 6; /* bus master alone; memory, too */
    uint64_t value;

    rig.probe->reg[0] = 0x1122334455667788;
    assert_true(bus_register_read(rig.bus, r, 8, &value) && value == 0x1122334455667788);
    assert_true(bus_register_read(rig.bus, r, 1, &value) && value == 0x88);
    for (unsigned i = 0; i < 3; i++) /* one of them is a multiple of three */
        assert_true(bus_register_read(rig.bus, r + i, 3, &value) && value == 0xFFFFFF);
    assert_true(bus_register_read(rig.bus, r, 16, &value) && value == UINT64_MAX);
    assert_true(bus_register_read(rig.bus, r + 4, 8, &value) && value == UINT64_MAX);
    assert_true(bus_register_write(rig.bus, r, 16, 0) && bus_register_write(rig.bus, r + 2, 4, 0));
    bus_config_write(device, 4, &off, 2);
    assert_true(bus_register_read(rig.bus, r, 4, &value) && value == 0xFFFFFFFF);
    assert_true(bus_register_write(rig.bus, r, 4, 0));
    assert_int_equal(rig.probe->reads, 2);
    assert_int_equal(rig.probe->writes, 0);
    bus_config_write(device, 4, &on, 2);
    assert_true(bus_register_write(rig.bus, r, 2, 0xABCDEF));
    assert_int_equal(rig.probe->reg[0], 0x112233445566CDEF);
}

TEST_WITH(bus, ports_that_do_not_answer)
{
    const uint16_t off = 6, on = 7;
    struct bus_device *device;
    uint32_t port, value;

    rig.description.bar[5] = (struct dxgk_device_bar){DXGK_BAR_PORTS, 16};
    device = rig_add();
    port = bus_device_port(device, 5);
    rig.probe->reg[0] = 0x11223344;
    assert_true(bus_port_read(rig.bus, port, 1, &value) && value == 0x44);
    assert_true(bus_port_read(rig.bus, port + 2, 2, &value) && value == 0x1122);
    for (uint32_t i = 0; i < 3; i++) /* one of them is a multiple of three */
        assert_true(bus_port_read(rig.bus, port + i, 3, &value) && value == 0xFFFFFF);
    assert_true(bus_port_read(rig.bus, port, 8, &value) && value == UINT32_MAX);
    assert_true(bus_port_write(rig.bus, port, 3, 0) && bus_port_write(rig.bus, port + 1, 2, 0));
    assert_false(bus_port_read(rig.bus, port - 1, 1, &value) ||
                 bus_port_read(rig.bus, port + 16, 1, &value) ||
                 bus_port_read(rig.bus, port + 13, 4, &value) ||
                 bus_port_write(rig.bus, port + 16, 1, 0));
    bus_config_write(device, 4, &off, 2);
    assert_true(bus_port_read(rig.bus, port, 4, &value) && value == UINT32_MAX);
    assert_true(bus_port_write(rig.bus, port, 4, 0));
    bus_config_write(device, 4, &on, 2);
    assert_true(bus_port_write(rig.bus, port + 12, 4, 0x55667788));
    assert_true(bus_port_write(rig.bus, port, 1, 0xFF00));
    assert_int_equal(rig.probe->reads, 2);
    assert_int_equal(rig.probe->writes, 2);
    assert_int_equal(rig.probe->reg[0], 0x11223300);
    assert_int_equal(rig.probe->reg[1], 0x5566778800000000);
    bus_device_unplug(device, NULL);
    assert_true(bus_port_write(rig.bus, port, 4, 0));
    assert_int_equal(rig.probe->writes, 2);
    rig_default_description();
}

/* ---- from device to device ---- */

TEST_WITH(bus, a_device_reaches_anothers_memory)
{
    struct iommu_domain *off = iommu_domain_create(rig.ram, IOMMU_OFF,
                                                   (struct logical_addr){UINT64_MAX});
    struct bus_device *peer, *device;
    const uint16_t deaf = 4, on = 6;
    const struct dxgk_device_services *s;
    uint64_t bar;
    uint8_t *memory;
    uint32_t word = 0x12345678;
    size_t run = 77;

    rig.description.dma_bits = 52;
    peer = rig_add();
    device = rig_add();
    s = rig.probe->services;
    bus_device_attach(device, off);
    bus_device_on_fault(device, note_fault, NULL);
    faults = 0;
    bar = bus_device_bar(peer, 4).value;
    memory = bus_device_memory(peer, 4);
    assert_true(s->dma_write(rig.probe->host, bar + 65532, &word, 4));
    assert_memory_equal(memory + 65532, &word, 4);
    assert_ptr_equal(s->dma_window(rig.probe->host, bar + 65000, DXGK_DMA_READ, 4096, &run),
                     memory + 65000);
    assert_int_equal(run, 536);
    assert_int_equal(faults, 0);
    assert_false(s->dma_write(rig.probe->host, bar + 65534, &word, 4)); /* past its end */
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_NO_RAM);
    assert_int_equal(last_fault.address.value, bar + 65536);
    /* registers, and its own memory */
    assert_false(s->dma_read(rig.probe->host, bus_device_bar(peer, 0).value, &word, 4));
    assert_false(s->dma_read(rig.probe->host, bus_device_bar(device, 2).value, &word, 4));
    assert_int_equal(word, 0xFFFFFFFF);
    bus_config_write(peer, 4, &deaf, 2);
    assert_false(s->dma_read(rig.probe->host, bar, &word, 4));
    bus_config_write(peer, 4, &on, 2);
    assert_true(s->dma_read(rig.probe->host, bar, &word, 4));
    bus_device_unplug(peer, NULL);
    assert_false(s->dma_read(rig.probe->host, bar, &word, 4));
    assert_null(s->dma_window(rig.probe->host, 0x5000, DXGK_DMA_READ, 0, &run));
    assert_null(s->dma_window(rig.probe->host, 0x5000, (enum dxgk_dma_access)0, 8, &run));
    assert_int_equal(run, 536);
    bus_device_attach(device, NULL);
    iommu_domain_destroy(off);
    rig_default_description();
}

/* As a device that a hypervisor makes reaches its own. */
TEST_WITH(bus, a_virtual_device_reaches_its_own_memory)
{
    struct iommu_domain *off = iommu_domain_create(rig.ram, IOMMU_OFF,
                                                   (struct logical_addr){UINT64_MAX});
    const uint32_t word = 0x12345678;
    struct bus_device *device;

    rig.description.dma_bits = 52;
    rig.description.own_memory = true;
    device = rig_add();
    bus_device_attach(device, off);
    assert_true(rig.probe->services->dma_write(rig.probe->host, bus_device_bar(device, 2).value + 8,
                                               &word, 4));
    assert_memory_equal((uint8_t *)bus_device_memory(device, 2) + 8, &word, 4);
    bus_device_attach(device, NULL);
    iommu_domain_destroy(off);
    rig_default_description();
}

/* ---- memory that nobody holds, in part ---- */

static bool holds_nothing(uint64_t physical, uint64_t bytes)
{
    (void)physical;
    (void)bytes;
    return false;
}

static bool holds_all(uint64_t physical, uint64_t bytes)
{
    return physical % 4096 + bytes <= 4096;
}

static unsigned told(enum ram_owner owner, bool (*holds)(uint64_t physical, uint64_t bytes))
{
    struct ram_request request = {.pages = 1, .owner = owner, .cache = RAM_CACHED, .zero = true};
    struct page_number page;
    uint32_t word = 0;

    faults = 0;
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    bus_on_pool(rig.bus, holds);
    assert_true(rig.probe->services->dma_read(rig.probe->host, page.value * 4096, &word, 4));
    bus_on_pool(rig.bus, NULL);
    ram_give_contiguous(rig.ram, page, 1);
    return faults;
}

TEST_WITH(bus, untranslated_memory_may_be_given_by_its_address)
{
    struct iommu_domain *off = iommu_domain_create(rig.ram, IOMMU_OFF,
                                                   (struct logical_addr){UINT64_MAX});
    struct bus_device *device = rig_add();

    bus_device_attach(device, off);
    bus_device_on_fault(device, note_fault, NULL);
    assert_int_equal(told(RAM_HOST, holds_all), 1);
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_NOT_HELD);
    assert_int_equal(told(RAM_CONTIGUOUS, NULL), 0);
    assert_int_equal(told(RAM_MDL_PAGES, NULL), 0);
    assert_int_equal(told(RAM_POOL, NULL), 1);
    assert_int_equal(told(RAM_POOL, holds_nothing), 1);
    assert_int_equal(told(RAM_POOL, holds_all), 0);
    bus_device_attach(device, NULL);
    iommu_domain_destroy(off);
}

/* Of a run of three pages the second is not held: that is told, once, where it begins. */
TEST_WITH(bus, the_part_that_nobody_holds_is_told)
{
    struct iommu_domain *off = iommu_domain_create(rig.ram, IOMMU_OFF,
                                                   (struct logical_addr){UINT64_MAX});
    struct ram_request request = {.pages = 3, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct bus_device *device = rig_add();
    struct page_number page, third;
    uint8_t bytes[3 * 4096];

    faults = 0;
    bus_device_attach(device, off);
    bus_device_on_fault(device, note_fault, NULL);
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    third.value = page.value + 2;
    assert_true(iommu_map_run(off, page, 1, IOMMU_READ | IOMMU_WRITE, NULL));
    assert_true(iommu_map_run(off, third, 1, IOMMU_READ | IOMMU_WRITE, NULL));
    rig.probe->services->dma_source(rig.probe->host, 4, 9);
    assert_true(rig.probe->services->dma_read(rig.probe->host, page.value * 4096 + 8, bytes,
                                              sizeof(bytes) - 8));
    assert_int_equal(faults, 1);
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_NOT_HELD);
    assert_int_equal(last_fault.address.value, (page.value + 1) * 4096);
    assert_int_equal(last_fault.bytes, sizeof(bytes) - 8);
    assert_int_equal(last_fault.engine, 4);
    assert_int_equal(last_fault.command, 9);
    /* a page by itself: first and last are held */
    assert_true(rig.probe->services->dma_read(rig.probe->host, page.value * 4096, bytes, 4096));
    assert_true(rig.probe->services->dma_read(rig.probe->host, third.value * 4096, bytes, 4096));
    assert_int_equal(faults, 1);
    assert_true(rig.probe->services->dma_read(rig.probe->host, third.value * 4096 - 1, bytes, 1));
    assert_int_equal(faults, 2);
    assert_int_equal(last_fault.count, 2); /* of another length, but in the same page */
    iommu_unmap_run(off, page_identity(page), 1);
    iommu_unmap_run(off, page_identity(third), 1);
    bus_device_attach(device, NULL);
    iommu_domain_destroy(off);
    ram_give_contiguous(rig.ram, page, 3);
}

/* ---- address spaces of processes ---- */

TEST_WITH(bus, accesses_of_processes)
{
    struct iommu_pasids *pasids = bus_pasids(rig.bus);
    struct bus_device *device = rig_add();
    const struct dxgk_device_services *s = rig.probe->services;
    struct ram_request request = {.pages = 2, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    uint32_t pasid = iommu_pasid_create(pasids);
    const uint16_t memory_only = 2, on = 6;
    uint8_t out[6000], in[6000];
    struct page_number page;

    faults = 0;
    bus_device_on_fault(device, note_fault, NULL);
    memset(out, 0x5A, sizeof(out));
    assert_true(ram_take_contiguous(rig.ram, &request, &page));
    assert_true(iommu_pasid_map(pasids, pasid, (struct logical_page){0x10}, page, 1,
                                IOMMU_READ | IOMMU_WRITE));
    assert_true(s->dma_pasid(rig.probe->host, pasid, 0x10000 + 100, DXGK_DMA_WRITE, out, 3996));
    assert_int_equal(faults, 0);
    /* the second page is not there: the rest of it is left out, and told */
    assert_false(s->dma_pasid(rig.probe->host, pasid, 0x10000, DXGK_DMA_READ, in, sizeof(in)));
    assert_true(faults == 1 && last_fault.cause == IOMMU_CAUSE_UNMAPPED &&
                last_fault.address.value == 0x11000);
    assert_true(in[99] == 0 && in[100] == 0x5A && in[4095] == 0x5A && in[4096] == 0xFF &&
                in[5999] == 0xFF);
    assert_false(s->dma_pasid(rig.probe->host, pasid, 0x10000, DXGK_DMA_WRITE, out, sizeof(out)));
    assert_int_equal(*(uint8_t *)ram_direct(rig.ram, page_phys(page)), 0x5A);
    assert_int_equal(faults, 2);
    assert_int_equal(last_fault.access, IOMMU_WRITE);
    /* not a bus master, unplugged, retired, and unknown */
    bus_config_write(device, 4, &memory_only, 2);
    memset(in, 0, sizeof(in));
    assert_false(s->dma_pasid(rig.probe->host, pasid, 0x10000, DXGK_DMA_READ, in, 8));
    assert_true(last_fault.cause == IOMMU_CAUSE_MASTER && in[0] == 0xFF && in[7] == 0xFF &&
                in[8] == 0);
    assert_false(s->dma_pasid(rig.probe->host, pasid, 0x10000, DXGK_DMA_WRITE, in, 8));
    assert_int_equal(*(uint8_t *)ram_direct(rig.ram, page_phys(page)), 0x5A);
    bus_config_write(device, 4, &on, 2);
    assert_false(s->dma_pasid(rig.probe->host, pasid + 1, 0x10000, DXGK_DMA_READ, in, 8));
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_PASID);
    iommu_pasid_unmap(pasids, pasid, (struct logical_page){0x10}, 1);
    iommu_pasid_retire(pasids, pasid);
    memset(in, 0x11, sizeof(in));
    assert_false(s->dma_pasid(rig.probe->host, pasid, 0x10000, DXGK_DMA_WRITE, in, 8));
    assert_true(last_fault.cause == IOMMU_CAUSE_PASID_RETIRED && in[0] == 0x11);
    bus_device_unplug(device, NULL);
    assert_false(s->dma_pasid(rig.probe->host, pasid, 0x10000, DXGK_DMA_READ, in, 8));
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_MASTER);
    iommu_pasid_destroy(pasids, pasid);
    ram_give_contiguous(rig.ram, page, 2);
}

/* ---- traces ---- */

TEST_WITH(bus, engines_have_tracks)
{
    static uint64_t now;
    struct trace_sink *sink = trace_sink_create();
    const struct dxgk_device_services *s;
    uint64_t before;

    (void)rig_add();
    s = rig.probe->services;
    s->trace_begin(rig.probe->host, 0, "packet", 1); /* nobody traces */
    s->trace_end(rig.probe->host, 0, "packet");
    trace_sink_install(sink, &now);
    (void)rig_add();
    before = trace_records(sink);
    for (unsigned engine = 31; engine <= 33; engine++) {
        rig.probe->services->trace_begin(rig.probe->host, engine, "packet", engine);
        rig.probe->services->trace_end(rig.probe->host, engine, "packet");
    }
    assert_int_equal(trace_records(sink), before + 6);
    trace_sink_destroy(sink);
}
