/* SPDX-License-Identifier: MIT */
/* A campaign: engines, and what they find. */
#ifndef DXGK_CLI_FUZZ_CAMPAIGN_H
#define DXGK_CLI_FUZZ_CAMPAIGN_H

#include "cli/fuzz_options.h"

/* Runs it to its end; prints what was found. The arguments are those of the program behind `fuzz`,
 * for the engines' servers. Returns the exit status. */
int fuzz_campaign(struct fuzz_options *options, int argc, char **argv);

#endif
