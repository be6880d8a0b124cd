/* SPDX-License-Identifier: MIT */
#include "cli/result.h"
#include "cli/expected.h"
#include "cli/session.h"
#include "cli/shell_word.h"

const char *cli_outcome(const struct cli_session *session, int status)
{
    const bool stopped = session &&
                         (session->loaded == DXGK_DEADLOCK || session->result == DXGK_DEADLOCK ||
                          session->ended == DXGK_DEADLOCK ||
                          (cli_session_stopped(session) && status == CLI_DRIVER));

    if (status > 128)
        return "interrupted";
    if (!session)
        return status == CLI_DRIVER ? "stopped" : "lost";
    if (stopped)
        return "stopped";
    if (status == CLI_DRIVER)
        return "broken";
    if (status == CLI_OK)
        return "passed";
    return session->loaded != DXGK_OK ? "refused" : "failed";
}

bool cli_result_expected(const struct cli_result *result, const struct dxgk_violation *violation)
{
    return result->session && cli_session_expects(result->session, violation->rule);
}

void cli_result_command(const struct cli_options *options, FILE *file)
{
    fputs("dxgkhost run", file);
    for (int i = 0; i < options->argc; i++) {
        putc(' ', file);
        cli_shell_word(file, options->argv[i]);
    }
}
