/* SPDX-License-Identifier: MIT */
#include "cli/watch.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/monitors.h"
#include "cli/session.h"
#include "dxgkhost/display.h"
#include "window/window.h"

#define TICK_NS   (1000000000u / 60)
#define SLICE_NS  10000000u /* of real time, after which keys are looked at */
#define OUTPUTS   9u
#define SOURCES   16u
#define PLUGGED   "1024x768@60,1280x720@60,1920x1080@60"
#define WHY_BYTES 300u

struct cli_watch {
    struct cli_session *session;
    void *module;
    const struct window_functions *functions;
    struct window *window;
    unsigned source;
    uint64_t wall_base; /* real time of virtual time 0 */
    uint32_t checksum;  /* of what is shown */
    bool shown, closed, over;
    char title[256];
    struct {
        bool there;
        const char *what; /* as --monitor has it: what is plugged in again */
    } output[OUTPUTS];
};

static uint64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_ns(uint64_t ns)
{
    const struct timespec t = {.tv_nsec = (long)(ns < SLICE_NS ? ns : SLICE_NS)};

    nanosleep(&t, NULL);
}

static uint64_t now_of(const struct cli_watch *watch)
{
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(watch->session->machine, &s);
    return s.virtual_ns;
}

/* ---- what is shown ---- */

static void set_title(struct cli_watch *watch, const char *state)
{
    char title[sizeof(watch->title)];

    snprintf(title, sizeof(title), "dxgkhost: source %u%s%s", watch->source, state,
             watch->over ? ", the workload is over" : "");
    if (strcmp(title, watch->title) == 0)
        return;
    memcpy(watch->title, title, sizeof(title));
    watch->functions->title(watch->window, title);
}

static void show(struct cli_watch *watch)
{
    char state[160], why[WHY_BYTES];
    struct dxgk_picture picture;

    if (dxgk_machine_capture(watch->session->machine, 0, watch->source, &picture, why,
                             sizeof(why)) != DXGK_OK) {
        memset(&picture, 0, sizeof(picture));
        snprintf(state, sizeof(state), ": %.120s", why);
    } else if (!picture.rgb) {
        snprintf(state, sizeof(state), ": no signal");
    } else {
        snprintf(state, sizeof(state), ": %" PRIu32 " x %" PRIu32 "%s", picture.width,
                 picture.height, picture.black ? ", not visible" : "");
    }
    if (!watch->shown || picture.checksum != watch->checksum)
        watch->functions->show(watch->window, picture.width, picture.height, picture.rgb);
    watch->shown = true;
    watch->checksum = picture.checksum;
    set_title(watch, state);
    dxgk_picture_free(&picture);
}

/* ---- keys ---- */

static void toggle(struct cli_watch *watch, unsigned output)
{
    const bool there = watch->output[output].there;
    const struct cli_monitor monitor = {.output = output,
                                        .what = there ? "none" : watch->output[output].what};
    char why[WHY_BYTES];

    if (cli_plug_monitor(watch->session->machine, &monitor, why, sizeof(why)) != DXGK_OK)
        fprintf(stderr, "dxgkhost: --watch: key %u: %s\n", output + 1, why);
    else
        watch->output[output].there = !there;
}

static void next_source(struct cli_watch *watch)
{
    struct dxgk_display display;

    watch->shown = false;
    if (watch->source + 1 == SOURCES ||
        !dxgk_machine_display(watch->session->machine, 0, ++watch->source, &display))
        watch->source = 0;
}

/* True: the window was closed. */
static bool look_at_keys(struct cli_watch *watch)
{
    int key;

    while (!watch->closed && (key = watch->functions->key(watch->window)) != WINDOW_NO_KEY) {
        if (key == WINDOW_CLOSED)
            watch->closed = true;
        else if (key == WINDOW_TAB)
            next_source(watch);
        else if (key >= '1' && key < '1' + (int)OUTPUTS && !watch->over)
            toggle(watch, (unsigned)(key - '1'));
    }
    return watch->closed;
}

/* ---- while it runs ---- */

static void tick(void *context);

static bool arm(struct cli_watch *watch, uint64_t at)
{
    return dxgk_machine_at(watch->session->machine, at, tick, watch);
}

/* Real time has come as far as virtual time, unless someone wants the end. */
static void keep_pace(struct cli_watch *watch, uint64_t now)
{
    for (;;) {
        const uint64_t wall = wall_ns();

        if (look_at_keys(watch) || cli_interrupted() || wall >= watch->wall_base + now)
            return;
        pause_ns(watch->wall_base + now - wall);
    }
}

static void tick(void *context)
{
    struct cli_watch *watch = context;
    const uint64_t now = now_of(watch);

    if (watch->over || watch->closed)
        return;
    show(watch);
    keep_pace(watch, now);
    if (watch->closed)
        cli_interrupt();
    else
        (void)arm(watch, now + TICK_NS); /* out of memory: it is not shown any more */
}

/* ---- the beginning ---- */

/* Beside the program in a build, and where it is installed. */
static void *load(char *why, size_t why_bytes)
{
    static const char *const places[] = {"", "../" DXGK_LIBRARY_FOLDER "/"};
    char path[4096], program[3072];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    char *slash;

    program[length > 0 ? length : 0] = '\0';
    slash = strrchr(program, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        void *module;

        snprintf(path, sizeof(path), "%s%s" WINDOW_MODULE, program, places[i]);
        if (access(path, F_OK) != 0)
            continue;
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!module)
            snprintf(why, why_bytes, "%s", dlerror());
        return module;
    }
    snprintf(why, why_bytes,
             "there is no " WINDOW_MODULE ", which is built where SDL 2 is (libsdl2-dev)");
    return NULL;
}

/* What is on the outputs from the start (PRES-323), and what a key brings back. */
static void note_monitors(struct cli_watch *watch)
{
    const struct cli_monitor_options *options = &watch->session->options->monitors;

    for (unsigned i = 0; i < OUTPUTS; i++)
        watch->output[i].what = PLUGGED;
    watch->output[0].there = true;
    for (size_t i = 0; i < options->monitors; i++) {
        const struct cli_monitor *monitor = &options->monitor[i];
        const bool is = strcmp(monitor->what, "none") != 0;

        if (monitor->output >= OUTPUTS)
            continue;
        if (is)
            watch->output[monitor->output].what = monitor->what;
        if (!monitor->ns)
            watch->output[monitor->output].there = is;
    }
}

static bool begin(struct cli_watch *watch, char *why, size_t why_bytes)
{
    watch->module = load(why, why_bytes);
    if (!watch->module)
        return false;
    watch->functions = dlsym(watch->module, WINDOW_SYMBOL);
    if (!watch->functions) {
        snprintf(why, why_bytes, WINDOW_MODULE " is of another version");
        return false;
    }
    watch->window = watch->functions->open(why, why_bytes);
    if (!watch->window)
        return false;
    note_monitors(watch);
    watch->wall_base = wall_ns();
    if (arm(watch, 0))
        return true;
    snprintf(why, why_bytes, "out of memory");
    return false;
}

bool cli_watch_begin(struct cli_session *session)
{
    struct cli_watch *watch;
    char why[WHY_BYTES] = "out of memory";

    if (!session->options->pictures.watch)
        return true;
    watch = session->watch = calloc(1, sizeof(*watch));
    if (watch) {
        watch->session = session;
        if (begin(watch, why, sizeof(why)))
            return true;
    }
    snprintf(session->error, sizeof(session->error), "--watch: no window: %s", why);
    cli_watch_free(session);
    return false;
}

/* ---- the end ---- */

void cli_watch_end(struct cli_session *session)
{
    struct cli_watch *watch = session->watch;

    if (!watch)
        return;
    watch->over = true;
    while (!look_at_keys(watch) && !cli_interrupted()) {
        show(watch);
        pause_ns(SLICE_NS);
    }
}

void cli_watch_free(struct cli_session *session)
{
    struct cli_watch *watch = session->watch;

    if (!watch)
        return;
    if (watch->window)
        watch->functions->close(watch->window);
    if (watch->module)
        dlclose(watch->module);
    free(watch);
    session->watch = NULL;
}
