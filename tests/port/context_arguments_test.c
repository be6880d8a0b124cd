/* SPDX-License-Identifier: MIT */
/* Arguments of the callbacks about context allocations on a started adapter: every failure gives its status, a report, and
 * nothing but a NULL handle in the argument structure. */
#include "port/support/context_calls.h"
#include "sim/sim.h"

#include <stddef.h>
#include <sys/mman.h>

#define G (&context_rig.gpu)

static HANDLE item;

static void make(struct probe *p)
{
    item = context_make(p);
}

static void unmake(struct probe *p)
{
    CHECK(context_destroy(p, item) == STATUS_SUCCESS);
}

/* ---- creation: one wrong member at a time ---- */

typedef DXGKARGCB_CREATECONTEXTALLOCATION create_args;

static void reserved_flag(create_args *a)
{
    a->ContextAllocationFlags.Value = 4;
}
static void highest_reserved_flag(create_args *a)
{
    a->ContextAllocationFlags.Value = 0x80000000u;
}
static void linked_adapter(create_args *a)
{
    a->PhysicalAdapterIndex = 1;
}
static void overlay(create_args *a)
{
    a->Flags.Value = 0x100;
}
static void protected_permanent(create_args *a)
{
    a->Flags.Value = 0x8 | 0x2;
}
static void cached_alone(create_args *a)
{
    a->Flags.Value = 0x4;
}
static void notification_alone(create_args *a)
{
    a->Flags.Value = 0x10000;
}
static void no_size(create_args *a)
{
    a->Size = 0;
}
static void odd_alignment(create_args *a)
{
    a->Alignment = 3;
}
static void no_segment(create_args *a)
{
    a->SupportedSegmentSet = 0;
}
static void unknown_segment(create_args *a)
{
    a->SupportedSegmentSet = 0x80000000u;
}
static void eviction_to_memory(create_args *a)
{
    a->EvictionSegmentSet = 1;
}
static void preference_outside(create_args *a)
{
    a->PreferredSegment.SegmentId4 = 2;
}
static void context_of_all(create_args *a)
{
    a->ContextAllocationFlags.SharedAcrossContexts = 1;
}
static void too_large(create_args *a)
{
    a->Size = (SIZE_T)1 << 40;
}

static const struct {
    void (*spoil)(create_args *a);
    const char *rule, *said;
    NTSTATUS status;
    enum verify_severity severity;
} bad[] = {
    {reserved_flag, "CTXA-014", "bits 0x4 are reserved", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {highest_reserved_flag, "CTXA-014", "0x80000000", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {linked_adapter, "CTXA-028", "PhysicalAdapterIndex is 1", STATUS_INVALID_PARAMETER,
     VERIFY_ERROR},
    {overlay, "CTXA-024", "0x100 mean nothing", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {protected_permanent, "CTXA-024", "PermanentSysMem", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {cached_alone, "CTXA-024", "Cached without", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {no_size, "CTXA-018", "Size is 0", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {odd_alignment, "CTXA-018", "Alignment 0x3", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {no_segment, "CTXA-022", "SupportedSegmentSet is 0x0", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {unknown_segment, "CTXA-022", "SupportedSegmentSet is 0x80000000", STATUS_INVALID_PARAMETER,
     VERIFY_ERROR},
    {eviction_to_memory, "CTXA-022", "EvictionSegmentSet is 0x1", STATUS_INVALID_PARAMETER,
     VERIFY_ERROR},
    {preference_outside, "CTXA-022", "SegmentId4 is 2", STATUS_INVALID_PARAMETER, VERIFY_ERROR},
    {context_of_all, "CTXA-008", "must be NULL with SharedAcrossContexts", STATUS_INVALID_PARAMETER,
     VERIFY_ERROR},
    {too_large, "CTXA-028", "fits into none of the segments 0x1", STATUS_NO_MEMORY, VERIFY_NOTE},
};

static size_t which;

static void create_spoiled(struct probe *p)
{
    create_args args = context_request(p);

    bad[which].spoil(&args);
    CHECK_RULE("CTXA-028",
               context_create(p, &args) == bad[which].status && args.hAllocation == NULL);
    CHECK_RULE("CTXA-028", probe_rule(p, bad[which].rule) == 1 &&
                               probe_said(p, bad[which].rule, bad[which].said) &&
                               probe_record(p, bad[which].rule)->severity == bad[which].severity);
}

/* Only expected: it is created all the same. */
static void create_notified(struct probe *p)
{
    create_args args = context_request(p);

    notification_alone(&args);
    CHECK_RULE("GPUVA-241", context_create(p, &args) == STATUS_SUCCESS && args.hAllocation &&
                                probe_record(p, "GPUVA-241")->severity == VERIFY_WARNING);
    CHECK(verify_set_severity(p->log, "GPUVA-241", VERIFY_ERROR));
    args = context_request(p);
    notification_alone(&args);
    CHECK_RULE("GPUVA-241", context_create(p, &args) == STATUS_INVALID_PARAMETER &&
                                args.hAllocation == NULL && probe_rule(p, "GPUVA-241") == 2);
}

static void notified_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    context_rig_inside(0, create_notified);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

TEST(a_notification_without_physical_access_is_only_not_expected)
{
    context_rig_run(context_rig_create(NULL), notified_body);
}

static void create_body(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    context_rig_inside(0, create_spoiled);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

TEST(each_bad_creation_says_what_is_wrong)
{
    for (which = 0; which < sizeof(bad) / sizeof(bad[0]); which++)
        context_rig_run(context_rig_create(NULL), create_body);
}

/* ---- structures that are not there ---- */

static void no_structures(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    void *nowhere = (void *)(uintptr_t)16;

    CHECK_RULE("CTXA-005",
               dxgk->DxgkCbCreateContextAllocation(NULL) == STATUS_INVALID_PARAMETER &&
                   probe_rule(p, "CTXA-005") == 1 &&
                   dxgk->DxgkCbCreateContextAllocation(nowhere) == STATUS_INVALID_PARAMETER &&
                   probe_rule(p, "CTXA-005") == 2);
    CHECK_RULE("CTXA-005", dxgk->DxgkCbMapContextAllocation(dxgk->DeviceHandle, NULL) == 0 &&
                               probe_rule(p, "CTXA-005") == 3);
    CHECK_RULE("CTXA-005", dxgk->DxgkCbUpdateContextAllocation(dxgk->DeviceHandle, NULL) ==
                                   STATUS_INVALID_PARAMETER &&
                               probe_rule(p, "CTXA-005") == 4);
    CHECK_RULE("GPUVA-046", dxgk->DxgkCbReserveGpuVirtualAddressRange(dxgk->DeviceHandle, NULL) ==
                                    STATUS_INVALID_PARAMETER &&
                                probe_rule(p, "GPUVA-046") == 1);
    CHECK_RULE("CTXA-005", probe_said(p, "CTXA-005", "is NULL"));
}

static void bad_updates(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    DXGKARGCB_UPDATECONTEXTALLOCATION args;

    memset(&args, 0, sizeof(args));
    args.hAllocation = item;
    args.PrivateDriverDataSize = 4;
    CHECK_RULE("CTXA-058", dxgk->DxgkCbUpdateContextAllocation(dxgk->DeviceHandle, &args) ==
                                   STATUS_INVALID_PARAMETER &&
                               probe_said(p, "CTXA-058", "pPrivateDriverData is NULL"));
    args.pPrivateDriverData = (void *)(uintptr_t)16;
    CHECK_RULE("CTXA-058", dxgk->DxgkCbUpdateContextAllocation(dxgk->DeviceHandle, &args) ==
                                   STATUS_INVALID_PARAMETER &&
                               probe_rule(p, "CTXA-058") == 2);
}

/* Readable, but the handle cannot be given back: nothing is made. */
static void read_only_creation(struct probe *p)
{
    create_args *args = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(args != MAP_FAILED);
    *args = context_request(p);
    CHECK(mprotect(args, 4096, PROT_READ) == 0);
    CHECK_RULE("CTXA-005", context_create(p, args) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("CTXA-005", probe_said(p, "CTXA-005", "cannot be written"));
    (void)munmap(args, 4096);
}

TEST_WITH(context_driver, a_handle_that_cannot_be_written_is_none)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    context_rig_inside(0, read_only_creation);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
    CHECK_RULE("CTXA-066", probe_rule(p, "CTXA-066") == 0);
}

/* A driver of WDDM 1.x has the shorter structure, and fewer flags. */
static void short_creation(struct probe *p)
{
    const size_t bytes = offsetof(create_args, PhysicalAdapterIndex);
    uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    create_args whole = context_request(p);
    create_args *args = (create_args *)(void *)(page + 4096 - bytes);

    CHECK(page != (uint8_t *)MAP_FAILED && mprotect(page + 4096, 4096, PROT_NONE) == 0);
    whole.hContext = NULL;
    whole.ContextAllocationFlags.SharedAcrossContexts = 1;
    memcpy(args, &whole, bytes);
    CHECK_RULE("CTXA-005", context_create(p, args) == STATUS_SUCCESS && args->hAllocation);
    CHECK(context_destroy(p, args->hAllocation) == STATUS_SUCCESS);
    args->ContextAllocationFlags.Value = 3;
    CHECK_RULE("CTXA-014", context_create(p, args) == STATUS_INVALID_PARAMETER &&
                               probe_rule(p, "CTXA-014") == 1);
    (void)munmap(page, 8192);
}

static void short_body(struct probe *p)
{
    (void)p;
    (void)probe_gpu_begin(G); /* all but the virtual context, which is none for this driver */
    context_rig_inside(0, short_creation);
    (void)probe_gpu_end(G);
}

TEST(older_drivers_have_the_shorter_structure)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WIN8};
    struct probe *p = context_rig_create(&options);

    probe_make_1x(p);
    context_rig_run(p, short_body);
}

TEST_WITH(context_driver, structures_that_cannot_be_read)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    context_rig_inside(0, no_structures);
    context_rig_inside(0, make);
    context_rig_inside(0, bad_updates);
    context_rig_inside(0, unmake);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

/* ---- at the wrong time and level ---- */

static NTSTATUS early[4];
static create_args early_args;
static D3DGPU_VIRTUAL_ADDRESS early_va;

static void call_all(struct probe *p)
{
    DXGKARGCB_MAPCONTEXTALLOCATION map = context_map_request(item);

    early_args = context_request(p);
    early_va = 1;
    early[0] = context_create(p, &early_args);
    early[1] = context_destroy(p, (HANDLE)(uintptr_t)1);
    early[2] = context_update(p, (HANDLE)(uintptr_t)1);
    early_va = context_map(p, &map);
}

static void in_start(struct probe *p, struct probe_call *call)
{
    (void)call;
    call_all(p);
}

static void after_stop(struct probe *p)
{
    probe_remove(p, 0);
}

TEST(the_start_comes_first)
{
    struct probe *p = context_rig_create(NULL);

    p->after[PROBE_StartDevice] = in_start;
    CHECK(NT_SUCCESS(probe_start(p)));
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("CTXA-028", early[i] == STATUS_INVALID_DEVICE_STATE);
    CHECK_RULE("CTXA-028", early_args.hAllocation == NULL && early_va == 0);
    CHECK_RULE("CTXA-012", probe_rule(p, "CTXA-012") == 1);
    CHECK_RULE("CTXA-045", probe_rule(p, "CTXA-045") == 1);
    CHECK_RULE("CTXA-058", probe_rule(p, "CTXA-058") == 1);
    CHECK_RULE("CTXA-063", probe_rule(p, "CTXA-063") == 1);
    CHECK(probe_run(p, after_stop) == SIM_DONE);
    early_args = context_request(p);
    CHECK_RULE("CTXA-028", p->state[0].dxgk.DxgkCbCreateContextAllocation(&early_args) ==
                                   STATUS_INVALID_PARAMETER &&
                               early_args.hAllocation == NULL);
    probe_destroy(p);
}

static void raised(struct probe *p)
{
    create_args args = context_request(p);
    KIRQL irql;

    KeRaiseIrql(DISPATCH_LEVEL, &irql);
    CHECK_RULE("CTXA-003", context_create(p, &args) == STATUS_INVALID_DEVICE_REQUEST &&
                               args.hAllocation == NULL);
    CHECK_RULE("CTXA-003", context_map_at(p, item, 0) == 0);
    KeLowerIrql(irql);
    CHECK_RULE("CTXA-002", probe_rule(p, "THREAD-047") == 2);
}

TEST_WITH(context_driver, levels_are_kept)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    context_rig_inside(0, make);
    context_rig_inside(0, raised);
    context_rig_inside(0, unmake);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

/* ---- contexts without virtual addressing ---- */

static void map_physical(struct probe *p)
{
    item = context_make(p);
    CHECK_RULE("CTXA-050", context_map_at(p, item, 0) == 0 &&
                               probe_said(p, "CTXA-050", "without virtual addressing") &&
                               probe_record(p, "CTXA-050")->severity == VERIFY_NOTE);
    CHECK(context_destroy(p, item) == STATUS_SUCCESS);
}

TEST_WITH(context_driver, physical_contexts_have_no_addresses)
{
    D3DKMT_CREATECONTEXT create;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    memset(&create, 0, sizeof(create));
    create.hDevice = G->device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&create)));
    context_rig_inside(0, map_physical);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}
