/* SPDX-License-Identifier: MIT */
/* PAGED_CODE of a driver built with checks. */
#define DBG 1

#include "support/harness.h"

void paged_routine(void);

/* Exported, so that the report can name it. */
__attribute__((visibility("default"), noinline)) void paged_routine(void)
{
    PAGED_CODE();
}

TEST_WITH(driver, paged_code_checks_the_level)
{
    paged_routine();
    CHECK_RULE("NT-077/a", errors() == 0);
    in_dpc(paged_routine);
    CHECK_RULE("NT-077/b", broken("NT-077"));
    CHECK_RULE("NT-077/b", strstr(verify_record_at(h.log, 0)->seen, "paged_routine"));
}
