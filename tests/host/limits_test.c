/* SPDX-License-Identifier: MIT */
/* What ends a run that would not end by itself, and what is told of it. */
#include "host/support/refgpu_client.h"

#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include "dxgkhost/device.h"

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
    CHECK_RULE("NT-194/a", said(&m, "NT-194", "the limit of 0.05 s of virtual time",
                                "D3DKMTWaitForSynchronizationObjectFromCpu"));
    CHECK_RULE("NT-194/b", waits_tell(&m, "client thread client waits in "
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
    CHECK_RULE("NT-194/d", config.time_limit_ns == 3600000 * MS);
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
    CHECK_RULE("NT-194/c", waits_tell(&m, "waits for monitored fence 1 to reach 3, it is 0") &&
                               waits_tell(&m, "a signal to 3 follows fence ") &&
                               waits_tell(&m, "on node 1\n"));
    CHECK_RULE("NT-194/c",
               waits_tell(&m, "node 1: fence ") && waits_tell(&m, "(client), submitted 4"));
    dxgk_machine_destroy(m.dxgk);
}

/* ---- a device model that misbehaves ---- */

#define OWN_TIMER 15u /* the reference GPU leaves it alone */

enum deed {
    GOOD,
    TIMER_AT_ONCE, /* its timer arms itself with delay 0 */
    TIMER_SOON,    /* the same with 2 us, 100 times */
    STORM,         /* it raises its message every microsecond */
    LOOP_IN_WRITE, /* and never comes back */
    LOOP_IN_READ,
    LOOP_IN_TIMER,
    SLEEP_IN_WRITE,
    DEAF, /* registers do nothing any more: writes are lost, no timer does anything */
};

/* The reference GPU's model, with deeds between it and the machine. */
static struct {
    const struct dxgk_device_model *real;
    const struct dxgk_device_services *services;
    void *host, *device;
    enum deed deed;
    unsigned fired, destroyed;
    unsigned storm_most; /* interrupts of a storm */
    uint64_t storm_ns;   /* between them */
} evil;

static volatile unsigned forever = 1;

static void loop(void)
{
    while (forever)
        ;
}

static bool evil_configure(const struct dxgk_device_config *config,
                           struct dxgk_device_description *description, const char **reason)
{
    return evil.real->configure(config, description, reason);
}

static void *evil_create(const struct dxgk_device_config *config,
                         const struct dxgk_device_services *services, void *host)
{
    evil.services = services;
    evil.host = host;
    evil.device = evil.real->create(config, services, host);
    return evil.device;
}

static void evil_destroy(void *device)
{
    evil.destroyed++;
    evil.device = NULL;
    evil.real->destroy(device);
}

static void evil_reset(void *device)
{
    evil.real->reset(device);
}

static uint64_t evil_read(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    if (evil.deed == LOOP_IN_READ)
        loop();
    return evil.real->read(device, bar, offset, width);
}

static void evil_write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    switch (evil.deed) {
    case TIMER_AT_ONCE:
    case TIMER_SOON:
    case STORM:
    case LOOP_IN_TIMER:
        if (!evil.fired)
            evil.services->timer_arm(evil.host, OWN_TIMER, 0);
        break;
    case LOOP_IN_WRITE:
        loop();
        break;
    case SLEEP_IN_WRITE:
        while (forever)
            pause();
        break;
    case DEAF:
        return;
    default:
        break;
    }
    evil.real->write(device, bar, offset, width, value);
}

static void evil_timer(void *device, unsigned index)
{
    if (index != OWN_TIMER) {
        if (evil.deed != DEAF)
            evil.real->timer(device, index);
        return;
    }
    evil.fired++;
    if (evil.deed == LOOP_IN_TIMER)
        loop();
    if (evil.deed == STORM)
        evil.services->interrupt(evil.host, 0);
    if (evil.deed == STORM && evil.fired >= evil.storm_most)
        return;
    if (evil.deed == TIMER_AT_ONCE || evil.deed == STORM || evil.fired < 100)
        evil.services->timer_arm(evil.host, OWN_TIMER,
                                 evil.deed == STORM        ? evil.storm_ns
                                 : evil.deed == TIMER_SOON ? 2000
                                                           : 0);
}

static const struct dxgk_device_model evil_model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "evilgpu",
    .configure = evil_configure,
    .create = evil_create,
    .destroy = evil_destroy,
    .reset = evil_reset,
    .read = evil_read,
    .write = evil_write,
    .timer = evil_timer,
};

static void begin_evil(struct machine *m, uint64_t watchdog_ms)
{
    struct dxgk_machine_config config;
    dxgk_device_get_model_fn get_model;
    void *library = dlopen(machine_path("devices/refgpu.so"), RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    memset(&evil, 0, sizeof(evil));
    *(void **)&get_model = dlsym(library, "dxgk_device_get_model");
    evil.real = get_model(DXGK_DEVICE_API_VERSION);
    evil.storm_most = 0xFFFFFFFFu;
    evil.storm_ns = 1000;
    machine_config(m, &config);
    if (watchdog_ms)
        config.watchdog_ms = watchdog_ms;
    machine_create(m, &config);
    CHECK(dxgk_machine_add_device_model(m->dxgk, &evil_model, NULL, 0, m->error,
                                        sizeof(m->error)) == DXGK_OK);
    if (dxgk_machine_load_driver(m->dxgk, machine_path("drivers/refgpu.so"), m->error,
                                 sizeof(m->error)) != DXGK_OK)
        fail_msg("driver: %s", m->error);
}

static bool bugcheck_is(const struct machine *m, uint32_t code)
{
    struct dxgk_statistics s;

    dxgk_machine_statistics(m->dxgk, &s);
    if (!s.bugcheck || s.bugcheck_code != code)
        printf("bug check 0x%x\n", s.bugcheck_code);
    return s.bugcheck && s.bugcheck_code == code;
}

/* Submits while the deed is done, which begins with the next register that is written or read. */
static void submit_some(struct client *c)
{
    struct refgpu_builder b;
    struct memory commands;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_nop(&b);
    evil.deed = *(enum deed *)c->context;
    for (unsigned i = 0; i < 3; i++)
        if (gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) != STATUS_SUCCESS ||
            gpu_wait_idle(&g) != STATUS_SUCCESS)
            return;
    dxgk_client_sleep(2000 * MS);
    evil.deed = GOOD;
    (void)gpu_end(&g);
}

static void run_deed(struct machine *m, enum deed deed, enum dxgk_result expected)
{
    struct client *c = calloc(1, sizeof(*c));

    c->context = &deed;
    machine_run_with(m, c, submit_some, expected);
    free(c);
}

TEST(timers_of_a_device_that_arm_themselves_at_once)
{
    struct machine m;

    begin_evil(&m, 0);
    run_deed(&m, TIMER_AT_ONCE, DXGK_DRIVER_STOPPED);
    CHECK_RULE("NT-196/a", bugcheck_is(&m, 0x124) && said(&m, "NT-196", "1000000 events",
                                                          "timer 15 of device model evilgpu"));
    CHECK_RULE("NT-196/b", evil.fired >= 999000 && evil.fired <= 1000000);
    dxgk_machine_destroy(m.dxgk);

    begin_evil(&m, 0);
    run_deed(&m, TIMER_SOON, DXGK_OK);
    CHECK_RULE("NT-196/c", evil.fired == 100);
    machine_end(&m);
}

TEST(a_storm_of_interrupts_stops_the_machine)
{
    struct machine m;

    begin_evil(&m, 0);
    run_deed(&m, STORM, DXGK_DRIVER_STOPPED);
    CHECK_RULE("NT-197/a", bugcheck_is(&m, 0xF2) && said(&m, "NT-197", "device model evilgpu",
                                                         "interrupt message 0 100000 times"));
    dxgk_machine_destroy(m.dxgk);
}

/* Two bursts, each of which begins with a submission. */
static void submit_between(struct client *c)
{
    struct refgpu_builder b;
    struct memory commands;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_nop(&b);
    for (unsigned i = 0; i < 2; i++) {
        evil.fired = 0;
        evil.deed = STORM;
        if (gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) != STATUS_SUCCESS ||
            gpu_wait_idle(&g) != STATUS_SUCCESS)
            return;
        dxgk_client_sleep(400 * MS);
        evil.deed = GOOD;
    }
    (void)gpu_end(&g);
}

TEST(many_interrupts_are_no_storm)
{
    struct machine m;

    begin_evil(&m, 0);
    evil.storm_most = 99000; /* twice: submissions count anew */
    machine_run(&m, submit_between);
    CHECK_RULE("NT-197/b", evil.fired == 99000 && !said(&m, "NT-197", "", ""));
    dxgk_machine_destroy(m.dxgk); /* not in good order: no driver claimed them (THREAD-057) */

    begin_evil(&m, 0);
    evil.storm_most = 180000; /* each second has fewer than there may be */
    evil.storm_ns = 10500;
    run_deed(&m, STORM, DXGK_OK);
    CHECK_RULE("NT-197/c", evil.fired == 180000 && !said(&m, "NT-197", "", ""));
    dxgk_machine_destroy(m.dxgk);

    begin_evil(&m, 0);
    evil.storm_most = 180000; /* more, though not many more */
    evil.storm_ns = 9500;
    run_deed(&m, STORM, DXGK_DRIVER_STOPPED);
    CHECK_RULE("NT-197/c", bugcheck_is(&m, 0xF2) && evil.fired >= 100000 && evil.fired < 101000);
    dxgk_machine_destroy(m.dxgk);
}

static uint64_t host_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

TEST(callbacks_of_a_device_that_do_not_return)
{
    static const struct {
        enum deed deed;
        const char *callback, *why;
    } deeds[] = {
        {LOOP_IN_WRITE, "`write` of device model evilgpu", "processor time"},
        {LOOP_IN_READ, "`read` of device model evilgpu", "processor time"},
        {LOOP_IN_TIMER, "`timer` of device model evilgpu", "processor time"},
        {SLEEP_IN_WRITE, "`write` of device model evilgpu", "sleeps in the host's kernel"},
    };

    for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
        uint64_t before = host_seconds();
        struct machine m;

        begin_evil(&m, 250);
        run_deed(&m, deeds[i].deed, DXGK_DRIVER_STOPPED);
        CHECK_RULE("NT-198/a",
                   bugcheck_is(&m, 0x124) && said(&m, "NT-198", deeds[i].callback, deeds[i].why));
        if (deeds[i].deed == SLEEP_IN_WRITE)
            CHECK_RULE("NT-198/b", host_seconds() - before >= 2);
        dxgk_machine_destroy(m.dxgk);
        CHECK_RULE("NT-198/c", evil.destroyed == 0);
        evil.real->destroy(evil.device); /* which the machine left alone */
    }
}

/* ---- recovery that leads nowhere ---- */

static bool loss_tells(const struct machine *m, const char *first, const char *second)
{
    struct dxgk_loss loss;

    for (size_t i = 0; dxgk_machine_loss(m->dxgk, i, &loss); i++)
        if (strstr(loss.line, first) && strstr(loss.line, second))
            return true;
    for (size_t i = 0; dxgk_machine_loss(m->dxgk, i, &loss); i++)
        printf("%s\n", loss.line);
    return false;
}

/* The registers take nothing any more: resets of the engine end nothing. */
TEST(a_device_that_ignores_its_registers_is_given_up)
{
    struct dxgk_statistics s;
    struct machine m;

    begin_evil(&m, 0);
    run_deed(&m, DEAF, DXGK_DRIVER_STOPPED);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("TDR-084",
               loss_tells(&m, "adapter reset (0x117)",
                          "5 resets of node 1 aborted no packet, and none was completed"));
    CHECK_RULE("TDR-084", s.engine_resets == 5);
    CHECK_RULE("TDR-086", bugcheck_is(&m, 0x116) && said(&m, "TDR-086", "hung again", ""));
    dxgk_machine_destroy(m.dxgk);
}

static void hang_preemptibly(struct client *c)
{
    struct refgpu_builder b;
    struct memory commands;
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE, &commands) ==
               STATUS_SUCCESS);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_hang(&b, REFGPU_HANG_PREEMPTIBLE);
    TRY(c, gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    (void)gpu_wait_idle(&g);
    SHOW(c, "PREEMPT-046",
         gpu_submit(g.copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_DEVICE_REMOVED);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_packet_that_only_ever_gives_way_is_reset)
{
    struct dxgk_statistics s;
    struct machine m;

    begin(&m, 0);
    run(&m, hang_preemptibly, DXGK_OK);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK_RULE("PREEMPT-046", s.preemptions == 256 && s.engine_resets == 1 && s.adapter_resets == 0);
    CHECK_RULE("PREEMPT-046", loss_tells(&m, "engine reset (0x141): node 1",
                                         "256 preemptions in a row, and no packet was completed"));
    machine_end(&m);
}

/* ---- time passes for everybody ---- */

static void sleep_for_nothing(struct client *c)
{
    uint64_t before = dxgk_client_time();

    for (unsigned i = 0; i < 1000; i++)
        dxgk_client_sleep(0);
    SHOW(c, "NT-194/e", dxgk_client_time() - before >= 1000 && dxgk_client_time() - before < MS);
    for (;;)
        dxgk_client_sleep(0);
}

/* A loop that asks for no time takes some, and so comes to the limit. */
TEST(sleeps_of_no_time_end_at_the_limit)
{
    struct machine m;

    begin(&m, MS);
    run(&m, sleep_for_nothing, DXGK_TIME_UP);
    dxgk_machine_destroy(m.dxgk);
}
