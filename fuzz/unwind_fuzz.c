/* SPDX-License-Identifier: MIT */
/*
 * Hostile unwind information. The input is an image of one page: its first bytes choose the place in the function, the registers
 * and the kind of handler wanted, the rest is what the function table entry points to, and code. Whatever it says: nothing outside
 * of image and stack is read, frames lie above each other, a handler lies in the image.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "x64/unwind/unwind_info.h"

#define IMAGE_BYTES 4096u
#define WORDS       256u
#define CHOICES     20u /* bytes: pc, handler, entry, and one for each register */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void unwind(const uint8_t *choice, const struct x64_function_table *table)
{
    uint64_t words[WORDS];
    const struct x64_stack stack = {(uintptr_t)words, (uintptr_t)(words + WORDS)};
    struct x64_unwound_frame frame;
    struct x64_saved_at saved_at = {.xmm = {NULL}};
    CONTEXT context;

    memset(&context, 0, sizeof(context));
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = table->base + i * 16u;
    for (unsigned i = 0; i < 16; i++)
        *x64_register(&context, i) = stack.low + choice[4 + i] * sizeof(words[0]);
    context.Rip = table->base + table->function[0].begin + choice[0];
    for (unsigned depth = 0; depth < WORDS; depth++) {
        uint64_t before = context.Rsp;
        const struct x64_function *entry = x64_function_find(table, (uintptr_t)context.Rip);

        if (x64_unwind(table, entry, context.Rip, choice[1] & 3u, &stack, &context, &saved_at,
                       &frame) != X64_UNWOUND) {
            require(context.Rsp == before);
            return;
        }
        require(frame.machine_frame || (context.Rsp > before && context.Rsp <= stack.high));
        require(frame.handler == 0 || frame.handler - table->base < table->image_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(16) uint8_t image[IMAGE_BYTES];
    struct x64_function function[2] = {{0x100, 0x200, 0x800}, {0x200, 0x400, 0x800}};
    const struct x64_function_table table = {.name = "fuzz.sys",
                                             .base = (uintptr_t)image,
                                             .image_bytes = sizeof(image),
                                             .function = function,
                                             .count = 2};
    size_t rest;

    if (size < CHOICES)
        return 0;
    rest = size - CHOICES;
    memset(image, 0x90, sizeof(image));
    memcpy(image + 0x800, data + CHOICES, rest < 0x800 ? rest : 0x800);
    memcpy(image + 0x100, data + CHOICES, rest < 0x300 ? rest : 0x300); /* code, too */
    function[0].unwind = 0x800u + (data[2] & 0xFEu) + (data[3] & 1u);
    unwind(data, &table);
    return 0;
}
