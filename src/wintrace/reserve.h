/* SPDX-License-Identifier: MIT */
/* Arrays that double. */
#ifndef DXGK_WINTRACE_RESERVE_H
#define DXGK_WINTRACE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/* Ensure room for one more element of an array. False: out of memory, and nothing has changed. */
bool wintrace_reserve(void **array, size_t used, size_t *room, size_t element);

#endif
