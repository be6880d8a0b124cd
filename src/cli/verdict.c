/* SPDX-License-Identifier: MIT */
#include "cli/verdict.h"
#include "cli/expected.h"
#include "cli/session.h"
#include "util/array.h"

#include <stddef.h>

/* Rules that the driver broke and the workload does not expect. */
static uint64_t broken(const struct cli_session *session, bool refusing)
{
    struct dxgk_violation v;
    uint64_t count = 0;

    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        if (cli_session_unexpected(session, &v) && (refusing || !v.refuses))
            count += v.count;
    return count;
}

uint64_t cli_client_errors(const struct cli_session *session)
{
    struct dxgk_violation v;
    uint64_t count = 0;

    if (session->options->fuzzes)
        return 0;
    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        count += cli_session_client_error(session, &v) ? v.count : 0;
    return count;
}

bool cli_driver_at_fault(const struct cli_session *session)
{
    return broken(session, session->loaded == DXGK_OK) || session->statistics.leaks;
}

static bool came_to(const struct cli_session *session, enum dxgk_result result)
{
    return session->loaded == result || session->result == result || session->ended == result;
}

static bool is_stopped(const struct cli_session *session)
{
    return came_to(session, DXGK_DEADLOCK) || session->loaded == DXGK_DRIVER_STOPPED ||
           (cli_session_stopped(session) && !session->statistics.bugcheck_client);
}

static bool passed(const struct cli_session *session)
{
    return session->result == DXGK_OK && !cli_session_stopped(session) &&
           !session->power_error[0] && session->workload.finished && session->workload.passed &&
           !cli_session_missed(session, 0) && !cli_client_errors(session);
}

int cli_verdict(const struct cli_session *session)
{
    if (!session->machine)
        return CLI_HOST;
    if (session->bad_option)
        return CLI_USAGE;
    if (came_to(session, DXGK_INTERRUPTED) && !cli_session_stopped(session))
        return CLI_INTERRUPTED;
    if (is_stopped(session))
        return CLI_STOPPED;
    if (cli_driver_at_fault(session))
        return CLI_BROKEN;
    if (session->loaded != DXGK_OK)
        return CLI_REFUSED;
    return passed(session) ? CLI_OK : CLI_FAILED;
}

int cli_graver(int a, int b)
{
    static const int order[] = {CLI_OK, CLI_FAILED, CLI_HOST, CLI_REFUSED, CLI_BROKEN, CLI_STOPPED};
    size_t at_a = 0, at_b = 0;

    for (size_t i = 0; i < ARRAY_COUNT(order); i++) {
        at_a = order[i] == a ? i : at_a;
        at_b = order[i] == b ? i : at_b;
    }
    return at_a < at_b ? b : a;
}
