/* SPDX-License-Identifier: MIT */
/*
 * A virtio device on PCI (virtio 1.2, sections 2 and 4.1) without what it is good for: features,
 * status, split virtqueues, interrupts. Registers lie in one BAR; another has the MSI-X table, which
 * nothing here looks at, since messages are the host's.
 *
 * Offered beside the features of the device: VERSION_1, ACCESS_PLATFORM (all that it reaches goes
 * through the IOMMU), INDIRECT_DESC. Packed rings, event indexes and the legacy interface are not.
 */
#ifndef DEVICES_COMMON_VIRTIO_VIRTIO_H
#define DEVICES_COMMON_VIRTIO_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"

#define VIRTIO_BAR_REGISTERS  2u
#define VIRTIO_BAR_MSIX       4u
#define VIRTIO_REGISTER_BYTES 16384u
#define VIRTIO_MSIX_BYTES     4096u
#define VIRTIO_CAPABILITIES   6u /* of the list below */

#define VIRTIO_QUEUES      2u
#define VIRTIO_QUEUE_MOST  1024u /* descriptors */
#define VIRTIO_NO_VECTOR   0xFFFFu
#define VIRTIO_VENDOR      0x1AF4u
#define VIRTIO_FIRST_ID    0x1040u /* device id: this and the virtio type */
#define VIRTIO_MOST_PIECES 2048u   /* of one chain */

#define VIRTIO_STATUS_DRIVER_OK   0x04u
#define VIRTIO_STATUS_FEATURES_OK 0x08u
#define VIRTIO_STATUS_NEEDS_RESET 0x40u

struct virtio;

/* What the device adds. */
struct virtio_kind {
    unsigned queues;
    uint32_t config_bytes;
    void (*notify)(void *device, unsigned queue); /* there may be something in the queue */
    void (*reset)(void *device);                  /* the driver wrote 0 to the status */
    uint8_t (*config_read)(void *device, uint32_t offset);
    void (*config_write)(void *device, uint32_t offset, uint8_t value);
};

struct virtio_queue {
    uint16_t most, size, vector;
    bool enabled;
    uint64_t descriptors, available, used; /* addresses on the bus */
    uint16_t next_available, next_used;
};

struct virtio {
    const struct dxgk_device_services *services;
    void *host;
    const struct virtio_kind *kind;
    void *device;
    uint64_t features; /* offered */
    uint32_t messages;
    uint16_t queue_sizes[VIRTIO_QUEUES];

    uint64_t accepted;
    uint32_t feature_select, driver_feature_select;
    uint8_t status, isr, generation;
    uint16_t config_vector, queue_select;
    struct virtio_queue queue[VIRTIO_QUEUES];
    uint8_t msix[VIRTIO_MSIX_BYTES];
};

/* Puts BARs and capabilities into the description; they stay valid. */
void virtio_describe(struct dxgk_device_description *description, uint32_t messages);
/* All above `accepted` is filled in by the caller. */
void virtio_reset(struct virtio *virtio);
uint64_t virtio_read(struct virtio *virtio, unsigned bar, uint64_t offset, unsigned width);
void virtio_write(struct virtio *virtio, unsigned bar, uint64_t offset, unsigned width,
                  uint64_t value);
/* The device changed its configuration: another generation, and an interrupt. */
void virtio_config_changed(struct virtio *virtio);
/* The driver broke the rules of the rings: nothing works until it resets the device. */
void virtio_needs_reset(struct virtio *virtio);
void virtio_interrupt(struct virtio *virtio, uint16_t vector, uint8_t cause);
bool virtio_is_live(const struct virtio *virtio);

#endif
