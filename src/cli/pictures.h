/* SPDX-License-Identifier: MIT */
/* Pictures of screens that a run leaves: still ones at its end and at virtual times (--screen), all
 * frames (--frames), and an animation (--animation). */
#ifndef DXGK_CLI_PICTURES_H
#define DXGK_CLI_PICTURES_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;
struct dxgk_frame;

/* Before the device is added: orders what is due at times. False: session->error says why not. */
bool cli_pictures_begin(struct cli_session *session);
/* The hook `frame` of the configuration; the context is the session. */
void cli_pictures_frame(void *session, const struct dxgk_frame *frame);
/* The workload is over: takes what is due at the end; later ones are none. */
void cli_pictures_end(struct cli_session *session);
/* Writes what was taken. False: some could not be taken, or written; each is told. */
bool cli_pictures_write(const struct cli_session *session);
/* The still ones, into the folder of --out, with the seed in their names; nothing is told. */
void cli_pictures_write_seed(const struct cli_session *session, uint64_t seed);
void cli_pictures_free(struct cli_session *session);

#endif
