/* SPDX-License-Identifier: MIT */
/* Memory lent to a driver during a call or a state; a later access is distinguished from other
 * faults. */
#include <string.h>
#include <sys/mman.h>

#include "ddi/loan.h"
#include "ddi/state.h"
#include "util/address.h"

bool ddi_loan_init(struct ddi_loan *loan, size_t bytes, const char *rule, const char *what)
{
    struct ddi_state *state = ddi_state();
    size_t whole = (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    void *memory;

    if (util_fault_point())
        return false;
    memory = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    list_init(&loan->link);
    loan->address = memory;
    loan->bytes = whole;
    loan->rule = rule;
    loan->what = what;
    if (state)
        list_push_back(&state->loans, &loan->link);
    return true;
}

void ddi_loan_protect(const struct ddi_loan *loan)
{
    mprotect(loan->address, loan->bytes, PROT_READ);
}

void ddi_loan_revoke(const struct ddi_loan *loan)
{
    mprotect(loan->address, loan->bytes, PROT_NONE);
}

void ddi_loan_finish(struct ddi_loan *loan)
{
    if (!loan->address)
        return;
    list_remove(&loan->link);
    munmap(loan->address, loan->bytes);
    memset(loan, 0, sizeof(*loan));
}

const struct ddi_loan *ddi_loan_at(uintptr_t address)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return NULL;
    LIST_FOR(node, &state->loans) {
        const struct ddi_loan *loan = CONTAINER(node, struct ddi_loan, link);

        if (address - (uintptr_t)loan->address < loan->bytes)
            return loan;
    }
    return NULL;
}
