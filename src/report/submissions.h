/* SPDX-License-Identifier: MIT */
/*
 * Submissions for people: what each packet was, when it was where, and how it ended; preemptions
 * and resets in their place between them; and how long each stage took, by node and by context.
 */
#ifndef DXGK_REPORT_SUBMISSIONS_H
#define DXGK_REPORT_SUBMISSIONS_H

#include <stdbool.h>
#include <stdio.h>

struct journal;

/* `name` is the adapter's. False: out of memory, or writing failed. The cost is that of sorting the
 * packets once for each stage. */
bool report_submissions_text(const struct journal *journal, const char *name, FILE *out);

#endif
