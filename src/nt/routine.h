/* SPDX-License-Identifier: MIT */
/*
 * Kernel routines and variables by name, for the imports of PE images.
 */
#ifndef DXGK_NT_ROUTINE_H
#define DXGK_NT_ROUTINE_H

/* The address as a PE driver needs it (ms_abi); NULL: unknown. */
void *nt_routine_find(const char *name);

#endif
