/* SPDX-License-Identifier: MIT */
#include "cli/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dxgkhost/display.h"
#include "images/png_file.h"
#include "util/explain.h"

#define SOURCES 256u /* of all adapters, that are told apart */

/* The last picture of a source that has a file. */
struct last {
    bool there;
    uint32_t checksum;
    char file[64];
};

struct cli_frames {
    const char *folder;
    FILE *index;
    uint64_t most, most_bytes; /* limits */
    uint64_t files, bytes, left_out;
    struct last last[SOURCES];
    char told[200], error[300];
};

struct cli_frames *cli_frames_begin(const char *folder, uint64_t most, uint64_t most_bytes,
                                    char *why, size_t why_bytes)
{
    struct cli_frames *frames = calloc(1, sizeof(*frames));
    char path[4096];

    if (!frames) {
        util_explain(why, why_bytes, "out of memory");
        return NULL;
    }
    frames->folder = folder;
    frames->most = most;
    frames->most_bytes = most_bytes;
    snprintf(path, sizeof(path), "%s/index.tsv", folder);
    frames->index = fopen(path, "w");
    if (!frames->index) {
        util_explain(why, why_bytes, "%s: %s", path, strerror(errno));
        free(frames);
        return NULL;
    }
    (void)setvbuf(frames->index, NULL, _IOLBF, BUFSIZ); /* whole if the process crashes */
    fputs("adapter\tsource\tframe\ttime_ns\tcause\twidth\theight\tchecksum\tfile\trectangles\n",
          frames->index);
    return frames;
}

static struct last *last_of(struct cli_frames *frames, const struct dxgk_frame *frame)
{
    return &frames->last[(frame->adapter * 16 + frame->source) % SOURCES];
}

static void leave_out(struct cli_frames *frames)
{
    if (frames->left_out++ == 0)
        snprintf(frames->told, sizeof(frames->told),
                 "%s has %" PRIu64 " pictures of %" PRIu64
                 " bytes, which is all that --frames-limit "
                 "lets in; of later frames it has lines in index.tsv",
                 frames->folder, frames->files, frames->bytes);
}

/* The name of the file of this picture; "-": it has none. */
static const char *write_picture(struct cli_frames *frames, const struct dxgk_frame *frame)
{
    const struct picture picture = {frame->picture.width, frame->picture.height, frame->picture.rgb};
    struct last *last = last_of(frames, frame);
    char path[4096], why[200];
    size_t bytes;
    void *png;

    if (last->there && last->checksum == frame->picture.checksum)
        return last->file;
    last->there = false;
    if (frames->files >= frames->most) {
        leave_out(frames);
        return "-";
    }
    png = png_encode(&bytes, &picture, why, sizeof(why));
    if (!png) {
        snprintf(frames->error, sizeof(frames->error), "%s", why);
        return "-";
    }
    if (frames->bytes + bytes > frames->most_bytes) {
        free(png);
        leave_out(frames);
        return "-";
    }
    snprintf(last->file, sizeof(last->file), "%u-%u-%06" PRIu64 ".png", frame->adapter,
             frame->source, frame->number);
    snprintf(path, sizeof(path), "%s/%s", frames->folder, last->file);
    last->there = png_write_bytes(path, png, bytes, why, sizeof(why));
    free(png);
    if (!last->there) {
        snprintf(frames->error, sizeof(frames->error), "%.60s: %s", last->file, why);
        return "-";
    }
    last->checksum = frame->picture.checksum;
    frames->files++;
    frames->bytes += bytes;
    return last->file;
}

void cli_frames_add(struct cli_frames *frames, const struct dxgk_frame *frame)
{
    const bool seen = frame->picture.rgb != NULL;

    fprintf(frames->index,
            "%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%s\t%" PRIu32 "\t%" PRIu32 "\t%08" PRIx32 "\t%s\t",
            frame->adapter, frame->source, frame->number, frame->virtual_ns, frame->cause,
            frame->picture.width, frame->picture.height, frame->picture.checksum,
            seen ? write_picture(frames, frame) : "-");
    for (size_t i = 0; i < frame->rectangles; i++)
        fprintf(frames->index, "%s%d,%d,%d,%d", i ? " " : "", frame->rectangle[i][0],
                frame->rectangle[i][1], frame->rectangle[i][2], frame->rectangle[i][3]);
    fputc('\n', frames->index);
    if (!seen && frame->error[0] && !frames->error[0])
        snprintf(frames->error, sizeof(frames->error), "%s", frame->error);
}

const char *cli_frames_left_out(const struct cli_frames *frames)
{
    return frames && frames->left_out ? frames->told : NULL;
}

bool cli_frames_end(struct cli_frames *frames, char *why, size_t why_bytes)
{
    bool bad;

    if (!frames)
        return true;
    bad = ferror(frames->index) != 0;
    bad |= fclose(frames->index) != 0;
    if (frames->error[0])
        util_explain(why, why_bytes, "%s", frames->error);
    else if (bad)
        util_explain(why, why_bytes, "its index could not be written");
    bad |= frames->error[0] != '\0';
    free(frames);
    return !bad;
}
