/* SPDX-License-Identifier: MIT */
/* DMA buffers of a WDDM 1.x driver that are cut: beside other work, many at once, with power going and with failing requests. */
#include "port/support/portions.h"
#include "sim/sim.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

#include <string.h>

/* ---- beside other work ---- */

static uint64_t patch_time[64];

static void note_time(struct probe *p, struct probe_call *call)
{
    if (portions.patch_count < 64)
        patch_time[portions.patch_count] = call->time;
    portions_note_patch(p, call);
}

static void until_patched(unsigned count)
{
    while (portions.patch_count < count)
        probe_sleep(10000);
}

static void slowly(void (*body)(struct probe *p))
{
    struct probe *p = portions_begin(false, false);

    p->before[PROBE_Patch] = note_time;
    probe_device_packet_ns = 1000000;
    portions_end(p, probe_client_run(p, body));
    probe_device_packet_ns = 1000;
}

#define RIG_ARGUMENT_slow_device  struct probe *p
#define RIG_RUN_slow_device(body) slowly(body)

/* Two contexts of one device that do not fit beside each other: what runs keeps its memory, the other
 * waits instead of being cut. */
TEST_WITH(slow_device, contexts_of_a_device_wait)
{
    D3DKMT_CREATECONTEXT first;
    struct portions_gpu g;

    (void)p;
    portions_open_with_four(&g);
    first = g.context;
    memset(&g.context, 0, sizeof(g.context));
    g.context.hDevice = g.device;
    g.context.EngineAffinity = 1;
    CHECK(D3DKMTCreateContext(&g.context) == STATUS_SUCCESS);
    for (unsigned i = 0; i < PORTIONS_MANY; i++)
        g.context.pAllocationList[i + 1] = first.pAllocationList[i + 1];
    for (int turn = 0; turn < 2; turn++) {
        D3DKMT_CREATECONTEXT other = g.context;

        portions_element(&g, 0, 0, turn ? 3 : 1, 0);
        portions_element(&g, 1, 1, turn ? 4 : 2, 32);
        CHECK(portions_render(&g, 64, 2) == STATUS_SUCCESS);
        g.context = first;
        first = other;
        until_patched(1); /* and runs for a millisecond */
    }
    portions_finish(&g);
    CHECK_RULE("RES-002", portions.patch_count == 2 && patch_time[1] >= patch_time[0] + 1000000 &&
                              portions.patched[1].args.DmaBufferSubmissionEndOffset == 64);
    portions_close(&g);
}

/* What a device has used and does not need any more goes to another one although the device runs. */
TEST_WITH(slow_device, what_nobody_needs_is_taken_at_once)
{
    struct portions_gpu g, other;

    (void)p;
    portions_open_with_four(&g);
    portions_open(&other);
    portions_allocate(&other, 0, 7 * PORTIONS_MIB);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    CHECK(portions_render(&g, 64, 2) == STATUS_SUCCESS);
    portions_finish(&g);
    portions_element(&g, 0, 0, 4, 0);
    CHECK(portions_render(&g, 64, 1) == STATUS_SUCCESS);
    until_patched(2);
    portions_element(&other, 0, 0, 1, 0);
    CHECK(portions_render(&other, 64, 1) == STATUS_SUCCESS);
    portions_finish(&other);
    CHECK_RULE("RES-002", portions.patch_count == 3 && patch_time[2] < patch_time[1] + 10000000);
    portions_finish(&g);
    portions_close(&other);
    portions_close(&g);
}

/* A device that is lost while its portion waits for memory. */
TEST_WITH(slow_device, a_waiting_portion_may_end)
{
    D3DKMT_MARKDEVICEASERROR lost;
    D3DKMT_CREATECONTEXT first;
    struct portions_gpu g;

    (void)p;
    portions_open_with_four(&g);
    first = g.context;
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    CHECK(portions_render(&g, 64, 2) == STATUS_SUCCESS);
    until_patched(1);
    memset(&g.context, 0, sizeof(g.context));
    g.context.hDevice = g.device;
    g.context.EngineAffinity = 1;
    CHECK(D3DKMTCreateContext(&g.context) == STATUS_SUCCESS);
    for (unsigned i = 0; i < PORTIONS_MANY; i++)
        g.context.pAllocationList[i + 1] = first.pAllocationList[i + 1];
    portions_element(&g, 0, 0, 3, 0);
    CHECK(portions_render(&g, 64, 1) == STATUS_SUCCESS);
    probe_sleep(20000);
    memset(&lost, 0, sizeof(lost));
    lost.hDevice = g.device;
    lost.Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC;
    CHECK(D3DKMTMarkDeviceAsError(&lost) == STATUS_SUCCESS);
    portions_finish(&g);
    CHECK(portions.patch_count == 1);
    portions_close(&g);
}

/* ---- power goes between two portions ---- */

static struct portions_gpu sleeper;

static void cut_and_under_way(struct probe *p)
{
    (void)p;
    portions_open_with_four(&sleeper);
    portions_element(&sleeper, 0, 0, 1, 0);
    portions_element(&sleeper, 1, 1, 2, 0);
    portions_element(&sleeper, 2, 1, 3, 32); /* beside the first, which stays bound */
    CHECK(portions_render(&sleeper, 64, 3) == STATUS_SUCCESS);
    portions_element(&sleeper, 0, 0, 4, 0);
    CHECK(portions_render(&sleeper, 64, 1) == STATUS_SUCCESS);
    until_patched(1);
}

static void power_cycle(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-122", portions.patch_count == 2 &&
                                portions_address(0, 1) == portions_address(1, 1) &&
                                PORTIONS_THERE(portions.patched[1].list[1]) &&
                                PORTIONS_THERE(portions.patched[1].list[3]));
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

static void to_the_end(struct probe *p)
{
    (void)p;
    portions_finish(&sleeper);
    CHECK_RULE("LIFE-154/c", portions.patch_count == 3 &&
                                 PORTIONS_THERE(portions.patched[2].list[4]) &&
                                 portions_state(&sleeper) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    portions_close(&sleeper);
}

TEST(power_goes_behind_the_last_portion)
{
    struct probe *p = portions_begin(false, true);
    struct probe_client *client;

    probe_device_packet_ns = 1000000;
    client = probe_client_run(p, cut_and_under_way);
    CHECK(probe_run(p, power_cycle) == SIM_DONE);
    probe_client_go_on(p, client, to_the_end);
    portions_end(p, client);
    probe_device_packet_ns = 1000;
}

/* ---- many at once ---- */

static uint64_t random_state;

static unsigned draw(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % below;
}

/* Where the first element's allocation was when the portion before was patched, by DMA buffer. */
static struct {
    const void *buffer;
    UINT end;
    LONGLONG address;
} last[64];

static bool first_has_moved(const DXGKARG_PATCH *args)
{
    const DXGK_ALLOCATIONLIST *a =
        &args->pAllocationList[args->pPatchLocationList[0].AllocationIndex];
    unsigned i = 0;
    bool moved;

    while (last[i].buffer && last[i].buffer != args->pDmaBuffer)
        i++;
    moved = args->DmaBufferSubmissionStartOffset > 0 &&
            args->DmaBufferSubmissionStartOffset == last[i].end && a->hDeviceSpecificAllocation &&
            a->PhysicalAddress.QuadPart != last[i].address;
    last[i].buffer = args->pDmaBuffer;
    last[i].end = args->DmaBufferSubmissionEndOffset;
    last[i].address = a->PhysicalAddress.QuadPart;
    return moved;
}

static bool keeps_first; /* the first element of a buffer binds for all of it */
static unsigned wrong;   /* elements of a portion whose allocation is not there, or on another */

/* Sizes in MiB go with the handles of the driver's allocations: by element, from the client. */
static void judge_patch(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PATCH *args = (const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
    UINT end = args->PatchLocationListSubmissionStart + args->PatchLocationListSubmissionLength;

    (void)p;
    if (args->Flags.Paging)
        return;
    wrong += keeps_first && first_has_moved(args);
    for (UINT i = args->PatchLocationListSubmissionStart; i < end; i++) {
        const D3DDDI_PATCHLOCATIONLIST *one = &args->pPatchLocationList[i];
        const DXGK_ALLOCATIONLIST *a = &args->pAllocationList[one->AllocationIndex];

        if (!a->hDeviceSpecificAllocation)
            continue;
        wrong += !PORTIONS_THERE(*a) ||
                 (a->SegmentId == 1 &&
                  a->PhysicalAddress.QuadPart + (LONGLONG)one->DriverId * PORTIONS_MIB >
                      16 * PORTIONS_MIB);
        wrong += one->SplitOffset < args->DmaBufferSubmissionStartOffset ||
                 one->SplitOffset > args->DmaBufferSubmissionEndOffset;
        for (UINT j = i + 1; j < end; j++) {
            const D3DDDI_PATCHLOCATIONLIST *two = &args->pPatchLocationList[j];
            const DXGK_ALLOCATIONLIST *b = &args->pAllocationList[two->AllocationIndex];

            if (!b->hDeviceSpecificAllocation || one->AllocationIndex == two->AllocationIndex)
                continue;
            wrong += a->SegmentId == b->SegmentId &&
                     a->PhysicalAddress.QuadPart <
                         b->PhysicalAddress.QuadPart + (LONGLONG)two->DriverId * PORTIONS_MIB &&
                     b->PhysicalAddress.QuadPart <
                         a->PhysicalAddress.QuadPart + (LONGLONG)one->DriverId * PORTIONS_MIB;
        }
    }
    portions.patch_count++;
}

/* Several buffers of several portions each, none of which needs more than there is. */
static void busy_client(struct probe *p)
{
    unsigned sizes[PORTIONS_MANY];
    struct portions_gpu g;

    (void)p;
    portions_open(&g);
    for (unsigned i = 0; i < PORTIONS_MANY; i++) {
        sizes[i] = 2 + draw(keeps_first ? 4 : 6); /* beside what must stay, wherever that is */
        portions_allocate(&g, i, (uint64_t)sizes[i] * PORTIONS_MIB);
    }
    for (unsigned turn = 0; turn < 12; turn++) {
        unsigned elements = 2 + draw(8);
        UINT split = 0;

        for (unsigned i = 0; i < elements; i++) {
            unsigned slot = keeps_first && i > 0 ? 1 : i % 2, index = draw(PORTIONS_MANY + 1);

            if (i > 0 && (slot == 0 || (keeps_first &&
                                        i > 1))) /* both slots are bound anew at each split point */
                split += 16 + 16 * draw(2);
            portions_element(&g, i, slot, index, split);
            g.context.pPatchLocationList[i].DriverId = index ? sizes[index - 1] : 0;
        }
        if (elements % 2 && !keeps_first) { /* the last split point has its second slot, too */
            portions_element(&g, elements, 1, 0, split);
            elements++;
        }
        CHECK(portions_render(&g, 1024, elements) == STATUS_SUCCESS);
        if (draw(3) == 0)
            portions_finish(&g);
        if (draw(4) == 0)
            probe_sleep(1000 * draw(2000));
    }
    portions_finish(&g);
    CHECK(portions_state(&g) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    portions_close(&g);
}

TEST(many_clients_share_little_memory)
{
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct probe *p = portions_begin(seed % 4 == 0, seed % 3 == 0);
        struct probe_client *client[3];

        random_state = seed;
        wrong = 0;
        keeps_first = seed % 3 == 0;
        portions.segments = seed % 5 == 4 ? 3 : 1;
        memset(last, 0, sizeof(last));
        p->before[PROBE_Patch] = judge_patch;
        for (unsigned i = 0; i < 2; i++)
            client[i] = probe_client_start(p, busy_client);
        client[2] = probe_client_run(p, busy_client);
        while (!client[0]->done || !client[1]->done)
            probe_client_wait(p, client[client[0]->done ? 1 : 0]);
        CHECK_RULE("PATCH-139", wrong == 0 && portions.patch_count >= 36);
        CHECK_RULE("PATCH-148", wrong == 0);
        if (keeps_first)
            CHECK_RULE("PATCH-122", wrong == 0);
        CHECK(probe_reports(p, VERIFY_ERROR) == 0);
        CHECK(vidmm_validate(vidmm_of_adapter(port_adapter_ddi(p->adapter[0]))));
        CHECK(vidsch_validate(vidsch_of_adapter(port_adapter_ddi(p->adapter[0]))));
        probe_client_end(p, client[0]);
        probe_client_end(p, client[1]);
        portions_end(p, client[2]);
    }
}

/* ---- failing requests ---- */

/* Each of the host's memory requests fails once. */
static uint64_t fail_request;
static bool none_failed;

static void cut_short_of_memory(struct probe *p)
{
    struct portions_gpu g;
    NTSTATUS status;

    portions_open_with_four(&g);
    portions_element(&g, 0, 0, 1, 0);
    portions_element(&g, 1, 1, 2, 0);
    portions_element(&g, 2, 1, 3, 32);
    p->sim->heap.fail_at = p->sim->heap.requests + fail_request;
    status = portions_render(&g, 64, 3);
    CHECK(status == STATUS_SUCCESS || status == STATUS_NO_MEMORY);
    portions_finish(&g);
    none_failed = p->sim->heap.requests < p->sim->heap.fail_at;
    p->sim->heap.fail_at = 0;
    if (portions_state(&g) == D3DKMT_DEVICEEXECUTION_ACTIVE) {
        CHECK(portions_render(&g, 64, 3) == STATUS_SUCCESS);
        portions_finish(&g);
    } else {
        CHECK_RULE("PATCH-124", portions_state(&g) == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    }
    portions_close(&g);
}

TEST(every_request_may_fail)
{
    none_failed = false;
    for (fail_request = 1; !none_failed; fail_request++) {
        struct probe *p = portions_begin(false, true);
        struct probe_client *client = probe_client_run(p, cut_short_of_memory);

        CHECK(vidmm_validate(vidmm_of_adapter(port_adapter_ddi(p->adapter[0]))));
        CHECK(probe_reports(p, VERIFY_ERROR) == 0);
        portions_end(p, client);
    }
    CHECK(fail_request > 8);
}
