/* SPDX-License-Identifier: MIT */
/* How faults of a driver are told: what it did, in words, and where. */
#include "ddi/support/catalogue.h"

#include "ddi/fault.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"

#include <stdio.h>
#include <string.h>

#define DOOR port_adapter_ddi(p->adapter[0])

static void (*act)(void);
static char last[512]; /* the last report that was expected */

static void on_create_device(struct probe *p, struct probe_call *call)
{
    p->before[PROBE_CreateDevice] = NULL;
    call->answered = true;
    act();
}

static void create_device(struct probe *p)
{
    DXGKARG_CREATEDEVICE args;

    memset(&args, 0, sizeof(args));
    p->before[PROBE_CreateDevice] = on_create_device;
    (void)ddi_create_device(DOOR, &args);
}

/* Whether the driver that acts so ends in the bug check, for the rule with these words. */
static bool ends(void (*how)(void), uint32_t code, const char *rule, const char *words)
{
    struct probe *p = probe_started(NULL);
    const struct verify_record *record;
    bool good;

    act = how;
    good = probe_run(p, create_device) == SIM_STOPPED;
    good = good && probe_rule(p, rule) == 1 && probe_record(p, rule)->code == code &&
           probe_said(p, rule, words);
    snprintf(last, sizeof(last), "%s", good ? probe_record(p, rule)->seen : "");
    for (size_t i = 0; !good && (record = verify_record_at(p->log, i)) != NULL; i++)
        printf("%s, 0x%x: %s\n", record->rule, record->code, record->seen);
    probe_destroy(p);
    return good;
}

static void illegal(void)
{
    __asm__ volatile("ud2");
}

static void divide(void)
{
    __asm__ volatile("xorl %%edx, %%edx; xorl %%ecx, %%ecx; divl %%ecx" : : "a"(1) : "ecx", "edx");
}

static void single_step(void)
{
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop" : : : "memory", "cc");
}

static void read_low(void)
{
    (void)*(volatile uint32_t *)0x18;
}

static void write_low(void)
{
    *(volatile uint32_t *)0x1C = 1;
}

static void jump_low(void)
{
    __asm__ volatile("callq *%0" : : "r"((uint64_t)0x20) : "memory");
}

TEST(faults_are_told_in_words)
{
    CHECK(ends(illegal, 0x1E, "NT-002",
               "in DxgkDdiCreateDevice executed an illegal instruction near address 0x"));
    CHECK(ends(divide, 0x1E, "NT-002",
               "in DxgkDdiCreateDevice made an arithmetic fault near address 0x"));
    CHECK(ends(single_step, 0x1E, "NT-002",
               "in DxgkDdiCreateDevice hit a breakpoint near address 0x"));
    CHECK(ends(read_low, 0x1E, "NT-002", "in DxgkDdiCreateDevice read from address 0x18"));
    CHECK(ends(write_low, 0x1E, "NT-002", "in DxgkDdiCreateDevice wrote to address 0x1c"));
    CHECK(ends(jump_low, 0x1E, "NT-002", "in DxgkDdiCreateDevice jumped to address 0x20"));
}

/* ---- as if the processor, or the emulation, had said so ---- */

static struct sim_fault pretended;

static void pretend(void)
{
    static const struct sim_registers registers;

    pretended.pc = (uintptr_t)pretend;
    pretended.registers = &registers;
    ddi_on_fault(&pretended);
}

/* The report ends with these words. */
static bool told(struct sim_fault fault, const char *words)
{
    size_t length;

    pretended = fault;
    if (!ends(pretend, 0x1E, "NT-002", words))
        return false;
    length = strlen(last);
    return strcmp(last + length - strlen(words), words) == 0;
}

#define LOW  0x10000000u /* of a stack */
#define HIGH 0x10040000u

TEST(faults_that_not_every_processor_has)
{
    CHECK(told((struct sim_fault){.kind = SIM_FAULT_ALIGNMENT, .address = 0x7001},
               "in DxgkDdiCreateDevice made an access that is not aligned to address 0x7001"));
    CHECK(told((struct sim_fault){.kind = SIM_FAULT_PRIVILEGED, .address = 0x7001},
               "in DxgkDdiCreateDevice executed a privileged instruction near address 0x7001"));
}

static bool told_at(enum sim_fault_kind kind, uintptr_t address, const char *end)
{
    const char *does = kind == SIM_FAULT_READ    ? "read from"
                       : kind == SIM_FAULT_WRITE ? "wrote to"
                                                 : "jumped to";
    char words[192];

    snprintf(words, sizeof(words), "%s address 0x%lx%s", does, (unsigned long)address, end);
    return told(
        (struct sim_fault){.kind = kind, .address = address, .stack_low = LOW, .stack_high = HIGH},
        words);
}

TEST(addresses_are_told_with_what_is_special)
{
    const char *none = ", which is not canonical", *above = ", above the upper end of its stack";

    CHECK(told_at(SIM_FAULT_READ, 0x00007FFFFFFFFFFF, ""));
    CHECK(told_at(SIM_FAULT_READ, 0x0000800000000000, none));
    CHECK(told_at(SIM_FAULT_WRITE, 0xFFFF7FFFFFFFFFFF, none));
    CHECK(told_at(SIM_FAULT_WRITE, 0xFFFF800000000000, ""));
    CHECK(told_at(SIM_FAULT_EXECUTE, 0xDEAD000000000010, none));
    CHECK(told_at(SIM_FAULT_READ, HIGH - 1, ""));
    CHECK(told_at(SIM_FAULT_READ, HIGH, above));
    CHECK(told_at(SIM_FAULT_WRITE, HIGH + 4095, above));
    CHECK(told_at(SIM_FAULT_WRITE, HIGH + 4096, ""));
}

static bool told_of_stack(uintptr_t sp, const char *words)
{
    return told((struct sim_fault){.kind = SIM_FAULT_STACK,
                                   .address = 0x7000,
                                   .sp = sp,
                                   .stack_low = LOW,
                                   .stack_high = HIGH},
                words);
}

TEST(stacks_are_told_with_their_pointer)
{
    CHECK(told_of_stack(LOW - 4096, "overflowed its stack at address 0x7000"));
    CHECK(told_of_stack(LOW - 4097, "ran with the stack pointer 0xfffefff, which is outside of its "
                                    "stack"));
    CHECK(told_of_stack(HIGH, "overflowed its stack at address 0x7000"));
    CHECK(told_of_stack(HIGH + 1, "ran with the stack pointer 0x10040001, which is outside of its "
                                  "stack"));
    CHECK(told_of_stack(0x1234567890ABCDEF, "ran with the stack pointer 0x1234567890abcdef, which "
                                            "is outside of its stack (not canonical)"));
}
