/* SPDX-License-Identifier: MIT */
/*
 * The emulation against the processor: random instructions with random operands, once on ordinary memory and once, with the same
 * bytes, on registers of a device. Registers, vector registers, flags and memory must be equal afterwards.
 */
#include <stdio.h>

#include <Zydis/Zydis.h>

#include "util/rng.h"
#include "x64/support/rig.h"

#define WINDOW 256u /* bytes around the operand that are compared */
#define MIDDLE 128u
#define ROUNDS 60000u

static struct rng chance = {20260101};
static _Alignas(64) uint8_t memory[WINDOW];
static bool vex; /* this processor has AVX2 and its company */
static uint32_t ran, writers, extended, by_class[4];
static char current[64]; /* for who debugs a failure */

/* ---- instructions ---- */

struct candidate {
    uint8_t code[15];
    unsigned length;
    uint8_t base, index; /* registers that address the operand */
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static void add(struct candidate *c, unsigned byte)
{
    c->code[c->length++] = (uint8_t)byte;
}

static uint8_t addressing_register(void)
{
    static const uint8_t choice[] = {3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    return choice[rng_below(&chance, sizeof(choice))];
}

/* Opcode, addressing form, displacement, and bytes for an immediate. */
static void add_tail(struct candidate *c)
{
    add(c, rng_below(&chance, 256));
    add(c, 0x80 | rng_below(&chance, 8) << 3 | 4); /* disp32, SIB */
    add(c, rng_below(&chance, 4) << 6 | (c->index & 7u) << 3 | (c->base & 7u));
    for (unsigned i = 0; i < 4; i++)
        add(c, i ? 0 : MIDDLE);
    for (unsigned i = 0; i < 4 && c->length < 15; i++)
        add(c, rng_next(&chance) & 0xFF);
}

/* Of 128 bits: the test does not keep the upper halves. */
static void add_vex_head(struct candidate *c)
{
    add(c, 0xC4);
    add(c, rng_below(&chance, 2) << 7 | (c->index < 8 ? 0x40u : 0) | (c->base < 8 ? 0x20u : 0) |
               (1 + rng_below(&chance, 3)));
    add(c, rng_next(&chance) & 0xFB);
}

/* Prefixes, an opcode of one, two or three bytes, an address of base, index and displacement, and bytes for an immediate. */
static void compose(struct candidate *c)
{
    static const uint8_t prefix[] = {0x66, 0xF2, 0xF3, 0xF0, 0x3E};
    unsigned map = rng_below(&chance, 8);

    memset(c, 0, sizeof(*c));
    c->base = addressing_register();
    do
        c->index = addressing_register();
    while (c->index == c->base);
    if (vex && rng_below(&chance, 4) == 0) {
        add_vex_head(c);
        add_tail(c);
        return;
    }
    if (rng_below(&chance, 3) == 0)
        add(c, prefix[rng_below(&chance, sizeof(prefix))]);
    add(c, 0x40 | (rng_below(&chance, 2) << 3) | (rng_below(&chance, 2) << 2) |
               (unsigned)(c->index >> 3 << 1 | c->base >> 3));
    if (map >= 4)
        add(c, 0x0F);
    if (map == 7)
        add(c, rng_below(&chance, 2) ? 0x38 : 0x3A);
    add_tail(c);
}

static uint8_t index_of(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
               ? (uint8_t)(whole - ZYDIS_REGISTER_RAX)
               : 16;
}

/* What this test can run: one operand in memory, of a size that registers take; nothing that leaves, stops, or needs more. */
static bool wanted_category(const ZydisDecodedInstruction *i)
{
    switch (i->meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
        return true;
    default:
        return false;
    }
}

static bool wanted_extension(const ZydisDecodedInstruction *i)
{
    switch (i->meta.isa_ext) {
    case ZYDIS_ISA_EXT_BASE:
    case ZYDIS_ISA_EXT_LONGMODE:
    case ZYDIS_ISA_EXT_SSE:
    case ZYDIS_ISA_EXT_SSE2:
    case ZYDIS_ISA_EXT_SSE3:
    case ZYDIS_ISA_EXT_SSSE3:
    case ZYDIS_ISA_EXT_SSE4:
    case ZYDIS_ISA_EXT_AVX:
    case ZYDIS_ISA_EXT_AVX2:
    case ZYDIS_ISA_EXT_BMI1:
    case ZYDIS_ISA_EXT_BMI2:
        return true;
    default:
        return false;
    }
}

/* These choose elements of their operand, which is refused. */
static bool is_masked(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_VMASKMOVPS || mnemonic == ZYDIS_MNEMONIC_VMASKMOVPD ||
           mnemonic == ZYDIS_MNEMONIC_VPMASKMOVD || mnemonic == ZYDIS_MNEMONIC_VPMASKMOVQ;
}

static bool wanted(const struct candidate *c)
{
    const ZydisDecodedInstruction *i = &c->decoded;
    unsigned memories = 0;

    if (!wanted_category(i) || is_masked(i->mnemonic) || !wanted_extension(i) ||
        i->mnemonic == ZYDIS_MNEMONIC_DIV || i->mnemonic == ZYDIS_MNEMONIC_IDIV ||
        !(i->attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return false;
    for (unsigned n = 0; n < i->operand_count; n++) {
        const ZydisDecodedOperand *o = &c->operand[n];
        ZydisRegisterClass class = o->type == ZYDIS_OPERAND_TYPE_REGISTER
                                       ? ZydisRegisterGetClass(o->reg.value)
                                       : ZYDIS_REGCLASS_INVALID;

        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            memories++;
            if (index_of(o->mem.base) != c->base || index_of(o->mem.index) != c->index ||
                o->mem.disp.value != MIDDLE || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
                o->size > 128 || (o->size & (o->size - 1)) != 0 || o->size < 8)
                return false;
        } else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            uint8_t reg = index_of(o->reg.value);

            if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && class == ZYDIS_REGCLASS_FLAGS)
                continue;
            if (reg == 4 || (reg < 16 && (reg == c->base || reg == c->index)))
                return false;
            if (reg == 16 && class != ZYDIS_REGCLASS_XMM)
                return false; /* segments, control registers, MMX */
        }
    }
    return memories == 1;
}

static bool draw(struct candidate *c)
{
    ZydisDecoder decoder;

    compose(c);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, c->code, c->length, &c->decoded, c->operand)))
        return false;
    c->length = c->decoded.length;
    return wanted(c);
}

/* ---- running ---- */

static bool is_bit_string(const struct candidate *c)
{
    switch (c->decoded.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
        return c->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default:
        return false;
    }
}

static void fill(void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)rng_next(&chance);
}

/* The operand stands at the middle of the window, whose first byte has this address. */
static void point(struct rig_registers *r, const struct candidate *c, uintptr_t window)
{
    unsigned scale = 1u << c->decoded.raw.sib.scale;

    r->gpr[c->base] = window - 16 * scale;
    r->gpr[c->index] = 16;
}

static void compare(const struct candidate *c, const struct rig_registers *a,
                    const struct rig_registers *b)
{
    bool equal = a->flags == b->flags && memcmp(a->xmm, b->xmm, sizeof(a->xmm)) == 0 &&
                 memcmp(memory, rig.value, WINDOW) == 0;

    for (unsigned i = 0; i < 16; i++)
        equal &= a->gpr[i] == b->gpr[i] || i == c->base || i == 4;
    if (equal)
        return;
    fail_msg("%s: flags %lx and %lx", current, a->flags, b->flags);
}

static void name(const struct candidate *c)
{
    size_t n = (size_t)snprintf(current, sizeof(current), "%s",
                                ZydisMnemonicGetString(c->decoded.mnemonic));

    for (unsigned i = 0; i < c->length; i++)
        n += (size_t)snprintf(current + n, sizeof(current) - n, " %02x", c->code[i]);
}

static void run_both(const struct candidate *c)
{
    struct rig_registers native, emulated;

    fill(&native, sizeof(native));
    fill(memory, sizeof(memory));
    memcpy(rig.value, memory, sizeof(memory));
    native.flags = (native.flags & 0x8D5) | 0x202;
    if (is_bit_string(c)) { /* stay in the window */
        uint8_t reg = index_of(c->operand[1].reg.value);

        native.gpr[reg] = (uint64_t)((int64_t)rng_below(&chance, 512) - 256);
    }
    emulated = native;
    point(&native, c, (uintptr_t)memory);
    point(&emulated, c, (uintptr_t)rig.registers);
    name(c);
    rig_execute(&native, c->code, c->length);
    rig_execute(&emulated, c->code, c->length);
    compare(c, &native, &emulated);
    ran++;
    extended += c->decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    by_class[c->operand[0].size >= 128  ? 3
             : c->operand[0].size >= 64 ? 2
                                        : c->operand[0].size >= 32]++;
    for (unsigned i = 0; i < c->decoded.operand_count_visible; i++)
        writers += c->operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                   (c->operand[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
}

static void many(void)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct candidate c;

        if (draw(&c))
            run_both(&c);
    }
}

TEST_WITH(machine, emulated_and_native_agree)
{
    vex = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
          __builtin_cpu_supports("bmi2");
    if (!rig_run(many))
        fail_msg("%s: fault %d at %#lx", current, (int)rig.fault.kind, (long)rig.fault.address);
    print_message("%u instructions, %u of them write memory, %u are of AVX or BMI\n", ran, writers,
                  extended);
    CHECK(ran > 5000 && writers > 1000 && rig_reported("NT-139") == 0);
    CHECK(x64_traps() >= ran && (!vex || extended > 200));
    for (unsigned i = 0; i < 4; i++)
        CHECK(by_class[i] > 200);
}

/* ---- strings ---- */

static void move_strings(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        static const uint8_t opcode[] = {0xA4, 0xA5, 0xA6, 0xA7, 0xAA,
                                         0xAB, 0xAC, 0xAD, 0xAE, 0xAF};
        uint8_t code[4] = {(uint8_t)(0xF2 + rng_below(&chance, 2)),
                           (uint8_t)(0x40 | rng_below(&chance, 2) << 3),
                           opcode[rng_below(&chance, sizeof(opcode))]};
        bool compares = code[2] == 0xA6 || code[2] == 0xA7 || code[2] >= 0xAE;
        struct rig_registers native, emulated;
        uint8_t source[WINDOW];

        if (!compares)
            code[0] = 0xF3;
        fill(&native, sizeof(native));
        for (unsigned n = 0; n < WINDOW; n++) /* often equal */
            memory[n] = rng_below(&chance, 16) ? 0 : 1, source[n] = 0;
        native.gpr[0] = 0;
        memcpy(rig.value, memory, WINDOW);
        native.flags = 0x202 | (native.flags & (0x8D5 | 0x400));
        native.gpr[1] = rng_below(&chance, 12);
        native.gpr[6] = (uintptr_t)source + MIDDLE;
        emulated = native;
        native.gpr[7] = (uintptr_t)memory + MIDDLE;
        emulated.gpr[7] = (uintptr_t)rig.registers + MIDDLE;
        if (code[2] == 0xAC || code[2] == 0xAD) { /* reads there instead */
            native.gpr[6] = native.gpr[7];
            emulated.gpr[6] = emulated.gpr[7];
        }
        rig_execute(&native, code, 3);
        rig_execute(&emulated, code, 3);
        CHECK(native.flags == emulated.flags && native.gpr[1] == emulated.gpr[1]);
        CHECK(native.gpr[0] == emulated.gpr[0]);
        CHECK(native.gpr[7] - (uintptr_t)memory == emulated.gpr[7] - (uintptr_t)rig.registers);
        CHECK(memcmp(memory, rig.value, WINDOW) == 0);
    }
}

TEST_WITH(machine, emulated_and_native_strings_agree)
{
    CHECK(rig_run(move_strings));
    CHECK(x64_traps() > 1000);
}
