/* SPDX-License-Identifier: MIT */
/* What the driver has put into a virtqueue: chains of buffers, first those to read, then those to
 * write (virtio 1.2, 2.7). */
#ifndef DEVICES_COMMON_VIRTIO_RING_H
#define DEVICES_COMMON_VIRTIO_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "virtio.h"

struct virtio_piece {
    uint64_t address;
    uint32_t bytes;
};

struct virtio_chain {
    unsigned queue;
    uint16_t head;
    unsigned reads, pieces; /* the first `reads` pieces are to be read, the others to be written */
    struct virtio_piece piece[VIRTIO_MOST_PIECES];
};

/* Take the next chain. False: there is none; or the ring is broken, which the driver is told. */
bool virtio_take(struct virtio *virtio, unsigned queue, struct virtio_chain *chain);
/* Is there one more? */
bool virtio_has_more(struct virtio *virtio, unsigned queue);
/* How many chains the driver has put into the queue so far, and how many of these were taken; both
 * wrap. 0 and 0: the queue does not work. */
struct virtio_progress {
    uint16_t put, taken;
};
struct virtio_progress virtio_progress(struct virtio *virtio, unsigned queue);
/* Give it back, with so many bytes written, and interrupt if the driver wants it. */
void virtio_give(struct virtio *virtio, const struct virtio_chain *chain, uint32_t written);

/* Bytes at an offset of what is to be read, or written; returns how many there were. What the IOMMU
 * refuses reads as ones. */
size_t virtio_chain_read(struct virtio *virtio, const struct virtio_chain *chain, size_t offset,
                         void *to, size_t bytes);
size_t virtio_chain_write(struct virtio *virtio, const struct virtio_chain *chain, size_t offset,
                          const void *from, size_t bytes);

#endif
