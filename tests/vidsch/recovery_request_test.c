/* SPDX-License-Identifier: MIT */
/* Resets that are asked for: by a client, twice, or while the adapter is being reset. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "vidsch/recovery.h"
#include "vidsch/support/hang.h"

#define THREE .nodes = 3, .virtual_mask = 7

static bool all_open(const struct fixture *f)
{
    for (uint32_t i = 0; i < f->vidsch->config.nodes; i++)
        if (f->vidsch->node[i].stopped || f->vidsch->node[i].ignoring ||
            f->vidsch->node[i].recover != RECOVER_NONE)
            return false;
    return !vidsch_recovery_of_adapter(f->vidsch);
}

/* ---- by a client ---- */

TEST_WITH(fixture, a_forced_reset_is_of_the_engines_at_work, THREE)
{
    struct vidsch_device *device[3];

    for (uint32_t i = 0; i < 3; i++)
        device[i] = make_device(f);
    for (uint32_t i = 0; i < 3; i += 2) {
        f->driver.engine[i].hang = true;
        submit(make_context(device[i], i), 0x1000, 16);
    }
    pass(MS);
    CHECK(vidsch_force_reset(f->vidsch, false) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 2 && calls_of(f, CALL_RESET) == 0 &&
          call_at(f, CALL_RESET_ENGINE, 0)->reset_engine.NodeOrdinal == 0 &&
          call_at(f, CALL_RESET_ENGINE, 1)->reset_engine.NodeOrdinal == 2);
    CHECK(all_open(f));
    CHECK(vidsch_device_state(device[0]) == D3DKMT_DEVICEEXECUTION_HUNG &&
          vidsch_device_state(device[1]) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
          vidsch_device_state(device[2]) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK(vidsch_force_reset(f->vidsch, false) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 2 && calls_of(f, CALL_COLLECT) == 2);
    for (uint32_t i = 0; i < 3; i++)
        vidsch_device_destroy(device[i]);
}

TEST_WITH(fixture, a_forced_reset_returns_when_it_is_done)
{
    struct hang s = hang_make(f);

    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESTART) == 1 && f->mm.restores == 1 && all_open(f));
    CHECK(vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_RESET); /* nobody is to blame */
    hang_end(f, &s);
}

TEST_WITH(fixture, forced_resets_are_of_nodes_that_there_are)
{
    CHECK_REFUSED(vidsch_force_engine_reset(f->vidsch, 2), STATUS_INVALID_PARAMETER, NULL,
                  "node 2, the adapter has 2");
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
}

TEST_WITH(fixture, an_adapter_that_is_being_stopped_refuses)
{
    struct vidsch_device *device;

    f->vidsch->quiescing = true;
    CHECK_REFUSED(vidsch_force_engine_reset(f->vidsch, 1), STATUS_DEVICE_REMOVED, NULL,
                  "the adapter is being stopped");
    CHECK_REFUSED(vidsch_force_reset(f->vidsch, true), STATUS_DEVICE_REMOVED, NULL,
                  "the adapter is being stopped");
    CHECK_REFUSED(vidsch_device_create(f->vidsch, &f->client, NULL, &device), STATUS_DEVICE_REMOVED,
                  NULL, "the adapter is being stopped");
    CHECK(calls_of(f, CALL_RESET) == 0 && all_open(f));
    f->vidsch->quiescing = false;
}

/* The driver is still asked; the device is lost as it comes. */
static void create_for_long(void *arg)
{
    struct fixture *f = arg;
    struct vidsch_device *device = make_device(f);
    D3DKMT_DEVICEPAGEFAULT_STATE fault;

    CHECK(vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_STOPPED);
    CHECK_REFUSED(vidsch_device_check(device, true), STATUS_DEVICE_REMOVED, NULL,
                  "the adapter was stopped");
    CHECK_REFUSED(vidsch_device_fault_state(device, &fault), STATUS_DEVICE_REMOVED, "KMT-128",
                  "the adapter was stopped");
    f->vidsch->quiescing = false;
    CHECK(vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_RESET);
    CHECK_REFUSED(vidsch_device_check(device, true), STATUS_DEVICE_REMOVED, NULL,
                  "the device was lost before: D3DKMT_DEVICEEXECUTION_RESET, by a reset; the "
                  "adapter was reset or stopped while it was created");
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_device_that_is_made_while_the_adapter_stops_is_lost)
{
    struct sim_thread *thread;

    f->driver.block_ns = MS;
    thread = spawn(f, create_for_long, f);
    pass(MS / 2);
    f->vidsch->quiescing = true;
    join(thread);
    f->driver.block_ns = 0;
}

/* ---- twice ---- */

TEST_WITH(fixture, the_first_cause_of_an_engine_reset_counts)
{
    struct hang s = hang_make(f);
    struct vidsch_node *node = &f->vidsch->node[1];
    uint8_t before = sim_raise_irql(SIM_IRQL_DISPATCH);

    vidsch_recovery_want_engine(node, RECOVER_PAGE_FAULT);
    CHECK(node->recover == RECOVER_PAGE_FAULT && node->stopped);
    vidsch_recovery_want_engine(node, RECOVER_FORCED);
    CHECK(node->recover == RECOVER_PAGE_FAULT);
    sim_lower_irql(before);
    pass(MS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 && all_open(f));
    CHECK(vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
    hang_end(f, &s);
}

TEST_WITH(fixture, the_first_cause_of_an_adapter_reset_counts)
{
    struct hang s = hang_make(f);
    uint8_t before = sim_raise_irql(SIM_IRQL_DISPATCH);

    vidsch_recovery_want_adapter(f->vidsch, RECOVER_DRIVER);
    vidsch_recovery_want_adapter(f->vidsch, RECOVER_FORCED);
    CHECK(f->vidsch->recovery.adapter_cause == RECOVER_DRIVER && f->vidsch->node[0].stopped &&
          f->vidsch->node[1].stopped);
    sim_lower_irql(before);
    pass(MS);
    CHECK(calls_of(f, CALL_RESET) == 1 && all_open(f) && f->vidsch->recovery.barren == 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, a_reset_in_progress_takes_in_what_is_asked_for)
{
    struct vidsch *v = f->vidsch;

    v->recovery.resetting = true; /* as in the middle of one */
    vidsch_recovery_want_engine(&v->node[0], RECOVER_TIMEOUT);
    vidsch_recovery_want_adapter(v, RECOVER_TIMEOUT);
    CHECK(v->node[0].recover == RECOVER_NONE && !v->node[0].stopped && !v->node[1].stopped &&
          !v->recovery.adapter_wanted);
    v->recovery.resetting = false;
    pass(MS);
    CHECK(calls_of(f, CALL_RESET) == 0 && calls_of(f, CALL_RESET_ENGINE) == 0);
}

/* ---- while memory is restored ---- */

static NTSTATUS hang_with_paging(struct fixture *f, const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    f->driver.engine[1].hang = args->Flags.Paging;
    return STATUS_SUCCESS;
}

static void notify_unnamed_fault(struct fixture *f, UINT reset)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED};

    data.DmaPageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)(DXGK_PAGE_FAULT_FENCE_INVALID |
                                                                 reset);
    data.DmaPageFaulted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(5 * MS);
}

/* The first of two paging buffers that restore memory is on the node. */
static struct vidsch_device *begin_to_restore(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);

    f->mm.restore_pages = 2;
    f->driver.on_submit_virtual = hang_with_paging;
    submit(make_context(device, 1), 0x1000, 16);
    pass(MS);
    notify_unnamed_fault(f, DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED);
    CHECK(calls_of(f, CALL_RESET) == 1 && f->vidsch->recovery.restoring &&
          f->vidsch->node[1].count == 1);
    return device;
}

static void fault_of_the_adapter(struct fixture *f)
{
    begin_to_restore(f);
    notify_unnamed_fault(f, DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED);
    fail_msg("no bug check");
}

static void fault_of_the_engine(struct fixture *f)
{
    begin_to_restore(f);
    notify_unnamed_fault(f, DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    fail_msg("no bug check");
}

TEST(a_fault_while_memory_is_restored_is_fatal)
{
    FATAL(NULL, fault_of_the_adapter, "TDR-086", 0x116, 0);
    FATAL(NULL, fault_of_the_engine, "TDR-086", 0x116, 0);
}

static void force_adapter(void *arg)
{
    struct fixture *f = arg;

    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
}

static void force_engines(void *arg)
{
    struct fixture *f = arg;

    CHECK(vidsch_force_reset(f->vidsch, false) == STATUS_SUCCESS);
}

static void force_engine(void *arg)
{
    struct fixture *f = arg;

    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
}

/* What a client asks for meanwhile follows. */
static void force_while_restoring(struct fixture *f, void (*force)(void *arg))
{
    struct vidsch_device *device = begin_to_restore(f);
    struct sim_thread *thread;

    f->driver.on_submit_virtual = NULL;
    thread = spawn(f, force, f);
    pass(MS);
    CHECK(calls_of(f, CALL_RESET) == 1 && !sim_thread_ended(thread));
    driver_run(f, 1);
    pass(5 * MS);
    CHECK(sim_thread_ended(thread) && all_open(f));
    sim_thread_release(thread);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_forced_reset_of_the_adapter_waits_for_the_restoration)
{
    force_while_restoring(f, force_adapter);
    CHECK(calls_of(f, CALL_RESET) == 2 && f->mm.restores == 2 &&
          calls_of(f, CALL_RESET_ENGINE) == 0);
}

TEST_WITH(fixture, a_forced_reset_of_an_engine_waits_for_the_restoration)
{
    force_while_restoring(f, force_engine);
    CHECK(calls_of(f, CALL_RESET) == 1 && f->mm.restores == 1 &&
          calls_of(f, CALL_RESET_ENGINE) == 0);
}

TEST_WITH(fixture, a_forced_reset_of_all_engines_waits_for_the_restoration)
{
    force_while_restoring(f, force_engines);
    CHECK(calls_of(f, CALL_RESET) == 1 && f->mm.restores == 1 &&
          calls_of(f, CALL_RESET_ENGINE) == 0);
}

/* ---- what is in the driver meanwhile ---- */

static NTSTATUS patch_for_long(struct fixture *f, const DXGKARG_PATCH *args)
{
    (void)args;
    sim_block(sim_now() + f->driver.stall_ns, NULL);
    return STATUS_SUCCESS;
}

static struct vidsch_device *begin_long_patch(struct fixture *f, uint64_t ns)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);

    render(context, 16);
    f->driver.on_patch = patch_for_long;
    f->driver.stall_ns = ns;
    pass(MS);
    CHECK(calls_of(f, CALL_PATCH) == 1 && f->vidsch->worker.busy_node == &f->vidsch->node[0]);
    return device;
}

/* TdrDdiDelay is 5 s. */
TEST_WITH(fixture, a_call_for_another_node_does_not_matter)
{
    struct hang s = hang_make(f);
    struct vidsch_device *other = begin_long_patch(f, 7 * SECOND);

    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_RESET) == 0);
    idle(other);
    CHECK(vidsch_device_state(other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(other);
    hang_end(f, &s);
}

static void patch_without_end(struct fixture *f)
{
    hang_make(f);
    begin_long_patch(f, 50 * SECOND);
    vidsch_force_reset(f->vidsch, true);
}

TEST(a_call_of_the_worker_that_stays_is_fatal)
{
    struct fixture *f = fixture_run(NULL, patch_without_end);

    CHECK(f->bug.happened && f->bug.code == 0x116);
    CHECK_RULE(
        "TDR-011",
        reported(f, "TDR-011", "recovery failed: the scheduler's thread did not leave the driver"));
    fixture_close(f);
}

/* ---- dependent nodes ---- */

static bool was_reset(const struct fixture *f, uint32_t index, UINT node)
{
    const struct call *call = call_at(f, CALL_RESET_ENGINE, index);

    return call && call->reset_engine.NodeOrdinal == node;
}

/* While the driver is asked for the group, the worker comes with a call that stays. */
static NTSTATUS wait_for_the_worker(struct fixture *f, DXGKARG_QUERYDEPENDENTENGINEGROUP *args)
{
    (void)args;
    sim_block(sim_now() + 2 * MS, NULL);
    return f->driver.status[CALL_QUERY_GROUP];
}

/* The dependent node cannot be asked to preempt: it is reset, too. */
TEST_WITH(fixture, a_dependent_node_whose_call_stays_is_reset)
{
    struct hang s = hang_make(f);
    struct vidsch_device *other = make_device(f);
    struct vidsch_context *context = make_context(other, 0);
    struct sim_thread *thread;

    f->driver.group_mask = 3;
    f->driver.on_query_group = wait_for_the_worker;
    f->driver.on_patch = patch_for_long;
    thread = spawn(f, force_engine, f);
    pass(MS);
    CHECK(calls_of(f, CALL_QUERY_GROUP) == 1);
    CHECK(render(context, 16) == STATUS_SUCCESS);
    f->driver.stall_ns = 7 * SECOND;
    join(thread);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 2 && was_reset(f, 0, 0) && was_reset(f, 1, 1));
    CHECK(calls_of(f, CALL_PREEMPT) == 0 && calls_of(f, CALL_RESET) == 0 && all_open(f));
    idle(other);
    CHECK(vidsch_device_state(other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(other);
    hang_end(f, &s);
}

TEST_WITH(fixture, an_idle_dependent_node_is_not_asked_for_anything)
{
    struct hang s = hang_make(f);

    f->driver.group_mask = 3;
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 && was_reset(f, 0, 1) &&
          calls_of(f, CALL_PREEMPT) == 0 && all_open(f));
    hang_end(f, &s);
}

/* Another node is being preempted, which this reset does not affect. */
TEST_WITH(fixture, preemption_of_other_nodes_is_not_waited_for, THREE)
{
    struct vidsch_device *other = make_device(f);
    struct hang s;
    uint64_t begun;

    f->driver.engine[2].hang = f->driver.engine[2].ignores_preemption = true;
    f->driver.group_mask = 3;
    submit(make_context(other, 2), 0x1000, 16);
    pass(1500 * MS);
    s = hang_make(f);
    pass(SECOND);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->vidsch->node[2].preempting == PREEMPT_TIMEOUT);
    begun = sim_now();
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK(sim_now() - begun < 100 * MS && calls_of(f, CALL_RESET_ENGINE) == 1);
    f->driver.engine[2].ignores_preemption = false;
    f->driver.group_mask = 0;
    CHECK(vidsch_force_engine_reset(f->vidsch, 2) == STATUS_SUCCESS);
    vidsch_device_destroy(other);
    hang_end(f, &s);
}

/* It was asked already, and has half a second more. */
TEST_WITH(fixture, a_dependent_node_is_asked_once, THREE)
{
    struct vidsch_device *other = make_device(f);
    struct hang s;
    uint64_t begun;

    f->driver.engine[2].hang = f->driver.engine[2].ignores_preemption = true;
    f->driver.group_mask = 6;
    submit(make_context(other, 2), 0x1000, 16);
    pass(1500 * MS);
    s = hang_make(f);
    pass(SECOND);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->vidsch->node[2].preempting == PREEMPT_TIMEOUT);
    begun = sim_now();
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK(sim_now() - begun >= 500 * MS && sim_now() - begun < 600 * MS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 2 && was_reset(f, 0, 1) && was_reset(f, 1, 2));
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && all_open(f));
    vidsch_device_destroy(other);
    hang_end(f, &s);
}

/* ---- what a reset of the adapter ends ---- */

/* Paging was preempted, and did not go back to the driver before the reset. */
TEST_WITH(fixture, preempted_paging_ends_with_the_adapter)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};
    struct vidsch_node *node = &f->vidsch->node[1];
    uint64_t ticket;
    uint8_t before;

    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    ticket = page(f, 64);
    pass(2500 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && node->count == 1);
    data.DmaPreempted.PreemptionFenceId = node->preempt_id;
    data.DmaPreempted.NodeOrdinal = 1;
    before = sim_raise_irql(SIM_IRQL_DEVICE);
    vidsch_notify_interrupt(f->vidsch, &data);
    sim_lower_irql(SIM_IRQL_DISPATCH);
    vidsch_notify_dpc(f->vidsch);
    CHECK(node->count == 0 && !list_empty(&node->resubmit) && vidsch_validate(f->vidsch));
    vidsch_recovery_want_adapter(f->vidsch, RECOVER_FORCED);
    sim_lower_irql(before);
    pass(MS);
    CHECK(calls_of(f, CALL_RESET) == 1 && list_empty(&node->resubmit) && all_open(f));
    CHECK(vidsch_for_vidmm.paging_done(&f->ddi, ticket));
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) == STATUS_SUCCESS);
}
