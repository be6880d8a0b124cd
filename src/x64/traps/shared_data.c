/* SPDX-License-Identifier: MIT */
/*
 * The page of system data that kernel code reads at a fixed address (NT-174). That address cannot
 * be mapped here, so each access traps; the clocks in the page are updated when they are read.
 */
#include "x64/traps/shared_data.h"
#include "bus/bus.h"
#include "nt/ke/time.h"
#include "nt/nt.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "util/alloc.h"
#include "x64/traps/memory.h"
#include "x64/traps/state.h"

#include <string.h>

#define TICK_MULTIPLIER 0x0FA00000u /* milliseconds per tick, with 24 bits of fraction */
#define MACHINE_AMD64   0x8664u
#define ARCHITECTURE    9u
#define COUNTER_PER_S   10000000
#define WINDOWS_MAJOR   10u

/* A trap takes far more real time than the virtual time of a point. Code that does nothing but read
 * a clock would not reach the end of any limit of virtual time: its reads take longer (NT-203). */
#define READS    100u     /* that are as any point, within */
#define READS_NS 1000000u /* a millisecond; each one more: */
#define WAIT_NS  10000u

/* Processor features (by index) that every x64 processor that runs Windows has. */
enum {
    FEATURE_COMPARE_EXCHANGE_DOUBLE = 2,
    FEATURE_MMX = 3,
    FEATURE_XMMI = 6,
    FEATURE_RDTSC = 8,
    FEATURE_PAE = 9,
    FEATURE_XMMI64 = 10,
    FEATURE_NX = 12,
    FEATURE_SSE3 = 13,
    FEATURE_COMPARE_EXCHANGE_128 = 14,
};

bool x64_shared_data_init(struct x64_machine *x64)
{
    static const uint8_t features[] = {FEATURE_COMPARE_EXCHANGE_DOUBLE,
                                       FEATURE_MMX,
                                       FEATURE_XMMI,
                                       FEATURE_RDTSC,
                                       FEATURE_PAE,
                                       FEATURE_XMMI64,
                                       FEATURE_NX,
                                       FEATURE_SSE3,
                                       FEATURE_COMPARE_EXCHANGE_128};
    static const WCHAR root[] = L"C:\\Windows";
    KUSER_SHARED_DATA *shared = util_zalloc(1, X64_PAGE);

    if (!shared)
        return false;
    shared->TickCountMultiplier = TICK_MULTIPLIER;
    shared->ImageNumberLow = MACHINE_AMD64;
    shared->ImageNumberHigh = MACHINE_AMD64;
    memcpy(shared->NtSystemRoot, root, sizeof(root));
    shared->NtBuildNumber = nt_build();
    shared->NtProductType = NtProductWinNt;
    shared->ProductTypeIsValid = TRUE;
    shared->NativeProcessorArchitecture = ARCHITECTURE;
    shared->NtMajorVersion = WINDOWS_MAJOR;
    for (size_t i = 0; i < sizeof(features); i++)
        shared->ProcessorFeatures[features[i]] = TRUE;
    shared->NumberOfPhysicalPages = (ULONG)(ram_bytes(bus_ram(bus_current())) / X64_PAGE);
    shared->QpcFrequency = COUNTER_PER_S;
    shared->ActiveProcessorCount = sim_current->processors;
    shared->UnparkedProcessorCount = (USHORT)sim_current->processors;
    shared->ActiveGroupCount = 1;
    x64->shared = shared;
    return true;
}

void x64_shared_data_finish(struct x64_machine *x64)
{
    util_free(x64->shared);
}

/* In the order in which Windows writes the parts, though nothing can read in between. */
static void put_time(volatile KSYSTEM_TIME *time, uint64_t value)
{
    time->High2Time = (LONG)(value >> 32);
    time->LowPart = (ULONG)value;
    time->High1Time = (LONG)(value >> 32);
}

/* Other code may run here, as at any trap. */
static void take_time(struct x64_machine *x64)
{
    if (sim_now() - x64->reads_since > READS_NS) {
        x64->reads_since = sim_now();
        x64->reads = 0;
    }
    if (++x64->reads > READS)
        sim_stall(WAIT_NS);
    else
        sim_point();
}

void x64_shared_data_read(uint32_t offset, uint32_t bytes, void *to)
{
    KUSER_SHARED_DATA *shared = x64_state()->shared;
    struct nt_clock clock;

    take_time(x64_state());
    nt_clock(&clock);
    put_time(&shared->InterruptTime, clock.interrupt_time);
    put_time(&shared->SystemTime, clock.system_time);
    put_time(&shared->TickCount, clock.ticks);
    shared->TickCountLowDeprecated = (ULONG)clock.ticks;
    memcpy(to, (const uint8_t *)shared + offset, bytes);
}
