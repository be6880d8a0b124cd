/* SPDX-License-Identifier: MIT */
#include "cli/source_lines.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((off_t)16 << 20)

static FILE *open_file(const char *path)
{
    int number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY); /* it may be a pipe */
    struct stat is;
    FILE *file;

    if (number < 0)
        return NULL;
    if (fstat(number, &is) != 0 || !S_ISREG(is.st_mode) || is.st_size > MOST_BYTES) {
        close(number);
        return NULL;
    }
    file = fdopen(number, "r");
    if (!file)
        close(number);
    return file;
}

/* False: at the end. */
static bool read_line(FILE *file, char *text, size_t bytes)
{
    size_t used = 0;
    int c = getc(file);

    if (c == EOF)
        return false;
    for (; c != EOF && c != '\n'; c = getc(file))
        if (used + 1 < bytes && c != '\r')
            text[used++] = c ? (char)c : '?';
    text[used] = '\0';
    return true;
}

size_t cli_source_lines(const char *path, uint64_t line,
                        struct cli_source_line lines[CLI_SOURCE_LINES])
{
    const uint64_t first = line > CLI_SOURCE_AROUND ? line - CLI_SOURCE_AROUND : 1;
    FILE *file = line ? open_file(path) : NULL;
    char text[sizeof(lines->text)];
    size_t count = 0;

    if (!file)
        return 0;
    for (uint64_t number = 1;
         number <= line + CLI_SOURCE_AROUND && read_line(file, text, sizeof(text)); number++) {
        if (number < first)
            continue;
        lines[count].number = number;
        memcpy(lines[count++].text, text, sizeof(text));
    }
    fclose(file);
    return count && lines[count - 1].number >= line ? count : 0;
}
