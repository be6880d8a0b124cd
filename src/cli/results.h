/* SPDX-License-Identifier: MIT */
/*
 * The files of --json, --junit, --sarif and --html. They are opened before the run and written at
 * its end: by the process of the machine, or by the one that supervises it if that ended without a
 * result.
 */
#ifndef DXGK_CLI_RESULTS_H
#define DXGK_CLI_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

struct cli_options;
struct cli_result;

enum cli_result_form {
    CLI_RESULT_JSON,
    CLI_RESULT_JUNIT,
    CLI_RESULT_SARIF,
    CLI_RESULT_HTML,
    CLI_RESULT_FORMS
};

struct cli_result_file {
    const char *path; /* NULL: not asked for */
    FILE *file;
};

/* False, with a message: one cannot be opened. */
bool cli_results_open(struct cli_options *options);
/* False, with a message: one could not be written. What they had before is replaced. */
bool cli_results_write(const struct cli_result *result);
/* The same of a machine that came to no result, or was none: what its recorder has, if there is
 * one. `ended`: its process has. */
bool cli_results_write_lost(const struct cli_options *options, int status, const char *message,
                            bool ended);
void cli_results_close(struct cli_options *options);

#endif
