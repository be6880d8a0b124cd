/* SPDX-License-Identifier: MIT */
/* Memory lent to a driver during a call or a state; a later access is reported as such. */
#ifndef DXGK_DDI_LOAN_H
#define DXGK_DDI_LOAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"

/*
 * Memory lent to a driver: separate pages, which can be made read-only and, once the driver should
 * no longer use them, inaccessible. A forbidden access is reported under `rule`, with name and
 * time, before the fault stops the machine. Beside the memory, the pages are zones of known bytes.
 */
struct ddi_loan {
    struct list link;
    void *address; /* of the memory */
    size_t bytes;
    uint8_t *pages;
    size_t whole; /* of the pages */
    size_t fence; /* bytes of the pages, at their end, that are inaccessible (fenced.h) */
    bool revoked;
    const char *rule, *name, *when;
};
/* The memory is zeroed. `name` is of the memory, `when` says when it is forbidden: ", which ...";
 * these and `rule` are literals. False: out of memory. */
bool ddi_loan_init(struct ddi_loan *loan, size_t bytes, const char *rule, const char *name,
                   const char *when);
/* Compare the zones (LIFE-191); `routine`: the driver's, which has the memory. */
void ddi_loan_check(const struct ddi_loan *loan, uintptr_t routine);
void ddi_loan_protect(const struct ddi_loan *loan);
void ddi_loan_revoke(struct ddi_loan *loan);
void ddi_loan_finish(struct ddi_loan *loan); /* may be all zero (never initialized) */

#endif
