/* SPDX-License-Identifier: MIT */
/* Who waits for which synchronization object, who could signal it, and what is on the nodes: for
 * reports of a machine that stands still (THREAD-072). */
#ifndef DXGK_VIDSCH_WAIT_REPORT_H
#define DXGK_VIDSCH_WAIT_REPORT_H

/* Outputs lines (nt/ke/wait_report.h) about all adapters of the current machine; none, if nobody
 * waits and nothing is on a node. Call between runs. */
void vidsch_wait_report(void);

#endif
