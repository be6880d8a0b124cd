/* SPDX-License-Identifier: MIT */
/* An image with the instructions that compilers inline into drivers. The test calls DriverEntry with a report in the place of the
 * registry path. */
#include <ntddk.h>

#include "inline.h"

DRIVER_INITIALIZE DriverEntry;

static inline __attribute__((always_inline)) uint64_t read_level(void)
{
    uint64_t value;

    __asm__ volatile("movq %%cr8, %0" : "=r"(value));
    return value;
}

static inline __attribute__((always_inline)) void write_level(uint64_t value)
{
    __asm__ volatile("movq %0, %%cr8" : : "r"(value) : "memory");
}

static inline __attribute__((always_inline)) uint64_t read_gs(uint32_t offset)
{
    uint64_t value;

    __asm__ volatile("movq %%gs:(%1), %0" : "=r"(value) : "r"((uint64_t)offset));
    return value;
}

static __attribute__((noinline)) void levels(struct inline_report *report)
{
    report->level[0] = read_level();
    report->level_asked[0] = KeGetCurrentIrql();
    write_level(DISPATCH_LEVEL);
    report->level[1] = read_level();
    report->level_asked[1] = KeGetCurrentIrql();
    write_level(report->level[0]);
    report->level[2] = read_level();
    report->level_asked[2] = KeGetCurrentIrql();
}

/* As a driver asks before it waits: is the level low enough? */
static __attribute__((noinline)) uint64_t many_reads(uint32_t count)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += (uint8_t)read_level() + 1u;
    return sum;
}

static __attribute__((noinline)) void block(struct inline_report *report)
{
    uint32_t number;

    __asm__ volatile("movq %%gs:0x188, %0" : "=r"(report->thread));
    __asm__ volatile("movl %%gs:0x1a4, %0" : "=r"(number));
    report->number = number;
    report->self = read_gs(0x18);
}

static __attribute__((noinline)) void shared(struct inline_report *report)
{
    const volatile uint8_t *page = (const volatile uint8_t *)0xFFFFF78000000000ull;
    LARGE_INTEGER ticks;

    report->ticks = *(const volatile uint64_t *)(page + 0x320);
    report->interrupt_time = *(const volatile uint64_t *)(page + 0x008);
    report->version = *(const volatile uint32_t *)(page + 0x26C);
    KeQueryTickCount(&ticks);
    report->ticks_asked = (uint64_t)ticks.QuadPart;
    report->interrupt_time_asked = KeQueryInterruptTime();
}

static __attribute__((noinline)) void registers(struct inline_report *report)
{
    volatile uint8_t *r = report->registers;
    uint8_t from[24], to[24];
    const void *s = from;
    void *d = (void *)(ULONG_PTR)(r + 0x40);
    uint64_t count = 6;

    r[1] = 0xA5;
    *(volatile uint16_t *)(r + 2) = 0x1234;
    *(volatile uint32_t *)(r + 4) = 0xDEAD0000;
    *(volatile uint32_t *)(r + 4) |= 0xBEEF;
    *(volatile uint64_t *)(r + 8) = 0x0123456789ABCDEF;
    *(volatile uint64_t *)(r + 8) += 1;
    report->byte = r[1];
    report->word = *(volatile uint16_t *)(r + 2);
    report->dword = *(volatile uint32_t *)(r + 4);
    report->qword = *(volatile uint64_t *)(r + 8);
    for (uint32_t i = 0; i < sizeof(from); i++)
        from[i] = (uint8_t)(7 * i + 1), to[i] = 0;
    __asm__ volatile("rep movsl" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    s = (const void *)(ULONG_PTR)(r + 0x40), d = to, count = 3;
    __asm__ volatile("rep movsq" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    report->moved_right = 1;
    for (uint32_t i = 0; i < sizeof(from); i++)
        if (to[i] != from[i])
            report->moved_right = 0;
}

static __attribute__((noinline)) void privileged(struct inline_report *report)
{
    uint32_t low, high, in = 0;

    __asm__ volatile("inl %%dx, %%eax" : "=a"(in) : "d"((uint16_t)0xCF8));
    __asm__ volatile("outl %%eax, %%dx" : : "a"(in), "d"((uint16_t)0xCF8));
    report->port = in;
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(0xC0000101));
    report->msr = (uint64_t)high << 32 | low;
    __asm__ volatile("cli; sti; wbinvd; int3");
}

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    struct inline_report *report = (struct inline_report *)(PVOID)RegistryPath;

    UNREFERENCED_PARAMETER(DriverObject);
    levels(report);
    block(report);
    shared(report);
    registers(report);
    privileged(report);
    report->sum = many_reads(report->reads);
    return STATUS_SUCCESS;
}
