/* SPDX-License-Identifier: MIT */
/* Which sentence is kept as the cause of a start that fails (port/record/cause.h). */
#include "port/record/cause.h"
#include "port/support/admission.h"

#include <string.h>

/* Each table takes a page of 64 KB of the 16 MiB there are. */
TEST(a_segment_too_small_for_the_first_tables_is_named)
{
    struct probe *p = probe_create(NULL);

    p->segment[0].Flags.Use64KBPages = 1;
    CHECK_RULE("LIFE-003/d",
               (NTSTATUS)probe_start(p) == STATUS_NO_MEMORY &&
                   strstr(port_cause_text(p->port), "segment 1 has no 65536 free bytes in one "
                                                    "range for what must stay in it") &&
                   strstr(port_cause_text(p->port), " (STATUS_NO_MEMORY)"));
    probe_destroy(p);
}

/* A failure that was accepted is not the cause of a later one with the same status. */
TEST(an_accepted_failure_is_not_the_cause)
{
    struct probe *p = probe_create(NULL);

    p->segment[0].Flags.Use64KBPages = 1;
    p->query_status[DXGKQAITYPE_DEVICE_TYPE_CAPS] = STATUS_NO_MEMORY; /* the last one asked */
    CHECK_RULE("LIFE-003/d", (NTSTATUS)probe_start(p) == STATUS_NO_MEMORY &&
                                 strstr(port_cause_text(p->port), "segment 1 has no 65536 free "));
    probe_destroy(p);
}

/* What is wrong counts more than what this machine lacks. */
TEST(a_finding_beside_what_is_lacking_decides_on_the_status)
{
    struct probe *p = probe_create(NULL);

    p->caps.SchedulingCaps.Value = 0x4;                        /* CAPS-048 */
    p->caps.HighestAcceptableAddress.QuadPart = (1 << 20) - 1; /* CAPS-021 */
    CHECK_RULE("LIFE-003/a", (NTSTATUS)probe_start(p) == STATUS_DEVICE_CONFIGURATION_ERROR &&
                                 admission_reported(p, "CAPS-048", VERIFY_ERROR, true) &&
                                 admission_reported(p, "CAPS-021", VERIFY_WARNING, true));
    probe_destroy(p);
}

static void break_a_rule(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    VIOLATION("LIFE-170", "as a driver would");
}

/* Also a start that ended before StartDevice. */
TEST(what_remove_device_does_after_a_refusal_is_apart)
{
    const struct probe_options remap = {.port = {.iommu = IOMMU_REMAP}};
    struct probe *p = probe_create(&remap);

    p->before[PROBE_RemoveDevice] = break_a_rule;
    p->iommu.DmaRemappingSupported = 0; /* IOMMU-026 */
    CHECK_RULE("LIFE-003/e", (NTSTATUS)probe_start(p) == STATUS_NOT_SUPPORTED &&
                                 probe_count(p, PROBE_StartDevice) == 0 &&
                                 admission_reported(p, "IOMMU-026", VERIFY_WARNING, true) &&
                                 probe_record(p, "LIFE-170")->undoing);
    probe_destroy(p);
}
