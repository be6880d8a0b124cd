/* SPDX-License-Identifier: MIT */
/*
 * Clocks. All are the machine's virtual clock in other units (NT-091): interrupt time in 100 ns
 * since power on; system time, the same plus a start date and the user's changes; and a performance
 * counter of 10 MHz. The plain queries advance with the clock tick, the precise ones continuously.
 */
#include "nt/ke/time.h"
#include "nt/base/export.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "sim/dpc.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "verify/verify.h"

#define NS_PER_UNIT          100u
#define NS_PER_US            1000u
#define COUNTER_FREQUENCY    10000000
#define LONGEST_STALL_US     50u
#define LONGEST_DPC_STALL_US 100u

struct nt_time {
    int64_t offset; /* 100 ns units: system time - boot time - interrupt time */
    /* The clock interrupts every `resolution` 100 ns units since `since` (NT-178). */
    uint32_t resolution;
    uint64_t since;
};

static bool init(struct nt *nt)
{
    nt->time->resolution = NT_TICK_100NS;
    return true;
}

const struct nt_component nt_time_component = {
    .slot = offsetof(struct nt, time),
    .bytes = sizeof(struct nt_time),
    .init = init,
};

static uint64_t interrupt_time(void)
{
    return sim_now() / NS_PER_UNIT;
}

static uint64_t system_time(uint64_t interrupt)
{
    const struct nt *nt = nt_state();

    return nt->config.boot_time + interrupt + (uint64_t)nt->time->offset;
}

static uint64_t last_tick(void)
{
    const struct nt_time *time = nt_state()->time;

    return time->since + (interrupt_time() - time->since) / time->resolution * time->resolution;
}

uint32_t nt_time_resolution(void)
{
    return nt_state()->time->resolution;
}

void nt_time_set_resolution(uint32_t resolution)
{
    struct nt_time *time = nt_state()->time;

    time->since = last_tick();
    time->resolution = resolution;
}

uint64_t nt_time_system(void)
{
    return system_time(interrupt_time());
}

void nt_time_move(uint64_t time)
{
    struct nt *nt = nt_state();

    nt->time->offset = (int64_t)(time - nt->config.boot_time - interrupt_time());
}

uint64_t nt_time_deadline(const LARGE_INTEGER *timeout)
{
    uint64_t now = sim_now();
    uint64_t delay, system;

    if (!timeout)
        return SIM_FOREVER;
    if (timeout->QuadPart <= 0) {
        delay = 0 - (uint64_t)timeout->QuadPart;
    } else {
        system = system_time(interrupt_time());
        delay = (uint64_t)timeout->QuadPart > system ? (uint64_t)timeout->QuadPart - system : 0;
    }
    if (delay > (SIM_FOREVER - 1 - now) / NS_PER_UNIT)
        return SIM_FOREVER;
    return now + delay * NS_PER_UNIT;
}

void nt_clock(struct nt_clock *clock)
{
    clock->interrupt_time = last_tick();
    clock->system_time = system_time(clock->interrupt_time);
    clock->ticks = clock->interrupt_time / NT_TICK_100NS;
}

NT_EXPORT VOID NTAPI KeQuerySystemTime(PLARGE_INTEGER CurrentTime)
{
    NT_ENTER();
    CurrentTime->QuadPart = (LONGLONG)system_time(last_tick());
}

NT_EXPORT VOID NTAPI KeQuerySystemTimePrecise(PLARGE_INTEGER CurrentTime)
{
    NT_ENTER();
    CurrentTime->QuadPart = (LONGLONG)system_time(interrupt_time());
}

NT_EXPORT ULONGLONG NTAPI KeQueryInterruptTime(void)
{
    NT_ENTER();
    return last_tick();
}

NT_EXPORT ULONGLONG NTAPI KeQueryInterruptTimePrecise(PULONG64 QpcTimeStamp)
{
    NT_ENTER();
    if (QpcTimeStamp)
        *QpcTimeStamp = interrupt_time();
    return interrupt_time();
}

NT_EXPORT ULONGLONG NTAPI KeQueryUnbiasedInterruptTime(void)
{
    NT_ENTER();
    return last_tick();
}

NT_EXPORT VOID NTAPI KeQueryTickCount(PLARGE_INTEGER CurrentCount)
{
    NT_ENTER();
    CurrentCount->QuadPart = (LONGLONG)(interrupt_time() / NT_TICK_100NS);
}

NT_EXPORT ULONG NTAPI KeQueryTimeIncrement(void)
{
    NT_ENTER();
    return NT_TICK_100NS;
}

NT_EXPORT LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER PerformanceFrequency)
{
    LARGE_INTEGER counter;

    NT_ENTER();
    if (PerformanceFrequency)
        PerformanceFrequency->QuadPart = COUNTER_FREQUENCY;
    counter.QuadPart = (LONGLONG)interrupt_time();
    return counter;
}

NT_EXPORT VOID NTAPI KeStallExecutionProcessor(ULONG MicroSeconds)
{
    NT_ENTER();
    if (sim_in_dpc() && MicroSeconds > LONGEST_DPC_STALL_US)
        VIOLATION("NT-047", "%s of %u microseconds in a DPC", __func__, MicroSeconds);
    else if (MicroSeconds > LONGEST_STALL_US)
        WARNING("NT-047", "%s of %u microseconds, %u are the most a driver should take", __func__,
                MicroSeconds, LONGEST_STALL_US);
    sim_stall((uint64_t)MicroSeconds * NS_PER_US);
}
