/* SPDX-License-Identifier: MIT */
/* The driver's side of a virtio device on a bench: its registers by name, and virtqueues in RAM. */
#ifndef TESTS_DISPLAY_DEVICES_VIRTIO_H
#define TESTS_DISPLAY_DEVICES_VIRTIO_H

#include "support/bench.h"

#define V_BAR    2u
#define V_ISR    0x1000u
#define V_CONFIG 0x2000u
#define V_NOTIFY 0x3000u

/* The common configuration */
#define V_FEATURE_SELECT        0u
#define V_FEATURES              4u
#define V_DRIVER_FEATURE_SELECT 8u
#define V_DRIVER_FEATURES       12u
#define V_CONFIG_VECTOR         16u
#define V_QUEUES                18u
#define V_STATUS                20u
#define V_GENERATION            21u
#define V_QUEUE                 22u
#define V_SIZE                  24u
#define V_VECTOR                26u
#define V_ENABLE                28u
#define V_NOTIFY_OFFSET         30u
#define V_DESCRIPTORS           32u
#define V_AVAILABLE             40u
#define V_USED                  48u

/* Where the queues lie, and buffers behind them */
#define V_RING(queue)       (0x10000u + (queue)*0x8000u)
#define V_RING_AVAILABLE(q) (V_RING(q) + 0x4000u)
#define V_RING_USED(q)      (V_RING(q) + 0x6000u)
#define V_OUT               0x40000u
#define V_IN                0x80000u
#define V_FREE              0x100000u

struct v_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};

uint64_t v_get(struct bench *b, uint64_t offset, unsigned width);
void v_set(struct bench *b, uint64_t offset, unsigned width, uint64_t value);
/* Features VERSION_1 and `more`, both queues with `size` entries, messages 1 and 2, DRIVER_OK. */
void v_start(struct bench *b, unsigned queues, unsigned size, uint64_t more);
void v_describe(struct bench *b, unsigned queue, unsigned index, struct v_descriptor d);
/* The chain that begins with this descriptor is available, and the device hears of it. */
void v_offer(struct bench *b, unsigned queue, uint16_t head);
/* Chains that the device has given back, and the bytes it wrote in the last one. */
uint16_t v_given(struct bench *b, unsigned queue);
uint32_t v_written(struct bench *b, unsigned queue);

/* A command of one buffer to read, and one to write for the answer; it is over when this returns.
 * Returns the type of the answer, whose bytes are at V_IN. */
uint32_t v_command(struct bench *b, const void *command, size_t bytes);

#endif
