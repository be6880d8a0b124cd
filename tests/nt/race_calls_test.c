/* SPDX-License-Identifier: MIT */
/* What calls of the driver by the kernel order for the detector of races: those on all processors at once, and those that another
 * thread's request is served by. */
#include "support/harness.h"

#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/machine.h"

#define PROCESSORS 4u
#define SEEDS      20u

static ULONG *bytes;
static bool alone; /* the first processor writes, not all of them */
static bool written;

static void write_as(uintptr_t who)
{
    nt_race_access(bytes, sizeof(*bytes), RACE_WRITE, who);
}

static unsigned races(void (*fn)(void))
{
    unsigned found = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        harness_boot(PROCESSORS, seed, NULL);
        sim_current->races = race_create(PROCESSORS); /* the machine's from now on */
        bytes = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*bytes), TAG);
        run(fn);
        found += broken("THREAD-080");
        ExFreePool(bytes);
        harness_teardown();
    }
    return found;
}

/* ---- on all processors ---- */

static ULONG_PTR NTAPI on_each(ULONG_PTR argument)
{
    if (!alone || !written)
        write_as(3);
    written = true;
    return argument;
}

static void write_around(void *arg)
{
    (void)arg;
    write_as(1);
    pause_ns(1000000);
    write_as(2);
}

static void broadcast(void)
{
    written = false;
    start("other", write_around, NULL);
    pause_ns(500000);
    (void)KeIpiGenericCall(on_each, 0);
    pause_ns(2000000);
}

TEST(a_routine_on_all_processors_comes_after_all_and_before_all)
{
    alone = true;
    CHECK_RULE("THREAD-080/a", races(broadcast) == 0);
    alone = false;
    CHECK_RULE("THREAD-080/b", races(broadcast) > 0); /* the processors among themselves */
}

/* ---- for a component's power ---- */

static DEVICE_OBJECT pdo;
static POHANDLE handle;

static void NTAPI on_active(PVOID context, ULONG component)
{
    (void)context;
    (void)component;
    write_as(2);
}

static void activate_first(void *arg)
{
    (void)arg;
    write_as(1);
    PoFxActivateComponent(handle, 0, 0); /* calls back */
}

static void activate_later(void *arg)
{
    (void)arg;
    pause_ns(500000);
    PoFxActivateComponent(handle, 0, 0); /* it is active */
    write_as(3);
}

static void do_not_activate(void *arg)
{
    (void)arg;
    pause_ns(500000);
    write_as(3);
}

static void with_component(void (*second)(void *))
{
    static PO_FX_COMPONENT_IDLE_STATE state = {0, 0, PO_FX_UNKNOWN_POWER};
    PO_FX_DEVICE_V1 device = {.Version = PO_FX_VERSION_V1,
                              .ComponentCount = 1,
                              .ComponentActiveConditionCallback = on_active};

    device.Components[0].IdleStateCount = 1;
    device.Components[0].IdleStates = &state;
    CHECK(NT_SUCCESS(PoFxRegisterDevice(&pdo, &device, &handle)));
    PoFxStartDevicePowerManagement(handle);
    start("first", activate_first, NULL);
    start("second", second, NULL);
    pause_ns(2000000);
    PoFxUnregisterDevice(handle);
}

static void both_activate(void)
{
    with_component(activate_later);
}

static void one_activates(void)
{
    with_component(do_not_activate);
}

TEST(who_finds_a_component_active_comes_after_the_callback)
{
    CHECK_RULE("THREAD-080/a", races(both_activate) == 0);
    CHECK_RULE("THREAD-080/b", races(one_activates) > 0);
}
