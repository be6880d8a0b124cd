/* SPDX-License-Identifier: MIT */
/* Where portions of DMA buffers are cut, and what is left of those that end early. */
#include "support/mm_rig.h"

#include "sim/machine.h"
#include "sim/point.h"

#define OK(call) CHECK(NT_SUCCESS(call))
#define MANY     4u

struct buffer {
    struct vidmm_need need[MANY];
    struct vidmm_portion portion;
};

static D3DKMT_HANDLE vram(struct mm_client *c, uint64_t megabytes)
{
    return mm_create_ok(c, mm_private_default(MM_SET_VRAM, megabytes * MM_MB));
}

/* Elements with their split points. */
static void needs(struct buffer *b, struct mm_client *c, const D3DKMT_HANDLE *list,
                  const uint32_t *split, uint32_t count)
{
    memset(b, 0, sizeof(*b));
    for (uint32_t i = 0; i < count; i++) {
        b->need[i].allocation = list[i];
        b->need[i].split = split[i];
    }
    b->portion = (struct vidmm_portion){.device = c->device, .need = b->need, .wanted = count};
}

static bool prepare(struct mm_rig *rig, struct buffer *b)
{
    for (unsigned i = 0; i < 100; i++) {
        if (vidmm_portion_prepare(&b->portion))
            return true;
        mm_idle(rig);
    }
    return false;
}

#define RIG_ARGUMENT_old struct mm_rig *rig
#define RIG_RUN_old(body, ...)                     \
    RIG_RUN_mm(body, mm_options_physical(options), \
               options->version = DXGKDDI_INTERFACE_VERSION_WDDM1_3, ##__VA_ARGS__)

TEST_WITH(old, it_is_cut_where_it_does_not_fit)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 6), vram(c, 6), vram(c, 6), vram(c, 1)};
    const uint32_t split[] = {0, 16, 32, 48};
    struct buffer b;

    needs(&b, c, list, split, 4);
    CHECK_RULE("PATCH-121", prepare(rig, &b) && b.portion.count == 2 && b.portion.held);
    for (unsigned i = 0; i < 4; i++)
        CHECK_RULE("PATCH-121", (mm_open(c, list[i])->portions == 1) == (i < 2));
    CHECK(mm_allocation(c, list[0])->ready && mm_allocation(c, list[1])->ready &&
          !mm_allocation(c, list[2])->resident);
    vidmm_portion_release(&b.portion);
    CHECK(!b.portion.held && mm_open(c, list[0])->portions == 0 && c->error == 0);
    CHECK(mm_violations(rig, "PATCH-124") == 0);
}

/* It is promised to run as soon as all is there, and counts as used when it does. */
TEST_WITH(old, a_portion_is_promised_to_run)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 1)};
    const uint32_t split[] = {0};
    struct buffer b;
    uint64_t used = c->device->used_at;

    needs(&b, c, list, split, 1);
    CHECK(!vidmm_portion_prepare(&b.portion));
    mm_idle(rig);
    CHECK_RULE("RES-050", c->device->granted_until > sim_now() && c->device->used_at == used);
    CHECK(vidmm_portion_prepare(&b.portion));
    CHECK_RULE("RES-050", c->device->granted_until == 0 && c->device->used_at > used);
    used = c->device->used_at;
    CHECK(vidmm_portion_prepare(&b.portion) && c->device->used_at > used &&
          mm_open(c, list[0])->portions == 1); /* asked again, it is held already */
    vidmm_portion_release(&b.portion);
}

/* What belongs to the same point goes with it. */
TEST_WITH(old, what_is_split_there_goes_together)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 6), vram(c, 6), vram(c, 6)};
    const uint32_t together[] = {0, 32, 32}, all[] = {32, 32, 32};
    struct buffer b;

    needs(&b, c, list, together, 3);
    CHECK_RULE("PATCH-121", prepare(rig, &b) && b.portion.count == 1);
    CHECK(mm_open(c, list[0])->portions == 1 && mm_open(c, list[1])->portions == 0);
    vidmm_portion_release(&b.portion);
    needs(&b, c, list, all, 3); /* nothing is needed before the point */
    CHECK_RULE("PATCH-121", prepare(rig, &b) && b.portion.count == 0 && b.portion.held);
    for (unsigned i = 0; i < 3; i++)
        CHECK(mm_open(c, list[i])->portions == 0);
    vidmm_portion_release(&b.portion);
    CHECK(c->error == 0 && vidmm_validate(rig->vidmm));
}

/* Elements that name nothing need nothing. */
TEST_WITH(old, elements_without_an_allocation_need_nothing)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE list[] = {0, vram(c, 1), 0, 0};
    const uint32_t split[] = {0, 0, 0, 0};
    struct buffer b;

    needs(&b, c, list, split, 4);
    CHECK(prepare(rig, &b) && b.portion.count == 4 && mm_open(c, list[1])->portions == 1);
    vidmm_portion_release(&b.portion);
    OK(mm_destroy(c, list[1], 1)); /* AssumeNotInUse */
    needs(&b, c, list, split, 4);
    CHECK(vidmm_portion_prepare(&b.portion) && b.portion.count == 4); /* at once: nothing is left */
    vidmm_portion_release(&b.portion);
}

/* Everything is there: it is held without a job, and not held in parts if one is missing. */
TEST_WITH(old, what_is_ready_is_held_at_once)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 1), vram(c, 1), vram(c, 1)};
    const uint32_t split[] = {0, 0, 0};
    struct buffer b, d;

    needs(&b, c, list, split, 2);
    CHECK(prepare(rig, &b));
    vidmm_portion_release(&b.portion);
    CHECK(mm_open(c, list[0])->residency_count == 1);
    needs(&b, c, list, split, 2);
    CHECK(vidmm_portion_prepare(&b.portion) && mm_open(c, list[1])->portions == 1);
    needs(&d, c, list, split, 3);
    CHECK(!vidmm_portion_prepare(&d.portion));
    CHECK(mm_open(c, list[0])->portions == 1 && mm_open(c, list[1])->portions == 1);
    CHECK(!vidmm_portion_prepare(&d.portion)); /* its job is on the way */
    CHECK(prepare(rig, &d) && mm_open(c, list[0])->portions == 2 &&
          mm_open(c, list[2])->portions == 1);
    vidmm_portion_release(&b.portion);
    vidmm_portion_release(&d.portion);
    CHECK(mm_open(c, list[0])->portions == 0 && mm_open(c, list[2])->portions == 0);
}

/* What is asked for is released before its job has run: the next one may be asked for. */
TEST_WITH(old, a_release_ends_the_job)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 1), vram(c, 2)};
    const uint32_t split[] = {0, 0};
    struct buffer b, d;
    uint32_t told;

    rig->vidmm->reset = true; /* jobs wait */
    needs(&b, c, list, split, 1);
    needs(&d, c, list + 1, split, 1);
    CHECK(!vidmm_portion_prepare(&b.portion));
    vidmm_portion_release(&b.portion);
    CHECK(!vidmm_portion_prepare(&d.portion));
    told = c->resident_calls;
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_idle(rig);
    CHECK(c->resident_calls == told + 1 && !mm_allocation(c, list[0])->resident);
    CHECK(prepare(rig, &d) && mm_allocation(c, list[1])->ready);
    vidmm_portion_release(&d.portion);
}

/* On a lost device nothing is brought in, and nobody is told. */
TEST_WITH(old, a_lost_device_is_not_told)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 1)};
    const uint32_t split[] = {0};
    struct buffer b;

    rig->vidmm->reset = true;
    needs(&b, c, list, split, 1);
    CHECK(!vidmm_portion_prepare(&b.portion));
    vidmm_device_set_lost(c->device);
    rig->vidmm->reset = false;
    paging_poke(rig->vidmm);
    mm_idle(rig);
    CHECK(c->resident_calls == 0 && c->error == 0 && !mm_allocation(c, list[0])->resident);
    vidmm_portion_release(&b.portion);
}

/* Kept in place for a handle that is no more, or never was. */
TEST_WITH(old, what_is_gone_is_not_kept)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 1)};
    const uint32_t split[] = {0};
    D3DKMT_HANDLE *kept = util_alloc(2 * sizeof(*kept));
    struct buffer b;

    kept[0] = 0x999;
    kept[1] = list[0];
    needs(&b, c, list, split, 1);
    CHECK(prepare(rig, &b));
    vidmm_portion_keep(&b.portion, kept, 2);
    CHECK_RULE("PATCH-122", mm_allocation(c, list[0])->pins == 1 && rig->vidmm->old.kept == 2 &&
                                mm_open(c, list[0])->kept == 1 &&
                                mm_open(c, list[0])->portions == 2);
    vidmm_portion_release(&b.portion);
    CHECK_RULE("PATCH-122", mm_allocation(c, list[0])->pins == 0 && rig->vidmm->old.kept == 0 &&
                                mm_open(c, list[0])->kept == 0 &&
                                mm_open(c, list[0])->portions == 0);
    CHECK(b.portion.kept_count == 0 && !b.portion.kept);
}

/* A lack of host memory is told, and the device is in error. */
TEST_WITH(old, a_portion_that_cannot_be_brought_in_is_told)
{
    struct mm_client *c = &rig->client[0];
    const D3DKMT_HANDLE list[] = {vram(c, 1)};
    const uint32_t split[] = {0};
    struct buffer b;

    needs(&b, c, list, split, 1);
    rig->get_status = STATUS_INSUFFICIENT_RESOURCES;
    CHECK(!vidmm_portion_prepare(&b.portion));
    sim_stall(1000000);
    rig->get_status = STATUS_SUCCESS;
    mm_idle(rig);
    CHECK_RULE("RES-005", c->error == D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY &&
                              mm_violations(rig, "RES-005") == 1);
    CHECK(mm_violations(rig, "PATCH-124") == 0);
    vidmm_portion_release(&b.portion);
    CHECK(mm_open(c, list[0])->portions == 0);
}
