/* SPDX-License-Identifier: MIT */
/*
 * Faults that make memory accessible, after which the access is repeated: paged pool below
 * DISPATCH_LEVEL, and address ranges of the current process.
 */
#include "nt/base/state.h"
#include "nt/mm/paged.h"
#include "nt/mm/user_range.h"
#include "sim/fault.h"

/* Called in a signal handler. */
static bool page_in(uintptr_t address)
{
    return nt_paged_open(address) || nt_user_range_touched((const void *)address);
}

static bool init(struct nt *nt)
{
    sim_on_paging(page_in, nt->config.force_irql ? nt_paged_close : NULL);
    return true;
}

static void finish(struct nt *nt)
{
    (void)nt;
    sim_on_paging(NULL, NULL);
}

const struct nt_component nt_page_fault_component = {.init = init, .finish = finish};
