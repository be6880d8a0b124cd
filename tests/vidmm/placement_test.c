/* SPDX-License-Identifier: MIT */
/* Where allocations are put: preferences, alignment, pages of segments, limits. */
#include "support/mm_rig.h"

static DXGK_SEGMENTDESCRIPTOR4 memory(uint64_t base, uint64_t size)
{
    DXGK_SEGMENTDESCRIPTOR4 d = {0};

    d.BaseAddress.QuadPart = (LONGLONG)base;
    d.Size = size;
    return d;
}

static DXGK_SEGMENTDESCRIPTOR4 visible(uint64_t base, uint64_t size, uint64_t bar_offset)
{
    DXGK_SEGMENTDESCRIPTOR4 d = memory(base, size);

    d.Flags.CpuVisible = 1;
    d.CpuTranslatedAddress.QuadPart = (LONGLONG)bar_offset;
    return d;
}

static DXGK_SEGMENTDESCRIPTOR4 aperture(uint64_t size)
{
    DXGK_SEGMENTDESCRIPTOR4 d = memory(MM_APERTURE_BASE, size);

    d.Flags.Aperture = 1;
    return d;
}

static struct mm_options plain(void)
{
    struct mm_options o;

    mm_options_default(&o);
    o.segment[0] = memory(MM_BASE, 16 * MM_MB);
    o.segment[1] = aperture(64 * MM_MB);
    o.segment_count = 2;
    return o;
}

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

static void bad_ranges_are_never_used(void **state)
{
    struct mm_options o = plain();
    const struct vidmm_bad_range bad[2] = {
        {.segment = 1, .range = {.SegmentOffset = 0x100000, .SizeInBytes = 0x10000}},
        {.segment = 1, .range = {.SegmentOffset = 0xF00000, .SizeInBytes = 4096}}};

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.bad_range = bad;
    o.bad_range_count = 2;
    mm_run(&o, bad_ranges_are_never_used_body);
}

static void large_pages_body(struct mm_rig *rig)
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

static void segment_of_large_pages_is_managed_in_them(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.segment[0].Flags.Use64KBPages = 1;
    mm_run(&o, large_pages_body);
}

static void preferences_body(struct mm_rig *rig)
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

static void placement_follows_preferences(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.segment[2] = visible(MM_BASE + 32 * (uint64_t)MM_MB, 16 * MM_MB, 32 * (uint64_t)MM_MB);
    o.segment_count = 3;
    mm_run(&o, preferences_body);
}

static void pitch_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_VRAM, 65536);
    D3DKMT_HANDLE h;

    p.pitch_size = 131072;
    h = mm_create_ok(c, p);
    CHECK(NT_SUCCESS(mm_resident(c, h)));
    CHECK_RULE("SEG-047",
               rig->vidmm->segment[1].mapped_bytes - rig->vidmm->segment[1].pinned_bytes == 131072);
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

static void pitch_segment_takes_the_pitch_size(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.segment[0].Flags.PitchAlignment = 1;
    mm_run(&o, pitch_body);
}

static void alignment_body(struct mm_rig *rig)
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

static void alignment_is_kept(void **state)
{
    (void)state;
    mm_run(NULL, alignment_body);
}

/* The commit limit of a memory segment counts for nothing, that of an aperture bounds what is
 * mapped. */
static void commit_limits_body(struct mm_rig *rig)
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

static void commit_limits(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.segment[0].CommitLimit = 8 * MM_MB;
    o.segment[1] = aperture(16 * MM_MB);
    o.segment[1].CommitLimit = 4 * MM_MB;
    mm_run(&o, commit_limits_body);
}

static void global_limit_body(struct mm_rig *rig)
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

static void global_aperture_limit(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.segment[1] = aperture(16 * MM_MB);
    o.aperture_commit_limit = 2 * MM_MB;
    mm_run(&o, global_limit_body);
}

static void zero_limit_body(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_APERTURE, 16 * MM_MB);

    p.flags |= 0x8000;
    CHECK_RULE("SEG-034", NT_SUCCESS(mm_resident(c, mm_create_ok(c, p))));
}

static void zero_commit_limit_means_all(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 0);
    o.segment[1] = aperture(16 * MM_MB);
    mm_run(&o, zero_limit_body);
    o.segment[1].CommitLimit = 1024 * (uint64_t)MM_MB;
    mm_run(&o, zero_limit_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_ranges_are_never_used),
        cmocka_unit_test(segment_of_large_pages_is_managed_in_them),
        cmocka_unit_test(placement_follows_preferences),
        cmocka_unit_test(pitch_segment_takes_the_pitch_size),
        cmocka_unit_test(alignment_is_kept),
        cmocka_unit_test(commit_limits),
        cmocka_unit_test(global_aperture_limit),
        cmocka_unit_test(zero_commit_limit_means_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
