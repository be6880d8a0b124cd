/* SPDX-License-Identifier: MIT */
/* What classes.cpp tells. */
#ifndef DXGK_TESTS_CLASSES_H
#define DXGK_TESTS_CLASSES_H

#include <stdint.h>

struct classes_report {
    uint32_t constructed; /* constructors of globals that ran, in the order 1, 2, 3 as digits */
    uint32_t destroyed;   /* destructors of globals that ran, the last one first */
    uint32_t virtual_sum; /* of calls through tables */
    uint32_t code;        /* of an exception that was taken */
    uint32_t order;  /* what was passed while it was, as digits: filter 1, __finally 2, handler 3 */
    uint32_t member; /* through a pointer to a member function */
};

#endif
