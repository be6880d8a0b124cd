/* SPDX-License-Identifier: MIT */
/* D3DKMTUpdateGpuVirtualAddress on a started adapter: what it refuses, and how nothing of a refused call is carried out. */
#include "port/support/update_client.h"

#define POOL (256 * KB)
#define B    (U->base)

/* The call is refused for that rule; its fence and the pages of a good operation before it stay as they were. */
static bool is_refused(update_operation bad, const char *rule, const char *text)
{
    update_operation op[3] = {update_map(B + MB, PAGE, 0), bad, update_map(B + MB, PAGE, 0)};
    const uint64_t value = *U->value;
    bool refused = IS(update_queue(&bad, 1, value), STATUS_INVALID_PARAMETER) &&
                   probe_refused_rule && strcmp(probe_refused_rule, rule) == 0 &&
                   strstr(probe_refused_text, text);

    refused = refused && IS(update_queue(op, 3, value), STATUS_INVALID_PARAMETER) &&
              strstr(probe_refused_text, "operation 1");
    if (!refused)
        return false; /* that is what the caller's rule is about */
    probe_sleep(100000);
    CHECK_RULE("GPUVA-134", *U->value == value && update_shows(B + MB) == UPDATE_ZERO);
    return true;
}

static bool is_accepted(update_operation good)
{
    const uint64_t value = *U->value;

    if (!IS(update_queue(&good, 1, value), STATUS_SUCCESS))
        return false;
    update_await(value + 1);
    return true;
}

/* ---- pages ---- */

TEST_WITH(update, addresses_and_sizes_are_whole_pages)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    CHECK_RULE("GPUVA-126", is_refused(update_map(B, 100, 0), "GPUVA-126", "0x64 bytes"));
    CHECK_RULE("GPUVA-126", is_refused(update_map(B + 1, PAGE, 0), "GPUVA-126", "no whole"));
    CHECK_RULE("GPUVA-126", is_refused(update_map(B, 0, 0), "GPUVA-126", "0x0 bytes"));
    CHECK_RULE("GPUVA-126", is_refused(update_map(B, PAGE, 2048), "GPUVA-126", "from 0x800"));
    op = update_map(B, 2 * PAGE, 0);
    op.Map.AllocationSizeInBytes = 2048;
    CHECK_RULE("GPUVA-126", is_refused(op, "GPUVA-126", "0x800 bytes"));
    CHECK_RULE("GPUVA-126", is_refused(update_unmap(B, PAGE + 1, true), "GPUVA-126", "no whole"));
    CHECK_RULE("GPUVA-126", is_refused(update_unmap(B, 0, true), "GPUVA-126", "0x0 bytes"));
    CHECK_RULE("GPUVA-126", is_refused(update_copy(B, B + 1, PAGE), "GPUVA-126", "no whole"));
    CHECK_RULE("GPUVA-126", is_refused(update_copy(B + 1, B, PAGE), "GPUVA-126", "no whole"));
    CHECK_RULE("GPUVA-126", is_refused(update_copy(B, B, 0), "GPUVA-126", "0x0 bytes"));
    CHECK_RULE("GPUVA-126",
               is_refused(update_protect(B, PAGE, 1, true, 0), "GPUVA-126", "no whole"));
    CHECK_RULE("GPUVA-126",
               is_refused(update_map(~0ull << 12, 2 * PAGE, 0), "GPUVA-126", "no whole"));
    CHECK_RULE("GPUVA-126", is_accepted(update_map(B, PAGE, 0)));
    update_end();
}

TEST_WITH(update, a_window_divides_its_range)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, 256 * KB, 0);
    op.Map.AllocationSizeInBytes = 96 * KB;
    CHECK_RULE("GPUVA-127", is_refused(op, "GPUVA-127", "0x18000"));
    op = update_map(B, 64 * KB, 0);
    op.Map.AllocationSizeInBytes = 128 * KB;
    CHECK_RULE("GPUVA-127", is_refused(op, "GPUVA-127", "0x20000"));
    op = update_protect(B, 64 * KB, 0, true, 0);
    op.MapProtect.AllocationSizeInBytes = 48 * KB;
    CHECK_RULE("GPUVA-127", is_refused(op, "GPUVA-127", "0xc000"));
    op.MapProtect.AllocationSizeInBytes = 64 * KB;
    CHECK_RULE("GPUVA-127", is_accepted(op));
    update_end();
}

/* Each window of a mapping is a step, of which a call has a bounded number. */
TEST_WITH(update, windows_are_not_repeated_without_end)
{
    const uint64_t most = (uint64_t)1 << 22;
    uint64_t vast;
    update_operation op;

    (void)p;
    update_begin(POOL);
    vast = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, (most + 16) * PAGE, 0);
    op = update_map(vast, (most + 1) * PAGE, 0);
    op.Map.AllocationSizeInBytes = PAGE;
    CHECK(IS(update_queue(&op, 1, *U->value), STATUS_INVALID_PARAMETER) &&
          strstr(probe_refused_text, "more than 4194304 times"));
    update_end();
}

/* ---- allocations ---- */

TEST_WITH(update, a_window_lies_inside_a_live_allocation)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    CHECK_RULE("GPUVA-128", is_accepted(update_map(B, POOL, 0)));
    CHECK_RULE("GPUVA-128", is_accepted(update_map(B, PAGE, POOL - PAGE)));
    CHECK_RULE("GPUVA-128", is_refused(update_map(B, 2 * PAGE, POOL - PAGE), "GPUVA-128", "has 64"));
    CHECK_RULE("GPUVA-128", is_refused(update_map(B, PAGE, POOL), "GPUVA-128", "from page 64"));
    CHECK_RULE("GPUVA-128",
               is_refused(update_map(B, PAGE, ~0ull << 12), "GPUVA-128", "the allocation has"));
    op = update_map(B, 512 * KB, 128 * KB); /* the window counts, not the range */
    op.Map.AllocationSizeInBytes = 128 * KB;
    CHECK_RULE("GPUVA-128", is_accepted(op));
    op = update_map(B, PAGE, 0);
    op.Map.hAllocation = U->fence;
    CHECK_RULE("GPUVA-128", is_refused(op, "GPUVA-128", "is no allocation"));
    op.Map.hAllocation = 0;
    CHECK_RULE("GPUVA-128", is_refused(op, "GPUVA-128", "handle 0x0"));
    update_end();
}

/* ---- reservations ---- */

static uint64_t driver_range;

static void reserve_for_the_driver(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *process = (const DXGKARG_CREATEPROCESS *)(uintptr_t)call->arg[1];
    DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE args;

    if (process->Flags.SystemProcess)
        return;
    memset(&args, 0, sizeof(args));
    args.hDxgkProcess = process->hDxgkProcess;
    args.SizeInBytes = 2 * MB;
    args.AllowUserModeMapping = 1;
    CHECK(NT_SUCCESS(p->state[0].dxgk.DxgkCbReserveGpuVirtualAddressRange(
        p->state[0].dxgk.DeviceHandle, &args)));
    driver_range = args.StartVirtualAddress;
}

static void reservations_body(struct probe *p)
{
    uint64_t free, other, uncommitted;

    (void)p;
    update_begin(POOL);
    other = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    uncommitted = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_COMMIT, 64 * KB, 0);
    free = uncommitted + 1024 * MB;
    CHECK_RULE("GPUVA-113",
               is_refused(update_map(uncommitted, PAGE, 0), "GPUVA-125", "not in a reservation"));
    CHECK_RULE("GPUVA-125", is_refused(update_map(U->pool_va, PAGE, 0), "GPUVA-125", "not in"));
    CHECK_RULE("GPUVA-125", is_refused(update_unmap(driver_range, PAGE, true), "GPUVA-125", "not"));
    CHECK_RULE("GPUVA-125", is_refused(update_map(free, PAGE, 0), "GPUVA-125", "not in"));
    CHECK_RULE("GPUVA-125", is_refused(update_copy(B, U->pool_va, PAGE), "GPUVA-125", "not in"));
    CHECK_RULE("GPUVA-125", is_refused(update_copy(U->pool_va, B, PAGE), "GPUVA-125", "not in"));
    CHECK_RULE("GPUVA-124",
               is_refused(update_unmap(B + 2 * MB - PAGE, 2 * PAGE, true), "GPUVA-125", "0x2000"));
    CHECK_RULE("GPUVA-124", is_accepted(update_unmap(other + 60 * KB, PAGE, true)));
    update_end();
}

TEST(only_pages_of_a_clients_reservation_are_updated)
{
    for (unsigned i = 0; i < 3; i++) {
        struct probe *p = update_create(update_modes[i]);

        p->before[PROBE_CreateProcess] = reserve_for_the_driver;
        update_finish(p, reservations_body);
    }
}

TEST_WITH(update, a_call_changes_one_reservation_and_reads_one)
{
    update_operation op[3];
    uint64_t other, third;

    (void)p;
    update_begin(POOL);
    other = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    third = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    for (unsigned i = 0; i < 4; i++) {
        op[0] = update_map(B, PAGE, 0);
        op[1] = i == 0   ? update_map(other, PAGE, 0)
                : i == 1 ? update_protect(other, PAGE, 0, true, 0)
                : i == 2 ? update_unmap(other, PAGE, true)
                         : update_copy(other, B, PAGE);
        CHECK_RULE("GPUVA-124", IS(update_queue(op, 2, 0), STATUS_INVALID_PARAMETER) &&
                                    strcmp(probe_refused_rule, "GPUVA-124") == 0);
    }
    op[0] = update_copy(B, other, PAGE);
    op[1] = update_copy(B + PAGE, third, PAGE);
    CHECK_RULE("GPUVA-124", IS(update_queue(op, 2, 0), STATUS_INVALID_PARAMETER) &&
                                strstr(probe_refused_text, "source"));
    op[1] = update_copy(B + PAGE, other + PAGE, PAGE);
    op[2] = update_map(B + 2 * PAGE, PAGE, 0);
    CHECK_RULE("GPUVA-124", IS(update_queue(op, 3, 0), STATUS_SUCCESS));
    update_await(1);
    CHECK_RULE("GPUVA-124", update_all(B, 2, UPDATE_INVALID) && update_shows(B + 2 * PAGE) == 0);
    update_end();
}

/* ---- bits and reserved members ---- */

TEST_WITH(update, protections_say_what_the_operation_is_for)
{
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_unmap(B, PAGE, true);
    op.Unmap.Protection.NoAccess = 1;
    CHECK_RULE("GPUVA-132", is_refused(op, "GPUVA-132", "one of Zero and NoAccess"));
    op.Unmap.Protection.Value = 0;
    CHECK_RULE("GPUVA-132", is_refused(op, "GPUVA-132", "one of Zero and NoAccess"));
    for (unsigned i = 0; i < 4; i++) {
        op = update_protect(B, PAGE, 0, true, 0);
        if (i == 0)
            op.MapProtect.Protection.Zero = 1;
        else if (i == 1)
            op.MapProtect.Protection.NoAccess = 1;
        else if (i == 2)
            op.MapProtect.Protection.SystemUseOnly = 1;
        else
            op.MapProtect.Protection.Reserved = 1;
        CHECK_RULE("GPUVA-132", is_refused(op, "GPUVA-132", "of a mapping"));
    }
    op = update_map(B, PAGE, 0);
    op.OperationType = (D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION_TYPE)4;
    CHECK_RULE("GPUVA-132", is_refused(op, "GPUVA-132", "OperationType 4"));
    update_end();
}

static bool call_refused(D3DKMT_UPDATEGPUVIRTUALADDRESS args, const char *rule)
{
    const uint64_t value = *U->value;
    bool refused = IS(D3DKMTUpdateGpuVirtualAddress(&args), STATUS_INVALID_PARAMETER) &&
                   (!rule || (probe_refused_rule && strcmp(probe_refused_rule, rule) == 0));

    probe_sleep(100000);
    return refused && *U->value == value && update_shows(B) == UPDATE_ZERO;
}

TEST_WITH(update, reserved_members_are_zero)
{
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, PAGE, 0);
    args = update_request(&op, 0);
    CHECK_RULE("GPUVA-132", call_refused(args, "GPUVA-132"));
    args = update_request(&op, 1);
    args.Reserved0 = 1;
    CHECK_RULE("GPUVA-132", call_refused(args, "GPUVA-132"));
    args = update_request(&op, 1);
    args.Reserved1 = 1ull << 63;
    CHECK_RULE("GPUVA-132", call_refused(args, "GPUVA-132"));
    args = update_request(&op, 1);
    args.Flags.Value = 2;
    CHECK_RULE("GPUVA-132", call_refused(args, "GPUVA-132"));
    args = update_request(NULL, 1);
    CHECK_RULE("KMT-006", call_refused(args, "KMT-006"));
    CHECK_RULE("GPUVA-132", IS(update_queue(&op, 1, 0), STATUS_SUCCESS));
    update_await(1);
    update_end();
}

/* ---- context and fence ---- */

static D3DKMT_HANDLE other_device(void)
{
    D3DKMT_CREATEDEVICE args;

    memset(&args, 0, sizeof(args));
    args.hAdapter = U->gpu.adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&args)));
    return args.hDevice;
}

static D3DKMT_HANDLE physical_context(void)
{
    D3DKMT_CREATECONTEXT args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.NodeOrdinal = 0;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&args)));
    return args.hContext;
}

static D3DKMT_HANDLE sync_object(D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type, bool no_wait)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 args;

    memset(&args, 0, sizeof(args));
    args.hDevice = U->gpu.device;
    args.Info.Type = type;
    args.Info.Flags.NoWait = no_wait;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject2(&args)));
    return args.hSyncObject;
}

TEST_WITH(update, context_and_fence_are_of_the_device)
{
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;
    update_operation op;

    (void)p;
    update_begin(POOL);
    op = update_map(B, PAGE, 0);
    args = update_request(&op, 1);
    args.hContext = physical_context();
    CHECK_RULE("GPUVA-135", call_refused(args, "GPUVA-135"));
    args = update_request(&op, 1);
    args.hDevice = other_device();
    CHECK_RULE("GPUVA-135", call_refused(args, "GPUVA-135"));
    args = update_request(&op, 1);
    args.hFenceObject = sync_object(D3DDDI_FENCE, false);
    CHECK_RULE("GPUVA-135", call_refused(args, "GPUVA-135"));
    args.hFenceObject = U->pool;
    CHECK_RULE("GPUVA-135", call_refused(args, NULL));
    args.hFenceObject = sync_object(D3DDDI_MONITORED_FENCE, true);
    CHECK_RULE("GPUVA-135", IS(D3DKMTUpdateGpuVirtualAddress(&args), STATUS_ACCESS_DENIED));
    args = update_request(&op, 1);
    args.hContext = U->gpu.device;
    CHECK_RULE("GPUVA-135", call_refused(args, NULL));
    args = update_request(&op, 1);
    args.FenceValue = ~0ull; /* no value follows */
    CHECK_RULE("GPUVA-123", call_refused(args, NULL));
    CHECK_RULE("GPUVA-135", IS(update_queue(&op, 1, 0), STATUS_SUCCESS));
    update_await(1);
    update_end();
}
