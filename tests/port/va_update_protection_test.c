/* SPDX-License-Identifier: MIT */
/* Unique driver protections in D3DKMTUpdateGpuVirtualAddress: what counts is what there will be when the turn of an operation
 * comes. */
#include "port/support/update_client.h"

#define POOL   (256 * KB)
#define B      (U->base)
#define UNIQUE D3DGPU_UNIQUE_DRIVER_PROTECTION
#define ONE    (UNIQUE | 1)
#define TWO    (UNIQUE | 2)
#define AT(n)  (B + (n)*PAGE)

static update_operation protect(uint64_t va, unsigned page, uint64_t protection)
{
    return update_protect(va, PAGE, page * PAGE, true, protection);
}

/* Each scene has a pool without any mapping, and pages of a reservation that are not mapped. */
static void begin(void)
{
    update_begin(POOL);
    U->pool = update_pool(POOL);
}

static bool conflicts(update_operation *op, UINT count, const char *which)
{
    return IS(update_queue(op, count, *U->value), STATUS_INVALID_PARAMETER) && probe_refused_rule &&
           strcmp(probe_refused_rule, "GPUVA-101") == 0 && strstr(probe_refused_text, which);
}

static bool is_fine(update_operation *op, UINT count)
{
    const uint64_t value = *U->value;

    if (!IS(update_queue(op, count, value), STATUS_SUCCESS))
        return false;
    update_await(value + 1);
    return true;
}

/* ---- in one call ---- */

TEST_WITH(update, operations_of_a_call_exclude_each_other)
{
    update_operation op[3];

    (void)p;
    begin();
    op[0] = protect(AT(0), 0, ONE);
    op[1] = protect(AT(1), 0, TWO);
    CHECK_RULE("GPUVA-101", conflicts(op, 2, "operation 1"));
    op[1] = update_map(AT(1), PAGE, 0); /* with the 0 of the reservation */
    CHECK_RULE("GPUVA-101", conflicts(op, 2, "operation 1"));
    op[1] = protect(AT(1), 2, TWO);
    op[2] = update_protect(AT(2), 3 * PAGE, 0, true, TWO); /* page 0 is one of them */
    CHECK_RULE("GPUVA-101", conflicts(op, 3, "operation 2"));
    op[2] = update_protect(AT(2), 4 * PAGE, 2 * PAGE, true, ONE);
    CHECK_RULE("GPUVA-101", conflicts(op, 3, "operation 2"));
    op[2].MapProtect.DriverProtection = TWO;
    CHECK_RULE("GPUVA-101", is_fine(op, 3));
    op[0] = protect(AT(10), 20, 7);
    op[1] = protect(AT(11), 20, 8);
    op[2] = protect(AT(12), 20, ONE);
    CHECK_RULE("GPUVA-102", is_fine(op, 3));
    op[0] = protect(AT(13), 20, 7);
    CHECK_RULE("GPUVA-101", conflicts(op, 1, "operation 0"));
    update_end();
}

TEST_WITH(update, an_operation_gives_up_what_one_before_it_has)
{
    update_operation op[4];

    (void)p;
    begin();
    op[0] = update_protect(AT(0), 2 * PAGE, 0, true, ONE);
    CHECK(is_fine(op, 1));
    op[0] = update_unmap(AT(0), PAGE, false);
    op[1] = protect(AT(4), 1, TWO); /* page 1 is still mapped */
    CHECK_RULE("GPUVA-101", conflicts(op, 2, "operation 1"));
    op[1] = protect(AT(4), 0, TWO);
    op[2] = op[0];
    CHECK_RULE("GPUVA-103", conflicts(op + 1, 2, "operation 0")); /* too late */
    CHECK_RULE("GPUVA-103", is_fine(op, 2));
    op[0] = update_map(AT(1), PAGE, 9 * PAGE); /* another page takes the place */
    op[1] = protect(AT(5), 1, TWO);
    CHECK_RULE("GPUVA-103", is_fine(op, 2));
    /* what an operation of the same call has mapped */
    op[0] = protect(AT(6), 30, ONE);
    op[1] = update_unmap(AT(6), PAGE, false);
    op[2] = protect(AT(7), 30, TWO);
    CHECK_RULE("GPUVA-103", is_fine(op, 3));
    op[0] = update_protect(AT(8), 4 * PAGE, 40 * PAGE, true, ONE);
    op[1] = update_unmap(AT(9), 2 * PAGE, false); /* out of the middle */
    op[2] = update_protect(AT(20), 2 * PAGE, 41 * PAGE, true, TWO);
    op[3] = protect(AT(22), 43, TWO);
    CHECK_RULE("GPUVA-103", conflicts(op, 4, "operation 3"));
    op[3] = protect(AT(22), 40, TWO);
    CHECK_RULE("GPUVA-103", conflicts(op, 4, "operation 3"));
    CHECK_RULE("GPUVA-103", is_fine(op, 3));
    update_end();
}

/* A window counts in each place where it is repeated. */
TEST_WITH(update, a_repeated_window_is_given_up_in_every_place)
{
    update_operation op[3];

    (void)p;
    begin();
    op[0] = update_protect(AT(0), 4 * PAGE, 0, true, ONE);
    op[0].MapProtect.AllocationSizeInBytes = 2 * PAGE;
    op[1] = update_unmap(AT(0), 3 * PAGE, false);
    op[2] = protect(AT(8), 1, TWO);
    CHECK_RULE("GPUVA-103", conflicts(op, 3, "operation 2"));
    op[2] = protect(AT(8), 0, TWO);
    CHECK_RULE("GPUVA-103", is_fine(op, 3));
    update_end();
}

/* ---- copies ---- */

TEST_WITH(update, a_copy_maps_and_gives_up)
{
    update_operation op[4];

    (void)p;
    begin();
    op[0] = protect(AT(0), 0, ONE);
    CHECK(is_fine(op, 1));
    op[0] = update_copy(AT(16), AT(0), PAGE);
    op[1] = update_unmap(AT(0), PAGE, false);
    op[2] = protect(AT(4), 0, TWO); /* the copy still maps it */
    CHECK_RULE("GPUVA-103", conflicts(op, 3, "operation 2"));
    op[2] = update_copy(AT(16), AT(32), PAGE); /* what it maps is copied over */
    op[3] = protect(AT(4), 0, TWO);
    CHECK_RULE("GPUVA-103", is_fine(op, 4));
    /* of what an operation of the same call maps; upwards, over itself */
    op[0] = update_protect(AT(8), 2 * PAGE, 50 * PAGE, true, ONE);
    op[1] = update_copy(AT(9), AT(8), 2 * PAGE);
    op[2] = update_unmap(AT(8), 2 * PAGE, false); /* page 51 is mapped at 10 */
    op[3] = protect(AT(20), 51, TWO);
    CHECK_RULE("GPUVA-103", conflicts(op, 4, "operation 3"));
    op[3] = protect(AT(20), 50, TWO);
    CHECK_RULE("GPUVA-103", is_fine(op, 4));
    update_end();
}

/* ---- what is queued ---- */

/* Behind the fence value, which nobody signals yet. */
static void wait_behind(update_operation op, uint64_t value)
{
    CHECK(IS(update_queue(&op, 1, value), STATUS_SUCCESS));
}

static NTSTATUS last_status;

static bool queues(update_operation op, uint64_t value)
{
    last_status = update_queue(&op, 1, value);
    return NT_SUCCESS(last_status);
}

TEST_WITH(update, what_waits_counts_as_done)
{
    (void)p;
    begin();
    wait_behind(protect(AT(0), 0, ONE), 5);
    CHECK_RULE("GPUVA-101", !queues(protect(AT(1), 0, TWO), 6));
    wait_behind(update_unmap(AT(0), PAGE, false), 6);
    CHECK_RULE("GPUVA-103", queues(protect(AT(1), 0, TWO), 7));
    wait_behind(update_copy(AT(2), AT(1), PAGE), 8);
    wait_behind(update_unmap(AT(1), PAGE, false), 9);
    CHECK_RULE("GPUVA-103", !queues(protect(AT(3), 0, ONE), 10));
    wait_behind(update_unmap(AT(2), PAGE, false), 10);
    CHECK_RULE("GPUVA-103", queues(protect(AT(3), 0, ONE), 11));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(12);
    CHECK_RULE("GPUVA-103", update_all(AT(0), 3, UPDATE_INVALID) && update_shows(AT(3)) != -2);
    CHECK_RULE("GPUVA-101", !queues(protect(AT(4), 0, TWO), 12)); /* done, it counts as ever */
    update_end();
}

TEST_WITH(update, a_copy_that_waits_reads_its_source_first)
{
    update_operation op;

    (void)p;
    begin();
    op = update_protect(AT(0), 2 * PAGE, 50 * PAGE, true, ONE);
    CHECK(is_fine(&op, 1));
    wait_behind(update_copy(AT(1), AT(0), 2 * PAGE), 5);
    wait_behind(update_unmap(AT(0), 2 * PAGE, false), 6); /* page 51 is at 2 then */
    CHECK_RULE("GPUVA-133", !queues(protect(AT(8), 51, TWO), 7));
    CHECK_RULE("GPUVA-133", queues(protect(AT(8), 50, TWO), 7));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(8);
    update_end();
}

/* A copy that waits takes a mapping to a reservation that nothing else has to do with. */
TEST_WITH(update, what_is_copied_elsewhere_counts_too)
{
    uint64_t from, to;
    update_operation op;

    (void)p;
    begin();
    from = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    to = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    op = protect(from, 0, ONE);
    CHECK(is_fine(&op, 1));
    wait_behind(update_copy(to, from, PAGE), 5);
    wait_behind(update_unmap(from, PAGE, false), 6);
    CHECK_RULE("GPUVA-101", !queues(protect(AT(0), 0, TWO), 7));
    wait_behind(update_unmap(to, PAGE, false), 7);
    CHECK_RULE("GPUVA-103", queues(protect(AT(0), 0, TWO), 8));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(9);
    update_end();
}

/* In another reservation, and in the queue of pages that are mapped one by one. */
TEST_WITH(update, what_waits_elsewhere_counts_too)
{
    D3DDDI_MAPGPUVIRTUALADDRESS args;
    uint64_t other;

    (void)p;
    begin();
    other = update_reserve(D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS, 64 * KB, 0);
    wait_behind(protect(other, 0, ONE), 5);
    CHECK_RULE("GPUVA-101", !queues(protect(AT(0), 0, TWO), 6));
    wait_behind(update_copy(AT(8), other, PAGE), 6);
    wait_behind(update_unmap(other, PAGE, false), 7);
    CHECK_RULE("GPUVA-103", !queues(protect(AT(0), 0, TWO), 8)); /* copied before */
    wait_behind(update_unmap(AT(8), PAGE, false), 8);
    CHECK_RULE("GPUVA-103", queues(protect(AT(0), 0, TWO), 9));
    CHECK(IS(update_signal(U->fence, 5), STATUS_SUCCESS));
    update_await(10);
    memset(&args, 0, sizeof(args));
    args.hPagingQueue = U->gpu.queue;
    args.BaseAddress = AT(0);
    args.SizeInPages = 1;
    args.Protection.NoAccess = 1;
    CHECK(NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&args)));
    CHECK_RULE("GPUVA-103", queues(protect(AT(1), 0, ONE), 10));
    update_await(11);
    update_end();
}
