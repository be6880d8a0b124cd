/* SPDX-License-Identifier: MIT */
/*
 * Callers of functions with DWARF call frame information: each instruction of it, in a function that is never run. The stack
 * is made up: its words have the values 0x1000, 0x1001, ...
 */
#include "x64/unwind/host_frame.h"
#include "x64/unwind/unwind_info.h"

#include <string.h>

#include "support/check_rule.h"

#define WORDS 32u
#define TOP   8u /* the word at the stack pointer */
#define RBX   0xB0B0B0B0u
#define RAX   0xA0A0A0A0u

static uint64_t word[WORDS];
static CONTEXT context;

/* A function: one byte of code, what is told of it from there on, and one more byte. */
#define FUNCTION(name, text)     \
    extern const uint8_t name[]; \
    __asm__(".text\n" #name ":\n.cfi_startproc\nnop\n" text "\nnop\n.cfi_endproc\n.previous")

FUNCTION(plain, "");
FUNCTION(offset, ".cfi_def_cfa_offset 32\n.cfi_offset rbx, -16");
FUNCTION(offset_extended, ".cfi_escape 0x05, 3, 2");
FUNCTION(offset_extended_sf, ".cfi_escape 0x11, 3, 0x7F");
FUNCTION(negative_offset_extended, ".cfi_escape 0x2F, 3, 2");
FUNCTION(val_offset, ".cfi_escape 0x14, 3, 2");
FUNCTION(val_offset_sf, ".cfi_escape 0x15, 3, 0x7F");
FUNCTION(in_register, ".cfi_escape 0x09, 3, 0");
FUNCTION(in_no_register, ".cfi_escape 0x09, 3, 17");
FUNCTION(expression, ".cfi_escape 0x10, 3, 2, 0x77, 8");
FUNCTION(expression_of_frame, ".cfi_escape 0x10, 3, 2, 0x23, 8");
FUNCTION(val_expression, ".cfi_escape 0x16, 3, 2, 0x77, 8");
FUNCTION(bad_expression, ".cfi_escape 0x10, 3, 1, 0x96");
FUNCTION(bad_val_expression, ".cfi_escape 0x16, 3, 1, 0x96");
FUNCTION(cfa_expression, ".cfi_escape 0x0F, 2, 0x77, 16");
FUNCTION(bad_cfa_expression, ".cfi_escape 0x0F, 1, 0x96");
FUNCTION(cfa, ".cfi_escape 0x0C, 6, 16");
FUNCTION(cfa_sf, ".cfi_escape 0x12, 6, 0x7E");
FUNCTION(cfa_register, ".cfi_escape 0x0D, 6");
FUNCTION(cfa_offset, ".cfi_escape 0x0E, 24");
FUNCTION(cfa_offset_sf, ".cfi_escape 0x13, 0x7D");
FUNCTION(cfa_after_expression, ".cfi_escape 0x0F, 2, 0x77, 16\n.cfi_escape 0x0D, 6");
FUNCTION(cfa_of_no_register, ".cfi_escape 0x0C, 16, 16");
FUNCTION(cfa_at_the_stack_pointer, ".cfi_escape 0x0E, 0");
FUNCTION(undefined, ".cfi_offset rbx, -16\n.cfi_escape 0x07, 3");
FUNCTION(same, ".cfi_offset rbx, -16\n.cfi_escape 0x08, 3");
FUNCTION(restore, ".cfi_offset rbx, -16\n.cfi_restore rbx");
FUNCTION(restore_extended, ".cfi_offset rbx, -16\n.cfi_escape 0x06, 3");
FUNCTION(remembered, ".cfi_remember_state\n.cfi_def_cfa_offset 40\n.cfi_offset rbx, -16\n"
                     ".cfi_restore_state");
FUNCTION(not_remembered, ".cfi_escape 0x0B");
FUNCTION(argument_size, ".cfi_escape 0x2E, 0x85, 0x01\n.cfi_def_cfa_offset 24");
FUNCTION(outermost, ".cfi_undefined rip");
FUNCTION(unknown, ".cfi_escape 0x3F");
FUNCTION(saved_xmm, ".cfi_escape 0x05, 23, 2");
FUNCTION(same_xmm, ".cfi_escape 0x05, 23, 2\n.cfi_escape 0x08, 23");
FUNCTION(computed_xmm, ".cfi_escape 0x14, 23, 2");
FUNCTION(above_the_stack, ".cfi_escape 0x11, 3, 0x60");
FUNCTION(handled, ".cfi_personality 0x1b, plain\n.cfi_lsda 0x1b, plain\n.cfi_def_cfa_offset 24");
FUNCTION(of_a_signal, ".cfi_signal_frame\n.cfi_def_cfa_offset 24");
FUNCTION(remembered_four_times, ".cfi_def_cfa_offset 24\n.cfi_remember_state\n.cfi_remember_state\n"
                                ".cfi_remember_state\n.cfi_remember_state\n.cfi_def_cfa_offset 40\n"
                                ".cfi_restore_state\n.cfi_def_cfa_offset 48\n.cfi_restore_state");
FUNCTION(remembered_too_often, ".cfi_remember_state\n.cfi_remember_state\n.cfi_remember_state\n"
                               ".cfi_remember_state\n.cfi_remember_state");
FUNCTION(restored_twice, ".cfi_remember_state\n.cfi_restore_state\n.cfi_escape 0x0B");
FUNCTION(in_the_counter, ".cfi_escape 0x09, 3, 16");
FUNCTION(in_the_last_register, ".cfi_escape 0x09, 3, 15");
FUNCTION(saved_counter, ".cfi_escape 0x05, 16, 2\n.cfi_restore rip");
FUNCTION(no_register, ".cfi_escape 0x10, 40, 2, 0x77, 8\n.cfi_escape 0xA8, 2\n.cfi_escape 0xE8\n"
                      ".cfi_def_cfa_offset 24");
FUNCTION(cut_short, ".cfi_escape 0x10, 3, 0x7F");
FUNCTION(expression_out_of_the_stack, ".cfi_escape 0x10, 3, 3, 0x77, 0x80, 0x10");
FUNCTION(last_xmm, ".cfi_escape 0x05, 32, 2");
FUNCTION(xmm_out_of_the_stack, ".cfi_escape 0x11, 23, 0x60");
FUNCTION(many_registers, ".cfi_escape 0x05, 40, 2\n.cfi_escape 0x06, 40");

static bool unwind(const uint8_t *at, bool interrupted)
{
    const struct x64_stack stack = {(uintptr_t)word, (uintptr_t)(word + WORDS)};

    for (unsigned i = 0; i < WORDS; i++)
        word[i] = 0x1000 + i;
    memset(&context, 0, sizeof(context));
    context.Rip = (uintptr_t)at;
    context.Rsp = (uintptr_t)&word[TOP];
    context.Rbp = (uintptr_t)&word[TOP + 2];
    context.Rbx = RBX;
    context.Rax = RAX;
    return x64_host_unwind(&stack, interrupted, &context);
}

/* Where it was called: the word below the frame; and the frame, in words above the stack pointer. */
static bool is_frame(unsigned words)
{
    return context.Rsp == (uintptr_t)&word[TOP + words] && context.Rip == 0x1000 + TOP + words - 1;
}

TEST(each_instruction_says_where_the_caller_is)
{
    static const struct {
        const uint8_t *function;
        unsigned frame; /* words; 0: there is no caller */
        uint64_t rbx;
        bool address; /* rbx is that of this word */
    } is[] = {
        {plain, 1, RBX, false},
        {offset, 4, 0x1000 + TOP + 2, false},
        {offset_extended, 1, 0x1000 + TOP - 1, false},
        {offset_extended_sf, 1, 0x1000 + TOP + 2, false},
        {negative_offset_extended, 1, 0x1000 + TOP + 3, false},
        {val_offset, 1, TOP - 1, true},
        {val_offset_sf, 1, TOP + 2, true},
        {in_register, 1, RAX, false},
        {in_no_register, 0, 0, false},
        {expression, 1, 0x1000 + TOP + 1, false},
        {expression_of_frame, 1, 0x1000 + TOP + 2, false},
        {val_expression, 1, TOP + 1, true},
        {bad_expression, 0, 0, false},
        {bad_val_expression, 0, 0, false},
        {cfa_expression, 2, RBX, false},
        {bad_cfa_expression, 0, 0, false},
        {cfa, 4, RBX, false},
        {cfa_sf, 4, RBX, false},
        {cfa_register, 3, RBX, false},
        {cfa_offset, 3, RBX, false},
        {cfa_offset_sf, 3, RBX, false},
        {cfa_after_expression, 3, RBX, false},
        {cfa_of_no_register, 0, 0, false},
        {cfa_at_the_stack_pointer, 0, 0, false},
        {undefined, 1, RBX, false},
        {same, 1, RBX, false},
        {restore, 1, RBX, false},
        {restore_extended, 1, RBX, false},
        {remembered, 1, RBX, false},
        {not_remembered, 0, 0, false},
        {argument_size, 3, RBX, false},
        {outermost, 0, 0, false},
        {unknown, 0, 0, false},
        {computed_xmm, 0, 0, false},
        {above_the_stack, 0, 0, false},
        {many_registers, 1, RBX, false},
        {handled, 3, RBX, false},
        {of_a_signal, 3, RBX, false},
        {remembered_four_times, 3, RBX, false},
        {remembered_too_often, 0, 0, false},
        {restored_twice, 0, 0, false},
        {in_the_last_register, 1, 0, false},
        {saved_counter, 1, RBX, false},
        {no_register, 3, RBX, false},
        {cut_short, 0, 0, false},
        {expression_out_of_the_stack, 0, 0, false},
        {xmm_out_of_the_stack, 0, 0, false},
    };

    for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
        const uint64_t rbx = is[i].address ? (uintptr_t)&word[is[i].rbx] : is[i].rbx;

        /* before the instruction; behind the call of another function, which is in it still */
        if (!unwind(is[i].function, true) || !is_frame(1) || context.Rbx != RBX ||
            !unwind(is[i].function + 1, false) || !is_frame(1) || context.Rbx != RBX)
            fail_msg("function %zu, at its begin", i);
        if (unwind(is[i].function + 1, true) != (is[i].frame != 0))
            fail_msg("function %zu, whether it has a caller", i);
        if (is[i].frame && (!is_frame(is[i].frame) || context.Rbx != rbx))
            fail_msg("function %zu: rbx 0x%llx", i, (unsigned long long)context.Rbx);
        if (!is[i].frame)
            assert_true(context.Rip == (uintptr_t)is[i].function + 1 && context.Rbx == RBX);
        assert_true(context.Rax == RAX);
        assert_true(x64_host_function((uintptr_t)is[i].function + 1) == (uintptr_t)is[i].function);
    }
}

TEST(a_register_may_be_in_the_program_counter)
{
    assert_true(unwind(in_the_counter + 1, true) && is_frame(1));
    assert_true(context.Rbx == (uintptr_t)in_the_counter + 1);
}

TEST(vector_registers_are_found_too)
{
    assert_true(unwind(saved_xmm + 1, true));
    assert_true(context.FltSave.XmmRegisters[6].Low == 0x1000 + TOP - 1 &&
                (uint64_t)context.FltSave.XmmRegisters[6].High == 0x1000 + TOP);
    assert_true(context.FltSave.XmmRegisters[5].Low == 0);
    assert_true(unwind(same_xmm + 1, true) && context.FltSave.XmmRegisters[6].Low == 0);
    assert_true(unwind(last_xmm + 1, true));
    assert_true(context.FltSave.XmmRegisters[15].Low == 0x1000 + TOP - 1 &&
                context.FltSave.XmmRegisters[14].Low == 0);
}

/* Code of one byte each, behind which the frame grows: at distances that need one, two and four bytes. */
FUNCTION(near, ".skip 62, 0x90\n.cfi_def_cfa_offset 16");
FUNCTION(far_one, ".skip 200, 0x90\n.cfi_def_cfa_offset 16");
FUNCTION(far_two, ".skip 3000, 0x90\n.cfi_def_cfa_offset 16");
FUNCTION(far_four, ".skip 70000, 0x90\n.cfi_def_cfa_offset 16");

TEST(locations_advance_by_each_distance)
{
    static const struct {
        const uint8_t *function;
        unsigned at;
    } is[] = {{near, 63}, {far_one, 201}, {far_two, 3001}, {far_four, 70001}};

    for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
        assert_true(unwind(is[i].function + is[i].at - 1, true) && is_frame(1));
        assert_true(unwind(is[i].function + is[i].at, true) && is_frame(2));
        assert_true(unwind(is[i].function + is[i].at, false) && is_frame(1));
        assert_true(unwind(is[i].function + is[i].at + 1, false) && is_frame(2));
        /* its last byte, and the one behind */
        assert_true(x64_host_function((uintptr_t)is[i].function + is[i].at) ==
                    (uintptr_t)is[i].function);
        assert_true(x64_host_function((uintptr_t)is[i].function + is[i].at + 1) !=
                    (uintptr_t)is[i].function);
    }
}

TEST(data_has_no_function)
{
    assert_true(x64_host_function((uintptr_t)&context) == 0 && x64_host_function(0) == 0);
    assert_false(unwind((const uint8_t *)word, true));
}
