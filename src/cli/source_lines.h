/* SPDX-License-Identifier: MIT */
/* Lines of a file of source, around one of them. */
#ifndef DXGK_CLI_SOURCE_LINES_H
#define DXGK_CLI_SOURCE_LINES_H

#include <stddef.h>
#include <stdint.h>

#define CLI_SOURCE_AROUND 3u /* on either side */
#define CLI_SOURCE_LINES  (2 * CLI_SOURCE_AROUND + 1)

struct cli_source_line {
    uint64_t number;
    char text[200]; /* without its end; what is longer is cut */
};

/* How many lines there are; 0: the file cannot be read, or does not have that line. The path is
 * that of a driver, and may name anything: only regular files of a bounded size are read. */
size_t cli_source_lines(const char *path, uint64_t line,
                        struct cli_source_line lines[CLI_SOURCE_LINES]);

#endif
