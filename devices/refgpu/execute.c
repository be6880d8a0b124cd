/* SPDX-License-Identifier: MIT */
/* The effects of commands, slice by slice. Contiguous rows are processed in place, others are
 * gathered first. */
#include "device.h"
#include "pixel.h"

#include <string.h>

static enum refgpu_space dst_space(const struct refgpu_engine *engine,
                                   const struct refgpu_command *c)
{
    return engine->index == REFGPU_ENGINE_2D || (c->flags & REFGPU_FLAG_DST_DEVICE)
               ? REFGPU_SPACE_DEVICE
               : REFGPU_SPACE_VIRTUAL;
}

static enum refgpu_space src_space(const struct refgpu_engine *engine,
                                   const struct refgpu_command *c)
{
    return engine->index == REFGPU_ENGINE_2D || (c->flags & REFGPU_FLAG_SRC_DEVICE)
               ? REFGPU_SPACE_DEVICE
               : REFGPU_SPACE_VIRTUAL;
}

static uint64_t slice_length(const struct refgpu_command *c)
{
    const uint64_t before = c->done * REFGPU_SLICE_BYTES;
    const uint64_t left = c->bytes - before;

    return left < REFGPU_SLICE_BYTES ? left : REFGPU_SLICE_BYTES;
}

static uint32_t slice_first_row(const struct refgpu_command *c)
{
    return (uint32_t)(c->done * c->rows);
}

static uint32_t slice_row_count(const struct refgpu_command *c)
{
    const uint32_t left = c->height - slice_first_row(c);

    return left < c->rows ? left : c->rows;
}

/* Number of bytes that the next slice reads and writes. */
static uint64_t slice_traffic(const struct refgpu_command *c)
{
    switch (c->opcode) {
    case REFGPU_OP_FILL:
        return slice_length(c);
    case REFGPU_OP_COPY:
        return 2u * slice_length(c);
    case REFGPU_OP_FILL_RECT:
        return (uint64_t)slice_row_count(c) * c->width * 4u;
    case REFGPU_OP_COPY_RECT:
        return (uint64_t)slice_row_count(c) * c->width * 2u;
    case REFGPU_OP_SCALE:
        return (uint64_t)slice_row_count(c) *
               ((uint64_t)c->width * 4u + (uint64_t)c->src_width * 8u);
    case REFGPU_OP_BLEND:
        return (uint64_t)slice_row_count(c) * c->width * 12u;
    case REFGPU_OP_CONVOLVE:
        return (uint64_t)slice_row_count(c) * c->width * 16u;
    case REFGPU_OP_WAIT:
    case REFGPU_OP_HANG:
    case REFGPU_OP_NOP:
    case REFGPU_OP_DELAY:
    case REFGPU_OP_TLB_FLUSH:
        return 0;
    default:
        return c->bytes; /* WRITE, TIMESTAMP, RAW_ACCESS, table writes */
    }
}

uint64_t refgpu_slice_cost(const struct refgpu_command *c)
{
    if (c->opcode == REFGPU_OP_DELAY)
        return c->value;
    return (slice_traffic(c) + REFGPU_BYTES_PER_NS - 1u) / REFGPU_BYTES_PER_NS;
}

/* ---- single words ---- */

static bool execute_write(struct refgpu_engine *engine, const struct refgpu_command *c)
{
    const unsigned access = c->flags & REFGPU_WRITE_ADD ? DXGK_DMA_READ | DXGK_DMA_WRITE
                                                        : DXGK_DMA_WRITE;
    uint64_t value = c->value;
    uint64_t run;
    uint8_t *at = refgpu_memory(engine, dst_space(engine, c), c->dst, access, REFGPU_UNIT_DATA,
                                c->bytes, &run);

    if (!at)
        return false;
    if (c->opcode == REFGPU_OP_TIMESTAMP)
        value = engine->device->services->now(engine->device->host);
    if (c->flags & REFGPU_WRITE_ADD) {
        uint64_t old = 0;

        memcpy(&old, at, c->bytes);
        value += old;
    }
    memcpy(at, &value, c->bytes);
    if (c->flags & REFGPU_WRITE_INTERRUPT)
        refgpu_interrupt(engine->device, engine->index == REFGPU_ENGINE_SCHEDULED
                                             ? REFGPU_IRQ_SCHED_SIGNAL
                                             : REFGPU_IRQ_SIGNAL(engine->index));
    return true;
}

bool refgpu_wait_satisfied(struct refgpu_engine *engine, const struct refgpu_command *c, bool *ok)
{
    uint64_t have = 0;

    *ok = refgpu_memory_read(engine, dst_space(engine, c), c->dst, REFGPU_UNIT_DATA, &have,
                             c->bytes);
    if (!*ok)
        return false;
    return c->flags & REFGPU_WAIT_EQUAL ? have == c->value : have >= c->value;
}

/* ---- linear ---- */

static bool fill_range(struct refgpu_engine *engine, const struct refgpu_command *c, uint64_t at,
                       uint64_t bytes)
{
    while (bytes) {
        uint64_t run;
        uint8_t *to = refgpu_memory(engine, dst_space(engine, c), at, DXGK_DMA_WRITE,
                                    REFGPU_UNIT_DATA, bytes, &run);

        if (!to)
            return false;
        run &= ~3ull;
        if (!run) { /* a word would be split, which whole pages make impossible */
            const uint32_t pattern = (uint32_t)c->value;

            if (!refgpu_memory_write(engine, dst_space(engine, c), at, REFGPU_UNIT_DATA, &pattern,
                                     sizeof pattern))
                return false;
            run = sizeof pattern;
        } else {
            refgpu_pixel_fill((uint32_t *)(void *)to, run / 4u, (uint32_t)c->value);
        }
        at += run;
        bytes -= run;
    }
    return true;
}

/* By memcpy where it may be: the memmove of a sanitizer goes byte by byte. */
static void copy_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    if ((uintptr_t)to + bytes <= (uintptr_t)from || (uintptr_t)from + bytes <= (uintptr_t)to)
        memcpy(to, from, bytes);
    else
        memmove(to, from, bytes);
}

/* Copies as far as both sides are contiguous, without interruption; at most a slice. */
static bool copy_range(struct refgpu_engine *engine, const struct refgpu_command *c, uint64_t dst,
                       uint64_t src, uint64_t bytes)
{
    while (bytes) {
        uint64_t from_run, to_run;
        const uint8_t *from = refgpu_memory(engine, src_space(engine, c), src, DXGK_DMA_READ,
                                            REFGPU_UNIT_DATA, bytes, &from_run);
        uint8_t *to;

        if (!from)
            return false;
        to = refgpu_memory(engine, dst_space(engine, c), dst, DXGK_DMA_WRITE, REFGPU_UNIT_DATA,
                           from_run, &to_run);
        if (!to)
            return false;
        copy_bytes(to, from, to_run);
        src += to_run;
        dst += to_run;
        bytes -= to_run;
    }
    return true;
}

static bool execute_copy(struct refgpu_engine *engine, const struct refgpu_command *c)
{
    const uint64_t length = slice_length(c);
    uint64_t at = c->done * REFGPU_SLICE_BYTES;

    if (!c->backwards)
        return copy_range(engine, c, c->dst + at, c->src + at, length);
    /* The destination overlaps the source from above: copy from the end, each slice through a
     * buffer. */
    at = c->bytes - at - length;
    return refgpu_memory_read(engine, src_space(engine, c), c->src + at, REFGPU_UNIT_DATA,
                              engine->device->row[0], length) &&
           refgpu_memory_write(engine, dst_space(engine, c), c->dst + at, REFGPU_UNIT_DATA,
                               engine->device->row[0], length);
}

/* ---- rows ---- */

/* A row of pixels to read: in place, or gathered in buffer `slot`. NULL: fault. */
static const uint32_t *source_row(struct refgpu_engine *engine, const struct refgpu_command *c,
                                  uint32_t row, uint32_t pixels, unsigned slot)
{
    const uint64_t at = c->src + (uint64_t)c->src_pitch * row;
    const uint64_t bytes = (uint64_t)pixels * 4u;
    uint8_t *buffer = engine->device->row[slot];
    uint64_t run;
    const uint8_t *from = refgpu_memory(engine, src_space(engine, c), at, DXGK_DMA_READ,
                                        REFGPU_UNIT_DATA, bytes, &run);

    if (!from)
        return NULL;
    if (run >= bytes)
        return (const uint32_t *)(const void *)from;
    memcpy(buffer, from, run);
    if (!refgpu_memory_read(engine, src_space(engine, c), at + run, REFGPU_UNIT_DATA, buffer + run,
                            bytes - run))
        return NULL;
    return (const uint32_t *)(void *)buffer;
}

struct row_target {
    uint32_t *pixels; /* to write to */
    uint64_t address;
    bool gathered; /* in the buffer, to be written back */
};

#define TARGET_SLOT 3u

static bool target_begin(struct refgpu_engine *engine, const struct refgpu_command *c, uint32_t row,
                         bool read, struct row_target *target)
{
    const uint64_t bytes = (uint64_t)c->width * 4u;
    uint8_t *buffer = engine->device->row[TARGET_SLOT];
    uint64_t run;
    uint8_t *to;

    target->address = c->dst + (uint64_t)c->dst_pitch * row;
    to = refgpu_memory(engine, dst_space(engine, c), target->address,
                       read ? DXGK_DMA_READ | DXGK_DMA_WRITE : DXGK_DMA_WRITE, REFGPU_UNIT_DATA,
                       bytes, &run);
    if (!to)
        return false;
    target->gathered = run < bytes;
    target->pixels = (uint32_t *)(void *)(target->gathered ? buffer : to);
    return !target->gathered || !read ||
           refgpu_memory_read(engine, dst_space(engine, c), target->address, REFGPU_UNIT_DATA,
                              buffer, bytes);
}

static bool target_end(struct refgpu_engine *engine, const struct refgpu_command *c,
                       const struct row_target *target)
{
    return !target->gathered ||
           refgpu_memory_write(engine, dst_space(engine, c), target->address, REFGPU_UNIT_DATA,
                               target->pixels, (uint64_t)c->width * 4u);
}

static bool scale_row(struct refgpu_engine *engine, const struct refgpu_command *c, uint32_t row)
{
    const uint32_t at = refgpu_pixel_scale_at(row, c->height, c->src_height);
    const uint32_t above = at >> 8;
    const uint32_t below = above + 1u < c->src_height ? above + 1u : above;
    const uint32_t *up = source_row(engine, c, above, c->src_width, 0);
    const uint32_t *low = up ? source_row(engine, c, below, c->src_width, 1) : NULL;
    struct row_target target;

    if (!low || !target_begin(engine, c, row, false, &target))
        return false;
    refgpu_pixel_scale_row(target.pixels, c->width, up, low, at & 0xFFu, engine->device->scale_x,
                           c->src_width);
    return target_end(engine, c, &target);
}

static bool blend_row(struct refgpu_engine *engine, const struct refgpu_command *c, uint32_t row)
{
    const uint32_t *src = source_row(engine, c, row, c->width, 0);
    struct row_target target;

    if (!src || !target_begin(engine, c, row, true, &target))
        return false;
    refgpu_pixel_blend_row(target.pixels, src, c->width, (uint32_t)c->value,
                           (c->flags & REFGPU_BLEND_STRAIGHT) != 0);
    return target_end(engine, c, &target);
}

static bool convolve_row(struct refgpu_engine *engine, const struct refgpu_command *c, uint32_t row)
{
    const uint32_t around[3] = {row ? row - 1u : 0u, row, row + 1u < c->height ? row + 1u : row};
    const uint32_t *rows[3];
    struct row_target target;

    for (unsigned i = 0; i < 3u; i++) {
        rows[i] = source_row(engine, c, around[i], c->width, i);
        if (!rows[i])
            return false;
    }
    if (!target_begin(engine, c, row, false, &target))
        return false;
    refgpu_pixel_convolve_row(target.pixels, rows, c->width, c->coefficient,
                              (c->flags & REFGPU_CONVOLVE_KEEP_ALPHA) != 0);
    return target_end(engine, c, &target);
}

static bool execute_rows(struct refgpu_engine *engine, const struct refgpu_command *c)
{
    const uint32_t first = slice_first_row(c);
    const uint32_t count = slice_row_count(c);

    if (c->opcode == REFGPU_OP_SCALE)
        refgpu_pixel_scale_table(engine->device->scale_x, c->width, c->src_width);
    for (uint32_t row = first; row < first + count; row++) {
        const uint64_t dst = c->dst + (uint64_t)c->dst_pitch * row;
        bool ok;

        switch (c->opcode) {
        case REFGPU_OP_FILL_RECT:
            ok = fill_range(engine, c, dst, (uint64_t)c->width * 4u);
            break;
        case REFGPU_OP_COPY_RECT:
            ok = copy_range(engine, c, dst, c->src + (uint64_t)c->src_pitch * row, c->width);
            break;
        case REFGPU_OP_SCALE:
            ok = scale_row(engine, c, row);
            break;
        case REFGPU_OP_BLEND:
            ok = blend_row(engine, c, row);
            break;
        default:
            ok = convolve_row(engine, c, row);
            break;
        }
        if (!ok)
            return false;
    }
    return true;
}

/* ---- raw bus access, tables ---- */

static bool execute_raw(struct refgpu_engine *engine, const struct refgpu_command *c)
{
    uint8_t *buffer = engine->device->row[0];

    if (c->flags & REFGPU_RAW_WRITE) {
        refgpu_pixel_fill((uint32_t *)(void *)buffer, (c->bytes + 3u) / 4u, (uint32_t)c->value);
        return refgpu_bus_write(engine, c->src, REFGPU_UNIT_DATA, buffer, c->bytes);
    }
    return refgpu_bus_read(engine, c->src, REFGPU_UNIT_DATA, buffer, c->bytes) &&
           refgpu_memory_write(engine, REFGPU_SPACE_DEVICE, c->dst, REFGPU_UNIT_DATA, buffer,
                               c->bytes);
}

static void fill_run(uint8_t *to, uint32_t count, uint64_t value, uint64_t step)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t entry = value + i * step;

        memcpy(to + i * sizeof entry, &entry, sizeof entry);
    }
}

/* Entries that increase by a step, as many at a time as lie next to each other in memory. */
static bool fill_entries(struct refgpu_engine *engine, enum refgpu_space space, uint64_t at,
                         uint64_t value, uint64_t step, uint32_t count)
{
    while (count) {
        uint64_t run;
        uint8_t *to = refgpu_memory(engine, space, at, DXGK_DMA_WRITE, REFGPU_UNIT_DATA,
                                    (uint64_t)count * sizeof value, &run);
        const uint32_t some = (uint32_t)(run / sizeof value);

        if (!to)
            return false;
        fill_run(to, some, value, step);
        value += some * step;
        count -= some;
        at += some * sizeof value;
        if (some)
            continue;
        if (!refgpu_memory_write(engine, space, at, REFGPU_UNIT_DATA, &value, sizeof value))
            return false; /* it lies on both sides of an end */
        count--;
        at += sizeof value;
        value += step;
    }
    return true;
}

static bool execute_entries(struct refgpu_engine *engine, const struct refgpu_command *c,
                            const uint32_t *words)
{
    const uint32_t fixed = c->opcode == REFGPU_OP_GART_WRITE || c->opcode == REFGPU_OP_GART_FILL
                               ? 3u
                               : 4u;
    const enum refgpu_space space = c->flags & REFGPU_FLAG_DST_DEVICE ? REFGPU_SPACE_DEVICE
                                                                      : REFGPU_SPACE_VIRTUAL;
    uint64_t value, step;

    if (c->opcode == REFGPU_OP_PTE_WRITE || c->opcode == REFGPU_OP_GART_WRITE)
        return refgpu_memory_write(engine, space, c->dst, REFGPU_UNIT_DATA, words + fixed, c->bytes);
    value = words[fixed] | (uint64_t)words[fixed + 1u] << 32;
    step = words[fixed + 2u] | (uint64_t)words[fixed + 3u] << 32;
    return fill_entries(engine, space, c->dst, value, step, c->width);
}

bool refgpu_slice_execute(struct refgpu_engine *engine, struct refgpu_command *c,
                          const uint32_t *words)
{
    const uint64_t traffic = slice_traffic(c);
    bool ok = true;

    switch (c->opcode) {
    case REFGPU_OP_WRITE:
    case REFGPU_OP_TIMESTAMP:
        ok = execute_write(engine, c);
        break;
    case REFGPU_OP_FILL:
        ok = fill_range(engine, c, c->dst + c->done * REFGPU_SLICE_BYTES, slice_length(c));
        break;
    case REFGPU_OP_COPY:
        ok = execute_copy(engine, c);
        break;
    case REFGPU_OP_FILL_RECT:
    case REFGPU_OP_COPY_RECT:
    case REFGPU_OP_SCALE:
    case REFGPU_OP_BLEND:
    case REFGPU_OP_CONVOLVE:
        ok = execute_rows(engine, c);
        break;
    case REFGPU_OP_RAW_ACCESS:
        ok = execute_raw(engine, c);
        break;
    case REFGPU_OP_PTE_WRITE:
    case REFGPU_OP_PTE_FILL:
    case REFGPU_OP_GART_WRITE:
    case REFGPU_OP_GART_FILL:
        ok = execute_entries(engine, c, words);
        break;
    case REFGPU_OP_TLB_FLUSH:
        refgpu_tlb_flush(engine->device, c->dst, c->src, c->value);
        break;
    default:
        break; /* DELAY */
    }
    if (ok) {
        engine->bytes += traffic;
        c->done++;
    }
    return ok;
}
