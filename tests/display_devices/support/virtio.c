/* SPDX-License-Identifier: MIT */
#include "virtio.h"

#include <string.h>

#include "support/check_rule.h"

#define ANSWER_BYTES 2048u

static uint16_t get_16(const struct bench *b, uint64_t address)
{
    uint16_t value;

    memcpy(&value, b->ram + address, sizeof(value));
    return value;
}

static void put_16(struct bench *b, uint64_t address, uint16_t value)
{
    memcpy(b->ram + address, &value, sizeof(value));
}

uint64_t v_get(struct bench *b, uint64_t offset, unsigned width)
{
    return bench_read(b, V_BAR, offset, width);
}

void v_set(struct bench *b, uint64_t offset, unsigned width, uint64_t value)
{
    bench_write(b, V_BAR, offset, width, value);
}

void v_start(struct bench *b, unsigned queues, unsigned size, uint64_t more)
{
    v_set(b, V_STATUS, 1, 0);
    v_set(b, V_STATUS, 1, 3);
    for (unsigned half = 0; half < 2; half++) {
        v_set(b, V_DRIVER_FEATURE_SELECT, 4, half);
        v_set(b, V_DRIVER_FEATURES, 4, (uint32_t)((more | 1ull << 32) >> (32 * half)));
    }
    v_set(b, V_STATUS, 1, 11);
    CHECK(v_get(b, V_STATUS, 1) == 11);
    v_set(b, V_CONFIG_VECTOR, 2, 0);
    for (unsigned q = 0; q < queues; q++) {
        v_set(b, V_QUEUE, 2, q);
        v_set(b, V_SIZE, 2, size);
        v_set(b, V_VECTOR, 2, q + 1);
        v_set(b, V_DESCRIPTORS, 8, V_RING(q));
        v_set(b, V_AVAILABLE, 8, V_RING_AVAILABLE(q));
        v_set(b, V_USED, 8, V_RING_USED(q));
        memset(b->ram + V_RING(q), 0, 0x8000);
        v_set(b, V_ENABLE, 2, 1);
    }
    v_set(b, V_STATUS, 1, 15);
    CHECK(v_get(b, V_STATUS, 1) == 15);
}

void v_describe(struct bench *b, unsigned queue, unsigned index, struct v_descriptor d)
{
    memcpy(b->ram + V_RING(queue) + index * sizeof(d), &d, sizeof(d));
}

void v_offer(struct bench *b, unsigned queue, uint16_t head)
{
    const uint64_t ring = V_RING_AVAILABLE(queue);
    const uint16_t index = get_16(b, ring + 2);
    uint64_t size;

    v_set(b, V_QUEUE, 2, queue);
    size = v_get(b, V_SIZE, 2);
    put_16(b, ring + 4 + index % size * 2, head);
    put_16(b, ring + 2, (uint16_t)(index + 1));
    v_set(b, V_NOTIFY + 4u * queue, 2, queue);
}

uint16_t v_given(struct bench *b, unsigned queue)
{
    return get_16(b, V_RING_USED(queue) + 2);
}

uint32_t v_written(struct bench *b, unsigned queue)
{
    uint32_t bytes;
    uint64_t size;

    v_set(b, V_QUEUE, 2, queue);
    size = v_get(b, V_SIZE, 2);
    memcpy(&bytes, b->ram + V_RING_USED(queue) + 4 + (v_given(b, queue) - 1u) % size * 8 + 4,
           sizeof(bytes));
    return bytes;
}

uint32_t v_command(struct bench *b, const void *command, size_t bytes)
{
    const uint16_t before = v_given(b, 0);
    uint32_t type;

    memcpy(b->ram + V_OUT, command, bytes);
    memset(b->ram + V_IN, 0xEE, ANSWER_BYTES);
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, (uint32_t)bytes, 1, 1});
    v_describe(b, 0, 1, (struct v_descriptor){V_IN, ANSWER_BYTES, 2, 0});
    v_offer(b, 0, 0);
    bench_pass(b, 10000000);
    CHECK(v_given(b, 0) == (uint16_t)(before + 1));
    memcpy(&type, b->ram + V_IN, sizeof(type));
    return type;
}
