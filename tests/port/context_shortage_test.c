/* SPDX-License-Identifier: MIT */
/* Context allocations while the memory of the host runs out: each request of each callback fails in turn. */
#include "port/support/context_client.h"

struct callback {
    NTSTATUS (*call)(struct probe *p);
    unsigned least; /* requests that it makes */
    const char *rule;
};

static NTSTATUS create(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);
    NTSTATUS status = context_create(p, &args);

    CHECK_RULE("CTXA-028", (args.hAllocation != NULL) == NT_SUCCESS(status));
    context_item = args.hAllocation;
    return status;
}

static NTSTATUS map(struct probe *p)
{
    (void)p;
    return context_map_at(p, context_item, 64 * MB) == 64 * MB ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS update(struct probe *p)
{
    return context_update(p, context_item);
}

static const struct callback callbacks[] = {
    {create, 2, "CTXA-028"},
    {map, 2, "CTXA-044"},
    {update, 3, "CTXA-058"},
};

static const struct callback *current;

static void each_request_in_turn(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    unsigned failed = 0;
    NTSTATUS status;

    do {
        const uint64_t failures = heap->failures;

        heap->fail_at = heap->requests + failed + 1;
        status = current->call(p);
        heap->fail_at = 0;
        if (heap->failures == failures)
            break;
        failed++;
        CHECK_RULE(current->rule, status == STATUS_NO_MEMORY);
    } while (failed < 100);
    CHECK(NT_SUCCESS(status));
    if (failed < current->least)
        fail_msg("%u requests of %s", failed, current->rule);
}

/* On an adapter that has nothing of the kind yet. */
TEST_WITH(context, each_callback_says_that_there_is_no_memory)
{
    context_begin_client();
    for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++) {
        current = &callbacks[i];
        context_rig_inside(0, each_request_in_turn);
    }
    context_rig_inside(0, context_destroy_item);
    context_end_client();
    CHECK(context_errors(p) == 0);
}
