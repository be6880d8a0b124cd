/* SPDX-License-Identifier: MIT */
/* Messages and timers of devices. */
#include "bus/device.h"
#include "bus/dma.h"
#include "bus/reset.h"
#include "bus/window.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

#include <string.h>

static unsigned served[3];

static bool serve(void *context, uint32_t message)
{
    (void)context;
    served[message]++;
    return true;
}

TEST_WITH(bus, messages_arrive)
{
    struct bus_device *device = rig_add();

    memset(served, 0, sizeof(served));
    for (uint32_t i = 0; i < 3; i++)
        sim_interrupt_connect(bus_device_interrupt(device, i), serve, NULL, i, SIM_IRQL_DEVICE);
    assert_null(bus_device_interrupt(device, 3));
    rig.probe->services->interrupt(rig.probe->host, 2); /* cut off from the bus */
    bus_device_attach(device, rig.domain);
    rig.probe->services->interrupt(rig.probe->host, 1);
    rig.probe->services->interrupt(rig.probe->host, 7);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(served[0] + served[2], 0);
    assert_int_equal(served[1], 1);
    assert_int_equal(bus_device_interrupts(device), 1);
}

TEST_WITH(bus, timers_fire_at_their_time)
{
    struct bus_device *device = rig_add();
    uint64_t now = sim_now();

    rig.probe->services->timer_arm(rig.probe->host, 3, 5000);
    rig.probe->services->timer_arm(rig.probe->host, 3, 9000);
    rig.probe->services->timer_arm(rig.probe->host, 4, 100);
    rig.probe->services->timer_disarm(rig.probe->host, 4);
    rig.probe->services->timer_arm(rig.probe->host, DXGK_DEVICE_TIMERS, 1);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(rig.probe->timers, 1);
    assert_int_equal(rig.probe->last_timer, 3);
    assert_true(rig.probe->last_time >= now + 9000);
    rig.probe->services->timer_arm(rig.probe->host, 0, 50);
    bus_device_reset(device);
    assert_int_equal(rig.probe->resets, 1);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(rig.probe->timers, 1);
}

TEST_WITH(bus, a_timer_survives_shortage)
{
    struct bus_device *device = rig_add();
    uint8_t *r = bus_map(rig.bus, bus_device_bar(device, 0), 4096);
    uint64_t value;

    rig.machine->heap.fail_at = rig.machine->heap.requests + 1;
    rig.machine->heap.fail_onward = true;
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++)
        rig.probe->services->timer_arm(rig.probe->host, i, 1000 + i);
    rig.machine->heap.fail_at = 0;
    rig.machine->heap.fail_onward = false;
    bus_register_read(rig.bus, r, 4, &value);
    sim_run(NULL, NULL, SIM_FOREVER);
    assert_int_equal(rig.probe->timers, DXGK_DEVICE_TIMERS);
}
