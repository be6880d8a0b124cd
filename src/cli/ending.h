/* SPDX-License-Identifier: MIT */
/* The report of a machine whose process ended without a result. */
#ifndef DXGK_CLI_ENDING_H
#define DXGK_CLI_ENDING_H

#include <stdbool.h>
#include <stddef.h>

struct cli_options;
struct dxgk_recorder;

/* In one line without an end: what ended the process (`ended`: from waitpid) and in which code.
 * `stalled`: the supervisor ended it since the machine stood still. */
void cli_describe_ending(const struct dxgk_recorder *recorder, int ended, bool stalled, char *text,
                         size_t bytes);
/* In one line: what was going on: the call, the thread, the time. */
void cli_describe_place(const struct dxgk_recorder *recorder, char *text, size_t bytes);
/* Prints both, the stack, the broken rules that were not told yet, and writes the trace. Returns
 * the exit status: CLI_STOPPED if code of the driver ran, else CLI_HOST. */
int cli_report_ending(const struct cli_options *options, int ended, bool stalled);

#endif
