/* SPDX-License-Identifier: MIT */
/*
 * A window that shows a screen while the workload runs (--watch), no faster than virtual time, and
 * from which monitors are plugged and unplugged. The machine is looked at 60 times in a second of
 * virtual time; a run with keys is not repeatable from its seed.
 */
#ifndef DXGK_CLI_WATCH_H
#define DXGK_CLI_WATCH_H

#include <stdbool.h>

struct cli_session;

/* Before the device is added. False: session->error says why there is no window. */
bool cli_watch_begin(struct cli_session *session);
/* The workload is over: shows how it ended until the window is closed, or a signal has come. */
void cli_watch_end(struct cli_session *session);
void cli_watch_free(struct cli_session *session);

#endif
