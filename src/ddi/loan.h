/* SPDX-License-Identifier: MIT */
/* Memory lent to a driver for the time of a call or of a state: an access after that is reported as
 * such. */
#ifndef DXGK_DDI_LOAN_H
#define DXGK_DDI_LOAN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/list.h"

/*
 * Memory lent to a driver: pages of their own, which can be made read-only and, once the driver
 * should no longer use them, inaccessible. An access against that is reported under `rule`, as
 * "<what>", before the fault stops the machine.
 */
struct ddi_loan {
    struct list link;
    void *address;
    size_t bytes;
    const char *rule, *what;
};
/* Zeroed. False: out of memory. `rule` and `what` are literals. */
bool ddi_loan_init(struct ddi_loan *loan, size_t bytes, const char *rule, const char *what);
void ddi_loan_protect(const struct ddi_loan *loan);
void ddi_loan_revoke(const struct ddi_loan *loan);
void ddi_loan_finish(struct ddi_loan *loan); /* one never initialised (all zero) is allowed */

#endif
