/* SPDX-License-Identifier: MIT */
/* Reports of faults: that a fault of the report, or one without end, does not keep it from being told, and that nothing else runs
 * meanwhile. */
#include "support/check_rule.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/stop.h"
#include "sim/thread.h"

static volatile int *volatile null_pointer;

/* A sanitizer would come first. */
static __attribute__((no_sanitize("undefined"))) void read_null(void)
{
    (void)*null_pointer;
}

static __attribute__((no_sanitize("undefined"))) void write_null(int value)
{
    *null_pointer = value;
}
static bool thrown, told_again;
static unsigned reports;

static struct sim_machine *machine(void (*on_fault)(const struct sim_fault *fault))
{
    struct sim_config config = {.seed = 5, .processors = 2, .watchdog_ms = 1000};
    struct sim_machine *m = sim_machine_create(&config);

    assert_non_null(m);
    sim_enter(m);
    sim_on_fault(on_fault);
    thrown = told_again = false;
    reports = 0;
    return m;
}

static void destroy(struct sim_machine *m)
{
    sim_leave();
    sim_machine_destroy(m);
}

static void victim(void *arg)
{
    struct sim_mark mark;
    uint64_t outer;

    (void)arg;
    if (SIM_RECOVER(&mark)) {
        thrown = true;
        return;
    }
    sim_stall(100000); /* others begin */
    outer = sim_inside_enter(SIM_FOREVER);
    read_null();
    sim_inside_leave(outer);
    sim_unmark(&mark);
}

static void run_victim(void)
{
    sim_thread_release(sim_thread_create("victim", SIM_THREAD_CLIENT, victim, NULL));
    CHECK(sim_run(NULL, NULL, SIM_FOREVER) == SIM_STOPPED && thrown);
}

/* ---- reports that fail themselves ---- */

static void write_to_nowhere(const void *arg)
{
    (void)arg;
    write_null(2);
}

/* As for a lock that nobody gives back. */
static void wait_for_ever(const void *arg)
{
    (void)arg;
    for (;;)
        pause();
}

static void work_for_ever(const void *arg)
{
    (void)arg;
    for (;;)
        (void)*(volatile int *)&reports;
}

static void (*first_report)(const void *arg);

/* The first report fails; the second one tells it. */
static void report_twice(const struct sim_fault *fault)
{
    reports++;
    if (fault->again_pc) {
        told_again = fault->kind == SIM_FAULT_READ && fault->address == 0 &&
                     fault->again_pc != fault->pc && fault->again_address == 0;
        sim_stop();
    }
    sim_fault_report(fault);
    sim_fault_with_room(first_report, NULL);
}

static void check_second_report(void (*first)(const void *arg))
{
    struct sim_machine *m = machine(report_twice);

    first_report = first;
    run_victim();
    CHECK_RULE("THREAD-078", reports == 2 && told_again);
    destroy(m);
}

TEST(a_fault_of_a_report_is_reported_with_the_first_one)
{
    check_second_report(write_to_nowhere);
}

TEST(a_report_that_waits_for_ever_is_ended)
{
    check_second_report(wait_for_ever);
}

TEST(a_report_that_works_for_ever_is_ended)
{
    check_second_report(work_for_ever);
}

/* Driver code that the report has called is the driver's again. */
static void report_and_call(const struct sim_fault *fault)
{
    if (++reports == 1) {
        sim_fault_report(fault);
        sim_fault_reported();
        write_null(1);
    }
    told_again = fault->again_pc == 0 && fault->kind == SIM_FAULT_WRITE;
    sim_stop();
}

TEST(a_fault_after_the_report_is_one_of_its_own)
{
    struct sim_machine *m = machine(report_and_call);

    run_victim();
    CHECK_RULE("THREAD-078", reports == 2 && told_again);
    destroy(m);
}

/* ---- no report at all ---- */

static void fault_always(const struct sim_fault *fault)
{
    if (!fault->again_pc)
        sim_fault_report(fault);
    write_null(2);
}

TEST(a_report_that_cannot_be_made_ends_the_process_with_a_text)
{
    char text[1024];
    int pipes[2], status = 0;
    ssize_t length;
    pid_t child;

    CHECK(pipe(pipes) == 0);
    child = fork();
    if (child == 0) {
        dup2(pipes[1], 2);
        signal(SIGSEGV, SIG_DFL); /* not the test's own */
        (void)machine(fault_always);
        run_victim();
        _exit(0);
    }
    close(pipes[1]);
    length = read(pipes[0], text, sizeof(text) - 1);
    text[length > 0 ? length : 0] = '\0';
    CHECK(waitpid(child, &status, 0) == child);
    close(pipes[0]);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    CHECK_RULE("THREAD-078", strstr(text, "dxgkhost: a fault could not be reported; it was at 0x"));
}

/* ---- standing still ---- */

static uint64_t busy_points;

/* Another processor has work all the time. */
static void busy(void *arg)
{
    (void)arg;
    for (;;) {
        busy_points++;
        sim_point();
    }
}

static void slow_report(const struct sim_fault *fault)
{
    uint64_t before;

    sim_fault_report(fault);
    sim_freeze();
    before = busy_points;
    sim_stall(1000000);
    told_again = busy_points == before;
    sim_spin(); /* this asks for it */
    told_again &= busy_points > before;
    sim_stop();
}

TEST(nothing_else_runs_while_the_machine_is_frozen)
{
    struct sim_machine *m = machine(slow_report);

    busy_points = 0;
    sim_thread_release(sim_thread_create("busy", SIM_THREAD_KERNEL, busy, NULL));
    run_victim();
    CHECK_RULE("THREAD-078", told_again);
    destroy(m);
}
