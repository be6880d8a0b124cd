/* SPDX-License-Identifier: MIT */
/* What a run came to, as it is told to programs (docs/results.md). */
#ifndef DXGK_CLI_RESULT_H
#define DXGK_CLI_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dxgkhost/dxgkhost.h"

struct cli_json;
struct cli_options;
struct cli_session;

struct cli_result {
    const struct cli_options *options;
    const char *command; /* "run", "explore" */
    int argc;            /* what follows it */
    char **argv;
    const struct cli_session *session; /* NULL: there is none, or not any more */
    bool ended;                        /* the machine's process ended without a result */
    int status;                        /* of the program */
    const char *outcome;               /* cli_outcome */
    const char *message;               /* "": nothing to say */
    double wall_s;
    const struct dxgk_statistics *statistics; /* NULL: not known */
    /* The broken rules, and where they come from. */
    bool (*violation)(const void *from, size_t index, struct dxgk_violation *violation);
    const void *from;
    /* Writes the command that shows this one again. NULL: it is that of the result. */
    void (*again)(const void *from, size_t index, FILE *out);
};

/* "passed", "failed" (the workload), "broken" (a rule, by the driver), "stopped" (by the driver),
 * "refused" (the adapter), "interrupted", "lost" (the machine's process, or a result): what an exit
 * status means. */
const char *cli_outcome(int status);
bool cli_result_expected(const struct cli_result *result, const struct dxgk_violation *violation);
/* The command line that repeats it, as a shell takes it: to a stream, as a text to be freed (NULL:
 * out of memory), or as a member. */
void cli_put_command(FILE *out, const char *command, int argc, char *const *argv);
char *cli_result_command_text(const struct cli_result *result);
void cli_result_command(struct cli_json *json, const char *name, const struct cli_result *result);

/* The forms, each in a file of its name; false: it could not be written. */
bool cli_result_json(const struct cli_result *result, FILE *file);
bool cli_result_junit(const struct cli_result *result, FILE *file);
bool cli_result_sarif(const struct cli_result *result, FILE *file);
bool cli_result_html(const struct cli_result *result, FILE *file);

#endif
