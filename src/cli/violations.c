/* SPDX-License-Identifier: MIT */
#include "cli/violations.h"
#include "cli/color.h"
#include "cli/expected.h"
#include "cli/session.h"
#include "cli/shared.h"
#include "cli/stack_frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void cli_print_stack(const char *stack)
{
    struct cli_stack_frame frame;

    while (cli_stack_frame_next(&stack, &frame)) {
        const char *slash = strrchr(frame.path, '/');

        fprintf(stderr, "            %s", frame.name);
        if (frame.path[0])
            fprintf(stderr, " (%s:%" PRIu64 ")", slash ? slash + 1 : frame.path, frame.line);
        putc('\n', stderr);
    }
}

void cli_print_violation(const struct dxgk_violation *v, bool expected)
{
    fprintf(stderr, "dxgkhost: %s%s%s%s %s%s: %s\n", expected ? "expected " : "",
            cli_color(stderr, expected ? CLI_CYAN : cli_color_of(v->severity)), v->severity,
            v->refuses ? ", refused," : "", v->rule, cli_color_end(stderr), v->seen);
    if (v->where && v->where[0])
        fprintf(stderr, "          in %s, thread %s, at %.6f ms\n", v->where, v->thread,
                (double)v->virtual_ns / 1e6);
    cli_print_stack(v->stack);
}

/* Prints the one of this index. */
static void tell(const struct cli_session *session, size_t index, const struct dxgk_violation *v)
{
    struct cli_shared *shared = session->options->shared;

    cli_clear_line(shared);
    cli_print_violation(v, cli_session_expects(session, v->rule));
    if (index < CLI_RECORDS)
        shared->told[index] = true;
}

void cli_violation_happened(struct cli_session *session, const struct dxgk_violation *violation)
{
    size_t index = session->happened++;

    if (!(session->starting && (violation->refuses || violation->undoing)))
        tell(session, index, violation);
}

/* Has the message about the failed start said all of it? */
static bool told_already(const struct cli_session *session, const struct dxgk_violation *v)
{
    return session->loaded != DXGK_OK && v->count == 1 && !v->stack[0] &&
           (!v->where || !v->where[0]) && strstr(session->error, v->seen);
}

/* Those that came up while a refused start was undone explain nothing: they are listed last. */
void cli_print_held_violations(struct cli_session *session)
{
    const struct cli_shared *shared = session->options->shared;
    struct dxgk_violation v;
    bool headed = false;

    if (!shared) /* in a campaign, which tells of failures alone */
        return;
    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        if (!v.undoing && i < CLI_RECORDS && !shared->told[i] && !told_already(session, &v))
            tell(session, i, &v);
    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++) {
        if (!v.undoing || i >= CLI_RECORDS || shared->told[i])
            continue;
        if (!headed)
            fputs("dxgkhost: found while the refused start was undone:\n", stderr);
        headed = true;
        tell(session, i, &v);
    }
}

void cli_print_repetitions(const struct cli_session *session)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(session->machine, i, &v); i++)
        if (v.count > 1)
            fprintf(stderr, "dxgkhost: %s %s%s%s: %" PRIu64 " times in all\n", v.severity, v.rule,
                    v.where && v.where[0] ? " in " : "", v.where && v.where[0] ? v.where : "",
                    v.count);
}
