/* SPDX-License-Identifier: MIT */
/* What a driver says of an allocation, at the limits: sizes, sets, preferences and flags by version. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"

static NTSTATUS outcome(struct mm_rig *rig, struct mm_private p)
{
    NTSTATUS status;

    mm_create(&rig->client[0], p, &status);
    return status;
}

static const struct vidmm_allocation *made(struct mm_rig *rig, struct mm_private p)
{
    CHECK(outcome(rig, p) == STATUS_SUCCESS);
    return CONTAINER(rig->vidmm->allocations.prev, struct vidmm_allocation, link);
}

static uint64_t warnings(const struct mm_rig *rig)
{
    return verify_count(rig->base.log, VERIFY_WARNING);
}

/* ---- sizes ---- */

TEST_WITH(mm, sizes_are_whole_pages)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);
    const struct vidmm_allocation *a = made(rig, p);

    CHECK_RULE("ALLOC-026", a->pages == 1 && a->bytes == PAGE_BYTES && a->pitch_pages == 0);
    p.size = PAGE_BYTES + 1;
    p.pitch_size = 3 * PAGE_BYTES + 1;
    a = made(rig, p);
    CHECK_RULE("ALLOC-026", a->pages == 2 && a->bytes == PAGE_BYTES + 1 && a->pitch_pages == 4);
    p.pitch_size = UINT64_MAX; /* no size at all, taken as none */
    CHECK_RULE("ALLOC-033", made(rig, p)->pitch_pages == 0 && mm_violations(rig, "ALLOC-033") == 1);
    p.pitch_size = 0;
    p.size = (uint64_t)1 << 62;
    CHECK_RULE("ALLOC-027", outcome(rig, p) == STATUS_INVALID_PARAMETER);
    p.size = ((uint64_t)1 << 62) - 65536;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_GRAPHICS_NO_VIDEO_MEMORY);
}

TEST_WITH(mm, alignments_are_powers_of_two)
{
    static const UINT cases[][2] = {
        {0, 4096},           {1, 4096},      {4096, 4096},   {4097, 8192}, {8192, 8192},
        {8193, 16384},       {65535, 65536}, {65536, 65536}, {3, 4096},    {0x40000001, 1u << 31},
        {1u << 31, 1u << 31}};
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = warnings(rig);

        p.alignment = cases[i][0];
        CHECK_RULE("ALLOC-028", made(rig, p)->alignment == cases[i][1]);
        CHECK_RULE("ALLOC-027",
                   (warnings(rig) != before) == ((p.alignment & (p.alignment - 1)) != 0));
    }
}

/* ---- what fits ---- */

static void fits(struct mm_rig *rig, UINT set, UINT flags, uint64_t pages)
{
    struct mm_private p = mm_private_default(set, pages * PAGE_BYTES);

    p.flags = flags;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_SUCCESS);
    p.size += 1;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_GRAPHICS_NO_VIDEO_MEMORY);
}

TEST_WITH(mm, the_largest_fit_their_segments, *options = mm_plain_options(),
          options->segment[1].CommitLimit = 8 * MM_MB, options->ram_bytes = 160 * (uint64_t)MM_MB)
{
    fits(rig, MM_SET_VRAM, 0, 16 * 256);
    fits(rig, MM_SET_APERTURE, 0x8000, 8 * 256);        /* what may be mapped */
    fits(rig, MM_SET_APERTURE, 0, 160 * (uint64_t)256); /* it is never mapped there */
    fits(rig, MM_SET_BOTH, 0x8000, 16 * 256);
}

TEST_WITH(mm, the_limit_of_all_apertures_counts, *options = mm_plain_options(),
          options->aperture_commit_limit = 3 * MM_MB)
{
    fits(rig, MM_SET_APERTURE, 0x8000, 3 * 256);
}

static const struct vidmm_bad_range bad = {
    .segment = 1, .range = {.SegmentOffset = 0x100000, .SizeInBytes = 0x10000}};

TEST_WITH(mm, bad_memory_holds_nothing, *options = mm_plain_options(), options->bad_range = &bad,
          options->bad_range_count = 1)
{
    fits(rig, MM_SET_VRAM, 0, 16 * 256 - 16);
}

/* In a segment with pitch the size with pitch counts; none at all keeps it out of there. */
TEST_WITH(mm, the_size_with_pitch_has_to_fit, *options = mm_plain_options(),
          options->segment[0].Flags.PitchAlignment = 1)
{
    struct mm_private p = mm_private_default(MM_SET_VRAM, PAGE_BYTES);

    p.flags = 0;
    CHECK_RULE("ALLOC-033", outcome(rig, p) == STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    p.pitch_size = 16 * MM_MB;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_SUCCESS);
    p.pitch_size += 1;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    p.set = MM_SET_BOTH;
    CHECK_RULE("ALLOC-031", outcome(rig, p) == STATUS_SUCCESS);
}

/* An aperture with pitch matters only to what is mapped there. */
TEST_WITH(mm, pitch_of_an_aperture, *options = mm_plain_options(),
          options->segment[1].Flags.PitchAlignment = 1)
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);

    CHECK(outcome(rig, p) == STATUS_SUCCESS);
    p.flags = 0x8001;
    CHECK(outcome(rig, p) == STATUS_GRAPHICS_NO_VIDEO_MEMORY);
    p.pitch_size = 2 * PAGE_BYTES;
    CHECK(outcome(rig, p) == STATUS_SUCCESS);
    /* and is no place to be evicted to */
    p.eviction_set = 2;
    CHECK_RULE("ALLOC-041", made(rig, p)->segments.eviction == 0);
    CHECK_RULE("ALLOC-041", mm_violations(rig, "ALLOC-041") == 1);
}

/* ---- sets and preferences ---- */

TEST_WITH(mm, preferences_are_taken_one_by_one, *options = mm_plain_options(),
          options->segment[2] = mm_segment_memory(MM_BASE + 32 * (uint64_t)MM_MB, 16 * MM_MB),
          options->segment_count = 3)
{
    struct mm_private p = mm_private_default(7, PAGE_BYTES);
    D3DDDI_SEGMENTPREFERENCE preference = {0};
    const struct vidmm_allocation *a;

    preference.SegmentId0 = 3;
    preference.Direction0 = 1;
    preference.SegmentId1 = 1;
    preference.SegmentId2 = 2;
    preference.Direction2 = 1;
    preference.SegmentId4 = 1;
    preference.Direction4 = 1;
    p.preferred = preference.Value;
    a = made(rig, p);
    CHECK_RULE("ALLOC-034", a->segments.preferred[0] == 3 && a->segments.preferred[1] == 1 &&
                                a->segments.preferred[2] == 2 && a->segments.preferred[3] == 0 &&
                                a->segments.preferred[4] == 1);
    CHECK_RULE("ALLOC-037", a->segments.preferred_down == 0x15);
    p.set = 5; /* not segment 2; the others stay */
    a = made(rig, p);
    CHECK_RULE("ALLOC-035", mm_violations(rig, "ALLOC-035") == 1);
    CHECK_RULE("ALLOC-035", a->segments.preferred[0] == 3 && a->segments.preferred[1] == 1 &&
                                a->segments.preferred[2] == 0 && a->segments.preferred[4] == 1 &&
                                a->segments.preferred_down == 0x11);
    preference.Value = 0;
    preference.SegmentId0 = 31;
    p.preferred = preference.Value;
    CHECK_RULE("ALLOC-035", made(rig, p)->segments.preferred[0] == 0);
    /* the number of system memory, one more than there are, where the aperture is not in the set */
    preference.SegmentId0 = 4;
    p.preferred = preference.Value;
    CHECK_RULE("ALLOC-035", made(rig, p)->segments.preferred[0] == 0);
    p.set = 8 | 1;
    a = made(rig, p);
    CHECK_RULE("ALLOC-027", a->segments.supported == (2 | 1) && a->segments.preferred[0] == 2);
    p.set = 16 | 1;
    CHECK_RULE("ALLOC-027", outcome(rig, p) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, only_plain_apertures_are_evicted_to)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);

    p.eviction_set = 2;
    CHECK_RULE("ALLOC-041", made(rig, p)->segments.eviction == 2);
    p.eviction_set = 0xFFFFFFFF;
    CHECK_RULE("ALLOC-041", made(rig, p)->segments.eviction == 2);
    CHECK_RULE("ALLOC-041", mm_violations(rig, "ALLOC-041") == 2); /* what is not there, and 1 */
    p.eviction_set = 1;
    CHECK_RULE("ALLOC-041", made(rig, p)->segments.eviction == 0);
}

TEST_WITH(mm, a_set_with_large_pages_rounds_up, *options = mm_plain_options(),
          options->segment[0].Flags.Use64KBPages = 1)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, 65537);
    const struct vidmm_allocation *a;

    p.alignment = 65536;
    p.pitch_size = 131073;
    a = made(rig, p);
    CHECK(a->pages == 32 && a->pitch_pages == 48 && a->alignment == 65536);
    CHECK_RULE("GPUVA-202", mm_violations(rig, "GPUVA-202") == 0);
    p.alignment = 32768;
    a = made(rig, p);
    CHECK_RULE("GPUVA-202", mm_violations(rig, "GPUVA-202") == 1 && a->alignment == 65536);
    p.alignment = 131072;
    CHECK(made(rig, p)->alignment == 131072 && mm_violations(rig, "GPUVA-202") == 1);
    p.set = MM_SET_APERTURE;
    p.alignment = 0;
    a = made(rig, p);
    CHECK(a->pages == 17 && a->pitch_pages == 33 && a->alignment == PAGE_BYTES);
}

/* ---- flags ---- */

TEST_WITH(mm, a_history_buffer_keeps_its_own_flags, *options = mm_plain_options())
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);

    p.flags = 0x4001; /* the aperture is not coherent: Cached may be missing */
    CHECK_RULE("ALLOC-057", made(rig, p)->flags.Value == 0x4001);
    CHECK_RULE("ALLOC-057", mm_violations(rig, "ALLOC-057") == 0);
    p.flags = 0x4000;
    CHECK_RULE("ALLOC-057", made(rig, p)->flags.Value == 0x4001);
    p.flags = 0x4001 | 0x8000 | 0x40;
    CHECK_RULE("ALLOC-057", made(rig, p)->flags.Value == 0x4001 && warnings(rig) == 2);
}

TEST_WITH(mm, what_is_tolerated_is_without_effect)
{
    static const struct {
        const char *rule;
        UINT flags, kept;
    } cases[] = {
        {"ALLOC-047", 0x2 | 0x40, 0x40},     {"ALLOC-048", 0x4 | 0x40, 0x40},
        {"ALLOC-049", 0x1 | 0x2 | 0x8, 0x3}, {"ALLOC-054", 0x1 | 0x100, 0x1},
        {"ALLOC-059", 0x1 | 0x10000, 0x1},   {"ALLOC-062", 0x1 | 0x20000, 0x1},
        {"ALLOC-062", 0x1 | 0x400, 0x1},     {"ALLOC-062", 0x1 | 0x400 | 0x20000, 0x1},
    };
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = mm_violations(rig, cases[i].rule);

        CHECK(verify_set_severity(rig->base.log, cases[i].rule, VERIFY_WARNING));
        p.flags = cases[i].flags;
        CHECK(made(rig, p)->flags.Value == cases[i].kept);
        CHECK(mm_violations(rig, cases[i].rule) == before + 1);
    }
    p.flags = 0x8; /* Protected alone */
    CHECK(made(rig, p)->flags.Value == 0x8 && mm_violations(rig, "ALLOC-049") == 1);
}

TEST_WITH(mm, a_visible_map_without_the_cap_is_dropped, options->old_map = true)
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);

    CHECK(verify_set_severity(rig->base.log, "ALLOC-061", VERIFY_WARNING));
    p.flags = 0xA001;
    CHECK_RULE("ALLOC-061", made(rig, p)->flags.Value == 0x8001);
    CHECK_RULE("ALLOC-061", mm_violations(rig, "ALLOC-061") == 1);
}

TEST_WITH(mm, who_sees_it_and_how)
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);

    p.flags = 0;
    CHECK(!made(rig, p)->cpu_visible);
    p.flags = 0x40000; /* CpuVisibleOnDemand */
    CHECK_RULE("ALLOC-046", made(rig, p)->cpu_visible);
    p.flags = 1;
    CHECK(made(rig, p)->cpu_visible && !made(rig, p)->accessed_physically);
    p.flags = 0x8000;
    CHECK(!made(rig, p)->cpu_visible && made(rig, p)->accessed_physically);
}

TEST_WITH(mm, without_page_tables_all_access_is_physical, options->physical = true)
{
    CHECK_RULE("RES-056",
               made(rig, mm_private_default(MM_SET_VRAM, PAGE_BYTES))->accessed_physically);
}

/* The flags that are left of those that a version has not. */
static void known_in(struct mm_rig *rig, UINT flags, UINT kept)
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);
    uint64_t before = mm_violations(rig, "ALLOC-064");

    p.flags = flags;
    CHECK_RULE("ALLOC-064", made(rig, p)->flags.Value == kept);
    CHECK_RULE("ALLOC-064", mm_violations(rig, "ALLOC-064") == before + (flags != kept));
}

TEST_WITH(mm, flags_of_2_0, options->version = DXGKDDI_INTERFACE_VERSION_WDDM2_0)
{
    known_in(rig, 0x1 | 0x2000 | 0x8000, 0x1 | 0x8000);
    known_in(rig, 0x1 | 0x400, 0x1);
    known_in(rig, 0x1 | 0x800, 0x1);
    known_in(rig, 0x1 | 0x1000, 0x1);
    known_in(rig, 0x1 | 0x80000, 0x1);
    known_in(rig, 0x1 | 0x40000 | 0x8000, 0x1 | 0x40000 | 0x8000);
}

TEST_WITH(mm, flags_of_2_1, options->version = DXGKDDI_INTERFACE_VERSION_WDDM2_1)
{
    CHECK(verify_set_severity(rig->base.log, "ALLOC-062", VERIFY_WARNING));
    known_in(rig, 0x1 | 0x2000, 0x1);
    known_in(rig, 0x1 | 0x800, 0x1);
    CHECK(mm_violations(rig, "ALLOC-062") == 0);
    made(rig, (struct mm_private){.size = 1, .set = 2, .flags = 0x401});
    CHECK_RULE("ALLOC-062", mm_violations(rig, "ALLOC-062") == 1); /* it has CreateInVpr */
}

TEST_WITH(mm, flags_of_2_9, options->version = DXGKDDI_INTERFACE_VERSION_WDDM2_9)
{
    known_in(rig, 0x2001, 0x2001);
    known_in(rig, 0x1 | 0x800 | 0x1000, 0x1);
}

#define OLD(version_) \
    options->version = version_, options->physical = true, options->iommu = IOMMU_ISOLATION

TEST_WITH(mm, flags_of_1_2, OLD(DXGKDDI_INTERFACE_VERSION_WIN8))
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);

    p.flags = 0x1 | 0x4000;
    CHECK_RULE("ALLOC-064",
               made(rig, p)->flags.Value == 0x1 && mm_violations(rig, "ALLOC-064") == 1);
    p.flags = 0x1 | 0x8000;
    CHECK_RULE("ALLOC-064",
               made(rig, p)->flags.Value == 0x1 && mm_violations(rig, "ALLOC-064") == 2);
}

TEST_WITH(mm, flags_of_1_3, OLD(DXGKDDI_INTERFACE_VERSION_WDDM1_3))
{
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);
    const struct vidmm_allocation *a;

    p.flags = 0x1 | 0x4 | 0x4000;
    a = made(rig, p);
    CHECK_RULE("ALLOC-064", a->flags.Value == 0x4005 && mm_violations(rig, "ALLOC-064") == 0);
    CHECK_RULE("RES-032", a->accessed_physically);
    p.flags = 0x1 | 0x80 | 0x800; /* Swizzled, SynchronousPaging: other bits in 2.x */
    CHECK(made(rig, p)->flags.Value == 1 && warnings(rig) == 0);
    p.flags = 0x1 | 0x1000;
    CHECK_RULE("ALLOC-056", made(rig, p)->flags.Value == 1 && mm_violations(rig, "ALLOC-056") == 0);
    p.flags = 0x1 | 0x2000;
    CHECK_RULE("ALLOC-056", made(rig, p)->flags.Value == 1 && mm_violations(rig, "ALLOC-056") == 0);
    p.flags = 0x1 | 0x3000;
    CHECK_RULE("ALLOC-056", made(rig, p)->flags.Value == 1 && mm_violations(rig, "ALLOC-056") == 1);
    CHECK(verify_set_severity(rig->base.log, "ALLOC-056", VERIFY_ERROR));
    CHECK_RULE("ALLOC-056", outcome(rig, p) == STATUS_INVALID_PARAMETER);
    p.flags = 0x1 | 0x400;
    CHECK_RULE("ALLOC-053",
               outcome(rig, p) == STATUS_INVALID_PARAMETER && mm_violations(rig, "ALLOC-053") == 1);
    CHECK(verify_set_severity(rig->base.log, "ALLOC-053", VERIFY_WARNING));
    CHECK_RULE("ALLOC-053", made(rig, p)->flags.Value == 1);
}

/* What may be read counts for drivers of 1.x, and a physical adapter has no number there. */
TEST_WITH(mm, sets_of_1_3, OLD(DXGKDDI_INTERFACE_VERSION_WDDM1_3))
{
    struct mm_private p = mm_private_default(0, PAGE_BYTES);

    p.read_set = MM_SET_BOTH;
    p.adapter_index = 3;
    CHECK_RULE("ALLOC-040", made(rig, p)->segments.supported == MM_SET_BOTH && warnings(rig) == 0);
    p.set = MM_SET_VRAM;
    p.read_set = MM_SET_APERTURE;
    CHECK_RULE("ALLOC-040", made(rig, p)->segments.supported == MM_SET_BOTH);
    p.read_set = 4; /* no system memory by number without page tables */
    CHECK_RULE("ALLOC-027", outcome(rig, p) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(mm, flags_of_3_0, options->version = DXGKDDI_INTERFACE_VERSION_WDDM3_0)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);

    p.flags2 = 0xFFFFFFFE;
    CHECK_RULE("ALLOC-066", made(rig, p)->flags2 == 0xFFFFFFFE);
}

TEST_WITH(mm, priorities_are_taken_over)
{
    struct mm_private p = mm_private_default(MM_SET_BOTH, PAGE_BYTES);

    p.priority = 1;
    CHECK(made(rig, p)->priority == 1 && mm_violations(rig, "ALLOC-071") == 0);
    p.raw_priority = true;
    p.priority = 0;
    CHECK_RULE("ALLOC-071", made(rig, p)->priority == D3DDDI_ALLOCATIONPRIORITY_NORMAL);
}
