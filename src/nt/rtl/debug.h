/* SPDX-License-Identifier: MIT */
/*
 * Debug output of drivers.
 */
#ifndef DXGK_NT_DEBUG_H
#define DXGK_NT_DEBUG_H

/* Hand out debug text that ends without a line break. */
void nt_debug_flush(void);

#endif
