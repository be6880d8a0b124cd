/* SPDX-License-Identifier: MIT */
/* What the emulation makes of the bytes of an instruction: its plan, the address of its operand, and the code that runs it on a
 * copy. */
#include "x64/support/rig.h"

#include "x64/traps/block.h"
#include "x64/traps/plan.h"
#include "x64/traps/state.h"
#include "x64/traps/stub.h"

#include <stdio.h>
#include <sys/mman.h>

#define CODE_BYTES 8192u /* and an inaccessible page after it */
#define RIP        0x700000000000ull

static uint8_t *code_pages(void)
{
    static uint8_t *code;

    if (!code) {
        code = mmap(NULL, CODE_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                    -1, 0);
        CHECK(code != MAP_FAILED);
        CHECK(mprotect(code + CODE_BYTES, 4096, PROT_NONE) == 0);
    }
    return code;
}

/* "66 89 /04" without the slash: digits and blanks. */
static unsigned parse(const char *text, uint8_t *bytes)
{
    unsigned count = 0, value;
    int used;

    while (sscanf(text, " %2x%n", &value, &used) == 1) {
        bytes[count++] = (uint8_t)value;
        text += used;
    }
    return count;
}

/* Each register has a value of its own, above 4 GiB. */
static uint64_t address_of(const struct x64_plan *plan)
{
    static _Alignas(64) struct x64_interrupted frame;
    uint64_t address;

    for (unsigned i = 0; i < 16; i++)
        frame.gpr[i] = (i + 1ull) << 32 | 0x1000ull << i;
    frame.rip = RIP;
    address = x64_effective_address(plan, &frame);
    return plan->gs ? address - x64_gs_base() : address;
}

static void describe(const struct x64_plan *plan, char *text, size_t bytes)
{
    static const char *const kind[] = {"foreign", "memory", "hint",        "push",
                                       "pop",     "string", "port string", "privileged"};
    const struct {
        bool is;
        const char *word;
    } flag[] = {
        {plan->rip_relative, "rip"},
        {plan->gs, "gs"},
        {plan->short_address, "a32"},
        {plan->branch, "branch"},
        {plan->reads, "reads"},
        {plan->writes, "writes"},
        {plan->vector, "vector"},
        {plan->bit_string, "bits"},
        {plan->repeat, "rep"},
        {plan->while_equal, "equal"},
        {plan->while_unequal, "unequal"},
    };
    int used = snprintf(text, bytes, "%s %s %u", kind[plan->kind], x64_mnemonic(plan), plan->length);

    if (plan->operand_bytes)
        used += snprintf(text + used, bytes - (size_t)used, " *%u", plan->operand_bytes);
    if (plan->has_memory)
        used += snprintf(text + used, bytes - (size_t)used, " @%llx",
                         (unsigned long long)address_of(plan));
    if (plan->reg != X64_NONE)
        used += snprintf(text + used, bytes - (size_t)used, " r%u", plan->reg);
    if (plan->what)
        used += snprintf(text + used, bytes - (size_t)used, " #%x", plan->what);
    for (size_t i = 0; i < sizeof(flag) / sizeof(flag[0]); i++)
        if (flag[i].is)
            used += snprintf(text + used, bytes - (size_t)used, " %s", flag[i].word);
}

struct sample {
    const char *code, *plan;
    const char *head; /* of the code that runs it on a copy, up to its displacement; NULL: there is none */
};

static void check_stub(const struct x64_plan *plan, const struct sample *sample)
{
    const struct x64_stubs *stubs = &x64_state()->stubs;
    const uint8_t *at = plan->stub;
    uint8_t head[32], code[32];
    char immediate[32] = "";
    unsigned length, tail = 0;
    int32_t displacement;

    CHECK((at != NULL) == (sample->head != NULL));
    if (!at)
        return;
    /* what follows a bar is the immediate */
    if (strchr(sample->head, '|'))
        snprintf(immediate, sizeof(immediate), "%s", strchr(sample->head, '|') + 1);
    length = parse(sample->head, head);
    CHECK(memcmp(at, head, length) == 0);
    tail = parse(immediate, code);
    memcpy(&displacement, at + length, 4);
    CHECK(at + length + 4 + tail + displacement == stubs->data->operand);
    CHECK(memcmp(at + length + 4, code, tail) == 0);
    CHECK(at[length + 4 + tail] == 0xE9);
    memcpy(&displacement, at + length + 5 + tail, 4);
    CHECK(at + length + 9 + tail + displacement == stubs->code + x64_template_leave);
}

static void check_samples(const struct sample *sample, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *code = code_pages() + 64 * (i % 32);
        const struct x64_plan *plan;
        char text[160];

        memset(code, 0x90, 16);
        parse(sample[i].code, code);
        plan = x64_plan_at((uintptr_t)code);
        CHECK(plan && plan->pc == (uintptr_t)code);
        describe(plan, text, sizeof(text));
        if (strcmp(text, sample[i].plan) != 0)
            fail_msg("%s: %s", sample[i].code, text);
        check_stub(plan, &sample[i]);
        CHECK(x64_plan_at((uintptr_t)code) == plan);
    }
}

#define CHECK_SAMPLES(samples) check_samples(samples, sizeof(samples) / sizeof((samples)[0]))

TEST_WITH(machine, moves_run_on_a_copy_of_their_operand)
{
    static const struct sample samples[] = {
        {"8B 03", "memory mov 2 *4 @400008000 reads", "8B 05"},
        {"88 23", "memory mov 2 *1 @400008000 writes", "88 25"},
        {"48 8B 44 CB 10", "memory mov 5 *8 @1400018010 reads", "48 8B 05"},
        {"4F 8B 44 CB F0", "memory mov 5 *8 @5c017ffff0 reads", "4C 8B 05"},
        {"66 41 89 0F", "memory mov 4 *2 @1008000000 writes", "66 40 89 0D"},
        {"8B 04 8D 44 33 22 11", "memory mov 7 *4 @81122b344 reads", "8B 05"},
        {"8B 05 78 56 34 12", "memory mov 6 *4 @70001234567e rip reads", "8B 05"},
        {"67 8B 05 78 56 34 12", "memory mov 7 *4 @1234567f rip a32 reads", "8B 05"},
        {"C7 83 00 01 00 00 78 56 34 12", "memory mov 10 *4 @400008100 writes", "C7 05|78 56 34 12"},
        {"66 C7 03 34 12", "memory mov 5 *2 @400008000 writes", "66 C7 05|34 12"},
        {"80 0B 7F", "memory or 3 *1 @400008000 reads writes", "80 0D|7F"},
        {"0F BA 2B 05", "memory bts 4 *4 @400008000 reads writes", "0F BA 2D|05"},
        {"F0 0F B1 0B", "memory cmpxchg 4 *4 @400008000 reads writes", "F0 0F B1 0D"},
        {"0F C7 0B", "memory cmpxchg8b 3 *8 @400008000 reads writes", "0F C7 0D"},
        {"48 0F B6 03", "memory movzx 4 *1 @400008000 reads", "48 0F B6 05"},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, prefixes_that_say_where_are_left_out_of_the_copy)
{
    static const struct sample samples[] = {
        {"26 8B 03", "memory mov 3 *4 @400008000 reads", "8B 05"},
        {"2E 8B 03", "memory mov 3 *4 @400008000 reads", "8B 05"},
        {"36 8B 03", "memory mov 3 *4 @400008000 reads", "8B 05"},
        {"3E 8B 03", "memory mov 3 *4 @400008000 reads", "8B 05"},
        {"65 8B 03", "memory mov 3 *4 @400008000 gs reads", "8B 05"},
        {"64 65 8B 03", "memory mov 4 *4 @400008000 gs reads", "8B 05"},
        {"65 64 8B 03", "foreign mov 4 *4 @400008000 reads", NULL},
        {"64 8B 03", "foreign mov 3 *4 @400008000 reads", NULL},
        {"67 8B 03", "memory mov 3 *4 @8000 a32 reads", "8B 05"},
        {"65 67 48 8B 43 08", "memory mov 6 *8 @8008 gs a32 reads", "48 8B 05"},
        {"48 66 8B 03", "memory mov 4 *2 @400008000 reads", "66 8B 05"},
        {"66 48 8B 03", "memory mov 4 *8 @400008000 reads", "66 48 8B 05"},
        {"F3 0F 6F 03", "memory movdqu 4 *16 @400008000 reads vector", "F3 0F 6F 05"},
        {"F2 0F 10 03", "memory movsd 4 *8 @400008000 reads vector", "F2 0F 10 05"},
        {"F2 3E 44 0F 10 03", "memory movsd 6 *8 @400008000 reads vector", "F2 44 0F 10 05"},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, moves_of_the_accumulator_become_plain_moves)
{
    static const struct sample samples[] = {
        {"A0 08 07 06 05 04 03 02 01", "memory mov 9 *1 @102030405060708 reads", "8A 05"},
        {"A1 08 07 06 05 04 03 02 01", "memory mov 9 *4 @102030405060708 reads", "8B 05"},
        {"A2 08 07 06 05 04 03 02 01", "memory mov 9 *1 @102030405060708 writes", "88 05"},
        {"A3 08 07 06 05 04 03 02 01", "memory mov 9 *4 @102030405060708 writes", "89 05"},
        {"48 A1 08 07 06 05 04 03 02 01", "memory mov 10 *8 @102030405060708 reads", "48 8B 05"},
        {"66 A3 08 07 06 05 04 03 02 01", "memory mov 10 *2 @102030405060708 writes", "66 89 05"},
        {"67 A1 04 03 02 01", "foreign mov 6 *4 @1020304 a32 reads", NULL},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, bit_offsets_in_registers_choose_a_word)
{
    static const struct sample samples[] = {
        {"0F A3 13", "memory bt 3 *4 @400008000 r2 reads bits", "0F A3 15"},
        {"48 0F AB 0B", "memory bts 4 *8 @400008000 r1 reads writes bits", "48 0F AB 0D"},
        {"66 0F B3 0B", "memory btr 4 *2 @400008000 r1 reads writes bits", "66 0F B3 0D"},
        {"44 0F BB 3B", "memory btc 4 *4 @400008000 r15 reads writes bits", "44 0F BB 3D"},
        {"0F BA 23 07", "memory bt 4 *4 @400008000 reads", "0F BA 25|07"},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, vectors_run_on_a_copy_unless_they_choose_elements)
{
    static const struct sample samples[] = {
        {"C5 FE 6F 03", "memory vmovdqu 4 *32 @400008000 reads vector", "C5 FE 6F 05"},
        {"C4 C1 7A 6F 07", "memory vmovdqu 5 *16 @1008000000 reads vector", "C4 E1 7A 6F 05"},
        {"C4 81 71 FE 04 08", "memory vpaddd 6 *16 @1300300000 reads vector", "C4 E1 71 FE 05"},
        {"62 F1 7E 48 6F 03", "memory vmovdqu32 6 *64 @400008000 reads vector", "62 F1 7E 48 6F 05"},
        {"62 91 7E 48 6F 04 08", "memory vmovdqu32 7 *64 @1300300000 reads vector",
         "62 F1 7E 48 6F 05"},
        {"62 F1 7E 49 6F 03", "foreign vmovdqu32 6 *64 @400008000 reads", NULL},
        {"C4 E2 71 2C 03", "foreign vmaskmovps 5 *16 @400008000 reads", NULL},
        {"C4 E2 71 2D 03", "foreign vmaskmovpd 5 *16 @400008000 reads", NULL},
        {"C4 E2 71 8C 03", "foreign vpmaskmovd 5 *16 @400008000 reads", NULL},
        {"C4 E2 F1 8C 03", "foreign vpmaskmovq 5 *16 @400008000 reads", NULL},
        {"C4 E2 71 90 04 13", "foreign vpgatherdd 6 *4 @400008000 reads", NULL},
        {"0F AE 13", "memory ldmxcsr 3 *4 @400008000 reads vector", "0F AE 15"},
        {"0F AE 1B", "memory stmxcsr 3 *4 @400008000 writes vector", "0F AE 1D"},
        {"0F AE 03", "foreign fxsave 3 *512 @400008000 writes", NULL},
        {"48 0F AE 23", "foreign xsave64 4 *576 @400008000 reads writes", NULL},
        {"0F AE 33", "foreign xsaveopt 3 *576 @400008000 reads writes", NULL},
        {"D9 03", "memory fld 2 *4 @400008000 reads vector", "D9 05"},
        {"DB 3B", "memory fstp 2 *10 @400008000 writes vector", "DB 3D"},
        {"DD 33", "foreign fnsave 2 *108 @400008000 writes", NULL},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, what_is_no_access_of_its_own_has_no_copy)
{
    static const struct sample samples[] = {
        {"FF 33", "push push 2 *8 @400008000 reads", NULL},
        {"66 FF 33", "push push 3 *2 @400008000 reads", NULL},
        {"8F 03", "pop pop 2 *8 @400008000 writes", NULL},
        {"50", "foreign push 1 *8 @500010000 writes", NULL},
        {"58", "foreign pop 1 *8 @500010000 reads", NULL},
        {"FF 13", "foreign call 2 *8 @400008000 branch reads", NULL},
        {"FF 23", "foreign jmp 2 *8 @400008000 branch reads", NULL},
        {"41 FF D3", "foreign call 3 *8 @500010000 r11 branch writes", NULL},
        {"FF E0", "foreign jmp 2 r0 branch", NULL},
        {"C3", "foreign ret 1 *8 @500010000 branch reads", NULL},
        {"C2 08 00", "foreign ret 3 *8 @500010000 branch reads", NULL},
        {"E9 00 01 00 00", "foreign jmp 5 branch", NULL},
        {"75 10", "foreign jnz 2", NULL},
        {"48 8D 03", "foreign lea 3", NULL},
        {"0F AE 3B", "hint clflush 3 *64 @400008000 reads", NULL},
        {"66 0F AE 3B", "hint clflushopt 4 *64 @400008000 reads", NULL},
        {"66 0F AE 33", "hint clwb 4 *64 @400008000 reads", NULL},
        {"0F 1C 03", "hint cldemote 3 *1 @400008000 reads", NULL},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, strings_know_their_width_and_when_they_stop)
{
    static const struct sample samples[] = {
        {"A4", "string movsb 1 *1", NULL},
        {"F3 A5", "string movsd 2 *4 rep", NULL},
        {"66 A5", "string movsw 2 *2", NULL},
        {"F3 48 A5", "string movsq 3 *8 rep", NULL},
        {"AA", "string stosb 1 *1", NULL},
        {"F2 AE", "string scasb 2 *1 rep unequal", NULL},
        {"F3 AF", "string scasd 2 *4 rep equal", NULL},
        {"F3 A6", "string cmpsb 2 *1 rep equal", NULL},
        {"F2 66 A7", "string cmpsw 3 *2 rep unequal", NULL},
        {"65 AC", "string lodsb 2 *1 gs", NULL},
        {"65 A4", "string movsb 2 *1 gs", NULL},
        {"65 AA", "string stosb 2 *1", NULL},
        {"67 48 AD", "string lodsq 3 *8 a32", NULL},
        {"F3 65 67 A5", "string movsd 4 *4 gs a32 rep", NULL},
        {"6C", "port string insb 1 *1", NULL},
        {"66 6D", "port string insw 2 *2", NULL},
        {"F3 6D", "port string insd 2 *4 rep", NULL},
        {"6E", "port string outsb 1 *1", NULL},
        {"65 6F", "port string outsd 2 *4 gs", NULL},
        {"F3 67 6F", "port string outsd 3 *4 a32 rep", NULL},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, privileged_instructions_know_what_they_change)
{
    static const struct sample samples[] = {
        {"0F 20 C0", "privileged mov 3 r0", NULL},
        {"44 0F 20 C3", "privileged mov 4 r3 #8", NULL},
        {"41 0F 22 E3", "privileged mov 4 r11 #4 writes", NULL},
        {"0F 21 F9", "privileged mov 3 r1 #17", NULL},
        {"0F 23 C8", "privileged mov 3 r0 #11 writes", NULL},
        {"E4 80", "privileged in 2 *1 #80", NULL},
        {"E5 81", "privileged in 2 *4 #81", NULL},
        {"66 E5 82", "privileged in 3 *2 #82", NULL},
        {"EC", "privileged in 1 *1 r2", NULL},
        {"66 ED", "privileged in 2 *2 r2", NULL},
        {"ED", "privileged in 1 *4 r2", NULL},
        {"E6 70", "privileged out 2 *1 #70", NULL},
        {"E7 71", "privileged out 2 *4 #71", NULL},
        {"EE", "privileged out 1 *1 r2", NULL},
        {"66 EF", "privileged out 2 *2 r2", NULL},
        {"CD 29", "privileged int 2 #29", NULL},
        {"CC", "privileged int3 1 #3", NULL},
        {"FA", "privileged cli 1", NULL},
        {"FB", "privileged sti 1", NULL},
        {"F4", "privileged hlt 1", NULL},
        {"0F 32", "privileged rdmsr 2", NULL},
        {"0F 30", "privileged wrmsr 2", NULL},
        {"0F 33", "privileged rdpmc 2", NULL},
        {"0F 01 D1", "privileged xsetbv 3", NULL},
        {"0F 01 F8", "privileged swapgs 3", NULL},
        {"0F 01 3B", "privileged invlpg 3 *1 @400008000 reads", NULL},
        {"66 0F 38 82 03", "privileged invpcid 5 *16 @400008000 reads", NULL},
        {"0F 09", "privileged wbinvd 2", NULL},
        {"0F 08", "privileged invd 2", NULL},
        {"0F 06", "privileged clts 2", NULL},
        {"0F 01 13", "privileged lgdt 3 *10 @400008000 reads", NULL},
        {"0F 01 1B", "privileged lidt 3 *10 @400008000 reads", NULL},
        {"0F 00 D0", "privileged lldt 3", NULL},
        {"0F 00 D8", "privileged ltr 3", NULL},
        {"0F 01 F0", "privileged lmsw 3", NULL},
        {"0F 01 CA", "privileged clac 3", NULL},
        {"0F 01 CB", "privileged stac 3", NULL},
        {"0F 07", "foreign sysret 2", NULL},
        {"0F 01 23", "foreign smsw 3 *2 @400008000 writes", NULL},
    };

    CHECK_SAMPLES(samples);
}

TEST_WITH(machine, plans_follow_code_that_changes)
{
    uint8_t *code = code_pages() + 64;
    const struct x64_plan *plan;

    parse("48 8B 03", code);
    plan = x64_plan_at((uintptr_t)code);
    CHECK(plan->length == 3 && plan->base == X64_RBX);
    code[2] = 0x06; /* the last byte alone */
    plan = x64_plan_at((uintptr_t)code);
    CHECK(plan->length == 3 && plan->base == X64_RSI && plan->bytes[2] == 0x06);
}

TEST_WITH(machine, code_is_read_up_to_the_end_of_memory)
{
    uint8_t *end = code_pages() + CODE_BYTES;
    const struct x64_plan *plan;

    parse("66 48 8B 03", end - 4);
    plan = x64_plan_at((uintptr_t)end - 4);
    CHECK(plan && plan->length == 4);
    CHECK(x64_plan_at((uintptr_t)end - 4) == plan && x64_plan_at((uintptr_t)end - 4)->length == 4);
    CHECK(!x64_plan_at((uintptr_t)end - 1)); /* not the whole of an ADD */
    CHECK(!x64_plan_at((uintptr_t)end));
    parse("06", end - 15); /* no instruction in 64-bit mode */
    CHECK(!x64_plan_at((uintptr_t)end - 15));
    /* across two pages that are both there */
    parse("48 8B 43 08", code_pages() + 4094);
    plan = x64_plan_at((uintptr_t)code_pages() + 4094);
    CHECK(plan && plan->length == 4);
    parse("18", code_pages() + 4097); /* what is in the second page is looked at again, too */
    CHECK(x64_plan_at((uintptr_t)code_pages() + 4094)->displacement == 0x18);
}
