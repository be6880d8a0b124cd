/* SPDX-License-Identifier: MIT */
/* Running an instruction of the driver on a copy of its memory operand. See stub.c for the
 * theory. */
#ifndef DXGK_X64_STUB_H
#define DXGK_X64_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "x64/traps/plan.h"

#define X64_STUB_CODE 0x8000u

/* Data after the code of the stubs; stub_run.S knows the offsets. */
struct x64_stub_data {
    uint64_t gpr[16];
    uint64_t flags;
    uint64_t host_stack;
    uint64_t target;
    _Alignas(64) uint8_t operand[2 * X64_WIDEST];
};

struct x64_stubs {
    uint8_t *code;     /* executable mapping */
    uint8_t *writable; /* writable mapping of the same bytes */
    struct x64_stub_data *data;
    uint32_t used;
    int file;
};

bool x64_stubs_init(struct x64_stubs *stubs);
void x64_stubs_finish(struct x64_stubs *stubs);
/* Makes code for the instruction with its memory operand in data->operand; NULL: it has no such
 * form. Sets *full when there is no room: then all plans must be dropped, and x64_stubs_clear
 * called. */
const uint8_t *x64_stub_make(struct x64_stubs *stubs, const struct x64_plan *plan,
                             const void *decoded, bool *full);
void x64_stubs_clear(struct x64_stubs *stubs);
/* Run it with the registers of the frame. The operand is in stubs->data->operand before and
 * after. */
void x64_stub_run(struct x64_stubs *stubs, const struct x64_plan *plan,
                  struct x64_interrupted *frame);
bool x64_stubs_contain(const struct x64_stubs *stubs, uintptr_t pc);

/* stub_run.S: call enter with the vector registers loaded from, and saved to, the frame (NULL:
 * unchanged). */
void x64_run(void (*enter)(void), struct x64_interrupted *vectors);
extern const uint8_t x64_template[];
extern const uint32_t x64_template_bytes, x64_template_leave;

#endif
