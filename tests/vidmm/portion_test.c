/* SPDX-License-Identifier: MIT */
/* Portions of DMA buffers, WDDM 1.x, as the scheduler asks for them: what it does that a driver cannot be made to bring about. */
#include "support/mm_rig.h"

#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/point.h"
#include "sim/wait.h"

#define OK(call) CHECK(NT_SUCCESS(call))
#define MANY     3u

/* Elements 0 to MANY - 1 of a buffer, all at its start. */
struct buffer {
    struct vidmm_need need[MANY];
    struct vidmm_portion portion;
};

static D3DKMT_HANDLE vram(struct mm_client *c, uint64_t megabytes)
{
    return mm_create_ok(c, mm_private_default(MM_SET_VRAM, megabytes * MM_MB));
}

static void needs(struct buffer *b, struct mm_client *c, const D3DKMT_HANDLE *list, uint32_t count)
{
    memset(b, 0, sizeof(*b));
    for (uint32_t i = 0; i < count; i++)
        b->need[i].allocation = list[i];
    b->portion = (struct vidmm_portion){.device = c->device, .need = b->need, .wanted = count};
}

/* With the GPU. */
static void sends(struct buffer *b)
{
    while (!vidmm_portion_prepare(&b->portion))
        sim_stall(100000);
    b->portion.fixed = b->portion.in_flight = true;
}

static D3DKMT_HANDLE *kept_list(D3DKMT_HANDLE handle)
{
    D3DKMT_HANDLE *kept = util_alloc(sizeof(*kept));

    *kept = handle;
    return kept;
}

static void run(void (*body)(struct mm_rig *rig))
{
    struct mm_options o;

    mm_options_default(&o);
    o.version = DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    o.physical = true;
    o.iommu = IOMMU_ISOLATION;
    mm_run(&o, body);
}

#define RIG_ARGUMENT_portion  struct mm_rig *rig
#define RIG_RUN_portion(body) run(body)

/* ---- a portion comes back from the GPU ---- */

TEST_WITH(portion, what_comes_back_is_asked_again)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE one[] = {vram(c, 6), vram(c, 5)}, two[] = {vram(c, 7)};
    struct buffer first, second;
    uint32_t told;

    needs(&first, c, one, 2);
    needs(&second, c, two, 1);
    mm_submit(c);
    sends(&first);
    CHECK(!vidmm_portion_prepare(&second.portion));
    told = c->resident_calls;
    mm_idle(rig);
    sim_block(sim_now() + 1000000000, NULL);
    CHECK_RULE("PATCH-121", c->resident_calls == told && second.portion.count == 0);
    vidmm_portion_returned(&first.portion);
    mm_idle(rig);
    CHECK_RULE("PATCH-158", c->resident_calls == told + 1); /* it is asked again */
    CHECK_RULE("PATCH-158", vidmm_portion_prepare(&first.portion) && first.portion.count == 2);
    vidmm_portion_returned(&first.portion); /* nobody waits for that now */
    mm_idle(rig);
    CHECK(c->resident_calls == told + 1 && !vidmm_portion_prepare(&second.portion));
    mm_idle(rig);
    CHECK_RULE("PATCH-121", vidmm_portion_prepare(&second.portion)); /* what waits lets go */
    CHECK_RULE("PATCH-158", !first.portion.held);
    vidmm_portion_release(&first.portion);
    vidmm_portion_release(&second.portion);
    mm_finish(c);
    CHECK(c->error == 0 && vidmm_validate(rig->vidmm));
}

/* ---- what is on the list ---- */

/* There, but off the list: on it again before it is used. What nobody needs leaves before what waits. */
TEST_WITH(portion, what_is_there_is_listed_again)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE a = vram(c, 6), z = vram(c, 5), x = vram(c, 9);
    struct buffer first, second;

    needs(&first, c, &a, 1);
    sends(&first);
    vidmm_portion_release(&first.portion);
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(portion_unlist_all(rig->vidmm) && mm_allocation(c, a)->ready);
    sim_mutex_unlock(&rig->vidmm->lock);
    needs(&first, c, &a, 1);
    sends(&first);
    CHECK_RULE("RES-002", mm_open(c, a)->residency_count == 1);
    vidmm_portion_returned(&first.portion);
    needs(&second, c, &z, 1);
    sends(&second);
    vidmm_portion_release(&second.portion);
    needs(&second, c, &x, 1);
    sends(&second);
    CHECK_RULE("RES-004", first.portion.held && mm_allocation(c, a)->resident &&
                              mm_open(c, z)->residency_count == 0);
    vidmm_portion_release(&first.portion);
    vidmm_portion_release(&second.portion);
}

/* ---- what fits by counting but has no place ---- */

/* An allocation of `megabytes` that nothing may move. */
static D3DKMT_HANDLE stuck(struct mm_client *c, uint64_t megabytes)
{
    D3DKMT_HANDLE handle = vram(c, megabytes);
    struct buffer b;

    needs(&b, c, &handle, 1);
    sends(&b);
    mm_allocation(c, handle)->pins++;
    vidmm_portion_release(&b.portion);
    return handle;
}

/* A portion that the driver knows is not cut any more. */
TEST_WITH(portion, what_the_driver_knows_is_not_cut)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 3), vram(c, 3)};
    struct buffer known;
    D3DKMT_HANDLE x;

    needs(&known, c, list, 2);
    known.need[1].split = 32;
    sends(&known);
    vidmm_portion_returned(&known.portion);
    x = stuck(c, 12);
    CHECK(!known.portion.held && !vidmm_portion_prepare(&known.portion));
    mm_idle(rig);
    CHECK_RULE("PATCH-158", c->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK_RULE("PATCH-124", mm_violations(rig, "PATCH-124") == 1);
    vidmm_portion_release(&known.portion);
    mm_allocation(c, x)->pins--;
    CHECK(mm_open(c, list[0])->portions == 0 && mm_open(c, list[1])->portions == 0);
}

/* Nothing would be left before the split point: refused at once, for ever. */
static void empty_at(struct mm_client *c, uint32_t split)
{
    const D3DKMT_HANDLE list[] = {vram(c, 9), vram(c, 9)};
    struct buffer b;

    needs(&b, c, list, 2);
    b.need[0].split = b.need[1].split = b.portion.start = split;
    CHECK_RULE("PATCH-124", !vidmm_portion_prepare(&b.portion));
    sim_block(sim_now() + 1000000, NULL);
    CHECK_RULE("PATCH-124", c->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
    CHECK(!b.portion.held && !vidmm_portion_prepare(&b.portion));
    vidmm_portion_release(&b.portion);
    CHECK(mm_open(c, list[0])->portions == 0 && mm_open(c, list[1])->portions == 0);
}

static void empty_body(struct mm_rig *rig)
{
    empty_at(&rig->client[0], 0);
    CHECK_RULE("PATCH-124", mm_violations(rig, "PATCH-124") == 1);
}

static void empty_rest_body(struct mm_rig *rig)
{
    empty_at(&rig->client[0], 32);
    CHECK_RULE("PATCH-124", mm_violations(rig, "PATCH-124") == 1);
}

TEST(an_empty_portion_is_refused)
{
    run(empty_body);
    run(empty_rest_body);
}

/* What stays in place for the portion itself does not make it wait. */
TEST_WITH(portion, what_it_keeps_itself_does_not_count)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 3), vram(c, 6)};
    D3DKMT_HANDLE x = stuck(c, 5), k = vram(c, 4);
    struct buffer first, second;

    needs(&first, c, &k, 1);
    sends(&first);
    needs(&second, c, list, 2);
    second.need[0].split = second.portion.start = 32;
    second.need[1].split = 48;
    vidmm_portion_keep(&second.portion, kept_list(k), 1);
    vidmm_portion_release(&first.portion);
    CHECK(!vidmm_portion_prepare(&second.portion));
    mm_idle(rig);
    CHECK_RULE("PATCH-121", vidmm_portion_prepare(&second.portion) && second.portion.count == 1);
    vidmm_portion_release(&second.portion);
    mm_allocation(c, x)->pins--;
    CHECK(c->error == 0);
}

/* ---- what stays in place ---- */

/* The client closes a shared allocation that stays in place for it. */
TEST_WITH(portion, what_is_closed_stays_no_more)
{
    struct mm_client *a = &rig->client[0], *b = &rig->client[1];
    struct mm_private data = mm_private_default(MM_SET_VRAM, 6 * MM_MB);
    D3DDDI_ALLOCATIONINFO2 info = {0};
    struct vidmm_create_item item = {
        .private_data = &data, .private_bytes = sizeof(data), .info = &info};
    struct vidmm_create_request request = {.count = 1, .item = &item};
    struct vidmm_open_item theirs;
    struct vidmm_resource *resource;
    D3DKMT_HANDLE handle, other;
    struct buffer first, second;

    OK(mm_client_open(rig, 1, 1));
    request.flags.CreateResource = request.flags.CreateShared = 1;
    OK(vidmm_allocation_create(a->device, &request, &handle));
    resource = vidmm_resource_get(a->device, handle);
    OK(vidmm_resource_open(b->device, resource, false, &theirs, 1, &other));
    needs(&first, a, &info.hAllocation, 1);
    needs(&second, a, NULL, 0);
    sends(&first);
    vidmm_portion_keep(&second.portion, kept_list(info.hAllocation), 1);
    vidmm_portion_release(&first.portion);
    CHECK_RULE("PATCH-122", mm_allocation(b, theirs.allocation)->pins == 1);
    OK(vidmm_allocation_destroy(a->device, handle, NULL, 0, (D3DDDICB_DESTROYALLOCATION2FLAGS){0}));
    CHECK_RULE("PATCH-122", mm_allocation(b, theirs.allocation)->pins == 0);
    mm_idle(rig);
    vidmm_portion_release(&second.portion);
    CHECK_RULE("PATCH-122",
               mm_allocation(b, theirs.allocation)->pins == 0 && rig->vidmm->old.kept == 0);
    vidmm_resource_put(resource);
}

/* What did not fit beside it is told when that ends. */
TEST_WITH(portion, who_waits_for_it_is_told)
{
    struct mm_client *c = &rig->client[0], *other = &rig->client[1];
    struct buffer first, second, big;
    D3DKMT_HANDLE k, mine = vram(c, 12);

    OK(mm_client_open(rig, 1, 1));
    k = vram(other, 6);
    needs(&first, other, &k, 1);
    needs(&second, other, NULL, 0);
    sends(&first);
    vidmm_portion_keep(&second.portion, kept_list(k), 1);
    vidmm_portion_release(&first.portion);
    needs(&big, c, &mine, 1);
    CHECK(!vidmm_portion_prepare(&big.portion));
    mm_idle(rig);
    CHECK_RULE("PATCH-122", c->resident_calls == 0 && mm_allocation(other, k)->resident);
    vidmm_portion_release(&second.portion);
    mm_idle(rig);
    CHECK_RULE("PATCH-122", c->resident_calls == 1 && vidmm_portion_prepare(&big.portion));
    vidmm_portion_release(&big.portion);
    CHECK(c->error == 0);
}

/* ---- a device is lost while its portion is brought in ---- */

static struct buffer *ending;

static NTSTATUS end_it(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)args;
    if (ending) {
        vidmm_device_set_lost(rig->client[0].device);
        vidmm_portion_release(&ending->portion);
        memset(ending, 0xA5, sizeof(*ending)); /* its memory is somebody else's now */
        ending = NULL;
    }
    return STATUS_PENDING;
}

TEST_WITH(portion, a_device_may_be_lost_meanwhile)
{
    struct mm_client *c = &rig->client[0], *other = &rig->client[1];
    struct buffer first, second, big;
    D3DKMT_HANDLE list[2], mine = vram(c, 12);

    OK(mm_client_open(rig, 1, 1));
    list[0] = vram(other, 6);
    list[1] = vram(other, 3);
    needs(&first, other, list, 2);
    needs(&second, other, NULL, 0);
    sends(&first);
    vidmm_portion_keep(&second.portion, kept_list(list[0]), 1);
    vidmm_portion_release(&first.portion);
    needs(&big, c, &mine, 1);
    ending = &big; /* while the 3 MiB are moved out; 12 do not fit beside the 6 that stay */
    rig->on_build = end_it;
    CHECK(!vidmm_portion_prepare(&big.portion));
    mm_idle(rig);
    CHECK_RULE("PATCH-122", !ending && !mm_allocation(other, list[1])->resident &&
                                mm_allocation(other, list[0])->resident);
    CHECK(c->error == 0 && mm_violations(rig, "PATCH-124") == 0 && c->resident_calls == 0);
    vidmm_portion_release(&second.portion);
    CHECK(vidmm_validate(rig->vidmm));
}
