/* SPDX-License-Identifier: MIT */
/*
 * Running an instruction on a copy of its memory operand.
 *
 * A stub is the driver's instruction with its addressing form replaced by one relative to the
 * instruction pointer, which addresses the copy; opcode, prefixes, register operands and
 * immediates stay, so the processor does the rest. Stubs are in one block of memory, mapped twice:
 * executable where they run, writable where they are made. The data they use follows the block.
 */
#include "x64/traps/stub.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <Zydis/Zydis.h>

#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/memory.h"
#include "x64/traps/plan.h"
#include "x64/traps/state.h"

#define MAPPED_BYTES    (X64_STUB_CODE + X64_PAGE)
#define TRAP_STUB_BYTES 32u /* longest instruction with a displacement, and a jump; rounded */

_Static_assert(offsetof(struct x64_stub_data, flags) == 128, "landing.S knows");
_Static_assert(offsetof(struct x64_stub_data, host_stack) == 136, "landing.S knows");
_Static_assert(offsetof(struct x64_stub_data, target) == 144, "landing.S knows");
_Static_assert(sizeof(struct x64_stub_data) <= X64_PAGE, "one page");

static void *map(void *address, size_t bytes, int protection, int flags, int file)
{
    void *result = MAP_FAILED;

    if (!util_fault_point())
        result = util_map(address, bytes, protection, flags, file, 0);
    return result == MAP_FAILED ? NULL : result;
}

bool x64_stubs_init(struct x64_stubs *stubs)
{
    memset(stubs, 0, sizeof(*stubs));
    stubs->file = util_fault_point() ? -1 : memfd_create("dxgkhost-stubs", MFD_CLOEXEC);
    if (stubs->file < 0 || ftruncate(stubs->file, X64_STUB_CODE) != 0)
        return false;
    stubs->code = map(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (!stubs->code)
        return false;
    if (!map(stubs->code, X64_STUB_CODE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, stubs->file))
        return false;
    stubs->writable = map(NULL, X64_STUB_CODE, PROT_READ | PROT_WRITE, MAP_SHARED, stubs->file);
    if (!stubs->writable)
        return false;
    stubs->data = (struct x64_stub_data *)(stubs->code + X64_STUB_CODE);
    memcpy(stubs->writable, x64_template, x64_template_bytes);
    x64_stubs_clear(stubs);
    return true;
}

void x64_stubs_finish(struct x64_stubs *stubs)
{
    if (stubs->writable)
        util_unmap(stubs->writable, X64_STUB_CODE);
    if (stubs->code)
        util_unmap(stubs->code, MAPPED_BYTES);
    if (stubs->file >= 0)
        close(stubs->file);
}

void x64_stubs_clear(struct x64_stubs *stubs)
{
    stubs->used = (uint32_t)align_up(x64_template_bytes, TRAP_STUB_BYTES);
}

bool x64_stubs_contain(const struct x64_stubs *stubs, uintptr_t pc)
{
    return stubs->code && pc - (uintptr_t)stubs->code < X64_STUB_CODE;
}

/* ---- making ---- */

static bool is_legacy_prefix(uint8_t byte)
{
    static const uint8_t prefix[] = {0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65,
                                     0x66, 0x67, 0xF0, 0xF2, 0xF3};

    return memchr(prefix, byte, sizeof(prefix)) != NULL;
}

static bool says_where(uint8_t prefix) /* segment or address size prefix */
{
    return prefix != 0x66 && prefix != 0xF0 && prefix != 0xF2 && prefix != 0xF3;
}

struct writer {
    uint8_t byte[TRAP_STUB_BYTES];
    uint8_t length;
};

static void put(struct writer *w, uint8_t byte)
{
    w->byte[w->length++] = byte;
}

/* Prefixes and opcode, up to the addressing form. The extension bits of the base and index
 * registers are cleared, since the new form does not use them. */
static void put_head(struct writer *w, const struct x64_plan *plan,
                     const ZydisDecodedInstruction *decoded, unsigned end)
{
    unsigned at = 0;
    uint8_t rex = 0;

    for (; is_legacy_prefix(plan->bytes[at]) ||
           (decoded->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
            (plan->bytes[at] & 0xF0) == 0x40);
         at++) {
        if (is_legacy_prefix(plan->bytes[at])) {
            rex = 0; /* counts only right before the opcode */
            if (!says_where(plan->bytes[at]))
                put(w, plan->bytes[at]);
        } else {
            rex = plan->bytes[at] & 0xFC;
        }
    }
    if (rex)
        put(w, rex);
    for (unsigned i = at; i < end; i++) {
        uint8_t byte = plan->bytes[i];

        if (i == at + 1 && decoded->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
            byte |= 0x60;
        if (i == at + 1 && decoded->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX &&
            plan->bytes[at] == 0xC4)
            byte |= 0x60;
        put(w, byte);
    }
}

/* The forms that move the accumulator to or from an absolute address have no addressing byte; the
 * plain moves do. */
static bool put_opcode_of_offset_form(struct writer *w, uint8_t opcode)
{
    if (opcode < 0xA0 || opcode > 0xA3)
        return false;
    put(w, opcode == 0xA0 ? 0x8A : opcode == 0xA1 ? 0x8B : opcode == 0xA2 ? 0x88 : 0x89);
    return true;
}

static void put_32(struct writer *w, uint32_t value)
{
    memcpy(w->byte + w->length, &value, sizeof(value));
    w->length = (uint8_t)(w->length + sizeof(value));
}

static bool assemble(struct writer *w, const struct x64_stubs *stubs, const struct x64_plan *plan,
                     const ZydisDecodedInstruction *decoded)
{
    unsigned immediate = 0;
    uintptr_t next;

    if (decoded->attributes & ZYDIS_ATTRIB_HAS_MODRM) {
        put_head(w, plan, decoded, decoded->raw.modrm.offset);
        put(w, (uint8_t)(decoded->raw.modrm.reg << 3 | 5));
        if (decoded->raw.imm[0].size > 0)
            immediate = plan->length - decoded->raw.imm[0].offset;
    } else {
        put_head(w, plan, decoded, decoded->raw.disp.offset - 1u);
        if (!put_opcode_of_offset_form(w, plan->bytes[decoded->raw.disp.offset - 1u]))
            return false;
        put(w, 5);
    }
    next = (uintptr_t)stubs->code + stubs->used + w->length + 4 + immediate;
    put_32(w, (uint32_t)((uintptr_t)stubs->data->operand - next));
    for (unsigned i = plan->length - immediate; i < plan->length; i++)
        put(w, plan->bytes[i]);
    put(w, 0xE9); /* to where all registers are stored */
    next = (uintptr_t)stubs->used + w->length + 4;
    put_32(w, (uint32_t)(x64_template_leave - next));
    return true;
}

const uint8_t *x64_stub_make(struct x64_stubs *stubs, const struct x64_plan *plan,
                             const void *decoded, bool *full)
{
    struct writer w = {.length = 0};
    const uint8_t *stub;

    *full = stubs->used + TRAP_STUB_BYTES > X64_STUB_CODE;
    if (*full || !assemble(&w, stubs, plan, decoded))
        return NULL;
    memcpy(stubs->writable + stubs->used, w.byte, w.length);
    stub = stubs->code + stubs->used;
    stubs->used += TRAP_STUB_BYTES;
    return stub;
}

/* ---- running ---- */

/* A bit offset in a register can reach beyond the operand; pass the instruction only the part
 * within the operand. */
static uint64_t bit_in_operand(const struct x64_plan *plan, uint64_t value)
{
    return value & (8u * plan->operand_bytes - 1);
}

void x64_stub_run(struct x64_stubs *stubs, const struct x64_plan *plan,
                  struct x64_interrupted *frame)
{
    struct x64_stub_data *data = stubs->data;
    void (*enter)(void);

    memcpy(data->gpr, frame->gpr, sizeof(data->gpr));
    if (plan->bit_string)
        data->gpr[plan->reg] = bit_in_operand(plan, frame->gpr[plan->reg]);
    data->flags = frame->flags;
    data->target = (uintptr_t)plan->stub;
    memcpy(&enter, &stubs->code, sizeof(enter));
    x64_state()->running = plan->pc;
    x64_run(enter, plan->vector ? frame : NULL);
    x64_state()->running = 0;
    if (plan->bit_string)
        data->gpr[plan->reg] = frame->gpr[plan->reg];
    memcpy(frame->gpr, data->gpr, sizeof(data->gpr));
    frame->flags = data->flags;
}
