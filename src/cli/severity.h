/* SPDX-License-Identifier: MIT */
/* --severity RULE=note|warning|error|bugcheck. */
#ifndef DXGK_CLI_SEVERITY_H
#define DXGK_CLI_SEVERITY_H

#include "cli/session.h"

/* Hands the severities of the options to the machine. False: `error` names one with an unknown rule
 * or severity. */
bool cli_set_severities(struct dxgk_machine *machine, const struct cli_options *options,
                        char *error, size_t error_bytes);

#endif
