/* SPDX-License-Identifier: MIT */
/* Arguments of the form --name=value. */
#ifndef DXGK_CLI_ARGUMENT_H
#define DXGK_CLI_ARGUMENT_H

#include <stddef.h>

#define CLI_NAME_BYTES 32u /* no option's name is longer */

/* The name of an option, without what follows "="; and that: NULL if there is no "=". */
const char *cli_argument(const char *argument, char name[CLI_NAME_BYTES]);

#endif
