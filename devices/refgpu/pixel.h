/* SPDX-License-Identifier: MIT */
/*
 * Pixel arithmetic of RefGPU on rows in memory: pure functions, exactly as in the manual. Pixels
 * are 32 bits in memory order B, G, R, A (ARGB8888 as a little-endian word).
 */
#ifndef REFGPU_PIXEL_H
#define REFGPU_PIXEL_H

#include <stdbool.h>
#include <stdint.h>

void refgpu_pixel_fill(uint32_t *dst, uint64_t pixels, uint32_t pattern);

/* For each of `dst_width` destination pixels: left source pixel << 8 | fraction in 1/256. Sizes
 * 1..16384. */
void refgpu_pixel_scale_table(uint32_t *table, uint32_t dst_width, uint32_t src_width);
/* The same for one destination coordinate. */
uint32_t refgpu_pixel_scale_at(uint32_t position, uint32_t dst_size, uint32_t src_size);
/* One destination row between two source rows; `fraction` (0..255) is the weight of `below`. */
void refgpu_pixel_scale_row(uint32_t *dst, uint32_t dst_width, const uint32_t *above,
                            const uint32_t *below, uint32_t fraction, const uint32_t *table,
                            uint32_t src_width);

void refgpu_pixel_blend_row(uint32_t *dst, const uint32_t *src, uint32_t width, uint32_t alpha,
                            bool straight);

/* rows: above, same, below the destination row, after clamping. */
void refgpu_pixel_convolve_row(uint32_t *dst, const uint32_t *const rows[3], uint32_t width,
                               const int16_t coefficient[9], bool keep_alpha);

#endif
