/* SPDX-License-Identifier: MIT */
/* An image that is made function by function, and then rewritten. */
#ifndef DXGK_TESTS_X64_REWRITE_H
#define DXGK_TESTS_X64_REWRITE_H

#include "x64/rewrite/rewrite.h"

#include <sys/mman.h>

#include "sim/machine.h"
#include "x64/support/rig.h"

#define TEXT   0x1000u
#define XDATA  0x3000u
#define IMAGE  0x4000u
#define SPARE  0x4000u
#define FILLER 0xC3 /* padding that is no padding */

/* An image under construction. */
static struct {
    uint8_t *base;
    uint32_t at;
    struct x64_function function[16];
    struct x64_function_table table;
    struct x64_rewriting counts;
} image;

static inline void begin_image(void)
{
    memset(&image, 0, sizeof(image));
    image.base = mmap(NULL, IMAGE + SPARE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(image.base != MAP_FAILED && mprotect(image.base, IMAGE, PROT_READ | PROT_WRITE) == 0);
    memset(image.base + TEXT, FILLER, XDATA - TEXT);
    image.at = TEXT;
    image.table.base = (uintptr_t)image.base;
    image.table.image_bytes = IMAGE;
    image.table.function = image.function;
    image.table.spare = (uintptr_t)image.base + IMAGE;
    image.table.spare_bytes = SPARE;
}

/* `padding` behind it. Unwind information with these flags. Returns its offset. */
static inline uint32_t add_function(const void *code, uint32_t bytes, uint8_t padding, uint8_t flags)
{
    struct x64_function *f = &image.function[image.table.count];
    uint32_t begin = image.at;

    f->begin = begin;
    f->end = begin + bytes;
    f->unwind = XDATA + 32 * image.table.count;
    image.base[f->unwind] = (uint8_t)(1 | flags << 3);
    memcpy(image.base + begin, code, bytes);
    image.at = (f->end + 32) & ~15u;
    memset(image.base + f->end, padding, image.at - f->end);
    image.table.count++;
    return begin;
}

#define ADD(padding, flags, ...)                                                                  \
    add_function((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), padding, \
                 flags)

static inline void end_image(void)
{
    uint64_t live = rig.machine->heap.live_blocks;

    CHECK(x64_rewrite(&image.table, TEXT, XDATA, &image.counts));
    CHECK(rig.machine->heap.live_blocks == live);
    CHECK(mprotect(image.base, IMAGE, PROT_READ | PROT_EXEC) == 0);
}

static inline void drop_image(void)
{
    munmap(image.base, IMAGE + SPARE);
}

#endif
