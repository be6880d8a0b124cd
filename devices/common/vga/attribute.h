/* SPDX-License-Identifier: MIT */
/*
 * Of the old VGA registers those that decide whether there is a picture: the attribute controller,
 * whose one port takes an index and data in turn, and whose index has the bit that lets the picture
 * through. It is set at power on, as by a firmware.
 */
#ifndef DEVICES_COMMON_VGA_ATTRIBUTE_H
#define DEVICES_COMMON_VGA_ATTRIBUTE_H

#include <stdbool.h>
#include <stdint.h>

#define VGA_PORTS      0x3C0u
#define VGA_PORT_COUNT 0x20u

struct vga_attribute {
    bool data_next; /* the flip-flop */
    uint8_t index;
    uint8_t reg[32];
    uint8_t misc;
};

void vga_attribute_reset(struct vga_attribute *vga);
/* Of one byte; `offset` from VGA_PORTS. What is not here reads as ones. */
uint8_t vga_attribute_read(struct vga_attribute *vga, uint64_t offset);
void vga_attribute_write(struct vga_attribute *vga, uint64_t offset, uint8_t value);
bool vga_attribute_blanks(const struct vga_attribute *vga);

#endif
