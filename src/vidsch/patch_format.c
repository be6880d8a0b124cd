/* SPDX-License-Identifier: MIT */
#include "vidsch/patch_format.h"
#include "util/array.h"

#include <string.h>

/* Slots in the commands of a VC4, in Microsoft's render-only sample. */
#define VC4_SLOT(number) .slot = (number), .slot_mask = 0xFFFFFF

static const struct dxgk_patch_format built_in[] = {
    {
        /* Microsoft's compute-only sample: 8 bytes, in buffers for the CPU the offset in the
         * segment, else the address in system memory */
        .name = "coskmd",
        .encodings = 1,
        .encoding = {{.bytes = 8, .own_base = true}},
    },
    {
        /* Microsoft's render-only sample, buffers for the CPU */
        .name = "roskmd",
        .encodings = 1,
        .encoding = {{.bytes = 8, .own_base = true}},
    },
    {
        /* the same, commands of a VC4: addresses inside the DMA buffer are written by
         * SubmitCommand, and a render target's goes into private data */
        .name = "roskmd-vc4",
        .encodings = 10,
        .encoding = {{VC4_SLOT(0x80), .bytes = 4, .any_value = true},
                     {VC4_SLOT(0x81), .bytes = 4, .any_value = true},
                     {VC4_SLOT(0xC0)},
                     {VC4_SLOT(0xE0)},
                     {VC4_SLOT(0xE1)},
                     {VC4_SLOT(0xE2)},
                     {VC4_SLOT(0xE3)},
                     {VC4_SLOT(0xE4)},
                     {VC4_SLOT(0xE5)},
                     {.bytes = 4, .own_base = true}},
    },
};

const struct dxgk_patch_format *patch_format_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(built_in); i++)
        if (strcmp(built_in[i].name, name) == 0)
            return &built_in[i];
    return NULL;
}

bool patch_format_check(const struct dxgk_patch_format *format, const char **why)
{
    *why = NULL;
    if (format->encodings == 0 || format->encodings > DXGK_PATCH_ENCODINGS)
        *why = "it has no encodings, or more than DXGK_PATCH_ENCODINGS";
    for (uint32_t i = 0; !*why && i < format->encodings; i++) {
        const struct dxgk_patch_encoding *e = &format->encoding[i];

        if (e->bytes != 0 && e->bytes != 4 && e->bytes != 8)
            *why = "an encoding has neither 0, 4 nor 8 bytes";
        else if (e->right > 63 || e->left > 63 || e->driver_shift > 63)
            *why = "an encoding shifts by more than 63 bits";
        else if (e->bytes == 4 && e->mask >> 32)
            *why = "an encoding of 4 bytes has a mask of more bits";
        else if ((e->driver & ~e->driver_mask) || (e->slot & ~e->slot_mask))
            *why = "an encoding is for a DriverId or SlotId outside its mask";
    }
    return !*why;
}
