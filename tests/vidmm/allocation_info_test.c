/* SPDX-License-Identifier: MIT */
/* What a driver may say of an allocation. */
#include "support/mm_rig.h"

static NTSTATUS outcome(struct mm_rig *rig, struct mm_private p)
{
    NTSTATUS status;

    mm_mark(rig);
    mm_create(&rig->client[0], p, &status);
    return status;
}

/* Refused with a report of the rule, and the driver's handle destroyed again. */
static bool breach(struct mm_rig *rig, struct mm_private p, const char *rule)
{
    uint64_t before = mm_violations(rig, rule);
    NTSTATUS status = outcome(rig, p);

    return status == STATUS_INVALID_PARAMETER && mm_violations(rig, rule) == before + 1 &&
           mm_event_count(rig, MM_OPEN) == 0 &&
           (p.null_handle || mm_event_count(rig, MM_DESTROY) == 1);
}

/* Only expected: created after a warning; refused if the rule is set to error. */
static bool expected(struct mm_rig *rig, struct mm_private p, const char *rule)
{
    uint64_t before = mm_violations(rig, rule);
    bool good = outcome(rig, p) == STATUS_SUCCESS && mm_violations(rig, rule) == before + 1;

    CHECK(verify_set_severity(rig->base.log, rule, VERIFY_ERROR));
    good = good && breach(rig, p, rule);
    CHECK(verify_set_severity(rig->base.log, rule, VERIFY_WARNING));
    return good;
}

static const struct vidmm_allocation *newest(const struct mm_rig *rig)
{
    return CONTAINER(rig->vidmm->allocations.prev, struct vidmm_allocation, link);
}

static bool fine(struct mm_rig *rig, struct mm_private p)
{
    size_t before = verify_count(rig->base.log, VERIFY_WARNING);

    return outcome(rig, p) == STATUS_SUCCESS &&
           verify_count(rig->base.log, VERIFY_WARNING) == before;
}

TEST_WITH(mm, malformed_outputs_are_refused)
{
    const struct mm_private good = mm_private_default(MM_SET_BOTH, 8192);
    struct mm_private p = good;

    p.size = 0;
    CHECK_RULE("ALLOC-010", breach(rig, p, "ALLOC-027"));
    CHECK_RULE("ALLOC-027", breach(rig, p, "ALLOC-027"));
    p.size = UINT64_MAX - 100;
    CHECK_RULE("ALLOC-027", breach(rig, p, "ALLOC-027"));
    p = good;
    p.null_handle = true;
    CHECK_RULE("ALLOC-027", breach(rig, p, "ALLOC-027"));
    p = good;
    p.alignment = 5000; /* rounded up */
    CHECK_RULE("ALLOC-027", outcome(rig, p) == STATUS_SUCCESS && newest(rig)->alignment == 8192);
    p = good;
    p.set = 0;
    p.read_set = 3; /* counts for nothing (ALLOC-040) */
    CHECK_RULE("ALLOC-027", breach(rig, p, "ALLOC-027"));
    CHECK_RULE("ALLOC-040", breach(rig, p, "ALLOC-027"));
    p = good;
    p.set = 11;
    CHECK_RULE("ALLOC-027", breach(rig, p, "ALLOC-027"));
    p.set = 4; /* system memory by its number inside the memory manager */
    p.preferred = 3;
    CHECK_RULE("ALLOC-027", outcome(rig, p) == STATUS_SUCCESS &&
                                newest(rig)->segments.supported == segment_bit(2) &&
                                newest(rig)->segments.preferred[0] == 2);
    p = good;
    p.adapter_index = 1;
    CHECK_RULE("ALLOC-027", outcome(rig, p) == STATUS_SUCCESS);
    CHECK_RULE("ALLOC-044", mm_violations(rig, "ALLOC-027") > 0);
}

TEST_WITH(mm, sizes_and_sets_fit_together)
{
    const struct mm_private good = mm_private_default(MM_SET_BOTH, 8192);
    struct mm_private p = good;

    p.pitch_size = 4096;
    CHECK_RULE("ALLOC-033", expected(rig, p, "ALLOC-033"));
    p.pitch_size = 8192;
    CHECK_RULE("ALLOC-033", fine(rig, p));
    p = good;
    p.set = 1;
    p.preferred = 2;
    CHECK_RULE("ALLOC-035", expected(rig, p, "ALLOC-035"));
    p.preferred = 3;
    CHECK_RULE("ALLOC-035", expected(rig, p, "ALLOC-035"));
    p = good;
    p.eviction_set = 1;
    CHECK_RULE("ALLOC-041", expected(rig, p, "ALLOC-041"));
    p.eviction_set = 4;
    CHECK_RULE("ALLOC-041", expected(rig, p, "ALLOC-041"));
    p.eviction_set = 2;
    CHECK_RULE("ALLOC-041", fine(rig, p));
}

TEST_WITH(mm, outputs_are_taken_over)
{
    const struct mm_private good = mm_private_default(MM_SET_BOTH, 8192);
    struct mm_private p = good;

    p.size = 300 * (uint64_t)MM_MB;
    p.set = 1;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_GRAPHICS_NO_VIDEO_MEMORY &&
                                mm_event_count(rig, MM_DESTROY) == 1);
    p = good;
    p.raw_priority = true;
    CHECK_RULE("ALLOC-071",
               outcome(rig, p) == STATUS_SUCCESS && mm_violations(rig, "ALLOC-071") == 1);
    p = good;
    p.size = 1;
    CHECK_RULE("ALLOC-026",
               fine(rig, p) &&
                   CONTAINER(rig->vidmm->allocations.prev, struct vidmm_allocation, link)->pages ==
                       1);
    p = good;
    p.set = 2;
    CHECK(fine(rig, p));
    CHECK_RULE("ALLOC-038", CONTAINER(rig->vidmm->allocations.prev, struct vidmm_allocation, link)
                                    ->segments.supported == segment_bit(2));
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, permanent_and_cached_memory_is_visible)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 8192);

    p.flags = 0x2;
    CHECK_RULE("ALLOC-047", expected(rig, p, "ALLOC-047"));
    p.flags = 0x3;
    CHECK_RULE("ALLOC-047", fine(rig, p));
    p.flags = 0x4;
    CHECK_RULE("ALLOC-048", expected(rig, p, "ALLOC-048"));
    p.flags = 0x5;
    CHECK_RULE("ALLOC-048", fine(rig, p));
}

TEST_WITH(mm, protected_and_existing_memory_exclude_others)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 8192);

    CHECK(verify_set_severity(rig->base.log, "ALLOC-049", VERIFY_ERROR));
    CHECK(verify_set_severity(rig->base.log, "ALLOC-050", VERIFY_ERROR));
    p.flags = 0x8 | 0x10;
    CHECK_RULE("ALLOC-049", breach(rig, p, "ALLOC-049"));
    p.flags = 0x8 | 0x20;
    CHECK_RULE("ALLOC-049", breach(rig, p, "ALLOC-049"));
    p.flags = 0x1 | 0x2 | 0x8;
    CHECK_RULE("ALLOC-049", breach(rig, p, "ALLOC-049"));
    p.flags = 0x10 | 0x20;
    CHECK_RULE("ALLOC-050", breach(rig, p, "ALLOC-050"));
    p.flags = 0x1 | 0x2 | 0x10;
    CHECK_RULE("ALLOC-050", breach(rig, p, "ALLOC-050"));
    CHECK(verify_set_severity(rig->base.log, "ALLOC-049", VERIFY_WARNING));
    p.flags = 0x1 | 0x2 | 0x8;
    CHECK_RULE("ALLOC-049", outcome(rig, p) == STATUS_SUCCESS && !newest(rig)->flags.Protected &&
                                newest(rig)->flags.PermanentSysMem);
}

TEST_WITH(mm, flags_need_their_companions)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 8192);

    p.flags = 0x100;
    CHECK_RULE("ALLOC-054", expected(rig, p, "ALLOC-054"));
    p.flags = 0x200;
    CHECK_RULE("ALLOC-054", fine(rig, p));
    p.flags = 0x4000;
    CHECK_RULE("ALLOC-057", expected(rig, p, "ALLOC-057"));
    p.flags = 0x4001; /* the aperture is coherent, so Cached has to come along */
    CHECK_RULE("ALLOC-057", expected(rig, p, "ALLOC-057"));
    p.flags = 0x4005;
    CHECK_RULE("ALLOC-057", fine(rig, p));
    p.flags = 0x4005 | 0x40;
    CHECK_RULE("ALLOC-057", expected(rig, p, "ALLOC-057"));
    p.flags = 0x10000;
    CHECK_RULE("ALLOC-059", expected(rig, p, "ALLOC-059"));
    p.flags = 0x18000;
    CHECK_RULE("ALLOC-059", fine(rig, p));
    p.flags = 0x20000;
    CHECK_RULE("ALLOC-062", breach(rig, p, "ALLOC-062"));
    p.flags = 0x400;
    CHECK_RULE("ALLOC-062", breach(rig, p, "ALLOC-062"));
    p.flags = 0x2000 | 0x8000;
    CHECK_RULE("ALLOC-061", fine(rig, p)); /* the cap is set */
}

TEST_WITH(mm, flags_that_are_not_defined_are_cleared)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 8192);

    p.flags = 0x80000000;
    CHECK_RULE("ALLOC-064",
               outcome(rig, p) == STATUS_SUCCESS && mm_violations(rig, "ALLOC-064") == 1);
    CHECK_RULE(
        "ALLOC-064",
        CONTAINER(rig->vidmm->allocations.prev, struct vidmm_allocation, link)->flags.Value == 0);
    /* everything defined that goes together */
    p.flags = 0x1 | 0x4 | 0x40 | 0x80 | 0x2000 | 0x8000 | 0x10000 | 0x40000;
    CHECK_RULE("ALLOC-063", fine(rig, p));
    p.flags = 0x80;
    CHECK_RULE("ALLOC-045", fine(rig, p) && CONTAINER(rig->vidmm->allocations.prev,
                                                      struct vidmm_allocation, link)
                                                ->flags.DisableLargePageMapping);
    p.flags = 0;
    p.flags2 = 0xFFFFFFFF;
    CHECK_RULE("ALLOC-066",
               fine(rig, p) &&
                   CONTAINER(rig->vidmm->allocations.prev, struct vidmm_allocation, link)->flags2 ==
                       0);
}

static void old_cap_body(struct mm_rig *rig)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 8192);

    p.flags = 0x2000 | 0x8000;
    CHECK_RULE("ALLOC-061", breach(rig, p, "ALLOC-061"));
}

static void newer_body(struct mm_rig *rig)
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, 8192);

    p.flags2 = 1;
    CHECK_RULE("ALLOC-067", breach(rig, p, "PHYS-182"));
}

static void oldest_2x_body(struct mm_rig *rig)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 8192);

    p.flags = 0x400; /* reserved in 2.0 */
    CHECK_RULE("ALLOC-064",
               outcome(rig, p) == STATUS_SUCCESS && mm_violations(rig, "ALLOC-064") == 1);
}

TEST(flags_by_version)
{
    struct mm_options o;

    mm_options_default(&o);
    o.old_map = true;
    mm_run(&o, old_cap_body);
    mm_options_default(&o);
    o.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1;
    mm_run(&o, newer_body);
    o.version = DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    o.old_map = true;
    mm_run(&o, oldest_2x_body);
}

static void hidden_body(struct mm_rig *rig)
{
    struct mm_private p = mm_private_default(1, 8192);

    CHECK_RULE("ALLOC-065", expected(rig, p, "ALLOC-065"));
    p.set = 3;
    CHECK_RULE("ALLOC-065", fine(rig, p));
    p.set = 1;
    p.flags = 0;
    CHECK_RULE("ALLOC-065", fine(rig, p));
}

static void large_alignment_body(struct mm_rig *rig)
{
    struct mm_private p = mm_private_default(1, 8192);
    D3DKMT_HANDLE h;

    p.alignment = 4096;
    h = mm_create_ok(&rig->client[0], p);
    CHECK_RULE("ALLOC-030", mm_violations(rig, "GPUVA-202") == 1);
    CHECK(NT_SUCCESS(mm_resident(&rig->client[0], h)));
    CHECK_RULE("ALLOC-030", mm_allocation(&rig->client[0], h)->runs[0].first % 16 == 0);
}

TEST(special_segments)
{
    struct mm_options o;

    mm_options_default(&o);
    o.segment[0].Size = 16 * MM_MB; /* the CPU cannot see it */
    o.segment[0].BaseAddress.QuadPart = MM_BASE;
    o.segment[1].Flags.Aperture = 1;
    o.segment[1].Size = 16 * MM_MB;
    o.segment_count = 2;
    mm_run(&o, hidden_body);
    o.segment[0].Flags.CpuVisible = o.segment[0].Flags.Use64KBPages = 1;
    mm_run(&o, large_alignment_body);
}
