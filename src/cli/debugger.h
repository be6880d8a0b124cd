/* SPDX-License-Identifier: MIT */
/* run --gdb: the same command line, in gdb, with gdb/dxgkhost.py (docs/debugging.md). */
#ifndef DXGK_CLI_DEBUGGER_H
#define DXGK_CLI_DEBUGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_MAX_BREAKS 16u

struct cli_options;

struct cli_debugger_options {
    bool gdb;
    const char *rule[CLI_MAX_BREAKS]; /* --break: an id, or "any" */
    size_t rules;
    uint64_t until_ns; /* 0: none */
};

/* Of one option each: CLI_OK, or the exit status after an error message. Either asks for gdb. */
int cli_parse_break(struct cli_options *options, const char *name, const char *value);
int cli_parse_until(struct cli_options *options, const char *name, const char *value);
/* What cannot be done in a debugger. CLI_OK, or the exit status after an error message. */
int cli_debugger_check(const struct cli_options *options);
/* Become gdb, with the command line that was parsed; `wants_value`: whether the word after this one
 * is the value of an option of this name. Returns only with the exit status of a failure, after an
 * error message. */
int cli_debugger_run(const struct cli_options *options, bool (*wants_value)(const char *name));

#endif
