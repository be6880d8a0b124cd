/* SPDX-License-Identifier: MIT */
/* Texts that drivers and file names bring along may be of any bytes. */
#ifndef DXGK_CLI_UTF8_H
#define DXGK_CLI_UTF8_H

#include <stddef.h>

#define CLI_UTF8_BAD "\xEF\xBF\xBD" /* U+FFFD */

/* How many bytes the character at `text` has, 1 to 4; 0: these bytes are none. */
size_t cli_utf8_length(const char *text);

#endif
