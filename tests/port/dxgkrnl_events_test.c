/* SPDX-License-Identifier: MIT */
/* Events of Windows' provider from a started adapter: what there is on it; residency, and the paging
 * that it causes. */
#include "port/dxgkrnl_events.h"
#include "port/support/client.h"
#include "sim/sim.h"
#include "support/emitted.h"

#include <string.h>

#define BYTES         (1u << 20)
#define MAKE_RESIDENT 206u /* VidMmOpType */
#define MEMORY        1u   /* segment of the probe */

static struct probe_gpu gpu;
static D3DKMT_HANDLE allocation;

static NTSTATUS make_resident(void)
{
    D3DDDI_MAKERESIDENT resident;

    memset(&resident, 0, sizeof(resident));
    resident.hPagingQueue = gpu.queue;
    resident.NumAllocations = 1;
    resident.AllocationList = &allocation;
    return D3DKMTMakeResident(&resident);
}

static NTSTATUS evict(void)
{
    D3DKMT_EVICT evict;

    memset(&evict, 0, sizeof(evict));
    evict.hDevice = gpu.device;
    evict.NumAllocations = 1;
    evict.AllocationList = &allocation;
    return D3DKMTEvict(&evict);
}

static void body(void (*what)(struct probe *p))
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    memset(&gpu, 0, sizeof(gpu));
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, what);
    probe_client_end(p, client);
    probe_clients_end(p);
    (void)probe_stop(p);
    probe_destroy(p);
}

#define RIG_ARGUMENT_events   struct probe *p
#define RIG_RUN_events(what_) body(what_)

/* Whether each of them, the first with its number, comes after the one before. */
static bool in_order(const unsigned *id, size_t ids)
{
    for (size_t i = 1; i < ids; i++)
        if (!emitted(id[i - 1], 0) || !emitted(id[i], 0) ||
            emitted(id[i - 1], 0)->time >= emitted(id[i], 0)->time)
            return false;
    return true;
}
#define IN_ORDER(...)                         \
    in_order((const unsigned[]){__VA_ARGS__}, \
             sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

TEST_WITH(events, what_is_made_resident_is_paged_in)
{
    const struct wintrace_event *job, *fill;
    uint64_t queue;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    emitted_begin();
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &allocation)));
    CHECK(make_resident() == STATUS_SUCCESS);
    emitted_end();
    queue = emitted_value(emitted(338, 0), "pPagingQueue");
    CHECK(emitted_count(338) == 2 && emitted_count(339) == 2 && queue &&
          emitted_value(emitted(338, 0), "NumAllocations") == 1 &&
          emitted_value(emitted(338, 0), "pSyncObject") != 0);
    CHECK(emitted_value(emitted(339, 0), "Status") == STATUS_PENDING &&
          emitted_value(emitted(339, 0), "PagingFenceValue") == 1);
    CHECK(emitted_value(emitted(339, 1), "Status") == STATUS_SUCCESS &&
          emitted_value(emitted(339, 1), "PagingFenceValue") == 0);
    CHECK(emitted_count(320) == 2 && emitted_value(emitted(320, 0), "ResidencyCount") == 1 &&
          emitted_value(emitted(320, 1), "ResidencyCount") == 2 &&
          emitted_value(emitted(320, 0), "pVidMmAlloc") ==
              emitted_value(emitted(73, 0), "hAllocationHandle"));
    job = emitted(322, 0);
    CHECK(emitted_count(322) == 1 && emitted_value(job, "PagingQueue") == queue &&
          emitted_value(job, "VidMmOpType") == MAKE_RESIDENT &&
          emitted_value(job, "SequenceId") == 1 &&
          emitted_value(job, "Alloc") == emitted_value(emitted(320, 0), "pVidMmAlloc"));
    for (unsigned id = 324; id <= 325; id++)
        CHECK(emitted_value(emitted(id, 0), "PagingQueuePacket") ==
                  emitted_value(job, "PagingQueuePacket") &&
              emitted_value(emitted(id, 0), "SequenceId") == 1);
    fill = emitted(307, 0);
    CHECK(emitted_value(fill, "FillSize") == BYTES && emitted_value(fill, "FillPattern") == 0 &&
          emitted_value(fill, "SegmentId") == MEMORY &&
          emitted_value(fill, "ContinueNextBuffer") == 0);
    CHECK(emitted_value(emitted(73, 0), "uiSegmentId") == MEMORY &&
          emitted_value(emitted(73, 0), "uliOffset") == emitted_value(fill, "SegmentOffset"));
    CHECK(emitted_value(emitted(50, 0), "size") == BYTES &&
          emitted_value(emitted(50, 0), "hAllocationGlobalHandle") ==
              emitted_value(fill, "hAllocationGlobalHandle"));
    CHECK(emitted_value(emitted(309, 0), "hDmaBuffer") == emitted_value(fill, "hDmaBuffer") &&
          emitted_value(emitted(175, 0), "pDmaBuffer") == emitted_value(fill, "hDmaBuffer"));
    CHECK(IN_ORDER(338, 322, 339) && IN_ORDER(322, 324, 309, 50, 307, 73, 178, 175, 177, 325));
    CHECK(emitted_count(310) > 0 && emitted_holds_up());
    emitted_forget();
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST_WITH(events, what_is_evicted_is_copied_out)
{
    const struct wintrace_event *transfer;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &allocation)));
    emitted_begin();
    CHECK(NT_SUCCESS(evict()));
    probe_sleep(1000000);
    emitted_end();
    transfer = emitted(306, 0);
    CHECK(emitted_count(306) == 1 && emitted_value(transfer, "TransferSize") == BYTES &&
          emitted_value(transfer, "SourceSegmentId") == MEMORY &&
          emitted_value(transfer, "DestinationSegmentId") > MEMORY &&
          emitted_value(transfer, "TransferDirection") == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM &&
          emitted_value(transfer, "DestinationSegmentOffset") == 0);
    CHECK(emitted_count(74) == 1 && emitted_count(73) == 0 &&
          emitted_value(emitted(74, 0), "hGlobalAllocationHandle") ==
              emitted_value(transfer, "hAllocationGlobalHandle"));
    CHECK(IN_ORDER(306, 74, 175) && emitted_holds_up());
    emitted_forget();
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void in_the_aperture(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        args->pAllocationInfo[i].SupportedReadSegmentSet =
            args->pAllocationInfo[i].SupportedWriteSegmentSet = 2;
        args->pAllocationInfo[i].FlagsWddm2.AccessedPhysically = 1;
    }
}

static void map_and_unmap(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = in_the_aperture;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    emitted_begin();
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &allocation)));
    CHECK(NT_SUCCESS(evict()));
    probe_sleep(1000000);
    emitted_end();
    for (unsigned id = 51; id <= 52; id++)
        CHECK(emitted_count(id) == 1 && emitted_value(emitted(id, 0), "size") == BYTES);
    emitted_forget();
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

/* By either operation. */
TEST(what_is_mapped_into_the_aperture_is_told_with_its_size)
{
    for (unsigned second = 0; second < 2; second++) {
        struct probe *p = probe_create(NULL);

        p->caps.MemoryManagementCaps.MapAperture2Supported = second & 1u;
        memset(&gpu, 0, sizeof(gpu));
        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        probe_client_end(p, probe_client_run(p, map_and_unmap));
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- what there is ---- */

static void work_and_tell(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, BYTES, &allocation)));
    port_tell_all(p->port);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

/* Of the n-th event of each number, the values of the field are equal. */
static bool same(unsigned id, unsigned n, unsigned other_id, unsigned other_n, const char *field)
{
    return emitted_value(emitted(id, n), field) == emitted_value(emitted(other_id, other_n), field);
}

/* From the start of the adapter to its stop, with a client in between: the two devices of the host
 * and one of the client, with a context of paging, one for each node, and one of the client. */
TEST(objects_begin_are_listed_and_end)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;
    unsigned nodes;

    memset(&gpu, 0, sizeof(gpu));
    probe_clients_begin(p);
    emitted_begin();
    CHECK(NT_SUCCESS(probe_start(p)));
    nodes = p->physical.NumExecutionNodes;
    client = probe_client_run(p, work_and_tell);
    probe_client_end(p, client);
    probe_clients_end(p);
    (void)probe_stop(p);
    emitted_end();

    CHECK(emitted_count(24) == 1 && emitted_count(26) == 1 && emitted_count(25) == 1);
    CHECK(emitted_value(emitted(24, 0), "NbAsymetricProcessingNodes") == nodes &&
          emitted_value(emitted(24, 0), "PagingNode") == p->physical.PagingNodeIndex &&
          emitted_value(emitted(24, 0), "SchedulingCaps") == p->caps.SchedulingCaps.Value &&
          emitted_value(emitted(24, 0), "AdapterType") == 1);
    CHECK(emitted_count(27) == 3 && emitted_count(29) == 3 && emitted_count(28) == 3);
    CHECK(emitted_value(emitted(27, 0), "ClientType") == 0 &&
          emitted_value(emitted(27, 0), "hProcessId") == 4 &&
          emitted_value(emitted(27, 2), "ClientType") == 1 &&
          emitted_value(emitted(27, 2), "hProcessId") != 4 && same(27, 2, 28, 0, "hDevice"));
    CHECK(emitted_count(30) == nodes + 2 && emitted_count(32) == nodes + 2 &&
          emitted_count(31) == nodes + 2);
    for (unsigned i = 0; i < nodes; i++)
        CHECK(emitted_value(emitted(30, i), "NodeOrdinal") == i &&
              emitted_value(emitted(30, i), "Flags") == 1 &&
              emitted_value(emitted(250, i), "NodeOrdinal") == i);
    CHECK(emitted_value(emitted(30, nodes), "Flags") == 3 &&
          emitted_value(emitted(30, nodes), "NodeOrdinal") == p->physical.PagingNodeIndex &&
          same(30, nodes + 1, 27, 2, "hDevice") && same(30, nodes + 1, 31, 0, "hContext"));
    CHECK(emitted_count(250) == 2 * nodes);
    CHECK(emitted_count(78) > 0 && emitted_count(78) % 2 == 0 &&
          emitted_value(emitted(78, 0), "ulSegmentId") == 1 &&
          same(78, 0, 78, emitted_count(78) / 2, "Size"));
    CHECK(emitted_value(emitted(33, 0), "allocSize") == BYTES &&
          emitted_value(emitted(33, 0), "dwWriteSegment") != 0 && same(33, 0, 27, 2, "hDevice") &&
          same(33, 0, 36, 0, "hVidMmGlobalAlloc") && same(33, 0, 35, 0, "hVidMmGlobalAlloc") &&
          same(33, 0, 34, 0, "hVidMmGlobalAlloc") && same(36, 0, 38, 0, "hVidMmAlloc") &&
          same(36, 0, 37, 0, "hVidMmAlloc"));
    CHECK(emitted_value(emitted(36, 0), "hThunkAllocation") == allocation);
    CHECK(IN_ORDER(24, 27, 250, 30, 78, 33, 36, 26, 35, 38, 29, 32, 31, 37, 34, 28, 25));
    CHECK(emitted_holds_up());
    emitted_forget();
    probe_destroy(p);
}
