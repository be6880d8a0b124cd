/* SPDX-License-Identifier: MIT */
/*
 * memmove for what seldom overlaps: the memmove of a sanitizer goes byte by byte, its memcpy does
 * not.
 */
#ifndef DXGK_UTIL_MOVE_H
#define DXGK_UTIL_MOVE_H

#include <stdint.h>
#include <string.h>

#include "util/checked.h"

static inline void *move_bytes(void *to, const void *from, size_t bytes)
{
    if (ranges_overlap((uintptr_t)to, bytes, (uintptr_t)from, bytes))
        return memmove(to, from, bytes);
    return memcpy(to, from, bytes);
}

#endif
