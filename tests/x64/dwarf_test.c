/* SPDX-License-Identifier: MIT */
/* Numbers, pointers and expressions of DWARF, each form and its edges. */
#include "x64/unwind/dwarf.h"

#include <string.h>

#include "support/check_rule.h"

#define BASE 0x10000u /* where the bytes pretend to be */
#define DATA 0x500u   /* the base of data-relative pointers */

static struct dwarf cursor(const uint8_t *bytes, size_t count)
{
    return (struct dwarf){bytes, bytes + count, BASE, true};
}

/* ---- numbers ---- */

TEST(numbers_of_a_fixed_size)
{
    static const uint8_t bytes[] = {0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88};
    static const struct {
        size_t size;
        uint64_t value;
    } sizes[] = {{1, 0x81}, {2, 0x8281}, {4, 0x84838281}, {8, 0x8887868584838281}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct dwarf d = cursor(bytes, sizes[i].size);

        assert_true(dwarf_fixed(&d, sizes[i].size) == sizes[i].value && d.ok);
        assert_true(d.at == d.end && d.address == BASE + sizes[i].size);
        assert_int_equal(dwarf_fixed(&d, 1), 0);
        assert_false(d.ok);
        d = cursor(bytes, sizes[i].size - 1);
        assert_int_equal(dwarf_fixed(&d, sizes[i].size), 0);
        assert_true(!d.ok && d.at == bytes && d.address == BASE);
    }
}

TEST(numbers_of_a_variable_size)
{
    static const struct {
        uint8_t count, bytes[11];
        uint64_t without_sign;
        int64_t with_sign;
    } number[] = {
        {1, {0x00}, 0, 0},
        {1, {0x02}, 2, 2},
        {1, {0x3F}, 63, 63},
        {1, {0x40}, 64, -64},
        {1, {0x7F}, 127, -1},
        {2, {0xFF, 0x00}, 127, 127},
        {2, {0x80, 0x01}, 128, 128},
        {2, {0x80, 0x7F}, 0x3F80, -128},
        {3, {0xE5, 0x8E, 0x26}, 624485, 624485},
        {10, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01}, UINT64_MAX, -1},
        {10,
         {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F},
         0x8000000000000000,
         INT64_MIN},
        {11, /* more than there is room for */
         {0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7F},
         1,
         1},
    };

    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
        struct dwarf a = cursor(number[i].bytes, number[i].count), b = a, c = a;

        if (dwarf_unsigned(&a) != number[i].without_sign || dwarf_signed(&b) != number[i].with_sign)
            fail_msg("number %zu", i);
        assert_true(a.ok && a.at == a.end && b.ok && b.at == b.end);
        c.end--;
        (void)dwarf_unsigned(&c);
        assert_false(c.ok);
        c = cursor(number[i].bytes, number[i].count - 1u);
        (void)dwarf_signed(&c);
        assert_false(c.ok);
    }
}

TEST(blocks_end_where_they_are_told_to)
{
    static const uint8_t bytes[] = {1, 2, 3, 4};
    struct dwarf d = cursor(bytes, 4), block = dwarf_block(&d, 3);

    assert_true(block.ok && block.at == bytes && block.end == bytes + 3 && block.address == BASE);
    assert_true(d.ok && d.at == bytes + 3 && d.address == BASE + 3);
    block = dwarf_block(&d, 1);
    assert_true(block.ok && d.ok && d.at == d.end);
    block = dwarf_block(&d, 1);
    assert_true(!block.ok && !d.ok && block.at == block.end && d.at == d.end);
}

TEST(pointers_in_each_encoding)
{
    static const struct {
        uint8_t encoding, count, bytes[8];
        uint64_t value;
    } pointer[] = {
        {0x00, 8, {0xF0, 1, 2, 3, 4, 5, 6, 0xFF}, 0xFF060504030201F0},
        {0x04, 8, {0xF0, 1, 2, 3, 4, 5, 6, 0xFF}, 0xFF060504030201F0},
        {0x0C, 8, {0xF0, 1, 2, 3, 4, 5, 6, 0xFF}, 0xFF060504030201F0},
        {0x01, 2, {0xF0, 0x7F}, 0x3FF0},
        {0x02, 2, {0xF0, 0xFF}, 0xFFF0},
        {0x03, 4, {0xF0, 0xFF, 0xFF, 0xFF}, 0xFFFFFFF0},
        {0x09, 2, {0xF0, 0x7F}, (uint64_t)-16},
        {0x0A, 2, {0xF0, 0xFF}, (uint64_t)-16},
        {0x0B, 4, {0xF0, 0xFF, 0xFF, 0xFF}, (uint64_t)-16},
        {0x1B, 4, {0xF0, 0xFF, 0xFF, 0xFF}, BASE - 16},
        {0x3B, 4, {0xF0, 0xFF, 0xFF, 0xFF}, DATA - 16},
        {0x9B, 4, {0xF0, 0xFF, 0xFF, 0xFF}, BASE - 16}, /* indirect: not followed */
    };
    static const uint8_t unknown[] = {0x05, 0x08, 0x0D, 0x0F, 0x20, 0x40, 0x50, 0x70};

    for (size_t i = 0; i < sizeof(pointer) / sizeof(pointer[0]); i++) {
        struct dwarf d = cursor(pointer[i].bytes, pointer[i].count);
        uint64_t value = dwarf_pointer(&d, pointer[i].encoding, DATA);

        if (value != pointer[i].value || !d.ok || d.at != d.end)
            fail_msg("encoding 0x%02x: 0x%llx", pointer[i].encoding, (unsigned long long)value);
    }
    for (size_t i = 0; i < sizeof(unknown); i++) {
        struct dwarf d = cursor(pointer[0].bytes, 8);

        assert_int_equal(dwarf_pointer(&d, unknown[i], DATA), 0);
        assert_false(d.ok);
    }
}

/* ---- expressions ---- */

static CONTEXT registers(void)
{
    CONTEXT context;

    memset(&context, 0, sizeof(context));
    context.Rax = 0x1000;
    context.Rdx = 0x1001;
    context.Rcx = 0x1002;
    context.Rbx = 0x1003;
    context.Rsi = 0x1004;
    context.Rdi = 0x1005;
    context.Rbp = 0x1006;
    context.Rsp = 0x1007;
    context.R8 = 0x1008;
    context.R9 = 0x1009;
    context.R10 = 0x100A;
    context.R11 = 0x100B;
    context.R12 = 0x100C;
    context.R13 = 0x100D;
    context.R14 = 0x100E;
    context.R15 = 0x100F;
    context.Rip = 0x1010;
    return context;
}

static bool evaluate(const uint8_t *bytes, size_t count, const uint64_t *initial, uint64_t *result)
{
    static const uint64_t memory[2] = {0x1122334455667788, 7};
    const struct x64_stack stack = {(uintptr_t)memory, (uintptr_t)(memory + 2)};
    CONTEXT context = registers();
    uint64_t at = (uintptr_t)&memory[0];

    /* 1: the first word of the stack, 2: the last, 3: just before, 4: just behind */
    if (initial && *initial <= 4)
        at = (uintptr_t)memory + (*initial == 2   ? 8u
                                  : *initial == 3 ? (uintptr_t)-1
                                  : *initial == 4 ? 9u
                                                  : 0u);
    return dwarf_evaluate(cursor(bytes, count), &stack, &context, initial ? &at : NULL, result);
}

TEST(registers_have_their_numbers)
{
    for (unsigned number = 0; number <= DWARF_RETURN; number++) {
        const uint8_t plus_two[] = {(uint8_t)(0x70 + number), 2},
                      minus_one[] = {(uint8_t)(0x70 + number), 0x7F};
        uint64_t result = 0;

        assert_true(evaluate(plus_two, 2, NULL, &result) && result == 0x1002 + number);
        assert_true(evaluate(minus_one, 2, NULL, &result) && result == 0x0FFF + number);
    }
}

TEST(constants_of_each_size)
{
    static const struct {
        uint8_t count, bytes[9];
        uint64_t value;
    } constant[] = {
        {1, {0x30}, 0},
        {1, {0x31}, 1},
        {1, {0x4F}, 31},
        {2, {0x08, 0x80}, 0x80},
        {2, {0x09, 0x80}, (uint64_t)-128},
        {2, {0x09, 0x7F}, 127},
        {3, {0x0A, 0x00, 0x80}, 0x8000},
        {3, {0x0B, 0x00, 0x80}, (uint64_t)-32768},
        {3, {0x0B, 0xFF, 0x7F}, 32767},
        {5, {0x0C, 0, 0, 0, 0x80}, 0x80000000},
        {5, {0x0D, 0, 0, 0, 0x80}, (uint64_t)INT32_MIN},
        {9, {0x0E, 1, 0, 0, 0, 0, 0, 0, 0x80}, 0x8000000000000001},
        {9, {0x0F, 1, 0, 0, 0, 0, 0, 0, 0x80}, 0x8000000000000001},
        {3, {0x10, 0x80, 0x01}, 128},
        {3, {0x11, 0x80, 0x7F}, (uint64_t)-128},
    };
    uint64_t result;

    for (size_t i = 0; i < sizeof(constant) / sizeof(constant[0]); i++) {
        result = 99;
        if (!evaluate(constant[i].bytes, constant[i].count, NULL, &result) ||
            result != constant[i].value)
            fail_msg("constant %zu: 0x%llx", i, (unsigned long long)result);
        if (constant[i].count > 1)
            assert_false(evaluate(constant[i].bytes, constant[i].count - 1u, NULL, &result));
    }
}

/* Two constants (one signed byte each), and what is made of them. */
TEST(operations_with_two_operands)
{
    static const struct {
        uint8_t a, b, operation;
        uint64_t value;
    } pair[] = {
        {12, 10, 0x1A, 8},   {12, 10, 0x1C, 2},         {10, 12, 0x1C, (uint64_t)-2},
        {12, 10, 0x1E, 120}, {12, 10, 0x21, 14},        {12, 10, 0x22, 22},
        {12, 3, 0x24, 96},   {1, 63, 0x24, 1ull << 63}, {1, 64, 0x24, 0},
        {96, 3, 0x25, 12},   {0xFF, 63, 0x25, 1},       {0xFF, 64, 0x25, 0},
        {12, 10, 0x27, 6},   {5, 5, 0x29, 1},           {5, 6, 0x29, 0},
        {5, 5, 0x2A, 1},     {5, 6, 0x2A, 0},           {0xFF, 0, 0x2A, 0},
        {6, 5, 0x2B, 1},     {5, 5, 0x2B, 0},           {0xFF, 0, 0x2B, 0},
        {5, 5, 0x2C, 1},     {6, 5, 0x2C, 0},           {0xFF, 0, 0x2C, 1},
        {5, 6, 0x2D, 1},     {5, 5, 0x2D, 0},           {0xFF, 0, 0x2D, 1},
        {5, 6, 0x2E, 1},     {5, 5, 0x2E, 0},
    };

    for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
        const uint8_t bytes[] = {0x09, pair[i].a, 0x09, pair[i].b, pair[i].operation};
        uint64_t result = 99;

        if (!evaluate(bytes, sizeof(bytes), NULL, &result) || result != pair[i].value)
            fail_msg("pair %zu: 0x%llx", i, (unsigned long long)result);
        assert_false(evaluate(bytes + 2, 3, NULL, &result)); /* one operand */
    }
}

TEST(other_operations)
{
    static const struct {
        uint8_t initial, count, bytes[8];
        bool good;
        uint64_t value;
    } form[] = {
        {1, 1, {0x06}, true, 0x1122334455667788}, /* deref */
        {2, 1, {0x06}, true, 7},
        {3, 1, {0x06}, false, 0},
        {4, 1, {0x06}, false, 0},
        {0, 3, {0x35, 0x12, 0x22}, true, 10},        /* dup, plus */
        {0, 3, {0x35, 0x36, 0x13}, true, 5},         /* drop */
        {0, 2, {0x35, 0x1F}, true, (uint64_t)-5},    /* neg */
        {0, 2, {0x35, 0x20}, true, ~5ull},           /* not */
        {0, 4, {0x35, 0x23, 0x80, 0x01}, true, 133}, /* plus_uconst */
        {0, 2, {0x35, 0x13}, false, 0},              /* nothing is left */
        {0, 1, {0x13}, false, 0},                    /* nothing to drop */
        {0, 1, {0x12}, false, 0},
        {0, 0, {0}, false, 0},
        {0, 2, {0x35, 0x96}, false, 0},       /* nop, which they do not use */
        {0, 3, {0x35, 0x35, 0x1B}, false, 0}, /* div */
        {0, 3, {0x35, 0x35, 0x28}, false, 0}, /* bra */
        {0, 3, {0x35, 0x35, 0x2F}, false, 0}, /* skip */
        {0, 2, {0x35, 0x50}, false, 0},       /* reg0 */
        {0, 3, {0x35, 0x81, 0x00}, false, 0}, /* breg17 */
        {0, 2, {0x35, 0x07}, false, 0},
    };
    uint64_t result;

    for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
        const uint64_t initial = form[i].initial;

        result = 99;
        if (evaluate(form[i].bytes, form[i].count, initial ? &initial : NULL, &result) !=
                form[i].good ||
            (form[i].good && result != form[i].value))
            fail_msg("form %zu: 0x%llx", i, (unsigned long long)result);
    }
}

TEST(the_stack_has_sixteen_places)
{
    uint8_t bytes[17];
    uint64_t result;

    memset(bytes, 0x31, sizeof(bytes));
    assert_true(evaluate(bytes, 16, NULL, &result) && result == 1);
    assert_false(evaluate(bytes, 17, NULL, &result));
}
