/* SPDX-License-Identifier: MIT */
/* Offers on a started adapter: what becomes of the pages of an offered allocation, and what a reclaim finds. */
#include "port/support/paged.h"
#include "ram/ram.h"
#include "sim/sim.h"

#include <stdlib.h>
#include <string.h>

#define IS(status, s) ((NTSTATUS)(status) == (s))
#define PAGES         256u

static struct probe_gpu gpu;
static D3DKMT_HANDLE item;

static NTSTATUS offer(bool decommit)
{
    D3DKMT_OFFERALLOCATIONS args;

    memset(&args, 0, sizeof(args));
    args.hDevice = gpu.device;
    args.HandleList = &item;
    args.NumAllocations = 1;
    args.Priority = D3DKMT_OFFER_PRIORITY_LOW;
    args.Flags.OfferImmediately = 1;
    args.Flags.AllowDecommit = decommit;
    return D3DKMTOfferAllocations(&args);
}

static D3DDDI_RECLAIM_RESULT reclaim(uint64_t *fence)
{
    D3DKMT_RECLAIMALLOCATIONS2 args;
    D3DDDI_RECLAIM_RESULT result = (D3DDDI_RECLAIM_RESULT)7;
    NTSTATUS status;

    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.HandleList = &item;
    args.NumAllocations = 1;
    args.pResults = &result;
    status = D3DKMTReclaimAllocations2(&args);
    CHECK(NT_SUCCESS(status));
    *fence = args.PagingFenceValue;
    return result;
}

/* ---- memory that there is ---- */

static struct page_number *taken;
static uint64_t taken_pages;

static void take_all_ram(struct probe *p)
{
    struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED};

    taken_pages = ram_free_pages(p->ram);
    taken = calloc(taken_pages, sizeof(*taken));
    request.pages = taken_pages;
    CHECK(taken && ram_take_pages(p->ram, &request, taken));
}

static void give_ram(struct probe *p)
{
    ram_give_pages(p->ram, taken, taken_pages);
    free(taken);
}

static bool decommits;

static void use_in_system_memory(struct probe *p)
{
    UINT32 *data;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    paged.segments = 2;
    paged.flags = 0x8001; /* CpuVisible, AccessedPhysically */
    CHECK(NT_SUCCESS(probe_gpu_allocate(&gpu, PAGES * PAGED_PAGE, &item)));
    data = paged_lock(&gpu, item);
    CHECK(data != NULL);
    data[5] = 0xC0FFEE;
    CHECK(NT_SUCCESS(paged_unlock(&gpu, item)));
    CHECK(IS(offer(decommits), STATUS_SUCCESS));
}

/* What is offered is dropped: power goes. */
static void drop(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

static void reclaim_in_shortage(struct probe *p)
{
    uint64_t fence;

    take_all_ram(p);
    if (!decommits) {
        CHECK_RULE("RES-067", reclaim(&fence) == D3DDDI_RECLAIM_RESULT_DISCARDED);
    } else {
        CHECK_RULE("RES-070", reclaim(&fence) == D3DDDI_RECLAIM_RESULT_NOT_COMMITTED && fence == 0);
        CHECK_RULE("RES-071",
                   paged_lock(&gpu, item) == NULL && strcmp(probe_refused_rule, "RES-065") == 0);
        CHECK_RULE("RES-071", reclaim(&fence) == D3DDDI_RECLAIM_RESULT_NOT_COMMITTED);
    }
    give_ram(p);
}

static void reclaim_again(struct probe *p)
{
    volatile UINT32 *data;
    uint64_t fence;

    (void)p;
    CHECK_RULE("RES-071", reclaim(&fence) == (decommits ? D3DDDI_RECLAIM_RESULT_DISCARDED
                                                        : D3DDDI_RECLAIM_RESULT_OK));
    CHECK(fence == 0 || NT_SUCCESS(paged_wait(&gpu, fence)));
    data = paged_lock(&gpu, item);
    CHECK_RULE("RES-071", data != NULL);
    CHECK_RULE("RES-067", data[5] == 0); /* the content is lost all the same */
    CHECK(NT_SUCCESS(paged_unlock(&gpu, item)));
    CHECK(NT_SUCCESS(probe_gpu_submit(&gpu)) && NT_SUCCESS(probe_gpu_wait_idle(&gpu)));
}

static void offered_and_dropped(bool decommit)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;
    uint64_t before;

    decommits = decommit;
    paged_watch(p);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, use_in_system_memory);
    before = ram_free_pages(p->ram);
    CHECK(probe_run(p, drop) == SIM_DONE);
    CHECK_RULE("RES-067", ram_free_pages(p->ram) == before + (decommit ? PAGES : 0));
    probe_client_go_on(p, client, reclaim_in_shortage);
    probe_client_go_on(p, client, reclaim_again);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(only_who_allows_it_loses_the_pages)
{
    offered_and_dropped(false);
    offered_and_dropped(true);
}

/* ---- moved while it is offered ---- */

static void move_offered(struct probe *p)
{
    D3DDDI_UPDATEALLOCPROPERTY args;
    uint64_t fence;

    decommits = false;
    use_in_system_memory(p);
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = gpu.queue;
    args.hAllocation = item;
    args.SetSupportedSegmentSet = 1;
    args.SupportedSegmentSet = 1;
    CHECK(IS(D3DKMTUpdateAllocationProperty(&args), STATUS_PENDING));
    CHECK(NT_SUCCESS(paged_wait(&gpu, args.PagingFenceValue)));
    CHECK_RULE("RES-068", reclaim(&fence) == D3DDDI_RECLAIM_RESULT_DISCARDED);
}

/* It leaves its place without its content, of which the reclaim tells. */
TEST(a_move_discards_what_is_offered)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    paged_watch(p);
    probe_set_entry(p, PROBE_ValidateUpdateAllocationProperty, true);
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, move_offered);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
