/* SPDX-License-Identifier: MIT */
#include "cli/result.h"
#include "cli/expected.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/shell_word.h"

#include <stdlib.h>

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

void cli_result_command(struct cli_json *json, const char *name, const struct cli_options *options)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);

    if (!memory)
        return;
    fputs(options->fuzzes ? "dxgkhost fuzz" : "dxgkhost run", memory);
    for (int i = 0; i < options->argc; i++) {
        putc(' ', memory);
        cli_shell_word(memory, options->argv[i]);
    }
    if (fclose(memory) == 0)
        cli_json_text(json, name, text);
    free(text);
}
