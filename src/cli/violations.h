/* SPDX-License-Identifier: MIT */
/* Broken rules as text on standard error. */
#ifndef DXGK_CLI_VIOLATIONS_H
#define DXGK_CLI_VIOLATIONS_H

#include <stdbool.h>

struct cli_session;
struct dxgk_violation;

void cli_print_stack(const char *stack);
void cli_print_violation(const struct dxgk_violation *violation, bool expected);
/* When it happens. Findings of a start are held back until the start has come to something: then
 * one message says what refused it. */
void cli_violation_happened(struct cli_session *session, const struct dxgk_violation *violation);
/* Print those that were held back, as far as the message about the failed start has not said all of
 * it. */
void cli_print_held_violations(struct cli_session *session);
/* Print how often each came that came more than once. */
void cli_print_repetitions(const struct cli_session *session);

#endif
