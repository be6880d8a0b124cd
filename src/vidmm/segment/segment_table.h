/* SPDX-License-Identifier: MIT */
/* Checks the segments that a driver describes (SEG rules), sets up their records,
 * and frees them. */
#ifndef DXGK_VIDMM_SEGMENT_TABLE_H
#define DXGK_VIDMM_SEGMENT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

struct bus_device;
struct vidmm;
struct vidmm_config;

NTSTATUS segment_table_init(struct vidmm *vidmm, const struct vidmm_config *config);
void segment_table_finish(struct vidmm *vidmm);

/* Find the memory BAR that contains all of [address, address + bytes). */
bool segment_bar_of(const struct bus_device *device, uint64_t address, uint64_t bytes,
                    unsigned *bar, uint64_t *offset);

/* Sizes of video and system memory, as D3DKMTQueryAdapterInfo reports them (KMT-069). */
void vidmm_segment_sizes(const struct vidmm *vidmm, D3DKMT_SEGMENTSIZEINFO *info);

#endif
