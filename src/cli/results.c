/* SPDX-License-Identifier: MIT */
#include "cli/results.h"
#include "cli/result.h"
#include "cli/session.h"
#include "dxgkhost/recorder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const option_names[CLI_RESULT_FORMS] = {"--json", "--junit", "--sarif", "--html"};

bool cli_results_open(struct cli_options *options)
{
    for (unsigned form = 0; form < CLI_RESULT_FORMS; form++) {
        struct cli_result_file *to = &options->result[form];

        to->file = to->path ? fopen(to->path, "w") : NULL;
        if (to->path && !to->file) {
            fprintf(stderr, "dxgkhost: %s: %s\n", to->path, strerror(errno));
            return false;
        }
    }
    return true;
}

void cli_results_close(struct cli_options *options)
{
    for (unsigned form = 0; form < CLI_RESULT_FORMS; form++)
        if (options->result[form].file)
            fclose(options->result[form].file);
}

/* Begins anew, where something may be there. A pipe cannot. */
static bool empty(FILE *file)
{
    return ftruncate(fileno(file), 0) != 0 || fseek(file, 0, SEEK_SET) == 0;
}

bool cli_results_write(const struct cli_result *result)
{
    static bool (*const write[CLI_RESULT_FORMS])(const struct cli_result *result, FILE *file) = {
        cli_result_json, cli_result_junit, cli_result_sarif, cli_result_html};
    bool all = true;

    for (unsigned form = 0; form < CLI_RESULT_FORMS; form++) {
        const struct cli_result_file *to = &result->options->result[form];

        if (!to->file || (empty(to->file) && write[form](result, to->file) && fflush(to->file) == 0))
            continue;
        fprintf(stderr, "dxgkhost: %s: %s: writing failed\n", option_names[form], to->path);
        all = false;
    }
    return all;
}

static bool violation_of_recorder(const void *recorder, size_t index,
                                  struct dxgk_violation *violation)
{
    return recorder && dxgk_recorder_violation(recorder, index, violation);
}

bool cli_results_write_lost(const struct cli_options *options, int status, const char *message,
                            bool ended)
{
    const struct cli_result result = {.options = options,
                                      .command = options->fuzzes ? "fuzz" : "run",
                                      .argc = options->argc,
                                      .argv = options->argv,
                                      .ended = ended,
                                      .status = status,
                                      .outcome = cli_outcome(status),
                                      .message = message,
                                      .violation = violation_of_recorder,
                                      .from = options->config.recorder};

    return cli_results_write(&result);
}
