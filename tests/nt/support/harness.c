/* SPDX-License-Identifier: MIT */
#include "bus/bus.h"
#include "nt/base/image.h"
#include "nt/base/nt_config.h"
#include "nt/io/image_life.h"
#include "nt/nt.h"
#include "nt/ps/thread.h"
#include "ram/ram.h"
#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "support/harness.h"

#include <stdio.h>

struct harness h;

static size_t first_record;
static unsigned place;

/* A place of its own for each report, so that none are merged. */
static void describe(struct verify_record *record)
{
    snprintf(record->where, sizeof(record->where), "report %u", ++place);
    record->irql = sim_irql();
    record->time = sim_now();
}

static const struct verify_place reports = {.describe = describe};

static void keep_line(void *context, const char *line)
{
    (void)context;
    if (h.lines < 16)
        snprintf(h.line[h.lines++], sizeof(h.line[0]), "%s", line);
}

static void keep_exception(void *context, NTSTATUS status)
{
    (void)context;
    h.raised = status;
    h.raises++;
}

void harness_boot(unsigned processors, uint64_t seed, const struct nt_config *extra)
{
    const struct sim_config machine = {.seed = seed, .processors = processors};
    const struct ram_config ram = {.bytes = 64u << 20};
    struct nt_config nt = extra ? *extra : (struct nt_config){0};

    memset(&h, 0, sizeof(h));
    h.log = verify_log_create();
    verify_log_install(h.log);
    verify_set_place(h.log, &reports);
    first_record = 0;
    h.machine = sim_machine_create(&machine);
    assert_non_null(h.machine);
    sim_enter(h.machine);
    h.blocks_before = h.machine->heap.live_blocks;
    h.ram = ram_create(&ram);
    h.bus = bus_create(h.ram);
    nt.ram = h.ram;
    nt.bus = h.bus;
    nt.debug_print = keep_line;
    nt.raise = keep_exception;
    h.nt = nt_create(&nt);
    assert_non_null(h.nt);
    h.image = nt_image_create("driver");
    assert_non_null(h.image);
}

int harness_setup(void)
{
    harness_boot(1, 1, NULL);
    return 0;
}

int harness_setup_smp(void)
{
    harness_boot(4, 7, NULL);
    return 0;
}

int harness_teardown(void)
{
    nt_destroy(h.nt);
    bus_destroy(h.bus);
    ram_destroy(h.ram);
    /* What is left is the simulator's: its event heap, and threads that never end. */
    assert_true(h.machine->heap.live_blocks <= h.blocks_before + 1 + h.threads_left);
    sim_leave();
    sim_machine_destroy(h.machine);
    verify_log_install(NULL);
    verify_log_destroy(h.log);
    return 0;
}

/* ---- running ---- */

struct body {
    void (*fn)(void);
    bool ended;
};

static void body_main(void *arg)
{
    struct body *body = arg;

    nt_image_enter(h.image);
    body->fn();
    nt_image_enter(NULL);
    body->ended = true;
}

/* cmocka sets its own handlers of access faults before each test and fixture: the machine must set
 * its own anew. Everything comes to rest: no thread can run and no event is due. */
static void finish(struct sim_thread *thread, const struct body *body)
{
    assert_non_null(thread);
    sim_leave();
    sim_enter(h.machine);
    sim_run(NULL, NULL, SIM_FOREVER);
    sim_thread_release(thread);
    assert_true(body->ended);
}

void run(void (*fn)(void))
{
    struct body body = {.fn = fn};

    finish(sim_thread_create("test", SIM_THREAD_KERNEL, body_main, &body), &body);
}

bool run_within(void (*fn)(void), uint64_t ns)
{
    struct body body = {.fn = fn};
    struct sim_thread *thread = sim_thread_create("test", SIM_THREAD_KERNEL, body_main, &body);
    enum sim_outcome outcome;

    assert_non_null(thread);
    sim_leave();
    sim_enter(h.machine);
    outcome = sim_run(NULL, NULL, sim_now() + ns);
    sim_thread_release(thread);
    return outcome != SIM_TIME_UP;
}

void run_client(struct nt_process *process, void (*fn)(void))
{
    struct body body = {.fn = fn};

    finish(nt_client_thread_create(process, "client", body_main, &body), &body);
}

struct dpc_body {
    struct sim_dpc dpc;
    void (*fn)(void);
    volatile bool ended;
};

static void dpc_main(struct sim_dpc *dpc)
{
    struct dpc_body *body = CONTAINER(dpc, struct dpc_body, dpc);
    struct nt_image *outer = nt_image_enter(h.image);

    body->fn();
    nt_image_enter(outer);
    body->ended = true;
}

void in_dpc(void (*fn)(void))
{
    struct dpc_body body = {.dpc = {.routine = dpc_main}, .fn = fn};

    assert_true(sim_dpc_queue(&body.dpc));
    while (!body.ended)
        sim_spin();
}

struct interrupt_body {
    struct sim_interrupt interrupt;
    void (*fn)(void);
    volatile bool ended;
};

static bool serve(void *context, uint32_t message)
{
    struct interrupt_body *body = context;
    struct nt_image *outer = nt_image_enter(h.image);

    (void)message;
    body->fn();
    nt_image_enter(outer);
    body->ended = true;
    return true;
}

void in_interrupt(void (*fn)(void))
{
    struct interrupt_body body = {.fn = fn};

    sim_interrupt_connect(&body.interrupt, serve, &body, 0, SIM_IRQL_DEVICE);
    sim_interrupt_raise(&body.interrupt);
    while (!body.ended)
        sim_spin();
    sim_interrupt_disconnect(&body.interrupt);
}

struct start_body {
    void (*fn)(void *);
    void *arg;
};

static void start_main(void *arg)
{
    struct start_body body = *(struct start_body *)arg;

    util_free(arg);
    nt_image_enter(h.image);
    body.fn(body.arg);
    nt_image_enter(NULL);
}

struct sim_thread *start(const char *name, void (*fn)(void *), void *arg)
{
    struct start_body *body = util_alloc(sizeof(*body));
    struct sim_thread *thread;

    *body = (struct start_body){fn, arg};
    thread = sim_thread_create(name, SIM_THREAD_KERNEL, start_main, body);
    assert_non_null(thread);
    sim_thread_release(thread);
    return thread;
}

void pause_ns(uint64_t ns)
{
    sim_block(sim_now() + ns, NULL);
}

/* ---- reports ---- */

bool reported(const char *rule, uint32_t code, uint64_t p1)
{
    for (size_t i = first_record; i < verify_records(h.log); i++) {
        const struct verify_record *record = verify_record_at(h.log, i);

        if (strcmp(record->rule, rule) == 0 && record->code == code && record->parameter[0] == p1)
            return true;
    }
    return false;
}

bool broken(const char *rule)
{
    for (size_t i = first_record; i < verify_records(h.log); i++) {
        if (strcmp(verify_record_at(h.log, i)->rule, rule) == 0)
            return true;
    }
    return false;
}

size_t errors(void)
{
    size_t count = 0;

    for (size_t i = first_record; i < verify_records(h.log); i++)
        count += verify_record_at(h.log, i)->severity >= VERIFY_ERROR;
    return count;
}

void forget_reports(void)
{
    first_record = verify_records(h.log);
}

PHYSICAL_ADDRESS physical(uint64_t address)
{
    return (PHYSICAL_ADDRESS){.QuadPart = (LONGLONG)address};
}

LARGE_INTEGER relative_ms(int64_t ms)
{
    return (LARGE_INTEGER){.QuadPart = -ms * 10000};
}

UNICODE_STRING unicode_text(PCWSTR source)
{
    UNICODE_STRING string;

    RtlInitUnicodeString(&string, source);
    return string;
}
