/* SPDX-License-Identifier: MIT */
/* Is the root table that the GPU uses the one that was announced last? */
#ifndef DXGK_VIDMM_ROOT_CHECK_H
#define DXGK_VIDMM_ROOT_CHECK_H

#include <stdint.h>

struct vidmm_process;

/* The GPU begins work of a context of the process by the root at this offset of its segment; told
 * if it is another one than DxgkDdiSetRootPageTable announced (GPUVA-265). At any level, without
 * the lock, as vidmm_address_text. */
void vidmm_check_root(const struct vidmm_process *process, uint32_t context, unsigned node,
                      uint32_t fence, uint64_t root);

#endif
