/* SPDX-License-Identifier: MIT */
/* MDLs that describe system pages, for the operations of physical paging. */
#ifndef DXGK_VIDMM_CONTENT_MDL_H
#define DXGK_VIDMM_CONTENT_MDL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct page_number;
struct vidmm;
struct vidmm_allocation;

/* Create an MDL for the backing pages. After the operation is built, content_mdl_defer_free frees
 * it when the GPU is done. NULL: out of memory. */
struct mdl_block;
struct mdl_block *content_mdl_create(const struct vidmm_allocation *allocation);
/* The same for contiguous frames. */
struct mdl_block *content_mdl_of_run(struct page_number first, uint64_t pages);
MDL *content_mdl(struct mdl_block *block);
void content_mdl_defer_free(struct vidmm *vidmm, struct mdl_block *block);

#endif
