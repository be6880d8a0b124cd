/* SPDX-License-Identifier: MIT */
/* Segment tables, memory sizes and placement. */
#include "support/mm_rig.h"

/* ---- the table ------------------------------------------------------------------------------------------------------------- */

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

static NTSTATUS wanted;
static const char *wanted_rule, *wanted_text;
static uint64_t wanted_count;

static void create_only(struct mm_rig *rig)
{
    NTSTATUS status = mm_create_vidmm(rig);

    CHECK(status == wanted);
    if (wanted_rule)
        CHECK(mm_violations(rig, wanted_rule) == wanted_count);
    if (wanted_text) {
        bool found = false;

        for (size_t i = 0; i < verify_records(rig->log); i++)
            found = found || strstr(verify_record_at(rig->log, i)->seen, wanted_text);
        CHECK(found);
    }
    if (NT_SUCCESS(status))
        vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
}

/* Does creation give this status, with that many reports of the rule (NULL: any), one of which contains the text? */
static bool gives(const struct mm_options *o, NTSTATUS status, const char *rule, uint64_t count,
                  const char *text)
{
    wanted = status;
    wanted_rule = rule;
    wanted_count = count;
    wanted_text = text;
    mm_run_bare(o, create_only); /* fails the test otherwise */
    return true;
}

#define REFUSED STATUS_DEVICE_CONFIGURATION_ERROR

static void table_refuses_flags(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0].Flags.Agp = 1;
    CHECK_RULE("SEG-013", gives(&o, REFUSED, "SEG-013", 1, "segment 1"));
    o = plain();
    o.segment[0].Flags.ReservedSysMem = 1;
    CHECK_RULE("SEG-053", gives(&o, REFUSED, "SEG-053", 1, "segment 1"));
    o = plain();
    o.segment[0].Flags.CpuVisible = 1;
    o.segment[0].Flags.SupportsCpuHostAperture = 1;
    o.segment[0].CpuHostAperture.SizeInPages = 16;
    CHECK_RULE("SEG-054", gives(&o, REFUSED, "SEG-054", 1, "segment 1"));
    o = plain();
    o.segment[0].Flags.SupportsCachedCpuHostAperture = 1;
    CHECK_RULE("SEG-055", gives(&o, REFUSED, "SEG-055", 1, "segment 1"));
}

static void table_refuses_sizes(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0].Size = 0;
    CHECK_RULE("SEG-030", gives(&o, REFUSED, "SEG-030", 1, "Size"));
    o = plain();
    o.segment[1].Size = 4097;
    CHECK_RULE("SEG-030", gives(&o, REFUSED, "SEG-030", 1, "segment 2"));
    CHECK_RULE("SEG-016", gives(&o, REFUSED, "SEG-030", 1, "segment 2: Size"));
    o = plain();
    o.segment[0].Flags.Use64KBPages = 1;
    o.segment[0].Size = 65536 * 4 + 4096;
    CHECK_RULE("SEG-031", gives(&o, REFUSED, "SEG-031", 1, "segment 1"));
    o = plain();
    o.segment[0].Flags.Use64KBPages = 1;
    o.segment[0].BaseAddress.QuadPart = 4096;
    CHECK_RULE("SEG-031", gives(&o, REFUSED, "SEG-031", 1, "segment 1"));
    o = plain();
    o.segment[0].Flags.PreservedDuringStandby =
        o.segment[0].Flags.PartiallyPreservedDuringHibernate = 1;
    o.segment[0].SystemMemoryEndAddress = 0;
    CHECK_RULE("SEG-042", gives(&o, REFUSED, "SEG-042", 1, "SystemMemoryEndAddress"));
    o.segment[0].SystemMemoryEndAddress = o.segment[0].Size;
    CHECK_RULE("SEG-042", gives(&o, REFUSED, "SEG-042", 1, "SystemMemoryEndAddress"));
    o.segment[0].SystemMemoryEndAddress = 4095;
    CHECK(gives(&o, STATUS_SUCCESS, "SEG-042", 0, NULL));
}

static void table_counts_segments(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[2] = aperture(4 * MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-022", gives(&o, REFUSED, "SEG-022", 1, "2 aperture"));
    o = plain();
    o.segment_count = 1;
    CHECK_RULE("SEG-022", gives(&o, REFUSED, "SEG-022", 1, "0 aperture"));
    o.compute_only = true;
    CHECK_RULE("SEG-023", gives(&o, STATUS_SUCCESS, "SEG-022", 0, NULL));

    for (UINT i = 1; i < 32; i++)
        o.segment[i] = memory(MM_BASE + (uint64_t)i * 16 * MM_MB, MM_MB);
    o.segment[30] = aperture(MM_MB);
    o.compute_only = false;
    o.segment_count = 31;
    CHECK_RULE("SEG-019", gives(&o, STATUS_SUCCESS, "SEG-019", 0, NULL));
    o.segment[31] = memory(0x80000000, MM_MB);
    o.segment_count = 32;
    CHECK_RULE("SEG-019", gives(&o, REFUSED, "SEG-019", 1, "32 segments"));

    o = plain();
    o.segment_count = 0;
    CHECK_RULE("SEG-020", gives(&o, REFUSED, "SEG-020", 1, "no segments"));
    o.compute_only = true;
    o.no_paging_buffer = true;
    CHECK_RULE("SEG-020", gives(&o, STATUS_SUCCESS, "SEG-020", 0, NULL));
}

static void table_checks_cpu_ranges(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 50 * (uint64_t)MM_MB); /* the BAR has 64 MB */
    CHECK_RULE("SEG-028", gives(&o, REFUSED, "SEG-028", 1, "segment 1"));
    o.segment[0] = visible(MM_BASE, 16 * MM_MB, 48 * (uint64_t)MM_MB);
    CHECK_RULE("SEG-028", gives(&o, STATUS_SUCCESS, "SEG-028", 0, NULL));
    o.segment[1] = visible(MM_BASE + 64 * (uint64_t)MM_MB, 16 * MM_MB, 40 * (uint64_t)MM_MB);
    o.segment[2] = aperture(MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-028", gives(&o, REFUSED, "SEG-028", 1, "overlaps"));
    o = plain();
    o.segment[1].CpuTranslatedAddress.QuadPart = 0x123456789;
    o.segment[0].CpuTranslatedAddress.QuadPart = 0x987654321;
    CHECK_RULE("SEG-027", gives(&o, STATUS_SUCCESS, "SEG-028", 0, NULL));

    o = plain();
    o.segment[0].Flags.SupportsCpuHostAperture = 1;
    CHECK_RULE("SEG-057", gives(&o, REFUSED, "SEG-057", 1, "SizeInPages"));
    o.segment[0].CpuHostAperture.SizeInPages = 16;
    CHECK_RULE("SEG-057", gives(&o, STATUS_SUCCESS, "SEG-057", 0, NULL));
    o.segment[0].CpuHostAperture.PhysicalAddress = 64 * (uint64_t)MM_MB - 4096;
    CHECK_RULE("SEG-057", gives(&o, REFUSED, "SEG-057", 1, "no memory resource"));
    o.segment[0].CpuHostAperture.PhysicalAddress = 0;
    o.segment[0].Flags.Use64KBPages = 1;
    o.segment[0].CpuHostAperture.SizeInPages = 1024; /* 64 MB in pages of 64 KB: just fits */
    CHECK_RULE("SEG-056", gives(&o, STATUS_SUCCESS, "SEG-057", 0, NULL));
    o.segment[0].CpuHostAperture.SizeInPages = 1025;
    CHECK_RULE("SEG-056", gives(&o, REFUSED, "SEG-057", 1, NULL));
}

static void table_tolerates(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.segment[0].Flags.CacheCoherent = 1;
    CHECK_RULE("SEG-046", gives(&o, STATUS_SUCCESS, "SEG-046", 1, "segment 1"));
    o = plain();
    o.segment[0].Flags.PreservedDuringHibernate = 1;
    CHECK_RULE("SEG-051", gives(&o, STATUS_SUCCESS, "SEG-051", 1, "010"));
    for (UINT good = 0; good < 4; good++) {
        static const UINT flags[] = {0, 4, 5, 6};

        o = plain();
        o.segment[0].Flags.PreservedDuringStandby = flags[good] >> 2 & 1;
        o.segment[0].Flags.PreservedDuringHibernate = flags[good] >> 1 & 1;
        o.segment[0].Flags.PartiallyPreservedDuringHibernate = flags[good] & 1;
        o.segment[0].SystemMemoryEndAddress = 8191;
        CHECK_RULE("SEG-050", gives(&o, STATUS_SUCCESS, "SEG-051", 0, NULL));
    }
    o = plain();
    o.segment[0].SystemMemoryEndAddress = 12345; /* odd, but the flag is clear */
    CHECK_RULE("SEG-041", gives(&o, STATUS_SUCCESS, "SEG-042", 0, NULL));
    o = plain();
    o.segment[0].Flags.LocalBudgetGroup = o.segment[0].Flags.NonLocalBudgetGroup = 1;
    CHECK_RULE("SEG-068", gives(&o, STATUS_SUCCESS, "SEG-068", 1, "segment 1"));
    o = plain();
    o.segment[0].BaseAddress.QuadPart = 0;
    o.segment[1] = memory(0, MM_MB);
    o.segment[2] = aperture(MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-029", gives(&o, STATUS_SUCCESS, "SEG-029", 1, "segments 1 and 2"));
    o = plain();
    o.segment[0].NumUEFIFrameBufferRanges = 3;
    o.segment[0].Flags.DirectFlip = o.segment[0].Flags.VprSupported =
        o.segment[0].Flags.EncryptedPagingSupported = 1;
    o.segment[0].NumVprSupported = 1;
    CHECK_RULE("SEG-062", gives(&o, STATUS_SUCCESS, "SEG-016", 0, NULL));
}

static void table_is_read_by_stride(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.stride = sizeof(DXGK_SEGMENTDESCRIPTOR4) + 40;
    o.segment[1].Size = 4097;
    CHECK_RULE("SEG-010", gives(&o, REFUSED, "SEG-030", 1, "segment 2"));
    o.segment[1].Size = 4096;
    CHECK_RULE("SEG-010", gives(&o, STATUS_SUCCESS, "SEG-030", 0, NULL));
}

static void table_checks_paging_buffer(void **state)
{
    struct mm_options o = plain();

    (void)state;
    o.paging_segment = 1;
    CHECK_RULE("PAGE-002", gives(&o, REFUSED, "PAGE-002", 1, NULL));
    o.paging_segment = 3;
    CHECK_RULE("PAGE-002", gives(&o, REFUSED, "PAGE-002", 1, NULL));
    o.paging_segment = 2;
    CHECK_RULE("PAGE-002", gives(&o, STATUS_SUCCESS, "PAGE-002", 0, NULL));
    o = plain();
    o.no_paging_buffer = true;
    CHECK_RULE("PAGE-004", gives(&o, REFUSED, "PAGE-004", 1, NULL));
}

static void table_checks_bad_ranges(void **state)
{
    struct mm_options o = plain();
    struct vidmm_bad_range bad[2] = {
        {.segment = 1, .range = {.SegmentOffset = 0x800, .SizeInBytes = 4096}},
        {.segment = 1, .range = {.SegmentOffset = 0, .SizeInBytes = 8192}}};

    (void)state;
    o.bad_range = bad;
    o.bad_range_count = 1;
    CHECK_RULE("SEG-061", gives(&o, REFUSED, "SEG-061", 1, "segment 1"));
    bad[0].range.SegmentOffset = 4096;
    o.bad_range_count = 2;
    CHECK_RULE("SEG-042", gives(&o, REFUSED, "SEG-042", 1, "overlaps")); /* with each other */
    bad[1].range.SegmentOffset = 16 * (uint64_t)MM_MB - 4096;
    CHECK_RULE("SEG-042", gives(&o, REFUSED, "SEG-042", 1, "outside"));
    bad[1].range.SegmentOffset = 8192;
    CHECK(gives(&o, STATUS_SUCCESS, "SEG-042", 0, NULL));
    o.segment[0].Flags.Use64KBPages = 1;
    CHECK_RULE("SEG-061", gives(&o, REFUSED, "SEG-061", 1, NULL)); /* not in pages of the segment */
}

/* ---- sizes ----------------------------------------------------------------------------------------------------------------- */

static uint64_t want_video, want_system, want_shared;

static void sizes_body(struct mm_rig *rig)
{
    D3DKMT_SEGMENTSIZEINFO info;

    CHECK(NT_SUCCESS(mm_create_vidmm(rig)));
    vidmm_segment_sizes(rig->vidmm, &info);
    CHECK(info.DedicatedVideoMemorySize == want_video);
    CHECK(info.DedicatedSystemMemorySize == want_system);
    CHECK(info.SharedSystemMemorySize == want_shared);
    vidmm_destroy(rig->vidmm);
}

static bool sizes(const struct mm_options *o, uint64_t video, uint64_t system, uint64_t shared)
{
    want_video = video;
    want_system = system;
    want_shared = shared;
    mm_run_bare(o, sizes_body);
    return true;
}

static void sizes_follow_the_formulas(void **state)
{
    struct mm_options o = plain();
    const uint64_t mb = MM_MB;

    (void)state;
    o.ram_bytes = 1024 * mb;
    o.segment[0] = memory(MM_BASE, 256 * mb);
    o.segment[1] = memory(MM_BASE + 256 * mb, 64 * mb);
    o.segment[1].Flags.PopulatedFromSystemMemory = 1;
    o.segment[2] = aperture(2048 * mb);
    o.segment_count = 3;
    CHECK_RULE("SEG-070", sizes(&o, 256 * mb, 64 * mb, 448 * mb));
    CHECK_RULE("SEG-048", sizes(&o, 256 * mb, 64 * mb, 448 * mb));
    CHECK_RULE("SEG-071", sizes(&o, 256 * mb, 64 * mb, 448 * mb));
    CHECK_RULE("SEG-072", sizes(&o, 256 * mb, 64 * mb, 448 * mb));
    CHECK_RULE("SEG-036", sizes(&o, 256 * mb, 64 * mb, 448 * mb)); /* a cap of 0 reduces nothing */
    o.segment[2].Flags.PopulatedFromSystemMemory = 1;
    CHECK_RULE("SEG-048", sizes(&o, 256 * mb, 64 * mb, 448 * mb));
    o.aperture_commit_limit = 100 * mb;
    CHECK_RULE("SEG-071", sizes(&o, 256 * mb, 64 * mb, 100 * mb));
    o.aperture_commit_limit = 0;
    o.segment[2].CommitLimit = 90 * mb;
    CHECK_RULE("SEG-071", sizes(&o, 256 * mb, 64 * mb, 90 * mb));

    o = plain();
    o.ram_bytes = 100 * mb;
    o.segment[1] = aperture(1024 * mb);
    CHECK_RULE("SEG-069", sizes(&o, 16 * mb, 0, 64 * mb)); /* half would be 50 */
    o.ram_bytes = 1024 * mb;
    CHECK_RULE("SEG-069", sizes(&o, 16 * mb, 0, 512 * mb));
    o.segment[0].Flags.PopulatedFromSystemMemory = 1;
    o.segment[0].Size = 800 * mb;
    CHECK_RULE("SEG-070", sizes(&o, 0, 512 * mb, 0)); /* not above what is available */
}

/* ---- budget groups --------------------------------------------------------------------------------------------------------- */

static void group_defaults_body(struct mm_rig *rig)
{
    struct vidmm *mm;

    /* an integrated device: nothing but the aperture is for applications */
    rig->options.segment[1].Flags.ApplicationTarget = 1;
    CHECK(NT_SUCCESS(mm_create_vidmm(rig)));
    mm = rig->vidmm;
    CHECK_RULE("SEG-068", segment_group(mm, 2) == D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL);
    CHECK_RULE("SEG-068", segment_group(mm, 0) == D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL);
    CHECK_RULE("SEG-068", segment_group(mm, 1) == D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL);
    CHECK_RULE("SEG-066", segment_group_bytes(mm, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL) ==
                              64 * MM_MB); /* not the memory segment */
    vidmm_destroy(mm);

    rig->options.segment[0].Flags.ApplicationTarget = 1;
    CHECK(NT_SUCCESS(mm_create_vidmm(rig)));
    mm = rig->vidmm;
    CHECK_RULE("SEG-068", segment_group(mm, 2) == D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL);
    CHECK_RULE("SEG-068", segment_group(mm, 0) == D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL);
    CHECK_RULE("SEG-066", segment_group_bytes(mm, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL) == 16 * MM_MB);
    vidmm_destroy(mm);

    rig->options.segment[1].Flags.LocalBudgetGroup = 1;
    rig->options.segment[0].Flags.NonLocalBudgetGroup = 1;
    CHECK(NT_SUCCESS(mm_create_vidmm(rig)));
    mm = rig->vidmm;
    CHECK_RULE("SEG-067", segment_group(mm, 2) == D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL);
    CHECK_RULE("SEG-067", segment_group(mm, 1) == D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL);
    vidmm_destroy(mm);
    rig->vidmm = NULL;
}

static void group_defaults(void **state)
{
    struct mm_options o = plain();

    (void)state;
    mm_run_bare(&o, group_defaults_body);
}

/* ---- placement ------------------------------------------------------------------------------------------------------------- */

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

/* The commit limit of a memory segment counts for nothing, that of an aperture bounds what is mapped. */
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
        cmocka_unit_test(table_refuses_flags),
        cmocka_unit_test(table_refuses_sizes),
        cmocka_unit_test(table_counts_segments),
        cmocka_unit_test(table_checks_cpu_ranges),
        cmocka_unit_test(table_tolerates),
        cmocka_unit_test(table_is_read_by_stride),
        cmocka_unit_test(table_checks_paging_buffer),
        cmocka_unit_test(table_checks_bad_ranges),
        cmocka_unit_test(sizes_follow_the_formulas),
        cmocka_unit_test(group_defaults),
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
