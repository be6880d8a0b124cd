/* SPDX-License-Identifier: MIT */
#include "screens/scanouts_record.h"
#include "util/address.h"

/* The host is not told the pitch of a primary: the largest alignment of lines for which the
 * allocation is large enough. */
UINT scanout_pitch(UINT line, UINT height, uint64_t bytes)
{
    for (UINT alignment = 4096; alignment > 1; alignment /= 2) {
        const uint64_t pitch = align_up(line, alignment);

        if (pitch * height <= bytes)
            return (UINT)pitch;
    }
    return line;
}
