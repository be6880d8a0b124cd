/* SPDX-License-Identifier: MIT */
/* Numbers and expressions of DWARF. */
#include "x64/unwind/dwarf.h"

#include <string.h>

#define EXPRESSION_STACK 16u

/* ---- numbers ---- */

uint64_t dwarf_fixed(struct dwarf *d, size_t bytes)
{
    uint64_t value = 0;

    if ((size_t)(d->end - d->at) < bytes) {
        d->ok = false;
        return 0;
    }
    memcpy(&value, d->at, bytes);
    d->at += bytes;
    d->address += bytes;
    return value;
}

uint64_t dwarf_unsigned(struct dwarf *d)
{
    uint64_t value = 0;

    for (unsigned shift = 0; d->ok; shift += 7) {
        uint8_t byte = (uint8_t)dwarf_fixed(d, 1);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

int64_t dwarf_signed(struct dwarf *d)
{
    uint64_t value = 0;

    for (unsigned shift = 0; d->ok;) {
        uint8_t byte = (uint8_t)dwarf_fixed(d, 1);

        if (shift < 64)
            value |= (uint64_t)(byte & 0x7F) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if ((byte & 0x40) && shift < 64)
            value |= ~(uint64_t)0 << shift;
        break;
    }
    return (int64_t)value;
}

struct dwarf dwarf_block(struct dwarf *d, uint64_t bytes)
{
    struct dwarf block = *d;

    if (bytes > (uint64_t)(d->end - d->at)) {
        d->ok = block.ok = false;
        bytes = (uint64_t)(d->end - d->at);
    }
    block.end = d->at + bytes;
    d->at += bytes;
    d->address += (uintptr_t)bytes;
    return block;
}

/* DW_EH_PE_*: the low four bits give the size, the high four what it is relative to. */
uint64_t dwarf_pointer(struct dwarf *d, uint8_t encoding, uintptr_t data)
{
    uintptr_t here = d->address;
    uint64_t value;

    switch (encoding & 0x0F) {
    case 0x00: /* absolute */
    case 0x04:
    case 0x0C:
        value = dwarf_fixed(d, 8);
        break;
    case 0x01:
        value = dwarf_unsigned(d);
        break;
    case 0x02:
        value = dwarf_fixed(d, 2);
        break;
    case 0x03:
        value = dwarf_fixed(d, 4);
        break;
    case 0x09:
        value = (uint64_t)dwarf_signed(d);
        break;
    case 0x0A:
        value = (uint64_t)(int64_t)(int16_t)dwarf_fixed(d, 2);
        break;
    case 0x0B:
        value = (uint64_t)(int64_t)(int32_t)dwarf_fixed(d, 4);
        break;
    default:
        d->ok = false;
        return 0;
    }
    switch (encoding & 0x70) {
    case 0x00:
        return value;
    case 0x10:
        return value + here;
    case 0x30:
        return value + data;
    default:
        d->ok = false;
        return 0;
    }
}

ULONG64 *dwarf_register(CONTEXT *context, unsigned number)
{
    static const uint8_t encoding[] = {0, 2, 1, 3, 6, 7, 5, 4};

    if (number == DWARF_RETURN)
        return &context->Rip;
    return x64_register(context, number < 8 ? encoding[number] : number & 15u);
}

/* ---- expressions ---- */

struct machine {
    uint64_t stack[EXPRESSION_STACK];
    unsigned depth;
    bool ok;
};

static void push(struct machine *m, uint64_t value)
{
    if (m->depth < EXPRESSION_STACK)
        m->stack[m->depth++] = value;
    else
        m->ok = false;
}

static uint64_t pop(struct machine *m)
{
    if (m->depth > 0)
        return m->stack[--m->depth];
    m->ok = false;
    return 0;
}

/* Operations with two operands. False: another operation. */
static bool binary(struct machine *m, uint8_t operation)
{
    uint64_t b, a;

    if (operation != 0x1A && operation != 0x1C && operation != 0x1E && operation != 0x21 &&
        operation != 0x22 && operation != 0x24 && operation != 0x25 && operation != 0x27 &&
        (operation < 0x29 || operation > 0x2E))
        return false;
    b = pop(m);
    a = pop(m);
    switch (operation) {
    case 0x1A:
        push(m, a & b);
        break;
    case 0x1C:
        push(m, a - b);
        break;
    case 0x1E:
        push(m, a * b);
        break;
    case 0x21:
        push(m, a | b);
        break;
    case 0x22:
        push(m, a + b);
        break;
    case 0x24:
        push(m, b < 64 ? a << b : 0);
        break;
    case 0x25:
        push(m, b < 64 ? a >> b : 0);
        break;
    case 0x27:
        push(m, a ^ b);
        break;
    case 0x29:
        push(m, a == b);
        break;
    case 0x2A:
        push(m, (int64_t)a >= (int64_t)b);
        break;
    case 0x2B:
        push(m, (int64_t)a > (int64_t)b);
        break;
    case 0x2C:
        push(m, (int64_t)a <= (int64_t)b);
        break;
    case 0x2D:
        push(m, (int64_t)a < (int64_t)b);
        break;
    default: /* 0x2E */
        push(m, a != b);
        break;
    }
    return true;
}

/* Operations that push a number. False: another operation. */
static bool constant(struct machine *m, struct dwarf *d, uint8_t operation, CONTEXT *context)
{
    if (operation >= 0x30 && operation <= 0x4F) { /* lit0 to lit31 */
        push(m, operation - 0x30u);
    } else if (operation >= 0x70 && operation <= 0x70 + DWARF_RETURN) { /* breg */
        push(m, *dwarf_register(context, operation - 0x70u) + (uint64_t)dwarf_signed(d));
    } else if (operation >= 0x08 && operation <= 0x0F) { /* const1u, const1s, const2u, ... */
        unsigned bytes = 1u << ((operation - 8u) / 2);
        uint64_t value = dwarf_fixed(d, bytes);

        if ((operation & 1) && bytes < 8 && value >> (8 * bytes - 1))
            value |= ~(uint64_t)0 << (8 * bytes);
        push(m, value);
    } else if (operation == 0x10) {
        push(m, dwarf_unsigned(d));
    } else if (operation == 0x11) {
        push(m, (uint64_t)dwarf_signed(d));
    } else {
        return false;
    }
    return true;
}

static void other(struct machine *m, struct dwarf *d, uint8_t operation,
                  const struct x64_stack *stack)
{
    uint64_t value = pop(m);

    switch (operation) {
    case 0x06: { /* deref */
        uint64_t read = 0;

        m->ok = m->ok && x64_stack_read(stack, value, &read, sizeof(read));
        push(m, read);
        break;
    }
    case 0x12: /* dup */
        push(m, value);
        push(m, value);
        break;
    case 0x13: /* drop */
        break;
    case 0x1F: /* neg */
        push(m, 0 - value);
        break;
    case 0x20: /* not */
        push(m, ~value);
        break;
    case 0x23: /* plus_uconst */
        push(m, value + dwarf_unsigned(d));
        break;
    default:
        m->ok = false;
    }
}

bool dwarf_evaluate(struct dwarf expression, const struct x64_stack *stack, CONTEXT *context,
                    const uint64_t *initial, uint64_t *result)
{
    struct machine m = {.ok = true};

    if (initial)
        push(&m, *initial);
    while (m.ok && expression.ok && expression.at < expression.end) {
        uint8_t operation = (uint8_t)dwarf_fixed(&expression, 1);

        if (!constant(&m, &expression, operation, context) && !binary(&m, operation))
            other(&m, &expression, operation, stack);
    }
    if (!m.ok || !expression.ok || m.depth == 0)
        return false;
    *result = pop(&m);
    return true;
}
