/* SPDX-License-Identifier: MIT */
/* Numbers and sizes as options give them. */
#ifndef DXGK_CLI_NUMBER_H
#define DXGK_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Parses "64M", "16G", "0x1000" into bytes. False: not a size. */
bool cli_parse_size(const char *text, uint64_t *bytes);
bool cli_parse_number(const char *text, uint64_t *value);

#endif
