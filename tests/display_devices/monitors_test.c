/* SPDX-License-Identifier: MIT */
/* The outputs of the virtio GPU: monitors that come and go, and the pointer over the picture. */
#include "support/check_rule.h"

#include <string.h>

#include "../../devices/virtio_gpu/protocol.h"
#include "modes/edid.h"
#include "support/virtio.h"

#define SIDE 64u

static struct gpu_display_info ask(struct bench *b)
{
    const struct gpu_header command = {.type = GPU_GET_DISPLAY_INFO};
    struct gpu_display_info info;

    CHECK(v_command(b, &command, sizeof(command)) == GPU_OK_DISPLAY_INFO);
    memcpy(&info, b->ram + V_IN, sizeof(info));
    return info;
}

/* Returns the width that it prefers; 0: there is no EDID. */
static unsigned ask_edid(struct bench *b, uint32_t scanout, uint32_t type)
{
    const struct gpu_get_edid command = {{.type = GPU_GET_EDID}, scanout, 0};
    struct gpu_edid answer;

    CHECK(v_command(b, &command, sizeof(command)) == type);
    memcpy(&answer, b->ram + V_IN, sizeof(answer));
    if (type != GPU_OK_EDID || answer.bytes == 0)
        return 0;
    CHECK(answer.bytes == 128 && edid_block_valid(answer.edid, true));
    return answer.edid[56] | (answer.edid[58] & 0xF0u) << 4;
}

TEST(monitors_and_their_edid)
{
    const char *const options[] = {"scanouts=2", "width=1920", "height=1080", NULL};
    const char *const none[] = {"edid=0", NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    struct gpu_display_info info;

    v_start(b, 2, 64, GPU_F_EDID);
    info = ask(b);
    CHECK(info.display[0].enabled && info.display[0].at.width == 1920 &&
          info.display[0].at.height == 1080);
    CHECK(!info.display[1].enabled && info.display[1].at.width == 0);
    CHECK(v_get(b, V_CONFIG + GPU_CONFIG_SCANOUTS, 4) == 2 && v_get(b, V_CONFIG + 12, 4) == 0);
    CHECK(v_get(b, V_CONFIG + GPU_CONFIG_BYTES, 4) == 0);
    CHECK(ask_edid(b, 0, GPU_OK_EDID) == 1920 && ask_edid(b, 1, GPU_OK_EDID) == 0);
    CHECK(ask_edid(b, 2, GPU_ERR_INVALID_SCANOUT) == 0);
    CHECK(b->outputs->count == 2);
    bench_destroy(b);
    b = bench_create("virtio_gpu", none);
    v_start(b, 2, 64, 0);
    CHECK((v_get(b, V_FEATURES, 4) & GPU_F_EDID) == 0 && ask_edid(b, 0, GPU_ERR_UNSPEC) == 0);
    bench_destroy(b);
}

TEST(monitors_come_and_go)
{
    const char *const options[] = {"scanouts=2", "display=20000000:1:800x600",
                                   "display=30000000:0:0x0", NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    struct gpu_display_info info;

    v_start(b, 2, 64, GPU_F_EDID);
    info = ask(b);
    CHECK(info.display[0].enabled && !info.display[1].enabled && b->interrupts[0] == 0);
    CHECK(v_get(b, V_CONFIG, 4) == 0);
    bench_pass(b, 20000000 - b->time);
    CHECK(b->interrupts[0] == 1 && v_get(b, V_CONFIG, 4) == GPU_EVENT_DISPLAY);
    v_set(b, V_CONFIG + GPU_CONFIG_CLEAR, 4, 2); /* another one */
    CHECK(v_get(b, V_CONFIG, 4) == GPU_EVENT_DISPLAY);
    v_set(b, V_CONFIG + GPU_CONFIG_CLEAR, 4, GPU_EVENT_DISPLAY);
    CHECK(v_get(b, V_CONFIG, 4) == 0);
    bench_pass(b, 5000000);
    b->model->reset(b->device); /* monitors stay, and what is ordered stays ordered */
    v_start(b, 2, 64, GPU_F_EDID);
    info = ask(b);
    CHECK(info.display[0].enabled && info.display[1].enabled && info.display[1].at.width == 800);
    CHECK(ask_edid(b, 1, GPU_OK_EDID) == 800);
    CHECK(b->time > 30000000 && b->interrupts[0] == 2);
    info = ask(b);
    CHECK(!info.display[0].enabled && info.display[1].enabled);
    bench_destroy(b);
}

static bool plug(struct bench *b, const uint8_t *edid, size_t bytes)
{
    return b->outputs->monitor(b->device, 0, edid, bytes);
}

/* By the host, with any EDID; the size is that of its first timing. */
TEST(monitors_are_plugged_in)
{
    const struct gpu_get_edid get_edid = {{.type = GPU_GET_EDID}, 0, 0};
    const char *const options[] = {NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    uint8_t edid[1024 + 128] = {1};
    struct gpu_display_info info;

    v_start(b, 2, 64, GPU_F_EDID);
    CHECK(!plug(b, edid, sizeof(edid)) && b->interrupts[0] == 0); /* more than it has room for */
    info = ask(b);
    CHECK(info.display[0].at.width == 1280);
    edid[1023] = 0x77;
    CHECK(plug(b, edid, 1024) && b->interrupts[0] == 1);
    info = ask(b);
    CHECK(info.display[0].at.width == 1024 && info.display[0].at.height == 768);
    CHECK(v_command(b, &get_edid, sizeof(get_edid)) == GPU_OK_EDID);
    CHECK(b->ram[V_IN + 24 + 1] == 4 && b->ram[V_IN + 32] == 1 && b->ram[V_IN + 32 + 1023] == 0x77);
    edid[54] = 1;
    edid[56] = 0x40; /* 1600 x 1200 */
    edid[58] = 0x60;
    edid[59] = 0xB0;
    edid[61] = 0x40;
    CHECK(plug(b, edid, 128));
    info = ask(b);
    CHECK(info.display[0].at.width == 1600 && info.display[0].at.height == 1200);
    CHECK(plug(b, NULL, 0));
    info = ask(b);
    CHECK(!info.display[0].enabled && ask_edid(b, 0, GPU_OK_EDID) == 0);
    bench_destroy(b);
}

/* Without a monitor there is no picture, whatever the driver goes on with. */
TEST(an_output_without_a_monitor)
{
    const struct gpu_create_2d create = {{.type = GPU_RESOURCE_CREATE_2D}, 1, GPU_BGRX, 64, 64};
    const struct gpu_set_scanout show = {{.type = GPU_SET_SCANOUT}, {0, 0, 64, 64}, 0, 1};
    const uint8_t edid[128] = {0};
    const char *const options[] = {NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    struct dxgk_scanout s;

    CHECK(plug(b, NULL, 0));
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF); /* of the firmware, too */
    v_start(b, 2, 64, 0);
    CHECK(v_command(b, &create, sizeof(create)) == GPU_OK);
    CHECK(v_command(b, &show, sizeof(show)) == GPU_OK);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF);
    CHECK(plug(b, edid, sizeof(edid)));
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == 64);
    bench_destroy(b);
}

TEST(orders_for_monitors_are_checked)
{
    static const char *const bad[] = {"display=1",
                                      "display=1:0:800",
                                      "display=1:16:800x600",
                                      "display=1:0:801x600",
                                      "display=1:0:800x0",
                                      "display=x:0:0x0",
                                      "display=1:0:8000x600",
                                      "display=1:0:800x600x",
                                      "scanouts=17",
                                      "scanouts=0",
                                      "queue=48",
                                      "messages=0",
                                      "vram=5000000"};
    static const char *const disordered[] = {"display=2:0:0x0", "display=1:0:0x0"};
    static const char *const same[] = {"display=2:0:0x0", "display=2:1:0x0"};
    const struct dxgk_device_config config = {.count = 2, .option = disordered};
    const struct dxgk_device_config together = {.count = 2, .option = same};
    const char *const options[] = {NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    struct dxgk_device_description description = {0};
    const char *error = NULL;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(bench_refusal(b, bad[i]) != NULL);
    CHECK(!bench_refusal(b, "display=1:15:800x600") && !bench_refusal(b, "display=9:9:960x96"));
    CHECK(b->model->configure(&together, &description, &error));
    memset(&description, 0, sizeof(description));
    CHECK(!b->model->configure(&config, &description, &error) && error);
    bench_destroy(b);
}

/* ---- the pointer ---- */

static void cursor(struct bench *b, uint32_t type, uint32_t id, int32_t x, int32_t y)
{
    const struct gpu_cursor command = {{.type = type}, 0, (uint32_t)x, (uint32_t)y, 0, id, 0, 0, 0};
    const uint16_t before = v_given(b, 1);

    memcpy(b->ram + V_OUT, &command, sizeof(command));
    v_describe(b, 1, 0, (struct v_descriptor){V_OUT, sizeof(command), 0, 0});
    v_offer(b, 1, 0);
    bench_pass(b, 1000000);
    CHECK(v_given(b, 1) == (uint16_t)(before + 1));
}

struct fill {
    struct gpu_attach_backing command;
    struct gpu_memory_entry entry;
};

/* A resource of one colour, A, R, G, B from the top. */
static void make(struct bench *b, uint32_t id, uint32_t side, uint32_t colour)
{
    const struct gpu_create_2d create = {{.type = GPU_RESOURCE_CREATE_2D}, id, GPU_BGRA, side, side};
    const struct fill fill = {{{.type = GPU_ATTACH_BACKING}, id, 1}, {V_FREE, side * side * 4, 0}};
    const struct gpu_transfer transfer = {
        {.type = GPU_TRANSFER_TO_HOST_2D}, {0, 0, side, side}, 0, id, 0};

    for (uint32_t i = 0; i < side * side; i++)
        memcpy(b->ram + V_FREE + i * 4, &colour, 4);
    CHECK(v_command(b, &create, sizeof(create)) == GPU_OK);
    CHECK(v_command(b, &fill, sizeof(fill)) == GPU_OK);
    CHECK(v_command(b, &transfer, sizeof(transfer)) == GPU_OK);
}

/* Both queues are notified at once: the pointer gets the picture that is on its way. */
TEST(the_pointer_waits_for_its_picture)
{
    const struct gpu_transfer transfer = {
        {.type = GPU_TRANSFER_TO_HOST_2D}, {0, 0, SIDE, SIDE}, 0, 2, 0};
    const struct gpu_cursor command = {{.type = GPU_UPDATE_CURSOR}, 0, 0, 0, 0, 2, 0, 0, 0};
    const struct gpu_set_scanout show = {{.type = GPU_SET_SCANOUT}, {0, 0, 200, 200}, 0, 1};
    const char *const options[] = {NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    const uint32_t white = 0xFFFFFFFF;

    v_start(b, 2, 16, 0);
    make(b, 1, 200, 0xFF000080);
    make(b, 2, SIDE, 0);
    CHECK(v_command(b, &show, sizeof(show)) == GPU_OK);
    memcpy(b->ram + V_FREE, &white, sizeof(white));
    memcpy(b->ram + V_OUT, &transfer, sizeof(transfer));
    memcpy(b->ram + V_OUT + 4096, &command, sizeof(command));
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, sizeof(transfer), 0, 0});
    v_describe(b, 1, 0, (struct v_descriptor){V_OUT + 4096, sizeof(command), 0, 0});
    v_offer(b, 0, 0);
    v_offer(b, 0, 0);
    v_offer(b, 1, 0);
    bench_pass(b, 1000000);
    CHECK(v_given(b, 1) == 1 && bench_pixel(b, 0, 0, 0) == 0xFFFFFF);
    bench_destroy(b);
}

TEST(the_pointer_is_over_the_picture)
{
    const char *const options[] = {NULL};
    struct bench *b = bench_create("virtio_gpu", options);
    const struct gpu_set_scanout show = {{.type = GPU_SET_SCANOUT}, {0, 0, 200, 200}, 0, 1};

    v_start(b, 2, 16, 0);
    make(b, 1, 200, 0xFF000080);
    make(b, 2, SIDE, 0xFFFF0000);
    make(b, 3, SIDE, 0x8000FF00);
    make(b, 4, 32, 0xFFFFFFFF); /* of another size */
    CHECK(v_command(b, &show, sizeof(show)) == GPU_OK && bench_pixel(b, 0, 100, 100) == 0x000080);
    cursor(b, GPU_UPDATE_CURSOR, 2, 100, 90);
    CHECK(bench_pixel(b, 0, 100, 90) == 0xFF0000 && bench_pixel(b, 0, 163, 153) == 0xFF0000);
    CHECK(bench_pixel(b, 0, 99, 90) == 0x000080 && bench_pixel(b, 0, 164, 153) == 0x000080);
    cursor(b, GPU_MOVE_CURSOR, 0, -60, 190); /* partly outside; the image stays */
    CHECK(bench_pixel(b, 0, 100, 100) == 0x000080 && bench_pixel(b, 0, 3, 199) == 0xFF0000);
    CHECK(bench_pixel(b, 0, 4, 199) == 0x000080);
    cursor(b, GPU_MOVE_CURSOR, 0, 190, -60); /* outside above, and to the right */
    CHECK(bench_pixel(b, 0, 199, 3) == 0xFF0000 && bench_pixel(b, 0, 199, 4) == 0x000080);
    CHECK(bench_pixel(b, 0, 0, 0) == 0x000080 && bench_pixel(b, 0, 0, 4) == 0x000080);
    cursor(b, GPU_UPDATE_CURSOR, 3, 0, 0);
    CHECK(bench_pixel(b, 0, 0, 0) == 0x008040); /* 128 of 255 */
    cursor(b, GPU_UPDATE_CURSOR, 4, 0, 0);      /* the image is not another */
    CHECK(bench_pixel(b, 0, 0, 0) == 0x008040);
    cursor(b, GPU_UPDATE_CURSOR, 0, 0, 0);
    CHECK(bench_pixel(b, 0, 0, 0) == 0x000080 && b->interrupts[2] == 6);
    bench_destroy(b);
}
