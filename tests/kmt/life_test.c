/* SPDX-License-Identifier: MIT */
/* Processes that end, threads that race, memory that runs out, waits that can never end, devices that are lost. */
#include "host/machine_record.h"
#include "host/support/refgpu_client.h"
#include "sim/machine.h"

/* ---- memory that runs out ---- */

struct attempt {
    NTSTATUS (*step)(struct gpu *g, struct memory *m);
    NTSTATUS (*undo)(struct gpu *g, struct memory *m);
    const char *name;
};

static NTSTATUS step_adapter(struct gpu *g, struct memory *m)
{
    (void)m;
    return gpu_open_adapter(g);
}

static NTSTATUS step_device(struct gpu *g, struct memory *m)
{
    (void)m;
    return gpu_create_device(g);
}

static NTSTATUS step_queue(struct gpu *g, struct memory *m)
{
    (void)m;
    return gpu_create_queue(g);
}

static NTSTATUS step_copy(struct gpu *g, struct memory *m)
{
    (void)m;
    return gpu_create_copy_context(g);
}

static NTSTATUS step_render(struct gpu *g, struct memory *m)
{
    (void)m;
    return gpu_create_render_context(g);
}

static NTSTATUS step_memory(struct gpu *g, struct memory *m)
{
    return gpu_create_memory(g, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, 0, m);
}

static NTSTATUS step_map(struct gpu *g, struct memory *m)
{
    return gpu_map(g, m);
}

static NTSTATUS step_lock(struct gpu *g, struct memory *m)
{
    return gpu_lock(g, m);
}

static NTSTATUS step_fence(struct gpu *g, struct memory *m)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;

    (void)m;
    return gpu_create_fence(g, &fence);
}

static NTSTATUS step_submit(struct gpu *g, struct memory *m)
{
    return gpu_submit(g->copy, m->va, 0);
}

static const struct attempt attempts[] = {
    {step_adapter, NULL, "open adapter"},
    {step_device, NULL, "create device"},
    {step_queue, NULL, "create paging queue"},
    {step_copy, NULL, "create context"},
    {step_render, NULL, "create context"},
    {step_memory, NULL, "create allocation"},
    {step_map, NULL, "map"},
    {step_lock, NULL, "lock"},
    {step_fence, NULL, "create fence"},
    {step_submit, NULL, "submit"},
};

struct shortage {
    NTSTATUS status;
    unsigned reached;
};

static void whole_way(struct client *c)
{
    struct shortage *s = c->context;
    struct memory m = {0};
    struct gpu g = {0};

    for (s->reached = 0; s->reached < sizeof(attempts) / sizeof(attempts[0]); s->reached++) {
        s->status = attempts[s->reached].step(&g, &m);
        if (!NT_SUCCESS(s->status))
            return; /* the end of the process cleans up */
    }
}

/* The n-th allocation after creation fails, for every n that comes while the client works. A driver may say otherwise than
 * STATUS_NO_MEMORY, and paging that fails later loses the device; what counts is that nothing breaks and nothing is left. */
TEST(every_failing_allocation_is_survived)
{
    uint64_t start, n;
    unsigned failed = 0, no_memory = 0;

    {
        struct machine m;
        struct dxgk_statistics s;

        machine_begin(&m, DXGK_IOMMU_OFF);
        dxgk_machine_statistics(m.dxgk, &s);
        start = s.allocations_requested;
        machine_end(&m);
    }
    for (n = start + 1;; n++) {
        struct client *c = calloc(1, sizeof(*c));
        struct shortage shortage = {0};
        struct dxgk_machine_config config;
        struct dxgk_statistics s;
        enum dxgk_result result;
        struct machine m;

        machine_config(&m, &config);
        config.fail_allocation = n;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        c->context = &shortage;
        c->program = whole_way;
        result = dxgk_machine_run(m.dxgk, "client", client_main, c);
        CHECK(result == DXGK_OK ||
              result == DXGK_OUT_OF_MEMORY); /* the process itself could not be made */
        dxgk_machine_statistics(m.dxgk, &s);
        machine_end(&m);
        free(c);
        failed += !NT_SUCCESS(shortage.status);
        no_memory += shortage.status == STATUS_NO_MEMORY;
        if (s.allocations_requested < n)
            break;
        if (n > start + 100000)
            fail_msg("it never ends");
    }
    printf("    %u calls failed, %u of them for want of memory, in %llu runs\n", failed, no_memory,
           (unsigned long long)(n - start));
    CHECK_RULE("KMT-013", no_memory > 20 && no_memory >= failed * 8 / 10);
}

/* ---- processes come and go ---- */

static void short_life(void *argument)
{
    unsigned *count = argument;
    struct memory m;
    struct gpu g;

    if (gpu_begin(&g) == STATUS_SUCCESS &&
        gpu_memory(&g, 65536, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS)
        ++*count;
}

static void many_processes(struct client *c)
{
    unsigned done = 0;

    for (unsigned i = 0; i < 200; i++) {
        TRY(c, dxgk_client_process("short", short_life, &done));
        dxgk_client_sleep(20000);
    }
    dxgk_client_sleep(10000000);
    TRY(c, done == 200);
}

/* Once what is kept for reuse has its size, more processes change nothing. */
TEST(processes_come_and_go)
{
    struct machine m;
    uint64_t bytes;

    machine_begin(&m, DXGK_IOMMU_OFF);
    for (unsigned i = 0; i < 6; i++)
        machine_run(&m, many_processes);
    bytes = m.dxgk->sim->heap.live_bytes;
    machine_run(&m, many_processes);
    CHECK_RULE("KMT-481", m.dxgk->sim->heap.live_bytes == bytes);
    machine_end(&m);
}

/* ---- races ---- */

struct race {
    struct gpu g;
    struct memory m;
    unsigned left, odd;
    D3DKMT_HANDLE context;
};

static void user(void *argument)
{
    struct race *r = argument;

    for (unsigned i = 0; i < 20; i++) {
        NTSTATUS status = gpu_submit(r->context, r->m.va, 0);
        D3DKMT_SETCONTEXTSCHEDULINGPRIORITY priority = {r->context, (INT)(i % 3)};
        struct memory copy = r->m;

        if (status != STATUS_SUCCESS && status != STATUS_INVALID_PARAMETER)
            r->odd++;
        status = D3DKMTSetContextSchedulingPriority(&priority);
        if (status != STATUS_SUCCESS && status != STATUS_INVALID_PARAMETER)
            r->odd++;
        status = gpu_lock(&r->g, &copy);
        if (status == STATUS_SUCCESS)
            status = gpu_unlock(&r->g, &copy);
        if (status != STATUS_SUCCESS && status != STATUS_INVALID_PARAMETER)
            r->odd++;
    }
    r->left--;
}

static void destroyer(void *argument)
{
    struct race *r = argument;
    NTSTATUS first, second;

    first = gpu_destroy_context(r->context);
    second = gpu_destroy_context(r->context);
    if (first == STATUS_SUCCESS ? second != STATUS_INVALID_PARAMETER
                                : first != STATUS_INVALID_PARAMETER)
        r->odd++;
    first = gpu_destroy_memory(&r->g, &r->m);
    if (first != STATUS_SUCCESS && first != STATUS_INVALID_PARAMETER)
        r->odd++;
    first = gpu_destroy_device(&r->g);
    if (first != STATUS_SUCCESS && first != STATUS_INVALID_PARAMETER)
        r->odd++;
    r->left--;
}

static void race(struct client *c)
{
    struct race *r = calloc(1, sizeof(*r));

    TRY(c, r && gpu_begin(&r->g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&r->g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &r->m) ==
               STATUS_SUCCESS);
    r->context = r->g.copy;
    r->left = 5;
    for (unsigned i = 0; i < 3; i++)
        TRY(c, dxgk_client_thread("user", user, r));
    for (unsigned i = 0; i < 2; i++)
        TRY(c, dxgk_client_thread("destroyer", destroyer, r));
    while (r->left)
        dxgk_client_sleep(10000);
    SHOW(c, "KMT-016", r->odd == 0);
    TRY(c, gpu_close_adapter(&r->g) == STATUS_SUCCESS);
    free(r);
}

TEST(use_and_destruction_race)
{
    const uint64_t seeds = getenv("DXGK_LONG") ? 1000 : 80;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct dxgk_machine_config config;
        struct machine m;

        machine_config(&m, &config);
        config.seed = seed;
        machine_create(&m, &config);
        machine_add_refgpu(&m);
        machine_run(&m, race);
        machine_end(&m);
    }
}

/* ---- waits that can never end ---- */

static void wait_for_nobody(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_GETDEVICESTATE state;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, gpu_wait(g.copy, fence.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, gpu_submit(g.copy, 0x10000, 0) == STATUS_SUCCESS);
    SHOW(c, "KMT-162", gpu_wait_idle(&g) == STATUS_SUCCESS); /* returns, with the device in error */
    memset(&state, 0, sizeof(state));
    state.hDevice = g.device;
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    SHOW(c, "KMT-162",
         D3DKMTGetDeviceState(&state) == STATUS_SUCCESS &&
             state.ExecutionState != D3DKMT_DEVICEEXECUTION_ACTIVE);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_call_that_waits_for_ever_returns)
{
    struct dxgk_statistics s;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run(&m, wait_for_nobody);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("KMT-162", s.warnings > 0);
    machine_end(&m);
}

static void leave_a_blocked_packet(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, gpu_wait(g.copy, fence.hSyncObject, 1) == STATUS_SUCCESS);
    TRY(c, gpu_submit(g.copy, 0x10000, 0) == STATUS_SUCCESS);
}

TEST(a_blocked_packet_does_not_hold_up_the_end)
{
    struct client *c = calloc(1, sizeof(*c));
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    c->program = leave_a_blocked_packet;
    CHECK_RULE("KMT-473",
               dxgk_machine_run(m.dxgk, "client", client_main, c) == DXGK_OK && !c->failed);
    machine_end(&m);
    free(c);
}

static void wait_on_cpu(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    gpu_wait_cpu(&g, fence.hSyncObject, 1); /* for ever */
    TRY(c, false);
}

/* The embedding is told, and can shut down in good order all the same: the process is killed. */
TEST(a_client_that_waits_for_ever_is_a_deadlock)
{
    struct client *c = calloc(1, sizeof(*c));
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, c, wait_on_cpu, DXGK_DEADLOCK);
    c->failed = NULL;
    machine_end(&m);
    free(c);
}

/* ---- timeouts ---- */

static void hang(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct memory commands;
    struct refgpu_builder b;
    D3DKMT_GETDEVICESTATE state;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_hang(&b, 0);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS);
    memset(&state, 0, sizeof(state));
    state.hDevice = g.device;
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    SHOW(c, "KMT-127",
         D3DKMTGetDeviceState(&state) == STATUS_SUCCESS &&
             state.ExecutionState == D3DKMT_DEVICEEXECUTION_HUNG);
    SHOW(c, "KMT-123", gpu_submit(g.copy, commands.va, 0) == STATUS_DEVICE_REMOVED);
    TRY(c, gpu_destroy_device(&g) == STATUS_SUCCESS);
    /* the same adapter handle, a new device */
    TRY(c, gpu_create_device(&g) == STATUS_SUCCESS && gpu_create_queue(&g) == STATUS_SUCCESS &&
               gpu_create_copy_context(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    TRY(c, gpu_submit(g.copy, commands.va, 0) == STATUS_SUCCESS);
    SHOW(c, "KMT-486", gpu_wait_idle(&g) == STATUS_SUCCESS);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_hang_loses_the_device)
{
    struct dxgk_statistics s;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run(&m, hang);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK(s.engine_resets + s.adapter_resets == 1);
    machine_end(&m);
}

static NTSTATUS force(const struct gpu *g, int kind)
{
    D3DKMT_TDRDBGCTRL_ESCAPE control = {.TdrControl = (D3DKMT_TDRDBGCTRLTYPE)kind};
    D3DKMT_ESCAPE escape;

    control.NodeOrdinal = REFGPU_NODE_COPY;
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g->adapter;
    escape.Type = D3DKMT_ESCAPE_TDRDBGCTRL;
    escape.pPrivateDriverData = &control;
    escape.PrivateDriverDataSize = sizeof(control);
    return D3DKMTEscape(&escape);
}

static void forced_timeouts(struct client *c)
{
    static const int kinds[] = {D3DKMT_TDRDBGCTRLTYPE_ENGINETDR, D3DKMT_TDRDBGCTRLTYPE_GPUTDR,
                                D3DKMT_TDRDBGCTRLTYPE_FORCETDR};
    struct memory commands;
    struct refgpu_builder b;
    struct gpu g;

    for (unsigned i = 0; i < 3; i++) {
        TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
        TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
                   STATUS_SUCCESS);
        refgpu_builder_init(&b, commands.cpu, 4096);
        refgpu_delay(&b, 1000000000);
        TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
        dxgk_client_sleep(100000);
        SHOW(c, "KMT-442", force(&g, kinds[i]) == STATUS_SUCCESS);
        SHOW(c, "TDR-079", gpu_submit(g.copy, commands.va, 0) == STATUS_DEVICE_REMOVED);
        TRY(c, gpu_end(&g) == STATUS_SUCCESS);
    }
}

TEST(timeouts_can_be_forced)
{
    struct dxgk_statistics s;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run(&m, forced_timeouts);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("TDR-079", s.engine_resets == 1 && s.adapter_resets == 2);
    machine_end(&m);
}

/* ---- bug checks ---- */

static void crash(struct client *c)
{
    D3DKMT_REQUEST_MACHINE_CRASH_ESCAPE args;
    D3DKMT_ESCAPE escape;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    memset(&args, 0, sizeof(args));
    args.Param1 = 0x11;
    args.Param2 = 0x22;
    args.Param3 = 0x33;
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = g.adapter;
    escape.Type = D3DKMT_ESCAPE_REQUEST_MACHINE_CRASH;
    escape.pPrivateDriverData = &args;
    escape.PrivateDriverDataSize = sizeof(args) - 1;
    SHOW(c, "KMT-456", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.PrivateDriverDataSize = sizeof(args);
    escape.pPrivateDriverData = (void *)8;
    SHOW(c, "KMT-456", D3DKMTEscape(&escape) == STATUS_INVALID_PARAMETER);
    escape.pPrivateDriverData = &args;
    SHOW(c, "KMT-456", D3DKMTEscape(&escape) == STATUS_DEVICE_REMOVED);
    SHOW(c, "LIFE-002/b",
         gpu_wait_idle(&g) == STATUS_DEVICE_REMOVED &&
             gpu_close_adapter(&g) == STATUS_DEVICE_REMOVED);
}

TEST(a_bug_check_stops_the_machine_only)
{
    struct client *c = calloc(1, sizeof(*c));
    struct dxgk_statistics s;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, c, crash, DXGK_DRIVER_STOPPED);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("KMT-456",
               s.bugcheck && s.bugcheck_parameter[0] == 0x11 && s.bugcheck_parameter[2] == 0x33);
    CHECK_RULE("KMT-493", s.bugcheck_client && s.client_errors == 1 && s.violations == 0);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_DRIVER_STOPPED);
    dxgk_machine_destroy(m.dxgk);
    free(c);
}
