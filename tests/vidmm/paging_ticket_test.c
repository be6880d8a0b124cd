/* SPDX-License-Identifier: MIT */
/* What waits for paging buffers: in which order it is done, and what a scheduler that fails leaves. */
#include "sim/mutex.h"
#include "sim/point.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#define OK(call) CHECK(NT_SUCCESS(call))

static struct mm_rig *the_rig;
static char order[8];
static unsigned done;

struct item {
    struct paging_deferred deferred;
    char name;
};

static void item_done(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    (void)vidmm;
    order[done++] = CONTAINER(deferred, struct item, deferred)->name;
    order[done] = '\0';
}

static struct item make_item(char name)
{
    return (struct item){.deferred = {.fn = item_done}, .name = name};
}

/* An operation that changes nothing that anybody looks at. */
static NTSTATUS build(struct vidmm *vidmm)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_FLUSH_TLB};

    op.FlushTlb.hProcess = vidmm->paging_process->driver_handle;
    return paging_build(vidmm, &op, NULL);
}

static void run(struct mm_rig *rig, paging_job_fn job)
{
    the_rig = rig;
    done = 0;
    order[0] = '\0';
    mm_idle(rig);
    CHECK(paging_run(rig->vidmm, job, NULL) == STATUS_SUCCESS || rig->vidmm->lost);
}

/* ---- order ---- */

static NTSTATUS order_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    static struct item item[6];
    uint64_t ticket, last = vidmm->last_ticket;

    (void)turn;
    (void)arg;
    for (int i = 0; i < 6; i++)
        item[i] = make_item((char)('a' + i));
    OK(paging_settle(vidmm));
    CHECK(list_empty(&vidmm->retiring) && vidmm->last_ticket == last);
    paging_defer(vidmm, &item[0].deferred); /* nothing to wait for */
    CHECK(strcmp(order, "a") == 0);
    the_rig->hold = true;
    OK(build(vidmm));
    CHECK(paging_ticket_now(vidmm) == last + 1 && !paging_ticket_done(vidmm, last + 1));
    paging_defer(vidmm, &item[1].deferred);
    OK(paging_flush(vidmm, &ticket));
    CHECK(ticket == last + 1 && paging_ticket_now(vidmm) == ticket && vidmm->last_ticket == ticket);
    CHECK(!paging_ticket_done(vidmm, ticket) && paging_ticket_done(vidmm, last));
    CHECK(paging_ticket_done(vidmm, 0));
    paging_defer(vidmm, &item[2].deferred); /* for the same buffer */
    OK(build(vidmm));
    paging_defer(vidmm, &item[3].deferred);
    paging_catch_up(vidmm);
    CHECK(strcmp(order, "a") == 0);
    mm_release(the_rig);
    CHECK(paging_ticket_done(vidmm, ticket));
    OK(paging_flush(vidmm, NULL));
    paging_catch_up(vidmm);
    CHECK(strcmp(order, "abc") == 0);
    mm_release(the_rig);
    /* All is done, but nobody has looked: the order stays. */
    paging_defer(vidmm, &item[4].deferred);
    CHECK(strcmp(order, "abc") == 0);
    paging_catch_up(vidmm);
    CHECK(strcmp(order, "abcde") == 0 && list_empty(&vidmm->retiring));
    paging_defer(vidmm, &item[5].deferred);
    CHECK(strcmp(order, "abcdef") == 0);
    the_rig->hold = false;
    return STATUS_SUCCESS;
}

TEST_WITH(mm, what_waits_for_buffers_keeps_its_order)
{
    run(rig, order_job);
}

static NTSTATUS retire_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    static struct item item[2];
    uint64_t first, second;

    (void)turn;
    (void)arg;
    item[0] = make_item('a');
    item[1] = make_item('b');
    the_rig->hold = true;
    OK(build(vidmm));
    paging_defer(vidmm, &item[0].deferred);
    OK(paging_flush(vidmm, &first));
    OK(build(vidmm));
    paging_defer(vidmm, &item[1].deferred);
    OK(paging_flush(vidmm, &second));
    CHECK(second == first + 1);
    paging_retire(vidmm, first - 1);
    CHECK(done == 0);
    paging_retire(vidmm, first);
    CHECK(strcmp(order, "a") == 0);
    mm_release(the_rig);
    the_rig->hold = false;
    OK(paging_settle(vidmm));
    CHECK(strcmp(order, "ab") == 0);
    return STATUS_SUCCESS;
}

TEST_WITH(mm, what_is_retired_is_of_the_ticket_or_before)
{
    run(rig, retire_job);
}

/* ---- failures ---- */

static NTSTATUS no_buffer_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_statistics before, after;

    (void)turn;
    (void)arg;
    OK(paging_settle(vidmm));
    vidmm_statistics(vidmm, &before);
    the_rig->get_status = STATUS_DEVICE_BUSY;
    CHECK(build(vidmm) == STATUS_DEVICE_BUSY && !vidmm->buffer && !vidmm->lost);
    the_rig->get_status = STATUS_SUCCESS;
    vidmm_statistics(vidmm, &after);
    CHECK(after.paging_operations == before.paging_operations);
    CHECK(after.paging_buffers == before.paging_buffers);
    OK(build(vidmm));
    vidmm_statistics(vidmm, &after);
    CHECK(after.paging_operations == before.paging_operations + 1);
    CHECK(after.paging_buffers == before.paging_buffers + 1 && vidmm->buffer);
    return STATUS_SUCCESS;
}

TEST_WITH(mm, without_a_buffer_nothing_is_built)
{
    run(rig, no_buffer_job);
}

static NTSTATUS lost_submit_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    static struct item item;
    uint64_t last, ticket = 0;

    (void)turn;
    (void)arg;
    item = make_item('a');
    OK(paging_settle(vidmm));
    last = vidmm->last_ticket;
    OK(build(vidmm));
    paging_defer(vidmm, &item.deferred);
    the_rig->gone = true;
    CHECK(paging_flush(vidmm, &ticket) == STATUS_DEVICE_REMOVED && ticket == last);
    CHECK_RULE("PAGE-082", vidmm->lost && !vidmm->buffer);
    CHECK(vidmm->last_ticket == last && paging_ticket_done(vidmm, last));
    CHECK_RULE("PAGE-082", build(vidmm) == STATUS_DEVICE_REMOVED);
    paging_catch_up(vidmm);
    CHECK(strcmp(order, "a") == 0);
    return STATUS_SUCCESS;
}

static void mend(struct mm_rig *rig)
{
    rig->gone = false;
    rig->vidmm->lost = false;
    for (unsigned i = 0; i < 4; i++)
        rig->buffer_busy[i] = false;
    rig->completed = rig->submitted;
    rig->hold = false;
}

TEST_WITH(mm, an_adapter_that_takes_no_buffer_is_lost)
{
    run(rig, lost_submit_job);
    mend(rig);
}

static NTSTATUS lost_wait_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    static struct item item;

    (void)turn;
    (void)arg;
    item = make_item('a');
    OK(paging_settle(vidmm));
    the_rig->hold = true;
    OK(build(vidmm));
    paging_defer(vidmm, &item.deferred);
    OK(paging_flush(vidmm, NULL));
    CHECK(done == 0 && !vidmm->lost);
    the_rig->gone = true;
    CHECK(paging_settle(vidmm) == STATUS_DEVICE_REMOVED);
    CHECK_RULE("PAGE-082", vidmm->lost);
    CHECK(strcmp(order, "a") == 0); /* a lost adapter uses nothing any more */
    return STATUS_SUCCESS;
}

TEST_WITH(mm, an_adapter_that_finishes_no_buffer_is_lost)
{
    run(rig, lost_wait_job);
    mend(rig);
}

/* A buffer that is full is marked, the last one is not. */
static NTSTATUS full_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct vidmm_paging_buffer *first, *second;

    (void)turn;
    (void)arg;
    OK(paging_settle(vidmm));
    the_rig->command_bytes = 2048; /* two of them fill a buffer */
    the_rig->hold = true;
    OK(build(vidmm));
    first = vidmm->buffer;
    CHECK(first->used == 2048);
    OK(build(vidmm));
    CHECK(vidmm->buffer == first && first->used == 4096);
    OK(build(vidmm));
    second = vidmm->buffer;
    CHECK(second != first && second->used == 2048);
    CHECK(first->full && !second->full);
    the_rig->hold = false;
    OK(paging_settle(vidmm));
    return STATUS_SUCCESS;
}

TEST_WITH(mm, a_full_buffer_is_submitted_for_the_next)
{
    run(rig, full_job);
}

/* ---- work of clients ---- */

struct follower {
    struct vidmm_follow follow;
    char name;
};

static void followed(struct vidmm_device *device, struct vidmm_follow *follow)
{
    (void)device;
    order[done++] = CONTAINER(follow, struct follower, follow)->name;
    order[done] = '\0';
}

static void finish_one(struct mm_client *c)
{
    c->completed++;
    sim_waitq_wake(&c->changed, UINT32_MAX);
    sim_stall(1000000);
}

TEST_WITH(mm, what_follows_work_comes_when_that_is_done)
{
    struct mm_client *c = &rig->client[0];
    struct follower f[5];

    done = 0;
    order[0] = '\0';
    for (int i = 0; i < 5; i++) {
        f[i].name = (char)('a' + i);
        follow_init(&f[i].follow);
    }
    c->queued = 2;
    sim_mutex_lock(&rig->vidmm->lock);
    follow_after(c->device, &f[0].follow, 1, followed);
    follow_after(c->device, &f[1].follow, 2, followed);
    follow_device(c->device, &f[2].follow, followed);
    CHECK(f[2].follow.ticket == 2);
    follow_after(c->device, &f[3].follow, 0, followed); /* nothing to wait for: the first */
    follow_after(c->device, &f[4].follow, 2, followed);
    follow_cancel(&f[4].follow);
    sim_mutex_unlock(&rig->vidmm->lock);
    sim_stall(1000000);
    CHECK(strcmp(order, "d") == 0);
    finish_one(c);
    CHECK(strcmp(order, "da") == 0);
    finish_one(c);
    CHECK(strcmp(order, "dabc") == 0);
    sim_mutex_lock(&rig->vidmm->lock);
    follow_device(c->device, &f[4].follow, followed); /* all is done: at once */
    CHECK(strcmp(order, "dabce") == 0);
    sim_mutex_unlock(&rig->vidmm->lock);
}

/* What comes later, and follows earlier work, overtakes. */
TEST_WITH(mm, what_follows_earlier_work_comes_first)
{
    static const uint64_t tickets[] = {3, 1, 2, 3};
    struct mm_client *c = &rig->client[0];
    struct follower f[4];

    done = 0;
    order[0] = '\0';
    c->queued = 3;
    for (unsigned i = 0; i < 4; i++) {
        f[i].name = (char)('a' + i);
        follow_init(&f[i].follow);
        sim_mutex_lock(&rig->vidmm->lock);
        follow_after(c->device, &f[i].follow, tickets[i], followed);
        sim_mutex_unlock(&rig->vidmm->lock);
        sim_stall(1000000); /* the fiber waits for the first of the list */
    }
    CHECK(done == 0);
    finish_one(c);
    CHECK(strcmp(order, "b") == 0);
    finish_one(c);
    CHECK(strcmp(order, "bc") == 0);
    finish_one(c);
    CHECK(strcmp(order, "bcad") == 0);
}
