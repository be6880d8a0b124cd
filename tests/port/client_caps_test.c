/* SPDX-License-Identifier: MIT */
/* What a driver's capabilities come to for clients, for paging and for submission. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- what kind of adapter a client sees ---- */

static D3DKMT_ADAPTERTYPE type;
static ULONG adapters_seen;

static void look(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open;
    D3DKMT_ENUMADAPTERS list;
    D3DKMT_QUERYADAPTERINFO query;

    memset(&list, 0, sizeof(list));
    memset(&open, 0, sizeof(open));
    memset(&query, 0, sizeof(query));
    memset(&type, 0, sizeof(type));
    CHECK(IS(D3DKMTEnumAdapters(&list), STATUS_SUCCESS));
    adapters_seen = list.NumAdapters;
    open.AdapterLuid = port_adapter_luid(p->adapter[0]);
    if (!adapters_seen) {
        CHECK(IS(D3DKMTOpenAdapterFromLuid(&open), STATUS_INVALID_PARAMETER));
        return;
    }
    query.hAdapter = list.Adapters[0].hAdapter;
    query.Type = KMTQAITYPE_ADAPTERTYPE;
    query.pPrivateDriverData = &type;
    query.PrivateDriverDataSize = sizeof(type);
    CHECK(IS(D3DKMTQueryAdapterInfo(&query), STATUS_SUCCESS));
}

TEST(the_kind_of_adapter_is_told)
{
    struct probe *p;

    run(probe_create(NULL), look);
    CHECK_RULE("CAPS-041", adapters_seen == 1 && !type.ComputeOnly);
    CHECK_RULE("CAPS-042", !type.Detachable);
    CHECK_RULE("CAPS-043", adapters_seen == 1);
    p = probe_create(NULL);
    probe_make_compute_only(p);
    run(p, look);
    CHECK_RULE("CAPS-041", adapters_seen == 1 && type.ComputeOnly);
    p = probe_create(NULL);
    p->caps.MiscCaps.Detachable = 1;
    p->caps.SupportSurpriseRemoval = TRUE;
    p->type.Detachable = 1;
    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    run(p, look);
    CHECK_RULE("CAPS-042", adapters_seen == 1 && type.Detachable);
    p = probe_create(NULL);
    p->caps.MiscCaps.VirtualGpuOnly = 1;
    run(p, look);
    CHECK_RULE("CAPS-043", adapters_seen == 0);
}

/* ---- its version ---- */

static UINT version_seen;

static void look_at_version(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open;
    D3DKMT_QUERYADAPTERINFO query;

    memset(&open, 0, sizeof(open));
    memset(&query, 0, sizeof(query));
    open.AdapterLuid = port_adapter_luid(p->adapter[0]);
    CHECK(IS(D3DKMTOpenAdapterFromLuid(&open), STATUS_SUCCESS));
    query.hAdapter = open.hAdapter;
    query.Type = KMTQAITYPE_DRIVERVERSION;
    query.pPrivateDriverData = &version_seen;
    query.PrivateDriverDataSize = sizeof(version_seen);
    CHECK(IS(D3DKMTQueryAdapterInfo(&query), STATUS_SUCCESS));
}

static D3DKMT_WDDM_1_2_CAPS caps_seen;

static void look_at_caps(struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open;
    D3DKMT_QUERYADAPTERINFO query;

    memset(&open, 0, sizeof(open));
    memset(&query, 0, sizeof(query));
    open.AdapterLuid = port_adapter_luid(p->adapter[0]);
    CHECK(IS(D3DKMTOpenAdapterFromLuid(&open), STATUS_SUCCESS));
    query.hAdapter = open.hAdapter;
    query.Type = KMTQAITYPE_WDDM_1_2_CAPS;
    query.pPrivateDriverData = &caps_seen;
    query.PrivateDriverDataSize = sizeof(caps_seen);
    CHECK(IS(D3DKMTQueryAdapterInfo(&query), STATUS_SUCCESS));
}

static unsigned bits_of_caps(void)
{
    const bool has[] = {caps_seen.PreemptionCaps.GraphicsPreemptionGranularity ==
                                D3DKMDT_GRAPHICS_PREEMPTION_TRIANGLE_BOUNDARY &&
                            caps_seen.PreemptionCaps.ComputePreemptionGranularity ==
                                D3DKMDT_COMPUTE_PREEMPTION_THREAD_BOUNDARY,
                        caps_seen.SupportNonVGA,
                        caps_seen.SupportSmoothRotation,
                        caps_seen.SupportPerEngineTDR,
                        caps_seen.SupportKernelModeCommandBuffer,
                        caps_seen.SupportSurpriseRemovalInHibernation};
    unsigned seen = 0;

    for (unsigned i = 0; i < 6; i++)
        seen |= (unsigned)has[i] << i;
    return seen;
}

/* What a client sees of a driver with that one of the six alone; a bit for each. */
static unsigned caps_of(unsigned one)
{
    struct probe *p = probe_create(NULL);

    p->caps.PreemptionCaps.GraphicsPreemptionGranularity =
        one == 0 ? D3DKMDT_GRAPHICS_PREEMPTION_TRIANGLE_BOUNDARY
                 : D3DKMDT_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY;
    p->caps.PreemptionCaps.ComputePreemptionGranularity =
        one == 0 ? D3DKMDT_COMPUTE_PREEMPTION_THREAD_BOUNDARY
                 : D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY;
    p->caps.SupportNonVGA = one == 1;
    p->caps.SupportSmoothRotation = one == 2;
    p->caps.SupportPerEngineTDR = one == 3;
    p->caps.PresentationCaps.SupportKernelModeCommandBuffer = one == 4;
    p->caps.SupportSurpriseRemovalInHibernation = one == 5;
    memset(&caps_seen, 0xA5, sizeof(caps_seen));
    run(p, look_at_caps);
    return bits_of_caps();
}

TEST(caps_of_wddm_1_2_are_those_of_the_driver)
{
    for (unsigned one = 0; one < 6; one++)
        CHECK_RULE("KMT-086", caps_of(one) == 1u << one);
}

/* Of a driver that claims a version, and of one that does not. */
static UINT version_of(UINT interface, DXGK_WDDMVERSION claimed)
{
    const struct probe_options options = {.version = interface};
    struct probe *p = probe_create(&options);

    if (interface < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        probe_make_1x(p);
    p->caps.WDDMVersion = p->device_wddm = claimed;
    version_seen = 0;
    run(p, look_at_version);
    return version_seen;
}

TEST(the_version_of_a_driver_is_told)
{
    static const struct {
        UINT interface;
        DXGK_WDDMVERSION claimed;
        UINT answer;
    } versions[] = {
        {DXGKDDI_INTERFACE_VERSION_VISTA, DXGKDDI_WDDMv1, KMT_DRIVERVERSION_WDDM_1_0},
        {DXGKDDI_INTERFACE_VERSION_VISTA_SP1, DXGKDDI_WDDMv1, KMT_DRIVERVERSION_WDDM_1_0},
        {DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_WDDMv1, KMT_DRIVERVERSION_WDDM_1_1},
        {DXGKDDI_INTERFACE_VERSION_WIN8, DXGKDDI_WDDMv1_2, KMT_DRIVERVERSION_WDDM_1_2},
        {DXGKDDI_INTERFACE_VERSION_WDDM1_3, DXGKDDI_WDDMv1_3, KMT_DRIVERVERSION_WDDM_1_3},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, DXGKDDI_WDDMv2, KMT_DRIVERVERSION_WDDM_2_0},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_1, DXGKDDI_WDDMv2_1, 2100},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_2, DXGKDDI_WDDMv2_2, 2200},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_3, DXGKDDI_WDDMv2_3, 2300},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_4, DXGKDDI_WDDMv2_4, 2400},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_5, DXGKDDI_WDDMv2_5, 2500},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_6, DXGKDDI_WDDMv2_6, 2600},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_7, DXGKDDI_WDDMv2_7, 2700},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_8, DXGKDDI_WDDMv2_8, 2800},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_9, DXGKDDI_WDDMv2_9, 2900},
        {DXGKDDI_INTERFACE_VERSION_WDDM3_0, DXGKDDI_WDDMv3_0, 3000},
        {DXGKDDI_INTERFACE_VERSION_WDDM3_1, DXGKDDI_WDDMv3_1, 3100},
    };

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        CHECK_RULE("KMT-081",
                   version_of(versions[i].interface, versions[i].claimed) == versions[i].answer);
        CHECK_RULE("KMT-082", version_of(versions[i].interface, 0) == versions[i].answer);
    }
}

/* ---- packets in flight ---- */

static ULONG most_outstanding;

static void count_outstanding(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (A->submitted[1] - A->reported[1] > most_outstanding)
        most_outstanding = A->submitted[1] - A->reported[1];
}

static void flood(struct probe *p)
{
    struct probe_gpu gpu;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    probe_device_packet_ns = 500000;
    most_outstanding = 0;
    p->after[PROBE_SubmitCommandVirtual] = count_outstanding;
    for (unsigned i = 0; i < 40; i++)
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static ULONG outstanding_with(UINT queue_entry, UINT cap)
{
    const struct probe_options options = {.port = {.required_dma_queue_entry = queue_entry}};
    struct probe *p = probe_create(&options);

    p->caps.SchedulingCaps.HwQueuePacketCap = cap & 15u;
    run(p, flood);
    return most_outstanding;
}

TEST(a_node_gets_no_more_packets_than_it_takes)
{
    CHECK_RULE("LIFE-052", outstanding_with(1, 0) == 1);
    CHECK_RULE("LIFE-052", outstanding_with(3, 0) == 3);
    CHECK_RULE("LIFE-052", outstanding_with(7, 0) == 7);
    CHECK_RULE("CAPS-053", outstanding_with(7, 1) == 1);
    CHECK_RULE("CAPS-053", outstanding_with(7, 4) == 4);
    CHECK_RULE("CAPS-053", outstanding_with(2, 4) == 2);
}

/* ---- one process at a time ---- */

static struct probe_gpu first_gpu;
static NTSTATUS second_status;

static void open_second(struct probe *p)
{
    struct probe_gpu gpu;

    (void)p;
    second_status = probe_gpu_begin(&gpu);
}

static void first_holds_it(struct probe *p)
{
    struct probe_client *second;

    (void)p;
    (void)probe_gpu_begin(&first_gpu); /* a context of virtual addresses it does not get */
    CHECK(first_gpu.device);
    second = probe_client_start(p, open_second);
    while (!second->done)
        probe_sleep(1000000);
    p->user = second;
}

TEST(a_prototype_serves_one_process)
{
    struct probe *p;

    for (unsigned prototype = 0; prototype < 2; prototype++) {
        struct probe_client *client;

        p = probe_create(NULL);
        probe_make_compute_only(p);
        if (prototype) {
            p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0;
            p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
            p->physical.Flags.GpuMmuSupported = 0;
            for (unsigned i = 0; i <= PROBE_MAX_NODES; i++)
                p->node[i].GpuMmuSupported = 0;
        }
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, first_holds_it);
        CHECK_RULE("CAPS-063", NT_SUCCESS(second_status) == !prototype);
        probe_client_end(p, p->user);
        probe_client_end(p, client);
        if (prototype) { /* once nobody has it open any more */
            client = probe_client_run(p, first_holds_it);
            probe_client_end(p, p->user);
            probe_client_end(p, client);
        }
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- paging operations ---- */

static unsigned operations[32];
static UINT first_size, private_size;
static bool private_null, private_zero, private_kept;
static uint64_t highest_page;
static uint64_t pte_flags; /* of all entries that were written */

static uint64_t allocation_flags; /* of the entries for an allocation alone */

static void note_entries(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *op)
{
    for (UINT i = 0; op->hAllocation && i < op->NumPageTableEntries; i++)
        allocation_flags |= op->pPageTableEntries[op->Flags.Repeat ? 0 : i].Flags;
    for (UINT i = 0; i < op->NumPageTableEntries; i++)
        pte_flags |= op->pPageTableEntries[op->Flags.Repeat ? 0 : i].Flags;
}

static void note_pages(const DXGK_ADL *adl, uint64_t pages)
{
    for (uint64_t i = 0; i < pages; i++) {
        uint64_t page = adl->Flags.Contiguous ? adl->BasePageNumber + i : adl->Pages[i];

        highest_page = page > highest_page ? page : highest_page;
    }
}

/* The driver's private data: a count of the operations, in each buffer. */
static void note_private(const DXGKARG_BUILDPAGINGBUFFER *op)
{
    static uint32_t *seen_at[8];
    static uint32_t written[8];
    uint32_t *word = op->pDmaBufferPrivateData;
    unsigned i = 0;

    private_null = !word;
    private_size = op->DmaBufferPrivateDataSize;
    if (!word || private_size < 64)
        return;
    while (i < 8 && seen_at[i] && seen_at[i] != word)
        i++;
    if (i == 8)
        return;
    if (!seen_at[i])
        private_zero &= *word == 0;
    else
        private_kept &= *word == written[i];
    seen_at[i] = word;
    *word = written[i] = 0xC0DE0000u + operations[op->Operation];
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (!first_size)
        first_size = op->DmaSize;
    if ((unsigned)op->Operation < 32)
        operations[op->Operation]++;
    note_private(op);
    if (op->Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
        note_entries(&op->UpdatePageTable);
    if (op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2)
        note_pages(&op->MapApertureSegment2.Adl, op->MapApertureSegment2.NumberOfPages);
}

/* In the aperture only, and reached there by physical addresses. */
static void into_the_aperture(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedReadSegmentSet = 2;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 2;
    args->pAllocationInfo[0].PreferredSegment.SegmentId0 = 2;
    args->pAllocationInfo[0].PreferredSegment.SegmentId1 = 0;
    args->pAllocationInfo[0].FlagsWddm2.AccessedPhysically = 1;
}

static void use_memory(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 1 << 20, &allocation), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static struct probe *create(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    memset(operations, 0, sizeof(operations));
    first_size = 0;
    highest_page = pte_flags = 0;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    return p;
}

TEST(aperture_operations)
{
    for (unsigned second = 0; second < 2; second++) {
        struct probe *p = create(NULL);

        p->after[PROBE_CreateAllocation] = into_the_aperture;
        p->caps.MemoryManagementCaps.MapAperture2Supported = second & 1;
        p->iommu.DmaRemappingSupported = second & 1;
        run(p, use_memory);
        CHECK_RULE("CAPS-067",
                   (operations[DXGK_OPERATION_MAP_APERTURE_SEGMENT2] > 0) == (second != 0) &&
                       (operations[DXGK_OPERATION_MAP_APERTURE_SEGMENT] > 0) == (second == 0) &&
                       operations[DXGK_OPERATION_UNMAP_APERTURE_SEGMENT] > 0);
        CHECK_RULE("SEG-080",
                   (operations[DXGK_OPERATION_MAP_APERTURE_SEGMENT2] > 0) == (second != 0));
    }
}

static NTSTATUS last_status;

/* More than lies below 16 MiB, all of it mapped at once. */
static void use_much_memory(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    for (unsigned i = 0; i < 12; i++)
        last_status = probe_gpu_allocate(&gpu, 2 << 20, &allocation);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(logical_pages_stay_below_the_limit)
{
    const struct probe_options options = {.port = {.iommu = IOMMU_REMAP}};

    for (unsigned low = 0; low < 2; low++) {
        struct probe *p = create(&options);

        const uint64_t limit = low ? 16u << 20 : 1ull << 40;

        /* below the top of the machine's memory, which only logical addresses can be */
        p->caps.HighestAcceptableAddress.QuadPart = (LONGLONG)limit - 1;
        p->after[PROBE_CreateAllocation] = into_the_aperture;
        p->segment[1].Size = p->segment[1].CommitLimit = 64u << 20;
        run(p, use_much_memory);
        CHECK_RULE("CAPS-020", operations[DXGK_OPERATION_MAP_APERTURE_SEGMENT2] > 0 &&
                                   highest_page < limit >> 12);
        CHECK_RULE("CAPS-020", low || highest_page >= 16u << 8); /* it does matter */
    }
}

TEST(paging_buffers_are_as_asked_for)
{
    static const UINT sizes[] = {4096, 0x10000};

    for (size_t i = 0; i < 2; i++) {
        struct probe *p = create(NULL);

        p->paging_bytes = sizes[i];
        run(p, use_memory);
        CHECK_RULE("CAPS-076", first_size == sizes[i] && private_null && private_size == 0);
    }
    {
        struct probe *p = create(NULL);

        private_zero = private_kept = true;
        p->paging_private_bytes = 128;
        p->paging_bytes = 4096;
        run(p, use_memory);
        CHECK_RULE("CAPS-076", !private_null && private_size > 0 && private_zero && private_kept);
    }
}

/* ---- page-table entries ---- */

static NTSTATUS map(const struct probe_gpu *gpu, D3DKMT_HANDLE allocation, UINT64 protection)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu->queue;
    args.hAllocation = allocation;
    args.SizeInPages = allocation ? 256 : 16;
    args.Protection.Value = protection;
    status = D3DKMTMapGpuVirtualAddress(&args);
    return status == STATUS_PENDING ? STATUS_SUCCESS : status;
}

static void map_all_ways(struct probe *p)
{
    const D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE write = {.Write = 1}, execute = {.Execute = 1},
                                                  zero = {.Zero = 1};
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 1 << 20, &allocation), STATUS_SUCCESS));
    CHECK(IS(map(&gpu, allocation, 0), STATUS_SUCCESS)); /* read only, not to be executed */
    CHECK(IS(map(&gpu, allocation, write.Value), STATUS_SUCCESS));
    CHECK(IS(map(&gpu, allocation, execute.Value), STATUS_SUCCESS));
    (void)map(&gpu, 0, zero.Value); /* refused where there are no zero pages */
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static uint64_t flags_with(UINT caps)
{
    struct probe *p = create(NULL);

    p->mmu.Value = caps;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    run(p, map_all_ways);
    return pte_flags;
}

/* Each bit is there with its cap, and never without. */
TEST(entries_use_what_the_gpu_has)
{
    const DXGK_PTE read_only = {.ReadOnly = 1}, no_execute = {.NoExecute = 1}, zero = {.Zero = 1},
                   coherent = {.CacheCoherent = 1}, large = {.LargePage = 1}, valid = {.Valid = 1};
    const uint64_t all = read_only.Flags | no_execute.Flags | zero.Flags | coherent.Flags |
                         large.Flags;
    const DXGK_GPUMMUCAPS with_read_only = {.ReadOnlyMemorySupported = 1},
                          with_no_execute = {.NoExecuteMemorySupported = 1},
                          with_zero = {.ZeroInPteSupported = 1};

    CHECK_RULE("CAPS-088", (flags_with(0) & (all | valid.Flags)) == valid.Flags);
    CHECK_RULE("CAPS-088", (flags_with(with_read_only.Value) & all) == read_only.Flags);
    CHECK_RULE("CAPS-088", (flags_with(with_no_execute.Value) & all) == no_execute.Flags);
    CHECK_RULE("CAPS-088", (flags_with(with_zero.Value) & all & ~zero.Flags) == 0);
}

/* In the aperture, through addresses of the GPU; cached where the test says so. */
static bool cached_memory;

static void in_system_memory(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedReadSegmentSet = 2;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 2;
    args->pAllocationInfo[0].PreferredSegment.Value = 2;
    args->pAllocationInfo[0].FlagsWddm2.CpuVisible = 1;
    args->pAllocationInfo[0].FlagsWddm2.Cached = cached_memory;
}

static uint64_t flags_of(UINT caps, bool cached, bool remapped)
{
    const struct probe_options options = {.port = {.iommu = remapped ? IOMMU_REMAP : IOMMU_OFF}};
    struct probe *p = create(&options);

    cached_memory = cached;
    allocation_flags = 0;
    p->mmu.Value = caps;
    p->segment[1].Flags.CacheCoherent = cached;
    if (remapped)
        p->iommu.DmaRemappingSupported = 1;
    p->after[PROBE_CreateAllocation] = in_system_memory;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    run(p, map_all_ways);
    CHECK(allocation_flags & (DXGK_PTE){.Valid = 1}.Flags);
    return allocation_flags;
}

TEST(cached_memory_is_coherent_where_the_gpu_can)
{
    const DXGK_GPUMMUCAPS can = {.CacheCoherentMemorySupported = 1};
    const DXGK_PTE coherent = {.CacheCoherent = 1};

    for (unsigned remapped = 0; remapped < 2; remapped++)
        for (unsigned cached = 0; cached < 2; cached++) {
            CHECK_RULE("CAPS-088", (flags_of(0, cached, remapped) & coherent.Flags) == 0);
            CHECK_RULE("CAPS-088", ((flags_of(can.Value, cached, remapped) & coherent.Flags) !=
                                    0) == (cached != 0));
        }
}

/* ---- the level of submissions ---- */

/* The IRQLs themselves are looked at for each call of each test (probe_levels.h). */
TEST(submissions_are_raised_on_demand)
{
    for (unsigned raised = 0; raised < 2; raised++) {
        const struct probe_options options = {.port = {.raised_submit = raised != 0}};
        struct probe *p = probe_create(&options);
        const struct probe_call *call;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        {
            struct probe_client *client = probe_client_run(p, use_memory);

            probe_client_end(p, client);
        }
        probe_clients_end(p);
        call = probe_nth(p, PROBE_SubmitCommandVirtual, 0);
        CHECK_RULE(raised ? "THREAD-042/b" : "THREAD-042/a",
                   call && call->irql == (raised ? DISPATCH_LEVEL : PASSIVE_LEVEL));
        probe_destroy(p);
    }
}

/* ---- swizzling ---- */

static void lock_and_use(struct probe *p)
{
    struct probe_gpu gpu;
    D3DKMT_HANDLE allocation;
    D3DKMT_LOCK2 lock;

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 1 << 20, &allocation), STATUS_SUCCESS));
    memset(&lock, 0, sizeof(lock));
    lock.hDevice = gpu.device;
    lock.hAllocation = allocation;
    CHECK(IS(D3DKMTLock2(&lock), STATUS_SUCCESS));
    CHECK(IS(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){gpu.device, allocation}), STATUS_SUCCESS));
    CHECK_RULE("CAPS-028", probe_count(p, PROBE_AcquireSwizzlingRange) == 0 &&
                               probe_count(p, PROBE_ReleaseSwizzlingRange) == 0);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(without_swizzling_ranges_none_is_acquired)
{
    struct probe *p = create(NULL);

    probe_set_entry(p, PROBE_AcquireSwizzlingRange, true);
    probe_set_entry(p, PROBE_ReleaseSwizzlingRange, true);
    CHECK(p->caps.NumberOfSwizzlingRanges == 0);
    run(p, lock_and_use);
}
