/* SPDX-License-Identifier: MIT */
/* Epilogues, instruction by instruction: what belongs to one, what ends one, and where the information lists them. */
#include "x64/support/unwind.h"

#define PC (FUNCTION + 0x40)

static const struct x64_unwind_info plain = {.version = 1};

static enum x64_unwound carry_out(struct fixture *f, const struct x64_unwind_info *info, uint32_t pc)
{
    return x64_unwind_epilogue(&f->table, &f->functions[0], info, f->table.base + pc, &f->stack,
                               &f->context, NULL);
}

/* The bytes at PC are an epilogue, after which the caller goes on at the index-th word of the stack. */
static bool returns_at(struct fixture *f, const struct x64_unwind_info *info, unsigned index)
{
    bool good = carry_out(f, info, PC) == X64_UNWOUND && f->context.Rip == word(f, index) &&
                f->context.Rsp == address_of(f, index + 1);

    f->context.Rsp = address_of(f, 0);
    return good;
}

/* They are none, and nothing has changed. */
static bool is_none(struct fixture *f, const struct x64_unwind_info *info)
{
    CONTEXT before = f->context;

    return carry_out(f, info, PC) == X64_BAD_UNWIND_INFO &&
           memcmp(&before, &f->context, sizeof(before)) == 0;
}

#define PUT(...)                                      \
    do {                                              \
        static const uint8_t code_[] = {__VA_ARGS__}; \
        memset(f->image + PC, 0xCC, 0x20);            \
        put(f, PC, code_, sizeof(code_));             \
    } while (0)

TEST(the_last_instruction_leaves_the_function)
{
    struct fixture *f = begin();

    PUT(0xC3);
    CHECK(returns_at(f, &plain, 0));
    PUT(0xC2, 0x08, 0x00);
    CHECK(returns_at(f, &plain, 0));
    PUT(0xF3, 0xC3);
    CHECK(returns_at(f, &plain, 0));
    PUT(0xF2, 0xC3); /* with the prefix of bounds */
    CHECK(returns_at(f, &plain, 0));
    PUT(0xFF, 0x25, 0, 0, 0, 0);
    CHECK(returns_at(f, &plain, 0));
    PUT(0xF2, 0xFF, 0x25, 0, 0, 0, 0);
    CHECK(returns_at(f, &plain, 0));
    PUT(0x48, 0xFF, 0xE0);
    CHECK(returns_at(f, &plain, 0));
    PUT(0x4F, 0xFF, 0x22);
    CHECK(returns_at(f, &plain, 0));
    PUT(0xF3, 0x90);
    CHECK(is_none(f, &plain));
    PUT(0xF2, 0x90, 0xC3);
    CHECK(is_none(f, &plain));
    PUT(0x90, 0xC3);
    CHECK(is_none(f, &plain));
    PUT(0xFF, 0xE0); /* without the prefix that says that it leaves */
    CHECK(is_none(f, &plain));
    PUT(0x40, 0xFF, 0xE0);
    CHECK(is_none(f, &plain));
    PUT(0x48, 0xFF, 0xD0); /* a call */
    CHECK(is_none(f, &plain));
    PUT(0x48, 0xFE, 0xE0);
    CHECK(is_none(f, &plain));
    PUT(0xFF, 0x15, 0, 0, 0, 0);
    CHECK(is_none(f, &plain));
    PUT(0xE8, 0, 1, 0, 0);
    CHECK(is_none(f, &plain));
    end(f);
}

TEST(the_frame_is_released_at_most_once)
{
    struct fixture *f = begin();

    PUT(0x48, 0x83, 0xC4, 0x18, 0xC3); /* add rsp, 24 */
    CHECK(returns_at(f, &plain, 3));
    PUT(0x48, 0x81, 0xC4, 0x20, 0x01, 0, 0, 0xC3); /* add rsp, 288 */
    CHECK(returns_at(f, &plain, 36));
    f->context.Rsp = address_of(f, 4);
    PUT(0x48, 0x83, 0xC4, 0xF8, 0xC3); /* add rsp, -8 */
    CHECK(returns_at(f, &plain, 3));
    f->context.Rsp = address_of(f, 40);
    PUT(0x48, 0x81, 0xC4, 0x00, 0xFF, 0xFF, 0xFF, 0xC3); /* add rsp, -256 */
    CHECK(returns_at(f, &plain, 8));
    PUT(0x48, 0x83, 0xC4, 0x18, 0x48, 0x83, 0xC4, 0x18, 0xC3);
    CHECK(is_none(f, &plain));
    PUT(0x48, 0x83, 0xEC, 0x18, 0xC3); /* sub rsp, 24 */
    CHECK(is_none(f, &plain));
    PUT(0x49, 0x83, 0xC4, 0x18, 0xC3); /* add r12, 24 */
    CHECK(is_none(f, &plain));
    PUT(0x48, 0x85, 0xC4, 0x18, 0xC3);
    CHECK(is_none(f, &plain));
    PUT(0x5F, 0x48, 0x83, 0xC4, 0x18, 0xC3); /* not after a pop */
    CHECK(is_none(f, &plain));
    end(f);
}

TEST(the_stack_pointer_comes_from_the_frame_register)
{
    struct x64_unwind_info rbp = {.version = 1, .frame_register = RBP},
                           r12 = {.version = 1, .frame_register = R12},
                           r13 = {.version = 1, .frame_register = R13};
    struct fixture *f = begin();

    f->context.Rbp = address_of(f, 30);
    f->context.R12 = address_of(f, 50);
    f->context.R13 = address_of(f, 70);
    PUT(0x48, 0x8D, 0x65, 0xF8, 0xC3); /* lea rsp, [rbp - 8] */
    CHECK(returns_at(f, &rbp, 29));
    CHECK(is_none(f, &plain) && is_none(f, &r13));
    PUT(0x48, 0x8D, 0xA5, 0x00, 0x01, 0, 0, 0xC3); /* lea rsp, [rbp + 256] */
    CHECK(returns_at(f, &rbp, 62));
    PUT(0x49, 0x8D, 0x65, 0x10, 0xC3); /* lea rsp, [r13 + 16] */
    CHECK(returns_at(f, &r13, 72) && is_none(f, &rbp));
    PUT(0x49, 0x8D, 0x64, 0x24, 0x08, 0xC3); /* lea rsp, [r12 + 8] */
    CHECK(returns_at(f, &r12, 51));
    PUT(0x49, 0x8D, 0xA4, 0x24, 0x10, 0x01, 0, 0, 0xC3); /* lea rsp, [r12 + 272] */
    CHECK(returns_at(f, &r12, 84));
    PUT(0x48, 0x8D, 0x6D, 0x08, 0xC3); /* lea rbp, [rbp + 8] */
    CHECK(is_none(f, &rbp));
    PUT(0x48, 0x8B, 0x65, 0x08, 0xC3); /* mov rsp, [rbp + 8] */
    CHECK(is_none(f, &rbp));
    PUT(0x4C, 0x8D, 0x65, 0x08, 0xC3); /* lea r12, [rbp + 8] */
    CHECK(is_none(f, &rbp));
    end(f);
}

TEST(any_register_is_popped)
{
    struct fixture *f = begin();

    for (unsigned reg = 0; reg < 16; reg++) {
        const uint8_t rex[] = {(uint8_t)(0x40 | reg >> 3), (uint8_t)(0x58 | (reg & 7)), 0xC3};
        struct x64_saved_at saved_at = {.xmm = {NULL}};

        if (reg == RSP)
            continue;
        memset(f->image + PC, 0xCC, 8);
        put(f, PC, rex, sizeof(rex));
        CHECK(x64_unwind_epilogue(&f->table, &f->functions[0], &plain, f->table.base + PC,
                                  &f->stack, &f->context, &saved_at) == X64_UNWOUND);
        CHECK(*x64_register(&f->context, reg) == word(f, 0) && f->context.Rip == word(f, 1));
        for (unsigned k = 0; k < 16; k++)
            CHECK(saved_at.integer[k] == (k == reg ? &f->words[0] : NULL));
        f->context.Rsp = address_of(f, 0);
    }
    PUT(0x5F, 0x5E, 0x41, 0x5F, 0x5B, 0xC3);
    CHECK(returns_at(f, &plain, 4));
    CHECK(f->context.Rdi == word(f, 0) && f->context.Rsi == word(f, 1) &&
          f->context.R15 == word(f, 2) && f->context.Rbx == word(f, 3));
    PUT(0x57, 0xC3); /* a push */
    CHECK(is_none(f, &plain));
    PUT(0x51, 0x58, 0xC3);
    CHECK(is_none(f, &plain));
    end(f);
}

TEST(what_was_found_before_is_kept)
{
    struct x64_saved_at saved_at = {.xmm = {NULL}};
    struct fixture *f = begin();
    CONTEXT before;

    saved_at.integer[RBX] = &f->words[100];
    saved_at.integer[RDI] = &f->words[101];
    PUT(0x5F, 0x90);
    before = f->context;
    CHECK(x64_unwind_epilogue(&f->table, &f->functions[0], &plain, f->table.base + PC, &f->stack,
                              &f->context, &saved_at) == X64_BAD_UNWIND_INFO);
    CHECK(saved_at.integer[RDI] == &f->words[101] &&
          memcmp(&before, &f->context, sizeof(before)) == 0);
    PUT(0x5F, 0xC3);
    CHECK(x64_unwind_epilogue(&f->table, &f->functions[0], &plain, f->table.base + PC, &f->stack,
                              &f->context, &saved_at) == X64_UNWOUND);
    CHECK(saved_at.integer[RBX] == &f->words[100] && saved_at.integer[RDI] == &f->words[0]);
    end(f);
}

TEST(an_epilogue_stays_on_the_stack)
{
    struct fixture *f = begin();

    PUT(0x5F, 0xC3);
    f->context.Rsp = address_of(f, 510);
    CHECK(carry_out(f, &plain, PC) == X64_UNWOUND && f->context.Rip == word(f, 511));
    f->context.Rsp = address_of(f, 511);
    CHECK(carry_out(f, &plain, PC) == X64_BAD_STACK); /* the address of the return is outside */
    f->context.Rsp = address_of(f, 511) + 1;
    CHECK(is_none(f, &plain)); /* what is popped is outside */
    f->context.Rsp = address_of(f, 0) - 1;
    CHECK(is_none(f, &plain));
    end(f);
}

/* A jump of two bytes at PC to an offset of the image. */
static void put_jump(struct fixture *f, uint32_t to)
{
    const uint8_t code[] = {0xEB, (uint8_t)(to - (PC + 2))};

    put(f, PC, code, sizeof(code));
}

static void put_far_jump(struct fixture *f, uint32_t to)
{
    const uint8_t code[] = {0xE9, DATA32(to - (PC + 5))};

    put(f, PC, code, sizeof(code));
}

TEST(a_jump_leaves_for_another_function_or_the_beginning)
{
    const struct x64_unwind_info chained = {.version = 1, .flags = X64_UNWIND_CHAINED};
    struct fixture *f = begin();

    INFO(f, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0));
    INFO_AT(f, CHAINED, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0));
    f->functions[1].unwind = CHAINED;
    put_jump(f, FUNCTION); /* calls itself */
    CHECK(returns_at(f, &plain, 0));
    CHECK(is_none(f, &chained)); /* a part of a function begins nothing */
    put_jump(f, FUNCTION + 1);
    CHECK(is_none(f, &plain));
    put_jump(f, FUNCTION + 0x7F);
    CHECK(is_none(f, &plain));
    put_jump(f, FUNCTION + 0x80);
    CHECK(returns_at(f, &plain, 0));
    put_jump(f, FUNCTION - 1);
    CHECK(returns_at(f, &plain, 0));
    put_far_jump(f, FUNCTION);
    CHECK(returns_at(f, &plain, 0));
    put_far_jump(f, FUNCTION + 1);
    CHECK(is_none(f, &plain));
    put_far_jump(f, SECOND + 8);
    CHECK(returns_at(f, &plain, 0));
    put_far_jump(f, (uint32_t)sizeof(f->image));
    CHECK(returns_at(f, &plain, 0));
    put_far_jump(f, 0x80000000);
    CHECK(returns_at(f, &plain, 0));
    /* with the prefix in front, the target is one byte further */
    PUT(0xF2, 0xEB, 0xBD); /* to FUNCTION */
    CHECK(returns_at(f, &plain, 0));
    PUT(0xF2, 0xEB, 0xBE);
    CHECK(is_none(f, &plain));
    end(f);
}

/* The second part is chained to the first one, directly or by a reference to another entry. */
TEST(a_jump_between_the_parts_of_a_function_stays)
{
    struct fixture *f = begin();

    INFO(f, 1, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0));
    INFO_AT(f, CHAINED, 1, X64_UNWIND_CHAINED, 0, 0, 0, 0, 0, 0, DATA32(FUNCTION),
            DATA32(FUNCTION + 0x80), DATA32(UNWIND));
    f->image[CHAINED + 2] = 2;
    f->functions[1].unwind = CHAINED;
    put_far_jump(f, SECOND + 8);
    CHECK(is_none(f, &plain));
    put_far_jump(f, SECOND);
    CHECK(is_none(f, &plain));
    /* from the second part to the beginning of the first one: a call of itself; else within */
    {
        const struct x64_unwind_info second = {.version = 1,
                                               .flags = X64_UNWIND_CHAINED,
                                               .chained = {FUNCTION, FUNCTION + 0x80, UNWIND}};
        const uint8_t back[] = {0xE9, DATA32(FUNCTION - (SECOND + 0x45))};
        const uint8_t within[] = {0xE9, DATA32(FUNCTION + 4 - (SECOND + 0x45))};

        put(f, SECOND + 0x40, back, sizeof(back));
        CHECK(x64_unwind_epilogue(&f->table, &f->functions[1], &second,
                                  f->table.base + SECOND + 0x40, &f->stack, &f->context,
                                  NULL) == X64_UNWOUND);
        put(f, SECOND + 0x40, within, sizeof(within));
        CHECK(x64_unwind_epilogue(&f->table, &f->functions[1], &second,
                                  f->table.base + SECOND + 0x40, &f->stack, &f->context,
                                  NULL) == X64_BAD_UNWIND_INFO);
        f->context.Rsp = address_of(f, 0);
    }
    /* unwind information that cannot be read makes a function of its own */
    f->image[CHAINED] = 7 | X64_UNWIND_CHAINED << 3;
    put_far_jump(f, SECOND + 8);
    CHECK(returns_at(f, &plain, 0));
    end(f);
}

/* ---- version 2 ---- */

static struct x64_unwind_info listing(struct fixture *f)
{
    struct x64_unwind_info info;

    CHECK(x64_unwind_info_read(&f->table, UNWIND, &info));
    return info;
}

static bool in_epilogue(struct fixture *f, const struct x64_unwind_info *info, uint32_t from_end)
{
    bool is = carry_out(f, info, FUNCTION + 0x80 - from_end) == X64_UNWOUND;

    f->context.Rsp = address_of(f, 0);
    return is;
}

TEST(only_what_is_listed_is_an_epilogue)
{
    struct fixture *f = begin();
    struct x64_unwind_info info;

    memset(f->image + FUNCTION, 0xC3, 0x80);
    /* of 4 bytes: one at the end, one 0x20 before it, one 0x10 before it */
    INFO(f, 2, 0, 0, 0, CODE(4, X64_EPILOGUE, 1), CODE(0x20, X64_EPILOGUE, 0),
         CODE(0x10, X64_EPILOGUE, 0));
    info = listing(f);
    CHECK(in_epilogue(f, &info, 1) && in_epilogue(f, &info, 4) && !in_epilogue(f, &info, 5));
    CHECK(in_epilogue(f, &info, 0x20) && in_epilogue(f, &info, 0x1D) &&
          !in_epilogue(f, &info, 0x21) && !in_epilogue(f, &info, 0x1C));
    CHECK(in_epilogue(f, &info, 0x10) && in_epilogue(f, &info, 0x0D) &&
          !in_epilogue(f, &info, 0x11) && !in_epilogue(f, &info, 0x0C));
    /* none at the end; the last one makes the number even */
    INFO(f, 2, 0, 0, 0, CODE(4, X64_EPILOGUE, 0), CODE(0, X64_EPILOGUE, 0));
    info = listing(f);
    CHECK(!in_epilogue(f, &info, 1) && !in_epilogue(f, &info, 4));
    /* further away than a byte says */
    f->functions[0].begin = FUNCTION - 0x100;
    INFO(f, 2, 0, 0, 0, CODE(4, X64_EPILOGUE, 0), CODE(0x78, X64_EPILOGUE, 1));
    info = listing(f);
    f->image[FUNCTION + 0x80 - 0x178] = 0xC3;
    CHECK(in_epilogue(f, &info, 0x178) && !in_epilogue(f, &info, 0x78));
    /* after another operation no more are listed */
    INFO(f, 2, 0, 0, 0, CODE(4, X64_EPILOGUE, 0), CODE(0, X64_ALLOCATE_SMALL, 0),
         CODE(0x10, X64_EPILOGUE, 0));
    info = listing(f);
    CHECK(!in_epilogue(f, &info, 0x10));
    INFO(f, 2, 0, 0, 0, CODE(0, X64_ALLOCATE_SMALL, 0));
    info = listing(f);
    CHECK(!in_epilogue(f, &info, 1));
    info.count = 0;
    CHECK(!in_epilogue(f, &info, 1));
    end(f);
}

/* ---- the end of the image ---- */

TEST(the_end_of_the_image_is_not_crossed)
{
    struct fixture *f = begin();

    f->table.image_bytes = PC + 2;
    f->functions[0].end = PC + 2;
    PUT(0x5F, 0xC3);
    CHECK(returns_at(f, &plain, 1));
    f->table.image_bytes = PC + 1; /* the return is no longer part of it */
    CHECK(is_none(f, &plain));
    f->table.image_bytes = PC;
    CHECK(is_none(f, &plain));
    end(f);
}
