/* SPDX-License-Identifier: MIT */
/* Both sides of the limits of segments, page tables, nodes and power components. */
#include "port/support/admission.h"

#include <string.h>

/* ---- bad memory ---- */

static void one_bad_range(struct probe *p, uint64_t offset, uint64_t bytes)
{
    p->segment[0].NumInvalidMemoryRanges = 1;
    p->bad_range[0] = (DXGK_MEMORYRANGE){.SegmentOffset = offset, .SizeInBytes = bytes};
}

static void two_bad_ranges(struct probe *p, uint64_t second)
{
    one_bad_range(p, 0x10000, 0x3000);
    p->segment[0].NumInvalidMemoryRanges = 2;
    p->bad_range[1] = (DXGK_MEMORYRANGE){.SegmentOffset = second, .SizeInBytes = 0x2000};
}

/* The third segment, of 64 KB pages. */
static void bad_range_in_large_pages(struct probe *p, uint64_t offset, uint64_t bytes)
{
    one_bad_range(p, offset, bytes);
    p->segment[2] = p->segment[0];
    p->segment[2].BaseAddress.QuadPart = 1ll << 40;
    p->segment[2].Flags.CpuVisible = 0;
    p->segment[2].Flags.Use64KBPages = 1;
    p->segment[0].NumInvalidMemoryRanges = 0;
    p->segments = 3;
}

TEST(limits_of_bad_memory)
{
    const uint64_t size = 16u << 20;
    struct probe *p;

    ACCEPTED("CAPS-083/b", two_bad_ranges(p, 0x13000));
    ACCEPTED("CAPS-083/b", two_bad_ranges(p, 0xE000));
    EXPECTED("CAPS-083/b", "CAPS-083", two_bad_ranges(p, 0x12000));
    EXPECTED("CAPS-083/b", "CAPS-083", two_bad_ranges(p, 0xF000));
    EXPECTED("CAPS-083/b", "CAPS-083", two_bad_ranges(p, 0x10000));
    EXPECTED("CAPS-083/c", "CAPS-083", one_bad_range(p, 0x10800, 0x1000));
    EXPECTED("CAPS-083/c", "CAPS-083", one_bad_range(p, 0x10000, 0x1800));
    ACCEPTED("CAPS-083/c", bad_range_in_large_pages(p, 0x20000, 0x10000));
    EXPECTED("CAPS-083/c", "CAPS-083", bad_range_in_large_pages(p, 0x28000, 0x10000));
    EXPECTED("CAPS-083/c", "CAPS-083", bad_range_in_large_pages(p, 0x20000, 0x8000));
    ACCEPTED("CAPS-083/d", one_bad_range(p, size - 0x2000, 0x2000));
    EXPECTED("CAPS-083/d", "CAPS-083", one_bad_range(p, size - 0x2000, 0x3000));
    EXPECTED("CAPS-083/d", "CAPS-083", one_bad_range(p, size, 0x1000));
}

/* ---- paging buffers ---- */

static void only_an_aperture(struct probe *p)
{
    p->segment[0] = p->segment[1];
    p->segments = 1;
    p->paging_bytes = 0;
    for (unsigned i = 0; i < 8; i++)
        p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
}

TEST(paging_buffers_of_no_size)
{
    struct probe *p;

    EXPECTED("CAPS-077/a", "CAPS-077", only_an_aperture(p));
    ACCEPTED("CAPS-077/c", probe_make_compute_only(p), only_an_aperture(p), p->segments = 0,
             p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
    /* page tables in system memory, written by the GPU */
    EXPECTED("CAPS-077/d", "CAPS-077", probe_make_compute_only(p), only_an_aperture(p),
             p->segments = 0, p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_VIRTUAL);
    EXPECTED("CAPS-077/d", "CAPS-077", probe_make_compute_only(p), only_an_aperture(p),
             p->segments = 0, p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_GPU_PHYSICAL);
}

/* ---- page tables ---- */

static void use_levels(struct probe *p, UINT levels, UINT bits)
{
    p->mmu.PageTableLevelCount = levels;
    p->mmu.VirtualAddressBitCount = bits;
    if (levels == 2)
        p->level[1].PageTableIndexBitCount = p->level[1].PageTableSizeInBytes = 0;
}

TEST(numbers_of_page_table_levels)
{
    struct probe *p;

    REFUSED("CAPS-085/a", "CAPS-085", use_levels(p, 0, 21));
    REFUSED("CAPS-085/a", "CAPS-085", use_levels(p, 1, 21));
    ACCEPTED("CAPS-085/a", use_levels(p, 2, 22));
    ACCEPTED("CAPS-085/a", use_levels(p, 3, 39));
    ACCEPTED("CAPS-085/a", use_levels(p, 5, 57));
    ACCEPTED("CAPS-085/a", use_levels(p, 6, 63));
    REFUSED("CAPS-085/a", "CAPS-085", use_levels(p, 7, 63));
    for (UINT levels = 2; levels <= 6; levels++) {
        p = probe_create(NULL);
        use_levels(p, levels, levels == 2 ? 30 : 39);
        CHECK_RULE("CAPS-085/b",
                   NT_SUCCESS(probe_start(p)) &&
                       (probe_count(p, PROBE_GetRootPageTableSize) > 0) == (levels == 2));
        probe_destroy(p);
    }
}

TEST(sizes_of_page_tables)
{
    struct probe *p;

    for (UINT level = 0; level < 4; level++) {
        ACCEPTED("CAPS-092/a", p->level[level].PageTableSegmentId = 0,
                 p->level[level].PagingProcessPageTableSegmentId = 0);
        ACCEPTED("CAPS-092/b", p->level[level].PageTableSizeInBytes = 8192);
        EXPECTED("CAPS-092/b", "CAPS-092", p->level[level].PageTableSizeInBytes = 4095);
        EXPECTED("CAPS-092/b", "CAPS-092", p->level[level].PageTableSizeInBytes = 4097);
        REFUSED("CAPS-092/c", "CAPS-092", p->level[level].PageTableSizeInBytes = 0);
        REFUSED("CAPS-092/c", "CAPS-092", p->level[level].PageTableIndexBitCount = 0);
    }
    REFUSED("CAPS-092/c", "CAPS-092", use_levels(p, 2, 30), p->level[0].PageTableSizeInBytes = 0);
    REFUSED("CAPS-092/c", "CAPS-092", use_levels(p, 2, 30), p->level[0].PageTableIndexBitCount = 0);
}

TEST(widths_of_addresses)
{
    struct probe *p;

    ACCEPTED("CAPS-093/a", p->mmu.VirtualAddressBitCount = 47);
    EXPECTED("CAPS-093/a", "CAPS-093", p->mmu.VirtualAddressBitCount = 49);
    EXPECTED("CAPS-093/a", "CAPS-093", use_levels(p, 3, 40));
    REFUSED("CAPS-093/b", "CAPS-093", use_levels(p, 2, 20));
    ACCEPTED("CAPS-093/b", use_levels(p, 2, 22));
    ACCEPTED("CAPS-093/c", use_levels(p, 6, 63));
    REFUSED("CAPS-093/c", "CAPS-093", use_levels(p, 6, 64));
}

TEST(segments_of_page_tables)
{
    struct probe *p;

    for (UINT level = 0; level < 4; level++)
        for (UINT id = 2; id <= 4; id += 2) { /* an aperture; none */
            REFUSED("CAPS-093/d", "CAPS-093", p->level[level].PageTableSegmentId = id);
            REFUSED("CAPS-093/d", "CAPS-093", p->level[level].PagingProcessPageTableSegmentId = id);
        }
}

/* ---- nodes ---- */

static UINT failing_node;

static void fail_node(struct probe *p, struct probe_call *call)
{
    (void)p;
    if ((UINT)call->arg[1] == failing_node)
        call->result = (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
}

static void name_node(struct probe *p, DXGK_ENGINE_TYPE type, unsigned characters)
{
    p->node[1].EngineType = type;
    for (unsigned i = 0; i < characters; i++)
        p->node[1].FriendlyName[i] = 'x';
}

TEST(the_last_node_may_page)
{
    struct probe *p;

    ACCEPTED("CAPS-095/b", p->physical.PagingNodeIndex = 1);
}

TEST(limits_of_nodes)
{
    struct probe *p;

    for (failing_node = 0; failing_node < 2; failing_node++)
        EXPECTED("CAPS-097/c", "CAPS-097", p->after[PROBE_GetNodeMetadata] = fail_node);
    ACCEPTED("CAPS-101/a", name_node(p, DXGK_ENGINE_TYPE_OTHER, 1));
    ACCEPTED("CAPS-101/c", name_node(p, DXGK_ENGINE_TYPE_OTHER, 31));
    REPORTED("CAPS-101/c", "CAPS-101", VERIFY_WARNING, name_node(p, DXGK_ENGINE_TYPE_OTHER, 32));
    for (UINT type = DXGK_ENGINE_TYPE_VIDEO_DECODE; type <= DXGK_ENGINE_TYPE_COPY; type++) {
        ACCEPTED("CAPS-101/b", name_node(p, (DXGK_ENGINE_TYPE)type, 0));
        REPORTED("CAPS-101/b", "CAPS-101", VERIFY_WARNING, name_node(p, (DXGK_ENGINE_TYPE)type, 1));
    }
}

static UINT bits_of_last_node;

static void answer_precision(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_HISTORYBUFFERPRECISION)
        ((DXGKARG_HISTORYBUFFERPRECISION *)call->query.pOutputData)[1].PrecisionBits =
            bits_of_last_node;
}

TEST(precisions_of_each_node)
{
    static const UINT good[] = {0, 32, 33, 63, 64}, bad[] = {1, 31, 65};
    struct probe *p;

    for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        bits_of_last_node = good[i];
        ACCEPTED("CAPS-108/b", p->after[PROBE_QueryAdapterInfo] = answer_precision);
    }
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bits_of_last_node = bad[i];
        EXPECTED("CAPS-108/b", "CAPS-108", p->after[PROBE_QueryAdapterInfo] = answer_precision);
    }
}

/* ---- power components ---- */

/* States of ever less power and longer latency. */
static DXGK_POWER_RUNTIME_STATE *use_states(struct probe *p, ULONG count)
{
    DXGK_POWER_RUNTIME_COMPONENT *c = &p->component[0];

    probe_use_components(p, 1);
    c->StateCount = count;
    for (ULONG i = 0; i < count && i < DXGK_MAX_F_STATES; i++) {
        c->States[i].NominalPower = 100 - i;
        c->States[i].TransitionLatency = c->States[i].ResidencyRequirement = i * 10;
    }
    return c->States;
}

TEST(states_of_power_components)
{
    struct probe *p;

    ACCEPTED("CAPS-105/a", (void)use_states(p, 1));
    ACCEPTED("CAPS-105/a", (void)use_states(p, DXGK_MAX_F_STATES));
    EXPECTED("CAPS-105/a", "CAPS-105", (void)use_states(p, 0));
    EXPECTED("CAPS-105/a", "CAPS-105", (void)use_states(p, DXGK_MAX_F_STATES + 1));
    EXPECTED("CAPS-105/b", "CAPS-105", use_states(p, 1)[0].TransitionLatency = 1);
    EXPECTED("CAPS-105/c", "CAPS-105", use_states(p, 1)[0].ResidencyRequirement = 1);
    EXPECTED("CAPS-105/d", "CAPS-105", use_states(p, 1)[0].NominalPower = 0);
    for (unsigned state = 1; state < DXGK_MAX_F_STATES; state++) {
        EXPECTED("CAPS-105/e", "CAPS-105",
                 use_states(p, DXGK_MAX_F_STATES)[state].NominalPower = 100 - state + 1);
        if (state > 1) /* F0 has none */
            EXPECTED("CAPS-105/f", "CAPS-105",
                     use_states(p, DXGK_MAX_F_STATES)[state].TransitionLatency = state * 10 - 11);
    }
}

/* Two components of one kind, of these nodes or segments. */
static void map_two(struct probe *p, DXGK_POWER_COMPONENT_TYPE type, UINT first, UINT second)
{
    const UINT thing[] = {first, second};

    probe_use_components(p, 2);
    for (unsigned i = 0; i < 2; i++) {
        p->component[i].ComponentMapping.ComponentType = type;
        if (type == DXGK_POWER_COMPONENT_ENGINE)
            p->component[i].ComponentMapping.EngineDesc.NodeIndex = thing[i];
        else
            p->component[i].ComponentMapping.MemoryDesc.SegmentID = thing[i];
    }
}

static void name_provider(struct probe *p, ULONG provider)
{
    probe_use_components(p, 2);
    p->component[0].ProviderCount = 1;
    p->component[0].Providers[0] = provider;
}

TEST(things_of_power_components)
{
    struct probe *p;

    ACCEPTED("CAPS-106/a", map_two(p, DXGK_POWER_COMPONENT_ENGINE, 0, 1));
    EXPECTED("CAPS-106/a", "CAPS-106", map_two(p, DXGK_POWER_COMPONENT_ENGINE, 1, 1));
    ACCEPTED("CAPS-106/b", map_two(p, DXGK_POWER_COMPONENT_MEMORY, 1, 2));
    EXPECTED("CAPS-106/b", "CAPS-106", map_two(p, DXGK_POWER_COMPONENT_MEMORY, 1, 1));
    EXPECTED("CAPS-106/b", "CAPS-106", map_two(p, DXGK_POWER_COMPONENT_MEMORY_REFRESH, 1, 1));
    ACCEPTED("CAPS-106/c", name_provider(p, 1));
    EXPECTED("CAPS-106/c", "CAPS-106", name_provider(p, 2));
    EXPECTED("CAPS-106/d", "CAPS-106", map_two(p, DXGK_POWER_COMPONENT_ENGINE, 0, 2));
    EXPECTED("CAPS-106/d", "CAPS-106", probe_use_components(p, 1),
             p->component[0].ComponentMapping.ComponentType = DXGK_POWER_COMPONENT_MAX);
    ACCEPTED("CAPS-106/d", probe_use_components(p, 1),
             p->component[0].ComponentMapping.ComponentType = DXGK_POWER_COMPONENT_SHARED);
}
