/* SPDX-License-Identifier: MIT */
/* Reads of CR8 that are rewritten at load: they say the same, trap no more, and are left alone where that is not safe. */
#include "x64/support/rewrite.h"

static void call(struct rig_registers *r, uint32_t offset)
{
    rig_call(r, image.base + offset);
}

/* ---- by an island ---- */

static uint32_t readers[16]; /* by register */

static void read_all(void)
{
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    for (unsigned reg = 0; reg < 16; reg++) {
        struct rig_registers r = {.flags = 0xAD7}, expected;

        if (reg == 4)
            continue;
        for (unsigned i = 0; i < 16; i++)
            r.gpr[i] = 0x1111111111111111u * i;
        expected = r;
        expected.gpr[reg] = DISPATCH_LEVEL;
        call(&r, readers[reg]);
        r.gpr[4] = expected.gpr[4];
        CHECK(memcmp(r.gpr, expected.gpr, sizeof(r.gpr)) == 0 && r.flags == expected.flags);
    }
    KeLowerIrql(old);
    CHECK(x64_traps() == 0);
}

TEST_WITH(machine, padding_makes_room_for_every_register)
{
    begin_image();
    for (uint8_t reg = 0; reg < 15; reg++)
        if (reg != 4)
            readers[reg] = ADD(0xCC, 0, (uint8_t)(0x44 | reg >> 3), 0x0F, 0x20,
                               (uint8_t)(0xC0 | (reg & 7)), 0xC3);
    readers[15] = ADD(0xCC, 0, 0x45, 0x0F, 0x20, 0xC7, 0xC3);
    ADD(0xCC, 0, 0xC3);
    end_image();
    CHECK(image.counts.islands == 15 && image.counts.displaced == 0 && image.counts.left == 0);
    CHECK(rig_run(read_all));
    drop_image();
}

/* ---- by displacement ---- */

/* Functions that return the level in rax in one way or another; the stack is used above the return address's shadow. */
static const struct {
    uint8_t bytes;
    uint8_t code[32];
    bool displaced;
    uint8_t flags;
} forms[] = {
    /* mov rax, cr8; movzx eax, al; ret */
    {8, {0x44, 0x0F, 0x20, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3}, true, 0},
    /* mov rcx, cr8; mov [rsp-8], rcx; mov rax, [rsp-8]; ret */
    {15,
     {0x44, 0x0F, 0x20, 0xC1, 0x48, 0x89, 0x4C, 0x24, 0xF8, 0x48, 0x8B, 0x44, 0x24, 0xF8, 0xC3},
     true,
     0},
    /* mov rax, cr8; add al, 1; sub al, 1; ret */
    {9, {0x44, 0x0F, 0x20, 0xC0, 0x04, 0x01, 0x2C, 0x01, 0xC3}, true, 0},
    /* mov rax, cr8, and what may be moved behind it: nop; nop eax; xor rax, 0; shl rax, 0; cmove rax, rax; sete cl; lea rcx, [rax] */
    {6, {0x44, 0x0F, 0x20, 0xC0, 0x90, 0xC3}, true, 0},
    {8, {0x44, 0x0F, 0x20, 0xC0, 0x0F, 0x1F, 0xC0, 0xC3}, true, 0},
    {9, {0x44, 0x0F, 0x20, 0xC0, 0x48, 0x83, 0xF0, 0x00, 0xC3}, true, 0},
    {9, {0x44, 0x0F, 0x20, 0xC0, 0x48, 0xC1, 0xE0, 0x00, 0xC3}, true, 0},
    {9, {0x44, 0x0F, 0x20, 0xC0, 0x48, 0x0F, 0x44, 0xC0, 0xC3}, true, 0},
    {8, {0x44, 0x0F, 0x20, 0xC0, 0x0F, 0x94, 0xC1, 0xC3}, true, 0},
    {8, {0x44, 0x0F, 0x20, 0xC0, 0x48, 0x8D, 0x08, 0xC3}, true, 0},
    /* lea rdx, [rsp-64]; mov rax, cr8; mov [rdx], al; ret: that could fault */
    {12, {0x48, 0x8D, 0x54, 0x24, 0xC0, 0x44, 0x0F, 0x20, 0xC0, 0x88, 0x02, 0xC3}, false, 0},
    /* mov rax, cr8; ret: not to be moved */
    {5, {0x44, 0x0F, 0x20, 0xC0, 0xC3}, false, 0},
    /* xor ecx, ecx; jmp +4; mov rax, cr8; nop; jrcxz back to the read the first time, or: a branch to the next one */
    {14,
     {0x44, 0x0F, 0x20, 0xC0, 0x90, 0x31, 0xC9, 0x85, 0xC9, 0x74, 0x02, 0xEB, 0xF7, 0xC3},
     false,
     0},
    /* mov rax, cr8; nop; push rax; pop rdx; lea rdx, [rip+2]; jmp rdx; ret: who knows where it jumps */
    {17,
     {0x44, 0x0F, 0x20, 0xC0, 0x90, 0x50, 0x5A, 0x48, 0x8D, 0x15, 0x02, 0x00, 0x00, 0x00, 0xFF,
      0xE2, 0xC3},
     false,
     0},
    /* the first one with an exception handler */
    {8, {0x44, 0x0F, 0x20, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3}, false, 1},
    /* mov rax, cr8; mov rdx, cr8; the second may be moved by nobody, and moves nothing but the return */
    {9, {0x44, 0x0F, 0x20, 0xC0, 0x44, 0x0F, 0x20, 0xC2, 0xC3}, false, 0},
    /* nop; mov rax, cr8; mov edx, [rip+0]; ret: looks at where it stands */
    {11, {0x44, 0x0F, 0x20, 0xC0, 0x8B, 0x15, 0x00, 0x00, 0x00, 0x00, 0xC3}, false, 0},
};

#define TWO_READS 15u /* the form with two */

static uint32_t form_at;
static bool form_displaced;

static void run_form(void)
{
    struct rig_registers r = {.flags = 0x202};
    uint64_t traps = x64_traps();
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    call(&r, form_at);
    KeLowerIrql(old);
    CHECK(r.gpr[0] == DISPATCH_LEVEL);
    CHECK((x64_traps() == traps) == form_displaced);
}

TEST_WITH(machine, only_what_may_move_is_displaced)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        begin_image();
        form_at = add_function(forms[i].code, forms[i].bytes, FILLER, forms[i].flags);
        form_displaced = forms[i].displaced;
        end_image();
        if (image.counts.displaced != form_displaced)
            fail_msg("form %zu", i);
        CHECK(image.counts.islands == 0);
        CHECK(image.counts.left == (form_displaced ? 0 : i == TWO_READS ? 2 : 1));
        CHECK(rig_run(run_form));
        drop_image();
    }
}

/* ---- what is no read ---- */

static void run_immediate(void)
{
    struct rig_registers r = {.flags = 0x202};

    call(&r, form_at);
    CHECK(r.gpr[0] == 0xC3C3C3C3C0200F44);
}

TEST_WITH(machine, bytes_inside_of_other_instructions_stay)
{
    begin_image();
    /* mov rax, 0xC3C3C3C3C0200F44; ret */
    form_at = ADD(0xCC, 0, 0x48, 0xB8, 0x44, 0x0F, 0x20, 0xC0, 0xC3, 0xC3, 0xC3, 0xC3, 0xC3);
    ADD(0xCC, 0, 0xC3);
    end_image();
    CHECK(image.counts.islands + image.counts.displaced == 0 && image.counts.left == 1);
    CHECK(rig_run(run_immediate));
    drop_image();
}

TEST_WITH(machine, code_that_no_function_owns_stays)
{
    static const uint8_t read[] = {0x44, 0x0F, 0x20, 0xC0};

    begin_image();
    ADD(FILLER, 0, 0xC3);
    memcpy(image.base + TEXT + 8, read, sizeof(read));
    memcpy(image.base + XDATA - 2, read, 2); /* the section ends in it */
    end_image();
    CHECK(image.counts.left == 1 && image.counts.islands + image.counts.displaced == 0);
    CHECK(memcmp(image.base + TEXT + 8, read, sizeof(read)) == 0);
    drop_image();
}

TEST_WITH(machine, leaf_functions_are_found_by_their_callers)
{
    static const uint8_t leaf[] = {0x44, 0x0F, 0x20, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3};
    uint32_t caller;
    int32_t distance;

    begin_image();
    caller = ADD(FILLER, 0, 0xE8, 0, 0, 0, 0, 0xC3);
    form_at = image.at;
    memcpy(image.base + form_at, leaf, sizeof(leaf));
    distance = (int32_t)(form_at - (caller + 5));
    memcpy(image.base + caller + 1, &distance, sizeof(distance));
    form_at = caller;
    form_displaced = true;
    end_image();
    CHECK(image.counts.displaced == 1 && image.counts.left == 0);
    CHECK(rig_run(run_form));
    drop_image();
}

/* mov rax, cr8; mov rcx, rax; mov rdx, cr8; add rax, rdx; ret */
static void run_two(void)
{
    struct rig_registers r = {.flags = 0x202};
    KIRQL old;

    KeRaiseIrql(DISPATCH_LEVEL, &old);
    call(&r, form_at);
    KeLowerIrql(old);
    CHECK(r.gpr[0] == 2 * DISPATCH_LEVEL && r.gpr[1] == DISPATCH_LEVEL && x64_traps() == 0);
}

TEST_WITH(machine, several_reads_of_one_function_are_rewritten)
{
    static const uint8_t padding[] = {FILLER, 0xCC};

    for (unsigned i = 0; i < 2; i++) {
        begin_image();
        form_at = ADD(padding[i], 0, 0x44, 0x0F, 0x20, 0xC0, 0x48, 0x89, 0xC1, 0x44, 0x0F, 0x20,
                      0xC2, 0x48, 0x01, 0xD0, 0xC3);
        ADD(padding[i], 0, 0xC3);
        ADD(padding[i], 0, 0xC3);
        end_image();
        CHECK(image.counts.islands == (i ? 2 : 0) && image.counts.displaced == (i ? 0 : 2));
        CHECK(rig_run(run_two));
        drop_image();
    }
}

/* rdtsc; mov ecx, eax; shl rdx, 32; or rax, rdx; ret, and rdtscp the same without the move */
static uint32_t stamps[2];

static void run_stamps(void)
{
    for (unsigned i = 0; i < 1000; i++) {
        struct rig_registers r = {.flags = 0x202};
        uint64_t before = sim_now();

        memset(r.gpr, 0xFF, sizeof(r.gpr));
        call(&r, stamps[i % 2]);
        CHECK_RULE("NT-175/g", r.gpr[0] >= before && r.gpr[0] <= sim_now() && sim_now() > before);
        CHECK(r.gpr[1] == (i % 2 ? sim_current->processor : (uint32_t)r.gpr[0]));
    }
}

TEST_WITH(machine, time_stamps_are_virtual)
{
    begin_image();
    stamps[0] = ADD(FILLER, 0, 0x0F, 0x31, 0x89, 0xC1, 0x48, 0xC1, 0xE2, 0x20, 0x48, 0x09, 0xD0,
                    0xC3);
    stamps[1] = ADD(FILLER, 0, 0x0F, 0x01, 0xF9, 0x48, 0xC1, 0xE2, 0x20, 0x48, 0x09, 0xD0, 0xC3);
    /* mov eax, 0x310F310F; ret */
    ADD(FILLER, 0, 0xB8, 0x0F, 0x31, 0x0F, 0x31, 0xC3);
    end_image();
    CHECK(image.counts.stamps == 2 && image.counts.left == 2);
    CHECK(rig_run(run_stamps));
    drop_image();
}

TEST_WITH(machine, code_that_makes_no_sense_stays)
{
    begin_image();
    ADD(0xCC, 0, 0x06, 0x44, 0x0F, 0x20, 0xC0, 0xC3); /* no instruction of 64-bit mode */
    ADD(0xCC, 0, 0xC3, 0x44, 0x0F, 0x20, 0xC0, 0xC3); /* never reached */
    ADD(0xCC, 0, 0xC3);
    end_image();
    CHECK(image.counts.left == 2 && image.counts.islands + image.counts.displaced == 0);
    drop_image();
}

/* ---- others that branch into what would move ---- */

TEST_WITH(machine, a_branch_from_another_function_forbids_displacement)
{
    uint32_t read, jump;
    int32_t distance;

    begin_image();
    read = ADD(FILLER, 0, 0x44, 0x0F, 0x20, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3);
    jump = ADD(FILLER, 0, 0xE9, 0, 0, 0, 0);
    distance = (int32_t)(read + 4 - (jump + 5));
    memcpy(image.base + jump + 1, &distance, sizeof(distance));
    end_image();
    CHECK(image.counts.displaced == 0 && image.counts.left == 1);
    drop_image();
}

TEST_WITH(machine, parts_of_functions_are_not_displaced)
{
    struct x64_function parent;

    begin_image();
    ADD(FILLER, 0, 0x44, 0x0F, 0x20, 0xC0, 0x0F, 0xB6, 0xC0, 0xC3);
    ADD(FILLER, 4, 0xC3);
    parent = image.function[0];
    memcpy(image.base + image.function[1].unwind + 4, &parent, sizeof(parent));
    end_image();
    CHECK(image.counts.displaced == 0 && image.counts.left == 1);
    drop_image();
}

/* ---- limits ---- */

TEST_WITH(machine, without_room_behind_the_image_reads_stay)
{
    begin_image();
    image.table.spare_bytes = 40;
    ADD(0xCC, 0, 0x44, 0x0F, 0x20, 0xC0, 0xC3);
    ADD(0xCC, 0, 0xC3);
    end_image();
    CHECK(image.counts.left == 1 && image.counts.islands == 0);
    drop_image();
}

/* Nothing but reads, of which each could be displaced: that many proofs would take minutes. */
TEST_WITH(machine, hostile_images_do_not_take_for_ever)
{
    static const uint8_t pair[] = {0x44, 0x0F, 0x20, 0xC0, 0x48, 0x89, 0xC1};
    const uint32_t bytes = 1u << 20;
    uint8_t *base = mmap(NULL, bytes + SPARE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0);
    const struct x64_function function = {TEXT, bytes, 0};
    const struct x64_function_table table = {.base = (uintptr_t)base,
                                             .image_bytes = bytes,
                                             .function = &function,
                                             .count = 1,
                                             .spare = (uintptr_t)base + bytes,
                                             .spare_bytes = SPARE};
    struct x64_rewriting counts = {0};

    CHECK(base != MAP_FAILED);
    for (uint32_t at = TEXT; at + 8 <= bytes; at += sizeof(pair))
        memcpy(base + at, pair, sizeof(pair));
    base[0] = 1;
    base[bytes - 1] = 0xC3;
    CHECK(x64_rewrite(&table, TEXT, bytes, &counts));
    CHECK(counts.left > 100000);
    munmap(base, bytes + SPARE);
}

TEST_WITH(machine, running_out_of_memory_leaves_the_image_whole)
{
    static const uint8_t read[] = {0x44, 0x0F, 0x20, 0xC0, 0xC3};
    unsigned fail_at;
    bool done = false;

    for (fail_at = 1; !done; fail_at++) {
        uint64_t live = rig.machine->heap.live_blocks;

        begin_image();
        add_function(read, sizeof(read), 0xCC, 0);
        ADD(0xCC, 0, 0xC3);
        rig.machine->heap.fail_at = rig.machine->heap.requests + fail_at;
        done = x64_rewrite(&image.table, TEXT, XDATA, &image.counts);
        rig.machine->heap.fail_at = 0;
        CHECK(done == (image.counts.islands == 1));
        CHECK(done || memcmp(image.base + TEXT, read, sizeof(read)) == 0);
        CHECK(rig.machine->heap.live_blocks == live);
        drop_image();
    }
    CHECK(fail_at > 2);
}
