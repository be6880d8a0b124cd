/* SPDX-License-Identifier: MIT */
#include "cli/result.h"
#include "cli/expected.h"
#include "cli/json.h"
#include "cli/session.h"
#include "cli/shell_word.h"

#include <stdlib.h>

const char *cli_outcome(int status)
{
    static const char *const outcome[] = {
        [CLI_OK] = "passed",      [CLI_FAILED] = "failed", [CLI_USAGE] = "lost",
        [CLI_BROKEN] = "broken",  [CLI_HOST] = "lost",     [CLI_STOPPED] = "stopped",
        [CLI_REFUSED] = "refused"};

    return status > CLI_INTERRUPTED ? "interrupted" : outcome[status];
}

bool cli_result_expected(const struct cli_result *result, const struct dxgk_violation *violation)
{
    return result->session && cli_session_expects(result->session, violation->rule);
}

void cli_put_command(FILE *out, const char *command, int argc, char *const *argv)
{
    fprintf(out, "dxgkhost %s", command);
    for (int i = 0; i < argc; i++) {
        putc(' ', out);
        cli_shell_word(out, argv[i]);
    }
}

char *cli_result_command_text(const struct cli_result *result)
{
    char *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&text, &bytes);

    if (!memory)
        return NULL;
    cli_put_command(memory, result->command, result->argc, result->argv);
    if (fclose(memory) == 0)
        return text;
    free(text);
    return NULL;
}

void cli_result_command(struct cli_json *json, const char *name, const struct cli_result *result)
{
    char *text = cli_result_command_text(result);

    if (text)
        cli_json_text(json, name, text);
    free(text);
}
