/* SPDX-License-Identifier: MIT */
/* The contrary driver's answers about nodes and buffers, each followed to what a client or the driver sees of it. */
#include "port/support/contrary.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct probe_gpu gpu;

static void begin(void)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
}

static void end(void)
{
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

/* ---- paging ---- */

TEST_WITH(contrary, paging_has_its_node_and_buffers)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    CHECK(IS(probe_gpu_allocate(&gpu, 65536, &allocation), STATUS_SUCCESS));
    CHECK_RULE("CAPS-068", contrary_seen.system_node == CONTRARY_PAGING);
    CHECK_RULE("SEG-087", contrary_seen.system_node == CONTRARY_PAGING);
    CHECK_RULE("PATCH-027", contrary_seen.system_node == CONTRARY_PAGING);
    CHECK_RULE("CAPS-094", contrary_seen.paging_nodes == 1u << CONTRARY_PAGING);
    CHECK_RULE("CAPS-077/b", contrary_seen.first_paging_bytes == 0x7000);
    CHECK_RULE("PAGE-004", contrary_seen.first_paging_bytes == 0x7000);
    CHECK_RULE("CAPS-076", contrary_seen.first_paging_private == CONTRARY_PAGING_PRIVATE &&
                               !contrary_seen.paging_dirty);
    CHECK_RULE("PAGE-005", contrary_seen.first_paging_private == CONTRARY_PAGING_PRIVATE &&
                               !contrary_seen.paging_dirty);
    end();
}

/* A node of physical addresses: its paging buffers lie where the driver wants them. */
static void page_physically(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    (void)p;
    begin();
    contrary_seen.paging_segments = 0;
    CHECK(IS(probe_gpu_allocate(&gpu, 65536, &allocation), STATUS_SUCCESS));
    CHECK_RULE("CAPS-075/a", contrary_seen.paging_segments == 1u << CONTRARY_APERTURE);
    CHECK_RULE("PAGE-002", contrary_seen.paging_segments == 1u << CONTRARY_APERTURE);
    CHECK_RULE("CAPS-094", contrary_seen.paging_nodes == 1u << CONTRARY_PHYSICAL);
    end();
}

TEST(paging_buffers_lie_in_their_segment)
{
    struct probe *p = contrary_create(NULL);

    p->physical.PagingNodeIndex = CONTRARY_PHYSICAL;
    p->paging_segment = CONTRARY_APERTURE;
    contrary_run(p, page_physically);
}

/* ---- nodes ---- */

static NTSTATUS make_context(UINT node, bool virtual)
{
    D3DKMT_CREATECONTEXTVIRTUAL args = {.hDevice = gpu.device, .NodeOrdinal = node};
    D3DKMT_CREATECONTEXT physical = {
        .hDevice = gpu.device, .NodeOrdinal = node, .EngineAffinity = 1};

    return virtual ? D3DKMTCreateContextVirtual(&args) : D3DKMTCreateContext(&physical);
}

TEST_WITH(contrary, nodes_are_as_the_driver_says)
{
    (void)p;
    begin();
    for (UINT i = 0; i < CONTRARY_NODES; i++) {
        D3DKMT_NODEMETADATA data = {.NodeOrdinalAndAdapterIndex = i};

        CHECK_RULE("KMT-094", IS(contrary_query(&gpu, KMTQAITYPE_NODEMETADATA, &data, sizeof(data)),
                                 STATUS_SUCCESS) &&
                                  data.NodeData.EngineType == p->node[i].EngineType &&
                                  data.NodeData.FriendlyName[0] == p->node[i].FriendlyName[0] &&
                                  data.NodeData.GpuMmuSupported == p->node[i].GpuMmuSupported);
        CHECK_RULE("SUBMIT-011",
                   IS(make_context(i, true),
                      i == CONTRARY_PHYSICAL ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS));
    }
    {
        D3DKMT_NODEMETADATA data = {.NodeOrdinalAndAdapterIndex = CONTRARY_NODES};

        CHECK_RULE("KMT-094", IS(contrary_query(&gpu, KMTQAITYPE_NODEMETADATA, &data, sizeof(data)),
                                 STATUS_INVALID_PARAMETER));
    }
    CHECK(IS(make_context(CONTRARY_NODES, true), STATUS_INVALID_PARAMETER));
    CHECK(IS(make_context(CONTRARY_NODES, false), STATUS_INVALID_PARAMETER));
    CHECK(IS(make_context(CONTRARY_PHYSICAL, false), STATUS_SUCCESS));
    end();
}

/* ---- where DMA buffers may lie ---- */

static UINT segment_set;

static void choose_segments(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemContext)
        args->ContextInfo.DmaBufferSegmentSet = segment_set;
}

TEST_WITH(contrary, buffers_lie_in_apertures_alone)
{
    begin();
    p->after[PROBE_CreateContext] = choose_segments;
    for (UINT id = 1; id <= CONTRARY_SEGMENTS + 1; id++) {
        const bool aperture = id == CONTRARY_APERTURE;
        uint64_t before = probe_rule(p, "PATCH-038");

        segment_set = CONTRARY_SET(id);
        CHECK_RULE("PATCH-037", IS(make_context(CONTRARY_PHYSICAL, false), STATUS_SUCCESS));
        CHECK_RULE("PATCH-037", probe_rule(p, "PATCH-038") - before == !aperture);
        CHECK_RULE("PATCH-038", probe_rule(p, "PATCH-038") - before == !aperture);
    }
    end();
}

/* ---- how high they may lie ---- */

static uint64_t highest;

static void note_height(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMAND *args = (DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1];
    uint64_t last = (uint64_t)args->DmaBufferPhysicalAddress.QuadPart + args->DmaBufferSize - 1;

    (void)p;
    if (args->DmaBufferSegmentId == 0 && last > highest)
        highest = last;
}

static void page_below(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    begin();
    CHECK(IS(probe_gpu_allocate(&gpu, 65536, &allocation), STATUS_SUCCESS));
    CHECK_RULE("PATCH-044",
               highest > 0 && highest <= (uint64_t)p->caps.HighestAcceptableAddress.QuadPart);
    end();
}

static struct probe *with_limit(uint64_t limit)
{
    struct probe *p = contrary_create(&(struct probe_options){.port = {.iommu = IOMMU_REMAP}});

    highest = 0;
    p->caps.HighestAcceptableAddress.QuadPart = (LONGLONG)limit;
    p->physical.PagingNodeIndex = CONTRARY_PHYSICAL;
    p->after[PROBE_SubmitCommand] = note_height;
    return p;
}

/* Addresses of the IOMMU, below the top of the machine's memory: where there are too few, nothing starts. */
TEST(buffers_lie_below_the_highest_address)
{
    struct probe *p = with_limit(0x17FFFF);

    contrary_run(p, page_below);
    p = with_limit(4 * 0x7000);
    CHECK_RULE("PATCH-044",
               IS(probe_start(p), STATUS_NO_MEMORY) && probe_said(p, "PAGE-003", "28672 bytes"));
    probe_destroy(p);
}
