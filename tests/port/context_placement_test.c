/* SPDX-License-Identifier: MIT */
/* Context allocations of a driver on a started adapter: where they are, and whose memory they are not. */
#include "port/support/context_client.h"
#include "port/support/va_shadow.h"

#define PAGES 256u /* of each context allocation here */

/* ---- what was built ---- */

static struct {
    unsigned maps, inits;
    uint64_t map_order, init_order;
    SIZE_T first, pages;
} built;

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation == DXGK_OPERATION_INIT_CONTEXT_RESOURCE) {
        built.inits++;
        built.init_order = call->order;
    }
    if (op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT) {
        built.first = op->MapApertureSegment.OffsetInPages;
        built.pages = op->MapApertureSegment.NumberOfPages;
    } else if (op->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2) {
        built.first = op->MapApertureSegment2.OffsetInPages;
        built.pages = op->MapApertureSegment2.NumberOfPages;
    } else {
        return;
    }
    built.maps++;
    built.map_order = call->order;
}

static void only_video_memory(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet = 1;
        args->pAllocationInfo[i].SupportedWriteSegmentSet = 1;
        args->pAllocationInfo[i].PreferredSegment.SegmentId1 = 0;
    }
}

static struct probe *create(UINT version)
{
    const struct probe_options options = {.version = version};
    struct probe *p = probe_create(&options);

    if (version)
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
    memset(&context_rig, 0, sizeof(context_rig));
    memset(&built, 0, sizeof(built));
    va_shadow_begin(p);
    va_shadow.operation = note_operation;
    probe_set_entry(p, PROBE_Escape, true);
    p->before[PROBE_Escape] = context_rig_serve;
    p->before[PROBE_CreateDevice] = context_rig_note_device;
    p->before[PROBE_CreateContext] = context_rig_note_context;
    p->after[PROBE_CreateAllocation] = only_video_memory;
    return p;
}

static bool physically;
static UINT segment_set;

static void make_large(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);
    DXGKARGCB_MAPCONTEXTALLOCATION map;

    args.Size = PAGES * 4096;
    args.SupportedSegmentSet = segment_set;
    args.Flags.AccessedPhysically = physically;
    CHECK_RULE("CTXA-043", context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
    map = context_map_request(context_item);
    map.SizeInPages = PAGES;
    map.BaseAddress = 64 * MB;
    CHECK(context_map(p, &map) == 64 * MB);
}

static bool is_contiguous(void)
{
    const struct va_shadow_context *context = &va_shadow.context[va_shadow.contexts - 1];
    const DXGK_PTE first = va_shadow_walk(context, 64 * MB);

    for (unsigned i = 0; i < PAGES; i++)
        if (!va_shadow_is(context, 64 * MB + i * 4096ull, first.Segment, first.PageAddress + i))
            return false;
    return first.Segment == 1;
}

static bool is_mapped(UINT segment)
{
    const struct va_shadow_context *context = &va_shadow.context[va_shadow.contexts - 1];

    for (unsigned i = 0; i < PAGES; i++) {
        const DXGK_PTE entry = va_shadow_walk(context, 64 * MB + i * 4096ull);

        if (!entry.Valid || entry.Zero || entry.Segment != segment)
            return false;
    }
    return true;
}

/* ---- a segment without a hole of 1 MB ---- */

static D3DKMT_HANDLE piece[256];

static NTSTATUS destroy_piece(D3DKMT_HANDLE allocation)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = G->device;
    args.phAllocationList = &allocation;
    args.AllocationCount = 1;
    return D3DKMTDestroyAllocation2(&args);
}

/* Pieces as long as there is room for them; then every second one goes. */
static void make_holes(uint64_t bytes)
{
    unsigned count = 0;

    while (count < 256 && NT_SUCCESS(probe_gpu_allocate(G, bytes, &piece[count])))
        count++;
    CHECK(count > 100 && count < 256);
    for (unsigned i = 0; i < count; i += 2)
        CHECK(NT_SUCCESS(destroy_piece(piece[i])));
}

static void fragmented_body(struct probe *p)
{
    context_begin_client();
    make_holes(64 << 10);
    context_rig_inside(0, make_large);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    CHECK(built.inits == 1 && is_mapped(1));
    if (physically) {
        CHECK_RULE("CTXA-042", is_contiguous());
        CHECK_RULE("GPUVA-246", is_contiguous());
    } else {
        CHECK_RULE("CTXA-043", !is_contiguous() && built.maps == 0);
    }
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

TEST(one_physical_address_reaches_what_is_accessed_physically)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create(0);

        physically = i != 0;
        segment_set = 1;
        context_rig_run(p, fragmented_body);
    }
}

/* ---- system memory ---- */

static void system_body(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, make_large);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    CHECK(built.inits == 1 && is_mapped(0));
    if (physically) {
        CHECK_RULE("CTXA-042", built.maps == 1 && built.map_order < built.init_order);
        CHECK_RULE("GPUVA-246", built.pages == PAGES && built.first + PAGES <= 4096);
    } else {
        CHECK_RULE("CTXA-043", built.maps == 0);
    }
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

TEST(only_what_is_accessed_physically_is_in_the_aperture)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create(0);

        physically = i != 0;
        segment_set = 2;
        context_rig_run(p, system_body);
    }
}

/* The same of an allocation of a client. */
static void in_the_aperture(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedReadSegmentSet = 2;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 2;
    args->pAllocationInfo[0].PreferredSegment.Value = 0;
    args->pAllocationInfo[0].FlagsWddm2.AccessedPhysically = physically;
}

static void client_body(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    context_begin_client();
    p->after[PROBE_CreateAllocation] = in_the_aperture;
    CHECK(NT_SUCCESS(probe_gpu_allocate(G, PAGES * 4096, &allocation)));
    CHECK_RULE("GPUVA-246", built.maps == (unsigned)physically &&
                                (!physically || (built.pages == PAGES && built.inits == 0)));
    context_end_client();
}

TEST(of_clients_too_only_what_is_accessed_physically_is_in_the_aperture)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create(DXGKDDI_INTERFACE_VERSION_WDDM2_0);

        physically = i != 0;
        segment_set = 2;
        context_rig_run(p, client_body);
    }
}

/* ---- budgets and lists ---- */

static D3DKMT_QUERYVIDEOMEMORYINFO memory_info(void)
{
    D3DKMT_QUERYVIDEOMEMORYINFO info;

    memset(&info, 0, sizeof(info));
    info.hAdapter = G->adapter;
    info.MemorySegmentGroup = D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL;
    CHECK(NT_SUCCESS(D3DKMTQueryVideoMemoryInfo(&info)));
    return info;
}

/* Whatever of the client's fits is on its list: the context allocation is there all the same. */
static void budget_body(struct probe *p)
{
    D3DKMT_QUERYVIDEOMEMORYINFO before, after;
    D3DKMT_HANDLE own;

    context_begin_client();
    CHECK(NT_SUCCESS(probe_gpu_allocate(G, PAGES * 4096, &own)));
    before = memory_info();
    CHECK(before.CurrentUsage == PAGES * 4096);
    context_rig_inside(0, make_large);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    CHECK(is_mapped(1));
    after = memory_info();
    CHECK_RULE("CTXA-032", after.CurrentUsage == before.CurrentUsage);
    make_holes(64 << 10); /* of what is left */
    CHECK_RULE("CTXA-032", is_mapped(1) && built.inits == 1);
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

TEST(context_allocations_are_on_no_list_and_in_no_budget)
{
    struct probe *p = create(0);

    physically = false;
    segment_set = 1;
    context_rig_run(p, budget_body);
}

/* ---- which hosts have the callbacks ---- */

static bool has(const DXGKRNL_INTERFACE *interface, size_t offset)
{
    return offset < interface->Size &&
           *(void *const *)(const void *)((const char *)interface + offset) != NULL;
}

static void interface_of(UINT version, DXGKRNL_INTERFACE *interface)
{
    const struct probe_options options = {.version = version,
                                          .port = {.interface_version = version}};
    struct probe *p = probe_create(&options);

    if (version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        probe_make_1x(p);
    else
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
    CHECK(NT_SUCCESS(probe_start(p)));
    *interface = p->state[0].dxgk;
    probe_destroy(p);
}

TEST(the_callbacks_come_with_the_version_of_the_host)
{
    static const struct {
        UINT version;
        bool create, map;
    } hosts[] = {{DXGKDDI_INTERFACE_VERSION_WIN7, false, false},
                 {DXGKDDI_INTERFACE_VERSION_WIN8, true, false},
                 {DXGKDDI_INTERFACE_VERSION_WDDM1_3, true, false},
                 {DXGKDDI_INTERFACE_VERSION_WDDM2_0, true, true}};
    DXGKRNL_INTERFACE of;

    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        interface_of(hosts[i].version, &of);
        CHECK_RULE("CTXA-001",
                   has(&of, offsetof(DXGKRNL_INTERFACE, DxgkCbCreateContextAllocation)) ==
                           hosts[i].create &&
                       has(&of, offsetof(DXGKRNL_INTERFACE, DxgkCbDestroyContextAllocation)) ==
                           hosts[i].create);
        CHECK_RULE("CTXA-001",
                   has(&of, offsetof(DXGKRNL_INTERFACE, DxgkCbMapContextAllocation)) ==
                           hosts[i].map &&
                       has(&of, offsetof(DXGKRNL_INTERFACE, DxgkCbUpdateContextAllocation)) ==
                           hosts[i].map &&
                       has(&of, offsetof(DXGKRNL_INTERFACE, DxgkCbReserveGpuVirtualAddressRange)) ==
                           hosts[i].map);
    }
}
