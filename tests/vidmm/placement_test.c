/* SPDX-License-Identifier: MIT */
/* Where allocations are put: preferences, alignment, pages of segments, limits. */
#include "support/mm_rig.h"
#include "support/mm_segments.h"

static void bad_ranges_are_never_used_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    uint64_t placed = 0;

    for (;;) {
        NTSTATUS status;
        D3DKMT_HANDLE h = mm_create(c, mm_private_default(MM_SET_VRAM, MM_MB), &status);
        const struct vidmm_allocation *a;

        CHECK(h);
        status = mm_resident(c, h);
        if (!NT_SUCCESS(status))
            break;
        a = mm_allocation(c, h);
        for (uint32_t i = 0; i < a->run_count; i++) {
            CHECK_RULE("SEG-060", !ranges_overlap(a->runs[i].first, a->runs[i].pages, 0x100, 0x10));
            CHECK_RULE("SEG-060", !ranges_overlap(a->runs[i].first, a->runs[i].pages, 0xF00, 1));
            placed += a->runs[i].pages;
        }
    }
    CHECK(placed >= 14 * 256); /* nearly everything else was used */
    CHECK(vidmm_validate(rig->vidmm));
}

TEST(bad_ranges_are_never_used)
{
    struct mm_options o = mm_plain_options();
    const struct vidmm_bad_range bad[2] = {
        {.segment = 1, .range = {.SegmentOffset = 0x100000, .SizeInBytes = 0x10000}},
        {.segment = 1, .range = {.SegmentOffset = 0xF00000, .SizeInBytes = 4096}}};

    o.segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0);
    o.bad_range = bad;
    o.bad_range_count = 2;
    mm_run(&o, bad_ranges_are_never_used_body);
}

TEST_WITH(mm, segment_of_large_pages_is_managed_in_them, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[0].Flags.Use64KBPages = 1)
{
    struct mm_client *c = &rig->client[0];

    for (unsigned i = 0; i < 20; i++) {
        struct mm_private p = mm_private_default(MM_SET_VRAM, 4096 * (uint64_t)(1 + i * 3));
        D3DKMT_HANDLE h;
        const struct vidmm_allocation *a;

        p.alignment = 65536;
        h = mm_create_ok(c, p);
        CHECK(NT_SUCCESS(mm_resident(c, h)));
        a = mm_allocation(c, h);
        for (uint32_t r = 0; r < a->run_count; r++)
            CHECK_RULE("SEG-052", a->runs[r].first % 16 == 0 && a->runs[r].pages % 16 == 0);
    }
}

TEST_WITH(mm, placement_follows_preferences, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[2] = mm_segment_visible(MM_BASE + 32 * (uint64_t)MM_MB, 16 * MM_MB,
                                                   32 * (uint64_t)MM_MB),
          options->segment_count = 3)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(7, MM_MB);
    D3DDDI_SEGMENTPREFERENCE preference = {0};
    D3DKMT_HANDLE h;
    const struct vidmm_allocation *a;

    preference.SegmentId0 = 3;
    p.preferred = preference.Value;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("ALLOC-034", mm_allocation(c, h)->segment == 3);
    CHECK_RULE("SEG-018", mm_allocation(c, h)->segment == 3); /* the third descriptor */

    preference.SegmentId0 = 0;
    preference.SegmentId1 = 2;
    preference.SegmentId2 = 1;
    p.preferred = preference.Value;
    p.set = 3;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("ALLOC-034", mm_allocation(c, h)->ready &&
                                mm_allocation(c, h)->segment == 0); /* segment 2 is the aperture */

    p.preferred = 0;
    p.set = 7;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("RES-051", mm_allocation(c, h)->segment == 1); /* ascending ids */
    a = mm_allocation(c, h);
    CHECK_RULE("RES-052", a->runs[0].first == 0); /* from the start upwards */

    preference.Value = 0;
    preference.SegmentId0 = 1;
    preference.Direction0 = 1;
    p.preferred = preference.Value;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    a = mm_allocation(c, h);
    CHECK_RULE("ALLOC-037", a->runs[0].first + a->runs[0].pages == 16 * 256);

    p.preferred = 0;
    p.flags |= 0x40; /* FromEndOfSegment */
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    a = mm_allocation(c, h);
    CHECK_RULE("ALLOC-051", a->runs[0].first + a->runs[0].pages == 15 * 256);
}

TEST_WITH(mm, pitch_segment_takes_the_pitch_size, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[0].Flags.PitchAlignment = 1)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 65536);
    D3DKMT_HANDLE h;

    p.pitch_size = 131072;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("SEG-047",
               rig->vidmm->segment[1].mapped_bytes - segment_own_bytes(&rig->vidmm->segment[1]) ==
                   131072);
    CHECK(mm_evict(c, h, 0) == STATUS_SUCCESS);
    mm_idle(rig);
    CHECK_RULE("SEG-047", mm_allocation(c, h)->pages == 16 &&
                              mm_allocation(c, h)->backing); /* the backing keeps Size */

    p.pitch_size = 0;
    p.set = MM_SET_BOTH;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("ALLOC-033", mm_allocation(c, h)->segment != 1);
}

TEST_WITH(mm, alignment_is_kept)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 4096);
    D3DKMT_HANDLE h;

    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    p.alignment = 1u << 20;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("ALLOC-028", mm_allocation(c, h)->runs[0].first % 256 == 0);
    p.alignment = 0;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("ALLOC-029",
               mm_allocation(c, h)->runs[0].first == 1); /* right behind the first one */
}

/* The commit limit of a memory segment counts for nothing, that of an aperture bounds what is
 * mapped. */
TEST_WITH(mm, commit_limits, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[0].CommitLimit = 8 * MM_MB,
          options->segment[1] = mm_segment_aperture(16 * MM_MB),
          options->segment[1].CommitLimit = 4 * MM_MB)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_APERTURE, MM_MB);
    D3DKMT_HANDLE h[6];

    p.flags |= 0x8000; /* AccessedPhysically */
    for (unsigned i = 0; i < 5; i++) {
        h[i] = mm_create_ok(c, p);
        if (i == 4)
            CHECK(mm_evict(c, h[0], 1) == STATUS_SUCCESS); /* only if necessary */
        CHECK(NT_SUCCESS(mm_resident(c, h[i])));
        CHECK_RULE("SEG-033", rig->vidmm->segment[2].mapped_bytes <= 4 * MM_MB);
    }
    CHECK_RULE("SEG-033", !mm_allocation(c, h[0])->resident &&
                              mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1);
    h[5] = mm_create_ok(c, p);
    CHECK_RULE("SEG-033",
               mm_resident(c, h[5]) == STATUS_NO_MEMORY); /* the list itself would not fit */

    p = mm_private_default(MM_SET_VRAM, 15 * MM_MB);
    h[5] = mm_create_ok(c, p);
    CHECK_RULE("SEG-032", NT_SUCCESS(mm_resident(c, h[5])));
}

TEST_WITH(mm, global_aperture_limit, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[1] = mm_segment_aperture(16 * MM_MB),
          options->aperture_commit_limit = 2 * MM_MB)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_APERTURE, MM_MB);
    D3DKMT_HANDLE h[3];

    p.flags |= 0x8000;
    for (unsigned i = 0; i < 3; i++)
        h[i] = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h[0])));
    CHECK(NT_SUCCESS(mm_resident(c, h[1])));
    CHECK_RULE("SEG-035",
               mm_resident(c, h[2]) == STATUS_NO_MEMORY); /* the segment alone would allow 16 */
}

TEST_WITH(mm, zero_commit_limit_means_all, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[1] = mm_segment_aperture(16 * MM_MB))
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_APERTURE, 16 * MM_MB);

    p.flags |= 0x8000;
    CHECK_RULE("SEG-034", NT_SUCCESS(mm_resident(c, mm_create_ok(c, p))));
}
TEST_ALSO(mm, zero_commit_limit_means_all, beyond_the_segment, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0),
          options->segment[1] = mm_segment_aperture(16 * MM_MB),
          options->segment[1].CommitLimit = 1024 * (uint64_t)MM_MB)
