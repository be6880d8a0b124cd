/* SPDX-License-Identifier: MIT */
/* Differences between a run of this host and Windows that are known, with the reason for each. */
#ifndef DXGK_WINTRACE_KNOWN_H
#define DXGK_WINTRACE_KNOWN_H

#include "wintrace/wintrace.h"

/* The reason why a field of an event may differ; NULL: it may not. */
const char *known_field(uint16_t event, const char *field);
/* The reason why an event may be in one trace alone. */
const char *known_event(uint16_t event);

#endif
