/* SPDX-License-Identifier: MIT */
/* Memory that the device uses without having got it from the host: reserved ranges, segments made of system memory. */
#include "port/support/admission.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define BEYOND             (1ull << 32) /* above the RAM of the probe */

static const struct probe_options isolated = {.port = {.iommu = IOMMU_ISOLATION}};
static const struct probe_options remapped = {.port = {.iommu = IOMMU_REMAP}};

static void add_range(struct probe *p, uint64_t base, uint64_t bytes)
{
    p->reserved[p->reserved_ranges].BaseAddress.QuadPart = (LONGLONG)base;
    p->reserved[p->reserved_ranges++].NumberOfBytes.QuadPart = (LONGLONG)bytes;
}

static bool reaches(const struct probe *p, uint64_t address)
{
    struct phys_addr physical;

    return iommu_translate(port_adapter_domain(p->adapter[0]), (struct logical_addr){address},
                           IOMMU_WRITE, &physical) &&
           physical.value == address;
}

/* ---- the two calls ---- */

static struct {
    unsigned calls;
    DXGK_HARDWARERESERVEDRANGES in[2];
    UINT index[2];
    bool zeroed;
} asked;

static void look(struct probe *p, struct probe_call *call)
{
    static const DXGK_PHYSICAL_MEMORY_RANGE none[2];

    (void)p;
    if (call->query_type != DXGKQAITYPE_HARDWARERESERVEDRANGES || asked.calls == 2)
        return;
    memcpy(&asked.in[asked.calls], call->query.pOutputData, sizeof(asked.in[0]));
    memcpy(&asked.index[asked.calls], call->query.pInputData, sizeof(UINT));
    if (asked.in[asked.calls].pPhysicalRanges)
        asked.zeroed = memcmp(asked.in[asked.calls].pPhysicalRanges, none, sizeof(none)) == 0;
    asked.calls++;
}

TEST(the_query_is_made_twice)
{
    struct probe *p = probe_create(NULL);

    memset(&asked, 0, sizeof(asked));
    p->before[PROBE_QueryAdapterInfo] = look;
    add_range(p, BEYOND, 4096);
    add_range(p, BEYOND + 8192, 8192);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-076/a", probe_queries(p, DXGKQAITYPE_HARDWARERESERVEDRANGES) == 2);
    CHECK_RULE("IOMMU-077/bc", !asked.in[0].pPhysicalRanges && asked.in[0].NumRanges == 0 &&
                                   asked.in[1].pPhysicalRanges && asked.in[1].NumRanges == 2 &&
                                   asked.zeroed && asked.index[0] == 0 && asked.index[1] == 0);
    CHECK_RULE("IOMMU-077/a",
               probe_query(p, DXGKQAITYPE_HARDWARERESERVEDRANGES, 0)->query.InputDataSize ==
                   sizeof(UINT));
    probe_destroy(p);
    p = probe_create(NULL);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-076/b", probe_queries(p, DXGKQAITYPE_HARDWARERESERVEDRANGES) == 1);
    probe_destroy(p);
}

static void one_less(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_HARDWARERESERVEDRANGES)
        p->reserved_ranges--;
}

static void one_more(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_HARDWARERESERVEDRANGES && p->reserved_ranges == 1)
        ((DXGK_HARDWARERESERVEDRANGES *)call->query.pOutputData)->NumRanges +=
            ((DXGK_HARDWARERESERVEDRANGES *)call->query.pOutputData)->pPhysicalRanges != NULL;
}

static void fail_second(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_HARDWARERESERVEDRANGES)
        p->query_status[DXGKQAITYPE_HARDWARERESERVEDRANGES] = STATUS_NO_MEMORY;
}

TEST(answers_that_do_not_agree)
{
    struct probe *p = probe_create(NULL);

    add_range(p, BEYOND, 4096);
    add_range(p, BEYOND + 4096, 4096);
    p->after[PROBE_QueryAdapterInfo] = one_less;
    (void)probe_start(p);
    CHECK_RULE("IOMMU-078/a", verify_bugcheck_state(p->log)->happened &&
                                  verify_bugcheck_state(p->log)->code == 0x10E &&
                                  verify_bugcheck_state(p->log)->parameter[0] == 0x2F);
    probe_destroy(p);
    p = probe_create(NULL);
    add_range(p, BEYOND, 4096);
    p->after[PROBE_QueryAdapterInfo] = one_more;
    (void)probe_start(p);
    CHECK_RULE("IOMMU-078/a", verify_bugcheck_state(p->log)->happened &&
                                  verify_bugcheck_state(p->log)->code == 0x10E &&
                                  verify_bugcheck_state(p->log)->parameter[0] == 0x2F);
    probe_destroy(p);
    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_HARDWARERESERVEDRANGES] = STATUS_NO_MEMORY;
    CHECK_RULE("IOMMU-078/b", IS(probe_start(p), STATUS_NO_MEMORY));
    probe_destroy(p);
    p = probe_create(NULL);
    add_range(p, BEYOND, 4096);
    p->after[PROBE_QueryAdapterInfo] = fail_second;
    CHECK_RULE("IOMMU-078/c", IS(probe_start(p), STATUS_NO_MEMORY));
    probe_destroy(p);
}

/* ---- which ranges ---- */

TEST(validity)
{
    struct probe *p;

    ACCEPTED("IOMMU-079", add_range(p, BEYOND, 4096));
    EXPECTED("IOMMU-079", "CAPS-119", add_range(p, (64u << 20) - 4096, 8192)); /* a page of RAM */
    EXPECTED("IOMMU-080/a", "CAPS-119", add_range(p, 1u << 20, 4096));
    EXPECTED("IOMMU-080/a", "CAPS-119", add_range(p, (64u << 20) - 4096, 4096)); /* the last page */
    ACCEPTED("IOMMU-080/a", add_range(p, 64u << 20, 4096));
    EXPECTED("IOMMU-080/b", "CAPS-119", add_range(p, BEYOND + 100, 4096));
    EXPECTED("IOMMU-080/b", "CAPS-119", add_range(p, BEYOND, 4095));
    EXPECTED("IOMMU-080/c", "CAPS-119", add_range(p, BEYOND, 0));
    EXPECTED("IOMMU-080/d", "CAPS-119", add_range(p, ~0xFFFull, 8192));
    ACCEPTED("IOMMU-080/e", add_range(p, BEYOND, 3 * 4096), add_range(p, BEYOND + 4096, 4 * 4096));
}

static void before_isolation(struct probe *p, struct probe_call *call)
{
    (void)call;
    CHECK_RULE("IOMMU-081/a", iommu_page_mapped(port_adapter_domain(port_adapter_first(p->port)),
                                                (struct logical_page){BEYOND >> 12}));
}

/* One segment more. */
static void system_segment(struct probe *p, uint64_t base)
{
    DXGK_SEGMENTDESCRIPTOR4 *segment = &p->segment[2];

    p->segments = 3;
    p->segment[0].BaseAddress.QuadPart = 1ll << 36; /* out of the way */
    memset(segment, 0, sizeof(*segment));
    segment->Flags.PopulatedFromSystemMemory = 1;
    segment->BaseAddress.QuadPart = (LONGLONG)base;
    segment->Size = 1u << 20;
    segment->CommitLimit = 1u << 20;
}

static unsigned segment_seen;

/* From its first page to its last, and no further, when nothing is translated yet. */
static void segment_before_isolation(struct probe *p, struct probe_call *call)
{
    const struct iommu_domain *domain = port_adapter_domain(port_adapter_first(p->port));
    const uint64_t first = BEYOND >> 12, last = (BEYOND + (1u << 20) - 1) >> 12;

    (void)call;
    for (uint64_t page = first; page <= last; page++)
        CHECK_RULE("SEG-049", iommu_page_mapped(domain, (struct logical_page){page}));
    CHECK_RULE("SEG-049", !iommu_page_mapped(domain, (struct logical_page){first - 1}) &&
                              !iommu_page_mapped(domain, (struct logical_page){last + 1}));
    CHECK_RULE("SEG-049", iommu_domain_mode(domain) != IOMMU_REMAP);
    segment_seen++;
}

TEST(reserved_memory_is_there_at_the_attach)
{
    struct probe *p = probe_create(&isolated);
    struct iommu_domain *domain;

    add_range(p, BEYOND, 3 * 4096);
    add_range(p, BEYOND + 4096, 4 * 4096);
    p->before[PROBE_BeginExclusiveAccess] = before_isolation;
    p->before[PROBE_RemoveDevice] = before_isolation;
    CHECK(NT_SUCCESS(probe_start(p)));
    domain = port_adapter_domain(p->adapter[0]);
    CHECK_RULE("IOMMU-081/a", reaches(p, BEYOND) && reaches(p, BEYOND + 4 * 4096) &&
                                  !reaches(p, BEYOND + 5 * 4096) &&
                                  iommu_domain_mode(domain) == IOMMU_ISOLATION);
    probe_destroy(p);

    p = probe_create(&isolated);
    system_segment(p, BEYOND);
    segment_seen = 0;
    p->before[PROBE_BeginExclusiveAccess] = segment_before_isolation;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("SEG-049", segment_seen == 1);
    CHECK_RULE("IOMMU-081/b", reaches(p, BEYOND) && reaches(p, BEYOND + (1u << 20) - 1) &&
                                  !reaches(p, BEYOND + (1u << 20)));
    probe_destroy(p);
}

/* ---- logical mode ---- */

static DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
static DXGK_ADL *adl;

/* A megabyte of memory at whatever device address, and a segment over it. */
static void make_segment(struct probe *p, struct probe_call *call)
{
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGKARGCB_ALLOCATE_ADL args;

    (void)call;
    memset(&object, 0, sizeof(object));
    object.hAdapter = dxgk->DeviceHandle;
    object.Type = DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY;
    object.Size = 1u << 20;
    object.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    object.ContiguousMemory.HighestAcceptableAddress.QuadPart = -1;
    CHECK(NT_SUCCESS(dxgk->DxgkCbCreatePhysicalMemoryObject(&object)));
    memset(&args, 0, sizeof(args));
    args.hAdapterMemoryObject = object.hAdapterMemoryObject;
    args.Size = 1u << 20;
    args.Flags.RequireContiguous = 1;
    CHECK(NT_SUCCESS(dxgk->DxgkCbAllocateAdl(&args)));
    adl = args.pAdl;
    system_segment(p, adl->BasePageNumber << 12);
}

static void drop_segment(struct probe *p, struct probe_call *call)
{
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGKARGCB_FREE_ADL args;
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT destroy;

    (void)call;
    memset(&args, 0, sizeof(args));
    args.hAdapterMemoryObject = object.hAdapterMemoryObject;
    args.pAdl = adl;
    dxgk->DxgkCbFreeAdl(&args);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hPhysicalMemoryObject = object.hPhysicalMemoryObject;
    destroy.hAdapterMemoryObject = object.hAdapterMemoryObject;
    dxgk->DxgkCbDestroyPhysicalMemoryObject(&destroy);
}

#define MANY 70u /* times a megabyte: the last of them lie above the addresses of RAM */

static DXGK_ADL *many[MANY];

/* The last page of a live range lies where the device says it has memory of its own. */
static void take_then_reserve(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_ALLOCATE_ADL args = {.Size = 1u << 20};

    make_segment(p, call);
    p->segments = 2;
    args.hAdapterMemoryObject = object.hAdapterMemoryObject;
    args.Flags.RequireContiguous = 1;
    for (unsigned i = 0; i < MANY; i++) {
        CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbAllocateAdl(&args)));
        many[i] = args.pAdl;
    }
    CHECK(many[MANY - 1]->BasePageNumber >= (64u << 20) / 4096);
    add_range(p, (many[MANY - 1]->BasePageNumber + many[MANY - 1]->PageCount - 1) << 12, 4096);
}

static void drop_many(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_FREE_ADL args = {.hAdapterMemoryObject = object.hAdapterMemoryObject};

    for (unsigned i = 0; i < MANY; i++) {
        args.pAdl = many[i];
        p->state[0].dxgk.DxgkCbFreeAdl(&args);
    }
    drop_segment(p, call);
}

TEST(reserved_ranges_in_logical_mode)
{
    struct probe *p = probe_create(&remapped);

    add_range(p, BEYOND, 3 * 4096);
    add_range(p, BEYOND + 4096, 4 * 4096);
    p->memory.HighestVisibleAddress.QuadPart = (LONGLONG)(BEYOND * 2 - 1);
    CHECK_RULE("IOMMU-082/a", NT_SUCCESS(probe_start(p)) && reaches(p, BEYOND) &&
                                  reaches(p, BEYOND + 4 * 4096) && !reaches(p, BEYOND + 5 * 4096));
    probe_destroy(p);
    for (unsigned pages = 1; pages <= 2; pages++) { /* up to the limit, and a page beyond */
        p = probe_create(&remapped);
        add_range(p, 2 * BEYOND - 4096, pages * 4096);
        p->memory.HighestVisibleAddress.QuadPart = (LONGLONG)(BEYOND * 2 - 1);
        CHECK_RULE(pages == 1 ? "IOMMU-082/a" : "IOMMU-082/b",
                   IS(probe_start(p), pages == 1 ? STATUS_SUCCESS : STATUS_NOT_SUPPORTED) &&
                       probe_rule(p, "IOMMU-082") == pages - 1);
        probe_destroy(p);
    }
    p = probe_create(&remapped);
    p->after[PROBE_StartDevice] = take_then_reserve;
    p->before[PROBE_StopDevice] = drop_many;
    p->memory.HighestVisibleAddress.QuadPart = (LONGLONG)(BEYOND * 2 - 1);
    CHECK_RULE("IOMMU-082/c",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "IOMMU-082") == 1);
    probe_destroy(p);
    p = probe_create(&remapped);
    add_range(p, BEYOND, 4096);
    p->memory.HighestVisibleAddress.QuadPart = (LONGLONG)(BEYOND - 1);
    CHECK_RULE("IOMMU-082/b",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "IOMMU-082") == 1);
    probe_destroy(p);
}

static void make_longer_segment(struct probe *p, struct probe_call *call)
{
    make_segment(p, call);
    p->segment[2].Size += 4096;
    p->segment[2].CommitLimit += 4096;
}

TEST(system_segments_in_logical_mode)
{
    struct probe *p = probe_create(&remapped);

    p->after[PROBE_StartDevice] = make_segment;
    p->before[PROBE_StopDevice] = drop_segment;
    CHECK_RULE("IOMMU-083/a", NT_SUCCESS(probe_start(p)) && probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(probe_stop(p) == 0);
    probe_destroy(p);
    p = probe_create(&remapped);
    p->after[PROBE_StartDevice] = make_longer_segment;
    p->before[PROBE_StopDevice] = drop_segment;
    CHECK_RULE("IOMMU-083/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                  probe_rule(p, "IOMMU-083") == 1);
    probe_destroy(p);
    p = probe_create(&remapped);
    system_segment(p, 16u << 20); /* frames of RAM, which mean nothing to the device */
    CHECK_RULE("IOMMU-083/b", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                  probe_rule(p, "IOMMU-083") == 1);
    probe_destroy(p);
}

/* ---- how far the device reaches ---- */

TEST(every_logical_address_is_within_reach)
{
    static const char *const wide[] = {"dma_bits=40", NULL};
    const struct probe_options options = {.device = wide, .port = {.iommu = IOMMU_REMAP}};
    struct probe *p = probe_create(&options);

    p->memory.HighestVisibleAddress.QuadPart = (4 << 20) - 1; /* the narrowest of the link */
    p->after[PROBE_StartDevice] = make_segment;
    p->before[PROBE_StopDevice] = drop_segment;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-008", adl->BasePageNumber + adl->PageCount <= (4u << 20) / 4096);
    CHECK_RULE("IOMMU-029/a", adl->BasePageNumber + adl->PageCount <= (4u << 20) / 4096);
    probe_destroy(p);
}

static NTSTATUS adl_status;

/* A megabyte in one piece, which goes to the second one. */
static void ask_for_a_megabyte(struct probe *p, struct probe_call *call)
{
    DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGKARGCB_ALLOCATE_ADL args = {.Size = 1u << 20};

    make_segment(p, call);
    p->segments = 2;
    args.hAdapterMemoryObject = object.hAdapterMemoryObject;
    args.Flags.RequireContiguous = 1;
    adl_status = dxgk->DxgkCbAllocateAdl(&args);
    if (NT_SUCCESS(adl_status))
        dxgk->DxgkCbFreeAdl(&(DXGKARGCB_FREE_ADL){
            .hAdapterMemoryObject = object.hAdapterMemoryObject, .pAdl = args.pAdl});
}

/* The driver says less than the device can: one page less than two more megabytes is too little for the second. */
TEST(the_driver_limits_logical_addresses)
{
    for (unsigned less = 0; less < 2; less++) {
        struct probe *p = probe_create(&remapped);

        p->memory.HighestVisibleAddress.QuadPart = (3 << 20) - 1 - (LONGLONG)less * 4096;
        p->after[PROBE_StartDevice] = ask_for_a_megabyte;
        p->before[PROBE_StopDevice] = drop_segment;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK_RULE("IOMMU-008", NT_SUCCESS(adl_status) == !less);
        probe_destroy(p);
    }
}

/* ---- two things with similar names ---- */

TEST(the_two_iommu_caps_are_unrelated)
{
    struct probe *p;

    p = probe_create(&isolated);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-099/a",
               port_adapter_dma_mode(p->adapter[0]) == IOMMU_ISOLATION &&
                   !port_adapter_caps(p->adapter[0])->MemoryManagementCaps.IoMmuSupported);
    probe_destroy(p);
    p = probe_create(&isolated);
    p->iommu.Value = 0;
    p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    p->caps.MemoryManagementCaps.IoMmuSupported = 1;
    p->physical.Flags.IoMmuSupported = 1;
    for (unsigned i = 0; i < PROBE_MAX_NODES; i++)
        p->node[i].IoMmuSupported = p->node[i].GpuMmuSupported;
    CHECK_RULE("IOMMU-099/b",
               NT_SUCCESS(probe_start(p)) && port_adapter_dma_mode(p->adapter[0]) == IOMMU_OFF);
    probe_destroy(p);
    REPORTED("IOMMU-101", "CAPS-096", VERIFY_ERROR, p->physical.Flags.IoMmuSupported = 1);
}
