/* SPDX-License-Identifier: MIT */
/* What the two sources of the model share. */
#ifndef SEEDS_MODEL_H
#define SEEDS_MODEL_H

#include <dxgkhost/device.h>

#include "seeds_hw.h"

struct seeds_packet {
    uint64_t address, root;
    uint32_t bytes, flags, fence;
};

struct seeds_engine {
    uint32_t dma_lo, dma_hi, bytes, flags, root_lo, root_hi;
    uint32_t completed, fault_fence;
    bool preempting;
    struct seeds_packet queue[SEEDS_QUEUE];
    unsigned head, count;
};

struct seeds_device {
    const struct dxgk_device_services *services;
    void *host;
    uint64_t vram_bytes;
    uint32_t config, status, enable, scratch;
    uint32_t peek_lo, peek_hi, peek_status, data_lo, data_hi, root_lo, root_hi;
    uint64_t aperture[SEEDS_APERTURE_PAGES]; /* bus addresses; 0: not mapped */
    struct seeds_engine engine[SEEDS_ENGINES];
};

/* `bytes` from a device address, or from a GPU virtual one under `root`. False: some byte cannot be reached; none is
 * changed behind the first page then. */
bool seeds_load(struct seeds_device *d, bool is_virtual, uint64_t root, uint64_t address, void *to,
                uint32_t bytes);
bool seeds_store(struct seeds_device *d, bool is_virtual, uint64_t root, uint64_t address,
                 const void *from, uint32_t bytes);
/* All commands of a packet; false: one could not be carried out. */
bool seeds_execute(struct seeds_device *d, const struct seeds_packet *packet);
uint64_t seeds_duration(struct seeds_device *d, const struct seeds_packet *packet);

#endif
