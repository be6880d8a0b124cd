/* SPDX-License-Identifier: MIT */
/* The life of the memory manager's part of a context. */
#ifndef DXGK_VIDMM_CONTEXT_H
#define DXGK_VIDMM_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm_context;
struct vidmm_device;

/* Before DxgkDdiCreateContext (so that callbacks inside it find the context), and after it
 * succeeded: announces the root page table (DxgkDdiSetRootPageTable). */
void vidmm_context_init(struct vidmm_context *context, struct vidmm_device *device,
                        bool virtual_addressing, bool system);
NTSTATUS vidmm_context_attach(struct vidmm_context *context);
/* Before and after DxgkDdiDestroyContext: the second reports context allocations left (CTXA rules)
 * and frees them. */
void vidmm_context_detach(struct vidmm_context *context);
void vidmm_context_finish(struct vidmm_context *context);

#endif
