/* SPDX-License-Identifier: MIT */
/* Push locks and rundown protection. */
#include "support/harness.h"

static unsigned counter;

static EX_PUSH_LOCK push;

static void take_push(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    ExAcquirePushLockExclusiveEx(&push, 0);
    counter++;
    ExReleasePushLockExclusiveEx(&push, 0);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, push_locks_are_checked)
{
    ExInitializePushLock(&push);
    ExAcquirePushLockSharedEx(&push, 0);
    CHECK_RULE("NT-072/a", reported("NT-072", 0xC4, 0xEA));
    ExReleasePushLockSharedEx(&push, 0);
    CHECK_RULE("NT-072/b", reported("NT-072", 0xC4, 0xEB));
    forget_reports();
    KeEnterCriticalRegion();
    ExAcquirePushLockSharedEx(&push, 0);
    ExAcquirePushLockSharedEx(&push, 0);
    counter = 0;
    start("writer", take_push, NULL);
    pause_ns(100000);
    ExReleasePushLockSharedEx(&push, 0);
    pause_ns(100000);
    assert_int_equal(counter, 0);
    ExReleasePushLockSharedEx(&push, 0);
    pause_ns(100000);
    assert_int_equal(counter, 1);
    assert_int_equal(errors(), 0);
    ExAcquirePushLockExclusiveEx(&push, 0);
    ExAcquirePushLockExclusiveEx(&push, 0);
    CHECK_RULE("NT-072/c", broken("NT-072"));
    ExReleasePushLockExclusiveEx(&push, 0);
    KeLeaveCriticalRegion();
}

static EX_RUNDOWN_REF rundown;
static bool rundown_over;

static void wait_rundown(void *arg)
{
    (void)arg;
    ExWaitForRundownProtectionRelease(&rundown);
    rundown_over = true;
}

TEST_WITH(driver, rundown_waits_for_holders)
{
    rundown_over = false;
    ExInitializeRundownProtection(&rundown);
    CHECK_RULE("NT-072/d", ExAcquireRundownProtection(&rundown));
    CHECK_RULE("NT-072/d", ExAcquireRundownProtection(&rundown));
    start("waiter", wait_rundown, NULL);
    pause_ns(100000);
    CHECK_RULE("NT-072/d", !ExAcquireRundownProtection(&rundown));
    CHECK_RULE("NT-072/e", !rundown_over);
    ExReleaseRundownProtection(&rundown);
    pause_ns(100000);
    CHECK_RULE("NT-072/e", !rundown_over);
    ExReleaseRundownProtection(&rundown);
    pause_ns(100000);
    CHECK_RULE("NT-072/e", rundown_over && errors() == 0);
}

TEST_WITH(driver, rundown_begins_again)
{
    ExInitializeRundownProtection(&rundown);
    ExRundownCompleted(&rundown);
    CHECK_RULE("NT-072/d", !ExAcquireRundownProtection(&rundown));
    ExWaitForRundownProtectionRelease(&rundown); /* at once */
    ExReInitializeRundownProtection(&rundown);
    CHECK_RULE("NT-072/f", errors() == 0 && ExAcquireRundownProtection(&rundown));
    ExReInitializeRundownProtection(&rundown);
    CHECK_RULE("NT-072/f", errors() == 1);
    ExReleaseRundownProtection(&rundown);
    CHECK_RULE("NT-072/f", errors() == 2);
}
