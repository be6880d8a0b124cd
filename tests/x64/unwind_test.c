/* SPDX-License-Identifier: MIT */
/* Unwinding one frame: each operation, prologues, epilogues, split functions, machine frames, and information that lies. */
#include "x64/support/unwind.h"

#include "util/rng.h"

TEST(a_leaf_returns_to_what_is_on_the_stack)
{
    struct fixture *f = begin();

    CHECK(x64_unwind(&f->table, NULL, f->table.base + FUNCTION, 0, &f->stack, &f->context, NULL,
                     &f->frame) == X64_UNWOUND);
    CHECK(f->context.Rip == word(f, 0) && f->context.Rsp == address_of(f, 1));
    CHECK(f->frame.handler == 0 && f->context.Rbx == 0x1000 + RBX);
    end(f);
}

TEST(pushes_and_allocations_are_undone)
{
    struct fixture *f = begin();

    /* push rbp; push rdi; sub rsp, 0x20 */
    INFO(f, 1, 0, 8, 0, CODE(8, X64_ALLOCATE_SMALL, 3), CODE(4, X64_PUSH_NONVOLATILE, RDI),
         CODE(2, X64_PUSH_NONVOLATILE, RBP));
    CHECK(unwind_at(f, FUNCTION + 0x20, 0) == X64_UNWOUND);
    CHECK(f->context.Rdi == word(f, 4) && f->context.Rbp == word(f, 5));
    CHECK(f->context.Rip == word(f, 6) && f->context.Rsp == address_of(f, 7));
    CHECK(f->saved_at.integer[RDI] == &f->words[4] && f->saved_at.integer[RBP] == &f->words[5] &&
          !f->saved_at.integer[RBX]);
    CHECK(f->frame.establisher == address_of(f, 0) && !f->frame.machine_frame);
    end(f);
}

TEST(large_allocations_have_two_sizes)
{
    struct fixture *f = begin();

    INFO(f, 1, 0, 7, 0, CODE(7, X64_ALLOCATE_LARGE, 0), DATA16(100)); /* times 8 */
    CHECK(unwind_at(f, FUNCTION + 0x20, 0) == X64_UNWOUND);
    CHECK(f->context.Rip == word(f, 100));
    f->context.Rsp = address_of(f, 0);
    INFO(f, 1, 0, 7, 0, CODE(7, X64_ALLOCATE_LARGE, 1), DATA32(200 * 8));
    CHECK(unwind_at(f, FUNCTION + 0x20, 0) == X64_UNWOUND);
    CHECK(f->context.Rip == word(f, 200));
    end(f);
}

TEST(saved_registers_are_restored_relative_to_the_frame)
{
    struct fixture *f = begin();

    INFO(f, 1, 0, 30, 0, CODE(30, X64_SAVE_XMM_FAR, 15), DATA32(64), CODE(26, X64_SAVE_XMM, 6),
         DATA16(2), CODE(20, X64_SAVE_NONVOLATILE_FAR, R15), DATA32(80),
         CODE(14, X64_SAVE_NONVOLATILE, RSI), DATA16(1), CODE(8, X64_ALLOCATE_SMALL, 11));
    CHECK(unwind_at(f, FUNCTION + 0x20, 0) == X64_UNWOUND);
    CHECK(f->context.Rsi == word(f, 1) && f->context.R15 == word(f, 10));
    CHECK(f->context.Xmm6.Low == word(f, 4) && (uint64_t)f->context.Xmm6.High == word(f, 5));
    CHECK(f->context.Xmm15.Low == word(f, 8));
    CHECK(f->saved_at.xmm[6] == (M128A *)(void *)&f->words[4] &&
          f->saved_at.integer[RSI] == &f->words[1]);
    CHECK(f->context.Rip == word(f, 12));
    end(f);
}

TEST(a_frame_register_leads_to_the_frame)
{
    struct fixture *f = begin();

    /* push rbp; sub rsp, 0x40; lea rbp, [rsp+0x20]; later the stack pointer moves on */
    INFO(f, 1, 0, 10, RBP | 2 << 4, CODE(10, X64_SET_FRAME_REGISTER, 0),
         CODE(5, X64_ALLOCATE_SMALL, 7), CODE(1, X64_PUSH_NONVOLATILE, RBP));
    f->context.Rbp = address_of(f, 20 + 4);
    CHECK(unwind_at(f, FUNCTION + 0x20, 0) == X64_UNWOUND);
    CHECK(f->frame.establisher == address_of(f, 20));
    CHECK(f->context.Rbp == word(f, 28) && f->context.Rip == word(f, 29));
    end(f);
}

TEST(in_the_prologue_only_what_was_done_is_undone)
{
    struct fixture *f = begin();

    INFO(f, 1, X64_UNWIND_EXCEPTION_HANDLER, 10, RBP | 2 << 4, CODE(10, X64_SET_FRAME_REGISTER, 0),
         CODE(5, X64_ALLOCATE_SMALL, 7), CODE(1, X64_PUSH_NONVOLATILE, RBP), 0, 0, DATA32(HANDLER));
    f->image[UNWIND + 2] = 3; /* codes; the rest is padding and handler */
    CHECK(unwind_at(f, FUNCTION, X64_UNWIND_EXCEPTION_HANDLER) == X64_UNWOUND);
    CHECK(f->context.Rip == word(f, 0) && f->context.Rbp == 0x1000 + RBP);
    CHECK(f->frame.handler == 0);
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 1, 0) == X64_UNWOUND);
    CHECK(f->context.Rbp == word(f, 0) && f->context.Rip == word(f, 1));
    f->context.Rsp = address_of(f, 0);
    f->context.Rbp = 1; /* not yet the frame register */
    CHECK(unwind_at(f, FUNCTION + 5, 0) == X64_UNWOUND);
    CHECK(f->context.Rbp == word(f, 8) && f->context.Rip == word(f, 9));
    CHECK(f->frame.establisher == address_of(f, 0));
    end(f);
}

TEST(the_body_has_the_handler_that_is_wanted)
{
    struct fixture *f = begin();

    INFO(f, 1, X64_UNWIND_EXCEPTION_HANDLER, 4, 0, CODE(4, X64_ALLOCATE_SMALL, 0), 0, 0,
         DATA32(HANDLER));
    f->image[UNWIND + 2] = 1;
    CHECK(unwind_at(f, FUNCTION + 4, X64_UNWIND_EXCEPTION_HANDLER) == X64_UNWOUND);
    CHECK(f->frame.handler == f->table.base + HANDLER);
    CHECK(f->frame.handler_data == f->table.base + UNWIND + 12);
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 4, X64_UNWIND_TERMINATION_HANDLER) == X64_UNWOUND);
    CHECK(f->frame.handler == 0);
    end(f);
}

TEST(a_split_function_is_undone_part_by_part)
{
    struct fixture *f = begin();
    const struct x64_function first = {SECOND, SECOND + 0x80, CHAINED};

    INFO(f, 1, X64_UNWIND_CHAINED, 0, 0, CODE(0, X64_SAVE_NONVOLATILE, RBX), DATA16(1));
    put(f, UNWIND + 8, &first, sizeof(first));
    INFO_AT(f, CHAINED, 1, X64_UNWIND_TERMINATION_HANDLER, 4, 0, CODE(4, X64_ALLOCATE_SMALL, 3), 0,
            0, DATA32(HANDLER));
    f->image[CHAINED + 2] = 1;
    CHECK(unwind_at(f, FUNCTION, X64_UNWIND_TERMINATION_HANDLER) == X64_UNWOUND);
    CHECK(f->context.Rbx == word(f, 1) && f->context.Rip == word(f, 4));
    CHECK(f->frame.handler == f->table.base + HANDLER);
    end(f);
}

TEST(an_entry_may_stand_for_another)
{
    struct fixture *f = begin();
    const struct x64_function real = {FUNCTION, FUNCTION + 0x80, CHAINED};

    put(f, 0x600, &real, sizeof(real));
    f->functions[0].unwind = 0x601;
    INFO_AT(f, CHAINED, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0));
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_UNWOUND && f->context.Rip == word(f, 1));
    end(f);
}

TEST(a_machine_frame_restores_both_pointers)
{
    struct fixture *f = begin();

    INFO(f, 1, 0, 4, 0, CODE(4, X64_ALLOCATE_SMALL, 0), CODE(0, X64_PUSH_MACHINE_FRAME, 1));
    f->words[2] = 0x1234;
    f->words[5] = 0x5678;
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_UNWOUND);
    CHECK(f->context.Rip == 0x1234 && f->context.Rsp == 0x5678 && f->frame.machine_frame);
    f->context.Rsp = address_of(f, 0);
    INFO(f, 1, 0, 4, 0, CODE(0, X64_PUSH_MACHINE_FRAME, 0));
    f->words[0] = 0x11;
    f->words[3] = 0x22;
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_UNWOUND);
    CHECK(f->context.Rip == 0x11 && f->context.Rsp == 0x22);
    end(f);
}

/* add rsp, 0x20; pop rdi; pop r12; ret, at every instruction of it. */
TEST(an_epilogue_is_carried_out)
{
    struct fixture *f = begin();
    static const uint8_t epilogue[] = {0x48, 0x83, 0xC4, 0x20, 0x5F, 0x41, 0x5C, 0xC3};

    INFO(f, 1, X64_UNWIND_EXCEPTION_HANDLER, 8, 0, CODE(8, X64_ALLOCATE_SMALL, 3),
         CODE(4, X64_PUSH_NONVOLATILE, RDI), CODE(2, X64_PUSH_NONVOLATILE, R12), 0, 0,
         DATA32(HANDLER));
    f->image[UNWIND + 2] = 3;
    put(f, FUNCTION + 0x40, epilogue, sizeof(epilogue));
    CHECK(unwind_at(f, FUNCTION + 0x40, X64_UNWIND_EXCEPTION_HANDLER) == X64_UNWOUND);
    CHECK(f->context.Rdi == word(f, 4) && f->context.R12 == word(f, 5) &&
          f->context.Rip == word(f, 6) && f->frame.handler == 0);
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 0x44, 0) == X64_UNWOUND && f->context.Rip == word(f, 2));
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 0x45, 0) == X64_UNWOUND && f->context.R12 == word(f, 0));
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 0x47, 0) == X64_UNWOUND && f->context.Rip == word(f, 0));
    end(f);
}

TEST(a_jump_ends_an_epilogue_if_it_leaves_the_function)
{
    struct fixture *f = begin();
    static const uint8_t away[] = {0x5F, 0xE9, DATA32(SECOND - (FUNCTION + 0x46))};
    static const uint8_t inside[] = {0x5F, 0xEB, 0x10};
    static const uint8_t import[] = {0x5F, 0xFF, 0x25, 0, 0, 0, 0};
    static const uint8_t tail[] = {0x5F, 0x48, 0xFF, 0xE0};

    INFO(f, 1, 0, 2, 0, CODE(2, X64_ALLOCATE_SMALL, 9));
    INFO_AT(f, CHAINED, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0));
    f->functions[1].unwind = CHAINED;
    put(f, FUNCTION + 0x40, away, sizeof(away));
    CHECK(unwind_at(f, FUNCTION + 0x40, 0) == X64_UNWOUND && f->context.Rip == word(f, 1));
    f->context.Rsp = address_of(f, 0);
    put(f, FUNCTION + 0x40, inside, sizeof(inside));
    CHECK(unwind_at(f, FUNCTION + 0x40, 0) == X64_UNWOUND && f->context.Rip == word(f, 10));
    f->context.Rsp = address_of(f, 0);
    put(f, FUNCTION + 0x40, import, sizeof(import));
    CHECK(unwind_at(f, FUNCTION + 0x40, 0) == X64_UNWOUND && f->context.Rip == word(f, 1));
    f->context.Rsp = address_of(f, 0);
    put(f, FUNCTION + 0x40, tail, sizeof(tail));
    CHECK(unwind_at(f, FUNCTION + 0x40, 0) == X64_UNWOUND && f->context.Rip == word(f, 1));
    end(f);
}

TEST(an_epilogue_may_start_from_the_frame_register)
{
    struct fixture *f = begin();
    static const uint8_t epilogue[] = {0x48, 0x8D, 0x65, 0x10, 0x5D, 0xC3}; /* lea rsp,[rbp+0x10] */

    INFO(f, 1, 0, 10, RBP | 2 << 4, CODE(10, X64_SET_FRAME_REGISTER, 0),
         CODE(5, X64_ALLOCATE_SMALL, 5), CODE(1, X64_PUSH_NONVOLATILE, RBP));
    put(f, FUNCTION + 0x40, epilogue, sizeof(epilogue));
    f->context.Rbp = address_of(f, 30);
    CHECK(unwind_at(f, FUNCTION + 0x40, 0) == X64_UNWOUND);
    CHECK(f->context.Rbp == word(f, 32) && f->context.Rip == word(f, 33));
    end(f);
}

TEST(version_two_lists_its_epilogues)
{
    struct fixture *f = begin();
    static const uint8_t epilogue[] = {0x5F, 0x5D, 0xC3};

    /* One at the end, of 3 bytes, one 0x40 before the end; pushes of rbp and rdi. */
    INFO(f, 2, 0, 2, 0, CODE(3, X64_EPILOGUE, 1), CODE(0x40, X64_EPILOGUE, 0),
         CODE(2, X64_PUSH_NONVOLATILE, RDI), CODE(1, X64_PUSH_NONVOLATILE, RBP));
    put(f, FUNCTION + 0x20, epilogue, sizeof(epilogue)); /* not listed: looks like one */
    put(f, FUNCTION + 0x40, epilogue, sizeof(epilogue));
    put(f, FUNCTION + 0x7D, epilogue, sizeof(epilogue));
    CHECK(unwind_at(f, FUNCTION + 0x21, 0) == X64_UNWOUND && f->context.Rip == word(f, 2));
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 0x41, 0) == X64_UNWOUND && f->context.Rip == word(f, 1));
    f->context.Rsp = address_of(f, 0);
    CHECK(unwind_at(f, FUNCTION + 0x7F, 0) == X64_UNWOUND && f->context.Rip == word(f, 0));
    end(f);
}

TEST(nonsense_is_refused_and_changes_nothing)
{
    struct fixture *f = begin();
    CONTEXT before = f->context;

    INFO(f, 3, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0)); /* version */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    INFO(f, 1, 0, 0, 0, CODE(0, 11, 0)); /* operation */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    INFO(f, 1, 0, 0, 0, CODE(0, X64_SAVE_XMM_FAR, 6), DATA16(0)); /* cut off */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    INFO(f, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_LARGE, 2), DATA32(0)); /* size of the size */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    INFO(f, 1, X64_UNWIND_EXCEPTION_HANDLER, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0), 0, 0,
         DATA32(0x900)); /* handler outside */
    f->image[UNWIND + 2] = 1;
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    f->functions[0].unwind = sizeof(f->image) - 2; /* cut off by the end of the image */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    f->functions[0].unwind = UNWIND;
    INFO(f, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_LARGE, 1), DATA32(0x40000000)); /* off the stack */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_STACK);
    INFO(f, 1, 0, 0, RBP, CODE(0, X64_SET_FRAME_REGISTER, 0)); /* from a wild register */
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_STACK);
    CHECK(memcmp(&before, &f->context, sizeof(before)) == 0);
    end(f);
}

TEST(rings_of_entries_end)
{
    struct fixture *f = begin();
    const struct x64_function itself = {FUNCTION, FUNCTION + 0x80, UNWIND};
    const struct x64_function indirect = {FUNCTION, FUNCTION + 0x80, 0x601};

    INFO(f, 1, X64_UNWIND_CHAINED, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0), 0, 0);
    f->image[UNWIND + 2] = 1;
    put(f, UNWIND + 8, &itself, sizeof(itself));
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    put(f, 0x600, &indirect, sizeof(indirect));
    f->functions[0].unwind = 0x601;
    CHECK(unwind_at(f, FUNCTION + 8, 0) == X64_BAD_UNWIND_INFO);
    end(f);
}

/* Whatever the bytes: no access outside, and the frame above the one before. */
TEST(random_information_never_leads_out)
{
    struct fixture *f = begin();
    CONTEXT start = f->context;
    struct rng rng = {11};

    for (unsigned round = 0; round < 200000; round++) {
        for (unsigned i = 0; i < 40; i++)
            f->image[UNWIND + i] = (uint8_t)rng_below(&rng, 256);
        f->image[UNWIND] = (uint8_t)((f->image[UNWIND] & 0xF8) | (1 + rng_below(&rng, 2)));
        f->image[UNWIND + 2] = (uint8_t)rng_below(&rng, 12);
        f->context = start;
        for (unsigned i = 0; i < 16; i++)
            if (rng_below(&rng, 2))
                *x64_register(&f->context, i) = f->stack.low + rng_below(&rng, 4096);
        start.Rsp = f->context.Rsp = address_of(f, rng_below(&rng, 512));
        if (unwind_at(f, FUNCTION + rng_below(&rng, 0x80), 3) == X64_UNWOUND)
            CHECK(f->frame.machine_frame ||
                  (f->context.Rsp > start.Rsp && f->context.Rsp <= f->stack.high));
    }
    end(f);
}
