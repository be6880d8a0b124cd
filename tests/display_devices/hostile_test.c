/* SPDX-License-Identifier: MIT */
/* Drivers that write anything: the models go on, and work again after a reset. */
#include "support/check_rule.h"

#include <string.h>

#include "../../devices/virtio_gpu/protocol.h"
#include "support/virtio.h"

#define ROUNDS 4000u

static uint64_t state;

static uint32_t any(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

/* Mostly small, now and then as large as it gets. */
static uint32_t number(void)
{
    static const uint32_t edges[] = {0, 1, 63, 64, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF};

    return any() % 4 ? any() % 80 : edges[any() % 8];
}

static const uint32_t types[] = {
    GPU_GET_DISPLAY_INFO, GPU_RESOURCE_CREATE_2D,  GPU_RESOURCE_UNREF, GPU_SET_SCANOUT,
    GPU_RESOURCE_FLUSH,   GPU_TRANSFER_TO_HOST_2D, GPU_ATTACH_BACKING, GPU_DETACH_BACKING,
    GPU_GET_EDID,         GPU_UPDATE_CURSOR,       GPU_MOVE_CURSOR,    0};

/* A command whose numbers are anything, as long as one; resources mostly of few ids. */
static void write_command(struct bench *b, uint64_t address)
{
    uint32_t words[32];

    for (unsigned i = 0; i < 32; i++)
        words[i] = number();
    words[0] = types[any() % (sizeof(types) / sizeof(types[0]))];
    words[1] = any() % 2;
    if (words[0] == GPU_RESOURCE_CREATE_2D) {
        words[6] = any() % 4;
        words[7] = any() % 5;
    } else {
        words[6 + any() % 8] = any() % 4;
    }
    if (words[0] == GPU_ATTACH_BACKING && any() % 2) {
        words[6] = any() % 4;
        words[7] = 1 + any() % 4;
        words[9] = words[13] = words[17] = 0;
    }
    memcpy(b->ram + address, words, sizeof(words));
}

static void write_chain(struct bench *b, unsigned queue)
{
    for (unsigned i = 0; i < 16; i++) {
        const struct v_descriptor d = {
            any() % 8 ? any() % BENCH_RAM : number() * 0x10001ull, any() % 4 ? 128 : number(),
            (uint16_t)(any() % 16 ? 0 : any() % 8), (uint16_t)(any() % 17)};

        v_describe(b, queue, i, d);
    }
    write_command(b, V_OUT);
    v_describe(b, queue, 0, (struct v_descriptor){V_OUT, 128, 1, 1});
    v_describe(b, queue, 1,
               (struct v_descriptor){V_IN, 2048, (uint16_t)(any() % 8 ? 2 : any() % 8), 2});
    v_offer(b, queue, (uint16_t)(any() % 8 ? 0 : any() % 20));
}

static bool answers(struct bench *b)
{
    const struct gpu_header command = {.type = GPU_GET_DISPLAY_INFO};

    v_start(b, 2, 16, 1ull << 28);
    return v_command(b, &command, sizeof(command)) == GPU_OK_DISPLAY_INFO;
}

static void look(struct bench *b)
{
    struct dxgk_scanout s;

    if (bench_scanout(b, any() % b->outputs->count, &s) != DXGK_SCANOUT_ON)
        return;
    CHECK(s.width && s.height && s.pitch >= s.width * 2);
    CHECK((uint64_t)s.pitch * (s.height - 1) + s.width * 2 <= s.bytes);
}

TEST(a_virtio_gpu_survives_what_drivers_write)
{
    const char *const options[] = {"scanouts=2", "memory=16777216", "latency=0", NULL};
    struct bench *b = bench_create("virtio_gpu", options);

    state = 1;
    CHECK(answers(b));
    for (unsigned round = 1; round <= ROUNDS; round++) {
        write_chain(b, any() % 2);
        if (any() % 16 == 0)
            bench_write(b, V_BAR, any() % 60 & ~3u, 4, number());
        if (any() % 16 == 0)
            bench_write(b, DXGK_DEVICE_FIXED_PORTS, any() % 3, 2, number());
        (void)bench_read(b, V_BAR, any() % 0x4000 & ~3u, 4);
        bench_pass(b, 100000);
        look(b);
        if (round % 50 == 0 || (v_get(b, V_STATUS, 1) & 0x40))
            CHECK(answers(b));
    }
    b->model->reset(b->device);
    CHECK(answers(b));
    bench_destroy(b);
}

TEST(a_vga_survives_what_drivers_write)
{
    const char *const options[] = {"vram=1048576", NULL};
    struct bench *b = bench_create("stdvga", options);

    state = 2;
    for (unsigned round = 0; round < ROUNDS * 4; round++) {
        const unsigned width = 1u << any() % 4;

        if (any() % 4)
            bench_write(b, 2, (0x500 + any() % 24) & ~1u, 2, any() % 2 ? any() : number());
        else
            bench_write(b, 2, any() % 0x1000 & ~(width - 1u), width, any());
        if (any() % 8 == 0)
            bench_write(b, DXGK_DEVICE_FIXED_PORTS, any() % 3, 2, number());
        (void)bench_read(b, 2, any() % 0x1000 & ~(width - 1u), width);
        look(b);
    }
    bench_destroy(b);
}
