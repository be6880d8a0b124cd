/* SPDX-License-Identifier: MIT */
/* Exception blocks that are left in another order than they were entered; times that never come. */
#include "nt/base/current.h"
#include "nt/base/kthread.h"
#include "support/harness.h"

#include <dxgk_seh.h>

static DXGK_TRY_RECORD record[66];

static void enter(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(DxgkTryEnter(&record[i]) == 0);
        CHECK(nt_thread()->tries == &record[i] && record[i].Linked);
    }
}

TEST_WITH(driver, an_outer_block_ends_the_inner_ones)
{
    enter(3);
    DxgkTryLeave(&record[2]);
    CHECK(nt_thread()->tries == &record[1] && !record[2].Linked);
    DxgkTryLeave(&record[2]); /* left already */
    CHECK(nt_thread()->tries == &record[1]);
    DxgkTryLeave(&record[0]);
    CHECK(!nt_thread()->tries && !record[0].Linked && record[1].Linked);
    DxgkTryLeave(&record[1]);
    CHECK(!nt_thread()->tries && !record[1].Linked);
}

TEST_WITH(driver, as_many_blocks_are_ended_at_once)
{
    enter(64);
    DxgkTryLeave(&record[0]);
    CHECK(!nt_thread()->tries);
    enter(65);
    DxgkTryLeave(&record[0]);
    CHECK(nt_thread()->tries == &record[64]);
    DxgkTryLeave(&record[1]);
    CHECK(nt_thread()->tries == &record[0]);
    DxgkTryLeave(&record[0]);
    CHECK(!nt_thread()->tries);
}

TEST_WITH(driver, some_times_never_come)
{
    LARGE_INTEGER due = {.QuadPart = -MAXLONGLONG - 1}, hour = relative_ms(3600 * 1000);
    KTIMER timer;

    KeInitializeTimer(&timer);
    KeSetTimer(&timer, due, NULL);
    KeDelayExecutionThread(KernelMode, FALSE, &hour);
    CHECK(!KeReadStateTimer(&timer) && KeCancelTimer(&timer));
    due.QuadPart = MAXLONGLONG;
    KeSetTimer(&timer, due, NULL);
    KeDelayExecutionThread(KernelMode, FALSE, &hour);
    CHECK(!KeReadStateTimer(&timer) && KeCancelTimer(&timer));
    due.QuadPart = 0; /* now */
    KeSetTimer(&timer, due, NULL);
    pause_ns(1000);
    CHECK(KeReadStateTimer(&timer) && !KeCancelTimer(&timer));
    due.QuadPart = 1; /* long ago */
    KeSetTimer(&timer, due, NULL);
    pause_ns(1000);
    CHECK(KeReadStateTimer(&timer) && errors() == 0);
}
