/* SPDX-License-Identifier: MIT */
#include "cli/expected.h"
#include "cli/session.h"

#include <string.h>

bool cli_session_expects(const struct cli_session *session, const char *rule)
{
    for (size_t i = 0; i < session->workload.expected; i++)
        if (strcmp(session->workload.expect[i], rule) == 0)
            return true;
    return false;
}

static bool happened(const struct dxgk_machine *machine, const char *rule)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(machine, i, &v); i++)
        if (strcmp(v.rule, rule) == 0)
            return true;
    return false;
}

const char *cli_session_missed(const struct cli_session *session, size_t index)
{
    for (size_t e = 0; e < session->workload.expected; e++)
        if (!happened(session->machine, session->workload.expect[e]) && index-- == 0)
            return session->workload.expect[e];
    return NULL;
}

bool cli_session_unexpected(const struct cli_session *session, const struct dxgk_violation *v)
{
    return (strcmp(v->severity, "error") == 0 || strcmp(v->severity, "bug check") == 0) &&
           !cli_session_expects(session, v->rule);
}

bool cli_session_client_error(const struct cli_session *session, const struct dxgk_violation *v)
{
    return (strcmp(v->severity, "client error") == 0 ||
            strcmp(v->severity, "client bug check") == 0) &&
           !cli_session_expects(session, v->rule);
}
