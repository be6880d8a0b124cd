/* SPDX-License-Identifier: MIT */
/* What a driver acquires of client handles on a started adapter, and holds while its client, or the adapter, goes. */
#include "port/support/context_calls.h"

#include <sys/mman.h>

#define G    (&context_rig.gpu)
#define DXGK p->state[0].dxgk

static D3DKMT_HANDLE allocation, resource;
static HANDLE held;

static void *acquire(struct probe *p, D3DKMT_HANDLE object, DXGK_HANDLE_TYPE type, HANDLE *release)
{
    DXGKARGCB_GETHANDLEDATA args;

    memset(&args, 0, sizeof(args));
    args.hObject = object;
    args.Type = type;
    return DXGK.DxgkCbAcquireHandleData(&args, release);
}

static void release(struct probe *p, HANDLE handle, DXGK_HANDLE_TYPE type)
{
    DXGK.DxgkCbReleaseHandleData(
        (DXGKARGCB_RELEASEHANDLEDATA){.ReleaseHandle = handle, .Type = type});
}

static void create_resource(void)
{
    D3DKMT_CREATEALLOCATION create;
    D3DDDI_ALLOCATIONINFO2 info;
    uint64_t bytes = 4096;

    memset(&info, 0, sizeof(info));
    memset(&create, 0, sizeof(create));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    create.hDevice = G->device;
    create.NumAllocations = 1;
    create.pAllocationInfo2 = &info;
    create.Flags.CreateResource = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateAllocation2(&create)));
    allocation = info.hAllocation;
    resource = create.hResource;
}

static void begin(void)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(G)));
    create_resource();
}

static void destroy_resource(void)
{
    D3DKMT_DESTROYALLOCATION2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = G->device;
    args.hResource = resource;
    CHECK(NT_SUCCESS(D3DKMTDestroyAllocation2(&args)));
}

/* ---- where the release handle goes ---- */

static void no_place(struct probe *p)
{
    HANDLE *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HANDLE left = (HANDLE)(uintptr_t)1;

    CHECK(page != MAP_FAILED);
    CHECK_RULE("ALLOC-099", acquire(p, allocation, DXGK_HANDLE_ALLOCATION, page) == NULL);
    CHECK_RULE("ALLOC-099", probe_rule(p, "ALLOC-099") == 1 &&
                                probe_said(p, "ALLOC-099", "the release handle cannot be written"));
    CHECK_RULE("ALLOC-100", DXGK.DxgkCbAcquireHandleData(NULL, &left) == NULL && left == NULL);
    /* of nothing, and nowhere: there is nothing to take back */
    CHECK_RULE("ALLOC-099", acquire(p, 0x77777777, DXGK_HANDLE_ALLOCATION, page) == NULL &&
                                probe_rule(p, "ALLOC-099") == 2 && probe_rule(p, "ALLOC-102") == 0);
    (void)munmap(page, 4096);
}

TEST_WITH(context_driver, what_cannot_be_told_is_not_held)
{
    begin();
    context_rig_inside(0, no_place);
    destroy_resource();
    probe_sleep(1000000);
    CHECK_RULE("ALLOC-099", probe_count(p, PROBE_DestroyAllocation) == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
    CHECK_RULE("ALLOC-103", probe_rule(p, "ALLOC-103") == 0);
}

/* ---- levels ---- */

static void raised(struct probe *p)
{
    HANDLE mine = (HANDLE)(uintptr_t)1;
    KIRQL irql;

    KeRaiseIrql(APC_LEVEL, &irql);
    CHECK_RULE("ALLOC-099", acquire(p, allocation, DXGK_HANDLE_ALLOCATION, &mine) != NULL);
    release(p, mine, DXGK_HANDLE_ALLOCATION);
    CHECK_RULE("ALLOC-101", probe_reports(p, VERIFY_WARNING) == 0);
    mine = NULL;
    CHECK(acquire(p, allocation, DXGK_HANDLE_ALLOCATION, &held) != NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &irql);
    CHECK_RULE("THREAD-009",
               acquire(p, allocation, DXGK_HANDLE_ALLOCATION, &mine) == NULL && mine == NULL);
    release(p, held, DXGK_HANDLE_ALLOCATION); /* without effect */
    KeLowerIrql(PASSIVE_LEVEL);
    CHECK_RULE("THREAD-009", probe_rule(p, "THREAD-048") == 2);
    release(p, held, DXGK_HANDLE_ALLOCATION);
    CHECK_RULE("THREAD-009", probe_rule(p, "ALLOC-102") == 0);
}

TEST_WITH(context_driver, calls_at_dispatch_level_have_no_effect)
{
    (void)p;
    begin();
    context_rig_inside(0, raised);
    destroy_resource();
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

/* ---- resources ---- */

static void name_resource(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->hResource = (HANDLE)(uintptr_t)0x5E50;
}

static struct probe *with_resources(void)
{
    struct probe *p = context_rig_create(NULL);

    p->after[PROBE_CreateAllocation] = name_resource;
    return p;
}

#define RIG_ARGUMENT_resources  struct probe *p
#define RIG_RUN_resources(body) context_rig_run(with_resources(), body)

static void hold_resource(struct probe *p)
{
    CHECK_RULE("ALLOC-099", acquire(p, resource, DXGK_HANDLE_RESOURCE, &held) != NULL);
}

static void release_resource(struct probe *p)
{
    release(p, held, DXGK_HANDLE_ALLOCATION); /* of another type: not held */
    CHECK_RULE("ALLOC-102", probe_rule(p, "ALLOC-102") == 1 &&
                                probe_said(p, "ALLOC-102", "the handle of an acquired resource"));
    CHECK_RULE("ALLOC-099", probe_count(p, PROBE_DestroyAllocation) == 0);
    release(p, held, DXGK_HANDLE_RESOURCE);
    CHECK_RULE("ALLOC-101", probe_rule(p, "ALLOC-102") == 1);
}

TEST_WITH(resources, a_resource_stays_while_it_is_held)
{
    begin();
    context_rig_inside(0, hold_resource);
    destroy_resource();
    probe_sleep(100000000);
    CHECK_RULE("ALLOC-099", probe_count(p, PROBE_DestroyAllocation) == 0);
    context_rig_inside(0, release_resource);
    probe_sleep(1000000);
    CHECK_RULE("ALLOC-101", probe_count(p, PROBE_DestroyAllocation) == 1);
    CHECK(NT_SUCCESS(probe_gpu_end(G)));
}

/* ---- held to the end ---- */

TEST_WITH(resources, what_is_forgotten_is_released_by_the_host)
{
    begin();
    context_rig_inside(0, hold_resource);
    CHECK(NT_SUCCESS(probe_gpu_end(G))); /* after some time; the client is not held up for ever */
    CHECK_RULE("ALLOC-103", probe_rule(p, "ALLOC-103") == 1 &&
                                probe_said(p, "ALLOC-103", "what it acquired of a resource"));
    CHECK_RULE("ALLOC-103", probe_count(p, PROBE_DestroyAllocation) == 1);
    release(p, held, DXGK_HANDLE_RESOURCE);
    CHECK_RULE("ALLOC-102", probe_rule(p, "ALLOC-102") == 1 &&
                                probe_said(p, "ALLOC-102", "an acquired resource"));
}

TEST_WITH(resources, a_removed_adapter_gives_back_what_is_held)
{
    begin();
    context_rig_inside(0, hold_resource);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true)));
    release(p, held, DXGK_HANDLE_RESOURCE);
    CHECK_RULE("ALLOC-101", probe_rule(p, "ALLOC-102") == 0);
    release(p, held, DXGK_HANDLE_RESOURCE);
    CHECK_RULE("ALLOC-102", probe_rule(p, "ALLOC-102") == 1);
    (void)probe_gpu_end(G);
}
