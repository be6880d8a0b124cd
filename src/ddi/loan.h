/* SPDX-License-Identifier: MIT */
/* Memory lent to a driver during a call or a state; a later access is reported as such. */
#ifndef DXGK_DDI_LOAN_H
#define DXGK_DDI_LOAN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/list.h"

/*
 * Memory lent to a driver: separate pages, which can be made read-only and, once the driver should
 * no longer use them, inaccessible. A forbidden access is reported under `rule`, as "<what>",
 * before the fault stops the machine.
 */
struct ddi_loan {
    struct list link;
    void *address;
    size_t bytes;
    const char *rule, *what;
};
/* The memory is zeroed. False: out of memory. `rule` and `what` are literals. */
bool ddi_loan_init(struct ddi_loan *loan, size_t bytes, const char *rule, const char *what);
void ddi_loan_protect(const struct ddi_loan *loan);
void ddi_loan_revoke(const struct ddi_loan *loan);
void ddi_loan_finish(struct ddi_loan *loan); /* may be all zero (never initialized) */

#endif
