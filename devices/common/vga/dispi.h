/* SPDX-License-Identifier: MIT */
/*
 * The registers of the Bochs VBE interface ("DISPI"), which program a linear frame buffer at the
 * start of video memory: 16 bits each, chosen by an index.
 */
#ifndef DEVICES_COMMON_VGA_DISPI_H
#define DEVICES_COMMON_VGA_DISPI_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/scanout.h"

enum dispi_index {
    DISPI_ID = 0,
    DISPI_XRES,
    DISPI_YRES,
    DISPI_BPP,
    DISPI_ENABLE,
    DISPI_BANK,
    DISPI_VIRT_WIDTH,
    DISPI_VIRT_HEIGHT,
    DISPI_X_OFFSET,
    DISPI_Y_OFFSET,
    DISPI_VIDEO_MEMORY_64K,
    DISPI_REGISTERS,
};

/* Bits of DISPI_ENABLE */
#define DISPI_ENABLED    0x01u
#define DISPI_GETCAPS    0x02u /* XRES, YRES and BPP read as the largest values */
#define DISPI_LFB        0x40u
#define DISPI_NOCLEARMEM 0x80u

#define DISPI_NEWEST    0xB0C5u /* of DISPI_ID */
#define DISPI_MOST_XRES 16000u
#define DISPI_MOST_YRES 12000u

#define DISPI_PORTS      0x1CEu /* index; the register itself at 0x1CF, and at 0x1D0 */
#define DISPI_PORT_COUNT 4u

struct dispi {
    uint16_t reg[DISPI_REGISTERS];
    uint16_t index; /* chosen by the index port */
    uint8_t *vram;
    uint64_t vram_bytes;
};

/* Power-on and reset: nothing is enabled. Memory keeps its content. */
void dispi_reset(struct dispi *dispi, uint8_t *vram, uint64_t vram_bytes);
/* An index that there is not reads as 0. */
uint16_t dispi_read(const struct dispi *dispi, uint32_t index);
void dispi_write(struct dispi *dispi, uint32_t index, uint16_t value);
/* The same through the ports; `offset` from DISPI_PORTS. */
uint64_t dispi_port_read(const struct dispi *dispi, uint64_t offset, unsigned width);
void dispi_port_write(struct dispi *dispi, uint64_t offset, unsigned width, uint64_t value);
/* DXGK_SCANOUT_FIRMWARE while it is not enabled. */
enum dxgk_scanout_state dispi_scanout(const struct dispi *dispi, struct dxgk_scanout *scanout);

#endif
