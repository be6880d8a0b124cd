/* SPDX-License-Identifier: MIT */
/* An image with two functions, a stack, and the registers at some place of the first function. */
#ifndef DXGK_TESTS_X64_UNWIND_H
#define DXGK_TESTS_X64_UNWIND_H

#include "support/check_rule.h"

#include "sim/sim.h"
#include "x64/unwind/unwind_info.h"

#include <string.h>

#define FUNCTION 0x100u /* offset of the function under test */
#define SECOND   0x200u
#define UNWIND   0x400u
#define CHAINED  0x480u
#define HANDLER  0x300u

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* An image in memory, a stack, and the registers at some place of the function. */
struct fixture {
    struct sim_machine *machine;
    uint8_t image[0x800];
    struct x64_function functions[2];
    struct x64_function_table table;
    _Alignas(16) ULONG64 words[512];
    struct x64_stack stack;
    CONTEXT context;
    struct x64_saved_at saved_at;
    struct x64_unwound_frame frame;
};

static inline struct fixture *begin(void)
{
    static struct fixture f;
    struct sim_config config = {.seed = 1, .processors = 1};

    memset(&f, 0, sizeof(f));
    f.machine = sim_machine_create(&config);
    CHECK(f.machine != NULL);
    sim_enter(f.machine);
    memset(f.image, 0x90, 0x400); /* nop */
    f.functions[0] = (struct x64_function){FUNCTION, FUNCTION + 0x80, UNWIND};
    f.functions[1] = (struct x64_function){SECOND, SECOND + 0x80, UNWIND};
    f.table = (struct x64_function_table){.name = "t.sys",
                                          .base = (uintptr_t)f.image,
                                          .image_bytes = sizeof(f.image),
                                          .function = f.functions,
                                          .count = 2};
    list_init(&f.table.link);
    f.stack = (struct x64_stack){(uintptr_t)f.words, (uintptr_t)(f.words + 512)};
    for (unsigned i = 0; i < 512; i++)
        f.words[i] = 0xBAD0000000000000u + i;
    for (unsigned i = 0; i < 16; i++)
        *x64_register(&f.context, i) = 0x1000u + i;
    f.context.Rsp = (uintptr_t)f.words;
    return &f;
}

static inline void end(struct fixture *f)
{
    sim_leave();
    sim_machine_destroy(f->machine);
}

static inline void put(struct fixture *f, uint32_t offset, const void *bytes, size_t count)
{
    memcpy(f->image + offset, bytes, count);
}

#define CODE(offset, operation, info) (offset), (uint8_t)((operation) | (info) << 4)
#define DATA16(value)                 (uint8_t)((value)&0xFF), (uint8_t)((value) >> 8 & 0xFF)
#define DATA32(value)                 DATA16(value), DATA16((value) >> 16)

/* Unwind information with a list of bytes as its codes. */
#define INFO_AT(f, offset, version, flags, prologue, frame, ...)                  \
    do {                                                                          \
        const uint8_t codes_[] = {__VA_ARGS__};                                   \
        const uint8_t head_[] = {(uint8_t)((version) | (flags) << 3), (prologue), \
                                 (uint8_t)(sizeof(codes_) / 2), (frame)};         \
        put(f, offset, head_, sizeof(head_));                                     \
        put(f, (offset) + 4, codes_, sizeof(codes_));                             \
    } while (0)
#define INFO(f, version, flags, prologue, frame, ...) \
    INFO_AT(f, UNWIND, version, flags, prologue, frame, __VA_ARGS__)

static inline enum x64_unwound unwind_at(struct fixture *f, uint32_t offset, unsigned wanted)
{
    return x64_unwind(&f->table, &f->functions[0], f->table.base + offset, wanted, &f->stack,
                      &f->context, &f->saved_at, &f->frame);
}

static inline uint64_t word(const struct fixture *f, unsigned index)
{
    return f->words[index];
}

static inline uint64_t address_of(const struct fixture *f, unsigned index)
{
    return (uintptr_t)&f->words[index];
}

#endif
