/* SPDX-License-Identifier: MIT */
#include "cli/shell_word.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *word)
{
    return word[0] && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                        "0123456789_-+=.,:/@%")] == '\0';
}

void cli_shell_word(FILE *out, const char *word)
{
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    }
    putc('\'', out);
}
