/* SPDX-License-Identifier: MIT */
/* An image that looks at itself: what was relocated, bound, initialised. The test calls DriverEntry with a report in the place of
 * the registry path. */
#include <ntddk.h>

#include "probe.h"

DRIVER_INITIALIZE DriverEntry;

__declspec(dllimport) extern ULONG NtBuildNumber;

static volatile LONG counter = 40;
static const LONG constant = 7;

static __attribute__((noinline)) LONG count_up(void)
{
    return ++counter;
}

static LONG (*volatile table[])(void) = {count_up};

/* More than a page of locals: the compiler calls its stack probe. */
static __attribute__((noinline)) uint32_t large_frame(uint32_t seed)
{
    volatile uint8_t bytes[20000];
    uint32_t sum = 0;

    for (uint32_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(seed + i);
    for (uint32_t i = 0; i < sizeof(bytes); i += 1000)
        sum += bytes[i];
    return sum;
}

#if defined(__clang__) /* what Microsoft's linker and lld find by name */
ULONG_PTR __security_cookie = 0x00002B992DDFA232;

__attribute__((used)) const struct {
    uint32_t size;
    uint32_t unused[21];
    ULONG_PTR *cookie;
} _load_config_used = {.size = 96, .cookie = &__security_cookie};

/* Delay-loaded routines are bound by the loader, so that nobody comes here. */
void *__delayLoadHelper2(const void *descriptor, void **slot);
void *__delayLoadHelper2(const void *descriptor, void **slot)
{
    (void)descriptor;
    (void)slot;
    KeBugCheck(1);
    return NULL;
}

__declspec(dllimport) LARGE_INTEGER NTAPI KeQueryPerformanceCounter(PLARGE_INTEGER Frequency);
#endif

#if defined(__clang__)
/* Needed until DriverEntry has returned; the linker is told that the section may be discarded. */
static __attribute__((noinline, section("INIT"))) void initialize_once(struct probe_report *report)
{
    report->initialized++;
}
#endif

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    struct probe_report *report = (struct probe_report *)(PVOID)RegistryPath;

    UNREFERENCED_PARAMETER(DriverObject);
    report->calls = (uint32_t)table[0]();
    report->own_function = (ULONG_PTR)&count_up;
    report->own_table = (ULONG_PTR)table[0];
    report->own_constant = (ULONG_PTR)&constant;
    report->own_variable = (ULONG_PTR)&counter;
    report->own_code = (ULONG_PTR)&DriverEntry;
    report->highest_user_address = (ULONG_PTR)MM_HIGHEST_USER_ADDRESS;
    report->build = NtBuildNumber;
    report->processors = (uint32_t)KeNumberProcessors;
    report->system_process = (ULONG_PTR)PsInitialSystemProcess;
    report->import = (ULONG_PTR)&DbgPrint;
    report->debugger_enabled = KD_DEBUGGER_ENABLED;
    report->debugger_absent = KD_DEBUGGER_NOT_PRESENT;
    report->compared = RtlCompareMemory(report, report, report->size) == report->size;
    report->large_frame = large_frame(report->size);
#if defined(__clang__)
    report->cookie = __security_cookie;
    report->own_initializer = (ULONG_PTR)&initialize_once;
    if (report->initialize)
        initialize_once(report);
    {
        LARGE_INTEGER frequency;

        KeQueryPerformanceCounter(&frequency);
        report->delayed = (uint64_t)frequency.QuadPart;
    }
#endif
    return STATUS_SUCCESS;
}
