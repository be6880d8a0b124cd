/* SPDX-License-Identifier: MIT */
/* Which rule of docs/spec a difference touches. */
#ifndef DXGK_WINTRACE_TOUCHED_H
#define DXGK_WINTRACE_TOUCHED_H

#include <stdint.h>

/* By the event and the field that differs, the first of them that has a rule; field NULL: the event
 * is in one trace alone. NULL: no rule speaks of it. */
const char *touched_rule(uint16_t event, const char *field);

#endif
