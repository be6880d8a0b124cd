/* SPDX-License-Identifier: MIT */
#include "cli/picture_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/number.h"
#include "cli/session.h"
#include "cli/usage.h"

#define MOST_FRAMES 10000u
#define MOST_BYTES  ((uint64_t)1 << 30)
#define MOST_SIDE   16384u

void cli_picture_options_init(struct cli_picture_options *options)
{
    memset(options, 0, sizeof(*options));
    options->most_frames = MOST_FRAMES; /* PRES-318 */
    options->most_bytes = MOST_BYTES;
}

bool cli_picture_options_record(const struct cli_picture_options *options)
{
    return options->frames || options->animation;
}

/* Behind "1=" it is that of another source than the first. */
static const char *parse_source(const char *value, unsigned *source)
{
    const size_t digits = strspn(value, "0123456789");
    char number[4];
    uint64_t n;

    *source = 0;
    if (!digits || digits >= sizeof(number) || value[digits] != '=')
        return value;
    snprintf(number, sizeof(number), "%.*s", (int)digits, value);
    if (!cli_parse_number(number, &n))
        return value;
    *source = (unsigned)n;
    return value + digits + 1;
}

/* What is behind the last @ is a time if it can be one. */
int cli_parse_screen(struct cli_options *options, const char *name, const char *value)
{
    struct cli_picture_options *pictures = &options->pictures;
    const char *at = strrchr(value, '@');
    struct cli_screen screen = {0};

    screen.text = parse_source(value, &screen.source);
    screen.timed = at && cli_parse_duration(at + 1, &screen.ns);
    screen.length = screen.timed ? (size_t)(at - screen.text) : strlen(screen.text);
    if (!screen.length)
        return cli_usage_error("--screen wants [SOURCE=]FILE.png, or [SOURCE=]FILE.png@TIME", value);
    if (pictures->screens == CLI_MAX_SCREENS) {
        fprintf(stderr, "dxgkhost: %s: at most %u of them are possible\n", name, CLI_MAX_SCREENS);
        return CLI_USAGE;
    }
    pictures->screen[pictures->screens++] = screen;
    return CLI_OK;
}

int cli_parse_frames(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    if (!*value)
        return cli_usage_error("--frames wants a folder", value);
    options->pictures.frames = value;
    return CLI_OK;
}

/* "N" or "N,SIZE". */
int cli_parse_frames_limit(struct cli_options *options, const char *name, const char *value)
{
    static const char wants[] = "--frames-limit wants a number of files, or N,SIZE";
    const char *comma = strchr(value, ',');
    char number[24];

    (void)name;
    if ((comma && (size_t)(comma - value) >= sizeof(number)) || strlen(value) > 60)
        return cli_usage_error(wants, value);
    snprintf(number, sizeof(number), "%.*s", (int)(comma ? comma - value : 23), value);
    if (!cli_parse_number(number, &options->pictures.most_frames) ||
        (comma && !cli_parse_size(comma + 1, &options->pictures.most_bytes)))
        return cli_usage_error(wants, value);
    return CLI_OK;
}

int cli_parse_animation(struct cli_options *options, const char *name, const char *value)
{
    (void)name;
    options->pictures.animation = parse_source(value, &options->pictures.animated_source);
    return *options->pictures.animation
               ? CLI_OK
               : cli_usage_error("--animation wants [SOURCE=]FILE.png", value);
}

/* "WIDTHxHEIGHT" or "WIDTHxHEIGHT,PITCH". */
int cli_parse_firmware_screen(struct cli_options *options, const char *name, const char *value)
{
    unsigned width, height, pitch = 0;
    int all = 0, part = 0;

    (void)name;
    if (sscanf(value, "%5ux%5u%n,%6u%n", &width, &height, &part, &pitch, &all) < 2 ||
        (value[part] && (!all || value[all])) || strspn(value, "0123456789x,") != strlen(value))
        return cli_usage_error("--firmware-screen wants WIDTHxHEIGHT, or WIDTHxHEIGHT,PITCH", value);
    if (!all)
        pitch = 4 * width;
    if (!width || !height || width > MOST_SIDE || height > MOST_SIDE || pitch < 4 * width ||
        pitch > 8 * MOST_SIDE)
        return cli_usage_error("--firmware-screen has sides of 1 to 16384, and a pitch of 4 bytes a "
                               "pixel at least",
                               value);
    options->config.firmware_screen.width = width;
    options->config.firmware_screen.height = height;
    options->config.firmware_screen.pitch = pitch;
    return CLI_OK;
}

/* Behind "0=" or "0@20ms=" is what is plugged in there; without it, on output 0. */
static bool parse_place(const char *value, struct cli_monitor *monitor)
{
    const char *equals = strchr(value, '=');
    const size_t length = equals ? (size_t)(equals - value) : 0;
    char place[64], *at;
    uint64_t output;

    if (!length || length >= sizeof(place))
        return false;
    snprintf(place, sizeof(place), "%.*s", (int)length, value);
    at = strchr(place, '@');
    if (at)
        *at++ = '\0';
    if (!cli_parse_number(place, &output) || output > UINT8_MAX ||
        (at && !cli_parse_duration(at, &monitor->ns)))
        return false;
    monitor->output = (unsigned)output;
    monitor->what = equals + 1;
    return true;
}

int cli_parse_monitor(struct cli_options *options, const char *name, const char *value)
{
    struct cli_monitor_options *all = &options->monitors;
    struct cli_monitor monitor = {.what = value};

    if (!parse_place(value, &monitor))
        monitor = (struct cli_monitor){.what = value};
    if (!*monitor.what)
        return cli_usage_error("--monitor wants [OUTPUT[@TIME]=]FILE, a list of modes, or none",
                               value);
    if (all->monitors == CLI_MAX_MONITORS) {
        fprintf(stderr, "dxgkhost: %s: at most %u of them are possible\n", name, CLI_MAX_MONITORS);
        return CLI_USAGE;
    }
    all->monitor[all->monitors++] = monitor;
    return CLI_OK;
}
