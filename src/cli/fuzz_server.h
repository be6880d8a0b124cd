/* SPDX-License-Identifier: MIT */
/* The process with the machine, which runs the inputs of an engine. */
#ifndef DXGK_CLI_FUZZ_SERVER_H
#define DXGK_CLI_FUZZ_SERVER_H

#include "cli/fuzz_options.h"

/* Starts the machine, and runs each input that comes in a child of its own (docs/fuzzing.md).
 * Returns when the engine has ended, with the status of the process. */
int fuzz_serve(struct fuzz_options *options);

#endif
