/* SPDX-License-Identifier: MIT */
/* Faults of driver code that pass through the emulation, or begin in it, are reported with their own place and address. */
#include "x64/support/rig.h"

#include <sys/mman.h>

#include "sim/fault.h"

static uint64_t bad_address, seen_rsi, seen_rcx;
static uint8_t *half; /* one page that is there, and one that is not */

static void prepare(void)
{
    if (half)
        return;
    half = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(half != MAP_FAILED && mprotect(half + 4096, 4096, PROT_NONE) == 0);
}

static bool faulted_at(void (*fn)(void), enum sim_fault_kind kind, uintptr_t address)
{
    prepare();
    CHECK(!rig_run(fn));
    if (rig.fault.kind != kind || rig.fault.address != address)
        print_message("fault %d at %#lx\n", (int)rig.fault.kind, (long)rig.fault.address);
    return rig.faulted && rig.fault.kind == kind && rig.fault.address == address;
}

static void copy_to_device(void)
{
    const void *s = half + 4096 - 16;
    void *d = (void *)(uintptr_t)rig.registers;
    uint64_t count = 8;

    memset(half, 0x5A, 4096);
    __asm__ volatile("rep movsl" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
}

TEST_WITH(machine, bad_source_of_a_string_is_the_fault)
{
    prepare();
    CHECK(faulted_at(copy_to_device, SIM_FAULT_READ, (uintptr_t)half + 4096));
    CHECK(rig.accesses == 4 && rig_accessed(3, true, 12, 4, 0x5A5A5A5A));
}

static void copy_from_device(void)
{
    const void *s = (const void *)(uintptr_t)rig.registers;
    void *d = half + 4096 - 12;
    uint64_t count = 8;

    __asm__ volatile("rep movsq" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
}

TEST_WITH(machine, bad_destination_across_a_page_is_the_fault)
{
    prepare();
    CHECK(faulted_at(copy_from_device, SIM_FAULT_WRITE, (uintptr_t)half + 4096));
    CHECK(rig.accesses == 2); /* the second was read, but not written */
}

static void push_to_nowhere(void)
{
    __asm__ volatile("movq %%rsp, %%rbx; leaq 8192(%0), %%rsp; pushq (%1); movq %%rbx, %%rsp"
                     :
                     : "r"(half), "r"(rig.registers)
                     : "rbx", "memory");
}

TEST_WITH(machine, a_stack_that_is_none_is_reported)
{
    prepare();
    CHECK(!rig_run(push_to_nowhere));
    CHECK(rig.faulted && rig.fault.kind == SIM_FAULT_STACK);
}

static RIG_DRIVER_CODE void not_canonical(void)
{
    (void)*(volatile uint32_t *)0x8000123456789000;
}

static void write_not_canonical(void)
{
    __asm__ volatile("addl $1, 0x10(%0,%1,4)"
                     :
                     : "r"(0x7FFFFFFFFFFFFF00), "r"(0x100ull)
                     : "memory");
}

TEST_WITH(machine, addresses_that_are_none_are_worked_out)
{
    CHECK(faulted_at(not_canonical, SIM_FAULT_READ, 0x8000123456789000));
}

TEST_WITH(machine, addresses_with_index_are_worked_out)
{
    CHECK(faulted_at(write_not_canonical, SIM_FAULT_WRITE, 0x8000000000000310));
}

static void wild_call(void)
{
    __asm__ volatile("callq *%0" : : "r"(0xCDCDCDCDCDCDCDCD) : "memory");
}

static void wild_return(void)
{
    __asm__ volatile("pushq %0; retq" : : "r"(0xCDCDCDCDCDCD0000));
}

static void wild_jump(void)
{
    uint64_t target = 0xCDCDCDCD00000000;

    __asm__ volatile("jmpq *%0" : : "m"(target));
}

TEST_WITH(machine, wild_calls_are_told_with_their_target)
{
    CHECK(faulted_at(wild_call, SIM_FAULT_EXECUTE, 0xCDCDCDCDCDCDCDCD));
}

TEST_WITH(machine, wild_returns_are_told_with_their_target)
{
    CHECK(faulted_at(wild_return, SIM_FAULT_EXECUTE, 0xCDCDCDCDCDCD0000));
}

TEST_WITH(machine, wild_jumps_are_told_with_their_target)
{
    CHECK(faulted_at(wild_jump, SIM_FAULT_EXECUTE, 0xCDCDCDCD00000000));
}

static RIG_DRIVER_CODE void kernel_address(void)
{
    *(volatile uint8_t *)0xFFFFF80012345678 = 1;
}

TEST_WITH(machine, addresses_of_the_real_kernel_fault)
{
    CHECK(faulted_at(kernel_address, SIM_FAULT_WRITE, 0xFFFFF80012345678));
}

static void null_pointer(void)
{
    __asm__ volatile("movl 8(%0), %%eax" : : "r"(0ull) : "rax");
}

TEST_WITH(machine, ordinary_faults_are_left_alone)
{
    CHECK(faulted_at(null_pointer, SIM_FAULT_READ, 8));
    CHECK(x64_traps() == 0);
}

static void misaligned_vector(void)
{
    static _Alignas(16) uint8_t bytes[32];

    bad_address = (uintptr_t)bytes + 4;
    __asm__ volatile("movaps (%0), %%xmm0" : : "r"(bytes + 4) : "xmm0");
}

TEST_WITH(machine, misaligned_vector_operands_fault_with_their_address)
{
    prepare();
    CHECK(!rig_run(misaligned_vector));
    CHECK(rig.faulted && rig.fault.kind == SIM_FAULT_READ && rig.fault.address == bad_address);
}

static void divide(void)
{
    uint64_t a = 5;

    __asm__ volatile("divl (%1)" : "+a"(a) : "r"(rig.registers), "d"(0) : "cc");
}

TEST_WITH(machine, division_by_a_register_that_is_zero_is_the_drivers_fault)
{
    CHECK(!rig_run(divide));
    CHECK(rig.faulted && rig.fault.kind == SIM_FAULT_ARITHMETIC);
    CHECK(rig.fault.pc - (uintptr_t)divide < 1024); /* with what sanitizers put in */
}

static RIG_DRIVER_CODE void quotient(void)
{
    uint64_t a = 77, d = 0;

    *(volatile uint32_t *)rig.registers = 10;
    __asm__ volatile("divl (%2)" : "+a"(a), "+d"(d) : "r"(rig.registers) : "cc");
    CHECK(a == 7 && d == 7);
}

TEST_WITH(machine, division_by_a_register_works)
{
    CHECK(rig_run(quotient));
}

static void illegal(void)
{
    __asm__ volatile("ud2");
}

TEST_WITH(machine, illegal_instructions_stay_what_they_are)
{
    CHECK(!rig_run(illegal));
    CHECK(rig.faulted && rig.fault.kind == SIM_FAULT_INSTRUCTION);
}

static void jump_through_register(void)
{
    __asm__ volatile("jmp *(%0)" : : "r"(rig.registers));
}

TEST_WITH(machine, jumps_through_registers_are_refused)
{
    CHECK(!rig_run(jump_through_register));
    CHECK_RULE("NT-171/e", rig.faulted && rig_reported("NT-171") == 1 && rig.accesses == 0);
}

/* A long copy may be interrupted between its elements: another thread runs, and traps, meanwhile. */
static volatile unsigned turns;

static RIG_DRIVER_CODE void meddle(void)
{
    for (unsigned i = 0; i < 500; i++) {
        *(volatile uint32_t *)(rig.registers + 4096) = i;
        turns++;
    }
}

static void long_copy(void)
{
    uint8_t to[2048];
    const void *s = (const void *)(uintptr_t)rig.registers;
    void *d = to;
    uint64_t count = 2048;

    for (unsigned i = 0; i < 2048; i++)
        rig.value[i] = (uint8_t)(i * 7);
    __asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    seen_rsi = (uintptr_t)s, seen_rcx = count;
    CHECK((uint8_t *)d == &to[2048]);
    CHECK(memcmp(to, rig.value, 2048) == 0);
}

TEST_WITH(machine_smp, others_run_between_the_elements_of_a_string)
{
    turns = 0;
    rig_start(meddle);
    CHECK(rig_run(long_copy));
    CHECK(turns == 500 && seen_rcx == 0);
    CHECK(seen_rsi == (uintptr_t)rig.registers + 2048);
}
