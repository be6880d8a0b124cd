/* SPDX-License-Identifier: MIT */
/* The segments that a driver describes: checked (SEG rules) and made at creation, freed at the
 * end. */
#ifndef DXGK_VIDMM_SEGMENT_TABLE_H
#define DXGK_VIDMM_SEGMENT_TABLE_H

#include <ntddk.h>

struct vidmm;
struct vidmm_config;

NTSTATUS segment_table_init(struct vidmm *vidmm, const struct vidmm_config *config);
void segment_table_finish(struct vidmm *vidmm);

#endif
