/* SPDX-License-Identifier: MIT */
/*
 * Plans: each instruction is decoded once and cached by address; a cached plan is used only while
 * the bytes there are unchanged.
 */
#include "x64/traps/plan.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "sim/fault.h"
#include "util/debugger.h"
#include "x64/traps/block.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/locked.h"
#include "x64/traps/memory.h"
#include "x64/traps/preempt.h"
#include "x64/traps/state.h"
#include "x64/traps/stub.h"

#define BREAKPOINT_OPCODE 0xCC

static uint8_t register_index(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

    if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
        return X64_NONE;
    return (uint8_t)(whole - ZYDIS_REGISTER_RAX);
}

/* ---- operands ---- */

struct decoded {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static bool is_memory(const ZydisDecodedOperand *operand)
{
    return operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
}

static bool is_explicit(const ZydisDecodedOperand *operand)
{
    return operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
}

/* Registers that x64_run need not load: general registers, flags, the instruction pointer. */
static bool is_plain_register(ZydisRegister reg)
{
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
    case ZYDIS_REGCLASS_FLAGS:
    case ZYDIS_REGCLASS_IP:
    case ZYDIS_REGCLASS_SEGMENT:
        return true;
    default:
        return false;
    }
}

static bool needs_vectors(const struct decoded *d)
{
    for (unsigned i = 0; i < d->instruction.operand_count; i++) {
        if (d->operand[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            !is_plain_register(d->operand[i].reg.value))
            return true;
    }
    return d->instruction.meta.isa_ext == ZYDIS_ISA_EXT_X87;
}

/* The operand in the instruction, or the implied one of a string instruction. */
static const ZydisDecodedOperand *memory_operand(const struct decoded *d, unsigned *count)
{
    const ZydisDecodedOperand *found = NULL;

    *count = 0;
    for (unsigned i = 0; i < d->instruction.operand_count; i++) {
        if (!is_memory(&d->operand[i]))
            continue;
        (*count)++;
        if (!found || (is_explicit(&d->operand[i]) && !is_explicit(found)))
            found = &d->operand[i];
    }
    return found;
}

static void take_memory(struct x64_plan *plan, const struct decoded *d,
                        const ZydisDecodedOperand *operand)
{
    plan->has_memory = true;
    plan->operand_bytes = operand->size / 8;
    plan->base = register_index(operand->mem.base);
    plan->index = register_index(operand->mem.index);
    plan->scale = operand->mem.scale;
    plan->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    plan->rip_relative = operand->mem.base == ZYDIS_REGISTER_RIP ||
                         operand->mem.base == ZYDIS_REGISTER_EIP;
    plan->gs = operand->mem.segment == ZYDIS_REGISTER_GS;
    plan->short_address = d->instruction.address_width == 32;
    plan->reads = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    plan->writes = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
    plan->locked = d->instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK ||
                   d->instruction.mnemonic == ZYDIS_MNEMONIC_XCHG;
}

/* ---- what to do ---- */

static bool is_bit_string(const struct decoded *d)
{
    switch (d->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTS:
        return d->operand[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
    default:
        return false;
    }
}

static bool is_hint(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_CLDEMOTE:
        return true;
    default:
        return false;
    }
}

/* Whether it can run on a copy of its whole operand. It cannot if it selects elements of it, or
 * accesses other memory. */
static bool can_copy(const struct decoded *d, const ZydisDecodedOperand *operand, unsigned count)
{
    const ZydisDecodedInstruction *i = &d->instruction;
    bool addressed = (i->attributes & ZYDIS_ATTRIB_HAS_MODRM) ? i->raw.modrm.mod != 3
                                                              : i->raw.disp.size == 64;
    bool masked = i->avx.mask.mode != ZYDIS_MASK_MODE_INVALID &&
                  i->avx.mask.mode != ZYDIS_MASK_MODE_DISABLED;

    if (count != 1 || !addressed || masked || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        operand->size == 0 || operand->size > 8 * X64_WIDEST || operand->size % 8 != 0)
        return false;
    if (i->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
        i->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX &&
        i->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return false;
    switch (i->mnemonic) {
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
        return false;
    default:
        break;
    }
    switch (i->meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
        return i->mnemonic == ZYDIS_MNEMONIC_LDMXCSR || i->mnemonic == ZYDIS_MNEMONIC_STMXCSR;
    default:
        return true;
    }
}

static void plan_string(struct x64_plan *plan, const struct decoded *d, uint8_t kind)
{
    plan->kind = kind;
    plan->repeat = d->instruction.attributes &
                   (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
    plan->while_equal = d->instruction.attributes & ZYDIS_ATTRIB_HAS_REPE;
    plan->while_unequal = d->instruction.attributes & ZYDIS_ATTRIB_HAS_REPNE;
    for (unsigned i = 0; i < d->instruction.operand_count; i++) {
        const ZydisDecodedOperand *operand = &d->operand[i];

        if (!is_memory(operand))
            continue;
        plan->operand_bytes = operand->size / 8;
        /* only the source can have a segment override */
        if (operand->mem.base == ZYDIS_REGISTER_RSI || operand->mem.base == ZYDIS_REGISTER_ESI)
            plan->gs = operand->mem.segment == ZYDIS_REGISTER_GS;
    }
    plan->short_address = d->instruction.address_width == 32;
}

/* MOV to and from control and debug registers. */
static bool plan_control_register(struct x64_plan *plan, const ZydisDecodedOperand *o)
{
    for (unsigned i = 0; i < 2; i++) {
        ZydisRegisterClass class = o[i].type == ZYDIS_OPERAND_TYPE_REGISTER
                                       ? ZydisRegisterGetClass(o[i].reg.value)
                                       : ZYDIS_REGCLASS_INVALID;

        if (class != ZYDIS_REGCLASS_CONTROL && class != ZYDIS_REGCLASS_DEBUG)
            continue;
        plan->what = (uint8_t)(ZydisRegisterGetId(o[i].reg.value) +
                               (class == ZYDIS_REGCLASS_DEBUG ? 16 : 0));
        plan->writes = i == 0;
        plan->reg = register_index(o[1 - i].reg.value);
        plan->kind = X64_PRIVILEGED;
        return true;
    }
    return false;
}

/* Plans IN, OUT, MOV to and from control registers, and the others that x64_privileged handles. */
static bool plan_privileged(struct x64_plan *plan, const struct decoded *d)
{
    const ZydisDecodedOperand *o = d->operand;

    plan->reg = X64_NONE;
    switch (d->instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return plan_control_register(plan, o);
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_OUT: {
        bool in = d->instruction.mnemonic == ZYDIS_MNEMONIC_IN;

        plan->operand_bytes = o[!in].size / 8;
        if (o[in].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
            plan->what = (uint8_t)o[in].imm.value.u;
        else
            plan->reg = X64_RDX;
        break;
    }
    case ZYDIS_MNEMONIC_INT:
        plan->what = (uint8_t)o[0].imm.value.u;
        break;
    case ZYDIS_MNEMONIC_INT3:
        plan->what = 3;
        break;
    case ZYDIS_MNEMONIC_CLI:
    case ZYDIS_MNEMONIC_STI:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_RDMSR:
    case ZYDIS_MNEMONIC_WRMSR:
    case ZYDIS_MNEMONIC_RDPMC:
    case ZYDIS_MNEMONIC_XSETBV:
    case ZYDIS_MNEMONIC_SWAPGS:
    case ZYDIS_MNEMONIC_INVLPG:
    case ZYDIS_MNEMONIC_INVPCID:
    case ZYDIS_MNEMONIC_WBINVD:
    case ZYDIS_MNEMONIC_INVD:
    case ZYDIS_MNEMONIC_CLTS:
    case ZYDIS_MNEMONIC_LGDT:
    case ZYDIS_MNEMONIC_LIDT:
    case ZYDIS_MNEMONIC_LLDT:
    case ZYDIS_MNEMONIC_LTR:
    case ZYDIS_MNEMONIC_LMSW:
    case ZYDIS_MNEMONIC_CLAC:
    case ZYDIS_MNEMONIC_STAC:
        break;
    default:
        return false;
    }
    plan->kind = X64_PRIVILEGED;
    return true;
}

static bool is_branch(const struct decoded *d)
{
    switch (d->instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
        return true;
    default:
        return false;
    }
}

static void choose(struct x64_plan *plan, const struct decoded *d)
{
    const ZydisDecodedOperand *memory;
    unsigned count;

    plan->kind = X64_FOREIGN;
    plan->base = plan->index = plan->reg = X64_NONE;
    plan->mnemonic = (uint16_t)d->instruction.mnemonic;
    if (d->instruction.meta.category == ZYDIS_CATEGORY_STRINGOP) {
        plan_string(plan, d, X64_STRING);
        return;
    }
    if (d->instruction.meta.category == ZYDIS_CATEGORY_IOSTRINGOP) {
        plan_string(plan, d, X64_PORT_STRING);
        return;
    }
    memory = memory_operand(d, &count);
    if (memory)
        take_memory(plan, d, memory);
    if (plan_privileged(plan, d))
        return;
    plan->branch = is_branch(d);
    if (plan->branch && d->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        plan->reg = register_index(d->operand[0].reg.value);
    if (!memory || memory->mem.segment == ZYDIS_REGISTER_FS)
        return;
    if (is_hint(d->instruction.mnemonic)) {
        plan->kind = X64_HINT;
    } else if (d->instruction.mnemonic == ZYDIS_MNEMONIC_PUSH && is_explicit(memory)) {
        plan->kind = X64_PUSH;
    } else if (d->instruction.mnemonic == ZYDIS_MNEMONIC_POP && is_explicit(memory)) {
        plan->kind = X64_POP;
    } else if (can_copy(d, memory, count)) {
        plan->kind = X64_MEMORY;
        plan->vector = needs_vectors(d);
        plan->bit_string = is_bit_string(d);
        if (plan->bit_string)
            plan->reg = register_index(d->operand[1].reg.value);
    }
}

/* ---- the table ---- */

/* What the byte at `pc`, with which an instruction begins, was before breakpoints. */
static void read_through(uintptr_t pc, uint8_t *first)
{
    if (!x64_locked_at(pc, first) && !x64_preempt_at(pc, first) && *first == BREAKPOINT_OPCODE)
        dxgk_debug_code(pc, first);
}

/* Read up to the longest instruction; less at the end of mapped memory. */
static uint32_t read_code(uintptr_t pc, uint8_t *bytes)
{
    uint32_t in_page = X64_PAGE - (uint32_t)(pc % X64_PAGE), count = 0;

    if (sim_copy_checked(bytes, (const void *)pc, X64_LONGEST))
        count = X64_LONGEST;
    else if (in_page < X64_LONGEST && sim_copy_checked(bytes, (const void *)pc, in_page))
        count = in_page;
    if (count)
        read_through(pc, bytes);
    return count;
}

static bool decode(struct x64_plan *plan, struct decoded *d, uintptr_t pc, const uint8_t *bytes,
                   uint32_t available)
{
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, bytes, available, &d->instruction, d->operand)))
        return false;
    memset(plan, 0, sizeof(*plan));
    plan->pc = pc;
    plan->length = d->instruction.length;
    memcpy(plan->bytes, bytes, plan->length);
    choose(plan, d);
    return true;
}

bool x64_plan_look(struct x64_plan *plan, uintptr_t pc)
{
    uint8_t bytes[X64_LONGEST];
    uint32_t available = read_code(pc, bytes);
    struct decoded d;

    return available > 0 && decode(plan, &d, pc, bytes, available);
}

static bool fill(struct x64_machine *x64, struct x64_plan *plan, uintptr_t pc, const uint8_t *bytes,
                 uint32_t available)
{
    struct decoded d;
    bool full = false;

    if (!decode(plan, &d, pc, bytes, available))
        return false;
    if (plan->kind != X64_MEMORY)
        return true;
    plan->stub = x64_stub_make(&x64->stubs, plan, &d.instruction, &full);
    if (full) {
        struct x64_plan kept = *plan;

        memset(x64->plan, 0, X64_PLANS * sizeof(*x64->plan));
        x64_stubs_clear(&x64->stubs);
        *plan = kept;
        plan->stub = x64_stub_make(&x64->stubs, plan, &d.instruction, &full);
    }
    if (!plan->stub)
        plan->kind = X64_FOREIGN;
    return true;
}

/* The first page of an instruction that trapped is mapped, so bytes on that page can be compared in
 * place. */
static bool is_current(const struct x64_plan *plan, uintptr_t pc)
{
    const uint8_t *code = (const uint8_t *)pc;
    uint8_t first;

    if (plan->pc != pc || plan->length == 0 || pc % X64_PAGE + plan->length > X64_PAGE)
        return false;
    first = *code;
    read_through(pc, &first);
    return plan->bytes[0] == first && memcmp(plan->bytes + 1, code + 1, plan->length - 1u) == 0;
}

const struct x64_plan *x64_plan_at(uintptr_t pc)
{
    struct x64_machine *x64 = x64_state();
    struct x64_plan *plan = &x64->plan[(pc ^ pc >> 10) % X64_PLANS];
    uint8_t bytes[X64_LONGEST];
    uint32_t available;

    if (is_current(plan, pc))
        return plan;
    plan->length = 0;
    available = read_code(pc, bytes);
    return available > 0 && fill(x64, plan, pc, bytes, available) ? plan : NULL;
}

uintptr_t x64_effective_address(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    uint64_t address = (uint64_t)plan->displacement;

    if (plan->rip_relative)
        address += frame->rip + plan->length;
    if (plan->base != X64_NONE)
        address += frame->gpr[plan->base];
    if (plan->index != X64_NONE)
        address += frame->gpr[plan->index] * plan->scale;
    if (plan->short_address)
        address = (uint32_t)address;
    return plan->gs ? address + x64_gs_base() : address;
}

uintptr_t x64_operand_address(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    uintptr_t address = x64_effective_address(plan, frame);
    uint32_t bytes = plan->operand_bytes;
    int64_t bit;

    if (!plan->bit_string)
        return address;
    bit = (int64_t)(x64_get(frame, plan->reg, bytes) << (64 - 8 * bytes)) >> (64 - 8 * bytes);
    return address + (uintptr_t)((bit >> (bytes == 8 ? 6 : bytes == 4 ? 5 : 4)) * (int64_t)bytes);
}

const char *x64_mnemonic(const struct x64_plan *plan)
{
    const char *name = ZydisMnemonicGetString((ZydisMnemonic)plan->mnemonic);

    return name ? name : "an instruction";
}
