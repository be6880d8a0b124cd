/* SPDX-License-Identifier: MIT */
/* The log in system memory: fixed-size records, page by page, oldest overwritten. If the bus
 * refuses a page, the log ends. */
#include "device.h"

void refgpu_log_start(struct refgpu_device *device, uint32_t pages)
{
    device->log_pages = pages < REFGPU_LOG_PAGES ? pages : REFGPU_LOG_PAGES;
    device->log_count = 0;
    refgpu_log(device, REFGPU_LOG_STARTED, REFGPU_LOG_DEVICE, REFGPU_VERSION, device->vram_bytes);
}

void refgpu_log(struct refgpu_device *device, uint32_t type, uint32_t engine, uint64_t value,
                uint64_t address)
{
    struct refgpu_log_record record;
    uint32_t slot;
    uint64_t to;

    if (!device->log_pages)
        return;
    record.time = device->services->now(device->host);
    record.sequence = device->log_count;
    record.type = (uint16_t)type;
    record.engine = (uint16_t)engine;
    record.value = value;
    record.address = address;
    slot = device->log_count % (device->log_pages * REFGPU_LOG_PER_PAGE);
    to = device->log_page[slot / REFGPU_LOG_PER_PAGE] +
         (uint64_t)(slot % REFGPU_LOG_PER_PAGE) * sizeof record;
    device->services->dma_source(device->host, UINT32_MAX, 0);
    if (to >= 1ull << device->dma_bits ||
        !device->services->dma_write(device->host, to, &record, sizeof record)) {
        device->log_pages = 0;
        return;
    }
    device->log_count++;
}
