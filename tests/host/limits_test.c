/* SPDX-License-Identifier: MIT */
/* What ends a run that would not end by itself, and what is told of it. */
#include "host/support/refgpu_client.h"

#define MS 1000000ull

static void begin(struct machine *m, uint64_t limit_ns)
{
    struct dxgk_machine_config config;

    machine_config(m, &config);
    if (limit_ns)
        config.time_limit_ns = limit_ns;
    machine_create(m, &config);
    machine_add_refgpu(m);
}

static void run(struct machine *m, void (*program)(struct client *c), enum dxgk_result expected)
{
    struct client *c = calloc(1, sizeof(*c));

    machine_run_with(m, c, program, expected);
    free(c);
}

/* Whether the machine reported the rule with a text that contains all of `words`. */
static bool said(const struct machine *m, const char *rule, const char *first, const char *second)
{
    struct dxgk_violation v;

    for (size_t i = 0; dxgk_machine_violation(m->dxgk, i, &v); i++)
        if (strcmp(v.rule, rule) == 0 && strstr(v.seen, first) && strstr(v.seen, second))
            return true;
    machine_print_violations(m);
    return false;
}

static bool waits_tell(const struct machine *m, const char *words)
{
    const char *waits = dxgk_machine_waits(m->dxgk);

    if (waits && strstr(waits, words))
        return true;
    printf("no \"%s\" in:\n%s", words, waits ? waits : "");
    return false;
}

/* ---- the limit of virtual time, and who waits for what ---- */

static void sleep_long(void *argument)
{
    (void)argument;
    dxgk_client_sleep(100000 * MS);
}

static void wait_for_nobody(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, dxgk_client_thread("sleeper", sleep_long, NULL));
    (void)gpu_wait_cpu(&g, fence.hSyncObject, 5);
}

TEST(a_run_ends_at_its_limit_and_says_who_is_left)
{
    struct machine m;

    begin(&m, 50 * MS);
    run(&m, wait_for_nobody, DXGK_TIME_UP);
    CHECK_RULE("NT-194", said(&m, "NT-194", "the limit of 0.05 s of virtual time",
                              "D3DKMTWaitForSynchronizationObjectFromCpu"));
    CHECK_RULE("NT-194", waits_tell(&m, "client thread client waits in "
                                        "D3DKMTWaitForSynchronizationObjectFromCpu") &&
                             waits_tell(&m, "client thread sleeper waits in dxgk_client_sleep"));
    CHECK(waits_tell(&m, "thread client waits for monitored fence 1 to reach 5, it is 0"));
    CHECK(waits_tell(&m, "no signal of it is queued: a client must signal it"));
    dxgk_machine_destroy(m.dxgk);
}

TEST(the_default_limit_is_an_hour)
{
    struct dxgk_machine_config config;

    dxgk_machine_config_init(&config);
    CHECK_RULE("NT-194", config.time_limit_ns == 3600000 * MS);
}

/* Two contexts wait for each other's signals. */
static void cross(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 a, b;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && gpu_create_fence(&g, &a) == STATUS_SUCCESS &&
               gpu_create_fence(&g, &b) == STATUS_SUCCESS);
    TRY(c, gpu_wait(g.copy, a.hSyncObject, 7) == STATUS_SUCCESS &&
               gpu_signal(g.copy, b.hSyncObject, 8) == STATUS_SUCCESS);
    TRY(c, gpu_wait(g.render, b.hSyncObject, 8) == STATUS_SUCCESS &&
               gpu_signal(g.render, a.hSyncObject, 7) == STATUS_SUCCESS);
    (void)gpu_wait_cpu(&g, b.hSyncObject, 9);
}

TEST(a_deadlock_says_who_should_have_signalled)
{
    struct machine m;

    begin(&m, 0);
    run(&m, cross, DXGK_DEADLOCK);
    CHECK_RULE("THREAD-072", said(&m, "THREAD-072", "nothing can happen any more", ""));
    CHECK_RULE("THREAD-072", waits_tell(&m, "waits for monitored fence 1 to reach 9, it is 0"));
    CHECK_RULE("THREAD-072", waits_tell(&m, "a signal to 8 is queued in context") &&
                                 waits_tell(&m, "behind 1 packet(s) and its own wait"));
    CHECK_RULE("THREAD-072",
               waits_tell(&m, "(client) waits for monitored fence 2 to reach 7, it is 0"));
    dxgk_machine_destroy(m.dxgk);
}

/* A packet hangs on a device without timeouts, and a signal follows it. */
static void hang(struct client *c)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_CREATEDEVICE create;
    struct refgpu_builder b;
    struct memory commands;
    struct gpu g;

    memset(&g, 0, sizeof(g));
    memset(&create, 0, sizeof(create));
    TRY(c, gpu_open_adapter(&g) == STATUS_SUCCESS);
    create.hAdapter = g.adapter;
    create.Flags.DisableGpuTimeout = 1;
    TRY(c, D3DKMTCreateDevice(&create) == STATUS_SUCCESS);
    g.device = create.hDevice;
    TRY(c, gpu_create_queue(&g) == STATUS_SUCCESS && gpu_create_copy_context(&g) == STATUS_SUCCESS);
    TRY(c, gpu_create_fence(&g, &fence) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_hang(&b, 0);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS &&
               gpu_signal(g.copy, fence.hSyncObject, 3) == STATUS_SUCCESS);
    (void)gpu_wait_cpu(&g, fence.hSyncObject, 3);
}

TEST(what_is_on_the_nodes_is_told)
{
    struct machine m;

    begin(&m, 5000 * MS);
    run(&m, hang, DXGK_TIME_UP);
    CHECK_RULE("NT-194", waits_tell(&m, "waits for monitored fence 1 to reach 3, it is 0") &&
                             waits_tell(&m, "a signal to 3 follows fence ") &&
                             waits_tell(&m, "on node 1\n"));
    CHECK_RULE("NT-194",
               waits_tell(&m, "node 1: fence ") && waits_tell(&m, "(client), submitted 4"));
    dxgk_machine_destroy(m.dxgk);
}
