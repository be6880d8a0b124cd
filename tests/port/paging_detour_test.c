/* SPDX-License-Identifier: MIT */
/* Evictions of a WDDM 1.x driver: straight to system memory, or through the aperture that it named for them. */
#include "port/support/paged.h"
#include "port/support/portions.h"

#include <string.h>

#define MIB           PORTIONS_MIB
#define APERTURE_BASE (1ll << 32)
#define MAP           DXGK_OPERATION_MAP_APERTURE_SEGMENT
#define UNMAP         DXGK_OPERATION_UNMAP_APERTURE_SEGMENT
#define TRANSFER      DXGK_OPERATION_TRANSFER

static struct portions_gpu gpu;
static HANDLE driver;
static bool full; /* the aperture is in use */

static NTSTATUS render(unsigned i)
{
    portions_element(&gpu, 0, 0, i + 1, 0);
    return portions_render(&gpu, 64, 1);
}

/* Two that do not fit beside each other, and one that may fill the aperture. */
static void evict_one(struct probe *p)
{
    UINT eviction = paged.eviction;

    (void)p;
    portions_open(&gpu);
    if (full) {
        paged.segments = 2;
        paged.eviction = 0;
        portions_allocate(&gpu, 2, 14 * MIB);
        CHECK(render(2) == STATUS_SUCCESS);
        portions_finish(&gpu);
    }
    paged.segments = 1;
    paged.eviction = eviction;
    portions_allocate(&gpu, 0, 9 * MIB);
    driver = paged.allocation;
    portions_allocate(&gpu, 1, 9 * MIB);
    CHECK(render(0) == STATUS_SUCCESS);
    portions_finish(&gpu);
    CHECK(render(1) == STATUS_SUCCESS);
    portions_finish(&gpu);
    CHECK(render(0) == STATUS_SUCCESS); /* and back, straight */
    portions_finish(&gpu);
    portions_close(&gpu);
}

static void run(UINT eviction, bool without_room)
{
    struct probe *p = portions_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false);
    struct probe_client *client;

    paged_watch(p);
    paged.eviction = eviction;
    full = without_room;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_clients_begin(p);
    client = probe_client_run(p, evict_one);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    portions_end(p, client);
}

static const DXGKARG_BUILDPAGINGBUFFER *first_of(DXGK_BUILDPAGINGBUFFER_OPERATION kind,
                                                 unsigned *index)
{
    for (unsigned i = 0; i < paged.count; i++) {
        const DXGKARG_BUILDPAGINGBUFFER *args = &paged.op[i].args;
        HANDLE h = kind == MAP     ? args->MapApertureSegment.hAllocation
                   : kind == UNMAP ? args->UnmapApertureSegment.hAllocation
                                   : args->Transfer.hAllocation;

        if (args->Operation == kind && h == driver) {
            *index = i;
            return args;
        }
    }
    return NULL;
}

TEST(an_eviction_goes_through_the_aperture_that_is_named_for_it)
{
    const DXGKARG_BUILDPAGINGBUFFER *map, *transfer, *unmap;
    unsigned mapped = 0, moved = 0, unmapped = 0, back = 0;

    run(2, false);
    map = first_of(MAP, &mapped);
    transfer = first_of(TRANSFER, &moved);
    unmap = first_of(UNMAP, &unmapped);
    CHECK_RULE("PAGE-039", map && transfer && unmap && mapped < moved && moved < unmapped);
    CHECK_RULE("PAGE-039", map->MapApertureSegment.SegmentId == 2 &&
                               map->MapApertureSegment.NumberOfPages == 9 * MIB / 4096 &&
                               unmap->UnmapApertureSegment.SegmentId == 2 &&
                               unmap->UnmapApertureSegment.NumberOfPages == 9 * MIB / 4096 &&
                               unmap->UnmapApertureSegment.OffsetInPages ==
                                   map->MapApertureSegment.OffsetInPages);
    CHECK_RULE("PAGE-039",
               transfer->Transfer.Source.SegmentId == 1 &&
                   transfer->Transfer.Destination.SegmentId == 2 &&
                   transfer->Transfer.Destination.SegmentAddress.QuadPart ==
                       APERTURE_BASE + (LONGLONG)map->MapApertureSegment.OffsetInPages * 4096 &&
                   transfer->Transfer.TransferSize == 9 * MIB);
    /* the way back is none of an eviction: from the same pages, without the aperture */
    for (unsigned i = unmapped; i < paged.count && !back; i++)
        if (paged.op[i].args.Operation == TRANSFER &&
            paged.op[i].args.Transfer.hAllocation == driver)
            back = i;
    CHECK_RULE("PAGE-039", back && paged.op[back].args.Transfer.Source.SegmentId == 0 &&
                               paged.op[back].args.Transfer.Destination.SegmentId == 1 &&
                               paged.op[back].page == paged.op[mapped].page);
}

static void straight(UINT eviction, bool without_room)
{
    const DXGKARG_BUILDPAGINGBUFFER *transfer;
    unsigned at = 0;

    run(eviction, without_room);
    transfer = first_of(TRANSFER, &at);
    CHECK_RULE("PAGE-039", !first_of(MAP, &at) && transfer &&
                               transfer->Transfer.Source.SegmentId == 1 &&
                               transfer->Transfer.Destination.SegmentId == 0 &&
                               paged.op[at].mdl_bytes == 9 * MIB);
}

TEST(without_one_or_without_room_it_goes_straight)
{
    straight(0, false);
    straight(2, true);
}
