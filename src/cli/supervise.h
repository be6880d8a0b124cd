/* SPDX-License-Identifier: MIT */
/* Running a machine in a process of its own. */
#ifndef DXGK_CLI_SUPERVISE_H
#define DXGK_CLI_SUPERVISE_H

struct cli_options;

/* Calls work(options) in a worker process (with --no-supervisor: in this one) and returns its exit
 * status. Whatever ends the worker before it has one is reported. `options` gets a recorder and the
 * shared memory. */
int cli_supervise(struct cli_options *options, int (*work)(struct cli_options *options));

#endif
