/* SPDX-License-Identifier: MIT */
/* What happens to the machine: time, shortage, power, the end of the device. */
#include "gpu_memory_fuzz.h"

#include "sim/machine.h"
#include "sim/thread.h"

void fuzz_pass_time(void)
{
    probe_sleep(100ull << (fuzz_byte() % 20));
}

void fuzz_fail_something(void)
{
    struct util_heap *heap = &fuzz_run->probe->sim->heap;
    const unsigned how = fuzz_byte();

    if (!fuzz_run->shape.failures || fuzz_fail_at)
        return;
    heap->fail_at = heap->requests + 1 + how % 64;
    heap->fail_onward = how >= 240;
    fuzz_run->excused = true;
    fuzz_run->busy = true;
}

/* What only a thread of the system does. */
static void (*act)(void);
static bool acted;

static void act_main(void *arg)
{
    (void)arg;
    act();
    acted = true;
}

/* False: out of memory. */
static bool let_system(void (*what)(void))
{
    struct sim_thread *thread;

    act = what;
    acted = false;
    thread = sim_thread_create("system", SIM_THREAD_KERNEL, act_main, NULL);
    if (!thread)
        return false;
    while (!acted)
        probe_sleep(100000);
    sim_thread_release(thread);
    return true;
}

static DEVICE_POWER_STATE state;
static POWER_ACTION action;
static NTSTATUS outcome;

static void set_power(void)
{
    outcome = port_adapter_set_power(fuzz_run->probe->adapter[0], state, action);
}

void fuzz_change_power(void)
{
    const unsigned how = fuzz_byte();

    if (fuzz_run->resets == 2)
        return;
    fuzz_run->resets++;
    if (how & 4)
        fuzz_drain();
    fuzz_run->busy = true;
    state = PowerDeviceD3;
    action = how & 1 ? PowerActionHibernate : PowerActionSleep;
    if (!let_system(set_power))
        return;
    MUST(NT_SUCCESS(outcome) || fuzz_run->excused || fuzz_shortage(outcome));
    if (how & 2)
        probe_sleep(1000000);
    state = PowerDeviceD0;
    if (let_system(set_power) && NT_SUCCESS(outcome))
        return;
    MUST(fuzz_run->excused || fuzz_shortage(outcome));
    fuzz_run->probe->sim->heap.fail_at = 0; /* it must come back: who waits for it does so for ever */
    MUST(let_system(set_power) && NT_SUCCESS(outcome));
}

static void unplug(void)
{
    outcome = port_adapter_unplug(fuzz_run->probe->adapter[0], DxgkRemovalPnPNotify, false);
}

void fuzz_unplug(void)
{
    if (fuzz_byte() & 3)
        return;
    fuzz_run->excused = fuzz_run->removed = true;
    (void)let_system(unplug);
    fuzz_run->at = fuzz_run->end;
}
