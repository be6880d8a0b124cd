/* SPDX-License-Identifier: MIT */
/* Durations as options give them. */
#ifndef DXGK_CLI_DURATION_H
#define DXGK_CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Parses "90", "90s", "1.5s", "20ms", "500us", "100ns", "5m" or "1h" into nanoseconds; without a
 * unit the number is of seconds. False: not a duration, or one of more than 584 years. */
bool cli_parse_duration(const char *text, uint64_t *ns);

#endif
