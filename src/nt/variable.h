/* SPDX-License-Identifier: MIT */
/*
 * Kernel variables of which each machine has its own copy.
 */
#ifndef DXGK_NT_VARIABLE_H
#define DXGK_NT_VARIABLE_H

#include <stdbool.h>

/* NULL: no such variable, or no machine. */
void *nt_variable_find(const char *name);

#endif
