/* SPDX-License-Identifier: MIT */
/* Reports of the end of the workload (--report). */
#ifndef DXGK_CLI_REPORTS_H
#define DXGK_CLI_REPORTS_H

#include <stdbool.h>

struct cli_session;

/* Record the state before adapters stop: text for the report, a picture in its own file. Of
 * adapters only if they have started: why not is told elsewhere. False: session->failed_report has
 * failed, and report_error says why, if it is not that a file could not be written. */
bool cli_reports_keep(struct cli_session *session);

#endif
