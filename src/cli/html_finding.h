/* SPDX-License-Identifier: MIT */
/* A broken rule on the page of --html: what was seen, the line of source, the stack, the rule. */
#ifndef DXGK_CLI_HTML_FINDING_H
#define DXGK_CLI_HTML_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/html.h"

struct dxgk_violation;

struct cli_finding {
    const struct dxgk_violation *violation;
    size_t number;  /* on the page, from 1 */
    bool expected;  /* by the workload */
    bool no_source; /* files that the driver names must not be read */
};

void cli_html_finding(const struct cli_html *html, const struct cli_finding *finding);
/* The lines around that of the innermost frame that has one, and the stack. */
void cli_html_stack(const struct cli_html *html, const char *stack, bool no_source);
/* The same in half a sentence: "faults.c:141, in BreakAt". False: no frame has a line. */
bool cli_html_place(const struct cli_html *html, const char *stack);
/* Milliseconds of virtual time. */
void cli_html_time(const struct cli_html *html, unsigned long long ns);

#endif
