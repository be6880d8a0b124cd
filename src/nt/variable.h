/* SPDX-License-Identifier: MIT */
/*
 * Variables of the kernel that each machine has for itself.
 */
#ifndef DXGK_NT_VARIABLE_H
#define DXGK_NT_VARIABLE_H

#include <stdbool.h>

/* NULL: no such variable, or no machine. */
void *nt_variable_find(const char *name);

#endif
