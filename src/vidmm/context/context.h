/* SPDX-License-Identifier: MIT */
/* Creating and destroying the memory manager's part of a context. */
#ifndef DXGK_VIDMM_CONTEXT_H
#define DXGK_VIDMM_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm_context;
struct vidmm_device;

/* vidmm_context_init: before DxgkDdiCreateContext, so that callbacks inside it find the context.
 * vidmm_context_attach: after it succeeded; announces the root page table
 * (DxgkDdiSetRootPageTable). */
void vidmm_context_init(struct vidmm_context *context, struct vidmm_device *device,
                        bool virtual_addressing, bool system);
NTSTATUS vidmm_context_attach(struct vidmm_context *context);
/* vidmm_context_detach: before DxgkDdiDestroyContext. vidmm_context_finish: after it; reports
 * context allocations that the driver has not destroyed (CTXA rules), and frees them. */
void vidmm_context_detach(struct vidmm_context *context);
void vidmm_context_finish(struct vidmm_context *context);

#endif
