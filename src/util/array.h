/* SPDX-License-Identifier: MIT */
/* Arrays whose length the compiler knows. */
#ifndef DXGK_UTIL_ARRAY_H
#define DXGK_UTIL_ARRAY_H

/* Number of elements of an array; not for pointers. */
#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
