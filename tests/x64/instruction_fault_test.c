/* SPDX-License-Identifier: MIT */
/* Instructions that fault: of which kind, at which address, and with which registers. */
#include "x64/support/rig.h"

#include <sys/mman.h>

#define SHARED     0xFFFFF78000000000ull
#define NOWHERE    0xDEAD000000000000ull /* no canonical address */
#define ARITHMETIC 0x8D5u

static struct rig_registers at_fault;
static uint8_t fault_code[16];
static size_t fault_bytes;

static void execute(void)
{
    rig_execute(&at_fault, fault_code, fault_bytes);
}

/* The instruction faults, of this kind, and with this address. */
#define CHECK_FAULT(what, where, ...)                                         \
    do {                                                                      \
        static const uint8_t code_of[] = {__VA_ARGS__};                       \
        memcpy(fault_code, code_of, sizeof(code_of));                         \
        fault_bytes = sizeof(code_of);                                        \
        CHECK(!rig_run(execute) && rig.faulted && rig.fault.kind == (what) && \
              rig.fault.address == (where));                                  \
    } while (0)

static void set_registers(void)
{
    for (unsigned i = 0; i < 16; i++)
        at_fault.gpr[i] = NOWHERE + 0x1000 * i;
    at_fault.flags = 0x202;
}

TEST_WITH(machine, a_load_from_no_address_says_which)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_READ, NOWHERE + 0x3010, 0x48, 0x8B, 0x43, 0x10);
    CHECK(verify_records(rig.log) == 0);
}

TEST_WITH(machine, a_store_to_no_address_says_which)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_WRITE, NOWHERE + 0x6000, 0x89, 0x06);
}

TEST_WITH(machine, a_call_to_no_address_is_a_fault_there)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_EXECUTE, NOWHERE + 0x2000, 0xFF, 0xD2);
}

static uint64_t target;

TEST_WITH(machine, a_jump_through_memory_is_a_fault_at_its_target)
{
    set_registers();
    target = NOWHERE + 0x123;
    at_fault.gpr[3] = (uintptr_t)&target - 8;
    CHECK_FAULT(SIM_FAULT_EXECUTE, NOWHERE + 0x123, 0xFF, 0x63, 0x08);
}

TEST_WITH(machine, a_jump_through_no_memory_is_a_fault_there)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_READ, NOWHERE + 0x3000, 0xFF, 0x23);
}

TEST_WITH(machine, a_return_to_no_address_is_a_fault_there)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_EXECUTE, NOWHERE + 0x1000, 0x51, 0xC3); /* push rcx; ret */
}

TEST_WITH(machine, a_push_from_no_address_faults)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_READ, NOWHERE + 0x3000, 0xFF, 0x33);
}

TEST_WITH(machine, a_pop_to_no_address_leaves_the_stack)
{
    uintptr_t sp;

    set_registers();
    CHECK_FAULT(SIM_FAULT_WRITE, NOWHERE + 0x3000, 0x56, 0x8F, 0x03); /* push rsi; pop [rbx] */
    sp = rig.fault.sp;
    rig_teardown();
    rig_boot(11, 1);
    CHECK_FAULT(SIM_FAULT_READ, NOWHERE + 0x3000, 0x56, 0x8B, 0x03);
    CHECK(rig.fault.sp == sp); /* as pushed */
}

TEST_WITH(machine, strings_fault_at_the_pointer_that_leads_nowhere)
{
    static uint8_t plain[16];
    static const struct {
        uint8_t opcode;
        bool source, destination; /* good */
        enum sim_fault_kind kind;
        unsigned at; /* which pointer is told */
    } expected[] = {
        {0xA4, false, false, SIM_FAULT_READ, 6}, {0xA4, false, true, SIM_FAULT_READ, 6},
        {0xA4, true, false, SIM_FAULT_WRITE, 7}, {0xA6, false, true, SIM_FAULT_READ, 6},
        {0xA6, true, false, SIM_FAULT_READ, 7},  {0xAA, false, false, SIM_FAULT_WRITE, 7},
        {0xAC, false, false, SIM_FAULT_READ, 6}, {0xAE, true, false, SIM_FAULT_READ, 7},
        {0xAA, true, false, SIM_FAULT_WRITE, 7}, {0xAC, false, true, SIM_FAULT_READ, 6},
    };

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        if (i) {
            rig_teardown();
            rig_boot(11, 1);
        }
        set_registers();
        if (expected[i].source)
            at_fault.gpr[6] = (uintptr_t)plain;
        if (expected[i].destination)
            at_fault.gpr[7] = (uintptr_t)plain;
        fault_code[0] = expected[i].opcode;
        fault_bytes = 1;
        CHECK(!rig_run(execute) && rig.faulted && rig.fault.kind == expected[i].kind);
        CHECK(rig.fault.address == at_fault.gpr[expected[i].at]);
    }
}

TEST_WITH(machine, a_string_of_a_port_to_no_address_faults)
{
    set_registers();
    CHECK_FAULT(SIM_FAULT_WRITE, NOWHERE + 0x7000, 0x6C);
}

/* A store to the shared data page fails after its code has run: what that changed is taken back. */
TEST_WITH(machine, a_store_that_fails_changes_no_register)
{
    set_registers();
    at_fault.gpr[0] = UINT64_MAX;
    at_fault.gpr[3] = SHARED + 0x26C;
    CHECK_FAULT(SIM_FAULT_WRITE, SHARED + 0x26C, 0x0F, 0xC1, 0x03); /* xadd [rbx], eax */
    CHECK(rig.registers_then.general[0] == UINT64_MAX);
    CHECK((rig.registers_then.flags & ARITHMETIC) == 0);
}

TEST_WITH(machine, a_store_across_the_end_of_memory_faults_at_the_end)
{
    uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED && munmap(page + 4096, 4096) == 0);
    set_registers();
    at_fault.gpr[6] = (uintptr_t)rig.registers;
    at_fault.gpr[7] = (uintptr_t)page + 4092;
    CHECK_FAULT(SIM_FAULT_WRITE, (uintptr_t)page + 4096, 0x48, 0xA5); /* movsq */
    CHECK(rig.accesses == 1);
    munmap(page, 4096);
}

TEST_WITH(machine, a_string_from_the_end_of_memory_faults_at_the_end)
{
    uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED && munmap(page + 4096, 4096) == 0);
    set_registers();
    at_fault.gpr[6] = (uintptr_t)page + 4094;
    at_fault.gpr[7] = (uintptr_t)rig.registers;
    CHECK_FAULT(SIM_FAULT_READ, (uintptr_t)page + 4096, 0xA5); /* movsd */
    CHECK(rig.accesses == 0);
    munmap(page, 4096);
}

TEST_WITH(machine, the_shared_data_ends_within_an_access)
{
    set_registers();
    at_fault.gpr[3] = SHARED + 4092;
    rig_forget_accesses();
    CHECK_FAULT(SIM_FAULT_READ, SHARED + 4096, 0x48, 0x8B, 0x43, 0x01);
}

static RIG_DRIVER_CODE void end_of_shared_data(void)
{
    CHECK(*(volatile uint32_t *)(SHARED + 4092) == 0);
}

TEST_WITH(machine, the_end_of_the_shared_data_is_read)
{
    CHECK(rig_run(end_of_shared_data));
}
