/* SPDX-License-Identifier: MIT */
/* DMA transfer contexts, which the extended members take, and calls at DISPATCH_LEVEL. */
#ifndef DXGK_NT_DMA_CONTEXT_H
#define DXGK_NT_DMA_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

/* Whether InitializeDmaTransferContext initialized it; else reported. */
bool nt_dma_context_check(const void *context, const char *routine);

/* A member that is documented for DISPATCH_LEVEL begins: below it, that is reported and the level
 * is raised. *before gets the level for nt_dma_level_end. Above it, that is reported alone. */
void nt_dma_level_begin(const char *rule, const char *routine, uint8_t *before);
void nt_dma_level_end(uint8_t before);

/* The Irp that a routine of the driver gets. */
struct _IRP *nt_dma_irp(const DEVICE_OBJECT *device_object);

NTSTATUS NTAPI nt_dma_initialize_context(PDMA_ADAPTER DmaAdapter, PVOID DmaTransferContext);

#endif
