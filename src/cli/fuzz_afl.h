/* SPDX-License-Identifier: MIT */
/* AFL++ as the engine of a campaign: `afl-fuzz ... -- dxgkhost fuzz DRIVER --engine afl`. */
#ifndef DXGK_CLI_FUZZ_AFL_H
#define DXGK_CLI_FUZZ_AFL_H

#include "cli/fuzz_options.h"

/* Is the target of afl-fuzz, which has started this process, until afl-fuzz ends. Returns the
 * status of the process. */
int fuzz_afl(struct fuzz_options *options);

#endif
