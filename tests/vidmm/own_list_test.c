/* SPDX-License-Identifier: MIT */
/* What a device's own list is charged with, and which of its members make way for a more important one. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define LOWEST 0x28000000u
#define LOW    0x50000000u
#define HIGH   0xA0000000u

static D3DKMT_HANDLE listed(struct mm_client *c, UINT set, uint64_t mb, UINT priority)
{
    D3DKMT_HANDLE h = mm_with_priority(c, set, mb, priority);

    OK(mm_resident(c, h));
    mm_idle(c->rig);
    return h;
}

static bool in_system(struct mm_client *c, D3DKMT_HANDLE h)
{
    return mm_allocation(c, h)->ready && mm_allocation(c, h)->segment == 0;
}

/* Charged MiB of video memory and of system memory. */
static bool charged(const struct mm_client *c, uint64_t vram, uint64_t system)
{
    return c->device->charged[MM_VRAM] == vram * 256 && c->device->charged[0] == system * 256;
}

/* ---- making way ---- */

TEST_WITH(mm, who_makes_way_is_charged_elsewhere)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 12, LOW), high;

    CHECK(charged(c, 12, 0) && mm_open(c, low)->charge == MM_VRAM);
    mm_write_content(rig, mm_allocation(c, low), 4);
    high = listed(c, MM_SET_BOTH, 12, HIGH);
    CHECK_RULE("RES-054", mm_in_vram(c, high) && in_system(c, low));
    CHECK(charged(c, 12, 12) && mm_open(c, low)->charge == 0 && mm_open(c, high)->charge == MM_VRAM);
    CHECK(c->process->usage[0] == 12 * MM_MB && c->process->usage[1] == 12 * MM_MB);
    CHECK(rig->vidmm->budget.usage[0] == 12 * MM_MB && rig->vidmm->budget.usage[1] == 12 * MM_MB);
    CHECK(mm_check_content(rig, mm_allocation(c, low), 4) && mm_waited_for(c->device) == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

/* What others took meanwhile waits until the device runs. */
TEST_WITH(mm, a_list_is_not_completed_without_need)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 12, LOW), high = listed(c, MM_SET_BOTH, 12, HIGH);
    D3DKMT_HANDLE theirs;
    uint64_t fence;

    CHECK(in_system(c, low)); /* it made way */
    OK(mm_client_open(rig, 1, 1));
    theirs = mm_vram(d, 10);
    CHECK(mm_make_resident(d, &theirs, 1, 1, &fence) == STATUS_PENDING);
    mm_wait_fence(d, fence);
    CHECK(mm_is_out(c, high) && mm_waited_for(c->device) == 1);
    OK(mm_resident(c, mm_make(c, MM_SET_APERTURE, 1, 1)));
    mm_idle(rig);
    CHECK_RULE("RES-010", mm_is_out(c, high) && mm_in_vram(d, theirs));
    mm_submit(c);
    CHECK(!mm_dispatch(c));
    mm_idle(rig);
    CHECK_RULE("RES-010", mm_dispatch(c) && mm_allocation(c, high)->ready);
    mm_finish(c);
}

TEST_WITH(mm, an_equal_does_not_make_way)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 12, LOW);
    D3DKMT_HANDLE equal = listed(c, MM_SET_BOTH, 12, LOW);

    CHECK_RULE("RES-054", mm_in_vram(c, low) && in_system(c, equal));
    CHECK(charged(c, 12, 12));
}

TEST_WITH(mm, as_many_make_way_as_have_to)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 6, LOW);
    D3DKMT_HANDLE lowest = listed(c, MM_SET_BOTH, 6, LOWEST);
    D3DKMT_HANDLE high = listed(c, MM_SET_BOTH, 8, HIGH);

    CHECK_RULE("RES-054", mm_in_vram(c, high) && mm_in_vram(c, low) && in_system(c, lowest));
    CHECK(charged(c, 14, 6) && mm_allocation(c, low)->absence == ABSENCE_NEVER);
    high = listed(c, MM_SET_BOTH, 8, HIGH);
    CHECK_RULE("RES-054", mm_in_vram(c, high) && in_system(c, low) && in_system(c, lowest));
    CHECK(charged(c, 16, 12) && mm_allocation(c, low)->absence == ABSENCE_DEMOTED);
    CHECK(vidmm_validate(rig->vidmm));
}

/* What fits nowhere else stays; the next one that may go goes. */
TEST_WITH(mm, who_has_no_other_place_does_not_make_way)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE fixed = listed(c, MM_SET_VRAM, 6, LOWEST);
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 6, LOW);
    D3DKMT_HANDLE high = listed(c, MM_SET_BOTH, 8, HIGH);

    CHECK_RULE("RES-054", mm_in_vram(c, fixed) && mm_in_vram(c, high) && in_system(c, low));
    CHECK(charged(c, 14, 6));
}

TEST_WITH(mm, nobody_makes_way_while_the_device_runs)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 12, LOW), high;

    mm_submit(c);
    CHECK(mm_dispatch(c));
    high = listed(c, MM_SET_BOTH, 12, HIGH);
    CHECK(mm_in_vram(c, low) && in_system(c, high) && charged(c, 12, 12));
    CHECK(mm_open(c, high)->charge == 0 && rig->suspends == 0);
    mm_finish(c);
}

TEST_WITH(mm, a_locked_member_does_not_make_way)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE low = listed(c, MM_SET_BOTH, 12, LOW), high;
    void *address;

    OK(vidmm_lock2(c->device, low, &address));
    high = listed(c, MM_SET_BOTH, 12, HIGH);
    CHECK(mm_in_vram(c, low) && in_system(c, high));
    OK(vidmm_unlock2(c->device, low));
}

/* ---- shared ones ---- */

struct shared {
    D3DKMT_HANDLE mine, theirs;
    struct vidmm_resource *resource;
};

static void share(struct mm_client *c, struct mm_client *d, uint64_t mb, UINT priority,
                  struct shared *s)
{
    struct mm_request r;
    struct vidmm_open_item item;
    D3DKMT_HANDLE opened;

    mm_request_init(&r, 1);
    r.data[0].size = mb * MM_MB;
    r.data[0].flags = 0;
    r.data[0].priority = priority;
    r.request.flags.CreateResource = r.request.flags.CreateShared = 1;
    OK(mm_request_make(&r, c));
    s->mine = r.info[0].hAllocation;
    s->resource = vidmm_resource_get(c->device, r.resource);
    CHECK(s->resource);
    OK(vidmm_resource_open(d->device, s->resource, false, &item, 1, &opened));
    s->theirs = item.allocation;
    vidmm_resource_put(s->resource);
}

TEST_WITH(mm, what_others_list_does_not_make_way)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    D3DKMT_HANDLE high;
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    share(c, d, 12, LOW, &s);
    OK(mm_resident(c, s.mine));
    OK(mm_resident(d, s.theirs));
    high = listed(c, MM_SET_BOTH, 12, HIGH);
    CHECK(mm_in_vram(c, s.mine) && in_system(c, high) && charged(c, 12, 12) && charged(d, 12, 0));
    OK(mm_evict(d, s.theirs, 0));
    mm_idle(rig);
    OK(mm_evict(c, high, 0));
    mm_idle(rig);
    CHECK(charged(d, 0, 0) && mm_in_vram(c, s.mine));
    OK(mm_resident(c, high));
    CHECK(mm_in_vram(c, high) && in_system(c, s.mine) && charged(c, 12, 12));
    CHECK(vidmm_validate(rig->vidmm));
}

/* Where it is placed it is charged, on each list that it is on. */
TEST_WITH(mm, a_shared_allocation_is_charged_where_it_is)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct shared s;

    OK(mm_client_open(rig, 1, 1));
    listed(d, MM_SET_VRAM, 10, HIGH);
    share(c, d, 8, LOW, &s);
    OK(mm_resident(d, s.theirs)); /* no room on this list but in system memory */
    mm_idle(rig);
    CHECK(in_system(d, s.theirs) && charged(d, 10, 8) && d->process->usage[1] == 8 * MM_MB);
    OK(mm_resident(c, s.mine));
    mm_idle(rig);
    CHECK_RULE("RES-045", in_system(c, s.mine) && charged(c, 0, 8) && c->process->usage[0] == 0 &&
                              c->process->usage[1] == 8 * MM_MB);
    CHECK(mm_open(c, s.mine)->charge == 0 && mm_open(d, s.theirs)->charge == 0);
    CHECK(vidmm_validate(rig->vidmm));
}

TEST_WITH(mm, a_process_counts_a_shared_allocation_once)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1], *e = &rig->client[2];
    struct shared s;
    struct vidmm_open_item item;
    D3DKMT_HANDLE opened;

    OK(mm_client_open(rig, 1, 0)); /* of the same process */
    OK(mm_client_open(rig, 2, 1));
    share(c, d, 4, LOW, &s);
    OK(vidmm_resource_open(e->device, s.resource, false, &item, 1, &opened));
    OK(mm_resident(c, s.mine));
    OK(mm_resident(d, s.theirs));
    OK(mm_resident(e, item.allocation));
    CHECK_RULE("RES-045", c->process->usage[0] == 4 * MM_MB && e->process->usage[0] == 4 * MM_MB);
    CHECK(rig->vidmm->budget.usage[0] == 8 * MM_MB);
    CHECK(charged(c, 4, 0) && charged(d, 4, 0));
    OK(mm_evict(c, s.mine, 0));
    CHECK_RULE("RES-045",
               c->process->usage[0] == 4 * MM_MB && rig->vidmm->budget.usage[0] == 8 * MM_MB);
    CHECK(charged(c, 0, 0));
    OK(mm_evict(d, s.theirs, 0));
    CHECK_RULE("RES-045", c->process->usage[0] == 0 && e->process->usage[0] == 4 * MM_MB);
    CHECK(rig->vidmm->budget.usage[0] == 4 * MM_MB);
    mm_idle(rig);
    CHECK(mm_in_vram(e, item.allocation) && vidmm_validate(rig->vidmm));
}

/* What the process counts already is within its budget, whoever lists it next. */
TEST_WITH(mm, what_is_counted_needs_no_budget)
{
    struct mm_client *c = &rig->client[0], *d = &rig->client[1];
    struct shared s;

    OK(mm_client_open(rig, 1, 0));
    OK(mm_client_open(rig, 2, 1));
    share(c, d, 8, LOW, &s);
    OK(mm_resident(c, s.mine));
    OK(vidmm_set_reservation(rig->client[2].process, D3DKMT_MEMORY_SEGMENT_GROUP_LOCAL, 8 * MM_MB));
    OK(mm_resident(d, s.theirs));
    CHECK(charged(d, 8, 0) && c->process->usage[0] == 8 * MM_MB);
    CHECK(mm_resident(d, mm_vram(d, 1)) == STATUS_NO_MEMORY);
}
