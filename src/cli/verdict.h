/* SPDX-License-Identifier: MIT */
/* What a run came to, as an exit status. Nothing is printed. */
#ifndef DXGK_CLI_VERDICT_H
#define DXGK_CLI_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct cli_session;

/* Rules that clients broke and the workload does not expect; a fuzzer is expected to. */
uint64_t cli_client_errors(const struct cli_session *session);
/* Whether the driver broke rules that the workload does not expect, or left something behind. What
 * refused the adapter does not count: there was no run. */
bool cli_driver_at_fault(const struct cli_session *session);
/* An enum cli_status, without what is written of the run: the driver's fault comes before that of
 * the workload (docs/robustness.md). CLI_INTERRUPTED if a signal asked for the end. */
int cli_verdict(const struct cli_session *session);
/* Which of two statuses tells more: that of a driver that stopped the machine, of one that broke a
 * rule, of a refused adapter, of the host, of the workload. */
int cli_graver(int a, int b);

#endif
