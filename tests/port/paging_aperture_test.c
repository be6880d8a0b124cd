/* SPDX-License-Identifier: MIT */
/* Paging buffers in an aperture segment: they are named there only while the driver has them mapped, over loss of power and reset. */
#include "port/record/adapter_record.h"
#include "port/support/client.h"
#include "sim/sim.h"

#include <string.h>

#define APERTURE 2u
#define BASE     (1ull << 32) /* of the aperture of the probe */
#define BYTES    (1u << 20)
#define BUFFERS  4u

/* ---- what the driver sees ---- */

static struct {
    uint64_t first, pages; /* of the aperture */
} mapped[16];
static unsigned mapped_count;
static unsigned outside, inside; /* paging packets by their system address, and in the aperture */
static unsigned wrong; /* named where nothing is mapped, or in another place than before */
static bool gone;      /* the aperture has lost what it had */

static void note_mapping(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT && mapped_count < 16 &&
        op->MapApertureSegment.hAllocation == NULL) {
        mapped[mapped_count].first = op->MapApertureSegment.OffsetInPages;
        mapped[mapped_count++].pages = op->MapApertureSegment.NumberOfPages;
    }
}

static bool is_mapped(uint64_t address)
{
    for (unsigned i = 0; i < mapped_count; i++)
        if (address == BASE + mapped[i].first * 4096)
            return true;
    return false;
}

static void note_patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
    uint64_t address = (uint64_t)args->DmaBufferPhysicalAddress.QuadPart;

    (void)p;
    if (!args->Flags.Paging)
        return;
    if (args->DmaBufferSegmentId == 0) {
        outside++;
        wrong += address >= BASE || address == 0;
        return;
    }
    inside++;
    wrong += gone || args->DmaBufferSegmentId != APERTURE || !is_mapped(address);
}

static void power_is_gone(struct probe *p, struct probe_call *call)
{
    (void)p;
    gone = call->arg[2] != PowerDeviceD0;
    if (gone)
        mapped_count = 0;
}

static void after_reset(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    mapped_count = 0;
}

/* ---- what happens ---- */

static struct probe_gpu gpu;
static D3DKMT_HANDLE allocation;

static void page_in(struct probe *p)
{
    (void)p;
    if (!gpu.device)
        (void)probe_gpu_begin(&gpu); /* all but the virtual context */
    CHECK(probe_gpu_allocate(&gpu, BYTES, &allocation) == STATUS_SUCCESS);
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

static void reset(struct probe *p)
{
    CHECK(vidsch_force_reset(p->adapter[0]->managers.vidsch, true) == STATUS_SUCCESS);
}

static struct probe *begin(void)
{
    struct probe *p = probe_create(NULL);

    probe_make_1x(p);
    p->physical.NumExecutionNodes = 2;
    p->physical.PagingNodeIndex = 1;
    p->iommu.DmaRemappingSupported = 0;
    p->paging_segment = APERTURE;
    p->before[PROBE_BuildPagingBuffer] = note_mapping;
    p->before[PROBE_Patch] = note_patch;
    p->before[PROBE_SetPowerState] = power_is_gone;
    p->before[PROBE_RestartFromTimeout] = after_reset;
    mapped_count = outside = inside = wrong = 0;
    gone = false;
    memset(&gpu, 0, sizeof(gpu));
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    return p;
}

TEST(they_are_mapped_before_they_are_named_there)
{
    struct probe *p = begin();
    struct probe_client *client;
    unsigned before;

    CHECK_RULE("PAGE-002", mapped_count == BUFFERS && outside > 0 && wrong == 0);
    before = inside;
    client = probe_client_run(p, page_in);
    CHECK_RULE("PAGE-002", inside > before && wrong == 0);
    CHECK_RULE("PATCH-144", inside > before && wrong == 0);
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    (void)probe_stop(p);
    CHECK_RULE("PATCH-144", wrong == 0); /* also where their own ranges are taken away */
    probe_destroy(p);
}

static void they_are_mapped_again(void (*event)(struct probe *p))
{
    struct probe *p = begin();
    struct probe_client *client = probe_client_run(p, page_in);
    unsigned out = outside, in;

    CHECK(probe_run(p, event) == SIM_DONE);
    CHECK_RULE("PAGE-002", mapped_count == BUFFERS && outside > out && wrong == 0);
    in = inside;
    memset(&gpu, 0, sizeof(gpu)); /* a reset costs the device */
    probe_client_go_on(p, client, page_in);
    CHECK_RULE("PAGE-002", inside > in && wrong == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(they_are_mapped_again_when_the_power_is_back)
{
    they_are_mapped_again(sleep_and_wake);
}

TEST(they_are_mapped_again_after_a_reset)
{
    they_are_mapped_again(reset);
}
