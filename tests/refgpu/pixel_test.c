/* SPDX-License-Identifier: MIT */
/*
 * Pixel operations against a slow second opinion: written from the formulas of docs/refgpu.md with
 * doubles and 64-bit integers, one pixel and one channel at a time, sharing nothing with the model.
 * Both engines, contiguous and scattered memory, odd pitches.
 */
#include "support/check_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_machine.h"

#define IMAGE_BYTES (1u << 20)
#define SRC_VA      (FAKE_VA + 0x40000000ull)
#define DST_VA      (FAKE_VA + 0x80000000ull)

struct image {
    uint8_t *bytes; /* expected content; the device's copy lies in RAM */
    uint64_t bus, address;
};

struct bench {
    struct fake *fake;
    uint32_t engine;
    struct image src, dst;
    uint64_t seed;
};

static uint32_t random32(struct bench *b)
{
    b->seed = b->seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(b->seed >> 33) ^ (uint32_t)(b->seed >> 12);
}

static void image_init(struct bench *b, struct image *image, uint64_t bus, uint64_t va,
                       uint32_t gart_page)
{
    image->bytes = malloc(IMAGE_BYTES);
    CHECK(image->bytes != NULL);
    image->bus = bus;
    image->address = b->engine == REFGPU_ENGINE_COPY
                         ? va
                         : REFGPU_GART_BASE + (uint64_t)gart_page * 4096u;
    for (uint32_t i = 0; i < IMAGE_BYTES / 4096u; i++) {
        fake_map(b->fake, va + i * 4096u, (bus + i * 4096u) | REFGPU_PTE_VALID | REFGPU_PTE_SYSTEM);
        fake_gart(b->fake, gart_page + i, (bus + i * 4096u) | REFGPU_GART_VALID);
    }
}

static void image_randomize(struct bench *b, struct image *image)
{
    for (uint32_t i = 0; i < IMAGE_BYTES; i += 4u) {
        const uint32_t word = random32(b);

        memcpy(image->bytes + i, &word, 4);
    }
    fake_ram_write(b->fake, image->bus, image->bytes, IMAGE_BYTES);
}

static void bench_init(struct bench *b, uint32_t engine, bool scatter)
{
    memset(b, 0, sizeof *b);
    b->fake = fake_create(NULL, 0);
    b->fake->scatter = scatter;
    b->engine = engine;
    b->seed = 20240607u + engine * 2u + scatter;
    fake_start(b->fake);
    image_init(b, &b->src, 0x400000, SRC_VA, 0);
    image_init(b, &b->dst, 0x800000, DST_VA, 256);
}

static void bench_finish(struct bench *b)
{
    free(b->src.bytes);
    free(b->dst.bytes);
    fake_destroy(b->fake);
}

static void run_and_compare(struct bench *b, struct refgpu_builder *builder)
{
    uint8_t *result = malloc(IMAGE_BYTES);

    CHECK(result != NULL);
    fake_submit(b->fake, b->engine, builder);
    CHECK(fake_engine_read(b->fake, b->engine, REFGPU_ENG_STATUS) == 0);
    fake_ram_read(b->fake, b->dst.bus, result, IMAGE_BYTES);
    for (uint32_t i = 0; i < IMAGE_BYTES; i++) {
        if (result[i] != b->dst.bytes[i])
            fail_msg("byte %u is %u, should be %u", i, result[i], b->dst.bytes[i]);
    }
    free(result);
}

static uint8_t *pixel(struct image *image, uint32_t offset, uint32_t pitch, int64_t x, int64_t y)
{
    return image->bytes + offset + (uint64_t)y * pitch + (uint64_t)x * 4u;
}

static int64_t clamp64(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- scaling: section "Scaled blit" ---- */

static void scale_axis(int64_t i, int64_t dst, int64_t src, int64_t *first, int64_t *second,
                       int64_t *weight)
{
    const int64_t step = src * 65536 / dst;
    const int64_t u = clamp64(i * step + (int64_t)floor((double)step / 2.0) - 32768, 0,
                              (src - 1) * 65536);

    *first = (int64_t)floor((double)u / 65536.0);
    *second = *first + 1 > src - 1 ? src - 1 : *first + 1;
    *weight = (int64_t)floor((double)(u - *first * 65536) / 256.0);
}

static void slow_scale(struct bench *b, uint32_t d_off, uint32_t dp, uint32_t dw, uint32_t dh,
                       uint32_t s_off, uint32_t sp, uint32_t sw, uint32_t sh)
{
    for (uint32_t y = 0; y < dh; y++) {
        for (uint32_t x = 0; x < dw; x++) {
            int64_t x0, x1, fx, y0, y1, fy;

            scale_axis(x, dw, sw, &x0, &x1, &fx);
            scale_axis(y, dh, sh, &y0, &y1, &fy);
            for (int c = 0; c < 4; c++) {
                const int64_t top = pixel(&b->src, s_off, sp, x0, y0)[c] * (256 - fx) +
                                    pixel(&b->src, s_off, sp, x1, y0)[c] * fx;
                const int64_t low = pixel(&b->src, s_off, sp, x0, y1)[c] * (256 - fx) +
                                    pixel(&b->src, s_off, sp, x1, y1)[c] * fx;

                pixel(&b->dst, d_off, dp, x, y)[c] = (uint8_t)floor(
                    (double)(top * (256 - fy) + low * fy + 32768) / 65536.0);
            }
        }
    }
}

static void scale_cases(struct bench *b)
{
    static const uint16_t sizes[][4] = {{1, 1, 1, 1},     {7, 5, 1, 1},      {1, 1, 9, 3},
                                        {64, 48, 64, 48}, {33, 20, 100, 77}, {200, 150, 31, 17},
                                        {640, 3, 2, 300}, {5, 333, 12, 1}};

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t dw = sizes[i][0], dh = sizes[i][1], sw = sizes[i][2], sh = sizes[i][3];
        const uint32_t dp = dw * 4u + random32(b) % 40u * 4u, sp = sw * 4u + random32(b) % 40u * 4u;
        const uint32_t d_off = random32(b) % 1000u * 4u, s_off = random32(b) % 1000u * 4u;
        uint32_t words[32];
        struct refgpu_builder builder;

        image_randomize(b, &b->src);
        image_randomize(b, &b->dst);
        slow_scale(b, d_off, dp, dw, dh, s_off, sp, sw, sh);
        refgpu_builder_init(&builder, words, sizeof words);
        refgpu_scale(&builder, b->dst.address + d_off, dp, dw, dh, b->src.address + s_off, sp, sw,
                     sh);
        run_and_compare(b, &builder);
    }
}

/* ---- blending: section "Alpha blend" ---- */

static int64_t rounded255(int64_t x)
{
    return (int64_t)floor((double)x / 255.0 +
                          0.5); /* x / 255 is never half way between two integers */
}

static void slow_blend(struct bench *b, uint32_t off, uint32_t pitch, uint32_t w, uint32_t h,
                       int64_t alpha, bool straight)
{
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; x < w; x++) {
            const uint8_t *s = pixel(&b->src, off, pitch, x, y);
            uint8_t *d = pixel(&b->dst, off, pitch, x, y);
            const int64_t sa = rounded255(s[3] * alpha);

            for (int c = 0; c < 4; c++) {
                int64_t out;

                if (!straight)
                    out = rounded255(s[c] * alpha) + rounded255(d[c] * (255 - sa));
                else if (c == 3)
                    out = sa + rounded255(d[3] * (255 - sa));
                else
                    out = rounded255(s[c] * sa + d[c] * (255 - sa));
                d[c] = (uint8_t)clamp64(out, 0, 255);
            }
        }
    }
}

static void blend_cases(struct bench *b)
{
    for (uint32_t i = 0; i < 16u; i++) {
        const uint32_t w = 1u + random32(b) % 300u, h = 1u + random32(b) % 100u;
        const uint32_t pitch = w * 4u + random32(b) % 20u * 4u, off = random32(b) % 500u * 4u;
        const uint32_t alpha = i < 2u ? i * 255u : random32(b) % 256u;
        uint32_t words[32];
        struct refgpu_builder builder;

        image_randomize(b, &b->src);
        image_randomize(b, &b->dst);
        slow_blend(b, off, pitch, w, h, alpha, i & 1u);
        refgpu_builder_init(&builder, words, sizeof words);
        refgpu_blend(&builder, b->dst.address + off, pitch, b->src.address + off, pitch, w, h,
                     alpha, i & 1u ? REFGPU_BLEND_STRAIGHT : 0);
        run_and_compare(b, &builder);
    }
}

/* ---- convolution: section "Convolution" ---- */

static void slow_convolve(struct bench *b, uint32_t off, uint32_t pitch, uint32_t w, uint32_t h,
                          const int16_t k[9], bool keep)
{
    for (uint32_t y = 0; y < h; y++) {
        for (uint32_t x = 0; x < w; x++) {
            for (int c = 0; c < 4; c++) {
                int64_t sum = 0;

                for (int i = 0; i < 9; i++) {
                    const int64_t sx = clamp64((int64_t)x + i % 3 - 1, 0, w - 1);
                    const int64_t sy = clamp64((int64_t)y + i / 3 - 1, 0, h - 1);

                    sum += k[i] * (int64_t)pixel(&b->src, off, pitch, sx, sy)[c];
                }
                sum = clamp64((int64_t)floor((double)(sum + 128) / 256.0), 0, 255);
                pixel(&b->dst, off, pitch, x,
                      y)[c] = keep && c == 3 ? pixel(&b->src, off, pitch, x, y)[3] : (uint8_t)sum;
            }
        }
    }
}

static void convolve_cases(struct bench *b)
{
    static const int16_t blur[9] = {16, 32, 16, 32, 64, 32, 16, 32, 16};
    static const int16_t extreme[9] = {32767,  -32768, 32767,  -32768, 32767,
                                       -32768, 32767,  -32768, 32767};

    for (uint32_t i = 0; i < 12u; i++) {
        const uint32_t w = 1u + random32(b) % 200u, h = 1u + random32(b) % 60u;
        const uint32_t pitch = w * 4u + random32(b) % 20u * 4u, off = random32(b) % 500u * 4u;
        uint32_t words[32];
        struct refgpu_builder builder;
        int16_t k[9];

        for (int n = 0; n < 9; n++)
            k[n] = i == 0    ? blur[n]
                   : i == 1u ? extreme[n]
                             : (int16_t)((int32_t)(random32(b) % 1024u) - 512);
        image_randomize(b, &b->src);
        image_randomize(b, &b->dst);
        slow_convolve(b, off, pitch, w, h, k, i & 1u);
        refgpu_builder_init(&builder, words, sizeof words);
        refgpu_convolve(&builder, b->dst.address + off, pitch, b->src.address + off, pitch, w, h, k,
                        i & 1u ? REFGPU_CONVOLVE_KEEP_ALPHA : 0);
        run_and_compare(b, &builder);
    }
}

/* ---- fills and copies ---- */

static void move_cases(struct bench *b)
{
    uint32_t words[64];
    struct refgpu_builder builder;

    for (uint32_t i = 0; i < 8u; i++) {
        const uint32_t w = 1u + random32(b) % 300u, h = 1u + random32(b) % 80u;
        const uint32_t dp = w * 4u + random32(b) % 9u * 4u, sp = w * 4u + random32(b) % 77u;
        const uint32_t pattern = i & 1u ? 0xABABABABu : random32(b), bytes = random32(b) % 500000u;
        const uint32_t fill = random32(b) % 100000u * 4u;

        image_randomize(b, &b->src);
        image_randomize(b, &b->dst);
        refgpu_builder_init(&builder, words, sizeof words);
        refgpu_fill(&builder, b->dst.address + 12u, fill, pattern);
        for (uint32_t k = 0; k < fill; k += 4u)
            memcpy(b->dst.bytes + 12u + k, &pattern, 4);
        refgpu_copy(&builder, b->dst.address + 7u, b->src.address + 3u, bytes);
        memcpy(b->dst.bytes + 7u, b->src.bytes + 3u, bytes);
        refgpu_fill_rect(&builder, b->dst.address + 400u, dp, w, h, ~pattern);
        refgpu_copy_rect(&builder, b->dst.address + 0x90001u, dp, b->src.address + 5u, sp,
                         w * 4u - 1u, h);
        for (uint32_t y = 0; y < h; y++) {
            const uint32_t inverted = ~pattern;

            for (uint32_t x = 0; x < w; x++)
                memcpy(b->dst.bytes + 400u + y * dp + x * 4u, &inverted, 4);
        }
        for (uint32_t y = 0; y < h; y++)
            memcpy(b->dst.bytes + 0x90001u + y * dp, b->src.bytes + 5u + y * sp, w * 4u - 1u);
        run_and_compare(b, &builder);
    }
}

static void overlapping_copies(struct bench *b)
{
    static const int32_t shift[] = {1, -1, 4096, -4096, 70000, -70000, 12345, 0};
    uint32_t words[16];
    struct refgpu_builder builder;

    for (size_t i = 0; i < sizeof shift / sizeof shift[0]; i++) {
        const uint64_t from = 200000, to = (uint64_t)(200000 + (int64_t)shift[i]);

        image_randomize(b, &b->dst);
        memmove(b->dst.bytes + to, b->dst.bytes + from, 300001);
        refgpu_builder_init(&builder, words, sizeof words);
        refgpu_copy(&builder, b->dst.address + to, b->dst.address + from, 300001);
        run_and_compare(b, &builder);
    }
}

static void all_cases(uint32_t engine, bool scatter)
{
    struct bench b;

    bench_init(&b, engine, scatter);
    scale_cases(&b);
    blend_cases(&b);
    convolve_cases(&b);
    move_cases(&b);
    overlapping_copies(&b);
    bench_finish(&b);
}

TEST(engine_0_in_contiguous_memory)
{
    all_cases(REFGPU_ENGINE_2D, false);
}

TEST(engine_0_in_scattered_pages)
{
    all_cases(REFGPU_ENGINE_2D, true);
}

TEST(engine_1_in_contiguous_memory)
{
    all_cases(REFGPU_ENGINE_COPY, false);
}

TEST(engine_1_in_scattered_pages)
{
    all_cases(REFGPU_ENGINE_COPY, true);
}
