/* SPDX-License-Identifier: MIT */
/* Tags of pool blocks, for reports. */
#include "nt/mm/pool.h"

void nt_pool_tag_text(uint32_t tag, char text[5])
{
    for (unsigned i = 0; i < 4; i++) {
        char c = (char)(tag >> (8 * i));

        text[i] = c >= 0x20 && c <= 0x7E ? c : '.';
    }
    text[4] = '\0';
}
