/* SPDX-License-Identifier: MIT */
/* Both sides of the limits of DXGK_DRIVERCAPS, and each member of its lists. */
#include "port/support/admission.h"

TEST(preemption_granularities)
{
    static const UINT wrong[] = {1, 99, 101, 499, 501, 600};
    struct probe *p;

    for (UINT value = 0; value <= 500; value += 100) {
        ACCEPTED("CAPS-035/a", p->caps.PreemptionCaps.GraphicsPreemptionGranularity =
                                   (D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY)value);
        ACCEPTED("CAPS-035/a", p->caps.PreemptionCaps.ComputePreemptionGranularity =
                                   (D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY)value);
    }
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        EXPECTED("CAPS-035/b", "CAPS-035",
                 p->caps.PreemptionCaps.GraphicsPreemptionGranularity =
                     (D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY)wrong[i]);
        EXPECTED("CAPS-035/c", "CAPS-035",
                 p->caps.PreemptionCaps.ComputePreemptionGranularity =
                     (D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY)wrong[i]);
    }
}

static void set_internal_range(struct probe *p, uint64_t start, uint64_t end)
{
    p->caps.InternalGpuVirtualAddressRangeStart = start;
    p->caps.InternalGpuVirtualAddressRangeEnd = end;
}

TEST(internal_address_range)
{
    const uint64_t top = 1ull << 48;
    struct probe *p;

    ACCEPTED("CAPS-040/a", set_internal_range(p, 0x10000, 0x1000000));
    EXPECTED("CAPS-040/a", "CAPS-040", set_internal_range(p, 0x11000, 0x1000000));
    EXPECTED("CAPS-040/a", "CAPS-040", set_internal_range(p, 0x18000, 0x1000000));
    EXPECTED("CAPS-040/b", "CAPS-040", set_internal_range(p, 0x10000, 0xFFF000));
    EXPECTED("CAPS-040/b", "CAPS-040", set_internal_range(p, 0x10000, 0xFF8000));
    EXPECTED("CAPS-040/c", "CAPS-040", set_internal_range(p, 0x200000, 0x100000));
    EXPECTED("CAPS-040/c", "CAPS-040", set_internal_range(p, 0x200000, 0x200000));
    ACCEPTED("CAPS-040/d", set_internal_range(p, 0x10000, top));
    EXPECTED("CAPS-040/d", "CAPS-040", set_internal_range(p, 0x10000, top + 0x10000));
}

TEST(cross_adapter_tiers)
{
    struct probe *p;

    ACCEPTED("CAPS-059/a", p->caps.MemoryManagementCaps.CrossAdapterResource = 1);
    ACCEPTED("CAPS-059/a", p->caps.MemoryManagementCaps.CrossAdapterResource = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = 1);
    EXPECTED("CAPS-059/a", "CAPS-059", p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = 1);
    ACCEPTED("CAPS-059/b", p->caps.MemoryManagementCaps.CrossAdapterResource = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = 1);
    EXPECTED("CAPS-059/b", "CAPS-059", p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = 1);
    EXPECTED("CAPS-059/b", "CAPS-059", p->caps.MemoryManagementCaps.CrossAdapterResource = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = 1);
    EXPECTED("CAPS-059/b", "CAPS-059", p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = 1);
}

TEST(numbers_of_nodes)
{
    struct probe *p;

    ACCEPTED("CAPS-055/a", p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 1,
             p->physical.NumExecutionNodes = 1, p->physical.PagingNodeIndex = 0,
             p->node[0].GpuMmuSupported = TRUE);
    p = probe_create(NULL);
    p->caps.SchedulingCaps.Value = 0;
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 65;
    p->physical.NumExecutionNodes = 1;
    p->physical.PagingNodeIndex = 0;
    p->node[0].GpuMmuSupported = TRUE;
    CHECK_RULE("CAPS-055/b", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-055") == 0 &&
                                 port_adapter_nodes(p->adapter[0]) == 1);
    probe_destroy(p);
}
