/* SPDX-License-Identifier: MIT */
#include "attribute.h"

#define INDEX_WRITE  0x00u /* 0x3C0: index, then data */
#define DATA_READ    0x01u
#define MISC_WRITE   0x02u
#define MISC_READ    0x0Cu
#define STATUS       0x1Au /* 0x3DA: a read sets the flip-flop to index */
#define PICTURE      0x20u /* of the index */
#define INDEX        0x1Fu
#define COLOUR_PORTS 0x01u
#define DISPLAY_AREA 0x00u

void vga_attribute_reset(struct vga_attribute *vga)
{
    *vga = (struct vga_attribute){.index = PICTURE, .misc = COLOUR_PORTS};
}

uint8_t vga_attribute_read(struct vga_attribute *vga, uint64_t offset)
{
    switch (offset) {
    case INDEX_WRITE:
        return vga->index;
    case DATA_READ:
        return vga->reg[vga->index & INDEX];
    case MISC_READ:
        return vga->misc;
    case STATUS:
        vga->data_next = false;
        return DISPLAY_AREA;
    default:
        return 0xFF;
    }
}

void vga_attribute_write(struct vga_attribute *vga, uint64_t offset, uint8_t value)
{
    if (offset == MISC_WRITE)
        vga->misc = value;
    if (offset != INDEX_WRITE)
        return;
    if (vga->data_next)
        vga->reg[vga->index & INDEX] = value;
    else
        vga->index = value & (PICTURE | INDEX);
    vga->data_next = !vga->data_next;
}

bool vga_attribute_blanks(const struct vga_attribute *vga)
{
    return !(vga->index & PICTURE);
}
