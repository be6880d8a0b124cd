/* SPDX-License-Identifier: MIT */
/* What kernel code reads and does without calling anybody: level, processor block, shared data, privileged instructions. */
#include "x64/support/rig.h"

#include "x64/traps/block.h"

#include "sim/fault.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/wait.h"

#define SHARED 0xFFFFF78000000000ull

static uint64_t read_cr8(void)
{
    uint64_t value;

    __asm__ volatile("movq %%cr8, %0" : "=r"(value));
    return value;
}

static void write_cr8(uint64_t value)
{
    __asm__ volatile("movq %0, %%cr8" : : "r"(value) : "memory");
}

/* ---- the level ---- */

TEST_WITH(driver, cr8_is_the_level_by_any_register)
{
    for (unsigned reg = 0; reg < 16; reg++) {
        struct rig_registers r = {.flags = 0x8D7};
        uint8_t read[] = {(uint8_t)(0x44 | reg >> 3), 0x0F, 0x20, (uint8_t)(0xC0 | (reg & 7))};
        uint8_t write[] = {(uint8_t)(0x44 | reg >> 3), 0x0F, 0x22, (uint8_t)(0xC0 | (reg & 7))};

        if (reg == 4)
            continue;
        r.gpr[reg] = 2;
        rig_execute(&r, write, sizeof(write));
        CHECK_RULE("NT-172/a", KeGetCurrentIrql() == DISPATCH_LEVEL);
        memset(r.gpr, 0xFF, sizeof(r.gpr));
        rig_execute(&r, read, sizeof(read));
        CHECK_RULE("NT-172/a", r.gpr[reg] == 2);
        CHECK((r.flags & 0x8D5) == 0x8D5);
        r.gpr[reg] = 0;
        rig_execute(&r, write, sizeof(write));
        CHECK(KeGetCurrentIrql() == PASSIVE_LEVEL);
    }
    CHECK(rig_reported("NT-076") == 0);
}

static unsigned dpcs;

static void NTAPI count_dpc(PKDPC dpc, PVOID context, PVOID a, PVOID b)
{
    (void)dpc, (void)context, (void)a, (void)b;
    dpcs++;
    CHECK(read_cr8() == DISPATCH_LEVEL);
}

TEST_WITH(driver, writing_cr8_raises_and_lowers)
{
    static KDPC dpc;
    KIRQL old;

    dpcs = 0;
    KeInitializeDpc(&dpc, count_dpc, NULL);
    write_cr8(DISPATCH_LEVEL);
    KeInsertQueueDpc(&dpc, NULL, NULL);
    sim_stall(100000);
    CHECK(dpcs == 0);
    write_cr8(PASSIVE_LEVEL);
    CHECK_RULE("NT-172/b", dpcs == 1);
    /* raises to the same level, and mixed with the routines */
    write_cr8(DISPATCH_LEVEL);
    write_cr8(DISPATCH_LEVEL);
    write_cr8(DISPATCH_LEVEL);
    KeRaiseIrql(5, &old);
    CHECK(old == DISPATCH_LEVEL && read_cr8() == 5);
    write_cr8(old);
    KeLowerIrql(PASSIVE_LEVEL);
    CHECK(rig_reported("NT-076") == 0);
    write_cr8(DISPATCH_LEVEL);
    write_cr8(APC_LEVEL); /* was PASSIVE_LEVEL */
    CHECK_RULE("NT-172/c", rig_reported("NT-076") == 1);
    KeLowerIrql(PASSIVE_LEVEL);
}

static void too_high(void)
{
    write_cr8(16);
}

TEST_WITH(machine, a_level_that_does_not_exist_faults)
{
    CHECK(!rig_run(too_high));
    CHECK_RULE("NT-172/d", rig.faulted && rig.fault.kind == SIM_FAULT_PRIVILEGED);
    CHECK(rig_reported("NT-172") == 1);
}

/* ---- interrupts in the middle of a trap ---- */

static unsigned served;
static bool served_right;

/* Runs on top of the register access that was interrupted, and traps itself. */
static bool serve(void *context, uint32_t message)
{
    uint64_t level, thread;

    (void)context, (void)message;
    __asm__ volatile("movq %%gs:0x188, %0" : "=r"(thread));
    level = read_cr8();
    __asm__ volatile("addl $1, 4(%0)" : : "r"(rig.registers) : "memory");
    served_right &= level == SIM_IRQL_DEVICE && read_cr8() == level;
    served_right &= thread == (uint64_t)(uintptr_t)PsGetCurrentThread();
    served++;
    return true;
}

static void poll_until_served(void)
{
    static struct sim_interrupt interrupt;
    uint64_t before = 0x1234, mark = 0x5678;
    unsigned polls = 0;

    sim_interrupt_connect(&interrupt, serve, NULL, 0, SIM_IRQL_DEVICE);
    for (unsigned i = 0; i < 20; i++) {
        unsigned target = served + 1;

        sim_interrupt_raise(&interrupt);
        for (; served < target; polls++)
            __asm__ volatile("movq %2, %%xmm7; testl $1, (%3); movq %%xmm7, %0; lea (%1), %1"
                             : "=r"(mark), "+r"(before)
                             : "r"(before), "r"(rig.registers)
                             : "xmm7", "cc", "memory");
    }
    sim_interrupt_disconnect(&interrupt);
    CHECK(before == 0x1234 && mark == 0x1234 && polls >= 20);
}

TEST_WITH(machine, interrupts_come_in_the_middle_of_a_trap)
{
    uint32_t count;

    served = 0;
    served_right = true;
    CHECK(rig_run(poll_until_served));
    memcpy(&count, rig.value + 4, sizeof(count));
    CHECK(served == 20 && count == 20 && served_right);
}

/* ---- the processor block ---- */

static uint64_t gs_64(uint64_t offset)
{
    uint64_t value;

    __asm__ volatile("movq %%gs:(%1), %0" : "=r"(value) : "r"(offset));
    return value;
}

static bool many_right;
static unsigned many_done, processors_seen;

static void look_around(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t number;
        uint8_t legacy;
        KIRQL old;

        KeRaiseIrql(DISPATCH_LEVEL, &old);
        __asm__ volatile("movl %%gs:0x1A4, %0" : "=r"(number));
        __asm__ volatile("movb %%gs:0x184, %0" : "=r"(legacy));
        many_right &= number == KeGetCurrentProcessorNumber() && legacy == number;
        many_right &= gs_64(0x188) == (uint64_t)(uintptr_t)PsGetCurrentThread();
        many_right &= gs_64(0x18) == (uint64_t)(uintptr_t)x64_processor_block(number);
        many_right &= gs_64(0x20) == gs_64(0x18) + 0x180;
        processors_seen |= 1u << number;
        KeLowerIrql(old);
        many_right &= gs_64(0x188) == (uint64_t)(uintptr_t)PsGetCurrentThread();
        if (i % 100 == 0)
            sim_block(sim_now() + 1000, NULL);
    }
    many_done++;
}

TEST_WITH(machine_smp, gs_follows_thread_and_processor)
{
    many_right = true;
    many_done = processors_seen = 0;
    for (unsigned i = 0; i < 7; i++)
        rig_start(look_around);
    CHECK(rig_run(look_around));
    CHECK(many_done == 8);
    CHECK_RULE("NT-173/b", many_right);
    CHECK(processors_seen == 0xF);
}

TEST_WITH(driver, members_that_are_missing_are_reported)
{
    CHECK_RULE("NT-173/c", gs_64(0x2E20) == 0);
    CHECK_RULE("NT-173/d", rig_reported("NT-173") == 1);
    CHECK(strstr(rig_said("NT-173"), "gs:[0x2e20]"));
    __asm__ volatile("movl $1, %%gs:0x3000" : : : "memory");
    CHECK(rig_reported("NT-173") == 2);
    CHECK(gs_64(0x50) == 0);
}

TEST_WITH(machine, gs_is_given_back)
{
    uint64_t inside, outside;

    if (!(__builtin_cpu_supports("sse2") && x64_processor_block(0)))
        return;
    inside = gs_64(0x18);
    CHECK(inside == (uint64_t)(uintptr_t)x64_processor_block(0));
    sim_leave();
    __asm__ volatile("rdgsbase %0" : "=r"(outside));
    CHECK(outside == 0);
    sim_enter(rig.machine);
    CHECK(gs_64(0x18) == inside);
}

/* ---- shared data ---- */

static RIG_DRIVER_CODE void shared(void)
{
    volatile KUSER_SHARED_DATA *data = (volatile KUSER_SHARED_DATA *)SHARED;
    RTL_OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof(version)};
    LARGE_INTEGER ticks, time;
    uint64_t interrupt;
    uint32_t low;

    for (unsigned i = 0; i < 2; i++) {
        sim_block(sim_now() + 1000000000, NULL);
        KeQueryTickCount(&ticks);
        KeQuerySystemTime(&time);
        interrupt = KeQueryInterruptTime();
        CHECK_RULE("NT-174/a", data->TickCountQuad == (uint64_t)ticks.QuadPart);
        CHECK_RULE("NT-174/b", *(volatile uint64_t *)(SHARED + 0x14) == (uint64_t)time.QuadPart);
        CHECK_RULE("NT-174/c", *(volatile uint64_t *)(SHARED + 0x08) == interrupt);
        CHECK(data->InterruptTime.High1Time == data->InterruptTime.High2Time);
        CHECK(ticks.QuadPart >= 64);
        CHECK(((ticks.QuadPart * data->TickCountMultiplier) >> 24) == (LONGLONG)interrupt / 10000);
    }
    RtlGetVersion(&version);
    CHECK_RULE("NT-174/d", data->NtMajorVersion == version.dwMajorVersion &&
                               data->NtBuildNumber == version.dwBuildNumber);
    CHECK(data->ActiveProcessorCount == 1 && data->QpcFrequency == 10000000);
    CHECK(data->NtSystemRoot[0] == 'C' && data->NtSystemRoot[3] == 'W');
    /* the form that compilers choose for a constant address */
    __asm__ volatile("movabsl 0xFFFFF78000000260, %%eax" : "=a"(low));
    CHECK(low == version.dwBuildNumber);
}

TEST_WITH(machine, shared_data_is_read_at_its_address)
{
    CHECK(rig_run(shared));
}

static RIG_DRIVER_CODE uint64_t clock_reads(unsigned count)
{
    const uint64_t before = sim_now();

    while (count--) {
        (void)*(volatile uint64_t *)(SHARED + 0x08);
        __asm__ volatile("" ::: "memory"); /* time passes in the trap */
    }
    return sim_now() - before;
}

static RIG_DRIVER_CODE void read_clock(void)
{
    for (unsigned i = 0; i < 3; i++) {
        uint64_t passed;

        sim_block(sim_now() + 2000000, NULL);
        passed = clock_reads(100);
        CHECK_RULE("NT-203/a", passed >= 2000 && passed < 10000);
        passed = clock_reads(100);
        CHECK_RULE("NT-203/b", passed >= 1000000 && passed < 1100000);
    }
}

TEST_WITH(machine, reading_the_clock_takes_time)
{
    CHECK(rig_run(read_clock));
}

static RIG_DRIVER_CODE void store_shared(void)
{
    *(volatile uint32_t *)(SHARED + 0x10) = 1;
}

static RIG_DRIVER_CODE void read_across(void)
{
    (void)*(volatile uint64_t *)(SHARED + 4092);
}

TEST_WITH(machine, shared_data_is_read_only)
{
    CHECK(!rig_run(store_shared));
    CHECK_RULE("NT-174/e", rig.faulted && rig.fault.kind == SIM_FAULT_WRITE &&
                               rig.fault.address == SHARED + 0x10);
}

TEST_WITH(machine, shared_data_is_one_page)
{
    CHECK(!rig_run(read_across));
    CHECK(rig.faulted && rig.fault.address == SHARED + 4096);
}

/* ---- privileged instructions ---- */

TEST_WITH(driver, privileged_instructions_are_answered_or_skipped)
{
    uint32_t low, high, value = 5;
    uint64_t wide, before;

    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(0x10));
    before = sim_now();
    CHECK_RULE("NT-175/a", ((uint64_t)high << 32 | low) <= before);
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(0xC0000101));
    CHECK_RULE("NT-175/a", ((uint64_t)high << 32 | low) == gs_64(0x18));
    __asm__ volatile("wbinvd; clac; stac");
    CHECK_RULE("NT-175/b", rig_reported("NT-175") == 0);
    __asm__ volatile("cli; sti");
    CHECK_RULE("NT-175/c", verify_count(rig.log, VERIFY_ERROR) == 0 && rig_reported("NT-175") == 2);
    __asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(0x1234));
    CHECK_RULE("NT-175/d", low == 0 && high == 0 && rig_reported("NT-175") == 3);
    __asm__ volatile("wrmsr" : : "a"(1), "d"(0), "c"(0x10));
    __asm__ volatile("swapgs; lgdt (%0); lidt (%0); invlpg (%0); invd; clts" : : "r"(&value));
    __asm__ volatile("lldt %w0; ltr %w0; lmsw %w0" : : "r"(0));
    CHECK_RULE("NT-175/d", rig_reported("NT-175") == 13);
    __asm__ volatile("movq %%cr0, %0" : "=r"(wide));
    CHECK_RULE("NT-175/d", wide == 0);
    __asm__ volatile("movq %0, %%cr4; movq %%dr7, %%rax; movq %%rax, %%dr0" : : "r"(wide) : "rax");
    CHECK(rig_reported("NT-175") == 17);
    before = sim_now();
    __asm__ volatile("hlt");
    CHECK_RULE("NT-175/e", sim_now() >= before + 1000 && rig_reported("NT-175") == 18);
    CHECK(strstr(rig_said("NT-175"), "hlt at "));
    CHECK(value == 5);
}

TEST_WITH(driver, ports_read_ones_and_are_reported)
{
    uint8_t buffer[8] = {0};
    void *d = buffer;
    const void *s = buffer;
    uint64_t a = 0x1122334455667788, count = 3;

    __asm__ volatile("inb $0x80, %%al" : "+a"(a));
    CHECK_RULE("NT-139/c", a == 0x11223344556677FF && rig_reported("NT-139") == 1);
    CHECK(strstr(rig_said("NT-139"), "port 0x80"));
    __asm__ volatile("inw %%dx, %%ax" : "+a"(a) : "d"(0x3F8));
    CHECK_RULE("NT-139/c", a == 0x112233445566FFFF && strstr(rig_said("NT-139"), "port 0x3f8"));
    __asm__ volatile("inl %%dx, %%eax" : "+a"(a) : "d"(0xCF8));
    CHECK(a == 0xFFFFFFFF);
    __asm__ volatile("outb %%al, $0x70; outl %%eax, %%dx" : : "a"(0), "d"(0xCF8));
    CHECK_RULE("NT-139/c", rig_reported("NT-139") == 5);
    __asm__ volatile("rep insw" : "+D"(d), "+c"(count) : "d"(0x1F0) : "memory");
    CHECK(d == buffer + 6 && count == 0 && buffer[5] == 0xFF && buffer[6] == 0);
    count = 2;
    __asm__ volatile("rep outsl" : "+S"(s), "+c"(count) : "d"(0x1F0) : "memory");
    CHECK(s == buffer + 8 && count == 0);
    CHECK(rig_reported("NT-139") == 7);
}

TEST_WITH(driver, breakpoints_and_assertions_continue)
{
    __asm__ volatile("int3");
    CHECK_RULE("NT-176/a", rig_reported("NT-167") == 1);
    CHECK(verify_count(rig.log, VERIFY_ERROR) == 0);
    __asm__ volatile(".byte 0xCD, 0x03");
    CHECK(rig_reported("NT-167") == 2);
    __asm__ volatile("int $0x2C");
    CHECK_RULE("NT-176/b", rig_reported("NT-167") == 3 && verify_count(rig.log, VERIFY_ERROR) == 1);
}

static void fail_fast(void)
{
    __asm__ volatile("int $0x29" : : "c"(3));
}

TEST_WITH(machine, fast_fail_is_a_bug_check)
{
    CHECK(!rig_run(fail_fast));
    CHECK_RULE("NT-176/c", verify_bugcheck_state(rig.log)->code == 0x139 &&
                               verify_bugcheck_state(rig.log)->parameter[0] == 3);
}

static void interrupt_return(void)
{
    __asm__ volatile("push $0; push $0; push $0; push $0; push $0; lldt (%rsp); .byte 0x0F, 0x07");
}

TEST_WITH(machine, what_cannot_be_skipped_faults)
{
    CHECK(!rig_run(interrupt_return)); /* SYSRET */
    CHECK_RULE("NT-175/f", rig.faulted && rig.fault.kind == SIM_FAULT_PRIVILEGED);
}
