/* SPDX-License-Identifier: MIT */
/*
 * Functions and lines of source of Windows images with a PDB file: llvm-symbolizer reads it, a
 * process of its own, which is asked by way of pipes. It is started before a machine gives up its
 * rights (isolate.h), and only if the driver has a PDB that is its own. So the machine's process
 * reads no PDB, and one that is damaged ends no run.
 */
#ifndef DXGK_CLI_SYMBOLIZER_H
#define DXGK_CLI_SYMBOLIZER_H

#include <stdbool.h>

struct cli_options;

/* For the machines that the options describe, in this process: sets options->config.source.
 * `tells`: when a report would have lines, says once on stderr why it has none. */
void cli_symbolizer_begin(struct cli_options *options, bool tells);
/* Ends it, when no machine is left that asks. */
void cli_symbolizer_end(struct cli_options *options);

#endif
