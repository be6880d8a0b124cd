/* SPDX-License-Identifier: MIT */
/* The parts of the page of --html behind the broken rules: a section each, or nothing if there is
 * nothing to tell. */
#ifndef DXGK_CLI_HTML_PARTS_H
#define DXGK_CLI_HTML_PARTS_H

#include "cli/html.h"

struct cli_result;

/* Calls of clients and drivers that failed, the last ones first, and lost work of the GPU. */
void cli_html_calls(const struct cli_html *html, const struct cli_result *result);
/* What ran, and how to run it again; what the workload says. */
void cli_html_run(const struct cli_html *html, const struct cli_result *result);
void cli_html_timeline(const struct cli_html *html, const struct cli_result *result);
void cli_html_pictures(const struct cli_html *html, const struct cli_result *result);
void cli_html_counters(const struct cli_html *html, const struct cli_result *result);
void cli_html_log(const struct cli_html *html, const struct cli_result *result);

/* A row of a dl. */
void cli_html_pair(const struct cli_html *html, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Begins a div that scrolls from side to side, with a name for who does not see it. */
void cli_html_scroll(const struct cli_html *html, const char *label, const char *style);
/* A text as it is, in a box that scrolls. */
void cli_html_box(const struct cli_html *html, const char *text);

#endif
