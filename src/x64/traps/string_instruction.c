/* SPDX-License-Identifier: MIT */
/*
 * String instructions, element by element. Registers advance with each element, so that after a
 * fault in the middle they are as the processor would leave them, and a count of any size can be
 * interrupted.
 */
#include "x64/traps/string_instruction.h"

#include <Zydis/Zydis.h>

#include "sim/fault.h"
#include "sim/point.h"
#include "verify/verify.h"
#include "x64/traps/block.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/memory.h"
#include "x64/traps/plan.h"
#include "x64/traps/refuse.h"

/* What each of the five instructions does with an element. */
struct steps {
    bool from_source, from_destination; /* reads at RSI, RDI */
    bool to_destination;
    bool compare, load;
};

static bool steps_of(const struct x64_plan *plan, struct steps *steps)
{
    switch ((ZydisMnemonic)plan->mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
        *steps = (struct steps){.from_source = true, .to_destination = true};
        return true;
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
        *steps = (struct steps){.to_destination = true};
        return true;
    case ZYDIS_MNEMONIC_LODSB:
    case ZYDIS_MNEMONIC_LODSW:
    case ZYDIS_MNEMONIC_LODSD:
    case ZYDIS_MNEMONIC_LODSQ:
        *steps = (struct steps){.from_source = true, .load = true};
        return true;
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
        *steps = (struct steps){.from_destination = true, .compare = true};
        return true;
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
        *steps = (struct steps){.from_source = true, .from_destination = true, .compare = true};
        return true;
    default:
        return false;
    }
}

/* The flags that a - b sets. */
static uint64_t compare(uint64_t flags, uint64_t a, uint64_t b, uint32_t bytes)
{
    unsigned top = 8 * bytes - 1;
    uint64_t mask = bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * bytes)) - 1;
    uint64_t result = (a - b) & mask;

    flags &= ~(uint64_t)(X64_CF | X64_PF | X64_AF | X64_ZF | X64_SF | X64_OF);
    flags |= a < b ? X64_CF : 0;
    flags |= __builtin_parity((unsigned)result & 0xFF) ? 0 : X64_PF;
    flags |= (a ^ b ^ result) & 0x10 ? X64_AF : 0;
    flags |= result == 0 ? X64_ZF : 0;
    flags |= result >> top & 1 ? X64_SF : 0;
    flags |= ((a ^ b) & (a ^ result)) >> top & 1 ? X64_OF : 0;
    return flags;
}

static uint64_t pointer(const struct x64_plan *plan, const struct x64_interrupted *frame,
                        unsigned reg)
{
    uint64_t address = x64_get(frame, reg, plan->short_address ? 4 : 8);

    return reg == X64_RSI && plan->gs ? address + x64_gs_base() : address;
}

static void advance(const struct x64_plan *plan, struct x64_interrupted *frame, unsigned reg)
{
    uint64_t step = frame->flags & X64_DF ? 0 - (uint64_t)plan->operand_bytes : plan->operand_bytes;

    x64_set(frame, reg, plan->short_address ? 4 : 8, frame->gpr[reg] + step);
}

static bool element(const struct x64_plan *plan, struct x64_interrupted *frame,
                    const struct steps *steps)
{
    uint32_t bytes = plan->operand_bytes;
    uint64_t value = x64_get(frame, X64_RAX, bytes), other = 0;

    if (steps->from_source &&
        !x64_read(plan, frame, pointer(plan, frame, X64_RSI), bytes, (value = 0, &value)))
        return false;
    if (steps->from_destination &&
        !x64_read(plan, frame, pointer(plan, frame, X64_RDI), bytes, &other))
        return false;
    if (steps->to_destination &&
        !x64_write(plan, frame, pointer(plan, frame, X64_RDI), bytes, &value))
        return false;
    if (steps->compare)
        frame->flags = compare(frame->flags, value, other, bytes);
    if (steps->load)
        x64_set(frame, X64_RAX, bytes, value);
    if (steps->from_source)
        advance(plan, frame, X64_RSI);
    if (steps->to_destination || steps->from_destination)
        advance(plan, frame, X64_RDI);
    return true;
}

/* Whether the processor can execute the next element itself. */
static bool is_plain(const struct x64_plan *plan, const struct x64_interrupted *frame,
                     const struct steps *steps)
{
    bool destination = steps->to_destination || steps->from_destination;

    return !(steps->from_source && x64_traps_at(pointer(plan, frame, X64_RSI))) &&
           !(destination && x64_traps_at(pointer(plan, frame, X64_RDI)));
}

/* A general protection fault tells no address: it is the pointer that leads nowhere. */
static void refuse_plain(const struct x64_plan *plan, const struct x64_interrupted *frame,
                         const struct steps *steps)
{
    uint64_t source = pointer(plan, frame, X64_RSI), destination = pointer(plan, frame, X64_RDI);
    uint8_t byte;

    if (frame->address != 0)
        x64_refuse_foreign(plan, frame);
    else if (steps->from_source && !sim_copy_checked(&byte, (const void *)source, 1))
        x64_refuse(frame, SIM_FAULT_READ, source);
    else
        x64_refuse(frame, steps->to_destination ? SIM_FAULT_WRITE : SIM_FAULT_READ,
                   steps->to_destination || steps->from_destination ? destination : source);
}

/* Decrement the count; false: that was the last element. */
static bool again(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    uint32_t bytes = plan->short_address ? 4 : 8;
    bool equal = frame->flags & X64_ZF;

    x64_set(frame, X64_RCX, bytes, frame->gpr[X64_RCX] - 1);
    return x64_get(frame, X64_RCX, bytes) != 0 && !(plan->while_equal && !equal) &&
           !(plan->while_unequal && equal);
}

bool x64_string(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    struct x64_plan copy = *plan;
    struct steps steps;
    bool more;

    if (!steps_of(plan, &steps)) {
        x64_refuse_foreign(plan, frame);
        return false;
    }
    if (is_plain(plan, frame, &steps)) {
        refuse_plain(plan, frame, &steps);
        return false;
    }
    do {
        if (!element(&copy, frame, &steps))
            return false;
        more = copy.repeat && again(&copy, frame);
        if (more && is_plain(&copy, frame, &steps))
            return true; /* the processor continues by itself */
    } while (more);
    frame->rip += copy.length;
    return true;
}

/* No device of the machine has ports: reads return all ones (NT-139). */
bool x64_port_string(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    struct x64_plan copy = *plan;
    uint32_t bytes = copy.operand_bytes;
    bool in = copy.mnemonic == ZYDIS_MNEMONIC_INSB || copy.mnemonic == ZYDIS_MNEMONIC_INSW ||
              copy.mnemonic == ZYDIS_MNEMONIC_INSD;
    unsigned reg = in ? X64_RDI : X64_RSI;
    char place[128];

    x64_place(plan, frame, place, sizeof(place));
    VIOLATION("NT-139", "%s: port %#x, which no device has", place,
              (unsigned)(frame->gpr[X64_RDX] & 0xFFFF));
    for (bool more = !copy.repeat || x64_get(frame, X64_RCX, copy.short_address ? 4 : 8) != 0; more;
         more = copy.repeat && again(&copy, frame)) {
        uint64_t value = UINT64_MAX;

        sim_point();
        if (in ? !x64_write(&copy, frame, pointer(&copy, frame, reg), bytes, &value)
               : !x64_read(&copy, frame, pointer(&copy, frame, reg), bytes, &value))
            return false;
        advance(&copy, frame, reg);
    }
    frame->rip += copy.length;
    return true;
}
