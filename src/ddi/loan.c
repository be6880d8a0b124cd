/* SPDX-License-Identifier: MIT */
/* Memory lent to a driver during a call or a state; a later access is distinguished from other
 * faults. */
#include <string.h>
#include <sys/mman.h>

#include "ddi/fenced.h"
#include "ddi/loan.h"
#include "ddi/state.h"
#include "ddi/zone.h"
#include "util/address.h"
#include "util/map.h"

#define BEFORE 2048u
#define BEHIND 4096u

bool ddi_loan_init(struct ddi_loan *loan, size_t bytes, const char *rule, const char *name,
                   const char *when)
{
    struct ddi_state *state = ddi_state();
    const bool fenced = ddi_fences();
    const size_t whole = fenced ? align_up(BEFORE + bytes, PAGE_BYTES) + PAGE_BYTES
                                : align_up(BEFORE + bytes + BEHIND, PAGE_BYTES);
    uint8_t *pages;

    if (util_fault_point())
        return false;
    pages = util_map(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return false;
    if (fenced && util_protect(pages + whole - PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0) {
        util_unmap(pages, whole);
        return false;
    }
    ddi_zone_begin();
    list_init(&loan->link);
    loan->pages = pages;
    loan->whole = whole;
    loan->fence = fenced ? PAGE_BYTES : 0;
    loan->address = fenced ? pages + whole - PAGE_BYTES - bytes : pages + BEFORE;
    loan->bytes = bytes;
    loan->rule = rule;
    loan->name = name;
    loan->when = when;
    memcpy((uint8_t *)loan->address - BEFORE, ddi_zone_known, BEFORE);
    if (!fenced)
        memcpy(pages + BEFORE + bytes, ddi_zone_known, BEHIND);
    if (state)
        list_push_back(&state->loans, &loan->link);
    return true;
}

void ddi_loan_check(const struct ddi_loan *loan, uintptr_t routine)
{
    const struct ddi_zone_of of = {loan->name, loan->bytes, "LIFE-191", routine};

    ddi_zone_compare((uint8_t *)loan->address - BEFORE, ddi_zone_known, BEFORE, DDI_ZONE_BEFORE,
                     &of);
    if (!loan->fence)
        ddi_zone_compare((uint8_t *)loan->address + loan->bytes, ddi_zone_known, BEHIND,
                         DDI_ZONE_BEHIND, &of);
}

void ddi_loan_protect(const struct ddi_loan *loan)
{
    util_protect(loan->pages, loan->whole - loan->fence, PROT_READ);
}

void ddi_loan_revoke(struct ddi_loan *loan)
{
    loan->revoked = true;
    util_protect(loan->pages, loan->whole, PROT_NONE);
}

void ddi_loan_finish(struct ddi_loan *loan)
{
    if (!loan->address)
        return;
    list_remove(&loan->link);
    util_unmap(loan->pages, loan->whole);
    memset(loan, 0, sizeof(*loan));
}

const struct ddi_loan *ddi_loan_at(uintptr_t address)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return NULL;
    LIST_FOR(node, &state->loans) {
        const struct ddi_loan *loan = CONTAINER(node, struct ddi_loan, link);

        if (address - (uintptr_t)loan->pages < loan->whole)
            return loan;
    }
    return NULL;
}
