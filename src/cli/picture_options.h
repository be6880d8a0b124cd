/* SPDX-License-Identifier: MIT */
/* Options about screens: which pictures of them are left, and what firmware has lit. */
#ifndef DXGK_CLI_PICTURE_OPTIONS_H
#define DXGK_CLI_PICTURE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_MAX_SCREENS  64u
#define CLI_MAX_MONITORS 64u

struct cli_options;

/* --screen [SOURCE=]FILE[@TIME] */
struct cli_screen {
    const char *text; /* from the name of the file on */
    unsigned source;
    size_t length; /* of the name of the file in it */
    bool timed;    /* at this virtual time; else at the end */
    uint64_t ns;
};

struct cli_picture_options {
    struct cli_screen screen[CLI_MAX_SCREENS];
    size_t screens;
    const char *frames, *animation; /* a folder, and a file; NULL: none */
    unsigned animated_source;
    bool watch;                       /* in a window */
    uint64_t most_frames, most_bytes; /* of frames in the folder, and of the animation */
};

/* --monitor [OUTPUT[@TIME]=]WHAT */
struct cli_monitor {
    unsigned output;
    uint64_t ns;
    const char *what; /* a file, a list of modes, or "none" */
};

struct cli_monitor_options {
    struct cli_monitor monitor[CLI_MAX_MONITORS];
    size_t monitors;
};

void cli_picture_options_init(struct cli_picture_options *options);
/* Whether a hook is wanted for each frame. */
bool cli_picture_options_record(const struct cli_picture_options *options);

/* Of one option each: CLI_OK, or the exit status after an error message. */
int cli_parse_screen(struct cli_options *options, const char *name, const char *value);
int cli_parse_frames(struct cli_options *options, const char *name, const char *value);
int cli_parse_frames_limit(struct cli_options *options, const char *name, const char *value);
int cli_parse_animation(struct cli_options *options, const char *name, const char *value);
int cli_parse_monitor(struct cli_options *options, const char *name, const char *value);
int cli_parse_firmware_screen(struct cli_options *options, const char *name, const char *value);

#endif
