/* SPDX-License-Identifier: MIT */
/* What traces of Windows show, as pages. */
#ifndef DXGK_CLI_TRACE_PAGE_H
#define DXGK_CLI_TRACE_PAGE_H

#include "wintrace/check.h"
#include "wintrace/compare.h"

/* False, with a message: the page could not be written. */
bool cli_check_page(const char *path, const char *name, const struct wintrace *trace,
                    const struct wintrace_findings *findings);
bool cli_compare_page(const char *path, const char *ours, const char *windows,
                      const struct comparison *comparison);

#endif
