/* SPDX-License-Identifier: MIT */
/* The exception, and the bug check, that a fault becomes. */
#include "x64/support/rig.h"

#include "sim/irql.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/function_table.h"

#include <stdarg.h>

#define MXCSR_AT 24 /* in the format of FXSAVE */

static _Alignas(16) uint8_t code[64];
static struct sim_registers registers;

static struct sim_fault fault_of(enum sim_fault_kind kind, uint8_t trap)
{
    return (struct sim_fault){.kind = kind,
                              .trap = trap,
                              .pc = (uintptr_t)code,
                              .address = 0x5000,
                              .registers = &registers};
}

/* ---- kinds ---- */

static NTSTATUS code_of(enum sim_fault_kind kind, uint8_t trap, EXCEPTION_RECORD *record)
{
    struct sim_fault fault = fault_of(kind, trap);

    memset(record, 0xA5, sizeof(*record));
    CHECK(x64_exception_of_fault(&fault, record));
    CHECK(record->ExceptionFlags == 0 && record->ExceptionRecord == NULL);
    return record->ExceptionCode;
}

TEST(accesses_tell_their_kind_and_address)
{
    EXCEPTION_RECORD r;

    CHECK(code_of(SIM_FAULT_READ, 14, &r) == STATUS_ACCESS_VIOLATION && r.NumberParameters == 2);
    CHECK(r.ExceptionInformation[0] == 0 && r.ExceptionInformation[1] == 0x5000);
    CHECK(r.ExceptionAddress == code);
    CHECK(code_of(SIM_FAULT_WRITE, 14, &r) == STATUS_ACCESS_VIOLATION && r.NumberParameters == 2);
    CHECK(r.ExceptionInformation[0] == 1 && r.ExceptionInformation[1] == 0x5000);
    CHECK(code_of(SIM_FAULT_EXECUTE, 14, &r) == STATUS_ACCESS_VIOLATION);
    CHECK(r.ExceptionInformation[0] == 8 && r.ExceptionInformation[1] == 0x5000);
    /* without an address */
    CHECK(code_of(SIM_FAULT_WRITE, 13, &r) == STATUS_ACCESS_VIOLATION && r.NumberParameters == 2);
    CHECK(r.ExceptionInformation[0] == 0 && r.ExceptionInformation[1] == UINT64_MAX);
}

TEST(other_faults_have_a_code_alone)
{
    EXCEPTION_RECORD r;

    CHECK(code_of(SIM_FAULT_ALIGNMENT, 17, &r) == STATUS_DATATYPE_MISALIGNMENT);
    CHECK(r.NumberParameters == 0 && r.ExceptionAddress == code);
    CHECK(code_of(SIM_FAULT_INSTRUCTION, 6, &r) == STATUS_ILLEGAL_INSTRUCTION);
    CHECK(r.NumberParameters == 0 && r.ExceptionAddress == code);
    CHECK(code_of(SIM_FAULT_PRIVILEGED, 13, &r) == STATUS_PRIVILEGED_INSTRUCTION);
    CHECK(r.NumberParameters == 0 && r.ExceptionAddress == code);
    CHECK(code_of(SIM_FAULT_BREAKPOINT, 1, &r) == (NTSTATUS)0x80000004); /* a single step */
    CHECK(r.NumberParameters == 0 && r.ExceptionAddress == code);
    CHECK(code_of(SIM_FAULT_BREAKPOINT, 3, &r) == (NTSTATUS)0x80000003);
    CHECK(r.NumberParameters == 1 && r.ExceptionAddress == code - 1);
}

TEST(some_faults_become_no_exception)
{
    static const enum sim_fault_kind kinds[] = {SIM_FAULT_STACK, SIM_FAULT_HANG, SIM_FAULT_SLEEP,
                                                SIM_FAULT_OVERDUE, SIM_FAULT_LABOUR};
    EXCEPTION_RECORD record;
    struct sim_fault fault;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        fault = fault_of(kinds[i], 0);
        CHECK(!x64_exception_of_fault(&fault, &record));
    }
    fault = fault_of(SIM_FAULT_READ, 14);
    fault.registers = NULL;
    CHECK(!x64_exception_of_fault(&fault, &record));
}

/* ---- division ---- */

/* The exception of a division with these bytes, up to -1. */
static NTSTATUS divide(int byte, ...)
{
    unsigned count = 0;
    EXCEPTION_RECORD record;
    va_list bytes;

    memset(code, 0x90, sizeof(code));
    va_start(bytes, byte);
    for (; byte >= 0; byte = va_arg(bytes, int))
        code[count++] = (uint8_t)byte;
    va_end(bytes);
    return code_of(SIM_FAULT_ARITHMETIC, 0, &record);
}

#define DIVIDES(...)   (divide(__VA_ARGS__, -1) == STATUS_INTEGER_DIVIDE_BY_ZERO)
#define OVERFLOWS(...) (divide(__VA_ARGS__, -1) == STATUS_INTEGER_OVERFLOW)

/* Every register is zero but for some bits of one. */
static void set(unsigned number, uint64_t value)
{
    memset(&registers, 0, sizeof(registers));
    registers.general[number] = value;
}

TEST_WITH(machine, divisors_in_registers_have_every_width)
{
    set(3, 0x1000000000000000);
    CHECK(OVERFLOWS(0x48, 0xF7, 0xF3)); /* div rbx */
    CHECK(DIVIDES(0xF7, 0xF3));         /* div ebx */
    CHECK(DIVIDES(0x48, 0xF7, 0xF1));   /* div rcx */
    CHECK(DIVIDES(0x49, 0xF7, 0xFB));   /* idiv r11 */
    set(3, 0x80000000);
    CHECK(OVERFLOWS(0xF7, 0xFB) && DIVIDES(0x66, 0xF7, 0xFB)); /* idiv ebx, bx */
    CHECK(OVERFLOWS(0x2E, 0xF7, 0xFB) && OVERFLOWS(0x3E, 0xF7, 0xFB));
    set(3, 0x8000);
    CHECK(OVERFLOWS(0x66, 0xF7, 0xF3) && DIVIDES(0xF6, 0xF3)); /* div bx, bl */
    CHECK(OVERFLOWS(0xF6, 0xF7) && DIVIDES(0x40, 0xF6, 0xF7)); /* div bh, dil */
    CHECK(OVERFLOWS(0x66, 0x66, 0xF7, 0xF3));
    CHECK(OVERFLOWS(0x66, 0x48, 0xF7, 0xF3)); /* the whole register */
    set(3, 0x80);
    CHECK(OVERFLOWS(0xF6, 0xF3) && DIVIDES(0xF6, 0xF7));
    set(3, 0xFFFFFFFFFFFF00FF);
    CHECK(DIVIDES(0xF6, 0xF7)); /* div bh */
    set(0, 0xFF00);
    CHECK(OVERFLOWS(0xF6, 0xF4) && DIVIDES(0xF6, 0xF0)); /* div ah, al */
    set(7, 0xFF);
    CHECK(OVERFLOWS(0x40, 0xF6, 0xF7) && DIVIDES(0xF6, 0xF7)); /* div dil, bh */
    set(12, 1);
    CHECK(OVERFLOWS(0x41, 0xF6, 0xF4) && DIVIDES(0x40, 0xF6, 0xF4)); /* div r12b, spl */
    set(11, 1);
    CHECK(OVERFLOWS(0x49, 0xF7, 0xFB) && OVERFLOWS(0x41, 0xF7, 0xFB));
}

/* The divisor is what is in `cell`, eight bytes between others. */
static uint8_t cells[8 + 8 + 8];

static void fill(uint64_t value, uint8_t around)
{
    memset(cells, around, sizeof(cells));
    memcpy(cells + 8, &value, 8);
}

#define CELL ((uintptr_t)(cells + 8))

TEST_WITH(machine, divisors_in_memory_are_read_with_their_width)
{
    fill(0, 0xFF);
    set(3, CELL);
    CHECK(DIVIDES(0xF7, 0x33) && DIVIDES(0x48, 0xF7, 0x33) && DIVIDES(0xF6, 0x33));
    fill(0xFF00000000000000, 0);
    CHECK(OVERFLOWS(0x48, 0xF7, 0x33) && DIVIDES(0xF7, 0x33)); /* div qword, dword [rbx] */
    fill(0xFF000000, 0);
    CHECK(OVERFLOWS(0xF7, 0x33) && DIVIDES(0x66, 0xF7, 0x33));
    fill(0xFF00, 0);
    CHECK(OVERFLOWS(0x66, 0xF7, 0x33) && DIVIDES(0xF6, 0x33));
    fill(0xFF, 0);
    CHECK(OVERFLOWS(0xF6, 0x33));
}

TEST_WITH(machine, divisors_in_memory_are_found_by_every_form)
{
    fill(1, 0);
    set(3, CELL);
    CHECK(OVERFLOWS(0x48, 0xF7, 0x33) && DIVIDES(0x48, 0xF7, 0x36)); /* [rbx], [rsi] */
    set(11, CELL);
    CHECK(OVERFLOWS(0x49, 0xF7, 0x33)); /* [r11] */
    set(3, CELL - 0x10);
    CHECK(OVERFLOWS(0x48, 0xF7, 0x73, 0x10)); /* [rbx + 16] */
    set(5, CELL + 0x80);
    CHECK(OVERFLOWS(0x48, 0xF7, 0x75, 0x80)); /* [rbp - 128] */
    set(3, CELL - 0x7F);
    CHECK(OVERFLOWS(0x48, 0xF7, 0x73, 0x7F));
    set(3, CELL - 0x12345678);
    CHECK(OVERFLOWS(0x48, 0xF7, 0xB3, 0x78, 0x56, 0x34, 0x12)); /* [rbx + 0x12345678] */
    set(3, CELL + 0x10);
    CHECK(OVERFLOWS(0x48, 0xF7, 0xB3, 0xF0, 0xFF, 0xFF, 0xFF)); /* [rbx - 16] */
    /* base and index */
    set(3, CELL - 0x10 * 8);
    registers.general[6] = 0x10;
    CHECK(OVERFLOWS(0x48, 0xF7, 0x34, 0xF3)); /* [rbx + rsi * 8] */
    registers.general[3] += 0x80 - 0x10;
    CHECK(OVERFLOWS(0x48, 0xF7, 0x34, 0x33)); /* [rbx + rsi] */
    registers.general[3] -= 4;
    CHECK(OVERFLOWS(0x48, 0xF7, 0x74, 0x33, 0x04)); /* [rbx + rsi + 4] */
    CHECK(OVERFLOWS(0x48, 0xF7, 0xB4, 0x33, 0x04, 0, 0, 0));
    set(12, CELL);
    CHECK(OVERFLOWS(0x49, 0xF7, 0x34, 0x24)); /* [r12]: no index */
    set(4, CELL);
    CHECK(OVERFLOWS(0x48, 0xF7, 0x34, 0x24)); /* [rsp] */
    set(3, CELL - 0x20);
    registers.general[12] = 0x10;
    CHECK(OVERFLOWS(0x4A, 0xF7, 0x34, 0x63)); /* [rbx + r12 * 2]: an index */
    set(13, CELL - 4);
    CHECK(OVERFLOWS(0x49, 0xF7, 0x74, 0x25, 0x04)); /* [r13 + 4] */
    set(6, CELL / 8 - 2);
    registers.general[5] = 0x1000; /* is not asked */
    CHECK(OVERFLOWS(0x48, 0xF7, 0x34, 0xF5, (int)(CELL % 8 + 16), 0, 0, 0));
}

TEST_WITH(machine, divisors_are_found_behind_the_instruction)
{
    set(0, 0);
    memset(code, 0x90, sizeof(code));
    /* [rip + 16]: from the end of the instruction */
    CHECK(OVERFLOWS(0x48, 0xF7, 0x35, 0x10, 0, 0, 0)); /* 0x90 is there */
    CHECK(DIVIDES(0x48, 0xF7, 0x35, 0x01, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0, 0));
    CHECK(OVERFLOWS(0x48, 0xF7, 0x35, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x90));
    CHECK(OVERFLOWS(0xF7, 0x35, 0x01, 0, 0, 0, 0, 0, 0, 0, 0x90));
    CHECK(DIVIDES(0xF7, 0x35, 0x02, 0, 0, 0, 0x90, 0x90, 0, 0, 0, 0, 0x90));
}

TEST_WITH(machine, what_cannot_be_read_divides_by_zero)
{
    set(3, 0x10);
    CHECK(DIVIDES(0x48, 0xF7, 0x33)); /* nothing is there */
    set(3, UINT64_MAX);
    CHECK(DIVIDES(0x48, 0x01, 0xDB)); /* no division */
    CHECK(OVERFLOWS(0x48, 0xF7, 0xF3));
}

/* ---- floating point ---- */

static EXCEPTION_RECORD x87(uint16_t status, uint16_t control)
{
    EXCEPTION_RECORD record;

    set(0, 0);
    memcpy(registers.floating, &control, 2);
    memcpy(registers.floating + 2, &status, 2);
    (void)code_of(SIM_FAULT_ARITHMETIC, 16, &record);
    CHECK(record.NumberParameters == 1 && record.ExceptionInformation[0] == 0);
    return record;
}

TEST(the_x87_has_one_exception_at_a_time)
{
    static const struct {
        uint16_t status, control;
        uint32_t code;
    } expected[] = {
        {0x01, 0x00, 0xC0000090},
        {0x41, 0x00, 0xC0000092},
        {0x02, 0x00, 0xC000008D},
        {0x04, 0x00, 0xC000008E},
        {0x08, 0x00, 0xC0000091},
        {0x10, 0x00, 0xC0000093},
        {0x20, 0x00, 0xC000008F},
        {0x3F, 0x00, 0xC0000090},
        {0x3E, 0x00, 0xC000008E},
        {0x3A, 0x00, 0xC000008D},
        {0x38, 0x00, 0xC0000091},
        {0x30, 0x00, 0xC0000093},
        /* those that are masked do not count */
        {0x3F, 0x01, 0xC000008E},
        {0x3F, 0x05, 0xC000008D},
        {0x3F, 0x07, 0xC0000091},
        {0x7F, 0x3D, 0xC000008D},
        {0x3F, 0x0F, 0xC0000093},
        {0x3F, 0x1F, 0xC000008F},
    };

    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        EXCEPTION_RECORD record = x87(expected[i].status, expected[i].control);

        if ((uint32_t)record.ExceptionCode != expected[i].code)
            fail_msg("status %x, control %x: %x", expected[i].status, expected[i].control,
                     (unsigned)record.ExceptionCode);
    }
}

static uint32_t simd(uint32_t mxcsr)
{
    EXCEPTION_RECORD record;

    set(0, 0);
    memcpy(registers.floating + MXCSR_AT, &mxcsr, 4);
    (void)code_of(SIM_FAULT_ARITHMETIC, 19, &record);
    CHECK(record.NumberParameters == 2 && record.ExceptionInformation[0] == 0 &&
          record.ExceptionInformation[1] == mxcsr);
    return (uint32_t)record.ExceptionCode;
}

TEST(lanes_fault_before_the_operation_or_after_it)
{
    for (unsigned bit = 0; bit < 6; bit++) {
        const uint32_t expected = bit < 3 ? 0xC00002B4 : 0xC00002B5;

        CHECK(simd(1u << bit) == expected);
        CHECK(simd(1u << bit | 0x1F80u) == 0xC00002B5); /* all are masked */
        CHECK(simd((1u << bit | 0x1F80u) & ~(0x80u << bit)) == expected);
    }
}

/* ---- bug checks ---- */

static uint32_t bugcheck(enum sim_fault_kind kind, uint8_t trap, uintptr_t address, uint64_t p[4])
{
    struct sim_fault fault = fault_of(kind, trap);

    fault.address = address;
    memset(p, 0xA5, 4 * sizeof(*p));
    return x64_fault_bugcheck(&fault, p);
}

static const struct x64_function functions[] = {
    {0x1000, 0x1010, 0x3000}, {0x1010, 0x1020, 0x3008}, {0x1020, 0x1100, 0x3010}};

#define IMAGE 0x10000000ull

static struct x64_function_table image = {
    .name = "a.sys", .base = IMAGE, .image_bytes = 0x4000, .function = functions, .count = 3};

static bool parameters(const uint64_t p[4], uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return p[0] == a && p[1] == b && p[2] == c && p[3] == d;
}

TEST_WITH(driver, a_fault_that_is_not_handled_is_a_bug_check_by_its_kind)
{
    const uint64_t pc = (uintptr_t)code;
    uint64_t p[4];
    KIRQL old;

    CHECK(x64_function_table_add(&image));
    CHECK(bugcheck(SIM_FAULT_READ, 14, 0x18, p) == 0x1E && parameters(p, 0xC0000005, pc, 0, 0x18));
    CHECK(bugcheck(SIM_FAULT_WRITE, 14, 0x18, p) == 0x1E && parameters(p, 0xC0000005, pc, 1, 0x18));
    CHECK(bugcheck(SIM_FAULT_INSTRUCTION, 6, 0x18, p) == 0x1E &&
          parameters(p, 0xC000001D, pc, 0, 0x18));
    CHECK(bugcheck(SIM_FAULT_STACK, 14, IMAGE, p) == 0x1E &&
          parameters(p, 0xC0000005, pc, 0, IMAGE));
    /* in an image */
    CHECK(bugcheck(SIM_FAULT_READ, 14, IMAGE, p) == 0x50 && parameters(p, IMAGE, 0, pc, 0));
    CHECK(bugcheck(SIM_FAULT_WRITE, 14, IMAGE + 0x3FFF, p) == 0xBE &&
          parameters(p, IMAGE + 0x3FFF, 2, pc, 0));
    CHECK(bugcheck(SIM_FAULT_EXECUTE, 14, IMAGE + 8, p) == 0xFC &&
          parameters(p, IMAGE + 8, 0x10, pc, 0));
    CHECK(bugcheck(SIM_FAULT_WRITE, 13, IMAGE, p) == 0x1E);
    CHECK(bugcheck(SIM_FAULT_READ, 14, IMAGE + 0x4000, p) == 0x1E);
    /* in system space */
    CHECK(bugcheck(SIM_FAULT_WRITE, 14, 0xFFFFF88000001000, p) == 0x50 &&
          parameters(p, 0xFFFFF88000001000, 2, pc, 0));
    KeRaiseIrql(DISPATCH_LEVEL, &old);
    CHECK(bugcheck(SIM_FAULT_READ, 14, 0x18, p) == 0xD1 && parameters(p, 0x18, 2, 0, pc));
    CHECK(bugcheck(SIM_FAULT_WRITE, 14, IMAGE, p) == 0xD1 && parameters(p, IMAGE, 2, 1, pc));
    CHECK(bugcheck(SIM_FAULT_EXECUTE, 14, 0x20, p) == 0xD1 && parameters(p, 0x20, 2, 8, pc));
    CHECK(bugcheck(SIM_FAULT_WRITE, 13, 0x18, p) == 0x1E);
    CHECK(bugcheck(SIM_FAULT_STACK, 14, 0x18, p) == 0x1E);
    KeLowerIrql(old);
    KeRaiseIrql(APC_LEVEL, &old);
    CHECK(bugcheck(SIM_FAULT_READ, 14, 0x18, p) == 0x1E);
    KeLowerIrql(old);
    x64_function_table_remove(&image);
}
