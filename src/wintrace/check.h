/* SPDX-License-Identifier: MIT */
/* What a trace shows of the rules of docs/spec: how many events each was looked at with, and which
 * of them broke it. */
#ifndef DXGK_WINTRACE_CHECK_H
#define DXGK_WINTRACE_CHECK_H

#include "wintrace/wintrace.h"

struct wintrace_finding {
    const char *rule;  /* NULL: none, it is how traces count */
    const char *what;  /* that holds, as far as a trace shows it */
    const char *about; /* what was looked at: "submissions", ... */
    uint64_t looked, broken;
    uint64_t time;   /* ns, of the first that broke it */
    char first[192]; /* and what it was */
};

struct wintrace_findings {
    const struct wintrace_finding *finding;
    size_t count;
    uint64_t without_node; /* packets of contexts of which the trace does not tell the node */
};

/* NULL: out of memory. The findings point into it. */
struct wintrace_check *wintrace_check_create(const struct wintrace *trace);
void wintrace_check_destroy(struct wintrace_check *check);
struct wintrace_findings wintrace_check_findings(const struct wintrace_check *check);

#endif
