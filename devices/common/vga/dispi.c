/* SPDX-License-Identifier: MIT */
#include "dispi.h"

#include <string.h>

#define MOST_BPP    32u
#define BANK_BYTES  65536u
#define OLDEST      0xB0C0u
#define FIRST_WIDTH 8u /* the width is a multiple of it */

static bool is_enabled(const struct dispi *dispi)
{
    return dispi->reg[DISPI_ENABLE] & DISPI_ENABLED;
}

static uint32_t pixel_bytes(const struct dispi *dispi)
{
    return dispi->reg[DISPI_BPP] / 8u;
}

static uint32_t pitch(const struct dispi *dispi)
{
    return dispi->reg[DISPI_VIRT_WIDTH] * pixel_bytes(dispi);
}

void dispi_reset(struct dispi *dispi, uint8_t *vram, uint64_t vram_bytes)
{
    *dispi = (struct dispi){.vram = vram, .vram_bytes = vram_bytes};
    dispi->reg[DISPI_ID] = DISPI_NEWEST;
    dispi->reg[DISPI_BPP] = 32;
    dispi->reg[DISPI_VIDEO_MEMORY_64K] = (uint16_t)(vram_bytes / BANK_BYTES);
}

static uint16_t at_most(uint32_t value, uint32_t most)
{
    return (uint16_t)(value < most ? value : most);
}

/* What is enabled is made possible: the picture lies within the virtual screen, that in memory. */
static void fit(struct dispi *dispi)
{
    uint16_t *reg = dispi->reg;
    const uint32_t bytes = pixel_bytes(dispi);
    uint64_t lines;

    reg[DISPI_XRES] = at_most(reg[DISPI_XRES] & ~(FIRST_WIDTH - 1u), DISPI_MOST_XRES);
    if (reg[DISPI_XRES] == 0)
        reg[DISPI_XRES] = FIRST_WIDTH;
    reg[DISPI_YRES] = at_most(reg[DISPI_YRES] ? reg[DISPI_YRES] : 1u, DISPI_MOST_YRES);
    reg[DISPI_VIRT_WIDTH] = at_most(reg[DISPI_VIRT_WIDTH] & ~(FIRST_WIDTH - 1u), DISPI_MOST_XRES);
    if (reg[DISPI_VIRT_WIDTH] < reg[DISPI_XRES])
        reg[DISPI_VIRT_WIDTH] = reg[DISPI_XRES];
    lines = dispi->vram_bytes / ((uint64_t)reg[DISPI_VIRT_WIDTH] * bytes);
    reg[DISPI_VIRT_HEIGHT] = at_most((uint32_t)(lines < 0xFFFF ? lines : 0xFFFF), 0xFFFF);
    reg[DISPI_YRES] = at_most(reg[DISPI_YRES], reg[DISPI_VIRT_HEIGHT]);
    reg[DISPI_X_OFFSET] = at_most(reg[DISPI_X_OFFSET],
                                  (uint32_t)reg[DISPI_VIRT_WIDTH] - reg[DISPI_XRES]);
    reg[DISPI_Y_OFFSET] = at_most(reg[DISPI_Y_OFFSET],
                                  (uint32_t)reg[DISPI_VIRT_HEIGHT] - reg[DISPI_YRES]);
}

static void enable(struct dispi *dispi, uint16_t value)
{
    const bool begins = (value & DISPI_ENABLED) && !is_enabled(dispi);

    dispi->reg[DISPI_ENABLE] = value;
    if (!begins)
        return;
    dispi->reg[DISPI_VIRT_WIDTH] = dispi->reg[DISPI_XRES];
    dispi->reg[DISPI_X_OFFSET] = 0;
    dispi->reg[DISPI_Y_OFFSET] = 0;
    fit(dispi);
    if (!(value & DISPI_NOCLEARMEM))
        memset(dispi->vram, 0, (size_t)pitch(dispi) * dispi->reg[DISPI_YRES]);
}

uint16_t dispi_read(const struct dispi *dispi, uint32_t index)
{
    if (index >= DISPI_REGISTERS)
        return 0;
    if (dispi->reg[DISPI_ENABLE] & DISPI_GETCAPS) {
        if (index == DISPI_XRES)
            return DISPI_MOST_XRES;
        if (index == DISPI_YRES)
            return DISPI_MOST_YRES;
        if (index == DISPI_BPP)
            return MOST_BPP;
    }
    return dispi->reg[index];
}

void dispi_write(struct dispi *dispi, uint32_t index, uint16_t value)
{
    switch (index) {
    case DISPI_ID:
        if (value >= OLDEST && value <= DISPI_NEWEST)
            dispi->reg[DISPI_ID] = value;
        break;
    case DISPI_BPP:
        if (value == 16 || value == 24 || value == 32)
            dispi->reg[DISPI_BPP] = value;
        break;
    case DISPI_XRES:
    case DISPI_YRES:
    case DISPI_BANK:
    case DISPI_VIRT_WIDTH:
    case DISPI_X_OFFSET:
    case DISPI_Y_OFFSET:
        dispi->reg[index] = value;
        break;
    case DISPI_ENABLE:
        enable(dispi, value);
        break;
    default:
        break;
    }
    if (is_enabled(dispi))
        fit(dispi);
}

uint64_t dispi_port_read(const struct dispi *dispi, uint64_t offset, unsigned width)
{
    if (width != 2)
        return ~0ull;
    return offset == 0 ? dispi->index : dispi_read(dispi, dispi->index);
}

void dispi_port_write(struct dispi *dispi, uint64_t offset, unsigned width, uint64_t value)
{
    if (width != 2)
        return;
    if (offset == 0)
        dispi->index = (uint16_t)value;
    else
        dispi_write(dispi, dispi->index, (uint16_t)value);
}

enum dxgk_scanout_state dispi_scanout(const struct dispi *dispi, struct dxgk_scanout *scanout)
{
    const uint16_t *reg = dispi->reg;
    uint64_t start;

    if (!is_enabled(dispi))
        return DXGK_SCANOUT_FIRMWARE;
    start = (uint64_t)pitch(dispi) * reg[DISPI_Y_OFFSET] +
            (uint64_t)reg[DISPI_X_OFFSET] * pixel_bytes(dispi);
    scanout->width = reg[DISPI_XRES];
    scanout->height = reg[DISPI_YRES];
    scanout->pitch = pitch(dispi);
    scanout->format = reg[DISPI_BPP] == 32   ? DXGK_PIXEL_BGRX
                      : reg[DISPI_BPP] == 24 ? DXGK_PIXEL_BGR
                                             : DXGK_PIXEL_RGB565;
    scanout->pixels = dispi->vram + start;
    scanout->bytes = dispi->vram_bytes - start;
    return DXGK_SCANOUT_ON;
}
