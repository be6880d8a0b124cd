/* SPDX-License-Identifier: MIT */
/* What every virtio device on PCI has: capabilities, features, status, rings, interrupts. */
#include "support/check_rule.h"

#include <string.h>

#include "support/virtio.h"

#define INDIRECT (1ull << 28)

static const char *const plain[] = {NULL};

static struct bench *device(void)
{
    return bench_create("virtio_gpu", plain);
}

/* GET_DISPLAY_INFO, which every chain of these tests asks for. */
static void put_command(struct bench *b, uint64_t address)
{
    const uint32_t header[6] = {0x100};

    memcpy(b->ram + address, header, sizeof(header));
}

static bool needs_reset(struct bench *b)
{
    return v_get(b, V_STATUS, 1) & 0x40;
}

TEST(capabilities_tell_where_things_are)
{
    struct bench *b = device();
    const struct dxgk_device_description *d = &b->description;
    unsigned seen = 0;

    CHECK(d->vendor == 0x1AF4 && d->device == 0x1050 && d->class_code == 0x030000 &&
          d->messages == 3);
    for (uint32_t i = 0; i < d->capabilities; i++) {
        const struct dxgk_device_capability *c = &d->capability[i];
        uint32_t offset;

        if (c->id == 0x11)
            CHECK(c->bytes[0] == 2 && (c->bytes[2] & 7) == 4); /* three messages, in BAR 4 */
        if (c->id != 0x09)
            continue;
        memcpy(&offset, c->bytes + 6, sizeof(offset));
        CHECK(c->bytes[0] == c->count + 2 && c->bytes[2] == V_BAR);
        CHECK(c->bytes[1] != 1 || offset == 0);
        CHECK(c->bytes[1] != 2 || (offset == V_NOTIFY && c->bytes[14] == 4));
        CHECK(c->bytes[1] != 3 || offset == V_ISR);
        CHECK(c->bytes[1] != 4 || offset == V_CONFIG);
        seen |= 1u << c->bytes[1];
    }
    CHECK(seen == 0x1E);
    bench_write(b, 4, 0x20, 4, 0x12345678); /* the table of messages keeps what is written */
    CHECK(bench_read(b, 4, 0x20, 4) == 0x12345678);
    bench_write(b, 4, 0x800, 4, 1); /* pending bits do not */
    CHECK(bench_read(b, 4, 0x800, 4) == 0);
    bench_destroy(b);
}

TEST(features_are_negotiated)
{
    struct bench *b = device();

    v_set(b, V_FEATURE_SELECT, 4, 0);
    CHECK(v_get(b, V_FEATURES, 4) == (0x10000002)); /* EDID, indirect descriptors */
    v_set(b, V_FEATURE_SELECT, 4, 1);
    CHECK(v_get(b, V_FEATURES, 4) == 3); /* VERSION_1, ACCESS_PLATFORM */
    v_set(b, V_FEATURE_SELECT, 4, 2);
    CHECK(v_get(b, V_FEATURES, 4) == 0);
    v_set(b, V_STATUS, 1, 3);
    v_set(b, V_STATUS, 1, 11);
    CHECK(v_get(b, V_STATUS, 1) == 3); /* without VERSION_1 */
    v_set(b, V_DRIVER_FEATURE_SELECT, 4, 1);
    v_set(b, V_DRIVER_FEATURES, 4, 1);
    v_set(b, V_DRIVER_FEATURE_SELECT, 4, 0);
    v_set(b, V_DRIVER_FEATURES, 4, 4); /* one that is not offered */
    v_set(b, V_STATUS, 1, 11);
    CHECK(v_get(b, V_STATUS, 1) == 3);
    v_set(b, V_DRIVER_FEATURES, 4, 2);
    v_set(b, V_STATUS, 1, 11);
    CHECK(v_get(b, V_STATUS, 1) == 11);
    v_set(b, V_DRIVER_FEATURES, 4, 0); /* too late */
    CHECK(v_get(b, V_DRIVER_FEATURES, 4) == 2);
    v_set(b, V_DRIVER_FEATURE_SELECT, 4, 1);
    CHECK(v_get(b, V_DRIVER_FEATURES, 4) == 1);
    v_set(b, V_DRIVER_FEATURE_SELECT, 4, 2);
    CHECK(v_get(b, V_DRIVER_FEATURES, 4) == 0);
    v_set(b, V_STATUS, 1, 0);
    CHECK(v_get(b, V_STATUS, 1) == 0 && v_get(b, V_DRIVER_FEATURES, 4) == 0);
    bench_destroy(b);
}

TEST(queues_are_set_up_before_they_are_enabled)
{
    struct bench *b = device();

    CHECK(v_get(b, V_QUEUES, 2) == 2 && v_get(b, V_SIZE, 2) == 64);
    v_set(b, V_QUEUE, 2, 2); /* there is none */
    CHECK(v_get(b, V_SIZE, 2) == 0);
    v_set(b, V_QUEUE, 2, 1);
    CHECK(v_get(b, V_SIZE, 2) == 16 && v_get(b, V_NOTIFY_OFFSET, 2) == 1);
    v_set(b, V_SIZE, 2, 32); /* more than it has */
    v_set(b, V_SIZE, 2, 12); /* no power of two */
    CHECK(v_get(b, V_SIZE, 2) == 16);
    v_set(b, V_SIZE, 2, 8);
    v_set(b, V_VECTOR, 2, 3); /* of messages 0 to 2 */
    CHECK(v_get(b, V_SIZE, 2) == 8 && v_get(b, V_VECTOR, 2) == 0xFFFF);
    v_set(b, V_VECTOR, 2, 2);
    v_set(b, V_DESCRIPTORS, 4, 0x1000);
    v_set(b, V_DESCRIPTORS + 4, 4, 5);
    CHECK(v_get(b, V_VECTOR, 2) == 2 && v_get(b, V_DESCRIPTORS, 8) == 0x500001000);
    v_set(b, V_ENABLE, 2, 1);
    v_set(b, V_DESCRIPTORS, 4, 0x2000);
    v_set(b, V_SIZE, 2, 4);
    CHECK(v_get(b, V_DESCRIPTORS, 4) == 0x1000 && v_get(b, V_SIZE, 2) == 8);
    b->model->reset(b->device);
    CHECK(v_get(b, V_STATUS, 1) == 0 && v_get(b, V_QUEUE, 2) == 0);
    v_set(b, V_QUEUE, 2, 1);
    CHECK(v_get(b, V_SIZE, 2) == 16 && v_get(b, V_ENABLE, 2) == 0);
    bench_destroy(b);
}

TEST(a_chain_is_answered_with_the_interrupt_of_its_queue)
{
    struct bench *b = device();

    v_start(b, 2, 16, 0);
    put_command(b, V_OUT);
    v_describe(b, 0, 5, (struct v_descriptor){V_OUT, 24, 1, 3});
    v_describe(b, 0, 3, (struct v_descriptor){V_IN, 100, 1 | 2, 4}); /* the answer in two pieces */
    v_describe(b, 0, 4, (struct v_descriptor){V_IN + 4096, 1000, 2, 0});
    v_offer(b, 0, 5);
    CHECK(v_given(b, 0) == 0); /* it takes its time */
    bench_pass(b, 1000000);
    CHECK(v_given(b, 0) == 1 && v_written(b, 0) == 24 + 16 * 24 && b->ram[V_RING_USED(0) + 4] == 5);
    CHECK(b->interrupts[1] == 1 && b->interrupts[0] == 0 && v_get(b, V_ISR, 1) == 0);
    CHECK(b->ram[V_IN + 1] == 0x11 && b->ram[V_IN + 24 + 16] == 1); /* OK_DISPLAY_INFO, enabled */
    b->ram[V_RING_AVAILABLE(0)] = 1;                                /* no interrupts */
    v_offer(b, 0, 5);
    bench_pass(b, 1000000);
    CHECK(v_given(b, 0) == 2 && b->interrupts[1] == 1);
    v_set(b, V_NOTIFY + 8, 2, 2); /* of a queue that there is not */
    bench_pass(b, 1000000);
    CHECK(v_given(b, 0) == 2 && v_get(b, V_STATUS, 1) == 15);
    bench_destroy(b);
}

/* Without a message of its own a queue sets the ISR status, which a read clears. */
TEST(a_queue_without_a_vector)
{
    struct bench *b = device();

    v_start(b, 2, 16, 0);
    v_set(b, V_QUEUE, 2, 0);
    v_set(b, V_VECTOR, 2, 0xFFFF);
    put_command(b, V_OUT);
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, 24, 0, 0});
    v_offer(b, 0, 0);
    bench_pass(b, 1000000);
    CHECK(b->interrupts[0] == 1 && b->interrupts[1] == 0 && v_written(b, 0) == 0);
    CHECK(v_get(b, V_ISR, 1) == 1 && v_get(b, V_ISR, 1) == 0);
    bench_destroy(b);
}

TEST(indirect_descriptors_need_their_feature)
{
    const struct v_descriptor inner[] = {{V_OUT, 24, 1, 1}, {V_IN, 1000, 2, 0}};
    struct bench *b = device();

    for (unsigned accepted = 0; accepted < 2; accepted++) {
        v_start(b, 2, 16, accepted ? INDIRECT : 0);
        put_command(b, V_OUT);
        memcpy(b->ram + V_FREE, inner, sizeof(inner));
        v_describe(b, 0, 0, (struct v_descriptor){V_FREE, sizeof(inner), 4, 0});
        v_offer(b, 0, 0);
        bench_pass(b, 1000000);
        CHECK(v_given(b, 0) == accepted && needs_reset(b) == !accepted);
    }
    CHECK(v_written(b, 0) == 24 + 16 * 24);
    bench_destroy(b);
}

static void make_loop(struct bench *b)
{
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, 24, 1, 1});
    v_describe(b, 0, 1, (struct v_descriptor){V_OUT, 24, 1, 0});
    v_offer(b, 0, 0);
}

static void make_far_next(struct bench *b)
{
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, 24, 1, 16});
    v_offer(b, 0, 0);
}

static void make_far_head(struct bench *b)
{
    v_offer(b, 0, 16);
}

static void make_late_read(struct bench *b)
{
    v_describe(b, 0, 0, (struct v_descriptor){V_IN, 24, 1 | 2, 1});
    v_describe(b, 0, 1, (struct v_descriptor){V_OUT, 24, 0, 0});
    v_offer(b, 0, 0);
}

static void make_too_many(struct bench *b)
{
    b->ram[V_RING_AVAILABLE(0) + 2] = 17;
    v_set(b, V_NOTIFY, 2, 0);
}

static void make_nested(struct bench *b)
{
    const struct v_descriptor inner = {V_FREE, 16, 4, 0};

    memcpy(b->ram + V_FREE, &inner, sizeof(inner));
    v_describe(b, 0, 0, (struct v_descriptor){V_FREE, 16, 4, 0});
    v_offer(b, 0, 0);
}

static void make_odd_table(struct bench *b)
{
    v_describe(b, 0, 0, (struct v_descriptor){V_FREE, 17, 4, 0});
    v_offer(b, 0, 0);
}

static void make_nowhere(struct bench *b)
{
    v_describe(b, 0, 0, (struct v_descriptor){BENCH_RAM, 16, 4, 0});
    v_offer(b, 0, 0);
}

/* A driver that breaks a ring is told by the status and an interrupt, and nothing works until it
 * resets the device. */
TEST(broken_rings_stop_the_device)
{
    static void (*const make[])(struct bench *) = {make_loop,      make_far_next, make_far_head,
                                                   make_late_read, make_too_many, make_nested,
                                                   make_odd_table, make_nowhere};
    struct bench *b = device();

    for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
        const unsigned before = b->interrupts[0];
        const uint8_t generation = (uint8_t)v_get(b, V_GENERATION, 1);

        v_start(b, 2, 16, INDIRECT);
        make[i](b);
        bench_pass(b, 1000000);
        CHECK(needs_reset(b) && v_given(b, 0) == 0 && b->interrupts[0] == before + 1);
        CHECK(v_get(b, V_GENERATION, 1) != generation);
        put_command(b, V_OUT);
        v_describe(b, 0, 0, (struct v_descriptor){V_OUT, 24, 0, 0});
        v_offer(b, 0, 0);
        bench_pass(b, 1000000);
        CHECK(v_given(b, 0) == 0);
    }
    bench_destroy(b);
}

/* Work that was notified is forgotten with the reset. */
TEST(a_reset_drops_what_is_queued)
{
    struct bench *b = device();

    v_start(b, 2, 16, 0);
    put_command(b, V_OUT);
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, 24, 0, 0});
    v_offer(b, 0, 0);
    v_set(b, V_STATUS, 1, 0);
    bench_pass(b, 1000000);
    CHECK(v_given(b, 0) == 0 && b->interrupts[1] == 0);
    v_set(b, V_NOTIFY, 2, 0); /* before it is set up again */
    bench_pass(b, 1000000);
    CHECK(v_given(b, 0) == 0 && b->refused == 0);
    bench_destroy(b);
}
