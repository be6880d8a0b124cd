/* SPDX-License-Identifier: MIT */
#include "cli/log_ring.h"

#include <stdlib.h>
#include <string.h>

static void add_byte(struct cli_log_ring *log, uint64_t at, char byte)
{
    log->bytes[at % CLI_LOG_BYTES] = byte;
}

void cli_log_add(struct cli_log_ring *log, const char *line)
{
    uint64_t at = atomic_load(&log->written);

    while (*line)
        add_byte(log, at++, *line++);
    add_byte(log, at++, '\n');
    atomic_store(&log->written, at);
}

bool cli_log_is_cut(const struct cli_log_ring *log)
{
    return atomic_load(&log->written) > CLI_LOG_BYTES;
}

char *cli_log_text(const struct cli_log_ring *log)
{
    const uint64_t end = atomic_load(&log->written);
    const size_t length = end < CLI_LOG_BYTES ? (size_t)end : CLI_LOG_BYTES;
    char *text = malloc(length + 1), *first;

    if (!text)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        const char byte = log->bytes[(end - length + i) % CLI_LOG_BYTES];

        text[i] = byte ? byte : '?'; /* another process may have written anything here */
    }
    text[length] = '\0';
    first = cli_log_is_cut(log) ? strchr(text, '\n') : NULL;
    if (first)
        memmove(text, first + 1, strlen(first + 1) + 1);
    return text;
}
