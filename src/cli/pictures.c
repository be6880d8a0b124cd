/* SPDX-License-Identifier: MIT */
#include "cli/pictures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/frames.h"
#include "cli/session.h"
#include "dxgkhost/display.h"
#include "images/animation.h"
#include "images/png_file.h"

#define WHY_BYTES 300u

/* What --screen has asked for. */
struct shot {
    struct cli_pictures *of;
    const struct cli_screen *screen;
    void *png; /* NULL: not taken */
    size_t bytes;
    char why[WHY_BYTES]; /* why not; "": its time has not come */
};

struct cli_pictures {
    struct cli_session *session;
    struct shot shot[CLI_MAX_SCREENS];
    size_t shots;
    struct cli_frames *frames;
    struct animation *animation;
    bool full;               /* the animation takes no more */
    char animation_why[200]; /* why there is none */
    uint64_t end;            /* virtual time of the end; 0: not yet */
};

/* ---- still ones ---- */

static void take(struct shot *shot)
{
    struct dxgk_picture seen;
    struct picture picture;

    if (dxgk_machine_capture(shot->of->session->machine, 0, shot->screen->source, &seen, shot->why,
                             sizeof(shot->why)) != DXGK_OK)
        return;
    picture = (struct picture){seen.width, seen.height, seen.rgb};
    if (seen.rgb)
        shot->png = png_encode(&shot->bytes, &picture, shot->why, sizeof(shot->why));
    else
        snprintf(shot->why, sizeof(shot->why), "the screen has no signal%s",
                 shot->screen->timed ? " then" : "");
    dxgk_picture_free(&seen);
}

static void take_at(void *context)
{
    struct shot *shot = context;

    if (!shot->of->end)
        take(shot);
}

static size_t path_of(const struct cli_screen *screen, char *path, size_t bytes)
{
    return (size_t)snprintf(path, bytes, "%.*s", (int)screen->length, screen->text);
}

/* ---- the beginning ---- */

static bool begin_recordings(struct cli_pictures *pictures)
{
    struct cli_session *session = pictures->session;
    const struct cli_picture_options *options = &session->options->pictures;

    if (options->frames) {
        pictures->frames = cli_frames_begin(options->frames, options->most_frames,
                                            options->most_bytes, session->error,
                                            sizeof(session->error));
        if (!pictures->frames)
            return false;
    }
    if (options->animation) {
        pictures->animation = animation_begin();
        if (!pictures->animation) {
            snprintf(session->error, sizeof(session->error), "out of memory");
            return false;
        }
    }
    return true;
}

bool cli_pictures_begin(struct cli_session *session)
{
    const struct cli_picture_options *options = &session->options->pictures;
    struct cli_pictures *pictures;

    if (!options->screens && !cli_picture_options_record(options))
        return true;
    pictures = session->pictures = calloc(1, sizeof(*pictures));
    if (!pictures) {
        snprintf(session->error, sizeof(session->error), "out of memory");
        return false;
    }
    pictures->session = session;
    for (size_t i = 0; i < options->screens; i++) {
        struct shot *shot = &pictures->shot[pictures->shots++];

        shot->of = pictures;
        shot->screen = &options->screen[i];
        if (shot->screen->timed &&
            !dxgk_machine_at(session->machine, shot->screen->ns, take_at, shot)) {
            snprintf(session->error, sizeof(session->error), "out of memory");
            return false;
        }
    }
    return begin_recordings(pictures);
}

/* ---- frames ---- */

static void animate(struct cli_pictures *pictures, const struct dxgk_frame *frame)
{
    const struct cli_picture_options *options = &pictures->session->options->pictures;
    const struct picture picture = {frame->picture.width, frame->picture.height, frame->picture.rgb};

    if (!frame->picture.rgb || pictures->full)
        return;
    if (!animation_add(pictures->animation, &picture, frame->virtual_ns, pictures->animation_why,
                       sizeof(pictures->animation_why)) ||
        animation_frames(pictures->animation) >= options->most_frames ||
        animation_bytes(pictures->animation) >= options->most_bytes)
        pictures->full = true;
}

void cli_pictures_frame(void *context, const struct dxgk_frame *frame)
{
    const struct cli_session *session = context;
    struct cli_pictures *pictures = session->pictures;

    if (!pictures || pictures->end)
        return;
    if (pictures->frames)
        cli_frames_add(pictures->frames, frame);
    if (pictures->animation && frame->adapter == 0 &&
        frame->source == session->options->pictures.animated_source)
        animate(pictures, frame);
}

/* ---- the end ---- */

static uint64_t now_of(const struct cli_session *session)
{
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(session->machine, &s);
    return s.virtual_ns;
}

void cli_pictures_end(struct cli_session *session)
{
    struct cli_pictures *pictures = session->pictures;

    if (!pictures)
        return;
    pictures->end = now_of(session) + 1;
    for (size_t i = 0; i < pictures->shots; i++) {
        struct shot *shot = &pictures->shot[i];

        if (!shot->screen->timed && session->loaded == DXGK_OK)
            take(shot);
        else if (!shot->png && !shot->why[0])
            snprintf(shot->why, sizeof(shot->why), "the run ended before, at %.6f ms",
                     (double)(pictures->end - 1) / 1e6);
    }
}

static void tell(const char *path, const char *what, const char *why)
{
    fprintf(stderr, "dxgkhost: %s: %s: %s\n", path, what, why);
}

static bool write_shot(const struct shot *shot, const char *path, char *why, size_t why_bytes)
{
    if (shot->png)
        return png_write_bytes(path, shot->png, shot->bytes, why, why_bytes);
    snprintf(why, why_bytes, "%s", shot->why);
    return false;
}

static bool write_animation(const struct cli_pictures *pictures)
{
    const struct cli_picture_options *options = &pictures->session->options->pictures;
    char why[WHY_BYTES] = "no frame was shown";

    if (pictures->full)
        tell(options->animation, "the animation is not whole",
             pictures->animation_why[0] ? pictures->animation_why
                                        : "it has all that --frames-limit lets in");
    if (animation_frames(pictures->animation) &&
        animation_write(pictures->animation, options->animation, pictures->end - 1, why,
                        sizeof(why)))
        return true;
    tell(options->animation, "no animation of the screen", why);
    return false;
}

static bool write_frames(struct cli_pictures *pictures)
{
    char why[WHY_BYTES] = "";
    const char *left_out = cli_frames_left_out(pictures->frames);
    bool good;

    if (left_out)
        fprintf(stderr, "dxgkhost: %s\n", left_out);
    good = cli_frames_end(pictures->frames, why, sizeof(why));
    pictures->frames = NULL;
    if (!good)
        tell(pictures->session->options->pictures.frames, "not all frames are there", why);
    return good;
}

/* Of a driver that was not started there are none, and why is told elsewhere. */
bool cli_pictures_write(const struct cli_session *session)
{
    struct cli_pictures *pictures = session->pictures;
    char path[4096], why[WHY_BYTES];
    bool good = true;

    if (!pictures || session->loaded != DXGK_OK)
        return true;
    for (size_t i = 0; i < pictures->shots; i++) {
        path_of(pictures->shot[i].screen, path, sizeof(path));
        if (write_shot(&pictures->shot[i], path, why, sizeof(why)))
            continue;
        tell(pictures->shot[i].screen->text, "no picture of the screen", why);
        good = false;
    }
    if (pictures->frames)
        good &= write_frames(pictures);
    if (pictures->animation)
        good &= write_animation(pictures);
    return good;
}

/* "FOLDER/screen-7.png" of "any/screen.png". */
static void path_with_seed(const struct cli_session *session, const struct cli_screen *screen,
                           uint64_t seed, char *path, size_t bytes)
{
    char file[4096];
    const char *name, *dot;

    path_of(screen, file, sizeof(file));
    name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    dot = strrchr(name, '.');
    snprintf(path, bytes, "%s/%.*s-%" PRIu64 "%s", session->options->out,
             (int)(dot ? (size_t)(dot - name) : strlen(name)), name, seed, dot ? dot : "");
}

void cli_pictures_write_seed(const struct cli_session *session, uint64_t seed)
{
    const struct cli_pictures *pictures = session->pictures;
    char path[8400], why[WHY_BYTES];

    for (size_t i = 0; pictures && i < pictures->shots; i++) {
        path_with_seed(session, pictures->shot[i].screen, seed, path, sizeof(path));
        (void)write_shot(&pictures->shot[i], path, why, sizeof(why));
    }
}

void cli_pictures_free(struct cli_session *session)
{
    struct cli_pictures *pictures = session->pictures;

    if (!pictures)
        return;
    for (size_t i = 0; i < pictures->shots; i++)
        free(pictures->shot[i].png);
    (void)cli_frames_end(pictures->frames, NULL, 0);
    animation_free(pictures->animation);
    free(pictures);
    session->pictures = NULL;
}
