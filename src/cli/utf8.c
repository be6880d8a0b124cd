/* SPDX-License-Identifier: MIT */
#include "cli/utf8.h"

#include <stdbool.h>
#include <stdint.h>

size_t cli_utf8_length(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : 4;
    uint32_t code = length < 2 ? c[0] : c[0] & (0x7Fu >> length);

    if (c[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++) { /* ends at the text's end, too */
        if ((c[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (c[i] & 0x3Fu);
    }
    return length && code >= least[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF)
               ? length
               : 0;
}
