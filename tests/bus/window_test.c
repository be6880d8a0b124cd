/* SPDX-License-Identifier: MIT */
/* Mappings of BARs for the processor, registers and memory. */
#include "bus/config.h"
#include "bus/device.h"
#include "bus/dma.h"
#include "bus/memory.h"
#include "bus/reset.h"
#include "bus/window.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

#include <string.h>
#include <unistd.h>

TEST_WITH(bus, register_windows_reach_the_model)
{
    struct bus_device *device = rig_add();
    struct phys_addr bar = bus_device_bar(device, 0);
    uint8_t *r = bus_map(rig.bus, (struct phys_addr){bar.value + 0x104}, 16);
    struct phys_addr back;
    uint64_t value;

    assert_int_equal((uintptr_t)r % 4096, 0x104);
    assert_true(bus_register_write(rig.bus, r, 4, 0x1122334455667788));
    assert_int_equal(rig.probe->reg[0x100 / 8], 0x5566778800000000);
    assert_true(bus_register_read(rig.bus, r + 2, 2, &value));
    assert_int_equal(value, 0x5566);
    assert_true(bus_register_read(rig.bus, r + 1, 2, &value)); /* unaligned */
    assert_int_equal(value, 0xFFFF);
    assert_int_equal(rig.probe->reads, 1);
    assert_false(bus_register_read(rig.bus, r + 14, 4, &value)); /* past the end */
    assert_false(bus_register_read(rig.bus, r - 4, 4, &value));
    assert_false(bus_register_read(rig.bus, &value, 4, &value));
    assert_true(bus_register_space(rig.bus, r + 14));
    assert_false(bus_register_space(rig.bus, &value));
    assert_true(bus_physical(rig.bus, r + 4, &back));
    assert_int_equal(back.value, bar.value + 0x108);
    assert_int_equal(bus_mappings(rig.bus), 1);
    assert_true(bus_unmap(rig.bus, r));
    assert_false(bus_unmap(rig.bus, r));
    assert_false(bus_register_read(rig.bus, r, 4, &value));
    assert_null(bus_map(rig.bus, bar, 8193));
    assert_null(bus_map(rig.bus, bar, 0));
    assert_null(bus_map(rig.bus, (struct phys_addr){0x1000}, 16));
}

TEST_WITH(bus, others_may_run_before_and_after_each_access)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    uint64_t before = sim_now(), value;

    bus_register_read(rig.bus, r, 4, &value);
    bus_register_write(rig.bus, r, 4, 0);
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
    struct bus_device *device = rig_add();
    uint8_t *a = bus_map(rig.bus, bus_device_bar(device, 2), 4096);
    uint8_t *b = bus_map(rig.bus, bus_device_bar(device, 2), 100);
    uint8_t *whole = rig.probe->services->memory(rig.probe->host, DXGK_DEVICE_BARS);

    CHECK_RULE("PHYS-194", a != b);
    a[77] = 0x5A;
    assert_int_equal(b[77], 0x5A);
    assert_int_equal(((uint8_t *)rig.probe->services->memory(rig.probe->host, 2))[77], 0x5A);
    assert_int_equal(whole[77], 0x5A);
    whole[(4 << 20) - 1] = 1;
    assert_true(bus_device_memory_file(device, 2) >= 0);
    assert_int_equal(bus_device_memory_file(device, 0), -1);
    assert_ptr_not_equal(bus_device_memory(device, 4), bus_device_memory(device, 2));
    assert_int_equal(bus_mappings(rig.bus), 2);
    assert_true(bus_unmap(rig.bus, a));
    assert_int_equal(bus_mappings(rig.bus), 1);
    CHECK_RULE("PHYS-194", !there(a) && there(b) && b[77] == 0x5A);
    assert_true(bus_unmap(rig.bus, b));
    assert_false(bus_unmap(rig.bus, b));
}

/* Windows of any part, each with an address of its own, whose physical address can be told; gone ones lead nowhere, and
 * their addresses do not come back soon. */
TEST_WITH(bus, windows_are_independent)
{
    struct bus_device *device = rig_add();
    struct phys_addr bar = bus_device_bar(device, 2), back;
    uint8_t *first = bus_map(rig.bus, bar, 4096), *seen[64];
    char text[96];

    for (unsigned i = 0; i < 64; i++) {
        seen[i] = bus_map(rig.bus, (struct phys_addr){bar.value + 4096 + 16u * i}, 8192);
        assert_non_null(seen[i]);
        assert_int_equal((uintptr_t)seen[i] % 4096, 16u * i);
        assert_true(bus_physical(rig.bus, seen[i] + 5000, &back));
        assert_int_equal(back.value, bar.value + 4096 + 16u * i + 5000);
        for (unsigned k = 0; k < i; k++)
            CHECK_RULE("PHYS-194", (uintptr_t)seen[k] / 4096 !=
                                       (uintptr_t)seen[i] / 4096); /* also of freed ones */
        if (i % 2) {
            assert_true(bus_unmap(rig.bus, seen[i]));
            CHECK_RULE("PHYS-194", !there(seen[i]) && !bus_physical(rig.bus, seen[i], &back) &&
                                       bus_window_space(rig.bus, seen[i]));
        }
    }
    *seen[62] = 0x77;
    assert_int_equal(((uint8_t *)bus_device_memory(device, 2))[4096 + 16 * 62], 0x77);
    assert_false(
        bus_physical(rig.bus, first + 4096, &back)); /* the page after a window is nobody's */
    assert_false(there(first + 4096));
    assert_true(bus_describe(rig.bus, (struct phys_addr){bar.value + 0x1234}, text, sizeof(text)));
    assert_non_null(strstr(text, "BAR 2 of "));
    assert_non_null(strstr(text, " at 0x1234"));
    assert_false(bus_describe(rig.bus, (struct phys_addr){0x1000}, text, sizeof(text)));
}

/* Each mapping that fails, for whatever the machine is short of, leaves nothing. */
TEST_WITH(bus, a_failing_mapping_leaves_nothing)
{
    struct bus_device *device = rig_add();
    struct util_heap *heap = util_heap_current;
    unsigned failures = 0;

    for (unsigned bar = 0; bar <= 2; bar += 2) /* tables grow once */
        assert_true(bus_unmap(rig.bus, bus_map(rig.bus, bus_device_bar(device, bar), 4096)));
    for (unsigned bar = 0; bar <= 2; bar += 2)
        for (uint64_t n = 1;; n++) {
            uint64_t blocks = heap->live_blocks;
            void *mapped;

            heap->fail_at = heap->requests + n;
            mapped = bus_map(rig.bus, bus_device_bar(device, bar), 4096);
            heap->fail_at = 0;
            if (mapped) {
                assert_true(bus_unmap(rig.bus, mapped));
                break;
            }
            assert_int_equal(heap->live_blocks, blocks);
            failures++;
        }
    assert_true(failures >= 2);
    assert_int_equal(bus_mappings(rig.bus), 0);
}

TEST_WITH(bus, removal_takes_the_windows_along)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    uint64_t value;

    bus_map(rig.bus, bus_device_bar(device, 2), 4096);
    bus_device_remove(device);
    assert_int_equal(bus_mappings(rig.bus), 0);
    assert_false(bus_register_read(rig.bus, r, 4, &value));
}

TEST_WITH(bus, an_unplugged_device_is_all_ones)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    uint32_t id;
    uint64_t value;
    uint8_t byte = 1;

    bus_device_attach(device, rig.domain);
    bus_device_unplug(device, NULL);
    assert_true(bus_register_read(rig.bus, r, 4, &value));
    assert_int_equal(value, 0xFFFFFFFF);
    assert_true(bus_register_write(rig.bus, r, 4, 1));
    assert_int_equal(rig.probe->writes + rig.probe->reads, 0);
    bus_config_read(device, 0, &id, 4);
    assert_int_equal(id, 0xFFFFFFFF);
    assert_false(rig.probe->services->dma_read(rig.probe->host, 0, &byte, 1));
    assert_int_equal(byte, 0xFF);
    rig.probe->services->timer_arm(rig.probe->host, 0, 10);
    rig.probe->services->interrupt(rig.probe->host, 0);
    assert_int_equal(bus_device_interrupts(device), 0);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(rig.probe->timers, 0);
}
