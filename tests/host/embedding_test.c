/* SPDX-License-Identifier: MIT */
/* Calls of the embedding interface at the wrong place: from inside the machine, from hooks and device models, beside
 * another host thread, in the child of a fork, after the shutdown, with NULL. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/device.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSIDE "from inside the machine"

static void nothing(void *argument)
{
    (void)argument;
}

static void no_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

/* What changes a machine or lets it run is refused, with the text. The number of calls that were not. */
static unsigned not_refused(struct dxgk_machine *m, const char *text)
{
    struct dxgk_machine_config config;
    char error[256] = "";
    unsigned wrong = 0;

#define REFUSED(call)                                          \
    do {                                                       \
        error[0] = '\0';                                       \
        wrong += (call) != DXGK_ERROR || !strstr(error, text); \
    } while (0)
    REFUSED(dxgk_machine_load_registry(m, "/dev/null", error, sizeof(error)));
    REFUSED(dxgk_machine_add_device(m, "null", NULL, 0, error, sizeof(error)));
    REFUSED(dxgk_machine_add_device_model(m, NULL, NULL, 0, error, sizeof(error)));
    REFUSED(dxgk_machine_load_driver(m, machine_path("drivers/refgpu.so"), error, sizeof(error)));
    REFUSED(dxgk_machine_inspect(m, machine_path("drivers/refgpu.so"), no_line, NULL, error,
                                 sizeof(error)));
    REFUSED(dxgk_machine_create_secure_vm(m, error, sizeof(error)));
#undef REFUSED
    wrong += dxgk_machine_run(m, "inner", nothing, NULL) != DXGK_ERROR;
    wrong += dxgk_machine_shutdown(m) != DXGK_ERROR;
    dxgk_machine_destroy(m); /* does nothing */
    dxgk_machine_config_init(&config);
    if (strcmp(text, INSIDE) == 0)
        wrong += dxgk_machine_create(&config, error, sizeof(error)) != NULL ||
                 !strstr(error, "another machine");
    return wrong;
}

static void call_everything(struct client *c)
{
    struct dxgk_statistics s = {.size = sizeof(s)};
    char path[260];
    struct gpu g;

    TRY(c, not_refused(c->machine->dxgk, INSIDE) == 0);
    dxgk_machine_statistics(c->machine->dxgk, &s);
    TRY(c,
        s.ddi_calls > 0 && dxgk_machine_device_interface(c->machine->dxgk, 0, path, sizeof(path)));
    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_client_cannot_change_its_machine)
{
    struct client c = {.program = call_everything};
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, &c, call_everything, DXGK_OK);
    client_report(&c);
    CHECK(dxgk_machine_run(m.dxgk, "next", nothing, NULL) == DXGK_OK);
    machine_end(&m);
}

/* ---- hooks ---- */

struct hooked {
    struct machine m;
    unsigned calls, wrong;
};

static void hook_line(void *context, const char *line)
{
    struct hooked *h = context;

    (void)line;
    if (!h->m.dxgk)
        return;
    h->calls++;
    h->wrong += not_refused(h->m.dxgk, INSIDE) != 0;
    h->wrong += dxgk_client_allocate(4096) != NULL || dxgk_client_thread("t", nothing, NULL) ||
                dxgk_client_process("p", nothing, NULL);
    dxgk_client_sleep(1000); /* does nothing */
}

static void refuse_one(struct client *c)
{
    D3DKMT_CLOSEADAPTER close = {.hAdapter = 77};

    TRY(c, D3DKMTCloseAdapter(&close) == STATUS_INVALID_PARAMETER); /* which the log tells */
}

TEST(a_hook_cannot_change_its_machine)
{
    struct dxgk_machine_config config;
    struct client c = {.program = refuse_one};
    struct hooked h = {.calls = 0};

    machine_config(&h.m, &config);
    config.log = hook_line;
    config.log_context = &h;
    machine_create(&h.m, &config);
    machine_add_refgpu(&h.m);
    machine_run_with(&h.m, &c, refuse_one, DXGK_OK);
    client_report(&c);
    CHECK(h.calls > 0 && h.wrong == 0);
    machine_end(&h.m);
}

/* ---- device models ---- */

static struct dxgk_machine *model_machine;
static unsigned model_calls, model_wrong;

static const struct dxgk_device_services *model_services;

/* On a thread of the model's own nothing has an effect. */
static void *call_services(void *host)
{
    const struct dxgk_device_services *s = model_services;
    unsigned char bytes[8] = {0};
    size_t run;

    model_wrong += s->now(host) != 0 || s->dma_read(host, 0, bytes, sizeof(bytes)) ||
                   bytes[7] != 0xFF || s->dma_write(host, 0, bytes, sizeof(bytes)) ||
                   s->dma_window(host, 0, DXGK_DMA_READ, 8, &run) != NULL ||
                   s->memory(host, 0) != NULL ||
                   s->dma_pasid(host, 1, 0, DXGK_DMA_READ, bytes, sizeof(bytes));
    s->interrupt(host, 0);
    s->timer_arm(host, 0, 1);
    s->timer_disarm(host, 0);
    s->trace(host, "mark", 1);
    s->trace_begin(host, 0, "span", 1);
    s->trace_end(host, 0, "span");
    s->dma_source(host, 0, 1);
    return NULL;
}

static void model_reset(void *device)
{
    (void)device;
    model_calls++;
    model_wrong += not_refused(model_machine, INSIDE);
}

static bool model_configure(const struct dxgk_device_config *config,
                            struct dxgk_device_description *description, const char **error)
{
    (void)config;
    (void)error;
    model_reset(NULL);
    description->vendor = 0x1234;
    description->device = 1;
    description->class_code = 0x038000;
    description->bar[0].kind = DXGK_BAR_REGISTERS;
    description->bar[0].bytes = 4096;
    description->messages = 1;
    description->dma_bits = 48;
    return true;
}

static void *model_create(const struct dxgk_device_config *config,
                          const struct dxgk_device_services *services, void *host)
{
    pthread_t thread;

    (void)config;
    model_reset(NULL);
    model_services = services;
    if (pthread_create(&thread, NULL, call_services, host) != 0)
        model_wrong++;
    else
        pthread_join(thread, NULL);
    return host;
}

static uint64_t model_read(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    (void)bar;
    (void)offset;
    (void)width;
    model_reset(device);
    return 0;
}

static void model_write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    (void)value;
    (void)model_read(device, bar, offset, width);
}

static void model_timer(void *device, unsigned timer)
{
    (void)timer;
    model_reset(device);
}

TEST(a_device_model_cannot_change_its_machine)
{
    static const struct dxgk_device_model model = {.api_version = DXGK_DEVICE_API_VERSION,
                                                   .name = "caller",
                                                   .configure = model_configure,
                                                   .create = model_create,
                                                   .destroy = model_reset,
                                                   .reset = model_reset,
                                                   .read = model_read,
                                                   .write = model_write,
                                                   .timer = model_timer};
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    model_machine = m.dxgk;
    CHECK(dxgk_machine_add_device_model(m.dxgk, &model, NULL, 0, m.error, sizeof(m.error)) ==
          DXGK_OK);
    dxgk_machine_destroy(m.dxgk);
    CHECK(model_calls >= 2 && model_wrong == 0);
}

/* ---- another host thread ---- */

struct beside {
    struct dxgk_machine *machine;
    unsigned wrong;
};

static void *call_beside(void *argument)
{
    struct beside *b = argument;
    struct dxgk_statistics s = {.size = sizeof(s)};
    struct dxgk_violation v;
    struct dxgk_refusal r;
    struct dxgk_loss l;
    char path[64], bytes[8];

    b->wrong = not_refused(b->machine, "another thread");
    dxgk_machine_statistics(b->machine, &s);
    b->wrong += s.ddi_calls != 0;
    b->wrong += dxgk_machine_violations(b->machine) || dxgk_machine_violation(b->machine, 0, &v) ||
                dxgk_machine_refusals(b->machine) || dxgk_machine_refusal(b->machine, 0, &r) ||
                dxgk_machine_losses(b->machine) || dxgk_machine_loss(b->machine, 0, &l) ||
                dxgk_machine_waits(b->machine) ||
                dxgk_machine_read_physical(b->machine, 0, bytes, sizeof(bytes)) ||
                dxgk_machine_device_interface(b->machine, 0, path, sizeof(path)) ||
                dxgk_machine_write_trace(b->machine, stdout) ||
                dxgk_machine_write_memory(b->machine, DXGK_MEMORY_TEXT, stdout) ||
                dxgk_machine_set_severity(b->machine, "KMT-003", 1);
    return NULL;
}

static void with_thread_beside(struct client *c)
{
    struct beside b = {.machine = c->machine->dxgk};
    pthread_t thread;

    TRY(c, pthread_create(&thread, NULL, call_beside, &b) == 0);
    pthread_join(thread, NULL);
    TRY(c, b.wrong == 0);
}

TEST(another_thread_cannot_use_a_machine_that_runs)
{
    struct client c = {.program = with_thread_beside};
    struct beside b;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    machine_run_with(&m, &c, with_thread_beside, DXGK_OK);
    client_report(&c);
    /* and one after the other, they may */
    b.machine = m.dxgk;
    CHECK(dxgk_machine_run(m.dxgk, "next", nothing, NULL) == DXGK_OK && b.machine);
    machine_end(&m);
}

/* ---- fork ---- */

/* The exit status of a child that calls it. */
static int in_child(unsigned (*fn)(struct dxgk_machine *machine), struct dxgk_machine *machine)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit((int)fn(machine));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static unsigned child_is_refused(struct dxgk_machine *machine)
{
    return not_refused(machine, "the process that forked this one");
}

static unsigned child_calls_as_client(struct dxgk_machine *machine)
{
    D3DKMT_ENUMADAPTERS enumeration;

    memset(&enumeration, 0, sizeof(enumeration));
    return child_is_refused(machine) +
           (D3DKMTEnumAdapters(&enumeration) != STATUS_INVALID_DEVICE_STATE) +
           (dxgk_client_allocate(4096) != NULL) + dxgk_client_thread("t", nothing, NULL);
}

static unsigned child_makes_its_own(struct dxgk_machine *machine)
{
    struct machine m;

    (void)machine;
    machine_begin(&m, DXGK_IOMMU_OFF);
    if (dxgk_machine_run(m.dxgk, "own", nothing, NULL) != DXGK_OK)
        return 1;
    dxgk_machine_destroy(m.dxgk);
    return 0;
}

static void fork_inside(struct client *c)
{
    struct gpu g;

    TRY(c, in_child(child_calls_as_client, c->machine->dxgk) == 0);
    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}

TEST(a_forked_child_has_no_machine)
{
    struct client c = {.program = fork_inside};
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    CHECK(in_child(child_is_refused, m.dxgk) == 0);
    CHECK(in_child(child_makes_its_own, m.dxgk) == 0);
    machine_run_with(&m, &c, fork_inside, DXGK_OK);
    client_report(&c);
    machine_end(&m);
}

/* ---- signal handlers ---- */

static void old_handler(int number)
{
    (void)number;
}

static bool is_old(int number)
{
    struct sigaction present;

    sigaction(number, NULL, &present);
    return !(present.sa_flags & SA_SIGINFO) && present.sa_handler == old_handler;
}

TEST(fault_handlers_go_with_the_last_machine)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
    struct sigaction old = {.sa_handler = old_handler}, before[5];
    stack_t stack, stack_before;
    struct machine first, second;

    for (size_t i = 0; i < 5; i++)
        sigaction(faults[i], &old, &before[i]);
    sigaltstack(NULL, &stack_before);
    machine_begin(&first, DXGK_IOMMU_OFF);
    machine_begin(&second, DXGK_IOMMU_OFF);
    CHECK(!is_old(SIGSEGV) && !is_old(SIGFPE));
    dxgk_machine_destroy(first.dxgk);
    CHECK(!is_old(SIGSEGV) && !is_old(SIGFPE));
    dxgk_machine_destroy(second.dxgk);
    for (size_t i = 0; i < 5; i++)
        CHECK(is_old(faults[i]));
    sigaltstack(NULL, &stack);
    CHECK(stack.ss_sp == stack_before.ss_sp && stack.ss_flags == stack_before.ss_flags);
    for (size_t i = 0; i < 5; i++)
        sigaction(faults[i], &before[i], NULL);
}

TEST(a_handler_installed_since_stays)
{
    struct sigaction old = {.sa_handler = old_handler}, before;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    sigaction(SIGSEGV, &old, &before);
    dxgk_machine_destroy(m.dxgk);
    CHECK(is_old(SIGSEGV));
    signal(SIGSEGV, SIG_DFL);
}

/* ---- order and arguments ---- */

TEST(after_the_shutdown_nothing_runs)
{
    struct dxgk_statistics s = {.size = sizeof(s)};
    char error[256] = "";
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    CHECK(dxgk_machine_shutdown(m.dxgk) == DXGK_OK && dxgk_machine_shutdown(m.dxgk) == DXGK_OK);
    CHECK(dxgk_machine_run(m.dxgk, "late", nothing, NULL) == DXGK_ERROR);
    CHECK(dxgk_machine_add_device(m.dxgk, "null", NULL, 0, error, sizeof(error)) == DXGK_ERROR &&
          error[0]);
    CHECK(dxgk_machine_load_driver(m.dxgk, machine_path("drivers/refgpu.so"), error,
                                   sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_load_registry(m.dxgk, "/dev/null", error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_create_secure_vm(m.dxgk, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_inspect(m.dxgk, machine_path("drivers/refgpu.so"), no_line, NULL, error,
                               sizeof(error)) == DXGK_ERROR);
    dxgk_machine_statistics(m.dxgk, &s);
    CHECK(s.ddi_calls > 0);
    dxgk_machine_destroy(m.dxgk);
}

TEST(null_is_refused)
{
    struct dxgk_statistics s = {.size = sizeof(s)};
    const char *const options[] = {NULL};
    struct dxgk_machine_config config;
    char error[256] = "";
    struct machine m;

    CHECK(not_refused(NULL, "there is no machine") == 0);
    dxgk_machine_config_init(NULL);
    CHECK(!dxgk_machine_create(NULL, error, sizeof(error)) && error[0]);
    dxgk_machine_statistics(NULL, &s);
    dxgk_machine_interrupt(NULL);
    CHECK(!s.ddi_calls && !dxgk_machine_violations(NULL) && !dxgk_machine_violation(NULL, 0, NULL));
    CHECK(!dxgk_machine_refusals(NULL) && !dxgk_machine_refusal(NULL, 0, NULL) &&
          !dxgk_machine_losses(NULL));
    CHECK(!dxgk_machine_loss(NULL, 0, NULL) && !dxgk_machine_waits(NULL) &&
          !dxgk_machine_page(NULL, 0, NULL));
    CHECK(!dxgk_machine_read_physical(NULL, 0, NULL, 0) &&
          !dxgk_machine_device_interface(NULL, 0, NULL, 0));
    CHECK(!dxgk_machine_write_dxgkrnl(NULL, DXGK_TRACE_ETL, NULL) &&
          !dxgk_windows_trace_form(NULL, NULL) && !dxgk_machine_write_trace(NULL, NULL) &&
          !dxgk_machine_write_timeline(NULL, stdout) &&
          !dxgk_machine_write_memory(NULL, DXGK_MEMORY_TEXT, NULL));
    CHECK(!dxgk_machine_set_severity(NULL, "KMT-003", 1));
    dxgk_depot_destroy(NULL);
    machine_config(&m, &config);
    machine_create(&m, &config);
    CHECK(dxgk_machine_add_device(m.dxgk, NULL, NULL, 0, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_add_device(m.dxgk, "null", NULL, 1, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_add_device(m.dxgk, "null", options, 1, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_load_driver(m.dxgk, NULL, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_load_registry(m.dxgk, NULL, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_inspect(m.dxgk, NULL, no_line, NULL, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_inspect(m.dxgk, "x", NULL, NULL, error, sizeof(error)) == DXGK_ERROR);
    CHECK(dxgk_machine_run(m.dxgk, NULL, nothing, NULL) == DXGK_ERROR);
    CHECK(dxgk_machine_run(m.dxgk, "p", NULL, NULL) == DXGK_ERROR);
    CHECK(!dxgk_machine_set_severity(m.dxgk, NULL, 1));
    dxgk_machine_statistics(m.dxgk, NULL);
    dxgk_machine_destroy(m.dxgk);
}

TEST(client_functions_do_nothing_outside)
{
    struct dxgk_refusal refusal;
    char error[64] = "";

    CHECK(!dxgk_client_thread("t", nothing, NULL) && !dxgk_client_process("p", nothing, NULL));
    CHECK(!dxgk_client_allocate(4096) && !dxgk_client_free(error) && dxgk_client_time() == 0);
    CHECK(dxgk_client_set_power(3, DXGK_POWER_SLEEP, error, sizeof(error)) == DXGK_ERROR &&
          error[0]);
    CHECK(dxgk_client_power() == 0 && !dxgk_client_last_refusal(&refusal));
    dxgk_client_sleep(1000000);
}
