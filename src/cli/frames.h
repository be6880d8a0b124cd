/* SPDX-License-Identifier: MIT */
/* A folder with each frame as a PNG, and an index of them (PRES-317, PRES-318). */
#ifndef DXGK_CLI_FRAMES_H
#define DXGK_CLI_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_frames;
struct dxgk_frame;

/* The folder is there. NULL: `why` says why not. */
struct cli_frames *cli_frames_begin(const char *folder, uint64_t most, uint64_t most_bytes,
                                    char *why, size_t why_bytes);
void cli_frames_add(struct cli_frames *frames, const struct dxgk_frame *frame);
/* A line that is to be told: files were left out; NULL: none were. */
const char *cli_frames_left_out(const struct cli_frames *frames);
/* False: `why` says what could not be written. Frees them; NULL is allowed. */
bool cli_frames_end(struct cli_frames *frames, char *why, size_t why_bytes);

#endif
