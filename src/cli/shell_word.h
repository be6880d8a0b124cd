/* SPDX-License-Identifier: MIT */
/* Command lines that can be typed again. */
#ifndef DXGK_CLI_SHELL_WORD_H
#define DXGK_CLI_SHELL_WORD_H

#include <stdio.h>

/* A word as a POSIX shell takes it, in quotes if it needs them. */
void cli_shell_word(FILE *out, const char *word);

#endif
