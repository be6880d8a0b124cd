/* SPDX-License-Identifier: MIT */
/* Executive resources. */
#include "support/harness.h"

static unsigned counter;

static ERESOURCE *resource;

static void take_resource(void *arg)
{
    (void)arg;
    KeEnterCriticalRegion();
    ExAcquireResourceExclusiveLite(resource, TRUE);
    counter++;
    ExReleaseResourceLite(resource);
    KeLeaveCriticalRegion();
}

TEST_WITH(driver, resources_are_recursive_and_shared)
{
    resource = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*resource), TAG);
    ExInitializeResourceLite(resource);
    ExAcquireResourceExclusiveLite(resource, TRUE);
    CHECK_RULE("NT-071/a", reported("NT-071", 0xC4, 0x37));
    ExReleaseResourceLite(resource);
    CHECK_RULE("NT-071/b", reported("NT-071", 0xC4, 0x38));
    forget_reports();
    KeEnterCriticalRegion();
    CHECK_RULE("NT-071/c", ExAcquireResourceExclusiveLite(resource, TRUE));
    CHECK_RULE("NT-071/c", ExAcquireResourceExclusiveLite(resource, FALSE));
    CHECK_RULE("NT-071/c", ExAcquireResourceSharedLite(resource, FALSE));
    counter = 0;
    start("other", take_resource, NULL);
    pause_ns(100000);
    ExReleaseResourceLite(resource);
    ExReleaseResourceLite(resource);
    pause_ns(100000);
    CHECK_RULE("NT-071/c", counter == 0 && ExIsResourceAcquiredExclusiveLite(resource));
    ExReleaseResourceLite(resource);
    pause_ns(100000);
    CHECK_RULE("NT-071/d", counter == 1);
    ExAcquireResourceSharedLite(resource, TRUE);
    CHECK_RULE("NT-071/d", !ExAcquireResourceExclusiveLite(resource, FALSE));
    ExReleaseResourceLite(resource);
    KeLeaveCriticalRegion();
    CHECK_RULE("NT-071/a", errors() == 0);
    ExFreePool(resource);
    CHECK_RULE("NT-006/e", reported("NT-006", 0xC4, 0xD2));
    CHECK_RULE("NT-071/e", reported("NT-006", 0xC4, 0xD2));
}

TEST_WITH(driver, critical_regions_come_with_the_resource)
{
    ERESOURCE *r = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*r), TAG);

    ExInitializeResourceLite(r);
    CHECK_RULE("NT-071/f", ExIsResourceAcquiredSharedLite(r) == 0);
    CHECK_RULE("NT-071/f",
               ExEnterCriticalRegionAndAcquireResourceExclusive(r) == (PVOID)KeGetCurrentThread());
    CHECK_RULE("NT-071/f", ExIsResourceAcquiredExclusiveLite(r) && KeAreApcsDisabled());
    CHECK_RULE("NT-071/f", ExIsResourceAcquiredSharedLite(r) == 1);
    ExAcquireResourceSharedLite(r, TRUE);
    CHECK_RULE("NT-071/f", ExIsResourceAcquiredSharedLite(r) == 2);
    ExReleaseResourceLite(r);
    CHECK_RULE("NT-071/f", ExIsResourceAcquiredSharedLite(r) == 1);
    ExReleaseResourceAndLeaveCriticalRegion(r);
    CHECK_RULE("NT-071/f", ExIsResourceAcquiredSharedLite(r) == 0 && !KeAreApcsDisabled());
    CHECK_RULE("NT-071/f", errors() == 0);
    KeEnterCriticalRegion();
    ExAcquireResourceExclusiveLite(r, TRUE);
    KeLeaveCriticalRegion();
    ExReleaseResourceAndLeaveCriticalRegion(r);
    CHECK_RULE("NT-073/c", reported("NT-073", 0xC4, 0x3E));
    ExDeleteResourceLite(r);
    ExFreePool(r);
}
