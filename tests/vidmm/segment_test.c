/* SPDX-License-Identifier: MIT */
/* Segment tables and memory sizes. */
#include "support/mm_rig.h"
#include "support/mm_segments.h"

/* ---- the table ---- */

static NTSTATUS wanted;
static const char *wanted_rule, *wanted_text;
static uint64_t wanted_count;

static bool wanted_error;   /* the rule is set to error */
static uint64_t seen_bytes; /* size of segment 1, if it was created */

static void create_only(struct mm_rig *rig)
{
    NTSTATUS status;

    if (wanted_error)
        CHECK(verify_set_severity(rig->base.log, wanted_rule, VERIFY_ERROR));
    status = mm_create_vidmm(rig);
    if (status != wanted)
        fail_msg("%s: status 0x%x, not 0x%x", wanted_rule, (unsigned)status, (unsigned)wanted);
    if (NT_SUCCESS(status))
        seen_bytes = rig->vidmm->segment[1].bytes;
    if (wanted_rule)
        CHECK(mm_violations(rig, wanted_rule) == wanted_count);
    if (wanted_text) {
        bool found = false;

        for (size_t i = 0; i < verify_records(rig->base.log); i++)
            found = found || strstr(verify_record_at(rig->base.log, i)->seen, wanted_text);
        CHECK(found);
    }
    if (NT_SUCCESS(status))
        vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
}

/* Does creation give this status, with that many reports of the rule (NULL: any), one of which
 * contains the text? */
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

/* A finding that is only expected: creation goes on after a warning, and fails if the rule is set to error. */
static bool finds(const struct mm_options *o, const char *rule, const char *text)
{
    gives(o, STATUS_SUCCESS, rule, 1, text);
    wanted_error = true;
    gives(o, REFUSED, rule, 1, text);
    wanted_error = false;
    return true;
}

TEST(table_refuses_flags)
{
    struct mm_options o = mm_plain_options();

    o.segment[0].Flags.Agp = 1;
    CHECK_RULE("SEG-013", gives(&o, REFUSED, "SEG-013", 1, "segment 1"));
    o = mm_plain_options();
    o.segment[0].Flags.ReservedSysMem = 1;
    CHECK_RULE("SEG-053", finds(&o, "SEG-053", "segment 1"));
    o = mm_plain_options();
    o.segment[0].Flags.CpuVisible = 1;
    o.segment[0].Flags.SupportsCpuHostAperture = 1;
    o.segment[0].CpuHostAperture.SizeInPages = 16;
    CHECK_RULE("SEG-054", finds(&o, "SEG-054", "segment 1"));
    o = mm_plain_options();
    o.segment[0].Flags.SupportsCachedCpuHostAperture = 1;
    CHECK_RULE("SEG-055", finds(&o, "SEG-055", "segment 1"));
}

TEST(table_refuses_sizes)
{
    struct mm_options o = mm_plain_options();

    o.segment[0].Size = 0;
    CHECK_RULE("SEG-030", finds(&o, "SEG-030", "Size"));
    o = mm_plain_options();
    o.segment[1].Size = 4097;
    CHECK_RULE("SEG-030", finds(&o, "SEG-030", "segment 2"));
    CHECK_RULE("SEG-016", finds(&o, "SEG-030", "segment 2: Size"));
    o = mm_plain_options();
    o.segment[0].Flags.Use64KBPages = 1;
    o.segment[0].Size = 65536 * 4 + 4096;
    CHECK_RULE("SEG-031", finds(&o, "SEG-031", "segment 1"));
    o = mm_plain_options();
    o.segment[0].Flags.Use64KBPages = 1;
    o.segment[0].BaseAddress.QuadPart = 4096;
    CHECK_RULE("SEG-031", finds(&o, "SEG-031", "segment 1"));
    o = mm_plain_options();
    o.segment[0].Flags.PreservedDuringStandby =
        o.segment[0].Flags.PartiallyPreservedDuringHibernate = 1;
    o.segment[0].SystemMemoryEndAddress = 0;
    CHECK_RULE("SEG-042", finds(&o, "SEG-042", "SystemMemoryEndAddress"));
    o.segment[0].SystemMemoryEndAddress = o.segment[0].Size;
    CHECK_RULE("SEG-042", finds(&o, "SEG-042", "SystemMemoryEndAddress"));
    o.segment[0].SystemMemoryEndAddress = 4095;
    CHECK(gives(&o, STATUS_SUCCESS, "SEG-042", 0, NULL));
}

/* SEG-030: the host takes what is there behind the CPU's address, where it can see that. */
TEST(a_size_that_was_never_set)
{
    struct mm_options o = mm_plain_options();

    o.segment[0] = mm_segment_visible(MM_BASE, 0xCDCDCDCDCDCDCDCD, 48 * (uint64_t)MM_MB);
    CHECK_RULE("SEG-030", finds(&o, "SEG-030", "segment 1") && seen_bytes == 16 * MM_MB);
    o.segment[0].Size = 0;
    CHECK_RULE("SEG-030", finds(&o, "SEG-030", "segment 1") && seen_bytes == 16 * MM_MB);
    o.segment[0].Size = 4 * MM_MB + 100;
    CHECK_RULE("SEG-030", finds(&o, "SEG-030", "segment 1") && seen_bytes == 4 * MM_MB);
    o = mm_plain_options(); /* nobody can see where this one ends */
    o.segment[0].Size = 0xCDCDCDCDCDCDCDCD;
    CHECK_RULE("SEG-030", gives(&o, REFUSED, "SEG-030", 1, "beyond any address"));
}

TEST(table_counts_segments)
{
    struct mm_options o = mm_plain_options();

    o.segment[2] = mm_segment_aperture(4 * MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-022", finds(&o, "SEG-022", "2 aperture"));
    o = mm_plain_options();
    o.segment_count = 1;
    CHECK_RULE("SEG-022", finds(&o, "SEG-022", "0 aperture"));
    o.compute_only = true;
    CHECK_RULE("SEG-023", gives(&o, STATUS_SUCCESS, "SEG-022", 0, NULL));

    for (UINT i = 1; i < 32; i++)
        o.segment[i] = mm_segment_memory(MM_BASE + (uint64_t)i * 16 * MM_MB, MM_MB);
    o.segment[30] = mm_segment_aperture(MM_MB);
    o.compute_only = false;
    o.segment_count = 31;
    CHECK_RULE("SEG-019", gives(&o, STATUS_SUCCESS, "SEG-019", 0, NULL));
    o.segment[31] = mm_segment_memory(0x80000000, MM_MB);
    o.segment_count = 32;
    CHECK_RULE("SEG-019", gives(&o, REFUSED, "SEG-019", 1, "32 segments"));

    o = mm_plain_options();
    o.segment_count = 0;
    CHECK_RULE("SEG-020", gives(&o, REFUSED, "SEG-020", 1, "no segments"));
    o.compute_only = true;
    o.no_paging_buffer = true;
    CHECK_RULE("SEG-020", gives(&o, STATUS_SUCCESS, "SEG-020", 0, NULL));
}

TEST(table_checks_cpu_ranges)
{
    struct mm_options o = mm_plain_options();

    o.segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB,
                                      50 * (uint64_t)MM_MB); /* the BAR has 64 MB */
    CHECK_RULE("SEG-028", finds(&o, "SEG-028", "segment 1"));
    o.segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 48 * (uint64_t)MM_MB);
    CHECK_RULE("SEG-028", gives(&o, STATUS_SUCCESS, "SEG-028", 0, NULL));
    o.segment[1] = mm_segment_visible(MM_BASE + 64 * (uint64_t)MM_MB, 16 * MM_MB,
                                      40 * (uint64_t)MM_MB);
    o.segment[2] = mm_segment_aperture(MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-028", finds(&o, "SEG-028", "overlaps"));
    o = mm_plain_options();
    o.segment[1].CpuTranslatedAddress.QuadPart = 0x123456789;
    o.segment[0].CpuTranslatedAddress.QuadPart = 0x987654321;
    CHECK_RULE("SEG-027", gives(&o, STATUS_SUCCESS, "SEG-028", 0, NULL));

    o.segment[0] = mm_segment_aperture(MM_MB);
    o.segment[1] = mm_segment_memory(MM_BASE, 16 * MM_MB);
    o.segment[1].Flags.SupportsCpuHostAperture = 1;
    o.segment[1].CpuHostAperture.SizeInPages = 16;
    CHECK_RULE("SEG-093", gives(&o, STATUS_SUCCESS, "SEG-093", 0, NULL));
    o.segment[2] = mm_segment_memory(MM_BASE + 64 * (uint64_t)MM_MB, 16 * MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-093", gives(&o, REFUSED, "SEG-093", 1, "segment 2"));
}

TEST(table_checks_host_apertures)
{
    struct mm_options o = mm_plain_options();

    o.segment_count = 1; /* as the last: SEG-093 */
    o.segment[0].Flags.SupportsCpuHostAperture = 1;
    CHECK_RULE("SEG-057", finds(&o, "SEG-057", "SizeInPages"));
    o.segment[0].CpuHostAperture.SizeInPages = 16;
    CHECK_RULE("SEG-057", gives(&o, STATUS_SUCCESS, "SEG-057", 0, NULL));
    o.segment[0].CpuHostAperture.PhysicalAddress = 64 * (uint64_t)MM_MB - 4096;
    CHECK_RULE("SEG-057", finds(&o, "SEG-057", "no memory resource"));
    o.segment[0].CpuHostAperture.PhysicalAddress = 0;
    o.segment[0].Flags.Use64KBPages = 1;
    o.segment[0].CpuHostAperture.SizeInPages = 1024; /* 64 MB in pages of 64 KB: just fits */
    CHECK_RULE("SEG-056", gives(&o, STATUS_SUCCESS, "SEG-057", 0, NULL));
    o.segment[0].CpuHostAperture.SizeInPages = 1025;
    CHECK_RULE("SEG-056", finds(&o, "SEG-057", NULL));
}

TEST(table_tolerates)
{
    struct mm_options o = mm_plain_options();

    o.segment[0].Flags.CacheCoherent = 1;
    CHECK_RULE("SEG-046", gives(&o, STATUS_SUCCESS, "SEG-046", 1, "segment 1"));
    o = mm_plain_options();
    o.segment[0].Flags.PreservedDuringHibernate = 1;
    CHECK_RULE("SEG-051", gives(&o, STATUS_SUCCESS, "SEG-051", 1, "010"));
    for (UINT good = 0; good < 4; good++) {
        static const UINT flags[] = {0, 4, 5, 6};

        o = mm_plain_options();
        o.segment[0].Flags.PreservedDuringStandby = flags[good] >> 2 & 1;
        o.segment[0].Flags.PreservedDuringHibernate = flags[good] >> 1 & 1;
        o.segment[0].Flags.PartiallyPreservedDuringHibernate = flags[good] & 1;
        o.segment[0].SystemMemoryEndAddress = 8191;
        CHECK_RULE("SEG-050", gives(&o, STATUS_SUCCESS, "SEG-051", 0, NULL));
    }
    o = mm_plain_options();
    o.segment[0].SystemMemoryEndAddress = 12345; /* odd, but the flag is clear */
    CHECK_RULE("SEG-041", gives(&o, STATUS_SUCCESS, "SEG-042", 0, NULL));
    o = mm_plain_options();
    o.segment[0].Flags.LocalBudgetGroup = o.segment[0].Flags.NonLocalBudgetGroup = 1;
    CHECK_RULE("SEG-068", gives(&o, STATUS_SUCCESS, "SEG-068", 1, "segment 1"));
    o = mm_plain_options();
    o.segment[0].BaseAddress.QuadPart = 0;
    o.segment[1] = mm_segment_memory(0, MM_MB);
    o.segment[2] = mm_segment_aperture(MM_MB);
    o.segment_count = 3;
    CHECK_RULE("SEG-029", gives(&o, STATUS_SUCCESS, "SEG-029", 1, "segments 1 and 2"));
    o = mm_plain_options();
    o.segment[0].NumUEFIFrameBufferRanges = 3;
    o.segment[0].Flags.DirectFlip = o.segment[0].Flags.VprSupported =
        o.segment[0].Flags.EncryptedPagingSupported = 1;
    o.segment[0].NumVprSupported = 1;
    CHECK_RULE("SEG-062", gives(&o, STATUS_SUCCESS, "SEG-016", 0, NULL));
}

TEST(table_is_read_by_stride)
{
    struct mm_options o = mm_plain_options();

    o.stride = sizeof(DXGK_SEGMENTDESCRIPTOR4) + 40;
    o.segment[1].Size = 4097;
    CHECK_RULE("SEG-010", finds(&o, "SEG-030", "segment 2"));
    o.segment[1].Size = 4096;
    CHECK_RULE("SEG-010", gives(&o, STATUS_SUCCESS, "SEG-030", 0, NULL));
}

TEST(table_checks_paging_buffer)
{
    struct mm_options o = mm_plain_options();

    o.paging_segment = 1;
    CHECK_RULE("PAGE-002", gives(&o, REFUSED, "PAGE-002", 1, NULL));
    o.paging_segment = 3;
    CHECK_RULE("PAGE-002", gives(&o, REFUSED, "PAGE-002", 1, NULL));
    o.paging_segment = 2;
    CHECK_RULE("PAGE-002", gives(&o, STATUS_SUCCESS, "PAGE-002", 0, NULL));
    o = mm_plain_options();
    o.no_paging_buffer = true;
    CHECK_RULE("PAGE-004", finds(&o, "PAGE-004", NULL));
}

TEST(table_checks_bad_ranges)
{
    struct mm_options o = mm_plain_options();
    struct vidmm_bad_range bad[2] = {
        {.segment = 1, .range = {.SegmentOffset = 0x800, .SizeInBytes = 4096}},
        {.segment = 1, .range = {.SegmentOffset = 0, .SizeInBytes = 8192}}};

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

/* ---- sizes ---- */

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

TEST(sizes_follow_the_formulas)
{
    struct mm_options o = mm_plain_options();
    const uint64_t mb = MM_MB;

    o.ram_bytes = 1024 * mb;
    o.segment[0] = mm_segment_memory(MM_BASE, 256 * mb);
    o.segment[1] = mm_segment_memory(MM_BASE + 256 * mb, 64 * mb);
    o.segment[1].Flags.PopulatedFromSystemMemory = 1;
    o.segment[2] = mm_segment_aperture(2048 * mb);
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

    o = mm_plain_options();
    o.ram_bytes = 100 * mb;
    o.segment[1] = mm_segment_aperture(1024 * mb);
    CHECK_RULE("SEG-069", sizes(&o, 16 * mb, 0, 64 * mb)); /* half would be 50 */
    o.ram_bytes = 1024 * mb;
    CHECK_RULE("SEG-069", sizes(&o, 16 * mb, 0, 512 * mb));
    o.segment[0].Flags.PopulatedFromSystemMemory = 1;
    o.segment[0].Size = 800 * mb;
    CHECK_RULE("SEG-070", sizes(&o, 0, 512 * mb, 0)); /* not above what is available */
}

/* ---- budget groups ---- */

TEST_WITH(mm_bare, group_defaults, *options = mm_plain_options())
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
