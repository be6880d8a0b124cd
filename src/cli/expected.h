/* SPDX-License-Identifier: MIT */
/* Broken rules that a workload expects, and those that count against it. */
#ifndef DXGK_CLI_EXPECTED_H
#define DXGK_CLI_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>

struct cli_session;
struct dxgk_violation;

/* Whether the workload said that it expects violations of this rule. */
bool cli_session_expects(const struct cli_session *session, const char *rule);
/* The index-th rule that was expected to be broken but was not, or NULL. */
const char *cli_session_missed(const struct cli_session *session, size_t index);
/* Whether the violation counts: an error or a bug check of a driver that was not expected. */
bool cli_session_unexpected(const struct cli_session *session, const struct dxgk_violation *v);
/* The same for what a client did. */
bool cli_session_client_error(const struct cli_session *session, const struct dxgk_violation *v);

#endif
