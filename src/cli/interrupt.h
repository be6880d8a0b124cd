/* SPDX-License-Identifier: MIT */
/* An end that a user asks for while the machine runs. */
#ifndef DXGK_CLI_INTERRUPT_H
#define DXGK_CLI_INTERRUPT_H

#include <stdbool.h>

struct dxgk_machine;

/* Which machine it is; NULL: none any more. */
void cli_interrupt_target(struct dxgk_machine *machine);
/* Let it end at its next point: for handlers of signals. */
void cli_interrupt(void);
bool cli_interrupted(void); /* it was asked to */

#endif
