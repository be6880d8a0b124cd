/* SPDX-License-Identifier: MIT */
/* Screens by the embedding interface: frames for a hook, looks at virtual times, monitors that a client plugs in. */
#include "host/support/machine.h"

#include "dxgkhost/display.h"

#define MS UINT64_C(1000000)

struct watched {
    struct machine m;
    unsigned frames, modes, looks, client_calls;
    uint64_t last, order[4];
    struct dxgk_picture seen; /* of the last frame, without its pixels */
};

static void frame(void *context, const struct dxgk_frame *f)
{
    struct watched *w = context;

    w->frames++;
    w->modes += strcmp(f->cause, "mode") == 0;
    w->seen = f->picture;
    w->last = f->virtual_ns;
    w->client_calls += dxgk_client_process("inner", NULL, NULL); /* no hook may */
}

static void log_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static void begin(struct watched *w, const char *driver, const char *option)
{
    struct dxgk_machine_config config;

    memset(w, 0, sizeof(*w));
    machine_config(&w->m, &config);
    config.log = log_line;
    config.log_context = w;
    config.frame = frame;
    config.firmware_screen.width = 800;
    config.firmware_screen.height = 600;
    config.firmware_screen.pitch = 3328;
    machine_create(&w->m, &config);
    CHECK(dxgk_machine_add_device(w->m.dxgk, "null", &option, option ? 1 : 0, w->m.error,
                                  sizeof(w->m.error)) == DXGK_OK);
    if (dxgk_machine_load_driver(w->m.dxgk, machine_path(driver), w->m.error, sizeof(w->m.error)) !=
        DXGK_OK)
        fail_msg("driver: %s", w->m.error);
}

static void run(struct watched *w, void (*program)(struct client *c))
{
    struct client c = {.machine = &w->m, .program = program, .context = w};

    CHECK(dxgk_machine_run(w->m.dxgk, "client", client_main, &c) == DXGK_OK);
    client_report(&c);
}

/* ---- frames ---- */

static void draw_twice(struct client *c)
{
    struct watched *w = c->context;
    uint32_t pixels[16 * 16];
    const struct dxgk_drawing drawing = {
        .pixels = pixels, .pitch = sizeof(pixels[0]) * 16, .width = 16, .height = 16};
    struct dxgk_picture now;

    memset(pixels, 0x77, sizeof(pixels));
    TRY(c, w->frames == 1 && w->modes == 1 && w->seen.width == 800 && w->seen.height == 600);
    TRY(c, dxgk_client_draw(0, 0, &drawing, true, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-317", w->frames == 2 && w->modes == 1 && w->last <= dxgk_client_time());
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &now, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-312", now.checksum == w->seen.checksum && now.checksum != 0);
    dxgk_picture_free(&now);
}

TEST(a_hook_gets_each_frame)
{
    struct watched w;

    begin(&w, "drivers/bootfb.so", NULL);
    run(&w, draw_twice);
    CHECK(w.frames == 2 && w.client_calls == 0);
    CHECK(!dxgk_machine_has_report(w.m.dxgk, 0, DXGK_REPORT_GPUVA, w.m.error, sizeof(w.m.error)) &&
          strstr(w.m.error, "adapter 0: it is of a display-only driver"));
    CHECK(!dxgk_machine_has_report(w.m.dxgk, 1, DXGK_REPORT_GPUVA, w.m.error, sizeof(w.m.error)) &&
          strstr(w.m.error, "adapter 1: it does not exist"));
    CHECK(dxgk_machine_adapters(w.m.dxgk) == 1);
    machine_end(&w.m);
}

TEST(a_screen_of_the_firmware_that_cannot_be)
{
    static const uint32_t wrong[][3] = {{800, 0, 3200},   {16385, 600, 65540}, {800, 16385, 3200},
                                        {800, 600, 3199}, {800, 600, 131073},  {800, 600, 0}};
    struct dxgk_machine_config config;
    char error[256];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        dxgk_machine_config_init(&config);
        config.firmware_screen.width = wrong[i][0];
        config.firmware_screen.height = wrong[i][1];
        config.firmware_screen.pitch = wrong[i][2];
        CHECK(!dxgk_machine_create(&config, error, sizeof(error)) &&
              strstr(error, "firmware_screen"));
    }
}

/* ---- looks ---- */

static void look(void *context)
{
    struct watched *w = context;
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(w->m.dxgk, &s);
    if (w->looks < 4)
        w->order[w->looks] = s.virtual_ns;
    w->looks++;
    w->client_calls += dxgk_client_process("inner", NULL, NULL);
}

static void sleep_for_a_while(struct client *c)
{
    struct watched *w = c->context;

    TRY(c, dxgk_machine_at(c->machine->dxgk, 4 * MS, look, w));
    dxgk_client_sleep(10 * MS);
    TRY(c, w->looks == 3);
}

TEST(looks_at_virtual_times)
{
    struct watched w;

    begin(&w, "drivers/bootfb.so", NULL);
    CHECK(dxgk_machine_at(w.m.dxgk, 6 * MS, look, &w) &&
          dxgk_machine_at(w.m.dxgk, 2 * MS, look, &w));
    CHECK(dxgk_machine_at(w.m.dxgk, 60000 * MS, look, &w) &&
          !dxgk_machine_at(w.m.dxgk, 0, NULL, &w));
    CHECK(!dxgk_machine_at(NULL, 0, look, &w));
    run(&w, sleep_for_a_while);
    CHECK(w.order[0] == 2 * MS && w.order[1] == 4 * MS && w.order[2] == 6 * MS);
    machine_end(&w.m);
    CHECK(w.looks == 3 && w.client_calls == 0);
}

/* ---- monitors ---- */

static bool is_lit(const struct client *c, uint32_t width)
{
    struct dxgk_display display;

    return dxgk_machine_display(c->machine->dxgk, 0, 0, &display) && display.lit &&
           display.mode.width == width;
}

static void plug(struct client *c)
{
    struct dxgk_monitor monitor = {.output = 0};
    struct dxgk_display display;
    char error[300] = "";
    uint8_t *edid = dxgk_edid_of_modes("640x480", &monitor.bytes, error, sizeof(error));

    TRY(c, edid && is_lit(c, 800)); /* PRES-323: of 1024 x 768, of which the driver has no mode */
    TRY(c, dxgk_machine_set_monitor(c->machine->dxgk, &monitor, error, sizeof(error)) == DXGK_OK);
    dxgk_client_sleep(MS);
    TRY(c, dxgk_machine_display(c->machine->dxgk, 0, 0, &display) && !display.lit);
    monitor.edid = edid;
    monitor.virtual_ns = dxgk_client_time() + 2 * MS;
    TRY(c, dxgk_machine_set_monitor(c->machine->dxgk, &monitor, error, sizeof(error)) == DXGK_OK);
    edid[0] = 1; /* a copy was taken */
    dxgk_client_sleep(MS);
    TRY(c, !is_lit(c, 640));
    dxgk_client_sleep(2 * MS);
    SHOW(c, "PRES-324", is_lit(c, 640));
    SHOW(c, "PRES-321",
         dxgk_machine_set_monitor(c->machine->dxgk, &monitor, error, sizeof(error)) == DXGK_ERROR &&
             strstr(error, "a sum that is not 0"));
    monitor.output = 1;
    TRY(c, dxgk_machine_set_monitor(c->machine->dxgk, &monitor, error, sizeof(error)) == DXGK_ERROR);
    monitor.device = 1;
    TRY(c,
        dxgk_machine_set_monitor(c->machine->dxgk, &monitor, error, sizeof(error)) == DXGK_ERROR &&
            strstr(error, "no device 1"));
    free(edid);
}

TEST(a_client_plugs_monitors)
{
    struct watched w;

    begin(&w, "tests/drivers/monitors.so", "outputs=1");
    run(&w, plug);
    CHECK(dxgk_machine_set_monitor(w.m.dxgk, NULL, w.m.error, sizeof(w.m.error)) == DXGK_ERROR);
    machine_end(&w.m);
}
