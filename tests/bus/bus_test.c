/* SPDX-License-Identifier: MIT */
/* The bus: devices come and go, registers, DMA, interrupts, timers, configuration space. */
#include "support/check_rule.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/bus.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"

/* ---- a device that does as it is told ---- */

struct probe {
    const struct dxgk_device_services *services;
    void *host;
    uint64_t reg[512];
    unsigned reads, writes, timers, resets;
    unsigned last_timer;
    uint64_t last_time;
};

static struct probe *probe; /* created last */
static struct dxgk_device_description description;
static const char *refusal;
static bool refuse_create;
static size_t options;

static bool configure(const struct dxgk_device_config *config, struct dxgk_device_description *out,
                      const char **error)
{
    options = config->count;
    *out = description;
    *error = refusal;
    return !refusal;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    if (refuse_create)
        return NULL;
    probe = calloc(1, sizeof(*probe));
    probe->services = services;
    probe->host = host;
    return probe;
}

static void reset(void *device)
{
    ((struct probe *)device)->resets++;
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct probe *p = device;
    uint64_t value = 0;

    (void)bar;
    p->reads++;
    memcpy(&value, (uint8_t *)p->reg + offset % sizeof(p->reg), width);
    return value;
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct probe *p = device;

    (void)bar;
    p->writes++;
    memcpy((uint8_t *)p->reg + offset % sizeof(p->reg), &value, width);
}

static void timer(void *device, unsigned index)
{
    struct probe *p = device;

    p->timers++;
    p->last_timer = index;
    p->last_time = p->services->now(p->host);
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "probe",
    .configure = configure,
    .create = create,
    .destroy = free,
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .timer = timer,
};

/* ---- the machine ---- */

static struct sim_machine *machine;
static struct ram *ram;
static struct bus *bus;
static struct iommu_domain *domain;
static struct bus_refusal error;

static void default_description(void)
{
    description = (struct dxgk_device_description){
        .vendor = 0x1AF4,
        .device = 0x1050,
        .subsystem_vendor = 1,
        .subsystem = 2,
        .revision = 7,
        .class_code = 0x038000,
        .bar = {{DXGK_BAR_REGISTERS, 8192},
                {DXGK_BAR_NONE, 0},
                {DXGK_BAR_MEMORY, 1 << 20},
                {DXGK_BAR_NONE, 0},
                {DXGK_BAR_MEMORY, 65536}},
        .messages = 3,
        .device_memory = 4 << 20,
        .dma_bits = 36,
    };
    refusal = NULL;
    refuse_create = false;
}

static int setup(void)
{
    const struct sim_config config = {.seed = 5, .processors = 1};
    const struct ram_config ram_config = {.bytes = 32u << 20};

    machine = sim_machine_create(&config);
    sim_enter(machine);
    ram = ram_create(&ram_config);
    bus = bus_create(ram);
    domain = iommu_domain_create(ram, IOMMU_REMAP, (struct logical_addr){0xFFFFFFFFF});
    default_description();
    return bus && domain ? 0 : -1;
}

static int teardown(void)
{
    bus_destroy(bus);
    iommu_domain_destroy(domain);
    ram_destroy(ram);
    assert_true(machine->heap.live_blocks <= 1); /* the simulator's event heap */
    sim_leave();
    sim_machine_destroy(machine);
    return 0;
}

#define RIG_ARGUMENT_bus void
#define RIG_RUN_bus(body)         \
    test_set_up(setup, teardown); \
    body()

static struct bus_device *add(void)
{
    struct bus_device *device = bus_device_add(bus, &model, NULL, &error);

    assert_non_null(device);
    return device;
}

static void refused_with(const char *part)
{
    assert_null(bus_device_add(bus, &model, NULL, &error));
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
    assert_null(strchr(error.text, '\n'));
    default_description();
}

/* ---- coming and going ---- */

TEST_WITH(bus, bad_models_are_refused_with_a_reason)
{
    static const char *const option[] = {"vram=1"};
    const struct dxgk_device_config config = {1, option};
    struct dxgk_device_model broken = model;

    refusal = "vram is too small";
    refused_with("vram is too small");
    description.bar[0].bytes = 5000;
    refused_with("power of two");
    description.bar[0].bytes = 2048;
    refused_with("power of two");
    for (uint64_t ports = 2; ports <= 512; ports = ports == 2 ? 12 : ports == 12 ? 512 : 1024) {
        description.bar[5] = (struct dxgk_device_bar){.kind = DXGK_BAR_PORTS, .bytes = ports};
        refused_with("from 4 to 256");
    }
    description.messages = 0;
    refused_with("messages");
    description.messages = 33;
    refused_with("messages");
    description.dma_bits = 31;
    refused_with("DMA");
    refuse_create = true;
    refused_with("out of memory");
    broken.api_version = 2;
    assert_null(bus_device_add(bus, &broken, NULL, &error));
    assert_non_null(strstr(error.text, "version"));
    broken = model;
    broken.timer = NULL;
    assert_null(bus_device_add(bus, &broken, NULL, &error));
    assert_non_null(strstr(error.text, "timer"));
    assert_non_null(bus_device_add(bus, &model, &config, &error));
    assert_int_equal(options, 1);
}

TEST_WITH(bus, bad_files_are_refused_with_a_reason)
{
    assert_null(bus_device_load(bus, "/nowhere/gpu.so", NULL, &error));
    assert_non_null(strstr(error.text, "/nowhere/gpu.so"));
    assert_null(strchr(error.text, '\n'));
    assert_null(bus_device_load(bus, "gpu.so", NULL, &error));
    assert_true(error.text[0] != '\0');
    assert_null(bus_device_load(bus, "/proc/self/cmdline", NULL, &error));
    assert_true(error.text[0] != '\0');
}

/* The reference GPU, if it has been built. */
TEST_WITH(bus, a_file_can_be_loaded_twice)
{
    const char *build = getenv("DXGK_BUILD");
    char path[1024];
    struct bus_device *a, *b;
    FILE *file;

    snprintf(path, sizeof(path), "%s/devices/refgpu.so", build ? build : ".");
    file = fopen(path, "rb");
    if (!file)
        skip();
    fclose(file);
    a = bus_device_load(bus, path, NULL, &error);
    b = bus_device_load(bus, path, NULL, &error);
    assert_true(a && b && a != b);
    assert_true(bus_device_bar(a, 0).value != bus_device_bar(b, 0).value);
    bus_device_remove(a);
    bus_device_reset(b);
}

TEST_WITH(bus, each_internal_failure_is_survived)
{
    uint64_t live = machine->heap.live_blocks;

    for (uint64_t n = 1;; n++) {
        struct bus_device *device;

        machine->heap.fail_at = machine->heap.requests + n;
        device = bus_device_add(bus, &model, NULL, &error);
        machine->heap.fail_at = 0;
        if (device) {
            assert_true(n > 2);
            return;
        }
        assert_int_equal(machine->heap.live_blocks, live);
    }
}

/* ---- addresses ---- */

TEST_WITH(bus, bars_stand_above_ram_and_apart)
{
    struct bus_device *a = add(), *b = add();
    struct bus_device *const device[] = {a, b};

    for (unsigned i = 0; i < 2; i++) {
        for (unsigned bar = 0; bar < DXGK_DEVICE_BARS; bar++) {
            uint64_t bytes = bus_device_description(device[i])->bar[bar].bytes;
            uint64_t address = bus_device_bar(device[i], bar).value;

            if (bytes == 0)
                continue;
            assert_true(address > ram_highest(ram).value);
            assert_int_equal(address % bytes, 0);
            assert_true(bus_claims(bus, (struct phys_addr){address}, bytes));
            assert_false(bus_claims(bus, (struct phys_addr){address + 1}, bytes));
        }
    }
    assert_false(bus_claims(bus, (struct phys_addr){0x1000}, 16));
}

TEST_WITH(bus, ports_have_a_space_of_their_own)
{
    struct bus_device *device = NULL;
    uint32_t before = 0;
    uint32_t value;

    description.bar[5] = (struct dxgk_device_bar){.kind = DXGK_BAR_PORTS, .bytes = 256};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t port;
        uint32_t config;

        device = add();
        port = bus_device_port(device, 5);
        assert_true(port >= 0x1000 && port > before && port % 256 == 0);
        before = port;
        assert_int_equal(bus_config_read(device, 0x10 + 4 * 5, &config, 4), 4);
        assert_int_equal(config, port | 1); /* of ports */
        assert_int_equal(bus_config_read(device, 4, &config, 2), 2);
        assert_true(config & 1); /* and decoded */
        assert_true(bus_port_write(bus, port + 8, 4, 0x11223344));
        assert_int_equal(probe->reg[1] & 0xFFFFFFFF, 0x11223344);
        assert_true(bus_port_read(bus, port + 9, 1, &value));
        assert_true(bus_port_read(bus, port + 9, 2, &value)); /* unaligned */
        assert_int_equal(value, 0xFFFF);
        assert_false(bus_port_read(bus, port + 254, 4, &value)); /* not all its own */
        assert_int_equal(value, 0xFFFFFFFF);
        assert_false(bus_claims(bus, (struct phys_addr){port}, 4)); /* no memory */
        assert_null(bus_map(bus, (struct phys_addr){port}, 4));
    }
    bus_device_unplug(device);
    assert_true(bus_port_read(bus, before, 4, &value));
    assert_int_equal(value, 0xFFFFFFFF);
    while ((device = bus_device_add(bus, &model, NULL, &error)) != NULL)
        assert_true(bus_device_port(device, 5) <= 0xFF00);
    assert_non_null(strstr(error.text, "no ports left"));
    default_description();
}

TEST_WITH(bus, register_windows_reach_the_model)
{
    struct bus_device *device = add();
    struct phys_addr bar = bus_device_bar(device, 0);
    uint8_t *r = bus_map(bus, (struct phys_addr){bar.value + 0x104}, 16);
    struct phys_addr back;
    uint64_t value;

    assert_int_equal((uintptr_t)r % 4096, 0x104);
    assert_true(bus_register_write(bus, r, 4, 0x1122334455667788));
    assert_int_equal(probe->reg[0x100 / 8], 0x5566778800000000);
    assert_true(bus_register_read(bus, r + 2, 2, &value));
    assert_int_equal(value, 0x5566);
    assert_true(bus_register_read(bus, r + 1, 2, &value)); /* unaligned */
    assert_int_equal(value, 0xFFFF);
    assert_int_equal(probe->reads, 1);
    assert_false(bus_register_read(bus, r + 14, 4, &value)); /* past the end */
    assert_false(bus_register_read(bus, r - 4, 4, &value));
    assert_false(bus_register_read(bus, &value, 4, &value));
    assert_true(bus_register_space(bus, r + 14));
    assert_false(bus_register_space(bus, &value));
    assert_true(bus_physical(bus, r + 4, &back));
    assert_int_equal(back.value, bar.value + 0x108);
    assert_int_equal(bus_mappings(bus), 1);
    assert_true(bus_unmap(bus, r));
    assert_false(bus_unmap(bus, r));
    assert_false(bus_register_read(bus, r, 4, &value));
    assert_null(bus_map(bus, bar, 8193));
    assert_null(bus_map(bus, bar, 0));
    assert_null(bus_map(bus, (struct phys_addr){0x1000}, 16));
}

TEST_WITH(bus, others_may_run_before_and_after_each_access)
{
    struct bus_device *device = add();
    uint8_t *r = bus_map(bus, bus_device_bar(device, 0), 4096);
    uint64_t before = sim_now(), value;

    bus_register_read(bus, r, 4, &value);
    bus_register_write(bus, r, 4, 0);
    assert_int_equal(sim_now(), before + 4 * SIM_POINT_NS);
}

/* Asked of the kernel, which does not mind when nothing is there. */
static bool there(const uint8_t *address)
{
    int ends[2];
    bool done;

    assert_int_equal(pipe(ends), 0);
    done = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return done;
}

TEST_WITH(bus, memory_windows_are_plain_memory)
{
    struct bus_device *device = add();
    uint8_t *a = bus_map(bus, bus_device_bar(device, 2), 4096);
    uint8_t *b = bus_map(bus, bus_device_bar(device, 2), 100);
    uint8_t *whole = probe->services->memory(probe->host, DXGK_DEVICE_BARS);

    CHECK_RULE("PHYS-194", a != b);
    a[77] = 0x5A;
    assert_int_equal(b[77], 0x5A);
    assert_int_equal(((uint8_t *)probe->services->memory(probe->host, 2))[77], 0x5A);
    assert_int_equal(whole[77], 0x5A);
    whole[(4 << 20) - 1] = 1;
    assert_true(bus_device_memory_file(device, 2) >= 0);
    assert_int_equal(bus_device_memory_file(device, 0), -1);
    assert_ptr_not_equal(bus_device_memory(device, 4), bus_device_memory(device, 2));
    assert_int_equal(bus_mappings(bus), 2);
    assert_true(bus_unmap(bus, a));
    assert_int_equal(bus_mappings(bus), 1);
    CHECK_RULE("PHYS-194", !there(a) && there(b) && b[77] == 0x5A);
    assert_true(bus_unmap(bus, b));
    assert_false(bus_unmap(bus, b));
}

/* Windows of any part, each with an address of its own, whose physical address can be told; gone ones lead nowhere, and
 * their addresses do not come back soon. */
TEST_WITH(bus, windows_are_independent)
{
    struct bus_device *device = add();
    struct phys_addr bar = bus_device_bar(device, 2), back;
    uint8_t *first = bus_map(bus, bar, 4096), *seen[64];
    char text[96];

    for (unsigned i = 0; i < 64; i++) {
        seen[i] = bus_map(bus, (struct phys_addr){bar.value + 4096 + 16u * i}, 8192);
        assert_non_null(seen[i]);
        assert_int_equal((uintptr_t)seen[i] % 4096, 16u * i);
        assert_true(bus_physical(bus, seen[i] + 5000, &back));
        assert_int_equal(back.value, bar.value + 4096 + 16u * i + 5000);
        for (unsigned k = 0; k < i; k++)
            CHECK_RULE("PHYS-194", (uintptr_t)seen[k] / 4096 !=
                                       (uintptr_t)seen[i] / 4096); /* also of freed ones */
        if (i % 2) {
            assert_true(bus_unmap(bus, seen[i]));
            CHECK_RULE("PHYS-194", !there(seen[i]) && !bus_physical(bus, seen[i], &back) &&
                                       bus_window_space(bus, seen[i]));
        }
    }
    *seen[62] = 0x77;
    assert_int_equal(((uint8_t *)bus_device_memory(device, 2))[4096 + 16 * 62], 0x77);
    assert_false(bus_physical(bus, first + 4096, &back)); /* the page after a window is nobody's */
    assert_false(there(first + 4096));
    assert_true(bus_describe(bus, (struct phys_addr){bar.value + 0x1234}, text, sizeof(text)));
    assert_non_null(strstr(text, "BAR 2 of "));
    assert_non_null(strstr(text, " at 0x1234"));
    assert_false(bus_describe(bus, (struct phys_addr){0x1000}, text, sizeof(text)));
}

/* Each mapping that fails, for whatever the machine is short of, leaves nothing. */
TEST_WITH(bus, a_failing_mapping_leaves_nothing)
{
    struct bus_device *device = add();
    struct util_heap *heap = util_heap_current;
    unsigned failures = 0;

    for (unsigned bar = 0; bar <= 2; bar += 2) /* tables grow once */
        assert_true(bus_unmap(bus, bus_map(bus, bus_device_bar(device, bar), 4096)));
    for (unsigned bar = 0; bar <= 2; bar += 2)
        for (uint64_t n = 1;; n++) {
            uint64_t blocks = heap->live_blocks;
            void *mapped;

            heap->fail_at = heap->requests + n;
            mapped = bus_map(bus, bus_device_bar(device, bar), 4096);
            heap->fail_at = 0;
            if (mapped) {
                assert_true(bus_unmap(bus, mapped));
                break;
            }
            assert_int_equal(heap->live_blocks, blocks);
            failures++;
        }
    assert_true(failures >= 2);
    assert_int_equal(bus_mappings(bus), 0);
}

TEST_WITH(bus, removal_takes_the_windows_along)
{
    struct bus_device *device = add();
    uint8_t *r = bus_map(bus, bus_device_bar(device, 0), 4096);
    uint64_t value;

    bus_map(bus, bus_device_bar(device, 2), 4096);
    bus_device_remove(device);
    assert_int_equal(bus_mappings(bus), 0);
    assert_false(bus_register_read(bus, r, 4, &value));
}

TEST_WITH(bus, an_unplugged_device_is_all_ones)
{
    struct bus_device *device = add();
    uint8_t *r = bus_map(bus, bus_device_bar(device, 0), 4096);
    uint32_t id;
    uint64_t value;
    uint8_t byte = 1;

    bus_device_attach(device, domain);
    bus_device_unplug(device);
    assert_true(bus_register_read(bus, r, 4, &value));
    assert_int_equal(value, 0xFFFFFFFF);
    assert_true(bus_register_write(bus, r, 4, 1));
    assert_int_equal(probe->writes + probe->reads, 0);
    bus_config_read(device, 0, &id, 4);
    assert_int_equal(id, 0xFFFFFFFF);
    assert_false(probe->services->dma_read(probe->host, 0, &byte, 1));
    assert_int_equal(byte, 0xFF);
    probe->services->timer_arm(probe->host, 0, 10);
    probe->services->interrupt(probe->host, 0);
    assert_int_equal(bus_device_interrupts(device), 0);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(probe->timers, 0);
}

/* ---- DMA ---- */

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
    struct bus_device *device = add();
    struct ram_request request = {.pages = 8, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number page[8], logical;
    uint8_t out[3 * 4096], in[3 * 4096];
    const struct dxgk_device_services *s;
    uint64_t base;
    size_t run;

    faults = 0;
    s = probe->services;
    bus_device_on_fault(device, note_fault, &faults);
    assert_true(ram_take_pages(ram, &request, page));
    /* Logically contiguous, physically not. */
    for (unsigned i = 0; i < 4; i++) {
        struct page_number swap = page[i];

        page[i] = page[7 - i];
        page[7 - i] = swap;
    }
    struct page_number map[4];
    assert_false(s->dma_write(probe->host, 0x1000, out, 1)); /* no domain yet */
    bus_device_attach(device, domain);
    assert_true(iommu_map(domain, page, 4, IOMMU_READ | IOMMU_WRITE, map));
    logical = map[0];
    base = logical.value * 4096;
    for (unsigned i = 0; i < sizeof(out); i++)
        out[i] = (uint8_t)(i * 7 + i / 256);
    assert_true(s->dma_write(probe->host, base + 100, out, sizeof(out)));
    assert_true(s->dma_read(probe->host, base + 100, in, sizeof(in)));
    assert_memory_equal(in, out, sizeof(in));
    assert_memory_equal((uint8_t *)ram_direct(ram, page_phys(page[0])) + 100, out, 3996);
    assert_memory_equal(ram_direct(ram, page_phys(page[1])), out + 3996, 4096);
    assert_int_equal(bus_device_dma_bytes(device), 2 * sizeof(out));
    assert_true(s->dma_read(probe->host, base, in, 0));
    assert_ptr_equal(s->dma_window(probe->host, base + 16, DXGK_DMA_READ, 100, &run),
                     (uint8_t *)ram_direct(ram, page_phys(page[0])) + 16);
    assert_int_equal(run, 100);
    assert_int_equal(faults, 1);

    /* Of an access that ends outside the pages inside are carried out. */
    memset(in, 0xEE, sizeof(in));
    assert_false(s->dma_write(probe->host, base + 3 * 4096, in, 2 * 4096));
    assert_int_equal(faults, 2);
    assert_int_equal(last_fault.address.value, base + 4 * 4096);
    assert_int_equal(last_fault.access, IOMMU_WRITE);
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_UNMAPPED);
    assert_int_equal(last_fault.bytes, 2 * 4096);
    assert_int_equal(last_fault.requester, bus_device_iommu(device)->requester);
    assert_true(s->dma_read(probe->host, base + 3 * 4096, in, 16));
    assert_int_equal(in[5], 0xEE);
    assert_false(s->dma_read(probe->host, base + 3 * 4096, in, 2 * 4096));
    assert_int_equal(in[0], 0xEE);
    assert_int_equal(in[4096], 0xFF);
    assert_int_equal(in[8191], 0xFF);
    assert_null(s->dma_window(probe->host, base + 4 * 4096, DXGK_DMA_WRITE, 4, &run));
    assert_false(s->dma_read(probe->host, (uint64_t)1 << 36, in, 1)); /* beyond its address bits */
    assert_false(s->dma_read(probe->host, UINT64_MAX - 3, in, 16));
    assert_int_equal(bus_device_faults(device), 6);
    iommu_unmap(domain, map, 4);
    assert_false(s->dma_read(probe->host, base, in, 1));
    assert_int_equal(faults, 7);
    assert_int_equal(last_fault.cause, IOMMU_CAUSE_STALE);
    bus_device_attach(device, NULL);
    ram_give_pages(ram, page, 8);
}

/* IOMMU-073: 3 pages with a hole in the middle, ten times by one command, then by another. */
TEST_WITH(bus, a_hole_faults_alone)
{
    struct bus_device *device = add();
    struct ram_request request = {.pages = 2, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    const struct dxgk_device_services *s = probe->services;
    struct page_number page, at[2] = {{100}, {102}};
    uint8_t out[3 * 4096], in[3 * 4096];

    faults = 0;
    bus_device_on_fault(device, note_fault, &faults);
    bus_device_attach(device, domain);
    assert_true(ram_take_contiguous(ram, &request, &page));
    for (unsigned i = 0; i < 2; i++)
        CHECK(iommu_map_at(domain, &at[i], (struct page_number){page.value + i}, 1,
                           IOMMU_READ | IOMMU_WRITE, NULL) == IOMMU_DONE);
    memset(out, 0x5A, sizeof(out));
    s->dma_source(probe->host, 3, 77);
    CHECK_RULE("IOMMU-073", !s->dma_write(probe->host, 100 * 4096, out, sizeof(out)) &&
                                faults == 1 && last_fault.address.value == 101 * 4096 &&
                                last_fault.engine == 3 && last_fault.command == 77 &&
                                last_fault.count == 1);
    CHECK(!s->dma_read(probe->host, 100 * 4096, in, sizeof(in)));
    CHECK_RULE("IOMMU-073", memcmp(in, out, 4096) == 0 && in[4096] == 0xFF && in[8191] == 0xFF &&
                                memcmp(in + 8192, out, 4096) == 0);
    CHECK_RULE("IOMMU-071", ((const uint8_t *)ram_direct(ram, page_phys(page)))[4095] == 0x5A);
    for (unsigned i = 1; i < 10; i++)
        CHECK(!s->dma_write(probe->host, 100 * 4096, out, sizeof(out)));
    CHECK_RULE("IOMMU-073", last_fault.count == 10);
    s->dma_source(probe->host, 3, 78);
    CHECK(!s->dma_write(probe->host, 100 * 4096, out, sizeof(out)));
    CHECK_RULE("IOMMU-073", last_fault.count == 1);
    for (unsigned i = 0; i < 2; i++)
        iommu_unmap_run(domain, at[i], 1);
    ram_give_contiguous(ram, page, 2);
}

/* A window for reading and writing needs both rights. */
TEST_WITH(bus, a_window_asks_for_all_it_will_do)
{
    struct bus_device *device = add();
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    const struct dxgk_device_services *s = probe->services;
    struct page_number page, logical;
    size_t run;

    bus_device_attach(device, domain);
    assert_true(ram_take_contiguous(ram, &request, &page));
    assert_true(iommu_map_run(domain, page, 1, IOMMU_READ, &logical));
    assert_non_null(s->dma_window(probe->host, logical.value * 4096, DXGK_DMA_READ, 8, &run));
    assert_null(s->dma_window(probe->host, logical.value * 4096,
                              (enum dxgk_dma_access)(DXGK_DMA_READ | DXGK_DMA_WRITE), 8, &run));
    iommu_unmap_run(domain, logical, 1);
    ram_give_contiguous(ram, page, 1);
}

/* What goes through and should not is told: RAM that nobody holds, and a stale translation. */
TEST_WITH(bus, accesses_to_memory_that_nobody_holds_are_told)
{
    struct bus_device *device = add();
    struct iommu_domain *books = iommu_domain_create(ram, IOMMU_OFF, (struct logical_addr){0});
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    const struct dxgk_device_services *s = probe->services;
    struct page_number page, logical;
    uint32_t word = 7;

    faults = 0;
    bus_device_on_fault(device, note_fault, &faults);
    bus_device_attach(device, books);
    assert_true(ram_take_contiguous(ram, &request, &page));
    assert_true(iommu_map_run(books, page, 1, IOMMU_READ | IOMMU_WRITE, NULL));
    CHECK(s->dma_write(probe->host, page.value * 4096, &word, 4) && faults == 0);
    iommu_unmap_run(books, page, 1);
    word = 8;
    CHECK_RULE("IOMMU-075", s->dma_write(probe->host, page.value * 4096, &word, 4) && faults == 1 &&
                                last_fault.cause == IOMMU_CAUSE_NOT_HELD &&
                                *(uint32_t *)ram_direct(ram, page_phys(page)) == 8);
    bus_device_set_judged(device, false);
    CHECK_RULE("IOMMU-075", s->dma_write(probe->host, page.value * 4096, &word, 4) && faults == 1);
    bus_device_set_judged(device, true);
    bus_device_attach(device, domain);
    iommu_domain_destroy(books);

    /* The flush gets lost: the device goes on in a page that is somebody else's by now. */
    assert_true(iommu_map_run(domain, page, 1, IOMMU_READ | IOMMU_WRITE, &logical));
    CHECK(s->dma_read(probe->host, logical.value * 4096, &word, 4));
    iommu_domain_lose_flushes(domain, 1);
    iommu_unmap_run(domain, logical, 1);
    CHECK_RULE("IOMMU-074", s->dma_read(probe->host, logical.value * 4096, &word, 4) && word == 8 &&
                                faults == 2 && last_fault.cause == IOMMU_CAUSE_NOT_HELD);
    iommu_flush_run(domain, logical, 1);
    CHECK_RULE("IOMMU-074", !s->dma_read(probe->host, logical.value * 4096, &word, 4) &&
                                last_fault.cause == IOMMU_CAUSE_STALE);
    bus_device_set_quiet(device, true);
    assert_true(iommu_map_run(domain, page, 1, IOMMU_READ | IOMMU_WRITE, &logical));
    CHECK(s->dma_read(probe->host, logical.value * 4096, &word, 4) &&
          last_fault.cause == IOMMU_CAUSE_EXCLUSIVE);
    iommu_unmap_run(domain, logical, 1);
    bus_device_attach(device, NULL);
    ram_give_contiguous(ram, page, 1);
}

/* Two devices of one logical adapter share a domain, a third has its own (IOMMU-043). */
TEST_WITH(bus, linked_devices_share_a_domain)
{
    struct bus_device *lead = add();
    struct probe *first = probe;
    struct bus_device *linked = add();
    struct probe *second = probe;
    struct bus_device *alone = add();
    struct iommu_domain *other = iommu_domain_create(ram, IOMMU_REMAP,
                                                     (struct logical_addr){0xFFFFFFFFF});
    struct ram_request request = {.pages = 3, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number page, logical;
    uint32_t word = 0x1234;

    bus_device_attach(lead, domain);
    bus_device_attach(linked, domain);
    bus_device_attach(alone, other);
    CHECK(iommu_domain_attached(domain) == 2);
    assert_true(ram_take_contiguous(ram, &request, &page));
    assert_true(iommu_map_run(domain, page, 3, IOMMU_READ | IOMMU_WRITE, &logical));
    CHECK(first->services->dma_write(first->host, logical.value * 4096 + 8200, &word, 4));
    word = 0;
    CHECK_RULE("IOMMU-043",
               second->services->dma_read(second->host, logical.value * 4096 + 8200, &word, 4) &&
                   word == 0x1234);
    CHECK_RULE("IOMMU-043",
               !probe->services->dma_read(probe->host, logical.value * 4096 + 8200, &word, 4));
    iommu_unmap_run(domain, logical, 3);
    bus_device_attach(lead, NULL);
    bus_device_attach(linked, NULL);
    bus_device_attach(alone, NULL);
    iommu_domain_destroy(other);
    ram_give_contiguous(ram, page, 3);
}

TEST_WITH(bus, rights_are_kept)
{
    struct bus_device *device = add();
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED, .zero = true};
    struct page_number page, logical;
    uint8_t byte = 9;

    bus_device_attach(device, domain);
    assert_true(ram_take_contiguous(ram, &request, &page));
    assert_true(iommu_map_run(domain, page, 1, IOMMU_READ, &logical));
    assert_true(probe->services->dma_read(probe->host, logical.value * 4096, &byte, 1));
    assert_int_equal(byte, 0);
    assert_false(probe->services->dma_write(probe->host, logical.value * 4096, &byte, 1));
    iommu_unmap_run(domain, logical, 1);
    ram_give_contiguous(ram, page, 1);
}

TEST_WITH(bus, without_translation_ram_is_one_run)
{
    struct bus_device *device = add();
    struct iommu_domain *off = iommu_domain_create(ram, IOMMU_OFF,
                                                   (struct logical_addr){UINT64_MAX});
    uint64_t top = ram_highest(ram).value + 1;
    uint8_t *buffer = malloc(1 << 20);
    uint32_t command = 0x0002; /* memory, no bus master */
    size_t run;

    bus_device_attach(device, off);
    assert_non_null(probe->services->dma_window(probe->host, 0x5123, DXGK_DMA_READ, 1 << 20, &run));
    assert_int_equal(run, 1 << 20);
    assert_true(probe->services->dma_read(probe->host, top - (1 << 20), buffer, 1 << 20));
    assert_false(probe->services->dma_read(probe->host, top - 8, buffer, 16));
    assert_false(probe->services->dma_read(probe->host, bus_device_bar(device, 2).value, buffer, 4));
    bus_config_write(device, 4, &command, 2);
    assert_false(probe->services->dma_read(probe->host, 0x5123, buffer, 4));
    bus_device_attach(device, NULL);
    iommu_domain_destroy(off);
    free(buffer);
}

/* ---- interrupts and timers ---- */

static unsigned served[3];

static bool serve(void *context, uint32_t message)
{
    (void)context;
    served[message]++;
    return true;
}

TEST_WITH(bus, messages_arrive)
{
    struct bus_device *device = add();

    memset(served, 0, sizeof(served));
    for (uint32_t i = 0; i < 3; i++)
        sim_interrupt_connect(bus_device_interrupt(device, i), serve, NULL, i, SIM_IRQL_DEVICE);
    assert_null(bus_device_interrupt(device, 3));
    probe->services->interrupt(probe->host, 2); /* cut off from the bus */
    bus_device_attach(device, domain);
    probe->services->interrupt(probe->host, 1);
    probe->services->interrupt(probe->host, 7);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(served[0] + served[2], 0);
    assert_int_equal(served[1], 1);
    assert_int_equal(bus_device_interrupts(device), 1);
}

TEST_WITH(bus, timers_fire_at_their_time)
{
    struct bus_device *device = add();
    uint64_t now = sim_now();

    probe->services->timer_arm(probe->host, 3, 5000);
    probe->services->timer_arm(probe->host, 3, 9000);
    probe->services->timer_arm(probe->host, 4, 100);
    probe->services->timer_disarm(probe->host, 4);
    probe->services->timer_arm(probe->host, DXGK_DEVICE_TIMERS, 1);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(probe->timers, 1);
    assert_int_equal(probe->last_timer, 3);
    assert_true(probe->last_time >= now + 9000);
    probe->services->timer_arm(probe->host, 0, 50);
    bus_device_reset(device);
    assert_int_equal(probe->resets, 1);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(probe->timers, 1);
}

TEST_WITH(bus, a_timer_survives_shortage)
{
    struct bus_device *device = add();
    uint8_t *r = bus_map(bus, bus_device_bar(device, 0), 4096);
    uint64_t value;

    machine->heap.fail_at = machine->heap.requests + 1;
    machine->heap.fail_onward = true;
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++)
        probe->services->timer_arm(probe->host, i, 1000 + i);
    machine->heap.fail_at = 0;
    machine->heap.fail_onward = false;
    bus_register_read(bus, r, 4, &value);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(probe->timers, DXGK_DEVICE_TIMERS);
}

/* ---- configuration space ---- */

static uint32_t config(struct bus_device *device, uint32_t offset, unsigned bytes)
{
    uint32_t value = 0;

    assert_int_equal(bus_config_read(device, offset, &value, bytes), bytes);
    return value;
}

TEST_WITH(bus, configuration_space_describes_the_function)
{
    struct bus_device *device = add();
    uint32_t ones = 0xFFFFFFFF;
    uint8_t beyond[8];
    uint16_t reset_bit = 0x8000;
    uint32_t capability = 0;

    assert_int_equal(config(device, 0, 4), 0x10501AF4);
    assert_int_equal(config(device, 8, 4), 0x03800007);
    assert_int_equal(config(device, 0x2C, 4), 0x00020001);
    assert_int_equal(config(device, 0x10, 4) & ~0xFu, bus_device_bar(device, 0).value & 0xFFFFFFFF);
    assert_int_equal(config(device, 0x10, 4) & 6, 4); /* 64 bits */
    assert_int_equal(bus_config_write(device, 0x10, &ones, 4), 4);
    assert_int_equal(config(device, 0x10, 4) & ~0xFu, 0xFFFFE000);
    assert_int_equal(bus_config_write(device, 0, &ones, 4), 4);
    assert_int_equal(config(device, 0, 4), 0x10501AF4);
    assert_false(bus_config_writable(device, 0, 4));
    assert_true(bus_config_writable(device, 4, 1));
    assert_int_equal(bus_config_read(device, 252, beyond, 8), 4);
    assert_int_equal(beyond[7], 0xFF);
    assert_int_equal(bus_config_read(device, 256, beyond, 8), 0);
    assert_int_equal(bus_config_write(device, 256, beyond, 8), 0);
    for (uint32_t at = config(device, 0x34, 1); at; at = config(device, at + 1, 1)) {
        if (config(device, at, 1) == 0x10)
            capability = at;
    }
    assert_int_not_equal(capability, 0);
    bus_config_write(device, capability + 8, &reset_bit, 2);
    assert_int_equal(probe->resets, 1);
}
