/* SPDX-License-Identifier: MIT */
/*
 * Checks the driver's segment table once, at start; afterwards it does not change until the adapter
 * stops (SEG-021). A violation is reported once, with the segment and the member, and fails the
 * start (SEG-016).
 */
#include <inttypes.h>

#include "vidmm/segment/segment_table.h"
#include "bus/device.h"
#include "ddi/ddi.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/extent.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_config.h"
#include "vidmm/record/vidmm_record.h"

#define LARGE_PAGE 65536u

static const DXGK_SEGMENTDESCRIPTOR4 *descriptor_of(const DXGK_QUERYSEGMENTOUT4 *table, UINT index)
{
    return (const void *)(table->pSegmentDescriptor + index * table->SegmentDescriptorStride);
}

static bool aligned(uint64_t value, uint64_t to)
{
    return (value & (to - 1)) == 0;
}

/* Report a breach with which the host cannot go on. */
#define BREACH(rule, ...)                  \
    do {                                   \
        verify_refusal(rule, __VA_ARGS__); \
        return false;                      \
    } while (0)

bool segment_bar_of(const struct bus_device *device, uint64_t address, uint64_t bytes,
                    unsigned *bar, uint64_t *offset)
{
    const struct dxgk_device_description *description = bus_device_description(device);

    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        uint64_t base = bus_device_bar(device, i).value;

        if (description->bar[i].kind != DXGK_BAR_MEMORY || address < base)
            continue;
        if (range_inside(address - base, bytes, description->bar[i].bytes)) {
            *bar = i;
            *offset = address - base;
            return true;
        }
    }
    return false;
}

/* Is it contiguous RAM that the driver allocated? Looks at every page: once per
 * segment and start. */
static bool is_driver_memory(const struct ram *ram, uint64_t address, uint64_t bytes)
{
    if (address & (PAGE_BYTES - 1) || !range_inside(address, bytes, ram_highest(ram).value + 1))
        return false;
    for (uint64_t page = 0; page < bytes >> PAGE_BITS; page++)
        if (ram_page_owner(ram, (struct page_number){(address >> PAGE_BITS) + page}) !=
            RAM_CONTIGUOUS)
            return false;
    return true;
}

/* A finding with which the host goes on; the caller says how. */
#define FINDING(rule, ...) (vidmm->refused |= verify_finding(rule, __VA_ARGS__))
/* The same for a clause that is only expected while others of the rule are refused. */
#define EXPECTED(rule, ...) (vidmm->refused |= verify_expected(rule, __VA_ARGS__))

static bool check_flags(struct vidmm *vidmm, UINT id, DXGK_SEGMENTDESCRIPTOR4 *d)
{
    DXGK_SEGMENTFLAGS *f = &d->Flags;

    if (f->Agp)
        BREACH("SEG-013", "segment %u: Flags.Agp is set", id);
    if (f->ReservedSysMem) {
        FINDING("SEG-053", "segment %u: Flags.ReservedSysMem is set", id);
        f->ReservedSysMem = 0;
    }
    if (f->SupportsCpuHostAperture && f->CpuVisible) {
        FINDING("SEG-054", "segment %u: Flags.SupportsCpuHostAperture together with CpuVisible", id);
        f->SupportsCpuHostAperture = f->SupportsCachedCpuHostAperture = 0;
    }
    if (f->SupportsCachedCpuHostAperture && !f->SupportsCpuHostAperture) {
        FINDING("SEG-055",
                "segment %u: Flags.SupportsCachedCpuHostAperture without SupportsCpuHostAperture",
                id);
        f->SupportsCachedCpuHostAperture = 0;
    }
    return true;
}

/* How much of a CPU visible memory segment is really there: bytes from its CPU address to the end
 * of the memory resource, or of the driver's contiguous memory. 0: nothing. */
static uint64_t bytes_there(const struct vidmm *vidmm, const DXGK_SEGMENTDESCRIPTOR4 *d)
{
    const uint64_t address = (uint64_t)d->CpuTranslatedAddress.QuadPart;
    unsigned bar;
    uint64_t offset;

    if (d->Flags.Aperture || !d->Flags.CpuVisible)
        return 0;
    if (vidmm->config.device &&
        segment_bar_of(vidmm->config.device, address, PAGE_BYTES, &bar, &offset))
        return bus_device_description(vidmm->config.device)->bar[bar].bytes - offset;
    for (uint64_t bytes = 0;; bytes += PAGE_BYTES)
        if (!is_driver_memory(vidmm->config.ram, address + bytes, PAGE_BYTES))
            return bytes;
}

/* SEG-030. A size that the driver never set is what its memory held before; the host takes what is
 * there, if it can see that, else whole pages. */
static bool check_size(struct vidmm *vidmm, UINT id, DXGK_SEGMENTDESCRIPTOR4 *d)
{
    if (d->Size == 0 || !aligned(d->Size, PAGE_BYTES) || d->Size >> 62) {
        const uint64_t said = d->Size, there = bytes_there(vidmm, d);

        d->Size = there && (said == 0 || there < said) ? there : align_down(said, PAGE_BYTES);
        if (d->Size >> 62)
            BREACH("SEG-030", "segment %u: Size 0x%" PRIx64 " is beyond any address", id, said);
        EXPECTED("SEG-030",
                 "segment %u: Size is 0x%" PRIx64 ", no number of whole pages; 0x%" PRIx64
                 " is taken",
                 id, said, (uint64_t)d->Size);
    }
    if (d->Flags.Use64KBPages && (!aligned(d->Size, LARGE_PAGE) ||
                                  !aligned((uint64_t)d->BaseAddress.QuadPart, LARGE_PAGE))) {
        FINDING("SEG-031",
                "segment %u: Use64KBPages with Size 0x%" PRIx64 " and BaseAddress 0x%" PRIx64, id,
                (uint64_t)d->Size, (uint64_t)d->BaseAddress.QuadPart);
        d->Size = align_down(d->Size, LARGE_PAGE);
        d->Flags.Use64KBPages = aligned((uint64_t)d->BaseAddress.QuadPart, LARGE_PAGE);
    }
    if (d->Flags.PartiallyPreservedDuringHibernate &&
        (d->SystemMemoryEndAddress == 0 || d->SystemMemoryEndAddress >= d->Size)) {
        EXPECTED("SEG-042", "segment %u: SystemMemoryEndAddress is 0x%" PRIx64, id,
                 (uint64_t)d->SystemMemoryEndAddress);
        d->Flags.PartiallyPreservedDuringHibernate = 0;
    }
    return true;
}

/* Through which addresses the CPU reaches a memory segment. */
struct window {
    const char *rule;
    uint64_t address, bytes;
};

static struct window window_of(const DXGK_SEGMENTDESCRIPTOR4 *d)
{
    if (d->Flags.CpuVisible)
        return (struct window){"SEG-028", (uint64_t)d->CpuTranslatedAddress.QuadPart, d->Size};
    return (struct window){"SEG-057", d->CpuHostAperture.PhysicalAddress,
                           d->CpuHostAperture.SizeInPages *
                               (d->Flags.Use64KBPages ? (uint64_t)LARGE_PAGE : PAGE_BYTES)};
}

static bool window_is_there(struct vidmm *vidmm, struct vidmm_segment *segment,
                            const DXGK_SEGMENTDESCRIPTOR4 *d, const struct window *window)
{
    if (!vidmm->config.device || segment_bar_of(vidmm->config.device, window->address,
                                                window->bytes, &segment->bar, &segment->bar_offset))
        return true;
    segment->in_ram = d->Flags.CpuVisible &&
                      is_driver_memory(vidmm->config.ram, window->address, window->bytes);
    return segment->in_ram;
}

/* The range through which the CPU accesses a memory segment: in a BAR, or driver RAM; the whole
 * segment, or a movable window (CpuHostAperture). A segment whose range is not there is taken as
 * one that the CPU does not reach. */
static void check_window(struct vidmm *vidmm, UINT id, DXGK_SEGMENTDESCRIPTOR4 *d)
{
    struct vidmm_segment *segment = &vidmm->segment[id];
    struct window window;

    if (d->Flags.Aperture || (!d->Flags.CpuVisible && !d->Flags.SupportsCpuHostAperture) ||
        d->Size == 0)
        return; /* SEG-027 */
    window = window_of(d);
    if (window.bytes == 0 || !window_is_there(vidmm, segment, d, &window)) {
        if (window.bytes == 0)
            FINDING(window.rule, "segment %u: CpuHostAperture.SizeInPages is 0", id);
        else
            FINDING(window.rule,
                    "segment %u: CPU range 0x%" PRIx64 " + 0x%" PRIx64
                    " lies in no memory resource, nor in contiguous memory of the driver's",
                    id, window.address, window.bytes);
        d->Flags.CpuVisible = d->Flags.SupportsCpuHostAperture =
            d->Flags.SupportsCachedCpuHostAperture = 0;
        return;
    }
    for (UINT other = 1; other < id; other++) {
        const struct vidmm_segment *before = &vidmm->segment[other];

        if (before->window_bytes &&
            ranges_overlap(window.address, window.bytes, before->cpu.value, before->window_bytes))
            FINDING(window.rule, "segment %u: CPU range overlaps that of segment %u", id, other);
    }
    segment->cpu.value = window.address;
    segment->window_bytes = window.bytes;
}

/* Flags whose violation is reported and then ignored. */
static DXGK_SEGMENTFLAGS tolerate(UINT id, DXGK_SEGMENTFLAGS f)
{
    UINT preserved = f.PreservedDuringStandby * 4u + f.PreservedDuringHibernate * 2u +
                     f.PartiallyPreservedDuringHibernate;

    if (f.CacheCoherent && !f.Aperture) {
        WARNING("SEG-046", "segment %u: Flags.CacheCoherent on a memory segment", id);
        f.CacheCoherent = 0;
    }
    if (preserved != 0 && preserved != 4 && preserved != 5 && preserved != 6) {
        VIOLATION("SEG-051", "segment %u: preserved flags %u%u%u", id, preserved >> 2,
                  preserved >> 1 & 1, preserved & 1);
        f.PreservedDuringStandby = f.PreservedDuringHibernate =
            f.PartiallyPreservedDuringHibernate = 0;
    }
    if (f.LocalBudgetGroup && f.NonLocalBudgetGroup) {
        VIOLATION("SEG-068", "segment %u: LocalBudgetGroup together with NonLocalBudgetGroup", id);
        f.NonLocalBudgetGroup = 0;
    }
    return f;
}

static bool check_segment(struct vidmm *vidmm, UINT id, const DXGK_SEGMENTDESCRIPTOR4 *answer)
{
    struct vidmm_segment *segment = &vidmm->segment[id];
    DXGK_SEGMENTDESCRIPTOR4 d = *answer;

    segment->id = id;
    if (!check_flags(vidmm, id, &d) || !check_size(vidmm, id, &d))
        return false;
    check_window(vidmm, id, &d);
    segment->flags = tolerate(id, d.Flags);
    segment->base = (uint64_t)d.BaseAddress.QuadPart;
    segment->bytes = d.Size;
    segment->page_bytes = d.Flags.Use64KBPages && !d.Flags.Aperture ? LARGE_PAGE : PAGE_BYTES;
    segment->commit_limit = d.Size; /* SEG-032 */
    if (d.Flags.Aperture && d.CommitLimit != 0 && d.CommitLimit < d.Size)
        segment->commit_limit = align_down(d.CommitLimit, PAGE_BYTES);
    return true;
}

/* Checks that involve several segments. */
static bool check_table(struct vidmm *vidmm, const DXGK_QUERYSEGMENTOUT4 *table)
{
    UINT apertures = 0;

    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        struct vidmm_segment *segment = &vidmm->segment[id];

        if (segment_is_aperture(segment)) {
            if (apertures++ == 0)
                vidmm->aperture = id;
            continue;
        }
        for (UINT other = 1; other < id; other++) {
            const struct vidmm_segment *before = &vidmm->segment[other];

            if (!segment_is_aperture(before) &&
                ranges_overlap(segment->base, segment->bytes, before->base, before->bytes))
                WARNING("SEG-029", "segments %u and %u overlap at 0x%" PRIx64, other, id,
                        segment->base);
        }
    }
    if (vidmm->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0 &&
        (apertures > 1 || (apertures == 0 && !vidmm->ddi->compute_only))) {
        if (apertures == 0 && !vidmm->config.gpu_mmu)
            BREACH("SEG-022", "no aperture segment, and no GPU virtual addresses");
        EXPECTED("SEG-022", "%u aperture segments", apertures);
    }
    for (UINT id = 1; id < vidmm->segment_count; id++)
        if (vidmm->segment[id].flags.SupportsCpuHostAperture)
            FINDING("SEG-093", "segment %u: Flags.SupportsCpuHostAperture, but %u segments follow",
                    id, vidmm->segment_count - id);
    if (table->PagingBufferSegmentId > vidmm->segment_count ||
        (table->PagingBufferSegmentId &&
         !segment_is_aperture(&vidmm->segment[table->PagingBufferSegmentId])))
        BREACH("PAGE-002", "segment %u: PagingBufferSegmentId names no aperture segment",
               table->PagingBufferSegmentId);
    if (table->PagingBufferSize == 0 && vidmm->segment_count)
        FINDING("PAGE-004", "PagingBufferSize is 0");
    return true;
}

/* SEG-060, SEG-061: take invalid ranges out of the free pages. */
static bool take_bad_ranges(struct vidmm *vidmm, const struct vidmm_config *config,
                            bool *out_of_memory)
{
    for (UINT i = 0; i < config->bad_range_count; i++) {
        const struct vidmm_bad_range *bad = &config->bad_range[i];
        struct vidmm_segment *segment = &vidmm->segment[bad->segment];
        uint64_t offset = bad->range.SegmentOffset;
        uint64_t bytes = bad->range.SizeInBytes;

        if (!aligned(offset, segment->page_bytes) || !aligned(bytes, segment->page_bytes) ||
            bytes == 0)
            BREACH("SEG-061",
                   "segment %u: invalid memory range 0x%" PRIx64 " + 0x%" PRIx64
                   " is not in whole pages",
                   bad->segment, offset, bytes);
        if (!range_inside(offset, bytes, segment->bytes) ||
            !extent_is_free(&segment->free, offset >> PAGE_BITS, bytes >> PAGE_BITS))
            BREACH("SEG-042",
                   "segment %u: invalid memory range 0x%" PRIx64 " + 0x%" PRIx64
                   " overlaps or lies outside",
                   bad->segment, offset, bytes);
        if (!extent_take_fixed(&segment->free, offset >> PAGE_BITS, bytes >> PAGE_BITS)) {
            *out_of_memory = true;
            return false;
        }
        segment->bad_bytes += bytes;
    }
    return true;
}

/* The banks of one segment, in whole pages; NULL: it has none, or there is no memory for them. */
static bool take_banks(struct vidmm_segment *segment, const struct vidmm_config *config)
{
    UINT count = 0;

    for (UINT i = 0; i < config->bank_count; i++)
        count += config->bank[i].segment == segment->id;
    if (count == 0)
        return true;
    segment->bank_end = util_alloc(count * sizeof(*segment->bank_end));
    if (!segment->bank_end)
        return false;
    for (UINT i = 0; i < config->bank_count; i++)
        if (config->bank[i].segment == segment->id)
            segment->bank_end[segment->bank_count++] = config->bank[i].end >> PAGE_BITS;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* SEG-069..SEG-071 */
void vidmm_segment_sizes(const struct vidmm *vidmm, D3DKMT_SEGMENTSIZEINFO *info)
{
    uint64_t available = ram_bytes(vidmm->config.ram) / 2;
    uint64_t video = 0;
    uint64_t system = 0;
    uint64_t aperture = 0;

    if (available < 64u << 20)
        available = 64u << 20;
    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        if (segment_is_aperture(segment))
            aperture += segment->commit_limit;
        else if (segment->flags.PopulatedFromSystemMemory)
            system += segment->bytes;
        else
            video += segment->bytes;
    }
    system = least(system, available);
    if (vidmm->config.aperture_commit_limit)
        aperture = least(aperture, vidmm->config.aperture_commit_limit); /* SEG-036 */
    info->DedicatedVideoMemorySize = video;
    info->DedicatedSystemMemorySize = system;
    info->SharedSystemMemorySize = least(aperture, available - system);
}

NTSTATUS segment_table_init(struct vidmm *vidmm, const struct vidmm_config *config)
{
    const DXGK_QUERYSEGMENTOUT4 *table = &config->segments;
    D3DKMT_SEGMENTSIZEINFO sizes;
    bool out_of_memory = false, good = true;

    if (config->segment_count >= VIDMM_MAX_SEGMENTS) {
        verify_refusal("SEG-019", "%u segments", config->segment_count);
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    if (config->segment_count == 0 && !vidmm->ddi->compute_only) {
        verify_refusal("SEG-020", "no segments");
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    for (UINT id = 1; id <= config->segment_count; id++) {
        struct vidmm_segment *segment = &vidmm->segment[id];

        extent_tree_init(&segment->free);
        extent_tree_init(&segment->window_free);
        list_init(&segment->demoted);
        vidmm->segment_count = id;
        if (!check_segment(vidmm, id, descriptor_of(table, id - 1))) {
            good = false;
            continue;
        }
        if ((segment->bytes && !extent_give(&segment->free, 0, segment->bytes >> PAGE_BITS)) ||
            !take_banks(segment, config) ||
            (segment->flags.SupportsCpuHostAperture &&
             !extent_give(&segment->window_free, 0, segment->window_bytes / segment->page_bytes)))
            return STATUS_NO_MEMORY;
    }
    if (!good || !check_table(vidmm, table) || vidmm->refused)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    if (!take_bad_ranges(vidmm, config, &out_of_memory))
        return out_of_memory ? STATUS_NO_MEMORY : STATUS_DEVICE_CONFIGURATION_ERROR;
    vidmm_segment_sizes(vidmm, &sizes);
    vidmm->aperture_limit = sizes.SharedSystemMemorySize;
    vidmm->system_limit = ram_bytes(vidmm->config.ram) / 2;
    if (vidmm->system_limit < 64u << 20)
        vidmm->system_limit = 64u << 20;
    return STATUS_SUCCESS;
}

void segment_table_finish(struct vidmm *vidmm)
{
    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        extent_tree_finish(&vidmm->segment[id].free);
        extent_tree_finish(&vidmm->segment[id].window_free);
        util_free(vidmm->segment[id].bank_end);
        vidmm->segment[id].bank_end = NULL;
    }
}
