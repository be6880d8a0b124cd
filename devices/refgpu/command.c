/* SPDX-License-Identifier: MIT */
/*
 * Decoding. All operands are checked here, before the command has any effect, so execution only
 * sees valid sizes and areas that do not wrap around; after that, only address translation can
 * fail.
 */
#include "device.h"

#include <string.h>

#define VA_END     (1ull << REFGPU_VA_BITS)
#define DEVICE_END (1ull << 63)

#define ON_BOTH    0u
#define ON_2D      1u
#define ON_COPY    2u
#define PRIVILEGED 4u

/* The valid forms of each opcode. dwords 0: the command checks its own length. */
struct shape {
    uint32_t dwords;
    uint32_t flags; /* valid flag bits, besides those for address spaces */
    uint32_t where;
    uint32_t spaces; /* valid address space bits */
    bool known;
};

#define DST REFGPU_FLAG_DST_DEVICE
#define SRC REFGPU_FLAG_SRC_DEVICE

static const struct shape shapes[] = {
    [REFGPU_OP_NOP] = {0, 0, ON_BOTH, 0, true},
    [REFGPU_OP_WRITE] = {5, REFGPU_WRITE_64 | REFGPU_WRITE_ADD | REFGPU_WRITE_INTERRUPT, ON_BOTH,
                         DST, true},
    [REFGPU_OP_WAIT] = {5, REFGPU_WAIT_64 | REFGPU_WAIT_EQUAL, ON_BOTH, DST, true},
    [REFGPU_OP_HANG] = {1, REFGPU_HANG_PREEMPTIBLE, ON_BOTH, 0, true},
    [REFGPU_OP_TIMESTAMP] = {3, 0, ON_BOTH, DST, true},
    [REFGPU_OP_DELAY] = {2, 0, ON_BOTH, 0, true},
    [REFGPU_OP_FILL] = {6, 0, ON_BOTH, DST, true},
    [REFGPU_OP_FILL_RECT] = {7, 0, ON_BOTH, DST, true},
    [REFGPU_OP_COPY] = {7, 0, ON_BOTH, DST | SRC, true},
    [REFGPU_OP_COPY_RECT] = {9, 0, ON_BOTH, DST | SRC, true},
    [REFGPU_OP_SCALE] = {11, 0, ON_BOTH, DST | SRC, true},
    [REFGPU_OP_BLEND] = {10, REFGPU_BLEND_STRAIGHT, ON_BOTH, DST | SRC, true},
    [REFGPU_OP_CONVOLVE] = {14, REFGPU_CONVOLVE_KEEP_ALPHA, ON_BOTH, DST | SRC, true},
    [REFGPU_OP_RAW_ACCESS] = {8, REFGPU_RAW_WRITE, ON_2D, 0, true},
    [REFGPU_OP_PTE_WRITE] = {0, REFGPU_PTE_VIRTUAL, ON_COPY | PRIVILEGED, 0, true},
    [REFGPU_OP_PTE_FILL] = {8, REFGPU_PTE_VIRTUAL, ON_COPY | PRIVILEGED, 0, true},
    [REFGPU_OP_GART_WRITE] = {0, 0, ON_COPY | PRIVILEGED, 0, true},
    [REFGPU_OP_GART_FILL] = {7, 0, ON_COPY | PRIVILEGED, 0, true},
    [REFGPU_OP_TLB_FLUSH] = {7, 0, ON_COPY | PRIVILEGED, 0, true},
};

static bool error(struct refgpu_engine *engine, uint32_t code)
{
    return refgpu_engine_fault(engine, REFGPU_FAULT_COMMAND, code, REFGPU_UNIT_DATA, 0, false,
                               engine->offset);
}

static uint64_t operand64(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

static enum refgpu_space space_of(const struct refgpu_engine *engine,
                                  const struct refgpu_command *c, uint32_t bit)
{
    return engine->index == REFGPU_ENGINE_2D || (c->flags & bit) ? REFGPU_SPACE_DEVICE
                                                                 : REFGPU_SPACE_VIRTUAL;
}

/* Whether [address, address + bytes) stays inside its address space. */
static bool fits(struct refgpu_engine *engine, const struct refgpu_command *c, uint32_t bit,
                 uint64_t address, uint64_t bytes)
{
    const uint64_t end = space_of(engine, c, bit) == REFGPU_SPACE_VIRTUAL ? VA_END : DEVICE_END;

    return address <= end && bytes <= end - address ? true : error(engine, REFGPU_ERROR_RANGE);
}

static bool rectangle(struct refgpu_engine *engine, const struct refgpu_command *c, uint32_t bit,
                      uint64_t address, uint32_t pitch, uint32_t row_bytes, uint32_t rows,
                      uint32_t alignment)
{
    if (pitch < row_bytes)
        return error(engine, REFGPU_ERROR_PITCH);
    if (address % alignment || pitch % alignment)
        return error(engine, REFGPU_ERROR_ALIGN);
    return fits(engine, c, bit, address, (uint64_t)pitch * (rows - 1u) + row_bytes);
}

static bool size_ok(struct refgpu_engine *engine, uint32_t width, uint32_t height, uint32_t widest,
                    uint32_t highest)
{
    return width && height && width <= widest && height <= highest
               ? true
               : error(engine, REFGPU_ERROR_SIZE);
}

/* Rows are processed in groups of about one slice of traffic. */
static void slice_rows(struct refgpu_command *c, uint64_t row_bytes)
{
    c->rows = row_bytes && row_bytes < REFGPU_SLICE_BYTES
                  ? (uint32_t)(REFGPU_SLICE_BYTES / row_bytes)
                  : 1u;
    c->slices = (c->height + (uint64_t)c->rows - 1u) / c->rows;
}

static bool decode_memory_word(struct refgpu_engine *engine, const uint32_t *words,
                               struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->bytes = 8;
    if (c->opcode != REFGPU_OP_TIMESTAMP) {
        c->value = operand64(words + 3);
        if (!(c->flags & REFGPU_WRITE_64)) { /* the same bit as WAIT_64 */
            c->bytes = 4;
            c->value &= 0xFFFFFFFFu;
        }
    }
    if (c->dst % c->bytes)
        return error(engine, REFGPU_ERROR_ALIGN);
    return fits(engine, c, DST, c->dst, c->bytes);
}

static bool decode_fill(struct refgpu_engine *engine, const uint32_t *words,
                        struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->bytes = operand64(words + 3);
    c->value = words[5];
    if (c->dst % 4u || c->bytes % 4u)
        return error(engine, REFGPU_ERROR_ALIGN);
    c->slices = c->bytes / REFGPU_SLICE_BYTES + (c->bytes % REFGPU_SLICE_BYTES != 0);
    return fits(engine, c, DST, c->dst, c->bytes);
}

static bool decode_copy(struct refgpu_engine *engine, const uint32_t *words,
                        struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->src = operand64(words + 3);
    c->bytes = operand64(words + 5);
    if (!fits(engine, c, DST, c->dst, c->bytes) || !fits(engine, c, SRC, c->src, c->bytes))
        return false;
    c->backwards = space_of(engine, c, DST) == space_of(engine, c, SRC) && c->dst > c->src &&
                   c->dst - c->src < c->bytes;
    c->slices = c->bytes / REFGPU_SLICE_BYTES + (c->bytes % REFGPU_SLICE_BYTES != 0);
    return true;
}

static bool decode_fill_rect(struct refgpu_engine *engine, const uint32_t *words,
                             struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->dst_pitch = words[3];
    c->width = words[4];
    c->height = words[5];
    c->value = words[6];
    if (!size_ok(engine, c->width, c->height, REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS))
        return false;
    slice_rows(c, (uint64_t)c->width * 4u);
    return rectangle(engine, c, DST, c->dst, c->dst_pitch, c->width * 4u, c->height, 4);
}

static bool decode_copy_rect(struct refgpu_engine *engine, const uint32_t *words,
                             struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->dst_pitch = words[3];
    c->src = operand64(words + 4);
    c->src_pitch = words[6];
    c->width = words[7];
    c->height = words[8];
    if (!size_ok(engine, c->width, c->height, REFGPU_MAX_ROW_BYTES, REFGPU_MAX_ROWS))
        return false;
    slice_rows(c, c->width);
    return rectangle(engine, c, DST, c->dst, c->dst_pitch, c->width, c->height, 1) &&
           rectangle(engine, c, SRC, c->src, c->src_pitch, c->width, c->height, 1);
}

static bool decode_scale(struct refgpu_engine *engine, const uint32_t *words,
                         struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->dst_pitch = words[3];
    c->width = words[4];
    c->height = words[5];
    c->src = operand64(words + 6);
    c->src_pitch = words[8];
    c->src_width = words[9];
    c->src_height = words[10];
    if (!size_ok(engine, c->width, c->height, REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS) ||
        !size_ok(engine, c->src_width, c->src_height, REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS))
        return false;
    slice_rows(c, (uint64_t)c->width * 4u);
    return rectangle(engine, c, DST, c->dst, c->dst_pitch, c->width * 4u, c->height, 4) &&
           rectangle(engine, c, SRC, c->src, c->src_pitch, c->src_width * 4u, c->src_height, 4);
}

static bool decode_filter(struct refgpu_engine *engine, const uint32_t *words,
                          struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->dst_pitch = words[3];
    c->src = operand64(words + 4);
    c->src_pitch = words[6];
    c->width = words[7];
    c->height = words[8];
    if (c->opcode == REFGPU_OP_CONVOLVE) {
        for (unsigned i = 0; i < 9u; i++) {
            const uint32_t half = (words[9u + i / 2u] >> (i % 2u * 16u)) & 0xFFFFu;

            c->coefficient[i] = (int16_t)(half < 0x8000u ? (int32_t)half : (int32_t)half - 0x10000);
        }
    } else {
        c->value = words[9];
        if (c->value > 255u)
            return error(engine, REFGPU_ERROR_SIZE);
    }
    if (!size_ok(engine, c->width, c->height, REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS))
        return false;
    slice_rows(c, (uint64_t)c->width * 4u);
    return rectangle(engine, c, DST, c->dst, c->dst_pitch, c->width * 4u, c->height, 4) &&
           rectangle(engine, c, SRC, c->src, c->src_pitch, c->width * 4u, c->height, 4);
}

static bool decode_raw(struct refgpu_engine *engine, const uint32_t *words, struct refgpu_command *c)
{
    c->src = operand64(words + 1);
    c->bytes = words[3];
    c->value = words[4];
    c->dst = operand64(words + 5);
    if (!c->bytes || c->bytes > REFGPU_MAX_RAW_BYTES)
        return error(engine, REFGPU_ERROR_SIZE);
    return fits(engine, c, DST, c->dst, c->bytes);
}

/* Table commands: `count` entries from `words[index]` on, either inline (`fixed`: number of dwords
 * before them) or repeated (fixed 0). */
static bool decode_entries(struct refgpu_engine *engine, const uint32_t *words,
                           struct refgpu_command *c)
{
    const bool gart = c->opcode == REFGPU_OP_GART_WRITE || c->opcode == REFGPU_OP_GART_FILL;
    const bool list = c->opcode == REFGPU_OP_PTE_WRITE || c->opcode == REFGPU_OP_GART_WRITE;
    const uint32_t fixed = gart ? 3u : 4u;

    if (c->dwords < fixed)
        return error(engine, REFGPU_ERROR_LENGTH);
    c->dst = gart ? words[1] : operand64(words + 1);
    c->width = words[fixed - 1u];
    c->bytes = (uint64_t)c->width * 8u;
    if (!c->width || c->width > REFGPU_GART_MAX_PAGES)
        return error(engine, REFGPU_ERROR_SIZE);
    if (list && (c->dwords - fixed) / 2u != c->width)
        return error(engine, REFGPU_ERROR_LENGTH);
    if (list && (c->dwords - fixed) % 2u)
        return error(engine, REFGPU_ERROR_LENGTH);
    if (gart) {
        if (c->dst + c->width > engine->device->gart_pages)
            return error(engine, REFGPU_ERROR_RANGE);
        c->dst = engine->device->gart_table + c->dst * 8u;
    }
    if (c->dst % 8u)
        return error(engine, REFGPU_ERROR_ALIGN);
    if (gart || !(c->flags & REFGPU_PTE_VIRTUAL))
        c->flags |= DST;
    return fits(engine, c, DST, c->dst, c->bytes);
}

static bool decode_flush(struct refgpu_engine *engine, const uint32_t *words,
                         struct refgpu_command *c)
{
    c->dst = operand64(words + 1);
    c->src = operand64(words + 3);
    c->value = operand64(words + 5);
    if (c->src % REFGPU_PAGE_BYTES || c->value % REFGPU_PAGE_BYTES)
        return error(engine, REFGPU_ERROR_ALIGN);
    if (c->src > VA_END || c->value > VA_END)
        return error(engine, REFGPU_ERROR_RANGE);
    return true;
}

static bool allowed(struct refgpu_engine *engine, const struct refgpu_command *c)
{
    const struct shape *shape;
    const bool privileged = (engine->entry.flags & REFGPU_ENTRY_PRIVILEGED) != 0;

    if (c->opcode >= sizeof shapes / sizeof shapes[0] || !shapes[c->opcode].known)
        return error(engine, REFGPU_ERROR_OPCODE);
    shape = &shapes[c->opcode];
    if (((shape->where & ON_2D) && engine->index != REFGPU_ENGINE_2D) ||
        ((shape->where & ON_COPY) && engine->index == REFGPU_ENGINE_2D))
        return error(engine, REFGPU_ERROR_ENGINE);
    if (shape->dwords && c->dwords != shape->dwords)
        return error(engine, REFGPU_ERROR_LENGTH);
    if (c->flags & ~(shape->flags | (engine->index != REFGPU_ENGINE_2D ? shape->spaces : 0u)))
        return error(engine, REFGPU_ERROR_FLAGS);
    if (!privileged && ((shape->where & PRIVILEGED) || (c->flags & (DST | SRC))))
        return error(engine, REFGPU_ERROR_PRIVILEGE);
    return true;
}

bool refgpu_command_decode(struct refgpu_engine *engine, const uint32_t *words,
                           struct refgpu_command *c)
{
    memset(c, 0, sizeof *c);
    c->opcode = REFGPU_CMD_OPCODE(words[0]);
    c->flags = REFGPU_CMD_FLAGS(words[0]);
    c->dwords = REFGPU_CMD_DWORDS(words[0]);
    c->slices = 1;
    if (!allowed(engine, c))
        return false;
    switch (c->opcode) {
    case REFGPU_OP_WRITE:
    case REFGPU_OP_WAIT:
    case REFGPU_OP_TIMESTAMP:
        return decode_memory_word(engine, words, c);
    case REFGPU_OP_DELAY:
        c->value = words[1];
        return true;
    case REFGPU_OP_FILL:
        return decode_fill(engine, words, c);
    case REFGPU_OP_FILL_RECT:
        return decode_fill_rect(engine, words, c);
    case REFGPU_OP_COPY:
        return decode_copy(engine, words, c);
    case REFGPU_OP_COPY_RECT:
        return decode_copy_rect(engine, words, c);
    case REFGPU_OP_SCALE:
        return decode_scale(engine, words, c);
    case REFGPU_OP_BLEND:
    case REFGPU_OP_CONVOLVE:
        return decode_filter(engine, words, c);
    case REFGPU_OP_RAW_ACCESS:
        return decode_raw(engine, words, c);
    case REFGPU_OP_PTE_WRITE:
    case REFGPU_OP_PTE_FILL:
    case REFGPU_OP_GART_WRITE:
    case REFGPU_OP_GART_FILL:
        return decode_entries(engine, words, c);
    case REFGPU_OP_TLB_FLUSH:
        return decode_flush(engine, words, c);
    default:
        return true; /* NOP, HANG */
    }
}
