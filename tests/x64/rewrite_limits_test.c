/* SPDX-License-Identifier: MIT */
/* Where rewriting a read of the level ends: what may be moved, who may branch where, which padding is near enough, and which code is
 * known to be code. */
#include "x64/support/rewrite.h"

#define READ 0x44, 0x0F, 0x20, 0xC0 /* mov rax, cr8 */

enum outcome { LEFT, DISPLACED, ISLAND };

static enum outcome outcome_of_image(void)
{
    enum outcome outcome = image.counts.displaced ? DISPLACED
                           : image.counts.islands ? ISLAND
                                                  : LEFT;

    CHECK(image.counts.left + image.counts.displaced + image.counts.islands == 1);
    drop_image();
    return outcome;
}

/* Of a function alone, without padding. */
static enum outcome outcome_of(const uint8_t *code, size_t bytes)
{
    begin_image();
    (void)add_function(code, (uint32_t)bytes, FILLER, 0);
    end_image();
    return outcome_of_image();
}

#define OUTCOME(...) \
    outcome_of((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* The one instruction behind the read. */
#define MOVES(...) (OUTCOME(READ, __VA_ARGS__, 0xC3) == DISPLACED)
#define STAYS(...) (OUTCOME(READ, __VA_ARGS__, 0xC3) == LEFT)

TEST_WITH(machine, what_cannot_fault_nor_look_around_is_moved)
{
    CHECK(MOVES(0x39, 0xD8));                   /* cmp eax, ebx */
    CHECK(MOVES(0x85, 0xC0));                   /* test eax, eax */
    CHECK(MOVES(0x11, 0xC8));                   /* adc eax, ecx */
    CHECK(MOVES(0x48, 0x89, 0xC1));             /* mov rcx, rax */
    CHECK(MOVES(0x8B, 0x04, 0x24));             /* mov eax, [rsp] */
    CHECK(MOVES(0x89, 0x44, 0x24, 0x20));       /* mov [rsp + 32], eax */
    CHECK(MOVES(0x48, 0x8D, 0x04, 0xCB));       /* lea rax, [rbx + rcx * 8] */
    CHECK(MOVES(0x8C, 0xD8));                   /* mov eax, ds */
    CHECK(MOVES(0xD3, 0xE0));                   /* shl eax, cl */
    CHECK(MOVES(0x0F, 0x1F, 0x44, 0x24, 0x00)); /* nop [rsp] */
    CHECK(MOVES(0xF7, 0xE1));                   /* mul ecx */
}

TEST_WITH(machine, what_may_fault_or_look_around_stays)
{
    CHECK(STAYS(0xF7, 0xF1));                                     /* div ecx */
    CHECK(STAYS(0xF7, 0xF9));                                     /* idiv ecx */
    CHECK(STAYS(0x0F, 0xA2));                                     /* cpuid */
    CHECK(STAYS(0x8B, 0x03));                                     /* mov eax, [rbx] */
    CHECK(STAYS(0x8B, 0x04, 0x0C));                               /* mov eax, [rsp + rcx] */
    CHECK(STAYS(0x65, 0x8B, 0x04, 0x25, 0x88, 0x01, 0x00, 0x00)); /* mov eax, gs:[0x188] */
    CHECK(STAYS(0x65, 0x8B, 0x04, 0x24));                         /* mov eax, gs:[rsp] */
    CHECK(STAYS(0x64, 0x8B, 0x04, 0x24));                         /* mov eax, fs:[rsp] */
    CHECK(STAYS(0x48, 0x8D, 0x05, 0x00, 0x00, 0x00, 0x00));       /* lea rax, [rip] */
    CHECK(STAYS(0x48, 0x83, 0xC4, 0x00));                         /* add rsp, 0 */
    CHECK(STAYS(0x48, 0x89, 0xC4));                               /* mov rsp, rax */
    CHECK(STAYS(0x89, 0xC4));                                     /* mov esp, eax */
    CHECK(STAYS(0x48, 0x8D, 0x64, 0x24, 0x00));                   /* lea rsp, [rsp] */
    CHECK(STAYS(0x8E, 0xD8));                                     /* mov ds, eax */
    CHECK(STAYS(0x0F, 0x20, 0xC1));                               /* mov rcx, cr0 */
    CHECK(STAYS(0x0F, 0x22, 0xC0));                               /* mov cr0, rax */
    CHECK(STAYS(0x50));                                           /* push rax */
    CHECK(STAYS(0x58));                                           /* pop rax */
    CHECK(STAYS(0xD3, 0xC0));                                     /* rol eax, cl */
    CHECK(STAYS(0x0F, 0xBC, 0xC1));                               /* bsf eax, ecx */
    CHECK(STAYS(0x75, 0x00));                                     /* jnz +0 */
    CHECK(STAYS(0xE8, 0x00, 0x00, 0x00, 0x00));                   /* call +0 */
    CHECK(STAYS(0xA4));                                           /* movsb */
    CHECK(OUTCOME(READ, 0x0F, 0x0B) == LEFT);                     /* ud2 */
    CHECK(OUTCOME(READ) == LEFT);                                 /* nothing is behind it */
    CHECK(OUTCOME(READ, 0x0F) == LEFT);                           /* nor a whole instruction */
}

/* The read, an instruction of three bytes, and a branch to an offset of the function. */
static enum outcome with_branch(const uint8_t *opcode, uint32_t opcode_bytes, uint32_t width, int to)
{
    uint8_t code[32] = {READ, 0x0F, 0xB6, 0xC0};
    uint32_t at = 7 + opcode_bytes + width;
    int32_t distance = to - (int32_t)at;

    memcpy(code + 7, opcode, opcode_bytes);
    memcpy(code + 7 + opcode_bytes, &distance, width);
    code[at] = 0xC3;
    return outcome_of(code, at + 1);
}

static void check_branch(const uint8_t *opcode, uint32_t opcode_bytes, uint32_t width)
{
    CHECK(with_branch(opcode, opcode_bytes, width, 0) == DISPLACED);
    CHECK(with_branch(opcode, opcode_bytes, width, 4) == LEFT);
    CHECK(with_branch(opcode, opcode_bytes, width, 7) == DISPLACED);
}

TEST_WITH(machine, a_branch_into_what_would_move_forbids_it)
{
    for (unsigned op = 0; op < 16; op++) {
        const uint8_t near[] = {0x0F, (uint8_t)(0x80 | op)}, close = (uint8_t)(0x70 | op);

        check_branch(&close, 1, 1);
        check_branch(near, 2, 4);
    }
    for (uint8_t op = 0xE0; op < 0xE4; op++)
        check_branch(&op, 1, 1);
    check_branch((const uint8_t[]){0xEB}, 1, 1);
    check_branch((const uint8_t[]){0xE9}, 1, 4);
    check_branch((const uint8_t[]){0xE8}, 1, 4);
    /* into the middle of an instruction, and to its last byte */
    CHECK(with_branch((const uint8_t[]){0xE8}, 1, 4, 1) == LEFT);
    CHECK(with_branch((const uint8_t[]){0xE8}, 1, 4, 6) == LEFT);
    CHECK(with_branch((const uint8_t[]){0xE8}, 1, 4, -1) == DISPLACED);
    /* what only looks a little like one */
    CHECK(with_branch((const uint8_t[]){0xE4}, 1, 1, 4) == DISPLACED); /* in al, imm8 */
    CHECK(with_branch((const uint8_t[]){0xA8}, 1, 1, 4) == DISPLACED); /* test al, imm8 */
    CHECK(with_branch((const uint8_t[]){0x6A}, 1, 1, 4) == DISPLACED); /* push imm8 */
    CHECK(with_branch((const uint8_t[]){0xB8}, 1, 4, 4) == DISPLACED); /* mov eax, imm32 */
}

/* ---- padding ---- */

/* A function of so many bytes with its read at `read`, and a second one behind so much padding. */
static enum outcome with_padding(uint32_t bytes, uint32_t read, uint32_t padding)
{
    static const uint8_t level[] = {READ, 0xC3};
    uint32_t begin;

    begin_image();
    begin = ADD(FILLER, 0, 0x90);
    image.function[0].end = begin + bytes;
    memset(image.base + begin, 0x90, bytes);
    memcpy(image.base + begin + read, level, sizeof(level));
    memset(image.base + begin + bytes, 0xCC, padding);
    image.at = begin + bytes + padding;
    ADD(FILLER, 0, 0xC3);
    end_image();
    return outcome_of_image();
}

TEST_WITH(machine, six_bytes_of_padding_are_enough)
{
    CHECK(with_padding(5, 0, 6) == ISLAND);
    CHECK(with_padding(5, 0, 5) == LEFT); /* one byte stays padding */
    CHECK(with_padding(5, 0, 0) == LEFT);
}

TEST_WITH(machine, padding_must_be_in_reach_of_a_short_jump)
{
    CHECK(with_padding(128, 0, 6) == ISLAND); /* 127 bytes behind the jump */
    CHECK(with_padding(129, 0, 6) == LEFT);
    CHECK(with_padding(129, 1, 6) == ISLAND);
    CHECK(with_padding(128, 0, 7) == LEFT); /* its last five bytes are used */
}

/* The padding is before the function. */
static enum outcome with_padding_before(uint32_t read)
{
    static const uint8_t level[] = {READ, 0xC3};
    uint32_t begin;

    begin_image();
    begin = ADD(FILLER, 0, 0xC3);
    memset(image.base + begin + 1, 0xCC, 6);
    image.at = begin + 7;
    begin = ADD(FILLER, 0, 0x90);
    image.function[1].end = begin + read + 5;
    memset(image.base + begin, 0x90, read);
    memcpy(image.base + begin + read, level, sizeof(level));
    end_image();
    return outcome_of_image();
}

TEST_WITH(machine, padding_before_the_function_will_do)
{
    CHECK(with_padding_before(0) == ISLAND);
    CHECK(with_padding_before(121) == ISLAND); /* 128 bytes back from behind the jump */
    CHECK(with_padding_before(122) == LEFT);
}

/* Each reader takes its own room. */
TEST_WITH(machine, as_many_are_rewritten_as_there_is_room_for)
{
    static const struct {
        uint32_t spare, islands;
    } rooms[] = {{47, 0}, {48, 1}, {95, 1}, {96, 2}, {4096, 3}};

    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        begin_image();
        image.table.spare_bytes = rooms[i].spare;
        for (unsigned k = 0; k < 3; k++)
            ADD(0xCC, 0, READ, 0xC3);
        ADD(0xCC, 0, 0xC3);
        end_image();
        if (image.counts.islands != rooms[i].islands || image.counts.left != 3 - rooms[i].islands)
            fail_msg("%u bytes: %u islands, %u left", rooms[i].spare, image.counts.islands,
                     image.counts.left);
        drop_image();
    }
}

/* ---- side doors ---- */

static enum outcome with_other(uint32_t own_unwind, uint32_t other_unwind, uint8_t other_flags,
                               uint32_t parent)
{
    struct x64_function chained;

    begin_image();
    ADD(FILLER, 0, READ, 0x0F, 0xB6, 0xC0, 0xC3);
    ADD(FILLER, other_flags, 0xC3);
    ADD(FILLER, 0, 0xC3);
    chained = image.function[parent];
    memcpy(image.base + image.function[1].unwind + 4, &chained, sizeof(chained));
    if (own_unwind)
        image.function[0].unwind = own_unwind;
    if (other_unwind)
        image.function[1].unwind = other_unwind;
    end_image();
    return outcome_of_image();
}

TEST_WITH(machine, functions_that_are_entered_elsewhere_stay)
{
    CHECK(with_other(0, 0, 0, 0) == DISPLACED);
    CHECK(with_other(0, 0, 4, 0) == LEFT);      /* a part of the function */
    CHECK(with_other(0, 0, 4, 2) == DISPLACED); /* a part of another one */
    CHECK(with_other(0, 0, 1, 0) == DISPLACED); /* a handler of another one */
    CHECK(with_other(XDATA | 1, 0, 0, 0) == LEFT);
    CHECK(with_other(0, XDATA | 1, 0, 0) == LEFT);
    CHECK(with_other(IMAGE, 0, 0, 0) == LEFT); /* information that cannot be read */
    CHECK(with_other(0, IMAGE, 0, 0) == LEFT);
}

/* ---- what is code ---- */

TEST_WITH(machine, only_what_is_reached_is_code)
{
    CHECK(OUTCOME(0x0F, 0x0B, READ, 0x90, 0xC3) == LEFT);            /* behind ud2 */
    CHECK(OUTCOME(0xCC, READ, 0x90, 0xC3) == LEFT);                  /* behind int3 */
    CHECK(OUTCOME(0xC3, READ, 0x90, 0xC3) == LEFT);                  /* behind the return */
    CHECK(OUTCOME(0xEB, 0x05, READ, 0x90, 0xC3) == LEFT);            /* jumped over */
    CHECK(OUTCOME(0xEB, 0x01, 0xC3, READ, 0x90, 0xC3) == DISPLACED); /* jumped to */
    CHECK(OUTCOME(0x75, 0x01, 0xC3, READ, 0x90, 0xC3) == DISPLACED);
    CHECK(OUTCOME(0x0F, 0x85, 0x01, 0, 0, 0, 0xC3, READ, 0x90, 0xC3) == DISPLACED);
    CHECK(OUTCOME(0x75, 0x06, READ, 0x90, 0xC3, 0xC3) == DISPLACED); /* it goes on, too */
    CHECK(OUTCOME(0xEB, 0x06, READ, 0x90, 0xC3, 0x90, 0xEB, 0xF7) == DISPLACED); /* and back */
    CHECK(OUTCOME(0x75, 0x7F, READ, 0x90, 0xC3) == DISPLACED); /* out of the function: no matter */
    CHECK(OUTCOME(0x75, 0x80, READ, 0x90, 0xC3) == DISPLACED);
    CHECK(OUTCOME(READ, 0x90, 0xFF, 0xE1) == LEFT);                  /* jmp rcx: anywhere */
    CHECK(OUTCOME(READ, 0x90, 0xFF, 0x21) == LEFT);                  /* jmp [rcx] */
    CHECK(OUTCOME(READ, 0x90, 0xFF, 0x25, 0, 0, 0, 0) == DISPLACED); /* of an import */
    CHECK(OUTCOME(0xFF, 0xD1, READ, 0x90, 0xC3) == DISPLACED);       /* call rcx: it comes back */
}

/* A leaf at `leaf`, behind a function that has a branch with this opcode to `to`. */
static enum outcome with_caller(const uint8_t *head, uint32_t head_bytes, int32_t to, uint8_t first)
{
    static const uint8_t leaf[] = {READ, 0x0F, 0xB6, 0xC0, 0xC3};
    uint8_t code[16] = {0};
    int32_t distance;
    uint32_t at;

    begin_image();
    memcpy(code, head, head_bytes);
    code[head_bytes + 4] = 0xC3;
    at = add_function(code, head_bytes + 5, FILLER, 0);
    image.base[at] = first ? first : image.base[at];
    memcpy(image.base + image.at, leaf, sizeof(leaf));
    distance = (int32_t)image.at + to - (int32_t)(at + head_bytes + 4);
    memcpy(image.base + at + head_bytes, &distance, 4);
    end_image();
    return outcome_of_image();
}

TEST_WITH(machine, a_leaf_is_code_if_known_code_calls_it)
{
    CHECK(with_caller((const uint8_t[]){0xE8}, 1, 0, 0) == DISPLACED);
    CHECK(with_caller((const uint8_t[]){0xE9}, 1, 0, 0) == DISPLACED);
    CHECK(with_caller((const uint8_t[]){0x0F, 0x84}, 2, 0, 0) == DISPLACED);
    CHECK(with_caller((const uint8_t[]){0x90, 0xE8}, 2, 0, 0) == DISPLACED);
    CHECK(with_caller((const uint8_t[]){0x90, 0xE8}, 2, 0, 0xC3) == LEFT); /* never reached */
    CHECK(with_caller((const uint8_t[]){0xE8}, 1, 4, 0) == LEFT);          /* behind the read */
    CHECK(with_caller((const uint8_t[]){0xE8}, 1, 1, 0) == LEFT);
    CHECK(with_caller((const uint8_t[]){0xE8}, 1, 0x400, 0) == LEFT);
    CHECK(with_caller((const uint8_t[]){0xB8}, 1, 0, 0) == LEFT); /* no branch */
}

TEST_WITH(machine, a_part_of_a_read_at_the_end_is_none)
{
    static const uint8_t read[] = {READ};
    uint32_t begin;

    begin_image();
    begin = ADD(FILLER, 0, 0x90, READ, 0x90, 0xC3);
    CHECK(x64_rewrite(&image.table, begin, begin + 4, &image.counts)); /* one byte is missing */
    CHECK(image.counts.left + image.counts.displaced == 0);
    CHECK(x64_rewrite(&image.table, begin + 2, begin + 7, &image.counts)); /* the first one is */
    CHECK(image.counts.left + image.counts.displaced == 0);
    CHECK(memcmp(image.base + begin + 1, read, 4) == 0);
    CHECK(x64_rewrite(&image.table, begin, begin + 7, &image.counts));
    CHECK(image.counts.displaced == 1 && image.base[begin + 1] == 0xE9);
    drop_image();
    /* too far for displacements of 32 bits */
    begin_image();
    ADD(FILLER, 0, READ, 0x90, 0xC3);
    image.table.image_bytes = UINT32_MAX;
    CHECK(x64_rewrite(&image.table, TEXT, XDATA, &image.counts));
    CHECK(image.counts.left + image.counts.displaced + image.counts.islands == 0);
    drop_image();
}
