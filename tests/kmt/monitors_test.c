/* SPDX-License-Identifier: MIT */
/* Monitors that a host program plugs into a device. */
#include <dlfcn.h>

#include "host/support/refgpu_client.h"

#include "dxgkhost/device.h"
#include "dxgkhost/display.h"
#include "modes/edid.h"
#include "modes/edid_timing.h"

#define DARK   "tests/devices/dark.so"
#define SECOND UINT64_C(1000000000)

/* A machine of one display-only driver with this device. */
static void shown_test(const char *device, const char *option, void (*program)(struct client *c))
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    if (dxgk_machine_add_device(m.dxgk, machine_path(device), &option, option ? 1 : 0, m.error,
                                sizeof(m.error)) != DXGK_OK ||
        dxgk_machine_load_driver(m.dxgk, machine_path("drivers/bootfb.so"), m.error,
                                 sizeof(m.error)) != DXGK_OK)
        fail_msg("%s: %s", device, m.error);
    machine_run(&m, program);
    machine_end(&m);
}

#define RIG_ARGUMENT_dark     struct client *c
#define RIG_RUN_dark(program) shown_test(DARK, NULL, program)
#define RIG_ARGUMENT_ordered  struct client *c
#define RIG_RUN_ordered(program) \
    shown_test("devices/virtio_gpu.so", "display=5000000000:0:0x0", program)

static bool has_signal(struct client *c)
{
    struct dxgk_picture picture;
    char text[500] = "";
    bool is = dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, text, sizeof(text)) ==
                  DXGK_OK &&
              picture.rgb;

    dxgk_picture_free(&picture);
    return is;
}

/* What the device got last. */
static const struct dxgk_device_monitor *got(void)
{
    void *library = dlopen(machine_path(DARK), RTLD_NOW | RTLD_NOLOAD);
    const struct dxgk_device_monitor *monitor = library ? dlsym(library, "dark_monitor") : NULL;

    if (library)
        dlclose(library);
    return monitor;
}

static char why[500];

static bool plug(const struct dxgk_monitor *monitor)
{
    why[0] = 0;
    return dxgk_client_plug_monitor(0, 0, monitor, why, sizeof(why)) == DXGK_OK;
}

static bool refuses(const struct dxgk_monitor *monitor, const char *text)
{
    return !plug(monitor) && strstr(why, text);
}

TEST_WITH(dark, a_monitor_is_plugged_in_and_pulled_out)
{
    struct dxgk_monitor monitor = {.width = 800, .height = 600};

    TRY(c, !has_signal(c) && plug(&monitor) && has_signal(c));
    TRY(c, got()->width == 800 && got()->height == 600 && got()->edid_bytes == 0);
    TRY(c, plug(NULL) && !has_signal(c) && got()->width == 0);
    TRY(c, dxgk_client_plug_monitor(0, 1, &monitor, why, sizeof(why)) == DXGK_ERROR);
    TRY(c, strstr(why, "output 1: the device has fewer outputs"));
    TRY(c, dxgk_client_plug_monitor(1, 0, &monitor, why, sizeof(why)) == DXGK_ERROR);
    TRY(c, strstr(why, "no adapter 1"));
    monitor.height = 0;
    TRY(c, refuses(&monitor, "without a size"));
    monitor = (struct dxgk_monitor){.width = 123, .height = 100};
    TRY(c, refuses(&monitor, "does not like") && !has_signal(c));
}

/* A model that scans out more than it has. */
TEST_WITH(dark, a_screen_that_is_no_picture)
{
    const struct dxgk_monitor monitor = {.width = 124, .height = 100};
    struct dxgk_picture picture;

    TRY(c, plug(&monitor));
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, why, sizeof(why)) == DXGK_ERROR);
    TRY(c, strstr(why, "17 rows with a pitch of 64 bytes in 1024 bytes") && !picture.rgb);
}

/* An EDID that says 1280x800. */
static void make_edid(uint8_t *edid)
{
    static const uint8_t header[] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    static const uint8_t timing[] = {0xBC, 0x1B, 0x00, 0xA0, 0x50, 0x20, 0x17, 0x30, 0x30,
                                     0x20, 0x36, 0x00, 0,    0,    0,    0,    0,    0x1A};
    uint8_t sum = 0;

    memset(edid, 0, EDID_BLOCK);
    memcpy(edid, header, sizeof(header));
    edid[18] = 1;
    edid[19] = 4;
    memcpy(edid + 54, timing, sizeof(timing));
    for (unsigned i = 0; i < EDID_BLOCK - 1; i++)
        sum = (uint8_t)(sum + edid[i]);
    edid[EDID_BLOCK - 1] = (uint8_t)-sum;
}

TEST_WITH(dark, an_edid_is_given)
{
    uint8_t edid[EDID_BLOCK];
    struct dxgk_monitor monitor = {.edid = edid, .edid_bytes = sizeof(edid)};

    make_edid(edid);
    SHOW(c, "PRES-321",
         plug(&monitor) && got()->edid_bytes == EDID_BLOCK &&
             memcmp(got()->edid, edid, EDID_BLOCK) == 0);
    SHOW(c, "PRES-321", got()->width == 1280 && got()->height == 800);
    monitor.width = 640;
    monitor.height = 480;
    TRY(c, plug(&monitor) && got()->width == 640 && got()->height == 480);
    edid[127]++;
    SHOW(c, "PRES-321", refuses(&monitor, "a sum that is not 0") && got()->width == 640);
    monitor.force = true;
    monitor.width = monitor.height = 0;
    SHOW(c, "PRES-321", plug(&monitor) && got()->width == 1280 && got()->edid[127] == edid[127]);
    monitor.edid_bytes = 100;
    TRY(c, refuses(&monitor, "blocks of 128 bytes"));
    monitor.edid_bytes = EDID_BLOCK;
    monitor.modes = "1024x768";
    TRY(c, refuses(&monitor, "both"));
    memset(edid + 54, 0, 18); /* no timing that is preferred */
    monitor.modes = NULL;
    TRY(c, refuses(&monitor, "without a size"));
}

TEST_WITH(dark, an_edid_is_made_of_modes)
{
    struct dxgk_monitor monitor = {.modes = "1920x1080@60,1024x768@75"};
    struct timing timing;

    TRY(c, plug(&monitor) && got()->edid_bytes == EDID_BLOCK && edid_block_valid(got()->edid, true));
    SHOW(c, "PRES-321",
         got()->edid[18] == 1 && got()->edid[19] == 4 &&
             edid_detailed_timing(got()->edid + 54, &timing) && timing.width == 1920 &&
             timing.height == 1080);
    TRY(c, got()->width == 1920 && got()->height == 1080);
    monitor.modes = "1920x";
    TRY(c, refuses(&monitor, "1920x") && got()->width == 1920);
}

/* One that is ordered for a time: the screen is dark from then on. */
TEST_WITH(ordered, a_monitor_goes_at_its_time)
{
    uint64_t now = dxgk_client_time();

    TRY(c, now < 5 * SECOND);
    dxgk_client_sleep(5 * SECOND - now - 1000000);
    SHOW(c, "PRES-324", has_signal(c));
    dxgk_client_sleep(2000000);
    SHOW(c, "PRES-324", !has_signal(c));
}
