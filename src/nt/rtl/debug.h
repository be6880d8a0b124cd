/* SPDX-License-Identifier: MIT */
/*
 * Debug output of drivers.
 */
#ifndef DXGK_NT_DEBUG_H
#define DXGK_NT_DEBUG_H

/* Output debug text that does not end with a line break. */
void nt_debug_flush(void);

#endif
