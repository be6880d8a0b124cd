/* SPDX-License-Identifier: MIT */
/* Colors of what is printed on a terminal; none elsewhere, nor with NO_COLOR (no-color.org). */
#ifndef DXGK_CLI_COLOR_H
#define DXGK_CLI_COLOR_H

#include <stdio.h>

enum cli_color { CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_CYAN };

/* Once, before there are threads or other processes: whether standard output and error are
 * terminals. */
void cli_color_begin(void);
/* What begins a color, or ends one: "" where there are none. `file` is stdout or stderr. */
const char *cli_color(const FILE *file, enum cli_color color);
const char *cli_color_end(const FILE *file);
/* That of a severity of a broken rule. */
enum cli_color cli_color_of(const char *severity);

#endif
