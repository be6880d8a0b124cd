/* SPDX-License-Identifier: MIT */
/* Where the beam of a source would be, by the time that has passed since a vertical sync
 * (PRES-196). */
#ifndef DXGK_SCREENS_BEAM_H
#define DXGK_SCREENS_BEAM_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct modes;

struct scanouts_line {
    UINT lines; /* of the target mode, with those of the blank */
    UINT line;
    bool in_blank;
};

/* `passed` is less than `period`, in ns. The source has a path. */
struct scanouts_line beam_line(const struct modes *modes, UINT source, uint64_t passed,
                               uint64_t period);

#endif
