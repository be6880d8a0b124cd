/* SPDX-License-Identifier: MIT */
/*
 * Unwinding one frame by its call frame information: the dynamic linker knows the object's
 * .eh_frame_hdr (_dl_find_object, made for unwinders), whose table is searched; the two records
 * found are copied and executed up to the program counter, and the resulting rules are applied.
 */
#include "x64/unwind/host_frame.h"

#include <dlfcn.h>
#include <string.h>

#include "sim/fault.h"
#include "x64/unwind/dwarf.h"

#define RECORD_BYTES 2048u /* bytes of the longest record that is supported */
#define REMEMBERED   4u    /* nesting of remember_state */

/* How to restore a register of the caller. */
struct rule {
    enum {
        SAME,
        UNDEFINED,
        AT_OFFSET,
        VALUE_OFFSET,
        IN_REGISTER,
        AT_EXPRESSION,
        VALUE_EXPRESSION
    } kind;
    int64_t value; /* offset from the CFA, or a register number */
    struct dwarf expression;
};

struct rules {
    struct rule reg[DWARF_REGISTERS];
    bool by_expression; /* the CFA is computed by an expression */
    unsigned base;
    int64_t offset;
    struct dwarf expression;
};

/* The records of a function: the common one (CIE) and its own (FDE). */
struct records {
    uint8_t common[RECORD_BYTES], own[RECORD_BYTES];
    struct dwarf initial, body; /* instructions */
    uint64_t code_factor;
    int64_t data_factor;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    uint64_t begin, end; /* of the function */
};

/* ---- finding the records ---- */

/* The extent of an object according to glibc (dlfo_map_start, dlfo_map_end) cannot bound these
 * reads: where a linker left a hole between two segments, it covers only the segment of `pc`. */
static bool read(uintptr_t at, void *to, size_t bytes)
{
    return sim_copy_checked(to, (const void *)at, bytes);
}

/* Address of the FDE of the function that may contain `pc`; 0: none. The table at `header`
 * (.eh_frame_hdr) is sorted by function; only the form that linkers write (pairs of 32-bit offsets
 * from the header) is supported. */
static uintptr_t find_own(uintptr_t header, uintptr_t pc)
{
    uintptr_t table;
    uint8_t head[12];
    uint32_t count, low = 0;
    int32_t pair[2];

    if (!header || !read(header, head, sizeof(head)) || head[0] != 1 || head[1] != 0x1B ||
        head[2] != 0x03 || head[3] != 0x3B)
        return 0;
    memcpy(&count, head + 8, sizeof(count));
    table = header + sizeof(head);
    for (uint32_t high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;

        if (!read(table + 8ull * middle, pair, sizeof(pair)))
            return 0;
        if (header + (uintptr_t)(intptr_t)pair[0] <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !read(table + 8ull * (low - 1), pair, sizeof(pair)))
        return 0;
    return header + (uintptr_t)(intptr_t)pair[1];
}

/* Copy a record without its length; the cursor starts at its CIE id or pointer. */
static bool copy_record(uintptr_t at, uint8_t *buffer, struct dwarf *record)
{
    uint32_t bytes;

    if (!read(at, &bytes, sizeof(bytes)) || bytes < 4 || bytes > RECORD_BYTES ||
        !read(at + 4, buffer, bytes))
        return false;
    *record = (struct dwarf){buffer, buffer + bytes, at + 4, true};
    return true;
}

static bool read_common(uintptr_t at, struct records *records)
{
    struct dwarf d;
    char augmentation[8] = "";
    unsigned letters = 0;

    if (!copy_record(at, records->common, &d) || dwarf_fixed(&d, 4) != 0)
        return false;
    (void)dwarf_fixed(&d, 1); /* version */
    for (char c = (char)dwarf_fixed(&d, 1); c; c = (char)dwarf_fixed(&d, 1)) {
        if (letters + 1 >= sizeof(augmentation))
            return false;
        augmentation[letters++] = c;
    }
    records->code_factor = dwarf_unsigned(&d);
    records->data_factor = dwarf_signed(&d);
    if (dwarf_unsigned(&d) != DWARF_RETURN)
        return false;
    if (augmentation[0] == 'z') {
        uint64_t bytes = dwarf_unsigned(&d);
        struct dwarf data = dwarf_block(&d, bytes);

        records->has_augmentation_data = true;
        for (const char *c = augmentation + 1; *c; c++) {
            if (*c == 'R')
                records->pointer_encoding = (uint8_t)dwarf_fixed(&data, 1);
            else if (*c == 'P') /* of the personality routine, whose address does not matter */
                (void)dwarf_pointer(&data, (uint8_t)(dwarf_fixed(&data, 1) & 0x7F), 0);
            else if (*c == 'L')
                (void)dwarf_fixed(&data, 1);
        }
    } else if (augmentation[0]) {
        return false;
    }
    records->initial = d;
    return d.ok;
}

static bool read_own(uintptr_t header, uintptr_t at, struct records *records)
{
    struct dwarf d;
    uint64_t back;

    if (!copy_record(at, records->own, &d))
        return false;
    back = dwarf_fixed(&d, 4); /* distance from here back to the CIE */
    if (back == 0 || !read_common(at + 4 - (uintptr_t)back, records))
        return false;
    records->begin = dwarf_pointer(&d, records->pointer_encoding, header);
    records->end = records->begin + dwarf_pointer(&d, records->pointer_encoding & 0x0F, header);
    if (records->has_augmentation_data)
        (void)dwarf_block(&d, dwarf_unsigned(&d));
    records->body = d;
    return d.ok;
}

/* ---- carrying them out ---- */

struct execution {
    const struct records *records;
    struct rules now, initial, remembered[REMEMBERED];
    unsigned depth;
    uint64_t location;
};

static void set(struct execution *e, uint64_t number, unsigned kind, int64_t value)
{
    if (number < DWARF_REGISTERS) {
        e->now.reg[number].kind = kind;
        e->now.reg[number].value = value;
    }
}

static struct dwarf take_expression(struct dwarf *d)
{
    return dwarf_block(d, dwarf_unsigned(d));
}

/* Instructions that define the CFA. False: another kind of instruction. */
static bool frame_instruction(struct execution *e, struct dwarf *d, uint8_t operation)
{
    switch (operation) {
    case 0x0C: /* def_cfa */
    case 0x12: /* def_cfa_sf */
        e->now.by_expression = false;
        e->now.base = (unsigned)dwarf_unsigned(d);
        e->now.offset = operation == 0x0C ? (int64_t)dwarf_unsigned(d)
                                          : dwarf_signed(d) * e->records->data_factor;
        return true;
    case 0x0D: /* def_cfa_register */
        e->now.by_expression = false;
        e->now.base = (unsigned)dwarf_unsigned(d);
        return true;
    case 0x0E: /* def_cfa_offset */
        e->now.offset = (int64_t)dwarf_unsigned(d);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        e->now.offset = dwarf_signed(d) * e->records->data_factor;
        return true;
    case 0x0F: /* def_cfa_expression */
        e->now.by_expression = true;
        e->now.expression = take_expression(d);
        return true;
    default:
        return false;
    }
}

/* Instructions that define a register's rule. False: another kind of instruction. */
static bool register_instruction(struct execution *e, struct dwarf *d, uint8_t operation)
{
    int64_t factor = e->records->data_factor;
    struct dwarf expression;
    uint64_t number;

    if ((operation < 0x05 || operation > 0x11) && operation != 0x14 && operation != 0x15 &&
        operation != 0x16 && operation != 0x2F)
        return false;
    number = dwarf_unsigned(d);
    switch (operation) {
    case 0x05: /* offset_extended */
        set(e, number, AT_OFFSET, (int64_t)dwarf_unsigned(d) * factor);
        return true;
    case 0x06: /* restore_extended */
        if (number < DWARF_REGISTERS)
            e->now.reg[number] = e->initial.reg[number];
        return true;
    case 0x07:
        set(e, number, UNDEFINED, 0);
        return true;
    case 0x08:
        set(e, number, SAME, 0);
        return true;
    case 0x09:
        set(e, number, IN_REGISTER, (int64_t)dwarf_unsigned(d));
        return true;
    case 0x10: /* expression */
    case 0x16: /* val_expression */
        set(e, number, operation == 0x10 ? AT_EXPRESSION : VALUE_EXPRESSION, 0);
        expression = take_expression(d);
        if (number < DWARF_REGISTERS)
            e->now.reg[number].expression = expression;
        return true;
    case 0x11: /* offset_extended_sf */
        set(e, number, AT_OFFSET, dwarf_signed(d) * factor);
        return true;
    case 0x14: /* val_offset */
        set(e, number, VALUE_OFFSET, (int64_t)dwarf_unsigned(d) * factor);
        return true;
    case 0x15: /* val_offset_sf */
        set(e, number, VALUE_OFFSET, dwarf_signed(d) * factor);
        return true;
    case 0x2F: /* GNU_negative_offset_extended */
        set(e, number, AT_OFFSET, -(int64_t)dwarf_unsigned(d) * factor);
        return true;
    default:
        return false;
    }
}

static bool instruction(struct execution *e, struct dwarf *d, uint8_t operation)
{
    unsigned low = operation & 0x3F;

    switch (operation & 0xC0) {
    case 0x40: /* advance_loc */
        e->location += low * e->records->code_factor;
        return true;
    case 0x80: /* offset */
        set(e, low, AT_OFFSET, (int64_t)dwarf_unsigned(d) * e->records->data_factor);
        return true;
    case 0xC0: /* restore */
        if (low < DWARF_REGISTERS)
            e->now.reg[low] = e->initial.reg[low];
        return true;
    default:
        break;
    }
    switch (operation) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        e->location = dwarf_pointer(d, e->records->pointer_encoding, 0);
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        e->location += dwarf_fixed(d, 1u << (operation - 2)) * e->records->code_factor;
        return true;
    case 0x0A: /* remember_state */
        if (e->depth == REMEMBERED)
            return false;
        e->remembered[e->depth++] = e->now;
        return true;
    case 0x0B: /* restore_state */
        if (e->depth == 0)
            return false;
        e->now = e->remembered[--e->depth];
        return true;
    case 0x2E: /* GNU_args_size */
        (void)dwarf_unsigned(d);
        return true;
    default:
        return frame_instruction(e, d, operation) || register_instruction(e, d, operation);
    }
}

/* Executes instructions until `pc` is passed. */
static bool execute(struct execution *e, struct dwarf d, uint64_t pc)
{
    while (d.ok && d.at < d.end && e->location <= pc)
        if (!instruction(e, &d, (uint8_t)dwarf_fixed(&d, 1)))
            return false;
    return d.ok;
}

/* ---- the caller's registers ---- */

static bool apply_xmm(const struct rule *rule, uint64_t frame, const struct x64_stack *stack,
                      M128A *xmm)
{
    if (rule->kind == SAME || rule->kind == UNDEFINED)
        return true;
    return rule->kind == AT_OFFSET &&
           x64_stack_read(stack, frame + (uint64_t)rule->value, xmm, sizeof(*xmm));
}

static bool apply(const struct rule *rule, uint64_t frame, const struct x64_stack *stack,
                  CONTEXT *callee, ULONG64 *value)
{
    uint64_t address;

    switch (rule->kind) {
    case AT_OFFSET:
        return x64_stack_read(stack, frame + (uint64_t)rule->value, value, sizeof(*value));
    case VALUE_OFFSET:
        *value = frame + (uint64_t)rule->value;
        return true;
    case IN_REGISTER:
        if (rule->value < 0 || rule->value > (int64_t)DWARF_RETURN)
            return false;
        *value = *dwarf_register(callee, (unsigned)rule->value);
        return true;
    case AT_EXPRESSION:
        return dwarf_evaluate(rule->expression, stack, callee, &frame, &address) &&
               x64_stack_read(stack, address, value, sizeof(*value));
    case VALUE_EXPRESSION:
        if (!dwarf_evaluate(rule->expression, stack, callee, &frame, &address))
            return false;
        *value = address;
        return true;
    default: /* the register is unchanged, or lost */
        return true;
    }
}

static bool apply_all(const struct rules *rules, const struct x64_stack *stack, CONTEXT *context)
{
    CONTEXT caller = *context;
    uint64_t frame;

    if (rules->by_expression) {
        if (!dwarf_evaluate(rules->expression, stack, context, NULL, &frame))
            return false;
    } else if (rules->base < DWARF_RETURN) {
        frame = *dwarf_register(context, rules->base) + (uint64_t)rules->offset;
    } else {
        return false;
    }
    caller.Rsp = frame;
    for (unsigned i = 0; i < DWARF_XMM0; i++)
        if (!apply(&rules->reg[i], frame, stack, context, dwarf_register(&caller, i)))
            return false;
    for (unsigned i = 0; i < 16; i++)
        if (!apply_xmm(&rules->reg[DWARF_XMM0 + i], frame, stack, &caller.FltSave.XmmRegisters[i]))
            return false;
    if (rules->reg[DWARF_RETURN].kind == UNDEFINED || caller.Rsp <= context->Rsp)
        return false; /* the outermost frame, or invalid information */
    *context = caller;
    return true;
}

/* The records of the function at `pc`. */
static bool find_records(uintptr_t pc, struct records *records)
{
    struct dl_find_object object;
    uintptr_t header, own;

    records->pointer_encoding = 0;
    records->has_augmentation_data = false;
    if (_dl_find_object((void *)pc, &object) != 0)
        return false;
    header = (uintptr_t)object.dlfo_eh_frame;
    own = find_own(header, pc);
    return own && read_own(header, own, records) && pc >= records->begin && pc < records->end;
}

bool x64_host_unwind(const struct x64_stack *stack, bool interrupted, CONTEXT *context)
{
    uintptr_t pc = (uintptr_t)context->Rip - (interrupted ? 0 : 1);
    struct records records;
    struct execution e;

    if (!find_records(pc, &records))
        return false;
    memset(&e, 0, sizeof(e));
    e.records = &records;
    if (!execute(&e, records.initial, UINT64_MAX))
        return false;
    e.initial = e.now;
    e.location = records.begin;
    return execute(&e, records.body, pc) && apply_all(&e.now, stack, context);
}

uintptr_t x64_host_function(uintptr_t pc)
{
    struct records records;

    return find_records(pc, &records) ? (uintptr_t)records.begin : 0;
}
