/* SPDX-License-Identifier: MIT */
/* What is taken instead where a driver's description of segments is odd. */
#include "bus/device.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"

#define OK(call) CHECK(NT_SUCCESS(call))

static struct vidmm *create(struct mm_rig *rig)
{
    if (rig->vidmm)
        vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
    OK(mm_create_vidmm(rig));
    return rig->vidmm;
}

static bool refused(struct mm_rig *rig, const char *rule)
{
    uint64_t before = mm_violations(rig, rule);

    if (rig->vidmm)
        vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
    CHECK(mm_create_vidmm(rig) == STATUS_DEVICE_CONFIGURATION_ERROR);
    rig->vidmm = NULL;
    return mm_violations(rig, rule) == before + 1;
}

static void end(struct mm_rig *rig)
{
    if (rig->vidmm)
        vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
}

TEST_WITH(mm_bare, flags_that_are_odd_are_dropped, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;
    const struct vidmm_segment *s;

    o->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 0);
    o->segment[0].Flags.ReservedSysMem = 1;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-053", !s->flags.ReservedSysMem && s->flags.CpuVisible);
    o->segment[0].Flags.Value = 0;
    o->segment[0].Flags.CpuVisible = o->segment[0].Flags.SupportsCpuHostAperture =
        o->segment[0].Flags.SupportsCachedCpuHostAperture = 1;
    o->segment[0].CpuHostAperture.SizeInPages = 16;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-054", s->flags.CpuVisible && !s->flags.SupportsCpuHostAperture &&
                              !s->flags.SupportsCachedCpuHostAperture);
    CHECK(mm_violations(rig, "SEG-055") == 0 && s->window_bytes == 16 * MM_MB);
    o->segment[0] = mm_segment_memory(MM_BASE, 16 * MM_MB);
    o->segment[0].Flags.SupportsCachedCpuHostAperture = 1;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-055", !s->flags.SupportsCachedCpuHostAperture && s->window_bytes == 0);
    o->segment[0].Flags.Value = 0;
    o->segment[0].Flags.CacheCoherent = o->segment[0].Flags.LocalBudgetGroup =
        o->segment[0].Flags.NonLocalBudgetGroup = 1;
    o->segment[0].Flags.PreservedDuringHibernate = 1;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-046", !s->flags.CacheCoherent);
    CHECK_RULE("SEG-068", s->flags.LocalBudgetGroup && !s->flags.NonLocalBudgetGroup);
    CHECK_RULE("SEG-051", !s->flags.PreservedDuringHibernate && !s->flags.PreservedDuringStandby);
    end(rig);
}

TEST_WITH(mm_bare, sizes_that_are_odd_are_rounded, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;
    const struct vidmm_segment *s;

    o->segment[0].Size = 16 * MM_MB + 4095;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-030", s->bytes == 16 * MM_MB && s->free.free_units == 16 * 256);
    o->segment[0].Size = 1;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-030", s->bytes == 0 && s->free.free_units == 0);
    o->segment[0] = mm_segment_memory(MM_BASE, 4 * 65536 + 4096);
    o->segment[0].Flags.Use64KBPages = 1;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-031", s->bytes == 4 * 65536 && s->page_bytes == 65536);
    o->segment[0] = mm_segment_memory(MM_BASE + 4096, 4 * 65536);
    o->segment[0].Flags.Use64KBPages = 1;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-031", s->bytes == 4 * 65536 && s->page_bytes == 4096 && !s->flags.Use64KBPages);
    o->segment[0] = mm_segment_memory(MM_BASE, 4 * 65536);
    o->segment[1] = mm_segment_aperture(4 * 65536);
    o->segment[1].Flags.Use64KBPages = 1;
    CHECK(create(rig)->segment[2].page_bytes == PAGE_BYTES); /* of memory alone */
    o->segment[1].Flags.Use64KBPages = 0;
    o->segment[0].Size = (uint64_t)1 << 62;
    CHECK_RULE("SEG-030", refused(rig, "SEG-030"));
    o->segment[0].Size = ((uint64_t)1 << 62) - 4096;
    CHECK(create(rig)->segment[1].bytes == ((uint64_t)1 << 62) - 4096);
    o->segment[0] = mm_segment_visible(MM_BASE, (uint64_t)1 << 62, 60 * (uint64_t)MM_MB);
    CHECK_RULE("SEG-030", create(rig)->segment[1].bytes == 4 * MM_MB); /* what the BAR has */
    end(rig);
}

TEST_WITH(mm_bare, commit_limits_are_of_apertures, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;

    o->segment[0].CommitLimit = o->segment[1].CommitLimit = 4 * MM_MB + 100;
    CHECK_RULE("SEG-032", create(rig)->segment[1].commit_limit == 16 * MM_MB);
    CHECK_RULE("SEG-033", rig->vidmm->segment[2].commit_limit == 4 * MM_MB);
    o->segment[1].CommitLimit = 0;
    CHECK_RULE("SEG-034", create(rig)->segment[2].commit_limit == 64 * MM_MB);
    o->segment[1].CommitLimit = 64 * MM_MB;
    CHECK(create(rig)->segment[2].commit_limit == 64 * MM_MB);
    o->segment[1].CommitLimit = 64 * MM_MB - 1;
    CHECK(create(rig)->segment[2].commit_limit == 64 * MM_MB - PAGE_BYTES);
    end(rig);
}

TEST_WITH(mm_bare, the_end_of_what_is_preserved, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;

    o->segment[0].Flags.PreservedDuringStandby =
        o->segment[0].Flags.PartiallyPreservedDuringHibernate = 1;
    o->segment[0].SystemMemoryEndAddress = 16 * MM_MB - 1;
    CHECK_RULE("SEG-042", create(rig)->segment[1].flags.PartiallyPreservedDuringHibernate &&
                              mm_violations(rig, "SEG-042") == 0);
    o->segment[0].SystemMemoryEndAddress = 16 * MM_MB;
    CHECK_RULE("SEG-042", !create(rig)->segment[1].flags.PartiallyPreservedDuringHibernate &&
                              mm_violations(rig, "SEG-042") == 1);
    CHECK_RULE("SEG-051", rig->vidmm->segment[1].flags.PreservedDuringStandby &&
                              mm_violations(rig, "SEG-051") == 0);
    end(rig);
}

/* ---- windows ---- */

TEST_WITH(mm_bare, windows_end_with_their_resource, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;
    const struct vidmm_segment *s;

    o->segment[0] = mm_segment_visible(MM_BASE, 16 * MM_MB, 48 * (uint64_t)MM_MB);
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-028", s->flags.CpuVisible && s->bar == 0 && !s->in_ram &&
                              s->bar_offset == 48 * MM_MB && s->window_bytes == 16 * MM_MB);
    CHECK(s->cpu.value == bus_device_bar(rig->base.device, 0).value + 48 * (uint64_t)MM_MB);
    o->segment[0].CpuTranslatedAddress.QuadPart += PAGE_BYTES;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-028",
               !s->flags.CpuVisible && s->window_bytes == 0 && mm_violations(rig, "SEG-028") == 1);
    o->segment[0].CpuTranslatedAddress.QuadPart = -(LONGLONG)PAGE_BYTES; /* before it */
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-028", !s->flags.CpuVisible && mm_violations(rig, "SEG-028") == 2);
    o->segment[0] = mm_segment_visible(MM_BASE, 8 * MM_MB, 0);
    o->segment[1] = mm_segment_visible(MM_BASE + 16 * (uint64_t)MM_MB, 8 * MM_MB,
                                       8 * (uint64_t)MM_MB);
    o->segment[2] = mm_segment_aperture(MM_MB);
    o->segment_count = 3;
    create(rig); /* side by side */
    CHECK_RULE("SEG-028", mm_violations(rig, "SEG-028") == 2);
    o->segment[1].CpuTranslatedAddress.QuadPart -= PAGE_BYTES;
    create(rig);
    CHECK_RULE("SEG-028", mm_violations(rig, "SEG-028") == 3);
    CHECK(rig->vidmm->segment[2].flags.CpuVisible && rig->vidmm->segment[2].window_bytes);
    end(rig);
}

/* Contiguous memory of the driver may stand for a BAR. */
TEST_WITH(mm_bare, memory_of_the_driver_is_a_window, *options = mm_plain_options())
{
    const struct ram_request request = {.pages = 16, .owner = RAM_CONTIGUOUS},
                             other = {.pages = 1, .owner = RAM_HOST};
    struct mm_options *o = &rig->options;
    struct page_number first, behind;
    const struct vidmm_segment *s;
    LONGLONG address;

    CHECK(ram_take_contiguous(rig->base.ram, &request, &first));
    CHECK(ram_take_contiguous(rig->base.ram, &other, &behind));
    address = (LONGLONG)(page_phys(first).value - bus_device_bar(rig->base.device, 0).value);
    o->segment[0] = mm_segment_visible(MM_BASE, 16 * PAGE_BYTES, (uint64_t)address);
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-028", s->in_ram && s->flags.CpuVisible &&
                              s->cpu.value == page_phys(first).value &&
                              s->window_bytes == 16 * PAGE_BYTES);
    o->segment[0].Size = 17 * PAGE_BYTES;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-028", !s->in_ram && !s->flags.CpuVisible && mm_violations(rig, "SEG-028") == 1);
    o->segment[0].Size = 15 * PAGE_BYTES;
    o->segment[0].CpuTranslatedAddress.QuadPart = address + 8;
    CHECK_RULE("SEG-028", !create(rig)->segment[1].in_ram && mm_violations(rig, "SEG-028") == 2);
    /* a size that was never set */
    o->segment[0].CpuTranslatedAddress.QuadPart = address + 4 * (LONGLONG)PAGE_BYTES;
    o->segment[0].Size = 0;
    s = &create(rig)->segment[1];
    CHECK_RULE("SEG-030", s->bytes == 12 * PAGE_BYTES && s->in_ram);
    /* a host aperture is no such memory */
    o->segment[0] = mm_segment_memory(MM_BASE, 16 * PAGE_BYTES);
    o->segment[0].Flags.SupportsCpuHostAperture = 1;
    o->segment[0].CpuHostAperture.SizeInPages = 4;
    o->segment[0].CpuHostAperture.PhysicalAddress = (uint64_t)address;
    o->segment_count = 1;
    o->compute_only = true;
    CHECK_RULE("SEG-057", !create(rig)->segment[1].flags.SupportsCpuHostAperture &&
                              mm_violations(rig, "SEG-057") == 1);
    end(rig);
    ram_give_contiguous(rig->base.ram, first, 16);
    ram_give_contiguous(rig->base.ram, behind, 1);
}

/* ---- several segments ---- */

TEST_WITH(mm_bare, overlaps_are_told_pair_by_pair, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;

    o->segment[0] = mm_segment_memory(MM_BASE, 2 * MM_MB);
    o->segment[1] = mm_segment_memory(MM_BASE + 2 * (uint64_t)MM_MB, MM_MB);
    o->segment[2] = mm_segment_aperture(MM_MB);
    o->segment[2].BaseAddress.QuadPart = MM_BASE; /* of another kind */
    o->segment_count = 3;
    create(rig);
    CHECK_RULE("SEG-029", mm_violations(rig, "SEG-029") == 0);
    CHECK(rig->vidmm->aperture == 3 && rig->vidmm->segment_count == 3);
    o->segment[1].BaseAddress.QuadPart -= PAGE_BYTES;
    create(rig);
    CHECK_RULE("SEG-029", mm_violations(rig, "SEG-029") == 1);
    end(rig);
}

TEST_WITH(mm_bare, the_first_aperture_is_the_one, *options = mm_plain_options())
{
    struct mm_options *o = &rig->options;

    o->version = DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    o->segment[2] = mm_segment_aperture(MM_MB);
    o->segment_count = 3;
    create(rig);
    CHECK_RULE("SEG-022", rig->vidmm->aperture == 2 && mm_violations(rig, "SEG-022") == 0);
    rig->options.version = DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    create(rig);
    CHECK_RULE("SEG-022", rig->vidmm->aperture == 2 && mm_violations(rig, "SEG-022") == 1);
    o->segment_count = 1;
    o->physical = true; /* without page tables either */
    CHECK_RULE("SEG-022", refused(rig, "SEG-022"));
    end(rig);
}

TEST_WITH(mm_bare, bad_ranges_are_whole_pages_inside, *options = mm_plain_options())
{
    struct vidmm_bad_range bad = {.segment = 1, .range = {.SegmentOffset = 4096, .SizeInBytes = 0}};
    struct mm_options *o = &rig->options;

    o->bad_range = &bad;
    o->bad_range_count = 1;
    CHECK_RULE("SEG-061", refused(rig, "SEG-061"));
    bad.range.SizeInBytes = 4097;
    CHECK_RULE("SEG-061", refused(rig, "SEG-061"));
    bad.range.SizeInBytes = 8192;
    create(rig);
    CHECK_RULE("SEG-060", rig->vidmm->segment[1].bad_bytes == 8192 &&
                              rig->vidmm->segment[1].free.free_units == 16 * 256 - 2 &&
                              !extent_is_free(&rig->vidmm->segment[1].free, 1, 1) &&
                              extent_is_free(&rig->vidmm->segment[1].free, 3, 1));
    CHECK(budget_capacity(rig->vidmm, 1) == 16 * 256 - 2);
    bad.range.SegmentOffset = 16 * MM_MB - 8192;
    create(rig); /* the last two pages */
    bad.range.SegmentOffset += 4096;
    CHECK_RULE("SEG-042", refused(rig, "SEG-042"));
    end(rig);
}

/* Each request of memory for the table fails in turn. */
TEST_WITH(mm_bare, a_table_survives_every_fault, *options = mm_plain_options())
{
    struct vidmm_bad_range bad = {.segment = 1,
                                  .range = {.SegmentOffset = 4096, .SizeInBytes = 4096}};
    struct util_heap *heap = &rig->base.sim->heap;
    NTSTATUS status = STATUS_NO_MEMORY;
    unsigned nth;

    rig->options.bad_range = &bad;
    rig->options.bad_range_count = 1;
    create(rig);
    end(rig);
    for (nth = 1; status == STATUS_NO_MEMORY; nth++) {
        uint64_t blocks = heap->live_blocks;

        CHECK(nth < 60);
        heap->fail_at = heap->requests + nth;
        status = mm_create_vidmm(rig);
        heap->fail_at = 0;
        if (status == STATUS_NO_MEMORY)
            CHECK(heap->live_blocks == blocks);
    }
    OK(status);
    CHECK(nth > 4);
    end(rig);
}
