/* SPDX-License-Identifier: MIT */
#include "pixel.h"

#include <string.h>

/* Channels 0 and 2 of a pixel as two 16-bit lanes; and channels 1 and 3. */
#define EVEN(p) ((p)&0x00FF00FFu)
#define ODD(p)  (((p) >> 8) & 0x00FF00FFu)

void refgpu_pixel_fill(uint32_t *dst, uint64_t pixels, uint32_t pattern)
{
    if (pattern == (pattern & 0xFFu) * 0x01010101u) {
        memset(dst, (int)(pattern & 0xFFu), pixels * 4u);
        return;
    }
    for (uint64_t i = 0; i < pixels; i++)
        dst[i] = pattern;
}

uint32_t refgpu_pixel_scale_at(uint32_t position, uint32_t dst_size, uint32_t src_size)
{
    const int64_t step = (int64_t)(((uint64_t)src_size << 16) / dst_size);
    const int64_t last = (int64_t)(src_size - 1u) * 65536;
    int64_t at = (int64_t)position * step + step / 2 - 0x8000;

    if (at < 0)
        at = 0;
    if (at > last)
        at = last;
    return (uint32_t)(at /
                      256); /* 16.16 -> 24.8: the pixel, and the top eight bits of its fraction */
}

void refgpu_pixel_scale_table(uint32_t *table, uint32_t dst_width, uint32_t src_width)
{
    for (uint32_t x = 0; x < dst_width; x++)
        table[x] = refgpu_pixel_scale_at(x, dst_width, src_width);
}

/* a * (256 - f) + b * f for two lanes; each lane stays below 65536 */
static inline uint32_t mix_lanes(uint32_t a, uint32_t b, uint32_t f)
{
    return a * (256u - f) + b * f;
}

static inline uint32_t mix_channel(uint32_t top, uint32_t bottom, uint32_t f)
{
    return (top * (256u - f) + bottom * f + 0x8000u) >> 16;
}

void refgpu_pixel_scale_row(uint32_t *dst, uint32_t dst_width, const uint32_t *above,
                            const uint32_t *below, uint32_t fraction, const uint32_t *table,
                            uint32_t src_width)
{
    for (uint32_t x = 0; x < dst_width; x++) {
        const uint32_t left = table[x] >> 8;
        const uint32_t right = left + 1u < src_width ? left + 1u : left;
        const uint32_t f = table[x] & 0xFFu;
        const uint32_t top_even = mix_lanes(EVEN(above[left]), EVEN(above[right]), f);
        const uint32_t top_odd = mix_lanes(ODD(above[left]), ODD(above[right]), f);
        const uint32_t low_even = mix_lanes(EVEN(below[left]), EVEN(below[right]), f);
        const uint32_t low_odd = mix_lanes(ODD(below[left]), ODD(below[right]), f);

        dst[x] = mix_channel(top_even & 0xFFFFu, low_even & 0xFFFFu, fraction) |
                 mix_channel(top_odd & 0xFFFFu, low_odd & 0xFFFFu, fraction) << 8 |
                 mix_channel(top_even >> 16, low_even >> 16, fraction) << 16 |
                 mix_channel(top_odd >> 16, low_odd >> 16, fraction) << 24;
    }
}

/* Nearest integer to x / 255, for 0 <= x <= 65025. */
static inline uint32_t div255(uint32_t x)
{
    return (x + 128u + ((x + 128u) >> 8)) >> 8;
}

static inline uint32_t add_clamped(uint32_t a, uint32_t b)
{
    return a + b > 255u ? 255u : a + b;
}

static uint32_t blend_premultiplied(uint32_t d, uint32_t s, uint32_t alpha)
{
    const uint32_t keep = 255u - div255((s >> 24) * alpha);
    uint32_t out = 0;

    for (unsigned shift = 0; shift < 32u; shift += 8u)
        out |= add_clamped(div255(((s >> shift) & 0xFFu) * alpha),
                           div255(((d >> shift) & 0xFFu) * keep))
               << shift;
    return out;
}

static uint32_t blend_straight(uint32_t d, uint32_t s, uint32_t alpha)
{
    const uint32_t weight = div255((s >> 24) * alpha);
    uint32_t out = add_clamped(weight, div255((d >> 24) * (255u - weight))) << 24;

    for (unsigned shift = 0; shift < 24u; shift += 8u)
        out |= div255(((s >> shift) & 0xFFu) * weight + ((d >> shift) & 0xFFu) * (255u - weight))
               << shift;
    return out;
}

void refgpu_pixel_blend_row(uint32_t *dst, const uint32_t *src, uint32_t width, uint32_t alpha,
                            bool straight)
{
    for (uint32_t x = 0; x < width; x++)
        dst[x] = straight ? blend_straight(dst[x], src[x], alpha)
                          : blend_premultiplied(dst[x], src[x], alpha);
}

static inline uint32_t clamp_channel(int32_t sum)
{
    /* floor((sum + 128) / 256), clamped to 0..255; negative sums give 0 first, so that no negative
     * number is shifted */
    if (sum < 0)
        return 0;
    sum = (sum + 128) / 256;
    return sum > 255 ? 255u : (uint32_t)sum;
}

static inline void add_pixel(int32_t sum[4], uint32_t pixel, int32_t k)
{
    sum[0] += (int32_t)(pixel & 0xFFu) * k;
    sum[1] += (int32_t)((pixel >> 8) & 0xFFu) * k;
    sum[2] += (int32_t)((pixel >> 16) & 0xFFu) * k;
    sum[3] += (int32_t)(pixel >> 24) * k;
}

void refgpu_pixel_convolve_row(uint32_t *dst, const uint32_t *const rows[3], uint32_t width,
                               const int16_t coefficient[9], bool keep_alpha)
{
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t left = x ? x - 1u : 0u;
        const uint32_t right = x + 1u < width ? x + 1u : x;
        int32_t sum[4] = {0, 0, 0, 0};
        uint32_t out;

        for (unsigned y = 0; y < 3u; y++) {
            add_pixel(sum, rows[y][left], coefficient[3u * y]);
            add_pixel(sum, rows[y][x], coefficient[3u * y + 1u]);
            add_pixel(sum, rows[y][right], coefficient[3u * y + 2u]);
        }
        out = clamp_channel(sum[0]) | clamp_channel(sum[1]) << 8 | clamp_channel(sum[2]) << 16;
        dst[x] = out | (keep_alpha ? rows[1][x] & 0xFF000000u : clamp_channel(sum[3]) << 24);
    }
}
